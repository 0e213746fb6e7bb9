//! Doors for other programs.
//!
//! - [`http`]: HTTP and JSON, for servers and scripts.

pub mod http;
