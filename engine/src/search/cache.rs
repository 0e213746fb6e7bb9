//! What has been looked at already, shared by all threads of a search.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Mutex,
};

use crate::board::Position;

use super::lookahead::Value;

/// What a value belongs to: a position, how far it was looked ahead, and the stakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The position, seen by the player on roll.
    pub position: Position,
    /// Plies of look-ahead.
    pub plies: u8,
    /// Which values of the cube were reckoned with; equal numbers mean equal ones.
    pub stakes: u64,
}

/// Values by key, at most one in each place: a new one drives out what is there. A value depends on its key alone, so
/// that the cache changes how long a search takes and never what it finds.
#[derive(Debug)]
pub struct Cache {
    shards: Vec<Mutex<Vec<Entry>>>,
    hasher: RandomState,
}

type Entry = Option<(Key, Value)>;

const SHARDS: usize = 64;

impl Cache {
    /// A cache with room for about `entries` values.
    pub fn new(entries: usize) -> Cache {
        let places = entries.div_ceil(SHARDS).max(1);
        Cache { shards: (0..SHARDS).map(|_| Mutex::new(vec![None; places])).collect(), hasher: RandomState::new() }
    }

    /// The value of `key`, if it is still there.
    pub(super) fn get(&self, key: &Key) -> Option<Value> {
        let (shard, place) = self.place(key);
        // A thread that panicked while it held the lock has left a whole entry or none.
        let shard = self.shards[shard].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let place = place % shard.len();
        shard[place].filter(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Keeps a value.
    pub(super) fn put(&self, key: Key, value: Value) {
        let (shard, place) = self.place(&key);
        let mut shard = self.shards[shard].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let place = place % shard.len();
        shard[place] = Some((key, value));
    }

    fn place(&self, key: &Key) -> (usize, usize) {
        let hash = self.hasher.hash_one(key);
        ((hash % SHARDS as u64) as usize, (hash / SHARDS as u64) as usize)
    }
}
