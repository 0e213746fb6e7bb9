//! The state of a match as it is written, and the checks that what is read goes through.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::board::{
    CHECKERS, CubeOwner, CubeState, GameState, MatchId, MatchIdError, MatchPlayer, Position, PositionIdError,
    Resignation,
};

use super::{
    Dice, DiceError, Ending, GameResult, Match, MatchError, MatchOptions, MatchScore, MatchScoreError, Phase, RuleSet,
    Stakes, TimeTerms,
};

/// Why a state is none that a match can be in.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MatchStateError {
    /// The rule set has no such match.
    #[error(transparent)]
    Match(#[from] MatchError),
    /// The position is no Position ID.
    #[error(transparent)]
    Position(#[from] PositionIdError),
    /// The dice are none.
    #[error(transparent)]
    Dice(#[from] DiceError),
    /// The record of a Match ID contradicts itself.
    #[error(transparent)]
    Id(#[from] MatchIdError),
    /// Dice where none are to be played, or none where some are.
    #[error("there are dice exactly when a play is waited for")]
    DicePhase,
    /// Games are counted from 1.
    #[error("the game has the number 0, expected 1 or more")]
    Game,
    /// At these scores no game was or is played, or the Crawford game is none.
    #[error(transparent)]
    Score(#[from] MatchScoreError),
    /// The winner has fewer points than he won, or the match is said to go on or to be over when it is not.
    #[error("the score {}-{} does not fit what is waited for and how the game ended", .0[0], .0[1])]
    ScoreAfter([u32; 2]),
    /// There is a Crawford game only in matches, and not by every rule set.
    #[error("{0} has no Crawford game here")]
    Crawford(RuleSet),
    /// The checkers do not fit what is waited for or how the game ended.
    #[error("the position {0} does not fit what is waited for or how the game ended")]
    Board(Position),
    /// The dice allow no play, so that the turn would have passed.
    #[error("{dice} allows no play in {position}: the turn has passed")]
    NoPlay {
        /// The roll.
        dice: Dice,
        /// The position.
        position: Position,
    },
    /// The rules, the options or the score do not allow the cube to show this, or to stand there.
    #[error("a cube of {} ({:?}, as the player on roll sees it) is not possible here", .0.value(), .0.owner())]
    Cube(CubeState),
    /// The player on roll cannot have doubled.
    #[error("{0} cannot have doubled")]
    Double(MatchPlayer),
    /// Only the player who rolls or plays gives up, for 1 to 3 points, and only where the opponent may refuse.
    #[error("{by} cannot be offering to lose {points}")]
    Resignation {
        /// Who gives up.
        by: MatchPlayer,
        /// Points offered.
        points: u32,
    },
    /// A game that is over without a result, or a result of a game that goes on.
    #[error("there is a result exactly when the game is over")]
    ResultPhase,
    /// The game cannot have ended so.
    #[error("{} cannot have won by {:?}", .0.winner, .0.ending)]
    Result(GameResult),
    /// Time used where there is no clock, or more of the turn than it has.
    #[error("{turn_used} ms of the turn and {}-{} ms of the reserves cannot be used", reserve_used[0], reserve_used[1])]
    Clock {
        /// Milliseconds of the turn's own time.
        turn_used: u32,
        /// Milliseconds of each reserve.
        reserve_used: [u32; 2],
    },
    /// The Match ID has another player decide.
    #[error("{0} cannot be the one to decide")]
    Turn(MatchPlayer),
}

/// What is waited for, without the dice.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PhaseName {
    Opening,
    Roll,
    Play,
    Doubled,
    GameOver,
    MatchOver,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Offer {
    by: MatchPlayer,
    points: u32,
}

/// A match as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MatchRecord {
    rules: RuleSet,
    length: Option<u32>,
    #[serde(default)]
    options: MatchOptions,
    scores: [u32; 2],
    game: u32,
    position: String,
    on_roll: MatchPlayer,
    phase: PhaseName,
    dice: Option<[u8; 2]>,
    cube: CubeState,
    #[serde(default)]
    crawford: bool,
    resignation: Option<Offer>,
    result: Option<GameResult>,
    #[serde(default)]
    turn_used: u32,
    #[serde(default)]
    reserve_used: [u32; 2],
}

impl From<Match> for MatchRecord {
    fn from(state: Match) -> MatchRecord {
        MatchRecord {
            rules: state.rules,
            length: state.length,
            options: state.options,
            scores: state.scores,
            game: state.game,
            position: state.position.to_string(),
            on_roll: state.on_roll,
            phase: match state.phase {
                Phase::Opening => PhaseName::Opening,
                Phase::Roll => PhaseName::Roll,
                Phase::Play(_) => PhaseName::Play,
                Phase::Doubled => PhaseName::Doubled,
                Phase::GameOver => PhaseName::GameOver,
                Phase::MatchOver => PhaseName::MatchOver,
            },
            dice: state.dice().map(|dice| [dice.high(), dice.low()]),
            cube: state.cube,
            crawford: state.crawford,
            resignation: state.resignation.map(|(by, points)| Offer { by, points }),
            result: state.result,
            turn_used: state.turn_used,
            reserve_used: state.reserve_used,
        }
    }
}

impl TryFrom<MatchRecord> for Match {
    type Error = MatchStateError;

    fn try_from(record: MatchRecord) -> Result<Match, MatchStateError> {
        let phase = match (record.phase, record.dice) {
            (PhaseName::Play, Some([first, second])) => Phase::Play(Dice::new(first, second)?),
            (PhaseName::Opening, None) => Phase::Opening,
            (PhaseName::Roll, None) => Phase::Roll,
            (PhaseName::Doubled, None) => Phase::Doubled,
            (PhaseName::GameOver, None) => Phase::GameOver,
            (PhaseName::MatchOver, None) => Phase::MatchOver,
            _ => return Err(MatchStateError::DicePhase),
        };
        let state = Match {
            rules: record.rules,
            length: record.length,
            options: record.options,
            scores: record.scores,
            game: record.game,
            position: record.position.parse()?,
            on_roll: record.on_roll,
            phase,
            cube: record.cube,
            crawford: record.crawford,
            resignation: record.resignation.map(|Offer { by, points }| (by, points)),
            result: record.result,
            turn_used: record.turn_used,
            reserve_used: record.reserve_used,
        };
        state.check()?;
        Ok(state)
    }
}

impl Match {
    /// The match that GNU Backgammon's Position ID and Match ID describe, the inverse of [`Match::match_id`]. What a
    /// Match ID cannot hold comes with it: the rule set, the options (the Jacoby rule is the ID's, in money play) and the
    /// number of the game. No time is used.
    ///
    /// Dice that GNU Backgammon leaves beside a game that has not begun or is over mean nothing, and neither does whose
    /// turn is said to be then.
    ///
    /// # Errors
    /// IDs that contradict themselves or each other or the rule set, and states that this crate does not know: a beaver
    /// that waits for an answer, a player who gives up when he has been doubled, or a match that is over with the cube in
    /// the middle although it has been turned.
    pub fn from_ids(
        position: Position,
        id: MatchId,
        rules: RuleSet,
        options: MatchOptions,
        game: u32,
    ) -> Result<Match, MatchStateError> {
        id.check()?;
        let length = (id.match_length > 0).then_some(id.match_length);
        let mut options = options;
        options.money.jacoby = id.jacoby && length.is_none();
        let points = match id.resignation {
            Resignation::None => None,
            Resignation::Single => Some(1),
            Resignation::Gammon => Some(2),
            Resignation::Backgammon => Some(3),
        };
        let other = id.on_roll.opponent();
        let result = match id.state {
            GameState::NoGame | GameState::Playing => None,
            GameState::Over => Some(GameResult { winner: other, ending: Ending::BorneOff }),
            GameState::Dropped => Some(GameResult { winner: id.on_roll, ending: Ending::Dropped }),
            GameState::Resigned => Some(GameResult { winner: other, ending: Ending::Resigned(points.unwrap_or(0)) }),
        };
        let playing = id.state == GameState::Playing;
        let phase = match (id.state, id.dice) {
            (GameState::NoGame, _) => Phase::Opening,
            (GameState::Playing, _) if id.double_offered => Phase::Doubled,
            (GameState::Playing, Some([first, second])) => Phase::Play(Dice::new(first, second)?),
            (GameState::Playing, None) => Phase::Roll,
            _ if length.is_some_and(|length| id.scores.iter().any(|&score| score >= length)) => Phase::MatchOver,
            _ => Phase::GameOver,
        };
        let owner = id.relative_cube_owner();
        let state = Match {
            length,
            scores: id.scores,
            game,
            position,
            on_roll: id.on_roll,
            phase,
            cube: CubeState::new(id.cube_value, owner).map_err(|fault| MatchIdError::CubeValue(fault.0))?,
            crawford: id.crawford,
            resignation: points.filter(|_| playing).map(|points| (id.turn.opponent(), points)),
            result,
            ..Match::new(rules, length, options)?
        };
        state.check()?;
        if playing && state.turn() != id.turn {
            return Err(MatchStateError::Turn(id.turn));
        }
        Ok(state)
    }

    /// Refuses a state that contradicts itself or its rule set; every state that [`Match::apply`] leads to passes.
    ///
    /// # Errors
    /// The first contradiction that is found.
    pub fn check(&self) -> Result<(), MatchStateError> {
        Match::new(self.rules, self.length, self.options)?;
        if self.game == 0 {
            return Err(MatchStateError::Game);
        }
        if self.crawford && !Match::has_crawford(self.rules, self.length) {
            return Err(MatchStateError::Crawford(self.rules));
        }
        if self.result.is_some() != matches!(self.phase, Phase::GameOver | Phase::MatchOver) {
            return Err(MatchStateError::ResultPhase);
        }
        self.check_board()?;
        self.check_clock()?;
        if let Some(result) = self.result {
            self.check_result(result)?;
        }
        let stakes = self.stakes_of_this_game()?;
        self.check_cube(stakes)?;
        self.check_resignation()
    }

    fn check_board(&self) -> Result<(), MatchStateError> {
        let fits = match (self.phase, self.result) {
            (Phase::Opening, _) => self.position == Position::START,
            (_, Some(GameResult { ending: Ending::BorneOff, .. })) => self.position.opponent_off() == CHECKERS,
            _ => !self.position.is_over(),
        };
        if !fits {
            return Err(MatchStateError::Board(self.position));
        }
        if let Phase::Play(dice) = self.phase
            && self.position.legal_plays(dice, self.rules).iter().all(|legal| legal.play.is_empty())
        {
            return Err(MatchStateError::NoPlay { dice, position: self.position });
        }
        Ok(())
    }

    fn check_clock(&self) -> Result<(), MatchStateError> {
        let (turn_used, reserve_used) = (self.turn_used, self.reserve_used);
        let unused = turn_used == 0 && reserve_used == [0, 0];
        let fits = match self.rules.terms().time {
            TimeTerms::Claimed { turn_seconds, .. } if self.phase != Phase::Opening => turn_used <= turn_seconds * 1000,
            _ => unused,
        };
        if fits { Ok(()) } else { Err(MatchStateError::Clock { turn_used, reserve_used }) }
    }

    fn check_result(&self, result: GameResult) -> Result<(), MatchStateError> {
        let GameResult { winner, ending } = result;
        let other_won = winner == self.on_roll.opponent();
        let possible = match ending {
            Ending::BorneOff => other_won,
            Ending::Resigned(points) => {
                other_won && self.cost_of_giving_up().map_or((1..=3).contains(&points), |cost| points == cost)
            }
            // Whether he could double is seen when the stakes are known.
            Ending::Dropped => winner == self.on_roll,
            Ending::TimeClaimed => other_won && self.flag_fallen(),
            Ending::TimeOut => self.rules.terms().time == TimeTerms::LosesMatch && self.phase == Phase::MatchOver,
        };
        if possible { Ok(()) } else { Err(MatchStateError::Result(result)) }
    }

    /// What the game is or was played for.
    fn stakes_of_this_game(&self) -> Result<Stakes, MatchStateError> {
        let after = MatchStateError::ScoreAfter(self.scores);
        let mut before = self.scores;
        if let Some(GameResult { winner, ending }) = self.result {
            let won = self.length.is_some_and(|length| self.scores[winner as usize] >= length);
            if (won || ending == Ending::TimeOut) != (self.phase == Phase::MatchOver) {
                return Err(after);
            }
            let score = &mut before[winner as usize];
            *score = score.checked_sub(self.points_of(ending)).ok_or(after.clone())?;
        }
        if let Some(length) = self.length {
            MatchScore::new(length, before, self.crawford)?;
        }
        self.stakes_at(before).ok_or(after)
    }

    fn check_cube(&self, stakes: Stakes) -> Result<(), MatchStateError> {
        let (rules, cube) = (self.rules, self.cube);
        let automatic = u32::from(self.options.automatic_doubles);
        let fits = match cube.owner() {
            CubeOwner::Centered => cube.value().ilog2() <= automatic,
            CubeOwner::Player | CubeOwner::Opponent => {
                cube.value() > 1 && stakes.has_cube(rules) && self.phase != Phase::Opening
            }
        };
        if !fits || cube.value() > stakes.cube_limit(rules) {
            return Err(MatchStateError::Cube(cube));
        }
        let dropped = self.result.is_some_and(|result| result.ending == Ending::Dropped);
        if (dropped || self.phase == Phase::Doubled) && !stakes.may_double(rules) {
            return Err(MatchStateError::Double(self.on_roll));
        }
        Ok(())
    }

    fn check_resignation(&self) -> Result<(), MatchStateError> {
        let Some((by, points)) = self.resignation else { return Ok(()) };
        let fits = by == self.on_roll && matches!(self.phase, Phase::Roll | Phase::Play(_)) && self.offer_waits(points);
        if fits { Ok(()) } else { Err(MatchStateError::Resignation { by, points }) }
    }
}
