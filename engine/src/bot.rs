//! The bot: what the command line and every other door ask.
//!
//! ```
//! use zar::{board::Position, bot::{Bot, Level, Valuation}, net::Model, rules::{Dice, RuleSet}};
//!
//! let mut bot = Bot::new(Model::shipped(), Level::ZeroPly, RuleSet::Backgammon)?;
//! let plays = bot.rank(&Position::START, Dice::new(3, 1)?, Valuation::default());
//! assert_eq!(plays[0].play.text(&Position::START), "8/5 6/5");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{fmt, str::FromStr};

use thiserror::Error;

use crate::{
    board::{CubeState, Position},
    cube::{CubeDecision, MoneyCube},
    net::{Equity, Evaluator, Model, OutcomesDiffer, Probabilities},
    rules::{Dice, RuleSet},
    search::{RankedPlay, rank_plays},
};

/// How far the bot looks ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Level {
    /// The bare networks.
    #[default]
    ZeroPly,
    /// One turn ahead.
    OnePly,
    /// Two turns ahead.
    TwoPly,
    /// Three turns ahead.
    ThreePly,
    /// Games played to their end.
    Rollout,
}

/// A name that no level has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not a level: expected 0ply, 1ply, 2ply, 3ply or rollout")]
pub struct UnknownLevel(pub String);

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Level::ZeroPly => "0ply",
            Level::OnePly => "1ply",
            Level::TwoPly => "2ply",
            Level::ThreePly => "3ply",
            Level::Rollout => "rollout",
        })
    }
}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Level, UnknownLevel> {
        [Level::ZeroPly, Level::OnePly, Level::TwoPly, Level::ThreePly, Level::Rollout]
            .into_iter()
            .find(|level| level.to_string() == name)
            .ok_or_else(|| UnknownLevel(name.chars().take(40).collect()))
    }
}

/// What the equities of plays count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Valuation {
    /// Points at a cube of 1 that nobody may turn.
    Cubeless,
    /// Money play with the cube, in points per unit of it.
    Money(CubeState),
}

impl Default for Valuation {
    fn default() -> Self {
        Valuation::Money(CubeState::START)
    }
}

/// What a position is worth to the player on roll before he rolls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// How the game ends if nobody turns the cube.
    pub probabilities: Probabilities,
    /// Points at a cube of 1 that nobody may turn.
    pub cubeless: Equity,
    /// Money play, per unit of the cube, with the right to double this turn counted in.
    pub cubeful: Equity,
}

/// A cube decision, and the probabilities that it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubeAdvice {
    /// How the game ends for the player on roll if nobody turns the cube.
    pub probabilities: Probabilities,
    /// What to do, and what each action is worth.
    pub decision: CubeDecision,
}

/// Why there is no bot, or no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BotError {
    /// A level that this version does not know how to play.
    #[error("level {0} is not available yet, expected 0ply")]
    Level(Level),
    /// Weights that learnt other outcomes.
    #[error(transparent)]
    Outcomes(#[from] OutcomesDiffer),
    /// A cube decision of a player who may not turn the cube.
    #[error("the opponent holds the cube, expected a cube in the middle or with the player on roll")]
    NoCube,
}

/// Networks, a level and a rule set, with the buffers of one thread: clone it for another.
#[derive(Clone, Debug)]
pub struct Bot<'m> {
    evaluator: Evaluator<'m>,
    level: Level,
    cube: MoneyCube,
}

impl<'m> Bot<'m> {
    /// A bot that plays `rules` with `model`.
    ///
    /// # Errors
    /// A level that is not available, and a model that learnt other outcomes.
    pub fn new(model: &'m Model, level: Level, rules: RuleSet) -> Result<Bot<'m>, BotError> {
        if level != Level::ZeroPly {
            return Err(BotError::Level(level));
        }
        Ok(Bot { evaluator: Evaluator::for_rules(model, rules)?, level, cube: MoneyCube::default() })
    }

    /// The networks.
    pub fn model(&self) -> &'m Model {
        self.evaluator.model()
    }

    /// How far it looks ahead.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The rules that it plays.
    pub fn rules(&self) -> RuleSet {
        self.evaluator.rules()
    }

    /// What `position` is worth to the player on roll in money play with `cube`. A finished game is worth its points.
    pub fn evaluate(&mut self, position: &Position, cube: CubeState) -> Evaluation {
        let probabilities = self.evaluator.evaluate(position);
        let rules = self.rules();
        Evaluation {
            probabilities,
            cubeless: probabilities.equity(rules),
            cubeful: self.cube.equity(probabilities, rules, cube.owner()),
        }
    }

    /// Every legal result once, the best for the player on roll first; equity as the valuation asks, those of equal equity in the order of their
    /// cubeless equities, since behind a double that is dropped all are worth the same.
    ///
    /// Never empty: with nothing legal it holds the empty play.
    pub fn rank(&mut self, position: &Position, dice: Dice, valuation: Valuation) -> Vec<RankedPlay> {
        // `rank_plays` orders by cubeless equity, and the sort below keeps that order among equals.
        let mut plays = rank_plays(&mut self.evaluator, position, dice);
        if let Valuation::Money(cube) = valuation {
            let (rules, next_owner) = (self.rules(), cube.swapped().owner());
            for play in &mut plays {
                play.equity = -self.cube.equity(play.probabilities.flipped(), rules, next_owner);
            }
            plays.sort_by(|a, b| b.equity.0.total_cmp(&a.equity.0));
        }
        plays
    }

    /// Whether the player on roll should double in money play, and whether the opponent should take.
    ///
    /// # Errors
    /// A cube that the opponent holds.
    pub fn cube_action(&mut self, position: &Position, cube: CubeState) -> Result<CubeAdvice, BotError> {
        let probabilities = self.evaluator.evaluate(position);
        let decision = self.cube.decide(probabilities, self.rules(), cube.owner()).ok_or(BotError::NoCube)?;
        Ok(CubeAdvice { probabilities, decision })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CubeOwner;

    fn bot() -> Bot<'static> {
        Bot::new(Model::shipped(), Level::ZeroPly, RuleSet::Backgammon).unwrap()
    }

    #[test]
    fn levels_have_names() {
        for level in [Level::ZeroPly, Level::OnePly, Level::TwoPly, Level::ThreePly, Level::Rollout] {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert_eq!("4ply".parse::<Level>(), Err(UnknownLevel("4ply".into())));
        let refused = Bot::new(Model::shipped(), Level::TwoPly, RuleSet::Backgammon).unwrap_err();
        assert_eq!(refused.to_string(), "level 2ply is not available yet, expected 0ply");
    }

    #[test]
    fn the_start_is_worth_a_little_more_with_the_cube() {
        let evaluation = bot().evaluate(&Position::START, CubeState::START);
        assert!((0.0..0.2).contains(&evaluation.cubeless.0), "{evaluation:?}");
        assert!((0.0..0.2).contains(&evaluation.cubeful.0), "{evaluation:?}");
        let CubeAdvice { decision, .. } = bot().cube_action(&Position::START, CubeState::START).unwrap();
        assert_eq!((decision.name(), decision.no_double), ("no-double", evaluation.cubeful));
        let held = CubeState::new(2, CubeOwner::Opponent).unwrap();
        assert_eq!(bot().cube_action(&Position::START, held), Err(BotError::NoCube));
    }

    #[test]
    fn plays_are_in_the_order_of_their_equities() {
        for valuation in [Valuation::Cubeless, Valuation::default()] {
            for dice in Dice::ALL {
                let plays = bot().rank(&Position::START, dice, valuation);
                assert_eq!(plays.len(), Position::START.legal_plays(dice, RuleSet::Backgammon).len());
                assert!(plays.is_sorted_by(|a, b| a.equity >= b.equity), "{dice}");
            }
        }
    }

    /// Where every play is doubled out, the one that wins most is still the best.
    #[test]
    fn equal_plays_are_in_the_order_of_their_cubeless_equities() {
        let mut points = [0i8; 26];
        points[23] = 2;
        points[22] = 1;
        points[24] = -2;
        let position = Position::new(points).unwrap();
        let plays = bot().rank(&position, Dice::new(2, 1).unwrap(), Valuation::default());
        let cubeless: Vec<f32> = plays.iter().map(|play| play.probabilities.equity(RuleSet::Backgammon).0).collect();
        assert!(plays.iter().all(|play| play.equity == plays[0].equity) && cubeless.is_sorted_by(|a, b| a >= b));
    }
}
