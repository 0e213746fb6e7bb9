//! Requests and answers in JSON, the same for every door that speaks it.
//!
//! What they mean is said where users read it: in the help of `zar decide`.

mod answer;
mod bots;
mod position_arg;
mod request;

pub use answer::{Answer, CubeAnswer, EvaluationAnswer, MoveAnswer, Rounded, probabilities};
pub use bots::Bots;
pub use position_arg::{PositionArg, PositionArgError};
pub use request::{CubeRequest, Request, RequestError, Want, read_json};
