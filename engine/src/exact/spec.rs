//! Which table: its kind, its size and its rules.

use std::fmt;

use thiserror::Error;

use crate::{board::CHECKERS, rules::RuleSet};

use super::index::{Index, binomial};

/// The most points that a table can have: what stands further back can still be in the way of an opponent at home.
pub const MAX_POINTS: usize = 18;

/// What a table says about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TableKind {
    /// One side alone: how many rolls it needs.
    OneSided,
    /// Both sides: what the position is worth.
    TwoSided,
}

/// A table: its kind, how many points and checkers a side it covers, and by which rules a roll is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableSpec {
    kind: TableKind,
    points: u8,
    checkers: u8,
    least_waste: bool,
}

/// A table that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TableSpecError {
    /// No table has so many points.
    #[error("a bear-off table on {0} points, expected 1 to {MAX_POINTS}")]
    Points(u8),
    /// No table of this kind has so many checkers. Two-sided ones have fewer than 15, so that there are no gammons.
    #[error("a {kind} bear-off table of {checkers} checkers, expected 1 to {most}")]
    Checkers {
        /// The kind.
        kind: TableKind,
        /// As asked for.
        checkers: u8,
        /// What is possible.
        most: u8,
    },
    /// Its numbers are too many for the numbering of the table.
    #[error("{0} has too many positions for this program")]
    Positions(TableSpec),
}

impl TableSpec {
    /// All 15 checkers on 6 points, one-sided.
    pub fn one_sided(rules: RuleSet) -> TableSpec {
        TableSpec { kind: TableKind::OneSided, points: 6, checkers: CHECKERS, least_waste: rules.terms().least_waste }
    }

    /// Up to 6 checkers a side on 6 points, two-sided.
    pub fn two_sided(rules: RuleSet) -> TableSpec {
        TableSpec { kind: TableKind::TwoSided, points: 6, checkers: 6, least_waste: rules.terms().least_waste }
    }

    /// The same with another size.
    ///
    /// # Errors
    /// A size that no table has.
    pub fn with_size(self, points: u8, checkers: u8) -> Result<TableSpec, TableSpecError> {
        let most = match self.kind {
            TableKind::OneSided => CHECKERS,
            TableKind::TwoSided => CHECKERS - 1,
        };
        if !(1..=MAX_POINTS as u8).contains(&points) {
            return Err(TableSpecError::Points(points));
        }
        if !(1..=most).contains(&checkers) {
            return Err(TableSpecError::Checkers { kind: self.kind, checkers, most });
        }
        let spec = TableSpec { points, checkers, ..self };
        // Offsets of the one-sided numbers are 32 bits wide.
        let possible = match self.kind {
            TableKind::OneSided => spec.positions() <= 1 << 27,
            TableKind::TwoSided => spec.positions() <= 1 << 20,
        };
        if possible { Ok(spec) } else { Err(TableSpecError::Positions(spec)) }
    }

    /// The kind.
    pub fn kind(&self) -> TableKind {
        self.kind
    }

    /// How many points it covers.
    pub fn points(&self) -> u8 {
        self.points
    }

    /// How many checkers a side it covers.
    pub fn checkers(&self) -> u8 {
        self.checkers
    }

    /// Whether plays are those of the rule of least waste.
    pub fn least_waste(&self) -> bool {
        self.least_waste
    }

    /// Positions of one side.
    pub fn positions(&self) -> u64 {
        binomial(usize::from(self.points + self.checkers), usize::from(self.points)).into()
    }

    /// Equities of a pair of positions: without the cube, and beside it those of the three cubes, unless the rules of
    /// least waste, which have no cube, leave the former alone.
    pub(super) fn lanes(&self) -> usize {
        if self.least_waste { 1 } else { 4 }
    }

    /// About how many bytes it takes: of a two-sided table exactly, beside a header.
    pub fn bytes(&self) -> u64 {
        match self.kind {
            // 8 bytes of index and, as measured on 6 to 10 points, some 12 to 16 probabilities.
            TableKind::OneSided => self.positions() * 70,
            TableKind::TwoSided => self.positions().pow(2) * 4 * self.lanes() as u64,
        }
    }

    /// About how many bytes of memory its construction takes.
    pub fn build_bytes(&self) -> u64 {
        match self.kind {
            TableKind::OneSided => self.bytes() * 5 / 2,
            TableKind::TwoSided => self.bytes() * 8 / 5,
        }
    }

    pub(super) fn index(&self) -> Index {
        Index::new(self.points, self.checkers)
    }

    /// Whether it covers all that `other`, of the same kind and rules, covers.
    pub(super) fn covers(&self, other: &TableSpec) -> bool {
        self.kind == other.kind
            && self.least_waste == other.least_waste
            && self.points >= other.points
            && self.checkers >= other.checkers
    }
}

impl fmt::Display for TableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TableKind::OneSided => "one-sided",
            TableKind::TwoSided => "two-sided",
        })
    }
}

/// Written `two-sided, 6 checkers on 6 points`.
impl fmt::Display for TableSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} checkers on {} points", self.kind, self.checkers, self.points)?;
        if self.least_waste { f.write_str(", least waste") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        let (one, two) = (TableSpec::one_sided(RuleSet::Backgammon), TableSpec::two_sided(RuleSet::Table));
        assert_eq!((one.positions(), two.positions(), two.lanes()), (54_264, 924, 1));
        assert_eq!(one.with_size(0, 15), Err(TableSpecError::Points(0)));
        assert_eq!(one.with_size(19, 15), Err(TableSpecError::Points(19)));
        assert!(matches!(one.with_size(6, 16), Err(TableSpecError::Checkers { .. })));
        assert!(matches!(two.with_size(6, 15), Err(TableSpecError::Checkers { .. })));
        assert!(matches!(one.with_size(18, 15), Err(TableSpecError::Positions(_))));
        assert!(one.with_size(10, 15).unwrap().covers(&one) && !one.covers(&two));
        assert_eq!(two.with_size(8, 4).unwrap().to_string(), "two-sided, 4 checkers on 8 points, least waste");
    }
}
