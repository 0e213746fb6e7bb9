//! Errors of judgement, as people make them.

use rand::Rng;
use rand_xoshiro::{SplitMix64, rand_core::SeedableRng};

use crate::{board::Position, net::Probabilities, rules::RuleSet};

/// What a player misjudges: every position a little, always by the same amount, the more the more open the game is.
///
/// The chance to win is shifted by a normally distributed error that depends on the position and a seed alone, so that
/// the same player sees the same position in the same way, and a game that is decided as decided.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Blur {
    deviation: f32,
    seed: u64,
}

impl Blur {
    /// Errors with a standard deviation of so many points where both sides win as often; 0 is none.
    pub fn new(deviation: f32, seed: u64) -> Blur {
        // Whoever makes no errors makes the same with every seed.
        Blur { deviation, seed: if deviation > 0.0 { seed } else { 0 } }
    }

    /// Whether anything is misjudged.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.deviation <= 0.0
    }

    /// What the player believes of a position of which `p` is true.
    pub fn seen(&self, position: &Position, p: Probabilities, rules: RuleSet) -> Probabilities {
        if self.is_none() {
            return p;
        }
        // A win instead of a loss is two points.
        let error = 0.5 * self.deviation * self.normal(position) * 4.0 * p.win * (1.0 - p.win);
        let win = (p.win + error).clamp(p.win_gammon.min(p.win), (1.0 - p.lose_gammon).max(p.win));
        Probabilities { win, ..p }.made_possible(position, rules)
    }

    /// A normally distributed number for a position (Box and Muller, "A note on the generation of random normal deviates",
    /// 1958).
    fn normal(&self, position: &Position) -> f32 {
        let bits = position.points().iter().fold(mixed(self.seed), |bits, &point| mixed(bits ^ u64::from(point as u8)));
        // 24 bits are what a float holds; half a step keeps the logarithm away from 0.
        let [radius, angle] = [bits >> 40, bits & 0xff_ffff].map(|bits| (bits as f32 + 0.5) / (1 << 24) as f32);
        (-2.0 * radius.ln()).sqrt() * (std::f32::consts::TAU * angle).cos()
    }
}

fn mixed(bits: u64) -> u64 {
    SplitMix64::seed_from_u64(bits).next_u64()
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

    use crate::rules::Dice;

    use super::*;

    #[test]
    fn errors_are_normal_and_always_the_same() {
        let blur = Blur::new(0.2, 5);
        let even = Probabilities::from_array([0.5, 0.0, 0.0, 0.0, 0.0]);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut position = Position::START;
        let mut errors = Vec::new();
        for _ in 0..4_000 {
            let plays = position.legal_plays(Dice::roll(&mut rng), RuleSet::Backgammon);
            position = if position.is_over() { Position::START } else { plays[0].after };
            let seen = blur.seen(&position, even, RuleSet::Backgammon);
            assert_eq!(seen, blur.seen(&position, even, RuleSet::Backgammon));
            errors.push(2.0 * f64::from(seen.win - 0.5));
        }
        errors.sort_by(f64::total_cmp);
        errors.dedup();
        let count = errors.len() as f64;
        let mean = errors.iter().sum::<f64>() / count;
        let deviation = (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / count).sqrt();
        assert!(count > 1_000.0 && mean.abs() < 0.02 && (deviation - 0.2).abs() < 0.015, "{count} {mean} {deviation}");
        let other = Blur::new(0.2, 6).seen(&Position::START, even, RuleSet::Backgammon);
        assert_ne!(other, blur.seen(&Position::START, even, RuleSet::Backgammon));
    }

    #[test]
    fn what_is_certain_stays_certain() {
        for win in [0.0, 1.0] {
            let certain = Probabilities::from_array([win, 0.0, 0.0, 0.0, 0.0]);
            assert_eq!(Blur::new(0.5, 1).seen(&Position::START, certain, RuleSet::Backgammon), certain);
        }
        let p = Probabilities::from_array([0.6, 0.3, 0.1, 0.2, 0.1]);
        assert_eq!(Blur::new(0.0, 1).seen(&Position::START, p, RuleSet::Backgammon), p);
        for seed in 0..200 {
            let Probabilities { win, win_gammon, lose_gammon, .. } =
                Blur::new(2.0, seed).seen(&Position::START, p, RuleSet::Backgammon);
            assert!(win_gammon <= win && lose_gammon <= 1.0 - win + 1e-6, "{win}");
        }
    }
}
