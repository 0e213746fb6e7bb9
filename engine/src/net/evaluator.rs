//! Evaluation of positions by a model.

use pulp::Arch;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    board::Position,
    rules::{LegalPlay, LegalPlays, Outcome, RuleSet},
};

use super::{
    Model, OUTPUTS, PositionClass, Probabilities, forward,
    quantised::{self, QuantisedNetwork},
    sieve::Sifted,
};

/// The numbers in which networks are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Single precision, as the weights were learnt.
    Exact,
    /// 16-bit integers: faster, a few ten-thousandths of a point off.
    #[default]
    Quantised,
}

/// Evaluates positions with a model; holds the buffers of one thread.
#[derive(Clone, Debug)]
pub struct Evaluator<'m> {
    model: &'m Model,
    rules: RuleSet,
    arch: Arch,
    pass: Pass<'m>,
    /// The positions whose first layers the accumulators hold. All rolls of a position are looked at in a row, and begin with
    /// the same one.
    accumulated: [Option<Position>; PositionClass::ALL.len()],
    /// What the sieve says of plays.
    sifted: Sifted,
    /// The places of the plays that lead to each class.
    places: [Vec<usize>; PositionClass::ALL.len()],
}

/// The buffers of a forward pass, accumulators in the order of [`PositionClass::ALL`].
#[derive(Clone, Debug)]
enum Pass<'m> {
    Exact {
        accumulators: Vec<forward::Accumulator>,
        activations: forward::Activations,
    },
    Quantised {
        networks: &'m [QuantisedNetwork],
        accumulators: Vec<quantised::Accumulator>,
        activations: quantised::Activations,
    },
}

impl<'m> Pass<'m> {
    fn new(model: &'m Model, precision: Precision) -> Pass<'m> {
        match precision {
            Precision::Exact => Pass::Exact {
                accumulators: PositionClass::ALL
                    .iter()
                    .map(|&class| forward::Accumulator::for_network(model.network(class)))
                    .collect(),
                activations: forward::Activations::default(),
            },
            Precision::Quantised => {
                let networks = model.quantised();
                Pass::Quantised {
                    networks,
                    accumulators: networks.iter().map(quantised::Accumulator::for_network).collect(),
                    activations: quantised::Activations::default(),
                }
            }
        }
    }
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
    /// An evaluator for one thread, by the rules that the model learnt, in the default [`Precision`].
    pub fn new(model: &'m Model) -> Evaluator<'m> {
        Evaluator::in_precision(model, Precision::default())
    }

    /// An evaluator for one thread, by the rules that the model learnt.
    pub fn in_precision(model: &'m Model, precision: Precision) -> Evaluator<'m> {
        Evaluator {
            model,
            rules: model.rules(),
            arch: Arch::new(),
            pass: Pass::new(model, precision),
            accumulated: Default::default(),
            sifted: Sifted::default(),
            places: Default::default(),
        }
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

    /// The same evaluator in another precision. The first one of a model that is quantised takes some time: every weight
    /// is rounded.
    pub fn with_precision(self, precision: Precision) -> Evaluator<'m> {
        Evaluator { pass: Pass::new(self.model, precision), accumulated: Default::default(), ..self }
    }

    /// The numbers in which it computes.
    pub fn precision(&self) -> Precision {
        match self.pass {
            Pass::Exact { .. } => Precision::Exact,
            Pass::Quantised { .. } => Precision::Quantised,
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
        self.accumulate(class, position);
        let mut found = Probabilities::default();
        self.evaluate_from(class, &[position], |_, outputs| found = Probabilities::from_array(outputs));
        found.made_possible(position, self.rules)
    }

    /// Evaluates the results of all `plays` of one position, each as the next player sees it, in their order.
    ///
    /// The first layer is computed once and then changed by what each play changes.
    pub fn evaluate_plays(&mut self, position: &Position, plays: &[LegalPlay], results: &mut Vec<Probabilities>) {
        results.clear();
        let mut places = std::mem::take(&mut self.places);
        for (place, LegalPlay { after, .. }) in plays.iter().enumerate() {
            results.push(match Outcome::of(after, self.rules) {
                Some(outcome) => Probabilities::certain(outcome),
                None => {
                    places[PositionClass::of(after).index()].push(place);
                    Probabilities::default()
                }
            });
        }
        let unmoved = position.swapped();
        for (class, places) in PositionClass::ALL.into_iter().zip(&mut places) {
            if !places.is_empty() {
                self.accumulate(class, &unmoved);
            }
            for places in places.chunks(quantised::GROUP) {
                let mut group = [&Position::START; quantised::GROUP];
                for (position, &place) in group.iter_mut().zip(places) {
                    *position = &plays[place].after;
                }
                let rules = self.rules;
                self.evaluate_from(class, &group[..places.len()], |i, outputs| {
                    let place = places[i];
                    results[place] = Probabilities::from_array(outputs).made_possible(&plays[place].after, rules);
                });
            }
            places.clear();
        }
        self.places = places;
    }

    /// Keeps those of many plays of one position that are worth an evaluation, in their order: where there is a sieve,
    /// the `most` best contact positions by what it says, and all other results; else all.
    pub fn sift(&mut self, position: &Position, plays: &mut LegalPlays, most: usize) {
        let Some(sieve) = self.model.sieve().filter(|_| plays.len() > most) else { return };
        sieve.equities(self.arch, position, plays, self.rules, &mut self.sifted);
        let found = &mut self.sifted.found;
        if found.len() <= most {
            return;
        }
        // The opponent is on roll in the results: what is best for him goes.
        let worse = |a: &(f32, usize), b: &(f32, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        found.select_nth_unstable_by(most, worse);
        let gone = &mut found[most..];
        gone.sort_unstable_by_key(|&(_, place)| place);
        let mut gone = gone.iter().map(|&(_, place)| place).peekable();
        plays.retain(|place| gone.next_if_eq(&place).is_none());
    }

    /// Computes the first layer of a class's network for `position`, unless it is the last for which it was computed.
    #[inline]
    fn accumulate(&mut self, class: PositionClass, position: &Position) {
        if self.accumulated[class.index()] == Some(*position) {
            return;
        }
        self.accumulated[class.index()] = Some(*position);
        match &mut self.pass {
            Pass::Exact { accumulators, .. } => {
                forward::accumulate(self.arch, self.model.network(class), position, &mut accumulators[class.index()]);
            }
            Pass::Quantised { networks, accumulators, .. } => {
                quantised::accumulate(self.arch, &networks[class.index()], position, &mut accumulators[class.index()]);
            }
        }
    }

    /// Evaluates positions by a class's network, from the first layer that was computed last, and hands what it finds of
    /// each to `found`, with its place among them.
    #[inline]
    fn evaluate_from(
        &mut self,
        class: PositionClass,
        positions: &[&Position],
        mut found: impl FnMut(usize, [f32; OUTPUTS]),
    ) {
        match &mut self.pass {
            Pass::Exact { accumulators, activations } => {
                let (network, parent) = (self.model.network(class), &accumulators[class.index()]);
                for (i, position) in positions.iter().enumerate() {
                    found(i, forward::evaluate_from(self.arch, network, parent, position, activations));
                }
            }
            Pass::Quantised { networks, accumulators, activations } => {
                let (network, parent) = (&networks[class.index()], &accumulators[class.index()]);
                quantised::evaluate_from(self.arch, network, parent, positions, activations, found);
            }
        }
    }

    /// What a contact network says, possible or not.
    #[cfg(test)]
    pub(super) fn evaluate_unmasked(&mut self, position: &Position) -> [f32; OUTPUTS] {
        self.accumulate(PositionClass::Contact, position);
        let mut found = [0.0; OUTPUTS];
        self.evaluate_from(PositionClass::Contact, &[position], |_, outputs| found = outputs);
        found
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

    use crate::{
        net::{Activation, DenseLayer, FeatureSet, FirstLayer, Network, Provenance},
        rules::{Dice, RuleSet, best_play},
    };

    use super::*;

    /// A network with made-up weights that fire about half of the units.
    fn made_up(features: FeatureSet, activation: Activation, hidden: &[usize]) -> Network {
        let mut state = 1u32;
        let mut values = |count: usize, reach: f32| -> Vec<f32> {
            let next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                ((state >> 8) as f32 / (1 << 23) as f32 - 1.0) * reach
            };
            std::iter::repeat_with(next).take(count).collect()
        };
        let width = FirstLayer::WIDTH_STEP;
        let first = FirstLayer::new(&values(width, 0.2), &values(features.rows() * width, 0.2)).unwrap();
        let mut inputs = width;
        let dense = hidden.iter().copied().chain([OUTPUTS]).map(|outputs| {
            let reach = (3.0 / inputs as f32).sqrt();
            let layer = DenseLayer::new(inputs, &values(outputs, 0.2), &values(inputs * outputs, reach)).unwrap();
            inputs = outputs;
            layer
        });
        let dense = dense.collect();
        Network::new(features, activation, first, dense).unwrap()
    }

    /// Whatever the widths of the layers, narrow ones before wide ones and none at all, the results of a position are
    /// evaluated as each of them alone, on every processor, and integers stay near floating point.
    #[test]
    fn networks_of_every_shape_are_evaluated() {
        let shapes: [&[usize]; 6] = [&[], &[8], &[24, 8], &[8, 100], &[100, 8, 40], &[16, 16]];
        for (i, hidden) in shapes.into_iter().enumerate() {
            let activation = if i % 2 == 0 { Activation::Relu } else { Activation::ClippedRelu };
            let networks = [
                made_up(FeatureSet::ContactPatterns, activation, hidden),
                made_up(FeatureSet::RaceCounts, activation, shapes[shapes.len() - 1 - i]),
            ];
            let model = Model::new(RuleSet::Backgammon, Provenance::default(), networks);
            let mut exact = Evaluator::in_precision(&model, Precision::Exact);
            let mut others = vec![Arch::new(), Arch::Scalar];
            #[cfg(target_arch = "x86_64")]
            others.extend(pulp::x86::V3::try_new().map(Arch::V3));
            let mut others: Vec<Evaluator<'_>> =
                others.into_iter().map(|arch| Evaluator { arch, ..Evaluator::new(&model) }).collect();
            let mut alone = others[0].clone();
            let (mut found, mut near) = (Vec::new(), Vec::new());
            play_games(&model, Precision::Quantised, |position, plays, results| {
                for other in &mut others {
                    other.evaluate_plays(position, plays, &mut found);
                    assert_eq!(found, results, "{hidden:?} {position}");
                }
                exact.evaluate_plays(position, plays, &mut near);
                for ((play, result), near) in plays.iter().zip(results).zip(&near) {
                    assert_eq!(alone.evaluate(&play.after), *result, "{hidden:?} {}", play.after);
                    for (found, near) in result.to_array().into_iter().zip(near.to_array()) {
                        assert!((found - near).abs() < 0.01, "{hidden:?} {}: {found} {near}", play.after);
                    }
                }
            });
        }
    }

    /// Plays games in one precision, the first 100 turns of each, and hands each decision's evaluations to `compare`.
    fn play_games(
        model: &Model,
        precision: Precision,
        mut compare: impl FnMut(&Position, &LegalPlays, &[Probabilities]),
    ) {
        let mut evaluator = Evaluator::in_precision(model, precision);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut plays, mut results) = (LegalPlays::default(), Vec::new());
        for _ in 0..5 {
            let mut position = Position::START;
            for _ in 0..100 {
                if position.is_over() {
                    break;
                }
                plays.generate(&position, Dice::roll(&mut rng), RuleSet::Backgammon);
                evaluator.evaluate_plays(&position, &plays, &mut results);
                compare(&position, &plays, &results);
                position = plays[best_play(&results, RuleSet::Backgammon)].after;
            }
        }
    }

    /// Sums from the parent's and sums from nothing differ by rounding alone, and sums of integers not at all.
    #[test]
    fn plays_evaluate_as_their_results_do() {
        for (precision, tolerance) in [(Precision::Exact, 1e-5), (Precision::Quantised, 0.0)] {
            let mut alone = Evaluator::in_precision(Model::shipped(), precision);
            play_games(Model::shipped(), precision, |position, plays, results| {
                for (legal, result) in plays.iter().zip(results) {
                    let expected = alone.evaluate(&legal.after).to_array();
                    for (found, expected) in result.to_array().into_iter().zip(expected) {
                        assert!(
                            (found - expected).abs() <= tolerance,
                            "{position} {}: {found} {expected}",
                            legal.after
                        );
                    }
                }
            });
        }
    }

    /// The bits are the same whatever vector instructions there are, and without any.
    #[test]
    fn every_processor_computes_the_same() {
        for precision in [Precision::Exact, Precision::Quantised] {
            let mut others = vec![Arch::Scalar];
            #[cfg(target_arch = "x86_64")]
            others.extend(pulp::x86::V3::try_new().map(Arch::V3));
            for arch in others {
                let mut other = Evaluator { arch, ..Evaluator::in_precision(Model::shipped(), precision) };
                let mut expected = Vec::new();
                play_games(Model::shipped(), precision, |position, plays, results| {
                    other.evaluate_plays(position, plays, &mut expected);
                    assert_eq!(results, expected);
                });
            }
        }
    }

    /// Integers lose little.
    #[test]
    fn precisions_agree() {
        let mut exact = Evaluator::in_precision(Model::shipped(), Precision::Exact);
        let (mut expected, mut sum, mut count) = (Vec::new(), 0.0, 0);
        play_games(Model::shipped(), Precision::Quantised, |position, plays, results| {
            exact.evaluate_plays(position, plays, &mut expected);
            for (result, expected) in results.iter().zip(&expected) {
                let [found, expected] = [result, expected].map(|p| p.equity(RuleSet::Backgammon).0);
                assert!((found - expected).abs() < 0.005, "{position}: {found} {expected}");
                sum += f64::from((found - expected).abs());
                count += 1;
            }
        });
        assert!(sum / f64::from(count) < 0.001, "{}", sum / f64::from(count));
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
