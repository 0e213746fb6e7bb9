//! The choice among plays.

mod rank;

pub use rank::{RankedPlay, best_play, rank_plays};
