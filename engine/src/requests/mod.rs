//! Requests and answers in JSON, the same for every door that speaks it.
//!
//! What they mean is said where users read it: in the help of `zar decide`.

mod answer;
mod bots;
mod position_arg;
mod request;
mod rolled;

pub use answer::{Answer, CubeAnswer, EvaluationAnswer, MoveAnswer, Rounded, probabilities};
pub use bots::{Asked, Bots, Question};
pub use position_arg::{PositionArg, PositionArgError};
pub use request::{CubeRequest, MatchRequest, Request, RequestError, Want, read_json};
pub use rolled::{RolledAnswer, RolledCubeAnswer, RolledPlaysAnswer, RolledPositionAnswer};
