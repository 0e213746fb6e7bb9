//! The Universal Backgammon Interface: lines on standard input and output, for duel runners and graphical interfaces.
//!
//! The runner owns the match and the dice, and asks for one decision at a time. Both dialects are understood: 0.1 (`go role
//! chequer`, `setoption name Threads value 2`) and 0.2 (`go chequer`, `set engine.threads 2`); of the older draft 0.01 the
//! bare board line or XGID that is answered with the action alone. Lines are answered in their order, and at once also
//! while the bot thinks, which it does in a thread of its own.
//!
//! What the protocol leaves open is read so:
//! - A Position ID is seen by the player on roll, whom `setturn` names; without it, that is p0.
//! - p0 and p1 are the players 0 and 1 of a Match ID; the bottom player of an XGID is p1.
//! - `newgame` forgets the position and the dice and puts the cube back to 1 in the middle; the score stays until
//!   `newsession`.
//! - Dice may come before or behind the position; a position that follows an answer forgets them.
//! - The first score of a session at which a player needs one point is that of the Crawford game, and any other at which he
//!   still does comes after it; what an XGID or a Match ID says about that counts more.
//! - While the bot looks ahead, only `stop`, `quit`, `isready` and questions about keys are obeyed; other lines are refused.
//!   `quit` gives the best answer so far first. When the lines end, the bot still thinks to the end.
//! - Whether a double waits for an answer is said by an XGID or a Match ID.

mod command;
mod engine;
mod error;
mod game;
mod keys;
mod search;

pub use engine::{Ended, Engine};
pub use error::UbgiError;

/// The version of the protocol that is spoken.
const PROTOCOL: &str = "0.2";
