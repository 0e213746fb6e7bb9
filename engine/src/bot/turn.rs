//! What the bot does when it is its turn in a match.

use crate::rules::{Action, Match, Phase};

use super::{Bot, DoubleAnswer, Valuation};

/// What a player wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// He rolls; whoever has the dice says what.
    Roll,
    /// Anything else.
    Act(Action),
}

impl Bot<'_> {
    /// What to do for the player whose turn it is; `None` when no player decides anything: before the opening roll, between
    /// games and after the match. The match never refuses it.
    ///
    /// `declined` is the most that the opponent has declined in this game when the bot offered to give up, in points at a
    /// cube of 1, and 0 when he has not: only more than that is offered again.
    pub fn turn(&mut self, game: &Match, declined: u32) -> Option<Turn> {
        let (position, stakes) = (*game.position(), game.stakes()?);
        let allowed = |action: &Action| game.clone().apply(game.turn(), *action).is_ok();
        if game.resignation().is_some() {
            return Some(Turn::Act(if self.accepts(game) { Action::Accept } else { Action::Refuse }));
        }
        Some(match game.phase() {
            Phase::Roll => {
                let doubles = game.may_double()
                    && self.cube_action(&position, &stakes).is_ok_and(|advice| advice.decision.is_double());
                let double = Some(Action::Double).filter(|_| doubles).filter(allowed);
                let mut offer = || self.resign(&position).filter(|&points| points > declined).map(Action::Resign);
                let act = double.or_else(|| offer().filter(allowed));
                act.map_or(Turn::Roll, Turn::Act)
            }
            Phase::Play(dice) => {
                let best = self.rank(&position, dice, Valuation::Cubeful(stakes))[0];
                Turn::Act(Action::Play(best.after))
            }
            Phase::Doubled => Turn::Act(match self.take(&position, &stakes) {
                Ok(DoubleAnswer::Drop) => Action::Drop,
                Ok(DoubleAnswer::Beaver) if game.may_beaver() => Action::Beaver,
                Ok(DoubleAnswer::Take | DoubleAnswer::Beaver) | Err(_) => Action::Take,
            }),
            Phase::Opening | Phase::GameOver | Phase::MatchOver => return None,
        })
    }

    /// Whether whoever has to answer should accept the other's offer to give up; `true` without an offer.
    pub fn accepts(&mut self, game: &Match) -> bool {
        let (Some((_, points)), Some(stakes)) = (game.resignation(), game.stakes()) else { return true };
        let position = *game.position();
        let loser_is_on_roll = game.turn() != game.on_roll();
        match loser_is_on_roll {
            true => self.accept_resign(&position, &stakes, points),
            false => self.accept_resign(&position.swapped(), &stakes.swapped(), points),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

    use super::*;
    use crate::{
        board::{MatchId, MatchPlayer, Position},
        bot::Level,
        net::Model,
        rules::{MatchOptions, MoneyOptions, RuleSet},
    };

    /// Matches by every rule set come to their end, and nothing that the bot wants is refused.
    #[test]
    fn the_bot_plays_whole_matches_against_itself() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let money = MoneyOptions { jacoby: false, beavers: true };
        let beavers = MatchOptions { money, automatic_doubles: 1, ..MatchOptions::default() };
        for (rules, length, options) in [
            (RuleSet::Backgammon, Some(5), MatchOptions::default()),
            (RuleSet::Backgammon, None, beavers),
            (RuleSet::Tavla, Some(3), MatchOptions::default()),
            (RuleSet::Tavla2004, Some(3), MatchOptions::default()),
            (RuleSet::Table, None, MatchOptions::default()),
            (RuleSet::Plain, None, MatchOptions::default()),
        ] {
            let mut bot = Bot::new(Model::shipped_for(rules), Level::ZeroPly, rules).unwrap();
            let mut game = Match::new(rules, length, options).unwrap();
            while game.phase() != Phase::MatchOver && game.game() < 10 {
                let action = match (game.phase(), bot.turn(&game, 0)) {
                    (_, Some(Turn::Act(action))) => action,
                    (_, Some(Turn::Roll)) => Action::roll(&mut rng),
                    (Phase::Opening, None) => Action::opening(&mut rng),
                    (phase, None) => {
                        assert_eq!(phase, Phase::GameOver);
                        Action::NextGame
                    }
                };
                let by = if game.result().is_some() { MatchPlayer::Zero } else { game.turn() };
                game.apply(by, action).unwrap();
            }
            assert_eq!(bot.turn(&game, 0), None);
        }
    }

    #[test]
    fn what_was_declined_is_not_offered_again() {
        // The bot has six checkers left, the opponent one.
        let mut points = [0i8; 26];
        points[6] = 6;
        points[24] = -1;
        let position = Position::new(points).unwrap();
        let id = MatchId::start(0, MatchPlayer::Zero);
        let game = Match::from_ids(position, id, RuleSet::Backgammon, MatchOptions::default(), 1).unwrap();
        let mut bot = Bot::new(Model::shipped(), Level::ZeroPly, RuleSet::Backgammon).unwrap();
        assert_eq!(bot.turn(&game, 0), Some(Turn::Act(Action::Resign(1))));
        assert_eq!(bot.turn(&game, 1), Some(Turn::Roll));
    }
}
