//! `zar rollout`, levels and time as their user meets them.

#![allow(clippy::unwrap_used, reason = "a test")]
#![cfg(feature = "cli")]

use std::{
    process::{Command, Output},
    time::{Duration, Instant},
};

use serde_json::Value;

fn zar(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zar")).args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = zar(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_position_is_rolled_out_alike_by_any_threads() {
    let asked = ["rollout", "start", "--cubeless", "--games", "100", "--turns", "6", "--seed", "3"];
    let answer = json(&[&asked[..], &["--threads", "1"]].concat());
    assert_eq!(answer, json(&[&asked[..], &["--threads", "3"]].concat()));
    // Rounded up to whole blocks of 36.
    assert_eq!((&answer["games"], &answer["cubeful"]), (&Value::from(108), &Value::from(false)));
    assert!(number(&answer["se"]) > 0.0 && number(&answer["ci95"]) > 2.0 * number(&answer["se"]));
    assert!((number(&answer["equity"]) - 0.07).abs() < 0.1, "{answer}");
    let win = number(&answer["probs"][0]);
    assert!((0.45..0.6).contains(&win) && number(&answer["probs_se"][0]) < 0.05, "{answer}");
}

#[test]
fn plays_and_doubles_are_rolled_out() {
    let answer = json(&["rollout", "start", "31", "--games", "72", "--turns", "4"]);
    assert_eq!((&answer["plays"][0]["play"], &answer["plays"][0]["games"]), (&"8/5 6/5".into(), &72.into()));
    let legal = answer["plays"].as_array().unwrap().len() + answer["others"].as_array().unwrap().len();
    assert_eq!(legal, 16);
    // A race that is nearly won: a double that is dropped, whatever is rolled.
    let won = "XGID=-BBBC-----------------ed--:0:0:1:00:0:0:0:0:10";
    let answer = json(&["rollout", won, "--cube", "--games", "72"]);
    assert_eq!(number(&answer["dp"]), 1.0);
    assert!(["double-drop", "double-take"].contains(&answer["action"].as_str().unwrap()), "{answer}");
    let text = zar(&["rollout", "start", "--games", "72", "--turns", "2"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("with 95 %   72 games") && !text.contains("No game needed a roll"), "{text}");
    // Without a roll the sure result says how it came about.
    let dropped = "XGID=-BBBCCC------------dddc---:0:0:1:00:0:0:0:0:10";
    let dropped = String::from_utf8(zar(&["rollout", dropped, "--games", "72"]).stdout).unwrap();
    assert!(dropped.contains("+1.000") && dropped.contains("a double is dropped at once"), "{dropped}");
}

#[test]
fn rules_end_a_rollout_early() {
    let answer = json(&["rollout", "start", "--games", "100000", "--turns", "2", "--se", "0.02"]);
    assert!(number(&answer["se"]) <= 0.02 && answer["games"].as_u64().unwrap() < 10_000, "{answer}");
}

#[test]
fn bad_input_is_named() {
    for (arguments, fault) in [
        (&["rollout", "start", "--games", "71"][..], "71"),
        (&["rollout", "start", "--se", "-1"], "expected an equity above 0"),
        (&["rollout", "start", "31", "--confidence", "0.2"], "expected a probability above 0.5"),
        (&["rollout", "start", "--turns", "0"], "0"),
        (&["rollout", "start", "31", "--cube"], "--cube"),
        (&["rollout", "start", "37"], "7"),
        (&["rollout", "start", "--cube", "--rules", "table"], "there is no cube in this game under table"),
        (&["rollout", "XGID=-BBBC-----------------ed--:1:-1:1:00:0:0:0:0:10", "--cube"], "the opponent holds the cube"),
        (&["eval", "start", "--time", "soon"], "soon"),
        (&["eval", "start", "--level", "genius"], "expected beginner, casual"),
    ] {
        let output = zar(arguments);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), told.lines().count()), (Some(2), 1), "{arguments:?}: {told}");
        assert!(told.contains(fault), "{arguments:?}: {told}");
    }
}

/// Time is kept: three plies of a wide search would take many seconds.
#[test]
fn time_is_kept() {
    let begun = Instant::now();
    let answer = json(&["move", "start", "62", "--time", "300ms", "--filter", "none", "--threads", "2"]);
    // The program's start and the test's machine come on top.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(answer["plays"].as_array().unwrap().len() > 10);
    let stopped = zar(&["rollout", "start", "--games", "1000000", "--time", "1ms"]);
    assert_eq!(stopped.status.code(), Some(1));
    assert!(String::from_utf8(stopped.stderr).unwrap().contains("stopped before its first games were done"));
}

#[test]
fn people_err_alike_with_the_same_seed() {
    let equity = |seed: &str| number(&json(&["eval", "start", "--level", "beginner", "--seed", seed])["cubeless"]);
    assert_eq!(equity("1"), equity("1"));
    assert_ne!(equity("1"), equity("2"));
    let best = number(&json(&["eval", "start", "--level", "0ply", "--seed", "1"])["cubeless"]);
    assert_eq!(best, number(&json(&["eval", "start", "--seed", "2"])["cubeless"]));
}
