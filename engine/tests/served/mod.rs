//! `zar external` as a program of its own, for tests.
#![allow(clippy::unwrap_used, dead_code, reason = "a test")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

/// Bear-off tables are built once for all tests.
pub const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");

/// A running server, which ends with the test.
pub struct Server {
    child: Child,
    pub address: String,
    told: Arc<Mutex<String>>,
}

impl Server {
    pub fn start(options: &[&str]) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_zar"))
            .args(["external", "127.0.0.1:0", "--verbose", "--threads", "1", "--cache", CACHE])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on ").unwrap_or_else(|| panic!("{line:?}")).trim().to_owned();
        let told = Arc::new(Mutex::new(String::new()));
        let (stderr, log) = (child.stderr.take().unwrap(), told.clone());
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut log = log.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        Server { child, address, told }
    }

    /// What it has told on standard error.
    pub fn told(&self) -> String {
        self.told.lock().unwrap().clone()
    }

    pub fn connect(&self) -> Client {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client { input: BufReader::new(stream.try_clone().unwrap()), stream }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection to it.
pub struct Client {
    pub stream: TcpStream,
    input: BufReader<TcpStream>,
}

impl Client {
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next line without its end; empty at the end of the connection too.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.input.read_line(&mut line).unwrap();
        line.trim_end_matches('\n').to_owned()
    }

    /// The answer to a line that is sent as GNU Backgammon sends it.
    pub fn ask(&mut self, line: &str) -> String {
        self.send(line.as_bytes());
        self.send(b"\n\0");
        self.line()
    }

    /// The next line, or nothing from a connection that is torn down.
    pub fn line_if_any(&mut self) -> String {
        let mut line = String::new();
        let _ = self.input.read_line(&mut line);
        line.trim_end_matches('\n').to_owned()
    }

    /// Whatever comes until the other side closes.
    pub fn rest(mut self) -> String {
        let mut rest = String::new();
        self.input.read_to_string(&mut rest).unwrap();
        rest
    }
}
