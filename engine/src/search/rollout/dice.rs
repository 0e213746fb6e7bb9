//! The dice of rollouts: as even as chance allows over the first two rolls, random from there.

use rand::Rng;
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus, rand_core::SeedableRng};

use crate::rules::Dice;

/// The ways in which two dice fall.
pub const WAYS: u32 = 36;

/// The rolls of one game of a rollout.
///
/// Of 36 games in a row from a multiple of 36 on, each of the 36 ways in which two dice fall comes up once as the first
/// roll and once as the second; of 1,296 games, each pair of first and second roll comes up once. Which game gets which is
/// random, so that any game by itself has fair dice. The same seed and number give the same rolls, whatever is played.
#[derive(Clone, Debug)]
pub struct GameDice {
    stratified: [Dice; 2],
    turn: usize,
    later: Xoshiro256PlusPlus,
}

impl GameDice {
    /// The rolls of game `number`.
    pub fn new(seed: u64, number: u32) -> GameDice {
        let (within, block) = (number % WAYS, number / WAYS);
        let (within_pairs, pairs) = (block % WAYS, block / WAYS);
        let first = permutation(&mut stream(seed, Purpose::First, block))[within as usize];
        // A Latin square: for a fixed block every first roll has another second one, and the other way round.
        let mut square = stream(seed, Purpose::Second, pairs);
        let (rows, symbols) = (permutation(&mut square), permutation(&mut square));
        let second = symbols[((u32::from(rows[usize::from(first)]) + within_pairs) % WAYS) as usize];
        GameDice { stratified: [first, second].map(way), turn: 0, later: stream(seed, Purpose::Later, number) }
    }

    /// The next roll.
    pub fn roll(&mut self) -> Dice {
        let turn = self.turn;
        self.turn += 1;
        match self.stratified.get(turn) {
            Some(&dice) => dice,
            None => Dice::roll(&mut self.later),
        }
    }
}

/// What a stream of random numbers is for.
#[derive(Clone, Copy)]
enum Purpose {
    First,
    Second,
    Later,
}

fn stream(seed: u64, purpose: Purpose, number: u32) -> Xoshiro256PlusPlus {
    let mixed = SplitMix64::seed_from_u64(seed).next_u64() ^ (u64::from(number) << 2 | purpose as u64);
    Xoshiro256PlusPlus::seed_from_u64(mixed)
}

/// The numbers from 0 to 35 in a random order (Fisher and Yates).
fn permutation(rng: &mut impl Rng) -> [u8; WAYS as usize] {
    let mut order = std::array::from_fn(|i| i as u8);
    for i in (1..order.len()).rev() {
        // 64 bits for 36 places: the unevenness is beyond anything that could be measured.
        order.swap(i, ((u128::from(rng.next_u64()) * (i as u128 + 1)) >> 64) as usize);
    }
    order
}

fn way(number: u8) -> Dice {
    Dice::new(number / 6 + 1, number % 6 + 1).expect("both dice show 1 to 6")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn counts(games: std::ops::Range<u32>, turns: std::ops::Range<usize>) -> BTreeMap<Vec<Dice>, u32> {
        let mut counts = BTreeMap::new();
        for number in games {
            let mut dice = GameDice::new(7, number);
            let rolls: Vec<Dice> = (0..turns.end).map(|_| dice.roll()).collect();
            *counts.entry(rolls[turns.clone()].to_vec()).or_default() += 1;
        }
        counts
    }

    fn ways(rolls: &[Dice]) -> u32 {
        rolls.iter().map(|dice| u32::from(dice.ways())).product()
    }

    #[test]
    fn every_36_games_have_every_first_and_every_second_roll() {
        for block in [0, 1, 35, 36, 100] {
            for turn in 0..2 {
                let found = counts(block * WAYS..(block + 1) * WAYS, turn..turn + 1);
                assert_eq!(found.len(), 21);
                assert!(found.iter().all(|(rolls, &count)| count == ways(rolls)), "{block} {turn}");
            }
        }
    }

    #[test]
    fn every_1296_games_have_every_pair_of_rolls() {
        for start in [0, 1296] {
            let found = counts(start..start + 1296, 0..2);
            assert_eq!(found.len(), 21 * 21);
            assert!(found.iter().all(|(rolls, &count)| count == ways(rolls)));
        }
    }

    /// Third rolls are random: 36,000 of them, 1,000 for each way, none further away than five standard deviations.
    #[test]
    fn later_rolls_are_fair() {
        for (rolls, count) in counts(0..36_000, 2..3) {
            let expected = 1000.0 * f64::from(ways(&rolls));
            assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt(), "{rolls:?} {count}");
        }
    }

    #[test]
    fn seeds_differ() {
        let rolls = |seed| {
            let mut dice = GameDice::new(seed, 0);
            (0..10).map(|_| dice.roll()).collect::<Vec<_>>()
        };
        assert_eq!(rolls(1), rolls(1));
        assert_ne!(rolls(1), rolls(2));
    }
}
