//! The arithmetic of the forward pass, compiled once for each kind of vector instructions and chosen at run time.
//!
//! Products and sums stay separate operations, and every sum is taken in an order that does not depend on the width of
//! the vectors, so that every processor computes the same bits.

use bytemuck::{cast_slice, cast_slice_mut};
use pulp::{Arch, Simd, WithSimd};

use crate::board::Position;

use super::{
    MAX_SLOTS, NO_ROW, Network, OUTPUTS, Slots,
    features::Changes,
    layers::{Activation, Block, DenseLayer, FirstLayer},
};

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
pub fn accumulate(arch: Arch, network: &Network, position: &Position, accumulator: &mut Accumulator) {
    arch.dispatch(Accumulate { network, position, accumulator });
}

/// Evaluates `position`, whose first layer is computed from that of a `parent` by the slots in which they differ.
pub fn evaluate_from(
    arch: Arch,
    network: &Network,
    parent: &Accumulator,
    position: &Position,
    activations: &mut Activations,
) -> [f32; OUTPUTS] {
    arch.dispatch(EvaluateFrom { network, parent, position, activations })
}

/// Evaluates `position` from nothing and shows `observe` what comes out of the first layer and of each dense one:
/// layers are counted from 0, the hidden ones are shown behind their activation.
pub fn observe(
    arch: Arch,
    network: &Network,
    position: &Position,
    accumulator: &mut Accumulator,
    activations: &mut Activations,
    mut observe: impl FnMut(usize, &[f32]),
) {
    accumulate(arch, network, position, accumulator);
    let Activations { hidden, next } = activations;
    hidden.clone_from(&accumulator.sums);
    for (i, layer) in network.dense().iter().enumerate() {
        arch.dispatch(Dense { layer, activation: network.activation(), hidden, next });
        observe(i, cast_slice(hidden));
        std::mem::swap(hidden, next);
    }
    observe(network.dense().len(), cast_slice(hidden));
}

/// One dense layer, behind the activation of its inputs.
struct Dense<'a> {
    layer: &'a DenseLayer,
    activation: Activation,
    hidden: &'a mut [Block],
    next: &'a mut Vec<Block>,
}

impl WithSimd for Dense<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Dense { layer, activation, hidden, next } = self;
        activate(simd, activation, hidden);
        next.resize(layer.output_blocks(), Block::default());
        dense(simd, layer, hidden, next);
    }
}

struct Accumulate<'a> {
    network: &'a Network,
    position: &'a Position,
    accumulator: &'a mut Accumulator,
}

impl WithSimd for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Accumulator { slots, sums } = self.accumulator;
        let mut rows = [0; MAX_SLOTS];
        let rows = self.network.features().rows_on(self.position, slots, &mut rows);
        let first = self.network.first();
        sum_rows(simd, first, first.bias_blocks(), rows, &[], sums);
    }
}

struct EvaluateFrom<'a> {
    network: &'a Network,
    parent: &'a Accumulator,
    position: &'a Position,
    activations: &'a mut Activations,
}

impl WithSimd for EvaluateFrom<'_> {
    type Output = [f32; OUTPUTS];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f32; OUTPUTS] {
        let EvaluateFrom { network, parent, position, activations: Activations { hidden, next } } = self;
        let mut slots = [NO_ROW; MAX_SLOTS];
        network.features().fill(position, &mut slots);
        let changes = Changes::between(&parent.slots, &slots);
        hidden.resize(parent.sums.len(), Block::default());
        sum_rows(simd, network.first(), &parent.sums, changes.added(), changes.removed(), hidden);
        for layer in network.dense() {
            activate(simd, network.activation(), hidden);
            next.resize(layer.output_blocks(), Block::default());
            dense(simd, layer, hidden, next);
            std::mem::swap(hidden, next);
        }
        std::array::from_fn(|output| logistic(hidden[0].0[output]))
    }
}

/// `sums = start + added rows - removed rows`.
#[inline(always)]
fn sum_rows<S: Simd>(simd: S, first: &FirstLayer, start: &[Block], added: &[u16], removed: &[u16], sums: &mut [Block]) {
    /// Vectors that are summed together, so that the sums stay in registers.
    const GROUP: usize = 4;
    let rows: &[S::f32s] = cast_slice(first.row_blocks());
    let (start, sums): (&[S::f32s], &mut [S::f32s]) = (cast_slice(start), cast_slice_mut(sums));
    let stride = start.len();
    let groups = start.as_chunks::<GROUP>().0.iter().zip(sums.as_chunks_mut::<GROUP>().0);
    for (group, (start, sums)) in groups.enumerate() {
        let rows = &rows[GROUP * group..];
        let mut sum = *start;
        for &row in removed {
            let row = &rows[usize::from(row) * stride..][..GROUP];
            for i in 0..GROUP {
                sum[i] = simd.sub_f32s(sum[i], row[i]);
            }
        }
        for &row in added {
            let row = &rows[usize::from(row) * stride..][..GROUP];
            for i in 0..GROUP {
                sum[i] = simd.add_f32s(sum[i], row[i]);
            }
        }
        *sums = sum;
    }
}

#[inline(always)]
fn activate<S: Simd>(simd: S, activation: Activation, blocks: &mut [Block]) {
    let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
    let vectors: &mut [S::f32s] = cast_slice_mut(blocks);
    match activation {
        Activation::Relu => vectors.iter_mut().for_each(|x| *x = simd.max_f32s(*x, zero)),
        Activation::ClippedRelu => vectors.iter_mut().for_each(|x| *x = simd.min_f32s(simd.max_f32s(*x, zero), one)),
    }
}

#[inline(always)]
fn dense<S: Simd>(simd: S, layer: &DenseLayer, inputs: &[Block], outputs: &mut [Block]) {
    let outputs: &mut [S::f32s] = cast_slice_mut(outputs);
    let mut first = 0;
    while first + 2 <= outputs.len() {
        dense_vectors::<S, 2>(simd, layer, inputs, outputs, first);
        first += 2;
    }
    if first < outputs.len() {
        dense_vectors::<S, 1>(simd, layer, inputs, outputs, first);
    }
}

/// `N` vectors of outputs. Every fourth input goes to a sum of its own, so that additions need not wait for one another.
#[inline(always)]
fn dense_vectors<S: Simd, const N: usize>(
    simd: S,
    layer: &DenseLayer,
    inputs: &[Block],
    outputs: &mut [S::f32s],
    first: usize,
) {
    let weights: &[S::f32s] = &cast_slice(layer.weight_blocks())[first..];
    let bias: &[S::f32s] = &cast_slice(layer.bias_blocks())[first..];
    let stride = outputs.len();
    let mut sums = [[simd.splat_f32s(0.0); N]; 4];
    let inputs: &[f32] = cast_slice(inputs);
    for (quad, inputs) in inputs.as_chunks::<4>().0.iter().take(layer.inputs().div_ceil(4)).enumerate() {
        for i in 0..4 {
            let input = simd.splat_f32s(inputs[i]);
            let weights = &weights[(4 * quad + i) * stride..][..N];
            for n in 0..N {
                sums[i][n] = simd.add_f32s(sums[i][n], simd.mul_f32s(input, weights[n]));
            }
        }
    }
    for n in 0..N {
        let sum = simd.add_f32s(simd.add_f32s(sums[0][n], sums[1][n]), simd.add_f32s(sums[2][n], sums[3][n]));
        outputs[first + n] = simd.add_f32s(bias[n], sum);
    }
}

/// The logistic function 1 / (1 + e^-x), within 3e-7.
///
/// e^y = 2^n · e^f with f within ±ln 2 / 2 and a Taylor polynomial for e^f: the mathematics library of the platform
/// would give other last bits on other machines.
#[inline(always)]
pub(super) fn logistic(x: f32) -> f32 {
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
