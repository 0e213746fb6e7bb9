//! HTTP and JSON, for servers and scripts.
//!
//! A few threads speak HTTP and never think; workers think, behind a queue that has an end. Whatever is wrong with a request
//! is answered in one shape, and nothing that a client sends decides how much memory or time it takes.

mod answering;
mod connections;
mod decisions;
mod fault;
mod games;
mod gate;
mod json_body;
mod metrics;
mod openapi;
mod rollout;
mod wildbg;
mod workers;

use std::{
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, atomic::AtomicBool},
    thread,
    time::Duration,
};

use axum::{Router, http::HeaderValue};
use rayon::ThreadPool;
use thiserror::Error;
use tokio::{runtime, sync::Semaphore};
use utoipa_axum::router::OpenApiRouter;

use crate::{bot::Bot, requests::Bots};

use answering::Answering;
use games::{Store, StoreError};
use metrics::Metrics;
use workers::{CloseWhenDone, Queue};

/// How the server behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens.
    pub address: SocketAddr,
    /// How long a request may take.
    pub time_limit: Duration,
    /// How long a rollout may take.
    pub rollout_limit: Duration,
    /// Questions that wait for a worker.
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
    /// How many games are kept.
    pub most_games: u64,
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
    #[error("cannot keep games in {0:?}: {1}")]
    Games(PathBuf, StoreError),
    /// The threads that speak HTTP could not be started.
    #[error("cannot start the server: {0}")]
    Start(io::Error),
    /// Nobody can be told where the server listens.
    #[error("cannot write the address: {0}")]
    Output(io::Error),
}

/// What every handler knows.
pub struct App {
    queue: Arc<Queue>,
    settings: Settings,
    metrics: Metrics,
    answering: Answering,
    games: Store,
    /// Rollouts that may run beside those that do.
    rollouts: Arc<Semaphore>,
    closing: AtomicBool,
}

/// Answers requests until the process is told to end, and then those that have begun. `out` is told where.
///
/// `pool` looks ahead; as many workers as it has threads answer.
///
/// # Errors
/// An address that is taken, and threads that cannot be started.
pub fn serve(bot: Bot<'_>, pool: &ThreadPool, settings: Settings, out: &mut impl Write) -> Result<(), HttpError> {
    // One is there for others while another rolls out.
    let workers = pool.current_num_threads().max(2);
    let queue = Arc::new(Queue::new(settings.queue, workers));
    let answering = Answering { level: bot.level(), rules: bot.rules() };
    let (file, most) = (settings.games.as_deref(), settings.most_games);
    let games = file.map_or_else(|| Store::in_memory(most), |path| Store::open(path, most));
    let games = games.map_err(|error| HttpError::Games(file.unwrap_or(Path::new("")).to_owned(), error))?;
    let app = Arc::new(App {
        queue: Arc::clone(&queue),
        settings,
        metrics: Metrics::default(),
        answering,
        games,
        rollouts: Arc::new(Semaphore::new(workers - 1)),
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
    thread::scope(|scope| {
        let close = CloseWhenDone(queue);
        for worker in 0..workers {
            let (app, bots) = (&app, &bots);
            thread::Builder::new()
                .name(format!("zar-worker-{worker}"))
                .spawn_scoped(scope, move || app.queue.work(bots, pool))
                .map_err(HttpError::Start)?;
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
    gate::guarded(routes.merge(openapi::routes(document)), app)
}
