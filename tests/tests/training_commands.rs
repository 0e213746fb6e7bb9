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
games = 250
lambda = [1.0, 0.5]
rate = [2e-3, 5e-4]
"#;

fn zar_train(arguments: &str, folder: &Path) -> Command {
    let mut command = Command::new(program("zar-train"));
    // The date is a part of weights; around midnight two runs would differ by it.
    command.args(arguments.split_whitespace()).current_dir(folder).stdin(Stdio::null()).env("SOURCE_DATE_EPOCH", "0");
    command
}

fn output(arguments: &str, folder: &Path) -> Output {
    zar_train(arguments, folder).output().unwrap()
}

fn has_checkpoint(run: &Path) -> bool {
    let files = fs::read_dir(run.join("checkpoints")).into_iter().flatten().flatten();
    files.into_iter().any(|file| file.path().extension().is_some_and(|found| found == "zck"))
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
    assert!(printed.contains("250 games") && printed.contains("random mover"), "{printed}");

    let mut arguments = "run --config small.toml --out killed --threads 1 --checkpoint-every 1ms".to_owned();
    for kill in 0..8 {
        let mut child =
            zar_train(&arguments, folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(150 + 90 * kill));
        child.kill().unwrap();
        child.wait().unwrap();
        // Killed before its first checkpoint a run has left nothing to go on from, and starts again.
        if has_checkpoint(&folder.path().join("killed")) {
            arguments = "run --resume killed --threads 1 --checkpoint-every 1ms".into();
        }
    }
    succeeds(&arguments, folder.path());
    assert!(weights("straight") == weights("killed"), "kills changed the weights");
}

/// Weights are given a sieve and lose their rare rows; what is no weights file is refused, and a file is left as it was.
#[test]
fn weights_are_sieved_and_pruned() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), CONFIG).unwrap();
    succeeds("run --config small.toml --out run", folder.path());
    let size = |name: &str| fs::metadata(folder.path().join(name)).unwrap().len();
    let said = succeeds("sieve run/weights.zar --out sieved.zar --rounds 1", folder.path());
    assert!(said.contains("sieved.zar has a sieve") && size("sieved.zar") > size("run/weights.zar"), "{said}");
    let said = succeeds("prune sieved.zar --out pruned.zar --games 40 --least 20", folder.path());
    assert!(said.contains(" of 25742 rows of the contact network and "), "{said}");
    assert!(size("pruned.zar") < size("sieved.zar"));
    let said = succeeds("average sieved.zar pruned.zar --out mean.zar", folder.path());
    assert!(said.contains("mean.zar is the mean of 2 weights") && size("mean.zar") > size("pruned.zar"), "{said}");
    let decision = include_str!("../data/checker_dev.jsonl").lines().next().unwrap();
    fs::write(folder.path().join("decision.jsonl"), decision).unwrap();
    succeeds("score decision.jsonl --model pruned.zar", folder.path());

    fs::write(folder.path().join("not.zar"), "nothing").unwrap();
    for command in ["prune", "sieve"] {
        let refused = output(&format!("{command} not.zar --out not.zar"), folder.path());
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused.stderr).contains("not.zar: not a weights file"), "{}", text(&refused.stderr));
    }
    assert_eq!(fs::read(folder.path().join("not.zar")).unwrap(), b"nothing");
}

#[cfg(unix)]
#[test]
fn ctrl_c_and_termination_save_and_stop() {
    for signal in ["-INT", "-TERM"] {
        stops_at(signal);
    }
}

#[cfg(unix)]
fn stops_at(signal: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("long.toml"), CONFIG.replace("games = 250", "games = 2500000")).unwrap();
    let child = zar_train("run --config long.toml --out run --checkpoint-every 1h", folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !has_checkpoint(&folder.path().join("run")) {
        thread::sleep(Duration::from_millis(20));
    }
    // Ctrl-C is caught once the run is open, a moment after the first checkpoint.
    thread::sleep(Duration::from_secs(2));
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
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
class          n   err(mEq)      se    se_g    %best  %err>20m   %>100m no-2ply
bearoff      117       0.00    0.00    0.00    100.0       0.0      0.0       0
contact     2371       2.90    0.22    0.22     82.6       5.2      0.3       0
crashed      270       2.41    0.53    0.54     77.4       3.3      0.0       0
race         242       0.14    0.04    0.04     86.8       0.0      0.0       0
TOTAL       3000       2.52    0.18    0.19     83.2       4.4      0.2       0";
    assert_eq!(printed.trim_end(), expected);
    let json = succeeds(&format!("score {reference} --choices chosen --json --first 1500"), folder.path());
    let table: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(table["total"]["decisions"], 1500);
    // Both referees, and their mean: what `score2.py` prints.
    for (referee, [contact, crashed, total]) in [("second", [4.11, 2.97, 4.00]), ("mean", [3.28, 2.48, 3.20])] {
        let json = succeeds(&format!("score {reference} --choices chosen --json --referee {referee}"), folder.path());
        let table: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(table["total"]["decisions"], 2641, "{referee}");
        let found = [&table["classes"]["contact"], &table["classes"]["crashed"], &table["total"]];
        for (found, expected) in found.into_iter().zip([contact, crashed, total]) {
            let found = found["error"].as_f64().unwrap();
            assert!((found - expected).abs() < 0.005 + 1e-9, "{referee}: {found}, expected {expected}");
        }
    }
}

#[test]
fn plot_draws_the_metrics_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), CONFIG).unwrap();
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/data/checker_dev.jsonl");
    succeeds(
        &format!("run --config small.toml --out run --reference {reference} --measure-every 50 --seed 3"),
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
    fs::write(folder.path().join("small.toml"), CONFIG).unwrap();
    fs::write(folder.path().join("not.toml"), "[[[\nx = 1").unwrap();
    fs::write(folder.path().join("not.zar"), "not weights").unwrap();
    let decision = include_str!("../data/checker_dev.jsonl").lines().next().unwrap();
    fs::write(folder.path().join("data"), decision).unwrap();
    fs::write(folder.path().join("choices"), "# made up\nsGfwATDgc/ABMA\n").unwrap();
    fs::create_dir_all(folder.path().join("taken")).unwrap();
    fs::write(folder.path().join("taken/weights.zar"), "dear").unwrap();
    fs::create_dir_all(folder.path().join("empty/checkpoints")).unwrap();
    for (arguments, fault) in [
        ("run --config missing.toml", "missing.toml"),
        ("run --config bad.toml", "batch is 0"),
        ("run --config not.toml", "line 1 of the run configuration"),
        ("run --config small.toml --out taken", "is in the way of a new run"),
        ("run", "expected --preset NAME or --config FILE, or zar-train run --resume RUN"),
        ("run --preset refine", "goes on from weights: use zar-train refine"),
        ("refine not.zar --preset refine", "not.zar: not a weights file"),
        ("refine missing.zar", "expected --preset NAME or --config FILE"),
        ("average 0ply.zar not.zar --out taken", "taken: what is there is no regular file"),
        ("score data --chosen missing/choices", "missing/choices: No such file or directory"),
        ("score data --choices data --level 1ply", "cannot be used with"),
        ("score data --choices choices", "choices: choice 1: sGfwATDgc/ABMA is not a legal result"),
        ("", "requires a subcommand"),
        ("score", "required"),
        ("plot run --seed 1", "unexpected argument"),
        ("score data --level 4ply", "4ply"),
        ("score data --referee third", "third"),
        ("score data --filter wide", "wide"),
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
        assert_eq!((output.status.code(), message.lines().count()), (Some(2), 1), "{arguments}: {message}");
        assert!(message.contains(fault), "{arguments}: {message}");
        assert!(output.stdout.is_empty(), "{arguments}");
    }
    assert_eq!(fs::read(folder.path().join("taken/weights.zar")).unwrap(), b"dear");
}

/// A finished run that is resumed writes its weights again, if they have been lost.
#[test]
fn finished_runs_keep_their_weights() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), CONFIG.replace("games = 250", "games = 50")).unwrap();
    succeeds("run --config small.toml --out run --measure-every 18446744073709551615", folder.path());
    let path = folder.path().join("run/weights.zar");
    let weights = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    succeeds("run --resume run --measure-every 18446744073709551615", folder.path());
    assert!(fs::read(&path).unwrap() == weights);
    // Another seed, other weights.
    succeeds("run --config small.toml --out other --seed 4", folder.path());
    assert!(fs::read(folder.path().join("other/weights.zar")).unwrap() != weights);
}

/// The peers sit at the table as real programs.
#[test]
fn duels_against_peers() {
    let folder = tempfile::tempdir().unwrap();
    for peer in ["gnubg:0ply", "gnubg:pubeval"] {
        let report = |threads| -> serde_json::Value {
            let text =
                succeeds(&format!("duel 0ply {peer} --games 20 --seed 3 --threads {threads} --json"), folder.path());
            let mut report: serde_json::Value = serde_json::from_str(&text).unwrap();
            report.as_object_mut().unwrap().remove("games_per_second");
            report
        };
        let (one, two) = (report(1), report(2));
        assert_eq!(one, two, "the number of threads changed the result");
        assert_eq!(one["games"], 20);
        let points = one["points_per_game"].as_f64().unwrap();
        let interval = |end: usize| one["interval"][end].as_f64().unwrap();
        assert!(interval(0) < points && points < interval(1) && points.abs() < 3.0, "{one}");
        let share = |side: &str| one[side]["games"].as_f64().unwrap();
        assert!((share("won") + share("lost") - 1.0).abs() < 1e-9, "{one}");
    }
}

/// A reader who leaves is no fault; a full disk is one, and said so.
#[cfg(target_os = "linux")]
#[test]
fn closed_pipes_and_full_disks() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = zar_train("duel random random --games 2000", folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let left = child.wait_with_output().unwrap();
    assert!(left.status.success() && left.stderr.is_empty(), "{}", text(&left.stderr));

    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = zar_train("duel random random --games 2", folder.path()).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot write the answer"), "{}", text(&output.stderr));
}
