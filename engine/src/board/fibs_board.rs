//! The FIBS board line, as GNU Backgammon asks an external player with it.
//!
//! 53 fields with colons between, counted from 0: the word `board`, two names (1, 2), the match length (3), the scores in
//! the order of the names (4, 5), the checkers (6-31), the player on roll (32), the dice twice (33-36), the cube (37), who
//! may turn it (38, 39), whether a double is offered (40), four constants (41-44), the checkers borne off (45, 46), four
//! zeros (47-50) and two flags of the Crawford rule (51, 52). What the fields mean to GNU Backgammon was observed with
//! 1.07.001.
//!
//! **Perspective.** The text counts player 1's checkers as positive on his own points and player 0's as negative on the
//! same ones, whoever is on roll; player 0 stands first, in the names and the scores, except where player 0 or 1 is
//! asked to answer a double: there player 1 does. A [`FibsBoard`] has turned all of that to the player on roll. While a
//! double waits for an answer that is the player who doubled.

use std::str::FromStr;

use thiserror::Error;

use super::{CHECKERS, CubeOwner, CubeState, CubeValueError, MatchPlayer, Position, PositionError};

const FIELDS: usize = 53;
/// The first of the fields that are numbers.
const FIRST_NUMBER: usize = 3;
/// The longest match, as in a Match ID.
const LONGEST_MATCH: i32 = (1 << 15) - 1;

/// Fields that are the same in every line: the colour and the direction of player 1, his home and bar, and zeros.
const CONSTANTS: [(usize, i32); 8] = [(41, 1), (42, -1), (43, 0), (44, 25), (47, 0), (48, 0), (49, 0), (50, 0)];

/// What a board line says, seen by the player on roll.
///
/// ```
/// use zar::board::{FibsBoard, MatchPlayer};
///
/// let line = "board:zar:gnu:3:0:1:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:-1:4:2:4:2:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";
/// let board: FibsBoard = line.parse()?;
/// assert_eq!((board.on_roll, board.dice), (MatchPlayer::Zero, Some([4, 2])));
/// assert_eq!((board.match_length, board.scores), (3, [0, 1]));
/// assert_eq!(board.position.to_string(), "4HPwATDgc/ABMA");
/// # Ok::<(), zar::board::FibsBoardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FibsBoard {
    /// The checkers.
    pub position: Position,
    /// Who rolls, has rolled or has doubled.
    pub on_roll: MatchPlayer,
    /// Points that win the match; 0: money play.
    pub match_length: u32,
    /// Points of the player on roll and of his opponent. Means something in a match only.
    pub scores: [u32; 2],
    /// Whether this is the Crawford game.
    pub crawford: bool,
    /// The dice in the order in which they fell; `None` before the roll.
    pub dice: Option<[u8; 2]>,
    /// The cube, before any double that waits for an answer.
    pub cube: CubeState,
    /// Whether a double waits for an answer.
    pub doubled: bool,
}

/// Why a text is not a board line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FibsBoardError {
    /// The text begins with another word.
    #[error("{0:?} is no board line: expected \"board:\" and {expected} more fields", expected = FIELDS - 1)]
    NotABoard(String),
    /// The text has too few fields.
    #[error("a board line has {FIELDS} fields with colons between, this has {0}")]
    Fields(usize),
    /// A field that is no whole number, or far too large.
    #[error("field {field} of the board line is {text:?}, expected a whole number")]
    Number {
        /// Which, from 0.
        field: usize,
        /// What stands there.
        text: String,
    },
    /// A number that the field cannot have.
    #[error("field {field} of the board line is {value}, expected {expected}")]
    Value {
        /// Which, from 0.
        field: usize,
        /// What stands there.
        value: i32,
        /// What may stand there.
        expected: &'static str,
    },
    /// The counts are impossible.
    #[error(transparent)]
    Position(#[from] PositionError),
    /// Checkers are missing, or too many.
    #[error("{player} has {off} checkers off, but {missing} of his {CHECKERS} are not on the board")]
    Off {
        /// Whose.
        player: MatchPlayer,
        /// How many are said to be off.
        off: i32,
        /// How many are not on the board.
        missing: u8,
    },
    /// The dice, which stand there twice, differ, or are neither rolled nor not rolled.
    #[error("the dice {}-{} and {}-{}, expected twice the same from 1 to 6, or 0-0 before the roll", .0[0], .0[1], .0[2], .0[3])]
    Dice([i32; 4]),
    /// A double is offered although the dice are rolled.
    #[error("a double is offered after the roll {}-{}", .0[0], .0[1])]
    DoubleAfterRoll([u8; 2]),
    /// The cube shows something else than a power of two.
    #[error(transparent)]
    Cube(#[from] CubeValueError),
    /// Neither player may turn the cube.
    #[error("nobody may turn the cube (fields 38 and 39 are 0), expected one player or both")]
    NobodysCube,
    /// The match is won.
    #[error("at {}-{} a match to {length} points is over", scores[0], scores[1])]
    Scores {
        /// Points in the order of the names.
        scores: [u32; 2],
        /// The match length.
        length: u32,
    },
    /// The Crawford game, or one behind it, but nobody is one point from winning a match.
    #[error(
        "a Crawford game, or one after it, at {}-{} in a match to {length} (0: money play)",
        scores[0],
        scores[1]
    )]
    Crawford {
        /// Points in the order of the names.
        scores: [u32; 2],
        /// The match length.
        length: u32,
    },
}

fn excerpt(text: &str) -> String {
    text.chars().take(20).collect()
}

/// A number of at most nine digits, without a plus.
fn number(text: &str) -> Option<i32> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

/// The fields that are numbers.
struct Numbers([i32; FIELDS - FIRST_NUMBER]);

impl Numbers {
    fn at(&self, field: usize) -> i32 {
        self.0[field - FIRST_NUMBER]
    }

    fn fault(&self, field: usize, expected: &'static str) -> FibsBoardError {
        FibsBoardError::Value { field, value: self.at(field), expected }
    }

    fn flag(&self, field: usize) -> Result<bool, FibsBoardError> {
        match self.at(field) {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.fault(field, "0 or 1")),
        }
    }

    fn points(&self, field: usize) -> Result<u32, FibsBoardError> {
        self.at(field).try_into().map_err(|_| self.fault(field, "0 or more"))
    }

    /// The counts as player 1 sees them.
    fn board(&self) -> Result<[i8; 26], FibsBoardError> {
        let mut points = [0; 26];
        for (point, count) in points.iter_mut().enumerate() {
            let field = 6 + point;
            *count = i8::try_from(self.at(field))
                .ok()
                .filter(|count| count.unsigned_abs() <= CHECKERS)
                .ok_or_else(|| self.fault(field, "-15 to 15"))?;
        }
        Ok(points)
    }

    fn dice(&self) -> Result<Option<[u8; 2]>, FibsBoardError> {
        let dice = [33, 34, 35, 36].map(|field| self.at(field));
        match dice {
            [0, 0, 0, 0] => Ok(None),
            [a @ 1..=6, b @ 1..=6, c, d] if [a, b] == [c, d] => Ok(Some([a as u8, b as u8])),
            _ => Err(FibsBoardError::Dice(dice)),
        }
    }
}

impl FromStr for FibsBoard {
    type Err = FibsBoardError;

    /// Reads a board line without its end.
    fn from_str(text: &str) -> Result<FibsBoard, FibsBoardError> {
        let Some(rest) = text.strip_prefix("board:") else {
            return Err(FibsBoardError::NotABoard(excerpt(text)));
        };
        let fields: Vec<&str> = rest.split(':').collect();
        // A name may hold a colon, and then there are more fields in front.
        let Some(skipped) = (fields.len() + 1).checked_sub(FIELDS) else {
            return Err(FibsBoardError::Fields(fields.len() + 1));
        };
        let mut numbers = Numbers([0; FIELDS - FIRST_NUMBER]);
        for (i, (place, text)) in numbers.0.iter_mut().zip(&fields[skipped + FIRST_NUMBER - 1..]).enumerate() {
            *place =
                number(text).ok_or_else(|| FibsBoardError::Number { field: FIRST_NUMBER + i, text: excerpt(text) })?;
        }
        let numbers = numbers;

        for (field, constant) in CONSTANTS {
            if numbers.at(field) != constant {
                return Err(numbers.fault(field, "1:-1:0:25 in fields 41 to 44 and 0 in fields 47 to 50"));
            }
        }
        let on_roll = match numbers.at(32) {
            1 => MatchPlayer::One,
            -1 => MatchPlayer::Zero,
            _ => return Err(numbers.fault(32, "1 for player 1 or -1 for player 0")),
        };
        let first = numbers.board()?;
        // The faults that a position may have are told as the player on roll sees them.
        let position = match on_roll {
            MatchPlayer::One => Position::new(first)?,
            MatchPlayer::Zero => {
                let mut turned = first.map(|count| -count);
                turned.reverse();
                Position::new(turned)?
            }
        };
        for (field, player) in [(45, MatchPlayer::One), (46, MatchPlayer::Zero)] {
            let missing = if player == on_roll { position.off() } else { position.opponent_off() };
            if numbers.at(field) != i32::from(missing) {
                return Err(FibsBoardError::Off { player, off: numbers.at(field), missing });
            }
        }
        let doubled = numbers.flag(40)?;
        let dice = numbers.dice()?;
        if let (true, Some(dice)) = (doubled, dice) {
            return Err(FibsBoardError::DoubleAfterRoll(dice));
        }
        let owner = match (numbers.flag(38)?, numbers.flag(39)?) {
            (true, true) => CubeOwner::Centered,
            (player_one, player_zero) if player_one != player_zero => {
                let owner = if player_one { MatchPlayer::One } else { MatchPlayer::Zero };
                if owner == on_roll { CubeOwner::Player } else { CubeOwner::Opponent }
            }
            _ => return Err(FibsBoardError::NobodysCube),
        };
        let cube = CubeState::new(numbers.points(37)?, owner)?;

        if numbers.at(FIRST_NUMBER) > LONGEST_MATCH {
            return Err(numbers.fault(FIRST_NUMBER, "a match to at most 32767 points"));
        }
        let match_length = numbers.points(FIRST_NUMBER)?;
        let named = [numbers.points(4)?, numbers.points(5)?];
        if match_length > 0 && named.iter().any(|&score| score >= match_length) {
            return Err(FibsBoardError::Scores { scores: named, length: match_length });
        }
        let one_away = named.iter().any(|&score| score + 1 == match_length);
        let (crawford, afterwards) = match (numbers.flag(51)?, numbers.flag(52)?) {
            (false, crawford_over_or_far) => (!crawford_over_or_far, false),
            (true, true) => (false, true),
            (true, false) => return Err(numbers.fault(52, "1 where field 51 is 1")),
        };
        if (crawford || afterwards) && !one_away {
            return Err(FibsBoardError::Crawford { scores: named, length: match_length });
        }
        let player_one_first = doubled;
        let scores = if (on_roll == MatchPlayer::One) == player_one_first { named } else { [named[1], named[0]] };
        Ok(FibsBoard { position, on_roll, match_length, scores, crawford, dice, cube, doubled })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Player 0 is to play 42 at 0-1 in a match to 3; GNU Backgammon 1.07.001 sent it.
    const LINE: &str = "board:rusty:gnu0:3:0:1:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:-1:4:2:4:2:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";

    /// The line with other fields.
    fn with(changes: &[(usize, &str)]) -> String {
        let mut fields: Vec<&str> = LINE.split(':').collect();
        for &(field, text) in changes {
            fields[field] = text;
        }
        fields.join(":")
    }

    fn read(changes: &[(usize, &str)]) -> FibsBoard {
        with(changes).parse().unwrap()
    }

    fn fault(changes: &[(usize, &str)]) -> FibsBoardError {
        with(changes).parse::<FibsBoard>().unwrap_err()
    }

    #[test]
    fn as_gnubg_sends_them() {
        let board: FibsBoard = LINE.parse().unwrap();
        assert_eq!((board.position, board.on_roll), (Position::START, MatchPlayer::Zero));
        assert_eq!((board.match_length, board.scores, board.crawford), (3, [0, 1], false));
        assert_eq!((board.dice, board.cube, board.doubled), (Some([4, 2]), CubeState::START, false));

        // Player 0 was hit and is on the bar.
        let hit = "board:rusty:gnu0:3:0:0:-1:-2:0:0:0:0:5:0:3:0:0:0:-4:5:1:0:1:-3:0:-4:0:0:0:0:-1:0:-1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";
        let board: FibsBoard = hit.parse().unwrap();
        assert_eq!((board.position.bar(), board.position.checkers(24), board.position.checkers(1)), (1, 2, 1));
        assert_eq!([9, 11].map(|point| board.position.opponent_checkers(point)), [1, 1]);

        // Player 0 is asked whether he takes player 1's double.
        let double = "board:gnu0:rusty:3:0:1:0:-3:0:0:2:0:3:0:3:0:0:1:-3:4:2:0:0:-1:-2:-3:-2:0:0:0:-1:0:1:0:0:0:0:1:1:1:1:1:-1:0:25:0:0:0:0:0:0:0:1";
        let board: FibsBoard = double.parse().unwrap();
        assert_eq!((board.on_roll, board.doubled, board.scores), (MatchPlayer::One, true, [0, 1]));
        assert_eq!((board.position.checkers(6), board.position.opponent_checkers(1)), (3, 3));
    }

    #[test]
    fn the_perspective_is_that_of_the_player_on_roll() {
        let zero = read(&[(38, "0"), (37, "2")]);
        let one = read(&[(38, "0"), (37, "2"), (32, "1")]);
        assert_eq!((zero.cube.owner(), one.cube.owner()), (CubeOwner::Player, CubeOwner::Opponent));
        assert_eq!((zero.scores, one.scores), ([0, 1], [1, 0]));
        assert_eq!(zero.position, one.position.swapped());
        let doubled = read(&[(33, "0"), (34, "0"), (35, "0"), (36, "0"), (40, "1")]);
        assert_eq!(doubled.scores, [1, 0]);
    }

    #[test]
    fn the_crawford_rule() {
        assert!(read(&[(5, "2"), (52, "0")]).crawford);
        assert!(!read(&[(5, "2"), (51, "1")]).crawford);
        assert!(!read(&[(5, "2")]).crawford);
        assert_eq!(fault(&[(52, "0")]), FibsBoardError::Crawford { scores: [0, 1], length: 3 });
        assert_eq!(fault(&[(51, "1")]), FibsBoardError::Crawford { scores: [0, 1], length: 3 });
        assert_eq!(fault(&[(3, "0"), (52, "0")]), FibsBoardError::Crawford { scores: [0, 1], length: 0 });
        assert!(matches!(fault(&[(5, "2"), (51, "1"), (52, "0")]), FibsBoardError::Value { field: 52, .. }));
    }

    #[test]
    fn names_may_hold_anything() {
        for name in ["", "a:b:c", "board", "\u{fffd}é", "-1"] {
            assert_eq!(with(&[(1, name)]).parse(), LINE.parse::<FibsBoard>(), "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let of = |text: &str| text.parse::<FibsBoard>().unwrap_err();
        assert_eq!(of(""), FibsBoardError::NotABoard("".into()));
        assert_eq!(of("Board:"), FibsBoardError::NotABoard("Board:".into()));
        assert_eq!(of("board:"), FibsBoardError::Fields(2));
        assert_eq!(of(LINE.rsplit_once(':').unwrap().0), FibsBoardError::Fields(52));
        for text in ["", "x", "+1", "1.0", " 1", "--1", "9999999999", "１"] {
            assert_eq!(fault(&[(20, text)]), FibsBoardError::Number { field: 20, text: text.into() });
        }
        assert!(matches!(fault(&[(20, "16")]), FibsBoardError::Value { field: 20, value: 16, .. }));
        assert!(matches!(fault(&[(20, "-999999999")]), FibsBoardError::Value { field: 20, .. }));
        // Counts are told as player 0, who is on roll, sees them.
        assert_eq!(fault(&[(20, "1")]), PositionError::TooManyOpponentCheckers(16).into());
        assert_eq!(fault(&[(20, "-1")]), PositionError::TooManyCheckers(16).into());
        assert_eq!(fault(&[(6, "1"), (12, "4")]), PositionError::OpponentOnBar(-1).into());
        let off = FibsBoardError::Off { player: MatchPlayer::One, off: 1, missing: 0 };
        assert_eq!(fault(&[(45, "1")]), off);
        assert_eq!(off.to_string(), "player 1 has 1 checkers off, but 0 of his 15 are not on the board");
        assert!(matches!(fault(&[(46, "-1")]), FibsBoardError::Off { player: MatchPlayer::Zero, .. }));
        assert!(matches!(fault(&[(32, "0")]), FibsBoardError::Value { field: 32, .. }));
        assert_eq!(fault(&[(33, "5")]), FibsBoardError::Dice([5, 2, 4, 2]));
        assert_eq!(fault(&[(33, "0"), (35, "0")]), FibsBoardError::Dice([0, 2, 0, 2]));
        assert_eq!(fault(&[(33, "7"), (35, "7")]), FibsBoardError::Dice([7, 2, 7, 2]));
        assert_eq!(fault(&[(40, "1")]), FibsBoardError::DoubleAfterRoll([4, 2]));
        assert_eq!(fault(&[(37, "3")]), CubeValueError(3).into());
        assert!(matches!(fault(&[(37, "-2")]), FibsBoardError::Value { field: 37, .. }));
        assert_eq!(fault(&[(38, "0"), (39, "0")]), FibsBoardError::NobodysCube);
        assert!(matches!(fault(&[(38, "2")]), FibsBoardError::Value { field: 38, .. }));
        assert!(matches!(fault(&[(41, "-1")]), FibsBoardError::Value { field: 41, .. }));
        assert!(matches!(fault(&[(3, "-3")]), FibsBoardError::Value { field: 3, .. }));
        assert!(matches!(fault(&[(3, "32768")]), FibsBoardError::Value { field: 3, .. }));
        assert!(matches!(fault(&[(4, "-1")]), FibsBoardError::Value { field: 4, .. }));
        assert_eq!(fault(&[(4, "3")]), FibsBoardError::Scores { scores: [3, 1], length: 3 });
    }

    proptest! {
        #[test]
        fn no_line_is_a_panic(text in any::<String>()) {
            let _ = text.parse::<FibsBoard>();
            let _ = format!("board:{text}").parse::<FibsBoard>();
        }

        #[test]
        fn no_field_is_a_panic(changes in prop::collection::vec((0..FIELDS, -20i64..40), 0..4), text in "[-0-9:]{0,12}", at in 0..FIELDS) {
            let texts: Vec<(usize, String)> = changes.iter().map(|(field, value)| (*field, value.to_string())).collect();
            let mut changed: Vec<(usize, &str)> = texts.iter().map(|(field, text)| (*field, text.as_str())).collect();
            if let Ok(board) = with(&changed).parse::<FibsBoard>() {
                prop_assert_eq!(board.position.off() + board.position.opponent_off(), 0);
            }
            changed.push((at, &text));
            let _ = with(&changed).parse::<FibsBoard>();
        }
    }
}
