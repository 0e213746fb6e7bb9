//! The rule sets that the engine knows.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Which published rules a game follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RuleSet {
    /// International backgammon: gammons count 2, backgammons 3.
    #[default]
    Backgammon,
}

/// A name that no rule set has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not a rule set: expected backgammon")]
pub struct UnknownRuleSet(pub String);

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RuleSet::Backgammon => "backgammon",
        })
    }
}

impl FromStr for RuleSet {
    type Err = UnknownRuleSet;

    fn from_str(name: &str) -> Result<RuleSet, UnknownRuleSet> {
        match name {
            "backgammon" => Ok(RuleSet::Backgammon),
            _ => Err(UnknownRuleSet(name.chars().take(40).collect())),
        }
    }
}
