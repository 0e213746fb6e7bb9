//! The decisions that programs ask for one at a time, and the bot's answers to them.

use std::fmt;

use thiserror::Error;

use crate::{
    board::{CubeOwner, CubeState, CubeValueError, FibsBoard, Position, Xgid, XgidAction},
    bot::{Bot, BotError, DoubleAnswer, Valuation},
    rules::{Dice, DiceError, MatchScore, MatchScoreError, MoneyOptions, Move, RuleSet, Session, Stakes, StakesError},
    search::RankedPlay,
};

/// A decision of one player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The checkers, seen by the player on roll; while a double waits for an answer that is the player who doubled.
    pub position: Position,
    /// Cube and score, seen by the same player: before a double that waits for an answer; but where a beaver does, with
    /// the cube doubled and on the opponent's side.
    pub stakes: Stakes,
    /// What is to be decided.
    pub asked: Asked,
}

/// What is to be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The player on roll doubles or rolls.
    Roll,
    /// The player on roll plays these dice.
    Play(Dice),
    /// The opponent of the player on roll answers a double.
    Double,
    /// The player on roll has doubled, and answers the opponent's beaver.
    Beaver,
}

/// What the bot does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// Rolls.
    Roll,
    /// Doubles.
    Double,
    /// Takes, or accepts a beaver.
    Take,
    /// Gives the game up for what the cube showed.
    Drop,
    /// Takes, turns the cube once more, and keeps it.
    Beaver,
    /// Plays; the play is legal.
    Play(RankedPlay),
}

/// Why what a program says about a game is no question.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QuestionError {
    /// The game has ended.
    #[error("the game in {0} is over: expected a position in which both players have checkers on the board")]
    GameOver(Position),
    /// A score that no match has while it goes on.
    #[error(transparent)]
    Score(#[from] MatchScoreError),
    /// Dice that cannot be rolled.
    #[error(transparent)]
    Dice(#[from] DiceError),
    /// A cube that does not exist.
    #[error(transparent)]
    Cube(#[from] CubeValueError),
    /// A beaver or a raccoon in an XGID, which does not say enough about them.
    #[error("an XGID with a beaver or a raccoon is no question, expected dice, no dice, or a double")]
    Beaver,
}

/// Why the bot has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AnswerError {
    /// Stakes that the rules do not know.
    #[error(transparent)]
    Stakes(#[from] StakesError),
    /// A double that cannot have been offered.
    #[error(transparent)]
    Bot(#[from] BotError),
    /// The play that the bot has chosen is not legal, which is never to be.
    #[error("the chosen play from {position} with {dice} is not legal")]
    IllegalPlay {
        /// From where.
        position: Position,
        /// With what.
        dice: Dice,
    },
}

impl Question {
    /// What a board line asks. It does not say whether the Jacoby rule and beavers are on in money play.
    ///
    /// # Errors
    /// A game that is over, and values out of range.
    pub fn of_board(board: &FibsBoard, money: MoneyOptions) -> Result<Question, QuestionError> {
        let session = session(board.match_length, board.scores, board.crawford, money)?;
        let asked = match board.dice {
            Some([first, second]) => Asked::Play(Dice::new(first, second)?),
            // Only a beaver leaves the cube with the opponent of him who has doubled.
            None if board.doubled && board.cube.owner() == CubeOwner::Opponent => Asked::Beaver,
            None if board.doubled => Asked::Double,
            None => Asked::Roll,
        };
        Question { position: board.position, stakes: Stakes::new(session, board.cube), asked }.unfinished()
    }

    /// What an XGID asks.
    ///
    /// # Errors
    /// A game that is over, values out of range, and beavers.
    pub fn of_xgid(xgid: &Xgid) -> Result<Question, QuestionError> {
        let money = MoneyOptions { jacoby: xgid.jacoby, beavers: xgid.beavers };
        let session = session(xgid.match_length, xgid.scores, xgid.crawford, money)?;
        let cube = CubeState::new(xgid.cube_value, xgid.cube_owner)?;
        let stakes = Stakes { highest_cube: xgid.max_cube, ..Stakes::new(session, cube) };
        let asked = match xgid.action {
            XgidAction::None => Asked::Roll,
            XgidAction::Rolled([first, second]) => Asked::Play(Dice::new(first, second)?),
            XgidAction::Doubled => Asked::Double,
            XgidAction::Beavered | XgidAction::Raccooned => return Err(QuestionError::Beaver),
        };
        Question { position: xgid.position, stakes, asked }.unfinished()
    }

    fn unfinished(self) -> Result<Question, QuestionError> {
        if self.position.is_over() { Err(QuestionError::GameOver(self.position)) } else { Ok(self) }
    }

    /// What the bot does.
    ///
    /// # Errors
    /// Stakes that the rules do not know, and an answer to a double that cannot have been offered.
    pub fn answer(&self, bot: &mut Bot<'_>) -> Result<Answer, AnswerError> {
        self.answer_valuing(bot, Valuation::Cubeful(self.stakes))
    }

    /// The same, a play by another valuation.
    ///
    /// # Errors
    /// As [`Question::answer`].
    pub(super) fn answer_valuing(&self, bot: &mut Bot<'_>, valuation: Valuation) -> Result<Answer, AnswerError> {
        let Question { position, stakes, asked } = self;
        stakes.check(bot.rules())?;
        match *asked {
            Asked::Roll if !stakes.may_double(bot.rules()) => Ok(Answer::Roll),
            Asked::Roll => {
                let doubles = bot.cube_action(position, stakes)?.decision.is_double();
                Ok(if doubles { Answer::Double } else { Answer::Roll })
            }
            Asked::Play(dice) => {
                let best = bot.rank(position, dice, valuation)[0];
                if !is_legal(position, dice, bot.rules(), &best) {
                    return Err(AnswerError::IllegalPlay { position: *position, dice });
                }
                Ok(Answer::Play(best))
            }
            Asked::Double => Ok(match bot.take(position, stakes)? {
                DoubleAnswer::Take => Answer::Take,
                DoubleAnswer::Drop => Answer::Drop,
                DoubleAnswer::Beaver => Answer::Beaver,
            }),
            Asked::Beaver => {
                // The highest cube cannot be turned once more, as the beaver would.
                let Ok(cube) = CubeState::new(stakes.cube.value() * 2, CubeOwner::Opponent) else {
                    return Ok(Answer::Take);
                };
                let goes_on = bot.evaluate(position, Valuation::Cubeful(Stakes { cube, ..*stakes })).cubeful;
                // Giving up costs the cube as it was doubled, half of the beavered one.
                Ok(if goes_on.0 < -0.5 { Answer::Drop } else { Answer::Take })
            }
        }
    }
}

fn session(length: u32, scores: [u32; 2], crawford: bool, money: MoneyOptions) -> Result<Session, MatchScoreError> {
    match length {
        0 => Ok(Session::Money(money)),
        _ => MatchScore::new(length, scores, crawford).map(Session::Match),
    }
}

/// Whether a play leads, move by move, to one of the legal results.
fn is_legal(position: &Position, dice: Dice, rules: RuleSet, play: &RankedPlay) -> bool {
    let made = play.play.iter().try_fold(*position, |position, &made| position.after_move(made));
    made.is_some_and(|made| made.swapped() == play.after)
        && position.legal_plays(dice, rules).iter().any(|legal| legal.after == play.after)
}

/// A play as programs read it without knowing the position: every move of a single checker by itself, as in `24/18 18/13`.
pub(super) fn single_moves(moves: &[Move]) -> String {
    moves.iter().map(Move::to_string).collect::<Vec<_>>().join(" ")
}

/// Written as GNU Backgammon and the first draft of UBGI read it: `roll`, `double`, `take`, `drop`, `beaver`, or the single
/// moves of a play; nothing when none is legal.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Roll => f.pad("roll"),
            Answer::Double => f.pad("double"),
            Answer::Take => f.pad("take"),
            Answer::Drop => f.pad("drop"),
            Answer::Beaver => f.pad("beaver"),
            Answer::Play(play) => f.pad(&single_moves(&play.play)),
        }
    }
}
