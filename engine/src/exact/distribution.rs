//! How many rolls something takes.

/// Pips of an average roll: 49/6, since doubles count twice.
pub const PIPS_PER_ROLL: f64 = 49.0 / 6.0;

/// The probabilities that something takes so and so many rolls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution<'t> {
    first: u32,
    probabilities: &'t [f32],
}

impl<'t> Distribution<'t> {
    /// Probabilities of `first`, `first` + 1, … rolls.
    pub(super) fn new(first: u32, probabilities: &'t [f32]) -> Distribution<'t> {
        Distribution { first, probabilities }
    }

    /// The numbers of rolls that it may take, with their probabilities.
    pub fn iter(self) -> impl Iterator<Item = (u32, f32)> + 't {
        (self.first..).zip(self.probabilities.iter().copied())
    }

    /// The average number of rolls.
    pub fn mean(self) -> f64 {
        self.iter().map(|(rolls, probability)| f64::from(rolls) * f64::from(probability)).sum()
    }

    /// The standard deviation of the number of rolls.
    pub fn deviation(self) -> f64 {
        let mean = self.mean();
        let variance: f64 =
            self.iter().map(|(rolls, probability)| (f64::from(rolls) - mean).powi(2) * f64::from(probability)).sum();
        variance.sqrt()
    }

    /// The effective pip count: the pips that an average side without any waste needs as many rolls for. (Walter Trice,
    /// *Backgammon Boot Camp*, 2004, "Effective Pip Count".)
    pub fn epc(self) -> f64 {
        self.mean() * PIPS_PER_ROLL
    }

    /// The probability that it takes no more rolls than `other` does, with rolls taken in turns and this first.
    pub fn comes_first(self, other: Distribution<'_>) -> f64 {
        self.before(other, 0)
    }

    /// The probability that it takes fewer rolls than `other` does: that it is ahead though the other began.
    pub fn comes_first_from_behind(self, other: Distribution<'_>) -> f64 {
        self.before(other, 1)
    }

    /// The probability that `other` takes at least `margin` rolls more.
    fn before(self, other: Distribution<'_>, margin: u32) -> f64 {
        // What is left of `other` from some number of rolls on.
        let mut left: f64 = other.probabilities.iter().map(|&probability| f64::from(probability)).sum();
        let mut others = other.iter().peekable();
        let mut sum = 0.0;
        for (rolls, probability) in self.iter() {
            while let Some((_, passed)) = others.next_if(|&(others, _)| others < rolls + margin) {
                left -= f64::from(passed);
            }
            sum += f64::from(probability) * left.max(0.0);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let half = Distribution::new(2, &[0.5, 0.0, 0.5]);
        assert_eq!((half.mean(), half.deviation(), half.epc()), (3.0, 1.0, 24.5));
        assert_eq!(half.iter().collect::<Vec<_>>(), [(2, 0.5), (3, 0.0), (4, 0.5)]);
    }

    #[test]
    fn the_player_on_roll_wins_ties() {
        let (one, two) = (Distribution::new(1, &[1.0]), Distribution::new(2, &[1.0]));
        let either = Distribution::new(1, &[0.25, 0.75]);
        assert_eq!([one.comes_first(one), one.comes_first(two), two.comes_first(one)], [1.0, 1.0, 0.0]);
        assert_eq!([either.comes_first(one), either.comes_first(two), one.comes_first(either)], [0.25, 1.0, 1.0]);
        assert_eq!([one.comes_first_from_behind(one), one.comes_first_from_behind(either)], [0.0, 0.75]);
        assert_eq!(either.comes_first(either), 0.25 + 0.75 * 0.75);
    }
}
