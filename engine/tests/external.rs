//! `zar external` as a program, without GNU Backgammon: what it was asked by it, and what no honest client sends.
#![allow(clippy::unwrap_used, reason = "a test")]

mod served;

use std::{
    io::Write,
    net::{Shutdown, TcpListener},
    process::Command,
    time::Duration,
};

use served::Server;
use zar::{
    board::{CubeOwner, FibsBoard},
    bot::{Bot, Level, Valuation},
    net::Model,
    rules::{Dice, MoneyOptions, RuleSet},
    serve::{
        Answer,
        external::{Conversation, Reply},
    },
};

const BOARDS: &str = include_str!("../../tests/data/gnubg_external_boards.txt");

/// A play of 42 at the start; player 0 is on roll.
const OPENING: &str = "board:zar:gnu:3:0:1:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:-1:4:2:4:2:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";

/// The answer must be one that the board allows.
fn check(line: &str, answer: &str) {
    let board: FibsBoard = line.parse().unwrap();
    match (board.dice, board.doubled) {
        _ if answer.starts_with("resign ") => assert!(!board.doubled, "{line}: {answer}"),
        (Some([first, second]), _) => {
            let dice = Dice::new(first, second).unwrap();
            let legal = board.position.parse_play(answer, dice, RuleSet::Backgammon);
            assert!(legal.is_ok(), "{line}: {answer}: {legal:?}");
        }
        (None, true) => assert!(["take", "drop"].contains(&answer), "{line}: {answer}"),
        (None, false) => {
            assert!(["roll", "double"].contains(&answer), "{line}: {answer}");
            assert!(answer == "roll" || !board.crawford && board.cube.owner() != CubeOwner::Opponent, "{line}");
        }
    }
}

#[test]
fn what_gnubg_has_asked_is_answered() {
    let server = Server::start(&[]);
    let mut client = server.connect();
    for line in BOARDS.lines() {
        let answer = client.ask(line);
        check(line, &answer);
    }
    assert_eq!(client.ask(OPENING), "8/4 6/4");
    // What is told of a question may come after its answer, but comes before the next one's.
    client.ask(OPENING);
    let told = server.told();
    assert!(!told.contains("Error"), "{told}");
    assert!(told.contains("4HPwATDgc/ABMA player 0 rolled 4-2, 0-1 to 3, cube 1 Centered: 8/4 6/4"), "{told}");
}

#[test]
fn a_refused_offer_to_resign_is_not_repeated() {
    // Player 0 has borne off 14 checkers and player 1, who is on roll, none of his last eight.
    let mut fields: Vec<String> = OPENING.split(':').map(str::to_owned).collect();
    for (field, value) in (6..32).map(|field| (field, 0)).chain([
        (30, -1),
        (12, 8),
        (32, 1),
        (45, 7),
        (46, 14),
        (33, 2),
        (34, 1),
        (35, 2),
        (36, 1),
    ]) {
        fields[field] = value.to_string();
    }
    let lost = fields.join(":");
    let server = Server::start(&[]);
    let mut client = server.connect();
    assert_eq!(client.ask(&lost), "resign normal");
    for _ in 0..2 {
        check(&lost, &client.ask(&lost));
        assert!(!client.ask(&lost).starts_with("resign"));
    }
    // The next game.
    fields[5] = "2".to_owned();
    assert_eq!(client.ask(&fields.join(":")), "resign normal");
}

#[test]
fn whatever_is_wrong_is_answered_in_one_line_and_the_conversation_goes_on() {
    let server = Server::start(&[]);
    let mut client = server.connect();
    let with = |field: usize, text: &str| {
        let mut fields: Vec<&str> = OPENING.split(':').collect();
        fields[field] = text;
        fields.join(":")
    };
    for (line, expected) in [
        ("hello".to_owned(), "Error (\"hello\" is no board line"),
        ("board:".to_owned(), "Error (a board line has 53 fields"),
        (with(20, "16"), "Error (field 20 of the board line is 16"),
        (with(20, "1"), "Error (the opponent has 16 checkers"),
        (with(33, "7"), "Error (the dice 7-2 and 4-2"),
        (with(37, "3"), "Error (the cube shows 3"),
        (with(4, "3"), "Error (at 3-1 a match to 3 points is over"),
        (with(52, "0"), "Error (a Crawford game"),
        (with(3, "99999999999999999999"), "Error (field 3 of the board line is \"99999999999999999999\""),
        ("x".repeat(5000), "Error (the line is longer than 4096 bytes"),
        ("GET / HTTP/1.1".to_owned(), "Error (\"GET / HTTP/1.1\" is no board line"),
    ] {
        let answer = client.ask(&line);
        assert!(answer.starts_with(expected) && answer.ends_with(')'), "{line}: {answer}");
        assert_eq!(client.ask(OPENING), "8/4 6/4", "{line}");
    }
    for bytes in [&b"\xff\xfe\x00\x01board\n"[..], b"board:\x1b[2J\r\n", b"\0\0 \t\0x\n"] {
        client.send(bytes);
        let answer = client.line();
        assert!(answer.starts_with("Error (") && !answer.contains(char::is_control), "{answer:?}");
    }
    // Empty lines are nothing, and names may be in any encoding.
    client.send(b"\n\r\n\0\n");
    client.send(&[b"board:\xe9:\xff", &OPENING.as_bytes()["board:zar:gnu".len()..], b"\r\n"].concat());
    assert_eq!(client.line(), "8/4 6/4");
}

#[test]
fn clients_do_not_disturb_each_other() {
    let server = Server::start(&[]);
    let (mut one, mut two) = (server.connect(), server.connect());
    // One stops in the middle of a line, sends the rest later, and others come and go.
    let (first, rest) = OPENING.split_at(40);
    one.send(first.as_bytes());
    for _ in 0..5 {
        let mut third = server.connect();
        third.send(&[0xff; 10_000]);
        drop(third);
        let mut fourth = server.connect();
        fourth.send(first.as_bytes());
        fourth.stream.shutdown(Shutdown::Write).unwrap();
        assert!(fourth.rest().starts_with("Error (a board line has 53 fields"));
        assert_eq!(two.ask(OPENING), "8/4 6/4");
    }
    one.send(rest.as_bytes());
    one.send(b"\n");
    assert_eq!(one.line(), "8/4 6/4");
    // Lines that come together are answered one by one.
    two.send(format!("{OPENING}\n\0{OPENING}\n\0").as_bytes());
    assert_eq!((two.line(), two.line()), ("8/4 6/4".to_owned(), "8/4 6/4".to_owned()));
}

#[test]
fn there_is_a_limit_to_connections() {
    let server = Server::start(&[]);
    let mut clients: Vec<_> = (0..64).map(|_| server.connect()).collect();
    assert!(clients.iter_mut().all(|client| client.ask(OPENING) == "8/4 6/4"));
    assert_eq!(server.connect().rest(), "Error (too many connections)\n");
    clients.pop();
    // The place is free once the server has noticed.
    let free = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        let mut client = server.connect();
        let _ = client.stream.write_all(format!("{OPENING}\n").as_bytes());
        client.line_if_any() == "8/4 6/4"
    });
    assert!(free);
}

#[test]
fn an_address_that_cannot_be_had_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    for (address, status) in
        [(taken.local_addr().unwrap().to_string(), 1), ("nonsense".to_owned(), 2), (String::new(), 2)]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_zar"))
            .args(["external", &address, "--cache", served::CACHE])
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains(&format!("cannot listen on {address:?}")) && error.contains("expected"), "{error}");
    }
    let options = ["external", "127.0.0.1:0", "--rules", "tavla", "--jacoby", "--cache", served::CACHE];
    let output = Command::new(env!("CARGO_BIN_EXE_zar")).args(options).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// Player 0 has doubled wrongly, and player 1 has beavered.
#[test]
fn a_beaver_is_answered() {
    let bot = Bot::new(Model::shipped(), Level::ZeroPly, RuleSet::Backgammon).unwrap();
    let mut conversation = Conversation::new(bot.clone(), MoneyOptions::default());
    let beavers: Vec<FibsBoard> = BOARDS
        .lines()
        .map(|line| line.parse().unwrap())
        .filter(|board: &FibsBoard| board.doubled && board.cube.owner() == CubeOwner::Opponent)
        .collect();
    assert_eq!(beavers.len(), 2);
    for board in &beavers {
        // He is hardly behind: half of what is at stake is too much to give.
        assert_eq!(conversation.reply(board), Ok(Reply::Answer(Answer::Take)));
        let mut points = *board.position.points();
        // Player 0's last checkers are far from home, and player 1 has one checker left.
        points.iter_mut().for_each(|count| *count = 0);
        (points[24], points[23], points[20]) = (1, 5, -1);
        let hopeless = FibsBoard { position: zar::board::Position::new(points).unwrap(), ..*board };
        assert!(bot.clone().evaluate(&hopeless.position, Valuation::default()).cubeless.0 < -0.5);
        assert_eq!(conversation.reply(&hopeless), Ok(Reply::Answer(Answer::Drop)));
    }
}
