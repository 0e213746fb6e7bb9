//! Zar for programs in C: the functions of `zar.h`, which is made from this file.
//!
//! What comes from C is checked before it is believed: null pointers, texts that are not UTF-8, and numbers out of range
//! are answered with a status. Nothing unwinds into C.
#![expect(clippy::missing_safety_doc, reason = "the head of zar.h says what every pointer must be")]

mod fault;

use std::{
    ffi::{CStr, c_char, c_int},
    mem::{self, MaybeUninit},
    panic::{AssertUnwindSafe, catch_unwind},
};

use fault::Fault;
use zar::{
    board::{CubeOwner, CubeState, HIGHEST_CUBE, Position},
    cube::CubeAction,
    exact::CacheFolder,
    rules::{Beside, Dice, MatchScore, PositionArg, Stakes},
    search::RankedPlay,
};
use zar_bindings::{Asked, HeldBot, Opening};

/// The cube is in the middle.
pub const ZAR_CUBE_CENTERED: i32 = 0;
/// The player on roll holds the cube.
pub const ZAR_CUBE_PLAYER: i32 = 1;
/// The opponent of the player on roll holds the cube.
pub const ZAR_CUBE_OPPONENT: i32 = -1;

/// Bytes of the text of an error, with its end.
pub const ZAR_ERROR_SIZE: usize = 512;
/// Bytes of the text of a play, with its end.
pub const ZAR_PLAY_SIZE: usize = 64;
/// Bytes of a Position ID, with its end.
pub const ZAR_POSITION_ID_SIZE: usize = 16;
/// Bytes of the name of a cube action, with its end.
pub const ZAR_ACTION_SIZE: usize = 16;

/// A bot: rules, a level, and weights.
pub struct ZarBot(HeldBot);

/// How a call has ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZarStatus {
    /// Well.
    Ok = 0,
    /// A pointer is null that must not be.
    NullPointer = 1,
    /// A text is not UTF-8.
    NotUtf8 = 2,
    /// What is asked makes no sense; the error's text says why.
    Refused = 3,
    /// The library has a fault. The bot can still be used.
    Internal = 4,
}

/// What is wrong, and what was expected; empty when nothing is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ZarError {
    /// UTF-8 that ends with 0; what is longer is cut.
    pub text: [c_char; ZAR_ERROR_SIZE],
}

/// What a game is played for, seen by the player on roll. All zero: money play, the cube in the middle at 1.
///
/// Where a function is given none (a null pointer), the text of the position says it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ZarStakes {
    /// What the cube shows: 1, 2, 4 ...; 0 counts as 1.
    pub cube_value: u32,
    /// ZAR_CUBE_CENTERED, ZAR_CUBE_PLAYER or ZAR_CUBE_OPPONENT.
    pub cube_owner: i32,
    /// The highest value that the cube may reach; 0 where only the rules limit it.
    pub highest_cube: u32,
    /// Points that win the match; 0 in money play.
    pub match_length: u32,
    /// Points that the player on roll has in the match.
    pub score: u32,
    /// Points that his opponent has.
    pub opponent_score: u32,
    /// Not 0 in the Crawford game.
    pub crawford: u8,
    /// Not 0 where the Jacoby rule is on, in money play.
    pub jacoby: u8,
    /// Not 0 where beavers are on, in money play.
    pub beavers: u8,
    /// Not 0 where the cube and the score are left out of all equities.
    pub cubeless: u8,
}

/// What a position is worth to the player on roll before he rolls.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ZarEvaluation {
    /// The five probabilities.
    pub probabilities: [f32; 5],
    /// Points at a cube of 1 that nobody may turn.
    pub cubeless: f32,
    /// Cube and score counted in, with the right to double this turn; where the stakes are cubeless, as `cubeless`.
    pub cubeful: f32,
    /// The chance to win the match; not a number (NaN) in money play, and where the stakes are cubeless.
    pub match_winning_chance: f32,
}

/// A play.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ZarPlay {
    /// As in "8/5 6/5"; empty when nothing is legal.
    pub play: [c_char; ZAR_PLAY_SIZE],
    /// Position ID of its result, as the next player sees it.
    pub after: [c_char; ZAR_POSITION_ID_SIZE],
    /// Its equity for the player who makes it.
    pub equity: f32,
    /// The five probabilities after it, for the player who makes it.
    pub probabilities: [f32; 5],
}

/// What a player who may turn the cube should do before he rolls, and the answer to a double.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZarCubeAction {
    /// Roll.
    NoDouble = 0,
    /// Double; the opponent takes.
    DoubleTake = 1,
    /// Double; the opponent drops.
    DoubleDrop = 2,
    /// Roll, since playing on for a gammon is worth more than a drop.
    TooGood = 3,
}

/// A cube decision.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ZarCubeDecision {
    /// What to do.
    pub action: ZarCubeAction,
    /// The same in a word: "no-double", "double-take", "double-drop" or "too-good", or with a cube that the player on roll
    /// holds "no-redouble", "redouble-take", "redouble-drop" or "too-good".
    pub name: [c_char; ZAR_ACTION_SIZE],
    /// The equity without a double.
    pub no_double: f32,
    /// The equity after a double that is taken.
    pub double_take: f32,
    /// The equity after a double that is dropped.
    pub double_drop: f32,
    /// The five probabilities.
    pub probabilities: [f32; 5],
    /// The chances to win the match in the order of the three equities; not numbers (NaN) in money play.
    pub match_winning_chances: [f32; 3],
    /// Whether the opponent should answer a double with a beaver.
    pub beaver: bool,
}

/// The version of the library, as in "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn zar_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no 0 in it"),
    };
    VERSION.as_ptr()
}

/// Makes a bot, which zar_bot_free ends.
///
/// rules: "backgammon", "tavla", "tavla2004", "table" or "plain"; level: "0ply" to "3ply", "rollout", or whom to imitate,
/// as in "casual"; weights: the path of a weights file, or null for those in the library. Where `error` is null nothing is
/// said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zar_bot_open(
    rules: *const c_char,
    level: *const c_char,
    weights: *const c_char,
    bot: *mut *mut ZarBot,
    error: *mut ZarError,
) -> ZarStatus {
    guarded(error, || {
        if bot.is_null() {
            return Err(Fault::NullPointer("bot"));
        }
        // SAFETY: the head of zar.h asks for texts that end with 0, or null pointers.
        let (rules, level) = unsafe { (text(rules, "rules")?, text(level, "level")?) };
        let weights = match weights.is_null() {
            true => None,
            // SAFETY: as above.
            false => Some(unsafe { text(weights, "weights")? }.into()),
        };
        let (rules, level) = (rules.parse()?, level.parse()?);
        let held =
            HeldBot::open(Opening { rules, level, weights, seed: 0, cache: CacheFolder::of_user(), threads: None })?;
        let opened = Box::new(ZarBot(held));
        // SAFETY: `bot` is not null, and so by the head of zar.h a place for a pointer.
        unsafe { bot.write(Box::into_raw(opened)) };
        Ok(())
    })
}

/// Ends a bot, which no thread may use any more. A null pointer is no fault.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zar_bot_free(bot: *mut ZarBot) {
    if !bot.is_null() {
        // SAFETY: `zar_bot_open` made the pointer from a box, and whoever ends a bot has it for the last time.
        let bot = AssertUnwindSafe(unsafe { Box::from_raw(bot) });
        if let Err(panic) = catch_unwind(|| drop(bot)) {
            mem::forget(panic);
        }
    }
}

/// What a position is worth to the player on roll before he rolls; dice in the position do not matter.
///
/// stakes and error may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zar_evaluate(
    bot: *const ZarBot,
    position: *const c_char,
    stakes: *const ZarStakes,
    evaluation: *mut ZarEvaluation,
    error: *mut ZarError,
) -> ZarStatus {
    guarded(error, || {
        // SAFETY: the head of zar.h asks for valid or null pointers.
        let (bot, evaluation, asked) =
            unsafe { (held(bot)?, place(evaluation, "evaluation")?, asked(position, stakes, None)?) };
        let found = bot.ask(|bot| asked.evaluate(bot))?;
        evaluation.write(ZarEvaluation {
            probabilities: found.probabilities.to_array(),
            cubeless: found.cubeless.0,
            cubeful: if asked.cubeful { found.cubeful.0 } else { found.cubeless.0 },
            match_winning_chance: found.chance.filter(|_| asked.cubeful).map_or(f32::NAN, |chance| chance.0),
        });
        Ok(())
    })
}

/// The best play of a roll; the dice are those in the position where both numbers are 0.
///
/// stakes and error may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zar_best_play(
    bot: *const ZarBot,
    position: *const c_char,
    first_die: c_int,
    second_die: c_int,
    stakes: *const ZarStakes,
    play: *mut ZarPlay,
    error: *mut ZarError,
) -> ZarStatus {
    guarded(error, || {
        // SAFETY: the head of zar.h asks for valid or null pointers.
        let (bot, play, asked) =
            unsafe { (held(bot)?, place(play, "play")?, asked(position, stakes, Some([first_die, second_die]))?) };
        let ranked = bot.ask(|bot| asked.rank(bot))?;
        play.write(ZarPlay::new(&asked.arg.position, &ranked[0]));
        Ok(())
    })
}

/// Every legal result of a roll once, the best first. `count` is told how many there are, always one at least, also where
/// `plays` has room for fewer (`capacity`); the first ones are written. The dice are those in the position where both
/// numbers are 0.
///
/// stakes and error may be null, and plays too where capacity is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zar_plays(
    bot: *const ZarBot,
    position: *const c_char,
    first_die: c_int,
    second_die: c_int,
    stakes: *const ZarStakes,
    plays: *mut ZarPlay,
    capacity: usize,
    count: *mut usize,
    error: *mut ZarError,
) -> ZarStatus {
    guarded(error, || {
        if plays.is_null() && capacity > 0 {
            return Err(Fault::NullPointer("plays"));
        }
        // SAFETY: the head of zar.h asks for valid or null pointers.
        let (bot, count, asked) =
            unsafe { (held(bot)?, place(count, "count")?, asked(position, stakes, Some([first_die, second_die]))?) };
        let ranked = bot.ask(|bot| asked.rank(bot))?;
        for (index, valued) in ranked.iter().take(capacity).enumerate() {
            // SAFETY: there is room for `capacity` plays, and `index` is less.
            unsafe { plays.add(index).write(ZarPlay::new(&asked.arg.position, valued)) };
        }
        count.write(ranked.len());
        Ok(())
    })
}

/// Whether the player on roll should double before he rolls, and what the opponent should answer; dice in the position do
/// not matter. Refused where the player on roll may not turn the cube.
///
/// stakes and error may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zar_cube_action(
    bot: *const ZarBot,
    position: *const c_char,
    stakes: *const ZarStakes,
    decision: *mut ZarCubeDecision,
    error: *mut ZarError,
) -> ZarStatus {
    guarded(error, || {
        // SAFETY: the head of zar.h asks for valid or null pointers.
        let (bot, place, asked) = unsafe { (held(bot)?, place(decision, "decision")?, asked(position, stakes, None)?) };
        let advice = bot.ask(|bot| asked.cube_action(bot))?;
        let found = advice.decision;
        place.write(ZarCubeDecision {
            action: match found.action {
                CubeAction::NoDouble => ZarCubeAction::NoDouble,
                CubeAction::DoubleTake => ZarCubeAction::DoubleTake,
                CubeAction::DoubleDrop => ZarCubeAction::DoubleDrop,
                CubeAction::TooGood => ZarCubeAction::TooGood,
            },
            name: written(found.name()),
            no_double: found.no_double.0,
            double_take: found.double_take.0,
            double_drop: found.double_drop.0,
            probabilities: advice.probabilities.to_array(),
            match_winning_chances: advice.chances.map_or([f32::NAN; 3], |chances| chances.map(|chance| chance.0)),
            beaver: found.beaver,
        });
        Ok(())
    })
}

/// Runs a call, of which nothing unwinds into C, and says how it has ended.
fn guarded(error: *mut ZarError, call: impl FnOnce() -> Result<(), Fault>) -> ZarStatus {
    // A bot is left as its lock leaves it, and answers are written whole or not at all.
    let done = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        // Even dropping what was thrown could throw.
        mem::forget(panic);
        Err(Fault::Internal)
    });
    let (status, text) = match done {
        Ok(()) => (ZarStatus::Ok, String::new()),
        Err(fault) => (fault.status(), fault.to_string()),
    };
    // SAFETY: the head of zar.h asks for a place for an error, or a null pointer.
    if let Some(error) = unsafe { error.cast::<MaybeUninit<ZarError>>().as_mut() } {
        error.write(ZarError { text: written(&text) });
    }
    status
}

/// A bot that is there.
///
/// # Safety
/// A pointer from [`zar_bot_open`] that has not been ended, or null.
unsafe fn held<'a>(bot: *const ZarBot) -> Result<&'a HeldBot, Fault> {
    // SAFETY: the caller's.
    unsafe { bot.as_ref() }.map(|bot| &bot.0).ok_or(Fault::NullPointer("bot"))
}

/// The place for an answer.
///
/// # Safety
/// A pointer to memory of the caller for a `T`, or null.
unsafe fn place<'a, T: Copy>(pointer: *mut T, name: &'static str) -> Result<&'a mut MaybeUninit<T>, Fault> {
    // SAFETY: the caller's; what the memory holds does not matter.
    unsafe { pointer.cast::<MaybeUninit<T>>().as_mut() }.ok_or(Fault::NullPointer(name))
}

/// A text of the caller.
///
/// # Safety
/// A pointer to bytes that end with 0 and stay as they are, or null.
unsafe fn text<'a>(pointer: *const c_char, name: &'static str) -> Result<&'a str, Fault> {
    if pointer.is_null() {
        return Err(Fault::NullPointer(name));
    }
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| Fault::NotUtf8(name))
}

/// What a call asks about: a position, the stakes beside it, and the dice, where they are not both 0.
///
/// # Safety
/// As [`text`], and a pointer to stakes, or null.
unsafe fn asked(position: *const c_char, stakes: *const ZarStakes, dice: Option<[c_int; 2]>) -> Result<Asked, Fault> {
    // SAFETY: the caller's.
    let (position, stakes) = unsafe { (text(position, "position")?, stakes.as_ref()) };
    let arg: PositionArg = position.parse()?;
    let said = Beside {
        dice: dice.filter(|dice| *dice != [0, 0]).map(|dice| Dice::try_from(dice.map(i64::from))).transpose()?,
        ..Beside::default()
    };
    let Some(stakes) = stakes else { return Ok(Asked { arg: arg.beside(&said)?, cubeful: true }) };
    let highest_cube = match stakes.highest_cube {
        0 => HIGHEST_CUBE,
        value => CubeState::new(value, CubeOwner::Centered)?.value(),
    };
    let owner = match stakes.cube_owner {
        ZAR_CUBE_CENTERED => CubeOwner::Centered,
        ZAR_CUBE_PLAYER => CubeOwner::Player,
        ZAR_CUBE_OPPONENT => CubeOwner::Opponent,
        other => return Err(Fault::CubeOwner(other)),
    };
    let scores = [stakes.score, stakes.opponent_score];
    let score = match stakes.match_length {
        0 => None,
        length => Some(MatchScore::new(length, scores, stakes.crawford != 0)?),
    };
    let said = Beside {
        cube: Some(CubeState::new(stakes.cube_value.max(1), owner)?),
        score,
        jacoby: Some(stakes.jacoby != 0),
        beavers: Some(stakes.beavers != 0),
        ..said
    };
    // These stakes are all there are, whatever the position says.
    let arg = PositionArg { stakes: Stakes { highest_cube, ..Stakes::MONEY }, ..arg };
    Ok(Asked { arg: arg.beside(&said)?, cubeful: stakes.cubeless == 0 })
}

impl ZarPlay {
    fn new(position: &Position, ranked: &RankedPlay) -> ZarPlay {
        ZarPlay {
            play: written(&ranked.play.text(position)),
            after: written(&ranked.after.to_string()),
            equity: ranked.equity.0,
            probabilities: ranked.probabilities.to_array(),
        }
    }
}

/// A text that ends with 0, cut between two characters where it is too long. 0 within ends it too.
fn written<const SIZE: usize>(text: &str) -> [c_char; SIZE] {
    let mut bytes = [0; SIZE];
    let end = text.floor_char_boundary(SIZE - 1);
    for (to, from) in bytes.iter_mut().zip(text[..end].bytes()) {
        *to = from.cast_signed() as c_char;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_unwinds_into_c() {
        let mut error = ZarError { text: [1; ZAR_ERROR_SIZE] };
        assert_eq!(guarded(&mut error, || panic!("a fault")), ZarStatus::Internal);
        // SAFETY: `guarded` ends the text.
        let said = unsafe { CStr::from_ptr(error.text.as_ptr()) }.to_str().unwrap();
        assert!(said.starts_with("a fault of the library"), "{said}");
        assert_eq!(guarded(&mut error, || Ok(())), ZarStatus::Ok);
        assert_eq!(error.text[0], 0);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let bytes = |text: &str| written::<4>(text).map(|byte| byte as u8);
        assert_eq!(bytes("ab"), *b"ab\0\0");
        assert_eq!(bytes("abcd"), *b"abc\0");
        assert_eq!(bytes("abé"), *b"ab\0\0");
    }

    /// The longest texts fit.
    #[test]
    fn texts_fit() {
        let mut points = [0; 26];
        (points[24], points[23], points[22], points[21]) = (1, 1, 1, 12);
        (points[18], points[17], points[16], points[15]) = (-1, -1, -1, -1);
        let position = Position::new(points).unwrap();
        for dice in Dice::ALL {
            for legal in position.legal_plays(dice, zar::rules::RuleSet::Backgammon).iter() {
                assert!(legal.play.text(&position).len() < ZAR_PLAY_SIZE);
                assert!(legal.after.to_string().len() < ZAR_POSITION_ID_SIZE);
            }
        }
    }
}
