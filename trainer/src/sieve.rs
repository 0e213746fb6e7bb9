//! Training of sieves: small networks that say which of many plays are worth an evaluation.
//!
//! A sieve learns from the networks that it serves: what they say of the positions of their own games.

use rayon::prelude::*;
use zar::net::{Activation, Evaluator, FeatureSet, FirstLayer, Model, Network, PositionClass};

use crate::{
    config::NetworkShape,
    device::DeviceChoice,
    growth::Weights,
    learner::{ClassLearner, LearnError},
    seeds::{Purpose, stream},
    self_play::{Sample, SelfPlay},
};

/// How a sieve is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SieveTraining {
    /// Seed of all random streams.
    pub seed: u64,
    /// Rounds of [`ROUND_GAMES`] games.
    pub rounds: u64,
}

/// Games in a round.
pub const ROUND_GAMES: u64 = 200;
const BATCH: usize = 256;
const PASSES: u32 = 2;
/// The learning rate at the beginning and at the end.
const RATE: [f64; 2] = [2e-3, 2e-5];

/// The networks with a sieve that is there already.
pub(crate) fn sieved(model: Model, sieve: Option<&Network>) -> Model {
    match sieve {
        Some(sieve) => model.with_sieve(sieve.clone()).expect("it was a sieve before"),
        None => model,
    }
}

impl SieveTraining {
    /// Trains a sieve for `model`, with the threads of the current rayon pool; `progress` hears the number of rounds that are
    /// done. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// Weights that run away.
    pub fn train(&self, model: &Model, progress: &mut dyn FnMut(u64)) -> Result<Model, LearnError> {
        let shape = NetworkShape {
            features: FeatureSet::ContactCounts,
            activation: Activation::Relu,
            width: FirstLayer::WIDTH_STEP,
            hidden: Vec::new(),
        };
        let weights = Weights::random(&shape, &mut stream(self.seed, Purpose::Weights, 0));
        let class = PositionClass::Contact;
        let mut learner = ClassLearner::new(class, &shape, weights, DeviceChoice::Cpu)?;
        let play = SelfPlay::for_positions(self.seed);
        for round in 0..self.rounds {
            let mut samples = play.play(model, round * ROUND_GAMES, ROUND_GAMES);
            samples.retain(|sample| PositionClass::of(&sample.position) == class);
            samples.par_iter_mut().for_each_init(
                || Evaluator::new(model),
                |evaluator, sample| sample.target = evaluator.evaluate(&sample.position),
            );
            let rate = RATE[0] * (RATE[1] / RATE[0]).powf(round as f64 / self.rounds as f64);
            let mut order: Vec<&Sample> = samples.iter().collect();
            let mut shuffle = stream(self.seed, Purpose::Shuffle, round);
            for _ in 0..PASSES {
                learner.learn_shuffled(&mut order, &mut shuffle, BATCH, rate)?;
            }
            progress(round + 1);
        }
        Ok(model.clone().with_sieve(learner.network()?).expect("the shape above is a sieve's"))
    }
}
