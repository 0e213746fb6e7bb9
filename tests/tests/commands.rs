//! The program `zar` as its users meet it.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
    time::Duration,
};

use assert_cmd::assert::OutputAssertExt;
use serde_json::{Value, json};
use zar_tests::program;

/// Positions and rolls with every legal result.
const GOLDEN: &str = include_str!("../data/movegen.jsonl");

const START: &str = "4HPwATDgc/ABMA";
/// The opponent has borne off all his checkers.
const FINISHED: &str = "AAAA3q8AAAAAAA";

fn zar(arguments: &[&str]) -> Command {
    let mut command = Command::new(program("zar"));
    command.args(arguments);
    command
}

/// What a command prints when all is well.
fn output(arguments: &[&str]) -> String {
    let assert = zar(arguments).assert().success().stderr("");
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

fn json_output(arguments: &[&str]) -> Value {
    let text = output(&[arguments, &["--json"]].concat());
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// The one line with which a command refuses.
fn refusal(arguments: &[&str]) -> String {
    let assert = zar(arguments).assert().code(2).stdout("");
    let line = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(line.ends_with('\n') && line.lines().count() == 1, "{arguments:?}: {line}");
    assert!(!line.contains("panicked"), "{line}");
    line
}

/// What `zar decide` answers to an input, line by line.
fn decide(input: impl AsRef<[u8]>, arguments: &[&str]) -> Vec<Value> {
    let mut child = start_decide(arguments);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_ref().to_vec();
    // Written beside the reading: both pipes are shorter than what goes through them.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn start_decide(arguments: &[&str]) -> Child {
    zar(&["decide"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn assert_consistent(probs: &[f64]) {
    let &[win, win_gammon, win_triple, lose_gammon, lose_triple] = probs else { panic!("{probs:?}") };
    assert!(probs.iter().all(|p| (0.0..=1.0).contains(p)), "{probs:?}");
    assert!(win_gammon <= win && win_triple <= win_gammon, "{probs:?}");
    assert!(lose_gammon <= 1.0 - win && lose_triple <= lose_gammon, "{probs:?}");
}

#[test]
fn eval_of_the_start() {
    for position in
        ["start", START, "4HPwATDgc/ABMA:cAkAAAAAAAAE", "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"]
    {
        let answer = json_output(&["eval", position]);
        assert_eq!(answer["pos"], START);
        let probs = numbers(&answer["probs"]);
        assert_consistent(&probs);
        assert!((0.5..0.56).contains(&probs[0]), "{answer}");
        let cubeless = 2.0 * probs[0] - 1.0 + probs[1] + probs[2] - probs[3] - probs[4];
        assert!((answer["cubeless"].as_f64().unwrap() - cubeless).abs() < 1e-5, "{answer}");
        assert!((0.0..0.25).contains(&answer["cubeful"].as_f64().unwrap()), "{answer}");
    }
    let text = output(&["eval", "start"]);
    assert!(text.contains("cubeless") && text.contains("cubeful") && text.contains("167 to 167"), "{text}");
    assert!(!output(&["eval", "start", "--cubeless"]).contains("cubeful"));
    // Who leaves the cube and the score out is not told what plays are worth that were chosen for their sake.
    const AT_MATCH_POINT: &str = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:4:4:0:5:10";
    let probs = |args: &[&str]| json_output(args)["probs"].clone();
    let at_match_point = probs(&["eval", AT_MATCH_POINT, "--level", "1ply"]);
    let without_score = probs(&["eval", AT_MATCH_POINT, "--level", "1ply", "--cubeless"]);
    assert_eq!(without_score, probs(&["eval", "start", "--level", "1ply", "--cubeless"]));
    assert_ne!(without_score, at_match_point);
}

#[test]
fn move_of_the_first_roll() {
    let answer = json_output(&["move", "start", "31"]);
    let plays = answer["plays"].as_array().unwrap();
    assert_eq!(plays.len(), 16);
    assert_eq!(plays[0]["play"], "8/5 6/5");
    assert_eq!(plays[0]["after"], "sGfwATDgc/ABMA");
    assert!(plays.iter().map(|play| play["equity"].as_f64().unwrap()).is_sorted_by(|a, b| a >= b));
    plays.iter().for_each(|play| assert_consistent(&numbers(&play["probs"])));
    for dice in ["13", "3-1", "1-3"] {
        assert_eq!(json_output(&["move", "start", dice]), answer);
    }
    let text = output(&["move", "start", "31"]);
    assert!(text.lines().nth(1).unwrap().starts_with(" 1  8/5 6/5 "), "{text}");
    assert_eq!(text.lines().count(), 12, "{text}");
    assert_eq!(output(&["move", "start", "31", "--all", "--cubeless"]).lines().count(), 17);
}

#[test]
fn move_takes_the_dice_of_the_position() {
    let xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10";
    assert_eq!(json_output(&["move", xgid]), json_output(&["move", "start", "31"]));
    assert_eq!(json_output(&["move", xgid, "65"]), json_output(&["move", "start", "65"]));
    // Two checkers on the bar against a closed board.
    let answer = json_output(&["move", "XGID=-EEC---------------bbbbbbB:0:0:1:31:0:0:0:0:10"]);
    assert_eq!(answer["plays"].as_array().unwrap().len(), 1, "{answer}");
    assert_eq!(answer["plays"][0]["play"], "");
    assert!(output(&["move", "XGID=-EEC---------------bbbbbbB:0:0:1:31:0:0:0:0:10"]).contains("cannot move"));
}

#[test]
fn match_scores_count() {
    // 0-0 in a match to 7, and the Crawford game of one.
    let answer = json_output(&["eval", "4HPwATDgc/ABMA:cInqAAAAAAAE"]);
    let chance = answer["mwc"].as_f64().unwrap();
    assert!((0.45..0.6).contains(&chance), "{answer}");
    let crawford = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:6:2:1:7:10";
    let line = refusal(&["cube", crawford]);
    assert!(line.contains("played without the cube"), "{line}");
    let cube = json_output(&["cube", "XGID=aa--BBC-A---dE---d-e----B-:0:0:1:00:3:2:0:7:10"]);
    let [nd, dt, dp] = ["nd", "dt", "dp"].map(|way| cube["mwc"][way].as_f64().unwrap());
    assert!(nd < dp && dp < dt && cube["action"] == "double-drop", "{cube}");
    let plays = json_output(&["move", "4HPwATDgc/ABMA:cInqAAAAAAAE", "31"]);
    assert_eq!(plays["plays"][0]["play"], "8/5 6/5");
    assert!(output(&["match-info", "--length", "7", "--score", "3,5", "--cube", "2"]).contains("33.13%"));
    for arguments in [
        &["match-info", "--length", "7", "--score", "3,7"][..],
        &["match-info", "--length", "7", "--score", "3"],
        &["match-info", "--length", "7", "--score", "3,5", "--crawford"],
        &["match-info", "--length", "7", "--score", "3,5", "--cube", "3"],
        &["match-info", "--length", "7", "--score", "3,5", "--met", "/nowhere"],
        &["match-info", "--length", "7", "--score", "3,5", "--rules", "table"],
    ] {
        refusal(arguments);
    }
}

/// Looking ahead gives other numbers than the bare networks, and finds the same best play for an easy roll.
#[test]
fn levels_look_ahead() {
    let [bare, deeper] = ["0ply", "1ply"].map(|level| json_output(&["move", "start", "31", "--level", level]));
    assert_eq!(bare["plays"][0]["after"], deeper["plays"][0]["after"]);
    assert_ne!(bare["plays"][0]["equity"], deeper["plays"][0]["equity"]);
    let answer = json_output(&["cube", "XGID=aa--BBC-A---dE---d-e----B-:0:0:1:00:0:0:0:0:10", "--level", "2ply"]);
    assert_eq!(answer["action"], "double-take", "{answer}");
}

#[test]
fn every_rule_set_is_answered() {
    for rules in ["backgammon", "tavla", "tavla2004", "table", "plain"] {
        let probs = numbers(&json_output(&["eval", "start", "--rules", rules])["probs"]);
        assert_eq!(probs[1] > 0.0, rules != "plain", "{rules}: {probs:?}");
        assert_eq!(probs[2] > 0.0, !["plain", "table"].contains(&rules), "{rules}: {probs:?}");
        assert_eq!(json_output(&["move", "start", "31", "--rules", rules])["plays"].as_array().unwrap().len(), 16);
    }
    let line = refusal(&["cube", "start", "--rules", "table"]);
    assert!(line.contains("no cube in this game under table"), "{line}");
}

/// A game in the terminal: hints, a play in parts, saved and gone on with; the end of the input ends it.
#[test]
fn a_game_is_played_in_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("game.json");
    let play = |arguments: &[&str], input: &str| {
        let mut command = zar(&[&["play", "--seed", "4"], arguments].concat());
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        // A program that has left reads no more.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let save = format!("save {}", saved.display());
    let text = play(&["--length", "5"], &format!("hint\nroll\n24/20\nundo\n24/20(2)\n{save}\n13/9(2)\n"));
    for expected in
        ["No double, take", "You roll 4-4", "24/20 is taken back", "There is more to play", "Saved", "The bot rolls"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let text = play(&["--load", saved.to_str().unwrap()], "resign 2\n\nq\n");
    assert!(text.contains("The bot wins 2 points. Score: you 0, bot 2."), "{text}");
    fs::write(&saved, "{}").unwrap();
    let line = refusal(&["play", "--load", saved.to_str().unwrap()]);
    assert!(line.contains("not a saved match"), "{line}");
    refusal(&["play", "--rules", "table", "--length", "3"]);
}

#[test]
fn cube_decisions() {
    let answer = json_output(&["cube", "start"]);
    assert_eq!((&answer["action"], &answer["dp"]), (&json!("no-double"), &json!(1.0)));
    // A race, 57 pips against 69.
    for (cube, action) in [("0:0", "double-drop"), ("1:1", "redouble-drop")] {
        let xgid = format!("XGID=-BBBCCC------------dddc---:{cube}:1:00:0:0:0:0:10");
        let answer = json_output(&["cube", &xgid]);
        assert_eq!(answer["action"], action, "{answer}");
        assert_consistent(&numbers(&answer["probs"]));
        assert!(answer["dt"].as_f64() > answer["dp"].as_f64() && answer["nd"].as_f64() < answer["dp"].as_f64());
    }
    assert!(output(&["cube", "start"]).ends_with("No double, take\n"));
    let line = refusal(&["cube", "XGID=-b----E-C---eE---c-e----B-:1:-1:1:00:0:0:0:0:10"]);
    assert!(line.contains("the opponent holds the cube"), "{line}");
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let long = "x".repeat(100_000);
    for (arguments, fault, expected) in [
        (&[][..], "subcommand", "eval"),
        (&["evaluate"], "evaluate", "eval"),
        (&["eval"], "<POSITION>", "Usage"),
        (&["eval", "nowhere"], "\"nowhere\"", "Position ID"),
        (&["eval", ""], "\"\"", "Position ID"),
        (&["eval", "two\nlines\u{1b}[31m"], "two\\nlines", "Position ID"),
        (&["eval", &long], "xxx…", "Position ID"),
        (&["eval", "////////////////"], "16", "14 characters"),
        (&["eval", "4HPwATDgc/ABMA:QYkqASAAIAA"], "\"QYkqASAAIAA\"", "12 characters"),
        (&["eval", "XGID=-b----E-C---eE---c-e----B-:0:0:1:00"], "has 5", "10 fields"),
        (&["eval", FINISHED], "is over", "expected"),
        (&["move", FINISHED, "31"], "is over", "expected"),
        (&["cube", FINISHED], "is over", "expected"),
        (&["move", "start"], "no dice", "expected DICE"),
        (&["move", "start", "7-1"], "7", "1 to 6"),
        (&["move", "start", "three"], "\"three\"", "31 or 3-1"),
        (&["move", "start", "31", "42"], "'42'", "Usage"),
        (&["eval", "start", "--level", "4ply"], "4ply", "expected beginner"),
        (&["eval", "start", "--level", "deep"], "\"deep\"", "expected beginner"),
        (&["eval", "start", "--rules", "chess"], "\"chess\"", "expected backgammon"),
        (&["eval", "start", "--threads", "0"], "'0'", "1..=1024"),
        (&["eval", "start", "--seed", "-1"], "-1", "Usage"),
        (&["eval", "start", "--jsn"], "--jsn", "--json"),
        (&["eval", "start", "--model", "/nowhere/weights.zar"], "/nowhere/weights.zar", "No such file"),
        (&["eval", "start", "--model", "/"], "\"/\"", "expected a regular file"),
        (&["decide", "start"], "'start'", "Usage"),
        (&["decide", "--level", "expert2"], "expert2", "expected beginner"),
        (&["bench", "--seconds", "0"], "'0'", "1..=3600"),
    ] {
        let line = refusal(arguments);
        assert!(line.contains(fault) && line.contains(expected), "{arguments:.80?}: {line}");
        assert!(line.len() < 1000, "{line}");
    }
}

#[test]
fn damaged_weights_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.zar");
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/backgammon/weights.zar");
    let mut bytes = fs::read(shipped).unwrap();
    let with = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        refusal(&["eval", "start", "--model", path.to_str().unwrap()])
    };
    assert!(with(b"GIF89a").contains("not a weights file"));
    let middle = bytes.len() / 2;
    assert!(with(&bytes[..middle]).contains("weights.zar"));
    bytes[middle] ^= 1;
    assert!(with(&bytes).contains("damaged"));
    assert_eq!(json_output(&["eval", "start", "--model", shipped]), json_output(&["eval", "start"]));
}

/// The weights are in the program.
#[test]
fn works_from_an_empty_folder() {
    let folder = tempfile::tempdir().unwrap();
    zar(&["eval", "start"]).current_dir(folder.path()).env_clear().assert().success();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn help_is_there() {
    for command in ["eval", "move", "cube", "decide", "bench"] {
        let text = output(&[command, "--help"]);
        assert!(text.contains("Usage: zar ") && text.contains("--json"), "{text}");
        assert!(output(&["--help"]).contains(command));
    }
    assert!(output(&["--version"]).starts_with("zar "));
}

#[test]
fn decide_gives_the_golden_results() {
    let answers = decide(golden_requests().join("\n"), &[]);
    assert_eq!(answers.len(), 4_200);
    for (answer, line) in answers.iter().zip(GOLDEN.lines()) {
        let record: Value = serde_json::from_str(line).unwrap();
        let set = |ids: &mut dyn Iterator<Item = &Value>| -> BTreeSet<String> {
            ids.map(|id| id.as_str().unwrap().to_owned()).collect()
        };
        let plays = answer["plays"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let results = set(&mut plays.iter().map(|play| &play["after"]));
        assert_eq!(results, set(&mut record["after"].as_array().unwrap().iter()), "{line}");
        assert_eq!(results.len(), plays.len(), "a result twice: {line}");
        assert_eq!(
            (&answer["after"], &answer["play"], &answer["equity"]),
            (&plays[0]["after"], &plays[0]["play"], &plays[0]["equity"])
        );
        assert!(plays.iter().map(|play| play["equity"].as_f64().unwrap()).is_sorted_by(|a, b| a >= b), "{answer}");
        assert_consistent(&numbers(&answer["probs"]));
        let moved = plays.iter().any(|play| play["play"] != "");
        assert!(moved || plays.len() == 1, "{answer}");
        if record["tags"].as_array().unwrap().contains(&json!("nomove")) {
            assert_eq!(answer["play"], "", "{answer}");
        }
    }
}

/// The requests of the golden file without its answers.
fn golden_requests() -> Vec<String> {
    let request = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap();
        json!({"pos": record["pos"], "dice": record["dice"]}).to_string()
    };
    GOLDEN.lines().map(request).collect()
}

#[test]
fn decide_does_not_look_at_the_order_of_the_dice() {
    let mirrored: Vec<String> = golden_requests()
        .iter()
        .map(|request| {
            let mut request: Value = serde_json::from_str(request).unwrap();
            request["dice"].as_array_mut().unwrap().reverse();
            request.to_string()
        })
        .collect();
    assert_eq!(
        decide(golden_requests().join("\n"), &["--threads", "1"]),
        decide(mirrored.join("\n"), &["--threads", "2"])
    );
}

#[test]
fn decide_answers_every_kind_of_request() {
    let requests = [
        json!({"pos": START, "dice": [3, 1]}),
        json!({"pos": START, "want": "eval"}),
        json!({"pos": START}),
        json!({"pos": START, "dice": [3, 1], "cubeful": false, "rules": "backgammon", "level": "0ply"}),
        json!({"pos": START, "want": "eval", "cubeful": false}),
        json!({"pos": START, "cube": {"value": 2, "owner": "player"}}),
        json!({"pos": START, "want": "eval", "cube": {"value": 2, "owner": "opponent"}}),
    ];
    let answers = decide(requests.map(|request| request.to_string()).join("\n"), &[]);
    let [play, eval, cube, cubeless_play, cubeless_eval, redouble, facing] = &answers[..] else {
        panic!("{answers:?}")
    };
    let keys = |answer: &Value| answer.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(keys(play), "after equity play plays probs");
    assert_eq!((&play["after"], &play["play"]), (&json!("sGfwATDgc/ABMA"), &json!("8/5 6/5")));
    assert_eq!(keys(&play["plays"][0]), "after equity play");
    assert_eq!(keys(eval), "cubeful cubeless probs");
    assert_eq!(keys(cube), "action dp dt nd probs");
    assert_eq!((&cube["action"], &cube["probs"], &cube["nd"]), (&json!("no-double"), &eval["probs"], &eval["cubeful"]));
    let probs = numbers(&cubeless_play["probs"]);
    let equity = 2.0 * probs[0] - 1.0 + probs[1] + probs[2] - probs[3] - probs[4];
    assert!((cubeless_play["equity"].as_f64().unwrap() - equity).abs() < 1e-5);
    assert_eq!(keys(cubeless_eval), "cubeless probs");
    assert_eq!(redouble["action"], "no-redouble");
    let cubeful = [&redouble["nd"], &eval["cubeful"], &facing["cubeful"]].map(|equity| equity.as_f64().unwrap());
    assert!(cubeful.is_sorted_by(|a, b| a > b), "{cubeful:?}");
    let same = json_output(&["move", "start", "31"]);
    assert_eq!((&same["plays"][0]["equity"], &same["plays"][0]["probs"]), (&play["equity"], &play["probs"]));
}

#[test]
fn decide_goes_on_after_errors() {
    let good = json!({"pos": START, "dice": [3, 1]}).to_string();
    let long = format!("{{\"pos\": \"{}\"}}", "x".repeat(1 << 20));
    let finished = json!({"pos": FINISHED}).to_string();
    let with_match = json!({"pos": START, "dice": [3, 1], "match": {"length": 7, "score": [1, 7]}}).to_string();
    let lines: [(&[u8], &str); 9] = [
        (good.as_bytes(), ""),
        (b"{\"pos\": ", "not a request"),
        (b"\xff\xfe", "not UTF-8"),
        (b"{\"pos\": \"4HPwATDgc/ABMA\", \"dice\": [3, 7]}", "1 to 6, not 7"),
        (long.as_bytes(), "longer than 65536 bytes"),
        (finished.as_bytes(), "is over"),
        (with_match.as_bytes(), "does not fit a match to 7 points"),
        (b"[[[[[[[[", "not a request"),
        (good.as_bytes(), ""),
    ];
    // Empty lines are counted, but not answered; the last line needs no end.
    let input = lines.map(|(line, _)| line).join(&b"\r\n\n"[..]);
    let answers = decide(input, &[]);
    assert_eq!(answers.len(), lines.len(), "{answers:?}");
    for (i, ((_, fault), answer)) in lines.iter().zip(&answers).enumerate() {
        if fault.is_empty() {
            assert_eq!(answer["play"], "8/5 6/5");
        } else {
            assert!(answer["error"].as_str().unwrap().contains(fault), "{answer}");
            assert_eq!(answer["line"], 2 * i + 1);
        }
    }
    assert!(decide("", &[]).is_empty() && decide("\n\n", &[]).is_empty());
}

/// A client that waits for each answer before it asks again is not kept waiting.
#[test]
fn decide_answers_at_once() {
    let mut child = start_decide(&[]);
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || BufReader::new(stdout).lines().try_for_each(|line| sender.send(line.unwrap())));
    for dice in [[3, 1], [6, 5], [4, 2]] {
        writeln!(stdin, "{}", json!({"pos": START, "dice": dice})).unwrap();
        let answer = receiver.recv_timeout(Duration::from_secs(30)).expect("an answer before the next request");
        assert!(answer.starts_with("{\"after\":"), "{answer}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// A reader that leaves ends the program, without a word.
#[test]
fn a_closed_pipe_is_no_fault() {
    let request = json!({"pos": START, "dice": [3, 1]}).to_string() + "\n";
    let mut child = start_decide(&[]);
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    // Sooner or later nobody reads the requests either.
    while stdin.write_all(request.as_bytes()).is_ok() {}
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!((child.wait().unwrap().code(), message.as_str()), (Some(0), ""));

    for arguments in [&["eval", "start"][..], &["move", "start", "31"], &["--help"], &["bench", "--seconds", "1"]] {
        let mut child = zar(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    }
}

#[test]
fn a_full_disk_is_said() {
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else { return };
    let output = zar(&["eval", "start"]).stdout(full).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), message.lines().count()), (Some(1), 1), "{message}");
    assert!(message.contains("cannot write the answer"), "{message}");
}

#[test]
fn bench_measures() {
    let answer = json_output(&["bench", "--seconds", "1", "--threads", "2"]);
    let speeds = answer["speeds"].as_array().unwrap();
    assert_eq!(speeds.iter().map(|speeds| &speeds["threads"]).collect::<Vec<_>>(), [1, 2]);
    for speeds in speeds {
        for measured in ["evaluations", "plays", "generated_rolls", "generated_results"] {
            assert!(speeds[measured].as_f64().unwrap() > 100.0, "{answer}");
        }
    }
    assert!(output(&["bench", "--seconds", "1", "--threads", "1"]).contains("static evaluations"));
}

/// Every `zar` command that the README shows works as it stands there.
#[test]
fn readme_commands() {
    let readme = include_str!("../../README.md");
    let shown: Vec<&str> = readme.lines().filter(|line| line.starts_with("zar ") && !line.contains("bench")).collect();
    assert!(shown.len() >= 3, "{shown:?}");
    for line in shown {
        let folder = program("zar").parent().unwrap().to_owned();
        let output =
            Command::new("sh").arg("-c").arg(format!("PATH={}:$PATH; {line}", folder.display())).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
    }
}
