//! Evaluation of positions by a model.

use pulp::Arch;

use crate::{
    board::Position,
    rules::{LegalPlay, Outcome},
};

use super::{
    Model, PositionClass, Probabilities,
    forward::{Accumulator, Activations, accumulate, evaluate_from},
};

/// Evaluates positions with a model; holds the buffers of one thread.
#[derive(Clone, Debug)]
pub struct Evaluator<'m> {
    model: &'m Model,
    arch: Arch,
    accumulators: Vec<Accumulator>,
    activations: Activations,
}

impl<'m> Evaluator<'m> {
    /// An evaluator for one thread.
    pub fn new(model: &'m Model) -> Evaluator<'m> {
        let accumulators =
            PositionClass::ALL.iter().map(|&class| Accumulator::for_network(model.network(class))).collect();
        Evaluator { model, arch: Arch::new(), accumulators, activations: Activations::default() }
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// How the game ends for the player on roll in `position`, who is about to roll. A finished game is certain.
    pub fn evaluate(&mut self, position: &Position) -> Probabilities {
        if let Some(outcome) = Outcome::of(position, self.model.rules()) {
            return Probabilities::certain(outcome);
        }
        let class = PositionClass::of(position);
        let network = self.model.network(class);
        let accumulator = &mut self.accumulators[class.index()];
        accumulate(self.arch, network, position, accumulator);
        let outputs = evaluate_from(self.arch, network, accumulator, position, &mut self.activations);
        Probabilities::from_array(outputs).made_possible(position, class == PositionClass::Race)
    }

    /// Evaluates the results of all `plays` of one position, each as the next player sees it, in their order.
    ///
    /// The first layer is computed once and then changed by what each play changes.
    pub fn evaluate_plays(&mut self, position: &Position, plays: &[LegalPlay], results: &mut Vec<Probabilities>) {
        results.clear();
        let unmoved = position.swapped();
        let mut accumulated = [false; PositionClass::ALL.len()];
        for LegalPlay { after, .. } in plays {
            if let Some(outcome) = Outcome::of(after, self.model.rules()) {
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
            results.push(Probabilities::from_array(outputs).made_possible(after, class == PositionClass::Race));
        }
    }
}
