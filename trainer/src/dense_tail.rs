//! The dense layers behind the sparse first one, and their optimiser, in burn.
//!
//! The first layer has thousands of rows of which a sample touches a few dozen; burn has no sparse gradients, so
//! that layer and its Adam are our own. Everything from its pre-activations on is here: activation, linear layer,
//! activation, …, linear layer, sigmoid. [`DenseTail::step`] trains these layers and hands back the gradient of its
//! input, from which the first layer learns.
//!
//! Equal calls give bit-equal results on the CPU: burn draws no random numbers here and runs on the calling thread.

use std::fmt;
use std::str::FromStr;

use burn::module::{Module, Param, ParamId};
use burn::optim::{Adam, AdamConfig, AdamState, AdaptiveMomentumState, Optimizer};
use burn::store::ModuleRecord;
use burn::tensor::activation::{log_sigmoid, relu, sigmoid};
use burn::tensor::module::linear;
use burn::tensor::{Bytes, Device, Gradients, Tensor, TensorData};

/// What a hidden unit makes of its weighted sum `x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// `max(x, 0)`.
    Relu,
    /// `min(max(x, 0), 1)`.
    ClippedRelu,
}

impl Activation {
    fn apply(self, x: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Relu => relu(x),
            Self::ClippedRelu => relu(x).clamp_max(1.0),
        }
    }
}

/// Where burn computes: the CPU, or a GPU backend that this program was built with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// burn's pure-Rust `flex` backend, on the calling thread.
    #[default]
    Cpu,
    /// The best GPU that wgpu finds (Vulkan, Metal, DirectX).
    #[cfg(feature = "wgpu")]
    Wgpu,
    /// The first CUDA device.
    #[cfg(feature = "cuda")]
    Cuda,
}

/// Why a device name was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// No such device.
    #[error("unknown device {0:?}; expected cpu, wgpu or cuda")]
    Unknown(String),
    /// A device that exists, but that this program was built without.
    #[error("device {0} is not compiled in; build with --features {0}")]
    NotCompiledIn(&'static str),
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    fn from_str(name: &str) -> Result<Self, DeviceError> {
        match name {
            "cpu" => Ok(Self::Cpu),
            #[cfg(feature = "wgpu")]
            "wgpu" => Ok(Self::Wgpu),
            #[cfg(not(feature = "wgpu"))]
            "wgpu" => Err(DeviceError::NotCompiledIn("wgpu")),
            #[cfg(feature = "cuda")]
            "cuda" => Ok(Self::Cuda),
            #[cfg(not(feature = "cuda"))]
            "cuda" => Err(DeviceError::NotCompiledIn("cuda")),
            _ => Err(DeviceError::Unknown(name.to_owned())),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "cpu",
            #[cfg(feature = "wgpu")]
            Self::Wgpu => "wgpu",
            #[cfg(feature = "cuda")]
            Self::Cuda => "cuda",
        })
    }
}

impl From<DeviceChoice> for Device {
    fn from(choice: DeviceChoice) -> Self {
        match choice {
            DeviceChoice::Cpu => Self::flex(),
            #[cfg(feature = "wgpu")]
            DeviceChoice::Wgpu => Self::wgpu(Default::default()),
            #[cfg(feature = "cuda")]
            DeviceChoice::Cuda => Self::cuda(0),
        }
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
    /// A batch without samples has no mean loss.
    #[error("a training step on an empty batch")]
    EmptyBatch,
    /// Adam's step size must be a finite number, 0 or above.
    #[error("learning rate {0} is not a finite number, 0 or above")]
    LearningRate(f64),
    /// Training blew up, or was fed infinities; the weights were left as before the step.
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
    /// learn, each in 0..=1, `[sample * outputs + output]`.
    ///
    /// # Errors
    ///
    /// [`TailError::Length`], [`TailError::EmptyBatch`] or [`TailError::LearningRate`] for arguments that make no
    /// sense; [`TailError::Diverged`] for a loss that is no finite number. The weights are then as before.
    pub fn step(&mut self, hidden: &[f32], targets: &[f32], learning_rate: f64) -> Result<Step, TailError> {
        let (hidden, batch) = self.batch(hidden)?;
        let outputs = self.outputs();
        check_length("targets", targets.len(), batch * outputs)?;
        if batch == 0 {
            return Err(TailError::EmptyBatch);
        }
        if !(learning_rate.is_finite() && learning_rate >= 0.0) {
            return Err(TailError::LearningRate(learning_rate));
        }

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
        Ok(tail)
    }

    /// `hidden` as a tensor, and the number of samples in it.
    fn batch(&self, hidden: &[f32]) -> Result<(Tensor<2>, usize), TailError> {
        let batch = hidden.len() / self.widths[0];
        check_length("hidden", hidden.len(), batch * self.widths[0])?;
        let data = TensorData::new(hidden.to_vec(), [batch, self.widths[0]]);
        Ok((Tensor::from_data(data, &self.device), batch))
    }

    fn outputs(&self) -> usize {
        self.widths[self.widths.len() - 1]
    }

    fn logits(&self, hidden: Tensor<2>, layers: impl Iterator<Item = (Tensor<2>, Tensor<1>)>) -> Tensor<2> {
        layers.fold(hidden, |x, (weight, bias)| linear(self.activation.apply(x), weight, Some(bias)))
    }
}

fn check_length(what: &'static str, got: usize, expected: usize) -> Result<(), TailError> {
    if got == expected { Ok(()) } else { Err(TailError::Length { what, got, expected }) }
}
