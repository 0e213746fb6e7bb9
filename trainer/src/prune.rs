//! Pruning: rows that hardly any position switches on are left out of a weights file.

use rand::Rng;
use rayon::prelude::*;
use zar::{
    net::{FirstLayer, MAX_SLOTS, Model, NO_ROW, Network, PositionClass, ShapeError},
    rules::{Dice, LegalPlays},
};

use crate::{
    seeds::{Purpose, stream},
    self_play::{Sample, SelfPlay},
    sieve::sieved,
};

/// What is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pruning {
    /// Seed of the games.
    pub seed: u64,
    /// Games that the model plays against itself, some with random openings.
    pub games: u64,
    /// Rows that are switched on in fewer of the results that one roll of every position of these games allows go: what is
    /// never chosen must be known too.
    pub least: u64,
}

/// Rows of the first layer of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// All.
    pub all: usize,
    /// Those that are not all zero.
    pub kept: usize,
}

/// Games that are played before their results are counted.
const ROUND_GAMES: u64 = 500;

/// A number for each row of each class's network.
type Used = [Vec<u64>; PositionClass::ALL.len()];

impl Pruning {
    /// The model without its rare rows, and the rows of each of its networks, in the order of [`PositionClass::ALL`]. Works in the
    /// current rayon pool; `progress` hears the number of games that are played. The result does not depend on the number of
    /// threads.
    ///
    /// # Errors
    /// Layers that do not fit together, which those of a model do.
    pub fn prune(
        &self,
        model: &Model,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Model, [Rows; PositionClass::ALL.len()]), ShapeError> {
        let used = self.used(model, progress);
        let mut rows = [Rows::default(); PositionClass::ALL.len()];
        let mut pruned = |class: PositionClass| {
            let (network, kept) = self.pruned(model.network(class), &used[class.index()])?;
            rows[class.index()] = Rows { all: network.features().rows(), kept };
            Ok(network)
        };
        let networks = [pruned(PositionClass::Contact)?, pruned(PositionClass::Race)?];
        let pruned = Model::new(model.rules(), model.provenance().clone(), networks);
        Ok((sieved(pruned, model.sieve_network()), rows))
    }

    /// In how many results each row of each class's network is switched on.
    fn used(&self, model: &Model, progress: &mut dyn FnMut(u64)) -> Used {
        let play = SelfPlay::for_positions(self.seed);
        let mut used = none(model);
        let mut first = 0;
        while first < self.games {
            let count = ROUND_GAMES.min(self.games - first);
            let samples = play.play(model, first, count);
            let parts = samples.par_chunks(1 << 10).enumerate().map(|(part, samples)| {
                let rng = &mut stream(self.seed, Purpose::Pruning, first << 20 | part as u64);
                used_by(model, samples, rng)
            });
            let more = parts.reduce(|| none(model), sum);
            used = sum(used, more);
            first += count;
            progress(first);
        }
        used
    }

    /// The network without its rare rows, and how many are left.
    fn pruned(&self, network: &Network, used: &[u64]) -> Result<(Network, usize), ShapeError> {
        let width = network.first().width();
        let mut rows: Vec<f32> = network.first().rows().collect();
        let mut kept = 0;
        for (row, &used) in rows.chunks_exact_mut(width).zip(used) {
            if used < self.least {
                row.fill(0.0);
            }
            kept += usize::from(row.iter().any(|&value| value != 0.0));
        }
        let bias: Vec<f32> = network.first().bias().collect();
        let first = FirstLayer::new(&bias, &rows)?;
        Ok((Network::new(network.features(), network.activation(), first, network.dense().to_vec())?, kept))
    }
}

fn none(model: &Model) -> Used {
    PositionClass::ALL.map(|class| vec![0; model.network(class).features().rows()])
}

fn sum(mut a: Used, b: Used) -> Used {
    for (a, b) in a.iter_mut().flatten().zip(b.iter().flatten()) {
        *a += b;
    }
    a
}

/// The rows that the results of one roll of each position switch on.
fn used_by(model: &Model, samples: &[Sample], rng: &mut impl Rng) -> Used {
    let mut used = none(model);
    let mut plays = LegalPlays::default();
    for Sample { position, .. } in samples {
        plays.generate(position, Dice::roll(rng), model.rules());
        for play in plays.iter().filter(|play| !play.after.is_over()) {
            let class = PositionClass::of(&play.after);
            let mut slots = [NO_ROW; MAX_SLOTS];
            model.network(class).features().fill(&play.after, &mut slots);
            for row in slots.into_iter().filter(|&row| row != NO_ROW) {
                used[class.index()][usize::from(row)] += 1;
            }
        }
    }
    used
}
