//! Answers and numbers as the commands print them.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use crate::net::{Equity, Probabilities};

/// A number with six decimals: more than a network knows, and short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounded(pub f32);

impl From<Equity> for Rounded {
    fn from(equity: Equity) -> Rounded {
        Rounded(equity.0)
    }
}

impl Serialize for Rounded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Adding 0 turns -0 into 0.
        serializer.serialize_f64((f64::from(self.0) * 1e6).round() / 1e6 + 0.0)
    }
}

/// One line of JSON.
///
/// # Errors
/// What the writer answers.
pub fn write_json(answer: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    out.write_all(&line)
}

/// The five probabilities in their order.
pub fn probabilities(probabilities: Probabilities) -> [Rounded; 5] {
    probabilities.to_array().map(Rounded)
}

/// The heading of [`percentages`].
pub const HEADING: &str = "   win  win g  win bg  lose g  lose bg";

/// The five probabilities in per cent, in columns.
pub fn percentages(probabilities: Probabilities) -> String {
    let [win, win_gammon, win_triple, lose_gammon, lose_triple] =
        probabilities.to_array().map(|probability| 100.0 * probability);
    format!("{win:6.2} {win_gammon:6.2} {win_triple:7.2} {lose_gammon:7.2} {lose_triple:8.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, text) in [(0.1, "0.1"), (-0.0, "0.0"), (1.0 / 3.0, "0.333333"), (-1e-9, "0.0"), (-2.5, "-2.5")] {
            assert_eq!(serde_json::to_string(&Rounded(number)).unwrap(), text);
        }
    }
}
