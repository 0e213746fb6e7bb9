//! Doors for other programs.
//!
//! - [`external`]: GNU Backgammon plays against the bot over a socket.
//! - [`ubgi`]: the Universal Backgammon Interface, for duel runners and graphical interfaces.

pub mod external;
mod line_reader;
mod question;
pub mod ubgi;

pub use question::{Answer, AnswerError, Asked, Question, QuestionError};
