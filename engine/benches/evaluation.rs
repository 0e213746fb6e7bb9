//! Legal plays and static evaluations.

#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use zar::{
    board::Position,
    net::{Evaluator, Model, Precision},
    rules::{Dice, LegalPlays, RuleSet},
};

/// Names, Position IDs and rolls: the start, middle games with few plays and with many, and bearing off.
const DECISIONS: [(&str, &str, (u8, u8)); 5] = [
    ("start-31", "4HPwATDgc/ABMA", (3, 1)),
    ("contact-22", "mAd8QDSYc5kBEQ", (2, 2)),
    ("contact-64", "aK+FASTYHuEDQA", (6, 4)),
    ("bear-off-53", "3HsPAADb7g4AAA", (5, 3)),
    ("bar-62", "G4YNDEaX1yABAw", (6, 2)),
];

fn decisions() -> impl Iterator<Item = (&'static str, Position, Dice)> {
    DECISIONS.into_iter().map(|(name, id, (first, second))| {
        (name, id.parse().expect("a Position ID"), Dice::new(first, second).expect("a roll"))
    })
}

fn legal_plays(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("legal plays");
    for (name, position, dice) in decisions() {
        let mut plays = LegalPlays::default();
        plays.generate(&position, dice, RuleSet::Backgammon);
        group.throughput(Throughput::Elements(plays.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter(|| plays.generate(black_box(&position), dice, RuleSet::Backgammon));
        });
    }
    group.finish();
}

fn evaluations(criterion: &mut Criterion) {
    for (precision, pass) in [(Precision::Exact, "exact"), (Precision::Quantised, "quantised")] {
        let mut evaluator = Evaluator::in_precision(Model::shipped(), precision);
        criterion.bench_function(&format!("one evaluation, {pass}"), |bencher| {
            bencher.iter(|| evaluator.evaluate(black_box(&Position::START)));
        });
        let mut group = criterion.benchmark_group(format!("evaluations of all plays, {pass}"));
        for (name, position, dice) in decisions() {
            let plays = position.legal_plays(dice, RuleSet::Backgammon);
            let mut results = Vec::new();
            group.throughput(Throughput::Elements(plays.len() as u64));
            group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
                bencher.iter(|| evaluator.evaluate_plays(black_box(&position), &plays, &mut results));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, legal_plays, evaluations);
criterion_main!(benches);
