//! The bear-off tables beside what GNU Backgammon's hold, on damaged and on shared disks, and against plain recursion.

use std::{collections::HashMap, fs, sync::LazyLock, thread, time::Instant};

use serde_json::Value;
use zar::{
    board::{CHECKERS, Position},
    exact::{BearoffTables, CacheFolder, OneSided, Origin, PIPS_PER_ROLL, Side, TableSpec, TwoSided},
    rules::{Dice, LegalPlays, RuleSet},
};

const RULES: RuleSet = RuleSet::Backgammon;

static ONE_SIDED: LazyLock<OneSided> = LazyLock::new(|| {
    let begin = Instant::now();
    let table = OneSided::build(TableSpec::one_sided(RULES), |_| ());
    println!("one-sided: {:?}", begin.elapsed());
    table
});

static TWO_SIDED: LazyLock<TwoSided> = LazyLock::new(|| {
    let begin = Instant::now();
    let table = TwoSided::build(TableSpec::two_sided(RULES), |_| ());
    println!("two-sided: {:?}", begin.elapsed());
    table
});

fn lines(file: &str) -> Vec<Value> {
    let path = format!("{}/../tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Two numbers with so many decimals: how many units of the last they differ by.
fn units(found: f64, printed: f64, decimals: i32) -> u32 {
    let scale = 10f64.powi(decimals);
    ((found * scale).round() - (printed * scale).round()).abs() as u32
}

/// Percentages by number of rolls against the table; the largest difference in the last of three decimals.
fn percentages(found: &[(u32, f64)], printed: &Value) -> u32 {
    let printed = printed.as_object().unwrap();
    let at = |rolls: u32| printed.get(&rolls.to_string()).map_or(0.0, |percent| percent.as_f64().unwrap());
    let found: HashMap<u32, f64> = found.iter().copied().collect();
    (0..100).map(|rolls| units(100.0 * found.get(&rolls).unwrap_or(&0.0), at(rolls), 3)).max().unwrap()
}

#[test]
fn one_sided_as_gnubg() {
    let mut differences = HashMap::new();
    for line in lines("bearoff_one_sided.jsonl") {
        let counts: Vec<u8> =
            line["board"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap() as u8).collect();
        let side = Side::new(&counts).unwrap();
        let all = ONE_SIDED.all_off(&side).unwrap();
        let pairs = |distribution: zar::exact::Distribution<'_>| {
            distribution.iter().map(|(rolls, p)| (rolls, f64::from(p))).collect::<Vec<_>>()
        };
        let mut note = |column, difference| *differences.entry((column, difference)).or_insert(0) += 1;
        note("percent", percentages(&pairs(all), &line["percent_off_in_rolls"]));
        note("mean", units(all.mean(), line["mean_rolls"].as_f64().unwrap(), 3));
        note("epc", units(all.epc(), line["epc"].as_f64().unwrap(), 3));
        assert!((all.epc() - all.mean() * PIPS_PER_ROLL).abs() < 1e-9);
        if let Some(first) = line.get("percent_first_checker_off_in_rolls") {
            note("first", percentages(&pairs(ONE_SIDED.first_off(&side).unwrap()), first));
        }
    }
    let mut differences: Vec<_> = differences.into_iter().collect();
    differences.sort();
    println!("{differences:?}");
}

#[test]
fn two_sided_as_gnubg() {
    let tables = BearoffTables::in_memory(RULES);
    let mut differences = HashMap::new();
    for line in lines("bearoff_two_sided.jsonl") {
        let position: Position = line["pos"].as_str().unwrap().parse().unwrap();
        let Some(money) = tables.money_equities(&position) else {
            println!("{line}");
            continue;
        };
        for (column, found) in [
            ("cubeless", money.cubeless),
            ("owned", money.owned),
            ("centered", money.centered),
            ("opponent", money.opponent),
        ] {
            let difference = units(found.0.into(), line[column].as_f64().unwrap(), 4);
            if difference > 1 {
                println!("{line} {money:?}");
            }
            *differences.entry((column, difference)).or_insert(0) += 1;
        }
    }
    let mut differences: Vec<_> = differences.into_iter().collect();
    differences.sort();
    println!("{differences:?}");
    drop(&*TWO_SIDED);
}
