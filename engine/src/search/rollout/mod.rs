//! Rollouts: what a position is worth by playing it out many times.
//!
//! The dice of the first two rolls are spread evenly, all candidates get the same dice, and variance is reduced by taking
//! away each game's luck (David Montgomery, "Variance Reduction", GammOnLine, 2000): how much better each roll was than
//! the mean of all 21, by the networks' values. The mean of the luck is 0 by construction, however wrong the networks are.

mod dice;
mod game;
mod sums;

use rayon::prelude::*;

use crate::{
    board::Position,
    cube::{CubeModel, Worth},
    net::{Equity, OUTPUTS, Probabilities},
    rules::Stakes,
};

use super::{Cache, MoveFilter, StaticEvaluator, Stop};

use dice::WAYS;
use game::Player;
use sums::{Mean, Tally};

/// How a rollout is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RolloutOptions {
    /// The most games of each candidate; they are played 36 at a time, so that it is rounded up, and at least 72.
    pub games: u32,
    /// Turns after which a game ends with an evaluation, at least 1; `None` plays to the end.
    pub turns: Option<u32>,
    /// Plies of look-ahead of the players.
    pub plies: u8,
    /// The move filter of the players.
    pub filter: MoveFilter,
    /// Whether luck is taken away.
    pub variance_reduction: bool,
    /// Seed of the dice.
    pub seed: u64,
    /// Ends the rollout when the standard error of every candidate's equity is no larger.
    pub standard_error: Option<f32>,
    /// Candidates that are behind the best one with this confidence (0.5 to 1) are not played on, and the rollout
    /// ends when there is only one left.
    pub confidence: Option<f32>,
}

impl RolloutOptions {
    /// 1,296 games to the end at 0-ply, with the variance reduced.
    pub const FULL: RolloutOptions = RolloutOptions {
        games: WAYS * WAYS,
        turns: None,
        plies: 0,
        filter: MoveFilter::Normal,
        variance_reduction: true,
        seed: 0,
        standard_error: None,
        confidence: None,
    };
}

impl Default for RolloutOptions {
    fn default() -> Self {
        RolloutOptions::FULL
    }
}

/// What is rolled out: a position seen by the player on roll, who is about to roll.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The checkers.
    pub position: Position,
    /// Cube and score, or `None` for games without cube that count their points.
    pub stakes: Option<Stakes>,
    /// Whether he may double before his first roll.
    pub may_double: bool,
    /// The stakes in whose unit the equity is counted, if they are not those above.
    pub counted_in: Option<Stakes>,
}

/// Who chooses among the candidates of a rollout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chooser {
    /// The player on roll in them: what is worth most to him is the best.
    #[default]
    OnRoll,
    /// The player who has just moved to them: what is worth least to the one on roll is the best.
    Waiting,
}

impl Chooser {
    /// A worth to the player on roll, as the chooser sees it.
    fn sees(self, worth: f64) -> f64 {
        match self {
            Chooser::OnRoll => worth,
            Chooser::Waiting => -worth,
        }
    }
}

/// A rollout and what all its threads share.
#[derive(Clone, Copy, Debug)]
pub struct Rollout<'r> {
    /// What the cube makes of probabilities.
    pub model: &'r CubeModel<'r>,
    /// Values found before.
    pub cache: &'r Cache,
    /// When to end early.
    pub stop: &'r Stop,
    /// Who chooses among the candidates.
    pub chooser: Chooser,
    /// How it is done.
    pub options: RolloutOptions,
}

/// A candidate's result, for the player on roll in its position unless it is [`flipped`](RolledOut::flipped).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RolledOut {
    /// How the games ended, as if nobody had turned the cube: a game that ended with a drop counts as it stood.
    pub probabilities: Probabilities,
    /// The standard error of each probability, in their order.
    pub probability_errors: [f32; OUTPUTS],
    /// What it is worth.
    pub worth: Worth,
    /// The standard error of the worth.
    pub worth_error: f32,
    /// Points per unit of the cube at the beginning (EMG in a match).
    pub equity: Equity,
    /// The standard error of the equity.
    pub equity_error: f32,
    /// Half the width of the interval that covers the true equity, of these players, with probability 0.95.
    pub half_width: f32,
    /// Games played.
    pub games: u32,
}

impl RolledOut {
    /// The same for the other player.
    #[must_use]
    pub fn flipped(self) -> RolledOut {
        let [win, win_gammon, win_triple, lose_gammon, lose_triple] = self.probability_errors;
        RolledOut {
            probabilities: self.probabilities.flipped(),
            probability_errors: [win, lose_gammon, lose_triple, win_gammon, win_triple],
            worth: -self.worth,
            equity: -self.equity,
            ..self
        }
    }
}

/// How far a rollout is.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutProgress {
    /// The results so far, in the order of the candidates.
    pub candidates: Vec<RolledOut>,
    /// The most games that will still be played.
    pub games_left: u64,
}

/// Blocks of 36 games that are played between two looks at whether to end; the same for any number of threads, since the
/// result depends on it.
const WAVE: u32 = 4;

/// Blocks without which there is no result: of one alone no error can be told.
const LEAST_BLOCKS: u32 = 2;

/// Blocks before any rule may end a rollout: with fewer a standard error is hardly known itself.
const FEWEST_BLOCKS: usize = 4;

/// Rolls out candidates, all with the same dice. The work is shared among the threads of the current rayon pool; the
/// result does not depend on their number. `progress` hears how it stands after each wave of games.
///
/// `None` when it had to stop before the first wave was done; after that, what was found out until then.
pub fn roll_out(
    rollout: &Rollout<'_>,
    evaluator: &StaticEvaluator<'_>,
    candidates: &[Candidate],
    progress: &mut dyn FnMut(&RolloutProgress),
) -> Option<Vec<RolledOut>> {
    let options = &rollout.options;
    // Numbers of games fit into 32 bits, the last block's too.
    let blocks = options.games.min(u32::MAX - 2 * WAYS * WAVE).div_ceil(WAYS).max(LEAST_BLOCKS);
    // Games with look-ahead are long, and a wave should not be.
    let wave = if options.plies == 0 { WAVE } else { 1 };
    let mut tracks: Vec<Track> = candidates.iter().map(Track::new).collect();
    let mut done = 0;
    while done < blocks && tracks.iter().any(|track| track.goes_on) {
        // The first wave is short, so that who stops it early has something.
        let next = if done == 0 { LEAST_BLOCKS } else { blocks.min((done / wave + 1) * wave) };
        let tasks: Vec<(usize, u32)> = (done * WAYS..next * WAYS)
            .flat_map(|number| {
                let going_on = tracks.iter().enumerate().filter(|(_, track)| track.goes_on);
                going_on.map(move |(place, _)| (place, number)).collect::<Vec<_>>()
            })
            .collect();
        let games: Option<Vec<Tally>> = tasks
            .par_iter()
            .map_init(
                || Player::new(rollout, evaluator.clone()),
                |player, &(place, number)| player.play(&candidates[place], number),
            )
            .collect();
        let Some(games) = games else { break };
        for (&(place, number), game) in tasks.iter().zip(&games) {
            tracks[place].add(number, game);
        }
        done = next;
        end_what_is_decided(rollout, &mut tracks);
        let going_on = tracks.iter().filter(|track| track.goes_on).count() as u64;
        progress(&RolloutProgress {
            candidates: tracks.iter().map(|track| track.result(rollout.model)).collect(),
            games_left: u64::from((blocks - done) * WAYS) * going_on,
        });
    }
    (done > 0).then(|| tracks.iter().map(|track| track.result(rollout.model)).collect())
}

/// Ends the games of candidates that need no more of them.
fn end_what_is_decided(rollout: &Rollout<'_>, tracks: &mut [Track<'_>]) {
    let Rollout { model, chooser, options, .. } = rollout;
    if tracks.iter().all(|track| track.blocks.len() < FEWEST_BLOCKS) {
        return;
    }
    let results: Vec<RolledOut> = tracks.iter().map(|track| track.result(model)).collect();
    if let Some(confidence) = options.confidence {
        let leader = (0..tracks.len()).filter(|&place| tracks[place].goes_on).max_by(|&a, &b| {
            let [a, b] = [a, b].map(|place| chooser.sees(results[place].worth.0.into()));
            a.total_cmp(&b)
        });
        if let Some(leader) = leader {
            let lead = tracks[leader].blocks.clone();
            for (place, track) in tracks.iter_mut().enumerate() {
                if place != leader && track.goes_on {
                    let ahead = lead.iter().zip(&track.blocks).map(|(a, b)| chooser.sees(a.0[OUTPUTS] - b.0[OUTPUTS]));
                    track.goes_on = Mean::of(ahead).confidence_above_zero() < f64::from(confidence);
                }
            }
            if tracks.len() > 1 && tracks.iter().filter(|track| track.goes_on).count() == 1 {
                tracks[leader].goes_on = false;
            }
        }
    }
    if let Some(bound) = options.standard_error {
        let small = |(track, result): (&Track<'_>, &RolledOut)| !track.goes_on || result.equity_error <= bound;
        if tracks.iter().zip(&results).all(small) {
            tracks.iter_mut().for_each(|track| track.goes_on = false);
        }
    }
}

/// The games of one candidate.
struct Track<'c> {
    candidate: &'c Candidate,
    /// The mean of each block of 36 games. Within a block the first two rolls hang together; blocks are as independent as
    /// need be: their second rolls are spread out, which makes the true error of their mean, if anything, smaller.
    blocks: Vec<Tally>,
    goes_on: bool,
}

impl<'c> Track<'c> {
    fn new(candidate: &'c Candidate) -> Track<'c> {
        Track { candidate, blocks: Vec::new(), goes_on: true }
    }

    fn add(&mut self, number: u32, game: &Tally) {
        if number.is_multiple_of(WAYS) {
            self.blocks.push(Tally::default());
        }
        let block = self.blocks.last_mut().expect("the first game of a block begins it");
        block.add(1.0 / f64::from(WAYS), game);
    }

    fn result(&self, model: &CubeModel<'_>) -> RolledOut {
        let means: [Mean; OUTPUTS + 1] =
            std::array::from_fn(|value| Mean::of(self.blocks.iter().map(move |block| block.0[value])));
        let worth = means[OUTPUTS];
        let equity_of = |worth: f64| match &self.candidate.counted_in.or(self.candidate.stakes) {
            Some(stakes) => model.equity(Worth(worth as f32), stakes),
            None => Equity(worth as f32),
        };
        let zero = equity_of(0.0).0;
        let scaled = |width: f64| if width.is_finite() { (equity_of(width).0 - zero).abs() } else { f32::INFINITY };
        // Where luck is taken away, a mean may lie a little outside of what can be.
        let chance = |i: usize| (means[i].mean as f32).clamp(0.0, 1.0);
        RolledOut {
            probabilities: Probabilities::from_array(std::array::from_fn(chance)),
            probability_errors: std::array::from_fn(|i| means[i].error as f32),
            worth: Worth(worth.mean as f32),
            worth_error: worth.error as f32,
            equity: equity_of(worth.mean),
            equity_error: scaled(worth.error),
            half_width: scaled(worth.half_width()),
            games: self.blocks.len() as u32 * WAYS,
        }
    }
}
