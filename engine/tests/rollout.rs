//! Rollouts against answers that are known, and what they promise.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::HashMap;

use rayon::ThreadPoolBuilder;
use zar::{
    board::{CubeOwner, CubeState, Position},
    bot::{Bot, Level, Valuation},
    cube::{CubeModel, Worth},
    exact::BearoffTables,
    net::{Evaluator, Model},
    rules::{Dice, LegalPlays, MatchScore, MoneyOptions, RuleSet, Session, Stakes},
    search::{
        Cache, Candidate, Chooser, RolledOut, Rollout, RolloutOptions, StaticEvaluator, Stop, best_play, roll_out,
    },
};

const RULES: RuleSet = RuleSet::Backgammon;

fn bare() -> StaticEvaluator<'static> {
    StaticEvaluator::new(Evaluator::new(Model::shipped()), None)
}

fn cubeless(position: Position) -> Candidate {
    Candidate { position, stakes: None, may_double: false, counted_in: None }
}

fn rolled(options: RolloutOptions, candidates: &[Candidate], threads: usize) -> Vec<RolledOut> {
    let (model, cache) = (CubeModel::usual(RULES), Cache::new(1000));
    let rollout = Rollout { model: &model, cache: &cache, stop: &Stop::NEVER, chooser: Chooser::OnRoll, options };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| roll_out(&rollout, &bare(), candidates, &mut |_| ()).unwrap())
}

fn few(games: u32, seed: u64) -> RolloutOptions {
    RolloutOptions { games, seed, ..RolloutOptions::FULL }
}

fn position(checkers: &[(usize, i8)]) -> Position {
    let mut points = [0; 26];
    for &(point, count) in checkers {
        points[point] = count;
    }
    Position::new(points).unwrap()
}

/// The equity of players who choose by the bare networks, by counting all that can happen.
fn counted(position: &Position, known: &mut HashMap<Position, f64>, evaluator: &mut Evaluator<'static>) -> f64 {
    if position.is_over() {
        return f64::from(evaluator.evaluate(position).equity(RULES).0);
    }
    if let Some(&equity) = known.get(position) {
        return equity;
    }
    let (mut plays, mut evaluations) = (LegalPlays::default(), Vec::new());
    let mut sum = 0.0;
    for dice in Dice::ALL {
        plays.generate(position, dice, RULES);
        evaluator.evaluate_plays(position, &plays, &mut evaluations);
        let after = plays[best_play(&evaluations, RULES)].after;
        sum -= f64::from(dice.ways()) / 36.0 * counted(&after, known, evaluator);
    }
    known.insert(*position, sum);
    sum
}

/// Positions of the last rolls, with and without gammons in the air.
fn endings() -> Vec<Position> {
    let mut endings = Vec::new();
    for (own, other) in [(6, 5), (5, 6), (4, 4), (3, 6)] {
        for (a, b) in [(1, 2), (2, 4), (3, 3), (1, 5)] {
            endings.push(position(&[(own, 2), (own - 2, 1), (25 - other, -2), (24 + a - b, -1)]));
            endings.push(position(&[(own, 3), (1, 1), (24, -2), (25 - b.max(2), -2)]));
        }
    }
    endings
}

/// The truth lies in the interval about 95 times of 100: of 320 rollouts no fewer than 92 %, some three standard deviations
/// less.
#[test]
fn intervals_cover_what_is_true() {
    let (mut known, mut evaluator) = (HashMap::new(), Evaluator::new(Model::shipped()));
    for variance_reduction in [true, false] {
        let (mut covered, mut all) = (0u32, 0u32);
        for position in endings() {
            let truth = counted(&position, &mut known, &mut evaluator);
            for seed in 0..10 {
                let options = RolloutOptions { variance_reduction, ..few(360, seed + 10 * u64::from(all)) };
                let found = rolled(options, &[cubeless(position)], 1)[0];
                covered += u32::from((f64::from(found.equity.0) - truth).abs() <= f64::from(found.half_width) + 1e-6);
                all += 1;
            }
        }
        assert!(f64::from(covered) > 0.92 * f64::from(all), "{covered} of {all}");
    }
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let candidates = [cubeless(Position::START)];
    let options = RolloutOptions { turns: Some(12), ..few(144, 1) };
    let alone = rolled(options, &candidates, 1);
    assert_eq!(alone, rolled(options, &candidates, 3));
    assert_ne!(alone, rolled(RolloutOptions { seed: 2, ..options }, &candidates, 1));
}

#[test]
fn luck_is_most_of_the_variance() {
    let error = |variance_reduction| {
        let options = RolloutOptions { variance_reduction, ..few(360, 5) };
        rolled(options, &[cubeless(Position::START)], 2)[0].equity_error
    };
    let (with, without) = (error(true), error(false));
    assert!(with < 0.4 * without, "{with} {without}");
}

#[test]
fn candidates_have_the_same_dice() {
    let candidates = [cubeless(Position::START), cubeless(Position::START)];
    let results = rolled(RolloutOptions { turns: Some(8), ..few(72, 3) }, &candidates, 2);
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0].games, 72);
}

#[test]
fn rules_end_a_rollout() {
    let good = cubeless(Position::START);
    // The same with half of the checkers of the player on roll on the bar.
    let bad = cubeless(position(&[(25, 7), (6, 5), (8, 3), (1, -2), (12, -5), (17, -3), (19, -5)]));
    let options = RolloutOptions { turns: Some(4), ..few(3600, 1) };
    let with = |options| rolled(options, &[good, bad], 2);
    let confident = with(RolloutOptions { confidence: Some(0.99), ..options });
    assert_eq!([confident[0].games, confident[1].games], [144, 144]);
    let sure = with(RolloutOptions { standard_error: Some(0.02), ..options });
    assert!(sure.iter().all(|result| result.equity_error <= 0.02 && result.games < 3600), "{sure:?}");
}

/// Players who look ahead play other games, which may be stopped.
#[test]
fn players_look_ahead() {
    let race = cubeless(position(&[(6, 4), (5, 3), (8, 2), (19, -4), (20, -3), (17, -2)]));
    let options = RolloutOptions { plies: 1, turns: Some(6), ..few(36, 1) };
    let found = rolled(options, &[race], 2)[0];
    assert!((found.equity.0 - rolled(few(36, 1), &[race], 2)[0].equity.0).abs() < 0.2, "{found:?}");
    let (model, cache, stop) = (CubeModel::usual(RULES), Cache::new(1000), Stop::on_sign());
    stop.now();
    let rollout = Rollout { model: &model, cache: &cache, stop: &stop, chooser: Chooser::OnRoll, options };
    assert_eq!(roll_out(&rollout, &bare(), &[race], &mut |_| ()), None);
}

fn bot(options: RolloutOptions) -> Bot<'static> {
    let bot = Bot::new(Model::shipped(), Level::Rollout, RULES).unwrap();
    bot.with_tables(BearoffTables::in_memory(RULES)).with_rollout(options)
}

/// Where the tables know the cube, nothing needs to be played.
#[test]
fn exact_cubes_are_exact() {
    let mut bot = bot(few(72, 1));
    let mut actions = Vec::new();
    for (own, other) in (3..=6).flat_map(|own| (3..=6).map(move |other| (own, other))) {
        let position = position(&[(own, 2), (own - 1, 1), (1, 1), (25 - other, -2), (26 - other, -1), (24, -1)]);
        let rolled = bot.roll_out_cube(&position, &Stakes::MONEY, &mut |_| ()).unwrap().unwrap();
        let exact = bot.at_level(Level::ZeroPly).cube_action(&position, &Stakes::MONEY).unwrap();
        assert_eq!((rolled.advice, rolled.errors), (exact, [0.0, 0.0]));
        actions.push(exact.decision.name());
    }
    assert!(["no-double", "double-take", "double-drop"].iter().all(|name| actions.contains(name)), "{actions:?}");
}

/// One turn before the tables: the cube is turned rightly in the games, so that the result agrees with a look ahead.
#[test]
fn cubeful_games_agree_with_the_tables_they_end_in() {
    let position = position(&[(6, 2), (5, 2), (4, 2), (2, 1), (19, -2), (20, -2), (21, -2), (23, -1)]);
    let mut bot = bot(few(720, 4));
    for owner in [CubeOwner::Centered, CubeOwner::Player, CubeOwner::Opponent] {
        let stakes = Stakes { cube: CubeState::new(2, owner).unwrap(), ..Stakes::MONEY };
        let rolled = bot.roll_out_position(&position, Valuation::Cubeful(stakes), &mut |_| ()).unwrap();
        let expected = bot.at_level(Level::ThreePly).evaluate(&position, Valuation::Cubeful(stakes)).cubeful;
        let off = (rolled.equity.0 - expected.0).abs();
        assert!(off < 0.02 + rolled.half_width && rolled.half_width < 0.05, "{owner:?}: {rolled:?} {expected:?}");
    }
}

/// In a match the equities are EMG, between what losing and winning the cube is worth, and gammons that win the match
/// count as they should.
#[test]
fn matches_are_rolled_out() {
    let score = MatchScore::new(5, [3, 3], false).unwrap();
    let stakes = Stakes { session: Session::Match(score), ..Stakes::MONEY };
    let mut bot = bot(RolloutOptions { turns: Some(10), ..few(144, 2) });
    let rolled = bot.roll_out_position(&Position::START, Valuation::Cubeful(stakes), &mut |_| ()).unwrap();
    let expected = bot.at_level(Level::OnePly).evaluate(&Position::START, Valuation::Cubeful(stakes)).cubeful;
    assert!((rolled.equity.0 - expected.0).abs() < 0.1 + rolled.half_width, "{rolled:?} {expected:?}");
}

/// The level answers like any other, and its plays say what they rest on.
#[test]
fn the_level_rolls_out() {
    let mut bot = bot(RolloutOptions { turns: Some(6), ..few(72, 2) });
    let plays = bot.rank(&Position::START, Dice::new(3, 1).unwrap(), Valuation::default());
    assert_eq!(plays[0].play.text(&Position::START), "8/5 6/5");
    let rolled = plays[0].rolled.unwrap();
    assert_eq!((rolled.equity, rolled.probabilities, rolled.games), (plays[0].equity, plays[0].probabilities, 72));
    assert!(plays.last().unwrap().rolled.is_none());
}

/// Plays that fall behind are given up, and never those that are ahead.
#[test]
fn the_best_play_is_played_on() {
    let options = RolloutOptions { turns: Some(4), confidence: Some(0.9999), ..few(720, 3) };
    let mut given_up = 0;
    for (first, second) in [(2, 1), (4, 1), (6, 2), (4, 3)] {
        let plays = bot(options).rank(&Position::START, Dice::new(first, second).unwrap(), Valuation::default());
        let rolled: Vec<RolledOut> = plays.iter().map_while(|play| play.rolled).collect();
        let most = rolled.iter().map(|rolled| rolled.games).max().unwrap();
        given_up += rolled.iter().filter(|rolled| rolled.games < most).count();
        assert_eq!(rolled[0].games, most);
        // Those that were given up were surely worse.
        assert!(rolled.iter().all(|other| other.equity <= rolled[0].equity), "{first}-{second}: {rolled:?}");
    }
    assert!(given_up > 0);
}

/// Stakes of every kind by some rules, at which the player on roll may double.
fn stakes(rules: RuleSet) -> Vec<Stakes> {
    let options = [(false, false), (true, false), (false, true), (true, true)];
    let money = options.map(|(jacoby, beavers)| Session::Money(MoneyOptions { jacoby, beavers }));
    let scores = [(2, [0, 0]), (3, [2, 0]), (3, [0, 2]), (5, [2, 1]), (7, [3, 5]), (7, [0, 0])];
    let matches = scores.map(|(length, score)| Session::Match(MatchScore::new(length, score, false).unwrap()));
    let cubes = [(1, CubeOwner::Centered), (2, CubeOwner::Player), (4, CubeOwner::Player)];
    money
        .into_iter()
        .chain(matches)
        .flat_map(|session| cubes.map(|(value, owner)| Stakes::new(session, CubeState::new(value, owner).unwrap())))
        .filter(|stakes| stakes.check(rules).is_ok() && stakes.may_double(rules))
        .collect()
}

/// Of a position in which the player on roll bears off now or never, everything can be counted: by every way of looking,
/// for money and in matches.
#[test]
fn last_rolls_are_counted_by_hand() {
    for (checkers, ways) in
        [([(6, 1), (5, 1), (24, -1)], 6), ([(1, 1), (2, 1), (24, -1)], 36), ([(4, 1), (1, 1), (24, -1)], 29)]
    {
        let position = position(&checkers);
        let win = ways as f32 / 36.0;
        for rules in [RuleSet::Backgammon, RuleSet::Tavla, RuleSet::Tavla2004] {
            let model = CubeModel::usual(rules);
            let tables = BearoffTables::in_memory(rules);
            let bot = Bot::new(Model::shipped_for(rules), Level::OnePly, rules).unwrap().with_tables(tables);
            for stakes in stakes(rules) {
                let worth = |points: u32| {
                    let [won, lost] = [-model.lost(points, &stakes.swapped()).0, model.lost(points, &stakes).0];
                    model.equity(Worth(win * won + (1.0 - win) * lost), &stakes).0
                };
                let beavered = if stakes.money_options().beavers && worth(2) < 0.0 { 2.0 } else { 1.0 };
                let expected = [worth(1), beavered * worth(2)];
                let best = expected[0].max(expected[1].min(1.0));
                for level in [Level::OnePly, Level::TwoPly, Level::Rollout] {
                    let mut bot = bot.at_level(level).with_rollout(few(72, 1));
                    let decision = bot.cube_action(&position, &stakes).unwrap().decision;
                    let evaluation = bot.evaluate(&position, Valuation::Cubeful(stakes));
                    let mut found = vec![(decision.no_double.0, expected[0]), (decision.double_take.0, expected[1])];
                    // The bare networks, who play the games of a rollout, do not always double rightly in a match.
                    if level != Level::Rollout || stakes.score().is_none() {
                        found.push((evaluation.cubeful.0, best));
                    }
                    for (found, expected) in found {
                        let place = format!("{position} {rules} {stakes:?} {level}: {decision:?} {evaluation:?}");
                        assert!((found - expected).abs() < 1e-4, "{place} {expected}");
                    }
                    assert!((evaluation.probabilities.win - win).abs() < 1e-5);
                }
            }
        }
    }
}

/// Who has not doubled does not do so in a game that is never played.
#[test]
fn a_game_has_a_turn_at_least() {
    let rolled = |turns| {
        let mut bot = bot(RolloutOptions { turns: Some(turns), ..few(72, 1) });
        let position = position(&[(6, 4), (5, 4), (4, 4), (3, 2), (14, -5), (18, -5), (20, -5)]);
        bot.roll_out_cube(&position, &Stakes::MONEY, &mut |_| ()).unwrap().unwrap()
    };
    assert_eq!(rolled(0), rolled(1));
}
