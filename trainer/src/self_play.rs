//! Games that a model plays against itself, and what they teach: TD(λ) targets, or exact expectations over the next roll,
//! which may be followed by what the rest of the game told beyond its luck.

use rand::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use zar::{
    board::Position,
    exact::BearoffTables,
    net::{Evaluator, Model, OUTPUTS, Precision, Probabilities},
    rules::{Dice, LegalPlays, Outcome, RuleSet},
    search::{StaticEvaluator, best_play},
};

use crate::seeds::{Purpose, stream};

/// A position and the probabilities that a network should give it, both for the player on roll.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The position before the roll.
    pub position: Position,
    /// The target. A little below 0 or above 1 it may be where it was corrected by later positions: right in the mean, and
    /// what learns takes the mean.
    pub target: Probabilities,
}

/// How self-play games go.
#[derive(Clone, Debug)]
pub struct SelfPlay {
    /// Seed of the run.
    pub seed: u64,
    /// λ of TD(λ).
    pub lambda: f32,
    /// Share of the positions whose target begins with the expectation over all 21 rolls of the best play; when it is not 0
    /// only these become samples, and λ is the weight of what comes later: of the difference between each later
    /// position's target and its value.
    pub expectation: f64,
    /// Exact values of bear-offs in place of the networks'.
    pub tables: Option<BearoffTables>,
    /// The arithmetic of the networks.
    pub precision: Precision,
    /// Share of the games that begin with random plays.
    pub random_openings: f64,
    /// The most random plays at the start of such a game.
    pub random_plays: u32,
    /// How other plays than the best come into the games.
    pub exploration: Exploration,
}

/// Now and then a play that is nearly as good as the best, so that the games go where rejected plays lead. What is only ever
/// rejected is never corrected: where the networks take too little for it, nothing would tell them. Among exact
/// expectations the plays are those that the sieve of the weights lets through, if they have one.
///
/// Nothing is learnt about the positions before such a play from what comes after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exploration {
    /// Share of the turns in which a play is drawn from those that are near the best, itself among them.
    pub share: f64,
    /// How much less than the best these may be worth, in points of cubeless equity.
    pub within: f64,
}

/// Games longer than this are cut, and learn from the last evaluation; real ones end an order of magnitude sooner.
const MOST_TURNS: usize = 4_000;

impl SelfPlay {
    /// Games whose positions are wanted and not what they teach, half of them with random openings.
    pub fn for_positions(seed: u64) -> SelfPlay {
        SelfPlay {
            seed,
            lambda: 0.0,
            expectation: 0.0,
            tables: None,
            precision: Precision::Quantised,
            random_openings: 0.5,
            random_plays: 14,
            exploration: Exploration::default(),
        }
    }

    /// Plays games number `first` to `first + count - 1` on the threads of the current rayon pool. What comes back, in
    /// the order of the games, does not depend on the number of threads.
    pub fn play(&self, model: &Model, first: u64, count: u64) -> Vec<Sample> {
        let games: Vec<Vec<Sample>> = (first..first + count)
            .into_par_iter()
            .map_init(
                || (self.evaluator(model), Buffers::default()),
                |(evaluator, buffers), number| self.play_game(evaluator, buffers, number),
            )
            .collect();
        games.concat()
    }

    fn evaluator<'m>(&self, model: &'m Model) -> StaticEvaluator<'m> {
        StaticEvaluator::new(Evaluator::in_precision(model, self.precision), self.tables.clone())
    }

    fn play_game(&self, evaluator: &mut StaticEvaluator<'_>, buffers: &mut Buffers, number: u64) -> Vec<Sample> {
        let mut rng = stream(self.seed, Purpose::Game, number);
        let mut position = self.opening(evaluator, buffers, &mut rng);
        let rules = evaluator.rules();
        let Buffers { plays, evaluations, turns } = buffers;
        turns.clear();
        let mut value = evaluator.evaluate(&position);
        while !position.is_over() && turns.len() < MOST_TURNS {
            let expected = (self.expectation > 0.0 && uniform(&mut rng) < self.expectation)
                .then(|| expectation(evaluator, plays, evaluations, &position));
            plays.generate(&position, Dice::roll(&mut rng), rules);
            if self.expectation > 0.0 {
                // The luck of a roll falls out only if the play is the one that the expectation reckons with.
                evaluator.sift(&position, plays);
            }
            evaluator.evaluate_plays(&position, plays, evaluations);
            let best = best_play(evaluations, rules);
            let chosen = self.explored(evaluations, best, rules, &mut rng);
            let passed_over = (chosen != best).then_some(evaluations[best]);
            turns.push(Turn { position, value, expected, passed_over });
            position = plays[chosen].after;
            value = evaluations[chosen];
        }
        if self.expectation > 0.0 { self.corrected_expectations(turns) } else { self.targets(turns, value) }
    }

    /// The play that is made: mostly the best.
    fn explored(&self, evaluations: &[Probabilities], best: usize, rules: RuleSet, rng: &mut impl Rng) -> usize {
        let Exploration { share, within } = self.exploration;
        if share == 0.0 || uniform(rng) >= share {
            return best;
        }
        let most = f64::from(evaluations[best].equity(rules).0) + within;
        let near = || (0..evaluations.len()).filter(|&place| f64::from(evaluations[place].equity(rules).0) <= most);
        near().nth((uniform(rng) * near().count() as f64) as usize).unwrap_or(best)
    }

    /// The start of the game, or where some random plays lead from it. Nothing is learnt from random plays: the
    /// positions before them say nothing about what follows good play.
    fn opening(&self, evaluator: &StaticEvaluator<'_>, buffers: &mut Buffers, rng: &mut impl Rng) -> Position {
        let random = uniform(rng) < self.random_openings;
        let number = (uniform(rng) * f64::from(self.random_plays)) as u32 + 1;
        let rules = evaluator.rules();
        let mut position = Position::START;
        for _ in 0..if random { number } else { 0 } {
            buffers.plays.generate(&position, Dice::roll(rng), rules);
            let chosen = ((u64::from(rng.next_u32()) * buffers.plays.len() as u64) >> 32) as usize;
            let after = buffers.plays[chosen].after;
            if Outcome::of(&after, rules).is_some() {
                break;
            }
            position = after;
        }
        position
    }

    /// The λ-returns of a game (Sutton, "Learning to predict by the methods of temporal differences", 1988): seen
    /// backwards, each target is the next one mixed with the next evaluation, in the eyes of the other player.
    fn targets(&self, turns: &[Turn], end: Probabilities) -> Vec<Sample> {
        let mut next_target = end;
        let mut samples: Vec<Sample> = turns
            .iter()
            .rev()
            .map(|&Turn { position, value, passed_over, .. }| {
                let target = passed_over.unwrap_or(next_target).flipped();
                next_target = mixed(value, target, self.lambda);
                Sample { position, target }
            })
            .collect();
        samples.reverse();
        samples
    }

    /// The targets of the positions whose expectation over the next roll is known: the expectation, and λ times what the
    /// next position's own target says beyond its value.
    ///
    /// The luck of each roll falls out, since the expectation counts them all, so that with λ = 1 a target is the result of
    /// the game less all luck: free of the networks' errors in the mean, with a small part of a result's variance. It is
    /// the multi-step return with control variates of De Asis and Sutton, "Per-decision multi-step temporal difference
    /// learning with control variates" (2018); players know it from rollouts as variance reduction.
    fn corrected_expectations(&self, turns: &[Turn]) -> Vec<Sample> {
        let mut correction = [0.0; OUTPUTS];
        let mut samples = Vec::new();
        for &Turn { position, value, expected, passed_over } in turns.iter().rev() {
            if passed_over.is_some() {
                correction = [0.0; OUTPUTS];
            }
            match expected {
                Some(expected) => {
                    let mut target = expected.to_array();
                    for (target, correction) in target.iter_mut().zip(correction) {
                        *target += correction;
                    }
                    samples.push(Sample { position, target: Probabilities::from_array(target) });
                    // For the other player, who moved to this position.
                    let value = value.to_array();
                    let beyond = std::array::from_fn(|i| self.lambda * (target[i] - value[i]));
                    correction = flipped_difference(beyond);
                }
                None => correction = [0.0; OUTPUTS],
            }
        }
        samples.reverse();
        samples
    }
}

/// A position of a game before its roll.
#[derive(Clone, Copy)]
struct Turn {
    position: Position,
    /// What the networks say of it.
    value: Probabilities,
    /// The expectation over its roll, if it was asked for.
    expected: Option<Probabilities>,
    /// What the best play was worth to the other player, if another one was made.
    passed_over: Option<Probabilities>,
}

/// A difference of probabilities in the eyes of the other player.
fn flipped_difference([win, win_gammon, win_triple, lose_gammon, lose_triple]: [f32; OUTPUTS]) -> [f32; OUTPUTS] {
    [-win, lose_gammon, lose_triple, win_gammon, win_triple]
}

/// An even number from 0 to 1.
fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// The mean over the 36 ways in which two dice fall of what the best play is worth to the player on roll.
fn expectation(
    evaluator: &mut StaticEvaluator<'_>,
    plays: &mut LegalPlays,
    evaluations: &mut Vec<Probabilities>,
    position: &Position,
) -> Probabilities {
    let rules = evaluator.rules();
    let mut sums = [0.0f32; OUTPUTS];
    for dice in Dice::ALL {
        plays.generate(position, dice, rules);
        evaluator.sift(position, plays);
        evaluator.evaluate_plays(position, plays, evaluations);
        let best = evaluations[best_play(evaluations, rules)].flipped().to_array();
        for (sum, value) in sums.iter_mut().zip(best) {
            *sum += f32::from(dice.ways()) * value;
        }
    }
    // Rounding may lead a hair's breadth beyond a certainty.
    Probabilities::from_array(sums.map(|sum| (sum / 36.0).min(1.0)))
}

/// What a thread keeps between games.
#[derive(Default)]
struct Buffers {
    plays: LegalPlays,
    evaluations: Vec<Probabilities>,
    turns: Vec<Turn>,
}

/// `(1 - lambda) * value + lambda * target`.
fn mixed(value: Probabilities, target: Probabilities, lambda: f32) -> Probabilities {
    let (value, target) = (value.to_array(), target.to_array());
    Probabilities::from_array(std::array::from_fn(|i| (1.0 - lambda) * value[i] + lambda * target[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST: Probabilities = Probabilities::from_array([0.0, 0.0, 0.0, 1.0, 0.0]);

    fn values() -> Vec<Turn> {
        let turn = |win| {
            let value = Probabilities::from_array([win, 0.1, 0.0, 0.2, 0.0]);
            Turn { position: Position::START, value, expected: None, passed_over: None }
        };
        [0.6, 0.3, 0.8].map(turn).into()
    }

    fn self_play(lambda: f32, expectation: f64) -> SelfPlay {
        SelfPlay {
            seed: 0,
            lambda,
            expectation,
            tables: None,
            precision: Precision::Exact,
            random_openings: 0.0,
            random_plays: 1,
            exploration: Exploration::default(),
        }
    }

    fn targets(lambda: f32) -> Vec<[f32; 5]> {
        let play = self_play(lambda, 0.0);
        play.targets(&values(), LOST).into_iter().map(|sample| sample.target.to_array()).collect()
    }

    #[test]
    fn lambda_one_learns_the_result_from_alternating_sides() {
        let (won, lost) = ([1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(targets(1.0), [won, lost, won]);
    }

    #[test]
    fn lambda_zero_learns_the_next_evaluation() {
        let expected = [0.7, 0.2, 0.0, 0.1, 0.0];
        for (target, expected) in targets(0.0)[0].iter().zip(expected) {
            assert!((target - expected).abs() < 1e-6);
        }
        assert_eq!(targets(0.0)[2], [1.0, 1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn lambda_between_mixes() {
        // Backwards: the last target is won (1); the one before sees 1 - (0.5 * 0.8 + 0.5 * 1) = 0.1.
        assert!((targets(0.5)[1][0] - 0.1).abs() < 1e-6);
    }

    /// With two checkers left against one, every roll can be followed by hand.
    #[test]
    fn expectations_are_exact_where_the_game_ends() {
        let mut points = [0i8; 26];
        points[6] = 1;
        points[5] = 1;
        points[24] = -1;
        let position = Position::new(points).unwrap();
        let mut evaluator = StaticEvaluator::new(Evaluator::new(Model::shipped()), None);
        let (mut plays, mut evaluations) = (LegalPlays::default(), Vec::new());
        let expected = expectation(&mut evaluator, &mut plays, &mut evaluations, &position);
        // 66, 55, 44, 33 and the two of 65 bear both off; after any other roll the network is nearly sure that he has lost.
        let wins = 6.0 / 36.0;
        assert!((expected.win - wins).abs() < 2e-3, "{expected:?}");
        assert_eq!((expected.win_gammon, expected.lose_gammon), (0.0, 0.0));
    }

    fn corrected(lambda: f32) -> Vec<[f32; 5]> {
        let expected = [0.5, 0.4, 0.9].map(|win| Probabilities::from_array([win, 0.1, 0.0, 0.2, 0.0]));
        let turns: Vec<Turn> = values()
            .into_iter()
            .zip(expected)
            .map(|(turn, expected)| Turn { expected: Some(expected), ..turn })
            .collect();
        let samples = self_play(lambda, 1.0).corrected_expectations(&turns);
        samples.into_iter().map(|sample| sample.target.to_array()).collect()
    }

    fn wins(targets: &[[f32; 5]]) -> [f32; 3] {
        std::array::from_fn(|i| targets[i][0])
    }

    #[test]
    fn without_lambda_targets_are_the_expectations() {
        assert_eq!(wins(&corrected(0.0)), [0.5, 0.4, 0.9]);
    }

    #[test]
    fn later_positions_correct_earlier_ones() {
        // The last target is 0.1 above its value, so that the one before is 0.1 too high: 0.3, which is its value, so that
        // nothing is corrected further back. With half of it: 0.35, 0.05 above its value, of which half comes off 0.5.
        for (lambda, expected) in [(1.0, [0.5, 0.3, 0.9]), (0.5, [0.475, 0.35, 0.9])] {
            for (found, expected) in wins(&corrected(lambda)).into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{lambda}: {found} {expected}");
            }
        }
    }

    #[test]
    fn what_follows_another_play_than_the_best_teaches_nothing_of_what_came_before() {
        let passed_over = Some(Probabilities::from_array([0.25, 0.1, 0.0, 0.2, 0.0]));
        let mut turns = values();
        turns[1].passed_over = passed_over;
        let samples = self_play(1.0, 0.0).targets(&turns, LOST);
        // He won, having moved last; before that the other might have kept 1 - 0.25, and he 0.25.
        for (sample, expected) in samples.iter().zip([0.25, 0.75, 1.0]) {
            assert!((sample.target.win - expected).abs() < 1e-6, "{sample:?}");
        }
        for (turn, win) in turns.iter_mut().zip([0.5, 0.4, 0.9]) {
            turn.expected = Some(Probabilities { win, ..turn.value });
        }
        // As if the game ended with the expectation of the second turn, 0.1 above its value.
        let samples = self_play(1.0, 1.0).corrected_expectations(&turns);
        for (sample, expected) in samples.iter().zip([0.4, 0.4, 0.9]) {
            assert!((sample.target.win - expected).abs() < 1e-6, "{sample:?}");
        }
    }

    #[test]
    fn plays_near_the_best_are_explored() {
        let evaluations = [0.5, 0.3, 0.36, 0.42].map(|win| Probabilities { win, ..Probabilities::default() });
        let rules = RuleSet::Backgammon;
        let drawn = |share, within| {
            let play = SelfPlay { exploration: Exploration { share, within }, ..self_play(1.0, 0.0) };
            let mut rng = stream(1, Purpose::Game, 1);
            let mut counts = [0; 4];
            for _ in 0..1000 {
                counts[play.explored(&evaluations, 1, rules, &mut rng)] += 1;
            }
            counts
        };
        assert_eq!(drawn(0.0, 1.0), [0, 1000, 0, 0]);
        assert_eq!(drawn(1.0, 0.0), [0, 1000, 0, 0]);
        // A win in a hundred is two hundredths of a point.
        let [worst, best, second, third] = drawn(1.0, 0.13);
        assert!(worst == 0 && third == 0 && (400..600).contains(&best) && (400..600).contains(&second));
        let [worst, best, second, third] = drawn(0.5, 0.3);
        assert!(worst == 0 && (600..740).contains(&best) && second > 100 && third > 100);
    }

    /// Luck falls out: with values that are right, the targets of a whole game are the values, whatever was rolled.
    #[test]
    fn exact_values_leave_nothing_to_correct() {
        let tables = BearoffTables::in_memory(RuleSet::Backgammon);
        let play = SelfPlay { tables: Some(tables), ..self_play(1.0, 1.0) };
        let mut evaluator = play.evaluator(Model::shipped());
        let mut points = [0i8; 26];
        (points[6], points[4], points[2], points[19], points[20], points[23]) = (2, 2, 2, -2, -2, -2);
        let mut position = Position::new(points).unwrap();
        let (mut plays, mut evaluations) = (LegalPlays::default(), Vec::new());
        let (mut rng, mut turns) = (stream(1, Purpose::Game, 1), Vec::new());
        while !position.is_over() {
            let expected = Some(expectation(&mut evaluator, &mut plays, &mut evaluations, &position));
            turns.push(Turn { position, value: evaluator.evaluate(&position), expected, passed_over: None });
            plays.generate(&position, Dice::roll(&mut rng), evaluator.rules());
            evaluator.evaluate_plays(&position, &plays, &mut evaluations);
            position = plays[best_play(&evaluations, evaluator.rules())].after;
        }
        assert!(turns.len() > 3);
        for (turn, sample) in turns.iter().zip(play.corrected_expectations(&turns)) {
            assert!((turn.value.win - sample.target.win).abs() < 1e-4, "{}: {:?}", turn.position, sample.target);
        }
    }
}
