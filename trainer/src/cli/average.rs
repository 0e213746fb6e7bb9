//! `zar-train average`: the mean of several weights.

use std::path::PathBuf;

use thiserror::Error;
use zar::net::Model;

use crate::average::{AverageError, average};

use super::weights_file::{self, WeightsFileError};

/// Averages weights of one shape: those of runs that went on from each other, or from the same weights.
///
/// The mean often plays better than any of them. What is known of their making, and the sieve, are those of the last.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The weights.
    #[arg(required = true, num_args = 2..)]
    pub weights: Vec<PathBuf>,
    /// Where to write their mean; may be one of the files.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Why there is no mean.
#[derive(Debug, Error)]
pub enum AverageCommandError {
    /// Weights cannot be read or written.
    #[error(transparent)]
    Weights(#[from] WeightsFileError),
    /// They do not fit together.
    #[error(transparent)]
    Average(#[from] AverageError),
}

/// Averages, and writes the weights.
///
/// # Errors
/// Files that cannot be used: see [`AverageCommandError`].
pub fn run(args: &Args) -> Result<String, AverageCommandError> {
    weights_file::check_writable(&args.out)?;
    let models: Vec<Model> = args.weights.iter().map(|path| weights_file::load(path)).collect::<Result<_, _>>()?;
    weights_file::save(&average(&models)?, &args.out)?;
    Ok(format!("{} is the mean of {} weights", args.out.display(), models.len()))
}
