//! Training of zar's networks by self-play, and the measures of their strength.
//!
//! A [`Config`](config::Config) says everything that decides the weights; a [`Run`](run::Run) carries it out in a folder.
//!
//! ```
//! use std::{sync::atomic::AtomicBool, time::Duration};
//! use zar_trainer::{config::Config, device::DeviceChoice, run::{Ending, Run, Supervision}};
//!
//! let mut config = Config::preset("quick")?;
//! config.round_games = 5;
//! config.phases.truncate(1);
//! config.phases[0].games = 10;
//!
//! let folder = tempfile::tempdir()?;
//! let mut run = Run::create(&folder.path().join("run"), config, DeviceChoice::Cpu)?;
//! let ending = run.go(&mut Supervision {
//!     stop: &AtomicBool::new(false),
//!     time_budget: None,
//!     until: None,
//!     checkpoint_every: Duration::from_secs(60),
//!     measure_every: 1_000_000,
//!     reference: None,
//!     progress: &mut |progress| println!("{} games", progress.games),
//!     measured: &mut |_| (),
//! })?;
//! assert_eq!((ending, run.model()?.provenance().games), (Ending::Finished, 10));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`run`] is the loop that learns; [`self_play`] the games and their targets; [`replay`] what is learnt from again; [`learner`] the networks while they
//! learn, with [`sparse_layer`] for the first layer, [`dense_tail`] for the rest, and [`growth`] for what they begin with. [`sieve`] trains what makes
//! looking ahead faster, [`prune`] makes weights files smaller, [`average`] takes the mean of several runs. [`score`] and [`duel`] measure.

pub mod average;
pub mod checkpoint;
pub mod cli;
pub mod config;
pub mod dense_tail;
pub mod device;
pub mod duel;
pub mod growth;
pub mod learner;
pub mod metrics;
pub mod plot;
pub mod prune;
pub mod replay;
pub mod run;
pub mod score;
pub mod seeds;
pub mod self_play;
pub mod sieve;
pub mod sparse_layer;
