//! The choice among plays: looking ahead, and rollouts.

mod blur;
mod cache;
mod cube_tree;
mod filter;
mod lookahead;
mod rank;
mod rollout;
mod static_evaluator;
mod stop;

pub use crate::rules::best_play;
pub use blur::Blur;
pub use cache::Cache;
pub use cube_tree::{CubeTree, MOST_STATES};
pub use filter::{MoveFilter, Stage, UnknownMoveFilter};
pub use lookahead::{Search, Value, look_at, means};
pub use rank::{RankedPlay, rank_ahead};
pub use rollout::{Candidate, Chooser, RolledOut, Rollout, RolloutOptions, RolloutProgress, roll_out};
pub use static_evaluator::StaticEvaluator;
pub use stop::Stop;
