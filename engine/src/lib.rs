//! A backgammon engine: rules, networks trained by self-play alone, and the choice of plays.
//!
//! ```
//! use zar::{board::Position, bot::{Bot, Level, Valuation}, net::Model, rules::RuleSet};
//! let position: Position = "4HPwATDgc/ABMA".parse()?;
//! let mut bot = Bot::new(Model::shipped(), Level::ZeroPly, RuleSet::Backgammon)?;
//! let evaluation = bot.evaluate(&position, Valuation::default());
//! println!("equity {}, {:.1} % wins", evaluation.cubeful, 100.0 * evaluation.probabilities.win);
//! # // The player on roll at the start has a small advantage.
//! # assert!(evaluation.probabilities.win > 0.5 && (0.0..0.2).contains(&evaluation.cubeful.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Bot`](bot::Bot) answers whatever a player asks: what a [`Position`](board::Position) is worth, which play is best,
//! and whether to double. Its networks are compiled in.
//!
//! ```
//! use zar::{
//!     bot::{Bot, Level, Valuation},
//!     exact::{BearoffTables, CacheFolder},
//!     net::Model,
//!     rules::{Dice, PositionArg, RuleSet},
//! };
//!
//! // One ply of look-ahead, and exact tables of the last checkers, which are built once and kept in the user's cache folder.
//! let tables = BearoffTables::new(RuleSet::Backgammon, CacheFolder::of_user());
//! let mut bot = Bot::new(Model::shipped(), Level::OnePly, RuleSet::Backgammon)?.with_tables(tables);
//!
//! // A text may say the cube and the score too: 5-3 in a match to 7, the cube in the middle.
//! let text = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:5:3:0:7:10";
//! let PositionArg { position, stakes, .. } = text.parse()?;
//!
//! // With 3-1 the player on roll makes his 5-point.
//! let plays = bot.rank(&position, Dice::new(3, 1)?, Valuation::Cubeful(stakes));
//! assert_eq!(plays[0].play.text(&position), "8/5 6/5");
//!
//! // Before the roll he does not double.
//! let advice = bot.cube_action(&position, &stakes)?;
//! assert_eq!(advice.decision.name(), "no-double");
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
