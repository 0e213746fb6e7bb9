//! `zar bench`: how fast this machine evaluates, plays and generates.

use std::{
    hint::black_box,
    io::{self, Write},
    time::{Duration, Instant},
};

use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use rayon::ThreadPool;
use serde::Serialize;

use crate::{
    board::Position,
    bot::Bot,
    net::{Evaluator, Model, Precision, Probabilities},
    rules::{Dice, LegalPlays, RuleSet},
    search::best_play,
};

use super::{CliError, Options, answer::write_json};

/// Measures static evaluations, plays and legal-move generations a second
///
/// The decisions come from games that the networks play against themselves. Choosing a play means
/// to generate every legal result, to evaluate all of them and to take the best. Shown are medians
/// of several repeats, on one thread and on all (--threads).
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Seconds that the measurement takes, 1 to 3600.
    #[arg(long, value_name = "S", default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=3600))]
    seconds: u16,

    /// Evaluate in single precision instead of integers.
    #[arg(long)]
    exact: bool,
}

const REPEATS: u32 = 5;
/// Decisions that are measured, over and over.
const DECISIONS: usize = 4_000;

/// Speeds on a number of threads, all together a second.
#[derive(Clone, Copy, Debug, Serialize)]
struct Speeds {
    threads: usize,
    /// Static evaluations while plays are chosen.
    evaluations: f64,
    /// Plays chosen.
    plays: f64,
    /// Rolls whose legal results are generated.
    generated_rolls: f64,
    /// Results that are generated.
    generated_results: f64,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer {
    decisions: usize,
    results_per_roll: f64,
    repeats: u32,
    /// A second.
    speeds: Vec<Speeds>,
}

/// How much a thread, or all of them, has done.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    rolls: u64,
    results: u64,
}

pub fn run(args: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    options.with_bot(|bot| {
        let precision = if args.exact { Precision::Exact } else { Precision::Quantised };
        let decisions = decisions(&bot, options.seed.unwrap_or(0));
        let all = options.thread_pool()?;
        let mut pools = vec![rayon::ThreadPoolBuilder::new().num_threads(1).build()?];
        if all.current_num_threads() > 1 {
            pools.push(all);
        }
        let slices = 2 * REPEATS * pools.len() as u32;
        let slice = Duration::from_secs(args.seconds.into()) / slices;
        let speeds: Vec<Speeds> =
            pools.iter().map(|pool| speeds(pool, bot.model(), precision, &decisions, slice)).collect();
        let results: usize =
            decisions.iter().map(|(position, dice)| position.legal_plays(*dice, bot.rules()).len()).sum();
        let answer = Answer {
            decisions: decisions.len(),
            results_per_roll: (10.0 * results as f64 / decisions.len() as f64).round() / 10.0,
            repeats: REPEATS,
            speeds,
        };
        if options.json {
            write_json(&answer, out)?
        } else {
            table(&answer, out)?
        }
        Ok(())
    })
}

/// Positions and rolls of self-play.
fn decisions(bot: &Bot<'_>, seed: u64) -> Vec<(Position, Dice)> {
    let (mut evaluator, rules) = (Evaluator::new(bot.model()), bot.rules());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut plays, mut evaluations) = (LegalPlays::default(), Vec::new());
    let mut position = Position::START;
    let mut decisions = Vec::with_capacity(DECISIONS);
    while decisions.len() < DECISIONS {
        let dice = Dice::roll(&mut rng);
        decisions.push((position, dice));
        let best = choose(&mut evaluator, &position, dice, rules, &mut plays, &mut evaluations);
        position = if plays[best].after.is_over() { Position::START } else { plays[best].after };
    }
    decisions
}

/// The place of the best play among those that it generates.
fn choose(
    evaluator: &mut Evaluator<'_>,
    position: &Position,
    dice: Dice,
    rules: RuleSet,
    plays: &mut LegalPlays,
    evaluations: &mut Vec<Probabilities>,
) -> usize {
    plays.generate(position, dice, rules);
    evaluator.evaluate_plays(position, plays, evaluations);
    best_play(evaluations, rules)
}

fn speeds(
    pool: &ThreadPool,
    model: &Model,
    precision: Precision,
    decisions: &[(Position, Dice)],
    slice: Duration,
) -> Speeds {
    let rules = model.rules();
    let choosing = median(pool, decisions, slice, || {
        let mut evaluator = Evaluator::new(model).with_precision(precision);
        let (mut plays, mut evaluations) = (LegalPlays::default(), Vec::new());
        move |position: &Position, dice| {
            black_box(choose(&mut evaluator, position, dice, rules, &mut plays, &mut evaluations));
            evaluations.len()
        }
    });
    let generating = median(pool, decisions, slice, || {
        let mut plays = LegalPlays::default();
        move |position: &Position, dice| {
            plays.generate(position, dice, rules);
            black_box(&plays).len()
        }
    });
    Speeds {
        threads: pool.current_num_threads(),
        evaluations: choosing.1,
        plays: choosing.0,
        generated_rolls: generating.0,
        generated_results: generating.1,
    }
}

/// Rolls and results a second on all threads of the pool: the median of the repeats by rolls. Each thread has a worker
/// of its own, which does one decision and says how many results it had.
fn median<W: FnMut(&Position, Dice) -> usize>(
    pool: &ThreadPool,
    decisions: &[(Position, Dice)],
    slice: Duration,
    worker: impl Fn() -> W + Sync,
) -> (f64, f64) {
    /// Decisions between looks at the clock.
    const BATCH: usize = 32;
    let mut repeats: Vec<(f64, f64)> = (0..REPEATS)
        .map(|_| {
            let begun = Instant::now();
            let works: Vec<Work> = pool.broadcast(|context| {
                let mut worker = worker();
                let mut work = Work::default();
                let first = decisions.len() * context.index() / context.num_threads();
                let mut decisions = decisions.iter().cycle().skip(first);
                while begun.elapsed() < slice {
                    for (position, dice) in decisions.by_ref().take(BATCH) {
                        work.results += worker(position, *dice) as u64;
                        work.rolls += 1;
                    }
                }
                work
            });
            let seconds = begun.elapsed().as_secs_f64();
            let per_second = |count: fn(&Work) -> u64| works.iter().map(count).sum::<u64>() as f64 / seconds;
            (per_second(|work| work.rolls).round(), per_second(|work| work.results).round())
        })
        .collect();
    repeats.sort_by(|a, b| a.0.total_cmp(&b.0));
    repeats[repeats.len() / 2]
}

fn table(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    type Speed = fn(&Speeds) -> f64;
    let Answer { decisions, results_per_roll, repeats, speeds } = answer;
    writeln!(
        out,
        "a second, median of {repeats}; {decisions} decisions of self-play, {results_per_roll} results a roll"
    )?;
    write!(out, "{:<22}", "")?;
    for speed in speeds {
        write!(
            out,
            "{:>14}",
            if speed.threads == 1 { "1 thread".into() } else { format!("{} threads", speed.threads) }
        )?;
    }
    writeln!(out)?;
    let rows: [(&str, Speed); 4] = [
        ("static evaluations", |speeds| speeds.evaluations),
        ("plays chosen", |speeds| speeds.plays),
        ("rolls generated", |speeds| speeds.generated_rolls),
        ("results generated", |speeds| speeds.generated_results),
    ];
    for (name, speed) in rows {
        write!(out, "{name:<22}")?;
        for speeds in speeds {
            write!(out, "{:>14}", with_spaces(speed(speeds)))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// `1 234 567`.
fn with_spaces(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let numbers = [0.0, 12.4, 999.0, 1_000.0, 1_234_567.0].map(with_spaces);
        assert_eq!(numbers, ["0", "12", "999", "1 000", "1 234 567"]);
    }
}
