//! `zar-train` as its users run it.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use zar_tests::program;

const CONFIG: &str = r#"
seed = 9
round_games = 25
batch = 256
random_openings = 0.2
random_plays = 4
averaged_rounds = 3.0

[contact]
features = "contact-patterns"
activation = "relu"
width = 64
hidden = [16]

[race]
features = "race-counts"
activation = "relu"
width = 64
hidden = []

[[phase]]
games = 500
lambda = [1.0, 0.5]
rate = [2e-3, 5e-4]
"#;

fn zar_train(arguments: &str, folder: &Path) -> Command {
    let mut command = Command::new(program("zar-train"));
    command.args(arguments.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    command
}

fn output(arguments: &str, folder: &Path) -> Output {
    zar_train(arguments, folder).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn succeeds(arguments: &str, folder: &Path) -> String {
    let output = output(arguments, folder);
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

/// Killed at many moments and resumed, a run ends with the weights of a run that was left alone.
#[test]
fn killed_runs_resume_to_the_same_weights() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), CONFIG).unwrap();
    let weights = |run: &str| fs::read(folder.path().join(run).join("weights.zar")).unwrap();

    let printed = succeeds("run --config small.toml --out straight --threads 2", folder.path());
    assert!(printed.contains("500 games") && printed.contains("random mover"), "{printed}");

    let mut arguments = "run --config small.toml --out killed --threads 1 --checkpoint-every 1ms".to_owned();
    for kill in 0..8 {
        let mut child =
            zar_train(&arguments, folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(150 + 90 * kill));
        child.kill().unwrap();
        child.wait().unwrap();
        // Killed before its first checkpoint a run has left nothing to go on from, and starts again.
        let checkpoints = fs::read_dir(folder.path().join("killed/checkpoints")).into_iter().flatten();
        if checkpoints.flatten().any(|file| file.path().extension().is_some_and(|found| found == "zck")) {
            arguments = "run --resume killed --threads 1 --checkpoint-every 1ms".into();
        }
    }
    succeeds(&arguments, folder.path());
    assert!(weights("straight") == weights("killed"), "kills changed the weights");
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_and_stops() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("long.toml"), CONFIG.replace("games = 500", "games = 5000000")).unwrap();
    let child = zar_train("run --config long.toml --out run --checkpoint-every 1h", folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_secs(3));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("Stopped and saved after"), "{}", text(&output.stdout));
    let resumed = output_after_resume(folder.path());
    assert!(resumed.contains("going on after") && !resumed.contains("going on after 0 "), "{resumed}");
}

fn output_after_resume(folder: &Path) -> String {
    let output = output("run --resume run --time-budget 1ms", folder);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stderr).to_owned()
}

/// What `score.py`, the reference implementation of the measure, prints for the plays of GNU Backgammon 0-ply.
#[test]
fn score_equals_the_reference_implementation() {
    let folder = tempfile::tempdir().unwrap();
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/data/checker_dev.jsonl");
    let lines = fs::read_to_string(reference).unwrap();
    let chosen: String = lines
        .lines()
        .map(|line| {
            let decision: serde_json::Value = serde_json::from_str(line).unwrap();
            format!("{}\n", decision["g0"].as_str().unwrap())
        })
        .collect();
    fs::write(folder.path().join("chosen"), format!("# GNU Backgammon 0-ply\n{chosen}")).unwrap();
    let printed = succeeds(&format!("score {reference} --choices chosen"), folder.path());
    let expected = "\
class          n   err(mEq)      se    se_g    %best  %err>20m   %>100m
bearoff      117       0.00    0.00    0.00    100.0       0.0      0.0
contact     2371       2.90    0.22    0.22     82.6       5.2      0.3
crashed      270       2.41    0.53    0.54     77.4       3.3      0.0
race         242       0.14    0.04    0.04     86.8       0.0      0.0
TOTAL       3000       2.52    0.18    0.19     83.2       4.4      0.2";
    assert_eq!(printed.trim_end(), expected);
    let json = succeeds(&format!("score {reference} --choices chosen --json --first 1500"), folder.path());
    let table: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(table["total"]["decisions"], 1500);
}

#[test]
fn plot_draws_the_metrics_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), CONFIG).unwrap();
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/data/checker_dev.jsonl");
    succeeds(
        &format!("run --config small.toml --out run --reference {reference} --measure-every 100 --seed 3"),
        folder.path(),
    );
    let metrics = fs::read_to_string(folder.path().join("run/metrics.csv")).unwrap();
    assert!(metrics.lines().count() >= 6, "{metrics}");
    succeeds("plot run", folder.path());
    let picture = fs::read_to_string(folder.path().join("run/curve.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("mEMG"));
}

#[test]
fn bad_input_is_one_line_and_status_2() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.toml"), CONFIG.replace("batch = 256", "batch = 0")).unwrap();
    fs::write(folder.path().join("not.zar"), "not weights").unwrap();
    fs::create_dir_all(folder.path().join("empty/checkpoints")).unwrap();
    for (arguments, fault) in [
        ("run --config missing.toml", "missing.toml"),
        ("run --config bad.toml", "batch is 0"),
        ("run --preset slow", "\"slow\" is not a preset"),
        ("run --resume nowhere", "nowhere"),
        ("run --resume empty", "no usable checkpoint"),
        ("run --preset quick --device cuda", "build with --features cuda"),
        ("run --preset quick --reference missing.jsonl", "missing.jsonl"),
        ("score missing.jsonl", "missing.jsonl"),
        ("score not.zar", "line 1"),
        ("duel not.zar random", "not a weights file"),
        ("duel random nobody", "\"nobody\" is neither a weights file"),
        ("plot nowhere", "nowhere"),
    ] {
        let output = output(arguments, folder.path());
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.contains(fault), "{arguments}: {message}");
        assert!(output.stdout.is_empty(), "{arguments}");
    }
}
