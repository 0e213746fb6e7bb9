//! Evaluation of positions by a model.

use pulp::Arch;
use thiserror::Error;

use crate::{
    board::Position,
    rules::{LegalPlay, Outcome, RuleSet},
};

use super::{
    Model, PositionClass, Probabilities,
    forward::{Accumulator, Activations, accumulate, evaluate_from},
};

/// Evaluates positions with a model; holds the buffers of one thread.
#[derive(Clone, Debug)]
pub struct Evaluator<'m> {
    model: &'m Model,
    rules: RuleSet,
    arch: Arch,
    accumulators: Vec<Accumulator>,
    activations: Activations,
}

/// Weights whose outcomes are not those of the rules that are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the weights learnt what counts as a gammon or a triple game under {learnt}, expected weights whose outcomes are those of {played}"
)]
pub struct OutcomesDiffer {
    /// The rules that the weights learnt.
    pub learnt: RuleSet,
    /// The rules that are played.
    pub played: RuleSet,
}

impl<'m> Evaluator<'m> {
    /// An evaluator for one thread, by the rules that the model learnt.
    pub fn new(model: &'m Model) -> Evaluator<'m> {
        let accumulators =
            PositionClass::ALL.iter().map(|&class| Accumulator::for_network(model.network(class))).collect();
        Evaluator { model, rules: model.rules(), arch: Arch::new(), accumulators, activations: Activations::default() }
    }

    /// An evaluator for games by `rules`.
    ///
    /// # Errors
    /// A model whose outputs mean something else than the outcomes of these rules.
    pub fn for_rules(model: &'m Model, rules: RuleSet) -> Result<Evaluator<'m>, OutcomesDiffer> {
        let learnt = model.rules();
        if learnt.outcomes_serve(rules) {
            Ok(Evaluator { rules, ..Evaluator::new(model) })
        } else {
            Err(OutcomesDiffer { learnt, played: rules })
        }
    }

    /// The rules by which the games end that it evaluates.
    #[inline]
    pub fn rules(&self) -> RuleSet {
        self.rules
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// How the game ends for the player on roll in `position`, who is about to roll. A finished game is certain.
    pub fn evaluate(&mut self, position: &Position) -> Probabilities {
        if let Some(outcome) = Outcome::of(position, self.rules) {
            return Probabilities::certain(outcome);
        }
        let class = PositionClass::of(position);
        let network = self.model.network(class);
        let accumulator = &mut self.accumulators[class.index()];
        accumulate(self.arch, network, position, accumulator);
        let outputs = evaluate_from(self.arch, network, accumulator, position, &mut self.activations);
        Probabilities::from_array(outputs).made_possible(position, self.rules)
    }

    /// Evaluates the results of all `plays` of one position, each as the next player sees it, in their order.
    ///
    /// The first layer is computed once and then changed by what each play changes.
    pub fn evaluate_plays(&mut self, position: &Position, plays: &[LegalPlay], results: &mut Vec<Probabilities>) {
        results.clear();
        let unmoved = position.swapped();
        let mut accumulated = [false; PositionClass::ALL.len()];
        for LegalPlay { after, .. } in plays {
            if let Some(outcome) = Outcome::of(after, self.rules) {
                results.push(Probabilities::certain(outcome));
                continue;
            }
            let class = PositionClass::of(after);
            let network = self.model.network(class);
            let accumulator = &mut self.accumulators[class.index()];
            if !accumulated[class.index()] {
                accumulate(self.arch, network, &unmoved, accumulator);
                accumulated[class.index()] = true;
            }
            let outputs = evaluate_from(self.arch, network, accumulator, after, &mut self.activations);
            results.push(Probabilities::from_array(outputs).made_possible(after, self.rules));
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

    use crate::{
        rules::{Dice, LegalPlays, RuleSet},
        search::best_play,
    };

    use super::*;

    /// Plays games with both evaluators and hands each decision's evaluations to `compare`.
    fn play_games(mut compare: impl FnMut(&Position, &LegalPlays, &[Probabilities])) {
        let mut evaluator = Evaluator::new(Model::shipped());
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut plays, mut results) = (LegalPlays::default(), Vec::new());
        for _ in 0..5 {
            let mut position = Position::START;
            while !position.is_over() {
                plays.generate(&position, Dice::roll(&mut rng), RuleSet::Backgammon);
                evaluator.evaluate_plays(&position, &plays, &mut results);
                compare(&position, &plays, &results);
                position = plays[best_play(&results, RuleSet::Backgammon)].after;
            }
        }
    }

    /// Sums from the parent's and sums from nothing differ by rounding alone.
    #[test]
    fn plays_evaluate_as_their_results_do() {
        let mut alone = Evaluator::new(Model::shipped());
        play_games(|position, plays, results| {
            for (legal, result) in plays.iter().zip(results) {
                let expected = alone.evaluate(&legal.after).to_array();
                for (found, expected) in result.to_array().into_iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-5, "{position} {:?}: {found} {expected}", legal.play);
                }
            }
        });
    }

    /// Without vector instructions the bits are the same.
    #[test]
    fn every_processor_computes_the_same() {
        let mut scalar = Evaluator::new(Model::shipped());
        scalar.arch = Arch::Scalar;
        let mut expected = Vec::new();
        play_games(|position, plays, results| {
            scalar.evaluate_plays(position, plays, &mut expected);
            assert_eq!(results, expected);
        });
    }

    #[test]
    fn finished_games_are_certain() {
        let mut points = [0; 26];
        points[6] = 15;
        let lost = Position::new(points).unwrap();
        let mut evaluator = Evaluator::new(Model::shipped());
        assert_eq!(evaluator.evaluate(&lost).to_array(), [0.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(evaluator.evaluate(&lost.swapped()).to_array(), [1.0, 1.0, 0.0, 0.0, 0.0]);
    }
}
