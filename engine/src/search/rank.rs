//! Plays in the order of what their results are worth.

use crate::{
    board::Position,
    net::{Equity, Probabilities},
    rules::{Dice, LegalPlays, Play, RuleSet},
};

use super::{MoveFilter, RolledOut, Search, StaticEvaluator, lookahead::look_at};

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
    /// How many plies it was looked ahead.
    pub plies: u8,
    /// What a rollout found, for the player who makes the play; the probabilities and the equity are then its own.
    pub rolled: Option<RolledOut>,
}

/// Every legal result once, looked ahead so many plies as far as `filter` lets it through: those that were looked at most
/// deeply come first, each kind in the order of its equities. Never empty: with nothing legal it holds the empty play.
///
/// The tree of `search` begins with the cube as the next player sees it; with no state of the cube the equities are
/// cubeless. `None` when the search had to stop first, which without look-ahead it never does.
pub fn rank_ahead(
    search: &Search<'_>,
    evaluator: &mut StaticEvaluator<'_>,
    position: &Position,
    dice: Dice,
    plies: u8,
    filter: MoveFilter,
) -> Option<Vec<RankedPlay>> {
    let mut plays = LegalPlays::default();
    plays.generate(position, dice, search.model.rules());
    let mut evaluations = Vec::with_capacity(plays.len());
    evaluator.evaluate_plays(position, &plays, &mut evaluations);
    let mut ranked: Vec<RankedPlay> = plays
        .iter()
        .zip(evaluations)
        .map(|(legal, evaluation)| {
            let (play, after) = (legal.play, legal.after);
            let equity = -search.equity_of(&evaluation, || search.bare_worth(evaluator, &after, &evaluation));
            RankedPlay { play, after, probabilities: evaluation.flipped(), equity, plies: 0, rolled: None }
        })
        .collect();
    sort(&mut ranked, search.model.rules());
    let mut kept = ranked.len();
    for stage in filter.stages(plies) {
        if stage.plies > 0 {
            look(search, evaluator, &mut ranked[..kept], stage.plies)?;
        }
        let best = ranked[0].equity.0;
        let close = ranked[..kept].iter().take_while(|play| best - play.equity.0 <= stage.within).count();
        kept = close.min(stage.others + 1);
    }
    // A single play needs no comparison, but its value may be asked for.
    if plies > 0 {
        look(search, evaluator, &mut ranked[..kept], plies)?;
    }
    Some(ranked)
}

/// Looks at plays and sorts them; `None` when it had to stop.
fn look(search: &Search<'_>, evaluator: &StaticEvaluator<'_>, plays: &mut [RankedPlay], plies: u8) -> Option<()> {
    let positions: Vec<Position> = plays.iter().map(|play| play.after).collect();
    for (play, value) in plays.iter_mut().zip(look_at(search, evaluator, &positions, plies)?) {
        play.probabilities = value.probabilities.flipped();
        play.equity = -search.equity_of(&value.probabilities, || value.worth[0]);
        play.plies = plies;
    }
    sort(plays, search.model.rules());
    Some(())
}

/// The best first. Where the cube makes plays equal, the one that is worth more without it comes first.
fn sort(plays: &mut [RankedPlay], rules: RuleSet) {
    let cubeless = |play: &RankedPlay| play.probabilities.equity(rules).0;
    plays.sort_by(|a, b| b.equity.0.total_cmp(&a.equity.0).then_with(|| cubeless(b).total_cmp(&cubeless(a))));
}
