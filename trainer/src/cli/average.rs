//! `zar-train average`: the mean of several weights.

use std::path::PathBuf;

use thiserror::Error;
use zar::net::{Model, ModelError};

use crate::average::{AverageError, average};

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
    #[error("{path}: {error}")]
    Model {
        /// Which file.
        path: String,
        /// Why.
        error: ModelError,
    },
    /// They do not fit together.
    #[error(transparent)]
    Average(#[from] AverageError),
}

/// Averages, and writes the weights.
///
/// # Errors
/// Files that cannot be used: see [`AverageCommandError`].
pub fn run(args: &Args) -> Result<String, AverageCommandError> {
    let fault = |path: &PathBuf| {
        let path = path.display().to_string();
        move |error| AverageCommandError::Model { path, error }
    };
    let models: Vec<Model> =
        args.weights.iter().map(|path| Model::load(path).map_err(fault(path))).collect::<Result<_, _>>()?;
    average(&models)?.save(&args.out).map_err(fault(&args.out))?;
    Ok(format!("{} is the mean of {} weights", args.out.display(), models.len()))
}
