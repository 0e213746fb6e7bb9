//! Rolls of two dice.

use std::{fmt, str::FromStr};

use rand::Rng;
use thiserror::Error;

/// A roll of two dice, the higher first; the order in which they fell does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dice {
    high: u8,
    low: u8,
}

/// Why a text or a pair of numbers is not a roll.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DiceError {
    /// A die that does not show 1 to 6.
    #[error("a die shows 1 to 6, not {0}")]
    Value(i64),
    /// A text that is not two dice.
    #[error("{0:?} is not a roll: expected two dice, as in 31 or 3-1")]
    Text(String),
}

impl Dice {
    /// The 21 different rolls, doubles first of each high die.
    pub const ALL: [Dice; 21] = {
        let mut all = [Dice { high: 1, low: 1 }; 21];
        let (mut i, mut high) = (0, 1);
        while high <= 6 {
            let mut low = high;
            while low >= 1 {
                all[i] = Dice { high, low };
                i += 1;
                low -= 1;
            }
            high += 1;
        }
        all
    };

    /// A roll of two dice.
    ///
    /// # Errors
    /// A die that does not show 1 to 6.
    pub fn new(first: u8, second: u8) -> Result<Dice, DiceError> {
        match [first, second].iter().find(|die| !(1..=6).contains(*die)) {
            Some(&die) => Err(DiceError::Value(die.into())),
            None => Ok(Dice { high: first.max(second), low: first.min(second) }),
        }
    }

    /// Rolls two dice. Every roll takes one value from `rng` (two with probability 4/2^32), so that a stream of dice
    /// does not hang on how a library maps numbers to ranges.
    #[inline]
    pub fn roll(rng: &mut impl Rng) -> Dice {
        let [first, second] = Dice::roll_each(rng);
        Dice { high: first.max(second), low: first.min(second) }
    }

    /// Rolls two dice that are told apart, as in the opening; from the same values as [`Dice::roll`].
    #[inline]
    pub fn roll_each(rng: &mut impl Rng) -> [u8; 2] {
        const ROLLS: u64 = 36;
        loop {
            // Lemire's multiply-shift; the few values that would favour a roll are drawn again.
            let scaled = u64::from(rng.next_u32()) * ROLLS;
            if scaled as u32 >= (u32::MAX % ROLLS as u32 + 1) % ROLLS as u32 {
                let roll = (scaled >> 32) as u8;
                return [roll / 6 + 1, roll % 6 + 1];
            }
        }
    }

    /// The higher die.
    #[inline]
    pub fn high(self) -> u8 {
        self.high
    }

    /// The lower die.
    #[inline]
    pub fn low(self) -> u8 {
        self.low
    }

    /// Whether both dice show the same.
    #[inline]
    pub fn is_double(self) -> bool {
        self.high == self.low
    }

    /// How many of the 36 ways in which two dice fall give this roll: 1 or 2.
    #[inline]
    pub fn ways(self) -> u8 {
        if self.is_double() { 1 } else { 2 }
    }
}

/// Written `31`.
/// Dice as programs send them: any numbers.
impl TryFrom<[i64; 2]> for Dice {
    type Error = DiceError;

    fn try_from(dice: [i64; 2]) -> Result<Dice, DiceError> {
        let [first, second] = dice.map(|die| u8::try_from(die).map_err(|_| DiceError::Value(die)));
        Dice::new(first?, second?)
    }
}

impl fmt::Display for Dice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.high, self.low)
    }
}

impl FromStr for Dice {
    type Err = DiceError;

    /// Reads `31`, `3-1`, `3,1` or `3 1`.
    fn from_str(text: &str) -> Result<Dice, DiceError> {
        let wrong = || DiceError::Text(text.chars().take(20).collect());
        let mut characters = text.trim().chars().peekable();
        let first = characters.next().and_then(|c| c.to_digit(10)).ok_or_else(wrong)?;
        characters.next_if(|c| matches!(c, '-' | ',' | ' '));
        let second = characters.next().and_then(|c| c.to_digit(10)).ok_or_else(wrong)?;
        if characters.next().is_some() {
            return Err(wrong());
        }
        Dice::new(first as u8, second as u8)
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

    use super::*;

    #[test]
    fn texts() {
        for text in ["31", "13", "3-1", "1,3", " 3 1 "] {
            assert_eq!(text.parse(), Dice::new(3, 1), "{text}");
        }
        for text in ["", "3", "3--1", "311", "a1", "3-1x", "３１"] {
            assert_eq!(text.parse::<Dice>(), Err(DiceError::Text(text.into())), "{text}");
        }
        assert_eq!("07".parse::<Dice>(), Err(DiceError::Value(0)));
        assert_eq!("17".parse::<Dice>(), Err(DiceError::Value(7)));
    }

    #[test]
    fn all_rolls_weigh_36() {
        let mut rolls = Dice::ALL.to_vec();
        assert_eq!(rolls.iter().map(|dice| u32::from(dice.ways())).sum::<u32>(), 36);
        rolls.sort();
        rolls.dedup();
        assert_eq!(rolls.len(), 21);
    }

    #[test]
    fn dice_are_fair() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..360_000 {
            *counts.entry(Dice::roll(&mut rng)).or_insert(0u32) += 1;
        }
        // Chi-square with 20 degrees of freedom: 45.3 is exceeded once in a thousand seeds.
        let chi_square: f64 = Dice::ALL
            .iter()
            .map(|dice| {
                let expected = 10_000.0 * f64::from(dice.ways());
                (f64::from(counts[dice]) - expected).powi(2) / expected
            })
            .sum();
        assert!(chi_square < 45.3, "{chi_square}");
    }

    #[test]
    fn dice_told_apart_are_fair() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut counts = [[0u32; 6]; 6];
        for _ in 0..360_000 {
            let [first, second] = Dice::roll_each(&mut rng);
            counts[usize::from(first) - 1][usize::from(second) - 1] += 1;
        }
        // Chi-square with 35 degrees of freedom: 66.6 is exceeded once in a thousand seeds.
        let chi_square: f64 =
            counts.iter().flatten().map(|&count| (f64::from(count) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi_square < 66.6, "{chi_square}");
    }
}
