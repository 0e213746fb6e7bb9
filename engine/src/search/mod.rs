//! The choice among plays.

mod rank;

pub use rank::{RankedPlay, rank_plays};
