//! Who plays in a duel, and the players that live in this process.

use std::{
    borrow::Cow,
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use thiserror::Error;
use zar::{
    board::Position,
    bot::{Bot, BotError, Level, UnknownLevel, Valuation},
    exact::{BearoffTables, CacheFolder},
    net::{Evaluator, Model, ModelError, OutcomesDiffer, Probabilities},
    rules::{Dice, LegalPlays, Move, RuleSet},
    search::best_play,
};

use crate::seeds::{Purpose, stream};

use super::{GnubgError, GnubgSource, PubevalError, PubevalSource};

/// Chooses plays, on one thread.
pub trait Player: Send {
    /// Tells that a new game begins. No two games of a duel, and no two players in a game, are given the same `number`,
    /// and it does not hang on threads: what is random in a game comes from it.
    fn start_game(&mut self, number: u64) {
        let _ = number;
    }

    /// The index of the chosen one of `plays`, the legal plays of the player on roll in `position`. Need not be asked
    /// when there is only one.
    ///
    /// # Errors
    /// A program behind the player that fails or gives an answer that is not legal.
    fn choose(&mut self, position: &Position, dice: Dice, plays: &LegalPlays) -> Result<usize, PlayerError>;
}

/// Makes the players of one contestant, one for each thread.
pub trait PlayerSource: Sync {
    /// A player for one thread.
    ///
    /// # Errors
    /// A program behind the player that cannot be started.
    fn player(&self) -> Result<Box<dyn Player + '_>, PlayerError>;
}

/// Why a player does not play.
#[derive(Debug, Error)]
pub enum PlayerError {
    /// The weights cannot be read.
    #[error("{}: {error}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: ModelError,
    },
    /// Weights that learnt other outcomes than those of the duel.
    #[error(transparent)]
    Outcomes(#[from] OutcomesDiffer),
    /// A bot that cannot be made.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// The contestant plays by other rules than the duel.
    #[error("{contestant} does not play {rules}")]
    Rules {
        /// Who.
        contestant: Contestant,
        /// The rules of the duel.
        rules: RuleSet,
    },
    /// GNU Backgammon fails.
    #[error(transparent)]
    Gnubg(#[from] GnubgError),
    /// Pubeval fails.
    #[error(transparent)]
    Pubeval(#[from] PubevalError),
    /// A player chose a play that does not exist.
    #[error("a player chose play {index} of {plays}")]
    Index {
        /// What it answered.
        index: usize,
        /// How many plays there were.
        plays: usize,
    },
}

/// Whom a duel may be played by, as named on the command line.
///
/// Written `random`, `gnubg:0ply`, `gnubg:1ply`, `gnubg:2ply`, `gnubg:pubeval`, as a level for the networks that are compiled
/// in, as in `2ply` or `expert`, or as the path of a weights file, with a level behind an `@` if it is not 0-ply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contestant {
    /// The networks of a weights file.
    Weights(PathBuf, Level),
    /// The networks that are compiled in.
    Shipped(Level),
    /// Any legal result, each as likely as the others.
    Random,
    /// GNU Backgammon.
    Gnubg {
        /// How far it looks ahead, 0 to 2.
        plies: u8,
    },
    /// Gerald Tesauro's pubeval of 1993, the field's oldest yardstick.
    Pubeval,
}

/// A text that names no contestant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{0:?} is neither a weights file, alone or as FILE@LEVEL, nor a level such as 0ply or 2ply, random, gnubg:0ply, gnubg:1ply, gnubg:2ply or gnubg:pubeval"
)]
pub struct UnknownContestant(pub String);

impl FromStr for Contestant {
    type Err = UnknownContestant;

    fn from_str(text: &str) -> Result<Contestant, UnknownContestant> {
        Ok(match text {
            "random" => Contestant::Random,
            "gnubg:0ply" => Contestant::Gnubg { plies: 0 },
            "gnubg:1ply" => Contestant::Gnubg { plies: 1 },
            "gnubg:2ply" => Contestant::Gnubg { plies: 2 },
            "gnubg:pubeval" => Contestant::Pubeval,
            path if Path::new(path).is_file() => Contestant::Weights(path.into(), Level::ZeroPly),
            other => {
                let unknown = |_: UnknownLevel| UnknownContestant(text.chars().take(200).collect());
                match other.rsplit_once('@') {
                    Some((path, level)) if Path::new(path).is_file() => {
                        Contestant::Weights(path.into(), level.parse().map_err(unknown)?)
                    }
                    _ => Contestant::Shipped(other.parse().map_err(unknown)?),
                }
            }
        })
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contestant::Weights(path, Level::ZeroPly) => write!(f, "{}", path.display()),
            Contestant::Weights(path, level) => write!(f, "{}@{level}", path.display()),
            Contestant::Shipped(level) => write!(f, "{level}"),
            Contestant::Random => f.write_str("random"),
            Contestant::Gnubg { plies } => write!(f, "gnubg:{plies}ply"),
            Contestant::Pubeval => f.write_str("gnubg:pubeval"),
        }
    }
}

impl Contestant {
    /// Gets ready for a duel: reads the weights. `seed` is the duel's.
    ///
    /// # Errors
    /// Weights that cannot be read, or a contestant that plays by other rules.
    pub fn source(&self, rules: RuleSet, seed: u64) -> Result<Box<dyn PlayerSource>, PlayerError> {
        Ok(match self {
            Contestant::Weights(path, level) => {
                let model = Model::load(path).map_err(|error| PlayerError::Model { path: path.clone(), error })?;
                Box::new(ModelSource { model: Cow::Owned(model), rules, level: *level, seed })
            }
            Contestant::Shipped(level) => {
                Box::new(ModelSource { model: Cow::Borrowed(Model::shipped_for(rules)), rules, level: *level, seed })
            }
            Contestant::Random => Box::new(RandomSource { seed }),
            Contestant::Gnubg { .. } | Contestant::Pubeval if rules != RuleSet::Backgammon => {
                return Err(PlayerError::Rules { contestant: self.clone(), rules });
            }
            Contestant::Gnubg { plies } => Box::new(GnubgSource { plies: *plies }),
            Contestant::Pubeval => Box::new(PubevalSource),
        })
    }
}

/// Chooses the play whose result is worth least to the next player: 0-ply, as gnubg counts.
#[derive(Clone, Debug)]
pub struct ModelPlayer<'m> {
    evaluator: Evaluator<'m>,
    evaluations: Vec<Probabilities>,
}

impl<'m> ModelPlayer<'m> {
    /// A player with the networks of `model`, in games by `rules`.
    ///
    /// # Errors
    /// A model that learnt other outcomes.
    pub fn new(model: &'m Model, rules: RuleSet) -> Result<ModelPlayer<'m>, OutcomesDiffer> {
        Ok(ModelPlayer { evaluator: Evaluator::for_rules(model, rules)?, evaluations: Vec::new() })
    }
}

impl Player for ModelPlayer<'_> {
    fn choose(&mut self, position: &Position, _: Dice, plays: &LegalPlays) -> Result<usize, PlayerError> {
        let rules = self.evaluator.rules();
        self.evaluator.evaluate_plays(position, plays, &mut self.evaluations);
        Ok(best_play(&self.evaluations, rules))
    }
}

impl<S: PlayerSource + ?Sized> PlayerSource for &S {
    fn player(&self) -> Result<Box<dyn Player + '_>, PlayerError> {
        (**self).player()
    }
}

/// Plays by the rules that the model learnt.
impl PlayerSource for Model {
    fn player(&self) -> Result<Box<dyn Player + '_>, PlayerError> {
        Ok(Box::new(ModelPlayer::new(self, self.rules())?))
    }
}

/// Makes players for games by any rules whose outcomes the model has learnt: [`ModelPlayer`]s at 0-ply, and [`BotPlayer`]s
/// at any other level.
#[derive(Clone, Debug)]
pub struct ModelSource<'m> {
    /// The networks.
    pub model: Cow<'m, Model>,
    /// The rules of the games.
    pub rules: RuleSet,
    /// How well they play.
    pub level: Level,
    /// Seed of what is random at some levels.
    pub seed: u64,
}

impl PlayerSource for ModelSource<'_> {
    fn player(&self) -> Result<Box<dyn Player + '_>, PlayerError> {
        match self.level {
            // Without the bear-off tables: a duel at 0-ply measures networks.
            Level::ZeroPly => Ok(Box::new(ModelPlayer::new(&self.model, self.rules)?)),
            level => {
                let bot = Bot::new(&self.model, level, self.rules)?.with_seed(self.seed);
                let tables = BearoffTables::new(self.rules, CacheFolder::of_user());
                Ok(Box::new(BotPlayer { bot: bot.with_tables(tables) }))
            }
        }
    }
}

/// Plays as the bot does that everybody asks, without the cube.
#[derive(Clone, Debug)]
pub struct BotPlayer<'m> {
    bot: Bot<'m>,
}

impl Player for BotPlayer<'_> {
    fn choose(&mut self, position: &Position, dice: Dice, plays: &LegalPlays) -> Result<usize, PlayerError> {
        let best = self.bot.rank(position, dice, Valuation::Cubeless)[0].after;
        let index = plays.iter().position(|play| play.after == best);
        index.ok_or(PlayerError::Index { index: plays.len(), plays: plays.len() })
    }
}

/// Chooses any legal result, each as likely as the others.
#[derive(Clone, Debug)]
pub struct RandomPlayer {
    seed: u64,
    rng: Xoshiro256PlusPlus,
}

impl RandomPlayer {
    /// A player whose choices follow from `seed`, the number of the game, and the turns that he has had in it.
    pub fn new(seed: u64) -> RandomPlayer {
        RandomPlayer { seed, rng: choices(seed, 0) }
    }
}

/// The stream of a player in a game. A duel takes its dice from the streams of the same purpose from 0 on; the players'
/// are numbered from the other end.
fn choices(seed: u64, number: u64) -> Xoshiro256PlusPlus {
    stream(seed, Purpose::Duel, u64::MAX - number)
}

impl Player for RandomPlayer {
    fn start_game(&mut self, number: u64) {
        self.rng = choices(self.seed, number);
    }

    fn choose(&mut self, _: &Position, _: Dice, plays: &LegalPlays) -> Result<usize, PlayerError> {
        // Multiply and shift favours no play by more than one part in 2^32 / plays.
        Ok(((u64::from(self.rng.next_u32()) * plays.len() as u64) >> 32) as usize)
    }
}

/// Makes [`RandomPlayer`]s.
#[derive(Clone, Copy, Debug)]
pub struct RandomSource {
    /// Seed of the duel.
    pub seed: u64,
}

impl PlayerSource for RandomSource {
    fn player(&self) -> Result<Box<dyn Player + '_>, PlayerError> {
        Ok(Box::new(RandomPlayer::new(self.seed)))
    }
}

/// Which of `plays` another program made that writes moves such as `8/5 6/5*`: 25 is the bar and 0 off, a star, which may
/// be left out, marks a hit, and a checker moved on is written once for each die. `None` when it is none of them.
///
/// The result is looked up, not the moves: programs write the same play in different orders.
pub(super) fn find_play(position: &Position, plays: &LegalPlays, text: &str) -> Option<usize> {
    let mut reached = *position;
    for word in text.split_ascii_whitespace() {
        let (from, to) = word.strip_suffix('*').unwrap_or(word).split_once('/')?;
        reached = reached.after_move(Move { from: from.parse().ok()?, to: to.parse().ok()? })?;
    }
    let after = reached.swapped();
    plays.iter().position(|legal| legal.after == after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contestants_are_read_as_they_are_written() {
        for text in ["0ply", "2ply", "expert", "random", "gnubg:0ply", "gnubg:1ply", "gnubg:2ply", "gnubg:pubeval"] {
            assert_eq!(text.parse::<Contestant>().unwrap().to_string(), text);
        }
        assert_eq!("gnubg:2ply".parse(), Ok(Contestant::Gnubg { plies: 2 }));
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        assert_eq!(path.parse(), Ok(Contestant::Weights(path.into(), Level::ZeroPly)));
        assert_eq!(path.parse::<Contestant>().unwrap().to_string(), path);
        let deeper = format!("{path}@2ply");
        assert_eq!(deeper.parse(), Ok(Contestant::Weights(path.into(), Level::TwoPly)));
        assert_eq!(deeper.parse::<Contestant>().unwrap().to_string(), deeper);
        assert!(format!("{path}@4ply").parse::<Contestant>().is_err());
    }

    #[test]
    fn unknown_contestants_are_named() {
        for text in ["", "gnubg", "gnubg:3ply", "Random", "/no/such/file", "/"] {
            assert_eq!(text.parse::<Contestant>(), Err(UnknownContestant(text.into())));
        }
        let message = "weights.zar".parse::<Contestant>().unwrap_err().to_string();
        assert!(message.contains("weights.zar") && message.contains("gnubg:0ply"), "{message}");
    }

    #[test]
    fn weights_that_cannot_be_read_are_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let contestant = Contestant::Weights(file.path().into(), Level::ZeroPly);
        let error = contestant.source(RuleSet::Backgammon, 0).err().unwrap();
        assert!(matches!(&error, PlayerError::Model { error: ModelError::Magic(_), .. }), "{error}");
        assert!(error.to_string().starts_with(file.path().to_str().unwrap()), "{error}");
    }

    #[test]
    fn random_choices_belong_to_the_game() {
        let plays = Position::START.legal_plays(Dice::new(2, 1).unwrap(), RuleSet::Backgammon);
        let dice = Dice::new(2, 1).unwrap();
        let choices = |player: &mut RandomPlayer, number| -> Vec<usize> {
            player.start_game(number);
            (0..200).map(|_| player.choose(&Position::START, dice, &plays).unwrap()).collect()
        };
        let (mut one, mut other) = (RandomPlayer::new(5), RandomPlayer::new(5));
        let first = choices(&mut one, 1);
        assert_ne!(choices(&mut one, 2), first);
        assert_eq!(choices(&mut other, 1), first);
        assert!((0..plays.len()).all(|index| first.contains(&index)));
    }

    /// The texts are gnubg's.
    #[test]
    fn plays_are_found_by_their_result() {
        let found = |id: &str, dice: &str, text: &str| {
            let position: Position = id.parse().unwrap();
            let plays = position.legal_plays(dice.parse().unwrap(), RuleSet::Backgammon);
            find_play(&position, &plays, text).map(|index| plays[index].after.to_string())
        };
        let start = "4HPwATDgc/ABMA";
        let made = Some("sGfwATDgc/ABMA".to_owned());
        assert_eq!(found(start, "31", "8/5 6/5 \n"), made);
        assert_eq!(found(start, "31", "6/5 8/5\n"), made);
        // A double in four steps.
        assert!(found(start, "66", "24/18 24/18 13/7 13/7 \n").is_some());
        // Not with this roll, not all of it, blocked, no checker there, not moves.
        for text in ["8/6 6/5", "8/5", "24/20 24/23", "7/4 6/5", "8-5 6-5", "8/5 6", "Error: x", "", "x/y"] {
            assert_eq!(found(start, "31", text), None, "{text:?}");
        }
    }

    #[test]
    fn plays_from_the_bar_off_and_hits() {
        let position = |counts: &[(usize, i8)]| {
            let mut points = [0; 26];
            for &(point, count) in counts {
                points[point] = count;
            }
            Position::new(points).unwrap()
        };
        let found = |position: &Position, dice: &str, text: &str| {
            let plays = position.legal_plays(dice.parse().unwrap(), RuleSet::Backgammon);
            find_play(position, &plays, text).map(|index| plays[index].after.swapped())
        };
        let before = position(&[(25, 1), (6, 2), (21, -1), (1, -2)]);
        let hit = position(&[(21, 1), (5, 1), (6, 1), (0, -1), (1, -2)]);
        assert_eq!(found(&before, "41", "25/21* 6/5 \n"), Some(hit));
        assert_eq!(found(&before, "41", "25/21 6/5\n"), Some(hit));
        let before = position(&[(3, 1), (1, 2), (24, -1)]);
        assert_eq!(found(&before, "31", "3/0 1/0 \n"), Some(position(&[(1, 1), (24, -1)])));
        // All six points held: an empty line.
        let closed = position(&[(25, 1), (19, -2), (20, -2), (21, -2), (22, -2), (23, -2), (24, -2)]);
        assert_eq!(found(&closed, "66", "\n"), Some(closed));
        assert_eq!(found(&closed, "66", "25/19\n"), None);
    }
}
