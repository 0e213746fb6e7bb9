//! The sieve's forward pass: what many plays are worth, roughly and fast.
//!
//! A sieve is a [`Network`] that reads [`FeatureSet::ContactCounts`] and has no hidden layer behind the first. Here it is
//! in a form of its own: a row of 16-bit numbers for each count on each point of the board, so that a play costs a row in
//! and a row out for each point that it changes. Sums of integers are exact, and the few floating-point operations behind
//! them are taken in a fixed order: every processor computes the same.

use pulp::{Arch, WithSimd};

use crate::{
    board::{BAR, CHECKERS, Position},
    rules::{LegalPlay, RuleSet},
};

use super::{Activation, FeatureSet, FirstLayer, Network, OUTPUTS, PositionClass, features};

/// Width of a sieve's first layer.
const WIDTH: usize = FirstLayer::WIDTH_STEP;

/// Counts on a point of the board, from −15 (the opponent's) to 15.
const COUNTS: usize = 2 * CHECKERS as usize + 1;

type Row = [i16; WIDTH];

/// A sieve, ready for use.
#[derive(Clone, Debug)]
pub struct Sieve {
    /// `[point of the board, the bars included][count + 15]`.
    points: Box<[[Row; COUNTS]; BAR + 1]>,
    /// `[player, the one on roll first][checkers off]`.
    off: Box<[[Row; CHECKERS as usize + 1]; 2]>,
    bias: Row,
    /// `[unit][output]`, filled up with zeros; one step of a sum is in it.
    weight: Box<[[f32; LANES]; WIDTH]>,
    output_bias: [f32; LANES],
}

/// Outputs, filled up to whole vectors.
const LANES: usize = 8;

const _: () = assert!(OUTPUTS <= LANES);

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
        let reach = reach.iter().zip(&bias).map(|(reach, bias)| reach + bias.abs()).fold(0.0, f32::max);
        let room = f32::from(i16::MAX) - runs.len() as f32;
        let scale = if reach > 0.0 { room / reach } else { 1.0 };
        let rounded = |values: &[f32]| -> Row { std::array::from_fn(|unit| (values[unit] * scale).round() as i16) };
        let row = |index: Option<usize>| match index {
            Some(index) => rounded(&rows[index * WIDTH..][..WIDTH]),
            None => [0; WIDTH],
        };
        let mut points = Box::new([[[0; WIDTH]; COUNTS]; BAR + 1]);
        for (point, counts) in points.iter_mut().enumerate() {
            for (place, to) in counts.iter_mut().enumerate() {
                let count = place as i8 - CHECKERS as i8;
                *to = match count {
                    0 => [0; WIDTH],
                    // Nobody has a checker on the other's bar.
                    _ if count > 0 && point == 0 || count < 0 && point == BAR => [0; WIDTH],
                    1.. => row(features::count_row(0, point, count as u8)),
                    _ => row(features::count_row(1, BAR - point, count.unsigned_abs())),
                };
            }
        }
        let mut off = Box::new([[[0; WIDTH]; CHECKERS as usize + 1]; 2]);
        for (side, counts) in off.iter_mut().enumerate() {
            for (count, to) in counts.iter_mut().enumerate() {
                *to = row(features::off_row(side, count as u8));
            }
        }
        let weights: Vec<f32> = last.weight().collect();
        let mut weight = Box::new([[0.0; LANES]; WIDTH]);
        for (unit, lanes) in weight.iter_mut().enumerate() {
            for (output, lane) in lanes.iter_mut().enumerate().take(OUTPUTS) {
                *lane = weights[output * WIDTH + unit] / scale;
            }
        }
        let mut output_bias = [0.0; LANES];
        for (lane, bias) in output_bias.iter_mut().zip(last.bias()) {
            *lane = bias;
        }
        Some(Sieve { points, off, bias: rounded(&bias), weight, output_bias })
    }

    /// Hands the equities of those results of plays of one position that are contact positions to `found`, with their
    /// places: as the next player sees them, who is on roll.
    pub fn equities(
        &self,
        arch: Arch,
        position: &Position,
        plays: &[LegalPlay],
        rules: RuleSet,
        found: &mut Vec<(f32, usize)>,
    ) {
        found.clear();
        arch.dispatch(Sifting { sieve: self, unmoved: &position.swapped(), plays, premiums: rules.premiums(), found });
    }

    #[inline(always)]
    fn sums(&self, position: &Position) -> Row {
        let mut sums = self.bias;
        for (point, &count) in position.points().iter().enumerate() {
            if count != 0 {
                change(&mut sums, &self.points[point][place(count)], &[0; WIDTH]);
            }
        }
        for (side, off) in [position.off(), position.opponent_off()].into_iter().enumerate() {
            change(&mut sums, &self.off[side][usize::from(off)], &[0; WIDTH]);
        }
        sums
    }

    /// The equity less a constant.
    #[inline(always)]
    fn equity(&self, sums: &Row, (gammon, triple): (f32, f32)) -> f32 {
        let mut outputs = self.output_bias;
        for (&sum, weights) in sums.iter().zip(self.weight.iter()) {
            let active = f32::from(sum.max(0));
            for (output, weight) in outputs.iter_mut().zip(weights) {
                *output += active * weight;
            }
        }
        let halves = outputs.map(half_tanh);
        2.0 * halves[0] + gammon * (halves[1] - halves[3]) + triple * (halves[2] - halves[4])
    }
}

#[inline(always)]
fn place(count: i8) -> usize {
    (count + CHECKERS as i8) as usize
}

#[inline(always)]
fn change(sums: &mut Row, added: &Row, removed: &Row) {
    for ((sum, added), removed) in sums.iter_mut().zip(added).zip(removed) {
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

struct Sifting<'a> {
    sieve: &'a Sieve,
    unmoved: &'a Position,
    plays: &'a [LegalPlay],
    premiums: (f32, f32),
    found: &'a mut Vec<(f32, usize)>,
}

impl WithSimd for Sifting<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Sifting { sieve, unmoved, plays, premiums, found } = self;
        let before = sieve.sums(unmoved);
        for (index, LegalPlay { after, .. }) in plays.iter().enumerate() {
            if after.is_over() || PositionClass::of(after) != PositionClass::Contact {
                continue;
            }
            let mut sums = before;
            for (point, (&old, &new)) in unmoved.points().iter().zip(after.points()).enumerate() {
                if old != new {
                    let counts = &sieve.points[point];
                    change(&mut sums, &counts[place(new)], &counts[place(old)]);
                }
            }
            // The player who moved is the opponent now.
            let (old, new) = (unmoved.opponent_off(), after.opponent_off());
            if old != new {
                change(&mut sums, &sieve.off[1][usize::from(new)], &sieve.off[1][usize::from(old)]);
            }
            found.push((sieve.equity(&sums, premiums), index));
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

    use super::*;
    use crate::{
        net::{DenseLayer, Evaluator, Model, Precision, Provenance},
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
        let (mut position, mut found, mut portable, mut seen) = (Position::START, Vec::new(), Vec::new(), 0);
        for _ in 0..300 {
            let plays = position.legal_plays(Dice::roll(&mut rng), RuleSet::Backgammon);
            sieve.equities(Arch::new(), &position, &plays, RuleSet::Backgammon, &mut found);
            sieve.equities(Arch::Scalar, &position, &plays, RuleSet::Backgammon, &mut portable);
            assert_eq!(found, portable);
            for &(equity, place) in &found {
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
