//! GNU Backgammon as a player: a child process that answers FIBS board lines over a socket.

use std::{
    env,
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

use thiserror::Error;
use zar::{
    board::Position,
    rules::{Dice, LegalPlays},
};

use super::{Player, PlayerError, PlayerSource, player::find_play};

/// How long gnubg may take to start, and to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ports that are tried: another program may take a free one before gnubg does.
const PORTS: u32 = 5;

/// Runs gnubg ($1) on commands ($2), with a directory of its own for the settings that it keeps, until the standard input
/// ends. gnubg would live on when nobody talks to it any more; the keeper ends it however this process ends, and therefore
/// outlives Ctrl-C in the terminal and the reader of its output.
const KEEPER: &str = r#"
trap '' INT
exec 2>&1 3<&0
directory=$(mktemp -d) || exit
printf '%s' "$2" | "$1" -t -q -r -s "$directory" 3<&- &
gnubg=$!
exec >/dev/null 2>&1
{ cat <&3; kill -KILL $gnubg; } &
watch=$!
wait $gnubg
kill $watch
rm -r "$directory"
"#;

/// Why gnubg does not play.
#[derive(Debug, Error)]
pub enum GnubgError {
    /// There is no such program.
    #[error("found no gnubg in PATH or /usr/games: install GNU Backgammon (on Debian and Ubuntu the package gnubg)")]
    Missing,
    /// It could not be started.
    #[error("cannot start {}: {error}", program.display())]
    Start {
        /// Where it is.
        program: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It ended before it took connections.
    #[error("{} ended before it took connections; it said {said:?}", program.display())]
    Ended {
        /// Where it is.
        program: PathBuf,
        /// The last line that it wrote.
        said: String,
    },
    /// It neither took connections nor ended.
    #[error("{} took no connections within {} s; it said {said:?}", program.display(), PATIENCE.as_secs())]
    Silent {
        /// Where it is.
        program: PathBuf,
        /// The last line that it wrote.
        said: String,
    },
    /// The connection broke, or no answer came in time.
    #[error("the connection to gnubg: {0}")]
    Connection(#[from] io::Error),
    /// An answer that is no legal play.
    #[error("gnubg answered {reply:?} to {request:?}, expected a legal play")]
    Answer {
        /// What it was asked.
        request: String,
        /// What it said.
        reply: String,
    },
}

/// A GNU Backgammon process that chooses plays by cubeless money equity. It ends with the player, or when this
/// process does. Needs a Unix shell.
#[derive(Debug)]
pub struct GnubgPlayer {
    connection: BufReader<TcpStream>,
    /// Behind the connection, so that it is dropped later.
    _process: Process,
}

/// Makes [`GnubgPlayer`]s.
#[derive(Clone, Copy, Debug)]
pub struct GnubgSource {
    /// How far they look ahead.
    pub plies: u8,
}

/// The keeper, which lives as long as gnubg does.
#[derive(Debug)]
struct Process {
    keeper: Child,
    /// `None` only while the process is being dropped.
    watched: Option<ChildStdin>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // The keeper ends gnubg when this pipe closes, then itself. There is nothing to be done about an error here.
        self.watched = None;
        let _ = self.keeper.wait();
    }
}

impl GnubgPlayer {
    /// Starts gnubg with the given look-ahead: 0 for the bare networks.
    ///
    /// # Errors
    /// gnubg is not installed or does not start.
    pub fn start(plies: u8) -> Result<GnubgPlayer, GnubgError> {
        let path = env::var_os("PATH").unwrap_or_default();
        // Debian keeps games in a directory that root's PATH lacks.
        let directories = env::split_paths(&path).chain([PathBuf::from("/usr/games")]);
        let found = directories.map(|directory| directory.join("gnubg")).find(|program| program.is_file());
        GnubgPlayer::start_program(&found.ok_or(GnubgError::Missing)?, plies)
    }

    fn start_program(program: &Path, plies: u8) -> Result<GnubgPlayer, GnubgError> {
        let mut attempt = GnubgPlayer::start_once(program, plies);
        for _ in 1..PORTS {
            if !matches!(attempt, Err(GnubgError::Ended { .. })) {
                break;
            }
            attempt = GnubgPlayer::start_once(program, plies);
        }
        attempt
    }

    fn start_once(program: &Path, plies: u8) -> Result<GnubgPlayer, GnubgError> {
        let start_error = |error| GnubgError::Start { program: program.into(), error };
        let port = free_port().map_err(start_error)?;
        let mut keeper = Command::new("sh")
            .args(["-c", KEEPER, "sh"])
            .arg(program)
            .arg(commands(plies, port))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(start_error)?;
        let (watched, output) = (keeper.stdin.take(), keeper.stdout.take());
        let process = Process { keeper, watched };
        let output = output.ok_or_else(|| start_error(io::Error::other("it has no output")))?;
        wait_for_listening(&lines(output), program, port)?;

        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(GnubgPlayer { connection: BufReader::new(stream), _process: process })
    }

    fn ask(&mut self, request: &str) -> Result<String, GnubgError> {
        self.connection.get_mut().write_all(request.as_bytes())?;
        let mut reply = String::new();
        self.connection.read_line(&mut reply)?;
        if reply.is_empty() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(reply)
    }
}

impl Player for GnubgPlayer {
    fn choose(&mut self, position: &Position, dice: Dice, plays: &LegalPlays) -> Result<usize, PlayerError> {
        let request = board_line(position, dice);
        let reply = self.ask(&request)?;
        let index = find_play(position, plays, &reply);
        Ok(index.ok_or(GnubgError::Answer { request, reply })?)
    }
}

impl PlayerSource for GnubgSource {
    fn player(&self) -> Result<Box<dyn Player + '_>, PlayerError> {
        Ok(Box::new(GnubgPlayer::start(self.plies)?))
    }
}

/// A port that was free a moment ago.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// What gnubg reads: the settings of its evaluation, then to answer on a port.
fn commands(plies: u8, port: u16) -> String {
    // The pruning networks choose what is looked ahead at; the bare networks judge every play.
    let prune = if plies >= 2 { "on" } else { "off" };
    let evaluation = "set evaluation chequerplay evaluation";
    format!(
        "set threads 1\n\
         set evaluation sameasanalysis off\n\
         set evaluation chequerplay type evaluation\n\
         {evaluation} plies {plies}\n\
         {evaluation} cubeful off\n\
         {evaluation} prune {prune}\n\
         {evaluation} noise 0\n\
         {evaluation} deterministic on\n\
         set jacoby off\n\
         external 127.0.0.1:{port}\n"
    )
}

/// The lines of gnubg's output as they come. They are read to the end, or gnubg would stop when the pipe is full.
fn lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // Nobody listens any more once gnubg takes connections.
            let _ = sender.send(line);
        }
    });
    receiver
}

fn wait_for_listening(lines: &Receiver<String>, program: &Path, port: u16) -> Result<(), GnubgError> {
    let mut said = String::new();
    loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) if line.starts_with("Waiting for a connection") && line.contains(&format!(":{port}")) => {
                return Ok(());
            }
            Ok(line) if line.trim().is_empty() => (),
            Ok(line) => said = line,
            Err(RecvTimeoutError::Timeout) => return Err(GnubgError::Silent { program: program.into(), said }),
            Err(RecvTimeoutError::Disconnected) => return Err(GnubgError::Ended { program: program.into(), said }),
        }
    }
}

/// The position and the roll as a FIBS board line, always seen from X's side, who is on roll.
///
/// Fields: names, match length and scores (0: money play); 26 counts, X positive, from O's bar over the points 1-24 to
/// X's bar; whose turn; the dice, for both players; the cube and who may turn it; doubled; direction and bars of X; what
/// both have borne off; six that mean nothing here. The higher die comes first: of plays that gnubg finds exactly equal
/// it takes the one that the first die suggests.
fn board_line(position: &Position, dice: Dice) -> String {
    let counts: String = position.points().iter().map(|count| format!("{count}:")).collect();
    let (high, low) = (dice.high(), dice.low());
    let (off, opponent_off) = (position.off(), position.opponent_off());
    format!("board:X:O:0:0:0:{counts}1:{high}:{low}:{high}:{low}:1:1:1:0:1:-1:0:25:{off}:{opponent_off}:0:0:0:0:0:0\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn board_lines() {
        assert_eq!(
            board_line(&Position::START, Dice::new(1, 3).unwrap()),
            "board:X:O:0:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:3:1:3:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:0\n"
        );
        let mut points = [0; 26];
        (points[25], points[6], points[0], points[24]) = (1, 2, -3, -4);
        assert_eq!(
            board_line(&Position::new(points).unwrap(), Dice::new(6, 6).unwrap()),
            "board:X:O:0:0:0:-3:0:0:0:0:0:2:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:-4:1:1:6:6:6:6:1:1:1:0:1:-1:0:25:12:8:0:0:0:0:0:0\n"
        );
    }

    /// gnubg aborts on lines of about 254 bytes.
    #[test]
    fn board_lines_are_short() {
        let mut points = [0; 26];
        for (point, count) in points.iter_mut().enumerate() {
            *count = if point % 2 == 0 { -1 } else { 1 };
        }
        (points[0], points[25]) = (-3, 3);
        let line = board_line(&Position::new(points).unwrap(), Dice::new(6, 6).unwrap());
        assert!(line.len() < 200, "{line}");
    }

    #[test]
    fn a_program_that_is_not_gnubg_is_reported() {
        // Says what it was given and ends.
        let error = GnubgPlayer::start_program(Path::new("/bin/echo"), 0).unwrap_err();
        assert!(matches!(&error, GnubgError::Ended { said, .. } if said.starts_with("-t -q -r -s")), "{error}");
        let error = GnubgPlayer::start_program(Path::new("/no/such/gnubg"), 0).unwrap_err();
        assert!(matches!(&error, GnubgError::Ended { said, .. } if said.contains("/no/such/gnubg")), "{error}");
    }
}
