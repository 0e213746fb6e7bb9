//! How the cube may move in the turns that a search looks ahead.
//!
//! Where the cube can be depends on the turn and not on the checkers, so that it is worked out once for a search: at each
//! depth there are a few states of the cube, and from each the player on roll goes to the next turn as it is or, after
//! a double that is taken, with the cube turned.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{cube::CubeModel, rules::Stakes};

/// More states of the cube than a search of four plies meets.
pub const MOST_STATES: usize = 16;

/// The states of the cube at one depth, each seen by the player on roll there.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The states.
    pub states: Vec<State>,
    /// A number that stands for all states from here on.
    pub fingerprint: u64,
}

/// One state of the cube, and what it becomes in the next level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The stakes, seen by the player on roll.
    pub stakes: Stakes,
    /// The place in the next level if he rolls.
    pub rolled: usize,
    /// The place in the next level if he doubles and is taken, where he may double.
    pub doubled: Option<usize>,
}

/// The levels of a search, one more than its plies.
#[derive(Clone, Debug, PartialEq)]
pub struct CubeTree {
    levels: Vec<Level>,
}

impl CubeTree {
    /// The cube's ways in `plies` turns from `stakes`; with none of them a search leaves the cube out.
    pub fn new(model: &CubeModel<'_>, stakes: &[Stakes], plies: u8) -> CubeTree {
        let mut levels = Vec::new();
        let mut current = stakes.to_vec();
        for depth in 0..=plies {
            let mut next: Vec<Stakes> = Vec::new();
            let mut place = |stakes: Stakes| match next.iter().position(|&known| known == stakes) {
                Some(place) => place,
                None => {
                    next.push(stakes);
                    next.len() - 1
                }
            };
            let mut states: Vec<State> = current
                .iter()
                .map(|stakes| State { stakes: *stakes, rolled: place(stakes.swapped()), doubled: None })
                .collect();
            for state in &mut states {
                // At the root even a double that is of no use can be asked for.
                if model.doubles(&state.stakes) || depth == 0 && state.stakes.may_double(model.rules()) {
                    state.doubled = state.stakes.doubled().map(|doubled| place(doubled.swapped()));
                }
            }
            assert!(states.len() <= MOST_STATES, "a search of {plies} plies met {} states of the cube", states.len());
            let mut hasher = DefaultHasher::new();
            current.hash(&mut hasher);
            levels.push(Level { states, fingerprint: hasher.finish() });
            current = next;
        }
        CubeTree { levels }
    }

    /// The states when `depth` turns have been made.
    #[inline]
    pub(crate) fn level(&self, depth: usize) -> &Level {
        &self.levels[depth]
    }
}
