//! What requests are answered with.

use serde::{Serialize, Serializer};

use crate::{
    board::Position,
    bot::{CubeAdvice, Evaluation},
    net::{Equity, Probabilities},
    search::RankedPlay,
};

/// A number with six decimals: more than a network knows, and short.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Rounded(pub f32);

impl From<Equity> for Rounded {
    fn from(equity: Equity) -> Rounded {
        Rounded(equity.0)
    }
}

impl Serialize for Rounded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Adding 0 turns -0 into 0.
        serializer.serialize_f64((f64::from(self.0) * 1e6).round() / 1e6 + 0.0)
    }
}

/// The five probabilities in their order.
pub fn probabilities(probabilities: Probabilities) -> [Rounded; 5] {
    probabilities.to_array().map(Rounded)
}

/// The answer to a request.
#[derive(Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub enum Answer {
    /// To a play.
    Move(MoveAnswer),
    /// To a cube decision.
    Cube(CubeAnswer),
    /// To an evaluation.
    Evaluation(EvaluationAnswer),
}

/// The best play, and all of them.
#[derive(Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct MoveAnswer {
    /// Position ID of the result of the best play, as the next player sees it.
    after: String,
    /// The best play; empty when nothing is legal.
    play: String,
    /// Its equity for the player who makes it: cubeful unless the request says otherwise, per unit of the cube, EMG in a match.
    equity: Rounded,
    /// The probabilities to win, to win a gammon or better, to win a backgammon, to lose a gammon or worse and to lose a
    /// backgammon after the best play, for the player who makes it.
    probs: [Rounded; 5],
    /// Every legal result once, the best first.
    plays: Vec<PlayAnswer>,
}

/// A play.
#[derive(Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct PlayAnswer {
    /// Position ID of its result, as the next player sees it.
    after: String,
    /// The play, as in `8/5 6/5`.
    play: String,
    /// Its equity for the player who makes it.
    equity: Rounded,
}

impl MoveAnswer {
    /// All plays of `position`, ranked; there is always one, if only the empty play.
    pub fn new(position: &Position, ranked: &[RankedPlay]) -> MoveAnswer {
        let best = ranked[0];
        let plays = ranked.iter().map(|valued| PlayAnswer {
            after: valued.after.to_string(),
            play: valued.play.text(position),
            equity: valued.equity.into(),
        });
        MoveAnswer {
            after: best.after.to_string(),
            play: best.play.text(position),
            equity: best.equity.into(),
            probs: probabilities(best.probabilities),
            plays: plays.collect(),
        }
    }
}

/// What a position is worth to the player on roll before he rolls.
#[derive(Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct EvaluationAnswer {
    /// The probabilities to win, to win a gammon or better, to win a backgammon, to lose a gammon or worse and to lose a
    /// backgammon.
    probs: [Rounded; 5],
    /// Points at a cube of 1 that nobody may turn.
    cubeless: Rounded,
    /// Cube and score counted in, with the right to double this turn, per unit of the cube (EMG in a match); absent if the
    /// request says `"cubeful": false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cubeful: Option<Rounded>,
    /// The chance to win the match.
    #[serde(skip_serializing_if = "Option::is_none")]
    mwc: Option<Rounded>,
}

impl EvaluationAnswer {
    /// With what counts the cube in or without.
    pub fn new(evaluation: &Evaluation, cubeful: bool) -> EvaluationAnswer {
        EvaluationAnswer {
            probs: probabilities(evaluation.probabilities),
            cubeless: evaluation.cubeless.into(),
            cubeful: cubeful.then_some(evaluation.cubeful.into()),
            mwc: evaluation.chance.filter(|_| cubeful).map(|chance| Rounded(chance.0)),
        }
    }
}

/// A cube decision.
#[derive(Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct CubeAnswer {
    /// `no-double`, `double-take`, `double-drop` or `too-good`, or with a cube that the player on roll holds
    /// `no-redouble`, `redouble-take`, `redouble-drop` or `too-good`.
    action: &'static str,
    /// The equity without a double, per unit of the cube as it stands (EMG in a match).
    nd: Rounded,
    /// The equity after a double that is taken.
    dt: Rounded,
    /// The equity after a double that is dropped.
    dp: Rounded,
    /// The probabilities to win, to win a gammon or better, to win a backgammon, to lose a gammon or worse and to lose a
    /// backgammon.
    probs: [Rounded; 5],
    /// The chances to win the match.
    #[serde(skip_serializing_if = "Option::is_none")]
    mwc: Option<Chances>,
    /// Whether the opponent should answer a double with a beaver.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    beaver: bool,
}

/// Match winning chances of the three ways.
#[derive(Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Chances {
    /// Without a double.
    nd: Rounded,
    /// After a double that is taken.
    dt: Rounded,
    /// After a double that is dropped.
    dp: Rounded,
}

impl From<CubeAdvice> for CubeAnswer {
    fn from(CubeAdvice { probabilities: probs, decision, chances }: CubeAdvice) -> CubeAnswer {
        CubeAnswer {
            action: decision.name(),
            nd: decision.no_double.into(),
            dt: decision.double_take.into(),
            dp: decision.double_drop.into(),
            probs: probabilities(probs),
            mwc: chances.map(|chances| {
                let [nd, dt, dp] = chances.map(|chance| Rounded(chance.0));
                Chances { nd, dt, dp }
            }),
            beaver: decision.beaver,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, text) in [(0.1, "0.1"), (-0.0, "0.0"), (1.0 / 3.0, "0.333333"), (-1e-9, "0.0"), (-2.5, "-2.5")] {
            assert_eq!(serde_json::to_string(&Rounded(number)).unwrap(), text);
        }
    }
}
