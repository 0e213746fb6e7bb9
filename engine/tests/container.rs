//! What the Dockerfile runs, without Docker: the command that it starts, and how it asks whether that is well.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

const DOCKERFILE: &str = include_str!("../../Dockerfile");

/// The arguments of the last instruction that begins so.
fn arguments(instruction: &str) -> Vec<String> {
    let joined = DOCKERFILE.replace("\\\n", " ");
    let line = joined.lines().rfind(|line| line.starts_with(instruction)).unwrap();
    serde_json::from_str(&line[line.find('[').unwrap()..]).unwrap()
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_command_of_the_container_serves_and_is_healthy() {
    let data = Path::new(env!("CARGO_TARGET_TMPDIR")).join("container");
    let _ = fs::remove_dir_all(&data);
    fs::create_dir_all(&data).unwrap();
    assert_eq!(arguments("ENTRYPOINT"), ["zar"]);
    let command: Vec<String> = arguments("CMD")
        .into_iter()
        .map(|word| word.replace("0.0.0.0:8080", "127.0.0.1:0").replace("/data", data.to_str().unwrap()))
        .collect();
    let mut server = Command::new(env!("CARGO_BIN_EXE_zar"))
        .args(&command)
        .env("ZAR_CACHE", data.join("cache"))
        .env_remove("ZAR_TOKEN")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let server = Server(server);
    let port = line.trim().strip_prefix("listening on http://127.0.0.1:").unwrap_or_else(|| panic!("{line:?}"));
    assert!(data.join("games.redb").exists() && fs::read_dir(data.join("cache")).unwrap().count() > 0);

    let healthy = || {
        let check: Vec<String> = arguments("HEALTHCHECK").iter().map(|word| word.replace("8080", port)).collect();
        Command::new(&check[0]).args(&check[1..]).stderr(Stdio::null()).status().unwrap().success()
    };
    assert!(healthy());
    drop(server);
    assert!(!healthy());
}
