//! How many rolls a side needs that no opponent hinders.
//!
//! A side plays so as to need the fewest rolls on average, and then its distribution is the average over the 36 rolls
//! of those of the best results, one roll later. The same is done for the first checker off, which saves the gammon.

use rayon::prelude::*;

use crate::{board::CHECKERS, rules::Dice};

use super::{
    Distribution, Side, TableFileError, TableKind, TableSpec,
    index::Index,
    side_plays::SidePlays,
    words::{HEADER, Words},
};

/// Probabilities below this are counted with the next number of rolls towards the middle.
const SMALLEST: f64 = 1.0 / (1u64 << 32) as f64;

/// Longer than any table's longest distribution: 15 checkers on 18 points are 270 pips, and each roll takes 3 or more.
const LONGEST: usize = 96;

/// The distributions of rolls of all positions of one side.
///
/// They belong to a side that minimises its average number of rolls, whatever the opponent does. That is not always
/// best against an opponent who needs very few rolls, or very many: where both are in reach, a
/// [`TwoSided`](super::TwoSided) table knows better, by some thousandths at most.
///
/// In the file lie two words for each position: where its probabilities begin behind the indices, and its lowest number
/// of rolls and, from bit 8, how many probabilities it has; the same for the first checker off, for the positions of 15
/// checkers; and the probabilities, in single precision.
#[derive(Debug)]
pub struct OneSided {
    spec: TableSpec,
    index: Index,
    words: Words,
}

/// A distribution while a table is built.
#[derive(Clone, Debug)]
struct Row {
    mean: f64,
    first: u8,
    probabilities: Box<[f32]>,
}

impl Row {
    /// Nothing to do.
    fn done() -> Row {
        Row { mean: 0.0, first: 0, probabilities: [1.0].into() }
    }

    /// From the probabilities of 0, 1, … rolls.
    fn new(mean: f64, all: &mut [f64]) -> Row {
        let (mut first, mut last) = (0, all.len() - 1);
        while all[first] < SMALLEST {
            all[first + 1] += all[first];
            first += 1;
        }
        while all[last] < SMALLEST {
            all[last - 1] += all[last];
            last -= 1;
        }
        let probabilities = all[first..=last].iter().map(|&probability| probability as f32).collect();
        Row { mean, first: first as u8, probabilities }
    }
}

/// How many of the highest ranks also have a distribution for the first checker.
fn gammon_positions(index: &Index, spec: &TableSpec) -> usize {
    if spec.checkers() == CHECKERS { index.len() - index.first_of(spec.checkers()) } else { 0 }
}

impl OneSided {
    /// Computes the table on the threads of the current rayon pool; `progress` hears the share that is done,
    /// first 0.
    ///
    /// # Panics
    /// If `spec` is not a one-sided table.
    pub fn build(spec: TableSpec, mut progress: impl FnMut(f64)) -> OneSided {
        let words = compute(spec, &mut progress);
        OneSided { spec, index: spec.index(), words }
    }

    /// Checks what only a table of this kind can be wrong about.
    pub(super) fn from_words(spec: TableSpec, words: Words) -> Result<OneSided, TableFileError> {
        let index = spec.index();
        let rows = index.len() + gammon_positions(&index, &spec);
        let sound = || {
            let payload = words.get(HEADER..)?;
            let (indices, probabilities) = payload.split_at_checked(2 * rows)?;
            let probabilities: &[f32] = bytemuck::cast_slice(probabilities);
            let in_range = indices.as_chunks().0.iter().all(|&[begin, shape]| {
                let length = (shape >> 8) as usize;
                (1..=LONGEST).contains(&length) && begin as usize + length <= probabilities.len()
            });
            Some(in_range && probabilities.iter().all(|probability| (0.0..=1.001).contains(probability)))
        };
        if sound() == Some(true) { Ok(OneSided { spec, index, words }) } else { Err(TableFileError::Contents(spec)) }
    }

    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    /// Which table it is.
    pub fn spec(&self) -> TableSpec {
        self.spec
    }

    /// How many rolls a side needs to bear off all its checkers, or `None` if it is not in the table.
    pub fn all_off(&self, side: &Side) -> Option<Distribution<'_>> {
        Some(self.row(self.index.rank(side)?))
    }

    /// How many rolls a side of 15 checkers needs to bear off the first one if that is all that it wants, or `None` if it
    /// is not in the table or has borne off one.
    pub fn first_off(&self, side: &Side) -> Option<Distribution<'_>> {
        let rank = self.index.rank(side)?;
        let gammons = gammon_positions(&self.index, &self.spec);
        let first = self.index.len() - gammons;
        (rank >= first).then(|| self.row(self.index.len() + rank - first))
    }

    /// All sides of the table, in the order of their ranks.
    pub fn sides(&self) -> impl ExactSizeIterator<Item = Side> {
        (0..self.index.len()).map(|rank| self.index.side(rank))
    }

    #[inline]
    fn row(&self, row: usize) -> Distribution<'_> {
        let rows = self.index.len() + gammon_positions(&self.index, &self.spec);
        let payload = &self.words[HEADER..];
        let (begin, shape) = (payload[2 * row] as usize, payload[2 * row + 1]);
        let probabilities: &[f32] = bytemuck::cast_slice(&payload[2 * rows..]);
        Distribution::new(shape & 0xff, &probabilities[begin..begin + (shape >> 8) as usize])
    }
}

fn compute(spec: TableSpec, progress: &mut dyn FnMut(f64)) -> Words {
    assert_eq!(spec.kind(), TableKind::OneSided, "a one-sided table is built from its own kind");
    let index = spec.index();
    let gammons = gammon_positions(&index, &spec);
    let total = (index.len() + gammons) as f64;
    let mut done = 0;
    progress(0.0);
    let mut tell = |computed: usize| {
        done += computed;
        progress(done as f64 / total);
    };
    let all = solve(&index, spec.least_waste(), 1, &mut tell);
    let first =
        if gammons > 0 { solve(&index, spec.least_waste(), index.len() - gammons, &mut tell) } else { Vec::new() };
    let rows = || all.iter().chain(&first[first.len() - gammons..]);
    let length: usize = rows().map(|row| 2 + row.probabilities.len()).sum();
    let mut words = Vec::with_capacity(HEADER + length);
    words.resize(HEADER, 0);
    let mut begin = 0;
    for row in rows() {
        words.extend([begin, u32::from(row.first) | (row.probabilities.len() as u32) << 8]);
        begin += row.probabilities.len() as u32;
    }
    for row in rows() {
        words.extend(row.probabilities.iter().map(|probability| probability.to_bits()));
    }
    Words::seal(words, &spec)
}

/// The rows of all ranks; those below `from` have nothing left to do. Positions of equally many pips do not depend on
/// each other.
fn solve(index: &Index, least_waste: bool, from: usize, tell: &mut dyn FnMut(usize)) -> Vec<Row> {
    let mut levels: Vec<Vec<u32>> = Vec::new();
    for rank in from..index.len() {
        let pips = index.side(rank).pips() as usize;
        levels.resize_with(levels.len().max(pips + 1), Vec::new);
        levels[pips].push(rank as u32);
    }
    let mut rows = vec![Row::done(); index.len()];
    for level in levels.iter().filter(|level| !level.is_empty()) {
        let solved: Vec<Row> = level
            .par_iter()
            .with_min_len(32)
            .map_init(|| SidePlays::new(index, least_waste), |plays, &rank| average(plays, rank as usize, &rows))
            .collect();
        for (&rank, row) in level.iter().zip(solved) {
            rows[rank as usize] = row;
        }
        tell(level.len());
    }
    rows
}

/// The average over all rolls of the results that need the fewest rolls.
fn average(plays: &mut SidePlays<'_>, rank: usize, rows: &[Row]) -> Row {
    let mut all = [0.0; LONGEST];
    let mut mean = 1.0;
    let mut longest = 0;
    for dice in Dice::ALL {
        let share = f64::from(dice.ways()) / 36.0;
        let results = plays.generate(rank, dice);
        let mut best = &rows[results[0] as usize];
        for &result in &results[1..] {
            let row = &rows[result as usize];
            if row.mean < best.mean {
                best = row;
            }
        }
        mean += share * best.mean;
        let first = usize::from(best.first) + 1;
        longest = longest.max(first + best.probabilities.len());
        for (sum, &probability) in all[first..].iter_mut().zip(&best.probabilities) {
            *sum += share * f64::from(probability);
        }
    }
    Row::new(mean, &mut all[..longest])
}
