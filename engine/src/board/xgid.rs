//! XGID, the text by which eXtreme Gammon and most web pages quote a position with cube, dice and score.
//!
//! Ten fields with colons between: the board, the cube's exponent, its owner (1 the bottom player, -1 the top player, 0
//! in the middle), whose turn (1 or -1), the dice (`00` before the roll, `D` when that player has doubled, `B` when his
//! double was beavered, `R` when he raccooned the beaver), the bottom and the top player's score, the rules (in a match 1
//! for the Crawford game, in money play 1 for Jacoby + 2 for beavers), the match length (0: money play) and the exponent
//! of the highest cube allowed.
//!
//! **Perspective.** The board and the scores of the text are the bottom player's, whoever is on roll: its 26 characters
//! are the top player's bar, the points 1-24 as the bottom player counts them, and his bar; `A`-`O` are 1-15 checkers
//! of his and `a`-`o` of the top player. An [`Xgid`] has turned all of that to the player on roll, as everywhere in the
//! crate. GNU Backgammon reads the bottom player as player 1 of a [`MatchId`](super::MatchId).

use std::{fmt, str::FromStr};

use thiserror::Error;

use super::{CubeOwner, HIGHEST_CUBE, Position, PositionError};

const PREFIX: &str = "XGID=";
const FIELDS: usize = 10;

/// One of the two players, by his side of eXtreme Gammon's board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum XgidPlayer {
    /// The bottom player, in capital letters.
    Bottom,
    /// The top player, in small letters.
    Top,
}

/// What the player on roll has done in this turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum XgidAction {
    /// Nothing: he may double or roll.
    #[default]
    None,
    /// He has rolled; the dice in the order in which they fell.
    Rolled([u8; 2]),
    /// He has doubled, and his opponent has to answer.
    Doubled,
    /// He has doubled, and his opponent has beavered.
    Beavered,
    /// He has doubled, and raccooned the opponent's beaver.
    Raccooned,
}

/// What an XGID says, seen by the player on roll.
///
/// A plain record: [`FromStr`] only gives consistent ones, [`Xgid::check`] tells whether one made by hand is.
///
/// ```
/// use zar::board::{Position, Xgid, XgidAction, XgidPlayer};
///
/// // The bottom player has played 31; the top player has rolled 52.
/// let xgid: Xgid = "XGID=-b---BD-B---eE---c-e----B-:0:0:-1:52:2:1:0:7:10".parse()?;
/// assert_eq!((xgid.turn, xgid.action), (XgidPlayer::Top, XgidAction::Rolled([5, 2])));
/// assert_eq!(xgid.position.to_string(), "sGfwATDgc/ABMA");
/// assert_eq!((xgid.match_length, xgid.scores), (7, [1, 2]));
/// assert_eq!(xgid.to_string(), "XGID=-b---BD-B---eE---c-e----B-:0:0:-1:52:2:1:0:7:10");
/// # Ok::<(), zar::board::XgidError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Xgid {
    /// The checkers, seen by the player on roll.
    pub position: Position,
    /// 1, 2, 4 ... 32768. While a double is offered it is the value before the double.
    pub cube_value: u32,
    /// Who holds the cube.
    pub cube_owner: CubeOwner,
    /// Which of the two is on roll. While a double waits for an answer, he is the one who doubled.
    pub turn: XgidPlayer,
    /// What the player on roll has done in this turn.
    pub action: XgidAction,
    /// Points of the player on roll and of his opponent.
    pub scores: [u32; 2],
    /// Whether this is the Crawford game of a match.
    pub crawford: bool,
    /// Whether the Jacoby rule holds in money play.
    pub jacoby: bool,
    /// Whether beavers are allowed in money play.
    pub beavers: bool,
    /// Points that win the match; 0: money play.
    pub match_length: u32,
    /// The highest value that the cube may reach, 1, 2, 4 ... 32768. eXtreme Gammon's default is 1024.
    pub max_cube: u32,
}

/// Why a text or a record is not an XGID.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum XgidError {
    /// The text has another number of fields.
    #[error("an XGID has 10 fields with colons between, this has {0}")]
    Fields(usize),
    /// The board has another length.
    #[error("the board of an XGID has 26 characters, this has {0}")]
    BoardLength(usize),
    /// A character that stands for no checkers.
    #[error("{0:?} stands for no checkers in the board of an XGID (A-Z, a-z, -)")]
    BoardCharacter(char),
    /// The counts are impossible.
    #[error(transparent)]
    Position(#[from] PositionError),
    /// The exponent of the cube or of the highest cube.
    #[error("{0:?} is no exponent of a cube in an XGID (0-15)")]
    CubeExponent(String),
    /// The cube does not show a power of two up to 32768.
    #[error("the cube shows {0}, expected a power of two from 1 to 32768")]
    CubeValue(u32),
    /// The cube's owner.
    #[error("{0:?} is no cube owner in an XGID (1, 0 or -1)")]
    CubeOwner(String),
    /// Whose turn it is.
    #[error("{0:?} is no turn in an XGID (1 or -1)")]
    Turn(String),
    /// The dice.
    #[error("{0:?} are no dice in an XGID (00, two dice from 1 to 6, D, B or R)")]
    Dice(String),
    /// A score or the match length.
    #[error("{0:?} is no score or match length in an XGID")]
    Number(String),
    /// The Crawford, Jacoby and beaver field.
    #[error(
        "{field:?} is no rule in an XGID to {match_length} points (1: Crawford; to 0 points 1: Jacoby + 2: beavers)"
    )]
    Rules {
        /// What stands there.
        field: String,
        /// The match length, 0 for money play.
        match_length: u32,
    },
    /// The match is over.
    #[error("at {}-{} a match to {length} points is over", scores[0], scores[1])]
    Scores {
        /// Points of the player on roll and of his opponent.
        scores: [u32; 2],
        /// The match length.
        length: u32,
    },
    /// The Crawford game, but nobody is one point from winning the match.
    #[error("a Crawford game at {}-{} in a match to {length} (0: money play)", scores[0], scores[1])]
    Crawford {
        /// Points of the player on roll and of his opponent.
        scores: [u32; 2],
        /// The match length.
        length: u32,
    },
}

impl XgidPlayer {
    /// The other player.
    pub fn opponent(self) -> XgidPlayer {
        match self {
            XgidPlayer::Bottom => XgidPlayer::Top,
            XgidPlayer::Top => XgidPlayer::Bottom,
        }
    }
}

impl Xgid {
    /// A position of money play, without Jacoby and beavers and with the cube in the middle, before the roll of the
    /// bottom player.
    pub fn money(position: Position) -> Xgid {
        Xgid {
            position,
            cube_value: 1,
            cube_owner: CubeOwner::Centered,
            turn: XgidPlayer::Bottom,
            action: XgidAction::None,
            scores: [0, 0],
            crawford: false,
            jacoby: false,
            beavers: false,
            match_length: 0,
            max_cube: 1024,
        }
    }

    /// Who holds the cube, by his side of the board; `None` while it is in the middle.
    pub fn cube_holder(&self) -> Option<XgidPlayer> {
        match self.cube_owner {
            CubeOwner::Centered => None,
            CubeOwner::Player => Some(self.turn),
            CubeOwner::Opponent => Some(self.turn.opponent()),
        }
    }

    /// Whether the record can be written as an XGID and does not contradict itself.
    ///
    /// # Errors
    /// A cube or dice out of range, a match that is won, a Crawford game where there can be none, or money play's rules
    /// in a match.
    pub fn check(&self) -> Result<(), XgidError> {
        let Xgid { scores, match_length: length, .. } = *self;
        for value in [self.cube_value, self.max_cube] {
            if !value.is_power_of_two() || value > HIGHEST_CUBE {
                return Err(XgidError::CubeValue(value));
            }
        }
        if let XgidAction::Rolled(dice) = self.action
            && dice.iter().any(|die| !(1..=6).contains(die))
        {
            return Err(XgidError::Dice(format!("{}{}", dice[0], dice[1])));
        }
        if length > 0 && (self.jacoby || self.beavers) {
            return Err(XgidError::Rules { field: self.money_rules().to_string(), match_length: length });
        }
        if length > 0 && scores.iter().any(|&score| score >= length) {
            return Err(XgidError::Scores { scores, length });
        }
        if self.crawford && !scores.iter().any(|score| score.checked_add(1) == Some(length)) {
            return Err(XgidError::Crawford { scores, length });
        }
        Ok(())
    }

    /// The rules field of money play.
    fn money_rules(&self) -> u32 {
        u32::from(self.jacoby) + 2 * u32::from(self.beavers)
    }
}

/// The first characters of a field, for an error message.
fn excerpt(field: &str) -> String {
    field.chars().take(20).collect()
}

/// A number in digits only.
fn number(field: &str) -> Option<u32> {
    if field.bytes().all(|byte| byte.is_ascii_digit()) { field.parse().ok() } else { None }
}

fn cube(field: &str) -> Result<u32, XgidError> {
    match number(field) {
        Some(exponent) if exponent <= HIGHEST_CUBE.ilog2() => Ok(1 << exponent),
        _ => Err(XgidError::CubeExponent(excerpt(field))),
    }
}

/// Signed counts of the 26 places, positive for the bottom player.
fn board(field: &str) -> Result<[i8; 26], XgidError> {
    let length = field.chars().count();
    let mut points = [0; 26];
    if length != points.len() {
        return Err(XgidError::BoardLength(length));
    }
    for (count, character) in points.iter_mut().zip(field.chars()) {
        *count = match character {
            '-' => 0,
            'A'..='Z' => (character as u8 - b'A' + 1) as i8,
            'a'..='z' => -((character as u8 - b'a' + 1) as i8),
            _ => return Err(XgidError::BoardCharacter(character)),
        };
    }
    Ok(points)
}

/// The same counts as the other player sees them.
fn turned(points: &[i8; 26]) -> [i8; 26] {
    let mut turned = *points;
    turned.reverse();
    turned.map(|count| -count)
}

impl FromStr for Xgid {
    type Err = XgidError;

    /// Reads an XGID, with or without `XGID=` in front.
    fn from_str(text: &str) -> Result<Xgid, XgidError> {
        let body = text.strip_prefix(PREFIX).unwrap_or(text);
        let fields: Vec<&str> = body.split(':').take(FIELDS + 1).collect();
        let Ok([points, cube_exponent, owner, turn, dice, bottom_score, top_score, rules, length, max_cube]) =
            <[&str; FIELDS]>::try_from(fields)
        else {
            return Err(XgidError::Fields(body.split(':').count()));
        };
        let points = board(points)?;
        let turn = match turn {
            "1" => XgidPlayer::Bottom,
            "-1" => XgidPlayer::Top,
            _ => return Err(XgidError::Turn(excerpt(turn))),
        };
        let bottom_owner = match owner {
            "0" => CubeOwner::Centered,
            "1" => CubeOwner::Player,
            "-1" => CubeOwner::Opponent,
            _ => return Err(XgidError::CubeOwner(excerpt(owner))),
        };
        let action = match dice.as_bytes() {
            b"00" => XgidAction::None,
            // Some programs write the letter twice.
            b"D" | b"DD" => XgidAction::Doubled,
            b"B" | b"BB" => XgidAction::Beavered,
            b"R" | b"RR" => XgidAction::Raccooned,
            [first @ b'1'..=b'6', second @ b'1'..=b'6'] => XgidAction::Rolled([first - b'0', second - b'0']),
            _ => return Err(XgidError::Dice(excerpt(dice))),
        };
        let points_of = |field| number(field).ok_or_else(|| XgidError::Number(excerpt(field)));
        let (bottom_score, top_score) = (points_of(bottom_score)?, points_of(top_score)?);
        let match_length = points_of(length)?;
        let (crawford, jacoby, beavers) = match (match_length, rules) {
            (0, "0" | "1" | "2" | "3") => (false, rules == "1" || rules == "3", rules == "2" || rules == "3"),
            (1.., "0" | "1") => (rules == "1", false, false),
            _ => return Err(XgidError::Rules { field: excerpt(rules), match_length }),
        };

        let (points, cube_owner, scores) = match turn {
            XgidPlayer::Bottom => (points, bottom_owner, [bottom_score, top_score]),
            XgidPlayer::Top => (turned(&points), bottom_owner.swapped(), [top_score, bottom_score]),
        };
        let xgid = Xgid {
            position: Position::new(points)?,
            cube_value: cube(cube_exponent)?,
            cube_owner,
            turn,
            action,
            scores,
            crawford,
            jacoby,
            beavers,
            match_length,
            max_cube: cube(max_cube)?,
        };
        xgid.check()?;
        Ok(xgid)
    }
}

/// Writes the XGID with `XGID=` in front.
impl fmt::Display for Xgid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [player, opponent] = self.scores;
        let (points, [bottom_score, top_score]) = match self.turn {
            XgidPlayer::Bottom => (*self.position.points(), [player, opponent]),
            XgidPlayer::Top => (turned(self.position.points()), [opponent, player]),
        };
        let letters = points.map(|count| match count {
            0 => '-',
            1.. => char::from(b'A' + count as u8 - 1),
            _ => char::from(b'a' + count.unsigned_abs() - 1),
        });
        let code = |player| match player {
            None => 0,
            Some(XgidPlayer::Bottom) => 1,
            Some(XgidPlayer::Top) => -1,
        };
        let exponent = |value: u32| value.checked_ilog2().unwrap_or(0);
        let dice = match self.action {
            XgidAction::None => "00".to_owned(),
            XgidAction::Rolled([first, second]) => format!("{first}{second}"),
            XgidAction::Doubled => "D".to_owned(),
            XgidAction::Beavered => "B".to_owned(),
            XgidAction::Raccooned => "R".to_owned(),
        };
        let rules = if self.match_length > 0 { self.crawford.into() } else { self.money_rules() };
        f.pad(&format!(
            "{PREFIX}{}:{}:{}:{}:{dice}:{bottom_score}:{top_score}:{rules}:{}:{}",
            String::from_iter(letters),
            exponent(self.cube_value),
            code(self.cube_holder()),
            code(Some(self.turn)),
            self.match_length,
            exponent(self.max_cube),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Set in GNU Backgammon 1.07.001 (`set xgid`); it showed these Position IDs and Match IDs.
    #[test]
    fn as_gnubg_reads_them() {
        use crate::board::{MatchId, MatchPlayer};

        for (text, position, match_id) in [
            ("-b----E-C---eE---c-e----B-:0:0:1:52:0:0:3:0:10", "4HPwATDgc/ABMA", "cIkKAAAAAAAA"),
            ("-b----E-C---eE---c-e----B-:0:0:1:00:0:0:2:0:10", "4HPwATDgc/ABMA", "cAkAAAAAAAAE"),
            ("-b---BD-B---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "4HPwATCwZ/ABMA", "cAkAAAAAAAAE"),
            ("-b---BD-B---eE---c-e----B-:0:0:-1:00:0:0:0:0:10", "sGfwATDgc/ABMA", "MAEAAAAAAAAE"),
            ("bb---BD-B---cE---c-e----A-:0:0:1:00:0:0:0:0:10", "4HNwAGywZ/ABEA", "cAkAAAAAAAAE"),
            ("bb---BD-B---cE---c-e----A-:0:0:-1:00:0:0:0:0:10", "sGfwARDwOTgANg", "MAEAAAAAAAAE"),
            ("-b---BD-B---cE---c-e----AA:1:-1:-1:00:2:1:0:5:10", "sGfwAVDgc3AADA", "AQGgABAAEAAE"),
            ("-b----E-C---eE---c-e----B-:2:-1:1:63:6:1:0:7:10", "4HPwATDgc/ABMA", "QgnvABAAMAAE"),
            ("-b----E-C---eE---c-e----B-:0:0:1:00:6:1:1:7:10", "4HPwATDgc/ABMA", "8AngABAAMAAE"),
            ("-b----E-C---eE---c-e----B-:0:0:-1:00:2:1:0:7:10", "4HPwATDgc/ABMA", "MAHgABAAEAAE"),
        ] {
            let xgid: Xgid = text.parse().unwrap();
            assert_eq!(xgid.to_string(), format!("{PREFIX}{text}"));
            assert_eq!(xgid.to_string().parse(), Ok(xgid));
            assert_eq!(xgid.position.to_string(), position, "{text}");
            let id: MatchId = match_id.parse().unwrap();
            let on_roll = if xgid.turn == XgidPlayer::Bottom { MatchPlayer::One } else { MatchPlayer::Zero };
            assert_eq!((id.on_roll, id.relative_cube_owner()), (on_roll, xgid.cube_owner), "{text}");
            assert_eq!((id.match_length, id.relative_scores()), (xgid.match_length, xgid.scores), "{text}");
            assert_eq!(
                (id.cube_value, id.crawford, id.jacoby),
                (xgid.cube_value, xgid.crawford, xgid.jacoby),
                "{text}"
            );
            assert_eq!(xgid.action, id.dice.map_or(XgidAction::None, XgidAction::Rolled), "{text}");
        }
    }

    #[test]
    fn doubles_offered() {
        let board = "-b----E-C---eE---c-e----B-:0:0:-1";
        for (letter, action) in [("D", XgidAction::Doubled), ("B", XgidAction::Beavered), ("R", XgidAction::Raccooned)]
        {
            let xgid: Xgid = format!("{board}:{letter}:0:0:3:0:10").parse().unwrap();
            assert_eq!((xgid.turn, xgid.action), (XgidPlayer::Top, action));
            assert_eq!(xgid.to_string(), format!("{PREFIX}{board}:{letter}:0:0:3:0:10"));
            assert_eq!(format!("{board}:{letter}{letter}:0:0:3:0:10").parse(), Ok(xgid));
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let start = "-b----E-C---eE---c-e----B-";
        let fault = |text: &str| text.parse::<Xgid>().unwrap_err();
        let after_board = |fields: &str| format!("{start}:{fields}").parse::<Xgid>().unwrap_err();
        assert_eq!(fault(""), XgidError::Fields(1));
        assert_eq!(after_board("0:0:1:00:0:0:0:0"), XgidError::Fields(9));
        assert_eq!(after_board("0:0:1:00:0:0:0:0:10:"), XgidError::Fields(11));
        assert_eq!(fault("XGID=-b:0:0:1:00:0:0:0:0:10"), XgidError::BoardLength(2));
        assert_eq!(fault("-b----E-C---eE---c-e----é-:0:0:1:00:0:0:0:0:10"), XgidError::BoardCharacter('é'));
        // The counts are named from the player on roll.
        assert_eq!(
            fault("-b----E-C---eE---c-f----B-:0:0:1:00:0:0:0:0:10"),
            XgidError::Position(PositionError::TooManyOpponentCheckers(16))
        );
        assert_eq!(
            fault("-b----E-C---eE---c-f----B-:0:0:-1:00:0:0:0:0:10"),
            XgidError::Position(PositionError::TooManyCheckers(16))
        );
        assert_eq!(
            fault("A-------------------------:0:0:1:00:0:0:0:0:10"),
            XgidError::Position(PositionError::PlayerOnOpponentBar(1))
        );
        assert_eq!(after_board("16:0:1:00:0:0:0:0:10"), XgidError::CubeExponent("16".into()));
        assert_eq!(after_board("0:0:1:00:0:0:0:0:"), XgidError::CubeExponent("".into()));
        assert_eq!(after_board("0:2:1:00:0:0:0:0:10"), XgidError::CubeOwner("2".into()));
        assert_eq!(after_board("0:0:0:00:0:0:0:0:10"), XgidError::Turn("0".into()));
        for dice in ["03", "17", "DB", "1", "111", ""] {
            assert_eq!(after_board(&format!("0:0:1:{dice}:0:0:0:0:10")), XgidError::Dice(dice.into()));
        }
        assert_eq!(after_board("0:0:1:00:+1:0:0:0:10"), XgidError::Number("+1".into()));
        assert_eq!(after_board("0:0:1:00:0:-1:0:0:10"), XgidError::Number("-1".into()));
        assert_eq!(after_board("0:0:1:00:0:0:0:99999999999:10"), XgidError::Number("99999999999".into()));
        assert_eq!(after_board("0:0:1:00:0:0:4:0:10"), XgidError::Rules { field: "4".into(), match_length: 0 });
        assert_eq!(after_board("0:0:1:00:0:0:3:7:10"), XgidError::Rules { field: "3".into(), match_length: 7 });
        assert_eq!(after_board("0:0:-1:00:7:1:0:7:10"), XgidError::Scores { scores: [1, 7], length: 7 });
        assert_eq!(after_board("0:0:1:00:0:1:1:7:10"), XgidError::Crawford { scores: [0, 1], length: 7 });
    }

    #[test]
    fn records_are_checked() {
        let start = Xgid::money(Position::START);
        assert_eq!(start.check(), Ok(()));
        assert_eq!(Xgid { cube_value: 6, ..start }.check(), Err(XgidError::CubeValue(6)));
        assert_eq!(Xgid { max_cube: 0, ..start }.check(), Err(XgidError::CubeValue(0)));
        assert_eq!(Xgid { action: XgidAction::Rolled([0, 3]), ..start }.check(), Err(XgidError::Dice("03".into())));
        assert_eq!(
            Xgid { beavers: true, match_length: 5, ..start }.check(),
            Err(XgidError::Rules { field: "2".into(), match_length: 5 })
        );
        assert_eq!(
            Xgid { crawford: true, scores: [u32::MAX, 0], ..start }.check(),
            Err(XgidError::Crawford { scores: [u32::MAX, 0], length: 0 })
        );
    }
}
