//! Which plays a deeper look is worth.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How plays are sorted out before they are looked at more deeply.
///
/// Before each deeper look the best play is kept, and with it the plays that come close to it: at most so many, and none
/// that is worse by more than so much. The names are those that players know from GNU Backgammon; so are the numbers
/// (its manual, "Move filters"). The replies within a look are none of them: whatever the filter, each is chosen at 0-ply
/// among those that the model's sieve lets through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MoveFilter {
    /// The narrowest.
    Tiny,
    /// Half as many plays as normal.
    Narrow,
    /// What is generally used.
    #[default]
    Normal,
    /// Twice as many plays.
    Large,
    /// The widest.
    Huge,
    /// Every play.
    None,
}

/// A name that no filter has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not a move filter: expected tiny, narrow, normal, large, huge or none")]
pub struct UnknownMoveFilter(pub String);

/// What one stage of a filter keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Plies of the evaluation by which plays are sorted out here.
    pub plies: u8,
    /// The most plays beside the best one.
    pub others: usize,
    /// How much worse than the best one they may be, in points per unit of the cube.
    pub within: f32,
}

impl MoveFilter {
    /// All filters, the narrowest first.
    pub const ALL: [MoveFilter; 6] = [
        MoveFilter::Tiny,
        MoveFilter::Narrow,
        MoveFilter::Normal,
        MoveFilter::Large,
        MoveFilter::Huge,
        MoveFilter::None,
    ];

    /// The stages before a look of `plies`, shallowest first.
    pub fn stages(self, plies: u8) -> impl Iterator<Item = Stage> {
        let first = match self {
            MoveFilter::Tiny => Some((5, 0.08)),
            MoveFilter::Narrow => Some((8, 0.12)),
            MoveFilter::Normal => Some((8, 0.16)),
            MoveFilter::Large => Some((16, 0.32)),
            MoveFilter::Huge => Some((20, 0.44)),
            MoveFilter::None => None,
        };
        let second = match self {
            MoveFilter::Tiny => Some((2, 0.02)),
            MoveFilter::Narrow => Some((2, 0.03)),
            MoveFilter::Normal => Some((2, 0.04)),
            MoveFilter::Large => Some((4, 0.08)),
            MoveFilter::Huge => Some((6, 0.11)),
            MoveFilter::None => None,
        };
        let stage =
            |plies, limits: Option<(usize, f32)>| limits.map(|(others, within)| Stage { plies, others, within });
        let first = (plies >= 1).then(|| stage(0, first)).flatten();
        let second = (plies >= 3).then(|| stage(2, second)).flatten();
        first.into_iter().chain(second)
    }
}

impl fmt::Display for MoveFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            MoveFilter::Tiny => "tiny",
            MoveFilter::Narrow => "narrow",
            MoveFilter::Normal => "normal",
            MoveFilter::Large => "large",
            MoveFilter::Huge => "huge",
            MoveFilter::None => "none",
        })
    }
}

impl FromStr for MoveFilter {
    type Err = UnknownMoveFilter;

    fn from_str(name: &str) -> Result<MoveFilter, UnknownMoveFilter> {
        MoveFilter::ALL
            .into_iter()
            .find(|filter| filter.to_string() == name)
            .ok_or_else(|| UnknownMoveFilter(name.chars().take(40).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_filters_keep_more() {
        for plies in 1..=3 {
            for pair in MoveFilter::ALL[..5].windows(2) {
                for (narrow, wide) in pair[0].stages(plies).zip(pair[1].stages(plies)) {
                    assert!(narrow.others <= wide.others && narrow.within < wide.within, "{pair:?}");
                }
            }
        }
        assert_eq!(MoveFilter::Normal.stages(0).count(), 0);
        assert_eq!(MoveFilter::Normal.stages(2).count(), 1);
        assert_eq!(MoveFilter::Normal.stages(3).count(), 2);
        assert_eq!(MoveFilter::None.stages(3).count(), 0);
    }

    #[test]
    fn names_round_trip() {
        for filter in MoveFilter::ALL {
            assert_eq!(filter.to_string().parse(), Ok(filter));
        }
        assert_eq!("wide".parse::<MoveFilter>(), Err(UnknownMoveFilter("wide".into())));
    }
}
