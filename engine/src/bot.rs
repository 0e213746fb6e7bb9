//! The bot: what the command line and every other door ask.
//!
//! ```
//! use zar::{board::Position, bot::{Bot, Level, Valuation}, net::Model, rules::{Dice, RuleSet}};
//!
//! let mut bot = Bot::new(Model::shipped(), Level::ZeroPly, RuleSet::Backgammon)?;
//! let plays = bot.rank(&Position::START, Dice::new(3, 1)?, Valuation::default());
//! assert_eq!(plays[0].play.text(&Position::START), "8/5 6/5");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod level;
mod rolling;
mod turn;

use std::{sync::Arc, time::Duration};

use thiserror::Error;

pub use level::{Level, UnknownLevel};
pub use rolling::RolledCube;
pub use turn::Turn;

use crate::{
    board::{CubeOwner, Position},
    cube::{CubeDecision, CubeModel, MatchEquityTable, MatchWinningChance, Worth},
    exact::BearoffTables,
    net::{Equity, Evaluator, Model, OutcomesDiffer, Probabilities},
    rules::{Dice, Outcome, ResignationTerms, RuleSet, Stakes},
    search::{
        Blur, Cache, CubeTree, MoveFilter, RankedPlay, RolloutOptions, Search, StaticEvaluator, Stop, look_at, means,
        rank_ahead,
    },
};

/// What equities count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Valuation {
    /// Points at a cube of 1 that nobody may turn.
    Cubeless,
    /// The cube and the score counted in, in points per unit of the cube (EMG in a match). The stakes are seen by the
    /// player on roll.
    Cubeful(Stakes),
}

impl Valuation {
    /// What somebody asks for who says whether the cube and the score count.
    pub fn counting(cubeful: bool, stakes: Stakes) -> Valuation {
        if cubeful { Valuation::Cubeful(stakes) } else { Valuation::Cubeless }
    }

    /// The stakes, if they count.
    fn stakes(self) -> Option<Stakes> {
        match self {
            Valuation::Cubeless => None,
            Valuation::Cubeful(stakes) => Some(stakes),
        }
    }
}

impl Default for Valuation {
    fn default() -> Self {
        Valuation::Cubeful(Stakes::MONEY)
    }
}

/// What a position is worth to the player on roll before he rolls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// How the game ends if nobody turns the cube.
    pub probabilities: Probabilities,
    /// Points at a cube of 1 that nobody may turn.
    pub cubeless: Equity,
    /// Cube and score counted in, with the right to double this turn, per unit of the cube (EMG in a match).
    pub cubeful: Equity,
    /// The chance to win the match; `None` in money play, and where the score is left out.
    pub chance: Option<MatchWinningChance>,
}

/// A cube decision, and the probabilities that it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubeAdvice {
    /// How the game ends for the player on roll if nobody turns the cube.
    pub probabilities: Probabilities,
    /// What to do, and what each action is worth.
    pub decision: CubeDecision,
    /// The chances to win the match without a double, after a double that is taken, and after a drop; `None` in money play.
    pub chances: Option<[MatchWinningChance; 3]>,
}

/// The answer to a double.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DoubleAnswer {
    /// The game goes on with the cube turned.
    Take,
    /// The game is lost at the cube's value before the double.
    Drop,
    /// The cube is turned once more, and kept.
    Beaver,
}

/// Why there is no bot, or no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BotError {
    /// Weights that learnt other outcomes.
    #[error(transparent)]
    Outcomes(#[from] OutcomesDiffer),
    /// A cube decision of a player who may not turn the cube.
    #[error("the opponent holds the cube, expected a cube in the middle or with the player on roll")]
    NoCube,
    /// A cube decision in a game without a cube.
    #[error("there is no cube in this game under {0}")]
    NoCubeInGame(RuleSet),
    /// A cube decision in the Crawford game.
    #[error("the Crawford game is played without the cube")]
    Crawford,
    /// A cube decision with a cube that cannot be turned any further.
    #[error("the cube shows {value}, and {limit} is the highest it may show")]
    HighestCube {
        /// What it shows.
        value: u32,
        /// What it may show.
        limit: u32,
    },
}

/// Networks, a level and a rule set, with the buffers of one thread: clone it for another. Clones share what they have
/// found out.
#[derive(Clone, Debug)]
pub struct Bot<'m> {
    evaluator: StaticEvaluator<'m>,
    level: Level,
    seed: u64,
    rollout: RolloutOptions,
    filter: MoveFilter,
    table: &'m MatchEquityTable,
    cache: Arc<Cache>,
    stop: Stop,
    time: Option<Duration>,
    /// When the answer that is being worked on is due.
    due: Stop,
}

/// Values that a bot remembers.
const REMEMBERED: usize = 1 << 16;

/// A chance of less than this counts as none, in giving up and in letting others give up.
const HOPELESS: f32 = 5e-4;

impl<'m> Bot<'m> {
    /// A bot that plays `rules` with `model`, with the match equity table that is usual and the normal move filter.
    ///
    /// # Errors
    /// A model that learnt other outcomes.
    pub fn new(model: &'m Model, level: Level, rules: RuleSet) -> Result<Bot<'m>, BotError> {
        let evaluator = StaticEvaluator::new(Evaluator::for_rules(model, rules)?, None);
        Ok(Bot {
            evaluator: evaluator.blurred(Blur::new(level.misjudges(), 0)),
            level,
            seed: 0,
            rollout: Bot::ROLLOUT,
            filter: MoveFilter::default(),
            table: MatchEquityTable::usual(rules),
            cache: Arc::new(Cache::new(REMEMBERED)),
            stop: Stop::NEVER,
            time: None,
            due: Stop::NEVER,
        })
    }

    /// The same bot at another level.
    #[must_use]
    pub fn at_level(&self, level: Level) -> Bot<'m> {
        Bot { level, ..self.clone() }.with_seed(self.seed)
    }

    /// The same bot with another seed of what is random: the dice of rollouts, and what a level that imitates a person
    /// misjudges. The same seed gives the same answers.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Bot<'m> {
        let blur = Blur::new(self.level.misjudges(), seed);
        // What is remembered was seen with other eyes; those who misjudge do not look ahead and remember nothing.
        let room = if blur.is_none() { REMEMBERED } else { 0 };
        let cache = if blur == self.evaluator.blur() { self.cache } else { Arc::new(Cache::new(room)) };
        Bot { seed, cache, evaluator: self.evaluator.blurred(blur), ..self }
    }

    /// The same bot with other rollouts at [`Level::Rollout`] and wherever one is asked for, but for their seed.
    #[must_use]
    pub fn with_rollout(self, rollout: RolloutOptions) -> Bot<'m> {
        Bot { rollout, ..self }
    }

    /// The same bot by other rules: with the usual match equity table, with bear-off tables from the same place if it has
    /// any, and if its weights are those that are compiled in, with those for the rules.
    ///
    /// # Errors
    /// A model that learnt other outcomes.
    pub fn by_rules(&self, rules: RuleSet) -> Result<Bot<'m>, BotError> {
        let compiled_in = std::ptr::eq(self.model(), Model::shipped_for(self.rules()));
        let model = if compiled_in { Model::shipped_for(rules) } else { self.model() };
        let other = Bot::new(model, self.level, rules)?
            .with_filter(self.filter)
            .with_stop(self.stop.clone())
            .with_time(self.time)
            .with_rollout(self.rollout)
            .with_seed(self.seed);
        Ok(match self.evaluator.tables() {
            Some(tables) => other.with_tables(tables.by_rules(rules)),
            None => other,
        })
    }

    /// The same bot with another match equity table.
    pub fn with_table(self, table: &'m MatchEquityTable) -> Bot<'m> {
        // What is remembered was found with the other table.
        Bot { table, cache: Arc::new(Cache::new(REMEMBERED)), ..self }
    }

    /// The same bot with exact bear-off tables, which are loaded or built now.
    ///
    /// # Panics
    /// Tables for other rules.
    pub fn with_tables(self, tables: BearoffTables) -> Bot<'m> {
        tables.ready();
        let bare = Evaluator::for_rules(self.model(), self.rules()).expect("the bot plays by these rules");
        let evaluator = StaticEvaluator::new(bare, Some(tables)).blurred(self.evaluator.blur());
        Bot { evaluator, cache: Arc::new(Cache::new(REMEMBERED)), ..self }
    }

    /// The same bot with another move filter.
    pub fn with_filter(self, filter: MoveFilter) -> Bot<'m> {
        Bot { filter, ..self }
    }

    /// The same bot, whose answers are due when `stop` is: it then looks ahead one ply after the other, up to its level, and
    /// answers with what it has found out last. Without look-ahead it always answers.
    #[must_use]
    pub fn with_stop(self, stop: Stop) -> Bot<'m> {
        Bot { stop, ..self }
    }

    /// The same bot, each of whose answers is due after so much time, as with [`Bot::with_stop`].
    #[must_use]
    pub fn with_time(self, time: Option<Duration>) -> Bot<'m> {
        Bot { time, ..self }
    }

    /// The networks.
    pub fn model(&self) -> &'m Model {
        self.evaluator.model()
    }

    /// How far it looks ahead.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The rules that it plays.
    pub fn rules(&self) -> RuleSet {
        self.evaluator.rules()
    }

    /// The match equity table.
    pub fn table(&self) -> &'m MatchEquityTable {
        self.table
    }

    /// What the cube makes of probabilities.
    pub fn cube_model(&self) -> CubeModel<'m> {
        CubeModel::new(self.rules(), self.table)
    }

    /// What `position` is worth to the player on roll before he rolls. A finished game is worth its points. Without cube and
    /// score the plays of a look ahead are not chosen for their sake either, and the cubeful equity is the cubeless one.
    pub fn evaluate(&mut self, position: &Position, valuation: Valuation) -> Evaluation {
        let stakes = &valuation.stakes().unwrap_or(Stakes::CUBELESS);
        let model = self.cube_model();
        self.begin();
        if self.level == Level::Rollout
            && let Some(rolled) = self.position_rolled_out(position, valuation, &mut |_| ())
        {
            let cubeless = rolled.probabilities.equity(self.rules());
            return Evaluation {
                probabilities: rolled.probabilities,
                cubeless,
                // Variance reduction may lead beyond certainties, which probabilities do not.
                cubeful: if valuation == Valuation::Cubeless { cubeless } else { rolled.equity },
                chance: model.chance(rolled.worth, stakes),
            };
        }
        let (probabilities, worth) = self.searching(&[*stakes], |search, evaluator, plies| {
            let value = look_at(search, evaluator, &[*position], plies)?[0];
            Some((value.probabilities, Worth(value.worth[0])))
        });
        Evaluation {
            probabilities,
            cubeless: probabilities.equity(self.rules()),
            cubeful: model.equity(worth, stakes),
            chance: model.chance(worth, stakes),
        }
    }

    /// Every legal result once, the best for the player on roll first: those that were looked at most deeply before the
    /// others, by the equity that the valuation asks for. Those of equal equity are in the order of their cubeless
    /// equities, since behind a double that is dropped all are worth the same.
    ///
    /// Never empty: with nothing legal it holds the empty play.
    pub fn rank(&mut self, position: &Position, dice: Dice, valuation: Valuation) -> Vec<RankedPlay> {
        self.begin();
        let ranked = self.rank_by_plies(position, dice, valuation);
        match self.level {
            Level::Rollout => self.best_rolled_out(ranked, valuation, &mut |_| ()),
            _ => ranked,
        }
    }

    fn rank_by_plies(&mut self, position: &Position, dice: Dice, valuation: Valuation) -> Vec<RankedPlay> {
        let filter = self.filter;
        let next = valuation.stakes().map(Stakes::swapped);
        self.searching(next.as_slice(), |search, evaluator, plies| {
            rank_ahead(search, evaluator, position, dice, plies, filter)
        })
    }

    /// Whether the player on roll should double, and what the opponent should answer.
    ///
    /// # Errors
    /// A cube that he may not turn.
    pub fn cube_action(&mut self, position: &Position, stakes: &Stakes) -> Result<CubeAdvice, BotError> {
        self.check_cube(stakes)?;
        self.begin();
        if self.level == Level::Rollout
            && let Some(rolled) = self.cube_rolled_out(position, stakes, &mut |_| ())
        {
            return Ok(rolled.advice);
        }
        let model = self.cube_model();
        let (probabilities, [no_double, double_take]) =
            self.searching(&[*stakes], |search, evaluator, plies| match plies {
                0 => {
                    let probabilities = evaluator.evaluate(position);
                    let ways = evaluator.two_ways(&model, position, &probabilities, stakes);
                    Some((probabilities, ways))
                }
                _ => {
                    let mean = means(search, evaluator, &[*position], plies)?[0];
                    let state = search.tree.level(0).states[0];
                    // `check_cube` has seen that the cube may be turned.
                    let ways = [state.rolled, state.doubled.unwrap_or(state.rolled)];
                    Some((mean.probabilities, ways.map(|way| Worth(mean.worth[way]))))
                }
            });
        let (double_take, beaver) = model.answered(double_take, stakes);
        let worths = [no_double, double_take, model.dropped(stakes)];
        let decision = model.decision(stakes, worths, beaver);
        let chances = stakes.score().map(|_| worths.map(MatchWinningChance::of));
        Ok(CubeAdvice { probabilities, decision, chances })
    }

    /// What to answer when the player on roll in `position` doubles; `position` and `stakes` are seen by him, the stakes as
    /// they are before the double.
    ///
    /// # Errors
    /// A cube that the player on roll may not turn.
    pub fn take(&mut self, position: &Position, stakes: &Stakes) -> Result<DoubleAnswer, BotError> {
        let decision = self.cube_action(position, stakes)?.decision;
        Ok(match (decision.is_take(), decision.beaver) {
            (true, true) => DoubleAnswer::Beaver,
            (true, false) => DoubleAnswer::Take,
            (false, _) => DoubleAnswer::Drop,
        })
    }

    /// What the player on roll should offer to lose, in points at a cube of 1, when nothing else can happen any more; `None`
    /// while there is hope.
    pub fn resign(&mut self, position: &Position) -> Option<u32> {
        let p = self.evaluator.evaluate(position);
        let rules = self.rules();
        let surely = |chance: f32| chance > 1.0 - HOPELESS;
        let loses = match p {
            _ if p.win > HOPELESS => None,
            _ if p.lose_gammon < HOPELESS => Some(Outcome::LoseSingle),
            _ if surely(p.lose_gammon) && p.lose_triple < HOPELESS => Some(Outcome::LoseGammon),
            _ if surely(p.lose_triple) => Some(Outcome::LoseTriple),
            _ => None,
        };
        let points = loses?.points(rules).unsigned_abs();
        // Some rules make who gives up pay for the board as it stands, although it would get better.
        let costs = match rules.terms().resignation {
            ResignationTerms::Offered | ResignationTerms::OfferedTripleBinding => points,
            ResignationTerms::AsOnBoard => Outcome::loss_as_it_stands(position, rules).points(rules).unsigned_abs(),
            ResignationTerms::Abandoned if position.off() == 0 => rules.terms().gammon_points,
            ResignationTerms::Abandoned => 1,
        };
        (costs <= points).then_some(points)
    }

    /// Whether to accept when the player on roll in `position` offers to lose so many points at a cube of 1; position and
    /// stakes are seen by him. When the other player offers, both are to be swapped, which counts him as on roll.
    pub fn accept_resign(&mut self, position: &Position, stakes: &Stakes, points: u32) -> bool {
        let model = self.cube_model();
        let goes_on = model.worth_of(self.evaluate(position, Valuation::Cubeful(*stakes)).cubeful, stakes);
        model.lost(points, stakes).0 <= goes_on.0 + HOPELESS
    }

    fn check_cube(&self, stakes: &Stakes) -> Result<(), BotError> {
        let rules = self.rules();
        if stakes.score().is_some_and(|score| score.crawford()) && rules.terms().cube.is_some() {
            Err(BotError::Crawford)
        } else if !stakes.has_cube(rules) {
            Err(BotError::NoCubeInGame(rules))
        } else if stakes.cube.owner() == CubeOwner::Opponent {
            Err(BotError::NoCube)
        } else if !stakes.may_double(rules) {
            Err(BotError::HighestCube { value: stakes.cube.value(), limit: stakes.cube_limit(rules) })
        } else {
            Ok(())
        }
    }

    /// Begins an answer: its time runs from now.
    fn begin(&mut self) {
        self.due = match self.time {
            Some(time) => self.stop.clone().or_after(time),
            None => self.stop.clone(),
        };
    }

    /// Runs a search that begins with the given states of the cube, at the bot's plies; when it may be stopped, first at
    /// fewer, and the deepest one that came to its end counts. Without look-ahead every search does.
    fn searching<R>(
        &mut self,
        stakes: &[Stakes],
        mut search: impl FnMut(&Search<'_>, &mut StaticEvaluator<'m>, u8) -> Option<R>,
    ) -> R {
        let model = self.cube_model();
        let plies = self.level.plies();
        let tree = CubeTree::new(&model, stakes, plies);
        let whole = Search { model: &model, tree: &tree, cache: &self.cache, stop: &self.due };
        let first = if self.due.is_possible() { 0 } else { plies };
        let mut found = None;
        for plies in first..=plies {
            match search(&whole, &mut self.evaluator, plies) {
                None => break,
                deeper => found = deeper,
            }
        }
        found.expect("a search that nothing stops, or without look-ahead, comes to its end")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CubeState;

    fn bot() -> Bot<'static> {
        Bot::new(Model::shipped(), Level::ZeroPly, RuleSet::Backgammon).unwrap()
    }

    #[test]
    fn other_outcomes_are_refused() {
        let refused = Bot::new(Model::shipped(), Level::ZeroPly, RuleSet::Tavla2004).unwrap_err();
        assert!(refused.to_string().contains("expected weights whose outcomes are those of tavla2004"), "{refused}");
    }

    #[test]
    fn the_start_is_worth_a_little_more_with_the_cube() {
        let evaluation = bot().evaluate(&Position::START, Valuation::default());
        assert!((0.0..0.2).contains(&evaluation.cubeless.0), "{evaluation:?}");
        assert!((0.0..0.2).contains(&evaluation.cubeful.0), "{evaluation:?}");
        let CubeAdvice { decision, .. } = bot().cube_action(&Position::START, &Stakes::MONEY).unwrap();
        assert_eq!((decision.name(), decision.no_double), ("no-double", evaluation.cubeful));
        let with = |rules, stakes: Stakes| {
            Bot::new(Model::shipped(), Level::ZeroPly, rules)
                .unwrap()
                .cube_action(&Position::START, &stakes)
                .unwrap_err()
        };
        let held = |value, owner| Stakes { cube: CubeState::new(value, owner).unwrap(), ..Stakes::MONEY };
        assert_eq!(with(RuleSet::Backgammon, held(2, CubeOwner::Opponent)), BotError::NoCube);
        assert_eq!(with(RuleSet::Table, Stakes::MONEY), BotError::NoCubeInGame(RuleSet::Table));
        let highest = BotError::HighestCube { value: 64, limit: 64 };
        assert_eq!(with(RuleSet::Tavla, held(64, CubeOwner::Player)), highest);
    }

    #[test]
    fn plays_are_in_the_order_of_their_equities() {
        for valuation in [Valuation::Cubeless, Valuation::default()] {
            for dice in Dice::ALL {
                let plays = bot().rank(&Position::START, dice, valuation);
                assert_eq!(plays.len(), Position::START.legal_plays(dice, RuleSet::Backgammon).len());
                assert!(plays.is_sorted_by(|a, b| a.equity >= b.equity), "{dice}");
            }
        }
    }

    /// Where every play is doubled out, the one that wins most is still the best.
    #[test]
    fn equal_plays_are_in_the_order_of_their_cubeless_equities() {
        let mut points = [0i8; 26];
        points[23] = 2;
        points[22] = 1;
        points[24] = -2;
        let position = Position::new(points).unwrap();
        let plays = bot().rank(&position, Dice::new(2, 1).unwrap(), Valuation::default());
        let cubeless: Vec<f32> = plays.iter().map(|play| play.probabilities.equity(RuleSet::Backgammon).0).collect();
        assert!(plays.iter().all(|play| play.equity == plays[0].equity) && cubeless.is_sorted_by(|a, b| a >= b));
    }
}
