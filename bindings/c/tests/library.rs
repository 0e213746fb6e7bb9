//! The header is that of the code, and a C program gets the engine's answers.
#![allow(clippy::unwrap_used, reason = "tests may")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use zar::{
    board::{CubeOwner, CubeState, Position},
    bot::{Bot, Level, Valuation},
    exact::BearoffTables,
    net::{Model, Probabilities},
    rules::{Dice, MatchScore, RuleSet, Session, Stakes},
};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_header_is_that_of_the_code() {
    let config = cbindgen::Config::from_root_or_default(CRATE);
    let mut written = Vec::new();
    cbindgen::Builder::new().with_crate(CRATE).with_config(config).generate().unwrap().write(&mut written);
    let (path, written) = (Path::new(CRATE).join("zar.h"), String::from_utf8(written).unwrap());
    if env::var_os("ZAR_UPDATE_HEADER").is_some() {
        fs::write(&path, &written).unwrap();
    }
    let stale = fs::read_to_string(&path).unwrap() != written;
    assert!(!stale, "zar.h is stale: `ZAR_UPDATE_HEADER=1 cargo test --package zar-c` writes it anew");
}

/// The folder of the library that cargo has built for this test.
fn library() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.ancestors().skip(1).find(|folder| folder.join("libzar_c.a").exists()).expect("the library").to_owned()
}

/// A program of C, compiled as strictly as compilers can, that has been linked with the library.
fn compiled(source: &str, name: &str) -> PathBuf {
    let (library, program) = (library(), Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
    let done = Command::new(env::var_os("CC").unwrap_or("cc".into()))
        .args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-I", CRATE])
        .arg(Path::new(CRATE).join(source))
        .arg("-L")
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .args(["-lzar_c", "-o"])
        .arg(&program)
        .output()
        .expect("a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

/// What a program says that ends well.
fn said(program: &Path) -> String {
    let output = Command::new(program).env("ZAR_CACHE", env!("CARGO_TARGET_TMPDIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_example_has_the_answers_of_the_engine() {
    let tables = BearoffTables::in_memory(RuleSet::Backgammon);
    let mut bot = Bot::new(Model::shipped(), Level::ZeroPly, RuleSet::Backgammon).unwrap().with_tables(tables);
    let in_words = |p: Probabilities| p.to_array().map(|p| format!(" {p:.6}")).concat();
    let start = Position::START;

    let found = bot.evaluate(&start, Valuation::default());
    let mut expected =
        format!("eval {:.6} {:.6}{}\n", found.cubeless.0, found.cubeful.0, in_words(found.probabilities));
    let plays = bot.rank(&start, Dice::new(3, 1).unwrap(), Valuation::default());
    expected += &format!("plays {}\n", plays.len());
    for play in &plays[..4] {
        expected += &format!("play {:.6} {} {}\n", play.equity.0, play.after, play.play.text(&start));
    }
    let score = MatchScore::new(7, [3, 5], false).unwrap();
    let cube = CubeState::new(2, CubeOwner::Player).unwrap();
    let advice = bot.cube_action(&start, &Stakes::new(Session::Match(score), cube)).unwrap();
    let (decision, words) = (advice.decision, in_words(advice.probabilities));
    let [nd, dt, dp] = [decision.no_double, decision.double_take, decision.double_drop].map(|equity| equity.0);
    expected += &format!("cube {} {nd:.6} {dt:.6} {dp:.6}{words}\n", decision.name());

    assert_eq!(said(&compiled("examples/decisions.c", "decisions")), expected);
}

#[test]
fn whatever_is_wrong_has_a_status_and_a_text() {
    let program = compiled("tests/wrong.c", "wrong");
    assert_eq!(
        said(&program),
        "\
1 \"rules\" is a null pointer
1 \"bot\" is a null pointer
2 \"level\" is not UTF-8
3 \"chess\" is not a rule set: expected backgammon, tavla, tavla2004, table or plain
3 \"9ply\" is not a level: expected beginner, casual, intermediate, advanced, expert, worldclass, 0ply, 1ply, 2ply, 3ply or rollout
3 cannot use the weights \"/nowhere/at all\": No such file or directory (os error 2)
3 cannot use the weights \"/\": expected a regular file
1 \"bot\" is a null pointer
1 \"position\" is a null pointer
2 \"position\" is not UTF-8
1 \"evaluation\" is a null pointer
3 the game in AAAA3q8AAAAAAA is over: expected a position in which both players have checkers on the board
3 a die shows 1 to 6, not 7
3 a die shows 1 to 6, not -1
3 a move needs \"dice\"
1 \"plays\" is a null pointer
1 \"count\" is a null pointer
3 the cube shows 3, expected a power of two from 1 to 32768
3 7 is no owner of the cube: expected 0, 1 or -1
3 the opponent holds the cube, expected a cube in the middle or with the player on roll
3 the score 5-0 does not fit a match to 5 points that goes on
3 the Jacoby rule and beavers belong to money play: expected no \"jacoby\" and \"beavers\" in a match
3 the Crawford game is played without the cube
3 a cube decision needs cubeful equities
3
0
0 16 8/5 6/5
0 1
"
    );
}
