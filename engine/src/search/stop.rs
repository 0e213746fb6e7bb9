//! When a search has to end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// A search's end before it is done: a moment, a sign that another thread gives, or never. Clones give and get the same
/// sign.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    sign: Option<Arc<AtomicBool>>,
    deadline: Option<Instant>,
}

impl Stop {
    /// A search that comes to its own end.
    pub const NEVER: Stop = Stop { sign: None, deadline: None };

    /// A search that ends when [`Stop::now`] is called.
    pub fn on_sign() -> Stop {
        Stop { sign: Some(Arc::default()), deadline: None }
    }

    /// The same, and at the latest when so much time has gone by from now; a time beyond all clocks is none.
    #[must_use]
    pub fn or_after(self, time: Duration) -> Stop {
        let deadline = Instant::now().checked_add(time);
        Stop { deadline: self.deadline.into_iter().chain(deadline).min(), ..self }
    }

    /// Ends the searches of all clones. One that never ends early does not.
    pub fn now(&self) {
        if let Some(sign) = &self.sign {
            sign.store(true, Ordering::Relaxed);
        }
    }

    /// Whether both give and get the same sign: one is a clone of the other.
    pub fn gives_the_sign_of(&self, other: &Stop) -> bool {
        self.sign.as_ref().zip(other.sign.as_ref()).is_some_and(|(own, others)| Arc::ptr_eq(own, others))
    }

    /// Whether it can ever end a search.
    #[inline]
    pub fn is_possible(&self) -> bool {
        self.sign.is_some() || self.deadline.is_some()
    }

    /// Whether searches are to end.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.sign.as_ref().is_some_and(|sign| sign.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_reach_clones() {
        let stop = Stop::on_sign();
        let clone = stop.clone().or_after(Duration::MAX);
        assert!(clone.is_possible() && !clone.is_due());
        assert!(stop.gives_the_sign_of(&clone) && !stop.gives_the_sign_of(&Stop::on_sign()));
        assert!(!Stop::NEVER.gives_the_sign_of(&Stop::NEVER));
        stop.now();
        assert!(stop.is_due() && clone.is_due());
    }

    #[test]
    fn the_earlier_moment_counts() {
        let stop = Stop::NEVER.or_after(Duration::ZERO).or_after(Duration::from_secs(1000));
        assert!(stop.is_due());
        assert!(!Stop::NEVER.or_after(Duration::from_secs(1000)).is_due());
        assert!(!Stop::NEVER.is_possible());
        Stop::NEVER.now();
        assert!(!Stop::NEVER.is_due());
    }
}
