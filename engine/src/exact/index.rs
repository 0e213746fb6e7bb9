//! The numbering of the ways in which one side's last checkers can stand.
//!
//! With s(k) the number of checkers on point k or further back, the numbers s(1) + p − 1 > s(2) + p − 2 > … > s(p) of a
//! side on p points are a combination, and the rank is its place among all combinations in lexicographic order, the
//! combinatorial number system (Knuth, *The Art of Computer Programming* 4A, 7.2.1.3, Theorem L):
//!
//! rank = C(s(1) + p − 1, p) + C(s(2) + p − 2, p − 1) + … + C(s(p), 1)
//!
//! Fewer checkers come first, so that the ranks of up to n checkers are those below C(n + p, p) whatever else a table
//! holds; and every move of a checker lowers the rank, since it lowers some s(k) and raises none.

use crate::board::{BAR, CHECKERS, Position};

use super::MAX_POINTS;

/// Checkers of one side by point, `[0]` on its 1-point; none stands further back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Side {
    counts: [u8; MAX_POINTS],
}

impl Side {
    /// The checkers of the player on roll, or `None` if one stands further back than a table can reach.
    pub fn of_player(position: &Position) -> Option<Side> {
        let mut side = Side::default();
        for (at, count) in side.counts.iter_mut().enumerate() {
            *count = position.checkers(at + 1);
        }
        (side.checkers() + position.off() == CHECKERS).then_some(side)
    }

    /// The checkers of the opponent, on his own points.
    pub fn of_opponent(position: &Position) -> Option<Side> {
        let mut side = Side::default();
        for (at, count) in side.counts.iter_mut().enumerate() {
            *count = position.opponent_checkers(BAR - 1 - at);
        }
        (side.checkers() + position.opponent_off() == CHECKERS).then_some(side)
    }

    /// From the counts of the first points, or `None` for more than 15 checkers or more points than a table can have.
    pub fn new(counts: &[u8]) -> Option<Side> {
        let mut side = Side::default();
        side.counts.get_mut(..counts.len())?.copy_from_slice(counts);
        let checkers: u32 = counts.iter().map(|&count| u32::from(count)).sum();
        (checkers <= u32::from(CHECKERS)).then_some(side)
    }

    /// Checkers by point, `[0]` on the 1-point.
    pub fn counts(&self) -> &[u8; MAX_POINTS] {
        &self.counts
    }

    /// Checkers that are not off.
    pub fn checkers(&self) -> u8 {
        self.counts.iter().sum()
    }

    /// Pips that the side needs to bear off all of them.
    pub fn pips(&self) -> u32 {
        self.counts.iter().zip(1..).map(|(&count, point)| u32::from(count) * point).sum()
    }
}

/// The numbering of up to `checkers` checkers on `points` points.
#[derive(Clone, Debug)]
pub(super) struct Index {
    points: usize,
    checkers: u8,
    /// `[k - 1][s]`: what s checkers on point k or further back add to the rank.
    terms: [[u32; CHECKERS as usize + 1]; MAX_POINTS],
}

/// C(n, k), which the tables of [`MAX_POINTS`] points and 15 checkers keep below 2^31.
pub(super) fn binomial(n: usize, k: usize) -> u32 {
    (0..k as u64).fold(1u64, |product, i| product * (n as u64).saturating_sub(i) / (i + 1)) as u32
}

impl Index {
    pub(super) fn new(points: u8, checkers: u8) -> Index {
        let points = usize::from(points);
        let mut terms = [[0; CHECKERS as usize + 1]; MAX_POINTS];
        for (at, terms) in terms[..points].iter_mut().enumerate() {
            let behind = points - at;
            for (checkers, term) in terms.iter_mut().enumerate() {
                *term = binomial(checkers + behind - 1, behind);
            }
        }
        Index { points, checkers, terms }
    }

    /// How many ways there are.
    pub(super) fn len(&self) -> usize {
        self.first_of(self.checkers + 1)
    }

    /// The lowest rank of a side with so many checkers.
    pub(super) fn first_of(&self, checkers: u8) -> usize {
        binomial(usize::from(checkers) + self.points - 1, self.points) as usize
    }

    /// What a move of one checker from point `k` to the one before takes from the rank when `behind` checkers, itself
    /// among them, stand on point k or further back.
    #[inline]
    pub(super) fn step(&self, point: usize, behind: u8) -> u32 {
        let terms = &self.terms[point - 1];
        terms[usize::from(behind)] - terms[usize::from(behind) - 1]
    }

    /// The place of a side, or `None` if it has more checkers, or stands further back.
    pub(super) fn rank(&self, side: &Side) -> Option<usize> {
        if side.counts[self.points..].iter().any(|&count| count > 0) {
            return None;
        }
        let (mut rank, mut behind) = (0, 0);
        for point in (0..self.points).rev() {
            behind += side.counts[point];
            rank += self.terms[point].get(usize::from(behind))?;
        }
        (behind <= self.checkers).then_some(rank as usize)
    }

    /// The side at a place below [`len`](Index::len).
    pub(super) fn side(&self, rank: usize) -> Side {
        let mut left = rank as u32;
        let mut side = Side::default();
        let mut before = self.checkers;
        for point in 0..self.points {
            let terms = &self.terms[point];
            let mut behind = before;
            while terms[usize::from(behind)] > left {
                behind -= 1;
            }
            left -= terms[usize::from(behind)];
            if point > 0 {
                side.counts[point - 1] = before - behind;
            }
            before = behind;
        }
        side.counts[self.points - 1] = before;
        side
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_one_side() {
        for (points, checkers, len) in [(6, 15, 54_264), (6, 6, 924), (8, 5, 1_287), (1, 15, 16), (18, 3, 1_330)] {
            let index = Index::new(points, checkers);
            assert_eq!(index.len(), len);
            let mut last = 0;
            for rank in 0..len {
                let side = index.side(rank);
                assert_eq!(index.rank(&side), Some(rank), "{side:?}");
                assert!(side.checkers() >= last, "fewer checkers come first");
                last = side.checkers();
            }
            assert_eq!(last, checkers);
        }
    }

    #[test]
    fn smaller_tables_are_the_beginning_of_larger_ones() {
        let (small, large) = (Index::new(6, 6), Index::new(6, 15));
        assert!((0..small.len()).all(|rank| small.side(rank) == large.side(rank)));
        assert_eq!(small.rank(&large.side(small.len())), None);
        assert_eq!(small.rank(&Side::new(&[0, 0, 0, 0, 0, 0, 1]).unwrap()), None);
    }

    #[test]
    fn moves_lower_the_rank_by_their_steps() {
        let index = Index::new(6, 15);
        for rank in (0..index.len()).step_by(7) {
            let side = index.side(rank);
            for from in 1..=6 {
                if side.counts[from - 1] == 0 {
                    continue;
                }
                let mut after = side;
                after.counts[from - 1] -= 1;
                if from > 1 {
                    after.counts[from - 2] += 1;
                }
                let behind: u8 = side.counts[from - 1..].iter().sum();
                assert_eq!(index.rank(&after), Some(rank - index.step(from, behind) as usize));
            }
        }
    }

    #[test]
    fn sides_of_a_position() {
        let position: Position = "AgAAdAUAAAAAAA".parse().unwrap();
        let (player, opponent) = (Side::of_player(&position).unwrap(), Side::of_opponent(&position).unwrap());
        assert_eq!((player.pips(), opponent.pips()), (position.pip_count(), position.opponent_pip_count()));
        assert_eq!(Side::of_player(&position.swapped()), Some(opponent));
        assert_eq!((Side::of_player(&Position::START), Side::of_opponent(&Position::START)), (None, None));
        assert_eq!((Side::new(&[8, 8]), Side::new(&[0; MAX_POINTS + 1])), (None, None));
    }
}
