//! The commands of `zar-train`.

pub mod average;
pub mod duel;
pub mod plot;
pub mod prune;
pub mod refine;
pub mod run;
pub mod score;
pub mod sieve;
pub mod weights_file;

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use zar::cli::conduct::{complain, usage};

const NAME: &str = "zar-train";

/// Trains backgammon networks by self-play, and measures them.
#[derive(Debug, Parser)]
#[command(name = "zar-train", version, arg_required_else_help = false, subcommand_required = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Refine(refine::Args),
    Duel(duel::Args),
    Score(score::Args),
    Sieve(sieve::Args),
    Prune(prune::Args),
    Average(average::Args),
    Plot(plot::Args),
}

/// Runs the command that the program was called with. Bad input and failures are one line on standard error and exit
/// status 2; an answer that cannot be written is status 1, unless the reader has left, which is no fault.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(NAME, &error),
    };
    let answer: Result<String, Box<dyn Error>> = match &cli.command {
        Command::Run(args) => run::run(args).map_err(Into::into),
        Command::Refine(args) => refine::run(args).map_err(Into::into),
        Command::Duel(args) => duel::run(args).map_err(Into::into),
        Command::Score(args) => score::run(args).map_err(Into::into),
        Command::Sieve(args) => sieve::run(args).map_err(Into::into),
        Command::Prune(args) => prune::run(args).map_err(Into::into),
        Command::Average(args) => average::run(args).map_err(Into::into),
        Command::Plot(args) => plot::run(args).map_err(Into::into),
    };
    match answer {
        Ok(text) => {
            let mut out = io::stdout();
            match writeln!(out, "{text}").and_then(|()| out.flush()) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    complain(NAME, &format!("cannot write the answer: {error}"));
                    ExitCode::FAILURE
                }
                _ => ExitCode::SUCCESS,
            }
        }
        Err(error) => {
            complain(NAME, &error.to_string());
            ExitCode::from(2)
        }
    }
}

/// Threads to work on: as many as asked for, or all cores.
fn thread_pool(threads: Option<u16>) -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new().num_threads(threads.map_or(0, usize::from)).build()
}
