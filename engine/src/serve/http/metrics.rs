//! How the server is doing: for those who watch it, and for Prometheus.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::Duration,
};

use axum::{
    extract::State,
    http::{Method, header},
    response::{IntoResponse, Response},
};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    App,
    fault::{Fault, FaultBody},
};

/// Seconds up to which answers are counted together.
const BOUNDS: [f64; 11] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0];

/// Answers of one kind.
#[derive(Clone, Default)]
struct Answers {
    /// By how long they took: up to each bound, and longer.
    counts: [u64; BOUNDS.len() + 1],
    seconds: f64,
}

/// What has been answered so far.
#[derive(Default)]
pub struct Metrics {
    answers: Mutex<BTreeMap<(String, &'static str, u16), Answers>>,
}

impl Metrics {
    /// Counts an answer. `path` is that of the route, so that there are only so many.
    pub fn record(&self, method: &Method, path: &str, status: u16, took: Duration) {
        let method = match *method {
            Method::GET => "GET",
            Method::POST => "POST",
            Method::DELETE => "DELETE",
            Method::HEAD => "HEAD",
            Method::OPTIONS => "OPTIONS",
            _ => "other",
        };
        let seconds = took.as_secs_f64();
        let place = BOUNDS.iter().position(|&bound| seconds <= bound).unwrap_or(BOUNDS.len());
        let mut all = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = all.entry((path.to_owned(), method, status)).or_default();
        answers.counts[place] += 1;
        answers.seconds += seconds;
    }

    fn text(&self) -> String {
        let all = self.answers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut text = String::from("# HELP zar_http_request_seconds How long requests took.\n");
        text += "# TYPE zar_http_request_seconds histogram\n";
        for ((path, method, status), answers) in all {
            let labels = format!("path=\"{path}\",method=\"{method}\",status=\"{status}\"");
            let bounds = BOUNDS.iter().map(f64::to_string).chain(["+Inf".into()]);
            let mut count = 0;
            for (bound, more) in bounds.zip(answers.counts) {
                count += more;
                // Memory takes whatever is written.
                let _ = writeln!(text, "zar_http_request_seconds_bucket{{{labels},le=\"{bound}\"}} {count}");
            }
            let _ = writeln!(text, "zar_http_request_seconds_sum{{{labels}}} {}", answers.seconds);
            let _ = writeln!(text, "zar_http_request_seconds_count{{{labels}}} {count}");
        }
        text
    }
}

/// How the server is doing.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(healthz)).routes(routes!(readyz)).routes(routes!(metrics))
}

/// Whether the server is alive
#[utoipa::path(get, path = "/healthz", tag = "server", responses((status = 200, description = "It is", body = String)))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the server takes requests
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "server",
    responses((status = 200, description = "It does", body = String), (status = 503, description = "It is shutting down", body = FaultBody))
)]
async fn readyz(State(app): State<Arc<App>>) -> Result<&'static str, Fault> {
    if app.closing.load(Ordering::Relaxed) { Err(Fault::closing()) } else { Ok("ready\n") }
}

/// Figures for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "server", responses((status = 200, description = "In Prometheus's text format", body = String)))]
async fn metrics(State(app): State<Arc<App>>) -> Response {
    let mut text = app.metrics.text();
    let (queue, rolling) = (&app.queue, &app.rolling);
    for (name, help, value) in [
        ("zar_queue_length", "Questions that wait for a worker.", queue.length() as u64),
        ("zar_workers_busy", "Workers that think.", queue.busy() as u64),
        ("zar_workers", "All workers.", queue.workers() as u64),
        ("zar_rollouts_queue_length", "Questions that wait for a worker that rolls out.", rolling.length() as u64),
        ("zar_rollouts_busy", "Workers that roll out.", rolling.busy() as u64),
        ("zar_rollouts", "All workers that roll out.", rolling.workers() as u64),
        ("zar_games", "Games that are kept.", app.games.count()),
    ] {
        text += &format!("# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n");
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}
