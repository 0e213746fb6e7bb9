//! What a line of the runner says.

use std::{str::FromStr, time::Duration};

use crate::{
    board::{FibsBoard, MatchId, MatchPlayer, Position, Xgid},
    rules::{Dice, MoneyOptions},
};

use super::{
    super::{Question, QuestionError},
    error::{UbgiError, excerpt},
};

/// The most games of a rollout.
const MOST_TRIALS: u32 = 100_000_000;

/// A line that makes sense by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Ubgi,
    IsReady,
    Set {
        key: String,
        value: String,
    },
    Get(String),
    Keys,
    NewGame,
    NewSession(NewSession),
    SetScore([u32; 2]),
    SetCube {
        value: u32,
        owner: Option<MatchPlayer>,
    },
    SetTurn(MatchPlayer),
    Position(Setup),
    Dice(Dice),
    Go(Go),
    Stop,
    Quit,
    /// The whole question in one line, as the first draft has it; `None` where it makes no sense.
    Bare(Option<Bare>),
}

/// A question in one line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bare {
    /// A board line, which does not say what is on in money play.
    Board(FibsBoard),
    /// An XGID, which does.
    Xgid(Xgid),
}

impl Bare {
    /// What is asked, where this is on in money play unless the line says otherwise.
    ///
    /// # Errors
    /// Lines of games in which nothing can be asked.
    pub fn question(&self, money: MoneyOptions) -> Result<Question, QuestionError> {
        match self {
            Bare::Board(board) => Question::of_board(board, money),
            Bare::Xgid(xgid) => Question::of_xgid(xgid),
        }
    }
}

/// What is played from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// Points that win the match; `None` in money play.
    pub length: Option<u32>,
    /// Whether the Jacoby rule is on, if that is said.
    pub jacoby: Option<bool>,
    /// Whether beavers are on, if that is said.
    pub beavers: Option<bool>,
    /// Whether the Crawford rule is on.
    pub crawford: bool,
}

/// A position and what stands beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setup {
    Position(Position),
    Match(Position, MatchId),
    Xgid(Xgid),
}

/// What to decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A play.
    #[default]
    Chequer,
    /// Whether to double, or the answer to a double.
    Cube,
    /// Both: whether to double before the roll, and the play of the dice.
    Turn,
}

/// What to decide, and how long to think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Go {
    pub role: Role,
    pub time: Option<Duration>,
    /// Plies.
    pub depth: Option<u32>,
    /// Games of a rollout.
    pub trials: Option<u32>,
}

/// The words behind a command, taken one by one.
struct Words<'a>(std::str::SplitWhitespace<'a>);

impl<'a> Words<'a> {
    fn take(&mut self, what: &'static str, expected: &str) -> Result<&'a str, UbgiError> {
        self.0.next().ok_or_else(|| UbgiError::argument(what, format_args!("nothing, expected {expected}")))
    }

    fn number(&mut self, what: &'static str) -> Result<u32, UbgiError> {
        const EXPECTED: &str = "a whole number";
        let word = self.take(what, EXPECTED)?;
        word.parse()
            .ok()
            .filter(|_| word.bytes().all(|byte| byte.is_ascii_digit()))
            .ok_or_else(|| wrong(what, word, EXPECTED))
    }

    fn player(&mut self, what: &'static str) -> Result<MatchPlayer, UbgiError> {
        let word = self.take(what, "p0 or p1")?;
        player(word).ok_or_else(|| wrong(what, word, "p0 or p1"))
    }

    fn on_or_off(&mut self, what: &'static str) -> Result<bool, UbgiError> {
        match self.take(what, "on or off")? {
            "on" => Ok(true),
            "off" => Ok(false),
            word => Err(wrong(what, word, "on or off")),
        }
    }

    /// The word that must come next, in whose place nothing else may stand.
    fn fixed(&mut self, word: &'static str) -> Result<(), UbgiError> {
        let found = self.take(word, word)?;
        if found == word { Ok(()) } else { Err(wrong(word, found, word)) }
    }

    /// Nothing more.
    fn end(mut self) -> Result<(), UbgiError> {
        match self.0.next() {
            None => Ok(()),
            Some(word) => Err(wrong("line", word, "nothing more")),
        }
    }

    /// All that is left, a space between the words.
    fn rest(self) -> String {
        self.0.collect::<Vec<_>>().join(" ")
    }
}

fn wrong(what: &'static str, word: &str, expected: &str) -> UbgiError {
    UbgiError::argument(what, format_args!("{:?}, expected {expected}", excerpt(word)))
}

fn player(word: &str) -> Option<MatchPlayer> {
    match word {
        "p0" => Some(MatchPlayer::Zero),
        "p1" => Some(MatchPlayer::One),
        _ => None,
    }
}

impl FromStr for Command {
    type Err = UbgiError;

    /// Reads a line that is not empty.
    fn from_str(line: &str) -> Result<Command, UbgiError> {
        if line.starts_with("board:") {
            return Ok(Command::Bare(line.parse().ok().map(Bare::Board)));
        }
        if line.starts_with("XGID=") {
            return Ok(Command::Bare(line.parse().ok().map(Bare::Xgid)));
        }
        let mut words = Words(line.split_whitespace());
        let name = words.0.next().unwrap_or_default();
        let command = match name {
            "ubgi" => Command::Ubgi,
            "isready" => Command::IsReady,
            "keys" => Command::Keys,
            "newgame" => Command::NewGame,
            "stop" => Command::Stop,
            "quit" => Command::Quit,
            "set" => {
                let key = words.take("key", "a key and a value")?.to_owned();
                return Ok(Command::Set { key, value: words.rest() });
            }
            "setoption" => {
                words.fixed("name")?;
                let key = words.take("name", "a name and a value")?.to_owned();
                words.fixed("value")?;
                return Ok(Command::Set { key, value: words.rest() });
            }
            "get" => Command::Get(words.take("key", "a key")?.to_owned()),
            "newsession" => return new_session(words).map(Command::NewSession),
            "setscore" => Command::SetScore([words.number("score")?, words.number("score")?]),
            "setcube" => {
                words.fixed("value")?;
                let value = words.number("cube")?;
                words.fixed("owner")?;
                let owner = match words.take("owner", "center, p0 or p1")? {
                    "center" => None,
                    word => Some(player(word).ok_or_else(|| wrong("owner", word, "center, p0 or p1"))?),
                };
                Command::SetCube { value, owner }
            }
            "setturn" => Command::SetTurn(words.player("turn")?),
            "position" => Command::Position(setup(&mut words)?),
            "dice" => {
                let mut die = || {
                    let die = words.number("dice")?;
                    u8::try_from(die).map_err(|_| wrong("dice", &die.to_string(), "two dice from 1 to 6"))
                };
                let (first, second) = (die()?, die()?);
                Command::Dice(Dice::new(first, second).map_err(|error| UbgiError::argument("dice", error))?)
            }
            "go" => return go(words).map(Command::Go),
            _ => return Err(UbgiError::UnknownCommand(excerpt(name))),
        };
        words.end()?;
        Ok(command)
    }
}

fn new_session(mut words: Words<'_>) -> Result<NewSession, UbgiError> {
    words.fixed("type")?;
    let is_match = match words.take("type", "money or match")? {
        "money" => false,
        "match" => true,
        word => return Err(wrong("type", word, "money or match")),
    };
    let mut session = NewSession { length: None, jacoby: None, beavers: None, crawford: true };
    while let Some(word) = words.0.next() {
        match word {
            "length" => session.length = Some(words.number("length")?),
            "jacoby" => session.jacoby = Some(words.on_or_off("jacoby")?),
            "beavers" => session.beavers = Some(words.on_or_off("beavers")?),
            "crawford" => session.crawford = words.on_or_off("crawford")?,
            _ => return Err(wrong("session", word, "length, jacoby, beavers or crawford")),
        }
    }
    match (is_match, session.length) {
        (true, None) => Err(UbgiError::argument("length", "nothing, expected the points that win the match")),
        // Some write a length of 0 for money play.
        (false, Some(1..)) => Err(UbgiError::argument("length", "money play has none")),
        (false, _) => Ok(NewSession { length: None, ..session }),
        (true, Some(_)) => Ok(session),
    }
}

fn setup(words: &mut Words<'_>) -> Result<Setup, UbgiError> {
    let invalid = |detail: String| UbgiError::argument("invalid_position", detail);
    let form = words.take("position", "gnubgid or xgid")?;
    let text = words.take("invalid_position", "a Position ID or an XGID")?;
    let (position, setup) = match (form, text.split_once(':')) {
        ("gnubgid", None) => {
            let position = text.parse().map_err(|error: crate::board::PositionIdError| invalid(error.to_string()))?;
            (position, Setup::Position(position))
        }
        ("gnubgid", Some((position, id))) => {
            let position =
                position.parse().map_err(|error: crate::board::PositionIdError| invalid(error.to_string()))?;
            let id = id.parse().map_err(|error: crate::board::MatchIdError| invalid(error.to_string()))?;
            (position, Setup::Match(position, id))
        }
        ("xgid", _) => {
            let xgid: Xgid = text.parse().map_err(|error: crate::board::XgidError| invalid(error.to_string()))?;
            (xgid.position, Setup::Xgid(xgid))
        }
        (form, _) => return Err(wrong("position", form, "gnubgid or xgid")),
    };
    if position.is_over() { Err(invalid(format!("the game in {position} is over"))) } else { Ok(setup) }
}

fn go(mut words: Words<'_>) -> Result<Go, UbgiError> {
    const ROLES: &str = "chequer, cube or turn";
    let mut go = Go::default();
    let role = |word: &str| match word {
        "chequer" | "checker" => Some(Role::Chequer),
        "cube" => Some(Role::Cube),
        "turn" => Some(Role::Turn),
        _ => None,
    };
    while let Some(word) = words.0.next() {
        match word {
            "role" => {
                let word = words.take("role", ROLES)?;
                go.role = role(word).ok_or_else(|| wrong("role", word, ROLES))?;
            }
            "movetime" => go.time = Some(Duration::from_millis(words.number("movetime")?.into())),
            "depth" => go.depth = Some(words.number("depth")?),
            "nodes" => return Err(UbgiError::Unsupported("nodes")),
            "trials" => {
                let trials = words.number("trials")?;
                if !(1..=MOST_TRIALS).contains(&trials) {
                    return Err(wrong("trials", &trials.to_string(), "1 to 100000000"));
                }
                go.trials = Some(trials);
            }
            word => go.role = role(word).ok_or_else(|| wrong("go", word, "role, movetime, depth or trials"))?,
        }
    }
    Ok(go)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(line: &str) -> Command {
        line.parse().unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    fn fault(line: &str) -> String {
        line.parse::<Command>().unwrap_err().to_string()
    }

    #[test]
    fn both_dialects_are_read() {
        let set = Command::Set { key: "Threads".into(), value: "2".into() };
        assert_eq!(read("setoption name Threads value 2"), set);
        assert_eq!(read("set Threads 2"), set);
        let cube = |line| assert_eq!(read(line), Command::Go(Go { role: Role::Cube, ..Go::default() }), "{line}");
        cube("go role cube");
        cube("go cube");
        let limited = Go { role: Role::Turn, time: Some(Duration::from_millis(500)), depth: Some(2), trials: None };
        assert_eq!(read("go role turn movetime 500 depth 2"), Command::Go(limited));
        assert_eq!(read("go"), Command::Go(Go::default()));
        let session = NewSession { length: Some(7), jacoby: None, beavers: None, crawford: false };
        assert_eq!(read("newsession type match length 7 crawford off"), Command::NewSession(session));
        assert_eq!(read("setcube value 4 owner p1"), Command::SetCube { value: 4, owner: Some(MatchPlayer::One) });
        assert_eq!(read("dice 3 1"), Command::Dice(Dice::new(3, 1).unwrap()));
        assert_eq!(read("position gnubgid 4HPwATDgc/ABMA"), Command::Position(Setup::Position(Position::START)));
        assert!(matches!(read("position gnubgid 4HPwATDgc/ABMA:cAkAAAAAAAAE"), Command::Position(Setup::Match(..))));
        let xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10";
        assert!(matches!(read(&format!("position xgid {xgid}")), Command::Position(Setup::Xgid(_))));
        assert!(matches!(read(xgid), Command::Bare(Some(_))));
        assert_eq!(read("board:nonsense"), Command::Bare(None));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, expected) in [
            ("hello", "unknown_command \"hello\""),
            ("UBGI", "unknown_command \"UBGI\""),
            ("isready now", "bad_argument line: \"now\", expected nothing more"),
            ("dice 0 1", "bad_argument dice: a die shows 1 to 6, not 0"),
            ("dice 3", "bad_argument dice: nothing"),
            ("dice 3 -1", "bad_argument dice: \"-1\""),
            ("dice 300 1", "bad_argument dice: \"300\""),
            ("dice 3 1 2", "bad_argument line"),
            ("position", "bad_argument position"),
            ("position fen x", "bad_argument position: \"fen\""),
            ("position gnubgid", "bad_argument invalid_position"),
            ("position gnubgid x", "bad_argument invalid_position: a Position ID has 14 characters"),
            ("position gnubgid 4HPwATDgc/ABMA:x", "bad_argument invalid_position: a Match ID has 12 characters"),
            ("position gnubgid AAAA3q8AAAAAAA", "bad_argument invalid_position: the game in"),
            ("position xgid XGID=x", "bad_argument invalid_position: an XGID has 10 fields"),
            ("go role queen", "bad_argument role: \"queen\""),
            ("go fast", "bad_argument go: \"fast\""),
            ("go role chequer movetime", "bad_argument movetime: nothing"),
            ("go role chequer movetime -5", "bad_argument movetime: \"-5\""),
            ("go role chequer nodes 5", "unsupported_feature nodes"),
            ("go role chequer trials 0", "bad_argument trials: \"0\""),
            ("newsession", "bad_argument type: nothing"),
            ("newsession type match", "bad_argument length"),
            ("newsession type money length 5", "bad_argument length: money play has none"),
            ("newsession type money jacoby maybe", "bad_argument jacoby: \"maybe\""),
            ("setscore 1", "bad_argument score: nothing"),
            ("setscore 1 99999999999", "bad_argument score: \"99999999999\""),
            ("setcube 2", "bad_argument value: \"2\""),
            ("setcube value 2 owner me", "bad_argument owner: \"me\""),
            ("setturn me", "bad_argument turn: \"me\""),
            ("setoption Threads 2", "bad_argument name: \"Threads\""),
        ] {
            let found = fault(line);
            assert!(found.starts_with(expected), "{line}: {found}");
        }
    }

    proptest! {
        #[test]
        fn no_line_is_a_panic(line in any::<String>(), command in "(set|go|dice|position|newsession|setcube|board:|XGID=)?", rest in "[ -~]{0,60}") {
            if let Err(error) = line.parse::<Command>() {
                prop_assert!(!error.to_string().contains(['\n', '\r']));
            }
            if let Err(error) = format!("{command} {rest}").parse::<Command>() {
                prop_assert!(!error.to_string().contains(['\n', '\r']));
            }
        }
    }
}
