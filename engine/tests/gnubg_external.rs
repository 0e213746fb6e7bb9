//! GNU Backgammon itself against `zar external`: it must be here, and every action of the matches it exports is done again
//! by our own rules.
#![allow(clippy::unwrap_used, reason = "a test")]

mod served;

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use served::Server;
use zar::{
    board::MatchPlayer::{self, One, Zero},
    rules::{Action, Dice, Event, Match, MatchOptions, MoneyOptions, Phase, RuleSet},
};

const RULES: RuleSet = RuleSet::Backgammon;

/// Debian puts it where most users' PATH does not lead.
fn gnubg() -> &'static str {
    ["/usr/games/gnubg", "/usr/bin/gnubg", "/usr/local/bin/gnubg"]
        .into_iter()
        .find(|path| Path::new(path).exists())
        .expect("GNU Backgammon is to be installed (package gnubg)")
}

/// Has GNU Backgammon play `games` commands with our bot in `seat`, and gives the match that it exports.
fn played(server: &Server, seat: MatchPlayer, seed: u32, plies: u8, length: Option<u32>, games: u32) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let kind = length.map_or("money".to_owned(), |length| length.to_string());
    let file = folder.join(format!("{}-{kind}-{}-{seed}.mat", std::process::id(), seat as u8));
    let (own, other) = (seat as u8, seat.opponent() as u8);
    let begin = match length {
        Some(length) => format!("set automatic game on\nnew match {length}\n"),
        None => "set automatic game off\nnew session\n".to_owned() + &"new game\n".repeat(games as usize - 1),
    };
    let script = format!(
        "set threads 1\nset automatic roll on\nset automatic move off\nset automatic bearoff off\nset confirm new off\n\
         set display off\nset player {own} external {address}\nset player {other} gnubg\n\
         set player {other} chequerplay evaluation plies {plies}\nset player {other} cubedecision evaluation plies {plies}\n\
         set beavers 0\nset jacoby on\nset rng mersenne\nset seed {seed}\n{begin}export match mat {file}\n",
        address = server.address,
        file = file.display(),
    );
    let mut child = Command::new(gnubg())
        .args(["-t", "-q"])
        .env("HOME", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let limit = Instant::now() + Duration::from_secs(400);
    let mut stdout = child.stdout.take().unwrap();
    let output = thread::spawn(move || std::io::read_to_string(&mut stdout).unwrap());
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > limit {
            child.kill().unwrap();
            panic!("GNU Backgammon did not come to an end: {}", server.told());
        }
        thread::sleep(Duration::from_millis(20));
    }
    let output = output.join().unwrap();
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}: {output}"));
    fs::remove_file(&file).unwrap();
    text
}

/// How much was done in a match.
#[derive(Debug, Default, PartialEq)]
struct Count {
    games: u32,
    /// Plays of each player.
    plays: [u32; 2],
    doubles: [u32; 2],
    takes: u32,
    drops: u32,
    resignations: u32,
}

/// Where the right of the two columns of a match begins.
const RIGHT: usize = 33;

/// Does all that an exported match says again, and panics where that is against the rules.
fn replayed(text: &str) -> (Match, Count) {
    let length = text.lines().find_map(|line| line.trim().strip_suffix(" point match")).unwrap().parse().unwrap();
    let money = MoneyOptions { jacoby: length == 0, beavers: false };
    let options = MatchOptions { money, ..MatchOptions::default() };
    let mut game = Match::new(RULES, (length > 0).then_some(length), options).unwrap();
    let mut count = Count::default();
    for line in text.lines() {
        if line.trim_start().starts_with("Game ") {
            if count.games > 0 {
                game.apply(Zero, Action::NextGame).unwrap();
            }
            count.games += 1;
            continue;
        }
        let numbered = line.split_once(')').is_some_and(|(number, _)| number.trim().parse::<u32>().is_ok());
        let skipped = if numbered { line.find(')').unwrap() + 1 } else { 0 };
        if !numbered && !line.trim_start().starts_with("Wins ") {
            continue;
        }
        // A long cell on the left moves the one on the right, so that only the first tells by its place whose it is.
        let mut words = line[skipped..].split_whitespace().peekable();
        let first = skipped + line[skipped..].len() - line[skipped..].trim_start().len();
        let mut player = if first >= RIGHT { One } else { Zero };
        while let Some(word) = words.next() {
            let mut moves = Vec::new();
            if word == "Wins" {
                let points: u32 = words.next().unwrap().parse().unwrap();
                if game.result().is_none() {
                    let value = game.cube().value();
                    assert_eq!(points % value, 0, "{line}");
                    game.apply(player.opponent(), Action::Resign(points / value)).unwrap();
                    game.apply(player, Action::Accept).unwrap();
                    count.resignations += 1;
                }
                assert_eq!(game.result().unwrap().winner, player, "{line}");
                break;
            }
            if word == "Doubles" {
                assert_eq!(words.next(), Some("=>"));
                assert_eq!(words.next().unwrap().parse(), Ok(2 * game.cube().value()), "{line}");
                game.apply(player, Action::Double).unwrap_or_else(|error| panic!("{line}: {error}"));
                count.doubles[player as usize] += 1;
            } else if word == "Takes" {
                game.apply(player, Action::Take).unwrap_or_else(|error| panic!("{line}: {error}"));
                count.takes += 1;
            } else if word == "Drops" {
                game.apply(player, Action::Drop).unwrap_or_else(|error| panic!("{line}: {error}"));
                count.drops += 1;
            } else {
                let roll = word.strip_suffix(':').unwrap_or_else(|| panic!("{word:?} in {line}"));
                while let Some(word) = words.next_if(|word| word.contains('/')) {
                    moves.push(word);
                }
                play(&mut game, player, roll.parse().unwrap(), &moves.join(" "), line);
                count.plays[player as usize] += 1;
            }
            player = player.opponent();
        }
    }
    (game, count)
}

fn play(game: &mut Match, player: MatchPlayer, dice: Dice, moves: &str, line: &str) {
    if game.phase() == Phase::Opening {
        let (high, low) = (dice.high(), dice.low());
        let dice = if player == Zero { [high, low] } else { [low, high] };
        game.apply(player, Action::Opening(dice)).unwrap();
    } else {
        let event = game.apply(player, Action::Roll(dice)).unwrap_or_else(|error| panic!("{line}: {error}"));
        if event == Event::TurnPassed {
            assert_eq!(moves, "", "{line}");
            return;
        }
    }
    assert_eq!(game.on_roll(), player, "{line}");
    let legal = game.position().parse_play(moves, dice, RULES).unwrap_or_else(|error| panic!("{line}: {error}"));
    game.apply(player, Action::Play(legal.after)).unwrap_or_else(|error| panic!("{line}: {error}"));
}

/// Fails if the server has refused anything.
fn assert_nothing_refused(server: &Server) {
    let told = server.told();
    assert!(!told.contains("Error") && !told.contains("refused") && !told.contains("cannot"), "{told}");
}

fn match_to(server: &Server, length: u32, seat: MatchPlayer, seed: u32, plies: u8) -> Count {
    let (game, count) = replayed(&played(server, seat, seed, plies, Some(length), 0));
    assert_eq!(game.phase(), Phase::MatchOver, "{count:?} {:?}", game.scores());
    count
}

#[test]
fn matches_as_each_player() {
    let server = Server::start(&[]);
    let counts = [Zero, One].map(|seat| match_to(&server, 5, seat, 14, 0));
    assert!(counts.iter().all(|count| count.plays[0] > 10), "{counts:?}");
    assert!(counts.iter().map(|count| count.games).sum::<u32>() > 2, "{counts:?}");
    match_to(&server, 1, One, 3, 0);
    assert_nothing_refused(&server);
}

#[test]
fn money_games_as_each_player() {
    let server = Server::start(&["--jacoby"]);
    for seat in [Zero, One] {
        let (game, count) = replayed(&played(&server, seat, 7, 0, None, 4));
        assert_eq!((game.phase(), count.games), (Phase::GameOver, 4), "{count:?}");
    }
    assert_nothing_refused(&server);
}

/// Twice at once, and looking ahead.
#[test]
fn two_at_a_time() {
    let server = Server::start(&["--level", "1ply"]);
    thread::scope(|scope| {
        for seat in [Zero, One] {
            let server = &server;
            scope.spawn(move || match_to(server, 3, seat, 21, 0));
        }
    });
    assert_nothing_refused(&server);
}

/// Takes minutes.
#[test]
#[ignore = "ten matches and fifty money games as each player"]
fn many() {
    let server = Server::start(&[]);
    for seed in 1..=10 {
        for seat in [Zero, One] {
            let count = match_to(&server, 5, seat, seed, 0);
            println!("5-point match, our bot {seat}, seed {seed}: {count:?}");
        }
    }
    assert_nothing_refused(&server);
    let server = Server::start(&["--jacoby"]);
    for seat in [Zero, One] {
        let (game, count) = replayed(&played(&server, seat, 50, 0, None, 50));
        assert_eq!((game.phase(), count.games), (Phase::GameOver, 50));
        println!("money, our bot {seat}: {:?} {count:?}", game.scores());
    }
    assert_nothing_refused(&server);
}
