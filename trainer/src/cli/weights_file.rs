//! Weights files that a command is given.

use std::path::Path;

use thiserror::Error;
use zar::{
    durable,
    net::{Model, ModelError},
};

/// Weights that cannot be read or written.
#[derive(Debug, Error)]
#[error("{path}: {error}")]
pub struct WeightsFileError {
    /// Which file.
    pub path: String,
    /// Why.
    pub error: ModelError,
}

impl WeightsFileError {
    fn of(path: &Path) -> impl FnOnce(ModelError) -> WeightsFileError + '_ {
        move |error| WeightsFileError { path: path.display().to_string(), error }
    }
}

/// Reads weights.
///
/// # Errors
/// A file that cannot be read, or is no weights file.
pub fn load(path: &Path) -> Result<Model, WeightsFileError> {
    Model::load(path).map_err(WeightsFileError::of(path))
}

/// Finds out before hours of work whether their outcome could be written.
///
/// # Errors
/// What the file system answers.
pub fn check_writable(path: &Path) -> Result<(), WeightsFileError> {
    durable::check_writable(path).map_err(ModelError::from).map_err(WeightsFileError::of(path))
}

/// Writes weights.
///
/// # Errors
/// What the file system answers.
pub fn save(model: &Model, path: &Path) -> Result<(), WeightsFileError> {
    model.save(path).map_err(WeightsFileError::of(path))
}
