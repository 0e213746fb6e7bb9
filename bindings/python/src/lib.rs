//! Zar in Python: the module `zar._zar`, which the package `zar` hands on.

mod answers;
mod bot;
mod stakes;

use pyo3::prelude::*;

/// The engine; import zar instead.
#[pymodule(gil_used = false)]
mod _zar {
    use super::*;

    #[pymodule_export]
    use super::{
        answers::{CubeDecision, Evaluation, Evaluations, Play},
        bot::{Bot, points, position_id},
        stakes::{Cube, Match},
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
