//! Who may turn the doubling cube next.

use serde::{Deserialize, Serialize};

/// The highest value that a cube shows: as much as a Match ID and an XGID can hold.
pub const HIGHEST_CUBE: u32 = 1 << 15;

/// Where the doubling cube stands, seen by the player on roll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CubeOwner {
    /// In the middle: either player may double.
    #[default]
    Centered,
    /// On the side of the player on roll.
    Player,
    /// On the opponent's side.
    Opponent,
}

impl CubeOwner {
    /// The same cube seen by the other player.
    pub fn swapped(self) -> CubeOwner {
        match self {
            CubeOwner::Centered => CubeOwner::Centered,
            CubeOwner::Player => CubeOwner::Opponent,
            CubeOwner::Opponent => CubeOwner::Player,
        }
    }
}
