//! What a network sees of a position: sparse features, one row of the first layer each.
//!
//! A feature set divides a position into *slots*. A slot looks at one thing (the checkers on a point, a window of six
//! points, ...) and names at most one row of the first layer. Two positions therefore differ in the first layer by the
//! slots in which they differ, and a few slots are all that a play changes. Every feature exists twice, once for each
//! player counting from his own side, and the network only ever sees the side on roll as "own": it cannot tell the
//! players apart.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::board::{BAR, Position};

/// The value of a slot that names no row.
pub const NO_ROW: u16 = u16::MAX;

/// The rows that a position switches on, one place a slot.
pub type Slots = [u16; MAX_SLOTS];

/// Room for the slots of the largest feature set; what a smaller one does not use stays [`NO_ROW`].
pub const MAX_SLOTS: usize = 176;

/// What the rows of a position are more and less than those of another.
pub(super) struct Changes {
    added: [u16; MAX_SLOTS],
    additions: usize,
    removed: [u16; MAX_SLOTS],
    removals: usize,
}

impl Changes {
    /// What leads from the rows in `old` to those in `new`.
    #[inline(always)]
    pub(super) fn between(old: &Slots, new: &Slots) -> Changes {
        let (mut added, mut removed) = ([0; MAX_SLOTS], [0; MAX_SLOTS]);
        let (mut additions, mut removals) = (0, 0);
        let mut differs = [0u8; MAX_SLOTS];
        for ((differs, new), old) in differs.iter_mut().zip(new).zip(old) {
            *differs = u8::from(new != old);
        }
        for (chunk, differs) in differs.as_chunks::<8>().0.iter().enumerate() {
            let mut differs = u64::from_le_bytes(*differs);
            while differs != 0 {
                let slot = 8 * chunk + differs.trailing_zeros() as usize / 8;
                differs &= differs - 1;
                let (new, old) = (new[slot], old[slot]);
                added[additions] = new;
                removed[removals] = old;
                additions += usize::from(new != NO_ROW);
                removals += usize::from(old != NO_ROW);
            }
        }
        Changes { added, additions, removed, removals }
    }

    /// The rows that are on in the new position alone.
    #[inline(always)]
    pub(super) fn added(&self) -> &[u16] {
        &self.added[..self.additions]
    }

    /// The rows that were on in the old position alone.
    #[inline(always)]
    pub(super) fn removed(&self) -> &[u16] {
        &self.removed[..self.removals]
    }
}

/// Which features a network reads. Weights belong to one feature set, so a set never changes once weights use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FeatureSet {
    /// For positions in which the sides can still meet: counts of each point, patterns of made points, what stands
    /// before the rearmost checkers, blots and who aims at them, short windows of both sides together, the race.
    ContactPatterns,
    /// The counts of [`ContactPatterns`](FeatureSet::ContactPatterns) alone: quick to read.
    ContactCounts,
    /// For pure races: fine counts of each point, windows of three home points, checkers off, the race.
    RaceCounts,
}

/// A name that no feature set has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not a feature set: expected contact-patterns, contact-counts or race-counts")]
pub struct UnknownFeatureSet(pub String);

impl FeatureSet {
    /// Number of rows in the first layer.
    pub const fn rows(self) -> usize {
        match self {
            FeatureSet::ContactPatterns => contact::ROWS,
            FeatureSet::ContactCounts => counts::ROWS,
            FeatureSet::RaceCounts => race::ROWS,
        }
    }

    /// Number of slots in use.
    pub const fn slots(self) -> usize {
        match self {
            FeatureSet::ContactPatterns => contact::SLOTS,
            FeatureSet::ContactCounts => counts::SLOTS,
            FeatureSet::RaceCounts => race::SLOTS,
        }
    }

    /// How many of the first rows start from random weights. The patterns behind them start from nothing, as
    /// corrections to what the plain counts say.
    pub const fn plain_rows(self) -> usize {
        match self {
            FeatureSet::ContactPatterns | FeatureSet::ContactCounts => contact::PLAIN_ROWS,
            FeatureSet::RaceCounts => race::PLAIN_ROWS,
        }
    }

    /// How the rows divide, in their order, into runs of which a position switches on at most one; their lengths.
    pub(super) fn exclusive_runs(self) -> Vec<usize> {
        let runs = match self {
            FeatureSet::ContactPatterns => contact::exclusive_runs(),
            FeatureSet::ContactCounts => counts::exclusive_runs(),
            FeatureSet::RaceCounts => race::exclusive_runs(),
        };
        debug_assert_eq!(runs.iter().sum::<usize>(), self.rows());
        runs
    }

    /// Fills `slots`, and finds the rows that `position` switches on among them.
    #[inline(always)]
    pub(super) fn rows_on<'r>(self, position: &Position, slots: &mut Slots, rows: &'r mut Slots) -> &'r [u16] {
        self.fill(position, slots);
        let mut count = 0;
        for &row in slots.iter() {
            rows[count] = row;
            count += usize::from(row != NO_ROW);
        }
        &rows[..count]
    }

    /// Fills `slots` with the rows that `position` switches on.
    #[inline(always)]
    pub fn fill(self, position: &Position, slots: &mut Slots) {
        let sides = Sides::of(position);
        match self {
            FeatureSet::ContactPatterns => contact::fill(&sides, slots),
            FeatureSet::ContactCounts => counts::fill(&sides, slots),
            FeatureSet::RaceCounts => race::fill(&sides, slots),
        }
    }
}

impl fmt::Display for FeatureSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            FeatureSet::ContactPatterns => "contact-patterns",
            FeatureSet::ContactCounts => "contact-counts",
            FeatureSet::RaceCounts => "race-counts",
        })
    }
}

impl FromStr for FeatureSet {
    type Err = UnknownFeatureSet;

    fn from_str(name: &str) -> Result<FeatureSet, UnknownFeatureSet> {
        [FeatureSet::ContactPatterns, FeatureSet::ContactCounts, FeatureSet::RaceCounts]
            .into_iter()
            .find(|set| set.to_string() == name)
            .ok_or_else(|| UnknownFeatureSet(name.chars().take(40).collect()))
    }
}

/// Both players' checkers, each counted from his own side.
struct Sides {
    /// `[own, opponent]`, index 1-24 the points, 25 the bar; padded so that windows may read past the end.
    counts: [[u8; 32]; 2],
    off: [u8; 2],
    /// Bit p: the player has a checker on point p of his own numbering (25: bar).
    held: [u32; 2],
    /// Bit p: he has two or more there (points only).
    made: [u32; 2],
}

impl Sides {
    #[inline(always)]
    fn of(position: &Position) -> Sides {
        let points = position.points();
        let mut counts = [[0u8; 32]; 2];
        let (mut held, mut made) = ([0u32; 2], [0u32; 2]);
        for point in 0..=BAR {
            counts[0][point] = points[point].max(0) as u8;
            counts[1][point] = points[BAR - point].min(0).unsigned_abs();
        }
        for side in 0..2 {
            held[side] = at_least::<1>(&counts[side]);
            made[side] = at_least::<2>(&counts[side]) & !(1 << BAR);
        }
        Sides { counts, off: [position.off(), position.opponent_off()], held, made }
    }

    #[inline(always)]
    fn pips(&self, side: usize) -> i32 {
        self.counts[side].iter().enumerate().map(|(point, &count)| point as i32 * i32::from(count)).sum()
    }

    /// Bits of `set`, a set of points in one player's numbering, in the other player's numbering.
    #[inline(always)]
    fn mirrored(set: u32) -> u32 {
        // Point p is the other player's point 25 - p; 31 - 6 = 25.
        set.reverse_bits() >> 6
    }
}

/// Bit i: `holds` of byte i, which is told of eight bytes at a time in the lowest bit of each, the others zero.
#[inline(always)]
pub(super) fn bits_where(bytes: &[u8; 32], holds: impl Fn(u64) -> u64) -> u32 {
    let mut bits = 0;
    for (i, bytes) in bytes.as_chunks::<8>().0.iter().enumerate() {
        // The product brings the lowest bits of eight bytes side by side.
        bits |= ((holds(u64::from_le_bytes(*bytes)).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32) << (8 * i);
    }
    bits
}

/// Bit i: count i, which is 15 at most, is `LEAST` or more.
#[inline(always)]
fn at_least<const LEAST: u64>(counts: &[u8; 32]) -> u32 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    // Large enough counts carry into the highest bit of their byte.
    bits_where(counts, |counts| (counts + (0x80 - LEAST) * ONES) >> 7 & ONES)
}

/// The row of a count, none for zero; `most` and more share a row.
#[inline(always)]
fn one_hot(base: usize, count: u8, most: u8) -> u16 {
    if count == 0 { NO_ROW } else { (base + usize::from(count.min(most)) - 1) as u16 }
}

/// The row of a pattern, none for the empty pattern.
#[inline(always)]
fn pattern(base: usize, bits: u32) -> u16 {
    if bits == 0 { NO_ROW } else { (base + bits as usize - 1) as u16 }
}

/// The difference of the pip counts in steps of four pips, 41 rows.
#[inline(always)]
fn race_lead(base: usize, sides: &Sides) -> u16 {
    let lead = sides.pips(1) - sides.pips(0);
    (base as i32 + (lead.clamp(-80, 80) + 80) / 4) as u16
}

const RACE_LEADS: usize = 41;

mod contact {
    use bytemuck::{Pod, Zeroable};

    use super::{BAR, NO_ROW, RACE_LEADS, Sides, Slots, one_hot, race_lead};

    // Rows of one player, then the same for the other.
    const COUNT: usize = 6;
    const COUNTS: usize = 24 * COUNT;
    const BAR_COUNT: usize = 4;
    const OFF: usize = 15;
    const PLAIN: usize = COUNTS + BAR_COUNT + OFF;

    /// Windows of six points, starting at points 1-19.
    const WINDOWS: usize = 19;
    const MADE: usize = WINDOWS * 63;
    /// Where one of the two rearmost checkers stands, and which of the six points before it the opponent has made.
    const REARMOST: usize = 25 * 64;
    /// A blot, and at which of the six distances before it (where direct shots come from) the opponent has a checker.
    const BLOTS: usize = 24 * 64;
    /// The made points of the home board, with one, two or more opposing checkers on the bar.
    const HOME_BAR: usize = 3 * 64;
    const PATTERNS: usize = MADE + 2 * REARMOST + BLOTS + HOME_BAR;

    /// Windows of four points with both players' checkers: empty, blot or made point of either.
    const SHARED_WINDOWS: usize = 21;
    const SHARED: usize = 625;

    pub const PLAIN_ROWS: usize = 2 * PLAIN;
    const SHARED_BASE: usize = PLAIN_ROWS + 2 * PATTERNS;
    const LEAD_BASE: usize = SHARED_BASE + SHARED_WINDOWS * SHARED;
    pub const ROWS: usize = LEAD_BASE + RACE_LEADS;
    pub const SLOTS: usize = 2 * (24 + 1 + 1 + WINDOWS + 2 + 24 + 1) + SHARED_WINDOWS + 1;

    pub fn plain_runs() -> Vec<usize> {
        let mut runs = Vec::new();
        for _ in 0..2 {
            runs.extend([COUNT; 24]);
            runs.extend([BAR_COUNT, OFF]);
        }
        runs
    }

    #[inline(always)]
    pub fn count_row(side: usize, point: usize, count: u8) -> u16 {
        let base = side * PLAIN + (point - 1) * COUNT;
        one_hot(base, count, if point == BAR { BAR_COUNT } else { COUNT } as u8)
    }

    #[inline(always)]
    pub fn off_row(side: usize, count: u8) -> u16 {
        one_hot(side * PLAIN + COUNTS + BAR_COUNT, count, OFF as u8)
    }

    pub fn exclusive_runs() -> Vec<usize> {
        let mut runs = plain_runs();
        for _ in 0..2 {
            runs.extend([63; WINDOWS]);
            runs.extend([REARMOST; 2]);
            runs.extend([64; 24]);
            runs.push(HOME_BAR);
        }
        runs.extend([SHARED; SHARED_WINDOWS]);
        runs.push(RACE_LEADS);
        runs
    }

    /// The slots of one player.
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct SideSlots {
        plain: PlainSlots,
        made: [u16; WINDOWS],
        rearmost: [u16; 2],
        blots: [u16; 24],
        home_bar: u16,
    }

    /// The slots of the counts of one player: of each point, of the bar, of the checkers off.
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    pub struct PlainSlots {
        points: [u16; 24],
        bar: u16,
        off: u16,
    }

    /// All slots.
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct ContactSlots {
        sides: [SideSlots; 2],
        shared: [u16; SHARED_WINDOWS],
        lead: u16,
    }

    const _: () = assert!(size_of::<ContactSlots>() == 2 * SLOTS);

    // Most of the loops below have no branches and work in narrow integers, so that the compiler turns them into vector
    // instructions.

    #[inline(always)]
    pub fn fill_plain(sides: &Sides, side: usize, slots: &mut PlainSlots) {
        let counts = &sides.counts[side];
        for (i, slot) in slots.points.iter_mut().enumerate() {
            let count = u16::from(counts[i + 1]);
            let row = ((side * PLAIN + i * COUNT) as u16 + count.min(COUNT as u16)).wrapping_sub(1);
            *slot = if count == 0 { NO_ROW } else { row };
        }
        slots.bar = count_row(side, BAR, counts[BAR]);
        slots.off = off_row(side, sides.off[side]);
    }

    #[inline(always)]
    pub fn fill(sides: &Sides, slots: &mut Slots) {
        let slots: &mut ContactSlots = bytemuck::from_bytes_mut(bytemuck::cast_slice_mut(&mut slots[..SLOTS]));
        for (side, slots) in slots.sides.iter_mut().enumerate() {
            let (counts, other) = (&sides.counts[side], 1 - side);
            fill_plain(sides, side, &mut slots.plain);

            let made_base = PLAIN_ROWS + side * PATTERNS;
            let made = sides.made[side];
            for (window, slot) in slots.made.iter_mut().enumerate() {
                let bits = (made >> (window + 1) & 63) as u16;
                let row = ((made_base + window * 63) as u16 + bits).wrapping_sub(1);
                *slot = if bits == 0 { NO_ROW } else { row };
            }

            // Bits 0-5 of a window before point p: points p-6 to p-1.
            let blocks = Sides::mirrored(sides.made[other]) << 6;
            let mut rear_base = made_base + MADE;
            let mut held = sides.held[side];
            for (checker, slot) in slots.rearmost.iter_mut().enumerate() {
                *slot = match held.checked_ilog2() {
                    Some(point) => {
                        // A second checker on the same point is the next rearmost one.
                        if checker == 0 && counts[point as usize] < 2 {
                            held ^= 1 << point;
                        }
                        (rear_base + (point as usize - 1) * 64 + (blocks >> point & 63) as usize) as u16
                    }
                    None => NO_ROW,
                };
                rear_base += REARMOST;
            }

            let shooters = Sides::mirrored(sides.held[other]) << 6;
            for (i, slot) in slots.blots.iter_mut().enumerate() {
                let aims = (shooters >> (i + 1) & 63) as u16;
                let row = (rear_base + i * 64) as u16 + aims;
                *slot = if counts[i + 1] == 1 { row } else { NO_ROW };
            }

            let home_base = rear_base + BLOTS;
            let on_bar = usize::from(sides.counts[other][BAR].min(3));
            let home = (sides.made[side] >> 1 & 63) as usize;
            slots.home_bar = if on_bar == 0 { NO_ROW } else { (home_base + (on_bar - 1) * 64 + home) as u16 };
        }

        // Empty, own blot, own point, the other's blot, his point.
        let mut states = [0u16; 24];
        for (i, state) in states.iter_mut().enumerate() {
            let (own, other) = (sides.counts[0][i + 1].min(2), sides.counts[1][24 - i].min(2));
            *state = u16::from(if other > 0 { other + 2 } else { own });
        }
        for (window, slot) in slots.shared.iter_mut().enumerate() {
            let state = states[window] + 5 * states[window + 1] + 25 * states[window + 2] + 125 * states[window + 3];
            let row = (SHARED_BASE + window * SHARED) as u16 + state;
            *slot = if state == 0 { NO_ROW } else { row };
        }
        slots.lead = race_lead(LEAD_BASE, sides);
    }
}

/// The row of a player's count on one of his points (25: his bar) in [`FeatureSet::ContactCounts`].
pub(super) fn count_row(side: usize, point: usize, count: u8) -> Option<usize> {
    let row = contact::count_row(side, point, count);
    (row != NO_ROW).then_some(row.into())
}

/// The row of a player's checkers off in [`FeatureSet::ContactCounts`].
pub(super) fn off_row(side: usize, count: u8) -> Option<usize> {
    let row = contact::off_row(side, count);
    (row != NO_ROW).then_some(row.into())
}

mod counts {
    use super::{
        Sides, Slots,
        contact::{self, PlainSlots},
    };

    pub const ROWS: usize = contact::PLAIN_ROWS;
    pub const SLOTS: usize = 2 * (24 + 1 + 1);

    pub fn exclusive_runs() -> Vec<usize> {
        contact::plain_runs()
    }

    #[inline(always)]
    pub fn fill(sides: &Sides, slots: &mut Slots) {
        let plain: &mut [PlainSlots] = bytemuck::cast_slice_mut(&mut slots[..SLOTS]);
        for (side, slots) in plain.iter_mut().enumerate() {
            contact::fill_plain(sides, side, slots);
        }
    }
}

mod race {
    use super::{RACE_LEADS, Sides, Slots, one_hot, pattern, race_lead};

    const COUNT: usize = 15;
    const COUNTS: usize = 24 * COUNT;
    const OFF: usize = 15;
    const PLAIN: usize = COUNTS + OFF;
    /// Windows of three home points with 0, 1, 2, 3 or more checkers on each.
    const HOME_WINDOWS: usize = 4;
    const HOME: usize = HOME_WINDOWS * 63;

    pub const PLAIN_ROWS: usize = 2 * PLAIN;
    const LEAD_BASE: usize = PLAIN_ROWS + 2 * HOME;
    pub const ROWS: usize = LEAD_BASE + RACE_LEADS;
    pub const SLOTS: usize = 2 * (24 + 1 + HOME_WINDOWS) + 1;

    pub fn exclusive_runs() -> Vec<usize> {
        let mut runs = Vec::new();
        for _ in 0..2 {
            runs.extend([COUNT; 24]);
            runs.push(OFF);
        }
        runs.extend([63; 2 * HOME_WINDOWS]);
        runs.push(RACE_LEADS);
        runs
    }

    #[inline(always)]
    pub fn fill(sides: &Sides, slots: &mut Slots) {
        let mut next = 0;
        let mut put = |row: u16| {
            slots[next] = row;
            next += 1;
        };
        for side in 0..2 {
            let counts = &sides.counts[side];
            let base = side * PLAIN;
            for point in 1..=24 {
                put(one_hot(base + (point - 1) * COUNT, counts[point], COUNT as u8));
            }
            put(one_hot(base + COUNTS, sides.off[side], OFF as u8));
            let home_base = PLAIN_ROWS + side * HOME;
            for window in 0..HOME_WINDOWS {
                let state = (0..3).map(|i| u32::from(counts[window + 1 + i].min(3)) << (2 * i)).sum();
                put(pattern(home_base + window * 63, state));
            }
        }
        put(race_lead(LEAD_BASE, sides));
        debug_assert_eq!(next, SLOTS);
    }
}

const _: () = assert!(contact::SLOTS <= MAX_SLOTS && race::SLOTS <= MAX_SLOTS);
const _: () = assert!(contact::ROWS < NO_ROW as usize);
const _: () = assert!(race::ROWS < NO_ROW as usize);

#[cfg(test)]
mod tests {
    use rand::Rng;
    use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

    use super::*;
    use crate::rules::{Dice, LegalPlays, RuleSet};

    fn rows(set: FeatureSet, position: &Position) -> Vec<u16> {
        let mut slots = [NO_ROW; MAX_SLOTS];
        set.fill(position, &mut slots);
        assert!(slots[set.slots()..].iter().all(|&row| row == NO_ROW));
        slots.into_iter().filter(|&row| row != NO_ROW).collect()
    }

    #[test]
    fn rows_are_in_range_and_of_one_slot() {
        for set in [FeatureSet::ContactPatterns, FeatureSet::ContactCounts, FeatureSet::RaceCounts] {
            let mut rows = rows(set, &Position::START);
            assert!(rows.iter().all(|&row| usize::from(row) < set.rows()));
            let count = rows.len();
            rows.sort_unstable();
            rows.dedup();
            assert_eq!(rows.len(), count, "two slots of {set} name the same row");
        }
    }

    /// The rows of contact positions as one would write them down, slot by slot.
    fn contact_rows(position: &Position) -> Vec<u16> {
        let count = |side: usize, point: usize| match side {
            0 => position.points()[point].max(0),
            _ => position.points()[BAR - point].min(0).abs(),
        } as usize;
        let off = [position.off(), position.opponent_off()].map(usize::from);
        let (plain, patterns) = (24 * 6 + 4 + 15, 19 * 63 + 2 * 25 * 64 + 24 * 64 + 3 * 64);
        let mut rows = Vec::new();
        for side in 0..2 {
            let other = 1 - side;
            // Bit i: the opponent has so many checkers on the point that the player calls `point - 6 + i`; 0 is the
            // opponent's bar, from which he may aim, but which is no made point.
            let before = |point: usize, least: usize| -> usize {
                let there = |i: &usize| match (point + i).checked_sub(6) {
                    Some(0) => least == 1 && count(other, BAR) > 0,
                    Some(before) => count(other, BAR - before) >= least,
                    None => false,
                };
                (0..6).filter(there).map(|i| 1 << i).sum()
            };
            for point in (1..=24).filter(|&point| count(side, point) > 0) {
                rows.push(side * plain + (point - 1) * 6 + count(side, point).min(6) - 1);
            }
            if count(side, BAR) > 0 {
                rows.push(side * plain + 24 * 6 + count(side, BAR).min(4) - 1);
            }
            if off[side] > 0 {
                rows.push(side * plain + 24 * 6 + 4 + off[side] - 1);
            }
            let mut base = 2 * plain + side * patterns;
            let made = |first: usize| -> usize { (0..6).filter(|i| count(side, first + i) > 1).map(|i| 1 << i).sum() };
            for window in 0..19 {
                if made(window + 1) > 0 {
                    rows.push(base + made(window + 1) - 1);
                }
                base += 63;
            }
            let rear: Vec<usize> = (1..=BAR).rev().flat_map(|point| vec![point; count(side, point)]).collect();
            for checker in 0..2 {
                if let Some(&point) = rear.get(checker) {
                    rows.push(base + (point - 1) * 64 + before(point, 2));
                }
                base += 25 * 64;
            }
            for point in 1..=24 {
                if count(side, point) == 1 {
                    rows.push(base + before(point, 1));
                }
                base += 64;
            }
            if count(other, BAR) > 0 {
                rows.push(base + (count(other, BAR).min(3) - 1) * 64 + made(1));
            }
        }
        let mut base = 2 * (plain + patterns);
        let state = |point: usize| match (count(0, point).min(2), count(1, 25 - point).min(2)) {
            (own, 0) => own,
            (_, other) => other + 2,
        };
        for window in 1..=21 {
            let state = (0..4).rev().fold(0, |sum, i| 5 * sum + state(window + i));
            if state > 0 {
                rows.push(base + state);
            }
            base += 625;
        }
        let pips = |side: usize| (1..=BAR).map(|point| (point * count(side, point)) as i32).sum::<i32>();
        rows.push((base as i32 + ((pips(1) - pips(0)).clamp(-80, 80) + 80) / 4) as usize);
        rows.into_iter().map(|row| row as u16).collect()
    }

    #[test]
    fn contact_positions_switch_on_the_rows_that_are_written_down() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
        let (mut position, mut plays, mut shown) = (Position::START, LegalPlays::default(), 0);
        while shown < 20_000 {
            plays.generate(&position, Dice::roll(&mut rng), RuleSet::Backgammon);
            // Random games know every kind of position: many on the bar, stacks, scattered blots.
            position = plays[rng.next_u32() as usize % plays.len()].after;
            assert_eq!(rows(FeatureSet::ContactPatterns, &position), contact_rows(&position), "{position}");
            let plain = 2 * (24 * 6 + 4 + 15);
            let counts: Vec<u16> = contact_rows(&position).into_iter().filter(|&row| row < plain).collect();
            assert_eq!(rows(FeatureSet::ContactCounts, &position), counts, "{position}");
            shown += 1;
            if position.is_over() {
                position = Position::START;
            }
        }
    }

    /// What stands before the rearmost checker: the opponent's made points, nearest last.
    #[test]
    fn blockade_before_the_rearmost_checker() {
        let mut points = [0i8; 26];
        points[24] = 1;
        points[6] = 2;
        // The opponent holds our 23, 22 and 18 points.
        for point in [23, 22, 18] {
            points[point] = -2;
        }
        let with = rows(FeatureSet::ContactPatterns, &Position::new(points).unwrap());
        let base = 2 * (24 * 6 + 4 + 15) + 19 * 63;
        // Window of points 18-23: bit 0 is 18, bit 4 is 22, bit 5 is 23.
        assert!(with.contains(&((base + 23 * 64 + 0b110001) as u16)), "{with:?}");
        // The second rearmost checker stands on the 6 point with nothing before it.
        assert!(with.contains(&((base + 25 * 64 + 5 * 64) as u16)));
    }

    #[test]
    fn blot_and_the_checkers_that_aim_at_it() {
        let mut points = [0i8; 26];
        points[10] = 1;
        points[9] = -1;
        points[4] = -2;
        points[11] = -1;
        let with = rows(FeatureSet::ContactPatterns, &Position::new(points).unwrap());
        let base = 2 * (24 * 6 + 4 + 15) + 19 * 63 + 2 * 25 * 64;
        // Window of points 4-9 before point 10: bit 0 is 4, bit 5 is 9; the checker behind, on 11, does not aim.
        assert!(with.contains(&((base + 9 * 64 + 0b100001) as u16)), "{with:?}");
    }
}
