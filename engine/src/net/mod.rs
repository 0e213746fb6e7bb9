//! Networks: what they see ([`FeatureSet`]), their layers, the file they are kept in, and the forward pass.
//!
//! A [`Model`] holds one [`Network`] for each [`PositionClass`], and perhaps a sieve for plays; an [`Evaluator`] carries the buffers with which one
//! thread evaluates positions, in single precision or, faster, in integers ([`Precision`]). Every number that a network
//! computes is the same on every processor: sums of integers are exact, and those of single precision are taken in a
//! fixed order, without fused operations, whatever vector instructions carry them out.

mod class;
mod evaluator;
mod features;
mod file;
mod forward;
mod lanes;
mod layers;
mod model;
mod quantised;
mod sieve;

pub use crate::rules::{Equity, Probabilities};
pub use class::{NetworkRole, PositionClass};
pub use evaluator::{Evaluator, OutcomesDiffer, Precision};
pub use features::{FeatureSet, MAX_SLOTS, NO_ROW, Slots, UnknownFeatureSet};
pub use file::{FORMAT_VERSION, ModelError, Provenance};
pub use layers::{Activation, DenseLayer, FirstLayer, Network, OUTPUTS, ShapeError};
pub use model::Model;
