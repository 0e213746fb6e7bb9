//! The mean of several weights of one shape.
//!
//! Runs that go on from each other, or from the same weights, end in one valley of the loss, at different points around its
//! floor. Their mean lies nearer to it, and errs less than any of them (Izmailov and others, "Averaging weights leads to wider
//! optima and better generalization", 2018; Wortsman and others, "Model soups", 2022).

use thiserror::Error;
use zar::{
    net::{DenseLayer, Evaluator, FirstLayer, Model, Network, PositionClass, Precision, ShapeError},
    rules::RuleSet,
};

use crate::{
    self_play::{Sample, SelfPlay},
    sieve::sieved,
};

/// Why weights have no mean.
#[derive(Debug, Error)]
pub enum AverageError {
    /// No weights at all.
    #[error("no weights to average")]
    None,
    /// Weights for other rules.
    #[error("weights number {number} play by {found}, expected {expected} as the first ones do")]
    Rules {
        /// Which, counted from 1.
        number: usize,
        /// Their rules.
        found: RuleSet,
        /// Those of the first.
        expected: RuleSet,
    },
    /// A network of another shape.
    #[error("the {class} network of weights number {number} has another shape than the first one")]
    Shapes {
        /// Which weights, counted from 1.
        number: usize,
        /// Which network.
        class: PositionClass,
    },
    /// Weights that have no mean which plays like them.
    #[error(
        "the mean would judge positions otherwise than weights number {number}, by {difference:.2} points: expected weights of \
         runs that went on from each other or from the same ones"
    )]
    Unrelated {
        /// Which weights, counted from 1.
        number: usize,
        /// Root mean square of the difference in equity.
        difference: f64,
    },
    /// Layers do not fit together.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

/// The mean of all weights, with the provenance and the sieve of the last ones.
///
/// # Errors
/// No weights, weights of different rules or shapes, or weights that have learnt apart from each other.
pub fn average(models: &[Model]) -> Result<Model, AverageError> {
    let (Some(first), Some(last)) = (models.first(), models.last()) else { return Err(AverageError::None) };
    for (i, model) in models.iter().enumerate() {
        if model.rules() != first.rules() {
            let (found, expected) = (model.rules(), first.rules());
            return Err(AverageError::Rules { number: i + 1, found, expected });
        }
        for class in PositionClass::ALL {
            if !have_one_shape(model.network(class), first.network(class)) {
                return Err(AverageError::Shapes { number: i + 1, class });
            }
        }
    }
    let network = |class| -> Result<Network, ShapeError> {
        let networks: Vec<&Network> = models.iter().map(|model| model.network(class)).collect();
        mean_network(&networks)
    };
    let networks = [network(PositionClass::Contact)?, network(PositionClass::Race)?];
    let model = Model::new(last.rules(), last.provenance().clone(), networks);
    let positions = SelfPlay::for_positions(0).play(first, 0, GAMES);
    for (i, member) in models.iter().enumerate() {
        let difference = difference(&model, member, &positions);
        if difference > MOST_DIFFERENT {
            return Err(AverageError::Unrelated { number: i + 1, difference });
        }
    }
    Ok(sieved(model, last.sieve_network()))
}

/// Games on which the mean is compared with what it is the mean of.
const GAMES: u64 = 10;

/// Root mean square of the difference in points. Those of one run or of runs from the same weights come to a few
/// hundredths; the mean of two runs from random weights is half a point away from either.
const MOST_DIFFERENT: f64 = 0.2;

fn difference(mean: &Model, member: &Model, positions: &[Sample]) -> f64 {
    let [mut mean, mut member] = [mean, member].map(|model| Evaluator::in_precision(model, Precision::Exact));
    let squares = positions.iter().map(|Sample { position, .. }| {
        let rules = mean.rules();
        let difference = mean.evaluate(position).equity(rules).0 - member.evaluate(position).equity(rules).0;
        f64::from(difference).powi(2)
    });
    (squares.sum::<f64>() / positions.len().max(1) as f64).sqrt()
}

fn have_one_shape(a: &Network, b: &Network) -> bool {
    let widths = |network: &Network| {
        let dense = network.dense().iter().map(DenseLayer::outputs);
        std::iter::once(network.first().width()).chain(dense).collect::<Vec<usize>>()
    };
    (a.features(), a.activation(), widths(a)) == (b.features(), b.activation(), widths(b))
}

/// The mean of networks of one shape, of which there is at least one.
fn mean_network(networks: &[&Network]) -> Result<Network, ShapeError> {
    let head = networks[0];
    let bias = mean(networks.iter().map(|network| network.first().bias()));
    let rows = mean(networks.iter().map(|network| network.first().rows()));
    let dense = head
        .dense()
        .iter()
        .enumerate()
        .map(|(i, layer)| {
            let bias = mean(networks.iter().map(|network| network.dense()[i].bias()));
            let weight = mean(networks.iter().map(|network| network.dense()[i].weight()));
            DenseLayer::new(layer.inputs(), &bias, &weight)
        })
        .collect::<Result<_, _>>()?;
    Network::new(head.features(), head.activation(), FirstLayer::new(&bias, &rows)?, dense)
}

/// The means of numbers in the same places.
fn mean(values: impl ExactSizeIterator<Item = impl Iterator<Item = f32>>) -> Vec<f32> {
    let count = values.len() as f64;
    let mut sums: Vec<f64> = Vec::new();
    for values in values {
        if sums.is_empty() {
            sums.extend(values.map(f64::from));
        } else {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += f64::from(value);
            }
        }
    }
    sums.into_iter().map(|sum| (sum / count) as f32).collect()
}
