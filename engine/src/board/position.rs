//! The checkers on the board.

use std::fmt;

use thiserror::Error;

/// Checkers of each player.
pub const CHECKERS: u8 = 15;

/// The point number of the bar of the player on roll.
pub const BAR: usize = 25;

/// Where all checkers stand, seen by the player on roll.
///
/// A small copyable value. Every `Position` is possible: neither player has more than [`CHECKERS`] on the board, and
/// the checkers that are missing have been borne off.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(C, align(32))]
pub struct Position {
    /// 1-24: positive counts are the player's, negative the opponent's; 25: the player's bar; 0: minus the opponent's bar.
    points: [i8; 26],
    off: u8,
    opponent_off: u8,
}

/// Why an array of counts is not a [`Position`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PositionError {
    /// The player on roll has more than 15 checkers.
    #[error("the player on roll has {0} checkers on the board, expected at most 15")]
    TooManyCheckers(u32),
    /// The opponent has more than 15 checkers.
    #[error("the opponent has {0} checkers on the board, expected at most 15")]
    TooManyOpponentCheckers(u32),
    /// The count on the player's bar is negative.
    #[error("the bar of the player on roll holds {0} checkers, expected none or more of his own")]
    OpponentOnBar(i8),
    /// The count on the opponent's bar is positive.
    #[error("the opponent's bar (index 0) holds {0}, expected 0 or a negative count")]
    PlayerOnOpponentBar(i8),
    /// Both players have borne off all their checkers.
    #[error("both players have borne off all their checkers")]
    NobodyOnBoard,
}

impl Position {
    /// The start of a game.
    pub const START: Position = Position {
        points: [0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0],
        off: 0,
        opponent_off: 0,
    };

    /// A position from counts: 1-24 positive for the player on roll and negative for the opponent, 25 his bar, 0 minus
    /// the opponent's bar. Checkers that are not on the board are off.
    ///
    /// # Errors
    /// More than 15 checkers of a player, a wrong sign on a bar, or a board without any checker.
    pub fn new(points: [i8; 26]) -> Result<Position, PositionError> {
        if points[BAR] < 0 {
            return Err(PositionError::OpponentOnBar(points[BAR]));
        }
        if points[0] > 0 {
            return Err(PositionError::PlayerOnOpponentBar(points[0]));
        }
        let player: u32 = points.iter().filter(|&&n| n > 0).map(|&n| u32::from(n.unsigned_abs())).sum();
        let opponent: u32 = points.iter().filter(|&&n| n < 0).map(|&n| u32::from(n.unsigned_abs())).sum();
        let limit = u32::from(CHECKERS);
        if player > limit {
            return Err(PositionError::TooManyCheckers(player));
        }
        if opponent > limit {
            return Err(PositionError::TooManyOpponentCheckers(opponent));
        }
        if player + opponent == 0 {
            return Err(PositionError::NobodyOnBoard);
        }
        Ok(Position { points, off: (limit - player) as u8, opponent_off: (limit - opponent) as u8 })
    }

    /// A position whose counts are known to be possible.
    pub(crate) fn from_parts(points: [i8; 26], off: u8, opponent_off: u8) -> Position {
        Position { points, off, opponent_off }
    }

    /// The signed counts as [`Position::new`] takes them.
    #[inline]
    pub fn points(&self) -> &[i8; 26] {
        &self.points
    }

    /// Checkers of the player on roll on a point, 1-24, or on his bar, 25.
    #[inline]
    pub fn checkers(&self, point: usize) -> u8 {
        debug_assert!((1..=BAR).contains(&point));
        self.points[point].max(0) as u8
    }

    /// Checkers of the opponent on a point, 1-24 as the player on roll counts, or on the opponent's bar, 0.
    #[inline]
    pub fn opponent_checkers(&self, point: usize) -> u8 {
        debug_assert!(point < BAR);
        (-self.points[point]).max(0) as u8
    }

    /// Checkers of the player on roll on the bar.
    #[inline]
    pub fn bar(&self) -> u8 {
        self.points[BAR] as u8
    }

    /// Checkers of the opponent on the bar.
    #[inline]
    pub fn opponent_bar(&self) -> u8 {
        (-self.points[0]) as u8
    }

    /// Checkers that the player on roll has borne off.
    #[inline]
    pub fn off(&self) -> u8 {
        self.off
    }

    /// Checkers that the opponent has borne off.
    #[inline]
    pub fn opponent_off(&self) -> u8 {
        self.opponent_off
    }

    /// The same position seen by the other player.
    #[inline]
    pub fn swapped(&self) -> Position {
        let mut points = [0; 26];
        for (to, from) in points.iter_mut().zip(self.points.iter().rev()) {
            *to = -from;
        }
        Position { points, off: self.opponent_off, opponent_off: self.off }
    }

    /// Pips that the player on roll needs to bear off all his checkers.
    pub fn pip_count(&self) -> u32 {
        self.points.iter().enumerate().map(|(point, &n)| point as u32 * n.max(0) as u32).sum()
    }

    /// Pips that the opponent needs.
    pub fn opponent_pip_count(&self) -> u32 {
        self.points.iter().enumerate().map(|(point, &n)| (BAR - point) as u32 * (-n).max(0) as u32).sum()
    }

    /// Whether the two sides have passed each other for good: a pure race.
    #[inline]
    pub fn is_race(&self) -> bool {
        let rearmost = self.points.iter().rposition(|&n| n > 0);
        let opponent_rearmost = self.points.iter().position(|&n| n < 0);
        match (rearmost, opponent_rearmost) {
            (Some(own), Some(opponent)) => own < opponent,
            _ => true,
        }
    }

    /// Whether a player has borne off all his checkers.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.off == CHECKERS || self.opponent_off == CHECKERS
    }
}

impl Default for Position {
    fn default() -> Self {
        Position::START
    }
}

/// Shows the Position ID, the form in which positions are quoted.
impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Position({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_is_valid_and_symmetric() {
        let start = Position::new(*Position::START.points()).unwrap();
        assert_eq!(start, Position::START);
        assert_eq!(start.swapped(), start);
        assert_eq!((start.pip_count(), start.opponent_pip_count()), (167, 167));
        assert!(!start.is_race() && !start.is_over());
    }

    #[test]
    fn off_is_what_is_missing() {
        let mut points = [0; 26];
        points[3] = 2;
        points[20] = -4;
        let position = Position::new(points).unwrap();
        assert_eq!((position.off(), position.opponent_off()), (13, 11));
        assert_eq!((position.pip_count(), position.opponent_pip_count()), (6, 20));
        assert!(position.is_race());
        assert_eq!(position.swapped().swapped(), position);
    }

    #[test]
    fn checkers_behind_each_other_are_contact() {
        let mut points = [0; 26];
        points[BAR] = 1;
        points[0] = -1;
        assert!(!Position::new(points).unwrap().is_race());
        points = [0; 26];
        points[10] = 1;
        points[9] = -1;
        assert!(!Position::new(points).unwrap().is_race());
        points[9] = 0;
        points[11] = -1;
        assert!(Position::new(points).unwrap().is_race());
    }

    #[test]
    fn impossible_counts_are_refused() {
        let with = |index: usize, count: i8| {
            let mut points = *Position::START.points();
            points[index] = count;
            Position::new(points)
        };
        assert_eq!(with(10, 1), Err(PositionError::TooManyCheckers(16)));
        assert_eq!(with(10, -1), Err(PositionError::TooManyOpponentCheckers(16)));
        assert_eq!(with(BAR, -1), Err(PositionError::OpponentOnBar(-1)));
        assert_eq!(with(0, 1), Err(PositionError::PlayerOnOpponentBar(1)));
        assert_eq!(with(10, i8::MIN), Err(PositionError::TooManyOpponentCheckers(143)));
        assert_eq!(Position::new([0; 26]), Err(PositionError::NobodyOnBoard));
    }
}
