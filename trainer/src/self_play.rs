//! Games that a model plays against itself, and what they teach: TD(λ) targets, or exact expectations over the next roll.

use rand::Rng;
use rayon::prelude::*;
use zar::{
    board::Position,
    net::{Evaluator, Model, OUTPUTS, Precision, Probabilities},
    rules::{Dice, LegalPlays, Outcome},
    search::best_play,
};

use crate::seeds::{Purpose, stream};

/// A position and the probabilities that a network should give it, both for the player on roll.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The position before the roll.
    pub position: Position,
    /// The target.
    pub target: Probabilities,
}

/// How self-play games go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelfPlay {
    /// Seed of the run.
    pub seed: u64,
    /// λ of TD(λ).
    pub lambda: f32,
    /// Share of the positions whose target is the expectation over all 21 rolls of the best play; when it is not 0 only
    /// these become samples.
    pub expectation: f64,
    /// The arithmetic of the networks.
    pub precision: Precision,
    /// Share of the games that begin with random plays.
    pub random_openings: f64,
    /// The most random plays at the start of such a game.
    pub random_plays: u32,
}

/// Games longer than this are cut, and learn from the last evaluation; real ones end an order of magnitude sooner.
const MOST_TURNS: usize = 4_000;

impl SelfPlay {
    /// Plays games number `first` to `first + count - 1` on the threads of the current rayon pool. What comes back, in
    /// the order of the games, does not depend on the number of threads.
    pub fn play(&self, model: &Model, first: u64, count: u64) -> Vec<Sample> {
        let games: Vec<Vec<Sample>> = (first..first + count)
            .into_par_iter()
            .map_init(
                || (Evaluator::in_precision(model, self.precision), Buffers::default()),
                |(evaluator, buffers), number| self.play_game(evaluator, buffers, number),
            )
            .collect();
        games.concat()
    }

    fn play_game(&self, evaluator: &mut Evaluator<'_>, buffers: &mut Buffers, number: u64) -> Vec<Sample> {
        let mut rng = stream(self.seed, Purpose::Game, number);
        let position = self.opening(evaluator, buffers, &mut rng);
        let rules = evaluator.rules();
        let Buffers { plays, evaluations, turns } = buffers;
        turns.clear();
        let mut samples = Vec::new();
        let mut position = position;
        let mut value = evaluator.evaluate(&position);
        while !position.is_over() && turns.len() < MOST_TURNS {
            turns.push((position, value));
            if self.expectation > 0.0 && uniform(&mut rng) < self.expectation {
                let target = expectation(evaluator, plays, evaluations, &position);
                samples.push(Sample { position, target });
            }
            plays.generate(&position, Dice::roll(&mut rng), rules);
            evaluator.evaluate_plays(&position, plays, evaluations);
            let best = best_play(evaluations, rules);
            position = plays[best].after;
            value = evaluations[best];
        }
        if self.expectation > 0.0 { samples } else { self.targets(turns, value) }
    }

    /// The start of the game, or where some random plays lead from it. Nothing is learnt from random plays: the
    /// positions before them say nothing about what follows good play.
    fn opening(&self, evaluator: &Evaluator<'_>, buffers: &mut Buffers, rng: &mut impl Rng) -> Position {
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
    fn targets(&self, turns: &[(Position, Probabilities)], end: Probabilities) -> Vec<Sample> {
        let mut next_target = end;
        let mut samples: Vec<Sample> = turns
            .iter()
            .rev()
            .map(|&(position, value)| {
                let target = next_target.flipped();
                next_target = mixed(value, target, self.lambda);
                Sample { position, target }
            })
            .collect();
        samples.reverse();
        samples
    }
}

/// An even number from 0 to 1.
fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// The mean over the 36 ways in which two dice fall of what the best play is worth to the player on roll.
fn expectation(
    evaluator: &mut Evaluator<'_>,
    plays: &mut LegalPlays,
    evaluations: &mut Vec<Probabilities>,
    position: &Position,
) -> Probabilities {
    let rules = evaluator.rules();
    let mut sums = [0.0f32; OUTPUTS];
    for dice in Dice::ALL {
        plays.generate(position, dice, rules);
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
    turns: Vec<(Position, Probabilities)>,
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

    fn values() -> Vec<(Position, Probabilities)> {
        [0.6, 0.3, 0.8].map(|win| (Position::START, Probabilities::from_array([win, 0.1, 0.0, 0.2, 0.0]))).into()
    }

    fn targets(lambda: f32) -> Vec<[f32; 5]> {
        let play = SelfPlay {
            seed: 0,
            lambda,
            expectation: 0.0,
            precision: Precision::Exact,
            random_openings: 0.0,
            random_plays: 1,
        };
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
        let mut evaluator = Evaluator::new(Model::shipped());
        let (mut plays, mut evaluations) = (LegalPlays::default(), Vec::new());
        let expected = expectation(&mut evaluator, &mut plays, &mut evaluations, &position);
        // 66, 55, 44, 33 and the two of 65 bear both off; after any other roll the network is nearly sure that he has lost.
        let wins = 6.0 / 36.0;
        assert!((expected.win - wins).abs() < 2e-3, "{expected:?}");
        assert_eq!((expected.win_gammon, expected.lose_gammon), (0.0, 0.0));
    }
}
