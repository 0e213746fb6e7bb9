//! Games against the bot that the server keeps.
//!
//! The client is player 1 and the bot player 0, as in `zar play`. Every request that acts is one transaction: what the
//! client does, what the bot answers, and the dice of both, all of it or nothing. It is on the disk before it is answered,
//! so that a crash loses nothing that was answered. A client that got no answer reads the game: the number of its
//! actions says whether his own is among them.

mod handlers;
mod record;
mod store;
mod view;

pub use handlers::routes;
pub use store::{Limits, Store, StoreError};
