//! An external player for GNU Backgammon: `set player 0 external HOST:PORT` there seats the bot.
//!
//! GNU Backgammon connects and sends one board line for each decision of its external player, and reads one line as the
//! answer: `roll` or `double`, the moves of a play, `take`, `drop` or `beaver`, or `resign normal`, `gammon` or
//! `backgammon`. Nothing else is said: not what the opponent does, nor that a game has ended. A line that begins with
//! `Error (` stops the game there. It does not refuse illegal plays but plays on with a wrong position, so that every
//! play is checked here before it is sent. (Observed with GNU Backgammon 1.07.001.)

use std::{
    convert::Infallible,
    io::{self, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use rayon::ThreadPool;
use thiserror::Error;

use crate::{
    board::{FibsBoard, FibsBoardError, MatchPlayer},
    bot::Bot,
    line_reader::{Line, next_line},
    rules::MoneyOptions,
};

use super::{Answer, AnswerError, Asked, Question, QuestionError};

/// Bytes that a line may have; GNU Backgammon's have fewer than 300.
const LONGEST_LINE: usize = 4096;
/// Connections at a time.
const MOST_CONNECTIONS: usize = 64;
/// A connection on which nothing is asked for so long is closed. People who play at GNU Backgammon's board take breaks.
const LONGEST_SILENCE: Duration = Duration::from_secs(24 * 60 * 60);
/// A client that does not read its answers for so long is given up.
const LONGEST_WRITE: Duration = Duration::from_secs(30);
/// How long to wait when no connection can be accepted, as when files have run out.
const PAUSE: Duration = Duration::from_millis(100);

/// Why a line is not answered as its sender wished.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExternalError {
    /// The line is too long.
    #[error("the line is longer than {LONGEST_LINE} bytes")]
    TooLong,
    /// The line is no board line.
    #[error(transparent)]
    Board(#[from] FibsBoardError),
    /// The board line is no question.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// The question has no answer.
    #[error(transparent)]
    Answer(#[from] AnswerError),
}

/// What is sent for a board line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reply {
    /// The bot's answer.
    Answer(Answer),
    /// An offer to lose so many points at a cube of 1.
    Resign(u32),
}

/// The bot as an external player.
#[derive(Debug)]
pub struct ExternalPlayer<'m> {
    /// Who decides.
    pub bot: Bot<'m>,
    /// What is on in money play; board lines do not say it.
    pub money: MoneyOptions,
    /// Whether every decision is told on standard error.
    pub verbose: bool,
}

/// What has been said on one connection, as far as later answers hang on it.
#[derive(Debug)]
pub struct Conversation<'m> {
    bot: Bot<'m>,
    money: MoneyOptions,
    /// The game in which the bot has last offered to give up, and for how many points. An offer that was declined must not
    /// be repeated in the same game.
    offered: Option<(GameKey, u32)>,
}

/// What tells a game from the one before it: the match length, and the points of player 0 and of player 1.
type GameKey = (u32, [u32; 2]);

impl<'m> Conversation<'m> {
    /// The beginning of a conversation.
    pub fn new(bot: Bot<'m>, money: MoneyOptions) -> Conversation<'m> {
        Conversation { bot, money, offered: None }
    }

    /// What the bot replies to a board.
    ///
    /// # Errors
    /// A board that is no decision of its rules.
    pub fn reply(&mut self, board: &FibsBoard) -> Result<Reply, ExternalError> {
        let question = Question::of_board(board, self.money)?;
        question.stakes.check(self.bot.rules()).map_err(AnswerError::from)?;
        if matches!(question.asked, Asked::Roll | Asked::Play(_))
            && let Some(points) = self.resignation(board)
        {
            return Ok(Reply::Resign(points));
        }
        Ok(Reply::Answer(question.answer(&mut self.bot)?))
    }

    /// What to offer, if anything that was not declined before.
    fn resignation(&mut self, board: &FibsBoard) -> Option<u32> {
        let points = self.bot.resign(&board.position)?;
        let [own, others] = board.scores;
        let scores = if board.on_roll == MatchPlayer::Zero { [own, others] } else { [others, own] };
        let game = (board.match_length, scores);
        let declined = self.offered.is_some_and(|(earlier, offered)| earlier == game && points <= offered);
        if declined {
            return None;
        }
        self.offered = Some((game, points));
        Some(points)
    }
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reply::Answer(answer) => answer.fmt(f),
            Reply::Resign(1) => f.pad("resign normal"),
            Reply::Resign(2) => f.pad("resign gammon"),
            Reply::Resign(_) => f.pad("resign backgammon"),
        }
    }
}

impl ExternalPlayer<'_> {
    /// Answers whoever connects, each connection in a thread of its own, and looks ahead in `pool`. It does not return.
    pub fn serve(&self, listener: &TcpListener, pool: &ThreadPool) -> Infallible {
        let open = AtomicUsize::new(0);
        thread::scope(|scope| {
            loop {
                let (stream, peer) = match listener.accept() {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        self.tell(format_args!("cannot accept a connection: {error}"));
                        thread::sleep(PAUSE);
                        continue;
                    }
                };
                if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
                    open.fetch_sub(1, Ordering::Relaxed);
                    self.tell(format_args!("{peer} is refused: {MOST_CONNECTIONS} connections are open"));
                    // Whoever has left already misses nothing.
                    let _ = (&stream).write_all(b"Error (too many connections)\n");
                    continue;
                }
                let place = Place(&open);
                let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                    let _place = place;
                    if let Err(error) = self.converse(&stream, peer, pool) {
                        self.tell(format_args!("{peer} {error}"));
                    }
                });
                if let Err(error) = spawned {
                    self.tell(format_args!("cannot start a thread for {peer}: {error}"));
                }
            }
        })
    }

    /// Answers one client until he leaves.
    fn converse(&self, stream: &TcpStream, peer: SocketAddr, pool: &ThreadPool) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LONGEST_SILENCE))?;
        stream.set_write_timeout(Some(LONGEST_WRITE))?;
        self.tell(format_args!("{peer} connects"));
        let mut conversation = Conversation::new(self.bot.clone(), self.money);
        let (mut input, mut output) = (BufReader::new(stream), stream);
        while let Some(line) = next_line(&mut input, LONGEST_LINE)? {
            let begin = Instant::now();
            let board = match &line {
                Line::Whole(bytes) => match board_line(bytes) {
                    None => continue,
                    Some(text) => text.parse::<FibsBoard>().map_err(ExternalError::from),
                },
                Line::TooLong => Err(ExternalError::TooLong),
            };
            let reply = board.and_then(|board| {
                let reply = match self.bot.level().plies() {
                    0 => conversation.reply(&board),
                    _ => pool.install(|| conversation.reply(&board)),
                };
                let spent = begin.elapsed().as_secs_f64() * 1e3;
                match &reply {
                    Ok(reply) => self.tell(format_args!("{peer} {}: {reply} ({spent:.1} ms)", asked(&board))),
                    Err(_) => self.tell(format_args!("{peer} {}", asked(&board))),
                }
                reply
            });
            let text = match reply {
                Ok(reply) => format!("{reply}\n"),
                Err(error) => {
                    self.tell(format_args!("{peer} Error ({error})"));
                    format!("Error ({error})\n")
                }
            };
            output.write_all(text.as_bytes())?;
        }
        self.tell(format_args!("{peer} leaves"));
        Ok(())
    }

    /// Tells one line to whoever looks on.
    fn tell(&self, line: std::fmt::Arguments<'_>) {
        if self.verbose {
            // One call, so that lines of several threads do not mix; nobody need listen.
            let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
        }
    }
}

/// A place among the connections, until it is dropped.
struct Place<'a>(&'a AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The text of a line, without the zero byte with which GNU Backgammon ends the one before it; `None` for an empty one.
fn board_line(bytes: &[u8]) -> Option<String> {
    // Names may be in any encoding.
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_matches(|c: char| c == '\0' || c.is_ascii_whitespace());
    (!text.is_empty()).then(|| text.to_owned())
}

/// What a board asks, in few words.
fn asked(board: &FibsBoard) -> String {
    let FibsBoard { position, on_roll, scores: [own, others], cube, .. } = board;
    let what = match (board.dice, board.doubled) {
        (Some([first, second]), _) => format!("rolled {first}-{second}"),
        (None, true) => "doubled".to_owned(),
        (None, false) => "to roll".to_owned(),
    };
    let score = match (board.match_length, board.crawford) {
        (0, _) => format!("money {own}-{others}"),
        (length, false) => format!("{own}-{others} to {length}"),
        (length, true) => format!("{own}-{others} to {length} Crawford"),
    };
    format!("{position} {on_roll} {what}, {score}, cube {} {:?}", cube.value(), cube.owner())
}
