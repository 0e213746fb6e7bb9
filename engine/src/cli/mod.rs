//! The command `zar`: its options, and how it ends.
//!
//! Bad input ends it with one line on standard error, which names the fault and what was expected, and exit status 2. An
//! answer that cannot be written ends it with status 1, unless the reader has left, which is no fault.

mod answer;
mod bearoff;
mod bench;
mod board_drawing;
mod completions;
pub mod conduct;
mod cube;
mod decide;
mod eval;
#[cfg(feature = "serve")]
mod external;
#[cfg(feature = "serve")]
mod log_writer;
mod man;
mod match_info;
mod met_file;
mod play;
mod play_move;
mod position_arg;
mod rollout;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod ubgi;

use std::{
    borrow::Cow,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::{CommandFactory, Parser, Subcommand};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use thiserror::Error;

use crate::{
    board::CubeValueError,
    bot::{Bot, BotError, Level},
    cube::{GammonRates, MatchEquityTable},
    exact::{BearoffTables, CacheFolder, TableSpec, TableSpecError},
    net::{Model, ModelError},
    rules::{
        DiceError, MatchError, MatchScoreError, PositionArg, PositionArgError, RuleSet, Session, Stakes, StakesError,
    },
    search::MoveFilter,
};

use conduct::{complain, usage};
use met_file::{TableFileError, load_table};
use play::SavedGameError;

/// The name that complaints begin with.
const NAME: &str = "zar";

/// A backgammon engine whose networks have learnt from their own play alone
///
/// POSITION is a gnubg Position ID, PositionID:MatchID, an XGID, or "start".
/// Everything is seen by the player on roll.
#[derive(Debug, Parser)]
#[command(name = "zar", version, verbatim_doc_comment, arg_required_else_help = false)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Subcommand)]
enum Command {
    Eval(eval::Args),
    Move(play_move::Args),
    Cube(cube::Args),
    Rollout(rollout::Args),
    MatchInfo(match_info::Args),
    Decide(decide::Args),
    Play(play::Args),
    Bearoff(bearoff::Args),
    Bench(bench::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[cfg(feature = "serve")]
    External(external::Args),
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    #[cfg(feature = "serve")]
    Ubgi(ubgi::Args),
}

/// What every command takes.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Answer in JSON.
    #[arg(long, global = true)]
    json: bool,
    /// How far to look ahead (0ply, 1ply, 2ply, 3ply or rollout), or whom to imitate: beginner, casual, intermediate, advanced,
    /// expert or worldclass [default: 0ply, with --time 3ply].
    #[arg(long, global = true, value_name = "LEVEL")]
    level: Option<Level>,
    /// The most time for an answer, as in 500ms or 2s: looks ahead one ply after the other, up to the level, and gives the
    /// last that it could finish.
    #[arg(long, global = true, value_name = "TIME", value_parser = humantime::parse_duration)]
    time: Option<Duration>,
    /// The rules: backgammon, tavla, tavla2004, table or plain.
    #[arg(long, global = true, value_name = "NAME", default_value_t)]
    rules: RuleSet,
    /// Which plays are looked at more deeply: tiny, narrow, normal, large, huge or none (all of them).
    #[arg(long, global = true, value_name = "NAME", default_value_t)]
    filter: MoveFilter,
    /// A match equity table in GNU Backgammon's XML (of type "explicit"), or "computed" [default: Kazaross XG2, or a computed one
    /// where the rules differ].
    #[arg(long, global = true, value_name = "FILE")]
    met: Option<PathBuf>,
    /// Money play with the Jacoby rule.
    #[arg(long, global = true)]
    jacoby: bool,
    /// Money play with beavers.
    #[arg(long, global = true)]
    beavers: bool,
    /// A weights file [default: the weights in the program].
    #[arg(long, global = true, value_name = "PATH")]
    model: Option<PathBuf>,
    /// Threads to work on, 1 to 1024 [default: all cores].
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Seed of whatever is random [default: the same for measurements, another for each game that is played].
    #[arg(long, global = true, value_name = "N")]
    seed: Option<u64>,
    /// The folder of the bear-off tables [default: $ZAR_CACHE, or else zar in the user's cache folder].
    #[arg(long, global = true, value_name = "DIR")]
    cache: Option<PathBuf>,
}

/// Why a command gives no answer.
#[derive(Debug, Error)]
enum CliError {
    /// Not a position.
    #[error(transparent)]
    Position(#[from] PositionArgError),
    /// Not a roll.
    #[error(transparent)]
    Dice(#[from] DiceError),
    /// A play is asked for, but neither an argument nor the position says what was rolled.
    #[error("the position carries no dice: expected DICE, as in 31 or 3-1")]
    NoDice,
    /// The game has ended.
    #[error("the game in {0} is over: expected a position in which both players have checkers on the board")]
    GameOver(String),
    /// Stakes that the rules do not know.
    #[error(transparent)]
    Stakes(#[from] StakesError),
    /// A match equity table that cannot be used.
    #[error("cannot use the match equity table {path:?}: {error}")]
    Table {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: TableFileError,
    },
    /// A weights file that cannot be used.
    #[error("cannot use the weights {path:?}: {error}")]
    Model {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: ModelError,
    },
    /// The bot refuses.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// A match that the rules do not have.
    #[error(transparent)]
    MatchState(#[from] MatchError),
    /// A saved match that cannot be gone on with.
    #[error("cannot go on with {path:?}: {error}")]
    Game {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: SavedGameError,
    },
    /// A score that no match has while it goes on.
    #[error(transparent)]
    Score(#[from] MatchScoreError),
    /// A cube that does not exist.
    #[error(transparent)]
    CubeValue(#[from] CubeValueError),
    /// A bear-off table that cannot be.
    #[error(transparent)]
    BearoffSpec(#[from] TableSpecError),
    /// A bear-off table that is too large for the machine.
    #[error("the table ({spec}) takes {needed} MB to build, expected no more than the {available} MB that are free")]
    BearoffMemory {
        /// Which.
        spec: TableSpec,
        /// Megabytes.
        needed: u64,
        /// Megabytes.
        available: u64,
    },
    /// A bear-off table that was built in vain.
    #[error("cannot keep the table{}: {error}", path.as_ref().map(|path| format!(" {}", path.display())).unwrap_or_default())]
    BearoffNotKept {
        /// Where, if there is a cache folder.
        path: Option<PathBuf>,
        /// Why not.
        error: io::Error,
    },
    /// The bear-off tables do not reach a position.
    #[error(
        "{0} is not in the bear-off tables: expected a race with all checkers of both sides on their points 1 to {1}"
    )]
    NotInBearoff(String, u8),
    /// A rollout that ended before it had any result.
    #[error("the rollout was stopped before its first games were done")]
    RolloutStopped,
    /// The man pages could not be written.
    #[error("cannot write man pages to {folder:?}: {error}")]
    Man {
        /// Where to.
        folder: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] ThreadPoolBuildError),
    /// A token that cannot be used.
    #[cfg(feature = "serve")]
    #[error("{0}")]
    Token(String),
    /// There is no thread for the logs.
    #[cfg(feature = "serve")]
    #[error("cannot start the logs: {0}")]
    Log(io::Error),
    /// The HTTP server could not be started.
    #[cfg(feature = "serve")]
    #[error(transparent)]
    Http(#[from] crate::serve::http::HttpError),
    /// Nobody can connect.
    #[cfg(feature = "serve")]
    #[error("cannot listen on {address:?}: {error}, expected an address and a free port, as in 127.0.0.1:4321")]
    Listen {
        /// Where.
        address: String,
        /// Why.
        error: io::Error,
    },
    /// The requests could not be read.
    #[error("cannot read the requests: {0}")]
    Input(io::Error),
    /// The answer could not be written.
    #[error("cannot write the answer: {0}")]
    Output(#[from] io::Error),
}

impl Options {
    /// Hands the bot to a command. What is read from files lives as long as the command runs.
    fn with_bot<R>(&self, command: impl FnOnce(Bot<'_>) -> Result<R, CliError>) -> Result<R, CliError> {
        let loaded = self.model.as_ref().map(|path| load(path)).transpose()?;
        let model = loaded.as_ref().unwrap_or_else(|| Model::shipped_for(self.rules));
        let table = self.table()?;
        let bot = Bot::new(model, self.level(), self.rules)?
            .with_table(&table)
            .with_filter(self.filter)
            .with_time(self.time)
            .with_seed(self.seed.unwrap_or(0));
        command(bot.with_tables(BearoffTables::new(self.rules, self.cache_folder())))
    }

    /// Asks the bot one thing, which it may think about on all threads.
    fn ask<R: Send>(&self, question: impl FnOnce(&mut Bot<'_>) -> Result<R, CliError> + Send) -> Result<R, CliError> {
        self.with_bot(|mut bot| match self.level().plies() {
            0 => question(&mut bot),
            _ => self.thread_pool()?.install(|| question(&mut bot)),
        })
    }

    /// The level that is asked for; who gives time wants it to be used.
    fn level(&self) -> Level {
        self.level.unwrap_or(if self.time.is_some() { Level::WITHIN_A_TIME } else { Level::default() })
    }

    /// The match equity table that is asked for.
    fn table(&self) -> Result<Cow<'static, MatchEquityTable>, CliError> {
        match &self.met {
            None => Ok(Cow::Borrowed(MatchEquityTable::usual(self.rules))),
            Some(name) if name.as_os_str() == "computed" => {
                Ok(Cow::Owned(MatchEquityTable::computed(self.rules, GammonRates::default())))
            }
            Some(path) => match load_table(path) {
                Ok(table) => Ok(Cow::Owned(table)),
                Err(error) => Err(CliError::Table { path: path.clone(), error }),
            },
        }
    }

    /// Stakes with the options of money play that are switched on, when the rules allow them.
    fn stakes(&self, mut stakes: Stakes) -> Result<Stakes, StakesError> {
        if let Session::Money(options) = &mut stakes.session {
            options.jacoby |= self.jacoby;
            options.beavers |= self.beavers;
        }
        stakes.check(self.rules)?;
        Ok(stakes)
    }

    /// Where bear-off tables are kept.
    fn cache_folder(&self) -> CacheFolder {
        self.cache.as_ref().map_or_else(CacheFolder::of_user, CacheFolder::at)
    }

    /// The threads that a command works on.
    fn thread_pool(&self) -> Result<ThreadPool, CliError> {
        Ok(ThreadPoolBuilder::new().num_threads(self.threads.map_or(0, usize::from)).build()?)
    }
}

fn load(path: &Path) -> Result<Model, CliError> {
    Model::load(path).map_err(|error| CliError::Model { path: path.to_owned(), error })
}

/// Runs the command that the program was called with.
pub fn main() -> ExitCode {
    let Cli { command, options } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(NAME, &error),
    };
    let mut out = io::stdout();
    let done = match &command {
        Command::Eval(args) => eval::run(args, &options, &mut out),
        Command::Move(args) => play_move::run(args, &options, &mut out),
        Command::Cube(args) => cube::run(args, &options, &mut out),
        Command::Rollout(args) => rollout::run(args, &options, &mut out),
        Command::MatchInfo(args) => match_info::run(args, &options, &mut out),
        Command::Decide(args) => decide::run(args, &options, &mut out),
        Command::Play(args) => play::run(args, &options, &mut out),
        Command::Bearoff(args) => bearoff::run(args, &options, &mut out),
        Command::Bench(args) => bench::run(args, &options, &mut out),
        Command::Completions(args) => completions::run(args, Cli::command(), &mut out),
        Command::Man(args) => man::run(args, Cli::command()),
        #[cfg(feature = "serve")]
        Command::External(args) => external::run(args, &options, &mut out),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args, &options, &mut out),
        #[cfg(feature = "serve")]
        Command::Ubgi(args) => ubgi::run(args, &options, &mut out),
    };
    match done.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(CliError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(
            error @ (CliError::Output(_)
            | CliError::Input(_)
            | CliError::Threads(_)
            | CliError::RolloutStopped
            | CliError::Man { .. }
            | CliError::BearoffNotKept { .. }),
        ) => {
            complain(NAME, &error.to_string());
            ExitCode::FAILURE
        }
        #[cfg(feature = "serve")]
        Err(error @ (CliError::Http(_) | CliError::Log(_))) => {
            complain(NAME, &error.to_string());
            ExitCode::FAILURE
        }
        #[cfg(feature = "serve")]
        Err(ref refused @ CliError::Listen { ref error, .. }) if error.kind() != io::ErrorKind::InvalidInput => {
            complain(NAME, &refused.to_string());
            ExitCode::FAILURE
        }
        Err(error) => {
            complain(NAME, &error.to_string());
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
