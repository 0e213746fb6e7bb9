//! The doubling cube: what it adds to a position, and when to turn it.
//!
//! Networks know nothing of the cube. What they say about a game without one is turned into cubeful equities by a model
//! of how well the cube can be used, the [`CubeModel`], for money play and for matches by a [`MatchEquityTable`].
//!
//! ```
//! use zar::{cube::{CubeAction, CubeModel, Efficiency}, net::Probabilities, rules::{RuleSet, Stakes}};
//!
//! // 77 % wins without gammons: a double, and just a take.
//! let probabilities = Probabilities::from_array([0.77, 0.0, 0.0, 0.0, 0.0]);
//! let model = CubeModel::usual(RuleSet::Backgammon);
//! let decision = model.decide(&probabilities, Efficiency::CONTACT, &Stakes::MONEY).unwrap();
//! assert_eq!(decision.action, CubeAction::DoubleTake);
//! ```

mod efficiency;
mod met;
mod model;

use std::fmt;

use crate::net::Equity;

pub use efficiency::Efficiency;
pub use met::{GammonRates, LONGEST_TABLE, MatchEquityError, MatchEquityTable, MatchWinningChance};
pub use model::{CubeModel, GammonPrices, TakePoints, Worth};

/// What a player who may turn the cube should do before he rolls, and the answer to a double.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CubeAction {
    /// Roll.
    NoDouble,
    /// Double; the opponent takes.
    DoubleTake,
    /// Double; the opponent drops.
    DoubleDrop,
    /// Roll, since playing on for a gammon is worth more than the point of a drop.
    TooGood,
}

/// The three equities of a cube decision and what follows from them, for the player on roll.
///
/// The equities are per unit of the cube as it stands before the decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubeDecision {
    /// If he rolls without doubling.
    pub no_double: Equity,
    /// If he doubles and the opponent takes.
    pub double_take: Equity,
    /// If he doubles and the opponent drops.
    pub double_drop: Equity,
    /// The best action against the best answer.
    pub action: CubeAction,
    /// Whether the cube has been turned before, so that a double would be a redouble.
    pub redouble: bool,
    /// Whether the opponent should beaver if he is doubled; the equity of a take is then that of the beaver.
    pub beaver: bool,
}

impl CubeDecision {
    /// The decision between three equities. Where doubling and rolling are worth the same, a double that is dropped
    /// comes first, since it leaves nothing to chance, and one that is taken last.
    pub fn between(no_double: Equity, double_take: Equity, double_drop: Equity, redouble: bool) -> CubeDecision {
        let action = if double_take < double_drop {
            if no_double < double_take { CubeAction::DoubleTake } else { CubeAction::NoDouble }
        } else if no_double <= double_drop {
            CubeAction::DoubleDrop
        } else {
            CubeAction::TooGood
        };
        CubeDecision { no_double, double_take, double_drop, action, redouble, beaver: false }
    }

    /// The equity of the best action against the best answer.
    pub fn equity(&self) -> Equity {
        match self.action {
            CubeAction::NoDouble | CubeAction::TooGood => self.no_double,
            CubeAction::DoubleTake => self.double_take,
            CubeAction::DoubleDrop => self.double_drop,
        }
    }

    /// Whether the player on roll should double.
    pub fn is_double(&self) -> bool {
        matches!(self.action, CubeAction::DoubleTake | CubeAction::DoubleDrop)
    }

    /// Whether the opponent should take if he is doubled, rightly or not.
    pub fn is_take(&self) -> bool {
        self.double_take < self.double_drop
    }

    /// Whether to double or not makes no difference that shows in three decimals.
    pub fn is_optional(&self) -> bool {
        let doubled = self.double_take.0.min(self.double_drop.0);
        let difference = (self.no_double.0 - doubled).abs();
        // A cube that nobody has a use for makes no difference at all.
        let dead = self.is_take() && difference < 1e-6;
        difference < 0.0005 && !dead
    }

    /// The action in one word for programs: `no-double`, `double-take`, `double-drop`, `too-good`; with a cube that has
    /// been turned before `no-redouble`, `redouble-take`, `redouble-drop`, `too-good`.
    pub fn name(&self) -> &'static str {
        match (self.action, self.redouble) {
            (CubeAction::NoDouble, false) => "no-double",
            (CubeAction::NoDouble, true) => "no-redouble",
            (CubeAction::DoubleTake, false) => "double-take",
            (CubeAction::DoubleTake, true) => "redouble-take",
            (CubeAction::DoubleDrop, false) => "double-drop",
            (CubeAction::DoubleDrop, true) => "redouble-drop",
            (CubeAction::TooGood, _) => "too-good",
        }
    }
}

/// The decision as players say it: `Double, take`, `No redouble, beaver`, `Optional double, take` or `Too good to double,
/// drop`.
impl fmt::Display for CubeDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = match (self.action, self.redouble) {
            (_, false) if self.is_optional() => "Optional double",
            (_, true) if self.is_optional() => "Optional redouble",
            (CubeAction::NoDouble, false) => "No double",
            (CubeAction::NoDouble, true) => "No redouble",
            (CubeAction::DoubleTake | CubeAction::DoubleDrop, false) => "Double",
            (CubeAction::DoubleTake | CubeAction::DoubleDrop, true) => "Redouble",
            (CubeAction::TooGood, false) => "Too good to double",
            (CubeAction::TooGood, true) => "Too good to redouble",
        };
        let answer = match self.is_take() {
            true if self.beaver => "beaver",
            true => "take",
            false => "drop",
        };
        write!(f, "{action}, {answer}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_equities_make_the_decision() {
        use CubeAction::*;
        for (no_double, double_take, action, equity, text) in [
            (0.2, 0.1, NoDouble, 0.2, "No double, take"),
            (0.2, 0.3, DoubleTake, 0.3, "Double, take"),
            (0.9, 1.2, DoubleDrop, 1.0, "Double, drop"),
            (1.0, 2.0, DoubleDrop, 1.0, "Optional double, drop"),
            (1.1, 1.2, TooGood, 1.1, "Too good to double, drop"),
            (0.3, 0.3, NoDouble, 0.3, "No double, take"),
            (0.3, 0.3002, DoubleTake, 0.3002, "Optional double, take"),
        ] {
            let decision = CubeDecision::between(Equity(no_double), Equity(double_take), Equity(1.0), false);
            assert_eq!((decision.action, decision.equity()), (action, Equity(equity)), "{text}");
            assert_eq!(decision.to_string(), text);
        }
        let redouble = CubeDecision::between(Equity(0.9), Equity(1.2), Equity(1.0), true);
        assert_eq!((redouble.name(), redouble.to_string().as_str()), ("redouble-drop", "Redouble, drop"));
    }
}
