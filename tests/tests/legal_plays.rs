//! Legal plays against golden data and published counts.

use std::collections::{BTreeSet, HashMap};

use zar::{
    board::Position,
    rules::{Dice, RuleSet},
};

#[test]
fn results_equal_the_golden_file() {
    let golden = include_str!("../data/movegen.jsonl");
    let mut lines = 0;
    for line in golden.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let position: Position = record["pos"].as_str().unwrap().parse().unwrap();
        let die = |i: usize| record["dice"][i].as_u64().unwrap() as u8;
        let dice = Dice::new(die(0), die(1)).unwrap();
        let expected: BTreeSet<String> =
            record["after"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
        let plays = position.legal_plays(dice, RuleSet::Backgammon);
        let results: BTreeSet<String> = plays.iter().map(|legal| legal.after.to_string()).collect();
        assert_eq!(results, expected, "{line}");
        assert_eq!(results.len(), plays.len(), "a result twice: {line}");
        lines += 1;
    }
    assert_eq!(lines, 4_200);
}

/// The plays from the start over the 21 rolls, counted after one, two and three turns.
#[test]
fn perft() {
    let mut level = HashMap::from([(Position::START, 1u64)]);
    let mut counts = Vec::new();
    for _ in 0..2 {
        let mut next = HashMap::new();
        for (position, ways) in &level {
            for dice in Dice::ALL {
                for legal in position.legal_plays(dice, RuleSet::Backgammon).iter() {
                    *next.entry(legal.after).or_insert(0) += ways;
                }
            }
        }
        counts.push((next.values().sum::<u64>(), next.len()));
        level = next;
    }
    assert_eq!(counts, [(447, 406), (202_782, 163_706)]);
    let third: u64 = level
        .iter()
        .map(|(position, ways)| {
            let plays = Dice::ALL.iter().map(|&dice| position.legal_plays(dice, RuleSet::Backgammon).len() as u64);
            ways * plays.sum::<u64>()
        })
        .sum();
    assert_eq!(third, 116_154_993);
}
