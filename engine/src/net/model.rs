//! The networks of one player.

use std::sync::LazyLock;

use crate::rules::RuleSet;

use super::{Network, PositionClass, Provenance};

static SHIPPED: LazyLock<Model> = LazyLock::new(|| {
    let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../models/backgammon/weights.zar"));
    Model::from_bytes(bytes).expect("the shipped weights were whole when they were compiled in")
});

/// One network for each class of positions, trained for one rule set.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    rules: RuleSet,
    provenance: Provenance,
    /// In the order of [`PositionClass::ALL`].
    networks: Vec<Network>,
}

impl Model {
    /// Puts networks together, one for each class in the order of [`PositionClass::ALL`].
    pub fn new(rules: RuleSet, provenance: Provenance, networks: [Network; PositionClass::ALL.len()]) -> Model {
        Model { rules, provenance, networks: networks.into() }
    }

    /// The weights that are compiled into the program, decoded on first use.
    pub fn shipped() -> &'static Model {
        &SHIPPED
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
}
