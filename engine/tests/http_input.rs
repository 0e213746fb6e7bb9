//! Every kind of input that was thought of, and what it is answered with. None is a fault of the server.

#![allow(clippy::unwrap_used, reason = "tests may")]

mod http_server;

use std::{
    io::Read,
    net::{Shutdown, TcpStream},
    thread,
    time::Duration,
};

use http_server::{Answer, Server, assert_fault};
use serde_json::{Value, json};

const START: &str = "p24=2&p19=-5&p17=-3&p13=5&p12=-5&p8=3&p6=5&p1=-2";
const JSON: &str = "content-type: application/json";

/// What is answered to bytes, if anything is.
fn answered(server: &Server, bytes: &[u8]) -> Option<Answer> {
    let mut client = server.connect();
    client.raw(bytes);
    client.receive()
}

#[test]
fn numbers_texts_and_forms() {
    let server = Server::plain(&[]);
    let nested = format!("{{\"pos\": {}", "[".repeat(100_000));
    let long = format!("{{\"action\": \"play\", \"play\": \"{}\"}}", "24/23 ".repeat(5_000));
    for (path, body, status, code) in [
        // Numbers that are none, or too large.
        ("/v1/move", r#"{"pos": "start", "dice": [NaN, 1]}"#, 400, "malformed"),
        ("/v1/move", r#"{"pos": "start", "dice": [1e400, 1]}"#, 400, "malformed"),
        ("/v1/move", r#"{"pos": "start", "dice": [1.5, 1]}"#, 400, "malformed"),
        ("/v1/move", r#"{"pos": "start", "dice": ["1", "2"]}"#, 400, "malformed"),
        ("/v1/move", r#"{"pos": "start", "dice": [9223372036854775808, 1]}"#, 400, "malformed"),
        ("/v1/move", r#"{"pos": "start", "dice": [9223372036854775807, 1]}"#, 422, "invalid_dice"),
        ("/v1/move", r#"{"pos": "start", "dice": [-1, 1]}"#, 422, "invalid_dice"),
        ("/v1/rollout", r#"{"pos": "start", "se": 1e400}"#, 400, "malformed"),
        ("/v1/rollout", r#"{"pos": "start", "se": 1e39}"#, 400, "malformed"),
        ("/v1/rollout", r#"{"pos": "start", "se": -0.0}"#, 422, "invalid_rollout"),
        ("/v1/rollout", r#"{"pos": "start", "confidence": 1.001}"#, 422, "invalid_rollout"),
        ("/v1/rollout", r#"{"pos": "start", "games": -1}"#, 400, "malformed"),
        ("/v1/rollout", r#"{"pos": "start", "seed": 18446744073709551616}"#, 400, "malformed"),
        // Cubes and scores that cannot be.
        ("/v1/cube", r#"{"pos": "start", "cube": {"value": 0}}"#, 422, "invalid_cube"),
        ("/v1/cube", r#"{"pos": "start", "cube": {"value": 4294967295}}"#, 422, "invalid_cube"),
        ("/v1/cube", r#"{"pos": "start", "cube": {"owner": "nobody"}}"#, 400, "malformed"),
        ("/v1/eval", r#"{"pos": "start", "match": {"length": -1, "score": [0, 0]}}"#, 400, "malformed"),
        ("/v1/eval", r#"{"pos": "start", "match": {"length": 32768, "score": [0, 0]}}"#, 422, "invalid_score"),
        ("/v1/eval", r#"{"pos": "start", "match": {"length": 4294967295, "score": [0, 0]}}"#, 422, "invalid_score"),
        ("/v1/eval", r#"{"pos": "start", "match": {"length": 5, "score": [0]}}"#, 400, "malformed"),
        (
            "/v1/eval",
            r#"{"pos": "start", "rules": "table", "match": {"length": 5, "score": [0, 0]}}"#,
            422,
            "invalid_stakes",
        ),
        // Positions that cannot be.
        ("/v1/eval", r#"{"pos": "//////////////"}"#, 422, "invalid_position"),
        ("/v1/eval", r#"{"pos": "AAAAAAAAAAAAAA"}"#, 422, "invalid_position"),
        ("/v1/eval", r#"{"pos": "4HPwATDgc/ABMA:////////////"}"#, 422, "invalid_position"),
        ("/v1/eval", r#"{"pos": "XGID=::::::::::::::::"}"#, 422, "invalid_position"),
        ("/v1/eval", r#"{"pos": "XGID=-b----E-C---eE---c-e----B-:99:0:1:00:0:0:0:0:10"}"#, 422, "invalid_position"),
        ("/v1/eval", r#"{"pos": "XGID=-b----E-C---eE---c-e----B-:0:0:1:77:0:0:0:0:10"}"#, 422, "invalid_position"),
        // Texts that are none, and JSON that is none.
        ("/v1/eval", r#"{"pos": "\ud800"}"#, 400, "malformed"),
        ("/v1/eval", "\u{feff}{\"pos\": \"start\"}", 400, "malformed"),
        ("/v1/eval", r#"{"pos": "start",}"#, 400, "malformed"),
        ("/v1/eval", r#"{"pos": "start", "id": NaN}"#, 400, "malformed"),
        ("/v1/eval", &nested, 400, "malformed"),
        ("/v1/batch", r#"{"requests": null}"#, 400, "malformed"),
        // Games that cannot be, and what cannot be done in those that are not there.
        ("/v1/games", r#"{"length": -5}"#, 400, "malformed"),
        ("/v1/games", r#"{"length": 1e400}"#, 400, "malformed"),
        ("/v1/games", r#"{"seed": -1}"#, 400, "malformed"),
        ("/v1/games", r#"{"highest_cube": 0}"#, 422, "invalid_cube"),
        ("/v1/games", r#"{"clock": 1}"#, 400, "malformed"),
        ("/v1/games", r#"{"clock": true, "rules": "tavla", "length": 3}"#, 422, "no_clock"),
        ("/v1/games/none/actions", &long, 404, "no_game"),
        ("/v1/games/none/actions", r#"{"action": "claim"}"#, 404, "no_game"),
        ("/v1/games/none/actions", r#"{"action": "roll", "version": -1}"#, 400, "malformed"),
        ("/v1/games/none/actions", r#"{"action": "resign", "points": 4294967296}"#, 400, "malformed"),
    ] {
        let what = format!("{path} {}", &body[..body.len().min(100)]);
        assert_fault(&server.connect().post(path, body), status, code, &what);
    }
    // The largest that can be have an answer in which every number is one.
    for score in ["[0, 32766]", "[32766, 0]"] {
        let body = format!("{{\"pos\": \"start\", \"match\": {{\"length\": 32767, \"score\": {score}}}}}");
        for path in ["/v1/eval", "/v1/cube"] {
            let answer = server.connect().post(path, &body);
            assert!(!answer.good().to_string().contains("null"), "{}", answer.text());
        }
    }
    assert_eq!(server.post("/v1/games", &json!({"automatic_doubles": 255, "seed": u64::MAX})).status, 201);
}

#[test]
fn paths_and_methods() {
    let server = Server::plain(&[]);
    for (method, path, status, code) in [
        ("GET", "/", 404, "not_found"),
        ("GET", "/v1/eval/", 404, "not_found"),
        ("GET", "/../etc/passwd", 404, "not_found"),
        ("GET", "/%2e%2e/", 404, "not_found"),
        ("GET", "/v1/games/%zz", 404, "no_game"),
        ("GET", "/v1/games/%ff", 400, "malformed"),
        ("GET", "/v1/games/%00", 404, "no_game"),
        ("GET", "/v1/games/none/actions?from=-1", 400, "malformed"),
        ("GET", "/v1/games/none/actions?from=18446744073709551616", 400, "malformed"),
        ("GET", "/v1/games/none/actions?from=1&from=2", 400, "malformed"),
        ("GET", "/v1/games/none/actions?other=1", 400, "malformed"),
        ("DELETE", "/v1/games/none", 404, "no_game"),
        // No method is answered but those there are.
        ("OPTIONS", "/v1/eval", 405, "wrong_method"),
        ("OPTIONS", "/healthz", 405, "wrong_method"),
        ("OPTIONS", "/v1/nothing", 404, "not_found"),
        ("PUT", "/v1/eval", 405, "wrong_method"),
        ("PATCH", "/v1/games/none", 405, "wrong_method"),
        ("TRACE", "/healthz", 405, "wrong_method"),
        ("BREW", "/v1/eval", 405, "wrong_method"),
        ("get", "/healthz", 405, "wrong_method"),
        ("DELETE", "/v1/games", 405, "wrong_method"),
    ] {
        let what = format!("{method} {path}");
        let answer = server.connect().ask(
            method,
            path,
            &["origin: https://example.org", "access-control-request-method: POST"],
            "",
        );
        assert_fault(&answer, status, code, &what);
        assert_eq!(answer.header("allow").is_some(), status == 405, "{what}");
        assert!(answer.headers.iter().all(|(name, _)| !name.starts_with("access-control")), "{what}: {answer:?}");
    }
    // Where other origins may ask, so may their browsers beforehand, and nobody else.
    let server = Server::plain(&["--cors", "https://example.org"]);
    let asked = server.connect().ask(
        "OPTIONS",
        "/v1/eval",
        &["origin: https://example.org", "access-control-request-method: POST"],
        "",
    );
    assert_eq!((asked.status, asked.header("access-control-allow-origin")), (200, Some("https://example.org")));
    assert_eq!(server.connect().ask("PUT", "/v1/eval", &[], "").status, 405);
    // HEAD is GET without a body.
    let mut client = server.connect();
    client.raw(b"HEAD /healthz HTTP/1.1\r\nhost: zar\r\n\r\nGET /healthz HTTP/1.1\r\nhost: zar\r\n\r\n");
    assert!(client.line().unwrap().contains("200"));
    while !client.line().unwrap().is_empty() {}
    assert_eq!(client.receive().unwrap().text(), "ok\n");
}

#[test]
fn bytes_that_are_hardly_http() {
    let server = Server::plain(&["--body-limit", "10000"]);
    let body = r#"{"pos": "start"}"#;
    let post = |headers: &str, body: &str| {
        format!("POST /v1/eval HTTP/1.1\r\nhost: zar\r\n{headers}\r\n\r\n{body}").into_bytes()
    };
    let get = |headers: &str| format!("GET /healthz HTTP/1.1\r\nhost: zar\r\n{headers}\r\n").into_bytes();
    let many: String = (0..1000).map(|number| format!("x{number}: 1\r\n")).collect();
    let chunks = format!("{}0\r\n\r\n", format!("1000\r\n{}\r\n", " ".repeat(4096)).repeat(4));
    let cases: Vec<(&str, Vec<u8>, &[u16])> = vec![
        ("a header of 100 kB", get(&format!("x: {}\r\n", "x".repeat(100_000))), &[431]),
        ("1000 headers", get(&many), &[431]),
        (
            "a path of 100 kB",
            format!("GET /{} HTTP/1.1\r\nhost: zar\r\n\r\n", "x".repeat(100_000)).into_bytes(),
            &[414, 431],
        ),
        ("a zero byte in a header", get("x: \0\r\n"), &[400]),
        ("a zero byte in the path", b"GET /\0 HTTP/1.1\r\nhost: zar\r\n\r\n".to_vec(), &[400]),
        ("a folded header", get("x: a\r\n b\r\n"), &[400]),
        ("a length that is no number", post(&format!("{JSON}\r\ncontent-length: x"), ""), &[400]),
        ("a negative length", post(&format!("{JSON}\r\ncontent-length: -1"), ""), &[400]),
        ("a length beyond all numbers", post(&format!("{JSON}\r\ncontent-length: 99999999999999999999"), ""), &[400]),
        ("a length beyond the limit", post(&format!("{JSON}\r\ncontent-length: 10001"), ""), &[413]),
        ("two lengths", post(&format!("{JSON}\r\ncontent-length: 2\r\ncontent-length: 3"), "{}"), &[400]),
        ("chunks beyond the limit", post(&format!("{JSON}\r\ntransfer-encoding: chunked"), &chunks), &[413]),
        ("a chunk that is none", post(&format!("{JSON}\r\ntransfer-encoding: chunked"), "zz\r\n"), &[400]),
        (
            "a chunk beyond all numbers",
            post(&format!("{JSON}\r\ntransfer-encoding: chunked"), "ffffffffffffffffff\r\n"),
            &[400],
        ),
        ("another encoding", post(&format!("{JSON}\r\ntransfer-encoding: gzip"), ""), &[400]),
        ("no content type", post(&format!("content-length: {}", body.len()), body), &[415]),
        (
            "a form",
            post(&format!("content-type: application/x-www-form-urlencoded\r\ncontent-length: {}", body.len()), body),
            &[415],
        ),
        ("HTTP/1.0", b"GET /healthz HTTP/1.0\r\n\r\n".to_vec(), &[200]),
        ("another version", b"GET /healthz HTTP/9.9\r\n\r\n".to_vec(), &[400]),
        ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec(), &[400]),
        ("an upgrade", get("connection: upgrade\r\nupgrade: websocket\r\n"), &[200]),
        (
            "a request within a request",
            post(
                &format!("{JSON}\r\ncontent-length: 4\r\ntransfer-encoding: chunked"),
                "0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",
            ),
            &[400],
        ),
    ];
    for (what, bytes, expected) in cases {
        let answer = answered(&server, &bytes).unwrap_or_else(|| panic!("{what}: no answer"));
        assert!(expected.contains(&answer.status), "{what}: {} {}", answer.status, answer.text());
    }
    // An end in the middle.
    for bytes in
        [&b"GET /hea"[..], b"GET /healthz HTTP/1.1\r\nhos", &post(&format!("{JSON}\r\ncontent-length: 100"), "{")]
    {
        let mut client = server.connect();
        client.raw(bytes);
        client.0.get_mut().shutdown(Shutdown::Write).unwrap();
        assert!(client.receive().is_none_or(|answer| answer.status == 400), "{bytes:?}");
    }
    // Many requests at once on one connection are answered in their order.
    let mut client = server.connect();
    let requests: String = (0..100)
        .map(|id| format!("{{\"pos\": \"start\", \"id\": {id}}}"))
        .map(|body| {
            format!("POST /v1/eval HTTP/1.1\r\nhost: zar\r\n{JSON}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        })
        .collect();
    client.raw(requests.as_bytes());
    for id in 0..100 {
        assert_eq!(client.receive().unwrap().good()["id"], id);
    }
    assert_eq!(server.get("/healthz").text(), "ok\n");
}

#[test]
fn wildbg_has_its_own_form_for_faults() {
    for (rules, query, message) in [
        ("backgammon", "x_away=1".to_owned(), "Expected x_away and o_away both 0, or both above."),
        ("backgammon", "x_away=-1&o_away=2".to_owned(), "The parameter x_away is \"-1\", expected a whole number."),
        ("backgammon", "x_away=32768&o_away=2".to_owned(), "A match to 32768 points, expected 1 to 32767."),
        (
            "backgammon",
            "x_away=4294967295&o_away=4294967295".to_owned(),
            "A match to 4294967295 points, expected 1 to 32767.",
        ),
        ("backgammon", "p25=1e400".to_owned(), "The parameter p25 is \"1e400\", expected a whole number."),
        ("backgammon", "p25=%31".to_owned(), "The parameter p25 is \"%31\", expected a whole number."),
        ("backgammon", "%70%31=1".to_owned(), "Unknown parameter \"%70%31\"."),
        ("backgammon", "p24=1".to_owned(), "The parameter \"p24\" occurs twice."),
        (
            "table",
            "x_away=2&o_away=3".to_owned(),
            "1-0 in a match to 3: there are no matches under table, expected a single game.",
        ),
        (
            "plain",
            "x_away=2&o_away=3".to_owned(),
            "1-0 in a match to 3: there are no matches under plain, expected a single game.",
        ),
    ] {
        let server = Server::plain(&["--rules", rules]);
        for path in ["/move?die1=3&die2=1&", "/eval?"] {
            let answer = server.get(&format!("{path}{START}&{query}"));
            assert_eq!((answer.status, answer.json()), (400, json!({"message": message})), "{rules} {path} {query}");
            assert_eq!(server.get(&format!("{path}{START}")).status, 200);
        }
    }
    // A whole query that is one.
    let server = Server::plain(&[]);
    let answer = server.get(&format!("/eval?{}", "p1=1&".repeat(2_000)));
    assert_eq!(answer.json(), json!({"message": "The parameter \"p1\" occurs twice."}));
}

/// More connections than there are places: those in excess wait, and are served when others leave.
#[test]
fn connections_in_excess_wait() {
    let server = Server::plain(&["--connections", "4"]);
    let mut held: Vec<TcpStream> = (0..12).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    thread::sleep(Duration::from_millis(100));
    let mut late = server.connect();
    late.0.get_mut().set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    late.raw(b"GET /healthz HTTP/1.1\r\nhost: zar\r\n\r\n");
    let mut byte = [0; 1];
    assert!(late.0.read(&mut byte).is_err(), "nobody has left yet");
    held.clear();
    late.0.get_mut().set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(late.receive().unwrap().text(), "ok\n");
}

/// What a stranger does to somebody else's turn, and with games of another kind.
#[test]
fn games_take_nothing_that_does_not_belong_to_them() {
    let server = Server::plain(&[]);
    let game = server.post("/v1/games", &json!({"seed": 3, "length": 5})).good();
    let acts = format!("/v1/games/{}/actions", game["id"].as_str().unwrap());
    for body in [
        json!({"action": "play", "play": "24/18(4)(4)"}),
        json!({"action": "play", "play": "bar/off"}),
        json!({"action": "play", "play": "25/0 0/25"}),
        json!({"action": "play", "play": "99999999999/1"}),
        json!({"action": "play", "play": "\u{0}"}),
        json!({"action": "play", "play": "13/11 6/5", "after": "4HPwATDgc/ABMA"}),
        json!({"action": "play", "after": ""}),
        json!({"action": "resign", "points": 0}),
        json!({"action": "resign", "points": u32::MAX}),
        json!({"action": "double", "points": 1}),
    ] {
        let answer = server.post(&acts, &body);
        assert_eq!(answer.status, 422, "{body}: {}", answer.text());
    }
    let mut same = server.get(acts.trim_end_matches("/actions")).good();
    same["actions"] = game["actions"].clone();
    assert_eq!(same, game);
    assert_eq!(same["stopped"], Value::Null);
}
