//! The rules of the game: dice, legal plays, and what a finished game is worth.

mod dice;
mod legal;
mod notation;
mod outcome;
mod play;
mod rule_set;

pub use dice::{Dice, DiceError};
pub use legal::{LegalPlay, LegalPlays};
pub use notation::PlayTextError;
pub use outcome::Outcome;
pub use play::{Move, Play};
pub use rule_set::{RuleSet, UnknownRuleSet};
