//! What every request goes through: a name, the token, the logs, and faults in their shape.

use std::{
    any::Any,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use axum::{
    Router,
    body::Body,
    extract::{MatchedPath, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use tower_http::{
    catch_panic::CatchPanicLayer,
    cors::{AllowOrigin, CorsLayer},
};
use tracing::info;

use super::{App, Origins, fault::Fault};

/// The header with the name of a request.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What is open to those who do not know the token: it says nothing that the program's manual does not.
const OPEN: [&str; 5] = ["/docs", "/docs.js", "/healthz", "/openapi.json", "/readyz"];

/// When a request began.
#[derive(Clone, Copy)]
pub struct Began(pub Instant);

/// The routes behind all that.
pub fn guarded(routes: Router<Arc<App>>, app: &Arc<App>) -> Router {
    let routes = routes
        .fallback(no_such_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(Arc::clone(app), check_token));
    let routes = match cross_origin(&app.settings.origins) {
        Some(layer) => routes.layer(layer),
        None => routes,
    };
    routes
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(Arc::clone(app), attend))
        .with_state(Arc::clone(app))
}

async fn no_such_path() -> Fault {
    Fault::new(
        StatusCode::NOT_FOUND,
        "not_found",
        "there is nothing at this path: /docs shows what there is, /openapi.json tells programs",
    )
}

async fn wrong_method(method: Method) -> Fault {
    let message = format!("{method} is not possible here: the header \"allow\" says what is");
    Fault::new(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", message)
}

/// Says nothing of the panic to the client; the hook has written it to the logs.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    Fault::internal().into_response()
}

/// What answers to pages of other origins, and to browsers that ask beforehand (`OPTIONS`); `None` where nobody may ask.
fn cross_origin(origins: &Origins) -> Option<CorsLayer> {
    let origins = match origins {
        Origins::These(origins) if origins.is_empty() => return None,
        Origins::These(origins) => AllowOrigin::list(origins.iter().cloned()),
        Origins::Any => AllowOrigin::any(),
    };
    let layer = CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers([header::AUTHORIZATION, header::CONTENT_TYPE, REQUEST_ID])
        .expose_headers([REQUEST_ID, header::RETRY_AFTER]);
    Some(layer)
}

async fn check_token(State(app): State<Arc<App>>, request: Request<Body>, next: Next) -> Response {
    let open = OPEN.contains(&request.uri().path());
    match &app.settings.token {
        Some(token) if !open && !bears(request.headers(), token) => {
            let message = "expected the header \"authorization: Bearer\" with the server's token";
            Fault::new(StatusCode::UNAUTHORIZED, "unauthorized", message).into_response()
        }
        _ => next.run(request).await,
    }
}

/// Whether the token is there; takes the same time wherever it differs.
fn bears(headers: &HeaderMap, token: &str) -> bool {
    let value = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let Some((scheme, given)) = value.split_at_checked("Bearer ".len()) else { return false };
    let differs = given.iter().zip(token.as_bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
    scheme.eq_ignore_ascii_case(b"Bearer ") && given.len() == token.len() && differs == 0
}

/// Names the request, and completes and records what is answered.
async fn attend(State(app): State<Arc<App>>, mut request: Request<Body>, next: Next) -> Response {
    let began = Instant::now();
    let id = named(request.headers()).unwrap_or_else(fresh_name);
    let method = request.method().clone();
    // Games are known to those alone who know their names, so that paths have no place in the logs.
    let path = request.extensions().get::<MatchedPath>().map_or_else(|| "none".into(), |path| path.as_str().to_owned());
    request.extensions_mut().insert(Began(began));
    let mut left = WhenLeft { app: &app, method: &method, path: &path, id: &id, began, answered: false };
    let mut response = next.run(request).await;
    left.answered = true;
    let fault = response.extensions_mut().remove::<Fault>();
    let code = fault.as_ref().map(Fault::code);
    if let Some(fault) = fault {
        response = fault.fill(response, &id);
    }
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    let (status, took) = (response.status().as_u16(), began.elapsed());
    app.metrics.record(&method, &path, status, took);
    let milliseconds = took.as_secs_f64() * 1e3;
    info!(request_id = %id, %method, path, status, code, milliseconds, "answered");
    response
}

/// Says in the logs that a client has left before the answer.
struct WhenLeft<'a> {
    app: &'a App,
    method: &'a Method,
    path: &'a str,
    id: &'a str,
    began: Instant,
    answered: bool,
}

/// What the metrics count where there was nobody to answer.
const CLIENT_LEFT: u16 = 499;

impl Drop for WhenLeft<'_> {
    fn drop(&mut self) {
        if !self.answered {
            let took = self.began.elapsed();
            self.app.metrics.record(self.method, self.path, CLIENT_LEFT, took);
            let (method, path, milliseconds) = (self.method, self.path, took.as_secs_f64() * 1e3);
            info!(request_id = %self.id, %method, path, milliseconds, "the client has left");
        }
    }
}

/// The name that the client gives the request, if it can stand in a log.
fn named(headers: &HeaderMap) -> Option<String> {
    const LONGEST: usize = 64;
    let name = headers.get(REQUEST_ID)?.to_str().ok()?;
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    (plain && (1..=LONGEST).contains(&name.len())).then(|| name.to_owned())
}

/// A name that no other request has.
fn fresh_name() -> String {
    static FIRST: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{:016x}", FIRST.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_opens() {
        let opens = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::from_static(value));
            bears(&headers, "secret")
        };
        assert!(opens("Bearer secret") && opens("bearer secret"));
        for wrong in
            ["", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "Bearer Secret", "Basic secret", "secret"]
        {
            assert!(!opens(wrong), "{wrong}");
        }
        assert!(!bears(&HeaderMap::new(), "secret"));
    }

    #[test]
    fn names_are_plain_and_differ() {
        let name = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_static(value));
            named(&headers)
        };
        assert_eq!(name("a-1.B_2"), Some("a-1.B_2".into()));
        assert_eq!((name(""), name("a b"), name("a\"b")), (None, None, None));
        assert_ne!(fresh_name(), fresh_name());
    }
}
