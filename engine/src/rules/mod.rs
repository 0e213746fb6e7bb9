//! The rules of the game: dice, legal plays, what a finished game is worth and what one that is still played may come to ([`Probabilities`]), the course of a match ([`Match`]), and the texts
//! by which positions are asked about ([`PositionArg`]).

mod dice;
mod legal;
mod match_action;
mod match_record;
mod match_score;
mod match_state;
mod notation;
mod outcome;
mod play;
mod position_arg;
mod probabilities;
mod rule_set;
mod stakes;

pub use dice::{Dice, DiceError};
pub use legal::{LegalPlay, LegalPlays};
pub use match_action::{Action, Event, Expected};
pub use match_record::MatchStateError;
pub use match_score::{LONGEST_MATCH, MatchScore, MatchScoreError};
pub use match_state::{Ending, GameResult, Match, MatchError, MatchOptions, Phase, TimeLeft};
pub use notation::PlayTextError;
pub use outcome::Outcome;
pub use play::{Move, Play};
pub use position_arg::{AskingError, Beside, PositionArg, PositionArgError};
pub use probabilities::{Equity, Probabilities, best_play};
pub use rule_set::{
    Crawford, CubeTerms, FirstRoll, ResignationTerms, RuleSet, Terms, TimeTerms, Triple, UnknownRuleSet,
};
pub use stakes::{MoneyOptions, Session, Stakes, StakesError};
