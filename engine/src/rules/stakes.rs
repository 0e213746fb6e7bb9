//! What a game is played for.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::board::{CubeOwner, CubeState, HIGHEST_CUBE};

use super::{MatchScore, RuleSet};

/// What a game is part of, seen by the player on roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Session {
    /// Every point counts by itself.
    Money(MoneyOptions),
    /// A match at this score.
    Match(MatchScore),
}

/// What can be switched on in money play, where the rule set allows it. All off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MoneyOptions {
    /// Gammons and triple games count as single ones while the cube is in the middle.
    pub jacoby: bool,
    /// A player who takes a double may at once turn the cube again and keep it.
    pub beavers: bool,
}

/// What a game is played for, seen by the player on roll: all that a position's worth depends on beside the checkers and
/// the rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stakes {
    /// Money or a match.
    pub session: Session,
    /// The cube before any double that is being decided on.
    pub cube: CubeState,
    /// The highest value that the players allow the cube to reach; the rule set may have a lower one.
    pub highest_cube: u32,
}

/// Stakes that a rule set does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StakesError {
    /// A match where only single games are played.
    #[error("{score}: there are no matches under {rules}, expected a single game")]
    NoMatches {
        /// The rule set.
        rules: RuleSet,
        /// The score.
        score: MatchScore,
    },
    /// The Jacoby rule or beavers where they do not exist.
    #[error("there is no Jacoby rule and there are no beavers under {0}")]
    NoMoneyOptions(RuleSet),
    /// A cube that has been turned in a game without one.
    #[error("a cube of {value} in a game without cube under {rules}")]
    NoCube {
        /// The rule set.
        rules: RuleSet,
        /// What the cube shows.
        value: u32,
    },
    /// A cube beyond what it may reach.
    #[error("the cube shows {value}, and {limit} is the highest it may show")]
    CubeLimit {
        /// What it shows.
        value: u32,
        /// What it may show.
        limit: u32,
    },
}

impl Stakes {
    /// Money play with the cube in the middle and no options.
    pub const MONEY: Stakes =
        Stakes::new(Session::Money(MoneyOptions { jacoby: false, beavers: false }), CubeState::START);

    /// A game that counts its points at a cube of 1, which nobody may turn.
    pub const CUBELESS: Stakes = Stakes { highest_cube: 1, ..Stakes::MONEY };

    /// Stakes with a cube that nothing but the rule set limits.
    pub const fn new(session: Session, cube: CubeState) -> Stakes {
        Stakes { session, cube, highest_cube: HIGHEST_CUBE }
    }

    /// Refuses stakes that `rules` do not know.
    ///
    /// # Errors
    /// A match where there are none, options of money play where they cannot be switched on, and cubes that cannot be.
    pub fn check(&self, rules: RuleSet) -> Result<(), StakesError> {
        match self.session {
            Session::Match(score) if !rules.terms().matches => Err(StakesError::NoMatches { rules, score }),
            Session::Money(options) if options != MoneyOptions::default() && !rules.terms().money_options => {
                Err(StakesError::NoMoneyOptions(rules))
            }
            _ if self.cube.value() > 1 && !self.has_cube(rules) => {
                Err(StakesError::NoCube { rules, value: self.cube.value() })
            }
            _ if self.cube.value() > self.cube_limit(rules) => {
                Err(StakesError::CubeLimit { value: self.cube.value(), limit: self.cube_limit(rules) })
            }
            _ => Ok(()),
        }
    }

    /// The score, unless it is money play.
    pub fn score(&self) -> Option<MatchScore> {
        match self.session {
            Session::Match(score) => Some(score),
            Session::Money(_) => None,
        }
    }

    /// The options of money play; none are on in a match.
    pub fn money_options(&self) -> MoneyOptions {
        match self.session {
            Session::Money(options) => options,
            Session::Match(_) => MoneyOptions::default(),
        }
    }

    /// Whether there is a cube in the game at all.
    pub fn has_cube(&self, rules: RuleSet) -> bool {
        match self.session {
            Session::Match(score) => score.has_cube(rules),
            Session::Money(_) => rules.terms().cube.is_some_and(|cube| cube.in_money_play),
        }
    }

    /// The highest value that the cube may reach under `rules`.
    pub fn cube_limit(&self, rules: RuleSet) -> u32 {
        rules.terms().cube.map_or(1, |cube| cube.highest.min(self.highest_cube))
    }

    /// Whether the player on roll may double by the rules, sensible or not.
    pub fn may_double(&self, rules: RuleSet) -> bool {
        self.has_cube(rules)
            && self.cube.owner() != CubeOwner::Opponent
            && self.cube.value() * 2 <= self.cube_limit(rules)
    }

    /// The stakes after the player on roll has doubled and been taken, still seen by him; `None` when the cube has no higher
    /// value.
    pub fn doubled(self) -> Option<Stakes> {
        let cube = CubeState::new(self.cube.value() * 2, CubeOwner::Opponent).ok()?;
        Some(Stakes { cube, ..self })
    }

    /// The same stakes seen by the other player.
    pub fn swapped(self) -> Stakes {
        let session = match self.session {
            Session::Match(score) => Session::Match(score.swapped()),
            money => money,
        };
        Stakes { session, cube: self.cube.swapped(), ..self }
    }
}

impl Default for Stakes {
    fn default() -> Self {
        Stakes::MONEY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_double() {
        let may = |rules, stakes: Stakes| stakes.may_double(rules);
        assert_eq!(RuleSet::ALL.map(|rules| may(rules, Stakes::MONEY)), [true, true, false, false, false]);
        let score = Session::Match(MatchScore::new(5, [1, 2], false).unwrap());
        let at = |value, owner| Stakes::new(score, CubeState::new(value, owner).unwrap());
        assert_eq!(RuleSet::ALL.map(|rules| may(rules, at(32, CubeOwner::Player))), [true, true, true, false, false]);
        assert_eq!(RuleSet::ALL.map(|rules| may(rules, at(64, CubeOwner::Player))), [true, false, false, false, false]);
        assert!(!may(RuleSet::Backgammon, at(2, CubeOwner::Opponent)));
        assert!(may(RuleSet::Backgammon, at(2, CubeOwner::Opponent).swapped()));
        assert!(!may(RuleSet::Backgammon, Stakes { highest_cube: 1, ..Stakes::MONEY }));
    }
}
