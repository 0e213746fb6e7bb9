//! `zar play`: an offer to give up that the player has refused is not made again.

#![allow(clippy::unwrap_used, reason = "tests may")]

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use zar::{
    board::{MatchId, MatchPlayer, Position},
    rules::{Match, MatchOptions, RuleSet},
};

#[test]
fn a_refused_offer_is_not_repeated() {
    let mut points = [0i8; 26];
    // The bot is on roll and has far to go; the player bears three checkers off in two turns, or with a double.
    (points[6], points[24]) = (14, -3);
    let position = Position::new(points).unwrap();
    let id = MatchId::start(0, MatchPlayer::Zero);
    let game = Match::from_ids(position, id, RuleSet::Backgammon, MatchOptions::default(), 1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("game");
    fs::write(&file, serde_json::to_vec(&game).unwrap()).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_zar"))
        .args(["play", "--seed", "1", "--threads", "1", "--load"])
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"refuse\nroll\n1/off 1/off\nroll\n1/off\nquit\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches("The bot gives up.").count(), 1, "{text}");
    assert!(text.matches("The bot rolls").count() >= 2 && text.contains("You win 1 point."), "{text}");
}
