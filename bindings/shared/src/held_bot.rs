//! A bot that brings its weights along.

use std::{
    num::NonZeroUsize,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use rayon::ThreadPoolBuildError;
use self_cell::self_cell;
use thiserror::Error;
use zar::{
    bot::{Bot, BotError, Level},
    exact::{BearoffTables, CacheFolder},
    net::{Model, ModelError},
    rules::RuleSet,
};

use crate::{AskError, threads::Threads};

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
    /// Threads to look ahead on; `None` for all cores.
    pub threads: Option<NonZeroUsize>,
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
    /// No threads to build bear-off tables on.
    #[error("cannot start the threads: {0}")]
    Threads(#[from] ThreadPoolBuildError),
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

/// A bot with the weights by which it plays. Any thread may ask it; it answers one question after the other. So may a
/// process that is forked from the one that made it, unless it was being asked at that moment.
pub struct HeldBot {
    rules: RuleSet,
    level: Level,
    threads: Threads,
    bot: Mutex<BotOnWeights>,
}

impl HeldBot {
    /// Makes a bot. Its bear-off tables are loaded or built now.
    ///
    /// # Errors
    /// Weights that cannot be used, or not with these rules.
    pub fn open(opening: Opening) -> Result<HeldBot, OpenError> {
        let Opening { rules, level, weights, seed, cache, threads } = opening;
        let threads = Threads::new(threads);
        let weights = match weights {
            Some(path) => match Model::load(&path) {
                Ok(model) => Weights::FromFile(Box::new(model)),
                Err(error) => return Err(OpenError::Weights { path, error }),
            },
            None => Weights::CompiledIn(Model::shipped_for(rules)),
        };
        let bot = BotOnWeights::try_new(weights, |weights| {
            let bot = Bot::new(weights.model(), level, rules)?.with_seed(seed);
            let tables = threads.run(|| {
                let tables = BearoffTables::new(rules, cache);
                tables.ready();
                tables
            });
            Ok::<_, OpenError>(bot.with_tables(tables?))
        });
        Ok(HeldBot { rules, level, threads, bot: Mutex::new(bot?) })
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
    ///
    /// # Errors
    /// What it answers, and a system that has no room for threads.
    pub fn ask<R: Send>(
        &self,
        question: impl FnOnce(&mut Bot<'_>) -> Result<R, AskError> + Send,
    ) -> Result<R, AskError> {
        // The bare networks answer where they are asked: handing the question to another thread would take longer.
        if self.level.plies() > 0 { self.ask_on_threads(question) } else { self.with_bot(question) }
    }

    /// Asks the bot something that its threads share whatever its level.
    ///
    /// # Errors
    /// As [`HeldBot::ask`].
    pub fn ask_on_threads<R: Send>(
        &self,
        question: impl FnOnce(&mut Bot<'_>) -> Result<R, AskError> + Send,
    ) -> Result<R, AskError> {
        // The lock comes first. A thread that waits for others of the pool meanwhile does what else the pool is asked: were
        // that another question, it would wait for the lock that it holds itself.
        self.with_bot(|bot| self.threads.run(|| question(bot))?)
    }

    fn with_bot<R>(&self, question: impl FnOnce(&mut Bot<'_>) -> R) -> R {
        // A question that failed half-way has left nothing behind that another answer rests on.
        let mut bot = self.bot.lock().unwrap_or_else(PoisonError::into_inner);
        bot.with_dependent_mut(|_, bot| question(bot))
    }
}
