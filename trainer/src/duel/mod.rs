//! Head-to-head play: which of two players wins, and by how much.
//!
//! Games come in pairs: the same dice twice, with the sides exchanged, so that most of the luck cancels. They are
//! cubeless money games.

mod gnubg;
mod player;
mod pubeval;

use std::{
    fmt,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Instant,
};

use serde::Serialize;
use thiserror::Error;
use zar::{
    board::Position,
    rules::{Dice, LegalPlays, Outcome, RuleSet},
};

use crate::seeds::{Purpose, stream};

pub use gnubg::{GnubgError, GnubgPlayer, GnubgSource};
pub use player::{
    BotPlayer, Contestant, ModelPlayer, ModelSource, Player, PlayerError, PlayerSource, RandomPlayer, RandomSource,
    UnknownContestant,
};
pub use pubeval::{PubevalError, PubevalPlayer, PubevalSource};

/// Games longer than this are taken for endless; even random players need an order of magnitude less.
const MOST_TURNS: u32 = 10_000;

/// A duel to be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duel {
    /// Pairs of games.
    pub pairs: u64,
    /// Seed of the dice.
    pub seed: u64,
    /// The rules that are played.
    pub rules: RuleSet,
}

/// Why a duel was broken off.
#[derive(Debug, Error)]
pub enum DuelError {
    /// A duel without games.
    #[error("a duel of no games, expected at least one pair")]
    NoGames,
    /// A player does not play.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// A game that does not end.
    #[error("a game of pair {pair} has not ended after {MOST_TURNS} turns")]
    Endless {
        /// Counted from 0.
        pair: u64,
    },
}

/// The result of a duel, seen by the first player, A. But for the speed it only depends on the duel and its players.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Games played, two a pair.
    pub games: u64,
    /// Points that A won a game at a cube of 1, less what he lost.
    pub points_per_game: f64,
    /// Standard error of `points_per_game`, over pairs: the two games of a pair hang together. `None` after one pair.
    pub standard_error: Option<f64>,
    /// Where the true points a game lie with 95 % confidence.
    pub interval: Option<[f64; 2]>,
    /// What A won.
    pub won: Rates,
    /// What B won.
    pub lost: Rates,
    /// Games a second, the players' start included.
    pub games_per_second: f64,
}

/// How often a player won, as shares of all games. They are cumulative: a backgammon is also a gammon, and a win.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rates {
    /// Games.
    pub games: f64,
    /// Gammons or better.
    pub gammons: f64,
    /// Backgammons.
    pub backgammons: f64,
}

/// Sums over pairs. All are whole numbers, so that the order in which threads add to them does not matter.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    pairs: u64,
    points: i64,
    /// Squares of the points of a pair.
    squares: i64,
    /// Single games, gammons, backgammons won by A and by B.
    wins: [[u64; 3]; 2],
}

/// The players of one thread, and what it keeps between games.
struct Table<'p> {
    players: [Box<dyn Player + 'p>; 2],
    plays: LegalPlays,
}

impl Duel {
    /// Plays on the threads of the current rayon pool, with a player of each contestant on every one. `progress` is told
    /// the number of games played after each pair, by several threads at a time.
    ///
    /// # Errors
    /// No games, players that cannot be made or that fail, a game without end.
    pub fn run(
        &self,
        a: &dyn PlayerSource,
        b: &dyn PlayerSource,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Report, DuelError> {
        if self.pairs == 0 {
            return Err(DuelError::NoGames);
        }
        let start = Instant::now();
        let (next, done, failed) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
        let work = || -> Result<Tally, DuelError> {
            let mut tally = Tally::default();
            let mut table: Option<Table<'_>> = None;
            while !failed.load(Ordering::Relaxed) {
                let pair = next.fetch_add(1, Ordering::Relaxed);
                if pair >= self.pairs {
                    break;
                }
                // Players may be processes that take long to start: none for a thread that finds nothing to do.
                let table = match &mut table {
                    Some(table) => table,
                    none => none.insert(Table { players: [a.player()?, b.player()?], plays: LegalPlays::default() }),
                };
                tally.add_pair([self.game(table, pair, 0)?, self.game(table, pair, 1)?], self.rules);
                progress(2 * (done.fetch_add(1, Ordering::Relaxed) + 1));
            }
            Ok(tally)
        };
        let tallies = rayon::broadcast(|_| work().inspect_err(|_| failed.store(true, Ordering::Relaxed)));
        let total =
            tallies.into_iter().try_fold(Tally::default(), |total, tally| Ok::<_, DuelError>(total.plus(tally?)))?;
        Ok(total.report(start.elapsed().as_secs_f64()))
    }

    /// Plays one game of a pair, begun by player `starter` (0: A), and tells how it ended for A.
    fn game(&self, table: &mut Table<'_>, pair: u64, starter: usize) -> Result<Outcome, DuelError> {
        let Table { players, plays } = table;
        for (i, player) in players.iter_mut().enumerate() {
            player.start_game(4 * pair + 2 * starter as u64 + i as u64);
        }
        let mut rng = stream(self.seed, Purpose::Duel, pair);
        // The starter plays the two unequal dice that decided who he is.
        let mut dice = Dice::roll(&mut rng);
        while dice.is_double() {
            dice = Dice::roll(&mut rng);
        }
        let mut position = Position::START;
        let mut on_roll = starter;
        for _ in 0..MOST_TURNS {
            plays.generate(&position, dice, self.rules);
            let index = if plays.len() == 1 { 0 } else { players[on_roll].choose(&position, dice, plays)? };
            let legal = plays.get(index).ok_or(PlayerError::Index { index, plays: plays.len() })?;
            position = legal.after;
            on_roll = 1 - on_roll;
            let seen_by_a = if on_roll == 0 { position } else { position.swapped() };
            if let Some(outcome) = Outcome::of(&seen_by_a, self.rules) {
                return Ok(outcome);
            }
            dice = Dice::roll(&mut rng);
        }
        Err(DuelError::Endless { pair })
    }
}

impl Tally {
    /// Adds the two games of a pair, as they ended for A.
    fn add_pair(&mut self, outcomes: [Outcome; 2], rules: RuleSet) {
        let points: i64 = outcomes.iter().map(|outcome| i64::from(outcome.points(rules))).sum();
        self.pairs += 1;
        self.points += points;
        self.squares += points * points;
        for outcome in outcomes {
            let (winner, kind) = match outcome {
                Outcome::WinSingle => (0, 0),
                Outcome::WinGammon => (0, 1),
                Outcome::WinTriple => (0, 2),
                Outcome::LoseSingle => (1, 0),
                Outcome::LoseGammon => (1, 1),
                Outcome::LoseTriple => (1, 2),
            };
            self.wins[winner][kind] += 1;
        }
    }

    fn plus(mut self, other: Tally) -> Tally {
        self.pairs += other.pairs;
        self.points += other.points;
        self.squares += other.squares;
        for (sum, count) in self.wins.as_flattened_mut().iter_mut().zip(other.wins.as_flattened()) {
            *sum += count;
        }
        self
    }

    fn report(&self, seconds: f64) -> Report {
        let games = 2 * self.pairs;
        let (pairs, points) = (self.pairs as f64, self.points as f64);
        let mean = points / games as f64;
        // Of the points of a pair, which are twice the points a game.
        let variance = (self.squares as f64 - points * points / pairs) / (pairs - 1.0);
        let standard_error = (self.pairs > 1).then(|| (variance.max(0.0) / pairs).sqrt() / 2.0);
        let rates = |[single, gammon, backgammon]: [u64; 3]| {
            let share = |count: u64| count as f64 / games as f64;
            Rates {
                games: share(single + gammon + backgammon),
                gammons: share(gammon + backgammon),
                backgammons: share(backgammon),
            }
        };
        Report {
            games,
            points_per_game: mean,
            standard_error,
            interval: standard_error.map(|error| [mean - 1.96 * error, mean + 1.96 * error]),
            won: rates(self.wins[0]),
            lost: rates(self.wins[1]),
            games_per_second: games as f64 / seconds,
        }
    }
}

/// A few lines without a line break at the end.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} games in pairs of equal dice, {:.1} games/s", self.games, self.games_per_second)?;
        write!(f, "\npoints a game  {:+.4}", self.points_per_game)?;
        if let (Some(error), Some([low, high])) = (self.standard_error, self.interval) {
            write!(f, " (95 %: {low:+.4} to {high:+.4}; standard error {error:.4})")?;
        }
        for (name, rates) in [("won", self.won), ("lost", self.lost)] {
            let [games, gammons, backgammons] =
                [rates.games, rates.gammons, rates.backgammons].map(|share| 100.0 * share);
            write!(f, "\n{name:<13} {games:>5.1} %, {gammons:.1} % gammons, {backgammons:.1} % backgammons")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use rand::Rng;
    use rayon::ThreadPoolBuilder;
    use zar::net::{
        Activation, DenseLayer, FeatureSet, FirstLayer, Model, Network, OUTPUTS, PositionClass, Provenance,
    };

    use super::*;

    const DUEL: Duel = Duel { pairs: 40, seed: 3, rules: RuleSet::Backgammon };

    /// Pseudo-random weights: a player that is bad but prefers some plays to others.
    fn model(seed: u64) -> Model {
        let networks = PositionClass::ALL.map(|class| {
            let features = match class {
                PositionClass::Contact => FeatureSet::ContactPatterns,
                PositionClass::Race => FeatureSet::RaceCounts,
            };
            let mut rng = stream(seed, Purpose::Weights, class.index() as u64);
            let mut values = |count: usize| -> Vec<f32> {
                (0..count).map(|_| rng.next_u32() as f32 / 2f32.powi(32) * 0.2 - 0.1).collect()
            };
            let width = FirstLayer::WIDTH_STEP;
            let first = FirstLayer::new(&values(width), &values(features.rows() * width)).unwrap();
            let last = DenseLayer::new(width, &values(OUTPUTS), &values(OUTPUTS * width)).unwrap();
            Network::new(features, Activation::Relu, first, vec![last]).unwrap()
        });
        Model::new(RuleSet::Backgammon, Provenance::default(), networks)
    }

    fn run(duel: Duel, a: &dyn PlayerSource, b: &dyn PlayerSource, threads: usize) -> Result<Report, DuelError> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // What does not repeat is set to zero.
        pool.install(|| duel.run(a, b, &|_| ())).map(|report| Report { games_per_second: 0.0, ..report })
    }

    #[test]
    fn equals_end_exactly_even() {
        // The same model from two places: nothing but its play decides.
        let report = run(DUEL, &model(1), &model(1), 2).unwrap();
        assert_eq!((report.games, report.points_per_game, report.standard_error), (80, 0.0, Some(0.0)));
        assert_eq!(report.won, report.lost);
        assert_eq!(report.won.games, 0.5);
    }

    #[test]
    fn sides_can_be_exchanged() {
        let (one, other) = (model(1), model(2));
        let report = run(DUEL, &one, &other, 2).unwrap();
        let exchanged = run(DUEL, &other, &one, 2).unwrap();
        assert_ne!(report.points_per_game, 0.0);
        assert_eq!(report.points_per_game, -exchanged.points_per_game);
        assert_eq!((report.won, report.lost), (exchanged.lost, exchanged.won));
    }

    #[test]
    fn threads_do_not_matter() {
        let (model, random) = (model(1), RandomSource { seed: DUEL.seed });
        let report = run(DUEL, &model, &random, 1).unwrap();
        assert_eq!(run(DUEL, &model, &random, 2).unwrap(), report);
        assert_ne!(run(Duel { seed: 4, ..DUEL }, &model, &random, 2).unwrap(), report);
    }

    #[test]
    fn random_players_are_independent_and_equal() {
        let random = RandomSource { seed: 1 };
        let report = run(Duel { pairs: 400, ..DUEL }, &random, &random, 2).unwrap();
        let error = report.standard_error.unwrap();
        assert!(error > 0.03 && report.points_per_game.abs() < 4.0 * error, "{report}");
    }

    #[test]
    fn progress_reaches_the_end() {
        let random = RandomSource { seed: 1 };
        let told = Mutex::new(Vec::new());
        DUEL.run(&random, &random, &|games| told.lock().unwrap().push(games)).unwrap();
        let mut told = told.into_inner().unwrap();
        told.sort();
        assert!(told.into_iter().eq((1..=40).map(|pair| 2 * pair)));
    }

    /// Notes what it is given, and plays the first play.
    struct Witness<'a> {
        side: char,
        notes: &'a Mutex<Vec<String>>,
    }

    impl Player for Witness<'_> {
        fn choose(&mut self, position: &Position, dice: Dice, _: &LegalPlays) -> Result<usize, PlayerError> {
            self.notes.lock().unwrap().push(format!("{} {position} {dice}", self.side));
            Ok(0)
        }
    }

    /// Makes [`Witness`]es.
    struct Witnesses<'a>(char, &'a Mutex<Vec<String>>);

    impl PlayerSource for Witnesses<'_> {
        fn player(&self) -> Result<Box<dyn Player + '_>, PlayerError> {
            Ok(Box::new(Witness { side: self.0, notes: self.1 }))
        }
    }

    #[test]
    fn both_games_of_a_pair_have_the_same_dice() {
        let notes = Mutex::default();
        let duel = Duel { pairs: 1, ..DUEL };
        let report = run(duel, &Witnesses('A', &notes), &Witnesses('B', &notes), 1).unwrap();
        assert_eq!((report.points_per_game, report.standard_error, report.interval), (0.0, None, None));
        let notes = notes.into_inner().unwrap();
        let (first, second) = notes.split_at(notes.len() / 2);
        let start = Position::START.to_string();
        assert!(first[0].starts_with(&format!("A {start} ")) && second[0].starts_with(&format!("B {start} ")));
        for (first, second) in first.iter().zip(second) {
            assert_eq!(first[1..], second[1..]);
            assert_ne!(first[..1], second[..1]);
        }
    }

    #[test]
    fn games_begin_with_unequal_dice() {
        let notes = Mutex::default();
        run(Duel { pairs: 100, ..DUEL }, &Witnesses('A', &notes), &Witnesses('B', &notes), 1).unwrap();
        let start = Position::START.to_string();
        let notes = notes.into_inner().unwrap();
        let openings: Vec<&str> = notes.iter().filter_map(|note| note[2..].strip_prefix(start.as_str())).collect();
        assert_eq!(openings.len(), 200);
        assert!(openings.iter().all(|dice| !dice.trim().parse::<Dice>().unwrap().is_double()));
    }

    /// Answers a play that does not exist.
    struct Broken;

    impl Player for Broken {
        fn choose(&mut self, _: &Position, _: Dice, plays: &LegalPlays) -> Result<usize, PlayerError> {
            Ok(plays.len())
        }
    }

    impl PlayerSource for Broken {
        fn player(&self) -> Result<Box<dyn Player + '_>, PlayerError> {
            Ok(Box::new(Broken))
        }
    }

    #[test]
    fn errors_end_the_duel() {
        let error = run(DUEL, &RandomSource { seed: 1 }, &Broken, 2).unwrap_err();
        assert!(matches!(error, DuelError::Player(PlayerError::Index { .. })), "{error}");
        let error = run(Duel { pairs: 0, ..DUEL }, &Broken, &Broken, 2).unwrap_err();
        assert!(matches!(error, DuelError::NoGames), "{error}");
    }

    #[test]
    fn reports_by_hand() {
        use Outcome::*;
        let mut tally = Tally::default();
        // Pairs worth +3, -1, 0 and -2 points.
        for pair in [[WinSingle, WinGammon], [LoseGammon, WinSingle], [LoseTriple, WinTriple], [LoseSingle; 2]] {
            tally.add_pair(pair, RuleSet::Backgammon);
        }
        let report = tally.report(4.0);
        assert_eq!((report.games, report.points_per_game, report.games_per_second), (8, 0.0, 2.0));
        // Per game the pairs are +1.5, -0.5, 0, -1: a variance of 3.5 / 3.
        let error = report.standard_error.unwrap();
        assert!((error - (3.5f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12, "{error}");
        assert_eq!(report.won, Rates { games: 0.5, gammons: 0.25, backgammons: 0.125 });
        assert_eq!(report.lost, Rates { games: 0.5, gammons: 0.25, backgammons: 0.125 });
        assert_eq!(
            report.to_string(),
            "8 games in pairs of equal dice, 2.0 games/s\n\
             points a game  +0.0000 (95 %: -1.0585 to +1.0585; standard error 0.5401)\n\
             won            50.0 %, 25.0 % gammons, 12.5 % backgammons\n\
             lost           50.0 %, 25.0 % gammons, 12.5 % backgammons"
        );
    }
}
