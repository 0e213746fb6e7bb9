//! What a run does: its networks, its phases, its seed.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use zar::{
    net::{Activation, FeatureSet, FirstLayer, OUTPUTS, PositionClass, Precision, ShapeError},
    rules::RuleSet,
};

use crate::self_play::Exploration;

/// A run, as written in its TOML file. With the same program it decides every bit of the weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Seed of all random streams.
    #[serde(default)]
    pub seed: u64,
    /// The rules that are played.
    #[serde(default)]
    pub rules: RuleSet,
    /// Games played with the same weights before the weights move on.
    pub round_games: u32,
    /// Positions in one step of the optimiser.
    pub batch: usize,
    /// Share of the games that begin with random plays.
    pub random_openings: f64,
    /// The most random plays at the start of such a game.
    pub random_plays: u32,
    /// How many rounds the averaged weights, which are what a run yields, look back.
    pub averaged_rounds: f64,
    /// The arithmetic of self-play: `exact`, or `quantised`, which is faster and gives other games.
    #[serde(default = "exact", skip_serializing_if = "is_exact")]
    pub precision: Precision,
    /// The most positions that are kept to be learnt from again. With 0 each round is learnt from alone; otherwise from
    /// as many positions as its own times its passes, drawn from those that are kept.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub replay: usize,
    /// Whether self-play knows the exact values of bear-offs, so that the networks learn them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bearoff_tables: bool,
    /// How other plays than the best come into the games.
    #[serde(default, skip_serializing_if = "is_no_exploration")]
    pub exploration: Exploration,
    /// The network for contact positions.
    pub contact: NetworkShape,
    /// The network for races.
    pub race: NetworkShape,
    /// What is done one after the other.
    #[serde(rename = "phase")]
    pub phases: Vec<Phase>,
    /// The weights that a refinement began with, and those that they came from, and so on; a run from random weights has
    /// none.
    #[serde(default, rename = "origin", skip_serializing_if = "Vec::is_empty", deserialize_with = "origins")]
    pub origins: Vec<Origin>,
}

/// Weights that something was learnt from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Games that were played for them, by all runs behind them.
    pub games: u64,
    /// Positions that they learnt from.
    pub positions: u64,
    /// The CRC-32 that their file ends in, in hexadecimal.
    pub checksum: String,
    /// The configuration of their run, in TOML, without its origins.
    pub config: String,
}

/// Origins as they are written now, or one that holds its own in its configuration, as once.
fn origins<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Origin>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Origins {
        Nested(Origin),
        All(Vec<Origin>),
    }
    Ok(match Origins::deserialize(deserializer)? {
        Origins::Nested(origin) => origin.with_its_own(),
        Origins::All(origins) => origins,
    })
}

impl Origin {
    /// Takes the origins out of the configuration: all of them, the newest first. Written within each other they would take
    /// twice the room with each step.
    pub fn with_its_own(self) -> Vec<Origin> {
        // Weights may come from programs that write other configurations.
        let Ok(mut config) = Config::from_toml(&self.config) else { return vec![self] };
        let older = std::mem::take(&mut config.origins);
        let config = if older.is_empty() { self.config } else { config.to_toml() };
        std::iter::once(Origin { config, ..self }).chain(older).collect()
    }
}

/// The layers of one network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkShape {
    /// What it reads.
    pub features: FeatureSet,
    /// What follows each hidden layer.
    pub activation: Activation,
    /// Width of the first layer.
    pub width: usize,
    /// Widths of the hidden layers between the first and the five outputs.
    pub hidden: Vec<usize>,
}

/// A stretch of a run. Within it λ moves evenly and the learning rate by equal factors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Games played.
    pub games: u64,
    /// λ of TD(λ) at the beginning and at the end: 1 learns from results alone, 0 from the next position alone. With exact
    /// expectations it is the weight of what the rest of the game told beyond its luck, and asks for all positions.
    pub lambda: [f64; 2],
    /// The learning rate at the beginning and at the end.
    pub rate: [f64; 2],
    /// Share of the positions whose target is the exact expectation over all 21 rolls of the best play; when it is not 0
    /// only these are learnt from.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    pub expectation: f64,
    /// How often each round is learnt from, each time in another order.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub passes: u32,
}

/// Hidden layers behind the first; more do not learn when they are made as ours are.
const MOST_LAYERS: usize = 8;

fn exact() -> Precision {
    Precision::Exact
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_exact(precision: &Precision) -> bool {
    *precision == Precision::Exact
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_none_at_all(share: &f64) -> bool {
    *share == 0.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_nothing(count: &usize) -> bool {
    *count == 0
}

fn is_no_exploration(exploration: &Exploration) -> bool {
    *exploration == Exploration::default()
}

fn once() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_once(passes: &u32) -> bool {
    *passes == 1
}

/// Where in its schedule a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// λ of TD(λ).
    pub lambda: f64,
    /// Learning rate.
    pub rate: f64,
    /// Share of the positions with exact expectations as targets; 0: none, and all learn from λ-returns.
    pub expectation: f64,
    /// How often each round is learnt from.
    pub passes: u32,
}

/// Why a configuration was refused.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("cannot be read: {0}")]
    Io(io::Error),
    /// The file is not such a TOML document.
    #[error("line {line} of the run configuration: {reason}")]
    Toml {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A value is out of its range.
    #[error("{name} is {value}, expected {expected}")]
    Value {
        /// Which value.
        name: String,
        /// What it is.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// A network cannot have this shape.
    #[error("the {class} network: {error}")]
    Shape {
        /// Which network.
        class: PositionClass,
        /// What is wrong.
        error: ShapeError,
    },
    /// A name that no preset has.
    #[error("{0:?} is not a preset: expected quick, standard or refine")]
    Preset(String),
}

impl Config {
    /// A named configuration: `quick` makes a player in minutes, `standard` is the first of the runs behind the shipped weights, and
    /// `refine` goes on from these.
    ///
    /// # Errors
    /// A name that no preset has.
    pub fn preset(name: &str) -> Result<Config, ConfigError> {
        match name {
            "quick" => Config::from_toml(include_str!("../presets/quick.toml")),
            "refine" => Config::from_toml(include_str!("../presets/refine.toml")),
            "standard" => Config::from_toml(include_str!("../../models/backgammon/run.toml")),
            _ => Err(ConfigError::Preset(name.chars().take(40).collect())),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read or is not a valid configuration.
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        let text = fs::read_to_string(path).map_err(ConfigError::Io)?;
        Config::from_toml(&text)
    }

    /// Reads TOML.
    ///
    /// # Errors
    /// Text that is not a valid configuration.
    pub fn from_toml(text: &str) -> Result<Config, ConfigError> {
        let config: Config = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            ConfigError::Toml { line: before.matches('\n').count() + 1, reason: error.message().into() }
        })?;
        config.check()?;
        Ok(config)
    }

    /// Writes TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a configuration has a TOML form")
    }

    /// The shape of a class's network.
    pub fn shape(&self, class: PositionClass) -> &NetworkShape {
        match class {
            PositionClass::Contact => &self.contact,
            PositionClass::Race => &self.race,
        }
    }

    /// All games of all phases.
    pub fn games(&self) -> u64 {
        self.phases.iter().map(|phase| phase.games).sum()
    }

    /// The settings when `games` have been played; those of the end when all have been.
    ///
    /// # Panics
    /// No phases, which [`Config::check`] refuses.
    pub fn settings(&self, games: u64) -> Settings {
        let mut before = 0;
        let last = self.phases.len() - 1;
        for (index, phase) in self.phases.iter().enumerate() {
            if games < before + phase.games || index == last {
                let done = ((games - before) as f64 / phase.games as f64).min(1.0);
                let [from, to] = phase.lambda;
                let [slow, fast] = phase.rate;
                return Settings {
                    lambda: from + (to - from) * done,
                    rate: slow * (fast / slow).powf(done),
                    expectation: phase.expectation,
                    passes: phase.passes,
                };
            }
            before += phase.games;
        }
        unreachable!("the last phase always answers")
    }

    /// Refuses values that make no sense, as everything does that reads or uses a configuration.
    ///
    /// # Errors
    /// The first such value.
    pub fn check(&self) -> Result<(), ConfigError> {
        let require = |fits: bool, name: &str, value: &dyn ToString, expected| {
            if fits {
                Ok(())
            } else {
                Err(ConfigError::Value { name: name.into(), value: value.to_string(), expected })
            }
        };
        require((1..=1 << 16).contains(&self.round_games), "round_games", &self.round_games, "1 to 65536")?;
        require((1..=1 << 16).contains(&self.batch), "batch", &self.batch, "1 to 65536")?;
        require((0.0..=1.0).contains(&self.random_openings), "random_openings", &self.random_openings, "0 to 1")?;
        require((1..=1000).contains(&self.random_plays), "random_plays", &self.random_plays, "1 to 1000")?;
        let Exploration { share, within } = self.exploration;
        require((0.0..=1.0).contains(&share), "share of the exploration", &share, "0 to 1")?;
        require((0.0..=6.0).contains(&within), "within of the exploration", &within, "0 to 6")?;
        require((0.0..=1e6).contains(&self.averaged_rounds), "averaged_rounds", &self.averaged_rounds, "0 to 1e6")?;
        require(self.replay <= 1 << 24, "replay", &self.replay, "at most 16777216")?;
        require(!self.phases.is_empty(), "the number of phases", &0, "at least 1")?;
        for (i, phase) in self.phases.iter().enumerate() {
            let name = |what: &str| format!("{what} of phase {}", i + 1);
            require((1..=1 << 40).contains(&phase.games), &name("games"), &phase.games, "1 to 2^40")?;
            for lambda in phase.lambda {
                require((0.0..=1.0).contains(&lambda), &name("lambda"), &lambda, "0 to 1")?;
            }
            for rate in phase.rate {
                require(rate > 0.0 && rate <= 1.0, &name("rate"), &rate, "more than 0, at most 1")?;
            }
            require((0.0..=1.0).contains(&phase.expectation), &name("expectation"), &phase.expectation, "0 to 1")?;
            let follows = phase.lambda == [0.0; 2] || phase.expectation == 0.0 || phase.expectation == 1.0;
            let what = "1, or a lambda of 0";
            require(follows, &name("expectation"), &phase.expectation, what)?;
            require((1..=100).contains(&phase.passes), &name("passes"), &phase.passes, "1 to 100")?;
        }
        for class in PositionClass::ALL {
            let shape = self.shape(class);
            let layers = shape.hidden.len();
            require(layers <= MOST_LAYERS, &format!("hidden layers of the {class} network"), &layers, "at most 8")?;
            FirstLayer::check_width(shape.width).map_err(|error| ConfigError::Shape { class, error })?;
            if let Some(&outputs) = shape.hidden.iter().find(|width| !(1..=1024).contains(*width)) {
                return Err(ConfigError::Shape { class, error: ShapeError::Outputs(outputs) });
            }
        }
        Ok(())
    }
}

impl NetworkShape {
    /// Inputs and outputs of each dense layer behind the first.
    pub fn dense(&self) -> impl Iterator<Item = (usize, usize)> {
        let outputs = self.hidden.iter().copied().chain([OUTPUTS]);
        std::iter::once(self.width).chain(self.hidden.iter().copied()).zip(outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_valid_and_round_trip() {
        for name in ["quick", "standard", "refine"] {
            let config = Config::preset(name).unwrap();
            assert_eq!(Config::from_toml(&config.to_toml()).unwrap(), config);
        }
        assert!(matches!(Config::preset("slow"), Err(ConfigError::Preset(name)) if name == "slow"));
    }

    #[test]
    fn settings_move_through_the_phases() {
        let mut config = Config::preset("quick").unwrap();
        config.phases = vec![
            Phase { games: 100, lambda: [1.0, 0.8], rate: [1e-2, 1e-4], expectation: 0.0, passes: 1 },
            Phase { games: 50, lambda: [0.5, 0.5], rate: [1e-4, 1e-4], expectation: 0.5, passes: 3 },
        ];
        let start = config.settings(0);
        assert_eq!((start.lambda, start.rate), (1.0, 1e-2));
        let middle = config.settings(50);
        assert!((middle.lambda - 0.9).abs() < 1e-12 && (middle.rate - 1e-3).abs() < 1e-12);
        for games in [100, 149, 150, 900] {
            let Settings { lambda, expectation, passes, .. } = config.settings(games);
            assert_eq!((lambda, expectation, passes), (0.5, 0.5, 3));
        }
        assert_eq!(config.games(), 150);
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let good = include_str!("../presets/quick.toml");
        let with = |from: &str, to: &str| {
            let text = good.replacen(from, to, 1);
            assert_ne!(text, good, "{from} is not in the preset");
            Config::from_toml(&text).unwrap_err().to_string()
        };
        assert!(with("batch = ", "batch = 0 #").contains("batch is 0"));
        assert!(with("rate = [", "rate = [0.0, 1.0] #").contains("rate of phase 1 is 0"));
        assert!(with("lambda = [", "lambda = [nan, 1.0] #").contains("lambda of phase 1 is NaN"));
        assert!(with("rate = [", "expectation = 1.5\nrate = [").contains("expectation of phase 1 is 1.5"));
        assert!(with("rate = [", "expectation = 0.5\nrate = [").contains("expectation of phase 1 is 0.5"));
        assert!(with("rate = [", "passes = 0\nrate = [").contains("passes of phase 1 is 0"));
        assert!(with("hidden = ", "hidden = [16, 16, 16, 16, 16, 16, 16, 16, 16] #").contains("contact network is 9"));
        assert!(with("width = ", "width = 100 #").contains("100 wide"));
        assert!(
            with("[contact]", "exploration = { share = 1.5, within = 0.1 }\n[contact]").contains("exploration is 1.5")
        );
        assert!(with("batch = ", "bitch = 1 #").contains("bitch"));
    }
}
