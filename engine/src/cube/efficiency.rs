//! How well the cube can be used.

use crate::{
    board::{CubeOwner, Position},
    net::PositionClass,
};

/// The share of a live cube's value that play realises: 0 is a dead cube, which nobody turns any more, 1 a live one, which
/// is always turned at the very point where taking and dropping are equal.
///
/// It is higher for a cube that the player on roll may turn than for one that he faces: he is the one who can use the
/// next exchange of rolls.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Efficiency {
    /// Of a cube that the player on roll may turn.
    turning: f32,
    /// Of a cube on the opponent's side.
    facing: f32,
}

impl Efficiency {
    /// Where the sides are in contact. Janowski found 0.6 to 0.7, and 0.68 is what is generally used; looking two plies ahead
    /// from there, with this program's own networks, 1,085 of its own positions near a double gave 0.675 for a cube that
    /// the player on roll faces and 0.72 for one that he may turn.
    pub const CONTACT: Efficiency = Efficiency { turning: 0.72, facing: 0.68 };

    /// One efficiency, from 0 to 1, for all cubes; what lies outside counts as the nearer end.
    pub fn new(share: f32) -> Efficiency {
        let share = share.clamp(0.0, 1.0);
        Efficiency { turning: share, facing: share }
    }

    /// The efficiency that is used for a position. In races it grows with their length, from 0.6 to 0.7: 0.55 and 0.00125
    /// for each pip of the player on roll (GNU Backgammon manual, "Cube efficiency").
    #[inline]
    pub fn of(position: &Position) -> Efficiency {
        match PositionClass::of(position) {
            PositionClass::Contact => Efficiency::CONTACT,
            PositionClass::Race => Efficiency::new((0.55 + 0.00125 * position.pip_count() as f32).clamp(0.6, 0.7)),
        }
    }

    /// As a number, for a cube on the side of `owner` as the player on roll sees it.
    #[inline]
    pub fn share(self, owner: CubeOwner) -> f32 {
        if owner == CubeOwner::Opponent { self.facing } else { self.turning }
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
            Efficiency::of(&Position::new(points).unwrap()).share(CubeOwner::Player)
        };
        assert_eq!(Efficiency::of(&Position::START), Efficiency::CONTACT);
        assert_eq!([1, 5, 8, 20].map(race), [0.6, 0.6125, 0.65, 0.7]);
        assert_eq!(Efficiency::new(7.0).share(CubeOwner::Centered), 1.0);
    }
}
