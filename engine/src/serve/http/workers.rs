//! Threads that think, apart from those that speak HTTP, and a queue in front of them that has an end.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use rayon::ThreadPool;
use tokio::sync::oneshot;

use crate::{requests::Bots, rules::RuleSet, search::Stop};

use super::fault::Fault;

/// What a worker thinks with.
pub struct Thinker<'b, 'm> {
    /// The bots of this worker.
    pub bots: &'b mut Bots<'m>,
    /// The threads that all workers share for looking ahead.
    pub pool: &'b ThreadPool,
    /// When the answer is due.
    pub stop: &'b Stop,
    /// That moment, if nothing ends the search before.
    pub due: Instant,
}

type Work = Box<dyn FnOnce(&mut Bots<'_>, &ThreadPool) + Send>;

struct Job {
    rules: Vec<RuleSet>,
    work: Work,
}

struct Waiting {
    jobs: VecDeque<Job>,
    closed: bool,
}

/// Where questions wait for a worker.
pub struct Queue {
    waiting: Mutex<Waiting>,
    came: Condvar,
    capacity: usize,
    workers: usize,
    busy: AtomicUsize,
    /// Microseconds that a job takes, averaged over some of the last ones.
    usual: AtomicU64,
}

/// How fast the average forgets: a job counts for one part in so many.
const REMEMBERED: u64 = 16;

impl Queue {
    /// A queue in which no more than `capacity` questions wait for `workers` threads.
    pub fn new(capacity: usize, workers: usize) -> Queue {
        let waiting = Mutex::new(Waiting { jobs: VecDeque::new(), closed: false });
        Queue { waiting, came: Condvar::new(), capacity, workers, busy: AtomicUsize::new(0), usual: AtomicU64::new(0) }
    }

    /// Questions that wait.
    pub fn length(&self) -> usize {
        self.lock().jobs.len()
    }

    /// Workers that think.
    pub fn busy(&self) -> usize {
        self.busy.load(Ordering::Relaxed)
    }

    /// All workers.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Lets a worker think about a question by these rules until `due`. A caller who drops the future ends the search.
    ///
    /// # Errors
    /// A full queue, and an answer that never came.
    pub async fn ask<R: Send + 'static>(
        &self,
        rules: Vec<RuleSet>,
        due: Instant,
        question: impl FnOnce(Thinker<'_, '_>) -> R + Send + 'static,
    ) -> Result<R, Fault> {
        let stop = Stop::on_sign().or_after(due.saturating_duration_since(Instant::now()));
        let left = StopWhenLeft(stop.clone());
        let (sender, receiver) = oneshot::channel();
        self.start(rules, move |bots, pool| {
            if !sender.is_closed() {
                // The caller may have left in the meantime.
                let _ = sender.send(question(Thinker { bots, pool, stop: &stop, due }));
            }
        })?;
        // What looks ahead stops by itself; this is for what waits too long, and for what cannot stop.
        let late = tokio::time::Instant::from_std(due + PATIENCE);
        let answer = tokio::time::timeout_at(late, receiver).await;
        drop(left);
        answer.map_err(|_| Fault::time_limit())?.map_err(|_| Fault::internal())
    }

    /// Lets a worker do something with the bots for these rules, of which nobody is told.
    ///
    /// # Errors
    /// A full queue.
    pub fn start(
        &self,
        rules: Vec<RuleSet>,
        work: impl FnOnce(&mut Bots<'_>, &ThreadPool) + Send + 'static,
    ) -> Result<(), Fault> {
        let job = Job { rules, work: Box::new(work) };
        let mut waiting = self.lock();
        if waiting.closed {
            return Err(Fault::closing());
        }
        if waiting.jobs.len() >= self.capacity {
            return Err(Fault::busy(self.seconds_until_free(waiting.jobs.len())));
        }
        waiting.jobs.push_back(job);
        drop(waiting);
        self.came.notify_one();
        Ok(())
    }

    /// Seconds that it takes to answer what waits.
    fn seconds_until_free(&self, waiting: usize) -> u64 {
        let usual = Duration::from_micros(self.usual.load(Ordering::Relaxed));
        (usual.as_secs_f64() * waiting as f64 / self.workers as f64).ceil().clamp(1.0, 60.0) as u64
    }

    /// Lets the workers end once nothing waits any more.
    pub fn close(&self) {
        self.lock().closed = true;
        self.came.notify_all();
    }

    fn next(&self) -> Option<Job> {
        let mut waiting = self.lock();
        loop {
            if let Some(job) = waiting.jobs.pop_front() {
                return Some(job);
            }
            if waiting.closed {
                return None;
            }
            waiting = self.came.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Answers until the queue is closed. `all` has a bot for every rule set that any worker has been asked for.
    pub fn work<'m>(&self, all: &Mutex<Bots<'m>>, pool: &ThreadPool) {
        let fresh = || all.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut bots = fresh();
        while let Some(Job { rules, work }) = self.next() {
            self.busy.fetch_add(1, Ordering::Relaxed);
            let began = Instant::now();
            for rules in rules.into_iter().filter(|&rules| !bots.has(rules)).collect::<Vec<_>>() {
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.prepare(rules);
                bots = all.clone();
            }
            let panicked = catch_unwind(AssertUnwindSafe(|| work(&mut bots, pool))).is_err();
            if panicked {
                // Its buffers may be half written.
                bots = fresh();
            }
            let took = began.elapsed().as_micros() as u64;
            let usual = self.usual.load(Ordering::Relaxed);
            self.usual.store((usual * (REMEMBERED - 1) + took) / REMEMBERED, Ordering::Relaxed);
            self.busy.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // No code that holds it can panic in the middle of a change.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long after its time an answer is still waited for.
pub const PATIENCE: Duration = Duration::from_millis(500);

/// Ends a search when nobody waits for it any more.
struct StopWhenLeft(Stop);

impl Drop for StopWhenLeft {
    fn drop(&mut self) {
        self.0.now();
    }
}

/// Closes the queue however the server ends, so that its workers end too.
pub struct CloseWhenDone(pub Arc<Queue>);

impl Drop for CloseWhenDone {
    fn drop(&mut self) {
        self.0.close();
    }
}
