//! Whole small runs: the same weights whatever the threads and interruptions, and real learning.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use rayon::ThreadPoolBuilder;
use zar::{
    board::Position,
    bot::{Bot, Level},
    net::{Evaluator, FirstLayer, Model, Network, PositionClass, Precision},
    rules::RuleSet,
};
use zar_trainer::{
    average::{AverageError, average},
    config::{Config, Origin},
    dense_tail::{DenseTail, DenseWeights},
    device::DeviceChoice,
    duel::{Duel, PlayerSource, RandomSource},
    learner::Learner,
    prune::Pruning,
    run::{Ending, METRICS_FILE, Run, RunError, Supervision, WEIGHTS_FILE},
    score::{Referee, Reference},
    self_play::{Exploration, Sample, SelfPlay},
    sieve::SieveTraining,
    sparse_layer::{Active, SparseLayer},
};

const SMALL: &str = r#"
seed = 5
round_games = 40
batch = 256
random_openings = 0.5
random_plays = 6
averaged_rounds = 4.0

[contact]
features = "contact-patterns"
activation = "relu"
width = 64
hidden = [16, 16]

[race]
features = "race-counts"
activation = "clipped-relu"
width = 64
hidden = []

[[phase]]
games = 200
lambda = [1.0, 0.6]
rate = [2e-3, 1e-3]

[[phase]]
games = 130
lambda = [0.3, 0.3]
rate = [1e-3, 1e-4]
"#;

/// Games in floating point whose positions learn from the results alone.
fn played_to_results(seed: u64) -> SelfPlay {
    SelfPlay {
        seed,
        lambda: 1.0,
        expectation: 0.0,
        tables: None,
        precision: Precision::Exact,
        random_openings: 0.5,
        random_plays: 14,
        exploration: Exploration::default(),
    }
}

/// Works on a run until it is finished, or for so many rounds.
fn work(run: &mut Run, threads: usize, rounds: Option<usize>) -> Ending {
    let stop = AtomicBool::new(rounds == Some(0));
    let mut left = rounds;
    let mut supervision = Supervision {
        stop: &stop,
        time_budget: None,
        until: None,
        checkpoint_every: Duration::ZERO,
        measure_every: 150,
        reference: None,
        progress: &mut |_| {
            left = left.map(|left| left.saturating_sub(1));
            stop.store(left == Some(0), Ordering::Relaxed);
        },
        measured: &mut |_| (),
    };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| run.go(&mut supervision)).unwrap()
}

fn create(folder: &Path) -> Run {
    Run::create(folder, Config::from_toml(SMALL).unwrap(), DeviceChoice::Cpu).unwrap()
}

fn resume(folder: &Path, refused: &mut Vec<String>) -> Run {
    Run::resume(folder, DeviceChoice::Cpu, &mut |_, error| refused.push(error.to_string())).unwrap()
}

fn weights(folder: &Path) -> Vec<u8> {
    fs::read(folder.join(WEIGHTS_FILE)).unwrap()
}

#[test]
fn same_weights_for_any_threads_and_interruptions() {
    let folder = tempfile::tempdir().unwrap();
    let straight = folder.path().join("straight");
    assert_eq!(work(&mut create(&straight), 1, None), Ending::Finished);

    let threaded = folder.path().join("threaded");
    assert_eq!(work(&mut create(&threaded), 3, None), Ending::Finished);
    assert!(weights(&straight) == weights(&threaded), "the number of threads changed the weights");

    let interrupted = folder.path().join("interrupted");
    let mut run = create(&interrupted);
    let mut stops = 0;
    while work(&mut run, 1 + stops % 2, Some(2)) == Ending::Stopped {
        stops += 1;
        drop(run);
        run = resume(&interrupted, &mut Vec::new());
    }
    assert!(stops >= 3);
    assert!(weights(&straight) == weights(&interrupted), "interruptions changed the weights");

    let columns = |folder: &Path| -> Vec<Vec<String>> {
        let text = fs::read_to_string(folder.join(METRICS_FILE)).unwrap();
        text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
    };
    let (first, second) = (columns(&straight), columns(&interrupted));
    assert_eq!(first.len(), second.len());
    let seconds = first[0].iter().position(|name| name == "seconds").unwrap();
    for (a, b) in first.iter().zip(&second) {
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            assert!(i == seconds || a == b, "column {i}: {a} {b}");
        }
    }
}

#[test]
fn damaged_checkpoints_are_refused_and_the_one_before_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut run = create(&path);
    work(&mut run, 1, Some(3));
    let games = run.games();
    let busy = Run::resume(&path, DeviceChoice::Cpu, &mut |_, _| ());
    assert!(matches!(busy, Err(RunError::Locked(_))), "two programs on one run");
    drop(run);
    let checkpoints = zar_trainer::checkpoint::list(&path.join("checkpoints")).unwrap();
    let newest = fs::read(&checkpoints[0]).unwrap();
    fs::write(&checkpoints[0], &newest[..newest.len() / 2]).unwrap();
    let mut refused = Vec::new();
    let mut older = resume(&path, &mut refused);
    assert_eq!((refused.len(), older.games()), (1, games - 40), "{refused:?}");
    assert!(refused[0].contains("cut short or altered"), "{refused:?}");

    // Going on replaces the damaged file; with all of them damaged there is nothing to go on from.
    work(&mut older, 1, Some(1));
    drop(older);
    assert_eq!(resume(&path, &mut Vec::new()).games(), games);
    for checkpoint in zar_trainer::checkpoint::list(&path.join("checkpoints")).unwrap() {
        let mut bytes = fs::read(&checkpoint).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&checkpoint, bytes).unwrap();
    }
    let none = Run::resume(&path, DeviceChoice::Cpu, &mut |_, _| ());
    assert!(matches!(none, Err(RunError::NoCheckpoint(_))));
    let again = Run::create(&path, Config::from_toml(SMALL).unwrap(), DeviceChoice::Cpu);
    assert!(matches!(again, Err(RunError::Exists(_))));
}

/// A thousand games are enough to beat random play and the weights that the run began with.
#[test]
fn learns() {
    let folder = tempfile::tempdir().unwrap();
    let text = SMALL.replace("games = 200", "games = 1000");
    let mut run = Run::create(folder.path(), Config::from_toml(&text).unwrap(), DeviceChoice::Cpu).unwrap();
    let beginner = run.model().unwrap();
    work(&mut run, 2, None);
    let model = run.model().unwrap();
    let duel = Duel { pairs: 100, seed: 1, rules: model.rules() };
    for (rival, least) in [(&RandomSource { seed: 1 } as &dyn PlayerSource, 0.8), (&beginner, 0.5)] {
        let report = duel.run(&model, rival, &|_| ()).unwrap();
        assert!(report.points_per_game > least, "{report}");
    }
    assert_eq!((model.provenance().games, model.provenance().seed), (1130, 5));
}

/// A refinement begins with the function of the weights, in larger networks, and depends on nothing but its configuration.
#[test]
fn refinements_begin_with_the_weights_and_repeat() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = create(&folder.path().join("run"));
    work(&mut run, 2, None);
    let bare = run.model().unwrap();
    let model = SieveTraining { seed: 1, rounds: 2 }.train(&bare, &mut |_| ()).unwrap();
    let text = SMALL.replace("hidden = [16, 16]", "hidden = [24, 16, 16]").replace("hidden = []", "hidden = [64]");
    let phases = text.find("[[phase]]").unwrap();
    let exact = "[[phase]]\ngames = 40\nlambda = [0.0, 0.0]\nrate = [1e-3, 1e-4]\nexpectation = 0.2\npasses = 2\n\
                 [[phase]]\ngames = 40\nlambda = [0.5, 0.5]\nrate = [1e-4, 1e-4]\nexpectation = 1.0\npasses = 2\n";
    let head = "precision = \"quantised\"\nbearoff_tables = true\nreplay = 1000\n";
    let config = Config::from_toml(&format!("{head}{}{exact}", &text[..phases])).unwrap();
    let refined = |name: &str, threads: usize, rounds: Option<usize>| {
        let path = folder.path().join(name);
        let mut run = Run::refine(&path, config.clone(), &model, DeviceChoice::Cpu).unwrap();
        let grown = run.model().unwrap();
        if work(&mut run, threads, rounds) == Ending::Stopped {
            drop(run);
            run = resume(&path, &mut Vec::new());
            work(&mut run, threads, None);
        }
        let provenance = run.model().unwrap().provenance().clone();
        (grown, provenance, weights(&path))
    };
    let (grown, provenance, bytes) = refined("straight", 1, None);
    let (mut before, mut after) = (Evaluator::new(&model), Evaluator::new(&grown));
    let play = played_to_results(2);
    for Sample { position, .. } in play.play(&model, 0, 10) {
        let pairs = before.evaluate(&position).to_array().into_iter().zip(after.evaluate(&position).to_array());
        assert!(pairs.into_iter().all(|(before, after)| (before - after).abs() < 1e-3), "{position}");
    }
    assert_eq!((provenance.games, run.games()), (330 + 80, 330));
    assert!(provenance.positions > run.positions());
    let [origin] = &Config::from_toml(&provenance.config).unwrap().origins[..] else { panic!("one origin") };
    assert_eq!((origin.games, &origin.config), (330, &run.config().to_toml()));
    let ending: [u8; 4] = *model.to_bytes().unwrap().last_chunk().unwrap();
    assert_eq!(origin.checksum, format!("{:08x}", u32::from_le_bytes(ending)));
    assert_ne!(model.checksum().unwrap(), Model::from_bytes(&bytes).unwrap().checksum().unwrap());
    // Refined again it has two, as long as before each; written within each other, as once, they are found too.
    let again = Run::refine(
        &folder.path().join("again"),
        config.clone(),
        &Model::from_bytes(&bytes).unwrap(),
        DeviceChoice::Cpu,
    );
    let written = again.unwrap().config().to_toml();
    let origins = Config::from_toml(&written).unwrap().origins;
    assert_eq!((origins.len(), origins[0].games, &origins[1]), (2, 410, origin));
    let newest = Origin { config: provenance.config.clone(), ..origins[0].clone() };
    #[derive(serde::Serialize)]
    struct Nested {
        origin: Origin,
    }
    let nested = written[..written.find("[[origin]]").unwrap()].to_owned()
        + &toml::to_string(&Nested { origin: newest }).unwrap();
    assert_eq!(Config::from_toml(&nested).unwrap().origins, origins);
    // What a refinement was is not what a run from random weights may say of itself.
    let claimed = Config::from_toml(&provenance.config).unwrap();
    let refused = Run::create(&folder.path().join("claimed"), claimed, DeviceChoice::Cpu).unwrap_err();
    assert!(matches!(refused, RunError::Origin { games: 330 }), "{refused}");
    let endless = Config { round_games: 0, ..config.clone() };
    let refused = Run::refine(&folder.path().join("endless"), endless, &model, DeviceChoice::Cpu).unwrap_err();
    assert!(refused.to_string().contains("round_games is 0"), "{refused}");
    assert!(Model::from_bytes(&bytes).unwrap().sieve_network().is_some());
    assert!(bytes == refined("interrupted", 3, Some(1)).2, "threads or interruptions changed the weights");
}

/// The mean of weights lies between them, number by number; the mean of one thing is that thing; what does not fit is refused.
#[test]
fn weights_are_averaged() {
    let trained = |seed| {
        let mut config = Config::from_toml(SMALL).unwrap();
        config.seed = seed;
        Learner::new(&config, DeviceChoice::Cpu).unwrap().model(RuleSet::Backgammon).unwrap()
    };
    let (a, b) = (trained(1), trained(2));
    let mean = average(&[a.clone(), b.clone()]).unwrap();
    for class in PositionClass::ALL {
        let numbers = |model: &Model| -> Vec<f32> {
            let network = model.network(class);
            let dense = network.dense().iter().flat_map(|layer| layer.bias().chain(layer.weight()));
            network.first().bias().chain(network.first().rows()).chain(dense).collect()
        };
        let (a, b, mean) = (numbers(&a), numbers(&b), numbers(&mean));
        assert!(a != b && a.len() == mean.len());
        assert!(mean.iter().zip(a.iter().zip(&b)).all(|(mean, (a, b))| (mean - (a + b) / 2.0).abs() < 1e-6));
    }
    let same = average(&[a.clone(), a.clone(), a.clone()]).unwrap();
    assert!(same.to_bytes().unwrap() == a.to_bytes().unwrap());
    assert!(matches!(average(&[]), Err(AverageError::None)));
    let shipped = Model::shipped().clone();
    assert!(matches!(
        average(&[a.clone(), shipped]),
        Err(AverageError::Shapes { number: 2, class: PositionClass::Contact })
    ));
    // The same units in another order, as weights have them that learnt apart from each other.
    let shipped = Model::shipped();
    let reversed = |network: &Network| {
        let first = network.first();
        let (mut bias, mut rows): (Vec<f32>, Vec<f32>) = (first.bias().collect(), first.rows().collect());
        bias.reverse();
        rows.chunks_mut(first.width()).for_each(<[f32]>::reverse);
        let first = FirstLayer::new(&bias, &rows).unwrap();
        Network::new(network.features(), network.activation(), first, network.dense().to_vec()).unwrap()
    };
    let networks = PositionClass::ALL.map(|class| reversed(shipped.network(class)));
    let apart = Model::new(shipped.rules(), shipped.provenance().clone(), networks);
    assert!(matches!(average(&[shipped.clone(), apart]), Err(AverageError::Unrelated { .. })));
    assert!(average(&[shipped.clone(), shipped.clone()]).is_ok());
    let tavla = Learner::new(&Config::from_toml(SMALL).unwrap(), DeviceChoice::Cpu).unwrap().model(RuleSet::Tavla2004);
    assert!(matches!(average(&[a, tavla.unwrap()]), Err(AverageError::Rules { number: 2, .. })));
}

/// Rows that hardly any result in some games uses go, all else stays as it was, and the file becomes smaller by what went.
#[test]
fn rare_rows_are_left_out() {
    let model = Model::shipped();
    let pruning = Pruning { seed: 3, games: 20, least: 20 };
    let prune = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| pruning.prune(model, &mut |_| ()).unwrap())
    };
    let (pruned, rows) = prune(1);
    assert!(pruned.to_bytes().unwrap() == prune(3).0.to_bytes().unwrap(), "the threads changed the weights");
    assert_eq!(pruned.sieve_network(), model.sieve_network());
    let value = |model: &Model| Evaluator::in_precision(model, Precision::Exact).evaluate(&Position::START);
    assert_eq!(value(&pruned), value(model), "every row of the start is used often");
    let mut gone_bytes = 0;
    for (class, rows) in PositionClass::ALL.into_iter().zip(rows) {
        assert_eq!(model.network(class).dense(), pruned.network(class).dense());
        let (before, after) = (model.network(class).first(), pruned.network(class).first());
        let values = |first: &FirstLayer| first.rows().collect::<Vec<f32>>();
        let (before_rows, after_rows) = (values(before), values(after));
        let (mut kept, mut gone) = (0, 0);
        for (before, after) in before_rows.chunks(before.width()).zip(after_rows.chunks(after.width())) {
            let is_set = |row: &[f32]| row.iter().any(|&value| value != 0.0);
            assert!(!is_set(after) || before == after);
            kept += usize::from(is_set(after));
            gone += usize::from(is_set(before) && !is_set(after));
        }
        assert_eq!((rows.all, rows.kept), (model.network(class).features().rows(), kept));
        assert!(kept > 100 && gone > 100, "{class}: {kept} kept, {gone} gone");
        gone_bytes += 2 * gone * before.width();
    }
    let size = |model: &Model| model.to_bytes().unwrap().len();
    assert_eq!(size(model) - size(&pruned), gone_bytes);
}

/// Games by other rules have their outcomes: no triple game in `table`, nothing but single games in `plain`.
#[test]
fn every_rule_set_is_learnt() {
    for rules in RuleSet::ALL {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::from_toml(SMALL).unwrap();
        config.rules = rules;
        config.phases.truncate(1);
        config.phases[0].games = 40;
        let mut run = Run::create(folder.path(), config, DeviceChoice::Cpu).unwrap();
        work(&mut run, 2, None);
        let model = run.model().unwrap();
        assert_eq!(model.rules(), rules);
        let play = played_to_results(3);
        let samples = play.play(&model, 0, 60);
        let seen = |place: usize| samples.iter().any(|sample| sample.target.to_array()[place] == 1.0);
        let expected = match rules {
            RuleSet::Plain => [false, false],
            RuleSet::Table => [true, false],
            _ => [true, true],
        };
        assert_eq!([seen(1), seen(2)], expected, "{rules}");
    }
}

/// The learner's forward pass, with burn's dense layers, and the engine's give the same probabilities.
#[test]
fn burn_and_engine_agree() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = create(folder.path());
    work(&mut run, 2, None);
    let model = run.model().unwrap();
    let play = played_to_results(1);
    let positions: Vec<Position> = play.play(&model, 0, 20).into_iter().map(|sample| sample.position).collect();
    let mut evaluator = Evaluator::in_precision(&model, Precision::Exact);
    let mut compared = [0; PositionClass::ALL.len()];
    for class in PositionClass::ALL {
        let network = model.network(class);
        let bias: Vec<f32> = network.first().bias().collect();
        let rows: Vec<f32> = network.first().rows().collect();
        let sparse = SparseLayer::new(network.features(), &bias, &rows).unwrap();
        let dense: Vec<DenseWeights> = network
            .dense()
            .iter()
            .map(|layer| DenseWeights {
                inputs: layer.inputs(),
                outputs: layer.outputs(),
                weight: layer.weight().collect(),
                bias: layer.bias().collect(),
            })
            .collect();
        let tail = DenseTail::new(&dense, network.activation(), DeviceChoice::Cpu).unwrap();
        for &position in positions.iter().filter(|position| PositionClass::of(position) == class) {
            let sample = Sample { position, target: Default::default() };
            let (mut active, mut hidden) = (Active::default(), Vec::new());
            sparse.activate(&mut [sample].iter(), &mut active);
            sparse.forward(&active, &mut hidden);
            let burn = tail.forward(&hidden).unwrap();
            let engine = evaluator.evaluate(&position);
            // What the rules make impossible the engine sets to zero, and no ending is likelier than one it includes.
            let possible =
                zar::net::Probabilities::from_array(burn.try_into().unwrap()).made_possible(&position, model.rules());
            for (burn, engine) in possible.to_array().into_iter().zip(engine.to_array()) {
                assert!((burn - engine).abs() < 1e-5, "{position}: burn {burn}, engine {engine}");
            }
            compared[class.index()] += 1;
        }
    }
    assert!(compared.into_iter().all(|count| count > 100), "{compared:?}");
}

/// The errors that the documentation of the levels states, with the shipped weights.
#[test]
fn imitated_people_err_as_documented() {
    let decisions = include_str!("../../tests/data/checker_dev.jsonl");
    let reference = Reference::parse(decisions, Referee::First, RuleSet::Backgammon).unwrap();
    let documented = [
        (Level::Beginner, 70.0),
        (Level::Casual, 49.0),
        (Level::Intermediate, 31.0),
        (Level::Advanced, 16.0),
        (Level::Expert, 7.0),
    ];
    for (level, expected) in documented {
        let bot = Bot::new(Model::shipped(), level, RuleSet::Backgammon).unwrap();
        let found = reference.score(&reference.choices(&bot)).unwrap().total.error;
        assert!((found - expected).abs() <= 1.0, "{level} errs by {found}, not {expected}");
    }
}
