//! The doors that are programs, and how they are asked.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use zar::{
    board::CubeOwner,
    rules::{MoneyOptions, Session},
};
use zar_tests::program;

use super::corpus::{Form, Kind, Question};

/// Bear-off tables are built once for all doors.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");
const PATIENCE: Duration = Duration::from_secs(60);

/// What a program answers on its standard output to its standard input, line by line.
pub fn lines_of(command: &mut Command, input: String) -> Vec<String> {
    let mut child =
        command.env("ZAR_CACHE", CACHE).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program");
    let mut stdin = child.stdin.take().unwrap();
    // Written beside the reading: both pipes are shorter than what goes through them.
    let writer = thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{command:?} {}", output.status);
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn zar(command: &str) -> Command {
    let mut zar = Command::new(program("zar"));
    zar.args([command, "--threads", "2"]);
    zar
}

/// `zar decide`.
pub fn decide(questions: &[Question]) -> Vec<Value> {
    let input = questions.iter().map(|question| format!("{}\n", question.request)).collect();
    lines_of(&mut zar("decide"), input).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// `zar serve`.
pub fn http(questions: &[Question]) -> Vec<Value> {
    let mut server = Server::start();
    questions
        .iter()
        .map(|question| {
            let path = match question.kind {
                Kind::Play(_) => "/v1/move",
                Kind::Cube => "/v1/cube",
                Kind::Eval => "/v1/eval",
            };
            let (status, mut answer) = server.post(path, &question.request.to_string());
            assert_eq!((400..500).contains(&status), answer.get("error").is_some(), "{status} {answer}");
            if status >= 400 {
                answer = json!({"error": answer["error"]});
            }
            answer
        })
        .collect()
}

struct Server {
    process: Child,
    connection: BufReader<TcpStream>,
}

impl Server {
    fn start() -> Server {
        let mut process = zar("serve")
            .args(["127.0.0.1:0", "--log", "off", "--games", "none"])
            .env("ZAR_CACHE", CACHE)
            .env_remove("ZAR_TOKEN")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").expect("the server says where it listens");
        let connection = TcpStream::connect(address).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        connection.set_nodelay(true).unwrap();
        Server { process, connection: BufReader::new(connection) }
    }

    fn post(&mut self, path: &str, body: &str) -> (u16, Value) {
        let head = format!("POST {path} HTTP/1.1\r\nhost: zar\r\ncontent-type: application/json\r\n");
        let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        self.connection.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut status, mut length) = (0, 0);
        for number in 0.. {
            let mut line = String::new();
            self.connection.read_line(&mut line).unwrap();
            match line.trim_end().split_once(": ") {
                None if number == 0 => status = line.split(' ').nth(1).unwrap().parse().unwrap(),
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.connection.read_exact(&mut body).unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `zar ubgi`: the lines that follow each question, or `None` where it cannot be asked.
///
/// The protocol has no evaluations, and what it says about a game that an XGID has set up is not what overrules it.
pub fn ubgi(questions: &[Question]) -> Vec<Option<Vec<String>>> {
    let mut process = zar("ubgi").env("ZAR_CACHE", CACHE).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
    let mut lines = BufReader::new(output).lines();
    input.write_all(b"set engine.move_id on\n").unwrap();
    let answers = questions.iter().enumerate().map(|(number, question)| {
        input.write_all(ubgi_lines(question, number % 2 == 1)?.as_bytes()).unwrap();
        let mut answer = Vec::new();
        loop {
            let line = lines.next().expect("an answer").unwrap();
            let last = ["bestmoveid", "bestcube", "error"].iter().any(|word| line.starts_with(word));
            answer.push(line);
            if last {
                return Some(answer);
            }
        }
    });
    let answers = answers.collect();
    drop(input);
    assert!(process.wait().unwrap().success());
    answers
}

/// The lines that ask a question, with p1 on roll or p0.
fn ubgi_lines(question: &Question, second: bool) -> Option<String> {
    let (role, dice) = match question.kind {
        Kind::Play(dice) => ("chequer", Some(dice)),
        Kind::Cube => ("cube", None),
        Kind::Eval => return None,
    };
    let mode = if question.cubeful { "cubeful" } else { "cubeless" };
    let mut lines = format!(
        "set game.variant {}\nset engine.level {}\nset engine.eval_mode {mode}\n",
        question.rules, question.level
    );
    let on = |on: bool| if on { "on" } else { "off" };
    let pos = question.request["pos"].as_str().unwrap();
    match question.form {
        Form::Overruled => return None,
        Form::Xgid => lines += &format!("newsession type money\nposition xgid {pos}\n"),
        Form::MatchId => {
            lines += &format!("newsession type money jacoby off beavers off\nposition gnubgid {pos}\n");
        }
        Form::Beside => {
            let players = if second { ["p1", "p0"] } else { ["p0", "p1"] };
            match question.stakes.session {
                Session::Money(MoneyOptions { jacoby, beavers }) => {
                    lines += &format!("newsession type money jacoby {} beavers {}\n", on(jacoby), on(beavers));
                }
                Session::Match(score) => {
                    let mut scores = score.scores();
                    if second {
                        scores.reverse();
                    }
                    let [zero, one] = scores;
                    lines +=
                        &format!("newsession type match length {} crawford {}\n", score.length(), on(score.crawford()));
                    lines += &format!("setscore {zero} {one}\n");
                }
            }
            let owner = match question.stakes.cube.owner() {
                CubeOwner::Centered => "center",
                CubeOwner::Player => players[0],
                CubeOwner::Opponent => players[1],
            };
            lines += &format!("newgame\nsetcube value {} owner {owner}\n", question.stakes.cube.value());
            lines += &format!("setturn {}\nposition gnubgid {pos}\n", players[0]);
        }
    }
    if let Some(dice) = dice.filter(|_| question.request.get("dice").is_some()) {
        lines += &format!("dice {} {}\n", dice.low(), dice.high());
    }
    Some(format!("{lines}go role {role}\n"))
}

/// The package for Python and the library for C, both asked by a program in Python: a pair of answers to each question,
/// the second null where C cannot ask it.
///
/// In C stakes are given whole or not at all, so that nothing of a text can be overruled by half.
pub fn libraries(questions: &[Question]) -> Vec<[Value; 2]> {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().unwrap();
    let library = |name: &str| {
        let name = format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        let path = built.join(name);
        assert!(path.exists(), "{path:?} has been built");
        path
    };
    // The package as it is installed.
    let (own, path) = (Path::new(env!("CARGO_MANIFEST_DIR")), Path::new(env!("CARGO_TARGET_TMPDIR")).join("python"));
    let package = path.join("zar");
    std::fs::create_dir_all(&package).unwrap();
    std::fs::copy(own.join("python/zar/__init__.py"), package.join("__init__.py")).unwrap();
    std::fs::copy(library("zar_python"), package.join("_zar.abi3.so")).unwrap();
    let input = questions.iter().map(|question| format!("{}\n", question.request)).collect();
    let mut python = Command::new("python3");
    python.arg(own.join("tests/doors/libraries.py")).arg(library("zar_c")).env("PYTHONPATH", path);
    lines_of(&mut python, input).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}
