//! Connections: how many there are, how slow they may be, and how they end.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, sync::Semaphore, time};
use tracing::{info, warn};

use super::{App, HttpError, prompt_stream::PromptStream, routes};

/// How long the headers of a request may take to come, and how long a connection may be idle.
const HEADER_TIME: Duration = Duration::from_secs(30);
/// Bytes that are read ahead.
const BUFFER: usize = 64 << 10;
/// Bytes that the headers of a request may take.
const HEADERS: usize = 16 << 10;
/// How long after the time of a request the server waits for it when it ends.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long to wait when the system has no room for a connection.
const NO_ROOM: Duration = Duration::from_millis(100);

/// Answers until the process is told to end.
pub async fn answer(app: &Arc<App>, out: &mut impl Write) -> Result<(), HttpError> {
    let address = app.settings.address;
    let fault = |error| HttpError::Listen(address, error);
    let mut told_to_end = std::pin::pin!(told_to_end().map_err(HttpError::Start)?);
    let listener = TcpListener::bind(address).await.map_err(fault)?;
    let address = listener.local_addr().map_err(fault)?;
    writeln!(out, "listening on http://{address}").and_then(|()| out.flush()).map_err(HttpError::Output)?;
    if app.settings.games.is_none() {
        warn!("games are kept in memory alone, and end with the server: no file is set");
    }
    if !address.ip().is_loopback() && app.settings.token.is_none() {
        warn!(%address, "everyone who reaches this address may ask: no token is set");
    }
    info!(%address, workers = app.queue.workers(), "listening");

    let service = TowerToHyperService::new(routes(app));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(BUFFER).max_header_size(HEADERS);
    let room = Arc::new(Semaphore::new(app.settings.connections));
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = async {
            // The semaphore is never closed.
            let place = Arc::clone(&room).acquire_owned().await.ok();
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut told_to_end => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                warn!(%error, "cannot accept a connection");
                time::sleep(NO_ROOM).await;
                continue;
            }
        };
        // Without it, small answers may wait for the other side's acknowledgement.
        let _ = stream.set_nodelay(true);
        let stream = TokioIo::new(PromptStream::new(stream));
        let connection = graceful.watch(http.serve_connection(stream, service.clone()));
        tokio::spawn(async move {
            // Clients that leave, or do not speak HTTP, are no fault of ours.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    app.closing.store(true, Ordering::SeqCst);
    info!("shutting down");
    app.end_rollouts();
    if time::timeout(app.settings.time_limit + LAST_WORDS, graceful.shutdown()).await.is_err() {
        warn!("some requests did not end in time");
    }
    info!("ended");
    Ok(())
}

/// Ends when the process is told to: Ctrl-C, or SIGTERM. A second time ends the process.
fn told_to_end() -> io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(async move {
            static TOLD: AtomicBool = AtomicBool::new(false);
            tokio::select! {
                _ = interrupt.recv() => (),
                _ = terminate.recv() => (),
            }
            if !TOLD.swap(true, Ordering::Relaxed) {
                tokio::spawn(async move {
                    tokio::select! {
                        _ = interrupt.recv() => (),
                        _ = terminate.recv() => (),
                    }
                    std::process::exit(1);
                });
            }
        })
    }
    #[cfg(not(unix))]
    {
        Ok(async {
            // A system without such signals ends the process in its own way.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}
