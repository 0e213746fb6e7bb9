//! `zar-train prune`: makes weights files smaller.

use std::path::PathBuf;

use indicatif::ProgressBar;
use rayon::ThreadPoolBuildError;
use thiserror::Error;
use zar::net::{PositionClass, ShapeError};

use crate::prune::{Pruning, Rows};

use super::{
    thread_pool,
    weights_file::{self, WeightsFileError},
};

/// Leaves out of weights what hardly any position uses, which makes their file smaller.
///
/// Most rows of the first layer stand for patterns that hardly any game shows. Those that too few of the results switch on
/// that the weights choose among in their own games are left out.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The weights.
    pub weights: PathBuf,
    /// Where to write what is left of them; may be the same file.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Games that the weights play against themselves.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub games: u64,
    /// The least number of results of these games, one roll of each position, in which a row must be switched on to stay.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub least: u64,
    /// Seed of the games.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Threads to play on [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Why nothing was left out.
#[derive(Debug, Error)]
pub enum PruneCommandError {
    /// The weights cannot be read or written.
    #[error(transparent)]
    Weights(#[from] WeightsFileError),
    /// Layers do not fit together.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] ThreadPoolBuildError),
}

/// Prunes, and writes the weights.
///
/// # Errors
/// Files that cannot be used: see [`PruneCommandError`].
pub fn run(args: &Args) -> Result<String, PruneCommandError> {
    let model = weights_file::load(&args.weights)?;
    let pruning = Pruning { seed: args.seed, games: args.games, least: args.least };
    weights_file::check_writable(&args.out)?;
    let bar = ProgressBar::new(args.games);
    let (pruned, rows) =
        thread_pool(args.threads)?.install(|| pruning.prune(&model, &mut |done| bar.set_position(done)))?;
    bar.finish_and_clear();
    weights_file::save(&pruned, &args.out)?;
    let left: Vec<String> = PositionClass::ALL
        .into_iter()
        .zip(rows)
        .map(|(class, Rows { all, kept })| format!("{kept} of {all} rows of the {class} network"))
        .collect();
    Ok(format!("{} has {}", args.out.display(), left.join(" and ")))
}
