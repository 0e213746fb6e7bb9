//! A training run: the loop that plays, learns, measures itself and saves.
//!
//! Work goes in rounds. While the players play round `n` with the weights of this moment, the learner learns from
//! round `n - 1` and makes the weights of the next; both are tasks of one thread pool, and neither sees what the other
//! does before both are done. So the weights depend on the configuration alone, and not on threads or on when
//! checkpoints were written.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use thiserror::Error;
use zar::{
    bot::{Bot, BotError, Level},
    durable,
    exact::BearoffTables,
    net::{Model, ModelError, Network, PositionClass, Provenance},
};

use crate::{
    checkpoint::{self, CheckpointError, RunState},
    config::{Config, ConfigError, Origin},
    device::DeviceChoice,
    duel::{Duel, DuelError},
    learner::{LearnError, Learner, Learnt},
    metrics::{self, Measurement},
    replay::Replay,
    score::{Reference, ScoreError, ScoreTable},
    seeds::{Purpose, stream},
    self_play::{Sample, SelfPlay},
    sieve::sieved,
};

/// The configuration of a run, in its folder.
pub const CONFIG_FILE: &str = "run.toml";
/// The averaged weights as of the last checkpoint, in a run's folder.
pub const WEIGHTS_FILE: &str = "weights.zar";
/// The measurements, in a run's folder.
pub const METRICS_FILE: &str = "metrics.csv";
const CHECKPOINT_FOLDER: &str = "checkpoints";
const LOCK_FILE: &str = "lock";

/// Why a run cannot start or go on.
#[derive(Debug, Error)]
pub enum RunError {
    /// The file system failed.
    #[error("{path}: {error}")]
    Io {
        /// Where.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// Another program works on the run.
    #[error("another program works on the run in {0}")]
    Locked(String),
    /// A folder that holds other weights or metrics was named for a new run.
    #[error("{0} is in the way of a new run: name an empty folder or a new one")]
    Occupied(String),
    /// A folder that holds a run already was named for a new one.
    #[error("{0} already holds a run: go on with --resume {0}, or name another folder")]
    Exists(String),
    /// No checkpoint of the run can be used.
    #[error("no usable checkpoint in {0}")]
    NoCheckpoint(String),
    /// The configuration of a refinement was given to a run from random weights.
    #[error(
        "the configuration is that of a refinement of weights that had played {games} games: use zar-train refine, or remove its [origin]"
    )]
    Origin {
        /// Games behind those weights.
        games: u64,
    },
    /// A checkpoint cannot be used.
    #[error("checkpoint: {0}")]
    Checkpoint(#[from] CheckpointError),
    /// A checkpoint could not be written.
    #[error("cannot write a checkpoint in {path}: {error}")]
    CheckpointUnwritten {
        /// The folder.
        path: String,
        /// Why.
        error: CheckpointError,
    },
    /// The weights could not be written.
    #[error("cannot write {path}: {error}")]
    WeightsUnwritten {
        /// The file.
        path: String,
        /// Why.
        error: ModelError,
    },
    /// The configuration in a checkpoint.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The learner failed.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// Weights in memory or in a checkpoint.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The bot that is measured.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// The measured choices.
    #[error(transparent)]
    Score(#[from] ScoreError),
    /// The games against the earlier weights failed.
    #[error(transparent)]
    Duel(#[from] DuelError),
}

/// Pairs of games against the earlier weights in a measurement.
const RIVAL_PAIRS: u64 = 500;

/// A run in its folder.
#[derive(Debug)]
pub struct Run {
    folder: PathBuf,
    /// Held while the run is open; the system lets go of it when the program ends, however it ends.
    _lock: File,
    config: Config,
    /// What self-play knows of bear-offs; built when it is first asked.
    tables: Option<BearoffTables>,
    /// The sieve of the weights that a refinement began with, which serves its networks too.
    sieve: Option<Network>,
    date: String,
    learner: Learner,
    round: u64,
    games: u64,
    positions: u64,
    /// Seconds of work before this program started.
    seconds_before: f64,
    started: Instant,
    measured_games: u64,
    rival_games: u64,
    rival: Vec<u8>,
    pending: Vec<Sample>,
    replay: Replay,
    last_learnt: Learnt,
}

/// What drives and watches a run.
pub struct Supervision<'a> {
    /// Set from outside to make the run save and stop after the current round.
    pub stop: &'a AtomicBool,
    /// Stop, after saving, when this much time has gone by.
    pub time_budget: Option<Duration>,
    /// Stop, after saving, at the end of the round in which so many games have been played.
    pub until: Option<u64>,
    /// The longest time between checkpoints.
    pub checkpoint_every: Duration,
    /// Measure whenever so many games have been played.
    pub measure_every: u64,
    /// Decisions to measure the error rate on.
    pub reference: Option<&'a Reference>,
    /// Told after every round.
    pub progress: &'a mut (dyn FnMut(&Progress) + Send),
    /// Told each measurement.
    pub measured: &'a mut (dyn FnMut(&Measurement) + Send),
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Games played of all games of the run.
    pub games: u64,
    /// Positions learnt from.
    pub positions: u64,
    /// λ.
    pub lambda: f64,
    /// Learning rate.
    pub rate: f64,
    /// Loss of the last round, contact and race.
    pub loss: [f64; PositionClass::ALL.len()],
}

/// How a call of [`Run::go`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All games were played and learnt from.
    Finished,
    /// It was told to stop, or its time was up.
    Stopped,
}

impl Run {
    /// Starts a run from random weights in a folder that holds none.
    ///
    /// # Errors
    /// A folder that cannot be made or holds a run already; a configuration that cannot be, or that has an origin.
    pub fn create(folder: &Path, config: Config, device: DeviceChoice) -> Result<Run, RunError> {
        if let Some(&Origin { games, .. }) = config.origins.first() {
            return Err(RunError::Origin { games });
        }
        Run::begin(folder, config, None, |config| Ok(Learner::new(config, device)?))
    }

    /// Starts a run from the weights of `model`, grown into the shapes of `config`, which gets them as its origin. They may
    /// have learnt other rules: they then learn the outcomes of the new ones from there.
    ///
    /// # Errors
    /// As [`Run::create`], and shapes that the weights cannot grow into.
    pub fn refine(folder: &Path, mut config: Config, model: &Model, device: DeviceChoice) -> Result<Run, RunError> {
        let Provenance { games, positions, config: origin, .. } = model.provenance().clone();
        let checksum = format!("{:08x}", model.checksum()?);
        config.origins = Origin { games, positions, checksum, config: origin }.with_its_own();
        Run::begin(folder, config, model.sieve_network(), |config| Ok(Learner::grown(config, model, device)?))
    }

    fn begin(
        folder: &Path,
        config: Config,
        sieve: Option<&Network>,
        learner: impl FnOnce(&Config) -> Result<Learner, RunError>,
    ) -> Result<Run, RunError> {
        config.check()?;
        let checkpoints = folder.join(CHECKPOINT_FOLDER);
        refuse_occupied(folder)?;
        let learner = learner(&config)?;
        at(&checkpoints, fs::create_dir_all(&checkpoints))?;
        let lock = lock(folder)?;
        refuse_occupied(folder)?;
        let path = folder.join(CONFIG_FILE);
        at(&path, durable::write(&path, config.to_toml().as_bytes()))?;
        let mut run = Run {
            folder: folder.into(),
            _lock: lock,
            tables: tables(&config),
            sieve: sieve.cloned(),
            replay: Replay::new(config.replay),
            config,
            date: today(),
            learner,
            round: 0,
            games: 0,
            positions: 0,
            seconds_before: 0.0,
            started: Instant::now(),
            measured_games: 0,
            rival_games: 0,
            rival: Vec::new(),
            pending: Vec::new(),
            last_learnt: Learnt::default(),
        };
        // What weights files will have to hold must fit before anything is played.
        let begun_with = run.model()?;
        run.rival = begun_with.to_bytes()?;
        // Rounded, as a resumed run will find it.
        run.sieve = begun_with.sieve_network().cloned();
        // No weights yet: a folder with weights but without a checkpoint would look like somebody else's.
        run.save_checkpoint()?;
        Ok(run)
    }

    /// Goes on from the newest usable checkpoint; tells `refused` of each that is not.
    ///
    /// # Errors
    /// No checkpoint can be used.
    pub fn resume(
        folder: &Path,
        device: DeviceChoice,
        refused: &mut dyn FnMut(&Path, &dyn std::error::Error),
    ) -> Result<Run, RunError> {
        let checkpoints = folder.join(CHECKPOINT_FOLDER);
        if !checkpoints.is_dir() {
            return Err(RunError::NoCheckpoint(checkpoints.display().to_string()));
        }
        let lock = lock(folder)?;
        for path in at(&checkpoints, checkpoint::list(&checkpoints))? {
            match restored(&path, device) {
                Ok((state, config, learner, sieve)) => {
                    return Ok(Run::from_state(folder, lock, state, config, learner, sieve));
                }
                Err(error) => refused(&path, &error),
            }
        }
        Err(RunError::NoCheckpoint(checkpoints.display().to_string()))
    }

    fn from_state(
        folder: &Path,
        lock: File,
        state: RunState,
        config: Config,
        learner: Learner,
        sieve: Option<Network>,
    ) -> Run {
        Run {
            folder: folder.into(),
            _lock: lock,
            tables: tables(&config),
            sieve,
            replay: Replay::restored(config.replay, state.replay),
            config,
            date: state.date,
            learner,
            round: state.round,
            games: state.games,
            positions: state.positions,
            seconds_before: state.seconds,
            started: Instant::now(),
            measured_games: state.measured_games,
            rival_games: state.rival_games,
            rival: state.rival,
            pending: state.pending,
            last_learnt: Learnt::default(),
        }
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where the run is kept.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Positions learnt from.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// Games played.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Seconds of work so far, over all stretches of the run.
    pub fn seconds(&self) -> f64 {
        self.seconds_before + self.started.elapsed().as_secs_f64()
    }

    /// Works in the current rayon pool until all games are played and learnt, or until it is told to stop; saves at
    /// the end of either.
    ///
    /// # Errors
    /// Weights that run away, or files that cannot be written.
    pub fn go(&mut self, supervision: &mut Supervision<'_>) -> Result<Ending, RunError> {
        let begun = Instant::now();
        let mut saved = Instant::now();
        let all_games = self.config.games();
        if self.is_finished() {
            // Whoever resumes a finished run may have lost its weights.
            self.save_weights()?;
        }
        while !self.is_finished() {
            self.round()?;
            let settings = self.config.settings(self.games);
            (supervision.progress)(&Progress {
                games: self.games,
                positions: self.positions,
                lambda: settings.lambda,
                rate: settings.rate,
                loss: self.last_learnt.loss,
            });
            let finished = self.is_finished();
            // When all is played the last round is still to be learnt: the last measurement waits for it.
            let due = self.games - self.measured_games >= supervision.measure_every && self.positions > 0;
            if finished || due && self.games < all_games {
                self.measure(supervision)?;
            }
            let out_of_time = supervision.time_budget.is_some_and(|budget| begun.elapsed() >= budget);
            let far_enough = supervision.until.is_some_and(|until| self.games >= until);
            let stopped = supervision.stop.load(Ordering::Relaxed) || out_of_time || far_enough;
            if finished || stopped || saved.elapsed() >= supervision.checkpoint_every {
                self.save()?;
                saved = Instant::now();
            }
            if stopped && !finished {
                return Ok(Ending::Stopped);
            }
        }
        Ok(Ending::Finished)
    }

    /// Whether all games were played and learnt from.
    fn is_finished(&self) -> bool {
        self.games >= self.config.games() && self.pending.is_empty()
    }

    /// Plays a round, and learns from the one before.
    fn round(&mut self) -> Result<(), RunError> {
        let count = u64::from(self.config.round_games).min(self.config.games().saturating_sub(self.games));
        let settings = self.config.settings(self.games);
        let model = sieved(self.learner.model(self.config.rules)?, self.sieve.as_ref());
        let self_play = SelfPlay {
            seed: self.config.seed,
            lambda: settings.lambda as f32,
            expectation: settings.expectation,
            tables: self.tables.clone(),
            precision: self.config.precision,
            random_openings: self.config.random_openings,
            random_plays: self.config.random_plays,
            exploration: self.config.exploration,
        };
        self.replay.add(&self.pending);
        let drawn = (self.config.replay > 0).then(|| {
            let count = self.pending.len() * settings.passes as usize;
            self.replay.draw(count, &mut stream(self.config.seed, Purpose::Replay, self.round))
        });
        let (samples, passes) = match &drawn {
            Some(drawn) => (drawn, 1),
            None => (&self.pending, settings.passes),
        };
        let (learner, round) = (&mut self.learner, self.round);
        let (learnt, played) = rayon::join(
            || learner.learn(samples, round, settings.rate, passes),
            || self_play.play(&model, self.games, count),
        );
        self.last_learnt = learnt?;
        self.positions += self.pending.len() as u64;
        self.pending = played;
        self.games += count;
        self.round += 1;
        Ok(())
    }

    /// The averaged networks with what is known of their making, rounded as the weights file holds them.
    ///
    /// # Errors
    /// A device that cannot be read.
    pub fn model(&self) -> Result<Model, RunError> {
        let origin = self.config.origins.first();
        let provenance = Provenance {
            games: self.games.saturating_add(origin.map_or(0, |origin| origin.games)),
            positions: self.positions.saturating_add(origin.map_or(0, |origin| origin.positions)),
            seed: self.config.seed,
            date: self.date.clone(),
            revision: env!("ZAR_REVISION").into(),
            config: self.config.to_toml(),
        };
        let exact = sieved(self.learner.averaged_model(self.config.rules, provenance)?, self.sieve.as_ref());
        Ok(Model::from_bytes(&exact.to_bytes()?)?)
    }

    /// Writes the averaged weights and a checkpoint; in this order, so that a run whose last checkpoint is there has its
    /// last weights too.
    fn save(&self) -> Result<(), RunError> {
        self.save_weights()?;
        self.save_checkpoint()
    }

    fn save_checkpoint(&self) -> Result<(), RunError> {
        let state = RunState {
            config: self.config.to_toml(),
            date: self.date.clone(),
            round: self.round,
            games: self.games,
            positions: self.positions,
            seconds: self.seconds(),
            measured_games: self.measured_games,
            rival_games: self.rival_games,
            rival: self.rival.clone(),
            classes: self.learner.state()?,
            pending: self.pending.clone(),
            replay: self.replay.in_order(),
        };
        let folder = self.folder.join(CHECKPOINT_FOLDER);
        match state.save(&folder) {
            Ok(_) => Ok(()),
            Err(error) => Err(RunError::CheckpointUnwritten { path: folder.display().to_string(), error }),
        }
    }

    fn save_weights(&self) -> Result<(), RunError> {
        let path = self.folder.join(WEIGHTS_FILE);
        let unwritten = |error| RunError::WeightsUnwritten { path: path.display().to_string(), error };
        self.model()?.save(&path).map_err(unwritten)
    }

    fn measure(&mut self, supervision: &mut Supervision<'_>) -> Result<(), RunError> {
        self.measured_games = self.games;
        let model = self.model()?;
        let settings = self.config.settings(self.games);
        let score = supervision.reference.map(|reference| score(&model, reference)).transpose()?;
        let duel = Duel { pairs: RIVAL_PAIRS, seed: self.config.seed, rules: self.config.rules };
        let report = duel.run(&model, &Model::from_bytes(&self.rival)?, &|_| ())?;
        let measurement = Measurement {
            games: self.games,
            positions: self.positions,
            seconds: self.seconds(),
            lambda: settings.lambda,
            rate: settings.rate,
            contact_loss: self.last_learnt.loss[PositionClass::Contact.index()],
            race_loss: self.last_learnt.loss[PositionClass::Race.index()],
            rival_games: self.rival_games,
            rival_points: report.points_per_game,
            rival_interval: 1.96 * report.standard_error.unwrap_or(0.0),
            score,
        };
        // The rival stays the same until the run has played twice as many games: what it measures is what the second
        // half of all learning so far has brought.
        if self.games >= 2 * self.rival_games.max(1) {
            self.rival_games = self.games;
            self.rival = model.to_bytes()?;
        }
        let path = self.folder.join(METRICS_FILE);
        at(&path, metrics::append(&path, &measurement))?;
        (supervision.measured)(&measurement);
        Ok(())
    }
}

/// The error rate of a run's weights at 0-ply.
///
/// # Errors
/// A rule set that the bot does not play.
pub fn score(model: &Model, reference: &Reference) -> Result<ScoreTable, RunError> {
    let bot = Bot::new(model, Level::ZeroPly, model.rules())?;
    Ok(reference.score(&reference.choices(&bot))?)
}

/// What self-play knows of bear-offs.
fn tables(config: &Config) -> Option<BearoffTables> {
    config.bearoff_tables.then(|| BearoffTables::in_memory(config.rules))
}

/// Refuses a folder in which a new run would overwrite something. A run that was killed before its first checkpoint has
/// left nothing that matters.
fn refuse_occupied(folder: &Path) -> Result<(), RunError> {
    if checkpoint::list(&folder.join(CHECKPOINT_FOLDER)).is_ok_and(|found| !found.is_empty()) {
        return Err(RunError::Exists(folder.display().to_string()));
    }
    match [WEIGHTS_FILE, METRICS_FILE].map(|name| folder.join(name)).into_iter().find(|path| path.exists()) {
        Some(path) => Err(RunError::Occupied(path.display().to_string())),
        None => Ok(()),
    }
}

/// What a checkpoint holds, once it has been found to fit together.
fn restored(path: &Path, device: DeviceChoice) -> Result<(RunState, Config, Learner, Option<Network>), RunError> {
    let mut state = RunState::load(path)?;
    let config = Config::from_toml(&state.config)?;
    let learner = Learner::from_state(&config, std::mem::take(&mut state.classes), device)?;
    // All weights of a run have the same sieve.
    let sieve = Model::from_bytes(&state.rival)?.sieve_network().cloned();
    let wrong = |what: String| Err(CheckpointError::Content(what).into());
    if !(0.0..1e9).contains(&state.seconds) {
        return wrong(format!("{} seconds of work", state.seconds));
    }
    if state.games > config.games() {
        return wrong(format!("{} games played of {}", state.games, config.games()));
    }
    if state.measured_games > state.games {
        return wrong(format!("measured after {} of {} games", state.measured_games, state.games));
    }
    // What the rest of a game told may carry a target beyond certainty.
    let may_be = |value: &f32| value.is_finite();
    let mut samples = state.pending.iter().chain(&state.replay);
    if let Some(sample) = samples.find(|sample| !sample.target.to_array().iter().all(may_be)) {
        return wrong(format!("target {:?}", sample.target));
    }
    Ok((state, config, learner, sieve))
}

/// Takes a run for this program alone, and clears away what a killed one has left.
fn lock(folder: &Path) -> Result<File, RunError> {
    let path = folder.join(LOCK_FILE);
    let file = at(&path, File::options().create(true).truncate(false).write(true).open(&path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(RunError::Locked(folder.display().to_string())),
        Err(TryLockError::Error(error)) => return at(&path, Err(error)),
    }
    for folder in [folder, &folder.join(CHECKPOINT_FOLDER)] {
        at(folder, durable::clean(folder))?;
    }
    Ok(file)
}

fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, RunError> {
    result.map_err(|error| RunError::Io { path: path.display().to_string(), error })
}

/// The date in UTC, `YYYY-MM-DD`, or that of `SOURCE_DATE_EPOCH`, with which builds are made reproducible (days to dates:
/// Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days).
fn today() -> String {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let days = (given.unwrap_or_else(now) / 86_400) as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
