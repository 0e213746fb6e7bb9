//! What games of a rollout add up to.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{
    cube::Worth,
    net::{OUTPUTS, Probabilities},
};

/// The five probabilities and, last, the worth; all for the same player.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally(pub [f64; OUTPUTS + 1]);

impl Tally {
    /// What a position is worth.
    pub fn of(probabilities: Probabilities, worth: Worth) -> Tally {
        let mut values = [0.0; OUTPUTS + 1];
        for (value, probability) in values.iter_mut().zip(probabilities.to_array()) {
            *value = f64::from(probability);
        }
        values[OUTPUTS] = f64::from(worth.0);
        Tally(values)
    }

    /// The same for the other player, when it is what a position is worth.
    pub fn flipped(self) -> Tally {
        let [win, win_gammon, win_triple, lose_gammon, lose_triple, worth] = self.0;
        Tally([1.0 - win, lose_gammon, lose_triple, win_gammon, win_triple, -worth])
    }

    /// Adds so much of `other`.
    pub fn add(&mut self, share: f64, other: &Tally) {
        for (sum, value) in self.0.iter_mut().zip(other.0) {
            *sum += share * value;
        }
    }
}

/// A mean and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean.
    pub error: f64,
    /// Independent values behind it.
    pub values: usize,
}

impl Mean {
    /// Of values that are independent of each other; with fewer than two the error is infinite.
    pub fn of(values: impl ExactSizeIterator<Item = f64> + Clone) -> Mean {
        let count = values.len();
        let mean = values.clone().sum::<f64>() / count as f64;
        let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
        let error = if count < 2 { f64::INFINITY } else { (squares / (count - 1) as f64 / count as f64).sqrt() };
        Mean { mean, error, values: count }
    }

    /// Half the width of the interval that covers the true mean with probability 0.95 (Student's t).
    pub fn half_width(&self) -> f64 {
        match self.students_t() {
            Some(t) if self.error > 0.0 => t.inverse_cdf(0.975) * self.error,
            _ => self.error,
        }
    }

    /// How sure it is that the true mean is above 0, from 0 to 1 (Student's t).
    pub fn confidence_above_zero(&self) -> f64 {
        match self.students_t() {
            Some(t) if self.error > 0.0 => t.cdf(self.mean / self.error),
            Some(_) if self.mean != 0.0 => f64::from(u8::from(self.mean > 0.0)),
            _ => 0.5,
        }
    }

    fn students_t(&self) -> Option<StudentsT> {
        StudentsT::new(0.0, 1.0, self.values.checked_sub(1)? as f64).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_their_errors() {
        let mean = Mean::of([1.0, 2.0, 3.0, 4.0].into_iter());
        assert_eq!((mean.mean, mean.values), (2.5, 4));
        // The deviation is sqrt(5/3), the error half of it; the 97.5 % point of Student's t with three degrees of freedom is
        // 3.182446.
        assert!((mean.error - 0.645_497).abs() < 1e-6);
        assert!((mean.half_width() - 3.182_446 * mean.error).abs() < 1e-5);
        // t = 3.873 with three degrees of freedom.
        assert!((mean.confidence_above_zero() - 0.984_76).abs() < 1e-4, "{}", mean.confidence_above_zero());
        assert_eq!(Mean::of([1.0].into_iter()).half_width(), f64::INFINITY);
        assert_eq!(Mean::of([2.0; 5].into_iter()).half_width(), 0.0);
        let certain = |value: f64| Mean::of([value; 5].into_iter()).confidence_above_zero();
        assert_eq!([1.0, 0.0, -1.0].map(certain), [1.0, 0.5, 0.0]);
    }

    #[test]
    fn both_players_see_the_same() {
        let tally = Tally([0.5, 0.25, 0.0, 0.125, 0.0, 0.3]);
        assert_eq!(tally.flipped(), Tally([0.5, 0.125, 0.0, 0.25, 0.0, -0.3]));
        assert_eq!(tally.flipped().flipped(), tally);
    }
}
