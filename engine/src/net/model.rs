//! The networks of one player.

use std::sync::{LazyLock, OnceLock};

use rand::Rng;
use rand_xoshiro::{SplitMix64, rand_core::SeedableRng};

use crate::{
    board::Position,
    rules::{Dice, LegalPlays, RuleSet, best_play},
};

use super::{Evaluator, Network, PositionClass, Precision, Provenance, quantised::QuantisedNetwork, sieve::Sieve};

static SHIPPED: LazyLock<Model> = LazyLock::new(|| {
    let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../models/backgammon/weights.zar"));
    Model::from_bytes(bytes).expect("the shipped weights were whole when they were compiled in")
});

static TAVLA_2004: LazyLock<Model> = LazyLock::new(|| {
    let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../models/tavla2004/weights.zar"));
    Model::from_bytes(bytes).expect("the shipped weights were whole when they were compiled in")
});

/// One network for each class of positions, trained for one rule set, and perhaps a sieve: a small network that has learnt
/// from those what contact positions are worth, well enough to say which of many plays are worth their evaluation.
#[derive(Clone, Debug)]
pub struct Model {
    rules: RuleSet,
    provenance: Provenance,
    /// In the order of [`PositionClass::ALL`].
    networks: Vec<Network>,
    /// The same in integers, once they are wanted.
    quantised: OnceLock<Vec<QuantisedNetwork>>,
    sieve: Option<(Network, Sieve)>,
}

impl PartialEq for Model {
    fn eq(&self, other: &Model) -> bool {
        self.rules == other.rules
            && self.provenance == other.provenance
            && self.networks == other.networks
            && self.sieve_network() == other.sieve_network()
    }
}

impl Model {
    /// Puts networks together, one for each class in the order of [`PositionClass::ALL`].
    pub fn new(rules: RuleSet, provenance: Provenance, networks: [Network; PositionClass::ALL.len()]) -> Model {
        Model { rules, provenance, networks: networks.into(), quantised: OnceLock::new(), sieve: None }
    }

    /// The same networks with a sieve, in place of the one that was there; `None` for a network that is not made like a
    /// sieve: on [`FeatureSet::ContactCounts`](super::FeatureSet::ContactCounts), [`FirstLayer::WIDTH_STEP`](super::FirstLayer::WIDTH_STEP)
    /// wide, with ReLU, without hidden layers behind the first.
    pub fn with_sieve(self, network: Network) -> Option<Model> {
        let sieve = Sieve::new(&network)?;
        Some(Model { sieve: Some((network, sieve)), ..self })
    }

    /// The network of the sieve, if there is one.
    pub fn sieve_network(&self) -> Option<&Network> {
        self.sieve.as_ref().map(|(network, _)| network)
    }

    /// The sieve, if there is one.
    #[inline]
    pub(super) fn sieve(&self) -> Option<&Sieve> {
        self.sieve.as_ref().map(|(_, sieve)| sieve)
    }

    /// The weights for backgammon that are compiled into the program, decoded on first use.
    pub fn shipped() -> &'static Model {
        &SHIPPED
    }

    /// The compiled-in weights whose outcomes are those of `rules`.
    pub fn shipped_for(rules: RuleSet) -> &'static Model {
        match rules {
            RuleSet::Tavla2004 => &TAVLA_2004,
            RuleSet::Backgammon | RuleSet::Tavla | RuleSet::Table | RuleSet::Plain => &SHIPPED,
        }
    }

    /// The rule set whose games it was trained on; its outputs mean that rule set's outcomes.
    #[inline]
    pub fn rules(&self) -> RuleSet {
        self.rules
    }

    /// How it was trained.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The network of a class.
    #[inline]
    pub fn network(&self, class: PositionClass) -> &Network {
        &self.networks[class.index()]
    }

    /// The networks in integers, in the order of [`PositionClass::ALL`]; made on first use.
    pub(super) fn quantised(&self) -> &[QuantisedNetwork] {
        self.quantised.get_or_init(|| {
            let positions = self.positions_of_games();
            let networks = self.networks.iter().zip(&positions);
            networks.map(|(network, positions)| QuantisedNetwork::new(network, positions)).collect()
        })
    }

    /// Positions of each class from games that the networks play against themselves, some after random plays; always
    /// the same.
    fn positions_of_games(&self) -> [Vec<Position>; PositionClass::ALL.len()] {
        const GAMES: usize = 8;
        const RANDOM_PLAYS: usize = 16;
        /// A game that goes on for longer teaches nothing new.
        const LONGEST: usize = 200;
        /// Results of the same roll are much alike.
        const RESULTS_PER_POSITION: usize = 6;
        let mut evaluator = Evaluator::in_precision(self, Precision::Exact);
        let (mut plays, mut evaluations) = (LegalPlays::default(), Vec::new());
        let mut positions = PositionClass::ALL.map(|_| Vec::new());
        let mut random = SplitMix64::seed_from_u64(0);
        let mut draw = |below: usize| (((random.next_u64() >> 32) * below as u64) >> 32) as usize;
        for game in 0..GAMES {
            let mut position = Position::START;
            for number in 0..LONGEST {
                let dice = Dice::new(1 + draw(6) as u8, 1 + draw(6) as u8).expect("two numbers from 1 to 6");
                plays.generate(&position, dice, self.rules);
                for legal in plays.iter().step_by(RESULTS_PER_POSITION).filter(|legal| !legal.after.is_over()) {
                    positions[PositionClass::of(&legal.after).index()].push(legal.after);
                }
                let chosen = if game % 2 == 1 && number < RANDOM_PLAYS {
                    draw(plays.len())
                } else {
                    evaluator.evaluate_plays(&position, &plays, &mut evaluations);
                    best_play(&evaluations, self.rules)
                };
                position = plays[chosen].after;
                if position.is_over() {
                    break;
                }
            }
        }
        positions
    }
}
