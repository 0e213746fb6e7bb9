//! A backgammon engine: rules, networks trained by self-play alone, and the choice of plays.
//!
//! A [`Bot`](bot::Bot) answers whatever a player asks: what a [`Position`](board::Position) is worth, which play is best,
//! and whether to double. Its networks are compiled in.
//!
//! ```
//! use zar::{
//!     board::Position,
//!     bot::{Bot, Level, Valuation},
//!     net::Model,
//!     rules::{Dice, RuleSet, Stakes},
//! };
//!
//! let mut bot = Bot::new(Model::shipped(), Level::ZeroPly, RuleSet::Backgammon)?;
//!
//! // The player on roll at the start has a small advantage.
//! let position: Position = "4HPwATDgc/ABMA".parse()?;
//! let evaluation = bot.evaluate(&position, &Stakes::MONEY);
//! assert!(evaluation.probabilities.win > 0.5 && evaluation.cubeless.0 > 0.0);
//!
//! // With 3-1 he makes his 5-point.
//! let plays = bot.rank(&position, Dice::new(3, 1)?, Valuation::Cubeful(Stakes::MONEY));
//! assert_eq!(plays[0].play.text(&position), "8/5 6/5");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! From the inside outwards: [`board`] holds positions and the codes by which programs exchange them, [`rules`] the
//! dice and the legal plays, [`net`] the networks, [`exact`] the bear-off tables, [`cube`] the doubling cube, [`search`] the order of plays, [`bot`]
//! puts them together, `serve` opens doors for other programs (feature `serve`), and `cli` is the command `zar` (feature `cli`).

pub mod board;
pub mod bot;
#[cfg(feature = "cli")]
pub mod cli;
pub mod cube;
pub mod durable;
pub mod exact;
#[cfg(feature = "cli")]
mod line_reader;
pub mod net;
#[cfg(any(feature = "cli", feature = "serve"))]
mod requests;
pub mod rules;
pub mod search;
#[cfg(any(feature = "cli", feature = "serve"))]
mod seed;
#[cfg(feature = "serve")]
pub mod serve;
