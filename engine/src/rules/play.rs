//! A play: the checker movements of a whole turn.

use std::ops::Deref;

use crate::board::Position;

/// One checker moved by one die, on the mover's own points: 25 is his bar, 0 is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Move {
    /// Where the checker stood, 1-25.
    pub from: u8,
    /// Where it lands, 0-24.
    pub to: u8,
}

/// Up to four moves in the order in which they are made; empty when nothing is legal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Play {
    moves: [Move; 4],
    length: u8,
}

impl Play {
    /// The turn of a player who cannot move.
    pub const EMPTY: Play = Play { moves: [Move { from: 0, to: 0 }; 4], length: 0 };

    #[inline]
    pub(super) fn push(&mut self, made: Move) {
        self.moves[usize::from(self.length)] = made;
        self.length += 1;
    }
}

impl Deref for Play {
    type Target = [Move];

    #[inline]
    fn deref(&self) -> &[Move] {
        &self.moves[..usize::from(self.length)]
    }
}

impl Position {
    /// The position after one move by the player on roll, still seen by him, or `None` if no checker of his stands at
    /// `from`, or if two or more opposing checkers hold `to`. Which dice allow the move is not looked at.
    pub fn after_move(&self, Move { from, to }: Move) -> Option<Position> {
        let (from, to) = (usize::from(from), usize::from(to));
        let mut points = *self.points();
        if !(1..=25).contains(&from) || to >= from || points[from] <= 0 {
            return None;
        }
        let mut off = self.off();
        points[from] -= 1;
        match to {
            0 => off += 1,
            _ if points[to] < -1 => return None,
            _ if points[to] == -1 => {
                points[to] = 1;
                points[0] -= 1;
            }
            _ => points[to] += 1,
        }
        Some(Position::from_parts(points, off, self.opponent_off()))
    }
}
