//! The peers of a duel, asked about decisions whose answers are known: GNU Backgammon and pubeval must be here.

use std::collections::HashMap;

use zar::{
    board::Position,
    rules::{Dice, RuleSet},
};
use zar_trainer::{
    duel::{GnubgPlayer, Player, PubevalPlayer},
    score::{Referee, Reference},
};

/// One decision a line: `pos`, `dice`, what gnubg 0-ply plays (`g0`), and every legal result with equities.
const DECISIONS: &str = include_str!("../data/checker_dev.jsonl");

fn first_lines(count: usize) -> Vec<&'static str> {
    DECISIONS.lines().take(count).collect()
}

fn record(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap()
}

/// The result of what a player chooses, as the next player sees it.
fn choice(player: &mut dyn Player, record: &serde_json::Value) -> Position {
    let position: Position = record["pos"].as_str().unwrap().parse().unwrap();
    let die = |i: usize| record["dice"][i].as_u64().unwrap() as u8;
    let dice = Dice::new(die(0), die(1)).unwrap();
    let plays = position.legal_plays(dice, RuleSet::Backgammon);
    let index = player.choose(&position, dice, &plays).unwrap_or_else(|error| panic!("{error}"));
    plays[index].after
}

#[test]
fn gnubg_plays_as_it_did_for_the_reference() {
    let mut gnubg = GnubgPlayer::start(0).unwrap_or_else(|error| panic!("{error}"));
    let mut same = 0;
    for line in first_lines(300) {
        let record = record(line);
        let chosen = choice(&mut gnubg, &record).to_string();
        let expected = record["g0"].as_str().unwrap();
        same += u32::from(chosen == expected);
        // It breaks exact ties by the order of its own move generator, which hangs on the order of the dice.
        let equities: HashMap<&str, f64> = record["moves"]
            .as_array()
            .unwrap()
            .iter()
            .map(|result| (result["after"].as_str().unwrap(), result["eq0"].as_f64().unwrap()))
            .collect();
        assert_eq!(equities[chosen.as_str()], equities[expected], "{chosen} instead of {expected}: {line}");
    }
    assert!(same >= 295, "{same} of 300");
}

#[test]
fn pubeval_has_its_known_error_rate() {
    let mut pubeval = PubevalPlayer::start().unwrap_or_else(|error| panic!("{error}"));
    let lines = first_lines(1500);
    let choices: Vec<Position> = lines.iter().map(|line| choice(&mut pubeval, &record(line))).collect();
    let reference = Reference::parse(&lines.join("\n"), Referee::First, RuleSet::Backgammon).unwrap();
    let score = reference.score(&choices).unwrap();
    assert!((score.total.error - 39.00).abs() < 0.05, "{score}");
}
