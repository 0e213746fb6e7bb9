//! The threads on which bots look ahead.

use std::{
    mem,
    num::NonZeroUsize,
    process,
    sync::{Arc, Mutex, PoisonError},
};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// The threads of a bot: as many as it was told, of its own, or else all cores, which all such bots share. They are started
/// when they are first needed.
#[derive(Debug)]
pub struct Threads {
    count: Option<NonZeroUsize>,
    own: Mutex<Option<Pool>>,
}

static SHARED: Mutex<Option<Pool>> = Mutex::new(None);

/// Threads, and the process that started them. In a process that was forked from it they do not run, and whoever asked
/// them for something would wait for ever.
#[derive(Debug)]
struct Pool {
    process: u32,
    pool: Option<Arc<ThreadPool>>,
}

impl Threads {
    pub fn new(count: Option<NonZeroUsize>) -> Threads {
        Threads { count, own: Mutex::new(None) }
    }

    /// Does something on these threads.
    ///
    /// # Errors
    /// A system that has no room for them.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, ThreadPoolBuildError> {
        Ok(self.pool()?.install(work))
    }

    fn pool(&self) -> Result<Arc<ThreadPool>, ThreadPoolBuildError> {
        let started = if self.count.is_some() { &self.own } else { &SHARED };
        let mut started = started.lock().unwrap_or_else(PoisonError::into_inner);
        let process = process::id();
        let running = started.as_ref().filter(|pool| pool.process == process).and_then(|pool| pool.pool.clone());
        if let Some(pool) = running {
            return Ok(pool);
        }
        // Without a number rayon takes that of the cores, or what its environment variable says.
        let count = self.count.map_or(0, NonZeroUsize::get);
        let pool = Arc::new(ThreadPoolBuilder::new().num_threads(count).build()?);
        *started = Some(Pool { process, pool: Some(pool.clone()) });
        Ok(pool)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // What never ran in this process cannot be ended in it.
        if self.process != process::id() {
            mem::forget(self.pool.take());
        }
    }
}
