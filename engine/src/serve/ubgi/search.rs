//! Thinking: one question, one ply deeper after the other.

use std::{
    fmt,
    sync::{Arc, mpsc::Receiver},
    time::Instant,
};

use rayon::ThreadPool;

use crate::{
    board::Position,
    bot::{Bot, BotError, Level, Valuation},
    cube::MatchWinningChance,
    net::{Equity, Probabilities},
    rules::{Dice, Stakes},
    search::{RankedPlay, Stop},
};

use super::super::{Answer, AnswerError, Asked, Question, question::single_moves};

/// What to think about, and until when.
#[derive(Debug)]
pub struct Task<'m> {
    /// Tells its results from those of earlier ones.
    pub number: u64,
    pub wanted: Wanted,
    pub bot: Bot<'m>,
    pub pool: Arc<ThreadPool>,
    pub level: Level,
    pub stop: Stop,
    pub begin: Instant,
}

/// Which decision is wanted.
#[derive(Clone, Copy, Debug)]
pub enum Wanted {
    /// A play.
    Chequer {
        position: Position,
        dice: Dice,
        valuation: Valuation,
        /// What `mwc` is told for.
        stakes: Stakes,
        /// Whether the result is told by its ID too.
        with_id: bool,
    },
    /// Whether to double.
    Cube { position: Position, stakes: Stakes },
    /// The answer to the double of the player on roll.
    Take { position: Position, stakes: Stakes },
    /// Whether to double, and the play that follows.
    Turn { position: Position, stakes: Stakes, dice: Dice },
    /// The action alone, as the first draft wants it.
    Bare(Question),
}

/// What a search to some depth has found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The line for those who look on.
    pub info: Option<String>,
    /// The answer if nothing better is found.
    pub answer: String,
}

/// News from the thread that thinks.
#[derive(Debug)]
pub enum News {
    /// The task of this number has been looked at so deeply.
    Found(u64, Found),
    /// It is done, or has been stopped.
    Finished(u64, Result<(), AnswerError>),
}

/// What is known about an answer, for the player who gives it.
struct Value {
    role: &'static str,
    equity: Equity,
    chance: Option<MatchWinningChance>,
    probabilities: Probabilities,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "eq {:.4}", self.equity.0)?;
        if let Some(chance) = self.chance {
            write!(f, " mwc {:.4}", chance.0)?;
        }
        let Probabilities { win, win_gammon, win_triple, .. } = self.probabilities;
        write!(f, " pwin {win:.4} pgammon {win_gammon:.4} pbg {win_triple:.4}")
    }
}

/// Thinks about one task after the other until there are no more.
pub fn think<'m>(tasks: &Receiver<Task<'m>>, tell: impl Fn(News) + Sync) {
    while let Ok(task) = tasks.recv() {
        let number = task.number;
        let result = task.pool.clone().install(|| task.deepen(|found| tell(News::Found(number, found))));
        tell(News::Finished(number, result));
    }
}

/// The levels of each depth, from 0 plies on.
pub const DEPTHS: [Level; 4] = [Level::ZeroPly, Level::OnePly, Level::TwoPly, Level::ThreePly];

/// The levels that lead to this one, which comes last: who is imitated does not look at what deeper thought would find, and
/// what is rolled out is looked at first.
fn steps(level: Level) -> impl Iterator<Item = Level> {
    let shallower = if level.misjudges() > 0.0 { 0 } else { usize::from(level.plies()) };
    let shallower = if level == Level::Rollout { shallower + 1 } else { shallower };
    DEPTHS.into_iter().take(shallower).chain([level])
}

impl Task<'_> {
    /// Whether the answer comes at once.
    pub fn is_quick(&self) -> bool {
        steps(self.level).count() == 1
    }

    /// Looks ahead ever more deeply. What takes no look-ahead is always found.
    fn deepen(&self, tell: impl Fn(Found)) -> Result<(), AnswerError> {
        for (step, level) in steps(self.level).enumerate() {
            if step > 0 && self.stop.is_due() {
                break;
            }
            let found = self.look(level)?;
            // A search that was stopped has found nothing more than the one before it; a rollout may have.
            if step > 0 && self.stop.is_due() && level != Level::Rollout {
                break;
            }
            tell(found);
        }
        Ok(())
    }

    /// Thinks as well as a level does.
    ///
    /// # Errors
    /// A question that has no answer.
    pub fn look(&self, level: Level) -> Result<Found, AnswerError> {
        let mut bot = self.bot.at_level(level).with_stop(self.stop.clone());
        let (value, pv, answer) = self.wanted.look(&mut bot)?;
        let info = value.as_ref().map(|value| {
            let pv = if pv.is_empty() { pv } else { format!(" pv {pv}") };
            let (depth, time) = (level.plies(), self.begin.elapsed().as_millis());
            format!("info role {} depth {depth} time_ms {time} {value}{pv}", value.role)
        });
        let answer = match value {
            Some(value) => format!("eval {value}\n{answer}\n"),
            None => format!("{answer}\n"),
        };
        Ok(Found { info, answer })
    }
}

impl Wanted {
    /// The answer at the bot's level: what it is worth, the play in it, and the line that gives it.
    fn look(&self, bot: &mut Bot<'_>) -> Result<(Option<Value>, String, String), AnswerError> {
        match *self {
            Wanted::Chequer { position, dice, valuation, stakes, with_id } => {
                let play = best_play(bot, position, dice, stakes, valuation)?;
                let value = value_of(bot, "chequer", &play, &stakes, valuation);
                let moves = moves_or_pass(&play);
                let id = if with_id { format!("\nbestmoveid {}", play.after) } else { String::new() };
                let answer = format!("bestmove {moves}{id}");
                Ok((Some(value), moves, answer))
            }
            Wanted::Cube { position, stakes } => {
                let (doubles, value) = doubles(bot, "cube", &position, &stakes)?;
                Ok((Some(value), String::new(), format!("bestcube {}", cube_word(doubles))))
            }
            Wanted::Take { position, stakes } => {
                let advice = bot.cube_action(&position, &stakes)?;
                let decision = advice.decision;
                let answer = match (decision.is_take(), decision.beaver) {
                    (true, true) => Answer::Beaver,
                    (true, false) => Answer::Take,
                    (false, _) => Answer::Drop,
                };
                let way = if decision.is_take() { 1 } else { 2 };
                let value = Value {
                    role: "cube",
                    equity: -[decision.no_double, decision.double_take, decision.double_drop][way],
                    chance: advice.chances.map(|chances| MatchWinningChance(1.0 - chances[way].0)),
                    probabilities: advice.probabilities.flipped(),
                };
                Ok((Some(value), String::new(), format!("bestcube {answer}")))
            }
            Wanted::Turn { position, stakes, dice } => {
                let (doubles, value) = doubles(bot, "turn", &position, &stakes)?;
                let after = if doubles { stakes.doubled().unwrap_or(stakes) } else { stakes };
                let play = best_play(bot, position, dice, after, Valuation::Cubeful(after))?;
                let moves = moves_or_pass(&play);
                let answer = format!("bestturn cube={} move={moves}", cube_word(doubles));
                Ok((Some(value), moves, answer))
            }
            Wanted::Bare(question) => Ok((None, String::new(), question.answer(bot)?.to_string())),
        }
    }
}

fn best_play(
    bot: &mut Bot<'_>,
    position: Position,
    dice: Dice,
    stakes: Stakes,
    valuation: Valuation,
) -> Result<RankedPlay, AnswerError> {
    let question = Question { position, stakes, asked: Asked::Play(dice) };
    match question.answer_valuing(bot, valuation)? {
        Answer::Play(play) => Ok(play),
        _ => Err(AnswerError::IllegalPlay { position, dice }),
    }
}

fn value_of(bot: &Bot<'_>, role: &'static str, play: &RankedPlay, stakes: &Stakes, valuation: Valuation) -> Value {
    let model = bot.cube_model();
    let chance = match valuation {
        Valuation::Cubeful(_) => model.chance(model.worth_of(play.equity, stakes), stakes),
        Valuation::Cubeless => None,
    };
    Value { role, equity: play.equity, chance, probabilities: play.probabilities }
}

/// Whether to double. Where the cube cannot be turned, there is only one way.
fn doubles(
    bot: &mut Bot<'_>,
    role: &'static str,
    position: &Position,
    stakes: &Stakes,
) -> Result<(bool, Value), AnswerError> {
    stakes.check(bot.rules())?;
    match bot.cube_action(position, stakes) {
        Ok(advice) => {
            let (decision, doubles) = (advice.decision, advice.decision.is_double());
            let way = match (doubles, decision.is_take()) {
                (false, _) => 0,
                (true, true) => 1,
                (true, false) => 2,
            };
            let (equity, chance) = (decision.equity(), advice.chances.map(|chances| chances[way]));
            Ok((doubles, Value { role, equity, chance, probabilities: advice.probabilities }))
        }
        Err(BotError::NoCube | BotError::NoCubeInGame(_) | BotError::Crawford | BotError::HighestCube { .. }) => {
            let found = bot.evaluate(position, Valuation::Cubeful(*stakes));
            let (equity, chance, probabilities) = (found.cubeful, found.chance, found.probabilities);
            Ok((false, Value { role, equity, chance, probabilities }))
        }
        Err(error @ BotError::Outcomes(_)) => Err(error.into()),
    }
}

fn cube_word(doubles: bool) -> &'static str {
    if doubles { "double" } else { "nodouble" }
}

fn moves_or_pass(play: &RankedPlay) -> String {
    if play.play.is_empty() { "pass".to_owned() } else { single_moves(&play.play) }
}
