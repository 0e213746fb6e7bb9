//! `/move` and `/eval` as wildbg's server answers them, so that its clients work unchanged.
//!
//! That server takes unknown parameters and an empty board for granted; here they are faults.

#![expect(unused_qualifications, reason = "the macro that documents parameters qualifies them")]

use std::{collections::HashSet, ops::RangeInclusive, sync::Arc};

use axum::{
    Extension,
    body::Body,
    extract::{RawQuery, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::{
    IntoParams, ToSchema,
    openapi::{
        ObjectBuilder, Required, Type,
        path::{Parameter, ParameterBuilder, ParameterIn},
    },
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    board::{CHECKERS, CubeState, Position},
    bot::{Bot, Valuation},
    net::Probabilities,
    requests::Rounded,
    rules::{Dice, LONGEST_MATCH, MatchScore, RuleSet, Session, Stakes},
};

use super::{
    App,
    decisions::{json, written},
    fault::{Fault, FaultBody},
    gate::Began,
    workers::{Pace, Thinker},
};

/// A roll.
struct DiceParameters;

/// Where the checkers are, and what is played for.
struct BoardParameters;

impl IntoParams for DiceParameters {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        ["die1", "die2"].map(|name| parameter(name, Required::True, 1..=6, "A die.")).into()
    }
}

impl IntoParams for BoardParameters {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let checkers = i64::from(CHECKERS);
        let longest = i64::from(LONGEST_MATCH);
        let own_away = "Points that the player on roll needs in a match; 0 or absent for money play. The game is taken not to be \
                        the Crawford game, of which nothing is said.";
        let mut parameters = vec![
            parameter("x_away", Required::False, 0..=longest, own_away),
            parameter("o_away", Required::False, 0..=longest, "Points that the opponent needs."),
            parameter("p0", Required::False, -checkers..=0, "The opponent's bar, negative."),
            parameter("p25", Required::False, 0..=checkers, "The bar of the player on roll."),
        ];
        let text = "A point: positive for checkers of the player on roll, negative for the opponent's.";
        let point = |point| parameter(&format!("p{point}"), Required::False, -checkers..=checkers, text);
        parameters.extend((1..=24).map(point));
        parameters
    }
}

fn parameter(name: &str, required: Required, range: RangeInclusive<i64>, text: &str) -> Parameter {
    let (least, most) = range.into_inner();
    let schema = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(least)).maximum(Some(most));
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(required)
        .description(Some(text))
        .schema(Some(schema))
        .build()
}

/// All legal plays, the best first.
#[derive(Serialize, ToSchema)]
struct Moves {
    /// The plays.
    moves: Vec<RankedMove>,
}

/// A play and how the game ends after it.
#[derive(Serialize, ToSchema)]
struct RankedMove {
    /// Its moves; none when nothing is legal.
    play: Vec<CheckerMove>,
    /// For the player who makes it.
    probabilities: Chances,
}

/// A checker that is moved.
#[derive(Serialize, ToSchema)]
struct CheckerMove {
    /// From here: 25 is the bar.
    from: u8,
    /// To here: 0 is off.
    to: u8,
}

/// How the game ends for the player on roll.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Chances {
    /// He wins.
    win: Rounded,
    /// He wins a gammon or better.
    win_g: Rounded,
    /// He wins a backgammon.
    win_bg: Rounded,
    /// He loses a gammon or worse.
    lose_g: Rounded,
    /// He loses a backgammon.
    lose_bg: Rounded,
}

/// What a position is worth.
#[derive(Serialize, ToSchema)]
struct PositionValue {
    /// What to do with the cube.
    cube: CubeValue,
    /// How the game ends.
    probabilities: Chances,
}

/// What to do with the cube.
#[derive(Serialize, ToSchema)]
struct CubeValue {
    /// Whether the player on roll should double.
    double: bool,
    /// Whether the opponent should accept a double.
    accept: bool,
}

/// What is wrong.
#[derive(Serialize, ToSchema)]
struct Message {
    /// What is wrong.
    message: String,
}

impl From<Probabilities> for Chances {
    fn from(p: Probabilities) -> Chances {
        let [win, win_g, win_bg, lose_g, lose_bg] = p.to_array().map(Rounded);
        Chances { win, win_g, win_bg, lose_g, lose_bg }
    }
}

/// The plays, and what a position is worth.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(play)).routes(routes!(eval))
}

/// The plays of a roll, best first, as wildbg's server answers
#[utoipa::path(
    get,
    path = "/move",
    tag = "wildbg",
    params(DiceParameters, BoardParameters),
    responses(
        (status = 200, description = "All legal plays", body = Moves),
        (status = 400, description = "The request is at fault", body = Message),
        (status = 429, description = "Too many requests wait already", body = FaultBody),
        (status = 503, description = "The time was up, or the server is shutting down", body = FaultBody),
    )
)]
async fn play(State(app): State<Arc<App>>, Extension(began): Extension<Began>, RawQuery(query): RawQuery) -> Response {
    let asked = match Asked::read(&query.unwrap_or_default(), true, app.answering.rules) {
        Ok(asked) => asked,
        Err(message) => return refused(message),
    };
    let (position, stakes, dice) = (asked.position, asked.stakes, asked.dice);
    think(&app, began, move |bot| {
        // Nothing is said of a cube in money play.
        let valuation = Valuation::counting(stakes.score().is_some(), stakes);
        let ranked = bot.rank(&position, dice, valuation);
        let moves = ranked.iter().map(|valued| RankedMove {
            play: valued.play.iter().map(|made| CheckerMove { from: made.from, to: made.to }).collect(),
            probabilities: valued.probabilities.into(),
        });
        written(&Moves { moves: moves.collect() })
    })
    .await
}

/// What a position is worth before the roll, as wildbg's server answers
#[utoipa::path(
    get,
    path = "/eval",
    tag = "wildbg",
    params(BoardParameters),
    responses(
        (status = 200, description = "What it is worth", body = PositionValue),
        (status = 400, description = "The request is at fault", body = Message),
        (status = 429, description = "Too many requests wait already", body = FaultBody),
        (status = 503, description = "The time was up, or the server is shutting down", body = FaultBody),
    )
)]
async fn eval(State(app): State<Arc<App>>, Extension(began): Extension<Began>, RawQuery(query): RawQuery) -> Response {
    let asked = match Asked::read(&query.unwrap_or_default(), false, app.answering.rules) {
        Ok(asked) if asked.position.is_over() => return refused("The game is over.".into()),
        Ok(asked) => asked,
        Err(message) => return refused(message),
    };
    let Asked { position, stakes, .. } = asked;
    think(&app, began, move |bot| {
        let (probabilities, cube) = match bot.cube_action(&position, &stakes) {
            Ok(advice) => {
                let decision = advice.decision;
                (advice.probabilities, CubeValue { double: decision.is_double(), accept: decision.is_take() })
            }
            // Where nobody may double, a double would have to be taken for what it is: nothing.
            Err(_) => (
                bot.evaluate(&position, Valuation::Cubeful(stakes)).probabilities,
                CubeValue { double: false, accept: true },
            ),
        };
        written(&PositionValue { cube, probabilities: probabilities.into() })
    })
    .await
}

async fn think(
    app: &App,
    Began(began): Began,
    question: impl FnOnce(&mut Bot<'_>) -> Result<Vec<u8>, Fault> + Send + 'static,
) -> Response {
    let pace = Pace::of(app.answering.level);
    let ahead = pace > Pace::Quick;
    let answer = app.ask(pace, Vec::new(), began + app.settings.time_limit, move |thinker| {
        let Thinker { bots, pool, stop, .. } = thinker;
        let ask = || bots.ask(None, None, stop, question).map_err(Fault::from)?;
        if ahead { pool.install(ask) } else { ask() }
    });
    match answer.await.and_then(|answer| answer) {
        Ok(bytes) => json(bytes),
        Err(fault) => fault.into_response(),
    }
}

fn refused(message: String) -> Response {
    // A text is always written.
    let body = serde_json::to_vec(&Message { message }).unwrap_or_default();
    (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "application/json")], Body::from(body)).into_response()
}

/// What is asked.
struct Asked {
    position: Position,
    stakes: Stakes,
    dice: Dice,
}

impl Asked {
    /// Reads a query about a game by `rules`.
    fn read(query: &str, with_dice: bool, rules: RuleSet) -> Result<Asked, String> {
        const LONGEST: usize = 40;
        let mut points = [0i8; 26];
        let (mut dice, mut away) = ([None; 2], [0u32; 2]);
        let mut seen = HashSet::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let shown = |text: &str| text.chars().take(LONGEST).collect::<String>();
            if !seen.insert(name) {
                return Err(format!("The parameter {:?} occurs twice.", shown(name)));
            }
            let not_a_number = || format!("The parameter {name} is {:?}, expected a whole number.", shown(value));
            match name {
                "die1" | "die2" if with_dice => {
                    let die: i64 = value.parse().map_err(|_| not_a_number())?;
                    dice[usize::from(name == "die2")] = Some(die);
                }
                "x_away" | "o_away" => {
                    away[usize::from(name == "o_away")] = value.parse().map_err(|_| not_a_number())?
                }
                _ => match name.strip_prefix('p').and_then(point) {
                    Some(place) => {
                        let count: i64 = value.parse().map_err(|_| not_a_number())?;
                        points[place] = count.clamp(i8::MIN.into(), i8::MAX.into()) as i8;
                    }
                    None => return Err(format!("Unknown parameter {:?}.", shown(name))),
                },
            }
        }
        let dice = match dice {
            _ if !with_dice => [Some(1); 2],
            dice => dice,
        };
        let [Some(first), Some(second)] = dice else {
            return Err("The parameters die1 and die2 are missing, expected a roll.".into());
        };
        let die = |die: i64| u8::try_from(die).unwrap_or(0);
        let dice = Dice::new(die(first), die(second)).map_err(|_| "Dice values must be between 1 and 6.")?;
        let position = Position::new(points).map_err(|error| sentence(&error.to_string()))?;
        if position.off() == CHECKERS {
            return Err("The player on roll has no checkers on the board.".into());
        }
        let session = match away {
            [0, 0] => Stakes::MONEY.session,
            [0, _] | [_, 0] => return Err("Expected x_away and o_away both 0, or both above.".into()),
            [own, other] => {
                let length = own.max(other);
                let score = MatchScore::new(length, [length - own, length - other], false);
                Session::Match(score.map_err(|error| sentence(&error.to_string()))?)
            }
        };
        let stakes = Stakes::new(session, CubeState::START);
        stakes.check(rules).map_err(|error| sentence(&error.to_string()))?;
        Ok(Asked { position, stakes, dice })
    }
}

/// The point of a parameter without its `p`: `0` to `25`.
fn point(text: &str) -> Option<usize> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|place| plain && (0..=25).contains(place))
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_are_read_and_faults_named() {
        let start = "p24=2&p19=-5&p17=-3&p13=5&p12=-5&p8=3&p6=5&p1=-2";
        let asked = Asked::read(&format!("die1=3&die2=1&{start}"), true, RuleSet::Backgammon).unwrap();
        assert_eq!((asked.position, asked.dice), (Position::START, Dice::new(3, 1).unwrap()));
        let asked = Asked::read(&format!("x_away=2&o_away=5&{start}"), false, RuleSet::Backgammon).unwrap();
        assert_eq!(asked.stakes.score(), Some(MatchScore::new(5, [3, 0], false).unwrap()));
        for (query, with_dice, expected) in [
            ("", true, "die1 and die2 are missing"),
            ("die1=0&die2=1&p1=1", true, "Dice values must be between 1 and 6."),
            ("die1=7&die2=1&p1=1", true, "Dice values must be between 1 and 6."),
            ("die1=x&die2=1&p1=1", true, "expected a whole number"),
            ("die1=1&die2=1", true, "borne off all their checkers"),
            ("die1=1&die2=1&p1=-1", true, "no checkers"),
            ("", false, "borne off all their checkers"),
            ("p1=16", false, "16 checkers"),
            ("p1=1000", false, "checkers"),
            ("p25=-1", false, "bar"),
            ("p0=1", false, "bar"),
            ("p26=1", false, "Unknown parameter \"p26\""),
            ("p01=1", false, "Unknown parameter"),
            ("p1=1&p1=2", false, "twice"),
            ("p1=1&die1=1", false, "Unknown parameter \"die1\""),
            ("p1=1&x_away=3", false, "both"),
            ("p1=1&x_away=3&o_away=99999", false, "match"),
            ("p1=%FF", false, "whole number"),
        ] {
            let Err(message) = Asked::read(query, with_dice, RuleSet::Backgammon) else { panic!("{query} is taken") };
            assert!(message.contains(expected), "{query}: {message}");
        }
    }

    #[test]
    fn scores_are_those_of_the_rules() {
        for rules in RuleSet::ALL {
            let asked = Asked::read("p1=1&p24=-1&x_away=2&o_away=3", false, rules);
            match rules.terms().matches {
                true => assert!(asked.is_ok(), "{rules}"),
                false => assert!(asked.err().unwrap().contains("there are no matches under"), "{rules}"),
            }
            assert!(Asked::read("p1=1&p24=-1", false, rules).is_ok(), "{rules}");
        }
    }
}
