//! Games over HTTP.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Instant,
};

use axum::{
    Extension,
    extract::{FromRequestParts, Path, RawQuery, State},
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use tracing::error;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    board::Position,
    bot::{Level, Turn},
    requests::RequestError,
    rules::{Action, Expected, Match, MatchError, MatchOptions, MoneyOptions, RuleSet},
    seed,
};

use super::{
    super::{
        App,
        decisions::{json, written},
        fault::{Fault, FaultBody},
        gate::Began,
        json_body::JsonBody,
        workers::{PATIENCE, Pace, Thinker},
    },
    record::{Clock, Deed, DeedKind, Player, Record, SystemClock, YOU},
    store::StoreError,
    view::{GameAnswer, names_points},
};

/// A game to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewGame {
    /// `backgammon`, `tavla`, `tavla2004`, `table` or `plain`; the server's where it is absent.
    #[schema(example = "backgammon")]
    rules: Option<String>,
    /// Points that win the match; money play, or single games where the rules have no matches, where it is absent.
    #[schema(example = 5)]
    length: Option<u32>,
    /// How well the bot plays: `0ply`, `1ply`, `2ply`, `3ply` or `rollout`, or like whom: `beginner`, `casual`,
    /// `intermediate`, `advanced`, `expert` or `worldclass`; the server's where it is absent.
    #[schema(example = "0ply")]
    level: Option<String>,
    /// Where the dice come from, for the same ones again; others every time where it is absent.
    seed: Option<u64>,
    /// The Jacoby rule, in money play.
    #[serde(default)]
    jacoby: bool,
    /// Beavers, in money play.
    #[serde(default)]
    beavers: bool,
    /// How many times equal opening dice double the cube, in money play.
    #[serde(default)]
    automatic_doubles: u8,
    /// The highest value that the cube may reach.
    highest_cube: Option<u32>,
    /// Whether both play against a clock that the opponent may claim the game by: under `table`, where a turn has 11 seconds
    /// of its own and then a reserve of 90 seconds for the whole game is used. Your time runs from the answer that says that
    /// it is your turn to your next action. The other rules have no clock of their own.
    #[serde(default)]
    clock: bool,
}

/// What you do.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Deeded {
    /// What.
    action: DeedKind,
    /// For `play`: what, as in `8/5 6/5`.
    play: Option<String>,
    /// For `play`, in its place: Position ID of the result, as the next player sees it.
    after: Option<String>,
    /// For `resign`: points at a cube of 1; where the rules say what it costs they need not be named.
    points: Option<u32>,
    /// How many actions the game has, as you know it: if there are others, nothing is done. A request that got no answer can
    /// so be made again.
    version: Option<u64>,
}

/// What was done.
#[derive(Serialize, ToSchema)]
struct Deeds {
    /// In order.
    actions: Vec<Deed>,
}

/// The name of a game in a path.
struct GameName(String);

impl FromRequestParts<Arc<App>> for GameName {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<GameName, Fault> {
        let Path(name) = Path::from_request_parts(parts, app)
            .await
            .map_err(|_| Fault::new(StatusCode::BAD_REQUEST, "malformed", "expected the name of a game in the path"))?;
        Ok(GameName(name))
    }
}

/// Actions that are told at once.
const MOST_DEEDS: usize = 1000;
/// Actions of a game or match: hundreds of games, a hundred actions each.
const LONGEST_GAME: u64 = 20_000;

/// Games.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(create)).routes(routes!(read, delete)).routes(routes!(act, deeds))
}

/// Begins a game, a match or money play against the bot
///
/// The server rolls all dice. It makes the opening roll, and the bot its play if it begins; then it is your turn, which is
/// said in `turn` and `may`. A game in which nothing is done for as many days as the server's options say is forgotten; and
/// when the server keeps as many games as it may, the one that has lain idle longest gives way to a new one, if nothing was
/// done in it for a day. Where there is none, the answer is 503 with the code `too_many_games`.
#[utoipa::path(
    post,
    path = "/v1/games",
    tag = "games",
    request_body = NewGame,
    responses(
        (status = 201, description = "The game", body = GameAnswer),
        (status = "4XX", description = "The request is at fault", body = FaultBody),
        (status = 503, description = "The time was up, there is no room for more games, or the server is shutting down", body = FaultBody),
    )
)]
async fn create(
    State(app): State<Arc<App>>,
    Extension(Began(began)): Extension<Began>,
    JsonBody(wanted): JsonBody<NewGame>,
) -> Result<Response, Fault> {
    let named = wanted.rules.as_deref().map(str::parse::<RuleSet>).transpose().map_err(RequestError::from)?;
    let level = wanted.level.as_deref().map(str::parse::<Level>).transpose().map_err(RequestError::from)?;
    let (rules, level) = (named.unwrap_or(app.answering.rules), level.unwrap_or(app.answering.level));
    let money = MoneyOptions { jacoby: wanted.jacoby, beavers: wanted.beavers };
    let options =
        MatchOptions { money, automatic_doubles: wanted.automatic_doubles, highest_cube: wanted.highest_cube };
    let game = Match::new(rules, wanted.length, options).map_err(|error| refused(&error))?;
    if wanted.clock && game.time_left().is_none() {
        let message = format!("{rules} has no clock of its own: expected \"clock\" under table alone");
        return Err(Fault::new(StatusCode::UNPROCESSABLE_ENTITY, "no_clock", message));
    }
    let seed = wanted.seed.unwrap_or_else(seed::fresh);
    let thinks_since = wanted.clock.then(|| SystemClock.now());
    let mut record = Record { game, level: level.to_string(), seed, rolls: 0, version: 0, declined: 0, thinks_since };
    let id = fresh_name();
    let location = format!("/v1/games/{id}");
    let due = began + app.settings.time_limit;
    let kept = Arc::clone(&app);
    let answer = app.ask(Pace::of(level), vec![rules], due, move |thinker| {
        let (deeds, stopped) = think(thinker, &record.clone(), |bot| record.begin(bot, &SystemClock))?;
        kept.games.create(&id, &record, &deeds).map_err(unkept)?;
        written(&GameAnswer::new(&id, &record, deeds).stopped(stopped))
    });
    let response = json(answer.await??);
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], response).into_response())
}

/// Where a game stands
#[utoipa::path(
    get,
    path = "/v1/games/{id}",
    tag = "games",
    params(("id" = String, Path, description = "The game's name")),
    responses(
        (status = 200, description = "The game", body = GameAnswer),
        (status = "4XX", description = "The request is at fault", body = FaultBody),
    )
)]
async fn read(
    State(app): State<Arc<App>>,
    Extension(Began(began)): Extension<Began>,
    GameName(id): GameName,
) -> Result<Response, Fault> {
    let due = began + app.settings.time_limit;
    let kept = Arc::clone(&app);
    let answer = app.ask(Pace::Quick, Vec::new(), due, move |_| {
        let record = kept.games.read(&id).map_err(unkept)?;
        written(&GameAnswer::new(&id, &record, Vec::new()))
    });
    Ok(json(answer.await??))
}

/// Forgets a game
#[utoipa::path(
    delete,
    path = "/v1/games/{id}",
    tag = "games",
    params(("id" = String, Path, description = "The game's name")),
    responses(
        (status = 204, description = "It is forgotten"),
        (status = "4XX", description = "The request is at fault", body = FaultBody),
    )
)]
async fn delete(
    State(app): State<Arc<App>>,
    Extension(Began(began)): Extension<Began>,
    GameName(id): GameName,
) -> Result<StatusCode, Fault> {
    let due = began + app.settings.time_limit;
    let kept = Arc::clone(&app);
    app.ask(Pace::Quick, Vec::new(), due, move |_| kept.games.delete(&id).map_err(unkept)).await??;
    Ok(StatusCode::NO_CONTENT)
}

/// Acts in a game
///
/// Your action and all that follows until you have to decide again, the bot's answers and the dice, are kept before they are
/// answered, all or nothing. `roll` rolls the dice, and the turn passes if they allow no play. In a game with a clock, an
/// action that comes after your flag has fallen is not done: the bot claims the game. When the bot's flag falls, you may
/// `claim` it. A game has no more than 20000 actions; that and no room for more (503, `too_many_games`) are the ends of a
/// game that does not end by itself.
#[utoipa::path(
    post,
    path = "/v1/games/{id}/actions",
    tag = "games",
    params(("id" = String, Path, description = "The game's name")),
    request_body = Deeded,
    responses(
        (status = 200, description = "The game, with what this request has led to", body = GameAnswer),
        (status = 409, description = "The game has other actions than the request says, or expects another", body = FaultBody),
        (status = "4XX", description = "The request is at fault", body = FaultBody),
        (status = 503, description = "The time was up, there is no room for more, or the server is shutting down", body = FaultBody),
    )
)]
async fn act(
    State(app): State<Arc<App>>,
    Extension(Began(began)): Extension<Began>,
    GameName(id): GameName,
    JsonBody(deeded): JsonBody<Deeded>,
) -> Result<Response, Fault> {
    let (due, arrived) = (began + app.settings.time_limit, SystemClock.now());
    let read = Arc::clone(&app);
    let name = id.clone();
    let record = app.ask(Pace::Quick, Vec::new(), due, move |_| read.games.read(&name).map_err(unkept)).await??;
    let kept = Arc::clone(&app);
    let level: Level = record.level.parse().map_err(RequestError::from)?;
    let answer = app.ask(Pace::of(level), vec![record.game.rules()], due, move |thinker| {
        let before = record;
        if let Some(expected) = deeded.version.filter(|&version| version != before.version) {
            return Err(unkept(StoreError::Version { found: before.version, expected }));
        }
        if before.version >= LONGEST_GAME {
            let message = format!("the game has {LONGEST_GAME} actions already, expected a new one");
            return Err(Fault::new(StatusCode::CONFLICT, "too_long", message));
        }
        let turn = deeded.turn(&before)?;
        let mut record = before.clone();
        let (deeds, stopped) = think(thinker, &before, |bot| record.act(bot, turn, arrived, &SystemClock))?;
        kept.games.update(&id, before.version, &record, &deeds).map_err(unkept)?;
        written(&GameAnswer::new(&id, &record, deeds).stopped(stopped))
    });
    Ok(json(answer.await??))
}

/// What was done in a game
///
/// Up to 1000 actions, from the one with the number `from` on.
#[utoipa::path(
    get,
    path = "/v1/games/{id}/actions",
    tag = "games",
    params(
        ("id" = String, Path, description = "The game's name"),
        ("from" = Option<u64>, Query, description = "The number of the first action, from 1"),
    ),
    responses(
        (status = 200, description = "The actions", body = Deeds),
        (status = "4XX", description = "The request is at fault", body = FaultBody),
    )
)]
async fn deeds(
    State(app): State<Arc<App>>,
    Extension(Began(began)): Extension<Began>,
    GameName(id): GameName,
    RawQuery(query): RawQuery,
) -> Result<Response, Fault> {
    let from = match query.as_deref().unwrap_or_default() {
        "" => 1,
        query => query.strip_prefix("from=").and_then(|number| number.parse().ok()).ok_or_else(|| {
            let message = "expected no other parameter than \"from\", a whole number";
            Fault::new(StatusCode::BAD_REQUEST, "malformed", message)
        })?,
    };
    let due = began + app.settings.time_limit;
    let kept = Arc::clone(&app);
    let answer = app.ask(Pace::Quick, Vec::new(), due, move |_| {
        let actions = kept.games.deeds(&id, from, MOST_DEEDS).map_err(unkept)?;
        written(&Deeds { actions })
    });
    Ok(json(answer.await??))
}

/// Lets the bot of a game act, unless the client leaves in the meantime: nothing is kept then. Says too whether its time ended
/// what it looked at.
fn think(
    thinker: Thinker<'_, '_>,
    record: &Record,
    act: impl FnOnce(&mut crate::bot::Bot<'_>) -> Result<Vec<Deed>, MatchError> + Send,
) -> Result<(Vec<Deed>, bool), Fault> {
    let Thinker { bots, pool, stop, due } = thinker;
    let level: Level = record.level.parse().map_err(RequestError::from)?;
    let rules = record.game.rules();
    let ask = || bots.ask(Some(rules), Some(level), stop, act);
    let deeds = if level.plies() == 0 { ask() } else { pool.install(ask) };
    // Somebody who is told that his time is up must not find his action done: whoever was held up so long that this may
    // have been said does nothing.
    let now = Instant::now();
    if stop.is_due() && now < due || now >= due + PATIENCE / 2 {
        return Err(Fault::time_limit());
    }
    let deeds = deeds?.map_err(|error| refused(&error))?;
    let bot_acted = deeds.iter().any(|deed| deed.by == Some(Player::Bot));
    Ok((deeds, bot_acted && level.plies() > 0 && stop.is_due()))
}

impl Deeded {
    /// What it means in a game.
    fn turn(&self, record: &Record) -> Result<Turn, Fault> {
        let game = &record.game;
        let unexpected = |field: &str| {
            let message = format!("{field:?} does not belong to this action");
            Err(Fault::new(StatusCode::UNPROCESSABLE_ENTITY, "other_action", message))
        };
        let plays = self.action == DeedKind::Play;
        match self {
            Deeded { play: Some(_), .. } if !plays => return unexpected("play"),
            Deeded { after: Some(_), .. } if !plays => return unexpected("after"),
            Deeded { points: Some(_), .. } if self.action != DeedKind::Resign => return unexpected("points"),
            _ => {}
        }
        Ok(match self.action {
            // Asked before the dice are rolled: the answer must not tell what they would have shown.
            DeedKind::Roll => match game.expected() {
                Expected::Roll { player: YOU, .. } => Turn::Roll,
                expected => {
                    let message = format!("{YOU} cannot roll now: expected {expected}");
                    return Err(Fault::new(StatusCode::CONFLICT, "not_expected", message));
                }
            },
            DeedKind::Play => self.played(game)?,
            DeedKind::Double => Turn::Act(Action::Double),
            DeedKind::Take => Turn::Act(Action::Take),
            DeedKind::Drop => Turn::Act(Action::Drop),
            DeedKind::Beaver => Turn::Act(Action::Beaver),
            DeedKind::Resign => match self.points {
                Some(points) => Turn::Act(Action::Resign(points)),
                None if names_points(game.rules()) => {
                    let message = "expected \"points\" from 1 to 3 with a resignation";
                    return Err(Fault::new(StatusCode::UNPROCESSABLE_ENTITY, "missing_points", message));
                }
                None => Turn::Act(Action::Resign(1)),
            },
            DeedKind::Accept => Turn::Act(Action::Accept),
            DeedKind::Refuse => Turn::Act(Action::Refuse),
            DeedKind::Claim if record.thinks_since.is_none() => {
                let message = "the game has no clock by which it could be claimed: expected another action";
                return Err(Fault::new(StatusCode::CONFLICT, "not_allowed", message));
            }
            DeedKind::Claim => Turn::Act(Action::ClaimTime),
            DeedKind::Next => Turn::Act(Action::NextGame),
            DeedKind::Opening => {
                let message = "the server makes the opening roll: expected another action";
                return Err(Fault::new(StatusCode::CONFLICT, "not_expected", message));
            }
        })
    }

    fn played(&self, game: &Match) -> Result<Turn, Fault> {
        let illegal = |message: String| Fault::new(StatusCode::UNPROCESSABLE_ENTITY, "illegal_play", message);
        let after = match (&self.play, &self.after, game.dice()) {
            (Some(text), None, Some(dice)) => {
                let legal = game.position().parse_play(text, dice, game.rules());
                legal.map_err(|error| illegal(error.to_string()))?.after
            }
            // Without dice, any position says that a play is not expected.
            (Some(_), None, None) => *game.position(),
            (None, Some(id), _) => id.parse::<Position>().map_err(|error| {
                let shown: String = id.chars().take(40).collect();
                let message = format!("{shown:?} is no Position ID: {error}");
                Fault::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_position", message)
            })?,
            _ => return Err(illegal("expected either \"play\" or \"after\" with a play".into())),
        };
        Ok(Turn::Act(Action::Play(after)))
    }
}

/// Why a match refuses.
fn refused(error: &MatchError) -> Fault {
    let (status, code) = match error {
        MatchError::Length(..) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_length"),
        MatchError::Options(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_stakes"),
        MatchError::HighestCube(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_cube"),
        MatchError::Unexpected { .. } => (StatusCode::CONFLICT, "not_expected"),
        MatchError::NotAllowed(_) => (StatusCode::CONFLICT, "not_allowed"),
        MatchError::IllegalPlay(_) => (StatusCode::UNPROCESSABLE_ENTITY, "illegal_play"),
        MatchError::Number(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_points"),
    };
    Fault::new(status, code, error.to_string())
}

/// Why a game is not read or kept.
fn unkept(error: StoreError) -> Fault {
    match error {
        StoreError::NoGame => Fault::new(StatusCode::NOT_FOUND, "no_game", error.to_string()),
        StoreError::Version { .. } => Fault::new(StatusCode::CONFLICT, "other_version", error.to_string()),
        StoreError::Full(seconds) => Fault::no_room(error.to_string(), seconds),
        StoreError::Database(_) | StoreError::NoFile | StoreError::Folder(_) | StoreError::Damaged(_) => {
            error!(%error, "cannot keep or read a game");
            Fault::internal()
        }
    }
}

/// A name that nobody guesses.
fn fresh_name() -> String {
    // Each state is keyed by the system's random numbers.
    let half = || RandomState::new().hash_one(seed::fresh());
    format!("{:016x}{:016x}", half(), half())
}
