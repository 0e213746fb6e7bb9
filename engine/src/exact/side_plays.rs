//! The plays of one side that no opponent hinders, as ranks.
//!
//! Without an opponent in the way every die can be moved as long as a checker is left, and so a play always uses the
//! whole roll. Two plays of a roll then differ in waste as they differ in the pips that they leave: the rule of least
//! waste (see [`Terms::least_waste`](crate::rules::Terms::least_waste)) leaves those with the fewest.

use crate::rules::Dice;

use super::{
    MAX_POINTS,
    index::{Index, Side},
};

/// Highest point from which checkers are borne off.
const HOME: usize = 6;

/// Generates plays; holds the buffer of one thread.
#[derive(Clone, Debug)]
pub(super) struct SidePlays<'i> {
    index: &'i Index,
    least_waste: bool,
    results: Vec<u32>,
    /// Pips that the results leave; looked at only for the rule of least waste.
    fewest_pips: u32,
}

/// A side while a play is being made. Point k is at k.
#[derive(Clone, Copy)]
struct Turn {
    counts: [u8; MAX_POINTS + 1],
    /// Checkers on point k or further back.
    behind: [u8; MAX_POINTS + 1],
    /// Bit k is set when a checker stands on point k.
    own: u32,
    rank: u32,
    pips: u32,
}

impl Turn {
    fn new(index: &Index, rank: usize) -> Turn {
        let side: Side = index.side(rank);
        let (mut counts, mut behind, mut own, mut sum) = ([0; MAX_POINTS + 1], [0; MAX_POINTS + 1], 0, 0);
        for point in (1..=MAX_POINTS).rev() {
            counts[point] = side.counts()[point - 1];
            sum += counts[point];
            behind[point] = sum;
            own |= u32::from(counts[point] > 0) << point;
        }
        Turn { counts, behind, own, rank: rank as u32, pips: side.pips() }
    }

    /// The points, as bits, from which `die` can be moved.
    #[inline]
    fn sources(&self, die: u8) -> u32 {
        let inside = self.own & !0 << (die + 1);
        if self.own >> (HOME + 1) != 0 {
            return inside;
        }
        let exact = self.own & 1 << die;
        if self.own >> die == 0 && self.own != 0 { 1 << self.own.ilog2() } else { inside | exact }
    }

    #[inline]
    fn after(&self, index: &Index, from: usize, die: u8) -> Turn {
        let mut turn = *self;
        let to = from.saturating_sub(usize::from(die));
        for point in to + 1..=from {
            turn.rank -= index.step(point, turn.behind[point]);
            turn.behind[point] -= 1;
        }
        turn.counts[from] -= 1;
        turn.own &= !(u32::from(turn.counts[from] == 0) << from);
        if to > 0 {
            turn.counts[to] += 1;
            turn.own |= 1 << to;
        }
        turn.pips -= (from - to) as u32;
        turn
    }
}

/// The bits of a set of points, highest first.
#[inline]
fn descending(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let point = set.checked_ilog2()?;
        set ^= 1 << point;
        Some(point as usize)
    })
}

impl<'i> SidePlays<'i> {
    pub(super) fn new(index: &'i Index, least_waste: bool) -> SidePlays<'i> {
        SidePlays { index, least_waste, results: Vec::new(), fewest_pips: u32::MAX }
    }

    /// The ranks to which the side at `rank` can play `dice`, some of them more than once. A side without checkers stays
    /// as it is.
    pub(super) fn generate(&mut self, rank: usize, dice: Dice) -> &[u32] {
        self.results.clear();
        self.fewest_pips = u32::MAX;
        let turn = Turn::new(self.index, rank);
        if dice.is_double() {
            self.doubles(&turn, dice.high(), MAX_POINTS, 0);
        } else {
            self.two_dice(&turn, dice.high(), dice.low());
            self.two_dice(&turn, dice.low(), dice.high());
        }
        &self.results
    }

    /// Moves of the same die, each from no higher a point than the one before: what stands further back only opens what
    /// comes after.
    fn doubles(&mut self, turn: &Turn, die: u8, from: usize, made: u8) {
        let sources = if made == 4 { 0 } else { turn.sources(die) & ((2 << from) - 1) };
        if sources == 0 {
            // Short of four moves it is a play only if no checker is left.
            if made == 4 || turn.own == 0 {
                self.push(turn);
            }
            return;
        }
        for source in descending(sources) {
            self.doubles(&turn.after(self.index, source, die), die, source, made + 1);
        }
    }

    fn two_dice(&mut self, turn: &Turn, first: u8, second: u8) {
        if turn.own == 0 {
            return self.push(turn);
        }
        for source in descending(turn.sources(first)) {
            let between = turn.after(self.index, source, first);
            if between.own == 0 {
                self.push(&between);
            }
            for source in descending(between.sources(second)) {
                self.push(&between.after(self.index, source, second));
            }
        }
    }

    #[inline]
    fn push(&mut self, turn: &Turn) {
        if self.least_waste {
            if turn.pips > self.fewest_pips {
                return;
            }
            if turn.pips < self.fewest_pips {
                self.results.clear();
                self.fewest_pips = turn.pips;
            }
        }
        self.results.push(turn.rank);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::{
        board::Position,
        rules::{LegalPlays, RuleSet},
    };

    use super::*;

    /// The ranks that the rules of the whole game allow, with an opponent who is out of the way.
    fn ranks(index: &Index, rank: usize, dice: Dice, rules: RuleSet, plays: &mut LegalPlays) -> BTreeSet<u32> {
        let mut points = [0; 26];
        for (at, &count) in index.side(rank).counts().iter().enumerate() {
            points[at + 1] = count as i8;
        }
        points[24] = -1;
        plays.generate(&Position::new(points).unwrap(), dice, rules);
        plays.iter().map(|legal| index.rank(&Side::of_opponent(&legal.after).unwrap()).unwrap() as u32).collect()
    }

    /// Every side of a small table, and a sample of a large and of a wide one.
    #[test]
    fn as_the_rules_of_the_whole_game_allow() {
        let mut legal = LegalPlays::default();
        for (points, checkers, step) in [(6, 5, 1), (6, 15, 97), (9, 4, 1), (12, 15, 1_000_003)] {
            let index = Index::new(points, checkers);
            for rules in [RuleSet::Backgammon, RuleSet::Table] {
                let mut plays = SidePlays::new(&index, rules.terms().least_waste);
                for rank in (0..index.len()).step_by(step) {
                    for dice in Dice::ALL {
                        let found: BTreeSet<u32> = plays.generate(rank, dice).iter().copied().collect();
                        let expected = ranks(&index, rank, dice, rules, &mut legal);
                        assert_eq!(found, expected, "{:?} {dice} {rules}", index.side(rank));
                    }
                }
            }
        }
    }
}
