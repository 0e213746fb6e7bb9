//! Where every random stream of a run comes from.
//!
//! A stream belongs to a thing (a game, the shuffle of a round), never to a thread, so that a run gives the same
//! weights whatever the number of threads.

use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

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

/// One step of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
fn mixed(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use rand::Rng;

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
