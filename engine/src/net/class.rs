//! Which network a position belongs to.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::board::Position;

/// A class of positions; each has a network of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PositionClass {
    /// The sides can still hit each other.
    Contact,
    /// They have passed each other: a pure running game.
    Race,
}

impl PositionClass {
    /// All classes, in the order in which models store their networks.
    pub const ALL: [PositionClass; 2] = [PositionClass::Contact, PositionClass::Race];

    /// The class of a position in which the game goes on.
    #[inline]
    pub fn of(position: &Position) -> PositionClass {
        if position.is_race() { PositionClass::Race } else { PositionClass::Contact }
    }

    /// The place in [`PositionClass::ALL`].
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// What a network of a model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NetworkRole {
    /// Evaluates the positions of a class.
    Evaluates(PositionClass),
    /// Says which of many plays are worth an evaluation.
    Sieve,
}

impl fmt::Display for NetworkRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkRole::Evaluates(class) => class.fmt(f),
            NetworkRole::Sieve => f.pad("sieve"),
        }
    }
}

impl fmt::Display for PositionClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            PositionClass::Contact => "contact",
            PositionClass::Race => "race",
        })
    }
}
