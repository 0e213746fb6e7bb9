//! Plays as players write them: `24/18 13/11`, `bar/22*`, `8/5(2) 6/3(2)`, `24/20*/15`, `6/off`.
//!
//! Points are the mover's own. A checker that moves more than once is written with its first and last point, and with
//! the points between on which it hits; `*` marks a hit.

use std::{cmp::Reverse, fmt};

use thiserror::Error;

use crate::board::{BAR, CHECKERS, Position};

use super::{Dice, LegalPlay, Move, Play, RuleSet};

/// Why a text is not a legal play.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlayTextError {
    /// A word that is not a movement.
    #[error(
        "{0:?} is not a movement: expected points from 25 (bar) down to 0 (off), as in 24/18, bar/22*, 8/5(2) or 6/off"
    )]
    Unreadable(String),
    /// A movement away from home, or to the same point.
    #[error("{}/{} does not move towards home", name(*.from), name(*.to))]
    Backwards {
        /// Where the movement begins.
        from: u8,
        /// Where it would end.
        to: u8,
    },
    /// More movements than dice.
    #[error("{moves} movements are more than the roll {dice} gives")]
    TooManyMoves {
        /// How many movements the text names.
        moves: usize,
        /// The roll.
        dice: Dice,
    },
    /// The game has ended.
    #[error("the game is over")]
    GameOver,
    /// The player has no checker, or too few, where a movement begins.
    #[error("there is no checker to move from {}", name(*.0))]
    NoChecker(u8),
    /// The player moves another checker while some are on the bar.
    #[error("checkers on the bar ({0}) must enter first")]
    EnterFirst(u8),
    /// Two or more opposing checkers hold a point on which a movement lands.
    #[error("the opponent holds point {0}")]
    Blocked(u8),
    /// No die of the roll, and no sum of them, is as long as the movement.
    #[error("{}/{} cannot be played with {dice}", name(*.from), name(*.to))]
    Distance {
        /// Where the movement begins.
        from: u8,
        /// Where it would end.
        to: u8,
        /// The roll.
        dice: Dice,
    },
    /// Each movement fits the roll, but all together use a die twice.
    #[error("the movements together are more than the roll {0} gives")]
    DieUsedTwice(Dice),
    /// A checker is borne off while another is not yet in the home board.
    #[error("no checker can be borne off while one is on {}", name(*.0))]
    NotAllHome(u8),
    /// A checker is borne off with a die that is too high for it, while another stands further back.
    #[error("a {die} cannot bear off from point {from} while a checker is on point {highest}")]
    NotFromHighest {
        /// Where the movement begins.
        from: u8,
        /// The die.
        die: u8,
        /// The player's highest occupied point.
        highest: u8,
    },
    /// More of the roll can be played, and must be.
    #[error("{played} of the dice are played, but {required} can and must be")]
    MoreDice {
        /// How many dice the text plays.
        played: usize,
        /// How many a legal play uses.
        required: usize,
    },
    /// One die can be played, either of them, and the text plays the lower.
    #[error("only one die can be played, and then it must be the {0}")]
    HigherDie(u8),
    /// The movements are possible, but the rule set forbids the play.
    #[error("the rules {0} forbid this play")]
    Forbidden(RuleSet),
    /// A `*` where nothing is hit.
    #[error("nothing is hit on point {0}")]
    NothingHit(u8),
    /// Several plays fit, which hit on different points.
    #[error("the text fits several plays: {}", .0.join(", or "))]
    Ambiguous(Vec<String>),
}

/// A point's name in a text.
fn name(point: u8) -> String {
    match point {
        0 => "off".to_owned(),
        25 => "bar".to_owned(),
        _ => point.to_string(),
    }
}

/// Written `24/18`, `bar/22`, `6/off`.
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", name(self.from), name(self.to))
    }
}

impl Play {
    /// The play as a text, made from `position`, which says what is hit; empty for the empty play.
    ///
    /// ```
    /// use zar::{board::Position, rules::{Dice, RuleSet}};
    ///
    /// let dice = Dice::new(6, 5)?;
    /// let play = Position::START.parse_play("24/18 18/13", dice, RuleSet::Backgammon)?;
    /// assert_eq!(play.play.text(&Position::START), "24/13");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn text(&self, position: &Position) -> String {
        let mut hits = hits(position, self);
        let mut moves = self.to_vec();
        moves.sort_by_key(|&made| Reverse(made));
        // The way of each checker, highest first, so that a way is there before the move that continues it.
        let mut ways: Vec<Vec<u8>> = Vec::new();
        for Move { from, to } in moves {
            match ways.iter_mut().find(|way| way.last() == Some(&from)) {
                Some(way) => way.push(to),
                None => ways.push(vec![from, to]),
            }
        }
        ways.sort_by_key(|way| Reverse((way.first().copied(), way.last().copied())));
        let ends: u32 = ways.iter().filter_map(|way| way.last()).fold(0, |ends, &end| ends | 1 << end);

        let mut words = Vec::new();
        for same in ways.chunk_by(|a, b| a == b) {
            let mut word = String::new();
            for (i, &point) in same[0].iter().enumerate() {
                let (first, last) = (i == 0, i + 1 == same[0].len());
                // Each hit is marked once: where a checker stays, if one does.
                let hit = !first && hits >> point & 1 == 1 && (last || ends >> point & 1 == 0);
                if first || last || hit {
                    word += if first { "" } else { "/" };
                    word += &name(point);
                }
                if hit {
                    word.push('*');
                    hits &= !(1 << point);
                }
            }
            if same.len() > 1 {
                word += &format!("({})", same.len());
            }
            words.push(word);
        }
        words.join(" ")
    }
}

/// The points, as bits, on which a play hits.
fn hits(position: &Position, play: &Play) -> u32 {
    let (mut position, mut hits) = (*position, 0);
    for &made in play.iter() {
        let Some(after) = position.after_move(made) else { break };
        hits |= u32::from(after.opponent_bar() > position.opponent_bar()) << made.to;
        position = after;
    }
    hits
}

/// One checker's way as a text names it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Movement {
    /// Falling point numbers, two at least. Between neighbours the checker may touch down on others.
    stops: Vec<u8>,
    /// The stops, as bits, that are marked as hits.
    starred: u32,
}

impl Movement {
    fn from(&self) -> u8 {
        self.stops[0]
    }

    fn to(&self) -> u8 {
        self.stops[self.stops.len() - 1]
    }

    /// The pieces between neighbouring stops.
    fn pieces(&self) -> impl Iterator<Item = Move> {
        self.stops.windows(2).map(|ends| Move { from: ends[0], to: ends[1] })
    }
}

/// Reads the words of a play.
fn movements(text: &str) -> Result<Vec<Movement>, PlayTextError> {
    let mut movements = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
        let (movement, count) =
            movement(word).ok_or_else(|| PlayTextError::Unreadable(word.chars().take(20).collect()))?;
        if let Some(Move { from, to }) = movement.pieces().find(|piece| piece.from <= piece.to) {
            return Err(PlayTextError::Backwards { from, to });
        }
        movements.extend(std::iter::repeat_n(movement, count));
    }
    Ok(movements)
}

/// Reads one word: points with slashes between, `*` behind those on which it hits, and how many checkers do the same.
fn movement(word: &str) -> Option<(Movement, usize)> {
    let (way, count) = match word.strip_suffix(')') {
        Some(word) => {
            let (way, count) = word.split_once('(')?;
            (way, count.parse().ok().filter(|count| (1..=4).contains(count))?)
        }
        None => (word, 1),
    };
    let mut movement = Movement { stops: Vec::new(), starred: 0 };
    for stop in way.split('/') {
        let unstarred = stop.strip_suffix('*');
        let stop = unstarred.unwrap_or(stop);
        let point = match stop {
            _ if stop.eq_ignore_ascii_case("bar") => BAR as u8,
            _ if stop.eq_ignore_ascii_case("off") => 0,
            _ if stop.bytes().all(|byte| byte.is_ascii_digit()) => {
                stop.parse().ok().filter(|&point| point <= BAR as u8)?
            }
            _ => return None,
        };
        if unstarred.is_some() {
            if point == 0 || movement.stops.is_empty() {
                return None;
            }
            movement.starred |= 1 << point;
        }
        movement.stops.push(point);
    }
    (movement.stops.len() >= 2).then_some((movement, count))
}

/// The dice one by one: four of a double.
fn dice_of(dice: Dice) -> Vec<u8> {
    if dice.is_double() { vec![dice.high(); 4] } else { vec![dice.high(), dice.low()] }
}

/// One way in which the dice make all the movements of a text.
#[derive(Clone, Copy)]
struct Made {
    /// The result, seen by the mover.
    position: Position,
    hits: u32,
    dice: usize,
}

/// A checker on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Walker<'a> {
    at: u8,
    /// The stop that it came from and those ahead; one alone when it has arrived.
    stops: &'a [u8],
}

/// Looks for all the ways in which dice make movements, in any order.
#[derive(Default)]
struct Attempt {
    made: Vec<Made>,
    /// The most telling reason why a move failed, and how telling it is.
    fault: Option<((bool, usize, u8), PlayTextError)>,
}

impl Attempt {
    /// Goes on from `so_far` with the checkers and the dice that are left.
    fn go_on(&mut self, so_far: Made, walkers: &[Walker], dice: &[u8]) {
        if walkers.iter().all(|walker| walker.stops.len() == 1) {
            self.made.push(so_far);
            return;
        }
        for (i, &die) in dice.iter().enumerate() {
            // Equal dice and equal checkers do the same.
            if dice[..i].contains(&die) {
                continue;
            }
            let other_dice = [&dice[..i], &dice[i + 1..]].concat();
            for (j, walker) in walkers.iter().enumerate() {
                let &[start, next, ..] = walker.stops else { continue };
                let made = Move { from: walker.at, to: walker.at.saturating_sub(die) };
                if made.to < next || walkers[..j].contains(walker) {
                    continue;
                }
                match try_move(&so_far.position, made, die) {
                    Ok(position) => {
                        let hit = position.opponent_bar() > so_far.position.opponent_bar();
                        let hits = so_far.hits | u32::from(hit) << made.to;
                        let stops = if made.to == next { &walker.stops[1..] } else { walker.stops };
                        let mut walkers = walkers.to_vec();
                        walkers[j] = Walker { at: made.to, stops };
                        self.go_on(Made { position, hits, dice: so_far.dice + 1 }, &walkers, &other_dice);
                    }
                    Err(fault) => {
                        // A move that the text names tells more than a step on the way, and a late one more than an
                        // early one, which may only have come in the wrong order.
                        let named = made == Move { from: start, to: next };
                        let kind = match fault {
                            PlayTextError::Blocked(_) => 3,
                            PlayTextError::NotAllHome(_) | PlayTextError::NotFromHighest { .. } => 2,
                            PlayTextError::EnterFirst(_) => 1,
                            _ => 0,
                        };
                        let telling = (named, so_far.dice, kind);
                        if self.fault.as_ref().is_none_or(|(known, _)| telling > *known) {
                            self.fault = Some((telling, fault));
                        }
                    }
                }
            }
        }
    }
}

/// Makes one move by one die, or says which rule is against it.
fn try_move(position: &Position, made: Move, die: u8) -> Result<Position, PlayTextError> {
    if position.bar() > 0 && usize::from(made.from) != BAR {
        return Err(PlayTextError::EnterFirst(position.bar()));
    }
    if position.checkers(made.from.into()) == 0 {
        return Err(PlayTextError::NoChecker(made.from));
    }
    if made.to == 0 {
        let highest = (1..=BAR as u8).rev().find(|&point| position.checkers(point.into()) > 0).unwrap_or(0);
        if highest > 6 {
            return Err(PlayTextError::NotAllHome(highest));
        }
        if die > made.from && highest > made.from {
            return Err(PlayTextError::NotFromHighest { from: made.from, die, highest });
        }
    }
    position.after_move(made).ok_or(PlayTextError::Blocked(made.to))
}

/// Whether the dice, each used once at most, are as long as the pieces, on an empty board.
fn lengths_fit(pieces: &[Move], dice: &[u8]) -> bool {
    let Some((&Move { from, to }, others)) = pieces.split_first() else { return true };
    dice.iter().enumerate().any(|(i, &die)| {
        let other_dice: Vec<u8> = [&dice[..i], &dice[i + 1..]].concat();
        match from.saturating_sub(die) {
            reached if reached == to => lengths_fit(others, &other_dice),
            reached if reached > to => lengths_fit(&[&[Move { from: reached, to }], others].concat(), &other_dice),
            _ => false,
        }
    })
}

impl Position {
    /// Reads a play of the player on roll: movements with spaces or commas between, in any order.
    ///
    /// `bar` or `25`, `off` or `0`, in capital or small letters. One checker's moves may be written singly or together,
    /// and several checkers' equal movements with their number. Hits need not be marked; where several plays fit, the
    /// text means the one that hits on the marked points only. An empty text is the play of a player who cannot move.
    ///
    /// ```
    /// use zar::{board::Position, rules::{Dice, PlayTextError, RuleSet}};
    ///
    /// let dice = Dice::new(3, 1)?;
    /// let read = |text: &str| Position::START.parse_play(text, dice, RuleSet::Backgammon);
    /// assert_eq!(read("6/5, 8/5")?.after.to_string(), "sGfwATDgc/ABMA");
    /// assert_eq!(read("24/20")?.play.text(&Position::START), "24/20");
    /// assert_eq!(read("8/5"), Err(PlayTextError::MoreDice { played: 1, required: 2 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Text that cannot be read, text that is not a legal play, and text that fits several plays.
    pub fn parse_play(&self, text: &str, dice: Dice, rules: RuleSet) -> Result<LegalPlay, PlayTextError> {
        let movements = movements(text)?;
        let legal = self.legal_plays(dice, rules);
        if self.off() == CHECKERS && !movements.is_empty() {
            return Err(PlayTextError::GameOver);
        }
        let all_dice = dice_of(dice);
        let moves = movements.iter().flat_map(Movement::pieces).count();
        if moves > all_dice.len() {
            return Err(PlayTextError::TooManyMoves { moves, dice });
        }

        let mut attempt = Attempt::default();
        let walkers: Vec<Walker> =
            movements.iter().map(|movement| Walker { at: movement.from(), stops: &movement.stops }).collect();
        attempt.go_on(Made { position: *self, hits: 0, dice: 0 }, &walkers, &all_dice);

        // Each result is among the legal ones once, by whichever moves.
        let fits = |after: Position| attempt.made.iter().find(|made| made.position.swapped() == after);
        let mut plays: Vec<(LegalPlay, u32)> =
            legal.iter().filter_map(|&play| fits(play.after).map(|made| (play, made.hits))).collect();
        if plays.is_empty() {
            let played = attempt.made.iter().map(|made| made.dice).max();
            let required = legal.iter().map(|legal| legal.play.len()).min().unwrap_or(0);
            return Err(match (played, required) {
                (None, _) => self
                    .why_impossible(&movements, dice)
                    .or(attempt.fault.map(|(_, fault)| fault))
                    .unwrap_or(PlayTextError::Forbidden(rules)),
                (Some(played), required) if played < required => PlayTextError::MoreDice { played, required },
                (Some(1), 1) if !dice.is_double() => PlayTextError::HigherDie(dice.high()),
                _ => PlayTextError::Forbidden(rules),
            });
        }
        let starred = movements.iter().fold(0, |starred, movement| starred | movement.starred);
        let missed = starred & !plays[0].1;
        plays.retain(|(_, hits)| starred & !hits == 0);
        match *plays {
            [] => Err(PlayTextError::NothingHit(missed.checked_ilog2().unwrap_or(0) as u8)),
            [(play, _)] => Ok(play),
            // The results differ in what is hit, since the movements say where the player's own checkers end.
            _ => match plays.iter().find(|(_, hits)| *hits == starred) {
                Some(&(play, _)) => Ok(play),
                None => Err(PlayTextError::Ambiguous(plays.iter().map(|(play, _)| play.play.text(self)).collect())),
            },
        }
    }

    /// Why no order of moves makes the movements, as far as that shows without trying.
    fn why_impossible(&self, movements: &[Movement], dice: Dice) -> Option<PlayTextError> {
        let all_dice = dice_of(dice);
        let pieces: Vec<Move> = movements.iter().flat_map(Movement::pieces).collect();
        let begin = |point: u8| movements.iter().filter(|movement| movement.from() == point).count();
        let end = |point: u8| movements.iter().filter(|movement| movement.to() == point).count();
        let lacks = |&point: &u8| begin(point) > usize::from(self.checkers(point.into())) + end(point);
        if let Some(point) = movements.iter().map(Movement::from).find(lacks) {
            return Some(PlayTextError::NoChecker(point));
        }
        // Entering some of the checkers on the bar is possible, but nothing else beside.
        let enters = |piece: &Move| usize::from(piece.from) == BAR && all_dice.contains(&(piece.from - piece.to));
        if usize::from(self.bar()) > begin(BAR as u8) && !pieces.iter().all(enters) {
            return Some(PlayTextError::EnterFirst(self.bar()));
        }
        let held = |&to: &u8| to > 0 && self.opponent_checkers(to.into()) > 1;
        if let Some(point) = pieces.iter().map(|piece| piece.to).find(held) {
            return Some(PlayTextError::Blocked(point));
        }
        if let Some(&Move { from, to }) = pieces.iter().find(|&&piece| !lengths_fit(&[piece], &all_dice)) {
            return Some(PlayTextError::Distance { from, to, dice });
        }
        (!lengths_fit(&pieces, &all_dice)).then_some(PlayTextError::DieUsedTwice(dice))
    }
}

#[cfg(test)]
mod tests {
    use super::PlayTextError::*;
    use super::*;

    const RULES: RuleSet = RuleSet::Backgammon;

    /// A position from the points of the player, 25 his bar, and of the opponent, 0 his bar.
    fn position(player: &[(usize, i8)], opponent: &[(usize, i8)]) -> Position {
        let mut points = [0; 26];
        player.iter().for_each(|&(point, count)| points[point] = count);
        opponent.iter().for_each(|&(point, count)| points[point] = -count);
        Position::new(points).unwrap()
    }

    fn dice(text: &str) -> Dice {
        text.parse().unwrap()
    }

    /// What a text is read as, written again.
    fn read(position: &Position, text: &str, roll: &str) -> Result<String, PlayTextError> {
        let play = position.parse_play(text, dice(roll), RULES)?;
        assert!(position.legal_plays(dice(roll), RULES).contains(&play));
        Ok(play.play.text(position))
    }

    #[test]
    fn openings() {
        let start = Position::START;
        for (roll, texts, written) in [
            ("31", &["8/5 6/5", "6/5 8/5", "8/5, 6/5", "8/5,6/5", " 6/5  8/5 "][..], "8/5 6/5"),
            ("61", &["13/7 8/7"], "13/7 8/7"),
            ("65", &["24/13", "24/18 18/13", "18/13 24/18", "24/18/13"], "24/13"),
            ("64", &["24/18 13/9", "13/9 24/18"], "24/18 13/9"),
            ("53", &["13/5", "13/8/5", "13/10/5", "8/5 13/8"], "13/5"),
            ("33", &["8/5(2) 6/3(2)", "6/3(2) 8/5(2)", "6/3 8/5 6/3 8/5", "8/5 8/5 6/3(2)"], "8/5(2) 6/3(2)"),
            ("33", &["24/21(2) 13/10(2)"], "24/21(2) 13/10(2)"),
            ("33", &["13/4(1) 6/3", "13/10/7/4 6/3", "13/7 7/4 6/3"], "13/4 6/3"),
            ("11", &["8/7(2) 6/5(2)"], "8/7(2) 6/5(2)"),
            ("22", &["13/5", "13/11 11/9 9/7 7/5"], "13/5"),
            ("22", &["13/9(2)", "13/11/9(2)", "13/11(2) 11/9(2)"], "13/9(2)"),
        ] {
            for text in texts {
                assert_eq!(read(&start, text, roll).as_deref(), Ok(written), "{text}");
            }
        }
    }

    #[test]
    fn bar_off_and_hits() {
        let entering = position(&[(25, 1), (24, 2), (6, 5)], &[(22, 1), (18, 1), (1, 3)]);
        for text in ["bar/22* 24/18*", "25/22 24/18", "BAR/22,24/18*", "Bar/22 24/18"] {
            assert_eq!(read(&entering, text, "63").as_deref(), Ok("bar/22* 24/18*"), "{text}");
        }
        assert_eq!(read(&entering, "bar/22*/16", "63").as_deref(), Ok("bar/22*/16"));

        let home = position(&[(6, 2), (3, 1)], &[(20, 2)]);
        for text in ["6/off 3/off", "3/0 6/0", "6/OFF 3/Off"] {
            assert_eq!(read(&home, text, "63").as_deref(), Ok("6/off 3/off"), "{text}");
        }
        assert_eq!(read(&home, "6/off(2) 3/off", "66").as_deref(), Ok("6/off(2) 3/off"));
        assert_eq!(read(&home, "6/off(2)", "33").as_deref(), Ok("6/off(2)"));
        // A die larger than the highest point.
        let low = position(&[(3, 2), (1, 1)], &[(20, 2)]);
        assert_eq!(read(&low, "3/off(2)", "65").as_deref(), Ok("3/off(2)"));
        assert_eq!(read(&low, "3/off 1/off", "61").as_deref(), Ok("3/off 1/off"));
        // The last checker leaves dice over, whichever of them is named.
        let last = position(&[(2, 1)], &[(20, 2)]);
        for text in ["2/off", "2/1/off"] {
            assert_eq!(read(&last, text, "61").as_deref(), Ok("2/off"), "{text}");
        }
        // Two checkers on a blot hit once.
        let pair = position(&[(8, 2), (6, 3)], &[(5, 1), (2, 1), (20, 2)]);
        assert_eq!(read(&pair, "8/5(2) 6/3(2)", "33").as_deref(), Ok("8/5*(2) 6/3(2)"));
        assert_eq!(read(&pair, "8/2(2)", "33").as_deref(), Ok("8/5*/2*(2)"));
        assert_eq!(read(&pair, "8/5/2 8/5* 6/3", "33").as_deref(), Ok("8/5* 8/2* 6/3"));
        assert_eq!(read(&pair, "6/5 8/5", "31").as_deref(), Ok("8/5* 6/5"));
        // The game ends with 6/off, so that nothing is left to play; with another checker the 1 would be.
        let race = position(&[(6, 1)], &[(5, 1), (20, 2)]);
        assert_eq!(read(&race, "6/off", "61").as_deref(), Ok("6/off"));
        assert_eq!(read(&race, "6/5*/off", "61").as_deref(), Ok("6/5*/off"));
        let race = position(&[(6, 1), (1, 1)], &[(5, 1), (20, 2)]);
        assert_eq!(read(&race, "6/off", "61").as_deref(), Ok("6/5*/off"));
    }

    #[test]
    fn nothing_to_play() {
        let closed = position(&[(25, 1), (6, 5)], &[(19, 2), (20, 2), (21, 2), (22, 2), (23, 2), (24, 2)]);
        assert_eq!(read(&closed, "", "31").as_deref(), Ok(""));
        assert_eq!(read(&closed, " , ", "31").as_deref(), Ok(""));
        assert_eq!(read(&closed, "bar/22", "31"), Err(Blocked(22)));
        assert_eq!(read(&closed, "6/3", "31"), Err(EnterFirst(1)));
        assert_eq!(read(&Position::START, "", "31"), Err(MoreDice { played: 0, required: 2 }));
        let over = position(&[], &[(6, 5)]);
        assert_eq!(read(&over, "", "31").as_deref(), Ok(""));
        assert_eq!(read(&over, "6/3", "31"), Err(GameOver));
    }

    #[test]
    fn stars_settle_which_way_is_meant() {
        // From 24 to 15 over 18 (a blot) or over 21 (empty).
        let one_blot = position(&[(24, 1), (6, 5)], &[(18, 1), (1, 2)]);
        assert_eq!(read(&one_blot, "24/15", "63").as_deref(), Ok("24/15"));
        assert_eq!(read(&one_blot, "24/18/15", "63").as_deref(), Ok("24/18*/15"));
        assert_eq!(read(&one_blot, "24/18*/15", "63").as_deref(), Ok("24/18*/15"));
        assert_eq!(read(&one_blot, "24/21*/15", "63"), Err(NothingHit(21)));
        assert_eq!(read(&one_blot, "24/15*", "63"), Err(NothingHit(15)));
        let two_blots = position(&[(24, 1), (6, 5)], &[(18, 1), (21, 1), (1, 2)]);
        let ways = vec!["24/18*/15".to_owned(), "24/21*/15".to_owned()];
        assert_eq!(read(&two_blots, "24/15", "63"), Err(Ambiguous(ways)));
        assert_eq!(read(&two_blots, "24/21*/15", "63").as_deref(), Ok("24/21*/15"));
        assert_eq!(read(&two_blots, "24/18/15", "63").as_deref(), Ok("24/18*/15"));
    }

    #[test]
    fn unreadable_texts() {
        for text in ["24", "24/", "/24", "24//18", "a/b", "24/18x", "24-18", "-1/5", "26/20", "24/18(0)", "24/18(5)"] {
            assert_eq!(read(&Position::START, text, "64"), Err(Unreadable(text.into())), "{text}");
        }
        for text in ["24/18(2", "24/18)", "*/18", "24*/18", "6/off*", "24/18**", "24/18()", "２/1", "999999999999/1"] {
            assert_eq!(read(&Position::START, text, "64"), Err(Unreadable(text.into())), "{text}");
        }
        assert_eq!(read(&Position::START, "13/9 double", "64"), Err(Unreadable("double".into())));
        assert_eq!(read(&Position::START, "18/24", "64"), Err(Backwards { from: 18, to: 24 }));
        assert_eq!(read(&Position::START, "24/18/20", "64"), Err(Backwards { from: 18, to: 20 }));
        assert_eq!(read(&Position::START, "off/6", "64"), Err(Backwards { from: 0, to: 6 }));
    }

    #[test]
    fn illegal_plays_and_why() {
        let start = Position::START;
        let roll = dice("61");
        assert_eq!(read(&start, "24/18", "61"), Err(MoreDice { played: 1, required: 2 }));
        assert_eq!(read(&start, "8/7(2) 6/5", "11"), Err(MoreDice { played: 3, required: 4 }));
        assert_eq!(read(&start, "13/7 8/7 6/5", "61"), Err(TooManyMoves { moves: 3, dice: roll }));
        assert_eq!(read(&start, "23/17 8/7", "61"), Err(NoChecker(23)));
        assert_eq!(read(&start, "bar/24 8/2", "61"), Err(NoChecker(25)));
        assert_eq!(read(&start, "24/18(2)", "61"), Err(DieUsedTwice(roll)));
        assert_eq!(read(&start, "8/2 13/7", "61"), Err(DieUsedTwice(roll)));
        assert_eq!(read(&start, "8/5(4)", "33"), Err(NoChecker(8)));
        assert_eq!(read(&start, "24/19 8/7", "51"), Err(Blocked(19)));
        // 14 is open, but the point between is not.
        assert_eq!(read(&start, "24/14", "55"), Err(Blocked(19)));
        assert_eq!(read(&start, "8/4 8/7", "61"), Err(Distance { from: 8, to: 4, dice: roll }));
        assert_eq!(read(&start, "6/off 8/7", "61"), Err(NotAllHome(24)));

        let two_on_bar = position(&[(25, 2), (6, 5)], &[(23, 2), (1, 2)]);
        assert_eq!(read(&two_on_bar, "bar/22 6/4", "32"), Err(EnterFirst(2)));
        assert_eq!(read(&two_on_bar, "bar/20", "32"), Err(EnterFirst(2)));
        assert_eq!(read(&two_on_bar, "bar/22 bar/23", "32"), Err(Blocked(23)));
        assert_eq!(read(&two_on_bar, "bar/22", "32").as_deref(), Ok("bar/22"));
        assert_eq!(read(&two_on_bar, "bar/22", "31"), Err(MoreDice { played: 1, required: 2 }));

        let bearing_off = position(&[(7, 1), (6, 1), (3, 2)], &[(20, 2)]);
        assert_eq!(read(&bearing_off, "6/off 3/2", "61"), Err(NotAllHome(7)));
        assert_eq!(read(&bearing_off, "7/6, 6/off", "61").as_deref(), Ok("7/off"));
        assert_eq!(read(&bearing_off, "7/5 3/off", "52"), Err(NotFromHighest { from: 3, die: 5, highest: 6 }));
        assert_eq!(
            read(&position(&[(6, 2), (4, 2)], &[(20, 2)]), "4/off", "63"),
            Err(NotFromHighest { from: 4, die: 6, highest: 6 })
        );

        // Either die can be played, but not both.
        let one_die = position(&[(24, 1)], &[(18, 1), (15, 2), (1, 2)]);
        assert_eq!(read(&one_die, "24/21", "63"), Err(HigherDie(6)));
        assert_eq!(read(&one_die, "24/18", "63").as_deref(), Ok("24/18*"));
        // After 12/6 there is no 5, but after 24/18 there is.
        let both = position(&[(24, 1), (12, 1)], &[(19, 2), (1, 2)]);
        assert_eq!(read(&both, "12/6", "65"), Err(MoreDice { played: 1, required: 2 }));
    }

    #[test]
    fn moves_are_written() {
        assert_eq!(Move { from: 25, to: 22 }.to_string(), "bar/22");
        assert_eq!(Move { from: 6, to: 0 }.to_string(), "6/off");
        assert_eq!(Play::EMPTY.text(&Position::START), "");
    }
}
