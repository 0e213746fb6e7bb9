//! What is answered when a request cannot be: one shape, with a code that does not change between releases.

use std::fmt;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{bot::BotError, requests::RequestError, rules::AskingError};

/// Why a request is not answered, with the status to say it with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    status: StatusCode,
    code: &'static str,
    message: String,
    retry_after: Option<u64>,
}

/// What a fault looks like.
#[derive(Serialize, ToSchema)]
pub struct FaultBody<'a> {
    /// What is wrong, and what was expected.
    #[schema(example = "a die shows 1 to 6, not 7")]
    error: &'a str,
    /// What is wrong, in a word that does not change between releases.
    #[schema(example = "invalid_dice")]
    code: &'a str,
    /// By which the request is found in the logs.
    request_id: &'a str,
}

/// A fault among the answers of a batch.
#[derive(Serialize, ToSchema)]
pub struct BatchFault {
    /// What is wrong, and what was expected.
    error: String,
    /// What is wrong, in a word that does not change between releases.
    code: &'static str,
}

impl Fault {
    /// A fault.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Fault {
        Fault { status, code, message: message.into(), retry_after: None }
    }

    /// A request that is understood, and cannot be.
    pub fn unprocessable(code: &'static str, message: impl Into<String>) -> Fault {
        Fault::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    /// More is asked than can be thought about.
    pub fn busy(seconds: u64) -> Fault {
        let message = format!("too many requests wait already: expected another try in {seconds} s");
        let fault = Fault::new(StatusCode::TOO_MANY_REQUESTS, "busy", message);
        Fault { retry_after: Some(seconds), ..fault }
    }

    /// Nothing more can be kept.
    pub fn no_room(message: String, seconds: u64) -> Fault {
        let fault = Fault::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_games", message);
        Fault { retry_after: Some(seconds), ..fault }
    }

    /// The server is about to end.
    pub fn closing() -> Fault {
        let fault = Fault::new(StatusCode::SERVICE_UNAVAILABLE, "closing", "the server is shutting down");
        Fault { retry_after: Some(1), ..fault }
    }

    /// The time for a request is over.
    pub fn time_limit() -> Fault {
        let message = "the time for a request is over: expected a smaller question, or a less busy moment";
        let fault = Fault::new(StatusCode::SERVICE_UNAVAILABLE, "time_limit", message);
        Fault { retry_after: Some(1), ..fault }
    }

    /// A fault of the server, of which the logs tell more.
    pub fn internal() -> Fault {
        Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the server has a fault; its logs tell more")
    }

    /// Its word.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// Without the status, where others are answered beside it.
    pub fn into_batch(self) -> BatchFault {
        BatchFault { error: self.message, code: self.code }
    }

    /// Makes the body of a response that carries this fault, with the request's name.
    pub fn fill(self, mut response: Response, request_id: &str) -> Response {
        let body = FaultBody { error: &self.message, code: self.code, request_id };
        // Three texts are always written.
        *response.body_mut() = Body::from(serde_json::to_vec(&body).unwrap_or_default());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// An empty response that carries the fault; the outermost layer knows the request's name and makes the body.
impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<RequestError> for Fault {
    fn from(error: RequestError) -> Fault {
        let (status, code) = match &error {
            RequestError::NotUtf8(..) => (StatusCode::BAD_REQUEST, "not_utf8"),
            RequestError::Json(_) => (StatusCode::BAD_REQUEST, "malformed"),
            RequestError::Position(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_position"),
            RequestError::Score(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_score"),
            RequestError::Stakes(_) | RequestError::Asking(AskingError::MoneyOptions) => {
                (StatusCode::UNPROCESSABLE_ENTITY, "invalid_stakes")
            }
            RequestError::Asking(AskingError::GameOver(_)) => (StatusCode::UNPROCESSABLE_ENTITY, "game_over"),
            RequestError::Dice(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_dice"),
            RequestError::Cube(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_cube"),
            RequestError::Rules(_) => (StatusCode::UNPROCESSABLE_ENTITY, "unknown_rules"),
            RequestError::Level(_) => (StatusCode::UNPROCESSABLE_ENTITY, "unknown_level"),
            RequestError::Bot(error) => return (*error).into(),
            RequestError::DiceInEvaluation | RequestError::DiceInCubeDecision => {
                (StatusCode::UNPROCESSABLE_ENTITY, "unexpected_dice")
            }
            RequestError::NoDice => (StatusCode::UNPROCESSABLE_ENTITY, "missing_dice"),
            RequestError::CubelessCube => (StatusCode::UNPROCESSABLE_ENTITY, "no_cube_decision"),
        };
        Fault::new(status, code, error.to_string())
    }
}

impl From<BotError> for Fault {
    fn from(error: BotError) -> Fault {
        let code = match error {
            BotError::Outcomes(_) => "rules_not_learnt",
            BotError::NoCube | BotError::NoCubeInGame(_) | BotError::Crawford | BotError::HighestCube { .. } => {
                "no_cube_decision"
            }
        };
        Fault::new(StatusCode::UNPROCESSABLE_ENTITY, code, error.to_string())
    }
}
