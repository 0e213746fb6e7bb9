//! Looking ahead against what counting by hand gives.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::{
    sync::LazyLock,
    time::{Duration, Instant},
};

use rayon::ThreadPoolBuilder;
use zar::{
    board::Position,
    bot::{Bot, Level, Valuation},
    cube::CubeModel,
    net::{Evaluator, Model, PositionClass},
    rules::{Dice, LegalPlays, RuleSet, Stakes},
    search::{Cache, CubeTree, MoveFilter, Search, StaticEvaluator, Stop, best_play, look_at, rank_ahead},
};

const RULES: RuleSet = RuleSet::Backgammon;

fn with_search<R>(plies: u8, run: impl FnOnce(&Search<'_>) -> R) -> R {
    let model = CubeModel::usual(RULES);
    let tree = CubeTree::new(&model, &[], plies);
    let cache = Cache::new(10_000);
    run(&Search { model: &model, tree: &tree, cache: &cache, stop: &Stop::NEVER })
}

/// The shipped networks without their sieve, which leaves plays out that are hardly ever the best.
static UNSIEVED: LazyLock<Model> = LazyLock::new(|| {
    let shipped = Model::shipped();
    Model::new(RULES, shipped.provenance().clone(), PositionClass::ALL.map(|class| shipped.network(class).clone()))
});

fn bare() -> StaticEvaluator<'static> {
    StaticEvaluator::new(Evaluator::new(&UNSIEVED), None)
}

/// The definition, without any of the machinery.
fn by_definition(position: &Position, plies: u8) -> f64 {
    let mut evaluator = Evaluator::new(Model::shipped());
    if plies == 0 || position.is_over() {
        return f64::from(evaluator.evaluate(position).equity(RULES).0);
    }
    let (mut plays, mut evaluations) = (LegalPlays::default(), Vec::new());
    let rolls = Dice::ALL.map(|dice| {
        plays.generate(position, dice, RULES);
        evaluator.evaluate_plays(position, &plays, &mut evaluations);
        let after = plays[best_play(&evaluations, RULES)].after;
        -f64::from(dice.ways()) * by_definition(&after, plies - 1)
    });
    rolls.iter().sum::<f64>() / 36.0
}

#[test]
fn values_are_means_over_rolls_of_best_replies() {
    for id in ["4HPwATDgc/ABMA", "sGfwATDgc/ABMA", "G4YNDEaX1yABAw", "tu0DAMDZLSAEDA"] {
        let position: Position = id.parse().unwrap();
        for plies in 0..=2 {
            let value = with_search(plies, |search| look_at(search, &bare(), &[position], plies).unwrap()[0]);
            let (found, expected) = (f64::from(value.probabilities.equity(RULES).0), by_definition(&position, plies));
            assert!((found - expected).abs() < 1e-5, "{id} at {plies} plies: {found} {expected}");
        }
    }
}

#[test]
fn threads_and_what_was_seen_before_change_nothing() {
    let position: Position = "4HPwATDgc/ABMA".parse().unwrap();
    let dice = Dice::new(6, 2).unwrap();
    let rank = |threads: usize, times: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            with_search(2, |search| {
                let mut evaluator = bare();
                let mut rank = || rank_ahead(search, &mut evaluator, &position, dice, 2, MoveFilter::Tiny).unwrap();
                (1..times).for_each(|_| drop(rank()));
                rank()
            })
        })
    };
    let alone = rank(1, 1);
    assert_eq!(alone, rank(2, 1));
    assert_eq!(alone, rank(1, 2));
    assert!(alone[0].plies == 2 && alone.last().unwrap().plies == 0);
}

#[test]
fn every_play_is_ranked_once() {
    let position: Position = "4HPwATDgc/ABMA".parse().unwrap();
    for dice in Dice::ALL {
        let legal = position.legal_plays(dice, RULES);
        let mut evaluations = Vec::new();
        Evaluator::new(Model::shipped()).evaluate_plays(&position, &legal, &mut evaluations);
        for (plies, filter) in [(0, MoveFilter::Normal), (1, MoveFilter::Tiny), (1, MoveFilter::None)] {
            let mut plays =
                with_search(plies, |search| rank_ahead(search, &mut bare(), &position, dice, plies, filter).unwrap());
            assert_eq!(plays.len(), legal.len());
            if filter == MoveFilter::None {
                assert!(plays.iter().all(|play| play.plies == plies));
            }
            if plies == 0 {
                assert!(plays.is_sorted_by(|a, b| a.equity >= b.equity));
                for play in &plays {
                    let place = legal.iter().position(|legal| legal.after == play.after).unwrap();
                    assert_eq!(play.probabilities, evaluations[place].flipped());
                    assert_eq!(play.equity, -evaluations[place].equity(RULES));
                }
            }
            plays.sort_by_key(|play| *play.after.points());
            plays.dedup_by_key(|play| play.after);
            assert_eq!(plays.len(), legal.len());
        }
    }
}

/// A bot that may be stopped gives the same answer when nobody stops it, and some answer at once when somebody has.
#[test]
fn answers_are_there_when_they_are_due() {
    let position: Position = "4HPwATDgc/ABMA".parse().unwrap();
    let dice = Dice::new(6, 2).unwrap();
    let bot = Bot::new(Model::shipped(), Level::TwoPly, RULES).unwrap();
    let ask = |stop: Stop| {
        let mut bot = bot.by_rules(RULES).unwrap().with_stop(stop);
        let plays = bot.rank(&position, dice, Valuation::default());
        let advice = bot.cube_action(&position, &Stakes::MONEY).unwrap();
        (plays, bot.evaluate(&position, Valuation::default()), advice)
    };
    assert_eq!(ask(Stop::NEVER), ask(Stop::on_sign()));
    let stopped = Stop::on_sign();
    stopped.now();
    let begun = Instant::now();
    let (plays, evaluation, advice) = ask(stopped);
    assert!(begun.elapsed() < Duration::from_millis(500));
    let mut bare = bot.at_level(Level::ZeroPly);
    assert_eq!(plays, bare.rank(&position, dice, Valuation::default()));
    assert_eq!(evaluation, bare.evaluate(&position, Valuation::default()));
    assert_eq!(advice, bare.cube_action(&position, &Stakes::MONEY).unwrap());
}

/// What the sieve leaves out is hardly ever the best.
#[test]
fn a_sieve_changes_little() {
    let sieved = StaticEvaluator::new(Evaluator::new(Model::shipped()), None);
    for id in ["4HPwATDgc/ABMA", "sGfwATDgc/ABMA", "G4YNDEaX1yABAw", "tu0DAMDZLSAEDA"] {
        let position: Position = id.parse().unwrap();
        let [all, some] = [&bare(), &sieved].map(|evaluator| {
            let value = with_search(2, |search| look_at(search, evaluator, &[position], 2).unwrap()[0]);
            value.probabilities.equity(RULES).0
        });
        assert!((all - some).abs() < 0.01, "{id}: {all} {some}");
    }
}
