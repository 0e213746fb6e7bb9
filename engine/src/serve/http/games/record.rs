//! What is kept of a game, and how it goes on.

use std::time::{SystemTime, UNIX_EPOCH};

use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    board::MatchPlayer,
    bot::{Bot, Turn},
    rules::{Action, Dice, Event, Match, MatchError, Phase, TimeLeft},
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
    /// The most that the client has declined in this game when the bot offered to give up, in points at a cube of 1.
    #[serde(default, skip_serializing_if = "is_none")]
    pub declined: u32,
    /// Where there is a clock: since when the client thinks, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinks_since: Option<u64>,
}

fn is_none(points: &u32) -> bool {
    *points == 0
}

/// What time it is, in milliseconds since 1970.
pub trait Clock {
    /// Now.
    fn now(&self) -> u64;
}

/// The clock of the system.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
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

    /// Does what the client, who came at `arrived`, wants, if it may be, and then whatever follows until he has to decide
    /// again. If he has come too late for his clock, the bot claims the game in place of that.
    pub fn act(
        &mut self,
        bot: &mut Bot<'_>,
        wanted: Turn,
        arrived: u64,
        clock: &impl Clock,
    ) -> Result<Vec<Deed>, MatchError> {
        let mut dice = self.dice();
        let mut deeds = Vec::new();
        if let Some(since) = self.thinks_since
            && self.is_thinking(YOU)
        {
            self.tick(YOU, arrived.saturating_sub(since))?;
            if self.game.flag_fallen() {
                self.apply(BOT, Action::ClaimTime, &mut deeds)?;
                return Ok(deeds);
            }
        }
        let action = self.rolled(wanted, &mut dice);
        self.apply(YOU, action, &mut deeds)?;
        self.go_on(bot, &mut dice, &mut deeds, clock)?;
        Ok(deeds)
    }

    /// Does whatever can be done before the client has to decide.
    pub fn begin(&mut self, bot: &mut Bot<'_>, clock: &impl Clock) -> Result<Vec<Deed>, MatchError> {
        let mut deeds = Vec::new();
        self.go_on(bot, &mut self.dice(), &mut deeds, clock)?;
        Ok(deeds)
    }

    /// Whether the client may claim the game, since the bot's flag has fallen.
    pub fn may_claim(&self) -> bool {
        self.thinks_since.is_some() && self.is_thinking(BOT) && self.game.flag_fallen()
    }

    /// The time that is left of the clocks at a moment, in milliseconds since 1970; `None` without clocks.
    pub fn time_left(&self, now: u64) -> Option<TimeLeft> {
        let since = self.thinks_since?;
        let mut then = self.clone();
        if then.is_thinking(YOU) {
            // Of one who thinks, time may be taken.
            let _ = then.tick(YOU, now.saturating_sub(since));
        }
        then.game.time_left()
    }

    fn is_thinking(&self, player: MatchPlayer) -> bool {
        self.game.expected().player() == Some(player)
    }

    fn tick(&mut self, player: MatchPlayer, milliseconds: u64) -> Result<(), MatchError> {
        let milliseconds = u32::try_from(milliseconds).unwrap_or(u32::MAX);
        self.game.apply(player, Action::Tick(milliseconds)).map(|_| ())
    }

    fn go_on(
        &mut self,
        bot: &mut Bot<'_>,
        dice: &mut Xoshiro256PlusPlus,
        deeds: &mut Vec<Deed>,
        clock: &impl Clock,
    ) -> Result<(), MatchError> {
        loop {
            let (by, action) = match self.game.phase() {
                Phase::Opening => {
                    self.rolls += 1;
                    (BOT, Action::opening(dice))
                }
                Phase::GameOver | Phase::MatchOver => break,
                _ if self.game.turn() == YOU => break,
                _ => {
                    let began = clock.now();
                    let turn = bot.turn(&self.game, self.declined);
                    if self.thinks_since.is_some() {
                        self.tick(BOT, clock.now().saturating_sub(began))?;
                    }
                    match turn {
                        // The client may claim now.
                        _ if self.may_claim() => break,
                        Some(turn) => (BOT, self.rolled(turn, dice)),
                        None => break,
                    }
                }
            };
            self.apply(by, action, deeds)?;
        }
        if self.thinks_since.is_some() {
            self.thinks_since = Some(clock.now());
        }
        Ok(())
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
        let offer = self.game.resignation();
        let event = self.game.apply(by, action)?;
        match (action, offer) {
            (Action::Refuse, Some((BOT, points))) => self.declined = self.declined.max(points),
            (Action::NextGame, _) => self.declined = 0,
            _ => {}
        }
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{
        board::{MatchId, Position},
        bot::Level,
        net::Model,
        rules::{Ending, MatchOptions, RuleSet},
    };

    /// A clock that goes on by so much whenever it is looked at.
    struct Steps(Cell<u64>, u64);

    impl Clock for Steps {
        fn now(&self) -> u64 {
            self.0.replace(self.0.get() + self.1)
        }
    }

    fn bot(rules: RuleSet) -> Bot<'static> {
        Bot::new(Model::shipped_for(rules), Level::ZeroPly, rules).unwrap()
    }

    fn record(game: Match) -> Record {
        let (level, seed) = (Level::ZeroPly.to_string(), 3);
        Record { game, level, seed, rolls: 0, version: 0, declined: 0, thinks_since: None }
    }

    fn timed() -> Record {
        let game = Match::new(RuleSet::Table, None, MatchOptions::default()).unwrap();
        Record { thinks_since: Some(0), ..record(game) }
    }

    /// The first legal play, or the roll.
    fn wanted(record: &Record) -> Turn {
        match record.game.dice() {
            Some(dice) => {
                let plays = record.game.position().legal_plays(dice, record.game.rules());
                Turn::Act(Action::Play(plays[0].after))
            }
            None => Turn::Roll,
        }
    }

    /// Plays until the client has to roll, at a clock that goes on by so many milliseconds at each look.
    fn begun(step: u64) -> (Record, Bot<'static>, Steps) {
        let (mut record, mut bot, clock) = (timed(), bot(RuleSet::Table), Steps(Cell::new(1_000_000), step));
        record.begin(&mut bot, &clock).unwrap();
        if record.game.dice().is_some() && !record.may_claim() {
            let now = clock.now();
            record.act(&mut bot, wanted(&record), now, &clock).unwrap();
        }
        (record, bot, clock)
    }

    #[test]
    fn who_thinks_too_long_loses_two_points_to_the_bot() {
        let (mut record, mut bot, clock) = begun(1);
        let since = record.thinks_since.unwrap();
        // A turn has 11 seconds of its own, and 90 are the reserve of the game.
        let left = record.time_left(since + 21_000).unwrap();
        assert_eq!((left.turn, left.reserves[YOU as usize]), (0, 80_000));
        assert_eq!(record.time_left(since).unwrap().reserves, [90_000; 2]);
        let mut late = record.clone();
        let deeds = record.act(&mut bot, wanted(&record), since + 100_900, &clock).unwrap();
        assert_eq!((deeds[0].by, deeds[0].action), (Some(Player::You), DeedKind::Roll));
        let deeds = late.act(&mut bot, wanted(&late), since + 101_001, &clock).unwrap();
        assert_eq!((deeds.len(), deeds[0].by, deeds[0].action), (1, Some(Player::Bot), DeedKind::Claim));
        assert_eq!(deeds[0].won, Some(Won { by: Player::Bot, points: 2 }));
        assert_eq!(late.game.result().unwrap().ending, Ending::TimeClaimed);
        // The next game begins with all the time.
        late.act(&mut bot, Turn::Act(Action::NextGame), since + 999_999_999, &clock).unwrap();
        assert_eq!(late.game.time_left().unwrap().reserves[YOU as usize], 90_000);
    }

    #[test]
    fn the_bots_fallen_flag_is_there_to_be_claimed() {
        let (mut record, mut bot, clock) = begun(1);
        let clock = Steps(clock.0, 60_000);
        let mut turns = 0;
        while !record.may_claim() {
            let now = record.thinks_since.unwrap();
            record.act(&mut bot, wanted(&record), now, &clock).unwrap();
            turns += 1;
        }
        assert!(turns < 4, "{turns}");
        let now = clock.now();
        let refused = record.clone().act(&mut bot, Turn::Roll, now, &clock);
        assert!(matches!(refused, Err(MatchError::Unexpected { .. })));
        let text = serde_json::to_string(&record).unwrap();
        let mut kept: Record = serde_json::from_str(&text).unwrap();
        let deeds = kept.act(&mut bot, Turn::Act(Action::ClaimTime), now, &clock).unwrap();
        assert_eq!(deeds[0].won, Some(Won { by: Player::You, points: 2 }));
    }

    #[test]
    fn without_a_clock_nothing_is_claimed() {
        let mut record = record(Match::new(RuleSet::Table, None, MatchOptions::default()).unwrap());
        let (mut bot, clock) = (bot(RuleSet::Table), Steps(Cell::new(0), 1_000_000));
        record.begin(&mut bot, &clock).unwrap();
        let wanted = wanted(&record);
        let deeds = record.act(&mut bot, wanted, 999_999_999, &clock).unwrap();
        assert_ne!(deeds[0].action, DeedKind::Claim);
        assert!(record.act(&mut bot, Turn::Act(Action::ClaimTime), 999_999_999, &clock).is_err());
    }

    #[test]
    fn an_offer_that_was_declined_is_not_made_again() {
        let mut points = [0i8; 26];
        // The bot has far to go; the client bears three checkers off in two turns, or with a double.
        (points[6], points[24]) = (14, -3);
        let position = Position::new(points).unwrap();
        let game = Match::from_ids(position, MatchId::start(0, BOT), RuleSet::Backgammon, MatchOptions::default(), 1);
        let (mut record, mut bot) = (record(game.unwrap()), bot(RuleSet::Backgammon));
        let deeds = record.begin(&mut bot, &SystemClock).unwrap();
        assert_eq!((deeds[0].action, deeds[0].points), (DeedKind::Resign, Some(1)), "{deeds:?}");
        let text = serde_json::to_string(&record).unwrap();
        let mut record: Record = serde_json::from_str(&text).unwrap();
        let mut offers = 0;
        let mut wanted = Turn::Act(Action::Refuse);
        while record.game.result().is_none() {
            let deeds = record.act(&mut bot, wanted, 0, &SystemClock).unwrap();
            offers += deeds.iter().filter(|deed| deed.action == DeedKind::Resign).count();
            wanted = match (record.game.resignation(), record.game.dice()) {
                (Some(_), _) => Turn::Act(Action::Refuse),
                (None, _) => self::wanted(&record),
            };
        }
        assert_eq!(offers, 0);
        record.act(&mut bot, Turn::Act(Action::NextGame), 0, &SystemClock).unwrap();
        assert_eq!(record.declined, 0);
    }

    /// As they were written before there were offers to remember and clocks.
    #[test]
    fn older_records_are_read() {
        let mut text =
            serde_json::to_value(record(Match::new(RuleSet::Backgammon, Some(3), MatchOptions::default()).unwrap()));
        let fields = text.as_mut().unwrap().as_object_mut().unwrap();
        assert_eq!(fields.keys().collect::<Vec<_>>(), ["game", "level", "rolls", "seed", "version"]);
        let read: Record = serde_json::from_value(text.unwrap()).unwrap();
        assert_eq!((read.declined, read.thinks_since), (0, None));
    }
}
