//! What positions of few checkers a side are worth.

use rayon::prelude::*;

use crate::{
    board::CubeOwner,
    rules::{Dice, Equity},
};

use super::{
    Side, TableFileError, TableKind, TableSpec,
    index::Index,
    side_plays::SidePlays,
    words::{HEADER, Words},
};

/// Exact equities of money play for the player on roll, who does not double this turn, without Jacoby rule, beavers and
/// limit of the cube, in points per unit of the cube. Later both players double as is best.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoneyEquities {
    /// Without a cube.
    pub cubeless: Equity,
    /// With the cube on his side.
    pub owned: Equity,
    /// With the cube in the middle.
    pub centered: Equity,
    /// With the cube on the opponent's side.
    pub opponent: Equity,
}

impl MoneyEquities {
    /// If he does not double.
    pub fn no_double(&self, owner: CubeOwner) -> Equity {
        match owner {
            CubeOwner::Player => self.owned,
            CubeOwner::Centered => self.centered,
            CubeOwner::Opponent => self.opponent,
        }
    }

    /// If he doubles and the opponent takes, per unit of the cube as it was before.
    pub fn double_take(&self) -> Equity {
        Equity(2.0 * self.opponent.0)
    }
}

/// The equities of all pairs of positions with few checkers.
///
/// Without a cube each play is the best without one, and with each cube the best with that. In the file lie, for each
/// position of the player on roll and in it for each of his opponent, the equity without a cube and, except by the rules
/// of least waste, those with the cube owned, in the middle and on the opponent's side, in single precision.
#[derive(Debug)]
pub struct TwoSided {
    spec: TableSpec,
    index: Index,
    words: Words,
}

impl TwoSided {
    /// Computes the table on the threads of the current rayon pool; `progress` hears the share that is done,
    /// first 0.
    ///
    /// # Panics
    /// If `spec` is not a two-sided table.
    pub fn build(spec: TableSpec, mut progress: impl FnMut(f64)) -> TwoSided {
        assert_eq!(spec.kind(), TableKind::TwoSided, "a two-sided table is built from its own kind");
        let index = spec.index();
        progress(0.0);
        let mut words = vec![0; HEADER + index.len().pow(2) * spec.lanes()];
        let equities: &mut [f32] = bytemuck::cast_slice_mut(&mut words[HEADER..]);
        if spec.lanes() == 1 {
            solve::<1>(&index, spec, equities.as_chunks_mut().0, &mut progress);
        } else {
            solve::<4>(&index, spec, equities.as_chunks_mut().0, &mut progress);
        }
        TwoSided { spec, index, words: Words::seal(words, &spec) }
    }

    /// Checks what only a table of this kind can be wrong about.
    pub(super) fn from_words(spec: TableSpec, words: Words) -> Result<TwoSided, TableFileError> {
        let index = spec.index();
        let equities: &[f32] = bytemuck::cast_slice(&words[HEADER..]);
        let sound = equities.len() == index.len().pow(2) * spec.lanes()
            && equities.iter().all(|equity| (-1.001..=1.001).contains(equity));
        if sound { Ok(TwoSided { spec, index, words }) } else { Err(TableFileError::Contents(spec)) }
    }

    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    /// Which table it is.
    pub fn spec(&self) -> TableSpec {
        self.spec
    }

    /// The equity without a cube of a player on roll against an opponent, or `None` if one of them is not in the table.
    pub fn cubeless(&self, player: &Side, opponent: &Side) -> Option<Equity> {
        Some(Equity(self.equities(player, opponent)?[0]))
    }

    /// The equities with every cube, or `None` if a side is not in the table or the table's rules have no cube.
    pub fn money(&self, player: &Side, opponent: &Side) -> Option<MoneyEquities> {
        let &[cubeless, owned, centered, opponent] = self.equities(player, opponent)?.first_chunk()?;
        Some(MoneyEquities {
            cubeless: Equity(cubeless),
            owned: Equity(owned),
            centered: Equity(centered),
            opponent: Equity(opponent),
        })
    }

    /// All sides of the table, in the order of their ranks.
    pub fn sides(&self) -> impl ExactSizeIterator<Item = Side> {
        (0..self.index.len()).map(|rank| self.index.side(rank))
    }

    fn equities(&self, player: &Side, opponent: &Side) -> Option<&[f32]> {
        let (player, opponent) = (self.index.rank(player)?, self.index.rank(opponent)?);
        let begin = HEADER + (player * self.index.len() + opponent) * self.spec.lanes();
        Some(bytemuck::cast_slice(&self.words[begin..begin + self.spec.lanes()]))
    }
}

/// The results of all rolls of all ranks.
pub(super) struct Results {
    /// Where those of a rank and a roll begin, at 21 · rank + roll.
    begins: Vec<u32>,
    ranks: Vec<u32>,
}

impl Results {
    pub(super) fn new(index: &Index, least_waste: bool) -> Results {
        let mut plays = SidePlays::new(index, least_waste);
        let mut results = Results { begins: vec![0], ranks: Vec::new() };
        let mut distinct = Vec::new();
        for rank in 0..index.len() {
            for dice in Dice::ALL {
                distinct.clear();
                distinct.extend_from_slice(plays.generate(rank, dice));
                distinct.sort_unstable();
                distinct.dedup();
                results.ranks.extend_from_slice(&distinct);
                results.begins.push(results.ranks.len() as u32);
            }
        }
        results
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Those of each roll of a rank, in the order of [`Dice::ALL`], with how many of 36 ways it has.
    #[inline]
    fn of(&self, rank: usize) -> impl Iterator<Item = (f32, &[u32])> {
        Dice::ALL.iter().enumerate().map(move |(roll, dice)| {
            let at = rank * Dice::ALL.len() + roll;
            let range = self.begins[at] as usize..self.begins[at + 1] as usize;
            (f32::from(dice.ways()), &self.ranks[range])
        })
    }
}

/// What the equities of the player on roll are worth to the one who has just played, who owns the cube, has it in the
/// middle, or has left it to the player on roll: the latter doubles if that is better than not to, and is taken if
/// that is better than to lose a point.
#[inline]
fn to_the_other<const LANES: usize>(equities: [f32; LANES]) -> [f32; LANES] {
    let mut others = [0.0; LANES];
    others[0] = -equities[0];
    if LANES == 4 {
        let [owned, centered, opponent] = [equities[1], equities[2], equities[3]];
        let doubled = (2.0 * opponent).min(1.0);
        others[1] = -opponent;
        others[2] = -centered.max(doubled);
        others[3] = -owned.max(doubled);
    }
    others
}

#[inline]
fn raise<const LANES: usize>(best: &mut [f32; LANES], equities: &[f32; LANES]) {
    for (best, &equity) in best.iter_mut().zip(equities) {
        *best = if equity > *best { equity } else { *best };
    }
}

#[inline]
fn add<const LANES: usize>(sum: &mut [f32; LANES], ways: f32, best: &[f32; LANES]) {
    for (sum, best) in sum.iter_mut().zip(best) {
        *sum += ways * best;
    }
}

/// Positions of the other side that are computed together.
const BLOCK: usize = 64;

/// Fills the table of equities E(player on roll, opponent).
///
/// E(i, j) is the average over the rolls of the best −E(j, i′) with a play from i to i′ < i. Step i computes E(i, j) and
/// E(j, i) for all j ≥ i: the former from what earlier steps know of the i′, the latter from the former and from what
/// earlier steps know of i. Within each half nothing depends on anything else, and so threads share it.
fn solve<const LANES: usize>(
    index: &Index,
    spec: TableSpec,
    equities: &mut [[f32; LANES]],
    progress: &mut dyn FnMut(f64),
) {
    let len = index.len();
    let results = Results::new(index, spec.least_waste());
    // What E(j, i), j ≥ i, is worth to the opponent, at [i][j - i]. A player without checkers has won.
    let mut facing: Vec<Vec<[f32; LANES]>> = Vec::with_capacity(len);
    facing.push(vec![[1.0; LANES]; len]);
    for j in 0..len {
        equities[j * len] = [-1.0; LANES];
        equities[j] = [1.0; LANES];
    }
    for i in 1..len {
        let on_roll: Vec<[f32; LANES]> = (i..len)
            .into_par_iter()
            .step_by(BLOCK)
            .flat_map_iter(|begin| {
                let block = begin..(begin + BLOCK).min(len);
                let mut sums = [[0.0; LANES]; BLOCK];
                for (ways, ranks) in results.of(i) {
                    let mut best = [[f32::NEG_INFINITY; LANES]; BLOCK];
                    for &rank in ranks {
                        let rank = rank as usize;
                        for (best, facing) in best.iter_mut().zip(&facing[rank][block.start - rank..block.end - rank]) {
                            raise(best, facing);
                        }
                    }
                    for (sum, best) in sums.iter_mut().zip(&best) {
                        add(sum, ways, best);
                    }
                }
                sums.into_iter().take(block.len()).map(average)
            })
            .collect();
        // What E(i, j) is worth to the opponent, for all j.
        let to_opponent: Vec<[f32; LANES]> =
            (0..i).map(|j| facing[j][i - j]).chain(on_roll.iter().map(|&equities| to_the_other(equities))).collect();
        let off_roll: Vec<[f32; LANES]> = (i + 1..len)
            .into_par_iter()
            .with_min_len(BLOCK)
            .map(|j| {
                let mut sum = [0.0; LANES];
                for (ways, ranks) in results.of(j) {
                    let mut best = [f32::NEG_INFINITY; LANES];
                    for &rank in ranks {
                        raise(&mut best, &to_opponent[rank as usize]);
                    }
                    add(&mut sum, ways, &best);
                }
                average(sum)
            })
            .collect();
        equities[i * len + i..(i + 1) * len].copy_from_slice(&on_roll);
        for (j, &off_roll) in (i + 1..).zip(&off_roll) {
            equities[j * len + i] = off_roll;
        }
        facing.push(on_roll[..1].iter().chain(&off_roll).map(|&equities| to_the_other(equities)).collect());
        progress((i * (2 * len - i)) as f64 / (len * len) as f64);
    }
    progress(1.0);
}

#[inline]
fn average<const LANES: usize>(sum: [f32; LANES]) -> [f32; LANES] {
    sum.map(|sum| (sum / 36.0).clamp(-1.0, 1.0))
}
