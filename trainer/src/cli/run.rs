//! `zar-train run`: training by self-play.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{FormattedDuration, ProgressBar, ProgressStyle};
use rayon::ThreadPoolBuildError;
use thiserror::Error;
use zar::rules::RuleSet;

use crate::{
    config::{Config, ConfigError},
    device::DeviceChoice,
    duel::{Duel, DuelError, RandomSource},
    metrics::Measurement,
    run::{Ending, Progress, Run, RunError, Supervision, WEIGHTS_FILE, score},
    score::{Referee, Reference, ScoreError},
};

use super::{thread_pool, weights_file::WeightsFileError};

/// Games against the random mover at the end of a run.
const RANDOM_PAIRS: u64 = 500;

/// Trains networks from random weights by self-play.
///
/// What a run does is decided by its configuration and seed: the same ones give the same weights, byte for byte,
/// whatever the number of threads. Ctrl-C saves and stops; --resume goes on from the last checkpoint, after a crash
/// too. The run's folder gets run.toml, metrics.csv, weights.zar (averaged, for the engine) and checkpoints/.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A built-in configuration: quick (a player in minutes) or standard (the first of the runs behind the shipped weights).
    #[arg(long, value_name = "NAME", conflicts_with_all = ["config", "resume"])]
    pub preset: Option<String>,
    /// A configuration file, in TOML.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub config: Option<PathBuf>,
    /// Go on with the run in this folder.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["seed", "rules", "out"])]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    work: WorkArgs,
}

/// What a new run and a refinement share.
#[derive(Clone, Debug, clap::Args)]
pub struct WorkArgs {
    /// The folder for a new run [default: runs/NAME].
    #[arg(long, value_name = "RUN")]
    pub(super) out: Option<PathBuf>,
    /// Seed of all random streams, in place of the configuration's.
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// The rules to play by, in place of the configuration's.
    #[arg(long, value_name = "NAME")]
    pub(super) rules: Option<RuleSet>,
    /// Threads to play and learn on [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Where burn computes: cpu, or wgpu or cuda in a build with that feature.
    #[arg(long, value_name = "NAME", default_value_t)]
    pub(super) device: DeviceChoice,
    /// Decisions with reference equities, to measure the error rate on; never learnt from.
    #[arg(long, value_name = "FILE")]
    pub(super) reference: Option<PathBuf>,
    /// Games between measurements [default: a twentieth of the run].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) measure_every: Option<u64>,
    /// Save and stop after this time, as in 90s, 30m or 2h.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(super) time_budget: Option<Duration>,
    /// Save and stop once so many games of the run have been played.
    #[arg(long, value_name = "GAMES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) until: Option<u64>,
    /// The longest time between checkpoints.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "60s")]
    pub(super) checkpoint_every: Duration,
}

/// Why a run failed.
#[derive(Debug, Error)]
pub enum RunCommandError {
    /// Neither a configuration nor a run.
    #[error("expected --preset NAME or --config FILE, or zar-train run --resume RUN to go on")]
    NothingToDo,
    /// The preset that does not begin from random weights.
    #[error("the preset refine goes on from weights: use zar-train refine --preset refine")]
    RefinesWeights,
    /// The weights to refine.
    #[error("cannot use the weights {0}")]
    Weights(#[from] WeightsFileError),
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The configuration in a file.
    #[error("{path}: {error}")]
    ConfigFile {
        /// Which file.
        path: String,
        /// What is wrong with it.
        error: ConfigError,
    },
    /// The reference file.
    #[error("{path}: {error}")]
    Reference {
        /// Which file.
        path: String,
        /// What is wrong with it.
        error: ScoreError,
    },
    /// The run itself.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The games against the random mover.
    #[error(transparent)]
    Duel(#[from] DuelError),
    /// The threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] ThreadPoolBuildError),
    /// Ctrl-C could not be caught.
    #[error("cannot catch Ctrl-C: {0}")]
    Interrupt(#[from] ctrlc::Error),
}

/// Trains, and tells how it ended.
///
/// # Errors
/// See [`RunCommandError`].
pub fn run(args: &Args) -> Result<String, RunCommandError> {
    work(&args.work, || open(args))
}

/// A run, and what it is measured by.
pub(super) type Opened = (Run, Option<Reference>);

impl WorkArgs {
    /// The decisions that a run by `rules` is measured by; new runs read them before they make their folder.
    pub(super) fn reference(&self, rules: RuleSet) -> Result<Option<Reference>, RunCommandError> {
        let Some(path) = &self.reference else { return Ok(None) };
        match Reference::load(path, Referee::First, rules) {
            Ok(reference) => Ok(Some(reference)),
            Err(error) => Err(RunCommandError::Reference { path: path.display().to_string(), error }),
        }
    }
}

/// Works on the run that `open` gives, and tells how it ended.
pub(super) fn work(
    args: &WorkArgs,
    open: impl FnOnce() -> Result<Opened, RunCommandError>,
) -> Result<String, RunCommandError> {
    let (mut run, reference) = open()?;
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        // Asked a second time, it does not wait for the round to end.
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        let _ = writeln!(io::stderr(), "saving and stopping after this round; asked again, it stops at once");
    })?;
    let pool = thread_pool(args.threads)?;
    let all_games = run.config().games();
    let bar = ProgressBar::new(all_games).with_position(run.games());
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} games, {msg}, {eta} left") {
        bar.set_style(style);
    }
    bar.reset_eta();
    let (started, games_before) = (Instant::now(), run.games());
    let mut positions_before = None;
    let mut progress = |progress: &Progress| {
        let seconds = started.elapsed().as_secs_f64();
        let positions = progress.positions - *positions_before.get_or_insert(progress.positions);
        bar.set_message(format!(
            "{:.0} games/s, {:.0} positions/s, λ {:.2}, rate {:.0e}, loss {:.2} {:.2}",
            (progress.games - games_before) as f64 / seconds,
            positions as f64 / seconds,
            progress.lambda,
            progress.rate,
            progress.loss[0],
            progress.loss[1]
        ));
        bar.set_position(progress.games);
    };
    let mut measured = |measurement: &Measurement| {
        let line = summary(measurement);
        // Where standard error is no terminal the bar draws nothing, its lines neither.
        if bar.is_hidden() {
            // Nobody needs to read along.
            let _ = writeln!(io::stderr(), "{line}");
        } else {
            bar.println(line);
        }
    };
    let mut supervision = Supervision {
        stop: &stop,
        time_budget: args.time_budget,
        until: args.until,
        checkpoint_every: args.checkpoint_every,
        measure_every: args.measure_every.unwrap_or(all_games.div_ceil(20)),
        reference: reference.as_ref(),
        progress: &mut progress,
        measured: &mut measured,
    };
    let ending = pool.install(|| run.go(&mut supervision))?;
    bar.finish_and_clear();
    let time = FormattedDuration(Duration::from_secs_f64(run.seconds()));
    let weights = run.folder().join(WEIGHTS_FILE);
    Ok(match ending {
        Ending::Stopped => {
            let mut command = format!("zar-train run --resume {}", quoted(run.folder()));
            if let Some(path) = &args.reference {
                command += &format!(" --reference {}", quoted(path));
            }
            if let Some(games) = args.measure_every {
                command += &format!(" --measure-every {games}");
            }
            format!("Stopped and saved after {} of {all_games} games. Go on: {command}", run.games())
        }
        Ending::Finished => {
            let strength = pool.install(|| strength(&run, reference.as_ref()))?;
            format!("{all_games} games, {} positions in {time}: {}\n{strength}", run.positions(), weights.display())
        }
    })
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if text.chars().all(|char| char.is_alphanumeric() || "/._-+=:,@%".contains(char)) && !text.is_empty() {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

fn open(args: &Args) -> Result<Opened, RunCommandError> {
    if let Some(folder) = &args.resume {
        let mut refused = |path: &Path, error: &dyn std::error::Error| {
            let _ = writeln!(io::stderr(), "checkpoint {} refused: {error}", path.display());
        };
        let run = Run::resume(folder, args.work.device, &mut refused)?;
        let _ = writeln!(io::stderr(), "going on after {} of {} games", run.games(), run.config().games());
        let reference = args.work.reference(run.config().rules)?;
        return Ok((run, reference));
    }
    if args.preset.as_deref() == Some("refine") {
        return Err(RunCommandError::RefinesWeights);
    }
    let (config, folder) = configured(args.preset.as_deref(), args.config.as_deref(), &args.work)?;
    let reference = args.work.reference(config.rules)?;
    Ok((Run::create(&folder, config, args.work.device)?, reference))
}

/// The configuration of a new run with what the command line changes in it, and the run's folder.
pub(super) fn configured(
    preset: Option<&str>,
    file: Option<&Path>,
    args: &WorkArgs,
) -> Result<(Config, PathBuf), RunCommandError> {
    let (mut config, name) = match (preset, file) {
        (Some(preset), _) => (Config::preset(preset)?, preset.to_owned()),
        (None, Some(path)) => {
            let name = path.file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy().into_owned());
            let config = Config::load(path)
                .map_err(|error| RunCommandError::ConfigFile { path: path.display().to_string(), error })?;
            (config, name)
        }
        (None, None) => return Err(RunCommandError::NothingToDo),
    };
    config.seed = args.seed.unwrap_or(config.seed);
    config.rules = args.rules.unwrap_or(config.rules);
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(name));
    Ok((config, folder))
}

fn summary(measurement: &Measurement) -> String {
    let error = measurement.score.as_ref().map(|score| format!("error {:.2} mEMG, ", score.total.error));
    format!(
        "{:>9} games in {}: {}{:+.3} ± {:.3} points a game against the weights after {} games",
        measurement.games,
        FormattedDuration(Duration::from_secs_f64(measurement.seconds)),
        error.unwrap_or_default(),
        measurement.rival_points,
        measurement.rival_interval,
        measurement.rival_games
    )
}

/// How strong the run's weights are.
fn strength(run: &Run, reference: Option<&Reference>) -> Result<String, RunCommandError> {
    let model = run.model()?;
    let seed = run.config().seed;
    let duel = Duel { pairs: RANDOM_PAIRS, seed, rules: run.config().rules };
    let mut text = format!("Against a random mover:\n{}", duel.run(&model, &RandomSource { seed }, &|_| ())?);
    if let Some(reference) = reference {
        text += &format!("\nOn the reference decisions:\n{}", score(&model, reference)?);
    }
    Ok(text)
}
