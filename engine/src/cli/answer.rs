//! Answers and numbers as the commands print them.

use std::io::{self, Write};

use serde::Serialize;

use crate::net::Probabilities;

pub use crate::requests::{Rounded, probabilities};

/// One line of JSON.
///
/// # Errors
/// What the writer answers.
pub fn write_json(answer: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    out.write_all(&line)
}

/// The heading of [`percentages`].
pub const HEADING: &str = "   win  win g  win bg  lose g  lose bg";

/// The five probabilities in per cent, in columns.
pub fn percentages(probabilities: Probabilities) -> String {
    let [win, win_gammon, win_triple, lose_gammon, lose_triple] =
        probabilities.to_array().map(|probability| 100.0 * probability);
    format!("{win:6.2} {win_gammon:6.2} {win_triple:7.2} {lose_gammon:7.2} {lose_triple:8.2}")
}
