//! The dense layers behind the sparse first one, and their optimiser, in burn.
//!
//! The first layer has thousands of rows of which a sample touches a few dozen; burn has no sparse gradients, so
//! that layer and its Adam are our own. Everything from its pre-activations on is here: activation, linear layer,
//! activation, …, linear layer, sigmoid. [`DenseTail::step`] trains these layers and hands back the gradient of its
//! input, from which the first layer learns.
//!
//! On one kind of CPU equal calls give bit-equal results: burn draws no random numbers here and computes on the
//! calling thread. (Its matrix kernels are chosen by what the CPU offers; a GPU gives no such promise.)

use std::fmt;

use burn::module::{Module, Param, ParamId};
use burn::optim::{Adam, AdamConfig, AdamState, AdaptiveMomentumState, Optimizer};
use burn::store::ModuleRecord;
use burn::tensor::activation::{log_sigmoid, relu, sigmoid};
use burn::tensor::module::linear;
use burn::tensor::{Bytes, Device, Gradients, Tensor, TensorData};
use zar::net::Activation;

use crate::device::DeviceChoice;

/// The activation in burn. `clamp(0, 1)` would say the same of a clipped one at several times the cost of its gradient.
fn activate(activation: Activation, x: Tensor<2>) -> Tensor<2> {
    match activation {
        Activation::Relu => relu(x),
        Activation::ClippedRelu => relu(x).clamp_max(1.0),
    }
}

/// The weights of one dense layer in plain vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseWeights {
    /// Width of the layer before.
    pub inputs: usize,
    /// Width of this layer.
    pub outputs: usize,
    /// `weight[output * inputs + input]`.
    pub weight: Vec<f32>,
    /// `bias[output]`.
    pub bias: Vec<f32>,
}

/// What one training step found, measured before the weights moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Cross-entropy in nats, summed over the outputs, mean over the batch.
    pub loss: f32,
    /// d(loss) / d(hidden): `[sample * inputs + unit]`.
    pub hidden_gradient: Vec<f32>,
}

/// What can go wrong with a [`DenseTail`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TailError {
    /// Fewer than two widths, a width of zero, or a layer that does not fit on the one before.
    #[error("widths {0:?} are no chain of dense layers")]
    Widths(Vec<usize>),
    /// A vector of the wrong length.
    #[error("{what}: {got} values where {expected} were expected")]
    Length {
        /// What the vector holds.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The length that fits.
        expected: usize,
    },
    /// Training blew up; the weights stay as before this step.
    #[error("the loss is {0}")]
    Diverged(f32),
    /// Bytes that [`DenseTail::to_bytes`] did not write, or wrote for other widths.
    #[error("saved dense layers: {0}")]
    Corrupt(String),
    /// burn or its device failed.
    #[error("burn: {0}")]
    Backend(String),
}

impl TailError {
    fn backend(error: impl fmt::Display) -> Self {
        Self::Backend(error.to_string())
    }
}

/// A trained tensor and Adam's running means of its gradient and of the gradient's square.
#[derive(Module, Debug)]
struct Trained<const D: usize> {
    value: Param<Tensor<D>>,
    mean: Param<Tensor<D>>,
    square: Param<Tensor<D>>,
}

impl<const D: usize> Trained<D> {
    fn new(value: Tensor<D>) -> Self {
        let zeros = value.zeros_like();
        Self { value: param(value), mean: param(zeros.clone()), square: param(zeros) }
    }

    /// The value as a leaf of a new gradient graph.
    fn leaf(&self) -> Tensor<D> {
        self.value.val().autodiff().require_grad()
    }

    /// Adam's step number `steps + 1`.
    fn step(&mut self, adam: &Adam, rate: f64, steps: usize, gradient: Tensor<D>) {
        let moments = AdaptiveMomentumState::new(steps, self.mean.val(), self.square.val());
        let (value, state) = adam.step(rate, self.value.val(), gradient, Some(AdamState::new(moments)));
        self.value = param(value);
        if let Some(AdamState { momentum }) = state {
            (self.mean, self.square) = (param(momentum.moment_1), param(momentum.moment_2));
        }
    }
}

/// burn numbers parameters at random; nothing here looks at the number, and one for all keeps saved bytes the same.
fn param<const D: usize>(tensor: Tensor<D>) -> Param<Tensor<D>> {
    Param::initialized(ParamId::from(0), tensor)
}

/// Takes a leaf's gradient out of `gradients`.
fn take<const D: usize>(leaf: &Tensor<D>, gradients: &mut Gradients) -> Result<Tensor<D>, TailError> {
    leaf.grad_remove(gradients).ok_or_else(|| TailError::backend("no gradient for a trained tensor"))
}

fn read<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>, TailError> {
    tensor.try_into_vec_as().map_err(TailError::backend)
}

/// One linear layer: `weight` is `[inputs, outputs]`, `bias` is `[outputs]`.
#[derive(Module, Debug)]
struct Layer {
    weight: Trained<2>,
    bias: Trained<1>,
}

/// The dense layers and their Adam (β₁ 0.9, β₂ 0.999, ε 1e-8, no weight decay).
#[derive(Debug)]
pub struct DenseTail {
    layers: Vec<Layer>,
    /// Input width, then the output width of every layer.
    widths: Vec<usize>,
    activation: Activation,
    device: Device,
    /// Adam steps taken.
    steps: usize,
}

impl DenseTail {
    /// Layers with the given weights, and an optimiser that has seen nothing.
    ///
    /// # Errors
    ///
    /// [`TailError::Widths`] or [`TailError::Length`] where `layers` do not fit together.
    ///
    /// # Panics
    ///
    /// burn panics where a GPU was chosen and there is none.
    pub fn new(layers: &[DenseWeights], activation: Activation, device: DeviceChoice) -> Result<Self, TailError> {
        let widths: Vec<usize> =
            layers.first().map(|l| l.inputs).into_iter().chain(layers.iter().map(|l| l.outputs)).collect();
        let chained = layers.windows(2).all(|pair| pair[0].outputs == pair[1].inputs);
        if layers.is_empty() || widths.contains(&0) || !chained {
            return Err(TailError::Widths(widths));
        }
        let device = Device::from(device);
        let layers = layers.iter().map(|l| {
            check_length("weights of a layer", l.weight.len(), l.inputs * l.outputs)?;
            check_length("biases of a layer", l.bias.len(), l.outputs)?;
            // burn's `linear` wants `[inputs, outputs]`.
            let transposed = (0..l.weight.len()).map(|i| l.weight[i % l.outputs * l.inputs + i / l.outputs]);
            let weight = TensorData::new(transposed.collect::<Vec<_>>(), [l.inputs, l.outputs]);
            let bias = TensorData::new(l.bias.clone(), [l.outputs]);
            Ok(Layer {
                weight: Trained::new(Tensor::from_data(weight, &device)),
                bias: Trained::new(Tensor::from_data(bias, &device)),
            })
        });
        Ok(Self { layers: layers.collect::<Result<_, _>>()?, widths, activation, device, steps: 0 })
    }

    /// One forward pass, one backward pass and one Adam step on a batch.
    ///
    /// `hidden` holds the first layer's pre-activations, `[sample * inputs + unit]`; `targets` the probabilities to
    /// learn, each about 0 to 1 ([`Sample::target`](crate::self_play::Sample::target)), `[sample * outputs + output]`.
    ///
    /// # Errors
    ///
    /// [`TailError::Length`] for slices that do not match or hold no sample, [`TailError::Diverged`] for a loss that
    /// is no finite number. The weights are then as before.
    pub fn step(&mut self, hidden: &[f32], targets: &[f32], learning_rate: f64) -> Result<Step, TailError> {
        let (hidden, batch) = self.batch(hidden)?;
        let outputs = self.widths[self.layers.len()];
        check_length("targets", targets.len(), batch.max(1) * outputs)?;

        let hidden = hidden.autodiff().require_grad();
        let leaves: Vec<_> = self.layers.iter().map(|l| (l.weight.leaf(), l.bias.leaf())).collect();
        let logits = self.logits(hidden.clone(), leaves.iter().cloned());
        // −t·ln σ(x) − (1 − t)·ln σ(−x), where ln σ(−x) = ln σ(x) − x: finite for every logit x.
        let against: Vec<f32> = targets.iter().map(|t| 1.0 - t).collect();
        let against = Tensor::from_data(TensorData::new(against, [batch, outputs]), &self.device);
        let loss = (logits.clone() * against - log_sigmoid(logits)).sum() / batch as f32;

        let mut gradients = loss.backward();
        let loss: f32 = loss.try_into_scalar().map_err(TailError::backend)?;
        if !loss.is_finite() {
            return Err(TailError::Diverged(loss));
        }
        let hidden_gradient = read(take(&hidden, &mut gradients)?)?;
        let adam = AdamConfig::new().with_epsilon(1e-8).build();
        for (layer, (weight, bias)) in self.layers.iter_mut().zip(&leaves) {
            layer.weight.step(&adam, learning_rate, self.steps, take(weight, &mut gradients)?);
            layer.bias.step(&adam, learning_rate, self.steps, take(bias, &mut gradients)?);
        }
        self.steps += 1;
        Ok(Step { loss, hidden_gradient })
    }

    /// The probabilities that the layers give, `[sample * outputs + output]`, for `hidden` as in [`step`](Self::step).
    ///
    /// # Errors
    ///
    /// [`TailError::Length`] where `hidden` is not a whole number of samples.
    pub fn forward(&self, hidden: &[f32]) -> Result<Vec<f32>, TailError> {
        let (hidden, batch) = self.batch(hidden)?;
        if batch == 0 {
            return Ok(Vec::new());
        }
        let layers = self.layers.iter().map(|l| (l.weight.value.val(), l.bias.value.val()));
        read(sigmoid(self.logits(hidden, layers)))
    }

    /// The weights as they are now, first layer first.
    ///
    /// # Errors
    ///
    /// [`TailError::Backend`] where the device cannot be read.
    pub fn weights(&self) -> Result<Vec<DenseWeights>, TailError> {
        let weights = self.layers.iter().zip(self.widths.windows(2)).map(|(layer, widths)| {
            let (weight, bias) = (read(layer.weight.value.val().transpose())?, read(layer.bias.value.val())?);
            Ok(DenseWeights { inputs: widths[0], outputs: widths[1], weight, bias })
        });
        weights.collect()
    }

    /// Weights and optimiser as bytes: CRC-32 of the rest, Adam's step count as a `u64`, both little-endian, then
    /// burn's own record. Equal states give equal bytes.
    ///
    /// # Errors
    ///
    /// [`TailError::Backend`] where the device cannot be read.
    pub fn to_bytes(&self) -> Result<Vec<u8>, TailError> {
        let record = self.layers.clone().into_record().into_bytes().map_err(TailError::backend)?;
        let mut body = (self.steps as u64).to_le_bytes().to_vec();
        body.extend_from_slice(&record);
        Ok([&crc32fast::hash(&body).to_le_bytes(), body.as_slice()].concat())
    }

    /// The tail that [`to_bytes`](Self::to_bytes) saved; on the CPU it trains on bit for bit as if never interrupted.
    ///
    /// `widths` is the input width, then the output width of every layer, as it was saved.
    ///
    /// # Errors
    ///
    /// [`TailError::Widths`] for widths that are none, [`TailError::Corrupt`] for damaged bytes or other widths.
    pub fn from_bytes(
        bytes: &[u8],
        widths: &[usize],
        activation: Activation,
        device: DeviceChoice,
    ) -> Result<Self, TailError> {
        let corrupt = |reason: &str| TailError::Corrupt(reason.to_owned());
        let (sum, body) = bytes.split_first_chunk().ok_or_else(|| corrupt("cut short"))?;
        if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
            return Err(corrupt("the checksum does not match"));
        }
        let (steps, record) = body.split_first_chunk().ok_or_else(|| corrupt("cut short"))?;
        let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(record.to_vec()));

        let blank = widths.windows(2).map(|w| DenseWeights {
            inputs: w[0],
            outputs: w[1],
            weight: vec![0.0; w[0] * w[1]],
            bias: vec![0.0; w[1]],
        });
        let mut tail = Self::new(&blank.collect::<Vec<_>>(), activation, device)?;
        let layers = record.and_then(|record| tail.layers.try_load_record(record.cast_to_module_dtype()));
        tail.layers = layers.map_err(|error| TailError::Corrupt(error.to_string()))?;
        tail.steps = usize::try_from(u64::from_le_bytes(*steps)).map_err(|e| corrupt(&e.to_string()))?;
        let finite = |layer: &DenseWeights| layer.weight.iter().chain(&layer.bias).all(|value| value.is_finite());
        if tail.weights()?.iter().all(finite) { Ok(tail) } else { Err(corrupt("a weight is not a finite number")) }
    }

    /// `hidden` as a tensor, and the number of samples in it.
    fn batch(&self, hidden: &[f32]) -> Result<(Tensor<2>, usize), TailError> {
        let batch = hidden.len() / self.widths[0];
        check_length("hidden", hidden.len(), batch * self.widths[0])?;
        let data = TensorData::new(hidden.to_vec(), [batch, self.widths[0]]);
        Ok((Tensor::from_data(data, &self.device), batch))
    }

    fn logits(&self, hidden: Tensor<2>, layers: impl Iterator<Item = (Tensor<2>, Tensor<1>)>) -> Tensor<2> {
        layers.fold(hidden, |x, (weight, bias)| linear(activate(self.activation, x), weight, Some(bias)))
    }
}

fn check_length(what: &'static str, got: usize, expected: usize) -> Result<(), TailError> {
    if got == expected { Ok(()) } else { Err(TailError::Length { what, got, expected }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTHS: [usize; 4] = [7, 6, 4, 5];
    const BATCH: usize = 9;

    /// Numbers in -1..1, the same every time.
    fn numbers(mut state: u64, count: usize) -> Vec<f32> {
        let next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    fn layers() -> Vec<DenseWeights> {
        let layer = |w: &[usize]| DenseWeights {
            inputs: w[0],
            outputs: w[1],
            weight: numbers(w[0] as u64, w[0] * w[1]),
            bias: numbers(100, w[1]),
        };
        WIDTHS.windows(2).map(layer).collect()
    }

    fn tail(activation: Activation) -> DenseTail {
        DenseTail::new(&layers(), activation, DeviceChoice::Cpu).unwrap()
    }

    /// Pre-activations, some above 1 so that clipping shows, and targets.
    fn batch() -> (Vec<f32>, Vec<f32>) {
        let hidden = numbers(7, BATCH * WIDTHS[0]).iter().map(|x| 2.0 * x).collect();
        (hidden, numbers(8, BATCH * 5).iter().map(|x| 0.5 + 0.5 * x).collect())
    }

    fn probabilities_by_hand(activation: Activation, hidden: &[f32]) -> Vec<f64> {
        let top = if activation == Activation::ClippedRelu { 1.0 } else { f64::INFINITY };
        let layer = |x: Vec<f64>, l: &DenseWeights| -> Vec<f64> {
            let dot = |row: &[f32]| row.iter().zip(&x).map(|(w, x)| f64::from(*w) * x.clamp(0.0, top)).sum::<f64>();
            l.weight.chunks(l.inputs).zip(&l.bias).map(|(row, bias)| dot(row) + f64::from(*bias)).collect()
        };
        let sample = |x: &[f32]| layers().iter().fold(x.iter().map(|&x| x.into()).collect(), layer);
        hidden.chunks(WIDTHS[0]).flat_map(sample).map(|x| 1.0 / (1.0 + (-x).exp())).collect()
    }

    fn loss_by_hand(activation: Activation, hidden: &[f32], targets: &[f32]) -> f64 {
        let entropy = |(p, &t): (f64, &f32)| -f64::from(t) * p.ln() - f64::from(1.0 - t) * (1.0 - p).ln();
        probabilities_by_hand(activation, hidden).into_iter().zip(targets).map(entropy).sum::<f64>() / BATCH as f64
    }

    fn assert_near(got: f32, expected: f64) {
        assert!((f64::from(got) - expected).abs() < 1e-5, "{got} is not {expected}");
    }

    #[test]
    fn probabilities_loss_and_gradient_agree_with_the_formulas() {
        let (hidden, targets) = batch();
        for activation in [Activation::Relu, Activation::ClippedRelu] {
            let mut tail = tail(activation);
            let expected = probabilities_by_hand(activation, &hidden);
            tail.forward(&hidden).unwrap().into_iter().zip(expected).for_each(|(got, p)| assert_near(got, p));
            let step = tail.step(&hidden, &targets, 0.0).unwrap();
            assert_near(step.loss, loss_by_hand(activation, &hidden, &targets));
            for (i, &got) in step.hidden_gradient.iter().enumerate() {
                let (mut up, mut down) = (hidden.clone(), hidden.clone());
                (up[i], down[i]) = (hidden[i] + 1e-4, hidden[i] - 1e-4);
                let rise = loss_by_hand(activation, &up, &targets) - loss_by_hand(activation, &down, &targets);
                assert_near(got, rise / f64::from(up[i] - down[i]));
            }
        }
    }

    #[test]
    fn adam_moves_a_weight_by_the_rate_at_first_and_the_loss_falls() {
        let (hidden, targets) = batch();
        let mut tail = tail(Activation::Relu);
        let first = tail.step(&hidden, &targets, 1e-2).unwrap().loss;
        for (after, before) in tail.weights().unwrap()[2].bias.iter().zip(&layers()[2].bias) {
            assert_near((after - before).abs(), 1e-2);
        }
        let last = (0..300).map(|_| tail.step(&hidden, &targets, 1e-2).unwrap().loss).last();
        assert!(last < Some(0.8 * first), "{first} {last:?}");
    }

    #[test]
    fn a_resumed_run_equals_an_uninterrupted_one() {
        let (hidden, targets) = batch();
        let run = |mut tail: DenseTail, steps| {
            (0..steps).for_each(|_| drop(tail.step(&hidden, &targets, 1e-2).unwrap()));
            tail
        };
        let straight = run(tail(Activation::ClippedRelu), 10);
        for before in [0, 5] {
            let saved = run(tail(Activation::ClippedRelu), before).to_bytes().unwrap();
            let loaded = DenseTail::from_bytes(&saved, &WIDTHS, Activation::ClippedRelu, DeviceChoice::Cpu).unwrap();
            let resumed = run(loaded, 10 - before);
            assert_eq!(resumed.weights().unwrap(), straight.weights().unwrap());
            assert_eq!(resumed.to_bytes().unwrap(), straight.to_bytes().unwrap());
        }
    }

    #[test]
    fn damaged_bytes_and_other_widths_are_refused() {
        let saved = tail(Activation::Relu).to_bytes().unwrap();
        let refused = |bytes: &[u8], widths: &[usize]| {
            let loaded = DenseTail::from_bytes(bytes, widths, Activation::Relu, DeviceChoice::Cpu);
            matches!(loaded, Err(TailError::Corrupt(_)))
        };
        assert!(!refused(&saved, &WIDTHS));
        for at in 0..saved.len() {
            let mut flipped = saved.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(refused(&saved[..at], &WIDTHS) && refused(&flipped, &WIDTHS), "byte {at}");
        }
        for widths in [&[7, 6, 5][..], &[7, 6, 4, 6], &[7, 6, 4, 5, 5]] {
            assert!(refused(&saved, widths), "{widths:?}");
        }
        let mut broken = layers();
        broken[1].weight[3] = f32::NAN;
        let broken = DenseTail::new(&broken, Activation::Relu, DeviceChoice::Cpu).unwrap();
        assert!(refused(&broken.to_bytes().unwrap(), &WIDTHS));
    }

    #[test]
    fn senseless_arguments_are_refused_and_change_nothing() {
        let (hidden, targets) = batch();
        let mut tail = tail(Activation::Relu);
        let wrong = |what, got, expected| Err(TailError::Length { what, got, expected });
        assert_eq!(tail.step(&hidden[1..], &targets, 0.1), wrong("hidden", 62, 56));
        assert_eq!(tail.step(&hidden, &targets[1..], 0.1), wrong("targets", 44, 45));
        assert_eq!(tail.step(&[], &[], 0.1), wrong("targets", 0, 5));
        assert!(matches!(tail.step(&[f32::MAX; 63], &targets, 0.1), Err(TailError::Diverged(_))));
        assert_eq!(tail.weights().unwrap(), layers());
        assert_eq!(tail.forward(&[]), Ok(vec![]));
        let gap = DenseTail::new(&[layers()[0].clone(), layers()[2].clone()], Activation::Relu, DeviceChoice::Cpu);
        assert_eq!(gap.err(), Some(TailError::Widths(vec![7, 6, 5])));
    }
}
