//! The description of all that can be asked, made from the handlers, and a page that shows it.

use std::sync::Arc;

use axum::{
    Router,
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use utoipa::openapi::{
    ContactBuilder, InfoBuilder, LicenseBuilder, OpenApi,
    security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme},
};

use super::{App, Settings, fault::Fault};

const ABOUT: &str = "\
A backgammon engine. Positions are seen by the player on roll. Equities are per unit of the cube, EMG in a match. A request \
that is at fault is answered with what was expected (`error`), a `code` that does not change between releases, and the \
`request_id` by which it is found in the logs, which is in the header `x-request-id` of every answer too. Status 429 and 503 \
say in `retry-after` in how many seconds to try again: 429 where too much waits already, 503 where the time of a request was up, \
there is no room for more games, or the server is shutting down.";
/// What becomes of games.
const KEPT: &str = " Games are kept over restarts of this server.";
const NOT_KEPT: &str = " This server keeps games in memory alone: they end with it.";

/// The document and the page.
pub fn routes(mut document: OpenApi, settings: &Settings) -> Router<Arc<App>> {
    let about = [ABOUT, if settings.games.is_some() { KEPT } else { NOT_KEPT }].concat();
    document.info = InfoBuilder::new()
        .title("Zar")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(about))
        .license(Some(LicenseBuilder::new().name(env!("CARGO_PKG_LICENSE")).build()))
        .contact(None::<ContactBuilder>.map(ContactBuilder::build))
        .build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    // Needed where the server has a token.
    document.security = Some(vec![SecurityRequirement::default(), SecurityRequirement::new("token", [""; 0])]);
    let text: Arc<str> = document.to_json().unwrap_or_default().into();
    let document = move || {
        let text = Arc::clone(&text);
        async move {
            match text.is_empty() {
                true => Fault::internal().into_response(),
                false => ([(header::CONTENT_TYPE, "application/json")], text.to_string()).into_response(),
            }
        }
    };
    Router::new()
        .route("/openapi.json", get(document))
        .route("/docs", get(|| page("text/html; charset=utf-8", include_str!("docs.html"))))
        .route("/docs.js", get(|| page("text/javascript; charset=utf-8", include_str!("docs.js"))))
}

/// A file that a browser may use with nothing but what this server sends.
async fn page(kind: &'static str, text: &'static str) -> Response {
    const POLICY: HeaderName = HeaderName::from_static("content-security-policy");
    let policy = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; \
                  base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static(kind)), (POLICY, HeaderValue::from_static(policy))];
    (headers, text).into_response()
}
