//! Why a call fails.

use thiserror::Error;
use zar::{
    board::CubeValueError,
    bot::UnknownLevel,
    rules::{AskingError, DiceError, MatchScoreError, PositionArgError, UnknownRuleSet},
};
use zar_bindings::{AskError, OpenError};

use crate::{ZAR_CUBE_CENTERED, ZAR_CUBE_OPPONENT, ZAR_CUBE_PLAYER, ZarStatus};

/// Why a call fails, in the words of the engine.
#[derive(Debug, Error)]
pub enum Fault {
    #[error("{0:?} is a null pointer")]
    NullPointer(&'static str),
    #[error("{0:?} is not UTF-8")]
    NotUtf8(&'static str),
    #[error(transparent)]
    Rules(#[from] UnknownRuleSet),
    #[error(transparent)]
    Level(#[from] UnknownLevel),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Position(#[from] PositionArgError),
    #[error(transparent)]
    Asking(#[from] AskingError),
    #[error(transparent)]
    Dice(#[from] DiceError),
    #[error(transparent)]
    Cube(#[from] CubeValueError),
    #[error("{0} is no owner of the cube: expected {ZAR_CUBE_CENTERED}, {ZAR_CUBE_PLAYER} or {ZAR_CUBE_OPPONENT}")]
    CubeOwner(i32),
    #[error(transparent)]
    Score(#[from] MatchScoreError),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error("a fault of the library, which has told more on standard error")]
    Internal,
}

impl Fault {
    pub fn status(&self) -> ZarStatus {
        match self {
            Fault::NullPointer(_) => ZarStatus::NullPointer,
            Fault::NotUtf8(_) => ZarStatus::NotUtf8,
            Fault::Internal => ZarStatus::Internal,
            _ => ZarStatus::Refused,
        }
    }
}
