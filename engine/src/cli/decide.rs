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
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::{
    board::{CHECKERS, CubeOwner, CubeState, CubeValueError, Position},
    bot::{Bot, BotError, UnknownLevel, Valuation},
    rules::{Dice, DiceError, MatchScore, MatchScoreError, RuleSet, Session, StakesError, UnknownRuleSet},
};

use super::{
    CliError, Options, PositionArg, PositionArgError,
    answer::{Rounded, probabilities},
    cube::CubeAnswer,
};

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

/// A line of the input, counted from 1.
struct Line {
    number: u64,
    content: Content,
}

enum Content {
    Whole(Vec<u8>),
    TooLong,
    Failed(io::Error),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    pos: String,
    dice: Option<[i64; 2]>,
    want: Option<Want>,
    #[serde(default = "yes")]
    cubeful: bool,
    cube: Option<CubeRequest>,
    r#match: Option<MatchRequest>,
    jacoby: Option<bool>,
    beavers: Option<bool>,
    rules: Option<String>,
    level: Option<String>,
    id: Option<Box<RawValue>>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Want {
    Eval,
    Move,
    Cube,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CubeRequest {
    #[serde(default = "one")]
    value: u32,
    #[serde(default)]
    owner: OwnerRequest,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OwnerRequest {
    #[default]
    Centered,
    Player,
    Opponent,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchRequest {
    length: u32,
    score: [u32; 2],
    #[serde(default)]
    crawford: bool,
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}

/// Why a request is not answered.
#[derive(Debug, Error)]
enum RequestError {
    #[error("the line is longer than {LONGEST_LINE} bytes")]
    TooLong,
    #[error("the line is not UTF-8 from byte {0} on")]
    NotUtf8(usize),
    #[error("not a request: {0}")]
    Json(String),
    #[error(transparent)]
    Position(#[from] PositionArgError),
    #[error(transparent)]
    Score(#[from] MatchScoreError),
    #[error(transparent)]
    Stakes(#[from] StakesError),
    #[error("the game in {0} is over: expected a position in which both players have checkers on the board")]
    GameOver(Position),
    #[error(transparent)]
    Dice(#[from] DiceError),
    #[error(transparent)]
    Cube(#[from] CubeValueError),
    #[error(transparent)]
    Rules(#[from] UnknownRuleSet),
    #[error(transparent)]
    Level(#[from] UnknownLevel),
    #[error(transparent)]
    Bot(#[from] BotError),
    #[error("an evaluation is made before the roll: expected no \"dice\"")]
    DiceInEvaluation,
    #[error("a cube decision is made before the roll: expected no \"dice\"")]
    DiceInCubeDecision,
    #[error("the Jacoby rule and beavers belong to money play: expected no \"jacoby\" and \"beavers\" in a match")]
    MoneyOptions,
    #[error("a move needs \"dice\"")]
    NoDice,
    #[error("a cube decision needs cubeful equities: expected \"cubeful\" true, or \"dice\"")]
    CubelessCube,
}

/// The answer to a request.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Play {
        after: String,
        play: String,
        equity: Rounded,
        probs: [Rounded; 5],
        plays: Vec<PlayAnswer>,
    },
    Cube(CubeAnswer),
    Evaluation {
        probs: [Rounded; 5],
        cubeless: Rounded,
        #[serde(skip_serializing_if = "Option::is_none")]
        cubeful: Option<Rounded>,
        #[serde(skip_serializing_if = "Option::is_none")]
        mwc: Option<Rounded>,
    },
    Error {
        error: String,
        line: u64,
    },
}

/// An answer with the name that its request had.
#[derive(Serialize)]
struct Named {
    id: Box<RawValue>,
    #[serde(flatten)]
    answer: Answer,
}

#[derive(Serialize)]
struct PlayAnswer {
    after: String,
    play: String,
    equity: Rounded,
}

pub fn run(Args {}: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    options.with_bot(|bot| {
        let pool = options.thread_pool()?;
        let (sender, receiver) = sync_channel(MOST_TOGETHER);
        // It may wait for input that never comes; nobody waits for it.
        thread::Builder::new().spawn(move || send_lines(io::stdin().lock(), &sender)).map_err(CliError::Input)?;
        answer_lines(&mut Bots(vec![bot]), &pool, &receiver, out)
    })
}

/// Reads lines until they end, or until nobody wants them.
fn send_lines(mut input: impl BufRead, sender: &SyncSender<Line>) {
    for number in 1.. {
        let content = match next_line(&mut input) {
            Ok(None) => return,
            Ok(Some(content)) => content,
            Err(error) => Content::Failed(error),
        };
        let last = matches!(content, Content::Failed(_));
        if sender.send(Line { number, content }).is_err() || last {
            return;
        }
    }
}

/// The next line without its end, or `None` when there are no more.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Content>> {
    let mut line = Vec::new();
    let (mut too_long, mut begun) = (false, false);
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        too_long |= line.len() + part.len() > LONGEST_LINE;
        if !too_long {
            line.extend_from_slice(part);
        }
        let (used, finished) = (part.len() + usize::from(end.is_some()), buffer.is_empty());
        input.consume(used);
        begun |= used > 0;
        if end.is_some() || finished {
            return Ok(begun.then_some(if too_long { Content::TooLong } else { Content::Whole(line) }));
        }
    }
}

fn answer_lines(
    bots: &mut Bots<'_>,
    pool: &ThreadPool,
    receiver: &Receiver<Line>,
    out: &mut impl Write,
) -> Result<(), CliError> {
    while let Ok(first) = receiver.recv() {
        let mut lines = vec![first];
        lines.extend(receiver.try_iter().take(MOST_TOGETHER - 1));
        let failure = match lines.pop() {
            Some(Line { content: Content::Failed(error), .. }) => Some(error),
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
    request: Option<Result<Request, RequestError>>,
}

impl Reading {
    fn of(line: Line) -> Reading {
        let request = match line.content {
            Content::Whole(bytes) if bytes.trim_ascii().is_empty() => None,
            Content::Whole(bytes) => Some(read(&bytes)),
            Content::TooLong => Some(Err(RequestError::TooLong)),
            // It is taken out before lines are answered.
            Content::Failed(_) => None,
        };
        Reading { number: line.number, request }
    }

    /// The rules that are asked for, if they exist.
    fn rules(&self) -> Option<RuleSet> {
        self.request.as_ref()?.as_ref().ok()?.rules.as_ref()?.parse().ok()
    }
}

/// A bot for each of the rule sets that have been asked for, the first as the options say.
#[derive(Clone)]
struct Bots<'m>(Vec<Bot<'m>>);

impl<'m> Bots<'m> {
    /// Makes the bot for a rule set unless it is there, or cannot be made.
    fn prepare(&mut self, rules: RuleSet) {
        if self.0.iter().all(|bot| bot.rules() != rules)
            && let Ok(bot) = self.0[0].by_rules(rules)
        {
            self.0.push(bot);
        }
    }

    fn by_rules(&mut self, rules: Option<RuleSet>) -> Result<&mut Bot<'m>, BotError> {
        let place = match rules {
            None => 0,
            Some(rules) => match self.0.iter().position(|bot| bot.rules() == rules) {
                Some(place) => place,
                // What could not be made before cannot be made now, and says why.
                None => {
                    let bot = self.0[0].by_rules(rules)?;
                    self.0.push(bot);
                    self.0.len() - 1
                }
            },
        };
        Ok(&mut self.0[place])
    }
}

/// The line that answers a line; nothing for an empty one.
fn answer_line(bots: &mut Bots<'_>, reading: Reading) -> Vec<u8> {
    let Reading { number, request: Some(request) } = reading else { return Vec::new() };
    let mut id = None;
    let answer = request.and_then(|mut request| {
        id = request.id.take();
        answer(bots, &request)
    });
    let answer = answer.unwrap_or_else(|error| Answer::Error { error: error.to_string(), line: number });
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

fn read(bytes: &[u8]) -> Result<Request, RequestError> {
    let text = std::str::from_utf8(bytes).map_err(|error| RequestError::NotUtf8(error.valid_up_to() + 1))?;
    serde_json::from_str(text).map_err(|error| {
        // Every request is a line of its own, so that "line 1" would only mislead.
        let reason: String = error.to_string().replace(" at line 1 column ", ", column ");
        RequestError::Json(reason.chars().take(300).collect())
    })
}

fn answer(bots: &mut Bots<'_>, request: &Request) -> Result<Answer, RequestError> {
    let PositionArg { position, dice, mut stakes } = request.pos.parse()?;
    let given = request.dice.map(roll).transpose()?;
    if let Some(CubeRequest { value, owner }) = &request.cube {
        stakes.cube = CubeState::new(*value, (*owner).into())?;
    }
    if let Some(MatchRequest { length, score, crawford }) = request.r#match {
        stakes.session = Session::Match(MatchScore::new(length, score, crawford)?);
    }
    let rules = request.rules.as_ref().map(|name| name.parse()).transpose()?;
    let bot = bots.by_rules(rules)?;
    let rules = bot.rules();
    let level = request.level.as_ref().map_or(Ok(bot.level()), |name| name.parse())?;
    let mut other;
    let bot = if level == bot.level() {
        bot
    } else {
        other = bot.at_level(level);
        &mut other
    };
    match &mut stakes.session {
        Session::Money(options) => {
            options.jacoby = request.jacoby.unwrap_or(options.jacoby);
            options.beavers = request.beavers.unwrap_or(options.beavers);
        }
        Session::Match(_) if request.jacoby == Some(true) || request.beavers == Some(true) => {
            return Err(RequestError::MoneyOptions);
        }
        Session::Match(_) => {}
    }
    // Without the cube the score does not matter to what is computed.
    if request.cubeful {
        stakes.check(rules)?;
    }
    let dice = match request.want {
        None | Some(Want::Move) => given.or(dice),
        Some(Want::Eval) if given.is_some() => return Err(RequestError::DiceInEvaluation),
        Some(Want::Cube) if given.is_some() => return Err(RequestError::DiceInCubeDecision),
        Some(_) => None,
    };
    // With dice, a player may bear off alone.
    if position.off() == CHECKERS || dice.is_none() && position.is_over() {
        return Err(RequestError::GameOver(position));
    }
    match (request.want, dice) {
        (Some(Want::Eval), _) => {
            let evaluation = bot.evaluate(&position, &stakes);
            Ok(Answer::Evaluation {
                probs: probabilities(evaluation.probabilities),
                cubeless: evaluation.cubeless.into(),
                cubeful: request.cubeful.then_some(evaluation.cubeful.into()),
                mwc: evaluation.chance.filter(|_| request.cubeful).map(|chance| Rounded(chance.0)),
            })
        }
        (_, Some(dice)) => {
            let valuation = if request.cubeful { Valuation::Cubeful(stakes) } else { Valuation::Cubeless };
            Ok(plays(bot, &position, dice, valuation))
        }
        (Some(Want::Move), None) => Err(RequestError::NoDice),
        (_, None) if !request.cubeful => Err(RequestError::CubelessCube),
        (_, None) => Ok(Answer::Cube(bot.cube_action(&position, &stakes)?.into())),
    }
}

fn roll(dice: [i64; 2]) -> Result<Dice, DiceError> {
    let [first, second] = dice.map(|die| u8::try_from(die).map_err(|_| DiceError::Value(die)));
    Dice::new(first?, second?)
}

fn plays(bot: &mut Bot<'_>, position: &Position, dice: Dice, valuation: Valuation) -> Answer {
    let ranked = bot.rank(position, dice, valuation);
    let best = ranked[0];
    let plays = ranked.iter().map(|valued| PlayAnswer {
        after: valued.after.to_string(),
        play: valued.play.text(position),
        equity: valued.equity.into(),
    });
    Answer::Play {
        after: best.after.to_string(),
        play: best.play.text(position),
        equity: best.equity.into(),
        probs: probabilities(best.probabilities),
        plays: plays.collect(),
    }
}

impl From<OwnerRequest> for CubeOwner {
    fn from(owner: OwnerRequest) -> CubeOwner {
        match owner {
            OwnerRequest::Centered => CubeOwner::Centered,
            OwnerRequest::Player => CubeOwner::Player,
            OwnerRequest::Opponent => CubeOwner::Opponent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bot::Level, net::Model};

    fn lines(input: &[u8]) -> Vec<Option<Vec<u8>>> {
        // A small buffer, so that lines come in pieces.
        let mut input = io::BufReader::with_capacity(7, input);
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input).unwrap() {
            lines.push(match line {
                Content::Whole(line) => Some(line),
                _ => None,
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
        let mut bots = Bots(vec![Bot::new(Model::shipped(), Level::ZeroPly, RuleSet::Backgammon).unwrap()]);
        let mut fault = |request: &str| {
            let content = Content::Whole(request.as_bytes().to_vec());
            let answer = answer_line(&mut bots, Reading::of(Line { number: 7, content }));
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
        let latin = Content::Whole(b"{\"pos\": \"\xe9\"}".to_vec());
        let answer = answer_line(&mut bots, Reading::of(Line { number: 1, content: latin }));
        assert_eq!(answer, b"{\"error\":\"the line is not UTF-8 from byte 10 on\",\"line\":1}\n");
    }
}
