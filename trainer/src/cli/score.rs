//! `zar-train score`: the error rate on reference decisions.

use std::{fs, io, num::NonZeroUsize, path::PathBuf};

use rayon::ThreadPoolBuildError;
use thiserror::Error;
use zar::{
    board::{Position, PositionIdError},
    bot::{Bot, BotError, Level},
    durable,
    net::Model,
    rules::RuleSet,
    search::MoveFilter,
};

use crate::score::{Referee, Reference, ScoreError};

use super::{
    thread_pool,
    weights_file::{self, WeightsFileError},
};

/// Measures the error rate of weights, or of given choices, on decisions with reference equities.
///
/// err(mEq) is the mean cost of the chosen plays in thousandths of a point (mEMG); se its standard error over decisions
/// and se_g the same when the decisions of one game hang together; then the shares of decisions without a cost, and with
/// one over 0.02 and 0.1 points; no-2ply counts the choices that the referee has not judged two plies deep.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Decisions in JSON Lines: pos, dice, class, moves with after, eq, eq0, eq2.
    pub file: PathBuf,
    /// The weights that decide [default: the shipped ones].
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// How far the weights look ahead.
    #[arg(long, value_name = "LEVEL", default_value_t)]
    pub level: Level,
    /// Which plays are looked at more deeply: tiny, narrow, normal, large, huge or none (all of them).
    #[arg(long, value_name = "NAME", default_value_t)]
    pub filter: MoveFilter,
    /// Who judges: first (eq), second (eq2, which some decisions lack), or mean of both.
    #[arg(long, value_name = "WHO", default_value_t)]
    pub referee: Referee,
    /// The rules of the decisions.
    #[arg(long, value_name = "NAME", default_value_t)]
    pub rules: RuleSet,
    /// Score these choices instead: a file with one Position ID a line, the result as the next player sees it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["model", "level", "filter", "seed", "threads", "chosen"])]
    pub choices: Option<PathBuf>,
    /// Write the weights' choices to a file, one Position ID a line.
    #[arg(long, value_name = "FILE")]
    pub chosen: Option<PathBuf>,
    /// Only the first decisions.
    #[arg(long, value_name = "N")]
    pub first: Option<NonZeroUsize>,
    /// Seed of what a level that imitates a person misjudges, and of the dice of rollouts.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Threads to decide on [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Why there is no score.
#[derive(Debug, Error)]
pub enum ScoreCommandError {
    /// The reference file, or choices that it does not know.
    #[error("{path}: {error}")]
    Reference {
        /// Which file.
        path: String,
        /// What is wrong with it.
        error: ScoreError,
    },
    /// The weights.
    #[error(transparent)]
    Weights(#[from] WeightsFileError),
    /// The level or the rules.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// A file could not be read or written.
    #[error("{path}: {error}")]
    Io {
        /// Which file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// A line of the choices is no Position ID.
    #[error("line {line} of the choices: {error}")]
    Choice {
        /// Counted from 1.
        line: usize,
        /// Why.
        error: PositionIdError,
    },
    /// Fewer choices than decisions.
    #[error("{found} choices for {expected} decisions")]
    Choices {
        /// Choices.
        found: usize,
        /// Decisions.
        expected: usize,
    },
    /// The threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] ThreadPoolBuildError),
    /// The result could not be written as JSON.
    #[error("cannot write the result: {0}")]
    Json(#[from] serde_json::Error),
}

/// Measures, and tells the score.
///
/// # Errors
/// Files that cannot be used: see [`ScoreCommandError`].
pub fn run(args: &Args) -> Result<String, ScoreCommandError> {
    let io_error = |path: &PathBuf| {
        let path = path.display().to_string();
        move |error| ScoreCommandError::Io { path, error }
    };
    if let Some(path) = &args.chosen {
        durable::check_writable(path).map_err(io_error(path))?;
    }
    let mut reference = Reference::load(&args.file, args.referee, args.rules)
        .map_err(|error| ScoreCommandError::Reference { path: args.file.display().to_string(), error })?;
    if let Some(first) = args.first {
        reference.truncate(first.get());
    }
    let choices = match &args.choices {
        Some(path) => given(&fs::read_to_string(path).map_err(io_error(path))?, reference.len())?,
        None => {
            let loaded = args.model.as_ref().map(|path| weights_file::load(path)).transpose()?;
            let model = loaded.as_ref().unwrap_or_else(|| Model::shipped_for(args.rules));
            let bot = Bot::new(model, args.level, args.rules)?.with_filter(args.filter).with_seed(args.seed);
            thread_pool(args.threads)?.install(|| reference.choices(&bot))
        }
    };
    if let Some(path) = &args.chosen {
        let lines: String = choices.iter().map(|choice| format!("{choice}\n")).collect();
        durable::write(path, lines.as_bytes()).map_err(io_error(path))?;
    }
    let faulty = |error| {
        let path = match (&error, &args.choices) {
            (ScoreError::Illegal { .. }, Some(path)) => path,
            _ => &args.file,
        };
        ScoreCommandError::Reference { path: path.display().to_string(), error }
    };
    let table = reference.score(&choices).map_err(faulty)?;
    Ok(if args.json { serde_json::to_string(&table)? } else { table.to_string() })
}

/// The first word of each line that is neither empty nor a comment.
fn given(text: &str, decisions: usize) -> Result<Vec<Position>, ScoreCommandError> {
    let choices: Vec<Position> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#'))
        .filter_map(|(i, line)| Some((i, line.split_whitespace().next()?)))
        .map(|(i, word)| word.parse().map_err(|error| ScoreCommandError::Choice { line: i + 1, error }))
        .collect::<Result<_, _>>()?;
    if choices.len() < decisions {
        return Err(ScoreCommandError::Choices { found: choices.len(), expected: decisions });
    }
    Ok(choices)
}
