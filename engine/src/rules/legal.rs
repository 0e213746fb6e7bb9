//! Which plays a roll allows.
//!
//! Points are bits: the player's checkers are one set, the points that the opponent holds another, and where a die can
//! be moved from is a shift of one against the other.

use std::ops::Deref;

use crate::board::{BAR, CHECKERS, Position};

use super::{Dice, Move, Play, RuleSet};

/// A play and the position that it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegalPlay {
    /// The movements, in an order in which each is legal.
    pub play: Play,
    /// The result as the next player sees it.
    pub after: Position,
}

/// The legal plays of a position and a roll, every result once. Never empty: with nothing legal it holds the empty play.
///
/// Reusable, so that generating plays in a loop does not allocate:
///
/// ```
/// use zar::{board::Position, rules::{Dice, LegalPlays, RuleSet}};
///
/// let mut plays = LegalPlays::default();
/// plays.generate(&Position::START, Dice::new(3, 1)?, RuleSet::Backgammon);
/// assert_eq!(plays.len(), 16);
/// # Ok::<(), zar::rules::DiceError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LegalPlays {
    plays: Vec<LegalPlay>,
    /// A sum over checkers of the random number of their place, one for each play: different sums, different results.
    fingerprints: Vec<u64>,
    /// How much of the roll the plays found so far use; a play that uses more displaces them all.
    used: Used,
}

/// How much of a roll a play uses. When only one die of two can be played it must be the higher, so that one is "more".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Used {
    #[default]
    Nothing,
    LowDie,
    HighDie,
    BothDice,
    Double(u8),
}

/// The board while a play is being made.
#[derive(Clone, Copy)]
struct Turn {
    points: [i8; 26],
    off: u8,
    /// Bit p is set when the player has a checker on point p (25: the bar).
    own: u32,
    /// Bit p is set when the opponent holds point p. A play never changes it.
    blocked: u32,
    fingerprint: u64,
    play: Play,
}

const HOME: u32 = 0b111_1110;

/// Random odd numbers, one for a checker of the player on each point and off, and one for a checker hit on each point.
static PLACE_NUMBERS: [[u64; 26]; 2] = {
    let mut numbers = [[0; 26]; 2];
    let mut state = 0x5eed_0f2a_u64;
    let (mut side, mut point) = (0, 0);
    while side < 2 {
        while point < 26 {
            // SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            numbers[side][point] = z ^ z >> 31 | 1;
            point += 1;
        }
        side += 1;
        point = 0;
    }
    numbers
};

impl Turn {
    fn new(position: &Position) -> Turn {
        let points = *position.points();
        let (mut own, mut blocked) = (0, 0);
        for (point, &count) in points.iter().enumerate() {
            own |= u32::from(count > 0) << point;
            blocked |= u32::from(count < -1) << point;
        }
        // The opponent's bar, at index 0, blocks nothing.
        Turn { points, off: position.off(), own, blocked: blocked & !1, fingerprint: 0, play: Play::EMPTY }
    }

    /// The points, as bits, from which `die` can be moved.
    #[inline]
    fn sources(&self, die: u8) -> u32 {
        let on_bar = 1 << BAR;
        let movable = if self.own & on_bar != 0 { on_bar } else { self.own };
        let inside = movable & !(self.blocked << die) & (!0 << (die + 1));
        if self.own & !HOME != 0 {
            return inside;
        }
        // Bearing off: from the die's own point, or from the highest one when none is as high as the die.
        let exact = self.own & 1 << die;
        let none_as_high = self.own >> die == 0;
        let highest = if none_as_high && self.own != 0 { 1 << self.own.ilog2() } else { 0 };
        inside | exact | highest
    }

    #[inline]
    fn after(&self, from: u8, die: u8) -> Turn {
        let mut turn = *self;
        let to = from.saturating_sub(die);
        let (source, target) = (usize::from(from), usize::from(to));
        turn.points[source] -= 1;
        turn.own &= !(u32::from(turn.points[source] == 0) << source);
        turn.fingerprint =
            turn.fingerprint.wrapping_add(PLACE_NUMBERS[0][target]).wrapping_sub(PLACE_NUMBERS[0][source]);
        if to == 0 {
            turn.off += 1;
        } else {
            if turn.points[target] < 0 {
                turn.points[target] = 0;
                turn.points[0] -= 1;
                turn.fingerprint = turn.fingerprint.wrapping_add(PLACE_NUMBERS[1][target]);
            }
            turn.points[target] += 1;
            turn.own |= 1 << target;
        }
        turn.play.push(Move { from, to });
        turn
    }
}

/// The bits of a set of points, highest first.
#[inline]
fn descending(mut set: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let point = set.checked_ilog2()?;
        set ^= 1 << point;
        Some(point as u8)
    })
}

impl LegalPlays {
    /// Keeps the plays at those places that `keeps` says yes to, in their order.
    pub fn retain(&mut self, mut keeps: impl FnMut(usize) -> bool) {
        let mut place = 0;
        self.plays.retain(|_| {
            place += 1;
            keeps(place - 1)
        });
    }

    /// Replaces the contents by the legal plays of the player on roll in `position`.
    ///
    /// A player without checkers has the empty play alone. One whose opponent has none bears off by himself, as in
    /// practice: whether a game is over is for [`Outcome`](super::Outcome) to say.
    pub fn generate(&mut self, position: &Position, dice: Dice, rules: RuleSet) {
        self.plays.clear();
        self.fingerprints.clear();
        self.used = Used::Nothing;
        let turn = Turn::new(position);
        if dice.is_double() {
            self.doubles(&turn, position, dice.high(), BAR as u8, 0);
        } else {
            self.two_dice(&turn, position, dice.high(), dice.low(), Used::HighDie);
            self.two_dice(&turn, position, dice.low(), dice.high(), Used::LowDie);
        }
        if rules.terms().least_waste {
            self.keep_least_waste(dice);
        }
        if self.plays.is_empty() {
            self.plays.push(LegalPlay { play: Play::EMPTY, after: position.swapped() });
        }
    }

    /// Of plays that use the whole roll, keeps those that waste the fewest pips in bearing off. What is used of the roll
    /// is moved or wasted, so that waste is what is used plus the pips that are left, less those before the play.
    fn keep_least_waste(&mut self, dice: Dice) {
        if !matches!(self.used, Used::BothDice | Used::Double(4)) {
            return;
        }
        let waste = |LegalPlay { play, after }: &LegalPlay| {
            let used = match &**play {
                // The last checker has gone off with one die, and the smaller one if it can.
                [Move { from, .. }] if *from <= dice.low() => dice.low(),
                [_] => dice.high(),
                _ => dice.high() + dice.low(),
            };
            u32::from(used) + after.opponent_pip_count()
        };
        // With doubles every way to use four dice uses as much, and the last checkers go off in as many moves.
        let least = self.plays.iter().map(waste).min();
        self.plays.retain(|legal| Some(waste(legal)) == least);
    }

    /// Plays of the same die, each from no higher a point than the one before. Every set of moves has exactly one such
    /// order, and legal it is too, since what stands further back only opens what comes after. Two sets never lead to
    /// the same result: each move takes a checker along its own edge of a forest that ends in `off`.
    fn doubles(&mut self, turn: &Turn, position: &Position, die: u8, from: u8, made: u8) {
        let sources = if made == 4 { 0 } else { turn.sources(die) & ((2 << from) - 1) };
        if sources == 0 {
            if made > 0 && self.outranks(Used::Double(made)) {
                self.push(turn, position);
            }
            return;
        }
        for source in descending(sources) {
            self.doubles(&turn.after(source, die), position, die, source, made + 1);
        }
    }

    /// Plays of `first` and then `second`; `alone` is what it means to use `first` only.
    fn two_dice(&mut self, turn: &Turn, position: &Position, first: u8, second: u8, alone: Used) {
        for source in descending(turn.sources(first)) {
            let between = turn.after(source, first);
            let sources = between.sources(second);
            if sources == 0 {
                // A game that ends with the last checker has used the whole roll.
                if self.outranks(if between.own == 0 { Used::BothDice } else { alone }) {
                    self.push_new(&between, position);
                }
            } else if self.outranks(Used::BothDice) {
                for source in descending(sources) {
                    self.push_new(&between.after(source, second), position);
                }
            }
        }
    }

    /// Whether a play that uses so much of the roll is legal as far as is known; drops the plays that use less.
    #[inline]
    fn outranks(&mut self, used: Used) -> bool {
        if used > self.used {
            self.plays.clear();
            self.fingerprints.clear();
            self.used = used;
        }
        used == self.used
    }

    #[inline]
    fn push(&mut self, turn: &Turn, position: &Position) {
        let after = Position::from_parts(turn.points, turn.off, position.opponent_off()).swapped();
        self.plays.push(LegalPlay { play: turn.play, after });
    }

    /// Adds a play unless its result is there already.
    #[inline]
    fn push_new(&mut self, turn: &Turn, position: &Position) {
        if !self.fingerprints.contains(&turn.fingerprint) {
            self.fingerprints.push(turn.fingerprint);
            self.push(turn, position);
        } else if cfg!(debug_assertions) {
            let after = Position::from_parts(turn.points, turn.off, position.opponent_off()).swapped();
            debug_assert!(self.plays.iter().any(|known| known.after == after), "two results share a fingerprint");
        }
    }
}

impl Deref for LegalPlays {
    type Target = [LegalPlay];

    #[inline]
    fn deref(&self) -> &[LegalPlay] {
        &self.plays
    }
}

impl Position {
    /// The legal plays of the player on roll; for loops see [`LegalPlays`].
    pub fn legal_plays(&self, dice: Dice, rules: RuleSet) -> LegalPlays {
        let mut plays = LegalPlays::default();
        plays.generate(self, dice, rules);
        plays
    }
}

const _: () = assert!(CHECKERS <= i8::MAX as u8);
