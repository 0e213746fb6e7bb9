//! What is kept of a game, and how it goes on.

use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    board::MatchPlayer,
    bot::{Bot, Turn},
    rules::{Action, Dice, Event, Match, MatchError, Phase},
};

/// The client.
pub const YOU: MatchPlayer = MatchPlayer::One;
/// His opponent.
pub const BOT: MatchPlayer = MatchPlayer::Zero;

/// A game as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Where it stands.
    pub game: Match,
    /// How far the bot looks ahead.
    pub level: String,
    /// Where the dice come from.
    pub seed: u64,
    /// Rolls so far.
    pub rolls: u64,
    /// Actions so far.
    pub version: u64,
}

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Player {
    /// The client, who is player 1.
    You,
    /// The bot, which is player 0.
    Bot,
}

impl From<MatchPlayer> for Player {
    fn from(player: MatchPlayer) -> Player {
        if player == YOU { Player::You } else { Player::Bot }
    }
}

/// What was done, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Deed {
    /// The number of the action in its game, from 1.
    pub version: u64,
    /// Who acted; absent for the opening roll and the next game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Player>,
    /// What he did.
    pub action: DeedKind,
    /// What was rolled, the higher die first; in the opening your die and the bot's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dice: Option<[u8; 2]>,
    /// What was played, as in `8/5 6/5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub play: Option<String>,
    /// Position ID of the result of a play, as the next player sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Points that are offered in a resignation, at a cube of 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<u32>,
    /// Whether the roll allowed no play, so that the turn has passed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub passed: bool,
    /// Who has won the game by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub won: Option<Won>,
}

/// A game that is won.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Won {
    /// By whom.
    pub by: Player,
    /// Points, the cube counted.
    pub points: u32,
}

/// What can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeedKind {
    /// One die of each player says who begins.
    Opening,
    /// Rolls the dice.
    Roll,
    /// Plays them.
    Play,
    /// Offers to double the cube.
    Double,
    /// Takes a double.
    Take,
    /// Turns a double down.
    Drop,
    /// Takes a double, turns the cube once more and keeps it.
    Beaver,
    /// Offers to give the game up, or gives it up.
    Resign,
    /// Accepts that the opponent gives up.
    Accept,
    /// Refuses it.
    Refuse,
    /// Claims the points for the opponent's fallen flag.
    Claim,
    /// Begins the next game.
    Next,
}

impl Record {
    /// Dice that have rolled as often as those of this game.
    fn dice(&self) -> Xoshiro256PlusPlus {
        let mut dice = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        for _ in 0..self.rolls {
            Dice::roll_each(&mut dice);
        }
        dice
    }

    /// Does what the client wants, if it may be, and then whatever follows until he has to decide again.
    pub fn act(&mut self, bot: &mut Bot<'_>, wanted: Turn) -> Result<Vec<Deed>, MatchError> {
        let mut dice = self.dice();
        let mut deeds = Vec::new();
        let action = self.rolled(wanted, &mut dice);
        self.apply(YOU, action, &mut deeds)?;
        self.go_on(bot, &mut dice, &mut deeds)?;
        Ok(deeds)
    }

    /// Does whatever can be done before the client has to decide.
    pub fn begin(&mut self, bot: &mut Bot<'_>) -> Result<Vec<Deed>, MatchError> {
        let mut deeds = Vec::new();
        self.go_on(bot, &mut self.dice(), &mut deeds)?;
        Ok(deeds)
    }

    fn go_on(
        &mut self,
        bot: &mut Bot<'_>,
        dice: &mut Xoshiro256PlusPlus,
        deeds: &mut Vec<Deed>,
    ) -> Result<(), MatchError> {
        loop {
            let (by, action) = match self.game.phase() {
                Phase::Opening => {
                    self.rolls += 1;
                    (BOT, Action::opening(dice))
                }
                Phase::GameOver | Phase::MatchOver => return Ok(()),
                _ if self.game.turn() == YOU => return Ok(()),
                _ => match bot.turn(&self.game) {
                    Some(turn) => (BOT, self.rolled(turn, dice)),
                    None => return Ok(()),
                },
            };
            self.apply(by, action, deeds)?;
        }
    }

    fn rolled(&mut self, turn: Turn, dice: &mut Xoshiro256PlusPlus) -> Action {
        match turn {
            Turn::Act(action) => action,
            Turn::Roll => {
                self.rolls += 1;
                Action::roll(dice)
            }
        }
    }

    fn apply(&mut self, by: MatchPlayer, action: Action, deeds: &mut Vec<Deed>) -> Result<(), MatchError> {
        let before = *self.game.position();
        let plays = self.game.dice().map(|dice| before.legal_plays(dice, self.game.rules()));
        let event = self.game.apply(by, action)?;
        self.version += 1;
        let mut deed = Deed {
            version: self.version,
            by: Some(by.into()),
            action: DeedKind::of(action),
            dice: None,
            play: None,
            after: None,
            points: None,
            passed: event == Event::TurnPassed,
            won: match event {
                Event::GameWon { winner, points } => Some(Won { by: winner.into(), points }),
                _ => None,
            },
        };
        match action {
            Action::Opening(rolled) => {
                let [bot, you] = rolled;
                (deed.by, deed.dice) = (None, Some([you, bot]));
            }
            Action::NextGame => deed.by = None,
            Action::Roll(rolled) => deed.dice = Some([rolled.high(), rolled.low()]),
            Action::Play(after) => {
                let legal = plays.iter().flat_map(|plays| plays.iter()).find(|legal| legal.after == after);
                deed.play = legal.map(|legal| legal.play.text(&before));
                deed.after = Some(after.to_string());
            }
            Action::Resign(points) => deed.points = Some(points),
            _ => {}
        }
        deeds.push(deed);
        Ok(())
    }
}

impl DeedKind {
    fn of(action: Action) -> DeedKind {
        match action {
            Action::Opening(_) => DeedKind::Opening,
            Action::Roll(_) => DeedKind::Roll,
            Action::Play(_) => DeedKind::Play,
            Action::Double => DeedKind::Double,
            Action::Take => DeedKind::Take,
            Action::Drop => DeedKind::Drop,
            Action::Beaver => DeedKind::Beaver,
            Action::Resign(_) => DeedKind::Resign,
            Action::Accept => DeedKind::Accept,
            Action::Refuse => DeedKind::Refuse,
            Action::ClaimTime | Action::Tick(_) | Action::TimeOut => DeedKind::Claim,
            Action::NextGame => DeedKind::Next,
        }
    }
}
