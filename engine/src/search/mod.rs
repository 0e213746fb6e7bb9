//! The choice among plays.

mod rank;
mod static_evaluator;

pub use rank::{RankedPlay, best_play, rank_plays};
pub use static_evaluator::StaticEvaluator;
