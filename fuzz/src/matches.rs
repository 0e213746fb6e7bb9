//! The course of a match.

use zar::{
    board::{MatchId, MatchPlayer, Position},
    rules::{Action, Crawford, Dice, Event, LONGEST_MATCH, Match, MatchOptions, MoneyOptions, Phase, RuleSet},
};

use crate::{bytes::Bytes, codes::is_possible};

/// The most actions of an execution: enough for some games.
const ACTIONS: usize = 400;

/// The highest score that a Match ID has room for.
const HIGHEST_SCORE: u32 = LONGEST_MATCH;

pub(crate) fn samples() -> Vec<Vec<u8>> {
    let mut samples = Vec::new();
    for rules in 0..RuleSet::ALL.len() as u8 {
        for length in [0, 1, 3, 5] {
            // A whole game or two, and beginnings of others, which take less time.
            for actions in [3, 8, 16, if length == 3 { 125 } else { 24 }] {
                // Rolls of all kinds, and plays with the rearmost checkers.
                let course =
                    (0..actions).flat_map(|i: u32| [60, if i.is_multiple_of(2) { 0 } else { (i * 11 % 251) as u8 }]);
                samples.push([rules, length, length].into_iter().chain(course).collect());
            }
        }
    }
    samples
}

/// A match, or money play, by actions of both players, allowed or not.
///
/// Whoever has to decide always can, until the match is over. What is refused changes nothing. Scores never fall, and
/// rise by what an event says. The position stays possible, the cube within its limit, and the Match ID consistent.
/// There is one Crawford game at most.
pub fn match_state(data: &[u8]) -> bool {
    let mut bytes = Bytes(data);
    let rules = bytes.rules();
    let length = match bytes.next() {
        0 => None,
        u8::MAX => Some(LONGEST_MATCH + u32::from(bytes.next())),
        byte => Some(u32::from(byte) - 1),
    };
    let options = bytes.next();
    let money = MoneyOptions { jacoby: options & 16 != 0, beavers: options & 32 != 0 };
    let options = MatchOptions { money, ..MatchOptions::default() };
    let mut state = match Match::new(rules, length, options) {
        Ok(state) => state,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    let mut crawford_games = 0;
    for _ in 0..ACTIONS {
        if bytes.is_empty() {
            break;
        }
        let hint = bytes.next();
        let before = state.clone();
        if hint < 224 {
            let Some(action) = allowed(&state, rules, hint, bytes.next()) else { break };
            let by = state.turn();
            match state.apply(by, action) {
                Ok(event) => check(&before, &state, rules, length, by, action, event),
                Err(error) => panic!("{error}: {before:?}"),
            }
        } else {
            let by = if hint % 2 == 0 { MatchPlayer::Zero } else { MatchPlayer::One };
            let action = any_action(&state, rules, &mut bytes);
            match state.apply(by, action) {
                Ok(event) => check(&before, &state, rules, length, by, action, event),
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    assert_eq!(state, before, "{by:?} {action:?}");
                }
            }
        }
        if state.game() > before.game() && state.crawford() {
            crawford_games += 1;
        }
    }
    let one_game = rules.terms().cube.is_some_and(|cube| cube.crawford == Crawford::OneGame);
    assert!(crawford_games <= u32::from(one_game && length.is_some()), "{state:?}");
    true
}

/// What the player who has to decide may do; `None` when the match is over.
fn allowed(state: &Match, rules: RuleSet, hint: u8, detail: u8) -> Option<Action> {
    if state.resignation().is_some() {
        return Some(if detail.is_multiple_of(2) { Action::Accept } else { Action::Refuse });
    }
    Some(match state.phase() {
        Phase::Opening => Action::Opening([detail % 6 + 1, detail / 6 % 6 + 1]),
        // Where the starter rolls afresh he cannot double first.
        Phase::Roll if hint < 40 && state.may_double() && *state.position() != Position::START => Action::Double,
        Phase::Roll => Action::Roll(Dice::ALL[usize::from(detail) % Dice::ALL.len()]),
        Phase::Play(dice) => play(state, rules, dice, detail),
        Phase::Doubled if detail.is_multiple_of(4) => Action::Drop,
        Phase::Doubled => Action::Take,
        Phase::GameOver => Action::NextGame,
        Phase::MatchOver => return None,
    })
}

fn play(state: &Match, rules: RuleSet, dice: Dice, number: u8) -> Action {
    let legal = state.position().legal_plays(dice, rules);
    Action::Play(legal[usize::from(number) % legal.len()].after)
}

fn any_action(state: &Match, rules: RuleSet, bytes: &mut Bytes<'_>) -> Action {
    let (kind, detail) = (bytes.next(), bytes.next());
    match kind % 20 {
        0 => Action::Opening([detail % 8, detail / 8 % 8]),
        1 => Action::Roll(Dice::ALL[usize::from(detail) % Dice::ALL.len()]),
        2 => play(state, rules, Dice::ALL[usize::from(detail) % Dice::ALL.len()], detail / 21),
        3 => Action::Play(bytes.position()),
        4 => Action::Play(state.position().swapped()),
        5 | 6 => Action::Double,
        7 | 8 => Action::Take,
        9 => Action::Drop,
        10 | 11 => Action::Beaver,
        12 | 13 => Action::Resign(if detail == u8::MAX { u32::MAX } else { u32::from(detail % 5) }),
        14 => Action::Accept,
        15 => Action::Refuse,
        16 => Action::Tick(if detail == u8::MAX { u32::MAX } else { u32::from(detail) * 2_000 }),
        17 => Action::ClaimTime,
        18 => Action::TimeOut,
        _ => Action::NextGame,
    }
}

/// Checks what an action has led to.
fn check(
    before: &Match,
    after: &Match,
    rules: RuleSet,
    length: Option<u32>,
    by: MatchPlayer,
    action: Action,
    event: Event,
) {
    let context = || format!("{by:?} {action:?} {event:?}\n{before:?}\n{after:?}");
    let mut scores = before.scores();
    let cube = before.match_id().cube_value;
    if let Event::GameWon { winner, points } = event {
        assert!(points >= cube && points % cube == 0 && points / cube <= 3, "{}", context());
        scores[winner as usize] = scores[winner as usize].saturating_add(points);
        let won = length.is_some_and(|length| scores[winner as usize] >= length);
        assert_eq!(after.phase(), if won { Phase::MatchOver } else { Phase::GameOver }, "{}", context());
    }
    assert_eq!(after.scores(), scores, "{}", context());
    assert_eq!(after.game(), before.game() + u32::from(action == Action::NextGame), "{}", context());
    assert!(is_possible(after.position()), "{}", context());
    if action == Action::Double {
        assert!(before.may_double(), "{}", context());
    }

    let id = after.match_id();
    let limit = rules.terms().cube.map_or(1, |cube| cube.highest);
    assert!(id.cube_value <= limit, "{}", context());
    // Money play may go on beyond what a Match ID has room for.
    if scores.iter().all(|&score| score <= HIGHEST_SCORE) {
        assert_eq!(id.check(), Ok(()), "{}", context());
        assert_eq!(id.to_string().parse::<MatchId>(), Ok(id), "{}", context());
    }
    match after.stakes() {
        Some(stakes) => {
            assert_eq!(stakes.check(rules), Ok(()), "{}", context());
            assert_eq!(stakes.cube.value(), id.cube_value);
        }
        None => assert!(matches!(after.phase(), Phase::GameOver | Phase::MatchOver), "{}", context()),
    }
    if let Event::MatchLostOnTime(_) = event {
        assert_eq!(after.phase(), Phase::MatchOver, "{}", context());
    }
}
