//! `zar ubgi` as a program: whole conversations, and how fast it listens while it thinks.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use zar::{
    board::{MatchPlayer, Position},
    rules::{Action, Dice, Match, MatchOptions, Phase, RuleSet},
};

/// Bear-off tables are built once for all tests.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");

/// The program with its two ends.
struct Ubgi {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Ubgi {
    fn start(options: &[&str]) -> Ubgi {
        let mut child = Command::new(env!("CARGO_BIN_EXE_zar"))
            .args(["ubgi", "--threads", "1", "--cache", CACHE])
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let input = child.stdin.take();
        let mut ubgi = Ubgi { child, input, lines };
        ubgi.send("isready");
        assert_eq!(ubgi.line(), "readyok");
        ubgi
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    /// The lines up to one that begins so.
    fn until(&self, beginning: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while !lines.last().is_some_and(|line: &String| line.starts_with(beginning)) {
            lines.push(self.line());
        }
        lines
    }

    /// What is answered to lines, up to what answers `isready` behind them.
    fn answers(&mut self, lines: &[&str]) -> Vec<String> {
        lines.iter().for_each(|line| self.send(line));
        self.send("isready");
        let mut answers = self.until("readyok");
        answers.pop();
        answers
    }

    fn ended(mut self) -> Option<i32> {
        drop(self.input.take());
        for _ in 0..1000 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end");
    }
}

impl Drop for Ubgi {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_handshake() {
    let mut ubgi = Ubgi::start(&["--level", "1ply"]);
    let lines = ubgi.answers(&["ubgi"]);
    assert_eq!(lines[0], "id name Zar");
    assert!(lines[1].starts_with("id author ") && lines[2].starts_with("id version ") && lines[3] == "proto 0.2");
    assert!(lines.contains(&"option name Threads type spin default 1 min 1 max 1024".to_owned()), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("key engine.ply int 0..3 1 ")), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "ubgiok");
    assert!(ubgi.answers(&["keys"]).iter().all(|line| line.starts_with("key ")));
    assert_eq!(
        ubgi.answers(&["get engine.ply", "set engine.ply 2", "get engine.level"]),
        ["value engine.ply 1", "value engine.level 2ply"]
    );
    assert_eq!(ubgi.answers(&["setoption name Threads value 2", "get Threads"]), ["value Threads 2"]);
    assert_eq!(ubgi.answers(&["get tea"]), ["error unsupported key tea"]);
    assert_eq!(ubgi.answers(&["set engine.ply 9"]), ["error bad_value engine.ply: \"9\", expected 0 to 3"]);
    ubgi.send("quit");
    assert_eq!(ubgi.ended(), Some(0));
}

#[test]
fn decisions_of_every_role() {
    let mut ubgi = Ubgi::start(&[]);
    let lines = ubgi.answers(&["newgame", "position gnubgid 4HPwATDgc/ABMA", "dice 3 1", "go role chequer"]);
    assert!(lines[0].starts_with("info role chequer depth 0 time_ms "), "{lines:?}");
    assert!(lines[0].ends_with(" pv 8/5 6/5") && lines[0].contains(" pwin 0.5"), "{lines:?}");
    assert!(lines[1].starts_with("eval eq 0.") && !lines[1].contains("mwc"), "{lines:?}");
    assert_eq!(&lines[2..], ["bestmove 8/5 6/5"]);
    // A repeated move is repeated, and each move stands by itself.
    assert_eq!(ubgi.answers(&["dice 3 3", "go"]).last().unwrap().split(' ').count(), 5);
    assert_eq!(ubgi.answers(&["dice 6 5", "go chequer"]).last().unwrap(), "bestmove 24/18 18/13");
    assert_eq!(ubgi.answers(&["go role cube"]).last().unwrap(), "bestcube nodouble");
    assert_eq!(ubgi.answers(&["go role turn"]).last().unwrap(), "bestturn cube=nodouble move=24/18 18/13");
    assert_eq!(
        ubgi.answers(&["set engine.move_id on", "dice 3 1", "go"])[2..],
        ["bestmove 8/5 6/5", "bestmoveid sGfwATDgc/ABMA"]
    );
    // On the bar against a closed board.
    let closed = ["set engine.move_id off", "position gnubgid 27YBAGAAAIAAAA", "dice 6 1", "go role chequer"];
    assert_eq!(ubgi.answers(&closed).last().unwrap(), "bestmove pass");
}

#[test]
fn the_cube_follows_the_score() {
    let mut ubgi = Ubgi::start(&[]);
    let strong = format!("position gnubgid {}", far_ahead());
    assert_eq!(ubgi.answers(&["newgame", &strong, "go role cube"]).last().unwrap(), "bestcube double");
    // The opponent holds the cube, or it is the Crawford game.
    assert_eq!(ubgi.answers(&["setcube value 2 owner p1", "go role cube"]).last().unwrap(), "bestcube nodouble");
    assert_eq!(ubgi.answers(&["setturn p1", "go role cube"]).last().unwrap(), "bestcube double");
    let session = ["newsession type match length 5", "setscore 4 2", &strong, "go role cube"];
    let crawford = ubgi.answers(&session);
    assert_eq!(crawford.last().unwrap(), "bestcube nodouble");
    assert!(crawford[0].contains(" mwc "), "{crawford:?}");
    let afterwards = ["setscore 4 3", "newgame", "setturn p1", &strong, "go role cube"];
    assert_eq!(ubgi.answers(&afterwards).last().unwrap(), "bestcube double");
    // A double that is offered.
    let offered = "position xgid XGID=-b----E-C---eE---c-e----B-:0:0:-1:D:2:1:0:7:10";
    assert_eq!(ubgi.answers(&[offered, "go role cube"]).last().unwrap(), "bestcube take");
}

/// The player on roll is far ahead in a race in which nobody can win a gammon: a double that is dropped.
fn far_ahead() -> Position {
    let mut points = [0i8; 26];
    (points[1], points[2], points[3], points[4]) = (4, 4, 4, 3);
    (points[13], points[14], points[17]) = (-4, -4, -2);
    Position::new(points).unwrap()
}

#[test]
fn what_is_wrong_has_a_code_and_the_conversation_goes_on() {
    let mut ubgi = Ubgi::start(&[]);
    for (line, expected) in [
        ("hello", "error unknown_command"),
        ("go role chequer", "error missing_context position"),
        ("position gnubgid nonsense", "error bad_argument invalid_position"),
        ("position xgid nonsense", "error bad_argument invalid_position"),
        ("dice 7 1", "error bad_argument dice"),
        ("setoption name Threads value 0", "error bad_value Threads"),
        ("set game.variant chess", "error bad_value game.variant"),
        ("newsession type match length 99999", "error bad_argument length"),
        ("setcube value 3 owner center", "error bad_argument cube"),
        ("setturn p2", "error bad_argument turn"),
        ("go role chequer nodes 5", "error unsupported_feature nodes"),
        ("board:nonsense", "sorry"),
        ("XGID=nonsense", "sorry"),
    ] {
        let answers = ubgi.answers(&[line]);
        assert!(answers.len() == 1 && answers[0].starts_with(expected), "{line}: {answers:?}");
    }
    assert_eq!(ubgi.answers(&["position gnubgid 4HPwATDgc/ABMA", "go"]), ["error missing_context dice"]);
    let long = "x".repeat(10_000);
    assert!(ubgi.answers(&[&long])[0].starts_with("error bad_argument line: longer than"));
    ubgi.input.as_mut().unwrap().write_all(b"\xff\xfe\n\n \r\n\0\n").unwrap();
    let answers = ubgi.answers(&[]);
    assert!(answers[0].starts_with("error bad_argument line: not UTF-8"), "{answers:?}");
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert!(answers.concat().bytes().all(|byte| !byte.is_ascii_control()), "{answers:?}");
    assert_eq!(ubgi.ended(), Some(0));
}

#[test]
fn the_first_draft_is_answered_with_the_action_alone() {
    let mut ubgi = Ubgi::start(&[]);
    let board = "board:zar:gnu:3:0:1:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:-1:4:2:4:2:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";
    assert_eq!(ubgi.answers(&[board]), ["8/4 6/4"]);
    let xgid = |dice: &str| format!("XGID=-b----E-C---eE---c-e----B-:0:0:1:{dice}:0:0:0:0:10");
    assert_eq!(ubgi.answers(&[&xgid("31"), &xgid("00"), &xgid("D")]), ["8/5 6/5", "roll", "take"]);
}

/// A board line does not say whether the Jacoby rule is on: the options say it, or the session.
#[test]
fn a_board_line_is_played_by_the_options() {
    // Too good to double, unless gammons count for nothing before.
    let board = "board:zar:gnu:0:0:0:-2:2:2:2:2:2:2:3:0:0:0:0:0:0:0:0:0:0:-6:0:0:0:-7:0:0:0:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";
    assert_eq!(Ubgi::start(&[]).answers(&[board]), ["roll"]);
    assert_eq!(Ubgi::start(&["--jacoby"]).answers(&[board]), ["double"]);
    let mut ubgi = Ubgi::start(&[]);
    assert_eq!(ubgi.answers(&["newsession type money jacoby on", board]), ["double"]);
    // Rules that have no such option are played without it.
    assert_eq!(ubgi.answers(&["set game.variant tavla", board]), ["roll"]);
}

#[test]
fn thinking_is_interrupted_at_once() {
    // A position with many plays, and no time to look at them all.
    let mut ubgi = Ubgi::start(&["--level", "rollout"]);
    let mut spent = Vec::new();
    for (role, delay) in [("chequer", 0), ("chequer", 40), ("cube", 40), ("turn", 150)] {
        ubgi.answers(&["newgame", "position gnubgid 4HPwATDgc/ABMA", "dice 1 1"]);
        ubgi.send(&format!("go role {role} trials 1000000"));
        thread::sleep(Duration::from_millis(delay));
        let begin = Instant::now();
        ubgi.send("isready");
        ubgi.until("readyok");
        spent.push(begin.elapsed());
        assert_eq!(
            ubgi.answers(&["go", "dice 3 1", "get engine.ply"])
                .iter()
                .filter(|line| line.starts_with("error search_in_progress"))
                .count(),
            2
        );
        let begin = Instant::now();
        ubgi.send("stop");
        let lines = ubgi.until("best");
        spent.push(begin.elapsed());
        assert!(lines.iter().any(|line| line.starts_with("eval ")), "{lines:?}");
        // Nothing comes after the answer, and the next question is answered.
        assert_eq!(ubgi.answers(&["stop", "go depth 0"]).last().unwrap().split(' ').next(), Some("bestmove"));
    }
    // Milliseconds, of which a busy machine may take more now and then.
    spent.sort();
    assert!(spent[spent.len() / 2] < Duration::from_millis(50) && spent[7] < Duration::from_millis(500), "{spent:?}");
}

#[test]
fn time_and_depth_are_limits() {
    let mut ubgi = Ubgi::start(&[]);
    ubgi.answers(&["newgame", "position gnubgid 4HPwATDgc/ABMA", "dice 2 1"]);
    ubgi.send("go role chequer depth 2");
    let depths: Vec<String> = ubgi
        .until("best")
        .iter()
        .filter_map(|line| line.split("depth ").nth(1)?.split(' ').next().map(str::to_owned))
        .collect();
    assert_eq!(depths, ["0", "1", "2"]);
    let begin = Instant::now();
    ubgi.send("go role chequer trials 10000000 movetime 200");
    ubgi.until("best");
    let spent = begin.elapsed();
    assert!((150..300).contains(&spent.as_millis()), "{spent:?}");
    // With time alone it looks ahead, unless somebody asked for another level.
    let looks_ahead = |ubgi: &mut Ubgi, expected: bool| {
        ubgi.send("go role chequer movetime 1000");
        assert_eq!(ubgi.until("best").iter().any(|line| line.contains("depth 1")), expected);
    };
    looks_ahead(&mut ubgi, true);
    ubgi.answers(&["set engine.ply 0"]);
    looks_ahead(&mut ubgi, false);
    let mut asked = Ubgi::start(&["--level", "0ply"]);
    asked.answers(&["position gnubgid 4HPwATDgc/ABMA", "dice 2 1"]);
    looks_ahead(&mut asked, false);
    // When the lines end, the last question is still answered; who quits has the best answer so far.
    ubgi.send("go role chequer depth 1");
    drop(ubgi.input.take());
    assert!(ubgi.until("best").iter().any(|line| line.contains("depth 1")));
    assert_eq!(ubgi.ended(), Some(0));
    let mut ubgi = Ubgi::start(&["--level", "rollout"]);
    ubgi.answers(&["position gnubgid 4HPwATDgc/ABMA", "dice 2 1"]);
    ubgi.send("go trials 10000000");
    ubgi.until("info");
    ubgi.send("quit");
    ubgi.until("bestmove ");
    assert_eq!(ubgi.ended(), Some(0));
    // Even when nothing has been found yet; and what follows is not heard any more.
    for lines in ["go role chequer\nquit", "go role chequer\nstop\nquit\nisready"] {
        let mut ubgi = Ubgi::start(&["--level", "3ply"]);
        ubgi.send(&format!("position gnubgid 4HPwATDgc/ABMA\ndice 3 1\n{lines}"));
        assert!(!ubgi.until("bestmove ").contains(&"readyok".to_owned()));
        assert_eq!(ubgi.ended(), Some(0));
    }
}

/// A match of two engines, one in each dialect, in which every answer is done by our own rules.
#[test]
fn two_play_a_match() {
    let mut players = [Ubgi::start(&[]), Ubgi::start(&[])];
    let mut game = Match::new(RuleSet::Backgammon, Some(3), MatchOptions::default()).unwrap();
    let mut state = 7u32;
    let mut die = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as u8 % 6 + 1
    };
    for player in &mut players {
        assert_eq!(player.answers(&["newsession type match length 3"]), [""; 0]);
    }
    while game.phase() != Phase::MatchOver {
        let on_roll = game.on_roll();
        let position = format!("position gnubgid {}:{}", game.position(), game.match_id());
        let ask = |players: &mut [Ubgi; 2], player: MatchPlayer, role: &str| {
            let go = if player == MatchPlayer::Zero { format!("go role {role}") } else { format!("go {role}") };
            let answers = players[player as usize].answers(&[&position, &go]);
            answers.last().unwrap_or_else(|| panic!("{position} {role}")).clone()
        };
        match game.phase() {
            Phase::Opening => drop(game.apply(on_roll, Action::Opening([die(), die()])).unwrap()),
            Phase::GameOver => drop(game.apply(on_roll, Action::NextGame).unwrap()),
            Phase::Roll => {
                let doubles = ask(&mut players, on_roll, "cube");
                let action = match doubles.as_str() {
                    "bestcube double" => Action::Double,
                    "bestcube nodouble" => Action::Roll(Dice::new(die(), die()).unwrap()),
                    other => panic!("{other}"),
                };
                game.apply(on_roll, action).unwrap_or_else(|error| panic!("{position}: {error}"));
            }
            Phase::Doubled => {
                let answer = ask(&mut players, on_roll.opponent(), "cube");
                let action = if answer == "bestcube take" { Action::Take } else { Action::Drop };
                assert!(["bestcube take", "bestcube drop"].contains(&answer.as_str()), "{answer}");
                game.apply(on_roll.opponent(), action).unwrap();
            }
            Phase::Play(dice) => {
                let answer = ask(&mut players, on_roll, "chequer");
                let moves = answer.strip_prefix("bestmove ").unwrap_or_else(|| panic!("{answer}"));
                let legal = game.position().parse_play(moves, dice, RuleSet::Backgammon);
                let after = legal.unwrap_or_else(|error| panic!("{position} {answer}: {error}")).after;
                game.apply(on_roll, Action::Play(after)).unwrap();
            }
            Phase::MatchOver => unreachable!(),
        }
    }
    assert!(game.scores().contains(&3) || game.scores().iter().any(|&score| score > 3));
}

/// Whatever is sent, every line has an answer, and the end of the input ends the program.
#[test]
fn hostile_lines_do_no_harm() {
    let mut ubgi = Ubgi::start(&[]);
    let long = "x".repeat(100_000);
    let nested = format!("board:{}", ":1".repeat(60));
    for (line, expected) in [
        (long.as_str(), "error bad_argument line: longer than 4096 bytes"),
        ("\u{0}\u{1}\u{7f}", "error unknown_command"),
        ("set engine.threads 99999999999", "error bad_value engine.threads"),
        ("set engine.seed -1", "error bad_value engine.seed"),
        ("set", "error bad_argument key"),
        ("setoption name value", "error bad_argument value"),
        ("setscore -1 -1", "error bad_argument score"),
        ("setcube value 4294967295 owner p0", "error bad_argument cube"),
        ("setcube value 0 owner center", "error bad_argument cube"),
        ("newsession type match length 0", "error bad_argument length"),
        ("newsession type match length 4294967295", "error bad_argument length"),
        ("dice 0 0", "error bad_argument dice"),
        ("dice 256 1", "error bad_argument dice"),
        ("go role chequer depth -1", "error bad_argument depth"),
        ("board:", "sorry"),
        (&nested, "sorry"),
        ("XGID=:::::::::", "sorry"),
        ("XGID=-b----F-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "sorry"),
    ] {
        let found = ubgi.answers(&[line]);
        let shown = &line[..line.len().min(50)];
        assert!(found.len() == 1 && found[0].starts_with(expected), "{shown}: {found:?}");
    }
    // The largest numbers that are taken.
    let start = "position gnubgid 4HPwATDgc/ABMA";
    let money = ["newsession type money", "setscore 4294967295 4294967295", start, "dice 3 1", "go"];
    assert_eq!(ubgi.answers(&money).last().unwrap(), "bestmove 8/5 6/5");
    let lopsided = ["newsession type match length 32767", "setscore 0 32766", start, "dice 3 1", "go", "go cube"];
    let answers = ubgi.answers(&lopsided);
    assert!(answers.iter().all(|line| !line.contains("NaN") && !line.contains("error")), "{answers:?}");
    assert!(ubgi.answers(&["go movetime 4294967295 depth 4294967295", "stop"]).len() < 50);
    assert_eq!(ubgi.ended(), Some(0));
    // An end in the middle of a line, and none of its bytes text.
    for input in [&b"ubg"[..], b"position gnubgid 4HPw", b"\xff\xfe\x00", &[b'x'; 100_000]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_zar"))
            .arg("ubgi")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{input:?}");
        assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1);
    }
}
