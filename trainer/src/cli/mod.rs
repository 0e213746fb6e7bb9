//! The commands of `zar-train`.

pub mod duel;
