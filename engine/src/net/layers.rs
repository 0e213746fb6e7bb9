//! The layers of a network, as numbers.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::FeatureSet;

/// Outputs of every network: the five [probabilities](super::Probabilities), before the logistic function.
pub const OUTPUTS: usize = 5;

/// Sixteen numbers side by side, aligned for vector loads; layers are cut into blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Block(pub [f32; Block::SIZE]);

impl Block {
    /// Numbers in a block.
    pub const SIZE: usize = 16;
}

/// What a hidden layer does with its sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// max(x, 0).
    Relu,
    /// min(max(x, 0), 1).
    ClippedRelu,
}

/// The first layer: the sum of a bias and of one row for every feature that is on.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstLayer {
    width: usize,
    bias: Vec<Block>,
    /// Row-major, `width` numbers a row.
    rows: Vec<Block>,
}

/// A layer in which every input meets every output.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseLayer {
    inputs: usize,
    outputs: usize,
    /// Blocks of outputs: outputs rounded up.
    output_blocks: usize,
    bias: Vec<Block>,
    /// `weight[input * output_blocks + block]`; inputs are filled up with zeros to whole blocks.
    weight: Vec<Block>,
}

/// A network: features, the first layer, its activation after every hidden layer, dense layers.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    features: FeatureSet,
    activation: Activation,
    first: FirstLayer,
    dense: Vec<DenseLayer>,
}

/// Why layers do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// The width of the first layer.
    #[error("the first layer is {0} wide, expected a multiple of 64 from 64 to 1024")]
    Width(usize),
    /// Hidden layers behind the first.
    #[error("a dense layer has {0} outputs, expected 1 to 1024")]
    Outputs(usize),
    /// The number of values that a layer is made from.
    #[error("{what} has {found} values, expected {expected}")]
    Values {
        /// Which values.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many the shape asks for.
        expected: usize,
    },
    /// A layer takes another number of inputs than the layer before has outputs.
    #[error("dense layer {layer} takes {inputs} inputs, but the layer before has {before} outputs")]
    Chain {
        /// Counted from 1.
        layer: usize,
        /// What it takes.
        inputs: usize,
        /// What it gets.
        before: usize,
    },
    /// The last layer does not have the five outputs.
    #[error("the last layer has {0} outputs, expected 5")]
    LastLayer(usize),
}

impl ShapeError {
    /// Checks a number of values.
    ///
    /// # Errors
    /// [`ShapeError::Values`] when it is another one.
    pub fn check_values(what: &'static str, found: usize, expected: usize) -> Result<(), ShapeError> {
        if found == expected { Ok(()) } else { Err(ShapeError::Values { what, found, expected }) }
    }
}

fn blocks(values: &[f32]) -> Vec<Block> {
    values
        .chunks(Block::SIZE)
        .map(|chunk| {
            let mut block = Block::default();
            block.0[..chunk.len()].copy_from_slice(chunk);
            block
        })
        .collect()
}

fn flat(blocks: &[Block]) -> impl Iterator<Item = f32> {
    blocks.iter().flat_map(|block| block.0)
}

impl FirstLayer {
    /// The widths that the forward pass takes: whole groups of four blocks.
    pub const WIDTH_STEP: usize = 4 * Block::SIZE;

    /// Checks a width.
    ///
    /// # Errors
    /// [`ShapeError::Width`].
    pub fn check_width(width: usize) -> Result<(), ShapeError> {
        let fits = width > 0 && width.is_multiple_of(Self::WIDTH_STEP) && width <= 1024;
        if fits { Ok(()) } else { Err(ShapeError::Width(width)) }
    }

    /// From `width` biases and `width` numbers for each row, row-major.
    ///
    /// # Errors
    /// A width that the forward pass does not take, or values that do not fill whole rows.
    pub fn new(bias: &[f32], rows: &[f32]) -> Result<FirstLayer, ShapeError> {
        let width = bias.len();
        Self::check_width(width)?;
        ShapeError::check_values("the last row of the first layer", rows.len() % width, 0)?;
        Ok(FirstLayer { width, bias: blocks(bias), rows: blocks(rows) })
    }

    /// Outputs.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows, one for each feature.
    pub fn row_count(&self) -> usize {
        self.rows.len() * Block::SIZE / self.width
    }

    /// The biases.
    pub fn bias(&self) -> impl Iterator<Item = f32> {
        flat(&self.bias)
    }

    /// All rows, one after the other.
    pub fn rows(&self) -> impl Iterator<Item = f32> {
        flat(&self.rows)
    }

    #[inline(always)]
    pub(super) fn bias_blocks(&self) -> &[Block] {
        &self.bias
    }

    #[inline(always)]
    pub(super) fn row_blocks(&self) -> &[Block] {
        &self.rows
    }
}

impl DenseLayer {
    /// From biases, one an output, and weights, `weight[output * inputs + input]`.
    ///
    /// # Errors
    /// Numbers of values that do not fit.
    pub fn new(inputs: usize, bias: &[f32], weight: &[f32]) -> Result<DenseLayer, ShapeError> {
        let outputs = bias.len();
        if !(1..=1024).contains(&outputs) {
            return Err(ShapeError::Outputs(outputs));
        }
        ShapeError::check_values("the weight of a dense layer", weight.len(), inputs * outputs)?;
        let output_blocks = outputs.div_ceil(Block::SIZE);
        let mut by_input = vec![Block::default(); inputs.next_multiple_of(Block::SIZE) * output_blocks];
        for output in 0..outputs {
            for input in 0..inputs {
                by_input[input * output_blocks + output / Block::SIZE].0[output % Block::SIZE] =
                    weight[output * inputs + input];
            }
        }
        Ok(DenseLayer { inputs, outputs, output_blocks, bias: blocks(bias), weight: by_input })
    }

    /// Inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The biases, one an output.
    pub fn bias(&self) -> impl Iterator<Item = f32> {
        flat(&self.bias).take(self.outputs)
    }

    /// The weights, `weight[output * inputs + input]`.
    pub fn weight(&self) -> impl Iterator<Item = f32> {
        (0..self.outputs).flat_map(move |output| {
            (0..self.inputs).map(move |input| {
                self.weight[input * self.output_blocks + output / Block::SIZE].0[output % Block::SIZE]
            })
        })
    }

    #[inline(always)]
    pub(super) fn output_blocks(&self) -> usize {
        self.output_blocks
    }

    #[inline(always)]
    pub(super) fn bias_blocks(&self) -> &[Block] {
        &self.bias
    }

    #[inline(always)]
    pub(super) fn weight_blocks(&self) -> &[Block] {
        &self.weight
    }
}

impl Network {
    /// Puts layers together.
    ///
    /// # Errors
    /// A first layer with another number of rows than the features, layers that do not chain, or a last layer that
    /// does not have five outputs.
    pub fn new(
        features: FeatureSet,
        activation: Activation,
        first: FirstLayer,
        dense: Vec<DenseLayer>,
    ) -> Result<Network, ShapeError> {
        ShapeError::check_values("the list of rows of the first layer", first.row_count(), features.rows())?;
        let mut before = first.width();
        for (i, layer) in dense.iter().enumerate() {
            if layer.inputs != before {
                return Err(ShapeError::Chain { layer: i + 1, inputs: layer.inputs, before });
            }
            before = layer.outputs;
        }
        if dense.is_empty() || before != OUTPUTS {
            return Err(ShapeError::LastLayer(before));
        }
        Ok(Network { features, activation, first, dense })
    }

    /// What it reads.
    #[inline(always)]
    pub fn features(&self) -> FeatureSet {
        self.features
    }

    /// What follows each hidden layer, the first included.
    #[inline(always)]
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The first layer.
    #[inline(always)]
    pub fn first(&self) -> &FirstLayer {
        &self.first
    }

    /// The layers behind the first.
    #[inline(always)]
    pub fn dense(&self) -> &[DenseLayer] {
        &self.dense
    }

    /// Whether every number is finite, and stays so: no position leads to a sum that is not.
    pub fn is_finite(&self) -> bool {
        let layers = || {
            std::iter::once((&self.first.bias, &self.first.rows))
                .chain(self.dense.iter().map(|layer| (&layer.bias, &layer.weight)))
        };
        if !layers().all(|(bias, weight)| flat(bias).chain(flat(weight)).all(f32::is_finite)) {
            return false;
        }
        let largest = |blocks: &[Block]| flat(blocks).map(f32::abs).fold(0.0, f32::max);
        let terms = std::iter::once(self.features.rows()).chain(self.dense.iter().map(|layer| layer.inputs));
        let last = layers().zip(terms).fold(1.0, |input: f64, ((bias, weight), terms)| {
            let sum = f64::from(largest(bias)) + terms as f64 * f64::from(largest(weight)) * input;
            sum.max(1.0)
        });
        last < f64::from(f32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_layers_keep_their_values() {
        let bias: Vec<f32> = (0..21).map(|i| i as f32).collect();
        let weight: Vec<f32> = (0..21 * 7).map(|i| i as f32 * 0.5).collect();
        let layer = DenseLayer::new(7, &bias, &weight).unwrap();
        assert_eq!(layer.bias().collect::<Vec<_>>(), bias);
        assert_eq!(layer.weight().collect::<Vec<_>>(), weight);
    }

    #[test]
    fn wrong_shapes_are_named() {
        assert_eq!(FirstLayer::new(&[0.0; 65], &[]), Err(ShapeError::Width(65)));
        assert_eq!(
            DenseLayer::new(3, &[0.0; 2], &[0.0; 5]),
            Err(ShapeError::Values { what: "the weight of a dense layer", found: 5, expected: 6 })
        );
        let rows = vec![0.0; FeatureSet::RaceCounts.rows() * 64];
        let network = |dense: Vec<DenseLayer>| {
            let first = FirstLayer::new(&[0.0; 64], &rows).unwrap();
            Network::new(FeatureSet::RaceCounts, Activation::Relu, first, dense)
        };
        let layer = |inputs: usize, outputs| DenseLayer::new(inputs, &vec![0.0; outputs], &vec![0.0; inputs * outputs]);
        assert!(network(vec![layer(64, 5).unwrap()]).is_ok());
        assert_eq!(network(vec![]).unwrap_err(), ShapeError::LastLayer(64));
        assert_eq!(network(vec![layer(64, 6).unwrap()]).unwrap_err(), ShapeError::LastLayer(6));
        assert_eq!(
            network(vec![layer(64, 16).unwrap(), layer(32, 5).unwrap()]).unwrap_err(),
            ShapeError::Chain { layer: 2, inputs: 32, before: 16 }
        );
    }
}
