//! What is asked.

use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::{
    board::{CubeOwner, CubeValueError},
    bot::{BotError, UnknownLevel},
    rules::{AskingError, DiceError, MatchScoreError, PositionArgError, RuleSet, StakesError, UnknownRuleSet},
};

/// A request for a play, a cube decision or an evaluation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Request {
    /// A gnubg Position ID, `PositionID:MatchID`, an XGID, or `start`. What the request says beside it counts more than what
    /// it says itself.
    #[cfg_attr(feature = "serve", schema(example = "4HPwATDgc/ABMA"))]
    pub pos: String,
    /// The roll, for a play.
    #[cfg_attr(feature = "serve", schema(min_items = 2, max_items = 2, example = json!([3, 1])))]
    pub dice: Option<[i64; 2]>,
    /// What is wanted, where neither the dice nor the place where it is asked say it.
    pub want: Option<Want>,
    /// Whether equities count the cube and the score in.
    #[serde(default = "yes")]
    #[cfg_attr(feature = "serve", schema(default = true))]
    pub cubeful: bool,
    /// The cube; in the middle at 1 unless the position says otherwise.
    pub cube: Option<CubeRequest>,
    /// The score; money play unless the position says otherwise.
    pub r#match: Option<MatchRequest>,
    /// The Jacoby rule, in money play.
    pub jacoby: Option<bool>,
    /// Beavers, in money play.
    pub beavers: Option<bool>,
    /// `backgammon`, `tavla`, `tavla2004`, `table` or `plain`.
    #[cfg_attr(feature = "serve", schema(example = "backgammon"))]
    pub rules: Option<String>,
    /// `0ply`, `1ply`, `2ply`, `3ply` or `rollout`, or whom to imitate: `beginner`, `casual`, `intermediate`, `advanced`,
    /// `expert` or `worldclass`.
    #[cfg_attr(feature = "serve", schema(example = "0ply"))]
    pub level: Option<String>,
    /// Anything; the answer has the same.
    #[cfg_attr(feature = "serve", schema(value_type = Option<serde_json::Value>))]
    pub id: Option<Box<RawValue>>,
}

/// What is wanted.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub enum Want {
    /// An evaluation.
    Eval,
    /// A play.
    Move,
    /// A cube decision.
    Cube,
}

/// The cube.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct CubeRequest {
    /// What it shows.
    #[serde(default = "one")]
    pub value: u32,
    /// Who may turn it.
    #[serde(default)]
    pub owner: OwnerRequest,
}

/// Who may turn the cube.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub enum OwnerRequest {
    /// Both.
    #[default]
    Centered,
    /// The player on roll.
    Player,
    /// His opponent.
    Opponent,
}

/// The score of a match.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct MatchRequest {
    /// Points that win the match.
    pub length: u32,
    /// Points of the player on roll and of his opponent.
    #[cfg_attr(feature = "serve", schema(min_items = 2, max_items = 2))]
    pub score: [u32; 2],
    /// Whether this is the Crawford game.
    #[serde(default)]
    pub crawford: bool,
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}

/// Why a request is not answered.
#[derive(Debug, Error)]
pub enum RequestError {
    /// Not UTF-8 from this byte on, counted from 1.
    #[error("the {0} is not UTF-8 from byte {1} on")]
    NotUtf8(&'static str, usize),
    /// No JSON, or not that of a request.
    #[error("not a request: {0}")]
    Json(String),
    /// Not a position.
    #[error(transparent)]
    Position(#[from] PositionArgError),
    /// Not a score.
    #[error(transparent)]
    Score(#[from] MatchScoreError),
    /// Stakes that the rules do not know.
    #[error(transparent)]
    Stakes(#[from] StakesError),
    /// Nothing can be asked about the position.
    #[error(transparent)]
    Asking(#[from] AskingError),
    /// Not a roll.
    #[error(transparent)]
    Dice(#[from] DiceError),
    /// No cube shows this.
    #[error(transparent)]
    Cube(#[from] CubeValueError),
    /// Not a rule set.
    #[error(transparent)]
    Rules(#[from] UnknownRuleSet),
    /// Not a level.
    #[error(transparent)]
    Level(#[from] UnknownLevel),
    /// The bot refuses.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// Dice where none are.
    #[error("an evaluation is made before the roll: expected no \"dice\"")]
    DiceInEvaluation,
    /// Dice where none are.
    #[error("a cube decision is made before the roll: expected no \"dice\"")]
    DiceInCubeDecision,
    /// No dice where some are needed.
    #[error("a move needs \"dice\"")]
    NoDice,
    /// A cube decision that leaves the cube out.
    #[error("a cube decision needs cubeful equities: expected \"cubeful\" true, or \"dice\"")]
    CubelessCube,
}

impl Request {
    /// A request from its text, which is `what`.
    ///
    /// # Errors
    /// Text that is not a request.
    pub fn read(bytes: &[u8], what: &'static str) -> Result<Request, RequestError> {
        read_json(bytes, what)
    }

    /// The level of the answer, where `usual` is that of requests which name none; `None` for a wrong name.
    #[cfg(feature = "serve")]
    pub fn level(&self, usual: crate::bot::Level) -> Option<crate::bot::Level> {
        self.level.as_ref().map_or(Ok(usual), |name| name.parse()).ok()
    }

    /// The rules that are asked for, if they exist.
    pub fn named_rules(&self) -> Option<RuleSet> {
        self.rules.as_ref()?.parse().ok()
    }
}

/// Anything in JSON from its text, which is `what`.
///
/// # Errors
/// Text that is not UTF-8, not JSON, or not what is expected.
pub fn read_json<'de, T: Deserialize<'de>>(bytes: &'de [u8], what: &'static str) -> Result<T, RequestError> {
    const LONGEST: usize = 300;
    let text = std::str::from_utf8(bytes).map_err(|error| RequestError::NotUtf8(what, error.valid_up_to() + 1))?;
    serde_json::from_str(text).map_err(|error| {
        // Most requests are a line of their own, where "line 1" would only mislead.
        let reason: String = error.to_string().replace(" at line 1 column ", ", column ");
        RequestError::Json(reason.chars().take(LONGEST).collect())
    })
}

impl From<OwnerRequest> for CubeOwner {
    fn from(owner: OwnerRequest) -> CubeOwner {
        match owner {
            OwnerRequest::Centered => CubeOwner::Centered,
            OwnerRequest::Player => CubeOwner::Player,
            OwnerRequest::Opponent => CubeOwner::Opponent,
        }
    }
}
