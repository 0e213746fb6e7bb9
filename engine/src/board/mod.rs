//! Where the checkers stand: positions, and the codes by which programs exchange them.
//!
//! **Perspective.** There is one convention in the whole crate: a [`Position`] is seen by the player on roll. Points
//! 1 to 24 are numbered as he counts them, 25 is his bar, and the opponent's checkers are negative counts on the same
//! numbers; index 0 is the opponent's bar.
//!
//! The texts by which programs quote positions are read with [`str::parse`] and written with [`ToString`]: a
//! [`Position`] is GNU Backgammon's Position ID, a [`MatchId`] what that program writes beside it, an [`Xgid`] eXtreme
//! Gammon's text for both. What is read does not contradict itself, and is written as it was read. A [`FibsBoard`], the
//! line with which GNU Backgammon asks an external player, is only read.
//!
//! ```
//! use zar::board::{MatchId, Position, Xgid};
//!
//! let start: Position = "4HPwATDgc/ABMA".parse()?;
//! assert_eq!(start, Position::START);
//! assert_eq!((start.pip_count(), start.checkers(24), start.opponent_checkers(19)), (167, 2, 5));
//!
//! let match_id: MatchId = "cInqAAAAAAAE".parse()?;
//! let xgid: Xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:52:0:0:0:7:10".parse()?;
//! assert_eq!(xgid.position, start);
//! assert_eq!((xgid.match_length, xgid.scores), (match_id.match_length, match_id.relative_scores()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod base64;
mod cube_owner;
mod cube_state;
mod fibs_board;
mod match_id;
mod position;
mod position_id;
mod xgid;

pub use cube_owner::{CubeOwner, HIGHEST_CUBE};
pub use cube_state::{CubeState, CubeValueError};
pub use fibs_board::{FibsBoard, FibsBoardError};
pub use match_id::{GameState, MatchId, MatchIdError, MatchPlayer, Resignation, UnknownPlayer};
pub use position::{BAR, CHECKERS, Position, PositionError};
pub use position_id::PositionIdError;
pub use xgid::{Xgid, XgidAction, XgidError, XgidPlayer};
