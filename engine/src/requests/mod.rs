//! Requests and answers in JSON, the same for every door that speaks it.
//!
//! What they mean is said where users read it: in the help of `zar decide`.

mod answer;
mod bots;
mod request;
mod rolled;

pub use answer::{Answer, CubeAnswer, EvaluationAnswer, MoveAnswer, Rounded, probabilities};
pub use bots::Bots;
#[cfg(feature = "serve")]
pub use bots::{Asked, Question};
#[cfg(feature = "serve")]
pub use request::{CubeRequest, MatchRequest, Want, read_json};
pub use request::{Request, RequestError};
#[cfg(feature = "serve")]
pub use rolled::RolledAnswer;
pub use rolled::{RolledCubeAnswer, RolledPlaysAnswer, RolledPositionAnswer};
