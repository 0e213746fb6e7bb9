//! Evaluation without look-ahead: exact where the bear-off tables reach, by the networks elsewhere.

use crate::{
    board::Position,
    cube::{CubeModel, Efficiency, Worth},
    exact::{BearoffTables, MoneyEquities},
    net::{Equity, Evaluator, Model, Probabilities},
    rules::{LegalPlay, LegalPlays, Outcome, RuleSet, Stakes},
};

use super::Blur;

/// An [`Evaluator`] that knows the bear-off tables; holds the buffers of one thread.
#[derive(Clone, Debug)]
pub struct StaticEvaluator<'m> {
    evaluator: Evaluator<'m>,
    tables: Option<BearoffTables>,
    blur: Blur,
    /// Plays that are left to the networks, and what these say.
    unknown: Vec<LegalPlay>,
    estimates: Vec<Probabilities>,
}

impl<'m> StaticEvaluator<'m> {
    /// Puts networks and tables together.
    ///
    /// # Panics
    /// If they are for different rules.
    pub fn new(evaluator: Evaluator<'m>, tables: Option<BearoffTables>) -> StaticEvaluator<'m> {
        if let Some(tables) = &tables {
            assert_eq!(tables.rules(), evaluator.rules(), "the tables are for the rules of the evaluator");
        }
        StaticEvaluator { evaluator, tables, blur: Blur::default(), unknown: Vec::new(), estimates: Vec::new() }
    }

    /// The same evaluator with errors of judgement.
    #[must_use]
    pub fn blurred(self, blur: Blur) -> StaticEvaluator<'m> {
        StaticEvaluator { blur, ..self }
    }

    /// Its errors of judgement.
    pub fn blur(&self) -> Blur {
        self.blur
    }

    /// The rules by which the games end that it evaluates.
    pub fn rules(&self) -> RuleSet {
        self.evaluator.rules()
    }

    /// The networks.
    pub fn model(&self) -> &'m Model {
        self.evaluator.model()
    }

    /// The tables, if it has any.
    pub fn tables(&self) -> Option<&BearoffTables> {
        self.tables.as_ref()
    }

    /// The worth if the player on roll does not double this turn, and if he doubles and the opponent takes; exact where the
    /// tables know the cube. `probabilities` are those of `position`.
    pub fn two_ways(
        &self,
        model: &CubeModel<'_>,
        position: &Position,
        probabilities: &Probabilities,
        stakes: &Stakes,
    ) -> [Worth; 2] {
        match self.money_equities(model, position, stakes) {
            Some(known) => {
                let equities = [known.no_double(stakes.cube.owner()), known.double_take()];
                equities.map(|equity| model.worth_of(equity, stakes))
            }
            None => model.two_ways(probabilities, Efficiency::of(position), stakes),
        }
    }

    /// The worth with the right to double this turn counted in, exact where the tables know the cube.
    pub fn worth(
        &self,
        model: &CubeModel<'_>,
        position: &Position,
        probabilities: &Probabilities,
        stakes: &Stakes,
    ) -> Worth {
        match self.money_equities(model, position, stakes) {
            Some(known) => {
                let no_double = known.no_double(stakes.cube.owner()).0;
                let equity = match stakes.may_double(model.rules()) {
                    true => no_double.max(known.double_take().0.min(1.0)),
                    false => no_double,
                };
                model.worth_of(Equity(equity), stakes)
            }
            None => model.worth(probabilities, Efficiency::of(position), stakes),
        }
    }

    /// The place of the result that is worth least to the next player, who has the given stakes. `evaluations` are those of
    /// the results of `plays`.
    pub(super) fn best_play(
        &self,
        model: &CubeModel<'_>,
        plays: &[LegalPlay],
        evaluations: &[Probabilities],
        stakes: &Stakes,
    ) -> usize {
        let mut best = (0, f32::INFINITY, f32::INFINITY);
        for (place, (legal, evaluation)) in plays.iter().zip(evaluations).enumerate() {
            let worth = self.worth(model, &legal.after, evaluation, stakes).0;
            // Where all are doubled out, the one that loses least is the best.
            let equity = evaluation.equity(model.rules()).0;
            if (worth, equity) < (best.1, best.2) {
                best = (place, worth, equity);
            }
        }
        best.0
    }

    /// What the tables know of a position with the cube.
    #[inline]
    fn money_equities(&self, model: &CubeModel<'_>, position: &Position, stakes: &Stakes) -> Option<MoneyEquities> {
        let tables = self.tables.as_ref()?;
        if self.are_reckoned_with(model, stakes) { tables.money_equities(position) } else { None }
    }

    /// Whether the cube is as the tables reckon with it: in money play with a limit of the cube that is so far away that it
    /// does not matter. Who doubles rightly is not beavered, and without gammons the Jacoby rule is nothing.
    #[inline]
    fn are_reckoned_with(&self, model: &CubeModel<'_>, stakes: &Stakes) -> bool {
        const FAR: u32 = 64;
        let far = stakes.cube.value() <= stakes.cube_limit(model.rules()) / FAR;
        // Whoever misjudges positions does not know tables by heart.
        stakes.score().is_none() && far && self.blur.is_none()
    }

    /// Whether the tables know all that `position` is worth at each of `stakes`, so that looking ahead from it has no use.
    #[inline]
    pub(super) fn is_known<'s>(
        &self,
        model: &CubeModel<'_>,
        position: &Position,
        stakes: impl IntoIterator<Item = &'s Stakes>,
    ) -> bool {
        // Without the cube they know all; whoever has no use for a double has none for a later one.
        let is_dead = |stakes: &Stakes| !model.doubles(stakes) && !model.doubles(&stakes.swapped());
        self.blur.is_none()
            && self.tables.as_ref().is_some_and(|tables| tables.is_two_sided(position))
            && stakes.into_iter().all(|stakes| self.are_reckoned_with(model, stakes) || is_dead(stakes))
    }

    /// How the game ends for the player on roll in `position`, who is about to roll. A finished game is certain.
    pub fn evaluate(&mut self, position: &Position) -> Probabilities {
        let true_ones = match self.tables.as_ref().and_then(|tables| tables.probabilities(position)) {
            Some(known) => known,
            None => self.evaluator.evaluate(position),
        };
        self.blur.seen(position, true_ones, self.rules())
    }

    /// Evaluates the results of all `plays` of one position, each as the next player sees it, in their order.
    pub fn evaluate_plays(&mut self, position: &Position, plays: &[LegalPlay], results: &mut Vec<Probabilities>) {
        self.evaluate_truly(position, plays, results);
        if !self.blur.is_none() {
            for (play, result) in plays.iter().zip(results) {
                *result = self.blur.seen(&play.after, *result, self.evaluator.rules());
            }
        }
    }

    /// Keeps those of many plays that are worth an evaluation when the best is looked for: all, without a sieve.
    pub fn sift(&mut self, position: &Position, plays: &mut LegalPlays) {
        /// What the networks find best is among so many in nearly all positions.
        const MOST: usize = 4;
        // Whoever misjudges positions misjudges all of them.
        if self.blur.is_none() {
            self.evaluator.sift(position, plays, MOST);
        }
    }

    fn evaluate_truly(&mut self, position: &Position, plays: &[LegalPlay], results: &mut Vec<Probabilities>) {
        let Some(tables) = &self.tables else {
            return self.evaluator.evaluate_plays(position, plays, results);
        };
        results.clear();
        self.unknown.clear();
        for play in plays {
            let certain = || Outcome::of(&play.after, tables.rules()).map(Probabilities::certain);
            match tables.probabilities(&play.after).or_else(certain) {
                Some(known) => results.push(known),
                None => {
                    results.push(Probabilities::default());
                    self.unknown.push(*play);
                }
            }
        }
        if self.unknown.is_empty() {
            return;
        }
        self.evaluator.evaluate_plays(position, &self.unknown, &mut self.estimates);
        let mut estimates = self.unknown.iter().zip(&self.estimates).peekable();
        for (play, result) in plays.iter().zip(results) {
            if let Some((_, &estimate)) = estimates.next_if(|(unknown, _)| unknown.after == play.after) {
                *result = estimate;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::Dice;

    use super::*;

    #[test]
    fn plays_evaluate_as_their_results_do() {
        let evaluator = || Evaluator::new(Model::shipped());
        let tables = BearoffTables::in_memory(RuleSet::Backgammon);
        let mut exact = StaticEvaluator::new(evaluator(), Some(tables.clone()));
        let mut bare = StaticEvaluator::new(evaluator(), None);
        let mut results = Vec::new();
        let mut mixed = 0;
        // The last checkers on their way home, which some plays leave outside.
        let mut points = [0; 26];
        (points[3], points[6], points[8], points[20], points[22]) = (5, 3, 1, -4, -6);
        let coming_home = Position::new(points).unwrap();
        let bearing_off: Position = "kgAAEAAAAAAAAA".parse().unwrap();
        for (position, dice) in [Position::START, coming_home, bearing_off]
            .into_iter()
            .flat_map(|position| Dice::ALL.map(|dice| (position, dice)))
        {
            let plays = position.legal_plays(dice, RuleSet::Backgammon);
            exact.evaluate_plays(&position, &plays, &mut results);
            assert_eq!(results.len(), plays.len());
            let known = plays.iter().filter(|play| tables.probabilities(&play.after).is_some()).count();
            mixed += usize::from(known > 0 && known < plays.len());
            for (legal, result) in plays.iter().zip(&results) {
                let alone = exact.evaluate(&legal.after);
                for (found, expected) in result.to_array().into_iter().zip(alone.to_array()) {
                    assert!((found - expected).abs() < 1e-5, "{position} {dice}");
                }
                if tables.probabilities(&legal.after).is_none() {
                    assert_eq!(alone, bare.evaluate(&legal.after), "{position} {dice}");
                }
            }
        }
        assert!(mixed > 0, "some plays are in reach and others are not");
    }
}
