//! Where the checkers stand: positions, and the codes by which programs exchange them.
//!
//! **Perspective.** There is one convention in the whole crate: a [`Position`] is seen by the player on roll. Points
//! 1 to 24 are numbered as he counts them, 25 is his bar, and the opponent's checkers are negative counts on the same
//! numbers; index 0 is the opponent's bar.
//!
//! ```
//! use zar::board::Position;
//!
//! let start: Position = "4HPwATDgc/ABMA".parse()?;
//! assert_eq!(start, Position::START);
//! assert_eq!((start.pip_count(), start.checkers(24), start.opponent_checkers(19)), (167, 2, 5));
//! # Ok::<(), zar::board::PositionIdError>(())
//! ```

mod position;
mod position_id;

pub use position::{BAR, CHECKERS, Position, PositionError};
pub use position_id::PositionIdError;
