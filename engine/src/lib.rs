//! A backgammon engine: rules, networks trained by self-play alone, and the choice of plays.

pub mod board;
pub mod durable;
pub mod net;
pub mod rules;
pub mod search;
