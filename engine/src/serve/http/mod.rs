//! HTTP and JSON, for servers and scripts.
//!
//! A few threads speak HTTP and never think; workers think, behind queues that have an end. Whatever is wrong with a request
//! is answered in one shape, and nothing that a client sends decides how much memory or time it takes:
//!
//! - Quick questions, those that look ahead and rollouts have threads of their own, so that none waits for another kind, and
//!   a queue each (429 when it is full).
//! - A request has its time (503), of which its body has ten seconds (408); headers and idle connections have half a minute,
//!   and so have clients to read what they are sent (the connection is closed).
//! - Games have a number, a size and an age at which they are forgotten (503 when there is no room).
//! - A server that is told to end finishes what it has begun, for as long as a request may take, and ends rollouts at once
//!   with what they have found.

mod answering;
mod connections;
mod decisions;
mod fault;
mod games;
mod gate;
mod json_body;
mod metrics;
mod openapi;
mod prompt_stream;
mod rollout;
mod wildbg;
mod workers;

use std::{
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    thread,
    time::{Duration, Instant},
};

use axum::{Router, http::HeaderValue};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use thiserror::Error;
use tokio::{runtime, sync::Semaphore};
use utoipa_axum::router::OpenApiRouter;

use crate::{bot::Bot, requests::Bots, rules::RuleSet, search::Stop};

use answering::Answering;
use fault::Fault;
pub use games::Limits;
use games::{Store, StoreError};
use metrics::Metrics;
use workers::{CloseWhenDone, Pace, Queue, Thinker};

/// How the server behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens.
    pub address: SocketAddr,
    /// How long a request may take.
    pub time_limit: Duration,
    /// How long a rollout may take.
    pub rollout_limit: Duration,
    /// Rollouts at once, beside one question that takes a rollout to answer.
    pub rollouts: usize,
    /// Questions of each kind that wait for a worker: quick ones, those that look ahead, and those that roll out.
    pub queue: usize,
    /// Bytes of a body.
    pub body_limit: usize,
    /// Requests of a batch.
    pub batch_limit: usize,
    /// Connections at once; others wait.
    pub connections: usize,
    /// The word that every request has to bring, if there is one.
    pub token: Option<String>,
    /// Which other origins' pages may ask.
    pub origins: Origins,
    /// The file that keeps games; `None` keeps them in memory.
    pub games: Option<PathBuf>,
    /// How many games are kept, and how long.
    pub game_limits: Limits,
}

/// Which other origins' pages may ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origins {
    /// Those that are named; by default none.
    These(Vec<HeaderValue>),
    /// All.
    Any,
}

/// Why there is no server.
#[derive(Debug, Error)]
pub enum HttpError {
    /// The address cannot be listened at.
    #[error("cannot listen on {0}: {1}, expected a free port of this machine, as in 127.0.0.1:8080")]
    Listen(SocketAddr, io::Error),
    /// The games cannot be kept.
    #[error(
        "cannot keep games in {0:?}: {1}; expected a file that no other server keeps games in, as in --games other.redb, or --games none"
    )]
    Games(PathBuf, StoreError),
    /// The threads that speak HTTP could not be started.
    #[error("cannot start the server: {0}")]
    Start(io::Error),
    /// The threads that roll out could not be started.
    #[error("cannot start the threads for rollouts: {0}")]
    Threads(#[from] ThreadPoolBuildError),
    /// Nobody can be told where the server listens.
    #[error("cannot write the address: {0}")]
    Output(io::Error),
}

/// What every handler knows.
pub struct App {
    /// Where questions wait that do not roll out.
    queue: Arc<Queue>,
    /// Where those wait that do.
    rolling: Arc<Queue>,
    settings: Settings,
    metrics: Metrics,
    answering: Answering,
    games: Store,
    /// Rollouts that may run beside those that do.
    rollouts: Arc<Semaphore>,
    /// What ends the rollouts that run.
    running: Mutex<Vec<Stop>>,
    closing: AtomicBool,
}

impl App {
    /// Lets a worker for questions of this pace think until `due`. A caller who drops the future ends the search.
    ///
    /// # Errors
    /// A full queue, and an answer that never came.
    async fn ask<R: Send + 'static>(
        &self,
        pace: Pace,
        rules: Vec<RuleSet>,
        due: Instant,
        question: impl FnOnce(Thinker<'_, '_>) -> R + Send + 'static,
    ) -> Result<R, Fault> {
        let queue = if pace == Pace::Rollout { &self.rolling } else { &self.queue };
        queue.ask(pace, rules, due, question).await
    }

    /// Ends the rollouts that run: they have a result at any time.
    fn end_rollouts(&self) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Stop::now);
    }
}

/// Answers requests until the process is told to end, and then those that have begun. `out` is told where.
///
/// Each kind of question has threads of its own, so that what is quick never waits for what is not: `pool` looks ahead, as
/// many workers as it has threads (two at least) answer what takes no look ahead, and as many threads (one more than rollouts
/// may run at once, at least) roll out. That bounds what all of them take together, three times the threads of `pool` where it
/// has several; the system shares the processors among them.
///
/// # Errors
/// An address that is taken, and threads that cannot be started.
pub fn serve(bot: Bot<'_>, pool: &ThreadPool, settings: Settings, out: &mut impl Write) -> Result<(), HttpError> {
    // One is there for quick questions while another looks ahead.
    let workers = pool.current_num_threads().max(2);
    // One is there for questions that take a short rollout while long ones run.
    let rollers = settings.rollouts + 1;
    let queue = Arc::new(Queue::new(settings.queue, workers));
    let rolling = Arc::new(Queue::of_slow_questions(settings.queue, rollers));
    let rolling_pool = || ThreadPoolBuilder::new().num_threads(pool.current_num_threads().div_ceil(rollers)).build();
    let rolling_pools: Vec<ThreadPool> = (0..rollers).map(|_| rolling_pool()).collect::<Result<_, _>>()?;
    let answering = Answering { level: bot.level(), rules: bot.rules() };
    let (file, limits) = (settings.games.as_deref(), settings.game_limits);
    let games = file.map_or_else(|| Store::in_memory(limits), |path| Store::open(path, limits));
    let games = games.map_err(|error| HttpError::Games(file.unwrap_or(Path::new("")).to_owned(), error))?;
    let rollouts = Arc::new(Semaphore::new(settings.rollouts));
    let app = Arc::new(App {
        queue: Arc::clone(&queue),
        rolling: Arc::clone(&rolling),
        settings,
        metrics: Metrics::default(),
        answering,
        games,
        rollouts,
        running: Mutex::default(),
        closing: AtomicBool::new(false),
    });
    let speakers = workers.div_ceil(WORKERS_A_SPEAKER);
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(speakers)
        .thread_name("zar-http")
        .enable_all()
        .build()
        .map_err(HttpError::Start)?;
    let bots = Mutex::new(Bots::new(bot));
    let quick = (0..workers).map(|number| (format!("zar-worker-{number}"), &queue, pool));
    let rolled =
        rolling_pools.iter().enumerate().map(|(number, pool)| (format!("zar-roller-{number}"), &rolling, pool));
    thread::scope(|scope| {
        let close = CloseWhenDone([Arc::clone(&queue), Arc::clone(&rolling)]);
        for (name, queue, pool) in quick.chain(rolled) {
            let bots = &bots;
            let work = move || queue.work(bots, pool);
            thread::Builder::new().name(name).spawn_scoped(scope, work).map_err(HttpError::Start)?;
        }
        let done = runtime.block_on(connections::answer(&app, out));
        drop(close);
        runtime.shutdown_background();
        done
    })
}

/// Workers for which one thread speaks HTTP, which takes a small part of the time that thinking takes.
const WORKERS_A_SPEAKER: usize = 8;

/// All that can be asked.
fn routes(app: &Arc<App>) -> Router {
    let routes = OpenApiRouter::new()
        .merge(decisions::routes())
        .merge(rollout::routes())
        .merge(games::routes())
        .merge(wildbg::routes())
        .merge(metrics::routes());
    let (routes, document) = routes.split_for_parts();
    gate::guarded(routes.merge(openapi::routes(document, &app.settings)), app)
}
