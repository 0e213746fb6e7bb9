//! Doors for other programs.
//!
//! - [`external`]: GNU Backgammon plays against the bot over a socket.
//! - [`http`]: HTTP and JSON, for servers and scripts.
//! - [`ubgi`]: the Universal Backgammon Interface, for duel runners and graphical interfaces.

pub mod external;
pub mod http;
mod question;
pub mod ubgi;

pub use question::{Answer, AnswerError, Asked, Question, QuestionError};
