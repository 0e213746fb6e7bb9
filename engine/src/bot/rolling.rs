//! The bot's rollouts.

use crate::{
    board::Position,
    cube::{MatchWinningChance, Worth},
    net::OUTPUTS,
    rules::{Dice, Stakes},
    search::{Candidate, Chooser, RankedPlay, RolledOut, Rollout, RolloutOptions, RolloutProgress, roll_out},
};

use super::{Bot, BotError, CubeAdvice, Valuation};

/// A cube decision by rollout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RolledCube {
    /// The decision.
    pub advice: CubeAdvice,
    /// The standard errors of the equities without a double and after a double that is taken, per unit of the cube as it
    /// stands (EMG in a match).
    pub errors: [f32; 2],
    /// The standard error of each probability, in their order.
    pub probability_errors: [f32; OUTPUTS],
    /// Games played of each way.
    pub games: u32,
}

/// The most plays that are rolled out.
const MOST_PLAYS: usize = 8;

/// How much worse than the best one a play may seem and still come into question, in points per unit of the cube.
const IN_QUESTION: f32 = 0.12;

impl<'m> Bot<'m> {
    /// The rollouts of a bot that was not told otherwise: 1,296 games at 0-ply; plays are given up when they are behind with
    /// a confidence of 99.5 %.
    pub const ROLLOUT: RolloutOptions = RolloutOptions { confidence: Some(0.995), ..RolloutOptions::FULL };

    /// Rolls `position` out: what it is worth to the player on roll, with his right to double this turn.
    ///
    /// `None` when the bot was stopped before the first games were done.
    pub fn roll_out_position(
        &mut self,
        position: &Position,
        valuation: Valuation,
        progress: &mut dyn FnMut(&RolloutProgress),
    ) -> Option<RolledOut> {
        self.begin();
        self.position_rolled_out(position, valuation, progress)
    }

    pub(super) fn position_rolled_out(
        &mut self,
        position: &Position,
        valuation: Valuation,
        progress: &mut dyn FnMut(&RolloutProgress),
    ) -> Option<RolledOut> {
        let candidate =
            Candidate { position: *position, stakes: valuation.stakes(), may_double: true, counted_in: None };
        Some(self.rolling(self.rollout, Chooser::OnRoll, &[candidate], progress)?[0])
    }

    /// Every legal result once, as [`Bot::rank`] gives them at the plies of the level; those that come into question are
    /// rolled out and come first. A single play is rolled out too.
    pub fn roll_out_plays(
        &mut self,
        position: &Position,
        dice: Dice,
        valuation: Valuation,
        progress: &mut dyn FnMut(&RolloutProgress),
    ) -> Vec<RankedPlay> {
        self.begin();
        let ranked = self.rank_by_plies(position, dice, valuation);
        self.best_rolled_out(ranked, valuation, progress)
    }

    /// Rolls out the first of plays that are ranked already. When the bot was stopped before the first games were done, they
    /// stay as they are.
    pub(super) fn best_rolled_out(
        &mut self,
        mut ranked: Vec<RankedPlay>,
        valuation: Valuation,
        progress: &mut dyn FnMut(&RolloutProgress),
    ) -> Vec<RankedPlay> {
        let best = ranked[0];
        let in_question = ranked
            .iter()
            .take_while(|play| play.plies == best.plies && best.equity.0 - play.equity.0 <= IN_QUESTION)
            .take(MOST_PLAYS)
            .count();
        let stakes = valuation.stakes().map(Stakes::swapped);
        let candidates: Vec<Candidate> = ranked[..in_question]
            .iter()
            .map(|play| Candidate { position: play.after, stakes, may_double: true, counted_in: None })
            .collect();
        // Seen by the player who makes the play.
        let mut turned = |heard: &RolloutProgress| {
            let candidates = heard.candidates.iter().map(|rolled| rolled.flipped()).collect();
            progress(&RolloutProgress { candidates, ..*heard });
        };
        if let Some(results) = self.rolling(self.rollout, Chooser::Waiting, &candidates, &mut turned) {
            for (play, rolled) in ranked.iter_mut().zip(results) {
                let rolled = rolled.flipped();
                (play.probabilities, play.equity, play.rolled) = (rolled.probabilities, rolled.equity, Some(rolled));
            }
            // A play that was given up early stands behind those that were not, although its few games may say otherwise.
            ranked[..in_question].sort_by(|a, b| {
                let games = |play: &RankedPlay| play.rolled.map_or(0, |rolled| rolled.games);
                games(b).cmp(&games(a)).then(b.equity.0.total_cmp(&a.equity.0))
            });
        }
        ranked
    }

    /// Rolls out both ways of a cube decision with the same dice.
    ///
    /// `None` when the bot was stopped before the first games were done.
    ///
    /// # Errors
    /// A cube that the player on roll may not turn.
    pub fn roll_out_cube(
        &mut self,
        position: &Position,
        stakes: &Stakes,
        progress: &mut dyn FnMut(&RolloutProgress),
    ) -> Result<Option<RolledCube>, BotError> {
        self.check_cube(stakes)?;
        self.begin();
        Ok(self.cube_rolled_out(position, stakes, progress))
    }

    /// [`Bot::roll_out_cube`] where the cube may be turned.
    pub(super) fn cube_rolled_out(
        &mut self,
        position: &Position,
        stakes: &Stakes,
        progress: &mut dyn FnMut(&RolloutProgress),
    ) -> Option<RolledCube> {
        let model = self.cube_model();
        let doubled = stakes.doubled().unwrap_or(*stakes);
        let candidates = [*stakes, doubled].map(|way| Candidate {
            position: *position,
            stakes: Some(way),
            may_double: false,
            counted_in: Some(*stakes),
        });
        // Neither way ends the other: both numbers are asked for.
        let options = RolloutOptions { confidence: None, ..self.rollout };
        let results = self.rolling(options, Chooser::OnRoll, &candidates, progress)?;
        let (no_double, double_take) = (results[0], results[1]);
        let (answered, beaver) = model.answered(double_take.worth, stakes);
        let worths = [no_double.worth, answered, model.dropped(stakes)];
        let advice = CubeAdvice {
            probabilities: no_double.probabilities,
            decision: model.decision(stakes, worths, beaver),
            chances: stakes.score().map(|_| worths.map(MatchWinningChance::of)),
        };
        let scaled = |error: f32| model.equity(Worth(error), stakes).0 - model.equity(Worth(0.0), stakes).0;
        let beavered = if beaver { 2.0 } else { 1.0 };
        Some(RolledCube {
            advice,
            errors: [no_double.worth_error, beavered * double_take.worth_error].map(scaled),
            probability_errors: no_double.probability_errors,
            games: no_double.games,
        })
    }

    fn rolling(
        &mut self,
        options: RolloutOptions,
        chooser: Chooser,
        candidates: &[Candidate],
        progress: &mut dyn FnMut(&RolloutProgress),
    ) -> Option<Vec<RolledOut>> {
        let options = RolloutOptions { seed: self.seed, ..options };
        let rollout = Rollout { model: &self.cube_model(), cache: &self.cache, stop: &self.due, chooser, options };
        roll_out(&rollout, &self.evaluator, candidates, progress)
    }
}
