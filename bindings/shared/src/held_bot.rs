//! A bot that brings its weights along.

use std::{path::PathBuf, sync::Mutex};

use self_cell::self_cell;
use thiserror::Error;
use zar::{
    bot::{Bot, BotError, Level},
    exact::{BearoffTables, CacheFolder},
    net::{Model, ModelError},
    rules::RuleSet,
};

/// Which bot is wanted.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The rules that it plays.
    pub rules: RuleSet,
    /// How well it plays.
    pub level: Level,
    /// The file of its weights; `None` for those that are compiled in.
    pub weights: Option<PathBuf>,
    /// Seed of what is random.
    pub seed: u64,
    /// Where bear-off tables are kept.
    pub cache: CacheFolder,
}

/// Why there is no bot.
#[derive(Debug, Error)]
pub enum OpenError {
    /// A weights file that cannot be used.
    #[error("cannot use the weights {path:?}: {error}")]
    Weights {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: ModelError,
    },
    /// Weights for other rules.
    #[error(transparent)]
    Bot(#[from] BotError),
}

enum Weights {
    CompiledIn(&'static Model),
    FromFile(Box<Model>),
}

impl Weights {
    fn model(&self) -> &Model {
        match self {
            Weights::CompiledIn(model) => model,
            Weights::FromFile(model) => model,
        }
    }
}

self_cell!(
    struct BotOnWeights {
        owner: Weights,

        #[not_covariant]
        dependent: Bot,
    }
);

/// A bot with the weights by which it plays. Any thread may ask it; it answers one question after the other.
pub struct HeldBot {
    rules: RuleSet,
    level: Level,
    bot: Mutex<BotOnWeights>,
}

impl HeldBot {
    /// Makes a bot. Its bear-off tables are loaded or built now.
    ///
    /// # Errors
    /// Weights that cannot be used, or not with these rules.
    pub fn open(opening: Opening) -> Result<HeldBot, OpenError> {
        let Opening { rules, level, weights, seed, cache } = opening;
        let weights = match weights {
            Some(path) => match Model::load(&path) {
                Ok(model) => Weights::FromFile(Box::new(model)),
                Err(error) => return Err(OpenError::Weights { path, error }),
            },
            None => Weights::CompiledIn(Model::shipped_for(rules)),
        };
        let bot = BotOnWeights::try_new(weights, |weights| {
            let bot = Bot::new(weights.model(), level, rules)?.with_seed(seed);
            Ok::<_, BotError>(bot.with_tables(BearoffTables::new(rules, cache)))
        });
        Ok(HeldBot { rules, level, bot: Mutex::new(bot?) })
    }

    /// The rules that it plays.
    pub fn rules(&self) -> RuleSet {
        self.rules
    }

    /// How well it plays.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Asks the bot, once it is done with what other threads have asked.
    pub fn ask<R>(&self, question: impl FnOnce(&mut Bot<'_>) -> R) -> R {
        // A question that failed half-way has left nothing behind that another answer rests on.
        let mut bot = self.bot.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        bot.with_dependent_mut(|_, bot| question(bot))
    }
}
