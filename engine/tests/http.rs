//! `zar serve` as its clients see it: whole servers, asked over the network.

#![allow(clippy::unwrap_used, reason = "tests may")]

mod http_server;

use std::{
    io::Write,
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use http_server::{Answer, Client, Server, assert_fault};
use serde_json::{Value, json};

const START: &str = "p24=2&p19=-5&p17=-3&p13=5&p12=-5&p8=3&p6=5&p1=-2";
/// What `zar decide` answers to requests.
fn decided(requests: &[Value]) -> Vec<Value> {
    let mut process = Command::new(env!("CARGO_BIN_EXE_zar"))
        .args(["decide", "--threads", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = requests.iter().map(|request| format!("{request}\n")).collect();
    process.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = process.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn answers_are_those_of_decide() {
    let server = Server::plain(&[]);
    let mut requests = Vec::new();
    for pos in [
        "start",
        "sGfwATDgc/ABMA",
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10",
        "4HPwATDgc/ABMA:cAkAAAAAAAAE",
    ] {
        for level in ["0ply", "1ply"] {
            for rules in ["backgammon", "tavla", "plain"] {
                let mut more = vec![
                    json!({"pos": pos, "dice": [6, 5], "level": level, "rules": rules, "cubeful": false}),
                    json!({"pos": pos, "want": "eval", "level": level, "rules": rules, "cubeful": false}),
                ];
                if rules != "plain" {
                    more.push(
                        json!({"pos": pos, "level": level, "rules": rules, "match": {"length": 5, "score": [1, 3]}}),
                    );
                    more.push(json!({"pos": pos, "level": level, "rules": rules, "dice": [1, 1]}));
                }
                requests.append(&mut more);
            }
        }
    }
    let expected = decided(&requests);
    let batch = server.post("/v1/batch", &json!({"requests": requests})).good();
    assert_eq!(batch["answers"].as_array().unwrap(), &expected);
    let mut client = server.connect();
    for (request, expected) in requests.iter().zip(expected) {
        let path = match (request.get("dice"), request.get("want")) {
            (Some(_), _) => "/v1/move",
            (None, Some(_)) => "/v1/eval",
            (None, None) => "/v1/cube",
        };
        assert_eq!(client.post(path, &request.to_string()).good(), expected, "{request}");
    }
    let named = client.post("/v1/eval", r#"{"pos": "start", "id": {"any": [1, "thing"]}}"#).good();
    assert_eq!(named["id"], json!({"any": [1, "thing"]}));
    assert_eq!(client.post("/v1/batch", r#"{"requests": []}"#).good(), json!({"answers": []}));
}

#[test]
fn wildbg_clients_are_understood() {
    let server = Server::plain(&[]);
    let moves = server.get(&format!("/move?die1=3&die2=1&{START}")).good();
    let best = &moves["moves"][0];
    assert_eq!(best["play"], json!([{"from": 8, "to": 5}, {"from": 6, "to": 5}]));
    let names: Vec<&String> = best["probabilities"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["loseBg", "loseG", "win", "winBg", "winG"]);
    assert_eq!(moves["moves"].as_array().unwrap().len(), 16);
    assert_eq!(moves.as_object().unwrap().len(), 1);
    // A closed board: nothing is legal.
    let shut = server.get("/move?die1=3&die2=1&p25=1&p24=-2&p23=-2&p22=-2&p21=-2&p20=-2&p19=-2").good();
    assert_eq!((shut["moves"].as_array().unwrap().len(), &shut["moves"][0]["play"]), (1, &json!([])));
    let value = server.get(&format!("/eval?{START}&x_away=0&o_away=0")).good();
    assert_eq!(value["cube"], json!({"double": false, "accept": true}));
    assert!(value["probabilities"]["win"].as_f64().unwrap() > 0.5);
    // In a match to one point there is nothing to double.
    let last = server.get(&format!("/eval?{START}&x_away=1&o_away=1")).good();
    assert_eq!(last["cube"]["double"], json!(false));
    for (path, message) in [
        ("/move?die1=0&die2=1&p1=1", "Dice values must be between 1 and 6."),
        ("/move?die1=7&die2=1&p1=1", "Dice values must be between 1 and 6."),
        ("/move?p1=1", "The parameters die1 and die2 are missing, expected a roll."),
        ("/move?die1=x&die2=1&p1=1", "The parameter die1 is \"x\", expected a whole number."),
        ("/move?die1=1&die2=1&p3=16", "The player on roll has 16 checkers on the board, expected at most 15."),
        ("/eval", "Both players have borne off all their checkers."),
        ("/eval?p1=1", "The game is over."),
        ("/eval?px=1", "Unknown parameter \"px\"."),
        ("/eval?p1=1&p24=-1&die1=1", "Unknown parameter \"die1\"."),
    ] {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.json()), (400, json!({"message": message})), "{path}");
    }
}

#[test]
fn bad_input_is_answered_with_what_was_expected() {
    let server = Server::plain(&["--body-limit", "10000", "--batch-limit", "3"]);
    let deep = format!("{{\"pos\": {}1{}}}", "[".repeat(3000), "]".repeat(3000));
    let deep_id = format!("{{\"pos\": \"start\", \"id\": {}1{}}}", "[".repeat(3000), "]".repeat(3000));
    let huge = format!("{{\"pos\": \"{}\"}}", "x".repeat(20_000));
    let long = format!("{{\"pos\": \"{}\"}}", "x".repeat(5_000));
    let many = json!({"requests": [1, 2, 3, 4]}).to_string();
    let sixteen = "XGID=-b----F-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10";
    let sixteen = json!({"pos": sixteen}).to_string();
    for (path, body, status, code) in [
        ("/v1/eval", "", 400, "malformed"),
        ("/v1/eval", "{", 400, "malformed"),
        ("/v1/eval", "[]", 400, "malformed"),
        ("/v1/eval", "{}", 400, "malformed"),
        ("/v1/eval", r#"{"pos": 1}"#, 400, "malformed"),
        ("/v1/eval", r#"{"pos": "start", "colour": "red"}"#, 400, "malformed"),
        ("/v1/eval", r#"{"pos": "start", "pos": "start"}"#, 400, "malformed"),
        ("/v1/eval", r#"{"pos": "start"} {}"#, 400, "malformed"),
        ("/v1/eval", &deep, 400, "malformed"),
        ("/v1/eval", &huge, 413, "too_long"),
        ("/v1/eval", &long, 422, "invalid_position"),
        ("/v1/eval", &sixteen, 422, "invalid_position"),
        ("/v1/eval", r#"{"pos": "nonsense"}"#, 422, "invalid_position"),
        ("/v1/eval", r#"{"pos": "AAAA3q8AAAAAAA"}"#, 422, "game_over"),
        ("/v1/eval", r#"{"pos": "start", "dice": [3, 1]}"#, 422, "unexpected_dice"),
        ("/v1/eval", r#"{"pos": "start", "want": "move"}"#, 422, "other_want"),
        ("/v1/eval", r#"{"pos": "start", "rules": "chess"}"#, 422, "unknown_rules"),
        ("/v1/eval", r#"{"pos": "start", "level": "9ply"}"#, 422, "unknown_level"),
        ("/v1/move", r#"{"pos": "start"}"#, 422, "missing_dice"),
        ("/v1/move", r#"{"pos": "start", "dice": [0, 1]}"#, 422, "invalid_dice"),
        ("/v1/move", r#"{"pos": "start", "dice": [7, 1]}"#, 422, "invalid_dice"),
        ("/v1/move", r#"{"pos": "start", "dice": [1]}"#, 400, "malformed"),
        ("/v1/move", r#"{"pos": "start", "dice": [1, 1e99]}"#, 400, "malformed"),
        ("/v1/cube", r#"{"pos": "start", "cube": {"value": 3}}"#, 422, "invalid_cube"),
        ("/v1/cube", r#"{"pos": "start", "cube": {"value": 2, "owner": "opponent"}}"#, 422, "no_cube_decision"),
        ("/v1/cube", r#"{"pos": "start", "cubeful": false}"#, 422, "no_cube_decision"),
        ("/v1/cube", r#"{"pos": "start", "rules": "table"}"#, 422, "no_cube_decision"),
        ("/v1/cube", r#"{"pos": "start", "match": {"length": 5, "score": [5, 0]}}"#, 422, "invalid_score"),
        ("/v1/cube", r#"{"pos": "start", "match": {"length": 0, "score": [0, 0]}}"#, 422, "invalid_score"),
        (
            "/v1/cube",
            r#"{"pos": "start", "match": {"length": 5, "score": [1, 1], "crawford": true}}"#,
            422,
            "invalid_score",
        ),
        ("/v1/cube", r#"{"pos": "start", "rules": "tavla", "beavers": true}"#, 422, "invalid_stakes"),
        ("/v1/batch", r#"{"requests": {}}"#, 400, "malformed"),
        ("/v1/batch", &many, 413, "too_long"),
        ("/v1/rollout", r#"{"pos": "start", "games": 1}"#, 422, "invalid_rollout"),
        ("/v1/rollout", r#"{"pos": "start", "se": 0}"#, 422, "invalid_rollout"),
        ("/v1/rollout", r#"{"pos": "start", "confidence": 0.2}"#, 422, "invalid_rollout"),
        ("/v1/rollout", r#"{"pos": "start", "turns": 0}"#, 422, "invalid_rollout"),
        ("/v1/rollout", r#"{"pos": "start", "dice": [0, 1]}"#, 422, "invalid_dice"),
        ("/v1/games", r#"{"length": 0}"#, 422, "invalid_length"),
        ("/v1/games", r#"{"length": 99999}"#, 422, "invalid_length"),
        ("/v1/games", r#"{"length": 5, "rules": "table"}"#, 422, "invalid_length"),
        ("/v1/games", r#"{"length": 5, "beavers": true}"#, 422, "invalid_stakes"),
        ("/v1/games", r#"{"highest_cube": 3}"#, 422, "invalid_cube"),
        ("/v1/games", r#"{"automatic_doubles": 1000}"#, 400, "malformed"),
        ("/v1/games", r#"{"rules": "chess"}"#, 422, "unknown_rules"),
        ("/v1/games", r#"{"level": "god"}"#, 422, "unknown_level"),
        ("/v1/games/none/actions", r#"{"action": "roll"}"#, 404, "no_game"),
        ("/v1/games/none/actions", r#"{"action": "cheat"}"#, 400, "malformed"),
        ("/v1/nothing", "{}", 404, "not_found"),
        ("/healthz", "{}", 405, "wrong_method"),
    ] {
        let what = format!("{path} {}", &body[..body.len().min(100)]);
        assert_fault(&server.connect().post(path, body), status, code, &what);
    }
    assert_eq!(server.connect().post("/v1/eval", &deep_id).status, 200, "what an id holds is never looked at");
    let mut client = server.connect();
    client.send("POST", "/v1/eval", &["content-type: application/json"], b"{\"pos\": \"\xe9\"}");
    assert_fault(&client.receive().unwrap(), 400, "not_utf8", "invalid UTF-8");
    let plain = server.connect().ask("POST", "/v1/eval", &["content-type: text/plain"], "{}");
    assert_fault(&plain, 415, "not_json", "a page of another origin");
    let missing = server.get("/v1/games/none");
    assert_fault(&missing, 404, "no_game", "a game that does not exist");
    let escaped = server.get("/v1/games/%2e%2e%2f%2e%2e%2fetc%2fpasswd");
    assert_fault(&escaped, 404, "no_game", "a path");
    assert_fault(&server.get("/v1/games/%ff"), 400, "malformed", "a name that is not UTF-8");
    let from = server.get("/v1/games/none/actions?from=x");
    assert_fault(&from, 400, "malformed", "a number that is none");
    let wrong = server.get("/v1/eval");
    assert_fault(&wrong, 405, "wrong_method", "GET");
    assert_eq!(wrong.header("allow"), Some("POST"));
    // In a batch a fault stands in its place.
    let body = json!({"requests": [{"pos": "start"}, {"pos": "start", "dice": [0, 1]}, 7]});
    let answers = server.post("/v1/batch", &body).good();
    assert_eq!(answers["answers"][0]["action"], "no-double");
    assert_eq!(answers["answers"][1], json!({"error": "a die shows 1 to 6, not 0", "code": "invalid_dice"}));
    assert_eq!(answers["answers"][2]["code"], "malformed");
    // What is not HTTP does no harm.
    for bytes in [&b"\x16\x03\x01\x02\x00"[..], b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n\r\nnonsense\r\n\r\n"] {
        let mut client = server.connect();
        client.raw(bytes);
        client.0.get_mut().shutdown(std::net::Shutdown::Write).unwrap();
        assert!(client.receive().is_none_or(|answer| answer.status == 400));
    }
    let mut client = server.connect();
    client.raw(format!("GET /healthz HTTP/1.1\r\nhost: zar\r\nx: {}\r\n\r\n", "x".repeat(100_000)).as_bytes());
    assert!(client.receive().is_none_or(|answer| answer.status == 431));
    assert_eq!(server.get("/healthz").text(), "ok\n");
}

#[test]
fn slow_bodies_are_given_up() {
    let server = Server::plain(&[]);
    let mut client = server.connect();
    client
        .raw(b"POST /v1/eval HTTP/1.1\r\nhost: zar\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{");
    let began = Instant::now();
    assert_fault(&client.receive().unwrap(), 408, "slow_body", "a slow body");
    assert!((9..20).contains(&began.elapsed().as_secs()));
}

#[test]
fn a_full_queue_is_said_and_others_are_answered_in_time() {
    let server = Server::plain(&["--queue", "2", "--time-limit", "5"]);
    // A second each, if nothing stops them; four at most are taken, two of which wait.
    let slow = json!({"pos": "4HPwATDgc/ABMA", "dice": [6, 5], "level": "rollout"}).to_string();
    let mut clients: Vec<Client> = (0..8).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.send("POST", "/v1/move", &["content-type: application/json"], slow.as_bytes());
        thread::sleep(Duration::from_millis(10));
    }
    let answers: Vec<Answer> = clients.iter_mut().map(|client| client.receive().unwrap()).collect();
    let refused: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert!(!refused.is_empty(), "{:?}", answers.iter().map(|answer| answer.status).collect::<Vec<_>>());
    for answer in refused {
        assert_fault(answer, 429, "busy", "a full queue");
        assert!(answer.header("retry-after").unwrap().parse::<u32>().unwrap() >= 1);
    }
    let answered = answers.iter().filter(|answer| answer.status == 200).count();
    assert!(answered >= 2, "{answered}");
    assert_eq!(server.post("/v1/eval", &json!({"pos": "start"})).status, 200);
}

#[test]
fn searches_end_with_their_time_and_with_their_clients() {
    let server = Server::plain(&["--time-limit", "1"]);
    let slow = json!({"pos": "4HPwATDgc/ABMA", "dice": [6, 5], "level": "3ply"});
    let began = Instant::now();
    let answer = server.post("/v1/move", &slow).good();
    assert!(began.elapsed() < Duration::from_secs(4));
    assert_eq!(answer["plays"].as_array().unwrap().len(), 7);
    let busy = |server: &Server| {
        let text = server.get("/metrics").text().to_owned();
        text.lines().find_map(|line| line.strip_prefix("zar_rollouts_busy ")).unwrap().parse::<u32>().unwrap()
    };
    let mut client = server.connect();
    let long = json!({"pos": "start", "games": 1_000_000}).to_string();
    client.send("POST", "/v1/rollout", &["content-type: application/json"], long.as_bytes());
    let line = client.line().unwrap();
    assert!(line.contains("200"), "{line}");
    while !client.line().unwrap().is_empty() {}
    let first: Value = serde_json::from_slice(&client.chunk().unwrap()).unwrap();
    assert!(first["progress"]["games_left"].as_u64().unwrap() > 900_000, "{first}");
    assert_eq!(busy(&server), 1);
    // The only place for rollouts is taken.
    assert_fault(&server.post("/v1/rollout", &json!({"pos": "start"})), 429, "busy", "a second rollout");
    drop(client);
    let began = Instant::now();
    while busy(&server) > 0 {
        assert!(began.elapsed() < Duration::from_secs(10), "the rollout goes on without its client");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn rollouts_answer_as_the_command_does() {
    let server = Server::plain(&[]);
    for (body, arguments) in [
        (json!({"pos": "start", "games": 144}), vec!["start", "--games", "144"]),
        (json!({"pos": "start", "games": 144, "dice": [3, 1]}), vec!["start", "31", "--games", "144"]),
        (json!({"pos": "start", "games": 144, "want": "cube"}), vec!["start", "--cube", "--games", "144"]),
    ] {
        let answer = server.post("/v1/rollout", &body);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/x-ndjson")));
        let last: Value = serde_json::from_str(answer.text().lines().last().unwrap()).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_zar"))
            .args(["rollout", "--json", "--threads", "1"])
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(last["result"], serde_json::from_slice::<Value>(&output.stdout).unwrap(), "{body}");
    }
    // When the time is up, there is a result all the same.
    let server = Server::plain(&["--rollout-limit", "10"]);
    let answer = server.post("/v1/rollout", &json!({"pos": "start", "games": 1_000_000}));
    let last: Value = serde_json::from_str(answer.text().lines().last().unwrap()).unwrap();
    assert!((100..1_000_000).contains(&last["result"]["games"].as_u64().unwrap()), "{last}");
}

#[test]
fn tokens_origins_and_names_of_requests() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "0123456789abcdef\n").unwrap();
    let server = Server::plain(&["--token-file", file.to_str().unwrap(), "--cors", "https://example.org"]);
    let ask = |headers: &[&str]| {
        let headers = [headers, &["content-type: application/json"]].concat();
        server.connect().ask("POST", "/v1/eval", &headers, r#"{"pos": "start"}"#)
    };
    for headers in [&[][..], &["authorization: Bearer 0123456789abcdeX"], &["authorization: Basic 0123456789abcdef"]] {
        let answer = ask(headers);
        assert_fault(&answer, 401, "unauthorized", "no token");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    assert_fault(&server.get("/metrics"), 401, "unauthorized", "metrics");
    assert_fault(&server.get("/move"), 401, "unauthorized", "wildbg");
    for path in ["/healthz", "/readyz", "/openapi.json", "/docs", "/docs.js"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    let answer =
        ask(&["authorization: Bearer 0123456789abcdef", "x-request-id: mine-7", "origin: https://example.org"]);
    assert_eq!((answer.status, answer.header("x-request-id")), (200, Some("mine-7")));
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://example.org"));
    let answer = ask(&["authorization: Bearer 0123456789abcdef", "origin: https://example.com"]);
    assert_eq!(answer.header("access-control-allow-origin"), None);
    let asked_before = ["origin: https://example.org", "access-control-request-method: POST"];
    assert_eq!(server.connect().ask("OPTIONS", "/v1/eval", &asked_before, "").status, 200);
    let closed = Server::plain(&[]);
    let answer = closed.connect().ask("GET", "/healthz", &["origin: https://example.org"], "");
    assert!(answer.headers.iter().all(|(name, _)| !name.starts_with("access-control")), "{answer:?}");
    let secret = Server::start_with(Path::new("none"), &[], &[("ZAR_TOKEN", "fedcba9876543210")]);
    assert_eq!(secret.get("/metrics").status, 401);
}

#[test]
fn the_document_describes_what_there_is() {
    let server = Server::plain(&[]);
    let document = server.get("/openapi.json").good();
    assert_eq!(document["openapi"], "3.1.0");
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    assert_eq!(
        paths,
        [
            "/eval",
            "/healthz",
            "/metrics",
            "/move",
            "/readyz",
            "/v1/batch",
            "/v1/cube",
            "/v1/eval",
            "/v1/games",
            "/v1/games/{id}",
            "/v1/games/{id}/actions",
            "/v1/move",
            "/v1/rollout"
        ]
    );
    // Whatever is referred to is there.
    let text = document.to_string();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for part in text.split("\"#/components/schemas/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(schemas.contains_key(name), "{name}");
    }
    let page = server.get("/docs");
    assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"));
    server.get("/v1/nothing");
    let metrics = server.get("/metrics").text().to_owned();
    assert!(
        metrics.contains("zar_http_request_seconds_count{path=\"/docs\",method=\"GET\",status=\"200\"} 1"),
        "{metrics}"
    );
    assert!(metrics.contains("{path=\"none\",method=\"GET\",status=\"404\"} 1"), "{metrics}");
}

/// What a simple player does: the first that is possible, and no doubles.
fn simple(state: &Value) -> Value {
    match state["may"][0].as_str().unwrap() {
        "play" => json!({"action": "play", "after": state["plays"][0]["after"]}),
        action => json!({"action": action}),
    }
}

#[test]
fn whole_matches_are_played() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("games"), &[]);
    let mut client = server.connect();
    for body in [
        json!({"length": 3, "seed": 1}),
        json!({"rules": "tavla", "length": 2, "level": "casual"}),
        json!({"rules": "tavla2004", "length": 2}),
        json!({"rules": "table"}),
        json!({"rules": "plain"}),
        json!({"beavers": true, "jacoby": true, "automatic_doubles": 2, "highest_cube": 8}),
    ] {
        let answer = client.post("/v1/games", &body.to_string());
        assert_eq!(answer.status, 201, "{}", answer.text());
        let mut state = answer.json();
        let id = state["id"].as_str().unwrap().to_owned();
        assert_eq!(answer.header("location"), Some(&*format!("/v1/games/{id}")));
        let path = format!("/v1/games/{id}/actions");
        let mut deeds = state["actions"].as_array().unwrap().clone();
        let matched = !state["length"].is_null();
        while state["over"] == false && (matched || state["game"].as_u64().unwrap() < 3) {
            assert!(state["turn"] == "you" || state["result"].is_object(), "{state}");
            state = client.post(&path, &simple(&state).to_string()).good();
            deeds.extend(state["actions"].as_array().unwrap().iter().cloned());
        }
        if matched {
            let length = state["length"].as_u64().unwrap();
            let best = state["score"]["you"].as_u64().unwrap().max(state["score"]["bot"].as_u64().unwrap());
            assert!(best >= length && state["may"] == json!([]), "{state}");
            assert_fault(&client.post(&path, r#"{"action": "roll"}"#), 409, "not_expected", "after the match");
        }
        // What is kept is what was told.
        let kept = client.ask("GET", &path, &[], "").good();
        let first = deeds.len().min(1000);
        assert_eq!(kept["actions"].as_array().unwrap(), &deeds[..first]);
        let numbers: Vec<u64> = deeds.iter().map(|deed| deed["version"].as_u64().unwrap()).collect();
        assert!(numbers.into_iter().eq(1..=deeds.len() as u64));
        let last = client.ask("GET", &format!("{path}?from={}", deeds.len()), &[], "").good();
        assert_eq!(last["actions"], json!([deeds.last().unwrap()]));
        assert_eq!(client.ask("DELETE", &format!("/v1/games/{id}"), &[], "").status, 204);
        assert_fault(&client.ask("GET", &path, &[], ""), 404, "no_game", "a game that is forgotten");
    }
}

#[test]
fn actions_out_of_turn_change_nothing() {
    let server = Server::plain(&["--most-games", "2"]);
    let mut client = server.connect();
    // With this seed the client begins, with 2-1.
    let begun = client.post("/v1/games", r#"{"length": 5, "seed": 3}"#).good();
    assert_eq!(
        (&begun["turn"], &begun["dice"], &begun["may"]),
        (&json!("you"), &json!([2, 1]), &json!(["play", "resign"]))
    );
    let path = format!("/v1/games/{}", begun["id"].as_str().unwrap());
    let acts = format!("{path}/actions");
    for (body, status, code) in [
        (r#"{"action": "roll"}"#, 409, "not_expected"),
        (r#"{"action": "double"}"#, 409, "not_expected"),
        (r#"{"action": "take"}"#, 409, "not_expected"),
        (r#"{"action": "drop"}"#, 409, "not_expected"),
        (r#"{"action": "beaver"}"#, 409, "not_expected"),
        (r#"{"action": "accept"}"#, 409, "not_expected"),
        (r#"{"action": "refuse"}"#, 409, "not_expected"),
        (r#"{"action": "next"}"#, 409, "not_expected"),
        (r#"{"action": "opening"}"#, 409, "not_expected"),
        (r#"{"action": "claim"}"#, 409, "not_allowed"),
        (r#"{"action": "play"}"#, 422, "illegal_play"),
        (r#"{"action": "play", "play": "24/18"}"#, 422, "illegal_play"),
        (r#"{"action": "play", "play": "nonsense"}"#, 422, "illegal_play"),
        (r#"{"action": "play", "after": "4HPwATDgc/ABMA"}"#, 422, "illegal_play"),
        (r#"{"action": "play", "after": "x"}"#, 422, "invalid_position"),
        (r#"{"action": "roll", "play": "24/23"}"#, 422, "other_action"),
        (r#"{"action": "take", "points": 1}"#, 422, "other_action"),
        (r#"{"action": "resign"}"#, 422, "missing_points"),
        (r#"{"action": "resign", "points": 4}"#, 422, "invalid_points"),
        (r#"{"action": "play", "play": "13/11 6/5", "version": 9}"#, 409, "other_version"),
    ] {
        let answer = client.post(&acts, body);
        assert_fault(&answer, status, code, body);
    }
    // Nobody is told what dice would have come.
    let early = client.post(&acts, r#"{"action": "roll"}"#).text().to_owned();
    assert!(early.contains("player 1 cannot roll now: expected player 1 to play 21"), "{early}");
    let mut same = client.ask("GET", &path, &[], "").good();
    same["actions"] = begun["actions"].clone();
    assert_eq!(same, begun);
    let gone_on = client.post(&acts, r#"{"action": "play", "play": "13/11 6/5", "version": 1}"#).good();
    assert_eq!(gone_on["actions"][0]["play"], "13/11 6/5");
    assert_eq!(gone_on["actions"][1]["by"], "bot");
    // A resignation is answered by the bot.
    let given_up = client.post(&acts, r#"{"action": "resign", "points": 3}"#).good();
    assert_eq!(given_up["actions"].as_array().unwrap().last().unwrap()["action"], "accept");
    assert_eq!((&given_up["score"]["bot"], &given_up["may"]), (&json!(3), &json!(["next"])));
    let dropped = client.post(&acts, r#"{"action": "next"}"#).good();
    assert_eq!(dropped["game"], 2);
    assert_eq!(client.post("/v1/games", "{}").status, 201);
    let full = client.post("/v1/games", "{}");
    assert_fault(&full, 503, "too_many_games", "no room");
    // A day after something was last done in a game, another may take its place.
    assert!((86_000..=86_400).contains(&full.header("retry-after").unwrap().parse::<u32>().unwrap()), "{full:?}");
}

/// The same seed and the same actions give the same game, over a restart too.
#[test]
fn dice_are_those_of_the_game() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games");
    let mut games = Vec::new();
    for restart in [false, true] {
        let mut server = Server::start(&file, &[]);
        let mut state = server.post("/v1/games", &json!({"seed": 11})).good();
        let path = format!("/v1/games/{}/actions", state["id"].as_str().unwrap());
        let mut deeds = state["actions"].as_array().unwrap().clone();
        for turn in 0..12 {
            if restart && turn == 6 {
                drop(server);
                server = Server::start(&file, &[]);
            }
            state = server.post(&path, &simple(&state)).good();
            deeds.extend(state["actions"].as_array().unwrap().iter().cloned());
        }
        games.push(deeds);
    }
    assert_eq!(games[0], games[1]);
}

/// Kills the server in the middle of a stream of actions, and looks at what the next one knows.
///
/// A request that was not answered may have been done or not, but it is done whole or not at all.
#[test]
fn a_killed_server_has_lost_nothing_that_it_answered() {
    let kills: u32 = std::env::var("ZAR_KILLS").map_or(3, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games");
    let mut server = Server::start(&file, &[]);
    let mut state = server.post("/v1/games", &json!({})).good();
    let id = state["id"].as_str().unwrap().to_owned();
    let (path, acts) = (format!("/v1/games/{id}"), format!("/v1/games/{id}/actions"));
    // What has been answered.
    let mut told = state["actions"].as_array().unwrap().clone();
    let (mut answered, mut found_done) = (0, 0);
    for kill in 0..kills {
        let mut client = server.connect();
        let wait = Duration::from_micros(u64::from(kill) * 7_919 % 60_000 + 5_000);
        let id = server.process.id();
        let killer = thread::spawn(move || {
            thread::sleep(wait);
            assert!(Command::new("kill").args(["-KILL", &id.to_string()]).status().unwrap().success());
        });
        let mut wanted;
        loop {
            wanted = simple(&state);
            wanted["version"] = state["version"].clone();
            client.send("POST", &acts, &["content-type: application/json"], wanted.to_string().as_bytes());
            let Some(answer) = client.receive() else { break };
            state = answer.good();
            told.extend(state["actions"].as_array().unwrap().iter().cloned());
            answered += 1;
        }
        killer.join().unwrap();
        drop(server);
        server = Server::start(&file, &[]);
        let mut kept = Vec::new();
        loop {
            let more = server.get(&format!("{acts}?from={}", kept.len() + 1)).good();
            let more = more["actions"].as_array().unwrap();
            kept.extend(more.iter().cloned());
            if more.len() < 1000 {
                break;
            }
        }
        let now = server.get(&path).good();
        assert_eq!(now["version"].as_u64().unwrap(), kept.len() as u64);
        assert_eq!(&kept[..told.len()], &told, "an answered action is lost after {kill} kills");
        if kept.len() > told.len() {
            // The action that was under way, and what followed from it, up to the client's next decision.
            assert_eq!(
                (&kept[told.len()]["action"], kept[told.len()]["by"].as_str()),
                (&wanted["action"], (wanted["action"] != "next").then_some("you"))
            );
            assert!(kept[told.len() + 1..].iter().all(|deed| deed["by"] != "you"));
            found_done += 1;
        }
        // Made again, it is done once.
        let again = server.post(&acts, &wanted);
        match kept.len() > told.len() {
            true => assert_fault(&again, 409, "other_version", "an action that was done"),
            false => kept.extend(again.good()["actions"].as_array().unwrap().iter().cloned()),
        }
        told = kept;
        state = server.get(&path).good();
    }
    println!("{kills} kills, {answered} actions answered, {found_done} done without an answer");
    // A busy machine may answer nothing between two kills.
    assert!(answered > 0);
}

#[test]
fn a_server_that_is_told_to_end_finishes_what_runs() {
    let mut server = Server::plain(&["--time-limit", "20"]);
    let mut client = server.connect();
    let slow = json!({"pos": "4HPwATDgc/ABMA", "dice": [6, 5], "level": "2ply"}).to_string();
    let batch = format!("{{\"requests\": [{}]}}", vec![slow; 40].join(","));
    client.send("POST", "/v1/batch", &["content-type: application/json"], batch.as_bytes());
    let mut idle = server.connect();
    assert_eq!(idle.ask("GET", "/readyz", &[], "").status, 200);
    thread::sleep(Duration::from_millis(50));
    server.signal("-TERM");
    let answers = client.receive().unwrap().good();
    assert!(answers["answers"].as_array().unwrap().iter().all(|answer| answer["play"].is_string()), "{answers}");
    let began = Instant::now();
    let status = loop {
        match server.process.try_wait().unwrap() {
            Some(status) => break status,
            None => assert!(began.elapsed() < Duration::from_secs(5), "the server does not end"),
        }
        thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success(), "{status}");
    assert!(TcpStream::connect(&server.address).is_err());
    let logs = server.logs();
    let lines: Vec<Value> = logs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["path"] == "/v1/batch" && line["status"] == 200), "{logs}");
    assert_eq!(lines.last().unwrap()["message"], "ended");
}

#[test]
fn servers_that_cannot_start_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games");
    let server = Server::start(&file, &[]);
    std::fs::write(folder.path().join("text"), "no database").unwrap();
    std::fs::write(folder.path().join("short"), "short").unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (arguments, status, expected) in [
        (vec![server.address.clone(), "--games".into(), "none".into()], 1, "cannot listen on 127.0.0.1"),
        (vec!["127.0.0.1:0".into(), "--games".into(), at("games")], 1, "already open"),
        (vec!["127.0.0.1:0".into(), "--games".into(), at("text")], 1, "cannot keep games in"),
        (vec!["127.0.0.1:0".into(), "--games".into(), at("")], 1, "expected a regular file"),
        (vec!["example.org:80".into()], 2, "expected an address and a port"),
        (vec!["0".into(), "--token-file".into(), at("short")], 2, "expected 16 to 1024 printable ASCII characters"),
        (vec!["0".into(), "--token-file".into(), at("missing")], 2, "cannot read"),
        (vec!["0".into(), "--cors".into(), "example.org".into()], 2, "expected an origin"),
        (vec!["0".into(), "--time-limit".into(), "0".into()], 2, "time-limit"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_zar"))
            .arg("serve")
            .args(&arguments)
            .args(["--log", "off"])
            .output()
            .unwrap();
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {complaint}");
        assert!(complaint.starts_with("zar: ") && complaint.lines().count() == 1, "{complaint}");
        assert!(complaint.contains(expected), "{arguments:?}: {complaint}");
    }
}
