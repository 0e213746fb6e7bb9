//! The bear-off tables beside what GNU Backgammon's hold, on damaged and on shared disks, and against plain recursion.

// Helpers of tests, which the lint does not count among them.
#![allow(clippy::unwrap_used)]
use std::{collections::HashMap, fs, sync::LazyLock, thread};

use serde_json::Value;
use zar::{
    board::{CubeOwner, Position},
    exact::{BearoffTables, CacheFolder, Distribution, OneSided, Origin, Side, TableSpec, TwoSided},
    rules::{Dice, LegalPlays, RuleSet},
};

const RULES: RuleSet = RuleSet::Backgammon;

static ONE_SIDED: LazyLock<OneSided> = LazyLock::new(|| OneSided::build(TableSpec::one_sided(RULES), |_| ()));
static TWO_SIDED: LazyLock<TwoSided> = LazyLock::new(|| TwoSided::build(TableSpec::two_sided(RULES), |_| ()));

fn lines(file: &str) -> Vec<Value> {
    let path = format!("{}/../tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How many units of the last printed decimal two numbers differ by.
fn units(found: f64, printed: &Value, decimals: i32) -> u32 {
    let scale = 10f64.powi(decimals);
    ((found * scale).round() - (printed.as_f64().unwrap() * scale).round()).abs() as u32
}

/// The largest difference between probabilities by number of rolls and percentages with three decimals.
fn percentages(found: impl Iterator<Item = (u32, f64)>, printed: &Value) -> u32 {
    let found: HashMap<u32, f64> = found.collect();
    let at = |rolls: u32| printed.get(rolls.to_string()).cloned().unwrap_or(0.0.into());
    (0..100).map(|rolls| units(100.0 * found.get(&rolls).unwrap_or(&0.0), &at(rolls), 3)).max().unwrap()
}

fn exact(distribution: Distribution<'_>) -> impl Iterator<Item = (u32, f64)> {
    distribution.iter().map(|(rolls, probability)| (rolls, f64::from(probability)))
}

fn side_of(line: &Value) -> Side {
    let counts: Vec<u8> = line["board"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap() as u8).collect();
    Side::new(&counts).unwrap()
}

/// One side of a position, with one opposing checker that is out of the way.
fn position_of(side: &Side) -> Position {
    let mut points = [0; 26];
    for (at, &count) in side.counts().iter().enumerate() {
        points[at + 1] = count as i8;
    }
    points[24] = -1;
    Position::new(points).unwrap()
}

/// The distributions in 65535ths, rounded at every position: how GNU Backgammon keeps them. Plays come from the rules of
/// the whole game.
fn in_sixteen_bits() -> HashMap<Side, Vec<u32>> {
    let mut known: HashMap<Side, (f64, Vec<u32>)> = HashMap::new();
    let mut plays = LegalPlays::default();
    for side in ONE_SIDED.sides() {
        let mut sums = [0u32; 40];
        if side.checkers() == 0 {
            sums[0] = 36 * 65535;
        } else {
            for dice in Dice::ALL {
                plays.generate(&position_of(&side), dice, RULES);
                let results = plays.iter().map(|legal| &known[&Side::of_opponent(&legal.after).unwrap()]);
                let (_, best) = results.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
                for (sum, &share) in sums[1..].iter_mut().zip(best) {
                    *sum += u32::from(dice.ways()) * share;
                }
            }
        }
        let mut rounded: Vec<u32> = sums.iter().map(|sum| (sum + 18) / 36).collect();
        // What rounding loses or gains is made up where most is.
        let most = rounded.iter().rposition(|share| Some(share) == rounded.iter().max()).unwrap();
        rounded[most] = rounded[most] + 65535 - rounded.iter().sum::<u32>();
        let mean = (0..).zip(&rounded).map(|(rolls, &share)| f64::from(rolls * share)).sum();
        known.insert(side, (mean, rounded));
    }
    known.into_iter().map(|(side, (_, shares))| (side, shares)).collect()
}

/// The reference rounds to 16 bits at every position: done so, a plain recursion gives what it prints. Without rounding
/// the numbers differ by what that has added up to.
#[test]
fn one_sided_as_gnubg() {
    let rounded = in_sixteen_bits();
    let (mut rounded_differ, mut percents, mut firsts, mut means) = (0, [0; 3], [0; 2], [0; 2]);
    for line in lines("bearoff_one_sided.jsonl") {
        let side = side_of(&line);
        let printed = &line["percent_off_in_rolls"];
        let shares = (0..).zip(&rounded[&side]).map(|(rolls, &share)| (rolls, f64::from(share) / 65535.0));
        rounded_differ += u32::from(percentages(shares, printed) > 0);
        let all = ONE_SIDED.all_off(&side).unwrap();
        percents[(percentages(exact(all), printed) as usize).min(2)] += 1;
        means[units(all.mean(), &line["mean_rolls"], 3) as usize] += 1;
        assert!(units(all.epc(), &line["epc"], 3) <= 1, "{line}");
        if let Some(first) = line.get("percent_first_checker_off_in_rolls") {
            firsts[percentages(exact(ONE_SIDED.first_off(&side).unwrap()), first) as usize] += 1;
        }
    }
    assert_eq!(rounded_differ, 0);
    assert_eq!((means, firsts), ([244, 6], [55, 6]));
    assert!(percents[2] <= 52, "{percents:?}");
}

/// The reference keeps 16 bits: a quarter of its numbers are one off in the last decimal, none is further off.
#[test]
fn two_sided_as_gnubg() {
    let tables = BearoffTables::in_memory(RULES);
    let mut off_by = [0; 2];
    for line in lines("bearoff_two_sided.jsonl") {
        let position: Position = line["pos"].as_str().unwrap().parse().unwrap();
        let money = tables.money_equities(&position).unwrap();
        for (column, found) in [
            ("cubeless", money.cubeless),
            ("owned", money.no_double(CubeOwner::Player)),
            ("centered", money.no_double(CubeOwner::Centered)),
            ("opponent", money.no_double(CubeOwner::Opponent)),
        ] {
            off_by[units(found.0.into(), &line[column], 4) as usize] += 1;
        }
        let win = tables.probabilities(&position).unwrap().win;
        assert!((2.0 * win - 1.0 - money.cubeless.0).abs() < 1e-6);
    }
    assert_eq!(off_by, [775, 225]);
}

/// The cubeless equity by plain recursion over the plays of the whole game.
fn equity(position: &Position, rules: RuleSet, known: &mut HashMap<Position, f64>) -> f64 {
    if position.opponent_off() == 15 {
        return -1.0;
    }
    if let Some(&equity) = known.get(position) {
        return equity;
    }
    let sum: f64 = Dice::ALL
        .iter()
        .map(|&dice| {
            let plays = position.legal_plays(dice, rules);
            let best = plays.iter().map(|legal| -equity(&legal.after, rules, known)).max_by(f64::total_cmp);
            f64::from(dice.ways()) * best.unwrap()
        })
        .sum();
    known.insert(*position, sum / 36.0);
    sum / 36.0
}

#[test]
fn two_sided_as_plain_recursion() {
    for rules in [RULES, RuleSet::Table] {
        let spec = TableSpec::two_sided(rules).with_size(6, 3).unwrap();
        let table = TwoSided::build(spec, |_| ());
        let mut known = HashMap::new();
        for player in table.sides().skip(1) {
            for opponent in table.sides().skip(1) {
                let mut points = [0; 26];
                for at in 0..6 {
                    points[at + 1] = player.counts()[at] as i8;
                    points[24 - at] = -(opponent.counts()[at] as i8);
                }
                let expected = equity(&Position::new(points).unwrap(), rules, &mut known);
                let found = table.cubeless(&player, &opponent).unwrap().0;
                assert!((f64::from(found) - expected).abs() < 1e-5, "{player:?} {opponent:?} {rules}");
                assert_eq!(table.money(&player, &opponent).is_some(), rules == RULES);
            }
        }
    }
}

/// Wasting pips is never forbidden to the advantage of who may do it.
#[test]
fn least_waste_takes_no_fewer_rolls() {
    let least = OneSided::build(TableSpec::one_sided(RuleSet::Table), |_| ());
    let mut more = 0;
    for side in least.sides() {
        let (free, bound) = (ONE_SIDED.all_off(&side).unwrap(), least.all_off(&side).unwrap());
        assert!(bound.mean() > free.mean() - 1e-6, "{side:?}");
        more += u32::from(bound.mean() > free.mean() + 1e-4);
    }
    assert!(more > 0, "the rule costs something somewhere");
}

#[test]
fn distributions_are_whole_and_fewer_checkers_take_no_longer() {
    for side in ONE_SIDED.sides() {
        let all = ONE_SIDED.all_off(&side).unwrap();
        assert!((exact(all).map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-6, "{side:?}");
        // A checker less is never worse; one nearer to off can be, where it fills no gap.
        for point in 0..6 {
            let mut counts = *side.counts();
            if counts[point] > 0 {
                counts[point] -= 1;
                let fewer = ONE_SIDED.all_off(&Side::new(&counts).unwrap()).unwrap();
                assert!(fewer.mean() <= all.mean() + 1e-6, "{side:?} {point}");
            }
        }
        assert_eq!(ONE_SIDED.first_off(&side).is_some(), side.checkers() == 15);
    }
}

#[test]
fn cubes_are_worth_what_they_should_be() {
    let mut furthest = 0.0f64;
    for player in TWO_SIDED.sides().skip(1).step_by(3) {
        for opponent in TWO_SIDED.sides().skip(1).step_by(5) {
            let money = TWO_SIDED.money(&player, &opponent).unwrap();
            assert!(money.owned.0 >= money.centered.0 - 1e-6 && money.owned.0 >= money.opponent.0 - 1e-6);
            // Two that play for fewest rolls come close to two that play each other.
            let (own, his) = (ONE_SIDED.all_off(&player).unwrap(), ONE_SIDED.all_off(&opponent).unwrap());
            let alone = 2.0 * own.comes_first(his) - 1.0;
            furthest = furthest.max((alone - f64::from(money.cubeless.0)).abs());
            if player.checkers() == 1 && opponent.checkers() == 1 {
                assert!((alone - f64::from(money.cubeless.0)).abs() < 1e-6, "a checker alone has no choice");
            }
        }
    }
    assert!((1e-4..0.1).contains(&furthest), "{furthest}");
}

#[test]
fn gammons_come_from_the_first_checker() {
    let tables = BearoffTables::in_memory(RULES);
    // One checker against fifteen that cannot all miss: a gammon unless the game goes on.
    let mut points = [0; 26];
    points[1] = 1;
    points[19] = -15;
    let won = tables.probabilities(&Position::new(points).unwrap()).unwrap().to_array();
    assert_eq!(won, [1.0, 1.0, 0.0, 0.0, 0.0]);
    let lost = tables.probabilities(&Position::new(points).unwrap().swapped()).unwrap().to_array();
    // Fifteen on the 6-point bear one off with a six, 3-3 and 2-2: 13 of 36; 5-1 and 4-2 do too.
    assert_eq!((lost[0], lost[1], lost[4]), (0.0, 0.0, 0.0));
    let saved = position_of(&Side::new(&[0, 0, 0, 0, 0, 15]).unwrap());
    let ways: u8 = Dice::ALL
        .iter()
        .filter(|&&dice| saved.legal_plays(dice, RULES).iter().any(|legal| legal.after.opponent_off() > 0))
        .map(|dice| dice.ways())
        .sum();
    assert!((lost[3] - (1.0 - f32::from(ways) / 36.0)).abs() < 1e-6, "{lost:?} {ways}");
    let plain = BearoffTables::in_memory(RuleSet::Plain);
    assert_eq!(plain.probabilities(&Position::new(points).unwrap()).unwrap().win_gammon, 0.0);
    assert!(tables.probabilities(&Position::START).is_none());
}

fn small(points: u8) -> TableSpec {
    TableSpec::two_sided(RULES).with_size(points, 3).unwrap()
}

fn prepare(spec: TableSpec, cache: &CacheFolder) -> Origin {
    BearoffTables::prepare(spec, cache, |_| ())
}

#[test]
fn damaged_files_are_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CacheFolder::at(folder.path().join("new"));
    for spec in [small(4), TableSpec::one_sided(RULES).with_size(3, 15).unwrap()] {
        assert!(matches!(prepare(spec, &cache), Origin::Kept));
        assert!(matches!(prepare(spec, &cache), Origin::Found));
        let path = cache.path(&spec).unwrap();
        let whole = fs::read(&path).unwrap();
        let every = (whole.len() / 40).max(1);
        for at in (0..64).chain((64..whole.len()).step_by(every)).chain([whole.len() - 1]) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            // In place of the file, not into it: it may be mapped.
            fs::remove_file(&path).unwrap();
            fs::write(&path, damaged).unwrap();
            assert!(matches!(prepare(spec, &cache), Origin::Kept), "byte {at}");
            assert!(fs::read(&path).unwrap() == whole, "byte {at}");
        }
        for length in [0, 1, 63, 64, whole.len() - 4, whole.len() - 1] {
            fs::remove_file(&path).unwrap();
            fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(prepare(spec, &cache), Origin::Kept), "{length} bytes");
        }
        fs::remove_file(&path).unwrap();
        fs::write(&path, [&whole[..], &[0; 4]].concat()).unwrap();
        assert!(matches!(prepare(spec, &cache), Origin::Kept));
    }
}

#[test]
fn one_of_many_builds() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CacheFolder::at(folder.path());
    let origins: Vec<Origin> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| prepare(small(6), &cache))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(origins.iter().filter(|origin| matches!(origin, Origin::Kept)).count(), 1, "{origins:?}");
    assert_eq!(origins.iter().filter(|origin| matches!(origin, Origin::Found)).count(), 3, "{origins:?}");
}

/// Where nothing can be written the tables are in memory.
#[test]
fn a_folder_is_not_needed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let cache = CacheFolder::at(file.join("below"));
    assert!(matches!(prepare(small(4), &cache), Origin::NotKept(_)));
    assert!(matches!(prepare(small(4), &CacheFolder::none()), Origin::NotKept(_)));
    let position: Position = "kgAAEAAAAAAAAA".parse().unwrap();
    assert!(BearoffTables::new(RULES, cache).probabilities(&position).is_some());
}

/// A larger table is used without being asked for, and not missed when it is damaged.
#[test]
fn the_largest_table_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CacheFolder::at(folder.path());
    let larger = TableSpec::two_sided(RULES).with_size(7, 6).unwrap();
    assert!(matches!(prepare(larger, &cache), Origin::Kept));
    let mut points = [0; 26];
    (points[7], points[24]) = (1, -2);
    let position = Position::new(points).unwrap();
    assert!(BearoffTables::new(RULES, cache.clone()).money_equities(&position).is_some());
    let path = cache.path(&larger).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "no table").unwrap();
    let tables = BearoffTables::new(RULES, cache);
    assert_eq!(tables.money_equities(&position), None);
    assert_eq!(tables.probabilities(&position), None);
    assert_eq!(tables.two_sided().spec(), TableSpec::two_sided(RULES));
}

/// What only the one-sided table reaches is not exact, whichever table has more points.
#[test]
fn only_two_sided_tables_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CacheFolder::at(folder.path());
    prepare(TableSpec::one_sided(RULES).with_size(7, 15).unwrap(), &cache);
    // A larger two-sided table that turns out to be damaged.
    let larger = TableSpec::two_sided(RULES).with_size(7, 7).unwrap();
    fs::write(cache.path(&larger).unwrap(), "no table").unwrap();
    let tables = BearoffTables::new(RULES, cache);
    for (counts, exact) in [([(7, 1), (24, -2)], false), ([(6, 7), (24, -2)], false), ([(6, 6), (24, -2)], true)] {
        let mut points = [0; 26];
        counts.iter().for_each(|&(point, count)| points[point] = count);
        let position = Position::new(points).unwrap();
        assert!(tables.probabilities(&position).is_some());
        assert_eq!(tables.is_two_sided(&position), exact, "{counts:?}");
    }
}

/// Nobody writes into it, and so whoever opened it would wait for ever.
#[cfg(unix)]
#[test]
fn a_pipe_is_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CacheFolder::at(folder.path());
    let path = cache.path(&small(4)).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(matches!(prepare(small(4), &cache), Origin::Kept));
    assert!(matches!(prepare(small(4), &cache), Origin::Found));
}
