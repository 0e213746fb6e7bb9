//! The course of a match or of money play: who may do what, and what follows.
//!
//! Dice and time come in from the caller, so that the same actions always give the same match.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::board::{
    CubeOwner, CubeState, CubeValueError, GameState, HIGHEST_CUBE, MatchId, MatchPlayer, Position, Resignation,
};

use super::match_record::MatchRecord;
use super::outcome::lost;
use super::{
    Action, Crawford, Dice, Event, Expected, FirstRoll, LONGEST_MATCH, MatchScore, MoneyOptions, ResignationTerms,
    RuleSet, Session, Stakes, TimeTerms,
};

/// What is waited for, besides the answer to a resignation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// One die of each player.
    Opening,
    /// The player on roll doubles or rolls.
    Roll,
    /// The player on roll plays these dice.
    Play(Dice),
    /// The opponent of the player on roll answers a double.
    Doubled,
    /// The next game.
    GameOver,
    /// Nothing.
    MatchOver,
}

/// How a game, or the match with it, has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The winner has borne off all his checkers.
    BorneOff,
    /// The loser has given up for so many points, at a cube of 1.
    Resigned(u32),
    /// The loser has turned a double down.
    Dropped,
    /// The winner has claimed the game for the loser's fallen flag.
    TimeClaimed,
    /// The loser's time was up, which loses the match.
    TimeOut,
}

/// Who has won the game that is over, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameResult {
    /// The winner.
    pub winner: MatchPlayer,
    /// How the game ended.
    pub ending: Ending,
}

/// What the players have agreed on besides the rule set and the length of the match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MatchOptions {
    /// The Jacoby rule and beavers, in money play only.
    pub money: MoneyOptions,
    /// How many times in a game equal opening dice double the cube in the middle, in money play only.
    pub automatic_doubles: u8,
    /// The highest value that the cube may reach; the rule set may have a lower one.
    pub highest_cube: Option<u32>,
}

/// Time that is left where a rule set has a clock of its own, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLeft {
    /// Of the turn's own time.
    pub turn: u32,
    /// Of the reserves of player 0 and of player 1.
    pub reserves: [u32; 2],
}

/// Why an action is refused, or a match cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MatchError {
    /// The rule set has no matches, or none of this length.
    #[error("{1} has no match to {0} points")]
    Length(u32, RuleSet),
    /// The rule set has none of the money options.
    #[error("{0} has no options of money play, nor has a match")]
    Options(RuleSet),
    /// A highest cube that no cube shows.
    #[error(transparent)]
    HighestCube(#[from] CubeValueError),
    /// It is the other player's decision, or another action is expected.
    #[error("{by} cannot {action} now: expected {expected}")]
    Unexpected {
        /// Who acted.
        by: MatchPlayer,
        /// What he did.
        action: Action,
        /// What was expected.
        expected: Expected,
    },
    /// The rules or the stakes do not allow it.
    #[error("the rules or the stakes do not allow to {0} here")]
    NotAllowed(Action),
    /// No legal play leads to the position.
    #[error("no legal play leads to {0}")]
    IllegalPlay(Position),
    /// A die or a number of points out of range.
    #[error("nobody can {0}: dice show 1 to 6, and resignations are for 1 to 3 points")]
    Number(Action),
}

/// A match, or money play, with all that decides how it can go on.
///
/// It serialises as a record of all this, and what is read is checked ([`Match::check`]). Dice and time come in with the
/// actions ([`Action::roll`] and [`Action::opening`] roll fair ones), so that the same actions always give the same match.
///
/// ```
/// use zar::{board::MatchPlayer, rules::{Action, Match, MatchOptions, RuleSet}};
///
/// let mut game = Match::new(RuleSet::Backgammon, Some(5), MatchOptions::default())?;
/// game.apply(MatchPlayer::Zero, Action::Opening([3, 1]))?;
/// let dice = game.dice().expect("the opening dice are the first roll");
/// let play = game.position().parse_play("8/5 6/5", dice, game.rules())?;
/// game.apply(MatchPlayer::Zero, Action::Play(play.after))?;
/// assert_eq!(game.expected().to_string(), "player 1 to roll or to double");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "MatchRecord", into = "MatchRecord")]
pub struct Match {
    pub(super) rules: RuleSet,
    pub(super) length: Option<u32>,
    pub(super) options: MatchOptions,
    pub(super) scores: [u32; 2],
    pub(super) game: u32,
    pub(super) position: Position,
    pub(super) on_roll: MatchPlayer,
    pub(super) phase: Phase,
    pub(super) cube: CubeState,
    pub(super) crawford: bool,
    /// Who offers to give up, and for how many points at a cube of 1.
    pub(super) resignation: Option<(MatchPlayer, u32)>,
    /// There when the game is over.
    pub(super) result: Option<GameResult>,
    /// Milliseconds of the turn's own time that are used.
    pub(super) turn_used: u32,
    /// Milliseconds of each player's reserve that are used.
    pub(super) reserve_used: [u32; 2],
}

impl Match {
    /// A match to `length` points, or money play and single games with `None`, before its first opening roll.
    ///
    /// # Errors
    /// A length or options that the rule set does not have, or a highest cube that no cube shows.
    pub fn new(rules: RuleSet, length: Option<u32>, options: MatchOptions) -> Result<Match, MatchError> {
        if let Some(length) = length
            && (!rules.terms().matches || !(1..=LONGEST_MATCH).contains(&length))
        {
            return Err(MatchError::Length(length, rules));
        }
        let MatchOptions { money, automatic_doubles, highest_cube } = options;
        let money_only = money != MoneyOptions::default() || automatic_doubles > 0;
        if money_only && (length.is_some() || !rules.terms().money_options) {
            return Err(MatchError::Options(rules));
        }
        if let Some(highest) = highest_cube {
            CubeState::new(highest, CubeOwner::Centered)?;
        }
        Ok(Match {
            rules,
            length,
            options,
            scores: [0, 0],
            game: 1,
            position: Position::START,
            on_roll: MatchPlayer::Zero,
            phase: Phase::Opening,
            cube: CubeState::START,
            crawford: false,
            resignation: None,
            result: None,
            turn_used: 0,
            reserve_used: [0, 0],
        })
    }

    /// The rule set.
    pub fn rules(&self) -> RuleSet {
        self.rules
    }

    /// Points that win the match; `None` for money play and single games.
    pub fn length(&self) -> Option<u32> {
        self.length
    }

    /// What the players have agreed on.
    pub fn options(&self) -> MatchOptions {
        self.options
    }

    /// What is waited for.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Who rolls or has rolled.
    pub fn on_roll(&self) -> MatchPlayer {
        self.on_roll
    }

    /// The checkers as the player on roll sees them.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The dice to be played.
    pub fn dice(&self) -> Option<Dice> {
        if let Phase::Play(dice) = self.phase { Some(dice) } else { None }
    }

    /// Points of player 0 and of player 1.
    pub fn scores(&self) -> [u32; 2] {
        self.scores
    }

    /// The number of the game, from 1.
    pub fn game(&self) -> u32 {
        self.game
    }

    /// Whether this is the standard Crawford game.
    pub fn crawford(&self) -> bool {
        self.crawford
    }

    /// Who has to decide.
    pub fn turn(&self) -> MatchPlayer {
        match (self.resignation, self.phase) {
            (Some((by, _)), _) => by.opponent(),
            (None, Phase::Doubled) => self.on_roll.opponent(),
            _ => self.on_roll,
        }
    }

    /// The cube as the player on roll sees it; before any double that waits for an answer.
    pub fn cube(&self) -> CubeState {
        self.cube
    }

    /// Who offers to give up, and for how many points at a cube of 1.
    pub fn resignation(&self) -> Option<(MatchPlayer, u32)> {
        self.resignation
    }

    /// Who has won the game that is over, and how; `None` while it goes on.
    pub fn result(&self) -> Option<GameResult> {
        self.result
    }

    /// Who has won the match; `None` while it goes on.
    pub fn winner(&self) -> Option<MatchPlayer> {
        self.result.filter(|_| self.phase == Phase::MatchOver).map(|result| result.winner)
    }

    /// What is waited for, and of whom.
    pub fn expected(&self) -> Expected {
        let player = self.turn();
        match (self.resignation, self.phase) {
            (Some((_, points)), _) => Expected::ResignationAnswer { player, points },
            (None, Phase::Opening) => Expected::OpeningDice,
            (None, Phase::Roll) => Expected::Roll { player, may_double: self.may_double() },
            (None, Phase::Play(dice)) => Expected::Play { player, dice },
            (None, Phase::Doubled) => Expected::DoubleAnswer { player, may_beaver: self.may_beaver() },
            (None, Phase::GameOver) => Expected::NextGame,
            (None, Phase::MatchOver) => Expected::Nothing,
        }
    }

    /// What the game is played for, as the player on roll sees it; `None` when the game is over.
    pub fn stakes(&self) -> Option<Stakes> {
        if self.result.is_some() { None } else { self.stakes_at(self.scores) }
    }

    /// What a game at these scores is played for; `None` if no game is played at them.
    pub(super) fn stakes_at(&self, scores: [u32; 2]) -> Option<Stakes> {
        let session = match self.length {
            None => Session::Money(self.options.money),
            Some(length) => {
                let own = scores[self.on_roll as usize];
                let others = scores[self.on_roll.opponent() as usize];
                Session::Match(MatchScore::new(length, [own, others], self.crawford).ok()?)
            }
        };
        let highest_cube = self.options.highest_cube.unwrap_or(HIGHEST_CUBE);
        Some(Stakes { highest_cube, ..Stakes::new(session, self.cube) })
    }

    /// Whether the player on roll may double now. In `tavla2004` that includes the starter before his first roll: he
    /// rolls both dice afresh, so he too has a roll to double before.
    pub fn may_double(&self) -> bool {
        let waiting = self.phase == Phase::Roll && self.resignation.is_none();
        waiting && self.stakes().is_some_and(|stakes| stakes.may_double(self.rules))
    }

    /// Whether the player who answers a double may beaver.
    pub fn may_beaver(&self) -> bool {
        let turned = self.cube.value() * 4;
        self.phase == Phase::Doubled
            && self.options.money.beavers
            && self.stakes().is_some_and(|stakes| turned <= stakes.cube_limit(self.rules))
    }

    /// GNU Backgammon's Match ID of the state; the Position ID of [`Match::position`] stands beside it, and
    /// [`Match::from_ids`] reads both. The rule set, the number of the game, the clock and the options but the Jacoby
    /// rule have no room in it, nor have scores above 32767; a game or match that ended on time is written as given up.
    pub fn match_id(&self) -> MatchId {
        let cube_owner = match self.cube.owner() {
            CubeOwner::Centered => None,
            CubeOwner::Player => Some(self.on_roll),
            CubeOwner::Opponent => Some(self.on_roll.opponent()),
        };
        let resigned = match self.result.map(|result| result.ending) {
            Some(Ending::Resigned(points)) => Some(points),
            _ => self.resignation.map(|(_, points)| points),
        };
        MatchId {
            cube_value: self.cube.value(),
            cube_owner,
            turn: match self.result {
                // As GNU Backgammon leaves it: with him who has answered the double or the resignation.
                Some(GameResult { winner, ending: Ending::Dropped }) => winner.opponent(),
                Some(GameResult { winner, ending: Ending::Resigned(_) }) => winner,
                _ => self.turn(),
            },
            crawford: self.crawford,
            state: match self.result.map(|result| result.ending) {
                Some(Ending::BorneOff) => GameState::Over,
                Some(Ending::Dropped) => GameState::Dropped,
                Some(Ending::Resigned(_) | Ending::TimeClaimed | Ending::TimeOut) => GameState::Resigned,
                None if self.phase == Phase::Opening => GameState::NoGame,
                None => GameState::Playing,
            },
            double_offered: self.phase == Phase::Doubled,
            resignation: match resigned {
                None => Resignation::None,
                Some(1) => Resignation::Single,
                Some(2) => Resignation::Gammon,
                Some(_) => Resignation::Backgammon,
            },
            dice: self.dice().map(|dice| [dice.high(), dice.low()]),
            scores: self.scores,
            jacoby: self.options.money.jacoby,
            ..MatchId::start(self.length.unwrap_or(0), self.on_roll)
        }
    }

    /// Does `action` for player `by`. For the opening roll and the next game it does not matter which player it is.
    ///
    /// # Errors
    /// An action that the rules do not allow now; the match stays as it was.
    pub fn apply(&mut self, by: MatchPlayer, action: Action) -> Result<Event, MatchError> {
        let unexpected = MatchError::Unexpected { by, action, expected: self.expected() };
        let going_on = matches!(self.phase, Phase::Roll | Phase::Play(_) | Phase::Doubled);
        let shared = matches!(action, Action::Opening(_) | Action::NextGame | Action::ClaimTime);
        let answer = matches!(action, Action::Accept | Action::Refuse);
        let clock = matches!(action, Action::Tick(_) | Action::ClaimTime | Action::TimeOut);
        if !shared && by != self.turn() || !clock && answer != self.resignation.is_some() || clock && !going_on {
            return Err(unexpected);
        }
        match (action, self.phase) {
            (Action::Opening(dice), Phase::Opening) => {
                let roll = Dice::new(dice[0], dice[1]).map_err(|_| MatchError::Number(action))?;
                if roll.is_double() {
                    self.double_automatically();
                    return Ok(Event::OpeningTied);
                }
                self.on_roll = if dice[0] > dice[1] { MatchPlayer::Zero } else { MatchPlayer::One };
                self.phase = match self.rules.terms().first_roll {
                    FirstRoll::OpeningDice => Phase::Play(roll),
                    FirstRoll::Afresh => Phase::Roll,
                };
                Ok(Event::GoesOn)
            }
            (Action::Roll(dice), Phase::Roll) => {
                let plays = self.position.legal_plays(dice, self.rules);
                if plays.len() == 1 && plays[0].play.is_empty() {
                    self.pass_turn(self.position.swapped());
                    return Ok(Event::TurnPassed);
                }
                self.phase = Phase::Play(dice);
                Ok(Event::GoesOn)
            }
            (Action::Play(after), Phase::Play(dice)) => {
                if !self.position.legal_plays(dice, self.rules).iter().any(|play| play.after == after) {
                    return Err(MatchError::IllegalPlay(after));
                }
                self.pass_turn(after);
                if after.is_over() { Ok(self.win(by, Ending::BorneOff)) } else { Ok(Event::GoesOn) }
            }
            (Action::Double, Phase::Roll) if !self.may_double() => Err(MatchError::NotAllowed(action)),
            (Action::Double, Phase::Roll) => {
                self.phase = Phase::Doubled;
                Ok(Event::GoesOn)
            }
            (Action::Take, Phase::Doubled) => self.turn_cube(2, action),
            (Action::Beaver, Phase::Doubled) if self.may_beaver() => self.turn_cube(4, action),
            (Action::Beaver, Phase::Doubled) => Err(MatchError::NotAllowed(action)),
            (Action::Drop, Phase::Doubled) => Ok(self.win(by.opponent(), Ending::Dropped)),
            (Action::Resign(offer), Phase::Roll | Phase::Play(_)) => self.resign(by, offer),
            (Action::Accept, _) => match self.resignation {
                Some((loser, points)) => Ok(self.win(loser.opponent(), Ending::Resigned(points))),
                None => Err(unexpected),
            },
            (Action::Refuse, _) => {
                self.resignation = None;
                Ok(Event::GoesOn)
            }
            (Action::Tick(milliseconds), _) => self.tick(milliseconds),
            (Action::ClaimTime, _) => match self.rules.terms().time {
                TimeTerms::Claimed { .. } if self.flag_fallen() && by != self.turn() => {
                    Ok(self.win(by, Ending::TimeClaimed))
                }
                _ => Err(MatchError::NotAllowed(action)),
            },
            (Action::TimeOut, _) if self.rules.terms().time == TimeTerms::LosesMatch => {
                self.phase = Phase::MatchOver;
                self.resignation = None;
                self.result = Some(GameResult { winner: by.opponent(), ending: Ending::TimeOut });
                Ok(Event::MatchLostOnTime(by))
            }
            (Action::TimeOut, _) => Err(MatchError::NotAllowed(action)),
            (Action::NextGame, Phase::GameOver) => {
                self.next_game();
                Ok(Event::GoesOn)
            }
            _ => Err(unexpected),
        }
    }

    fn double_automatically(&mut self) {
        let value = self.cube.value() * 2;
        let allowed = self.stakes().is_some_and(|stakes| value <= stakes.cube_limit(self.rules));
        if let Ok(doubled) = CubeState::new(value, CubeOwner::Centered)
            && allowed
            && value.ilog2() <= self.options.automatic_doubles.into()
        {
            self.cube = doubled;
        }
    }

    fn pass_turn(&mut self, position: Position) {
        self.position = position;
        self.on_roll = self.on_roll.opponent();
        self.cube = self.cube.swapped();
        self.phase = Phase::Roll;
        self.turn_used = 0;
    }

    fn turn_cube(&mut self, factor: u32, action: Action) -> Result<Event, MatchError> {
        let value = self.cube.value() * factor;
        self.cube = CubeState::new(value, CubeOwner::Opponent).map_err(|_| MatchError::NotAllowed(action))?;
        self.phase = Phase::Roll;
        Ok(Event::GoesOn)
    }

    /// What giving up costs at a cube of 1, where the rule set says it.
    pub(super) fn cost_of_giving_up(&self) -> Option<u32> {
        let terms = self.rules.terms();
        match terms.resignation {
            ResignationTerms::Offered | ResignationTerms::OfferedTripleBinding => None,
            ResignationTerms::AsOnBoard => Some(lost(&self.position, self.rules).points(self.rules).unsigned_abs()),
            ResignationTerms::Abandoned => Some(if self.position.off() == 0 { terms.gammon_points } else { 1 }),
        }
    }

    /// Whether an offer of so many points waits for an answer of the opponent.
    pub(super) fn offer_waits(&self, points: u32) -> bool {
        match self.rules.terms().resignation {
            ResignationTerms::Offered => (1..=3).contains(&points),
            ResignationTerms::OfferedTripleBinding => (1..=2).contains(&points),
            ResignationTerms::AsOnBoard | ResignationTerms::Abandoned => false,
        }
    }

    fn resign(&mut self, by: MatchPlayer, offer: u32) -> Result<Event, MatchError> {
        if let Some(points) = self.cost_of_giving_up() {
            return Ok(self.win(by.opponent(), Ending::Resigned(points)));
        }
        if !(1..=3).contains(&offer) {
            return Err(MatchError::Number(Action::Resign(offer)));
        }
        if !self.offer_waits(offer) {
            return Ok(self.win(by.opponent(), Ending::Resigned(offer)));
        }
        self.resignation = Some((by, offer));
        Ok(Event::GoesOn)
    }

    fn tick(&mut self, milliseconds: u32) -> Result<Event, MatchError> {
        if let TimeTerms::Claimed { turn_seconds, .. } = self.rules.terms().time {
            let own = milliseconds.min((turn_seconds * 1000).saturating_sub(self.turn_used));
            self.turn_used += own;
            let reserve = &mut self.reserve_used[self.on_roll as usize];
            *reserve = reserve.saturating_add(milliseconds - own);
        }
        Ok(Event::GoesOn)
    }

    /// The time that is left; `None` where the rules have no clock of their own.
    pub fn time_left(&self) -> Option<TimeLeft> {
        match self.rules.terms().time {
            TimeTerms::Claimed { turn_seconds, reserve_seconds, .. } => Some(TimeLeft {
                turn: (turn_seconds * 1000).saturating_sub(self.turn_used),
                reserves: self.reserve_used.map(|used| (reserve_seconds * 1000).saturating_sub(used)),
            }),
            TimeTerms::Server | TimeTerms::LosesMatch => None,
        }
    }

    /// Whether the time of the player whose turn it is has run out.
    pub fn flag_fallen(&self) -> bool {
        match self.rules.terms().time {
            TimeTerms::Claimed { reserve_seconds, .. } => {
                self.reserve_used[self.on_roll as usize] > reserve_seconds * 1000
            }
            _ => false,
        }
    }

    /// What the winner of a game that ends so in this position wins, the cube counted.
    pub(super) fn points_of(&self, ending: Ending) -> u32 {
        let points = match ending {
            Ending::BorneOff => lost(&self.position, self.rules).points(self.rules).unsigned_abs(),
            Ending::Resigned(points) => points,
            Ending::Dropped => 1,
            Ending::TimeClaimed => match self.rules.terms().time {
                TimeTerms::Claimed { points, .. } => points,
                _ => 0,
            },
            Ending::TimeOut => 0,
        };
        let centred = self.cube.owner() == CubeOwner::Centered;
        let points = if self.options.money.jacoby && centred { points.min(1) } else { points };
        points * self.cube.value()
    }

    fn win(&mut self, winner: MatchPlayer, ending: Ending) -> Event {
        let points = self.points_of(ending);
        let score = &mut self.scores[winner as usize];
        *score = score.saturating_add(points);
        let over = self.length.is_some_and(|length| *score >= length);
        self.phase = if over { Phase::MatchOver } else { Phase::GameOver };
        self.resignation = None;
        self.result = Some(GameResult { winner, ending });
        Event::GameWon { winner, points }
    }

    /// Whether the cube rests in one game of such a match alone.
    pub(super) fn has_crawford(rules: RuleSet, length: Option<u32>) -> bool {
        length.is_some() && rules.terms().cube.is_some_and(|cube| cube.crawford == Crawford::OneGame)
    }

    /// Whether the next game is the Crawford game: the winner of this one has come within one point of the match, and
    /// the loser was not there before, nor the winner himself, who would have won.
    fn crawford_follows(&self) -> bool {
        match (self.length, self.result) {
            (Some(length), Some(GameResult { winner, .. })) if Match::has_crawford(self.rules, self.length) => {
                let needs_one = |player: MatchPlayer| self.scores[player as usize] + 1 == length;
                needs_one(winner) && !needs_one(winner.opponent())
            }
            _ => false,
        }
    }

    fn next_game(&mut self) {
        self.crawford = self.crawford_follows();
        self.result = None;
        self.game = self.game.saturating_add(1);
        self.position = Position::START;
        self.phase = Phase::Opening;
        self.cube = CubeState::START;
        self.turn_used = 0;
        self.reserve_used = [0, 0];
    }
}
