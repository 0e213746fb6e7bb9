//! The bot.

use std::{fmt::Display, num::NonZeroUsize, path::PathBuf};

use numpy::{
    PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods,
    ndarray::{Array2, ArrayView1},
};
use pyo3::{exceptions::PyValueError, prelude::*};
use rayon::prelude::*;
use zar::{
    board::{BAR, Position},
    bot::{self, Bot as Engine, Valuation},
    exact::CacheFolder,
    rules::{Beside, Dice, PositionArg},
    search::RankedPlay,
};
use zar_bindings::{AskError, Asked, HeldBot, Opening};

use crate::{
    answers::{CubeDecision, Evaluation, Evaluations, Play},
    stakes::{Cube, Match},
};

/// Counts of a position.
const COUNTS: usize = BAR + 1;

/// Positions of a batch that are worth a thread.
const BLOCK: usize = 64;

/// The most threads that a bot may be told to use.
const MOST_THREADS: usize = 1024;

/// A bot: rules, a level, and weights.
///
/// Threads may share it; it answers one question after the other, and lets other threads run meanwhile. So may processes
/// that are forked, unless it is being asked at that moment.
///
/// Args:
///     level: '0ply' (the bare networks) to '3ply', 'rollout', or whom to imitate: 'beginner', 'casual', 'intermediate',
///         'advanced', 'expert' or 'worldclass'.
///     rules: 'backgammon', 'tavla', 'tavla2004', 'table' or 'plain'.
///     model: the path of a weights file; None for the weights in the package.
///     seed: seed of what is random in rollouts and in imitating people.
///     threads: threads to look ahead on and to share batches among; None for all cores.
///     cache: the folder of the bear-off tables, which are built in a second on first use; None for the one that the
///         environment variable ZAR_CACHE names, or else zar in the user's cache folder.
#[pyclass(frozen, module = "zar")]
pub struct Bot {
    held: HeldBot,
}

#[pymethods]
impl Bot {
    #[new]
    #[pyo3(signature = (level="0ply", rules="backgammon", model=None, *, seed=0, threads=None, cache=None))]
    fn new(
        py: Python<'_>,
        level: &str,
        rules: &str,
        model: Option<PathBuf>,
        seed: u64,
        threads: Option<usize>,
        cache: Option<PathBuf>,
    ) -> PyResult<Bot> {
        let threads = match threads {
            Some(count @ 1..=MOST_THREADS) => NonZeroUsize::new(count),
            Some(count) => return Err(refused(format!("{count} threads, expected 1 to {MOST_THREADS}"))),
            None => None,
        };
        let opening = Opening {
            rules: rules.parse().map_err(refused)?,
            level: level.parse().map_err(refused)?,
            weights: model,
            seed,
            cache: cache.map_or_else(CacheFolder::of_user, CacheFolder::at),
            threads,
        };
        Ok(Bot { held: py.detach(|| HeldBot::open(opening)).map_err(refused)? })
    }

    /// How well it plays.
    #[getter]
    fn level(&self) -> String {
        self.held.level().to_string()
    }

    /// The rules that it plays.
    #[getter]
    fn rules(&self) -> String {
        self.held.rules().to_string()
    }

    fn __repr__(&self) -> String {
        format!("Bot({:?}, {:?})", self.level(), self.rules())
    }

    /// What a position is worth to the player on roll before he rolls; dice in the position do not matter.
    ///
    /// What is said of the match, the cube, the Jacoby rule and beavers counts more than what the position says.
    #[pyo3(signature = (position, *, r#match=None, cube=None, jacoby=None, beavers=None))]
    fn evaluate(
        &self,
        py: Python<'_>,
        position: &str,
        r#match: Option<Match>,
        cube: Option<Cube>,
        jacoby: Option<bool>,
        beavers: Option<bool>,
    ) -> PyResult<Evaluation> {
        let asked = asked(position, beside(r#match, cube, jacoby, beavers), true)?;
        Ok(self.ask(py, |bot| asked.evaluate(bot))?.into())
    }

    /// Every legal result of a roll once, the best play first; never empty: with nothing legal it holds the empty play.
    ///
    /// dice are two numbers, or None for those in the position. With cubeful=False plays are valued without the cube and
    /// the score.
    #[pyo3(signature = (position, dice=None, *, cubeful=true, r#match=None, cube=None, jacoby=None, beavers=None))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn plays(
        &self,
        py: Python<'_>,
        position: &str,
        dice: Option<[i64; 2]>,
        cubeful: bool,
        r#match: Option<Match>,
        cube: Option<Cube>,
        jacoby: Option<bool>,
        beavers: Option<bool>,
    ) -> PyResult<Vec<Play>> {
        let (position, ranked) = self.rank(py, position, dice, cubeful, beside(r#match, cube, jacoby, beavers))?;
        Ok(ranked.iter().map(|ranked| Play::new(&position, ranked)).collect())
    }

    /// The best play of a roll; the first one of plays().
    #[pyo3(signature = (position, dice=None, *, cubeful=true, r#match=None, cube=None, jacoby=None, beavers=None))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn best_play(
        &self,
        py: Python<'_>,
        position: &str,
        dice: Option<[i64; 2]>,
        cubeful: bool,
        r#match: Option<Match>,
        cube: Option<Cube>,
        jacoby: Option<bool>,
        beavers: Option<bool>,
    ) -> PyResult<Play> {
        let (position, ranked) = self.rank(py, position, dice, cubeful, beside(r#match, cube, jacoby, beavers))?;
        Ok(Play::new(&position, &ranked[0]))
    }

    /// Whether the player on roll should double before he rolls, and what the opponent should answer; dice in the position
    /// do not matter.
    ///
    /// Raises ValueError where the player on roll may not turn the cube.
    #[pyo3(signature = (position, *, r#match=None, cube=None, jacoby=None, beavers=None))]
    fn cube_action(
        &self,
        py: Python<'_>,
        position: &str,
        r#match: Option<Match>,
        cube: Option<Cube>,
        jacoby: Option<bool>,
        beavers: Option<bool>,
    ) -> PyResult<CubeDecision> {
        let asked = asked(position, beside(r#match, cube, jacoby, beavers), true)?;
        Ok(self.ask(py, |bot| asked.cube_action(bot))?.into())
    }

    /// What many positions are worth to their players on roll before they roll, all for the same stakes.
    ///
    /// points is an int8 array of shape (n, 26): in each row, at 1 to 24 the checkers on the points as the player on roll
    /// counts them, his own positive and the opponent's negative, at 25 the checkers on his bar, and at 0 minus those on
    /// the opponent's bar. What is missing of 15 checkers a side has been borne off. A game that is over is worth its
    /// points. Other Python threads run meanwhile.
    #[pyo3(signature = (points, *, r#match=None, cube=None, jacoby=None, beavers=None))]
    fn evaluate_batch(
        &self,
        py: Python<'_>,
        points: PyReadonlyArray2<'_, i8>,
        r#match: Option<Match>,
        cube: Option<Cube>,
        jacoby: Option<bool>,
        beavers: Option<bool>,
    ) -> PyResult<Evaluations> {
        let shape = points.shape();
        if shape[1] != COUNTS {
            return Err(refused(format!("an array of shape ({}, {}), expected (n, {COUNTS})", shape[0], shape[1])));
        }
        let rows = points.as_array();
        let positions = rows
            .outer_iter()
            .enumerate()
            .map(|(row, counts)| position_of(counts).map_err(|error| refused(format!("row {row}: {error}"))));
        let positions = positions.collect::<PyResult<Vec<Position>>>()?;
        let start = PositionArg::of(Position::START);
        let stakes = start.beside(&beside(r#match, cube, jacoby, beavers)).map_err(refused)?.stakes;
        let evaluated = |bot: &mut Engine<'_>| {
            stakes.check(bot.rules())?;
            let bot = &*bot;
            let evaluate =
                |bot: &mut Engine<'_>, position: &Position| bot.evaluate(position, Valuation::Cubeful(stakes));
            let parts = positions.par_iter().with_min_len(BLOCK);
            Ok::<Vec<bot::Evaluation>, AskError>(parts.map_init(|| bot.clone(), evaluate).collect())
        };
        let found = py.detach(|| self.held.ask_on_threads(evaluated)).map_err(refused)?;
        let probs = found.iter().flat_map(|found| found.probabilities.to_array()).collect();
        let probs = Array2::from_shape_vec((found.len(), 5), probs).map_err(refused)?;
        let column = |value: fn(&bot::Evaluation) -> f32| PyArray1::from_iter(py, found.iter().map(value)).unbind();
        Ok(Evaluations {
            probs: PyArray2::from_owned_array(py, probs).unbind(),
            cubeless: column(|found| found.cubeless.0),
            cubeful: column(|found| found.cubeful.0),
        })
    }
}

impl Bot {
    /// Asks the bot while other Python threads run.
    fn ask<R: Send>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&mut Engine<'_>) -> Result<R, AskError> + Send,
    ) -> PyResult<R> {
        py.detach(|| self.held.ask(question)).map_err(refused)
    }

    /// The plays of a roll, the best first, and the position before them.
    fn rank(
        &self,
        py: Python<'_>,
        position: &str,
        dice: Option<[i64; 2]>,
        cubeful: bool,
        said: Beside,
    ) -> PyResult<(Position, Vec<RankedPlay>)> {
        let dice = dice.map(Dice::try_from).transpose().map_err(refused)?;
        let asked = asked(position, Beside { dice, ..said }, cubeful)?;
        Ok((asked.arg.position, self.ask(py, |bot| asked.rank(bot))?))
    }
}

/// The counts of checkers in a position, an int8 array of 26, as evaluate_batch() takes them.
#[pyfunction]
pub fn points<'py>(py: Python<'py>, position: &str) -> PyResult<Bound<'py, PyArray1<i8>>> {
    let arg: PositionArg = position.parse().map_err(refused)?;
    Ok(PyArray1::from_slice(py, arg.position.points()))
}

/// The Position ID of 26 counts of checkers, in the order of points().
#[pyfunction]
pub fn position_id(points: [i8; COUNTS]) -> PyResult<String> {
    Ok(Position::new(points).map_err(refused)?.to_string())
}

fn position_of(counts: ArrayView1<'_, i8>) -> Result<Position, zar::board::PositionError> {
    let mut points = [0; COUNTS];
    points.iter_mut().zip(counts).for_each(|(to, from)| *to = *from);
    Position::new(points)
}

fn beside(score: Option<Match>, cube: Option<Cube>, jacoby: Option<bool>, beavers: Option<bool>) -> Beside {
    Beside { dice: None, cube: cube.map(|cube| cube.0), score: score.map(|score| score.0), jacoby, beavers }
}

fn asked(position: &str, said: Beside, cubeful: bool) -> PyResult<Asked> {
    let arg: PositionArg = position.parse().map_err(refused)?;
    Ok(Asked { arg: arg.beside(&said).map_err(refused)?, cubeful })
}

/// What is wrong, in the words of the engine.
fn refused(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
