//! The commands of `zar-train`.

pub mod duel;
pub mod plot;
pub mod run;
pub mod score;

use std::{error::Error, num::NonZeroUsize, process::ExitCode};

use clap::{Parser, Subcommand};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Trains backgammon networks by self-play, and measures them.
#[derive(Debug, Parser)]
#[command(name = "zar-train", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Duel(duel::Args),
    Score(score::Args),
    Plot(plot::Args),
}

impl Cli {
    /// Carries out the command; a failure is one line on standard error and exit status 2.
    pub fn execute(&self) -> ExitCode {
        let result: Result<(), Box<dyn Error>> = match &self.command {
            Command::Run(args) => run::run(args).map_err(Into::into),
            Command::Duel(args) => duel::run(args).map_err(Into::into),
            Command::Score(args) => score::run(args).map_err(Into::into),
            Command::Plot(args) => plot::run(args).map_err(Into::into),
        };
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("zar-train: {error}");
                ExitCode::from(2)
            }
        }
    }
}

/// Threads to work on: as many as asked for, or all cores.
fn thread_pool(threads: Option<NonZeroUsize>) -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new().num_threads(threads.map_or(0, NonZeroUsize::get)).build()
}
