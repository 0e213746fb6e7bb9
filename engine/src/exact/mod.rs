//! Exact databases of bearing off: what is known of a race at its end, where nobody needs to guess.
//!
//! A [`OneSided`] table holds for each position of one side how many rolls it takes to bear off, a [`TwoSided`] one the
//! equities of all pairs of few checkers, with and without the cube. [`BearoffTables`] has both, reads them from the
//! user's cache folder, builds what is not there, and answers for a [`Position`](crate::board::Position):
//!
//! ```
//! use zar::{board::Position, exact::BearoffTables, rules::RuleSet};
//!
//! // Two checkers on the 6-point against one on the 1-point.
//! let tables = BearoffTables::in_memory(RuleSet::Backgammon);
//! let mut points = [0; 26];
//! (points[6], points[24]) = (2, -1);
//! let win = tables.probabilities(&Position::new(points)?).unwrap().win;
//! // 6-6, 5-5, 4-4 and 3-3 bear both off at once.
//! assert!((win - 4.0 / 36.0).abs() < 1e-6);
//! # Ok::<(), zar::board::PositionError>(())
//! ```

mod cache;
mod distribution;
mod estimate;
mod index;
mod one_sided;
mod side_plays;
mod spec;
mod tables;
mod two_sided;
mod words;

pub use cache::{CACHE_VARIABLE, CacheFolder, Origin};
pub use distribution::{Distribution, PIPS_PER_ROLL};
pub use estimate::{available_memory, build_time};
pub use index::Side;
pub use one_sided::OneSided;
pub use spec::{MAX_POINTS, TableKind, TableSpec, TableSpecError};
pub use tables::BearoffTables;
pub use two_sided::{MoneyEquities, TwoSided};
pub use words::{FORMAT_VERSION, TableFileError};
