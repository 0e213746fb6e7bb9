//! Threads that think, apart from those that speak HTTP, and queues in front of them that have an end.
//!
//! What takes long never stands in the way of what does not. Questions that look ahead leave one worker to those that do
//! not; rollouts have workers and threads of their own.

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

use crate::{bot::Level, requests::Bots, rules::RuleSet, search::Stop};

use super::fault::Fault;

/// How long a question takes, roughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pace {
    /// Less than a millisecond, or little more.
    Quick,
    /// It looks ahead, and may take all the time that a request has.
    Slow,
    /// It rolls out.
    Rollout,
}

impl Pace {
    /// That of a question at a level.
    pub fn of(level: Level) -> Pace {
        match level {
            Level::Rollout => Pace::Rollout,
            level if level.plies() > 0 => Pace::Slow,
            _ => Pace::Quick,
        }
    }
}

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
    /// Those that are answered in a moment, and those that are not, with their numbers in the order in which they came.
    lanes: [VecDeque<(u64, Job)>; 2],
    /// Questions that came so far.
    came: u64,
    /// Slow questions that are being thought about.
    slow: usize,
    closed: bool,
}

impl Waiting {
    /// The question that has waited longest, of those that may begin where so many slow ones may be under way at once.
    fn next(&mut self, most_slow: usize) -> Option<(Lane, Job)> {
        let number = |lane: Lane| self.lanes[lane as usize].front().map_or(u64::MAX, |&(number, _)| number);
        let quick_first = number(Lane::Quick) < number(Lane::Slow);
        let lane = if quick_first || self.slow >= most_slow { Lane::Quick } else { Lane::Slow };
        let (_, job) = self.lanes[lane as usize].pop_front()?;
        self.slow += usize::from(lane == Lane::Slow);
        Some((lane, job))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    Quick,
    Slow,
}

/// Where questions wait for a worker.
pub struct Queue {
    waiting: Mutex<Waiting>,
    came: Condvar,
    /// Questions that may wait in each lane.
    capacity: usize,
    workers: usize,
    /// Workers that may think about slow questions at once.
    most_slow: usize,
    busy: AtomicUsize,
    /// Microseconds that a job of each lane takes, averaged over some of the last ones.
    usual: [AtomicU64; 2],
}

/// How fast the average forgets: a job counts for one part in so many.
const REMEMBERED: u64 = 16;

impl Queue {
    /// A queue in which no more than `capacity` quick questions, and as many slow ones, wait for `workers` threads, of which
    /// one is always there for the quick ones.
    pub fn new(capacity: usize, workers: usize) -> Queue {
        Queue { most_slow: workers.saturating_sub(1).max(1), ..Queue::of_slow_questions(capacity, workers) }
    }

    /// A queue in which no more than `capacity` questions wait for `workers` threads, all of which may take long.
    pub fn of_slow_questions(capacity: usize, workers: usize) -> Queue {
        let waiting = Mutex::new(Waiting { lanes: Default::default(), came: 0, slow: 0, closed: false });
        let (came, busy, usual) = (Condvar::new(), AtomicUsize::new(0), Default::default());
        Queue { waiting, came, capacity, workers, most_slow: workers, busy, usual }
    }

    /// Questions that wait.
    pub fn length(&self) -> usize {
        self.lock().lanes.iter().map(VecDeque::len).sum()
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
        pace: Pace,
        rules: Vec<RuleSet>,
        due: Instant,
        question: impl FnOnce(Thinker<'_, '_>) -> R + Send + 'static,
    ) -> Result<R, Fault> {
        let stop = Stop::on_sign().or_after(due.saturating_duration_since(Instant::now()));
        let left = StopWhenLeft(stop.clone());
        let (sender, receiver) = oneshot::channel();
        self.start(pace, rules, move |bots, pool| {
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
        pace: Pace,
        rules: Vec<RuleSet>,
        work: impl FnOnce(&mut Bots<'_>, &ThreadPool) + Send + 'static,
    ) -> Result<(), Fault> {
        let job = Job { rules, work: Box::new(work) };
        let mut waiting = self.lock();
        if waiting.closed {
            return Err(Fault::closing());
        }
        let lane = if pace == Pace::Quick { Lane::Quick } else { Lane::Slow };
        let before = waiting.lanes[lane as usize].len();
        if before >= self.capacity {
            return Err(Fault::busy(self.seconds_until_free(lane, before)));
        }
        waiting.came += 1;
        let number = waiting.came;
        waiting.lanes[lane as usize].push_back((number, job));
        drop(waiting);
        self.came.notify_one();
        Ok(())
    }

    /// Seconds that it takes to answer what waits in a lane.
    fn seconds_until_free(&self, lane: Lane, waiting: usize) -> u64 {
        let usual = Duration::from_micros(self.usual[lane as usize].load(Ordering::Relaxed));
        let workers = if lane == Lane::Slow { self.most_slow } else { self.workers };
        (usual.as_secs_f64() * waiting as f64 / workers as f64).ceil().clamp(1.0, 60.0) as u64
    }

    /// Lets the workers end once nothing waits any more.
    pub fn close(&self) {
        self.lock().closed = true;
        self.came.notify_all();
    }

    fn next(&self) -> Option<(Lane, Job)> {
        let mut waiting = self.lock();
        loop {
            if let Some(next) = waiting.next(self.most_slow) {
                return Some(next);
            }
            // Slow questions that are left are taken by those who think about slow ones now.
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
        while let Some((lane, Job { rules, work })) = self.next() {
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
            let average = &self.usual[lane as usize];
            let usual = average.load(Ordering::Relaxed);
            average.store((usual * (REMEMBERED - 1) + took) / REMEMBERED, Ordering::Relaxed);
            self.busy.fetch_sub(1, Ordering::Relaxed);
            if lane == Lane::Slow {
                self.lock().slow -= 1;
                // Somebody may wait who was not allowed to think about the next slow one.
                self.came.notify_one();
            }
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

/// Closes queues however the server ends, so that their workers end too.
pub struct CloseWhenDone(pub [Arc<Queue>; 2]);

impl Drop for CloseWhenDone {
    fn drop(&mut self) {
        self.0.iter().for_each(|queue| queue.close());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(queue: &Queue, pace: Pace) -> Result<(), Fault> {
        queue.start(pace, Vec::new(), |_, _| ())
    }

    /// The paces of what two workers, neither of whom comes to an end, would begin with.
    #[test]
    fn slow_questions_leave_a_worker_to_quick_ones() {
        let queue = Queue::new(4, 2);
        for pace in [Pace::Slow, Pace::Slow, Pace::Quick, Pace::Quick] {
            asked(&queue, pace).unwrap();
        }
        let mut waiting = queue.lock();
        let lanes: Vec<Lane> = std::iter::from_fn(|| waiting.next(queue.most_slow)).map(|(lane, _)| lane).collect();
        assert_eq!(lanes, [Lane::Slow, Lane::Quick, Lane::Quick]);
        waiting.slow -= 1;
        assert_eq!(waiting.next(queue.most_slow).map(|(lane, _)| lane), Some(Lane::Slow));
    }

    #[test]
    fn questions_are_taken_in_the_order_in_which_they_came() {
        let queue = Queue::new(4, 3);
        for pace in [Pace::Quick, Pace::Slow, Pace::Quick] {
            asked(&queue, pace).unwrap();
        }
        let mut waiting = queue.lock();
        let lanes: Vec<Lane> = std::iter::from_fn(|| waiting.next(queue.most_slow)).map(|(lane, _)| lane).collect();
        assert_eq!(lanes, [Lane::Quick, Lane::Slow, Lane::Quick]);
    }

    /// However many slow questions wait, quick ones find room.
    #[test]
    fn each_lane_has_its_end() {
        let queue = Queue::new(2, 2);
        assert!(asked(&queue, Pace::Slow).is_ok() && asked(&queue, Pace::Slow).is_ok());
        assert_eq!(asked(&queue, Pace::Slow).unwrap_err().code(), "busy");
        assert!(asked(&queue, Pace::Quick).is_ok() && asked(&queue, Pace::Quick).is_ok());
        assert_eq!(asked(&queue, Pace::Quick).unwrap_err().code(), "busy");
        assert_eq!(queue.length(), 4);
        queue.close();
        assert_eq!(asked(&queue, Pace::Quick).unwrap_err().code(), "closing");
    }
}
