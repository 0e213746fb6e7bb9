//! Training of zar's networks by self-play, and the measures of their strength.

pub mod checkpoint;
pub mod cli;
pub mod config;
pub mod dense_tail;
pub mod device;
pub mod duel;
pub mod learner;
pub mod metrics;
pub mod plot;
pub mod run;
pub mod score;
pub mod seeds;
pub mod self_play;
pub mod sparse_layer;
