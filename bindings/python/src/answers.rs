//! Answers, as small frozen classes.

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use zar::{
    board::Position,
    bot::{self, CubeAdvice},
    search::RankedPlay,
};

/// The five probabilities, as Python has them: a tuple, which cannot be changed.
type Probs = (f32, f32, f32, f32, f32);

/// What a position is worth to the player on roll before he rolls.
///
/// Attributes:
///     probs: the probabilities to win, to win a gammon or better, to win a triple game (a backgammon), to lose a gammon
///         or worse, and to lose a triple game.
///     cubeless: points at a cube of 1 that nobody may turn.
///     cubeful: the equity with cube and score counted in, with the right to double this turn.
///     mwc: the chance to win the match; None in money play, and in cubeless evaluations.
#[pyclass(frozen, eq, get_all, module = "zar")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    probs: Probs,
    cubeless: f32,
    cubeful: f32,
    mwc: Option<f32>,
}

impl From<bot::Evaluation> for Evaluation {
    fn from(found: bot::Evaluation) -> Evaluation {
        Evaluation {
            probs: found.probabilities.to_array().into(),
            cubeless: found.cubeless.0,
            cubeful: found.cubeful.0,
            mwc: found.chance.map(|chance| chance.0),
        }
    }
}

#[pymethods]
impl Evaluation {
    fn __repr__(&self) -> String {
        let Evaluation { probs, cubeless, cubeful, mwc } = *self;
        let mwc = mwc.map_or(String::new(), |mwc| format!(", mwc={mwc:.4}"));
        format!("Evaluation(probs={}, cubeless={cubeless:+.4}, cubeful={cubeful:+.4}{mwc})", tuple(probs))
    }
}

/// A play.
///
/// Attributes:
///     play: as in '8/5 6/5'; empty when nothing is legal.
///     after: Position ID of its result, as the next player sees it.
///     equity: its equity for the player who makes it.
///     probs: the five probabilities after it, for the player who makes it.
#[pyclass(frozen, eq, get_all, module = "zar")]
#[derive(Clone, Debug, PartialEq)]
pub struct Play {
    play: String,
    after: String,
    equity: f32,
    probs: Probs,
}

impl Play {
    pub fn new(position: &Position, ranked: &RankedPlay) -> Play {
        Play {
            play: ranked.play.text(position),
            after: ranked.after.to_string(),
            equity: ranked.equity.0,
            probs: ranked.probabilities.to_array().into(),
        }
    }
}

#[pymethods]
impl Play {
    fn __repr__(&self) -> String {
        format!("Play({:?}, after={:?}, equity={:+.4})", self.play, self.after, self.equity)
    }
}

/// What a player who may turn the cube should do before he rolls, and the answer to a double.
///
/// Attributes:
///     action: 'no-double', 'double-take', 'double-drop' or 'too-good', or with a cube that the player on roll holds
///         'no-redouble', 'redouble-take', 'redouble-drop' or 'too-good'.
///     nd: the equity without a double.
///     dt: the equity after a double that is taken.
///     dp: the equity after a double that is dropped.
///     probs: the five probabilities.
///     mwc: the chances to win the match in the order of the three equities; None in money play.
///     beaver: whether the opponent should answer a double with a beaver.
#[pyclass(frozen, eq, get_all, module = "zar")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubeDecision {
    action: &'static str,
    nd: f32,
    dt: f32,
    dp: f32,
    probs: Probs,
    mwc: Option<(f32, f32, f32)>,
    beaver: bool,
}

impl From<CubeAdvice> for CubeDecision {
    fn from(CubeAdvice { probabilities, decision, chances }: CubeAdvice) -> CubeDecision {
        CubeDecision {
            action: decision.name(),
            nd: decision.no_double.0,
            dt: decision.double_take.0,
            dp: decision.double_drop.0,
            probs: probabilities.to_array().into(),
            mwc: chances.map(|[nd, dt, dp]| (nd.0, dt.0, dp.0)),
            beaver: decision.beaver,
        }
    }
}

#[pymethods]
impl CubeDecision {
    fn __repr__(&self) -> String {
        let CubeDecision { action, nd, dt, dp, beaver, .. } = self;
        let beaver = if *beaver { ", beaver=True" } else { "" };
        format!("CubeDecision({action:?}, nd={nd:+.4}, dt={dt:+.4}, dp={dp:+.4}{beaver})")
    }
}

/// What many positions are worth, in arrays with a row for each.
///
/// Attributes:
///     probs: float32 of shape (n, 5), the probabilities as in an Evaluation.
///     cubeless: float32 of shape (n,), points at a cube of 1 that nobody may turn.
///     cubeful: float32 of shape (n,), with cube and score counted in.
#[pyclass(frozen, get_all, module = "zar")]
pub struct Evaluations {
    pub probs: Py<PyArray2<f32>>,
    pub cubeless: Py<PyArray1<f32>>,
    pub cubeful: Py<PyArray1<f32>>,
}

#[pymethods]
impl Evaluations {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.probs.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Evaluations(of {} positions)", self.__len__(py)?))
    }
}

fn tuple(probs: Probs) -> String {
    format!("({})", <[f32; 5]>::from(probs).map(|p| format!("{p:.4}")).join(", "))
}
