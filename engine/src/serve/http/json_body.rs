//! Bodies of requests.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::FromRequest,
    http::{HeaderMap, Request, StatusCode, header},
};
use serde::de::DeserializeOwned;

use crate::requests::read_json;

use super::{App, fault::Fault};

/// How long a client may take to send a body.
const BODY_TIME: Duration = Duration::from_secs(10);

/// A body in JSON, of the length and within the time that are allowed.
///
/// It has to say that it is JSON: a page of another origin cannot send such a request unless it is allowed to.
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for JsonBody<T> {
    type Rejection = Fault;

    async fn from_request(request: Request<Body>, app: &Arc<App>) -> Result<JsonBody<T>, Fault> {
        let (parts, body) = request.into_parts();
        if !says_json(&parts.headers) {
            let message = "expected a body in JSON and the header \"content-type: application/json\"";
            return Err(Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", message));
        }
        let bytes = read(body, &parts.headers, app.settings.body_limit).await?;
        Ok(JsonBody(read_json(&bytes, "body")?))
    }
}

fn says_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

async fn read(body: Body, headers: &HeaderMap, limit: usize) -> Result<Bytes, Fault> {
    let too_large = || {
        let message = format!("the body is longer than {limit} bytes");
        Fault::new(StatusCode::PAYLOAD_TOO_LARGE, "too_long", message)
    };
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY_TIME, axum::body::to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_length(&error) => Err(too_large()),
        // Whoever breaks off hardly reads this.
        Ok(Err(_)) => Err(Fault::new(StatusCode::BAD_REQUEST, "broken_body", "the body breaks off")),
        Err(_) => {
            let message = format!("the body took longer than {} s to come", BODY_TIME.as_secs());
            Err(Fault::new(StatusCode::REQUEST_TIMEOUT, "slow_body", message))
        }
    }
}

fn is_length(error: &axum::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.to_string().contains("length limit") {
            return true;
        }
        source = error.source();
    }
    false
}
