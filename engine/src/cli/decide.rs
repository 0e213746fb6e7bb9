//! `zar decide`: requests and answers in JSON Lines, for programs and benchmarks.
//!
//! One thread reads lines; this one takes all that have come, lets the pool answer them, and writes the answers. A
//! client that waits for each answer gets it at once, and one that writes without waiting keeps all cores busy.

use std::{
    io::{self, BufRead, Write},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use rayon::{ThreadPool, prelude::*};
use serde::Serialize;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::{
    line_reader::{Line, next_line},
    requests::{self, Bots, Request, RequestError},
    rules::RuleSet,
    search::Stop,
};

use super::{CliError, Options};

/// Answers requests in JSON Lines, for programs and benchmarks
///
/// One request a line on standard input, one answer a line on standard output, in order.
///
/// A play
///   {"pos": POSITION, "dice": [3, 1]}
///   {"after": ID of the result as the next player sees it, "play": "8/5 6/5", "equity": e,
///    "probs": [5], "plays": [{"after", "play", "equity"}, every legal result once, best first]}
///   With nothing legal: the swapped position and the play "". Equities and probabilities are
///   those of the player who makes the play.
///
/// A cube decision before the roll
///   {"pos": POSITION}
///   {"action": a, "nd": e, "dt": e, "dp": e, "probs": [5]}
///   The action is no-double, double-take, double-drop or too-good, or with "owner": "player"
///   no-redouble, redouble-take, redouble-drop or too-good. In a match "mwc": {"nd", "dt", "dp"}
///   are the match winning chances; with beavers "beaver": true says that the opponent should.
///
/// An evaluation before the roll
///   {"pos": POSITION, "want": "eval"}
///   {"probs": [5], "cubeless": e, "cubeful": e}
///   Cubeful counts the right to double this turn in. In a match "mwc" stands beside.
///
/// Optional in a request
///   "cubeful": false          cubeless equities (no "cubeful" in an evaluation)
///   "cube": {"value": 1, "owner": "centered" | "player" | "opponent"}
///   "match": {"length": 7, "score": [points on roll, opponent], "crawford": false}
///   "jacoby", "beavers"       true where they are on in money play
///   "want": "move"            with the dice in POSITION; "want": "cube" although there are some
///   "rules", "level"          as the options, for this request
///   "id"                      anything; the answer has the same
///
/// POSITION is a Position ID, PositionID:MatchID, an XGID, or "start"; what the request says beside it
/// counts more than what it says itself.
///
/// "probs" are the probabilities to win, to win a gammon or better, to win a backgammon, to lose a
/// gammon or worse and to lose a backgammon. Equities are per unit of the cube, EMG in a match. A
/// bad request is answered with {"error": "...", "line": its number}, and the next one is read. Empty
/// lines are skipped.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {}

/// Bytes that a request may have. Longer lines are skipped as they come, and never held in memory.
const LONGEST_LINE: usize = 1 << 16;
/// Requests that are answered together, and as many again that wait.
const MOST_TOGETHER: usize = 512;

/// A line of the input, counted from 1, or why it could not be read.
struct Numbered {
    number: u64,
    line: io::Result<Line>,
}

/// Why a line is not answered.
#[derive(Debug, Error)]
enum LineError {
    #[error("the line is longer than {LONGEST_LINE} bytes")]
    TooLong,
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// What is written for a line.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Answer(requests::Answer),
    Error { error: String, line: u64 },
}

/// An answer with the name that its request had.
#[derive(Serialize)]
struct Named {
    id: Box<RawValue>,
    #[serde(flatten)]
    answer: Answer,
}

pub fn run(Args {}: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    options.with_bot(|bot| {
        let pool = options.thread_pool()?;
        let (sender, receiver) = sync_channel(MOST_TOGETHER);
        // It may wait for input that never comes; nobody waits for it.
        thread::Builder::new().spawn(move || send_lines(io::stdin().lock(), &sender)).map_err(CliError::Input)?;
        answer_lines(&mut Bots::new(bot), &pool, &receiver, out)
    })
}

/// Reads lines until they end, or until nobody wants them.
fn send_lines(mut input: impl BufRead, sender: &SyncSender<Numbered>) {
    for number in 1.. {
        let Some(line) = next_line(&mut input, LONGEST_LINE).transpose() else { return };
        let last = line.is_err();
        if sender.send(Numbered { number, line }).is_err() || last {
            return;
        }
    }
}

fn answer_lines(
    bots: &mut Bots<'_>,
    pool: &ThreadPool,
    receiver: &Receiver<Numbered>,
    out: &mut impl Write,
) -> Result<(), CliError> {
    while let Ok(first) = receiver.recv() {
        let mut lines = vec![first];
        lines.extend(receiver.try_iter().take(MOST_TOGETHER - 1));
        let failure = match lines.pop() {
            Some(Numbered { line: Err(error), .. }) => Some(error),
            last => {
                lines.extend(last);
                None
            }
        };
        let requests: Vec<Reading> = pool.install(|| lines.into_par_iter().map(Reading::of).collect());
        for rules in requests.iter().filter_map(Reading::rules) {
            bots.prepare(rules);
        }
        let answers: Vec<Vec<u8>> =
            pool.install(|| requests.into_par_iter().map_init(|| bots.clone(), answer_line).collect());
        out.write_all(&answers.concat())?;
        out.flush()?;
        if let Some(error) = failure {
            return Err(CliError::Input(error));
        }
    }
    Ok(())
}

/// A line that has been read; `None` for an empty one.
struct Reading {
    number: u64,
    request: Option<Result<Request, LineError>>,
}

impl Reading {
    fn of(Numbered { number, line }: Numbered) -> Reading {
        let request = match line {
            Ok(Line::Whole(bytes)) if bytes.trim_ascii().is_empty() => None,
            Ok(Line::Whole(bytes)) => Some(Request::read(&bytes, "line").map_err(LineError::Request)),
            Ok(Line::TooLong) => Some(Err(LineError::TooLong)),
            // It is taken out before lines are answered.
            Err(_) => None,
        };
        Reading { number, request }
    }

    /// The rules that are asked for, if they exist.
    fn rules(&self) -> Option<RuleSet> {
        self.request.as_ref()?.as_ref().ok()?.named_rules()
    }
}

/// The line that answers a line; nothing for an empty one.
fn answer_line(bots: &mut Bots<'_>, reading: Reading) -> Vec<u8> {
    let Reading { number, request: Some(request) } = reading else { return Vec::new() };
    let mut id = None;
    let answer = request.and_then(|mut request| {
        id = request.id.take();
        Ok(bots.answer(&request, &Stop::NEVER)?)
    });
    let answer = match answer {
        Ok(answer) => Answer::Answer(answer),
        Err(error) => Answer::Error { error: error.to_string(), line: number },
    };
    let mut bytes = Vec::new();
    // Memory takes whatever is written, and nothing in an answer is unknown to JSON.
    let written = match id {
        Some(id) => serde_json::to_writer(&mut bytes, &Named { id, answer }),
        None => serde_json::to_writer(&mut bytes, &answer),
    };
    if written.is_ok() {
        bytes.push(b'\n');
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bot::{Bot, Level},
        net::Model,
    };

    fn lines(input: &[u8]) -> Vec<Option<Vec<u8>>> {
        // A small buffer, so that lines come in pieces.
        let mut input = io::BufReader::with_capacity(7, input);
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input, LONGEST_LINE).unwrap() {
            lines.push(match line {
                Line::Whole(line) => Some(line),
                Line::TooLong => None,
            });
        }
        lines
    }

    #[test]
    fn lines_are_cut_at_their_ends() {
        assert!(lines(b"").is_empty());
        assert_eq!(lines(b"\n"), [Some(b"".to_vec())]);
        assert_eq!(lines(b"one\n\nlast line"), [b"one".to_vec(), b"".to_vec(), b"last line".to_vec()].map(Some));
        let longest = vec![b'x'; LONGEST_LINE];
        let input = [&longest[..], b"x\n", &longest, b"\nshort\n", &longest, &longest].concat();
        assert_eq!(lines(&input), [None, Some(longest), Some(b"short".to_vec()), None]);
    }

    #[test]
    fn every_fault_is_named() {
        let mut bots = Bots::new(Bot::new(Model::shipped(), Level::ZeroPly, RuleSet::Backgammon).unwrap());
        let mut fault = |request: &str| {
            let line = Ok(Line::Whole(request.as_bytes().to_vec()));
            let answer = answer_line(&mut bots, Reading::of(Numbered { number: 7, line }));
            let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
            assert_eq!(answer["line"], 7, "{request}");
            answer["error"].as_str().unwrap().to_owned()
        };
        for (request, expected) in [
            ("{", "not a request: EOF"),
            ("[]", "not a request: "),
            ("{}", "missing field `pos`"),
            (r#"{"pos": 1}"#, "expected a string, column 9"),
            (r#"{"pos": "x"}"#, "\"x\" is no position"),
            (r#"{"pos": "AAAA3q8AAAAAAA"}"#, "is over"),
            (r#"{"pos": "4HPwATDgc/ABMA", "dices": 1}"#, "unknown field `dices`"),
            (r#"{"pos": "4HPwATDgc/ABMA", "dice": [1]}"#, "invalid length 1"),
            (r#"{"pos": "4HPwATDgc/ABMA", "dice": [1, 2, 3]}"#, "column"),
            (r#"{"pos": "4HPwATDgc/ABMA", "dice": [0, 2]}"#, "a die shows 1 to 6, not 0"),
            (r#"{"pos": "4HPwATDgc/ABMA", "dice": [1, -7000]}"#, "a die shows 1 to 6, not -7000"),
            (r#"{"pos": "4HPwATDgc/ABMA", "dice": [1.5, 2]}"#, "floating point"),
            (r#"{"pos": "4HPwATDgc/ABMA", "dice": [1, 2], "want": "eval"}"#, "expected no \"dice\""),
            (
                r#"{"pos": "4HPwATDgc/ABMA", "want": "tea"}"#,
                "unknown variant `tea`, expected one of `eval`, `move`, `cube`",
            ),
            (r#"{"pos": "4HPwATDgc/ABMA", "cubeful": false}"#, "expected \"cubeful\" true"),
            (r#"{"pos": "4HPwATDgc/ABMA", "cube": {"value": 3}}"#, "the cube shows 3"),
            (r#"{"pos": "4HPwATDgc/ABMA", "cube": {"owner": "me"}}"#, "unknown variant `me`"),
            (r#"{"pos": "4HPwATDgc/ABMA", "cube": {"value": 2, "owner": "opponent"}}"#, "the opponent holds the cube"),
            (r#"{"pos": "4HPwATDgc/ABMA", "match": {"length": 7, "score": [1, 7]}}"#, "the score 1-7 does not fit"),
            (r#"{"pos": "4HPwATDgc/ABMA", "match": {"length": 0, "score": [0, 0]}}"#, "a match to 0 points"),
            (
                r#"{"pos": "start", "match": {"length": 7, "score": [1, 2], "crawford": true}}"#,
                "no score of a Crawford game",
            ),
            (r#"{"pos": "start", "match": {"length": 7, "score": [1, 2]}, "jacoby": true}"#, "belong to money play"),
            (
                r#"{"pos": "start", "match": {"length": 7, "score": [1, 2]}, "rules": "table"}"#,
                "no matches under table",
            ),
            (r#"{"pos": "start", "rules": "table"}"#, "there is no cube in this game under table"),
            (r#"{"pos": "start", "rules": "tavla", "beavers": true}"#, "no beavers under tavla"),
            (r#"{"pos": "start", "rules": "tavla2004"}"#, "there is no cube in this game under tavla2004"),
            (r#"{"pos": "start", "want": "move"}"#, "a move needs \"dice\""),
            (r#"{"pos": "start", "dice": [1, 2], "want": "cube"}"#, "expected no \"dice\""),
            (r#"{"pos": "4HPwATDgc/ABMA", "rules": "chess"}"#, "\"chess\" is not a rule set"),
            (r#"{"pos": "4HPwATDgc/ABMA", "level": "9ply"}"#, "\"9ply\" is not a level"),
            (r#"{"pos": "4HPwATDgc/ABMA", "level": "4ply"}"#, "\"4ply\" is not a level: expected beginner"),
        ] {
            let error = fault(request);
            assert!(error.contains(expected), "{request}: {error}");
        }
        let latin = Ok(Line::Whole(b"{\"pos\": \"\xe9\"}".to_vec()));
        let answer = answer_line(&mut bots, Reading::of(Numbered { number: 1, line: latin }));
        assert_eq!(answer, b"{\"error\":\"the line is not UTF-8 from byte 10 on\",\"line\":1}\n");
    }
}
