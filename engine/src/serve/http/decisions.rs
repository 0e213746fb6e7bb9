//! Plays, cube decisions and evaluations, as `zar decide` answers them.

use std::{sync::Arc, time::Instant};

use axum::{
    Extension,
    body::Body,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    bot::Level,
    requests::{Answer, Bots, CubeAnswer, EvaluationAnswer, MoveAnswer, Request, RequestError, Want},
    rules::RuleSet,
    search::Stop,
};

use super::{
    App,
    fault::{BatchFault, Fault, FaultBody},
    gate::Began,
    json_body::JsonBody,
    workers::{Pace, Thinker},
};

/// An answer with the name that its request had.
#[derive(Serialize)]
struct Named {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Box<RawValue>>,
    #[serde(flatten)]
    answer: Answer,
    /// Whether the time was up, so that this is what had been found out until then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stopped: bool,
}

/// Several requests.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Batch {
    /// The requests.
    #[schema(value_type = Vec<Request>)]
    requests: Vec<Box<RawValue>>,
}

/// One of the answers of a batch.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum BatchAnswer {
    /// An answer.
    #[schema(value_type = Answer)]
    Answer(Named),
    /// Why there is none.
    Fault(BatchFault),
}

/// The answers of a batch, in the order of its requests.
#[derive(Serialize, ToSchema)]
struct BatchAnswers {
    /// The answers.
    answers: Vec<BatchAnswer>,
}

/// Plays, cube decisions and evaluations.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(eval)).routes(routes!(play)).routes(routes!(cube)).routes(routes!(batch))
}

/// What a position is worth to the player on roll before he rolls
///
/// Dice in the position do not matter. A search that its time ended has `"stopped": true`.
#[utoipa::path(
    post,
    path = "/v1/eval",
    tag = "decisions",
    request_body = Request,
    responses(
        (status = 200, description = "The evaluation", body = EvaluationAnswer),
        (status = "4XX", description = "The request is at fault", body = FaultBody),
        (status = 503, description = "The time was up, or the server is shutting down", body = FaultBody),
    )
)]
async fn eval(
    State(app): State<Arc<App>>,
    Extension(began): Extension<Began>,
    JsonBody(request): JsonBody<Request>,
) -> Result<Response, Fault> {
    decide(&app, began, request, Want::Eval).await
}

/// The plays of a roll, best first
///
/// The roll is `dice`, or else the one in the position. A search that its time ended has `"stopped": true`.
#[utoipa::path(
    post,
    path = "/v1/move",
    tag = "decisions",
    request_body = Request,
    responses(
        (status = 200, description = "The plays", body = MoveAnswer),
        (status = "4XX", description = "The request is at fault", body = FaultBody),
        (status = 503, description = "The time was up, or the server is shutting down", body = FaultBody),
    )
)]
async fn play(
    State(app): State<Arc<App>>,
    Extension(began): Extension<Began>,
    JsonBody(request): JsonBody<Request>,
) -> Result<Response, Fault> {
    decide(&app, began, request, Want::Move).await
}

/// Whether to double, and whether to take
///
/// Dice in the position do not matter. A search that its time ended has `"stopped": true`.
#[utoipa::path(
    post,
    path = "/v1/cube",
    tag = "decisions",
    request_body = Request,
    responses(
        (status = 200, description = "The decision", body = CubeAnswer),
        (status = "4XX", description = "The request is at fault", body = FaultBody),
        (status = 503, description = "The time was up, or the server is shutting down", body = FaultBody),
    )
)]
async fn cube(
    State(app): State<Arc<App>>,
    Extension(began): Extension<Began>,
    JsonBody(request): JsonBody<Request>,
) -> Result<Response, Fault> {
    decide(&app, began, request, Want::Cube).await
}

/// Several requests at once
///
/// A request with dice asks for a play, one without for a cube decision, and `"want"` says otherwise. A request that is at
/// fault is answered with `error` and `code` in its place, and so is one that the time did not suffice for.
#[utoipa::path(
    post,
    path = "/v1/batch",
    tag = "decisions",
    request_body = Batch,
    responses(
        (status = 200, description = "The answers, in the order of the requests", body = BatchAnswers),
        (status = "4XX", description = "The whole is at fault", body = FaultBody),
        (status = 503, description = "The time was up, or the server is shutting down", body = FaultBody),
    )
)]
async fn batch(
    State(app): State<Arc<App>>,
    Extension(Began(began)): Extension<Began>,
    JsonBody(Batch { requests }): JsonBody<Batch>,
) -> Result<Response, Fault> {
    let limit = app.settings.batch_limit;
    if requests.len() > limit {
        let message = format!("{} requests in a batch, expected no more than {limit}", requests.len());
        return Err(Fault::new(StatusCode::PAYLOAD_TOO_LARGE, "too_long", message));
    }
    let requests: Vec<Result<Request, RequestError>> =
        requests.into_iter().map(|text| Request::read(text.get().as_bytes(), "request")).collect();
    let mut rules: Vec<RuleSet> = requests.iter().flatten().filter_map(Request::named_rules).collect();
    rules.sort_by_key(|&rules| rules as u8);
    rules.dedup();
    let due = began + app.settings.time_limit;
    let usual = app.answering.level;
    // Many quick questions are a slow one.
    let slowest = requests.iter().flatten().map(|request| pace(request, usual)).fold(Pace::Slow, Pace::max);
    let answers = app.ask(slowest, rules, due, move |thinker| {
        let Thinker { bots, pool, stop, .. } = thinker;
        let bots = &*bots;
        let answers = pool.install(|| {
            let answer = |bots: &mut Bots<'_>, request: Result<Request, RequestError>| {
                if stop.is_due() {
                    return BatchAnswer::Fault(Fault::time_limit().into_batch());
                }
                let ahead = request.as_ref().is_ok_and(|request| pace(request, usual) > Pace::Quick);
                match request.and_then(|request| named(bots, request, stop, ahead)) {
                    Ok(named) => BatchAnswer::Answer(named),
                    Err(error) => BatchAnswer::Fault(Fault::from(error).into_batch()),
                }
            };
            requests.into_par_iter().map_init(|| bots.clone(), answer).collect()
        });
        written(&BatchAnswers { answers })
    });
    Ok(json(answers.await??))
}

async fn decide(app: &App, Began(began): Began, mut request: Request, want: Want) -> Result<Response, Fault> {
    if request.want.is_some_and(|wanted| wanted != want) {
        let message = format!("this path answers {want:?}, expected no other \"want\"").to_lowercase();
        return Err(Fault::new(StatusCode::UNPROCESSABLE_ENTITY, "other_want", message));
    }
    request.want = Some(want);
    let rules = request.named_rules().into_iter().collect();
    answered(app, began, rules, request).await
}

async fn answered(app: &App, began: Instant, rules: Vec<RuleSet>, request: Request) -> Result<Response, Fault> {
    let pace = pace(&request, app.answering.level);
    let ahead = pace > Pace::Quick;
    let answer = app.ask(pace, rules, began + app.settings.time_limit, move |thinker| {
        let Thinker { bots, pool, stop, .. } = thinker;
        let named = match ahead {
            true => pool.install(|| named(bots, request, stop, ahead)),
            false => named(bots, request, stop, ahead),
        };
        written(&named?)
    });
    Ok(json(answer.await??))
}

/// How long the answer takes. A wrong level is found out at once.
fn pace(request: &Request, usual: Level) -> Pace {
    request.level(usual).map_or(Pace::Quick, Pace::of)
}

fn named(bots: &mut Bots<'_>, mut request: Request, stop: &Stop, ahead: bool) -> Result<Named, RequestError> {
    let answer = bots.answer(&request, stop)?;
    Ok(Named { id: request.id.take(), answer, stopped: ahead && stop.is_due() })
}

/// An answer as it is sent.
pub fn written(answer: &impl Serialize) -> Result<Vec<u8>, Fault> {
    serde_json::to_vec(answer).map_err(|_| Fault::internal())
}

/// A response of JSON that has been written.
pub fn json(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], Body::from(bytes)).into_response()
}
