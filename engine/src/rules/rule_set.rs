//! The rule sets that the engine knows, as data: what differs between them is in [`Terms`] and nowhere else.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::board::HIGHEST_CUBE;

/// Which published rules a game follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleSet {
    /// International backgammon: gammons count 2, backgammons 3.
    #[default]
    Backgammon,
    /// Turkish tavla: as backgammon, with a cube up to 64 that rests whenever a player needs one point.
    Tavla,
    /// Turkish "Tavla 2004": a triple game for a loser who has a checker outside his own home board.
    Tavla2004,
    /// Romanian table: single games without cube, no triple game, bearing off with the least waste of pips.
    Table,
    /// Finnish rules: every game counts one point.
    Plain,
}

/// What is particular to a rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The dice of the first play of a game.
    pub first_roll: FirstRoll,
    /// Points that a gammon pays: the loser has borne off no checker. 1 where there are no gammons.
    pub gammon_points: u32,
    /// The triple game, which pays 3 points, where there is one.
    pub triple: Option<Triple>,
    /// The doubling cube, where there is one.
    pub cube: Option<CubeTerms>,
    /// Whether matches to a number of points are played.
    pub matches: bool,
    /// Whether the Jacoby rule, beavers and automatic doubles can be switched on.
    pub money_options: bool,
    /// Whether of the plays that use the whole roll only those that waste the fewest pips in bearing off are legal.
    pub least_waste: bool,
    /// How a player gives up a game.
    pub resignation: ResignationTerms,
    /// What happens to a player whose time is up.
    pub time: TimeTerms,
}

/// The dice of the first play of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstRoll {
    /// Those that decided who starts.
    OpeningDice,
    /// The player who starts rolls both again, doubles too.
    Afresh,
}

/// The condition, besides that he has borne off no checker, under which the loser loses a triple game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triple {
    /// One of his checkers is on the bar or in the winner's home board.
    InWinnersHome,
    /// One of his checkers is outside his own home board, or on the bar.
    OutsideOwnHome,
}

impl Triple {
    /// The highest point, as the loser counts, on which a checker does not yet make the game a triple one.
    #[inline]
    pub const fn furthest_safe_point(self) -> usize {
        match self {
            Triple::InWinnersHome => 18,
            Triple::OutsideOwnHome => 6,
        }
    }
}

/// Where the doubling cube may be turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubeTerms {
    /// The highest value that it may reach.
    pub highest: u32,
    /// Whether there is a cube outside matches too.
    pub in_money_play: bool,
    /// In which games of a match it rests.
    pub crawford: Crawford,
}

/// In which games of a match the cube rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crawford {
    /// The first after a player has come within one point of the match.
    OneGame,
    /// All in which a player needs one point.
    EveryGame,
}

/// How a player gives up a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResignationTerms {
    /// He offers one, two or three points, and the opponent may refuse.
    Offered,
    /// The same, but an offer of three is accepted by itself.
    OfferedTripleBinding,
    /// He loses at once what the board says: a single game, a gammon or a triple.
    AsOnBoard,
    /// He loses at once two points if he has borne off no checker, else one.
    Abandoned,
}

/// What happens to a player whose time is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeTerms {
    /// Whatever the server says; the rules have no clock.
    Server,
    /// He loses the match.
    LosesMatch,
    /// He loses this many points when the opponent claims them. A turn has some seconds of its own, and then a reserve
    /// for the whole game is used.
    Claimed {
        /// Points of the claim.
        points: u32,
        /// Seconds of a turn before the reserve is used.
        turn_seconds: u32,
        /// Seconds of the reserve for a whole game.
        reserve_seconds: u32,
    },
}

/// A name that no rule set has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not a rule set: expected backgammon, tavla, tavla2004, table or plain")]
pub struct UnknownRuleSet(pub String);

/// Points that a triple game pays.
pub(super) const TRIPLE_POINTS: u32 = 3;

const BACKGAMMON: Terms = Terms {
    first_roll: FirstRoll::OpeningDice,
    gammon_points: 2,
    triple: Some(Triple::InWinnersHome),
    cube: Some(CubeTerms { highest: HIGHEST_CUBE, in_money_play: true, crawford: Crawford::OneGame }),
    matches: true,
    money_options: true,
    least_waste: false,
    resignation: ResignationTerms::Offered,
    time: TimeTerms::Server,
};

const TAVLA: Terms = Terms {
    cube: Some(CubeTerms { highest: 64, in_money_play: true, crawford: Crawford::EveryGame }),
    money_options: false,
    resignation: ResignationTerms::OfferedTripleBinding,
    time: TimeTerms::LosesMatch,
    ..BACKGAMMON
};

const TAVLA_2004: Terms = Terms {
    first_roll: FirstRoll::Afresh,
    triple: Some(Triple::OutsideOwnHome),
    cube: Some(CubeTerms { highest: 64, in_money_play: false, crawford: Crawford::EveryGame }),
    money_options: false,
    resignation: ResignationTerms::AsOnBoard,
    ..BACKGAMMON
};

const TABLE: Terms = Terms {
    triple: None,
    cube: None,
    matches: false,
    money_options: false,
    least_waste: true,
    resignation: ResignationTerms::Abandoned,
    time: TimeTerms::Claimed { points: 2, turn_seconds: 11, reserve_seconds: 90 },
    ..BACKGAMMON
};

const PLAIN: Terms = Terms {
    gammon_points: 1,
    triple: None,
    cube: None,
    matches: false,
    money_options: false,
    // The pages say nothing of giving up; every loss costs one point.
    resignation: ResignationTerms::AsOnBoard,
    ..BACKGAMMON
};

impl RuleSet {
    /// All rule sets.
    pub const ALL: [RuleSet; 5] =
        [RuleSet::Backgammon, RuleSet::Tavla, RuleSet::Tavla2004, RuleSet::Table, RuleSet::Plain];

    /// What is particular to it.
    #[inline]
    pub const fn terms(self) -> &'static Terms {
        match self {
            RuleSet::Backgammon => &BACKGAMMON,
            RuleSet::Tavla => &TAVLA,
            RuleSet::Tavla2004 => &TAVLA_2004,
            RuleSet::Table => &TABLE,
            RuleSet::Plain => &PLAIN,
        }
    }

    /// Whether a game can be a gammon, which pays more than a single game.
    #[inline]
    pub const fn has_gammons(self) -> bool {
        self.terms().gammon_points > 1
    }

    /// What a gammon pays more than a single game, and a triple game more than a gammon, in points.
    #[inline]
    pub(crate) fn premiums(self) -> (f32, f32) {
        let terms = self.terms();
        let triple = if terms.triple.is_some() { (TRIPLE_POINTS - terms.gammon_points) as f32 } else { 0.0 };
        ((terms.gammon_points - 1) as f32, triple)
    }

    /// Whether probabilities learnt under these rules mean the same under `other`: every outcome that `other` tells
    /// apart is defined here in the same way.
    pub fn outcomes_serve(self, other: RuleSet) -> bool {
        let (own, others) = (self.terms(), other.terms());
        let gammons = !other.has_gammons() || self.has_gammons();
        let triples = others.triple.is_none() || others.triple == own.triple;
        gammons && triples
    }
}

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RuleSet::Backgammon => "backgammon",
            RuleSet::Tavla => "tavla",
            RuleSet::Tavla2004 => "tavla2004",
            RuleSet::Table => "table",
            RuleSet::Plain => "plain",
        })
    }
}

impl FromStr for RuleSet {
    type Err = UnknownRuleSet;

    fn from_str(name: &str) -> Result<RuleSet, UnknownRuleSet> {
        RuleSet::ALL
            .into_iter()
            .find(|rules| rules.to_string() == name)
            .ok_or_else(|| UnknownRuleSet(name.chars().take(40).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for rules in RuleSet::ALL {
            assert_eq!(rules.to_string().parse(), Ok(rules));
            assert_eq!(serde_json::to_string(&rules).unwrap(), format!("\"{rules}\""));
        }
        assert_eq!("Tavla".parse::<RuleSet>(), Err(UnknownRuleSet("Tavla".into())));
    }

    /// Who can play with whose weights: the columns are what is played, the rows what was learnt.
    #[test]
    fn outcomes_serve_where_they_are_defined_alike() {
        let serve = RuleSet::ALL.map(|learnt| RuleSet::ALL.map(|played| learnt.outcomes_serve(played)));
        assert_eq!(
            serve,
            [
                [true, true, false, true, true],
                [true, true, false, true, true],
                [false, false, true, true, true],
                [false, false, false, true, true],
                [false, false, false, false, true],
            ]
        );
    }
}
