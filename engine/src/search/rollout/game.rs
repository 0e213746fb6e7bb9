//! One game of a rollout.

use crate::{
    board::Position,
    cube::Worth,
    net::Probabilities,
    rules::{Dice, LegalPlays, Stakes},
    search::{CubeTree, Search, StaticEvaluator, best_play, look_at, means, rank_ahead},
};

use super::{Candidate, Rollout, dice::GameDice, sums::Tally};

/// What one thread of a rollout works with.
pub struct Player<'r, 'm> {
    rollout: &'r Rollout<'r>,
    evaluator: StaticEvaluator<'m>,
    plays: LegalPlays,
    evaluations: Vec<Probabilities>,
}

/// Games longer than this end with an evaluation; real ones end an order of magnitude sooner.
const MOST_TURNS: u32 = 4_000;

/// Cube decisions are looked at more deeply when a double seems wrong by no more than this, in points per unit of the cube.
const NEAR_A_DOUBLE: f32 = 0.25;

/// What the player on roll does with the cube, and the other's answer.
enum CubeTurn {
    /// He rolls; the stakes are still seen by him.
    Rolls(Stakes),
    /// His double is dropped.
    Dropped(Tally),
}

/// What a roll leads to, seen by the player who rolled.
struct Rolled {
    after: Position,
    /// How the game ends for the next player, at 0-ply.
    probabilities: Probabilities,
}

impl<'r, 'm> Player<'r, 'm> {
    pub fn new(rollout: &'r Rollout<'r>, evaluator: StaticEvaluator<'m>) -> Player<'r, 'm> {
        Player { rollout, evaluator, plays: LegalPlays::default(), evaluations: Vec::new() }
    }

    /// Plays game `number` of a candidate: what it was worth to the player on roll at its beginning, less his luck where
    /// variance is reduced. `None` when the rollout has to stop.
    pub fn play(&mut self, candidate: &Candidate, number: u32) -> Option<Tally> {
        let options = &self.rollout.options;
        // The value at the end counts the right to double in, which the first turn may be without.
        let last = options.turns.map_or(MOST_TURNS, |turns| turns.max(1));
        let mut dice = GameDice::new(options.seed, number);
        let Candidate { mut position, mut stakes, may_double, .. } = *candidate;
        let mut luck = Tally::default();
        let mut turn = 0;
        let mut probabilities = self.evaluator.evaluate(&position);
        let end = loop {
            let may_double = may_double || turn > 0;
            if position.is_over() || self.evaluator.is_known(self.rollout.model, &position, &stakes) {
                break self.value(&position, &probabilities, stakes.as_ref(), may_double);
            }
            if turn == last {
                break self.deep_value(&position, stakes.as_ref())?;
            }
            if self.rollout.stop.is_due() {
                return None;
            }
            if let Some(before) = stakes.filter(|_| may_double) {
                match self.turn_cube(&position, &probabilities, before)? {
                    CubeTurn::Rolls(after) => stakes = Some(after),
                    CubeTurn::Dropped(end) => break end,
                }
            }
            let roll = dice.roll();
            if options.variance_reduction {
                luck.add(1.0, &seen_from_root(self.luck(&position, roll, stakes.as_ref()), turn));
            }
            let rolled = self.after_roll(&position, roll, stakes.as_ref())?;
            (position, probabilities) = (rolled.after, rolled.probabilities);
            stakes = stakes.map(Stakes::swapped);
            turn += 1;
        };
        let mut result = if turn % 2 == 0 { end } else { end.flipped() };
        result.add(-1.0, &luck);
        Some(result)
    }

    /// The 0-ply value, for the player on roll, with or without the right to double this turn.
    fn value(
        &self,
        position: &Position,
        probabilities: &Probabilities,
        stakes: Option<&Stakes>,
        may_double: bool,
    ) -> Tally {
        let model = self.rollout.model;
        let worth = match stakes {
            Some(stakes) if !may_double => self.evaluator.two_ways(model, position, probabilities, stakes)[0],
            Some(stakes) => self.evaluator.worth(model, position, probabilities, stakes),
            None => Worth(probabilities.equity(model.rules()).0),
        };
        Tally::of(*probabilities, worth)
    }

    /// The value at the plies of the rollout.
    fn deep_value(&mut self, position: &Position, stakes: Option<&Stakes>) -> Option<Tally> {
        let plies = self.rollout.options.plies;
        let tree = CubeTree::new(self.rollout.model, stakes.map_or(&[], std::slice::from_ref), plies);
        let value = look_at(&self.search(&tree), &self.evaluator, &[*position], plies)?[0];
        let worth = match stakes {
            Some(_) => Worth(value.worth[0]),
            None => Worth(value.probabilities.equity(self.rollout.model.rules()).0),
        };
        Some(Tally::of(value.probabilities, worth))
    }

    /// What both players do with the cube before the roll.
    fn turn_cube(&self, position: &Position, probabilities: &Probabilities, stakes: Stakes) -> Option<CubeTurn> {
        let model = self.rollout.model;
        if !model.doubles(&stakes) {
            return Some(CubeTurn::Rolls(stakes));
        }
        let mut probabilities = *probabilities;
        let mut ways = self.evaluator.two_ways(model, position, &probabilities, &stakes);
        let dropped = model.dropped(&stakes);
        let gain = |[no_double, taken]: [Worth; 2]| taken.0.min(dropped.0) - no_double.0;
        let near = || model.equity(Worth(gain(ways)), &stakes).0 - model.equity(Worth(0.0), &stakes).0 > -NEAR_A_DOUBLE;
        if self.rollout.options.plies > 0 && near() {
            let plies = self.rollout.options.plies;
            let tree = CubeTree::new(model, &[stakes], plies);
            let mean = means(&self.search(&tree), &self.evaluator, &[*position], plies)?[0];
            let state = tree.level(0).states[0];
            probabilities = mean.probabilities;
            ways = [state.rolled, state.doubled.unwrap_or(state.rolled)].map(|way| Worth(mean.worth[way]));
        }
        let [no_double, taken] = ways;
        let (answered, beaver) = model.answered(taken, &stakes);
        if answered.0.min(dropped.0) <= no_double.0 {
            return Some(CubeTurn::Rolls(stakes));
        }
        if answered >= dropped {
            return Some(CubeTurn::Dropped(Tally::of(probabilities, dropped)));
        }
        let turned = stakes.doubled().filter(|_| !beaver).or_else(|| stakes.doubled()?.doubled());
        Some(CubeTurn::Rolls(turned.unwrap_or(stakes)))
    }

    /// The result of the play that is made with a roll.
    fn after_roll(&mut self, position: &Position, roll: Dice, stakes: Option<&Stakes>) -> Option<Rolled> {
        let (model, options) = (self.rollout.model, &self.rollout.options);
        if options.plies > 0 {
            let next = stakes.map(|stakes| stakes.swapped());
            let tree = CubeTree::new(model, next.as_slice(), options.plies);
            let search = Search { model, tree: &tree, cache: self.rollout.cache, stop: self.rollout.stop };
            let best = rank_ahead(&search, &mut self.evaluator, position, roll, options.plies, options.filter)?[0];
            return Some(Rolled { after: best.after, probabilities: self.evaluator.evaluate(&best.after) });
        }
        self.plays.generate(position, roll, model.rules());
        self.evaluator.evaluate_plays(position, &self.plays, &mut self.evaluations);
        let best = match stakes {
            None => best_play(&self.evaluations, model.rules()),
            Some(stakes) => self.evaluator.best_play(model, &self.plays, &self.evaluations, &stakes.swapped()),
        };
        Some(Rolled { after: self.plays[best].after, probabilities: self.evaluations[best] })
    }

    /// How much better a roll is than rolls are on average, by the 0-ply values of the plays that are best at 0-ply
    /// without the cube: whatever the values are, the mean over all rolls is 0.
    fn luck(&mut self, position: &Position, roll: Dice, stakes: Option<&Stakes>) -> Tally {
        let next = stakes.map(|stakes| stakes.swapped());
        let mut luck = Tally::default();
        for dice in Dice::ALL {
            self.plays.generate(position, dice, self.rollout.model.rules());
            self.evaluator.sift(position, &mut self.plays);
            self.evaluator.evaluate_plays(position, &self.plays, &mut self.evaluations);
            let best = best_play(&self.evaluations, self.rollout.model.rules());
            let value = self.value(&self.plays[best].after, &self.evaluations[best], next.as_ref(), true).flipped();
            if dice == roll {
                luck.add(1.0, &value);
            }
            luck.add(-f64::from(dice.ways()) / 36.0, &value);
        }
        luck
    }

    fn search<'s>(&'s self, tree: &'s CubeTree) -> Search<'s> {
        Search { model: self.rollout.model, tree, cache: self.rollout.cache, stop: self.rollout.stop }
    }
}

/// A difference of values, which the player on roll in some turn sees, as the player on roll in turn 0 sees it.
fn seen_from_root(luck: Tally, turn: u32) -> Tally {
    if turn.is_multiple_of(2) {
        return luck;
    }
    // Differences of chances to win change their sign like worths; the constant of `flipped` falls out.
    let mut seen = luck.flipped();
    seen.0[0] -= 1.0;
    seen
}
