//! What a game is played for, as Python says it.

use pyo3::{exceptions::PyValueError, prelude::*};
use zar::{
    board::{CubeOwner, CubeState},
    rules::MatchScore,
};

/// The cube, seen by the player on roll.
///
/// Args:
///     value: what it shows: 1, 2, 4 ...
///     owner: 'centered', or who may turn it: 'player' (the player on roll) or 'opponent'.
#[pyclass(frozen, eq, hash, from_py_object, module = "zar")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cube(pub CubeState);

#[pymethods]
impl Cube {
    #[new]
    #[pyo3(signature = (value=1, owner="centered"))]
    fn new(value: u32, owner: &str) -> PyResult<Cube> {
        let owner = match owner {
            "centered" => CubeOwner::Centered,
            "player" => CubeOwner::Player,
            "opponent" => CubeOwner::Opponent,
            other => {
                let other: String = other.chars().take(40).collect();
                let message = format!("{other:?} is no owner of the cube: expected centered, player or opponent");
                return Err(PyValueError::new_err(message));
            }
        };
        let cube = CubeState::new(value, owner).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Cube(cube))
    }

    /// What it shows.
    #[getter]
    fn value(&self) -> u32 {
        self.0.value()
    }

    /// Who may turn it: 'centered', 'player' or 'opponent'.
    #[getter]
    fn owner(&self) -> &'static str {
        match self.0.owner() {
            CubeOwner::Centered => "centered",
            CubeOwner::Player => "player",
            CubeOwner::Opponent => "opponent",
        }
    }

    fn __repr__(&self) -> String {
        format!("Cube({}, {:?})", self.value(), self.owner())
    }
}

/// The score of a match, seen by the player on roll.
///
/// Args:
///     length: points that win the match.
///     score: points of the player on roll and of his opponent.
///     crawford: whether this is the Crawford game.
#[pyclass(frozen, eq, hash, from_py_object, module = "zar")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Match(pub MatchScore);

#[pymethods]
impl Match {
    #[new]
    #[pyo3(
        signature = (length, score=(0, 0), crawford=false),
        text_signature = "(length, score=(0, 0), crawford=False)"
    )]
    fn new(length: u32, score: (u32, u32), crawford: bool) -> PyResult<Match> {
        let score = MatchScore::new(length, score.into(), crawford);
        Ok(Match(score.map_err(|error| PyValueError::new_err(error.to_string()))?))
    }

    /// Points that win the match.
    #[getter]
    fn length(&self) -> u32 {
        self.0.length()
    }

    /// Points of the player on roll and of his opponent.
    #[getter]
    fn score(&self) -> (u32, u32) {
        self.0.scores().into()
    }

    /// Whether this is the Crawford game.
    #[getter]
    fn crawford(&self) -> bool {
        self.0.crawford()
    }

    fn __repr__(&self) -> String {
        let [player, opponent] = self.0.scores();
        let crawford = if self.0.crawford() { ", crawford=True" } else { "" };
        format!("Match({}, ({player}, {opponent}){crawford})", self.0.length())
    }
}
