//! The sieve's forward pass: what many plays are worth, roughly and fast.
//!
//! A sieve is a [`Network`] that reads [`FeatureSet::ContactCounts`] and has no hidden layer behind the first. Here it is
//! in a form of its own: a row of 16-bit numbers for each count on each point of the board, so that a play costs a row in
//! and a row out for each point that it changes; the outputs of several plays are computed side by side, in integers like those
//! of the other networks. Sums of integers are exact, and the few floating-point operations behind them are taken in a fixed order: every processor computes
//! the same.

use bytemuck::{cast_slice, cast_slice_mut};
use pulp::{Arch, NullaryFnOnce};

use crate::{
    board::{BAR, CHECKERS, Position},
    rules::{LegalPlay, RuleSet},
};

use super::{
    Activation, FeatureSet, FirstLayer, Network, PositionClass, features,
    lanes::{Lanes, Portable},
    quantised::{Activations, GROUP, Outputs, WordBlock},
};

/// Width of a sieve's first layer.
const WIDTH: usize = FirstLayer::WIDTH_STEP;

/// Counts on a point of the board, from −15 (the opponent's) to 15.
const COUNTS: usize = 2 * CHECKERS as usize + 1;

type Row = [WordBlock; WIDTH / WordBlock::SIZE];

const EMPTY: Row = [WordBlock::ZERO; WIDTH / WordBlock::SIZE];

/// A sieve, ready for use.
#[derive(Clone, Debug)]
pub struct Sieve {
    /// `[point of the board, the bars included][count + 15]`.
    points: Box<[[Row; COUNTS]; BAR + 1]>,
    /// `[player, the one on roll first][checkers off]`.
    off: Box<[[Row; CHECKERS as usize + 1]; 2]>,
    bias: Row,
    outputs: Outputs,
}

/// What a sieve found, and its buffers.
#[derive(Clone, Debug, Default)]
pub struct Sifted {
    /// The equities of those results that are contact positions, less a constant, as the next player sees them, and their places.
    pub found: Vec<(f32, usize)>,
    activations: Activations,
}

impl Sieve {
    /// The network in this form; `None` for one that is not made like a sieve.
    pub fn new(network: &Network) -> Option<Sieve> {
        let [last] = network.dense() else { return None };
        let first = network.first();
        let made_like_one = network.features() == FeatureSet::ContactCounts
            && network.activation() == Activation::Relu
            && first.width() == WIDTH;
        if !made_like_one {
            return None;
        }
        let rows: Vec<f32> = first.rows().collect();
        let bias: Vec<f32> = first.bias().collect();
        // No sum of at most one row of each run leaves 16 bits.
        let mut reach = vec![0.0f32; WIDTH];
        let mut next_row = 0;
        let runs = network.features().exclusive_runs();
        for run in &runs {
            for (unit, reach) in reach.iter_mut().enumerate() {
                let largest = (next_row..next_row + run).map(|row| rows[row * WIDTH + unit].abs());
                *reach += largest.fold(0.0, f32::max);
            }
            next_row += run;
        }
        for (reach, bias) in reach.iter_mut().zip(&bias) {
            *reach += bias.abs();
        }
        let farthest = reach.iter().copied().fold(0.0, f32::max);
        let roundings = runs.len() as f32;
        let scale = if farthest > 0.0 { (f32::from(i16::MAX) - roundings) / farthest } else { 1.0 };
        let most = reach.iter().map(|reach| (reach * scale + roundings).min(i16::MAX.into()) as i32).collect();
        let rounded = |values: &[f32]| -> Row {
            let mut row = EMPTY;
            for (word, value) in cast_slice_mut(&mut row).iter_mut().zip(values) {
                *word = (value * scale).round() as i16;
            }
            row
        };
        let row = |index: Option<usize>| match index {
            Some(index) => rounded(&rows[index * WIDTH..][..WIDTH]),
            None => EMPTY,
        };
        let mut points = Box::new([[EMPTY; COUNTS]; BAR + 1]);
        for (point, counts) in points.iter_mut().enumerate() {
            for (place, to) in counts.iter_mut().enumerate() {
                let count = place as i8 - CHECKERS as i8;
                *to = match count {
                    0 => EMPTY,
                    // Nobody has a checker on the other's bar.
                    _ if count > 0 && point == 0 || count < 0 && point == BAR => EMPTY,
                    1.. => row(features::count_row(0, point, count as u8)),
                    _ => row(features::count_row(1, BAR - point, count.unsigned_abs())),
                };
            }
        }
        let mut off = Box::new([[EMPTY; CHECKERS as usize + 1]; 2]);
        for (side, counts) in off.iter_mut().enumerate() {
            for (count, to) in counts.iter_mut().enumerate() {
                *to = row(features::off_row(side, count as u8));
            }
        }
        Some(Sieve { points, off, bias: rounded(&bias), outputs: Outputs::new(last, scale.into(), most) })
    }

    /// Finds the equities of those results of plays of one position that are contact positions.
    pub fn equities(
        &self,
        arch: Arch,
        position: &Position,
        plays: &[LegalPlay],
        rules: RuleSet,
        Sifted { found, activations }: &mut Sifted,
    ) {
        found.clear();
        let (unmoved, premiums) = (&position.swapped(), rules.premiums());
        match arch {
            #[cfg(target_arch = "x86_64")]
            Arch::V4(lanes) => {
                lanes.vectorize(Sifting { lanes, sieve: self, unmoved, plays, premiums, found, activations });
            }
            #[cfg(target_arch = "x86_64")]
            Arch::V3(lanes) => {
                lanes.vectorize(Sifting { lanes, sieve: self, unmoved, plays, premiums, found, activations });
            }
            _ => Sifting { lanes: Portable, sieve: self, unmoved, plays, premiums, found, activations }.call(),
        }
    }

    #[inline(always)]
    fn sums(&self, position: &Position) -> Row {
        let mut sums = self.bias;
        for (point, &count) in position.points().iter().enumerate() {
            if count != 0 {
                change(&mut sums, &self.points[point][place(count)], &EMPTY);
            }
        }
        for (side, off) in [position.off(), position.opponent_off()].into_iter().enumerate() {
            change(&mut sums, &self.off[side][usize::from(off)], &EMPTY);
        }
        sums
    }

    /// The activations of a result, from the sums of the position before the play.
    #[inline(always)]
    fn active(&self, before: &Row, unmoved: &Position, after: &Position) -> Row {
        let mut sums = *before;
        let mut changed = differences(unmoved.points(), after.points());
        while changed != 0 {
            let point = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            let counts = &self.points[point];
            change(&mut sums, &counts[place(after.points()[point])], &counts[place(unmoved.points()[point])]);
        }
        // The player who moved is the opponent now.
        let (old, new) = (unmoved.opponent_off(), after.opponent_off());
        if old != new {
            change(&mut sums, &self.off[1][usize::from(new)], &self.off[1][usize::from(old)]);
        }
        for sum in cast_slice_mut::<_, i16>(&mut sums) {
            *sum = (*sum).max(0);
        }
        sums
    }
}

/// Bit i: number i is another one.
#[inline(always)]
fn differences(a: &[i8; BAR + 1], b: &[i8; BAR + 1]) -> u32 {
    let mut differ = [0u8; 32];
    for (differ, (a, b)) in differ.iter_mut().zip(a.iter().zip(b)) {
        *differ = u8::from(a != b);
    }
    features::bits_where(&differ, |differ| differ)
}

#[inline(always)]
fn place(count: i8) -> usize {
    (count + CHECKERS as i8) as usize
}

#[inline(always)]
fn change(sums: &mut Row, added: &Row, removed: &Row) {
    let (added, removed): (&[i16], &[i16]) = (cast_slice(added), cast_slice(removed));
    for ((sum, added), removed) in cast_slice_mut::<_, i16>(sums).iter_mut().zip(added).zip(removed) {
        *sum = sum.wrapping_add(*added).wrapping_sub(*removed);
    }
}

/// The logistic function of x less a half, within 0.012: the continued fraction of tanh(x / 2) after three terms, cut off
/// where it reaches 1.
#[inline(always)]
fn half_tanh(x: f32) -> f32 {
    let x = (0.5 * x).clamp(-3.0, 3.0);
    let square = x * x;
    0.5 * x * (27.0 + square) / (27.0 + 9.0 * square)
}

struct Sifting<'a, L> {
    lanes: L,
    sieve: &'a Sieve,
    unmoved: &'a Position,
    plays: &'a [LegalPlay],
    premiums: (f32, f32),
    found: &'a mut Vec<(f32, usize)>,
    activations: &'a mut Activations,
}

impl<L: Lanes> NullaryFnOnce for Sifting<'_, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Sifting { lanes, sieve, unmoved, plays, premiums: (gammon, triple), found, activations } = self;
        let before = sieve.sums(unmoved);
        let mut group = [EMPTY; GROUP];
        let mut grouped = 0;
        for (index, LegalPlay { after, .. }) in plays.iter().enumerate() {
            if !after.is_over() && PositionClass::of(after) == PositionClass::Contact {
                group[grouped] = sieve.active(&before, unmoved, after);
                grouped += 1;
                found.push((0.0, index));
            }
            if grouped == GROUP || grouped > 0 && index + 1 == plays.len() {
                let rows: [&[WordBlock]; GROUP] = group.each_ref().map(|row| row.as_slice());
                let outputs = sieve.outputs.of(lanes, rows, &mut activations.sums, &mut activations.occupied);
                let first = found.len() - grouped;
                for ((equity, _), [win, win_gammon, win_triple, lose_gammon, lose_triple]) in
                    found[first..].iter_mut().zip(outputs)
                {
                    *equity = 2.0 * half_tanh(win)
                        + gammon * (half_tanh(win_gammon) - half_tanh(lose_gammon))
                        + triple * (half_tanh(win_triple) - half_tanh(lose_triple));
                }
                grouped = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

    use super::*;
    use crate::{
        net::{DenseLayer, Evaluator, Model, OUTPUTS, Precision, Provenance},
        rules::Dice,
    };

    fn network(seed: usize) -> Network {
        let value = |i: usize| ((i * 7919 + seed * 104_729) % 2003) as f32 / 1001.0 - 1.0;
        let features = FeatureSet::ContactCounts;
        let rows: Vec<f32> = (0..features.rows() * WIDTH).map(|i| 0.3 * value(i)).collect();
        let bias: Vec<f32> = (0..WIDTH).map(|i| 0.2 * value(i + 5)).collect();
        let weight: Vec<f32> = (0..WIDTH * OUTPUTS).map(|i| 0.2 * value(i + 11)).collect();
        let first = FirstLayer::new(&bias, &rows).unwrap();
        let last = DenseLayer::new(WIDTH, &[0.1, -0.5, -1.0, -0.5, -1.0], &weight).unwrap();
        Network::new(features, Activation::Relu, first, vec![last]).unwrap()
    }

    /// The equities are those of the network in floating point, but for the rounding and the logistic function.
    #[test]
    fn equities_are_the_networks() {
        let network = network(1);
        let sieve = Sieve::new(&network).unwrap();
        // A model whose contact network is the sieve evaluates as it does.
        let race = Model::shipped().network(PositionClass::Race).clone();
        let model = Model::new(RuleSet::Backgammon, Provenance::default(), [network, race]);
        let mut evaluator = Evaluator::in_precision(&model, Precision::Exact);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let (mut position, mut sifted, mut portable, mut seen) =
            (Position::START, Sifted::default(), Sifted::default(), 0);
        for _ in 0..300 {
            let plays = position.legal_plays(Dice::roll(&mut rng), RuleSet::Backgammon);
            sieve.equities(Arch::new(), &position, &plays, RuleSet::Backgammon, &mut sifted);
            let mut others = vec![Arch::Scalar];
            #[cfg(target_arch = "x86_64")]
            others.extend(pulp::x86::V3::try_new().map(Arch::V3));
            for arch in others {
                sieve.equities(arch, &position, &plays, RuleSet::Backgammon, &mut portable);
                assert_eq!(sifted.found, portable.found);
            }
            for &(equity, place) in &sifted.found {
                let outputs = evaluator.evaluate_unmasked(&plays[place].after);
                let [win, wg, wt, lg, lt] = outputs.map(|p| p - 0.5);
                let expected = 2.0 * win + wg - lg + wt - lt;
                assert!((equity - expected).abs() < 0.06, "{equity} {expected}");
                seen += 1;
            }
            let next = plays[plays.len() / 2].after;
            position = if next.is_over() { Position::START } else { next };
        }
        assert!(seen > 2_000);
    }

    #[test]
    fn other_networks_are_no_sieves() {
        assert!(Sieve::new(Model::shipped().network(PositionClass::Contact)).is_none());
    }
}
