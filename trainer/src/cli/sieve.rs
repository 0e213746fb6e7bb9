//! `zar-train sieve`: adds a sieve to weights.

use std::path::PathBuf;

use indicatif::ProgressBar;
use rayon::ThreadPoolBuildError;
use thiserror::Error;

use crate::{learner::LearnError, sieve::SieveTraining};

use super::{
    thread_pool,
    weights_file::{self, WeightsFileError},
};

/// Trains a sieve for weights, which makes looking ahead, rollouts and exact targets faster.
///
/// A sieve is a small network that says which of many plays are worth an evaluation. It learns within a minute from what
/// the weights say of the positions of their own games, and is written with them into one weights file. The same seed
/// gives the same sieve.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The weights.
    pub weights: PathBuf,
    /// Where to write them with their sieve; may be the same file.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Rounds of 200 games to learn from.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub rounds: u64,
    /// Seed of all random streams.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Threads to play on [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Why there is no sieve.
#[derive(Debug, Error)]
pub enum SieveCommandError {
    /// The weights cannot be read or written.
    #[error(transparent)]
    Weights(#[from] WeightsFileError),
    /// Learning cannot go on.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] ThreadPoolBuildError),
}

/// Trains, and writes the weights.
///
/// # Errors
/// Files that cannot be used: see [`SieveCommandError`].
pub fn run(args: &Args) -> Result<String, SieveCommandError> {
    let model = weights_file::load(&args.weights)?;
    weights_file::check_writable(&args.out)?;
    let bar = ProgressBar::new(args.rounds);
    let training = SieveTraining { seed: args.seed, rounds: args.rounds };
    let sieved = thread_pool(args.threads)?.install(|| training.train(&model, &mut |done| bar.set_position(done)))?;
    bar.finish_and_clear();
    weights_file::save(&sieved, &args.out)?;
    Ok(format!("{} has a sieve", args.out.display()))
}
