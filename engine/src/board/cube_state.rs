//! What the doubling cube shows, and who may turn it.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{CubeOwner, HIGHEST_CUBE};

/// What the cube shows and who may turn it, seen by the player on roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "CubeRecord", into = "CubeRecord")]
pub struct CubeState {
    value: u32,
    owner: CubeOwner,
}

/// A number that no cube shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the cube shows {0}, expected a power of two from 1 to {HIGHEST_CUBE}")]
pub struct CubeValueError(pub u32);

impl CubeState {
    /// The cube at the start of a game: 1, in the middle.
    pub const START: CubeState = CubeState { value: 1, owner: CubeOwner::Centered };

    /// A cube of `value` on the side of `owner`.
    ///
    /// # Errors
    /// A value that is no power of two, or above [`HIGHEST_CUBE`].
    pub fn new(value: u32, owner: CubeOwner) -> Result<CubeState, CubeValueError> {
        let shown = value.is_power_of_two() && value <= HIGHEST_CUBE;
        if shown { Ok(CubeState { value, owner }) } else { Err(CubeValueError(value)) }
    }

    /// What the cube shows: 1, 2, 4 ...
    pub fn value(self) -> u32 {
        self.value
    }

    /// Who may turn it.
    pub fn owner(self) -> CubeOwner {
        self.owner
    }

    /// The same cube seen by the other player.
    pub fn swapped(self) -> CubeState {
        CubeState { owner: self.owner.swapped(), ..self }
    }
}

/// A cube as it is written; what is read is checked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CubeRecord {
    value: u32,
    owner: CubeOwner,
}

impl TryFrom<CubeRecord> for CubeState {
    type Error = CubeValueError;

    fn try_from(CubeRecord { value, owner }: CubeRecord) -> Result<CubeState, CubeValueError> {
        CubeState::new(value, owner)
    }
}

impl From<CubeState> for CubeRecord {
    fn from(CubeState { value, owner }: CubeState) -> CubeRecord {
        CubeRecord { value, owner }
    }
}

impl Default for CubeState {
    fn default() -> Self {
        CubeState::START
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubes_show_powers_of_two() {
        assert_eq!(CubeState::new(0, CubeOwner::Centered), Err(CubeValueError(0)));
        assert_eq!(CubeState::new(3, CubeOwner::Player), Err(CubeValueError(3)));
        assert_eq!(CubeState::new(1 << 16, CubeOwner::Player), Err(CubeValueError(1 << 16)));
        let cube = CubeState::new(2, CubeOwner::Player).unwrap();
        assert_eq!((cube.swapped().value(), cube.swapped().owner()), (2, CubeOwner::Opponent));
    }

    #[test]
    fn cubes_are_checked_when_read() {
        let cube = CubeState::new(4, CubeOwner::Opponent).unwrap();
        let text = serde_json::to_string(&cube).unwrap();
        assert_eq!(text, r#"{"value":4,"owner":"opponent"}"#);
        assert_eq!(serde_json::from_str::<CubeState>(&text).unwrap(), cube);
        assert!(serde_json::from_str::<CubeState>(r#"{"value":3,"owner":"opponent"}"#).is_err());
    }
}
