//! What the server does at its limits: rollouts beside other questions, clients that do not read, games without end.

#![allow(clippy::unwrap_used, reason = "tests may")]

mod http_server;

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use http_server::{Client, Server, assert_fault};
use serde_json::{Value, json};

/// A rollout that goes on until it is stopped, once it has told of itself.
fn endless(server: &Server, body: &Value) -> Client {
    let mut client = server.connect();
    client.send("POST", "/v1/rollout", &["content-type: application/json"], body.to_string().as_bytes());
    let status = client.line().unwrap();
    assert!(status.contains("200"), "{status}");
    while !client.line().unwrap().is_empty() {}
    let first: Value = serde_json::from_slice(&client.chunk().unwrap()).unwrap();
    assert!(first["progress"].is_object(), "{first}");
    client
}

/// The last line of a rollout.
fn last(client: &mut Client) -> Value {
    let lines = std::iter::from_fn(|| client.chunk());
    serde_json::from_slice(&lines.last().unwrap()).unwrap()
}

#[test]
fn rollouts_leave_the_threads_to_others() {
    let server = Server::plain(&["--threads", "1", "--time-limit", "10"]);
    let body = json!({"pos": "start", "games": 1_000_000});
    let rollout = endless(&server, &body);
    let mut client = server.connect();
    let mut slowest = Duration::ZERO;
    for level in ["0ply", "1ply", "2ply", "rollout"] {
        for path in ["/v1/move", "/v1/eval", "/v1/batch"] {
            let request = match path {
                "/v1/move" => json!({"pos": "start", "dice": [3, 1], "level": level}),
                "/v1/eval" if level == "rollout" => continue,
                "/v1/eval" => json!({"pos": "start", "level": level}),
                _ if level == "rollout" => continue,
                _ => json!({"requests": [{"pos": "start", "dice": [6, 5], "level": level}]}),
            };
            let began = Instant::now();
            let answer = client.post(path, &request.to_string()).good();
            // There is another place for a question that rolls out; it shares the processors.
            if level != "rollout" {
                assert!(answer.get("stopped").is_none(), "{level} {path}: {answer}");
                slowest = slowest.max(began.elapsed());
            }
        }
    }
    assert!(slowest < Duration::from_secs(3), "{slowest:?}");
    let mut game = client.post("/v1/games", r#"{"length": 1}"#).good();
    let acts = format!("/v1/games/{}/actions", game["id"].as_str().unwrap());
    for _ in 0..6 {
        let play = json!({"action": "play", "after": game["plays"][0]["after"]});
        let deed = if game["may"][0] == "play" { play } else { json!({"action": game["may"][0]}) };
        game = client.post(&acts, &deed.to_string()).good();
    }
    drop(rollout);
}

/// Whatever looks ahead leaves a worker to what does not.
#[test]
fn long_searches_leave_a_worker_to_quick_questions() {
    let server = Server::plain(&["--threads", "1", "--time-limit", "3"]);
    let slow =
        json!({"requests": vec![json!({"pos": "4HPwATDgc/ABMA", "dice": [6, 5], "level": "3ply"}); 20]}).to_string();
    let mut clients: Vec<Client> = (0..4).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send("POST", "/v1/batch", &["content-type: application/json"], slow.as_bytes());
    }
    thread::sleep(Duration::from_millis(200));
    let mut client = server.connect();
    for _ in 0..20 {
        let began = Instant::now();
        client.post("/v1/move", r#"{"pos": "start", "dice": [3, 1]}"#).good();
        assert!(began.elapsed() < Duration::from_millis(800), "{:?}", began.elapsed());
    }
    // Those that waited too long are told so; none is left without an answer.
    for client in &mut clients {
        let status = client.receive().unwrap().status;
        assert!(status == 200 || status == 503, "{status}");
    }
}

#[test]
fn a_server_that_is_told_to_end_ends_rollouts_with_what_they_have_found() {
    let mut server = Server::plain(&["--rollouts", "2", "--time-limit", "5"]);
    let mut clients = [
        json!({"pos": "start", "games": 1_000_000}),
        json!({"pos": "start", "games": 1_000_000, "dice": [3, 1], "confidence": 1}),
    ]
    .map(|body| endless(&server, &body));
    assert_fault(&server.post("/v1/rollout", &json!({"pos": "start"})), 429, "busy", "a third rollout");
    let began = Instant::now();
    server.signal("-TERM");
    for client in &mut clients {
        let line = last(client);
        assert_eq!(line["result"]["stopped"], true, "{line}");
        let games = line["result"]["games"].as_u64().or(line["result"]["plays"][0]["games"].as_u64()).unwrap();
        assert!((36..1_000_000).contains(&games), "{line}");
    }
    while server.process.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(5), "the server does not end");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(server.process.wait().unwrap().success());
    assert!(server.logs().contains("\"ended\""));
}

#[test]
fn rollouts_say_when_their_time_was_up() {
    let server = Server::plain(&["--rollout-limit", "8"]);
    let answer = server.post("/v1/rollout", &json!({"pos": "start", "games": 1_000_000}));
    let line: Value = serde_json::from_str(answer.text().lines().last().unwrap()).unwrap();
    assert_eq!(line["result"]["stopped"], true, "{line}");
    let answer = server.post("/v1/rollout", &json!({"pos": "start", "games": 72}));
    let line: Value = serde_json::from_str(answer.text().lines().last().unwrap()).unwrap();
    assert_eq!(line["result"].get("stopped"), None, "{line}");
}

/// A client that asks for more than the system keeps for it, and reads nothing.
#[test]
fn clients_that_do_not_read_are_given_up() {
    let server = Server::plain(&["--connections", "1"]);
    let request = r#"{"pos": "start", "dice": [1, 1]}"#;
    let body = format!("{{\"requests\": [{}]}}", vec![request; 1000].join(","));
    let ask = format!(
        "POST /v1/batch HTTP/1.1\r\nhost: zar\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut client = server.connect();
    client.0.get_mut().set_write_timeout(Some(Duration::from_secs(5))).unwrap();
    for _ in 0..20 {
        client.raw(ask.as_bytes());
    }
    let began = Instant::now();
    // The only place is free again.
    assert_eq!(server.get("/healthz").text(), "ok\n");
    let waited = began.elapsed();
    assert!((20..60).contains(&waited.as_secs()), "{waited:?}");
}

/// Connections on which nothing is asked, or only slowly, are closed.
#[test]
fn slow_requests_are_given_up() {
    let server = Server::plain(&[]);
    let began = Instant::now();
    let begin = |bytes: &'static [u8], drip: &'static [u8]| {
        let mut client = server.connect();
        thread::spawn(move || {
            client.raw(bytes);
            client.0.get_ref().set_read_timeout(Some(Duration::from_secs(1))).unwrap();
            let mut read = [0; 1000];
            loop {
                match std::io::Read::read(&mut client.0, &mut read) {
                    Ok(0) => return began.elapsed(),
                    Ok(_) => {}
                    Err(error)
                        if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) =>
                    {
                        client.raw(drip)
                    }
                    Err(_) => return began.elapsed(),
                }
                assert!(began.elapsed() < Duration::from_secs(60), "{bytes:?}");
            }
        })
    };
    let slow = [
        begin(b"", b""),
        begin(b"GET /healthz HTTP/1.1\r\nhost: zar\r\n\r\n", b""),
        begin(b"GET /healthz HTTP/1.1\r\n", b"x"),
        begin(b"", b"\r\n"),
        // Bodies that nobody reads.
        begin(b"POST /v1/nothing HTTP/1.1\r\nhost: zar\r\ncontent-length: 100000\r\n\r\n", b"x"),
        begin(b"GET /healthz HTTP/1.1\r\nhost: zar\r\ncontent-length: 100000\r\n\r\n", b"x"),
        begin(b"GET /healthz HTTP/1.1\r\nhost: zar\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        begin(b"POST /v1/eval HTTP/1.1\r\nhost: zar\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    ];
    for client in slow {
        let took = client.join().unwrap();
        assert!(took < Duration::from_secs(50), "{took:?}");
    }
}

#[test]
fn a_bot_that_had_no_more_time_says_so() {
    let server = Server::plain(&["--time-limit", "1", "--threads", "1"]);
    // With this seed the client begins, with 2-1.
    let begun = server.post("/v1/games", &json!({"length": 5, "seed": 3, "level": "rollout"})).good();
    assert!(begun.get("stopped").is_none(), "{begun}");
    let acts = format!("/v1/games/{}/actions", begun["id"].as_str().unwrap());
    let answer = server.post(&acts, &json!({"action": "play", "play": "13/11 6/5"}));
    // A busy machine may have no answer in time at all.
    if answer.status != 503 {
        assert_eq!(answer.good()["stopped"], true);
    }
}

#[test]
fn games_with_a_clock_say_what_is_left() {
    let server = Server::plain(&[]);
    let refused = server.post("/v1/games", &json!({"clock": true}));
    assert_fault(&refused, 422, "no_clock", "rules without a clock");
    let game = server.post("/v1/games", &json!({"rules": "table", "clock": true})).good();
    assert_eq!(game["clock"]["you"], 90_000);
    assert!(game["clock"]["turn"].as_u64().unwrap() <= 11_000, "{game}");
    let acts = format!("/v1/games/{}/actions", game["id"].as_str().unwrap());
    assert_fault(&server.post(&acts, &json!({"action": "claim"})), 409, "not_allowed", "a flag that has not fallen");
    let plain = server.post("/v1/games", &json!({"rules": "table"})).good();
    assert_eq!(plain["clock"], Value::Null);
    let acts = format!("/v1/games/{}/actions", plain["id"].as_str().unwrap());
    let refused = server.post(&acts, &json!({"action": "claim"}));
    assert_fault(&refused, 409, "not_allowed", "no clock");
    assert!(refused.text().contains("no clock"));
}

#[test]
fn games_in_memory_are_said_to_be_lost() {
    let folder = tempfile::tempdir().unwrap();
    for (games, kept) in [(Path::new("none"), false), (&*folder.path().join("games"), true)] {
        let mut server = Server::start(games, &[]);
        let text = server.get("/openapi.json").good()["info"]["description"].to_string();
        assert_eq!(text.contains("in memory alone"), !kept, "{text}");
        server.signal("-TERM");
        let logs = server.logs();
        let warned =
            logs.lines().any(|line| line.contains("\"WARN\"") && line.contains("games are kept in memory alone"));
        assert_eq!(warned, !kept, "{logs}");
    }
}
