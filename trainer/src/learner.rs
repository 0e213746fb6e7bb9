//! The networks while they learn: one learner for each class of positions.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use zar::{
    net::{DenseLayer, FirstLayer, Model, Network, PositionClass, Provenance, ShapeError},
    rules::RuleSet,
};

use crate::{
    config::{Config, NetworkShape},
    dense_tail::{DenseTail, DenseWeights, TailError},
    device::DeviceChoice,
    growth::{GrowthError, Weights},
    seeds::{Purpose, stream},
    self_play::Sample,
    sparse_layer::{Active, SparseLayer},
};

/// Why learning cannot go on.
#[derive(Debug, Error)]
pub enum LearnError {
    /// The dense layers could not be trained, read or restored.
    #[error("the {class} network: {error}")]
    Tail {
        /// Which network.
        class: PositionClass,
        /// Why.
        error: TailError,
    },
    /// A state with another number of networks.
    #[error("{0} networks, expected one for each of contact and race")]
    Classes(usize),
    /// A restored weight or moment is not a number or infinite.
    #[error("the {0} network: a number in its state is not finite")]
    NotFinite(PositionClass),
    /// Weights that cannot grow into the shape.
    #[error("the {class} network: {error}")]
    Growth {
        /// Which network.
        class: PositionClass,
        /// Why.
        error: GrowthError,
    },
    /// Layers do not fit together.
    #[error("the {class} network: {error}")]
    Shape {
        /// Which network.
        class: PositionClass,
        /// Why.
        error: ShapeError,
    },
}

/// What a round of learning found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Learnt {
    /// Mean cross-entropy of a position in nats, summed over the five outputs, by class; 0 for a class without positions.
    pub loss: [f64; PositionClass::ALL.len()],
}

/// All networks of a run.
#[derive(Debug)]
pub struct Learner {
    classes: Vec<ClassLearner>,
    batch: usize,
    seed: u64,
    /// The share by which the averages move towards the weights in a round, once enough rounds have gone by.
    average_share: f32,
}

/// One network, its optimiser, and its weights averaged over the last rounds.
#[derive(Debug)]
pub struct ClassLearner {
    class: PositionClass,
    shape: NetworkShape,
    sparse: SparseLayer,
    tail: DenseTail,
    averaged_sparse: Vec<f32>,
    averaged_dense: Vec<DenseWeights>,
}

/// Everything of a [`ClassLearner`] that must outlive the program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClassState {
    /// Rows with the biases last, first and second moments, steps of each row.
    pub sparse: (Vec<f32>, Vec<f32>, Vec<f32>, Vec<u32>),
    /// The dense layers with their optimiser, as burn records them.
    pub tail: Vec<u8>,
    /// Averaged rows with the biases last.
    pub averaged_sparse: Vec<f32>,
    /// Averaged `(bias, weight)` of each dense layer.
    pub averaged_dense: Vec<(Vec<f32>, Vec<f32>)>,
}

impl Learner {
    /// Random weights.
    ///
    /// # Errors
    /// A shape that burn refuses.
    pub fn new(config: &Config, device: DeviceChoice) -> Result<Learner, LearnError> {
        let weights = |_, shape: &_, rng: &mut _| Ok(Weights::random(shape, rng));
        Learner::with_weights(config, device, &weights)
    }

    /// The weights of `model`, grown into the configuration's shapes.
    ///
    /// # Errors
    /// Shapes that the networks cannot grow into.
    pub fn grown(config: &Config, model: &Model, device: DeviceChoice) -> Result<Learner, LearnError> {
        let weights = |class, shape: &_, rng: &mut _| {
            Weights::grown(model.network(class), shape, rng).map_err(|error| LearnError::Growth { class, error })
        };
        Learner::with_weights(config, device, &weights)
    }

    fn with_weights(
        config: &Config,
        device: DeviceChoice,
        weights: &dyn Fn(PositionClass, &NetworkShape, &mut Xoshiro256PlusPlus) -> Result<Weights, LearnError>,
    ) -> Result<Learner, LearnError> {
        let classes = PositionClass::ALL
            .into_iter()
            .map(|class| {
                let mut rng = stream(config.seed, Purpose::Weights, class.index() as u64);
                let shape = config.shape(class);
                ClassLearner::new(class, shape, weights(class, shape, &mut rng)?, device)
            })
            .collect::<Result<_, _>>()?;
        Ok(Learner::from_classes(config, classes))
    }

    /// Takes up a run where [`Learner::state`] left it.
    ///
    /// # Errors
    /// A state that does not fit the configuration.
    pub fn from_state(config: &Config, state: Vec<ClassState>, device: DeviceChoice) -> Result<Learner, LearnError> {
        let found = state.len();
        if found != PositionClass::ALL.len() {
            return Err(LearnError::Classes(found));
        }
        let classes = PositionClass::ALL
            .into_iter()
            .zip(state)
            .map(|(class, state)| ClassLearner::from_state(class, config.shape(class), state, device))
            .collect::<Result<_, _>>()?;
        Ok(Learner::from_classes(config, classes))
    }

    fn from_classes(config: &Config, classes: Vec<ClassLearner>) -> Learner {
        let average_share = (1.0 / config.averaged_rounds.max(1.0)) as f32;
        Learner { classes, batch: config.batch, seed: config.seed, average_share }
    }

    /// Everything that must outlive the program.
    ///
    /// # Errors
    /// A device that cannot be read.
    pub fn state(&self) -> Result<Vec<ClassState>, LearnError> {
        self.classes.iter().map(ClassLearner::state).collect()
    }

    /// Learns from the positions of round number `round`, each `passes` times, in orders drawn for that round.
    ///
    /// # Errors
    /// Weights that run away.
    pub fn learn(&mut self, samples: &[Sample], round: u64, rate: f64, passes: u32) -> Result<Learnt, LearnError> {
        let mut shuffle = stream(self.seed, Purpose::Shuffle, round);
        // Early averages look back on no more rounds than there are behind the first.
        let share = self.average_share.max(10.0 / (10.0 + round as f32));
        let mut learnt = Learnt::default();
        for learner in &mut self.classes {
            let mut order: Vec<&Sample> =
                samples.iter().filter(|sample| PositionClass::of(&sample.position) == learner.class).collect();
            for pass in 0..passes {
                let loss = learner.learn_shuffled(&mut order, &mut shuffle, self.batch, rate)?;
                // Later passes have seen the positions before.
                if pass == 0 {
                    learnt.loss[learner.class.index()] = loss;
                }
            }
            learner.average(share)?;
        }
        Ok(learnt)
    }

    /// The networks as they are at this moment.
    ///
    /// # Errors
    /// A device that cannot be read.
    pub fn model(&self, rules: RuleSet) -> Result<Model, LearnError> {
        let [contact, race] = &self.classes[..] else { unreachable!("one learner a class") };
        Ok(Model::new(rules, Provenance::default(), [contact.network()?, race.network()?]))
    }

    /// The networks averaged over the last rounds: what a run yields.
    ///
    /// # Errors
    /// Shapes that do not fit.
    pub fn averaged_model(&self, rules: RuleSet, provenance: Provenance) -> Result<Model, LearnError> {
        let [contact, race] = &self.classes[..] else { unreachable!("one learner a class") };
        Ok(Model::new(rules, provenance, [contact.averaged_network()?, race.averaged_network()?]))
    }
}

impl ClassLearner {
    /// A network at its first weights, which are its average too.
    ///
    /// # Errors
    /// A shape that burn refuses.
    pub(crate) fn new(
        class: PositionClass,
        shape: &NetworkShape,
        weights: Weights,
        device: DeviceChoice,
    ) -> Result<ClassLearner, LearnError> {
        let Weights { bias, rows, dense } = weights;
        let sparse =
            SparseLayer::new(shape.features, &bias, &rows).map_err(|error| LearnError::Shape { class, error })?;
        let tail =
            DenseTail::new(&dense, shape.activation, device).map_err(|error| LearnError::Tail { class, error })?;
        let averaged_sparse = sparse.state().0.to_vec();
        Ok(ClassLearner { class, shape: shape.clone(), sparse, tail, averaged_sparse, averaged_dense: dense })
    }

    fn from_state(
        class: PositionClass,
        shape: &NetworkShape,
        state: ClassState,
        device: DeviceChoice,
    ) -> Result<ClassLearner, LearnError> {
        let wrong = |error| LearnError::Shape { class, error };
        let expect = |what, found, expected| ShapeError::check_values(what, found, expected).map_err(wrong);
        let (rows, mean, variance, steps) = state.sparse;
        let dense = state.averaged_dense.iter().flat_map(|(bias, weight)| [bias, weight]);
        if [&rows, &mean, &variance, &state.averaged_sparse].into_iter().chain(dense).flatten().any(|x| !x.is_finite())
        {
            return Err(LearnError::NotFinite(class));
        }
        let sparse =
            SparseLayer::from_state(shape.features, shape.width, rows, mean, variance, steps).map_err(wrong)?;
        let widths: Vec<usize> =
            std::iter::once(shape.width).chain(shape.dense().map(|(_, outputs)| outputs)).collect();
        let tail = DenseTail::from_bytes(&state.tail, &widths, shape.activation, device)
            .map_err(|error| LearnError::Tail { class, error })?;
        expect("the averaged sparse layer", state.averaged_sparse.len(), sparse.state().0.len())?;
        expect("the averaged dense layers", state.averaged_dense.len(), shape.dense().count())?;
        let averaged_dense = shape
            .dense()
            .zip(state.averaged_dense)
            .map(|((inputs, outputs), (bias, weight))| {
                expect("averaged biases", bias.len(), outputs)?;
                expect("averaged weights", weight.len(), inputs * outputs)?;
                Ok(DenseWeights { inputs, outputs, weight, bias })
            })
            .collect::<Result<_, _>>()?;
        let averaged_sparse = state.averaged_sparse;
        Ok(ClassLearner { class, shape: shape.clone(), sparse, tail, averaged_sparse, averaged_dense })
    }

    fn state(&self) -> Result<ClassState, LearnError> {
        let (rows, mean, variance, steps) = self.sparse.state();
        Ok(ClassState {
            sparse: (rows.to_vec(), mean.to_vec(), variance.to_vec(), steps.to_vec()),
            tail: self.tail.to_bytes().map_err(|error| self.tail_error(error))?,
            averaged_sparse: self.averaged_sparse.clone(),
            averaged_dense: self
                .averaged_dense
                .iter()
                .map(|layer| (layer.bias.clone(), layer.weight.clone()))
                .collect(),
        })
    }

    /// Learns from all of `order`, which is shuffled first, in batches of about `batch`; the mean loss of a position.
    ///
    /// # Errors
    /// Weights that run away.
    pub(crate) fn learn_shuffled(
        &mut self,
        order: &mut [&Sample],
        shuffle: &mut impl Rng,
        batch: usize,
        rate: f64,
    ) -> Result<f64, LearnError> {
        for i in (1..order.len()).rev() {
            order.swap(i, ((u64::from(shuffle.next_u32()) * (i as u64 + 1)) >> 32) as usize);
        }
        self.learn(order, batch, rate)
    }

    /// Learns from all of `order` in batches of about `batch`; the mean loss of a position.
    fn learn(&mut self, order: &[&Sample], batch: usize, rate: f64) -> Result<f64, LearnError> {
        if order.is_empty() {
            return Ok(0.0);
        }
        // Batches of nearly equal size: a small rest would count as much as a whole batch.
        let batches = (order.len() + batch / 2).max(batch) / batch;
        let (mut active, mut hidden, mut targets) = (Active::default(), Vec::new(), Vec::new());
        let mut loss = 0.0;
        for i in 0..batches {
            let samples = &order[i * order.len() / batches..(i + 1) * order.len() / batches];
            targets.clear();
            targets.extend(samples.iter().flat_map(|sample| sample.target.to_array()));
            self.sparse.activate(&mut samples.iter().copied(), &mut active);
            self.sparse.forward(&active, &mut hidden);
            let step = self.tail.step(&hidden, &targets, rate).map_err(|error| self.tail_error(error))?;
            self.sparse.step(&active, &step.hidden_gradient, rate as f32);
            loss += f64::from(step.loss) * samples.len() as f64;
        }
        Ok(loss / order.len() as f64)
    }

    fn average(&mut self, share: f32) -> Result<(), LearnError> {
        self.sparse.average_into(&mut self.averaged_sparse, share);
        let now = self.tail.weights().map_err(|error| self.tail_error(error))?;
        for (average, now) in self.averaged_dense.iter_mut().zip(&now) {
            let values = average.weight.iter_mut().chain(&mut average.bias).zip(now.weight.iter().chain(&now.bias));
            for (average, now) in values {
                *average += share * (now - *average);
            }
        }
        Ok(())
    }

    /// The network as it is at this moment.
    ///
    /// # Errors
    /// A device that cannot be read.
    pub(crate) fn network(&self) -> Result<Network, LearnError> {
        let dense = self.tail.weights().map_err(|error| self.tail_error(error))?;
        self.assembled(self.sparse.state().0, &dense)
    }

    fn averaged_network(&self) -> Result<Network, LearnError> {
        self.assembled(&self.averaged_sparse, &self.averaged_dense)
    }

    fn assembled(&self, sparse: &[f32], dense: &[DenseWeights]) -> Result<Network, LearnError> {
        let (rows, bias) = sparse.split_at(self.shape.features.rows() * self.shape.width);
        let build = || {
            let first = FirstLayer::new(bias, rows)?;
            let dense = dense
                .iter()
                .map(|layer| DenseLayer::new(layer.inputs, &layer.bias, &layer.weight))
                .collect::<Result<_, _>>()?;
            Network::new(self.shape.features, self.shape.activation, first, dense)
        };
        build().map_err(|error| LearnError::Shape { class: self.class, error })
    }

    fn tail_error(&self, error: TailError) -> LearnError {
        LearnError::Tail { class: self.class, error }
    }
}
