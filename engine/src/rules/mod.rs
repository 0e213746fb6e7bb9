//! The rules of the game: dice, legal plays, what a finished game is worth, and the course of a match ([`Match`]).

mod dice;
mod legal;
mod match_action;
mod match_record;
mod match_score;
mod match_state;
mod notation;
mod outcome;
mod play;
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
pub use rule_set::{
    Crawford, CubeTerms, FirstRoll, ResignationTerms, RuleSet, Terms, TimeTerms, Triple, UnknownRuleSet,
};
pub use stakes::{MoneyOptions, Session, Stakes, StakesError};
