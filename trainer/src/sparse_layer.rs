//! The first layer while it learns: thousands of rows, of which a position uses some dozens.
//!
//! burn has no sparse gradients, and its dense form of this layer would multiply mostly zeros; so the sums, the
//! gradient and the optimiser of this one layer are here. The optimiser is Adam (Kingma, Ba, 2015) with a clock of its
//! own for each row, which moves when a position of the batch uses the row ("lazy" Adam).

use pulp::{Arch, Simd, WithSimd};
use zar::net::{FeatureSet, FirstLayer, MAX_SLOTS, NO_ROW, ShapeError};

use crate::self_play::Sample;

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Numbers that are worked on together; every width is a multiple.
const GROUP: usize = FirstLayer::WIDTH_STEP;

/// Rows and their optimiser. The biases are the last row, which every position uses.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseLayer {
    features: FeatureSet,
    width: usize,
    /// `[row * width + unit]`, like the moments.
    rows: Vec<f32>,
    mean: Vec<f32>,
    variance: Vec<f32>,
    /// Steps that each row has made.
    steps: Vec<u32>,
}

/// The rows that each position of a batch uses.
#[derive(Clone, Debug, Default)]
pub struct Active {
    rows: Vec<u16>,
    /// Where each position's rows end in `rows`.
    ends: Vec<u32>,
    /// For each row of the layer, the positions that use it: `by_row[starts[row]..starts[row + 1]]`.
    by_row: Vec<u32>,
    starts: Vec<u32>,
}

impl SparseLayer {
    /// A layer from its first weights: `rows` without biases, row-major.
    ///
    /// # Errors
    /// Numbers of values that do not fit.
    pub fn new(features: FeatureSet, bias: &[f32], rows: &[f32]) -> Result<SparseLayer, ShapeError> {
        let mut values = rows.to_vec();
        values.extend(bias);
        let zeros = vec![0.0; values.len()];
        SparseLayer::from_state(features, bias.len(), values, zeros.clone(), zeros, vec![0; features.rows() + 1])
    }

    /// A layer with its optimiser, as [`SparseLayer::state`] gave it.
    ///
    /// # Errors
    /// Numbers of values that do not fit.
    pub fn from_state(
        features: FeatureSet,
        width: usize,
        rows: Vec<f32>,
        mean: Vec<f32>,
        variance: Vec<f32>,
        steps: Vec<u32>,
    ) -> Result<SparseLayer, ShapeError> {
        FirstLayer::check_width(width)?;
        let count = features.rows() + 1;
        ShapeError::check_values("the sparse layer", rows.len(), count * width)?;
        ShapeError::check_values("the first moments of the sparse layer", mean.len(), count * width)?;
        ShapeError::check_values("the second moments of the sparse layer", variance.len(), count * width)?;
        ShapeError::check_values("the clocks of the sparse layer", steps.len(), count)?;
        Ok(SparseLayer { features, width, rows, mean, variance, steps })
    }

    /// `(rows with the biases last, first moments, second moments, steps of each row)`.
    pub fn state(&self) -> (&[f32], &[f32], &[f32], &[u32]) {
        (&self.rows, &self.mean, &self.variance, &self.steps)
    }

    /// Finds the rows that each position uses.
    pub fn activate(&self, samples: &mut dyn Iterator<Item = &Sample>, active: &mut Active) {
        let bias = self.features.rows();
        active.rows.clear();
        active.ends.clear();
        let mut counts = vec![0u32; bias + 2];
        for sample in samples {
            let mut slots = [NO_ROW; MAX_SLOTS];
            self.features.fill(&sample.position, &mut slots);
            active.rows.extend(slots.iter().filter(|&&row| row != NO_ROW));
            active.rows.push(bias as u16);
            active.ends.push(active.rows.len() as u32);
        }
        for &row in &active.rows {
            counts[usize::from(row) + 1] += 1;
        }
        for row in 0..=bias {
            counts[row + 1] += counts[row];
        }
        active.starts.clone_from(&counts);
        active.by_row.resize(active.rows.len(), 0);
        let mut start = 0;
        for (sample, &end) in active.ends.iter().enumerate() {
            for &row in &active.rows[start..end as usize] {
                let place = &mut counts[usize::from(row)];
                active.by_row[*place as usize] = sample as u32;
                *place += 1;
            }
            start = end as usize;
        }
    }

    /// The layer's outputs, before the activation: `[position * width + unit]`.
    pub fn forward(&self, active: &Active, hidden: &mut Vec<f32>) {
        hidden.resize(active.ends.len() * self.width, 0.0);
        Arch::new().dispatch(SumRows { rows: &self.rows, width: self.width, active, hidden });
    }

    /// One step of the optimiser, from the gradient of the loss by the layer's outputs.
    pub fn step(&mut self, active: &Active, gradient: &[f32], rate: f32) {
        Arch::new().dispatch(Adam { layer: self, active, gradient, rate });
    }

    /// Moves `average` (rows with the biases last) towards the rows by a share of the distance.
    pub fn average_into(&self, average: &mut [f32], share: f32) {
        for (average, row) in average.iter_mut().zip(&self.rows) {
            *average += share * (row - *average);
        }
    }
}

// The loops below are plain Rust, which the compiler turns into the instructions of the CPU that `pulp` has found; a closure in
// their place would stay with those of the oldest one.

/// The sums of [`SparseLayer::forward`].
struct SumRows<'a> {
    rows: &'a [f32],
    width: usize,
    active: &'a Active,
    hidden: &'a mut [f32],
}

impl WithSimd for SumRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let SumRows { rows, width, active, hidden } = self;
        let mut start = 0;
        for (hidden, &end) in hidden.chunks_exact_mut(width).zip(&active.ends) {
            for (group, hidden) in hidden.chunks_exact_mut(GROUP).enumerate() {
                let mut sum = [0.0f32; GROUP];
                for &row in &active.rows[start..end as usize] {
                    let offset = usize::from(row) * width + group * GROUP;
                    for (sum, value) in sum.iter_mut().zip(&rows[offset..offset + GROUP]) {
                        *sum += value;
                    }
                }
                hidden.copy_from_slice(&sum);
            }
            start = end as usize;
        }
    }
}

/// What the moments after so many steps are multiplied by, to make up for their start at 0.
fn unbiased(steps: u32) -> (f32, f32) {
    // As many powers are asked for as rows are used: an exponential is quicker than a product.
    let rest = |beta: f32| (beta.ln() * steps as f32).exp();
    (1.0 / (1.0 - rest(BETA1)), 1.0 / (1.0 - rest(BETA2)))
}

/// The step of [`SparseLayer::step`].
struct Adam<'a> {
    layer: &'a mut SparseLayer,
    active: &'a Active,
    gradient: &'a [f32],
    rate: f32,
}

impl WithSimd for Adam<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Adam { layer, active, gradient, rate } = self;
        let width = layer.width;
        for row in 0..layer.steps.len() {
            let users = &active.by_row[active.starts[row] as usize..active.starts[row + 1] as usize];
            if users.is_empty() {
                continue;
            }
            layer.steps[row] = layer.steps[row].saturating_add(1);
            let (unbias1, unbias2) = unbiased(layer.steps[row]);
            for group in (0..width).step_by(GROUP) {
                let mut sum = [0.0f32; GROUP];
                for &user in users {
                    let offset = user as usize * width + group;
                    for (sum, value) in sum.iter_mut().zip(&gradient[offset..offset + GROUP]) {
                        *sum += value;
                    }
                }
                let place = row * width + group..row * width + group + GROUP;
                let rows = &mut layer.rows[place.clone()];
                let mean = &mut layer.mean[place.clone()];
                let variance = &mut layer.variance[place];
                for i in 0..GROUP {
                    mean[i] = BETA1 * mean[i] + (1.0 - BETA1) * sum[i];
                    variance[i] = BETA2 * variance[i] + (1.0 - BETA2) * sum[i] * sum[i];
                    rows[i] -= rate * (mean[i] * unbias1) / ((variance[i] * unbias2).sqrt() + EPSILON);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use zar::{board::Position, net::Probabilities};

    use super::*;

    fn samples() -> Vec<Sample> {
        let target = Probabilities::default();
        ["4HPwATDgc/ABMA", "sGfwATDgc/ABMA", "G4YNDEaX1yABAw"]
            .map(|id| Sample { position: id.parse::<Position>().unwrap(), target })
            .into()
    }

    fn layer() -> SparseLayer {
        let features = FeatureSet::ContactPatterns;
        let rows: Vec<f32> = (0..features.rows() * 64).map(|i| (i % 101) as f32 / 101.0 - 0.5).collect();
        SparseLayer::new(features, &[0.25; 64], &rows).unwrap()
    }

    #[test]
    fn outputs_are_sums_of_rows() {
        let (layer, samples) = (layer(), samples());
        let (mut active, mut hidden) = (Active::default(), Vec::new());
        layer.activate(&mut samples.iter(), &mut active);
        layer.forward(&active, &mut hidden);
        for (sample, hidden) in samples.iter().zip(hidden.chunks(64)) {
            let mut slots = [NO_ROW; MAX_SLOTS];
            layer.features.fill(&sample.position, &mut slots);
            let rows = slots.iter().filter(|&&row| row != NO_ROW);
            let expected = rows.fold(0.25, |sum, &row| sum + layer.rows[usize::from(row) * 64 + 7]);
            assert!((hidden[7] - expected).abs() < 1e-4);
        }
    }

    /// The first step of Adam moves every used weight by the rate, against its gradient, and no other.
    #[test]
    fn first_step_moves_used_rows_by_the_rate() {
        let (mut layer, samples) = (layer(), samples());
        let before = layer.rows.clone();
        let mut active = Active::default();
        layer.activate(&mut samples.iter(), &mut active);
        let gradient: Vec<f32> = (0..3 * 64).map(|i| if i % 2 == 0 { 0.5 } else { -0.5 }).collect();
        layer.step(&active, &gradient, 0.01);
        for row in 0..layer.features.rows() + 1 {
            let used = active.rows.contains(&(row as u16));
            for unit in 0..64 {
                let moved = layer.rows[row * 64 + unit] - before[row * 64 + unit];
                let expected = if !used {
                    0.0
                } else if unit % 2 == 0 {
                    -0.01
                } else {
                    0.01
                };
                assert!((moved - expected).abs() < 1e-6, "row {row} unit {unit}: {moved}");
            }
        }
    }
}
