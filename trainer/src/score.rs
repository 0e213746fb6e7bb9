//! The error rate of a player on decisions whose plays have reference equities.
//!
//! A reference file has one decision a line: the position, the dice, and every legal result with `eq`, the referee's
//! equity for the mover, on the plausible ones and `eq0`, a shallower one, on all. A chosen play costs the best `eq`
//! less its own; one without `eq` costs the best less the lower of the lowest `eq` and its `eq0` (`no-2ply` counts these).
//! Some decisions have a second referee's equities, `eq2`; he may judge them in the first one's place, or both together.

use std::{
    collections::{BTreeMap, HashMap},
    fmt, fs, io,
    path::Path,
    str::FromStr,
};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use zar::{
    board::Position,
    bot::{Bot, Valuation},
    rules::{Dice, LegalPlays, RuleSet},
};

/// Why a reference file cannot be used.
#[derive(Debug, Error)]
pub enum ScoreError {
    /// It could not be read.
    #[error("cannot be read: {0}")]
    Io(io::Error),
    /// A line is not a decision.
    #[error("line {line}: {reason}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A choice that nobody may make.
    #[error("choice {number}: {choice} is not a legal result of {position} with {dice}")]
    Illegal {
        /// Which decision it is for, counted from 1.
        number: usize,
        /// The result.
        choice: Position,
        /// The position.
        position: Position,
        /// The dice.
        dice: Dice,
    },
    /// The file holds no decision, or none that the referee has judged.
    #[error("no judged decision in the reference file")]
    Empty,
}

/// Whose equities count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Referee {
    /// `eq`.
    #[default]
    First,
    /// `eq2`; decisions without it are left out.
    Second,
    /// The mean of `eq` and `eq2` where a play has both; decisions without such a play are left out.
    Mean,
}

/// A name that no referee has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no referee: expected first, second or mean")]
pub struct UnknownReferee(pub String);

impl Referee {
    fn equity(self, play: &LineMove) -> Option<f64> {
        match self {
            Referee::First => play.eq,
            Referee::Second => play.eq2,
            Referee::Mean => Some((play.eq? + play.eq2?) / 2.0),
        }
    }
}

impl fmt::Display for Referee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Referee::First => "first",
            Referee::Second => "second",
            Referee::Mean => "mean",
        })
    }
}

impl FromStr for Referee {
    type Err = UnknownReferee;

    fn from_str(name: &str) -> Result<Referee, UnknownReferee> {
        [Referee::First, Referee::Second, Referee::Mean]
            .into_iter()
            .find(|referee| referee.to_string() == name)
            .ok_or_else(|| UnknownReferee(name.chars().take(40).collect()))
    }
}

/// Decisions with reference equities.
#[derive(Clone, Debug)]
pub struct Reference {
    decisions: Vec<Decision>,
}

#[derive(Clone, Debug)]
struct Decision {
    position: Position,
    dice: Dice,
    class: String,
    game: u64,
    /// What each legal result costs; nothing where the referee has not judged.
    costs: HashMap<Position, Cost>,
}

/// What a legal result costs.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// Thousandths of a point less than the best one.
    error: f64,
    /// Whether the referee himself has judged it.
    judged: bool,
}

#[derive(Deserialize)]
struct Line {
    pos: String,
    dice: [u8; 2],
    class: String,
    game: Option<u64>,
    moves: Vec<LineMove>,
}

#[derive(Deserialize)]
struct LineMove {
    after: String,
    eq: Option<f64>,
    eq0: Option<f64>,
    eq2: Option<f64>,
}

/// Error rates, by class and over all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreTable {
    /// Each class in alphabetical order.
    pub classes: BTreeMap<String, ScoreRow>,
    /// All decisions.
    pub total: ScoreRow,
}

/// The error rate on some decisions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScoreRow {
    /// Decisions.
    pub decisions: usize,
    /// Mean cost of the chosen play in thousandths of a point (mEMG).
    pub error: f64,
    /// Standard error of the mean over decisions.
    pub standard_error: f64,
    /// Standard error when the decisions of one game hang together.
    pub standard_error_by_game: f64,
    /// Share of decisions without a cost, in percent.
    pub best: f64,
    /// Share that costs more than 0.02 points, in percent.
    pub over_20: f64,
    /// Share that costs more than 0.1 points, in percent.
    pub over_100: f64,
    /// Choices that the referee has not judged, and that are charged by the shallower equity.
    pub unjudged: usize,
}

impl Reference {
    /// Reads a file in JSON Lines of decisions by `rules`, of which `referee` judges the plays.
    ///
    /// # Errors
    /// A file that cannot be read, or a line that is not a decision with every legal result.
    pub fn load(path: &Path, referee: Referee, rules: RuleSet) -> Result<Reference, ScoreError> {
        let text = fs::read_to_string(path).map_err(ScoreError::Io)?;
        Reference::parse(&text, referee, rules)
    }

    /// Reads JSON Lines.
    ///
    /// # Errors
    /// As [`Reference::load`].
    pub fn parse(text: &str, referee: Referee, rules: RuleSet) -> Result<Reference, ScoreError> {
        let mut plays = LegalPlays::default();
        let decisions: Vec<Decision> = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(i, line)| {
                decision(line, referee, rules, i as u64, &mut plays)
                    .map_err(|reason| ScoreError::Line { line: i + 1, reason })
            })
            .collect::<Result<_, _>>()?;
        if decisions.is_empty() { Err(ScoreError::Empty) } else { Ok(Reference { decisions }) }
    }

    /// Number of decisions, at least 1.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.decisions.len()
    }

    /// Keeps the first decisions only.
    pub fn truncate(&mut self, count: usize) {
        self.decisions.truncate(count.max(1));
    }

    /// What a bot chooses without the cube, each result as the next player sees it, in the order of the file.
    pub fn choices(&self, bot: &Bot<'_>) -> Vec<Position> {
        let choose = |bot: &mut Bot<'_>, decision: &Decision| {
            bot.rank(&decision.position, decision.dice, Valuation::Cubeless)[0].after
        };
        self.decisions.par_iter().map_init(|| bot.clone(), choose).collect()
    }

    /// The error rate of choices as [`Reference::choices`] gives them.
    ///
    /// # Errors
    /// [`ScoreError::Illegal`] for a choice that is no legal result of its decision, [`ScoreError::Empty`] where the referee has
    /// judged none of them.
    pub fn score(&self, choices: &[Position]) -> Result<ScoreTable, ScoreError> {
        let mut by_class: BTreeMap<String, Vec<(Cost, u64)>> = BTreeMap::new();
        let mut all = Vec::with_capacity(choices.len());
        let judged = |decision: &Decision| !decision.costs.is_empty();
        for (i, (decision, choice)) in self.decisions.iter().zip(choices).enumerate().filter(|(_, (d, _))| judged(d)) {
            let cost = *decision.costs.get(choice).ok_or(ScoreError::Illegal {
                number: i + 1,
                choice: *choice,
                position: decision.position,
                dice: decision.dice,
            })?;
            by_class.entry(decision.class.clone()).or_default().push((cost, decision.game));
            all.push((cost, decision.game));
        }
        if all.is_empty() {
            return Err(ScoreError::Empty);
        }
        let classes = by_class.into_iter().map(|(class, costs)| (class, ScoreRow::of(&costs))).collect();
        Ok(ScoreTable { classes, total: ScoreRow::of(&all) })
    }
}

fn decision(
    line: &str,
    referee: Referee,
    rules: RuleSet,
    number: u64,
    plays: &mut LegalPlays,
) -> Result<Decision, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let position: Position = line.pos.parse().map_err(|error| format!("{}: {error}", line.pos))?;
    let dice = Dice::new(line.dice[0], line.dice[1]).map_err(|error| error.to_string())?;
    let judged = || line.moves.iter().filter_map(|result| referee.equity(result));
    let game = line.game.unwrap_or(number);
    let mut costs = HashMap::new();
    let Some(best) = judged().reduce(f64::max) else {
        return match referee {
            Referee::First => Err("no result has an eq".into()),
            Referee::Second | Referee::Mean => Ok(Decision { position, dice, class: line.class, game, costs }),
        };
    };
    let lowest = judged().fold(best, f64::min);
    for play in &line.moves {
        let LineMove { after, eq, eq0, .. } = play;
        let result: Position = after.parse().map_err(|error| format!("{after}: {error}"))?;
        let own = referee.equity(play);
        let shallower = || eq.or(*eq0).map(|equity| lowest.min(equity));
        let equity = own.or_else(shallower).ok_or_else(|| format!("{after} has neither eq nor eq0"))?;
        costs.insert(result, Cost { error: 1000.0 * (best - equity), judged: own.is_some() });
    }
    plays.generate(&position, dice, rules);
    match plays.iter().find(|legal| !costs.contains_key(&legal.after)) {
        Some(legal) => Err(format!("the legal result {} is missing", legal.after)),
        None => Ok(Decision { position, dice, class: line.class, game, costs }),
    }
}

impl ScoreRow {
    fn of(costs: &[(Cost, u64)]) -> ScoreRow {
        let n = costs.len() as f64;
        let mean = costs.iter().map(|(cost, _)| cost.error).sum::<f64>() / n;
        let squares: f64 = costs.iter().map(|(cost, _)| (cost.error - mean).powi(2)).sum();
        let mut games: BTreeMap<u64, f64> = BTreeMap::new();
        for (cost, game) in costs {
            *games.entry(*game).or_default() += cost.error - mean;
        }
        let share = |matches: &dyn Fn(f64) -> bool| {
            100.0 * costs.iter().filter(|(cost, _)| matches(cost.error)).count() as f64 / n
        };
        ScoreRow {
            decisions: costs.len(),
            error: mean,
            standard_error: (squares / (n - 1.0).max(1.0)).sqrt() / n.sqrt(),
            standard_error_by_game: games.values().map(|sum| sum * sum).sum::<f64>().sqrt() / n,
            best: share(&|cost| cost < 1e-3),
            over_20: share(&|cost| cost > 20.0),
            over_100: share(&|cost| cost > 100.0),
            unjudged: costs.iter().filter(|(cost, _)| !cost.judged).count(),
        }
    }
}

impl fmt::Display for ScoreTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<9} {:>6} {:>10} {:>7} {:>7} {:>8} {:>9} {:>8} {:>7}",
            "class", "n", "err(mEq)", "se", "se_g", "%best", "%err>20m", "%>100m", "no-2ply"
        )?;
        let total = "TOTAL".to_owned();
        let rows = self.classes.iter().chain([(&total, &self.total)]);
        for (class, row) in rows {
            write!(
                f,
                "\n{class:<9} {:>6} {:>10.2} {:>7.2} {:>7.2} {:>8.1} {:>9.1} {:>8.1} {:>7}",
                row.decisions,
                row.error,
                row.standard_error,
                row.standard_error_by_game,
                row.best,
                row.over_20,
                row.over_100,
                row.unjudged
            )?;
        }
        Ok(())
    }
}
