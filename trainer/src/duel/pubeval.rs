//! Gerald Tesauro's pubeval, played by a Python package.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use thiserror::Error;
use zar::{
    board::Position,
    rules::{Dice, LegalPlays},
};

use super::{Player, PlayerError, PlayerSource, player::find_play};

/// The program that the child runs.
const SCRIPT: &str = include_str!("pubeval.py");

/// The environment variable that names another Python than `python3`.
const PYTHON: &str = "ZAR_PYTHON";

/// Why pubeval does not play.
#[derive(Debug, Error)]
pub enum PubevalError {
    /// Python could not be started.
    #[error("cannot start {} ({error}): install Python 3, or name one in {PYTHON}", python.display())]
    Python {
        /// The program's name.
        python: OsString,
        /// Why.
        error: io::Error,
    },
    /// Python lacks the package.
    #[error(
        "{} has no package gnubg-nn ({said}): run `{} -m pip install --no-deps gnubg-nn==1.1.0a11`, or name a Python \
         that has it in ZAR_PYTHON",
        python.display(),
        python.display()
    )]
    Package {
        /// The program's name.
        python: OsString,
        /// What it said when it began.
        said: String,
    },
    /// The connection to the child broke.
    #[error("pubeval's Python: {0}")]
    Io(#[from] io::Error),
    /// The child gave up.
    #[error("pubeval's Python ended after the request {0:?}")]
    Ended(String),
    /// An answer that is no legal play.
    #[error("pubeval answered {reply:?} to {request:?}, expected a legal play")]
    Answer {
        /// What it was asked.
        request: String,
        /// What it said.
        reply: String,
    },
}

/// A Python process that plays as pubeval. It ends with the player, or when this process does.
#[derive(Debug)]
pub struct PubevalPlayer {
    child: Child,
    /// `None` only while the player is being dropped.
    requests: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
}

/// Makes [`PubevalPlayer`]s.
#[derive(Clone, Copy, Debug)]
pub struct PubevalSource;

/// Bytes of the longest line that is read from the process.
const LONGEST_REPLY: u64 = 1000;

impl PubevalPlayer {
    /// Starts `python3`, or what the environment variable `ZAR_PYTHON` names.
    ///
    /// # Errors
    /// Python or its package gnubg-nn is missing.
    pub fn start() -> Result<PubevalPlayer, PubevalError> {
        PubevalPlayer::start_with(&env::var_os(PYTHON).unwrap_or_else(|| "python3".into()))
    }

    fn start_with(python: &OsStr) -> Result<PubevalPlayer, PubevalError> {
        let missing = |error| PubevalError::Python { python: python.into(), error };
        let mut child = Command::new(python)
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(missing)?;
        let requests = child.stdin.take();
        let replies = child.stdout.take().ok_or_else(|| missing(io::Error::other("it has no output")))?;
        let mut player = PubevalPlayer { child, requests, replies: BufReader::new(replies) };
        let mut said = String::new();
        player.replies.by_ref().take(LONGEST_REPLY).read_line(&mut said)?;
        match said.trim_end() {
            "ready" => Ok(player),
            said => Err(PubevalError::Package { python: python.into(), said: said.into() }),
        }
    }

    fn ask(&mut self, request: &str) -> Result<String, PubevalError> {
        if let Some(requests) = &mut self.requests {
            requests.write_all(request.as_bytes())?;
        }
        let mut reply = String::new();
        match self.replies.by_ref().take(LONGEST_REPLY).read_line(&mut reply)? {
            0 => Err(PubevalError::Ended(request.into())),
            _ => Ok(reply),
        }
    }
}

impl Drop for PubevalPlayer {
    fn drop(&mut self) {
        // The script ends with its input; another program, named in its place, may not. There is nothing to be done about
        // an error here.
        self.requests = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Player for PubevalPlayer {
    fn choose(&mut self, position: &Position, dice: Dice, plays: &LegalPlays) -> Result<usize, PlayerError> {
        let request = request(position, dice);
        let reply = self.ask(&request)?;
        let index = find_play(position, plays, &reply);
        Ok(index.ok_or(PubevalError::Answer { request, reply })?)
    }
}

impl PlayerSource for PubevalSource {
    fn player(&self) -> Result<Box<dyn Player + '_>, PlayerError> {
        Ok(Box::new(PubevalPlayer::start()?))
    }
}

/// The line that the script reads: 25 counts of the opponent, 25 of the player on roll, each from his own point 1 to his
/// bar, and the dice.
fn request(position: &Position, dice: Dice) -> String {
    let side = |position: &Position| position.points()[1..].iter().map(|&count| count.max(0)).collect::<Vec<_>>();
    let dice = [dice.high(), dice.low()].map(|die| die as i8);
    let numbers = [side(&position.swapped()), side(position), dice.into()].concat();
    numbers.iter().map(i8::to_string).collect::<Vec<_>>().join(" ") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_show_the_opponent_first() {
        let mut points = [0; 26];
        (points[25], points[6], points[0], points[24]) = (1, 2, -3, -4);
        let position = Position::new(points).unwrap();
        assert_eq!(
            request(&position, Dice::new(1, 3).unwrap()),
            "4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 3 0 0 0 0 0 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 3 1\n"
        );
    }

    #[test]
    fn what_is_missing_is_said() {
        let error = PubevalPlayer::start_with(OsStr::new("/no/such/python")).unwrap_err().to_string();
        assert!(error.contains("/no/such/python") && error.contains("ZAR_PYTHON"), "{error}");
        // A "Python" that says nothing of the kind.
        let error = PubevalPlayer::start_with(OsStr::new("echo")).unwrap_err().to_string();
        assert!(error.contains("echo -m pip install --no-deps gnubg-nn==1.1.0a11"), "{error}");
    }
}
