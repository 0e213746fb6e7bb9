//! What the bindings to other languages share: a bot that brings its weights along, and what it can be asked.

mod asked;
mod held_bot;
mod threads;

pub use asked::{AskError, Asked};
pub use held_bot::{HeldBot, OpenError, Opening};
