//! Plays in the order of what the network thinks of their results: 0-ply, as gnubg counts.

use crate::{
    board::Position,
    net::{Equity, Evaluator, Probabilities},
    rules::{Dice, LegalPlays, Play, RuleSet},
};

/// The place of the evaluation that is worth least to the next player, and so most to the player who makes the play; the
/// first of equals. 0 when there is none.
#[inline]
pub fn best_play(evaluations: &[Probabilities], rules: RuleSet) -> usize {
    let mut best = (0, f32::INFINITY);
    for (place, evaluation) in evaluations.iter().enumerate() {
        let equity = evaluation.equity(rules).0;
        if equity < best.1 {
            best = (place, equity);
        }
    }
    best.0
}

/// A legal play and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedPlay {
    /// The movements.
    pub play: Play,
    /// The result as the next player sees it.
    pub after: Position,
    /// How the game ends for the player who makes the play.
    pub probabilities: Probabilities,
    /// His equity: cubeless, unless whoever hands it out says otherwise.
    pub equity: Equity,
}

/// Every legal result once, the best for the player on roll first; equally good ones in the order of generation.
///
/// Never empty: with nothing legal it holds the empty play.
pub fn rank_plays(evaluator: &mut Evaluator<'_>, position: &Position, dice: Dice) -> Vec<RankedPlay> {
    let rules = evaluator.rules();
    let mut plays = LegalPlays::default();
    plays.generate(position, dice, rules);
    let mut evaluations = Vec::with_capacity(plays.len());
    evaluator.evaluate_plays(position, &plays, &mut evaluations);
    let mut ranked: Vec<RankedPlay> = plays
        .iter()
        .zip(evaluations)
        .map(|(legal, evaluation)| {
            let probabilities = evaluation.flipped();
            let equity = -evaluation.equity(rules);
            RankedPlay { play: legal.play, after: legal.after, probabilities, equity }
        })
        .collect();
    ranked.sort_by(|a, b| b.equity.0.total_cmp(&a.equity.0));
    ranked
}
