//! What games are worth, and rule W of `table`, against golden data.

use std::collections::BTreeSet;

use zar::{
    board::{BAR, Position},
    rules::{Dice, Outcome, RuleSet},
};

#[test]
fn finished_games_pay_what_the_golden_file_says() {
    let golden = include_str!("../data/scoring.jsonl");
    let mut lines = 0;
    for line in golden.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let mut points = [0; 26];
        for (index, count) in record["loser"]["board"].as_array().unwrap().iter().enumerate() {
            points[index + 1] = count.as_i64().unwrap() as i8;
        }
        assert_eq!(points.len(), BAR + 1);
        let lost = Position::new(points).unwrap();
        assert_eq!(u64::from(lost.off()), record["loser"]["off"].as_u64().unwrap(), "{line}");
        for rules in RuleSet::ALL {
            let expected = record["points"][rules.to_string()].as_i64().unwrap();
            let paid = |position| i64::from(Outcome::of(position, rules).unwrap().points(rules));
            assert_eq!((paid(&lost.swapped()), paid(&lost)), (expected, -expected), "{rules}: {line}");
        }
        lines += 1;
    }
    assert_eq!(lines, 240);
}

#[test]
fn the_least_waste_is_what_the_golden_file_says() {
    let golden = include_str!("../data/table_waste.jsonl");
    let mut lines = 0;
    for line in golden.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let position: Position = record["pos"].as_str().unwrap().parse().unwrap();
        let die = |i: usize| record["dice"][i].as_u64().unwrap() as u8;
        let dice = Dice::new(die(0), die(1)).unwrap();
        for rules in RuleSet::ALL {
            let key = if rules == RuleSet::Table { "after_table" } else { "after_backgammon" };
            let expected: BTreeSet<String> =
                record[key].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
            let plays = position.legal_plays(dice, rules);
            let results: BTreeSet<String> = plays.iter().map(|legal| legal.after.to_string()).collect();
            assert_eq!(results, expected, "{rules}: {line}");
        }
        lines += 1;
    }
    assert_eq!(lines, 600);
}
