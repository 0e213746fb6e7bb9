//! GNU Backgammon's Match ID: what surrounds the checkers (cube, score, dice, whose decision), in 12 characters.
//!
//! 67 bits, the lowest of each byte first, in base 64: the cube's exponent (4), its owner (2), the player on roll,
//! Crawford, the state of the game (3), whose turn, double offered, resignation offered (2), the dice (3 + 3), the
//! match length (15) and the two scores (15 + 15) (GNU Backgammon manual, "A technical description of the Match ID"),
//! then one bit that newer versions set when the Jacoby rule is off (observed with 1.07.001).
//!
//! **Perspective.** A Match ID numbers the players 0 and 1, whoever is on roll. The Position ID that stands beside it
//! is seen by the player on roll ([`MatchId::on_roll`]), also while a double or a resignation waits for his opponent.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{CubeOwner, HIGHEST_CUBE, base64};

const LENGTH: usize = 12;

/// The longest match and the highest score that a Match ID can hold.
const LIMIT: u32 = (1 << 15) - 1;

/// One of the two players, by the number that he keeps for the whole match; serialised as that number. GNU Backgammon
/// draws player 1 below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum MatchPlayer {
    /// Player 0.
    Zero,
    /// Player 1.
    One,
}

/// A number that no player has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0} is no player: expected 0 or 1")]
pub struct UnknownPlayer(pub u8);

/// Whether the game goes on, and how it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GameState {
    /// No game has begun.
    NoGame,
    /// A game is being played.
    #[default]
    Playing,
    /// A player has borne off all his checkers.
    Over,
    /// A player has resigned and the other has accepted.
    Resigned,
    /// A player has turned a double down.
    Dropped,
}

/// What a player offers to lose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Resignation {
    /// No resignation is offered.
    #[default]
    None,
    /// A single game.
    Single,
    /// A gammon.
    Gammon,
    /// A backgammon.
    Backgammon,
}

/// What a Match ID says.
///
/// A plain record: [`FromStr`] only gives consistent ones, [`MatchId::check`] tells whether one made by hand is, and
/// [`Display`](fmt::Display) cuts off what has no room in the code.
///
/// ```
/// use zar::board::{CubeOwner, MatchId, MatchPlayer};
///
/// // The manual's example: 2-4 in a match to 9, player 0 holds a 2-cube, player 1 has rolled 52.
/// let id: MatchId = "QYkqASAAIAAA".parse()?;
/// assert_eq!((id.match_length, id.scores), (9, [2, 4]));
/// assert_eq!((id.cube_value, id.cube_owner), (2, Some(MatchPlayer::Zero)));
/// assert_eq!((id.on_roll, id.dice), (MatchPlayer::One, Some([5, 2])));
/// assert_eq!((id.relative_cube_owner(), id.relative_scores()), (CubeOwner::Opponent, [4, 2]));
/// assert_eq!(id.to_string(), "QYkqASAAIAAA");
/// # Ok::<(), zar::board::MatchIdError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatchId {
    /// 1, 2, 4 ... 32768. While a double is offered it is the value before the double.
    pub cube_value: u32,
    /// Who holds the cube; `None` while it is in the middle.
    pub cube_owner: Option<MatchPlayer>,
    /// Who rolls or has rolled.
    pub on_roll: MatchPlayer,
    /// Who has to decide: the player on roll, or his opponent when a double or a resignation is offered.
    pub turn: MatchPlayer,
    /// Whether this is the Crawford game.
    pub crawford: bool,
    /// Whether the game goes on.
    pub state: GameState,
    /// Whether a double (or a beaver) waits for an answer.
    pub double_offered: bool,
    /// What the opponent of the player who has to decide offers to lose.
    pub resignation: Resignation,
    /// The dice in the order in which they fell; `None` before the roll.
    pub dice: Option<[u8; 2]>,
    /// Points that win the match; 0: money play.
    pub match_length: u32,
    /// Points of player 0 and of player 1.
    pub scores: [u32; 2],
    /// Whether the Jacoby rule holds. Means something in money play only; GNU Backgammon writes `false` in most
    /// matches.
    pub jacoby: bool,
}

/// Why a text or a record is not a Match ID.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MatchIdError {
    /// The text has another length.
    #[error("a Match ID has 12 characters, this has {0}")]
    Length(usize),
    /// A character outside base 64.
    #[error("{0:?} is not a character of a Match ID (A-Z a-z 0-9 + /)")]
    Character(char),
    /// Bits behind the Jacoby flag, which mean nothing.
    #[error("the Match ID has unknown bits set behind the scores ({0:#b})")]
    ReservedBits(u8),
    /// The cube's owner is neither player 0 (code 0), nor player 1 (1), nor nobody (3).
    #[error("{0} is no code of a cube owner in a Match ID (0, 1, or 3 when centered)")]
    CubeOwner(u8),
    /// The cube does not show a power of two up to 32768.
    #[error("the cube shows {0}, expected a power of two from 1 to 32768")]
    CubeValue(u32),
    /// A code of no game state.
    #[error("{0} is no code of a game state in a Match ID (0-4)")]
    State(u8),
    /// A die shows more than 6, or only one of the two is rolled.
    #[error("the Match ID has the dice {}-{}, expected two from 1 to 6, or 0-0 before the roll", .0[0], .0[1])]
    Dice([u8; 2]),
    /// A double is offered although the dice are rolled.
    #[error("a double is offered after the roll {}-{}", .0[0], .0[1])]
    DoubleAfterRoll([u8; 2]),
    /// A match length or a score above 32767.
    #[error("{0} is no match length or score of a Match ID (0-32767)")]
    Number(u32),
    /// A game is played although the match is won, or both players have won it.
    #[error("the score {}-{} does not fit a match to {length} points that goes on", scores[0], scores[1])]
    Scores {
        /// Points of player 0 and of player 1.
        scores: [u32; 2],
        /// The match length.
        length: u32,
    },
    /// The Crawford game in money play, or in a match in which nobody is one point from winning.
    #[error("a Crawford game at {}-{} in a match to {length} (0: money play)", scores[0], scores[1])]
    Crawford {
        /// Points of player 0 and of player 1.
        scores: [u32; 2],
        /// The match length.
        length: u32,
    },
}

impl MatchPlayer {
    /// The other player.
    pub fn opponent(self) -> MatchPlayer {
        match self {
            MatchPlayer::Zero => MatchPlayer::One,
            MatchPlayer::One => MatchPlayer::Zero,
        }
    }

    fn from_bit(bit: u32) -> MatchPlayer {
        if bit == 0 { MatchPlayer::Zero } else { MatchPlayer::One }
    }
}

impl From<MatchPlayer> for u8 {
    fn from(player: MatchPlayer) -> u8 {
        player as u8
    }
}

impl TryFrom<u8> for MatchPlayer {
    type Error = UnknownPlayer;

    fn try_from(number: u8) -> Result<MatchPlayer, UnknownPlayer> {
        match number {
            0 => Ok(MatchPlayer::Zero),
            1 => Ok(MatchPlayer::One),
            _ => Err(UnknownPlayer(number)),
        }
    }
}

/// Written `player 0`.
impl fmt::Display for MatchPlayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "player {}", *self as u8)
    }
}

impl MatchId {
    /// The first decision of a match to `match_length` points, 0 for money play without the Jacoby rule: player
    /// `on_roll` has the dice in his hand.
    pub fn start(match_length: u32, on_roll: MatchPlayer) -> MatchId {
        MatchId {
            cube_value: 1,
            cube_owner: None,
            on_roll,
            turn: on_roll,
            crawford: false,
            state: GameState::Playing,
            double_offered: false,
            resignation: Resignation::None,
            dice: None,
            match_length,
            scores: [0, 0],
            jacoby: false,
        }
    }

    /// The cube's owner as the player on roll sees it.
    pub fn relative_cube_owner(&self) -> CubeOwner {
        match self.cube_owner {
            None => CubeOwner::Centered,
            Some(owner) if owner == self.on_roll => CubeOwner::Player,
            Some(_) => CubeOwner::Opponent,
        }
    }

    /// Points of the player on roll and of his opponent.
    pub fn relative_scores(&self) -> [u32; 2] {
        let [zero, one] = self.scores;
        match self.on_roll {
            MatchPlayer::Zero => [zero, one],
            MatchPlayer::One => [one, zero],
        }
    }

    /// Whether the record has room in a Match ID and does not contradict itself.
    ///
    /// # Errors
    /// A cube, dice or numbers out of range, a double offered after the roll, a score of a match that is won while a
    /// game is played, or a Crawford game where there can be none.
    pub fn check(&self) -> Result<(), MatchIdError> {
        let MatchId { scores, match_length: length, .. } = *self;
        if !self.cube_value.is_power_of_two() || self.cube_value > HIGHEST_CUBE {
            return Err(MatchIdError::CubeValue(self.cube_value));
        }
        if let Some(dice) = self.dice {
            if dice.iter().any(|die| !(1..=6).contains(die)) {
                return Err(MatchIdError::Dice(dice));
            }
            if self.double_offered {
                return Err(MatchIdError::DoubleAfterRoll(dice));
            }
        }
        if let Some(&number) = [length, scores[0], scores[1]].iter().find(|&&number| number > LIMIT) {
            return Err(MatchIdError::Number(number));
        }
        let playing = self.state == GameState::Playing;
        let winners = scores.iter().filter(|&&score| length > 0 && score >= length).count();
        if winners > 1 || winners > 0 && playing {
            return Err(MatchIdError::Scores { scores, length });
        }
        // When the Crawford game has ended its flag stays beside the new score.
        let one_away = scores.iter().any(|score| score + 1 == length);
        if self.crawford && (length == 0 || playing && !one_away) {
            return Err(MatchIdError::Crawford { scores, length });
        }
        Ok(())
    }
}

/// The bits of the code, taken or put from the lowest on.
struct Bits {
    bits: u128,
    next: u32,
}

impl Bits {
    fn take(&mut self, width: u32) -> u32 {
        let value = self.bits >> self.next & ((1 << width) - 1);
        self.next += width;
        value as u32
    }

    fn put(&mut self, width: u32, value: u32) {
        self.bits |= (u128::from(value) & ((1 << width) - 1)) << self.next;
        self.next += width;
    }
}

impl FromStr for MatchId {
    type Err = MatchIdError;

    /// Reads a Match ID.
    fn from_str(text: &str) -> Result<MatchId, MatchIdError> {
        let key: [u8; 9] = base64::decode(text).map_err(|fault| match fault {
            base64::Fault::Length(length) => MatchIdError::Length(length),
            base64::Fault::Character(character) => MatchIdError::Character(character),
            base64::Fault::SpareBits(bits) => MatchIdError::ReservedBits(bits),
        })?;
        let mut bytes = [0; 16];
        bytes[..key.len()].copy_from_slice(&key);
        let mut bits = Bits { bits: u128::from_le_bytes(bytes), next: 0 };

        let cube_value = 1 << bits.take(4);
        let cube_owner = match bits.take(2) {
            0 => Some(MatchPlayer::Zero),
            1 => Some(MatchPlayer::One),
            3 => None,
            code => return Err(MatchIdError::CubeOwner(code as u8)),
        };
        let on_roll = MatchPlayer::from_bit(bits.take(1));
        let crawford = bits.take(1) == 1;
        let state = match bits.take(3) {
            0 => GameState::NoGame,
            1 => GameState::Playing,
            2 => GameState::Over,
            3 => GameState::Resigned,
            4 => GameState::Dropped,
            code => return Err(MatchIdError::State(code as u8)),
        };
        let turn = MatchPlayer::from_bit(bits.take(1));
        let double_offered = bits.take(1) == 1;
        let resignation = match bits.take(2) {
            0 => Resignation::None,
            1 => Resignation::Single,
            2 => Resignation::Gammon,
            _ => Resignation::Backgammon,
        };
        let dice = match [bits.take(3) as u8, bits.take(3) as u8] {
            [0, 0] => None,
            dice => Some(dice),
        };
        let match_length = bits.take(15);
        let scores = [bits.take(15), bits.take(15)];
        let jacoby = bits.take(1) == 0;
        match bits.take(5) as u8 {
            0 => {}
            reserved => return Err(MatchIdError::ReservedBits(reserved)),
        }

        let id = MatchId {
            cube_value,
            cube_owner,
            on_roll,
            turn,
            crawford,
            state,
            double_offered,
            resignation,
            dice,
            match_length,
            scores,
            jacoby,
        };
        id.check()?;
        Ok(id)
    }
}

/// Writes the Match ID.
impl fmt::Display for MatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bits = Bits { bits: 0, next: 0 };
        bits.put(4, self.cube_value.checked_ilog2().unwrap_or(0));
        bits.put(2, self.cube_owner.map_or(3, |owner| owner as u32));
        bits.put(1, self.on_roll as u32);
        bits.put(1, self.crawford.into());
        bits.put(3, self.state as u32);
        bits.put(1, self.turn as u32);
        bits.put(1, self.double_offered.into());
        bits.put(2, self.resignation as u32);
        for die in self.dice.unwrap_or([0, 0]) {
            bits.put(3, die.into());
        }
        for number in [self.match_length, self.scores[0], self.scores[1]] {
            bits.put(15, number);
        }
        bits.put(1, (!self.jacoby).into());
        let text = base64::encode(&bits.bits.to_le_bytes()[..9]);
        debug_assert_eq!(text.len(), LENGTH);
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use GameState::{Dropped, NoGame, Over, Playing, Resigned};
    use MatchPlayer::{One, Zero};
    use Resignation::{Backgammon, Gammon};

    /// Written by GNU Backgammon 1.07.001 (`show board`), except the first, which is from its manual.
    #[test]
    fn ids_of_gnubg() {
        let start = |length| MatchId::start(length, One);
        let money = MatchId { jacoby: true, ..start(0) };
        for (text, id) in [
            (
                "QYkqASAAIAAA",
                MatchId {
                    cube_value: 2,
                    cube_owner: Some(Zero),
                    dice: Some([5, 2]),
                    scores: [2, 4],
                    jacoby: true,
                    ..start(9)
                },
            ),
            ("cInqAAAAAAAE", MatchId { dice: Some([5, 2]), ..start(7) }),
            ("cAkAAAAAAAAE", start(0)),
            ("cAkAAAAAAAAA", money),
            ("cIkKAAAAAAAA", MatchId { dice: Some([5, 2]), ..money }),
            ("MIEtAAAAAAAE", MatchId { dice: Some([3, 3]), ..MatchId::start(1, Zero) }),
            // `double`, then `beaver`; `accept` instead; `drop` instead.
            ("cBEAAAAAAAAE", MatchId { turn: Zero, double_offered: true, ..start(0) }),
            ("QRkAAAAAAAAE", MatchId { cube_value: 2, cube_owner: Some(Zero), double_offered: true, ..start(0) }),
            ("QQkAAAAAAAAE", MatchId { cube_value: 2, cube_owner: Some(Zero), ..start(0) }),
            ("cAQAAAAACAAE", MatchId { turn: Zero, state: Dropped, scores: [0, 1], ..start(0) }),
            // `resign gammon`; `resign backgammon` and `accept`.
            ("cEEAAAAAAAAE", MatchId { turn: Zero, resignation: Gammon, ..start(0) }),
            (
                "cGMAADAAAAAE",
                MatchId { turn: Zero, state: Resigned, resignation: Backgammon, scores: [3, 0], ..start(0) },
            ),
            // A match to 3 won with a 4-cube in the middle of the board.
            ("MgJgAAAAIAAE", MatchId { cube_value: 4, state: Over, scores: [0, 4], ..MatchId::start(3, Zero) }),
            ("sIGyAEAAAAAE", MatchId { crawford: true, scores: [4, 0], dice: Some([5, 4]), ..MatchId::start(5, Zero) }),
            (
                "QgnvABAAMAAE",
                MatchId { cube_value: 4, cube_owner: Some(Zero), dice: Some([6, 3]), scores: [1, 6], ..start(7) },
            ),
            ("8IhuACAACAAE", MatchId { crawford: true, state: NoGame, dice: Some([5, 3]), scores: [2, 1], ..start(3) }),
        ] {
            assert_eq!(text.parse(), Ok(id), "{text}");
            assert_eq!(id.to_string(), text);
        }
    }

    #[test]
    fn the_player_on_roll_sees_his_side() {
        let id = MatchId { cube_owner: Some(Zero), scores: [3, 1], ..MatchId::start(5, Zero) };
        assert_eq!((id.relative_cube_owner(), id.relative_scores()), (CubeOwner::Player, [3, 1]));
        let id = MatchId { on_roll: One, ..id };
        assert_eq!((id.relative_cube_owner(), id.relative_scores()), (CubeOwner::Opponent, [1, 3]));
        assert_eq!(id.relative_cube_owner().swapped(), CubeOwner::Player);
    }

    #[test]
    fn the_widest_record_fits() {
        let widest = MatchId {
            cube_value: HIGHEST_CUBE,
            crawford: true,
            state: Playing,
            dice: Some([6, 6]),
            match_length: LIMIT,
            scores: [LIMIT - 1, LIMIT - 1],
            ..MatchId::start(0, One)
        };
        assert_eq!(widest.to_string().parse(), Ok(widest));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let fault = |text: &str| text.parse::<MatchId>().unwrap_err();
        assert_eq!(fault(""), MatchIdError::Length(0));
        assert_eq!(fault("QYkqASAAIAAAA"), MatchIdError::Length(13));
        assert_eq!(fault("QYkqASAAIAA="), MatchIdError::Character('='));
        assert_eq!(fault("QYkqASAAIAAé"), MatchIdError::Character('é'));
        assert_eq!(fault("YAkAAAAAAAAE"), MatchIdError::CubeOwner(2));
        assert_eq!(fault("cA0AAAAAAAAE"), MatchIdError::State(5));
        assert_eq!(fault("cAkAAAAAAAAM"), MatchIdError::ReservedBits(1));
        assert_eq!(fault("cAkAAAAAAACE"), MatchIdError::ReservedBits(16));

        let start = MatchId::start(5, Zero);
        for (id, expected) in [
            (MatchId { cube_value: 0, ..start }, MatchIdError::CubeValue(0)),
            (MatchId { cube_value: 3, ..start }, MatchIdError::CubeValue(3)),
            (MatchId { cube_value: 1 << 16, ..start }, MatchIdError::CubeValue(1 << 16)),
            (MatchId { match_length: 1 << 15, ..start }, MatchIdError::Number(1 << 15)),
            (MatchId { scores: [0, u32::MAX], ..start }, MatchIdError::Number(u32::MAX)),
        ] {
            assert_eq!(id.check(), Err(expected));
            // It is written cut off, but it is written.
            assert_eq!(id.to_string().len(), LENGTH);
        }
        for (id, expected) in [
            (MatchId { dice: Some([7, 1]), ..start }, MatchIdError::Dice([7, 1])),
            (MatchId { dice: Some([0, 1]), ..start }, MatchIdError::Dice([0, 1])),
            (MatchId { dice: Some([3, 0]), ..start }, MatchIdError::Dice([3, 0])),
            (MatchId { dice: Some([3, 1]), double_offered: true, ..start }, MatchIdError::DoubleAfterRoll([3, 1])),
            (MatchId { scores: [5, 0], ..start }, MatchIdError::Scores { scores: [5, 0], length: 5 }),
            (MatchId { scores: [5, 6], state: Over, ..start }, MatchIdError::Scores { scores: [5, 6], length: 5 }),
            (MatchId { crawford: true, ..start }, MatchIdError::Crawford { scores: [0, 0], length: 5 }),
            (
                MatchId { crawford: true, match_length: 0, ..start },
                MatchIdError::Crawford { scores: [0, 0], length: 0 },
            ),
        ] {
            assert_eq!(id.check(), Err(expected.clone()));
            assert_eq!(fault(&id.to_string()), expected);
        }
        // The match is over, or both are one point away and the flag is still there: GNU Backgammon writes such IDs.
        assert_eq!(MatchId { scores: [5, 0], state: Resigned, ..start }.check(), Ok(()));
        assert_eq!(MatchId { scores: [4, 4], crawford: true, ..start }.check(), Ok(()));
    }
}
