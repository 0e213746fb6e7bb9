//! Questions, checked as those of `zar decide` are.

use rayon::ThreadPoolBuildError;
use thiserror::Error;
use zar::{
    bot::{Bot, BotError, CubeAdvice, Evaluation, Valuation},
    rules::{AskingError, PositionArg, StakesError},
    search::RankedPlay,
};

/// What a bot is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The position, with all that is said beside it.
    pub arg: PositionArg,
    /// Whether equities count the cube and the score in.
    pub cubeful: bool,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum AskError {
    /// Nothing can be asked about the position.
    #[error(transparent)]
    Asking(#[from] AskingError),
    /// Stakes that the rules do not know.
    #[error(transparent)]
    Stakes(#[from] StakesError),
    /// No dice where some are needed.
    #[error("a move needs \"dice\"")]
    NoDice,
    /// A cube decision that leaves the cube out.
    #[error("a cube decision needs cubeful equities")]
    CubelessCube,
    /// No threads to look ahead on.
    #[error("cannot start the threads: {0}")]
    Threads(#[from] ThreadPoolBuildError),
    /// The bot refuses.
    #[error(transparent)]
    Bot(#[from] BotError),
}

impl Asked {
    /// What the position is worth before the roll.
    ///
    /// # Errors
    /// Stakes that the rules do not know, and a game that is over.
    pub fn evaluate(&self, bot: &mut Bot<'_>) -> Result<Evaluation, AskError> {
        self.check_stakes(bot)?;
        self.arg.check_before_roll()?;
        Ok(bot.evaluate(&self.arg.position, self.valuation()))
    }

    /// Every legal result of the dice once, the best first; never none.
    ///
    /// # Errors
    /// Stakes that the rules do not know, no dice, and a game that is over.
    pub fn rank(&self, bot: &mut Bot<'_>) -> Result<Vec<RankedPlay>, AskError> {
        self.check_stakes(bot)?;
        let PositionArg { position, dice, .. } = self.arg;
        let Some(dice) = dice else {
            self.arg.check_before_roll()?;
            return Err(AskError::NoDice);
        };
        self.arg.check_rolled()?;
        Ok(bot.rank(&position, dice, self.valuation()))
    }

    /// Whether to double before the roll, and whether to take.
    ///
    /// # Errors
    /// Stakes that the rules do not know, a cube that may not be turned, and a game that is over.
    pub fn cube_action(&self, bot: &mut Bot<'_>) -> Result<CubeAdvice, AskError> {
        self.check_stakes(bot)?;
        self.arg.check_before_roll()?;
        if !self.cubeful {
            return Err(AskError::CubelessCube);
        }
        Ok(bot.cube_action(&self.arg.position, &self.arg.stakes)?)
    }

    fn valuation(&self) -> Valuation {
        Valuation::counting(self.cubeful, self.arg.stakes)
    }

    /// Without the cube the score does not matter to what is computed.
    fn check_stakes(&self, bot: &Bot<'_>) -> Result<(), StakesError> {
        if self.cubeful { self.arg.stakes.check(bot.rules()) } else { Ok(()) }
    }
}
