//! Plays in the order of what the network thinks of their results: 0-ply, as gnubg counts.

use crate::{
    board::Position,
    net::{Equity, Evaluator, Probabilities},
    rules::{Dice, LegalPlays, Play},
};

/// A legal play and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedPlay {
    /// The movements.
    pub play: Play,
    /// The result as the next player sees it.
    pub after: Position,
    /// How the game ends for the player who makes the play.
    pub probabilities: Probabilities,
    /// His cubeless equity.
    pub equity: Equity,
}

/// Every legal result once, the best for the player on roll first; equally good ones in the order of generation.
///
/// Never empty: with nothing legal it holds the empty play.
pub fn rank_plays(evaluator: &mut Evaluator<'_>, position: &Position, dice: Dice) -> Vec<RankedPlay> {
    let rules = evaluator.model().rules();
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
