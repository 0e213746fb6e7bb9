//! Weights to begin with: random ones, and larger networks that compute what a smaller one does.
//!
//! A network grows with its function kept (Chen, Goodfellow, Shlens, "Net2Net: accelerating learning via knowledge
//! transfer", 2016): units that are added to a layer read the layer before with random weights, but nothing that was
//! there before reads them yet; a layer that is added passes on what it gets. What is learnt is not lost, and the new
//! units find their use from there.

use rand::Rng;
use thiserror::Error;
use zar::net::{Activation, FeatureSet, Network};

use crate::{config::NetworkShape, dense_tail::DenseWeights};

/// Why a network cannot grow into a shape.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GrowthError {
    /// It reads other features.
    #[error("the weights read {found}, expected {expected}")]
    Features {
        /// What the network reads.
        found: FeatureSet,
        /// What the shape reads.
        expected: FeatureSet,
    },
    /// Its hidden layers have another activation.
    #[error("the weights have the activation {found:?}, expected {expected:?}")]
    Activation {
        /// The network's.
        found: Activation,
        /// The shape's.
        expected: Activation,
    },
    /// A layer of the shape is narrower.
    #[error("the weights have the widths {found:?}, expected none wider than {expected:?}, and no more layers")]
    Narrower {
        /// The network's first and hidden layers.
        found: Vec<usize>,
        /// Those of the shape.
        expected: Vec<usize>,
    },
}

/// The weights of one network in plain vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// Biases of the first layer.
    pub bias: Vec<f32>,
    /// Its rows, one after the other.
    pub rows: Vec<f32>,
    /// The layers behind it.
    pub dense: Vec<DenseWeights>,
}

impl Weights {
    /// Plain rows and dense layers start evenly distributed with the variance that keeps signals at their size through
    /// rectified layers (He et al., "Delving deep into rectifiers", 2015); patterns and the last layer start at zero.
    pub fn random(shape: &NetworkShape, rng: &mut impl Rng) -> Weights {
        let mut even = |limit: f64| (((rng.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * limit) as f32;
        let features = shape.features;
        // About as many plain rows are on as there are stacks of both players.
        const PLAIN_ROWS_ON: f64 = 16.0;
        let limit = (3.0 / PLAIN_ROWS_ON).sqrt() / 2.0;
        let mut rows = vec![0.0; features.rows() * shape.width];
        rows[..features.plain_rows() * shape.width].fill_with(|| even(limit));
        let layers = shape.dense().count();
        let dense = shape
            .dense()
            .enumerate()
            .map(|(i, (inputs, outputs))| {
                let limit = if i + 1 == layers { 0.0 } else { (6.0 / inputs as f64).sqrt() };
                let weight = (0..inputs * outputs).map(|_| even(limit)).collect();
                DenseWeights { inputs, outputs, weight, bias: vec![0.0; outputs] }
            })
            .collect();
        Weights { bias: vec![0.1; shape.width], rows, dense }
    }

    /// Weights of the shape that compute what `network` does; what is new in them is random.
    ///
    /// # Errors
    /// A shape that has not at least the network's layers, each at least as wide, on the same features.
    pub fn grown(network: &Network, shape: &NetworkShape, rng: &mut impl Rng) -> Result<Weights, GrowthError> {
        if network.features() != shape.features {
            return Err(GrowthError::Features { found: network.features(), expected: shape.features });
        }
        if network.activation() != shape.activation {
            return Err(GrowthError::Activation { found: network.activation(), expected: shape.activation });
        }
        let (last, hidden) = network.dense().split_last().expect("a network has an output layer");
        let found: Vec<usize> =
            std::iter::once(network.first().width()).chain(hidden.iter().map(|layer| layer.outputs())).collect();
        let expected: Vec<usize> = std::iter::once(shape.width).chain(shape.hidden.iter().copied()).collect();
        // Layers that are added come last, and pass on what the last layer that was there gives.
        let wanted = found.iter().chain(std::iter::repeat(found.last().expect("the first layer is there")));
        if expected.len() < found.len() || expected.iter().zip(wanted).any(|(new, old)| new < old) {
            return Err(GrowthError::Narrower { found, expected });
        }
        let mut weights = Weights::random(shape, rng);
        for (bias, old) in weights.bias.iter_mut().zip(network.first().bias()) {
            *bias = old;
        }
        let old_width = network.first().width();
        let old_rows: Vec<f32> = network.first().rows().collect();
        for (row, old) in weights.rows.chunks_exact_mut(shape.width).zip(old_rows.chunks_exact(old_width)) {
            row[..old_width].copy_from_slice(old);
        }
        let (new_last, new_hidden) = weights.dense.split_last_mut().expect("a shape has an output layer");
        for (place, layer) in new_hidden.iter_mut().enumerate() {
            match hidden.get(place) {
                Some(old) => {
                    imprint(layer, old.inputs(), &old.bias().collect::<Vec<_>>(), &old.weight().collect::<Vec<_>>())
                }
                None => {
                    let passed = *found.last().expect("the first layer is there");
                    let identity: Vec<f32> =
                        (0..passed * passed).map(|i| if i / passed == i % passed { 1.0 } else { 0.0 }).collect();
                    imprint(layer, passed, &vec![0.0; passed], &identity);
                }
            }
        }
        imprint(new_last, last.inputs(), &last.bias().collect::<Vec<_>>(), &last.weight().collect::<Vec<_>>());
        Ok(weights)
    }
}

/// Makes the first outputs of `layer` those of a smaller one; they do not read the inputs that it does not have.
fn imprint(layer: &mut DenseWeights, inputs: usize, bias: &[f32], weight: &[f32]) {
    layer.bias[..bias.len()].copy_from_slice(bias);
    for (new, old) in layer.weight.chunks_exact_mut(layer.inputs).zip(weight.chunks_exact(inputs)) {
        new[..inputs].copy_from_slice(old);
        new[inputs..].fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
    use zar::net::{DenseLayer, FirstLayer};

    use super::*;

    fn shape(width: usize, hidden: &[usize]) -> NetworkShape {
        let hidden = hidden.to_vec();
        NetworkShape { features: FeatureSet::RaceCounts, activation: Activation::Relu, width, hidden }
    }

    fn network(shape: &NetworkShape, weights: &Weights) -> Network {
        let first = FirstLayer::new(&weights.bias, &weights.rows).unwrap();
        let dense =
            weights.dense.iter().map(|layer| DenseLayer::new(layer.inputs, &layer.bias, &layer.weight).unwrap());
        Network::new(shape.features, shape.activation, first, dense.collect()).unwrap()
    }

    /// The five sums before the logistic function, with some rows on.
    fn outputs(weights: &Weights) -> Vec<f32> {
        let width = weights.bias.len();
        let mut values = weights.bias.clone();
        for row in [3, 57, 100, 900] {
            for (value, row) in values.iter_mut().zip(&weights.rows[row * width..]) {
                *value += row;
            }
        }
        for layer in &weights.dense {
            values.iter_mut().for_each(|value| *value = value.max(0.0));
            values = layer
                .weight
                .chunks(layer.inputs)
                .zip(&layer.bias)
                .map(|(weights, bias)| bias + weights.iter().zip(&values).map(|(w, x)| w * x).sum::<f32>())
                .collect();
        }
        values
    }

    #[test]
    fn a_grown_network_computes_the_same() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let small = shape(64, &[16, 8]);
        let mut weights = Weights::random(&small, &mut rng);
        weights.dense.last_mut().unwrap().weight.iter_mut().enumerate().for_each(|(i, w)| *w = i as f32 / 40.0 - 0.4);
        let before = outputs(&weights);
        for larger in [shape(64, &[16, 8]), shape(128, &[32, 8]), shape(64, &[16, 8, 8, 12]), shape(192, &[48, 16, 32])]
        {
            let grown = Weights::grown(&network(&small, &weights), &larger, &mut rng).unwrap();
            for (found, expected) in outputs(&grown).iter().zip(&before) {
                assert!((found - expected).abs() < 1e-4, "{larger:?}: {found} {expected}");
            }
            let new_units_read = &grown.dense[0].weight[16.min(grown.dense[0].outputs - 1) * larger.width..];
            assert!(new_units_read.iter().any(|&weight| weight != 0.0));
        }
    }

    #[test]
    fn shapes_that_are_not_larger_are_refused() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let small = shape(128, &[16, 8]);
        let network = network(&small, &Weights::random(&small, &mut rng));
        for other in [shape(64, &[16, 8]), shape(128, &[15, 8]), shape(128, &[16]), shape(128, &[16, 8, 7])] {
            let refused = Weights::grown(&network, &other, &mut rng);
            assert!(matches!(refused, Err(GrowthError::Narrower { .. })), "{other:?}");
        }
        let clipped = NetworkShape { activation: Activation::ClippedRelu, ..small.clone() };
        assert!(matches!(Weights::grown(&network, &clipped, &mut rng), Err(GrowthError::Activation { .. })));
        let contact = NetworkShape { features: FeatureSet::ContactPatterns, ..small };
        assert!(matches!(Weights::grown(&network, &contact, &mut rng), Err(GrowthError::Features { .. })));
    }
}
