//! Who answers requests.

use crate::{
    board::{CubeState, Position},
    bot::{Bot, BotError, Level, Valuation},
    rules::{Beside, Dice, MatchScore, PositionArg, RuleSet, Stakes},
    search::Stop,
};

use super::{
    Answer, EvaluationAnswer, MoveAnswer, Request, RequestError,
    request::{CubeRequest, MatchRequest, Want},
};

/// A bot for each of the rule sets and levels that have been asked for, the first as the options say.
#[derive(Clone)]
pub struct Bots<'m>(Vec<Bot<'m>>);

impl<'m> Bots<'m> {
    /// Those that grow from one.
    pub fn new(bot: Bot<'m>) -> Bots<'m> {
        Bots(vec![bot])
    }

    /// Whether there is a bot for a rule set.
    pub fn has(&self, rules: RuleSet) -> bool {
        self.place(rules, self.0[0].level()).is_some()
    }

    fn place(&self, rules: RuleSet, level: Level) -> Option<usize> {
        self.0.iter().position(|bot| bot.rules() == rules && bot.level() == level)
    }

    /// Makes the bot for a rule set unless it is there, or cannot be made.
    pub fn prepare(&mut self, rules: RuleSet) {
        if !self.has(rules)
            && let Ok(bot) = self.0[0].by_rules(rules)
        {
            self.0.push(bot);
        }
    }

    /// The bot for a rule set and a level; where nothing is said, those of the options.
    fn bot(&mut self, rules: Option<RuleSet>, level: Option<Level>) -> Result<&mut Bot<'m>, BotError> {
        let usual = (self.0[0].rules(), self.0[0].level());
        let (rules, level) = (rules.unwrap_or(usual.0), level.unwrap_or(usual.1));
        let place = match (self.place(rules, level), self.place(rules, usual.1)) {
            (Some(place), _) => place,
            (None, like) => {
                let bot = match like {
                    Some(like) => self.0[like].at_level(level),
                    // What could not be made before cannot be made now, and says why.
                    None => self.0[0].by_rules(rules)?.at_level(level),
                };
                self.0.push(bot);
                self.0.len() - 1
            }
        };
        Ok(&mut self.0[place])
    }

    /// Lets the bot for a rule set and a level do something, which looks ahead no longer than `stop` says; where nothing is
    /// said, those of the options.
    ///
    /// # Errors
    /// Rules and levels that there is no bot for.
    pub fn ask<R>(
        &mut self,
        rules: Option<RuleSet>,
        level: Option<Level>,
        stop: &Stop,
        question: impl FnOnce(&mut Bot<'m>) -> R,
    ) -> Result<R, BotError> {
        let bot = self.bot(rules, level)?;
        Ok(match stop.is_possible() && bot.level().plies() > 0 {
            true => question(&mut bot.clone().with_stop(stop.clone())),
            false => question(bot),
        })
    }

    /// The answer to a request, which looks ahead no longer than `stop` says.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    pub fn answer(&mut self, request: &Request, stop: &Stop) -> Result<Answer, RequestError> {
        self.ask_about(request, stop, |bot, Asked { position, stakes, question }| {
            let valuation = Valuation::counting(request.cubeful, stakes);
            Ok(match question {
                Question::Eval => {
                    Answer::Evaluation(EvaluationAnswer::new(&bot.evaluate(&position, valuation), request.cubeful))
                }
                Question::Move(dice) => Answer::Move(MoveAnswer::new(&position, &bot.rank(&position, dice, valuation))),
                Question::Cube => Answer::Cube(bot.cube_action(&position, &stakes)?.into()),
            })
        })
    }

    /// Lets the bot that a request asks do something with what it asks.
    ///
    /// # Errors
    /// Whatever is wrong with the request.
    pub fn ask_about<R>(
        &mut self,
        request: &Request,
        stop: &Stop,
        question: impl FnOnce(&mut Bot<'m>, Asked) -> Result<R, RequestError>,
    ) -> Result<R, RequestError> {
        let arg: PositionArg = request.pos.parse()?;
        let rules = request.rules.as_ref().map(|name| name.parse()).transpose()?;
        let level = request.level.as_ref().map(|name| name.parse()).transpose()?;
        self.ask(rules, level, stop, |bot| question(bot, Asked::read(request, arg, bot.rules())?))?
    }
}

/// What a request asks.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The checkers.
    pub position: Position,
    /// Cube and score.
    pub stakes: Stakes,
    /// What is wanted.
    pub question: Question,
}

/// What is wanted of a position.
#[derive(Clone, Copy, Debug)]
pub enum Question {
    /// What it is worth before the roll.
    Eval,
    /// The plays of a roll.
    Move(Dice),
    /// Whether to double.
    Cube,
}

impl Asked {
    fn read(request: &Request, arg: PositionArg, rules: RuleSet) -> Result<Asked, RequestError> {
        let said = Beside {
            dice: request.dice.map(Dice::try_from).transpose()?,
            cube: match &request.cube {
                Some(CubeRequest { value, owner }) => Some(CubeState::new(*value, (*owner).into())?),
                None => None,
            },
            score: match request.r#match {
                Some(MatchRequest { length, score, crawford }) => Some(MatchScore::new(length, score, crawford)?),
                None => None,
            },
            jacoby: request.jacoby,
            beavers: request.beavers,
        };
        let arg = arg.beside(&said)?;
        let PositionArg { position, dice, stakes } = arg;
        // Without the cube the score does not matter to what is computed.
        if request.cubeful {
            stakes.check(rules)?;
        }
        let dice = match request.want {
            None | Some(Want::Move) => dice,
            Some(Want::Eval) if said.dice.is_some() => return Err(RequestError::DiceInEvaluation),
            Some(Want::Cube) if said.dice.is_some() => return Err(RequestError::DiceInCubeDecision),
            Some(_) => None,
        };
        match dice {
            Some(_) => arg.check_rolled()?,
            None => arg.check_before_roll()?,
        }
        let question = match (request.want, dice) {
            (Some(Want::Eval), _) => Question::Eval,
            (_, Some(dice)) => Question::Move(dice),
            (Some(Want::Move), None) => return Err(RequestError::NoDice),
            (_, None) if !request.cubeful => return Err(RequestError::CubelessCube),
            (_, None) => Question::Cube,
        };
        Ok(Asked { position, stakes, question })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::net::Model;

    use super::*;

    /// Where the cube and the score are left out, looking ahead leaves them out too.
    #[test]
    fn a_cubeless_evaluation_is_the_same_at_every_score() {
        let mut bot = Bot::new(Model::shipped(), Level::OnePly, RuleSet::Backgammon).unwrap();
        let without = bot.evaluate(&Position::START, Valuation::Cubeless);
        let plays = Dice::ALL.map(|dice| {
            let best = bot.at_level(Level::ZeroPly).rank(&Position::START, dice, Valuation::Cubeless)[0];
            f32::from(dice.ways()) / 36.0 * best.equity.0
        });
        let by_hand: f32 = plays.iter().sum();
        assert!((without.cubeless.0 - by_hand).abs() < 2e-3, "{without:?} {by_hand}");
        assert!((without.cubeless.0 - without.cubeful.0).abs() < 1e-5, "{without:?}");
        let mut bots = Bots::new(bot);
        let mut ask = |text: &str| {
            let request = serde_json::from_str(text).unwrap();
            serde_json::to_value(bots.answer(&request, &Stop::NEVER).unwrap()).unwrap()
        };
        let asked = r#"{"pos": "start", "want": "eval", "cubeful": false"#;
        let money: Value = ask(&format!("{asked}}}"));
        assert_eq!(money["cubeless"].as_f64().unwrap(), (f64::from(without.cubeless.0) * 1e6).round() / 1e6);
        for stakes in [r#""match": {"length": 1, "score": [0, 0]}"#, r#""cube": {"value": 2, "owner": "opponent"}"#] {
            assert_eq!(ask(&format!("{asked}, {stakes}}}")), money);
        }
    }
}
