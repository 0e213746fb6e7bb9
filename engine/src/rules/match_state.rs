//! The course of a match or of money play: who may do what, and what follows.
//!
//! Dice and time come in from the caller, so that the same actions always give the same match.
//!
//! ```
//! use zar::{board::MatchPlayer, rules::{Action, Match, Phase, RuleSet}};
//!
//! let mut game = Match::new(RuleSet::Backgammon, Some(5), Default::default())?;
//! game.apply(MatchPlayer::Zero, Action::Opening([3, 1]))?;
//! let dice = game.dice().expect("the opening dice are the first roll");
//! let after = game.position().legal_plays(dice, RuleSet::Backgammon)[0].after;
//! game.apply(MatchPlayer::Zero, Action::Play(after))?;
//! assert_eq!((game.on_roll(), game.phase()), (MatchPlayer::One, Phase::Roll));
//! # Ok::<(), zar::rules::MatchError>(())
//! ```

use thiserror::Error;

use crate::board::{CubeOwner, CubeState, GameState, MatchId, MatchPlayer, Position, Resignation};

use super::outcome::lost;
use super::{
    Crawford, Dice, FirstRoll, LONGEST_MATCH, MatchScore, MoneyOptions, Outcome, ResignationTerms, RuleSet, Session,
    Stakes, TimeTerms,
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

/// What a player, or the server in his name, does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The opening dice of player 0 and of player 1.
    Opening([u8; 2]),
    /// A roll.
    Roll(Dice),
    /// A play, by the position to which it leads as the next player sees it.
    Play(Position),
    /// Offers to double the cube.
    Double,
    /// Takes a double.
    Take,
    /// Turns a double down.
    Drop,
    /// Takes a double, turns the cube once more and keeps it.
    Beaver,
    /// Gives the game up for 1, 2 or 3 points; where the rule set itself says what it costs the number is ignored.
    Resign(u32),
    /// Accepts a resignation.
    Accept,
    /// Refuses a resignation.
    Refuse,
    /// Milliseconds that the player whose turn it is has used.
    Tick(u32),
    /// Claims the points for the opponent's fallen flag.
    ClaimTime,
    /// The server says that the player's time is up.
    TimeOut,
    /// Begins the next game.
    NextGame,
}

/// What an action has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The game goes on.
    GoesOn,
    /// The opening dice were equal and are rolled again.
    OpeningTied,
    /// The roll allowed no play, and the turn has passed.
    TurnPassed,
    /// The game has ended.
    GameWon {
        /// The winner.
        winner: MatchPlayer,
        /// Points that he won, the cube counted.
        points: u32,
    },
    /// The match was lost on time.
    MatchLostOnTime(MatchPlayer),
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
    /// It is the other player's decision, or another action is expected.
    #[error("player {by:?} cannot do {action:?}: expected {phase:?} of player {turn:?}")]
    Unexpected {
        /// Who acted.
        by: MatchPlayer,
        /// What he did.
        action: Action,
        /// What was expected.
        phase: Phase,
        /// Of whom.
        turn: MatchPlayer,
    },
    /// The rules or the stakes do not allow it.
    #[error("{0:?} is not allowed here")]
    NotAllowed(Action),
    /// No legal play leads to the position.
    #[error("no legal play leads to {0}")]
    IllegalPlay(Position),
    /// A die or a number of points out of range.
    #[error("{0:?} holds a number out of range")]
    Number(Action),
}

/// A match, or money play, with all that decides how it can go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    rules: RuleSet,
    length: Option<u32>,
    options: MoneyOptions,
    scores: [u32; 2],
    game: u32,
    position: Position,
    on_roll: MatchPlayer,
    phase: Phase,
    cube: CubeState,
    crawford: bool,
    crawford_played: bool,
    resignation: Option<(MatchPlayer, u32)>,
    turn_used: u32,
    reserve_used: [u32; 2],
}

impl Match {
    /// A match to `length` points, or money play and single games with `None`, before its first opening roll.
    ///
    /// # Errors
    /// A length or options that the rule set does not have.
    pub fn new(rules: RuleSet, length: Option<u32>, options: MoneyOptions) -> Result<Match, MatchError> {
        if let Some(length) = length
            && (!rules.terms().matches || !(1..=LONGEST_MATCH).contains(&length))
        {
            return Err(MatchError::Length(length, rules));
        }
        if options != MoneyOptions::default() && (length.is_some() || !rules.terms().money_options) {
            return Err(MatchError::Options(rules));
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
            crawford_played: false,
            resignation: None,
            turn_used: 0,
            reserve_used: [0, 0],
        })
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

    /// What the game is played for, as the player on roll sees it; `None` when the match is over.
    pub fn stakes(&self) -> Option<Stakes> {
        let session = match self.length {
            None => Session::Money(self.options),
            Some(length) => {
                let own = self.scores[self.on_roll as usize];
                let others = self.scores[self.on_roll.opponent() as usize];
                Session::Match(MatchScore::new(length, [own, others], self.crawford).ok()?)
            }
        };
        Some(Stakes::new(session, self.cube))
    }

    /// Whether the player on roll may double now.
    pub fn may_double(&self) -> bool {
        let one_point =
            self.length == Some(1) && self.rules.terms().cube.is_some_and(|cube| cube.crawford == Crawford::EveryGame);
        self.phase == Phase::Roll && !one_point && self.stakes().is_some_and(|stakes| stakes.may_double(self.rules))
    }

    /// GNU Backgammon's Match ID of the state; the Position ID of [`Match::position`] stands beside it. The rule set, the
    /// clock and the money options but the Jacoby rule have no room in it.
    pub fn match_id(&self) -> MatchId {
        let cube_owner = match self.cube.owner() {
            CubeOwner::Centered => None,
            CubeOwner::Player => Some(self.on_roll),
            CubeOwner::Opponent => Some(self.on_roll.opponent()),
        };
        MatchId {
            cube_value: self.cube.value(),
            cube_owner,
            turn: self.turn(),
            crawford: self.crawford,
            state: match self.phase {
                Phase::Opening => GameState::NoGame,
                Phase::GameOver | Phase::MatchOver => GameState::Over,
                _ => GameState::Playing,
            },
            double_offered: self.phase == Phase::Doubled,
            resignation: match self.resignation {
                None => Resignation::None,
                Some((_, 1)) => Resignation::Single,
                Some((_, 2)) => Resignation::Gammon,
                Some(_) => Resignation::Backgammon,
            },
            dice: self.dice().map(|dice| [dice.high(), dice.low()]),
            scores: self.scores,
            jacoby: self.options.jacoby,
            ..MatchId::start(self.length.unwrap_or(0), self.on_roll)
        }
    }

    /// Does `action` for player `by`. For the opening roll and the next game it does not matter which player it is.
    ///
    /// # Errors
    /// An action that the rules do not allow now; the match stays as it was.
    pub fn apply(&mut self, by: MatchPlayer, action: Action) -> Result<Event, MatchError> {
        let unexpected = MatchError::Unexpected { by, action, phase: self.phase, turn: self.turn() };
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
                match Outcome::of(&after, self.rules) {
                    Some(outcome) => Ok(self.win(by, outcome.points(self.rules).unsigned_abs())),
                    None => Ok(Event::GoesOn),
                }
            }
            (Action::Double, Phase::Roll) if !self.may_double() || self.first_roll_afresh() => {
                Err(MatchError::NotAllowed(action))
            }
            (Action::Double, Phase::Roll) => {
                self.phase = Phase::Doubled;
                Ok(Event::GoesOn)
            }
            (Action::Take, Phase::Doubled) => self.turn_cube(2, action),
            (Action::Beaver, Phase::Doubled) if self.options.beavers => self.turn_cube(4, action),
            (Action::Beaver, Phase::Doubled) => Err(MatchError::NotAllowed(action)),
            (Action::Drop, Phase::Doubled) => Ok(self.win(by.opponent(), 1)),
            (Action::Resign(offer), Phase::Roll | Phase::Play(_)) => self.resign(by, offer),
            (Action::Accept, _) => match self.resignation {
                Some((loser, points)) => Ok(self.win(loser.opponent(), points)),
                None => Err(unexpected),
            },
            (Action::Refuse, _) => {
                self.resignation = None;
                Ok(Event::GoesOn)
            }
            (Action::Tick(milliseconds), _) => self.tick(milliseconds),
            (Action::ClaimTime, _) => match self.rules.terms().time {
                TimeTerms::Claimed { points, .. } if self.flag_fallen() && by != self.turn() => {
                    Ok(self.win(by, points))
                }
                _ => Err(MatchError::NotAllowed(action)),
            },
            (Action::TimeOut, _) if self.rules.terms().time == TimeTerms::LosesMatch => {
                self.phase = Phase::MatchOver;
                self.resignation = None;
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

    /// The starter who rolls afresh has had no turn to double in: his roll belongs to the opening.
    fn first_roll_afresh(&self) -> bool {
        self.rules.terms().first_roll == FirstRoll::Afresh && self.position == Position::START
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
        if self.stakes().is_none_or(|stakes| value > stakes.cube_limit(self.rules)) {
            return Err(MatchError::NotAllowed(action));
        }
        self.cube = CubeState::new(value, CubeOwner::Opponent).map_err(|_| MatchError::NotAllowed(action))?;
        self.phase = Phase::Roll;
        Ok(Event::GoesOn)
    }

    fn resign(&mut self, by: MatchPlayer, offer: u32) -> Result<Event, MatchError> {
        let terms = self.rules.terms();
        match terms.resignation {
            ResignationTerms::AsOnBoard => {
                let points = lost(&self.position, self.rules).points(self.rules).unsigned_abs();
                Ok(self.win(by.opponent(), points))
            }
            ResignationTerms::Abandoned => {
                let points = if self.position.off() == 0 { terms.gammon_points } else { 1 };
                Ok(self.win(by.opponent(), points))
            }
            _ if !(1..=3).contains(&offer) => Err(MatchError::Number(Action::Resign(offer))),
            ResignationTerms::OfferedTripleBinding if offer == 3 => Ok(self.win(by.opponent(), offer)),
            _ => {
                self.resignation = Some((by, offer));
                Ok(Event::GoesOn)
            }
        }
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

    /// Whether the time of the player whose turn it is has run out.
    pub fn flag_fallen(&self) -> bool {
        match self.rules.terms().time {
            TimeTerms::Claimed { reserve_seconds, .. } => {
                self.reserve_used[self.on_roll as usize] > reserve_seconds * 1000
            }
            _ => false,
        }
    }

    fn win(&mut self, winner: MatchPlayer, points: u32) -> Event {
        let centred = self.cube.owner() == CubeOwner::Centered;
        let points = if self.options.jacoby && centred { 1 } else { points } * self.cube.value();
        let score = &mut self.scores[winner as usize];
        *score = score.saturating_add(points);
        let over = self.length.is_some_and(|length| *score >= length);
        self.phase = if over { Phase::MatchOver } else { Phase::GameOver };
        self.resignation = None;
        Event::GameWon { winner, points }
    }

    fn next_game(&mut self) {
        self.crawford_played |= self.crawford;
        let needing_one = self.length.is_some_and(|length| self.scores.iter().any(|&score| score + 1 == length));
        let one_game = self.rules.terms().cube.is_some_and(|cube| cube.crawford == Crawford::OneGame);
        self.crawford = one_game && needing_one && !self.crawford_played;
        self.game = self.game.saturating_add(1);
        self.position = Position::START;
        self.phase = Phase::Opening;
        self.cube = CubeState::START;
        self.turn_used = 0;
        self.reserve_used = [0, 0];
    }
}
