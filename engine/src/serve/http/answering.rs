//! What a request that says nothing of it is answered with.

use crate::{bot::Level, rules::RuleSet};

/// The level and the rules of the options.
#[derive(Clone, Copy, Debug)]
pub struct Answering {
    /// How far to look ahead.
    pub level: Level,
    /// The rules.
    pub rules: RuleSet,
}
