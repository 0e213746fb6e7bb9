//! What has been rolled out, in JSON.

use serde::Serialize;

use crate::{
    board::Position,
    bot::RolledCube,
    net::OUTPUTS,
    rules::Dice,
    search::{RankedPlay, RolledOut},
};

use super::{Rounded, probabilities};

/// What is known of something that has been rolled out.
#[derive(Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct RolledAnswer {
    /// Its equity, per unit of the cube, EMG in a match.
    equity: Rounded,
    /// The standard error of the equity; this and what is made of it are null while too few games have been played.
    #[cfg_attr(feature = "serve", schema(value_type = Option<f64>))]
    se: Rounded,
    /// Half the width of the interval that covers the equity with probability 0.95.
    #[cfg_attr(feature = "serve", schema(value_type = Option<f64>))]
    ci95: Rounded,
    /// The probabilities to win, to win a gammon or better, to win a backgammon, to lose a gammon or worse and to lose a
    /// backgammon.
    probs: [Rounded; OUTPUTS],
    /// Their standard errors.
    #[cfg_attr(feature = "serve", schema(value_type = [Option<f64>; OUTPUTS]))]
    probs_se: [Rounded; OUTPUTS],
    /// Games played.
    games: u32,
}

impl From<RolledOut> for RolledAnswer {
    fn from(rolled: RolledOut) -> RolledAnswer {
        RolledAnswer {
            equity: rolled.equity.into(),
            se: Rounded(rolled.equity_error),
            ci95: Rounded(rolled.half_width),
            probs: probabilities(rolled.probabilities),
            probs_se: rolled.probability_errors.map(Rounded),
            games: rolled.games,
        }
    }
}

/// A position, for the player on roll.
#[derive(Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct RolledPositionAnswer {
    /// Position ID.
    pos: String,
    /// Whether the equity counts the cube in.
    cubeful: bool,
    #[serde(flatten)]
    rolled: RolledAnswer,
}

impl RolledPositionAnswer {
    /// The result of a position.
    pub fn new(position: &Position, cubeful: bool, rolled: RolledOut) -> RolledPositionAnswer {
        RolledPositionAnswer { pos: position.to_string(), cubeful, rolled: rolled.into() }
    }
}

/// Plays: those that were rolled out and the others.
#[derive(Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct RolledPlaysAnswer {
    /// Position ID.
    pos: String,
    /// The roll, the higher die first.
    dice: [u8; 2],
    /// Whether the equities count the cube in.
    cubeful: bool,
    /// Those that were rolled out, the best first.
    plays: Vec<RolledPlayAnswer>,
    /// Those that did not come into question.
    others: Vec<OtherAnswer>,
}

/// A play that was rolled out.
#[derive(Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct RolledPlayAnswer {
    /// Position ID of its result, as the next player sees it.
    after: String,
    /// The play, as in `8/5 6/5`.
    play: String,
    #[serde(flatten)]
    rolled: RolledAnswer,
}

/// A play that was not rolled out, with the equity for which it was left.
#[derive(Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct OtherAnswer {
    /// Position ID of its result, as the next player sees it.
    after: String,
    /// The play, as in `8/5 6/5`.
    play: String,
    /// Its equity for the player who makes it.
    equity: Rounded,
    /// Plies of look-ahead behind the equity.
    plies: u8,
}

impl RolledPlaysAnswer {
    /// The results of plays.
    pub fn new(position: &Position, dice: Dice, cubeful: bool, ranked: &[RankedPlay]) -> RolledPlaysAnswer {
        let rolled = ranked.iter().filter_map(|play| Some((play, play.rolled?)));
        let plays = rolled.map(|(play, rolled)| RolledPlayAnswer {
            after: play.after.to_string(),
            play: play.play.text(position),
            rolled: rolled.into(),
        });
        let others = ranked.iter().filter(|play| play.rolled.is_none()).map(|play| OtherAnswer {
            after: play.after.to_string(),
            play: play.play.text(position),
            equity: play.equity.into(),
            plies: play.plies,
        });
        RolledPlaysAnswer {
            pos: position.to_string(),
            dice: [dice.high(), dice.low()],
            cubeful,
            plays: plays.collect(),
            others: others.collect(),
        }
    }
}

/// A cube decision.
#[derive(Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct RolledCubeAnswer {
    /// Position ID.
    pos: String,
    /// What to do.
    action: &'static str,
    /// The equity without a double.
    nd: Rounded,
    /// The equity after a double that is taken.
    dt: Rounded,
    /// The equity after a double that is dropped.
    dp: Rounded,
    /// The standard error of the equity without a double.
    #[cfg_attr(feature = "serve", schema(value_type = Option<f64>))]
    nd_se: Rounded,
    /// The standard error of the equity after a double that is taken.
    #[cfg_attr(feature = "serve", schema(value_type = Option<f64>))]
    dt_se: Rounded,
    /// The probabilities to win, to win a gammon or better, to win a backgammon, to lose a gammon or worse and to lose a
    /// backgammon.
    probs: [Rounded; OUTPUTS],
    /// Games played of each way.
    games: u32,
}

impl RolledCubeAnswer {
    /// The result of a cube decision.
    pub fn new(position: &Position, rolled: &RolledCube) -> RolledCubeAnswer {
        let RolledCube { advice, errors: [no_double_error, double_take_error], games, .. } = *rolled;
        let decision = advice.decision;
        RolledCubeAnswer {
            pos: position.to_string(),
            action: decision.name(),
            nd: decision.no_double.into(),
            dt: decision.double_take.into(),
            dp: decision.double_drop.into(),
            nd_se: Rounded(no_double_error),
            dt_se: Rounded(double_take_error),
            probs: probabilities(advice.probabilities),
            games,
        }
    }
}
