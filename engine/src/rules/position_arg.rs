//! POSITION, the text by which every door takes a position: a Position ID, `PositionID:MatchID`, an XGID, or `start`.

use std::str::FromStr;

use thiserror::Error;

use crate::board::{
    CHECKERS, CubeState, CubeValueError, MatchId, MatchIdError, Position, PositionIdError, Xgid, XgidAction, XgidError,
};

use super::{Dice, DiceError, MatchScore, MatchScoreError, MoneyOptions, Session, Stakes};

/// A position with what its text says around it, seen by the player on roll.
///
/// A text without a cube means one in the middle that shows 1; a text without a score means money play. An XGID tells too
/// whether the Jacoby rule and beavers are on in money play, and how high the cube may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionArg {
    /// The checkers.
    pub position: Position,
    /// The roll, if it has been made.
    pub dice: Option<Dice>,
    /// Cube and score.
    pub stakes: Stakes,
}

/// What is said beside a POSITION. It counts more than what the text itself says; by default nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// The roll.
    pub dice: Option<Dice>,
    /// The cube.
    pub cube: Option<CubeState>,
    /// The score of a match.
    pub score: Option<MatchScore>,
    /// Whether the Jacoby rule is on in money play.
    pub jacoby: Option<bool>,
    /// Whether beavers are on in money play.
    pub beavers: Option<bool>,
}

/// Why nothing can be asked about a POSITION.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AskingError {
    /// The game has ended.
    #[error("the game in {0} is over: expected a position in which both players have checkers on the board")]
    GameOver(Position),
    /// Options of money play in a match.
    #[error("the Jacoby rule and beavers belong to money play: expected no \"jacoby\" and \"beavers\" in a match")]
    MoneyOptions,
}

impl PositionArg {
    /// A position in money play, with the cube in the middle and no dice.
    pub const fn of(position: Position) -> PositionArg {
        PositionArg { position, dice: None, stakes: Stakes::MONEY }
    }

    /// The same position with what is said beside it.
    ///
    /// # Errors
    /// Options of money play that are switched on in a match.
    pub fn beside(self, said: &Beside) -> Result<PositionArg, AskingError> {
        let mut stakes = self.stakes;
        stakes.cube = said.cube.unwrap_or(stakes.cube);
        stakes.session = said.score.map_or(stakes.session, Session::Match);
        match &mut stakes.session {
            Session::Money(options) => {
                options.jacoby = said.jacoby.unwrap_or(options.jacoby);
                options.beavers = said.beavers.unwrap_or(options.beavers);
            }
            Session::Match(_) if said.jacoby == Some(true) || said.beavers == Some(true) => {
                return Err(AskingError::MoneyOptions);
            }
            Session::Match(_) => {}
        }
        Ok(PositionArg { dice: said.dice.or(self.dice), stakes, ..self })
    }

    /// Refuses the position of a game that is over before the roll.
    ///
    /// # Errors
    /// A player without checkers on the board.
    pub fn check_before_roll(&self) -> Result<(), AskingError> {
        if self.position.is_over() { Err(AskingError::GameOver(self.position)) } else { Ok(()) }
    }

    /// Refuses a position in which the player on roll has nothing left to play. With dice, he may bear off alone.
    ///
    /// # Errors
    /// A player on roll without checkers on the board.
    pub fn check_rolled(&self) -> Result<(), AskingError> {
        if self.position.off() == CHECKERS { Err(AskingError::GameOver(self.position)) } else { Ok(()) }
    }
}

/// Why a text is no POSITION.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PositionArgError {
    /// None of the forms.
    #[error("{0:?} is no position: expected a Position ID, PositionID:MatchID, an XGID or \"start\" ({1})")]
    Unknown(String, PositionIdError),
    /// A wrong Position ID in front of a Match ID.
    #[error("{0:?} is no Position ID: {1}")]
    PositionId(String, PositionIdError),
    /// A wrong Match ID.
    #[error("{0:?} is no Match ID: {1}")]
    MatchId(String, MatchIdError),
    /// A wrong XGID.
    #[error("{0:?} is no XGID: {1}")]
    Xgid(String, XgidError),
    /// Dice that cannot be rolled.
    #[error(transparent)]
    Dice(#[from] DiceError),
    /// A cube that does not exist.
    #[error(transparent)]
    Cube(#[from] CubeValueError),
    /// A score that no match has while it goes on.
    #[error(transparent)]
    Score(#[from] MatchScoreError),
}

fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut excerpt: String = text.chars().take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        excerpt.push('…');
    }
    excerpt
}

impl FromStr for PositionArg {
    type Err = PositionArgError;

    fn from_str(text: &str) -> Result<PositionArg, PositionArgError> {
        let text = text.trim();
        match text.bytes().filter(|&byte| byte == b':').count() {
            _ if text == "start" => Ok(PositionArg::of(Position::START)),
            _ if text.starts_with("XGID") => xgid(text),
            0 => match text.parse() {
                Ok(position) => Ok(PositionArg::of(position)),
                Err(error) => Err(PositionArgError::Unknown(excerpt(text), error)),
            },
            1 => position_and_match(text),
            _ => xgid(text),
        }
    }
}

fn position_and_match(text: &str) -> Result<PositionArg, PositionArgError> {
    let (position, id) = text.split_once(':').unwrap_or((text, ""));
    let position = position.parse().map_err(|error| PositionArgError::PositionId(excerpt(position), error))?;
    let id: MatchId = id.parse().map_err(|error| PositionArgError::MatchId(excerpt(id), error))?;
    Ok(PositionArg {
        position,
        dice: id.dice.map(|[first, second]| Dice::new(first, second)).transpose()?,
        stakes: Stakes::new(
            // Every newer Match ID says something about the Jacoby rule, wanted or not.
            session(id.match_length, id.relative_scores(), id.crawford, MoneyOptions::default())?,
            CubeState::new(id.cube_value, id.relative_cube_owner())?,
        ),
    })
}

fn xgid(text: &str) -> Result<PositionArg, PositionArgError> {
    let xgid: Xgid = text.parse().map_err(|error| PositionArgError::Xgid(excerpt(text), error))?;
    let dice = match xgid.action {
        XgidAction::Rolled([first, second]) => Some(Dice::new(first, second)?),
        _ => None,
    };
    let options = MoneyOptions { jacoby: xgid.jacoby, beavers: xgid.beavers };
    Ok(PositionArg {
        position: xgid.position,
        dice,
        stakes: Stakes {
            session: session(xgid.match_length, xgid.scores, xgid.crawford, options)?,
            cube: CubeState::new(xgid.cube_value, xgid.cube_owner)?,
            highest_cube: xgid.max_cube,
        },
    })
}

fn session(length: u32, scores: [u32; 2], crawford: bool, options: MoneyOptions) -> Result<Session, MatchScoreError> {
    match length {
        0 => Ok(Session::Money(options)),
        _ => MatchScore::new(length, scores, crawford).map(Session::Match),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CubeOwner;

    #[test]
    fn every_form_is_read() {
        let start: PositionArg = "start".parse().unwrap();
        assert_eq!("4HPwATDgc/ABMA".parse(), Ok(start));
        assert_eq!("4HPwATDgc/ABMA:cAkAAAAAAAAE".parse(), Ok(start));
        let capped = PositionArg { stakes: Stakes { highest_cube: 1024, ..Stakes::MONEY }, ..start };
        assert_eq!("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10".parse(), Ok(capped));
        let jacoby: PositionArg = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:3:0:10".parse().unwrap();
        assert_eq!(jacoby.stakes.money_options(), MoneyOptions { jacoby: true, beavers: true });
        let rolled: PositionArg = "4HPwATDgc/ABMA:cInqAAAAAAAE".parse().unwrap();
        assert_eq!(rolled.dice, Some(Dice::new(5, 2).unwrap()));
        assert_eq!(rolled.stakes.score(), Some(MatchScore::new(7, [0, 0], false).unwrap()));
        let held: PositionArg = "-b----E-C---eE---c-e----B-:2:-1:1:31:1:2:0:7:10".parse().unwrap();
        assert_eq!((held.stakes.cube.value(), held.stakes.cube.owner()), (4, CubeOwner::Opponent));
        assert_eq!(held.stakes.score().unwrap().to_string(), "1-2 in a match to 7");
    }

    #[test]
    fn what_is_said_beside_counts_more() {
        let text = "XGID=-b----E-C---eE---c-e----B-:1:1:1:31:0:0:3:0:10";
        let arg: PositionArg = text.parse().unwrap();
        assert_eq!(arg.beside(&Beside::default()), Ok(arg));
        let cube = CubeState::new(4, CubeOwner::Opponent).unwrap();
        let said = Beside { dice: Some(Dice::new(6, 5).unwrap()), cube: Some(cube), ..Beside::default() };
        let found = arg.beside(&Beside { beavers: Some(false), ..said }).unwrap();
        assert_eq!((found.dice, found.stakes.cube, found.stakes.highest_cube), (said.dice, cube, 1024));
        assert_eq!(found.stakes.money_options(), MoneyOptions { jacoby: true, beavers: false });
        let score = MatchScore::new(5, [1, 2], false).unwrap();
        let in_match = Beside { score: Some(score), jacoby: Some(false), ..said };
        assert_eq!(arg.beside(&in_match).unwrap().stakes.session, Session::Match(score));
        assert_eq!(arg.beside(&Beside { jacoby: Some(true), ..in_match }), Err(AskingError::MoneyOptions));
    }

    #[test]
    fn faults_name_the_form() {
        let fault = |text: &str| text.parse::<PositionArg>().unwrap_err();
        assert!(matches!(fault(""), PositionArgError::Unknown(..)));
        assert!(matches!(fault("beginning"), PositionArgError::Unknown(..)));
        assert!(matches!(fault("4HPwATDgc/ABM:cInqAAAAAAAE"), PositionArgError::PositionId(..)));
        assert!(matches!(fault("4HPwATDgc/ABMA:"), PositionArgError::MatchId(..)));
        assert!(matches!(fault("XGID=start"), PositionArgError::Xgid(..)));
        assert!(matches!(fault("a:b:c"), PositionArgError::Xgid(..)));
        assert!(fault(&"x".repeat(100_000)).to_string().len() < 300);
    }
}
