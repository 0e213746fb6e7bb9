//! What can be done in a match, what is waited for, and what comes of it.

use std::fmt;

use rand::Rng;

use crate::board::{MatchPlayer, Position};

use super::Dice;

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

impl Action {
    /// One die of each player. They may be equal, and are then rolled again.
    pub fn opening(rng: &mut impl Rng) -> Action {
        Action::Opening(Dice::roll_each(rng))
    }

    /// A roll.
    pub fn roll(rng: &mut impl Rng) -> Action {
        Action::Roll(Dice::roll(rng))
    }
}

/// Written so that it follows "player 0 cannot".
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Opening([zero, one]) => write!(f, "roll {zero} and {one} for the opening"),
            Action::Roll(dice) => write!(f, "roll {dice}"),
            Action::Play(after) => write!(f, "play to {after}"),
            Action::Double => f.write_str("double"),
            Action::Take => f.write_str("take a double"),
            Action::Drop => f.write_str("drop a double"),
            Action::Beaver => f.write_str("beaver"),
            Action::Resign(points) => write!(f, "resign for {points}"),
            Action::Accept => f.write_str("accept a resignation"),
            Action::Refuse => f.write_str("refuse a resignation"),
            Action::Tick(milliseconds) => write!(f, "use {milliseconds} ms"),
            Action::ClaimTime => f.write_str("claim the opponent's time"),
            Action::TimeOut => f.write_str("run out of time"),
            Action::NextGame => f.write_str("begin the next game"),
        }
    }
}

/// What an action has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The game goes on.
    GoesOn,
    /// The opening dice were equal and are rolled again; with automatic doubles the cube may have been doubled.
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

/// What is waited for, and of whom. Beside it the player who rolls or plays may resign, and clocks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// One die of each player.
    OpeningDice,
    /// A roll, or a double before it.
    Roll {
        /// Who rolls.
        player: MatchPlayer,
        /// Whether he may double first.
        may_double: bool,
    },
    /// A play.
    Play {
        /// Who plays.
        player: MatchPlayer,
        /// His dice.
        dice: Dice,
    },
    /// The answer to a double.
    DoubleAnswer {
        /// Who answers.
        player: MatchPlayer,
        /// Whether he may beaver.
        may_beaver: bool,
    },
    /// The answer to a resignation.
    ResignationAnswer {
        /// Who answers.
        player: MatchPlayer,
        /// Points offered, at a cube of 1.
        points: u32,
    },
    /// The next game.
    NextGame,
    /// Nothing more: the match is over.
    Nothing,
}

impl Expected {
    /// Of whom it is expected; `None` where it does not matter who does it.
    pub fn player(self) -> Option<MatchPlayer> {
        match self {
            Expected::Roll { player, .. }
            | Expected::Play { player, .. }
            | Expected::DoubleAnswer { player, .. }
            | Expected::ResignationAnswer { player, .. } => Some(player),
            Expected::OpeningDice | Expected::NextGame | Expected::Nothing => None,
        }
    }
}

/// Written so that it follows "expected".
impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::OpeningDice => f.write_str("one die of each player"),
            Expected::Roll { player, may_double: false } => write!(f, "{player} to roll"),
            Expected::Roll { player, may_double: true } => write!(f, "{player} to roll or to double"),
            Expected::Play { player, dice } => write!(f, "{player} to play {dice}"),
            Expected::DoubleAnswer { player, may_beaver: false } => write!(f, "{player} to take or to drop a double"),
            Expected::DoubleAnswer { player, may_beaver: true } => {
                write!(f, "{player} to take, to beaver or to drop a double")
            }
            Expected::ResignationAnswer { player, points } => {
                let plural = if *points == 1 { "" } else { "s" };
                write!(f, "{player} to accept or to refuse a resignation of {points} point{plural}")
            }
            Expected::NextGame => f.write_str("the next game"),
            Expected::Nothing => f.write_str("nothing, the match is over"),
        }
    }
}
