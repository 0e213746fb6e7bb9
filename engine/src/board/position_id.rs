//! GNU Backgammon's Position ID: 14 characters of base 64 for 80 bits.
//!
//! The bits are read from the lowest of each byte. For the player *not* on roll, then for the player on roll, each
//! counting from his own side, points 1 to 24 and the bar follow one another: as many ones as checkers, then a zero.
//! (GNU Backgammon manual, "A technical description of the Position ID".)

use std::{fmt, str::FromStr};

use thiserror::Error;

use super::{BAR, CHECKERS, Position, PositionError, base64};

const LENGTH: usize = 14;

/// Why a text is not a Position ID.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PositionIdError {
    /// The text has another length.
    #[error("a Position ID has 14 characters, this has {0}")]
    Length(usize),
    /// A character outside base 64.
    #[error("{0:?} is not a character of a Position ID (A-Z a-z 0-9 + /)")]
    Character(char),
    /// The bits do not close every point of both players.
    #[error("the bits of the Position ID do not describe 25 points for each player")]
    Unfinished,
    /// Bits are left over behind the last point.
    #[error("the Position ID has bits set behind the last point")]
    TrailingBits,
    /// Both players hold the same point (numbered from the player on roll).
    #[error("both players have checkers on point {0}")]
    SharedPoint(usize),
    /// The counts are impossible.
    #[error(transparent)]
    Position(#[from] PositionError),
}

impl FromStr for Position {
    type Err = PositionIdError;

    /// Reads a Position ID.
    fn from_str(text: &str) -> Result<Position, PositionIdError> {
        let bytes: [u8; 10] = base64::decode(text).map_err(|fault| match fault {
            base64::Fault::Length(length) => PositionIdError::Length(length),
            base64::Fault::Character(character) => PositionIdError::Character(character),
            base64::Fault::SpareBits(_) => PositionIdError::TrailingBits,
        })?;
        let mut bits = (0..80).map(|i| bytes[i / 8] >> (i % 8) & 1 == 1);
        let mut sides = [[0u32; BAR + 1]; 2];
        for side in &mut sides {
            for count in &mut side[1..] {
                loop {
                    match bits.next() {
                        Some(true) => *count += 1,
                        Some(false) => break,
                        None => return Err(PositionIdError::Unfinished),
                    }
                }
            }
        }
        if bits.any(|bit| bit) {
            return Err(PositionIdError::TrailingBits);
        }
        let [opponent, player] = sides;
        for (side, error) in [
            (&player, PositionError::TooManyCheckers as fn(u32) -> PositionError),
            (&opponent, PositionError::TooManyOpponentCheckers),
        ] {
            let total: u32 = side.iter().sum();
            if total > u32::from(CHECKERS) {
                return Err(error(total).into());
            }
        }
        let mut points = [0i8; 26];
        for (point, count) in points.iter_mut().enumerate() {
            let (own, his) = (player[point], opponent[BAR - point]);
            if own > 0 && his > 0 {
                return Err(PositionIdError::SharedPoint(point));
            }
            *count = own as i8 - his as i8;
        }
        Ok(Position::new(points)?)
    }
}

/// Writes the Position ID.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0u8; 10];
        let mut bit = 0;
        let opponent = (1..=BAR).map(|point| self.opponent_checkers(BAR - point));
        let player = (1..=BAR).map(|point| self.checkers(point));
        for count in opponent.chain(player) {
            for _ in 0..count {
                bytes[bit / 8] |= 1 << (bit % 8);
                bit += 1;
            }
            bit += 1;
        }
        let text = base64::encode(&bytes);
        debug_assert_eq!(text.len(), LENGTH);
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_ids() {
        assert_eq!(Position::START.to_string(), "4HPwATDgc/ABMA");
        // After 3-1 played 8/5 6/5, the opponent to roll.
        let after: Position = "sGfwATDgc/ABMA".parse().unwrap();
        assert_eq!((after.opponent_checkers(20), after.opponent_checkers(17), after.opponent_checkers(19)), (2, 2, 4));
        assert_eq!(after.to_string(), "sGfwATDgc/ABMA");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let fault = |text: &str| text.parse::<Position>().unwrap_err();
        assert_eq!(fault(""), PositionIdError::Length(0));
        assert_eq!(fault("4HPwATDgc/ABMAA"), PositionIdError::Length(15));
        assert_eq!(fault("4HPwATDgc/ABM!"), PositionIdError::Character('!'));
        assert_eq!(fault("4HPwATDgc/ABMé"), PositionIdError::Character('é'));
        assert_eq!(fault("//////////////"), PositionIdError::TrailingBits);
        assert_eq!(fault("/////////////w"), PositionIdError::Unfinished);
        assert_eq!(fault("AAAAAAAAAAAAAA"), PositionIdError::Position(PositionError::NobodyOnBoard));
        assert_eq!(fault("AAAAAAAAAAAAgA"), PositionIdError::TrailingBits);
    }
}
