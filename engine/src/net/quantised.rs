//! Networks in 16-bit integers, and their forward pass.
//!
//! The first layer is a sum of 16-bit rows, the dense layers multiply 16-bit activations by 16-bit weights and add in
//! 32 bits. Every output of a layer has a scale of its own, chosen so that no sum can leave its range whatever the
//! position:
//!
//! - In the first layer a position switches on at most one row of each [run](FeatureSet::exclusive_runs), so that the
//!   bias and the largest (smallest) number of each run bound the sum. Sums may wrap around on the way, since only the
//!   last one counts.
//! - In a dense layer no activation is negative and each has a known maximum, so that the positive (negative) weights
//!   times these maxima bound the sum.
//!
//! The bounds of hidden layers are far above what happens. Their activations are therefore scaled to [`MARGIN`] times
//! the largest value seen in games that the network plays when it is quantised; what is larger still is cut off.
//!
//! Integers make the sums exact: a sum from the parent's is the sum from nothing, on every processor.
//!
//! Results of one position go through the dense layers in groups, so that each weight is read once for all of a group. The
//! sieve's outputs are computed by the same layers ([`Outputs`]).

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use pulp::{Arch, NullaryFnOnce};

use crate::board::Position;

use super::{
    Activation, DenseLayer, FeatureSet, MAX_SLOTS, NO_ROW, Network, OUTPUTS, Slots,
    features::Changes,
    forward::{self, logistic},
    lanes::{Lanes, Portable},
};

/// How far an activation may exceed what was seen before it is cut off.
const MARGIN: f64 = 4.0;

/// 16-bit numbers side by side, aligned for vector loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct WordBlock([i16; WordBlock::SIZE]);

impl WordBlock {
    /// Numbers in a block.
    pub const SIZE: usize = 32;
    /// Nothing but zeros.
    pub const ZERO: WordBlock = WordBlock([0; WordBlock::SIZE]);
}

/// 32-bit numbers side by side, aligned for vector loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct SumBlock([i32; SumBlock::SIZE]);

impl SumBlock {
    const SIZE: usize = 16;
}

/// A network in integers.
#[derive(Clone, Debug)]
pub struct QuantisedNetwork {
    first: QuantisedFirstLayer,
    hidden: Vec<QuantisedLayer>,
    outputs: Outputs,
}

/// The first layer in integers.
#[derive(Clone, Debug)]
struct QuantisedFirstLayer {
    features: FeatureSet,
    bias: Vec<WordBlock>,
    /// Row-major.
    rows: Vec<WordBlock>,
    /// The largest activations.
    most: Vec<WordBlock>,
}

/// A dense layer in integers. Outputs are filled up to whole blocks with zeros.
#[derive(Clone, Debug)]
struct QuantisedLayer {
    bias: Vec<SumBlock>,
    /// `weight[pair of inputs * blocks of outputs + block]`: for each output of the block its weights of both inputs.
    weight: Vec<WordBlock>,
    /// By how many bits each sum is shifted to become an activation. The bias holds the half that rounds it.
    shift: Vec<SumBlock>,
    /// The largest activations.
    most: Vec<SumBlock>,
}

/// The numbers between two layers: what they are worth and how large they get.
struct Interface {
    /// The outputs of the layer before in the order in which they are kept.
    order: Vec<usize>,
    /// Steps to 1.0.
    scale: Vec<f64>,
    /// The largest that can occur.
    most: Vec<i32>,
}

/// What a network's hidden layers do in some positions.
struct Observed {
    /// The largest activation of each output of each hidden layer.
    largest: Vec<Vec<f64>>,
    /// In which positions each output of each hidden layer was above zero, one bit a position.
    active: Vec<Vec<Vec<u64>>>,
}

impl Observed {
    fn of(arch: Arch, network: &Network, positions: &[Position]) -> Observed {
        let widths: Vec<usize> = network.dense().iter().map(DenseLayer::inputs).collect();
        let mut observed = Observed {
            largest: widths.iter().map(|&width| vec![0.0; width]).collect(),
            active: widths.iter().map(|&width| vec![vec![0; positions.len().div_ceil(64)]; width]).collect(),
        };
        let (mut accumulator, mut activations) =
            (forward::Accumulator::for_network(network), forward::Activations::default());
        for (number, position) in positions.iter().enumerate() {
            forward::observe(arch, network, position, &mut accumulator, &mut activations, |layer, values| {
                let Some(largest) = observed.largest.get_mut(layer) else { return };
                for ((&value, largest), active) in values.iter().zip(largest).zip(&mut observed.active[layer]) {
                    *largest = largest.max(value.into());
                    active[number / 64] |= u64::from(value > 0.0) << (number % 64);
                }
            });
        }
        observed
    }

    /// Puts outputs side by side that are above zero in the same positions: pairs of zeros cost nothing.
    fn order(&self, layer: usize) -> Vec<usize> {
        let active = &self.active[layer];
        let count = |output: usize| active[output].iter().map(|bits| bits.count_ones()).sum::<u32>();
        let mut left: Vec<usize> = (0..active.len()).collect();
        left.sort_by_key(|&output| count(output));
        let mut order = Vec::with_capacity(left.len());
        while let Some(output) = left.pop() {
            order.push(output);
            let common = |&other: &usize| -> u32 {
                active[output].iter().zip(&active[other]).map(|(a, b)| (a & b).count_ones()).sum()
            };
            if let Some(partner) = (0..left.len()).max_by_key(|&i| common(&left[i])) {
                order.push(left.remove(partner));
            }
        }
        order
    }
}

impl QuantisedNetwork {
    /// Rounds a network to integers; `positions` are those of games that it played.
    pub fn new(network: &Network, positions: &[Position]) -> QuantisedNetwork {
        let observed = Observed::of(Arch::new(), network, positions);
        let (first, mut interface) = first_layer(network, observed.order(0));
        let (last, before) = network.dense().split_last().expect("a network has a last layer");
        let mut hidden = Vec::with_capacity(before.len());
        for (i, layer) in before.iter().enumerate() {
            let kept = Hidden { order: observed.order(i + 1), largest: &observed.largest[i + 1] };
            let (layer, next) = dense_layer(layer, &interface, network.activation(), Some(kept));
            hidden.push(layer);
            interface = next;
        }
        QuantisedNetwork { first, hidden, outputs: Outputs::behind(last, &interface) }
    }
}

/// The last layer of a network.
#[derive(Clone, Debug)]
pub struct Outputs {
    layer: QuantisedLayer,
    /// What one step of each sum is worth.
    unit: [f32; OUTPUTS],
}

impl Outputs {
    /// A layer whose inputs are in steps of which `scale` make 1, and at most `most` steps.
    pub fn new(layer: &DenseLayer, scale: f64, most: Vec<i32>) -> Outputs {
        Outputs::behind(
            layer,
            &Interface { order: (0..layer.inputs()).collect(), scale: vec![scale; layer.inputs()], most },
        )
    }

    fn behind(layer: &DenseLayer, inputs: &Interface) -> Outputs {
        // The activation follows hidden layers alone.
        let (layer, Interface { scale, .. }) = dense_layer(layer, inputs, Activation::Relu, None);
        Outputs { layer, unit: std::array::from_fn(|output| (1.0 / scale[output]) as f32) }
    }

    /// The outputs before the logistic function for a group of inputs, none of which is negative.
    #[inline(always)]
    pub fn of<L: Lanes, const P: usize>(
        &self,
        lanes: L,
        inputs: [&[WordBlock]; P],
        sums: &mut [Vec<SumBlock>; P],
        occupied: &mut Vec<u16>,
    ) -> [[f32; OUTPUTS]; P] {
        dense(lanes, &self.layer, inputs, sums, occupied);
        let mut outputs = [[0.0; OUTPUTS]; P];
        for (outputs, sums) in outputs.iter_mut().zip(sums) {
            for (output, (&sum, unit)) in outputs.iter_mut().zip(sums[0].0.iter().zip(self.unit)) {
                *output = sum as f32 * unit;
            }
        }
        outputs
    }
}

#[inline(always)]
fn rounded(x: f32) -> i16 {
    // Within ±32767 by the choice of scales.
    (x + 0.5f32.copysign(x)) as i32 as i16
}

fn first_layer(network: &Network, order: Vec<usize>) -> (QuantisedFirstLayer, Interface) {
    let (first, features) = (network.first(), network.features());
    let width = first.width();
    let runs = features.exclusive_runs();
    let rows: &[f32] = cast_slice(first.row_blocks());
    let bias: Vec<f32> = first.bias().collect();
    let (mut high, mut low) = (bias.clone(), bias.clone());
    let mut next_row = 0;
    for &run in &runs {
        let (mut run_high, mut run_low) = (vec![0.0f32; width], vec![0.0f32; width]);
        for row in rows[next_row * width..][..run * width].chunks_exact(width) {
            for ((&value, high), low) in row.iter().zip(&mut run_high).zip(&mut run_low) {
                *high = if value > *high { value } else { *high };
                *low = if value < *low { value } else { *low };
            }
        }
        for i in 0..width {
            high[i] += run_high[i];
            low[i] += run_low[i];
        }
        next_row += run;
    }
    // Each number of the sum may be rounded away from zero by a half, and these bounds in single precision by less.
    let room = f32::from(i16::MAX) - 0.5 * (runs.len() as f32 + 1.0) - 4.0;
    let scale: Vec<f32> = high
        .iter()
        .zip(&low)
        .map(|(high, low)| {
            let reach = high.max(-low);
            if reach > 0.0 { room / reach } else { 1.0 }
        })
        .collect();
    let mut permuted = vec![0.0; width];
    let permuted_scale: Vec<f32> = order.iter().map(|&output| scale[output]).collect();
    let mut quantise = |values: &[f32], words: &mut [i16]| {
        for (to, &output) in permuted.iter_mut().zip(&order) {
            *to = values[output];
        }
        for ((word, &value), &scale) in words.iter_mut().zip(&permuted).zip(&permuted_scale) {
            *word = rounded(value * scale);
        }
    };
    let blocks = width.div_ceil(WordBlock::SIZE);
    let mut quantised_bias = vec![WordBlock::default(); blocks];
    quantise(&bias, cast_slice_mut(&mut quantised_bias));
    let mut quantised_rows = vec![WordBlock::default(); blocks * first.row_count()];
    let words: &mut [i16] = cast_slice_mut(&mut quantised_rows);
    for (row, words) in rows.chunks_exact(width).zip(words.chunks_exact_mut(width)) {
        quantise(row, words);
    }
    let mut most = vec![WordBlock::default(); blocks];
    let words: &mut [i16] = cast_slice_mut(&mut most);
    for (word, &output) in words.iter_mut().zip(&order) {
        let highest = high[output].max(0.0) * scale[output] + f32::from(i16::MAX) - room;
        *word = match network.activation() {
            Activation::Relu => highest,
            Activation::ClippedRelu => highest.min(scale[output].round()),
        }
        .min(i16::MAX.into()) as i16;
    }
    let interface = Interface {
        most: cast_slice::<_, i16>(&most)[..width].iter().map(|&word| word.into()).collect(),
        scale: order.iter().map(|&output| scale[output].into()).collect(),
        order,
    };
    (QuantisedFirstLayer { features, bias: quantised_bias, rows: quantised_rows, most }, interface)
}

/// How the outputs of a hidden layer are kept, and the largest seen of each.
struct Hidden<'a> {
    order: Vec<usize>,
    largest: &'a [f64],
}

fn dense_layer(
    layer: &DenseLayer,
    inputs: &Interface,
    activation: Activation,
    hidden: Option<Hidden<'_>>,
) -> (QuantisedLayer, Interface) {
    let weight: Vec<f32> = layer.weight().collect();
    let bias: Vec<f32> = layer.bias().collect();
    let (order, largest) = match hidden {
        Some(Hidden { order, largest }) => (order, Some(largest)),
        None => ((0..layer.outputs()).collect(), None),
    };
    let layer_largest = largest.map_or(0.0, |largest| largest.iter().copied().fold(0.0, f64::max));
    let blocks = layer.outputs().div_ceil(SumBlock::SIZE);
    let pairs = layer.inputs().next_multiple_of(WordBlock::SIZE) / 2;
    let mut quantised = QuantisedLayer {
        bias: vec![SumBlock::default(); blocks],
        weight: vec![WordBlock::default(); pairs * blocks],
        shift: vec![SumBlock::default(); blocks],
        most: vec![SumBlock::default(); blocks],
    };
    let mut interface = Interface { scale: Vec::new(), most: Vec::new(), order };
    for (place, &output) in interface.order.iter().enumerate() {
        // Of one step of each input.
        let weights: Vec<f64> = inputs
            .order
            .iter()
            .zip(&inputs.scale)
            .map(|(&input, scale)| f64::from(weight[output * layer.inputs() + input]) / scale)
            .collect();
        let bias = f64::from(bias[output]);
        let (mut high, mut low, mut rounding, mut heaviest) = (bias.max(0.0), bias.min(0.0), 0.0, 0.0f64);
        for (&weight, &most) in weights.iter().zip(&inputs.most) {
            let product = weight * f64::from(most);
            high += product.max(0.0);
            low += product.min(0.0);
            rounding += 0.5 * f64::from(most);
            heaviest = heaviest.max(weight.abs());
        }
        let reach = high.max(-low);
        // The bias is rounded too, and holds the half with which a shift rounds.
        let room = f64::from(i32::MAX) - rounding - f64::from(1 << 16);
        let scale = if reach > 0.0 { (room / reach).min(f64::from(i16::MAX) / heaviest) } else { 1.0 };
        let (shift, most) = match largest {
            None => (0, 0),
            Some(largest) => {
                let limit = match activation {
                    Activation::Relu if layer_largest > 0.0 => {
                        high.min(MARGIN * largest[output].max(layer_largest / 8.0))
                    }
                    Activation::Relu => high,
                    Activation::ClippedRelu => high.min(1.0),
                };
                let mut shift = 0;
                while scale * limit / f64::from(1 << shift) > f64::from(i16::MAX) && shift < 16 {
                    shift += 1;
                }
                let clip = match activation {
                    Activation::Relu => f64::INFINITY,
                    Activation::ClippedRelu => (scale / f64::from(1 << shift)).round(),
                };
                (shift, clip.min(i16::MAX.into()) as i32)
            }
        };
        let (block, lane) = (place / SumBlock::SIZE, place % SumBlock::SIZE);
        let rounded_bias = (bias * scale).round() as i64 + (1 << shift >> 1);
        let (mut highest, mut lowest) = (rounded_bias, rounded_bias);
        for (input, weight) in weights.iter().enumerate() {
            let word = (weight * scale).round() as i16;
            quantised.weight[input / 2 * blocks + block].0[2 * lane + input % 2] = word;
            let product = i64::from(word) * i64::from(inputs.most[input]);
            highest += product.max(0);
            lowest += product.min(0);
        }
        assert!(
            highest <= i32::MAX.into() && lowest >= i32::MIN.into(),
            "the scale of an output keeps its sums in 32 bits"
        );
        quantised.bias[block].0[lane] = rounded_bias as i32;
        quantised.shift[block].0[lane] = shift;
        quantised.most[block].0[lane] = most;
        interface.scale.push(scale / f64::from(1 << shift));
        interface.most.push((highest.max(0) >> shift).min(most.into()) as i32);
    }
    (quantised, interface)
}

/// The first layer of one position: its slots and its sums.
#[derive(Clone, Debug)]
pub struct Accumulator {
    slots: Slots,
    sums: Vec<WordBlock>,
}

impl Accumulator {
    /// Room for a network's sums.
    pub fn for_network(network: &QuantisedNetwork) -> Accumulator {
        Accumulator { slots: [NO_ROW; MAX_SLOTS], sums: vec![WordBlock::default(); network.first.bias.len()] }
    }
}

/// The most positions that go through the layers side by side, so that each weight is read once for all of them.
pub const GROUP: usize = 4;

/// Buffers between the layers, for each position of a group.
#[derive(Clone, Debug, Default)]
pub struct Activations {
    hidden: [Vec<WordBlock>; GROUP],
    pub(super) sums: [Vec<SumBlock>; GROUP],
    /// For every 16 pairs of inputs, which of them are not zero in at least one position.
    pub(super) occupied: Vec<u16>,
}

/// Computes the first layer of `position` from nothing.
pub fn accumulate(arch: Arch, network: &QuantisedNetwork, position: &Position, accumulator: &mut Accumulator) {
    match arch {
        #[cfg(target_arch = "x86_64")]
        Arch::V4(lanes) => lanes.vectorize(Accumulate { lanes, network, position, accumulator }),
        #[cfg(target_arch = "x86_64")]
        Arch::V3(lanes) => lanes.vectorize(Accumulate { lanes, network, position, accumulator }),
        _ => Accumulate { lanes: Portable, network, position, accumulator }.call(),
    }
}

/// Evaluates positions whose first layers are computed from that of a `parent` by the slots in which they differ, and
/// hands what it finds of each to `found`, with its place among them.
pub fn evaluate_from(
    arch: Arch,
    network: &QuantisedNetwork,
    parent: &Accumulator,
    mut positions: &[&Position],
    activations: &mut Activations,
    mut found: impl FnMut(usize, [f32; OUTPUTS]),
) {
    let mut place = 0;
    let mut hand_over = |outputs| {
        found(place, outputs);
        place += 1;
    };
    while let Some((&group, rest)) = positions.split_first_chunk::<GROUP>() {
        evaluate_group(arch, network, parent, group, activations).into_iter().for_each(&mut hand_over);
        positions = rest;
    }
    if let Some((&group, rest)) = positions.split_first_chunk::<2>() {
        evaluate_group(arch, network, parent, group, activations).into_iter().for_each(&mut hand_over);
        positions = rest;
    }
    for &position in positions {
        evaluate_group(arch, network, parent, [position], activations).into_iter().for_each(&mut hand_over);
    }
}

fn evaluate_group<const P: usize>(
    arch: Arch,
    network: &QuantisedNetwork,
    parent: &Accumulator,
    positions: [&Position; P],
    activations: &mut Activations,
) -> [[f32; OUTPUTS]; P] {
    match arch {
        #[cfg(target_arch = "x86_64")]
        Arch::V4(lanes) => lanes.vectorize(EvaluateFrom { lanes, network, parent, positions, activations }),
        #[cfg(target_arch = "x86_64")]
        Arch::V3(lanes) => lanes.vectorize(EvaluateFrom { lanes, network, parent, positions, activations }),
        _ => EvaluateFrom { lanes: Portable, network, parent, positions, activations }.call(),
    }
}

struct Accumulate<'a, L> {
    lanes: L,
    network: &'a QuantisedNetwork,
    position: &'a Position,
    accumulator: &'a mut Accumulator,
}

impl<L: Lanes> NullaryFnOnce for Accumulate<'_, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Accumulate { lanes, network, position, accumulator: Accumulator { slots, sums } } = self;
        let mut rows = [0; MAX_SLOTS];
        let rows = network.first.features.rows_on(position, slots, &mut rows);
        sum_rows(lanes, &network.first, &network.first.bias, rows, &[], sums, |sum, _| sum);
    }
}

struct EvaluateFrom<'a, L, const P: usize> {
    lanes: L,
    network: &'a QuantisedNetwork,
    parent: &'a Accumulator,
    positions: [&'a Position; P],
    activations: &'a mut Activations,
}

impl<L: Lanes, const P: usize> NullaryFnOnce for EvaluateFrom<'_, L, P> {
    type Output = [[f32; OUTPUTS]; P];

    #[inline(always)]
    fn call(self) -> [[f32; OUTPUTS]; P] {
        let EvaluateFrom { lanes, network, parent, positions, activations } = self;
        let QuantisedNetwork { first, hidden: layers, outputs } = network;
        let Activations { hidden, sums, occupied } = activations;
        let (hidden, _) = hidden.split_first_chunk_mut::<P>().expect("no group is larger than the buffers");
        let (sums, _) = sums.split_first_chunk_mut::<P>().expect("no group is larger than the buffers");
        let most: &[L::Words] = cast_slice(&first.most);
        for (position, hidden) in positions.into_iter().zip(hidden.iter_mut()) {
            let mut slots = [NO_ROW; MAX_SLOTS];
            first.features.fill(position, &mut slots);
            let changes = Changes::between(&parent.slots, &slots);
            hidden.resize(parent.sums.len(), WordBlock::default());
            sum_rows(lanes, first, &parent.sums, changes.added(), changes.removed(), hidden, |sum, place| {
                lanes.clamp(sum, most[place])
            });
        }
        for layer in layers {
            dense(lanes, layer, hidden.each_ref().map(Vec::as_slice), sums, occupied);
            for (sums, hidden) in sums.iter().zip(hidden.iter_mut()) {
                activate(lanes, layer, sums, hidden);
            }
        }
        let outputs = outputs.of(lanes, hidden.each_ref().map(Vec::as_slice), sums, occupied);
        outputs.map(|outputs| outputs.map(logistic))
    }
}

/// `sums = finish(start + added rows - removed rows)`.
#[inline(always)]
fn sum_rows<L: Lanes>(
    lanes: L,
    layer: &QuantisedFirstLayer,
    start: &[WordBlock],
    added: &[u16],
    removed: &[u16],
    sums: &mut [WordBlock],
    finish: impl Fn(L::Words, usize) -> L::Words,
) {
    let rows: &[L::Words] = cast_slice(&layer.rows);
    let (start, sums): (&[L::Words], &mut [L::Words]) = (cast_slice(start), cast_slice_mut(sums));
    let mut first = 0;
    while first + 8 <= sums.len() {
        sum_vectors::<L, 8>(lanes, rows, start, added, removed, sums, first, &finish);
        first += 8;
    }
    while first + 2 <= sums.len() {
        if first + 4 <= sums.len() {
            sum_vectors::<L, 4>(lanes, rows, start, added, removed, sums, first, &finish);
            first += 4;
        } else {
            sum_vectors::<L, 2>(lanes, rows, start, added, removed, sums, first, &finish);
            first += 2;
        }
    }
}

/// `N` vectors, so that their sums stay in registers.
#[inline(always)]
#[expect(clippy::too_many_arguments)]
fn sum_vectors<L: Lanes, const N: usize>(
    lanes: L,
    rows: &[L::Words],
    start: &[L::Words],
    added: &[u16],
    removed: &[u16],
    sums: &mut [L::Words],
    first: usize,
    finish: &impl Fn(L::Words, usize) -> L::Words,
) {
    let stride = start.len();
    let rows = &rows[first..];
    let mut sum: [L::Words; N] = std::array::from_fn(|i| start[first + i]);
    for &row in removed {
        let row = &rows[usize::from(row) * stride..][..N];
        for i in 0..N {
            sum[i] = lanes.subtract(sum[i], row[i]);
        }
    }
    for &row in added {
        let row = &rows[usize::from(row) * stride..][..N];
        for i in 0..N {
            sum[i] = lanes.add(sum[i], row[i]);
        }
    }
    for i in 0..N {
        sums[first + i] = finish(sum[i], first + i);
    }
}

/// One layer, for positions side by side.
#[inline(always)]
fn dense<L: Lanes, const P: usize>(
    lanes: L,
    layer: &QuantisedLayer,
    inputs: [&[WordBlock]; P],
    outputs: &mut [Vec<SumBlock>; P],
    occupied: &mut Vec<u16>,
) {
    let inputs: [&[[[i16; 2]; 16]]; P] = inputs.map(cast_slice);
    occupied.resize(inputs[0].len(), 0);
    for (chunk, occupied) in occupied.iter_mut().enumerate() {
        *occupied = 0;
        for inputs in &inputs {
            *occupied |= lanes.occupied(&inputs[chunk]);
        }
    }
    for outputs in outputs.iter_mut() {
        outputs.resize(layer.bias.len(), SumBlock::default());
    }
    let mut outputs: [&mut [L::Sums]; P] = outputs.each_mut().map(|outputs| cast_slice_mut(outputs));
    let mut first = 0;
    first = dense_blocks::<L, P, 8>(lanes, layer, &inputs, &mut outputs, occupied, first);
    first = dense_blocks::<L, P, 4>(lanes, layer, &inputs, &mut outputs, occupied, first);
    first = dense_blocks::<L, P, 2>(lanes, layer, &inputs, &mut outputs, occupied, first);
    dense_blocks::<L, P, 1>(lanes, layer, &inputs, &mut outputs, occupied, first);
}

/// As many times `N` vectors of outputs as there are from the `first` on, if so many sums stay in registers; where the
/// rest begins.
#[inline(always)]
fn dense_blocks<L: Lanes, const P: usize, const N: usize>(
    lanes: L,
    layer: &QuantisedLayer,
    inputs: &[&[[[i16; 2]; 16]]; P],
    outputs: &mut [&mut [L::Sums]; P],
    occupied: &[u16],
    mut first: usize,
) -> usize {
    if P * N <= L::REGISTERS / 2 {
        while first + N <= outputs[0].len() {
            dense_vectors::<L, P, N>(lanes, layer, inputs, outputs, occupied, first);
            first += N;
        }
    }
    first
}

/// `N` vectors of outputs of each position, from the pairs of inputs that are not zero in at least one: after a ReLU few are,
/// and positions that come from one parent have most of them in common.
#[inline(always)]
fn dense_vectors<L: Lanes, const P: usize, const N: usize>(
    lanes: L,
    layer: &QuantisedLayer,
    inputs: &[&[[[i16; 2]; 16]]; P],
    outputs: &mut [&mut [L::Sums]; P],
    occupied: &[u16],
    first: usize,
) {
    let stride = outputs[0].len();
    let weights: &[L::Words] = &cast_slice(&layer.weight)[first..];
    let bias: &[L::Sums] = &cast_slice(&layer.bias)[first..];
    let mut sums: [[L::Sums; N]; P] = [std::array::from_fn(|i| bias[i]); P];
    for (chunk, &occupied) in occupied.iter().enumerate() {
        let mut occupied = occupied;
        while occupied != 0 {
            let pair = occupied.trailing_zeros() as usize;
            occupied &= occupied - 1;
            let mut splats = [lanes.splat([0; 2]); P];
            for place in 0..P {
                splats[place] = lanes.splat(inputs[place][chunk][pair]);
            }
            let weights = &weights[(16 * chunk + pair) * stride..][..N];
            for i in 0..N {
                for place in 0..P {
                    sums[place][i] = lanes.add_products(sums[place][i], splats[place], weights[i]);
                }
            }
        }
    }
    for (outputs, sums) in outputs.iter_mut().zip(&sums) {
        outputs[first..first + N].copy_from_slice(sums);
    }
}

/// Turns sums into the activations that the next layer reads.
#[inline(always)]
fn activate<L: Lanes>(lanes: L, layer: &QuantisedLayer, sums: &[SumBlock], hidden: &mut Vec<WordBlock>) {
    hidden.resize(sums.len().div_ceil(2), WordBlock::default());
    let (words, _) = cast_slice_mut::<_, i16>(hidden).as_chunks_mut::<{ SumBlock::SIZE }>();
    for (words, (sums, (shift, most))) in words.iter_mut().zip(sums.iter().zip(layer.shift.iter().zip(&layer.most))) {
        *words = lanes.activate(&sums.0, &shift.0, &most.0);
    }
    // Half a block may be left over.
    words[sums.len()..].fill([0; SumBlock::SIZE]);
}
