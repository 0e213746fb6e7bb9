//! Where every random stream of a run comes from.
//!
//! A stream belongs to a thing (a game, the shuffle of a round), never to a thread, so that a run gives the same
//! weights whatever the number of threads.

use rand::Rng;
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus, rand_core::SeedableRng};

/// What a random stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The first weights of a network.
    Weights,
    /// The dice of one self-play game.
    Game,
    /// The order in which a round's positions are learnt.
    Shuffle,
    /// The dice of a duel.
    Duel,
    /// What is learnt from again in a round.
    Replay,
    /// The rolls with which pruning finds out what results there are.
    Pruning,
}

/// The stream of the `number`th thing of a kind under a run's seed.
pub fn stream(seed: u64, purpose: Purpose, number: u64) -> Xoshiro256PlusPlus {
    let hashed = [purpose as u64, number].into_iter().fold(mixed(seed), |hash, word| mixed(hash ^ mixed(word)));
    Xoshiro256PlusPlus::seed_from_u64(hashed)
}

fn mixed(state: u64) -> u64 {
    SplitMix64::seed_from_u64(state).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_each_part_and_repeat() {
        let first = |seed, purpose, number| stream(seed, purpose, number).next_u64();
        let base = first(1, Purpose::Game, 1);
        assert_eq!(base, first(1, Purpose::Game, 1));
        for other in [first(2, Purpose::Game, 1), first(1, Purpose::Shuffle, 1), first(1, Purpose::Game, 2)] {
            assert_ne!(base, other);
        }
    }
}
