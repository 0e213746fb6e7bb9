//! `zar serve`: the HTTP door.

use std::{
    env, fs,
    io::{self, IsTerminal, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use axum::http::HeaderValue;
use etcetera::BaseStrategy;
use tracing::level_filters::LevelFilter;

use crate::serve::http::{self, Limits, Origins, Settings};

use super::{
    CliError, Options,
    log_writer::{LogEnd, LogWriter},
};

/// Answers programs over HTTP, in JSON
///
/// The paths and their answers are described by the server itself, in its /openapi.json and, to
/// be read in a browser, under /docs. The answers are those of "zar decide". Ctrl-C and SIGTERM
/// end the server once what it works on is done; rollouts end at once, with what they have found.
/// What is quick, what looks ahead and what rolls out have --threads threads each (at least two
/// for what is quick, and one more than rollouts at once), so that none waits for the other.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Where to listen, as in 127.0.0.1:8080; a port alone is one of this machine for itself.
    #[arg(default_value = "127.0.0.1:8080", value_parser = address)]
    address: SocketAddr,
    /// Seconds that a request may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    time_limit: u64,
    /// Seconds that a rollout may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    rollout_limit: u64,
    /// Rollouts that may run at once, beside requests at the level "rollout"; others are answered with status 429.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    rollouts: u32,
    /// Requests that may wait for a thread, of each kind (quick, looking ahead, rolling out); others are answered with status
    /// 429.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    queue: u32,
    /// Bytes that the body of a request may have.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    body_limit: u32,
    /// Requests that a batch may have.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    batch_limit: u32,
    /// Connections that may be open at once; others wait.
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    connections: u32,
    /// The file that keeps games over restarts, or "none" to keep them in memory alone, where they end with the server, as they
    /// do where there is no data folder; the logs say so [default: zar/games.redb in the user's data folder].
    #[arg(long, value_name = "FILE")]
    games: Option<PathBuf>,
    /// Games that are kept at most; then the one that has lain idle longest, but for a day at least, gives way to a new one, and
    /// if there is none the answer has status 503.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    most_games: u64,
    /// Megabytes that games and their actions may take at most, without what the file takes to find them.
    #[arg(long, value_name = "MB", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    games_size: u64,
    /// Days after which a game is forgotten in which nothing was done.
    #[arg(long, value_name = "DAYS", default_value_t = 90, value_parser = clap::value_parser!(u64).range(1..=36_500))]
    keep_games: u64,
    /// A file with a word that requests have to bring as "authorization: Bearer WORD" [default: $ZAR_TOKEN, or none].
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// An origin whose pages may ask, as in https://example.org, or "*" for all [default: none].
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    cors: Vec<Origin>,
    /// What to write to standard error.
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Log::Json)]
    log: Log,
}

/// The form of logs.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Log {
    /// A line of JSON for everything that happens.
    Json,
    /// A line of text.
    Text,
    /// Nothing.
    Off,
}

#[derive(Clone, Debug)]
enum Origin {
    This(HeaderValue),
    Any,
}

/// The longest token, and the shortest that is not guessed.
const TOKEN_LENGTHS: std::ops::RangeInclusive<usize> = 16..=1024;

fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    let local = local.map(|port: u16| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let expected = "expected an address and a port, as in 127.0.0.1:8080, or a port";
    local.map_or_else(|| SocketAddr::from_str(text).map_err(|_| expected.to_owned()), Ok)
}

fn origin(text: &str) -> Result<Origin, String> {
    if text == "*" {
        return Ok(Origin::Any);
    }
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match HeaderValue::from_str(text) {
        Ok(value) if host.is_some_and(|host| !host.is_empty() && !host.contains('/')) => Ok(Origin::This(value)),
        _ => Err("expected an origin without a path, as in https://example.org, or \"*\"".into()),
    }
}

pub fn run(args: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    let settings = Settings {
        address: args.address,
        time_limit: Duration::from_secs(args.time_limit),
        rollout_limit: Duration::from_secs(args.rollout_limit),
        rollouts: args.rollouts as usize,
        queue: args.queue as usize,
        body_limit: args.body_limit as usize,
        batch_limit: args.batch_limit as usize,
        connections: args.connections as usize,
        token: args.token()?,
        origins: args.origins(),
        games: args.games(),
        game_limits: Limits {
            games: args.most_games,
            bytes: args.games_size * 1_000_000,
            idle: Duration::from_secs(args.keep_games * 24 * 60 * 60),
        },
    };
    let _logs = args.log.begin().map_err(CliError::Log)?;
    let pool = options.thread_pool()?;
    options.with_bot(|bot| Ok(http::serve(bot, &pool, settings, out)?))
}

impl Args {
    fn token(&self) -> Result<Option<String>, CliError> {
        let (token, from) = match &self.token_file {
            Some(path) => {
                let fault = |error: io::Error| CliError::Token(format!("cannot read {path:?}: {error}"));
                (fs::read_to_string(path).map_err(fault)?, format!("{path:?}"))
            }
            None => match env::var("ZAR_TOKEN") {
                Ok(token) => (token, "ZAR_TOKEN".into()),
                Err(env::VarError::NotPresent) => return Ok(None),
                Err(error) => return Err(CliError::Token(format!("ZAR_TOKEN: {error}"))),
            },
        };
        let token = token.trim();
        let fits = TOKEN_LENGTHS.contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic());
        let (shortest, longest) = (TOKEN_LENGTHS.start(), TOKEN_LENGTHS.end());
        match fits {
            true => Ok(Some(token.to_owned())),
            false => Err(CliError::Token(format!(
                "the token in {from} is not one: expected {shortest} to {longest} printable ASCII characters"
            ))),
        }
    }

    fn games(&self) -> Option<PathBuf> {
        match &self.games {
            Some(path) if path.as_os_str() == "none" => None,
            Some(path) => Some(path.clone()),
            None => Some(etcetera::base_strategy::choose_native_strategy().ok()?.data_dir().join("zar/games.redb")),
        }
    }

    fn origins(&self) -> Origins {
        let these = self.cors.iter().map(|origin| match origin {
            Origin::This(value) => Some(value.clone()),
            Origin::Any => None,
        });
        these.collect::<Option<_>>().map_or(Origins::Any, Origins::These)
    }
}

impl Log {
    /// Logs from here on, panics too, until what is returned is dropped.
    fn begin(self) -> io::Result<LogEnd> {
        let (writer, end) = LogWriter::start()?;
        let logs = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_max_level(LevelFilter::INFO);
        match self {
            Log::Json => logs.json().flatten_event(true).init(),
            Log::Text => logs.with_ansi(io::stderr().is_terminal()).init(),
            Log::Off => {}
        }
        std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a fault of the program")));
        Ok(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        for text in ["127.0.0.1:80", "localhost:80", "80"] {
            assert_eq!(address(text), Ok(SocketAddr::from(([127, 0, 0, 1], 80))), "{text}");
        }
        assert!(address("[::1]:80").is_ok());
        for text in ["", "localhost", "127.0.0.1", "127.0.0.1:65536", "65536", "example.org:80"] {
            assert!(address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn origins_have_no_paths() {
        assert!(
            origin("https://example.org").is_ok() && origin("http://localhost:3000").is_ok() && origin("*").is_ok()
        );
        for text in ["", "example.org", "https://", "https://example.org/", "https://a\nb"] {
            assert!(origin(text).is_err(), "{text}");
        }
    }
}
