//! A server of the program, and clients of it.

#![allow(clippy::unwrap_used, dead_code, reason = "tests may, and not every test uses all of this")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(60);

/// A server that ends with the test.
pub struct Server {
    pub process: Child,
    pub address: String,
    /// Reads what it logs, so that it can go on.
    logs: Option<JoinHandle<String>>,
}

impl Server {
    pub fn start(games: &Path, options: &[&str]) -> Server {
        Server::start_with(games, options, &[])
    }

    pub fn start_with(games: &Path, options: &[&str], variables: &[(&str, &str)]) -> Server {
        let threads = if options.contains(&"--threads") { &[][..] } else { &["--threads", "2"] };
        let mut process = Command::new(env!("CARGO_BIN_EXE_zar"))
            .args(["serve", "127.0.0.1:0", "--log", "json", "--games"])
            .arg(games)
            .args(threads)
            .args(options)
            .env_remove("ZAR_TOKEN")
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").expect("the server says where it listens");
        let mut stderr = process.stderr.take().unwrap();
        let logs = thread::spawn(move || {
            let mut logs = String::new();
            stderr.read_to_string(&mut logs).unwrap();
            logs
        });
        Server { address: address.to_owned(), process, logs: Some(logs) }
    }

    /// A server whose games are of no interest.
    pub fn plain(options: &[&str]) -> Server {
        Server::start(Path::new("none"), options)
    }

    pub fn connect(&self) -> Client {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client(BufReader::new(stream))
    }

    pub fn get(&self, path: &str) -> Answer {
        self.connect().ask("GET", path, &[], "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.connect().post(path, &body.to_string())
    }

    pub fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.process.id().to_string()]).status().unwrap().success());
    }

    /// All logs of a server that has ended.
    pub fn logs(&mut self) -> String {
        self.logs.take().unwrap().join().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A connection that is kept alive.
pub struct Client(pub BufReader<TcpStream>);

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Client {
    pub fn post(&mut self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, &["content-type: application/json"], body)
    }

    pub fn ask(&mut self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        self.send(method, path, headers, body.as_bytes());
        self.receive().expect("an answer")
    }

    pub fn send(&mut self, method: &str, path: &str, headers: &[&str], body: &[u8]) {
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: zar\r\n");
        for header in headers {
            text += &format!("{header}\r\n");
        }
        text += &format!("content-length: {}\r\n\r\n", body.len());
        // A server may refuse before it has read all.
        let _ = self.0.get_mut().write_all(&[text.as_bytes(), body].concat());
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        let _ = self.0.get_mut().write_all(bytes);
    }

    pub fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.0.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
    }

    /// The next answer; `None` when the server has left.
    pub fn receive(&mut self) -> Option<Answer> {
        let status = self.line()?.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(": ").unwrap_or((&line, ""));
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let mut answer = Answer { status, headers, body: Vec::new() };
        if answer.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk() {
                answer.body.extend(chunk);
            }
        } else {
            let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
            answer.body = vec![0; length];
            self.0.read_exact(&mut answer.body).ok()?;
        }
        Some(answer)
    }

    pub fn chunk(&mut self) -> Option<Vec<u8>> {
        let length = usize::from_str_radix(&self.line()?, 16).unwrap();
        let mut chunk = vec![0; length + 2];
        self.0.read_exact(&mut chunk).ok()?;
        chunk.truncate(length);
        (length > 0).then_some(chunk)
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    #[track_caller]
    pub fn good(&self) -> Value {
        assert!((200..300).contains(&self.status), "{} {}", self.status, self.text());
        self.json()
    }
}

/// Every fault has one shape, a code, and the name of the request; none tells of a path or a panic.
#[track_caller]
pub fn assert_fault(answer: &Answer, status: u16, code: &str, what: &str) {
    assert_eq!(answer.status, status, "{what}: {}", answer.text());
    let body = answer.json();
    assert_eq!(body["code"], code, "{what}: {body}");
    assert_eq!(body["request_id"].as_str(), answer.header("x-request-id"), "{what}");
    assert_eq!(body.as_object().unwrap().len(), 3, "{what}: {body}");
    let text = answer.text();
    assert!(!text.contains("src/") && !text.contains("panicked") && text.len() < 1000, "{what}: {text}");
}
