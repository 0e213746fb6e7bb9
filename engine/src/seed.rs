//! Seeds of what is random without being asked to be the same again.

use std::{
    hash::{BuildHasher, RandomState},
    time::SystemTime,
};

/// A seed that no other game has had.
pub fn fresh() -> u64 {
    RandomState::new().hash_one(SystemTime::now())
}
