//! `zar-train plot`: learning curves.

use std::{io, path::PathBuf};

use thiserror::Error;
use zar::durable;

use crate::{
    plot::{self, PlotError},
    run::METRICS_FILE,
};

const PICTURE_FILE: &str = "curve.svg";

/// Draws the learning curves of a run as SVG.
///
/// Above, the error rate on the reference decisions, when the run measured it; below, the points a game against its
/// own earlier weights.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The folder of the run, or its metrics.csv.
    pub run: PathBuf,
    /// Where to write the picture [default: curve.svg beside metrics.csv].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Why there is no picture.
#[derive(Debug, Error)]
pub enum PlotCommandError {
    /// The metrics cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// The metrics hold no measurement that could be drawn.
    #[error("{path}: nothing to plot")]
    Nothing {
        /// Which file.
        path: String,
    },
    /// A run without metrics.
    #[error("{path}: there is no such file yet: the run has measured nothing")]
    Unmeasured {
        /// The metrics file.
        path: String,
    },
    /// The picture could not be written.
    #[error("{path}: {error}")]
    Io {
        /// Which file.
        path: String,
        /// Why.
        error: io::Error,
    },
}

/// Writes the picture and tells where it is.
///
/// # Errors
/// Metrics that cannot be drawn, or a picture that cannot be written: see [`PlotCommandError`].
pub fn run(args: &Args) -> Result<String, PlotCommandError> {
    let metrics = if args.run.is_dir() { args.run.join(METRICS_FILE) } else { args.run.clone() };
    if args.run.is_dir() && !metrics.exists() {
        return Err(PlotCommandError::Unmeasured { path: metrics.display().to_string() });
    }
    let picture = plot::svg(&plot::read(&metrics)?).map_err(|error| match error {
        PlotError::Nothing => PlotCommandError::Nothing { path: metrics.display().to_string() },
        error => error.into(),
    })?;
    let out = args.out.clone().unwrap_or_else(|| metrics.with_file_name(PICTURE_FILE));
    durable::write(&out, picture.as_bytes())
        .map_err(|error| PlotCommandError::Io { path: out.display().to_string(), error })?;
    Ok(out.display().to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const HEADER: &str = "games,positions,seconds,lambda,rate,contact_loss,race_loss,rival_games,rival_points,\
                          rival_interval,error,error_contact,error_crashed,error_race,error_bearoff\n";

    #[test]
    fn the_picture_lies_beside_the_metrics() {
        let folder = tempfile::tempdir().unwrap();
        let (metrics, curve) = (folder.path().join(METRICS_FILE), folder.path().join(PICTURE_FILE));
        fs::write(&metrics, format!("{HEADER}1000,9,3.5,0.7,1e-3,1.2,0.3,500,0.125,0.02,9,9,9,9,9\n")).unwrap();
        for path in [folder.path(), &metrics] {
            run(&Args { run: path.into(), out: None }).unwrap();
            assert!(fs::read_to_string(&curve).unwrap().contains("1,000 games"));
            fs::remove_file(&curve).unwrap();
        }
        let out = folder.path().join("other.svg");
        run(&Args { run: metrics, out: Some(out.clone()) }).unwrap();
        assert!(out.exists() && !curve.exists());
    }

    #[test]
    fn failures_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let metrics = folder.path().join(METRICS_FILE);
        let message = || run(&Args { run: folder.path().into(), out: None }).unwrap_err().to_string();
        let named = |fault: &str| format!("{}: {fault}", metrics.display());
        assert_eq!(message(), named("there is no such file yet: the run has measured nothing"));
        fs::write(&metrics, HEADER).unwrap();
        assert_eq!(message(), named("nothing to plot"));
        fs::write(&metrics, format!("{HEADER}x\n")).unwrap();
        assert_eq!(message(), named("line 2 has 1 fields instead of 15: \"x\""));
        fs::write(&metrics, format!("{HEADER}1000,9,3.5,0.7,1e-3,1.2,0.3,500,0.125,0.02,,,,,\n")).unwrap();
        let out = folder.path().join("missing/curve.svg");
        let error = run(&Args { run: metrics.clone(), out: Some(out.clone()) }).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{}: ", out.display())), "{error}");
    }
}
