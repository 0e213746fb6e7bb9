//! The metrics of a run: `metrics.csv`, one line a measurement.

use std::{fs, io, path::Path};

use zar::durable;

use crate::score::ScoreTable;

/// What a run measures of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Games played.
    pub games: u64,
    /// Positions learnt from.
    pub positions: u64,
    /// Seconds of work, all stretches of the run together.
    pub seconds: f64,
    /// λ at this moment.
    pub lambda: f64,
    /// Learning rate at this moment.
    pub rate: f64,
    /// Mean cross-entropy of a contact position in the last round.
    pub contact_loss: f64,
    /// The same of a race.
    pub race_loss: f64,
    /// Games behind the weights that were played against.
    pub rival_games: u64,
    /// Points a game against them.
    pub rival_points: f64,
    /// Half the width of its 95 % interval.
    pub rival_interval: f64,
    /// Error rates on the reference file, when there is one.
    pub score: Option<ScoreTable>,
}

/// The classes of the reference file that have a column.
pub const CLASSES: [&str; 4] = ["contact", "crashed", "race", "bearoff"];

fn header() -> String {
    let errors: Vec<String> = CLASSES.iter().map(|class| format!("error_{class}")).collect();
    format!(
        "games,positions,seconds,lambda,rate,contact_loss,race_loss,rival_games,rival_points,rival_interval,error,{}",
        errors.join(",")
    )
}

impl Measurement {
    fn line(&self) -> String {
        let total = self.score.as_ref().map(|score| format!("{:.3}", score.total.error)).unwrap_or_default();
        let classes = CLASSES.map(|class| {
            let row = self.score.as_ref().and_then(|score| score.classes.get(class));
            row.map(|row| format!("{:.3}", row.error)).unwrap_or_default()
        });
        format!(
            "{},{},{:.1},{:.4},{:.3e},{:.5},{:.5},{},{:.4},{:.4},{total},{}",
            self.games,
            self.positions,
            self.seconds,
            self.lambda,
            self.rate,
            self.contact_loss,
            self.race_loss,
            self.rival_games,
            self.rival_points,
            self.rival_interval,
            classes.join(",")
        )
    }
}

/// Adds a line to the file, and drops lines about more games than this one: a run that was killed measures again what
/// lies behind its last checkpoint.
///
/// # Errors
/// What the file system answers.
pub fn append(path: &Path, measurement: &Measurement) -> io::Result<()> {
    let mut text = kept(path, measurement.games)?;
    text.push_str(&measurement.line());
    text.push('\n');
    durable::write(path, text.as_bytes())
}

fn kept(path: &Path, before_games: u64) -> io::Result<String> {
    let mut text = header() + "\n";
    match fs::read_to_string(path) {
        Ok(old) => {
            let games = |line: &str| line.split(',').next().and_then(|games| games.parse::<u64>().ok());
            for line in old.lines().filter(|line| games(line).is_some_and(|games| games < before_games)) {
                text.push_str(line);
                text.push('\n');
            }
            Ok(text)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(text),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(games: u64) -> Measurement {
        Measurement {
            games,
            positions: 50 * games,
            seconds: 1.0,
            lambda: 0.7,
            rate: 1e-3,
            contact_loss: 1.2,
            race_loss: 0.3,
            rival_games: 0,
            rival_points: 0.1,
            rival_interval: 0.02,
            score: None,
        }
    }

    #[test]
    fn lines_after_the_checkpoint_are_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        for games in [100, 200, 300, 200, 400] {
            append(&path, &measurement(games)).unwrap();
        }
        let text = fs::read_to_string(&path).unwrap();
        let games: Vec<&str> = text.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
        assert_eq!(games, ["100", "200", "400"]);
        let columns = |line: &str| line.split(',').count();
        assert!(text.lines().all(|line| columns(line) == columns(&header())));
    }
}
