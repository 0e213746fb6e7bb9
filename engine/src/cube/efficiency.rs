//! How well the cube can be used.

use crate::{board::Position, net::PositionClass};

/// The share of a live cube's value that play realises: 0 is a dead cube, which nobody turns any more, 1 a live one, which
/// is always turned at the very point where taking and dropping are equal.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Efficiency(f32);

impl Efficiency {
    /// Where the sides are in contact: Janowski found 0.6 to 0.7, 0.68 is what is generally used.
    pub const CONTACT: Efficiency = Efficiency(0.68);

    /// An efficiency from 0 to 1; what lies outside counts as the nearer end.
    pub fn new(share: f32) -> Efficiency {
        Efficiency(share.clamp(0.0, 1.0))
    }

    /// The efficiency that is used for a position. In races it grows with their length, from 0.6 to 0.7: 0.55 and 0.00125
    /// for each pip of the player on roll (GNU Backgammon manual, "Cube efficiency").
    #[inline]
    pub fn of(position: &Position) -> Efficiency {
        match PositionClass::of(position) {
            PositionClass::Contact => Efficiency::CONTACT,
            PositionClass::Race => Efficiency((0.55 + 0.00125 * position.pip_count() as f32).clamp(0.6, 0.7)),
        }
    }

    /// As a number.
    #[inline]
    pub fn share(self) -> f32 {
        self.0
    }
}

impl Default for Efficiency {
    fn default() -> Self {
        Efficiency::CONTACT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn races_use_the_cube_better_the_longer_they_are() {
        let race = |point: usize| {
            let mut points = [0; 26];
            points[point] = 10;
            points[24] = -10;
            Efficiency::of(&Position::new(points).unwrap()).share()
        };
        assert_eq!(Efficiency::of(&Position::START), Efficiency::CONTACT);
        assert_eq!([1, 5, 8, 20].map(race), [0.6, 0.6125, 0.65, 0.7]);
        assert_eq!(Efficiency::new(7.0).share(), 1.0);
    }
}
