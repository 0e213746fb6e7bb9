//! Looking ahead: what a position is worth when the next turns are played out.
//!
//! Plies are counted as players do since GNU Backgammon: 0-ply is the bare network; an evaluation of n plies is the mean
//! over all 21 rolls of what the position after the best reply is worth at n − 1 plies. The reply is chosen at 0-ply; where
//! there are many, among those that the model's sieve lets through.
//!
//! A search carries the cube with it. At every turn the player on roll may double; both ways lead over the same checkers,
//! so that one look serves them all, cube decisions as well as plays.

use rayon::prelude::*;

use crate::{
    board::Position,
    cube::{CubeModel, Worth},
    net::{Equity, OUTPUTS, Probabilities},
    rules::{Dice, LegalPlays},
};

use super::{
    StaticEvaluator, Stop, best_play,
    cache::{Cache, Key},
    cube_tree::{CubeTree, MOST_STATES},
};

/// What a search finds out about a position, for the player on roll.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// How the game ends if nobody turns the cube.
    pub probabilities: Probabilities,
    /// The [worth](Worth) of each state of the cube at this depth.
    pub worth: [f32; MOST_STATES],
}

impl Value {
    const NOTHING: Value =
        Value { probabilities: Probabilities::from_array([0.0; OUTPUTS]), worth: [0.0; MOST_STATES] };
}

/// What all threads of a search share.
pub struct Search<'s> {
    /// What the cube makes of probabilities.
    pub model: &'s CubeModel<'s>,
    /// The ways of the cube.
    pub tree: &'s CubeTree,
    /// Values found before.
    pub cache: &'s Cache,
    /// When to give up.
    pub stop: &'s Stop,
}

impl Search<'_> {
    /// The value of each state from the mean over the rolls: the player on roll doubles where that is worth more to him.
    fn decided(&self, mean: &Value, depth: usize) -> Value {
        let mut value = Value { probabilities: mean.probabilities, worth: [0.0; MOST_STATES] };
        for (worth, state) in value.worth.iter_mut().zip(&self.tree.level(depth).states) {
            let rolled = mean.worth[state.rolled];
            *worth = match state.doubled {
                Some(doubled) => {
                    let taken = self.model.answered(Worth(mean.worth[doubled]), &state.stakes).0;
                    rolled.max(taken.0.min(self.model.dropped(&state.stakes).0))
                }
                None => rolled,
            };
        }
        value
    }

    /// The equity of a position at the root, per unit of the cube: cubeless, unless the search reckons with the cube.
    pub(super) fn equity_of(&self, probabilities: &Probabilities, worth: impl FnOnce() -> f32) -> Equity {
        match self.tree.level(0).states.first() {
            Some(state) => self.model.equity(Worth(worth()), &state.stakes),
            None => probabilities.equity(self.model.rules()),
        }
    }

    /// What a position at the root is worth without looking ahead; 0 without a cube.
    pub(super) fn bare_worth(
        &self,
        evaluator: &StaticEvaluator<'_>,
        position: &Position,
        probabilities: &Probabilities,
    ) -> f32 {
        let root = self.tree.level(0).states.first();
        root.map_or(0.0, |state| evaluator.worth(self.model, position, probabilities, &state.stakes).0)
    }

    /// Whether what a position is worth at some depth is known without looking ahead.
    fn is_known(&self, evaluator: &StaticEvaluator<'_>, position: &Position, depth: usize) -> bool {
        let states = &self.tree.level(depth).states;
        position.is_over() || evaluator.is_known(self.model, position, states.iter().map(|state| &state.stakes))
    }

    fn key(&self, position: &Position, depth: usize, plies: u8) -> Key {
        Key { position: *position, plies, stakes: self.tree.level(depth).fingerprint }
    }
}

/// What one thread of a search works with.
struct Looker<'s, 'm> {
    search: &'s Search<'s>,
    evaluator: StaticEvaluator<'m>,
    /// One for each depth.
    buffers: Vec<(LegalPlays, Vec<Probabilities>)>,
}

impl<'s, 'm> Looker<'s, 'm> {
    fn new(search: &'s Search<'s>, evaluator: StaticEvaluator<'m>) -> Looker<'s, 'm> {
        Looker { search, evaluator, buffers: Vec::new() }
    }

    /// What `position` is worth at `plies`, when `depth` turns have been made since the search began; `None` when it has to
    /// stop.
    fn look(&mut self, position: &Position, depth: usize, plies: u8) -> Option<Value> {
        if plies == 0 || self.search.is_known(&self.evaluator, position, depth) {
            return Some(self.unseen(position, depth));
        }
        let key = self.search.key(position, depth, plies);
        if let Some(value) = self.search.cache.get(&key) {
            return Some(value);
        }
        let mut mean = Value::NOTHING;
        for dice in Dice::ALL {
            add(&mut mean, dice, &self.after_roll(position, dice, depth, plies)?);
        }
        let value = self.search.decided(&mean, depth);
        self.search.cache.put(key, value);
        Some(value)
    }

    /// What `position` is worth without looking ahead.
    fn unseen(&mut self, position: &Position, depth: usize) -> Value {
        let probabilities = self.evaluator.evaluate(position);
        self.leaf(position, probabilities, depth)
    }

    /// What the best play of a roll leads to: the probabilities of the player on roll, and the worth to him of each state
    /// of the next depth. `None` when it has to stop.
    fn after_roll(&mut self, position: &Position, dice: Dice, depth: usize, plies: u8) -> Option<Value> {
        if self.search.stop.is_due() {
            return None;
        }
        while self.buffers.len() <= depth {
            self.buffers.push(Default::default());
        }
        let (mut plays, mut evaluations) = std::mem::take(&mut self.buffers[depth]);
        plays.generate(position, dice, self.search.model.rules());
        self.evaluator.sift(position, &mut plays);
        self.evaluator.evaluate_plays(position, &plays, &mut evaluations);
        let best = self.best_reply(&plays, &evaluations, depth + 1);
        let after = plays[best].after;
        let next = if plies == 1 {
            Some(self.leaf(&after, evaluations[best], depth + 1))
        } else {
            self.look(&after, depth + 1, plies - 1)
        };
        self.buffers[depth] = (plays, evaluations);
        let next = next?;
        Some(Value { probabilities: next.probabilities.flipped(), worth: next.worth.map(|worth| -worth) })
    }

    /// The bare network's value of each state.
    fn leaf(&self, position: &Position, probabilities: Probabilities, depth: usize) -> Value {
        let mut value = Value { probabilities, worth: [0.0; MOST_STATES] };
        for (worth, state) in value.worth.iter_mut().zip(&self.search.tree.level(depth).states) {
            *worth = self.evaluator.worth(self.search.model, position, &probabilities, &state.stakes).0;
        }
        value
    }

    /// The place of the result that is worth least to the next player, with the cube where it is.
    fn best_reply(&self, plays: &LegalPlays, evaluations: &[Probabilities], depth: usize) -> usize {
        match self.search.tree.level(depth).states.first() {
            Some(state) => self.evaluator.best_play(self.search.model, plays, evaluations, &state.stakes),
            None => best_play(evaluations, self.search.model.rules()),
        }
    }
}

/// What each of `positions` is worth at `plies`, each seen by the player on roll, who stands at the root of the search's
/// tree. The work is shared among the threads of the current rayon pool; the values do not depend on their number.
///
/// `None` when the search had to stop before all were known, which without look-ahead it never does.
pub fn look_at(
    search: &Search<'_>,
    evaluator: &StaticEvaluator<'_>,
    positions: &[Position],
    plies: u8,
) -> Option<Vec<Value>> {
    let mut looker = Looker::new(search, evaluator.clone());
    let known: Vec<Option<Value>> = positions
        .iter()
        .map(|position| match plies == 0 || search.is_known(evaluator, position, 0) {
            true => Some(looker.unseen(position, 0)),
            false => search.cache.get(&search.key(position, 0, plies)),
        })
        .collect();
    let unknown: Vec<Position> =
        positions.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(position, _)| *position).collect();
    // Where all is known no threads are woken for it, or started.
    let means = if unknown.is_empty() { Vec::new() } else { means(search, evaluator, &unknown, plies)? };
    let mut means = means.into_iter();
    let mut found = |position: &Position| {
        let mean = means.next().expect("every position that was not known has been looked at");
        let value = search.decided(&mean, 0);
        search.cache.put(search.key(position, 0, plies), value);
        value
    };
    Some(positions.iter().zip(known).map(|(position, known)| known.unwrap_or_else(|| found(position))).collect())
}

/// The mean over all rolls of what the best play of each leads to: the probabilities of the player on roll, and the worth
/// to him of each state of the cube at the next depth. At least one ply.
///
/// `None` when the search had to stop before all were known.
pub fn means(
    search: &Search<'_>,
    evaluator: &StaticEvaluator<'_>,
    positions: &[Position],
    plies: u8,
) -> Option<Vec<Value>> {
    let tasks: Vec<(Position, Dice)> =
        positions.iter().flat_map(|position| Dice::ALL.map(|dice| (*position, dice))).collect();
    let rolls: Option<Vec<Value>> = tasks
        .par_iter()
        .map_init(
            || Looker::new(search, evaluator.clone()),
            |looker, (position, dice)| looker.after_roll(position, *dice, 0, plies),
        )
        .collect();
    let mean = |rolls: &[Value]| {
        let mut mean = Value::NOTHING;
        for (dice, roll) in Dice::ALL.iter().zip(rolls) {
            add(&mut mean, *dice, roll);
        }
        mean
    };
    Some(rolls?.chunks(Dice::ALL.len()).map(mean).collect())
}

/// Adds a roll's share to a mean.
fn add(mean: &mut Value, dice: Dice, roll: &Value) {
    let share = f32::from(dice.ways()) / 36.0;
    let sums = mean.probabilities.to_array();
    let values = roll.probabilities.to_array();
    mean.probabilities = Probabilities::from_array(std::array::from_fn(|i| sums[i] + share * values[i]));
    for (sum, worth) in mean.worth.iter_mut().zip(&roll.worth) {
        *sum += share * worth;
    }
}
