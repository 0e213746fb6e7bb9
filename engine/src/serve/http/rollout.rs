//! Rollouts, which tell how far they are while they run.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{Arc, PoisonError, atomic::Ordering},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use hyper::body::Frame;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    bot::{Bot, Level, Valuation},
    requests::{
        Asked, Bots, CubeRequest, MatchRequest, Question, Request, RequestError, RolledAnswer, RolledCubeAnswer,
        RolledPlaysAnswer, RolledPositionAnswer, Want,
    },
    rules::PositionArg,
    search::{RolloutOptions, RolloutProgress, Stop},
};

use super::{
    App,
    fault::{BatchFault, Fault, FaultBody},
    gate::Began,
    json_body::JsonBody,
    workers::Pace,
};

/// A position to be rolled out.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RolloutRequest {
    /// A gnubg Position ID, `PositionID:MatchID`, an XGID, or `start`.
    #[schema(example = "4HPwATDgc/ABMA")]
    pos: String,
    /// The roll, for plays.
    #[schema(min_items = 2, max_items = 2)]
    dice: Option<[i64; 2]>,
    /// What is wanted: by default plays where there are dice, and else an evaluation.
    want: Option<Want>,
    /// Whether equities count the cube and the score in.
    #[serde(default = "yes")]
    #[schema(default = true)]
    cubeful: bool,
    /// The cube.
    cube: Option<CubeRequest>,
    /// The score.
    r#match: Option<MatchRequest>,
    /// The Jacoby rule, in money play.
    jacoby: Option<bool>,
    /// Beavers, in money play.
    beavers: Option<bool>,
    /// `backgammon`, `tavla`, `tavla2004`, `table` or `plain`.
    rules: Option<String>,
    /// How far both sides look ahead: `0ply`, `1ply`, `2ply` or `3ply`; the server's where it is absent.
    level: Option<String>,
    /// The most games of each candidate, 72 to 1000000, rounded up to a multiple of 36.
    #[schema(minimum = 72, maximum = 1_000_000, default = 1296)]
    games: Option<u32>,
    /// End when the standard error of every equity is no larger.
    se: Option<f32>,
    /// Give up plays that are behind the best one with this confidence, above 0.5; 1 gives up none.
    confidence: Option<f32>,
    /// End each game after so many turns, 1 to 1000, with an evaluation; without it games are played to their end.
    #[schema(minimum = 1, maximum = 1000)]
    turns: Option<u32>,
    /// Whether each game's luck is taken away.
    #[serde(default = "yes")]
    #[schema(default = true)]
    variance_reduction: bool,
    /// Seed of the dice.
    seed: Option<u64>,
}

fn yes() -> bool {
    true
}

/// A line of the answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum RolloutLine {
    /// How far it is.
    Progress(ProgressLine),
    /// The result, the last line.
    Result(RolloutEnd),
    /// Why there is no result, the last line in its place.
    Fault(BatchFault),
}

/// How far a rollout is.
#[derive(Serialize, ToSchema)]
struct ProgressLine {
    /// Games that are left to play, unless it ends before.
    games_left: u64,
    /// What is known of each candidate, in the order in which they began.
    candidates: Vec<RolledAnswer>,
}

/// How a rollout has ended.
#[derive(Serialize, ToSchema)]
struct RolloutEnd {
    #[serde(flatten)]
    result: RolloutResult,
    /// Whether the time was up or the server is shutting down, so that this is what had been found out until then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stopped: bool,
}

/// The result of a rollout.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum RolloutResult {
    /// Of plays.
    Plays(RolledPlaysAnswer),
    /// Of a cube decision.
    Cube(RolledCubeAnswer),
    /// Of a position.
    Position(RolledPositionAnswer),
}

/// Rollouts.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(rollout))
}

/// Plays a position out many times
///
/// The answer comes in JSON Lines: `{"progress": …}` while it runs, and at last `{"result": …}`, as `zar rollout --json`
/// prints it, or `{"fault": …}`. Who closes the connection ends the rollout, and so does who leaves so much of it unread that
/// nothing more can be sent for half a minute. When its time is up, or the server shuts down, the result is what there is
/// until then, with `"stopped": true`. Rollouts have threads of their own, and no more run at once than the server's options
/// say.
#[utoipa::path(
    post,
    path = "/v1/rollout",
    tag = "decisions",
    request_body = RolloutRequest,
    responses(
        (status = 200, description = "Lines", body = RolloutLine, content_type = "application/x-ndjson"),
        (status = "4XX", description = "The request is at fault", body = FaultBody),
        (status = 503, description = "The server is shutting down", body = FaultBody),
    )
)]
async fn rollout(
    State(app): State<Arc<App>>,
    Extension(Began(began)): Extension<Began>,
    JsonBody(wanted): JsonBody<RolloutRequest>,
) -> Result<Response, Fault> {
    let usual = app.answering.level;
    let (request, options) = wanted.split(usual)?;
    let room = Arc::clone(&app.rollouts).try_acquire_owned().map_err(|_| Fault::busy(FULL_WAIT))?;
    let due = began + app.settings.rollout_limit;
    let stop = Stop::on_sign().or_after(due.saturating_duration_since(Instant::now()));
    let running = Running::new(&app, &stop);
    let (lines, receiver) = mpsc::channel(LINES);
    let (begun, beginning) = oneshot::channel();
    let body = LinesBody { receiver, stop: stop.clone() };
    let rules = request.named_rules().into_iter().collect();
    app.rolling.start(Pace::Rollout, rules, move |bots, pool| {
        if !lines.is_closed() {
            let closing = || running.app.closing.load(Ordering::Relaxed);
            let rolled = pool.install(|| roll_out(bots, &request, options, &stop, &closing, begun, &lines));
            if let Err(Some(fault)) = rolled {
                send(&lines, &RolloutLine::Fault(fault.into_batch()));
            }
        }
        drop((running, room));
    })?;
    let limit = app.settings.time_limit;
    let begun = tokio::time::timeout(limit, beginning).await.map_err(|_| Fault::time_limit())?;
    begun.map_err(|_| Fault::internal())??;
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::new(body)).into_response())
}

/// A rollout that ends when the server does.
struct Running {
    app: Arc<App>,
    stop: Stop,
}

impl Running {
    fn new(app: &Arc<App>, stop: &Stop) -> Running {
        app.running.lock().unwrap_or_else(PoisonError::into_inner).push(stop.clone());
        // The server may have been told to end before it knew of this one.
        if app.closing.load(Ordering::SeqCst) {
            stop.now();
        }
        Running { app: Arc::clone(app), stop: stop.clone() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = self.app.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|stop| !stop.gives_the_sign_of(&self.stop));
    }
}

/// Seconds after which a rollout may have ended.
const FULL_WAIT: u64 = 5;
/// Lines that a client may be behind; a client that is further behind misses some of the progress.
const LINES: usize = 16;
/// Time between two lines of progress.
const PAUSE: Duration = Duration::from_millis(250);
/// Games that a rollout may have.
const GAMES: std::ops::RangeInclusive<u32> = 72..=1_000_000;
/// Turns after which it may end its games.
const TURNS: std::ops::RangeInclusive<u32> = 1..=1000;

/// Rolls out and tells of it. A fault of the request is told before the first line; the one that is returned, in a line.
fn roll_out(
    bots: &mut Bots<'_>,
    request: &Request,
    options: RolloutOptions,
    stop: &Stop,
    closing: &(dyn Fn() -> bool + Sync),
    begun: oneshot::Sender<Result<(), Fault>>,
    lines: &mpsc::Sender<Vec<u8>>,
) -> Result<(), Option<Fault>> {
    let mut begun = Some(begun);
    let told = bots.ask_about(request, stop, |bot, asked| {
        if matches!(asked.question, Question::Cube) {
            // Says what is wrong with the cube before anything is played.
            bot.at_level(Level::ZeroPly).cube_action(&asked.position, &asked.stakes)?;
        }
        // The client may have left in the meantime.
        let _ = begun.take().map(|begun| begun.send(Ok(())));
        let result = result(bot, &asked, request.cubeful, options, stop, lines)?;
        let last = match result {
            Some(result) => RolloutLine::Result(RolloutEnd { result, stopped: stop.is_due() }),
            None if closing() => RolloutLine::Fault(Fault::closing().into_batch()),
            None => RolloutLine::Fault(Fault::time_limit().into_batch()),
        };
        send(lines, &last);
        Ok(())
    });
    told.map_err(|error| {
        let fault = Fault::from(error);
        match begun.take() {
            Some(begun) => {
                let _ = begun.send(Err(fault));
                None
            }
            None => Some(fault),
        }
    })
}

fn result(
    bot: &Bot<'_>,
    asked: &Asked,
    cubeful: bool,
    options: RolloutOptions,
    stop: &Stop,
    lines: &mpsc::Sender<Vec<u8>>,
) -> Result<Option<RolloutResult>, RequestError> {
    let Asked { position, stakes, question } = *asked;
    let valuation = Valuation::counting(cubeful, stakes);
    // Bare networks roll out what a look ahead has chosen.
    let level = if bot.level().plies() == 0 { Level::Rollout } else { bot.level() };
    let mut bot = bot.at_level(level).with_seed(options.seed).with_rollout(options).with_stop(stop.clone());
    let mut told = Instant::now();
    let mut progress = |heard: &RolloutProgress| {
        if told.elapsed() >= PAUSE && lines.capacity() > 1 {
            told = Instant::now();
            let candidates = heard.candidates.iter().map(|&rolled| rolled.into()).collect();
            send(lines, &RolloutLine::Progress(ProgressLine { games_left: heard.games_left, candidates }));
        }
    };
    Ok(match question {
        Question::Eval => bot
            .roll_out_position(&position, valuation, &mut progress)
            .map(|rolled| RolloutResult::Position(RolledPositionAnswer::new(&position, cubeful, rolled))),
        Question::Move(dice) => {
            let ranked = bot.roll_out_plays(&position, dice, valuation, &mut progress);
            let any = ranked.iter().any(|play| play.rolled.is_some());
            any.then(|| RolloutResult::Plays(RolledPlaysAnswer::new(&position, dice, cubeful, &ranked)))
        }
        Question::Cube => bot
            .roll_out_cube(&position, &stakes, &mut progress)?
            .map(|rolled| RolloutResult::Cube(RolledCubeAnswer::new(&position, &rolled))),
    })
}

/// Sends a line if there is room for it; progress leaves room for the last one.
fn send(lines: &mpsc::Sender<Vec<u8>>, line: &RolloutLine) {
    if let Ok(mut bytes) = serde_json::to_vec(line) {
        bytes.push(b'\n');
        // A client who has left misses nothing.
        let _ = lines.try_send(bytes);
    }
}

impl RolloutRequest {
    /// What is asked, and how it is to be rolled out.
    fn split(self, usual: Level) -> Result<(Request, RolloutOptions), Fault> {
        let level = self.level.as_deref().map_or(Ok(usual), str::parse).map_err(RequestError::from)?;
        let wrong = |name: &str, expected: &str| {
            Err(Fault::unprocessable("invalid_rollout", format!("{name:?} is wrong: expected {expected}")))
        };
        let games = self.games.unwrap_or(RolloutOptions::FULL.games);
        if !GAMES.contains(&games) {
            return wrong("games", "72 to 1000000");
        }
        if self.turns.is_some_and(|turns| !TURNS.contains(&turns)) {
            return wrong("turns", "1 to 1000");
        }
        if self.se.is_some_and(|error| !(error > 0.0 && error.is_finite())) {
            return wrong("se", "an equity above 0");
        }
        if self.confidence.is_some_and(|confidence| !(confidence > 0.5 && confidence <= 1.0)) {
            return wrong("confidence", "a probability above 0.5, up to 1");
        }
        let confidence = self.confidence.or(Bot::ROLLOUT.confidence).filter(|&confidence| confidence < 1.0);
        let options = RolloutOptions {
            games,
            turns: self.turns,
            plies: if level == Level::Rollout { 0 } else { level.plies() },
            variance_reduction: self.variance_reduction,
            seed: self.seed.unwrap_or(0),
            standard_error: self.se,
            confidence,
            ..RolloutOptions::FULL
        };
        // Dice in the position ask for plays too; what is wrong with it is told later.
        let rolled = self.dice.is_some() || self.pos.parse::<PositionArg>().is_ok_and(|arg| arg.dice.is_some());
        let request = Request {
            pos: self.pos,
            want: self.want.or((!rolled).then_some(Want::Eval)),
            dice: self.dice,
            cubeful: self.cubeful,
            cube: self.cube,
            r#match: self.r#match,
            jacoby: self.jacoby,
            beavers: self.beavers,
            rules: self.rules,
            level: self.level,
            id: None,
        };
        Ok((request, options))
    }
}

/// Lines as they come; who drops them ends the rollout.
struct LinesBody {
    receiver: mpsc::Receiver<Vec<u8>>,
    stop: Stop,
}

impl hyper::body::Body for LinesBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.receiver.poll_recv(context).map(|line| line.map(|line| Ok(Frame::data(line.into()))))
    }
}

impl Drop for LinesBody {
    fn drop(&mut self) {
        self.stop.now();
    }
}
