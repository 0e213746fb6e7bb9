//! The arithmetic of the forward pass, compiled once for each kind of vector instructions and chosen at run time.
//!
//! Plain loops over blocks: the compiler turns a block into one, two or four vector registers. Products and sums stay
//! separate operations in a fixed order, so that every processor computes the same bits.

use multiversion::multiversion;

use crate::board::Position;

use super::{
    FeatureSet, MAX_SLOTS, NO_ROW, Network, OUTPUTS, Slots,
    layers::{Activation, Block, DenseLayer, FirstLayer},
};

/// Blocks that are summed together, so that the sums stay in registers.
const GROUP: usize = FirstLayer::WIDTH_STEP / Block::SIZE;

/// The first layer of one position: its slots and its sums, from which positions that differ little are computed.
#[derive(Clone, Debug)]
pub struct Accumulator {
    slots: Slots,
    sums: Vec<Block>,
}

impl Accumulator {
    /// Room for a network's sums.
    pub fn for_network(network: &Network) -> Accumulator {
        Accumulator { slots: [NO_ROW; MAX_SLOTS], sums: vec![Block::default(); network.first().bias_blocks().len()] }
    }
}

/// Buffers between the layers.
#[derive(Clone, Debug, Default)]
pub struct Activations {
    hidden: Vec<Block>,
    next: Vec<Block>,
}

/// Computes the first layer of `position` from nothing.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx2", "x86_64+avx2", "aarch64+neon"))]
pub fn accumulate(network: &Network, position: &Position, accumulator: &mut Accumulator) {
    fill(network.features(), position, &mut accumulator.slots);
    let mut rows = [0u32; MAX_SLOTS];
    let mut count = 0;
    for &row in &accumulator.slots {
        rows[count] = row.into();
        count += usize::from(row != NO_ROW);
    }
    let first = network.first();
    sum_rows(first, first.bias_blocks(), &rows[..count], &[], &mut accumulator.sums);
}

/// Evaluates `position`, whose first layer is computed from that of a `parent` by the slots in which they differ.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx2", "x86_64+avx2", "aarch64+neon"))]
pub fn evaluate_from(
    network: &Network,
    parent: &Accumulator,
    position: &Position,
    activations: &mut Activations,
) -> [f32; OUTPUTS] {
    let mut slots = [NO_ROW; MAX_SLOTS];
    fill(network.features(), position, &mut slots);
    let (mut added, mut removed) = ([0u32; MAX_SLOTS], [0u32; MAX_SLOTS]);
    let (mut additions, mut removals) = (0, 0);
    for (&new, &old) in slots.iter().zip(&parent.slots) {
        added[additions] = new.into();
        removed[removals] = old.into();
        additions += usize::from(new != old && new != NO_ROW);
        removals += usize::from(new != old && old != NO_ROW);
    }
    let Activations { hidden, next } = activations;
    hidden.resize(parent.sums.len(), Block::default());
    sum_rows(network.first(), &parent.sums, &added[..additions], &removed[..removals], hidden);
    for layer in network.dense() {
        activate(network.activation(), hidden);
        next.resize(layer.output_blocks(), Block::default());
        dense(layer, hidden, next);
        std::mem::swap(hidden, next);
    }
    let logits = &hidden[0].0;
    let mut outputs = [0.0; OUTPUTS];
    let mut probabilities = Block::default();
    for (probability, &logit) in probabilities.0.iter_mut().zip(logits) {
        *probability = logistic(logit);
    }
    outputs.copy_from_slice(&probabilities.0[..OUTPUTS]);
    outputs
}

#[inline(always)]
fn fill(features: FeatureSet, position: &Position, slots: &mut Slots) {
    features.fill(position, slots);
}

/// `sums = start + added rows - removed rows`.
#[inline(always)]
fn sum_rows(first: &FirstLayer, start: &[Block], added: &[u32], removed: &[u32], sums: &mut [Block]) {
    let stride = start.len();
    let rows = first.row_blocks();
    for (group, (start, sums)) in start.chunks_exact(GROUP).zip(sums.chunks_exact_mut(GROUP)).enumerate() {
        let mut sum: [Block; GROUP] = [start[0], start[1], start[2], start[3]];
        for &row in removed {
            let offset = row as usize * stride + group * GROUP;
            for (sum, row) in sum.iter_mut().zip(&rows[offset..offset + GROUP]) {
                for (sum, value) in sum.0.iter_mut().zip(&row.0) {
                    *sum -= value;
                }
            }
        }
        for &row in added {
            let offset = row as usize * stride + group * GROUP;
            for (sum, row) in sum.iter_mut().zip(&rows[offset..offset + GROUP]) {
                for (sum, value) in sum.0.iter_mut().zip(&row.0) {
                    *sum += value;
                }
            }
        }
        sums.copy_from_slice(&sum);
    }
}

#[inline(always)]
fn activate(activation: Activation, blocks: &mut [Block]) {
    for block in blocks {
        for value in &mut block.0 {
            *value = activation.apply(*value);
        }
    }
}

/// One dense layer. Even and odd inputs are summed apart, which halves the chain of additions that must wait for
/// one another.
#[inline(always)]
fn dense(layer: &DenseLayer, inputs: &[Block], outputs: &mut [Block]) {
    match layer.output_blocks() {
        1 => dense_blocks::<1>(layer, inputs, outputs, 0),
        blocks => {
            let pairs = blocks / 2;
            for pair in 0..pairs {
                dense_blocks::<2>(layer, inputs, outputs, 2 * pair);
            }
            if blocks % 2 == 1 {
                dense_blocks::<1>(layer, inputs, outputs, blocks - 1);
            }
        }
    }
}

#[inline(always)]
fn dense_blocks<const N: usize>(layer: &DenseLayer, inputs: &[Block], outputs: &mut [Block], first: usize) {
    const LANES: usize = 4;
    let stride = layer.output_blocks();
    let mut sums = [[Block::default(); N]; LANES];
    let weights = layer.weight_blocks();
    let add = |sums: &mut [Block; N], input: f32, index: usize| {
        let weights = &weights[index * stride + first..][..N];
        for (sum, weight) in sums.iter_mut().zip(weights) {
            for (sum, weight) in sum.0.iter_mut().zip(&weight.0) {
                *sum += input * weight;
            }
        }
    };
    let whole = layer.inputs() / Block::SIZE;
    for (block, inputs) in inputs[..whole].iter().enumerate() {
        for (i, &input) in inputs.0.iter().enumerate() {
            add(&mut sums[i % LANES], input, block * Block::SIZE + i);
        }
    }
    for i in 0..layer.inputs() % Block::SIZE {
        add(&mut sums[i % LANES], inputs[whole].0[i], whole * Block::SIZE + i);
    }
    for n in 0..N {
        for i in 0..Block::SIZE {
            let pairs = (sums[0][n].0[i] + sums[2][n].0[i]) + (sums[1][n].0[i] + sums[3][n].0[i]);
            outputs[first + n].0[i] = layer.bias_blocks()[first + n].0[i] + pairs;
        }
    }
}

/// The logistic function 1 / (1 + e^-x), within 3e-7.
///
/// e^y = 2^n · e^f with f within ±ln 2 / 2 and a Taylor polynomial for e^f: the mathematics library of the platform
/// would give other last bits on other machines.
#[inline(always)]
fn logistic(x: f32) -> f32 {
    let y = (-x).clamp(-30.0, 30.0);
    let n = (y * std::f32::consts::LOG2_E + 0.5).floor();
    // ln 2 in two parts, the first short enough that n times it is exact.
    let f = (y - n * 0.693_359_4) - n * -2.121_944_4e-4;
    let mut e = 1.0 / 5040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        e = e * f + coefficient;
    }
    let power = f32::from_bits(((n as i32 + 127) as u32) << 23);
    1.0 / (1.0 + e * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logistic_is_accurate() {
        for i in -40_000..=40_000 {
            let x = i as f32 / 1000.0;
            let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
            assert!((f64::from(logistic(x)) - exact).abs() < 3e-7, "{x}: {} {exact}", logistic(x));
        }
        assert!(logistic(f32::MAX) <= 1.0 && logistic(f32::MIN) >= 0.0);
    }
}
