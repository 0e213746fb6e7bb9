//! Values made from bytes, so that a fuzzer that changes bytes changes values.

use zar::{
    board::{BAR, CHECKERS, Position},
    rules::{Dice, RuleSet},
};

/// Bytes that are read from the front; behind the end come zeros.
pub(crate) struct Bytes<'b>(pub &'b [u8]);

impl<'b> Bytes<'b> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn next(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub(crate) fn rest(self) -> &'b [u8] {
        self.0
    }

    pub(crate) fn rules(&mut self) -> RuleSet {
        RuleSet::ALL[usize::from(self.next()) % RuleSet::ALL.len()]
    }

    pub(crate) fn dice(&mut self) -> Dice {
        Dice::ALL[usize::from(self.next()) % Dice::ALL.len()]
    }

    /// A byte for every checker: its point from 0 (off) to 25 (the bar), or that of the checker before when the highest
    /// bit is set, so that points are made. A checker on a point of the other player goes off.
    pub(crate) fn position(&mut self) -> Position {
        let mut points = [0i8; 26];
        for side in [1, -1] {
            let mut place = 0;
            for _ in 0..CHECKERS {
                let byte = self.next();
                if byte < 128 {
                    place = usize::from(byte) % (BAR + 1);
                }
                let index = if side > 0 { place } else { BAR - place };
                if place > 0 && points[index] * side >= 0 {
                    points[index] += side;
                }
            }
        }
        if points == [0; 26] {
            points[1] = 1;
        }
        Position::new(points).expect("fifteen checkers a side, each on a point that is its own")
    }
}
