//! The course of a match by each rule set.
#![allow(clippy::unwrap_used)]

use MatchPlayer::{One, Zero};
use proptest::prelude::*;
use zar::board::{MatchPlayer, Position};
use zar::rules::{Action, Dice, Event, Match, MatchError, MoneyOptions, Phase, RuleSet};

fn opened(rules: RuleSet, length: Option<u32>) -> Match {
    let mut state = Match::new(rules, length, MoneyOptions::default()).unwrap();
    state.apply(Zero, Action::Opening([3, 1])).unwrap();
    state
}

/// Player 0 has made the first play and player 1 is on roll.
fn second_turn(rules: RuleSet, length: Option<u32>) -> Match {
    let mut state = opened(rules, length);
    if state.phase() == Phase::Roll {
        state.apply(Zero, Action::Roll(Dice::new(3, 1).unwrap())).unwrap();
    }
    let after = state.position().legal_plays(state.dice().unwrap(), rules)[0].after;
    state.apply(Zero, Action::Play(after)).unwrap();
    state
}

#[test]
fn opening_ties_are_rolled_again() {
    let mut state = Match::new(RuleSet::Backgammon, None, MoneyOptions::default()).unwrap();
    assert_eq!(state.apply(Zero, Action::Opening([4, 4])), Ok(Event::OpeningTied));
    assert_eq!(state.phase(), Phase::Opening);
    state.apply(Zero, Action::Opening([2, 5])).unwrap();
    assert_eq!((state.on_roll(), state.dice()), (One, Dice::new(5, 2).ok()));
}

#[test]
fn tavla2004_starter_rolls_afresh() {
    assert_eq!(opened(RuleSet::Tavla2004, Some(5)).phase(), Phase::Roll);
    for rules in [RuleSet::Backgammon, RuleSet::Tavla, RuleSet::Table, RuleSet::Plain] {
        assert!(opened(rules, None).dice().is_some(), "{rules}");
    }
}

#[test]
fn table_and_plain_have_no_matches() {
    for rules in [RuleSet::Table, RuleSet::Plain] {
        assert_eq!(Match::new(rules, Some(3), MoneyOptions::default()), Err(MatchError::Length(3, rules)));
    }
}

#[test]
fn a_dropped_double_loses_the_cube_before_it() {
    let mut state = second_turn(RuleSet::Backgammon, None);
    state.apply(One, Action::Double).unwrap();
    assert_eq!(state.apply(Zero, Action::Drop), Ok(Event::GameWon { winner: One, points: 1 }));
    assert_eq!(state.scores(), [0, 1]);
}

#[test]
fn tavla_cube_rests_in_every_game_at_one_point() {
    for (rules, crawford, allowed_later) in [(RuleSet::Backgammon, true, true), (RuleSet::Tavla, false, false)] {
        let mut state = second_turn(rules, Some(2));
        state.apply(One, Action::Double).unwrap();
        state.apply(Zero, Action::Drop).unwrap();
        let mut after = Vec::new();
        for (doubles, loser) in [(false, One), (true, Zero)] {
            state.apply(Zero, Action::NextGame).unwrap();
            state.apply(Zero, Action::Opening([3, 1])).unwrap();
            let play = state.position().legal_plays(state.dice().unwrap(), rules)[0].after;
            state.apply(Zero, Action::Play(play)).unwrap();
            after.push((state.crawford(), state.may_double()));
            if !doubles {
                state.apply(loser, Action::Resign(1)).unwrap();
                state.apply(loser.opponent(), Action::Accept).unwrap();
            }
        }
        assert_eq!(after, [(crawford, false), (false, allowed_later)], "{rules}");
    }
}

#[test]
fn resignations_follow_the_terms() {
    let mut state = second_turn(RuleSet::Backgammon, None);
    state.apply(One, Action::Resign(3)).unwrap();
    assert_eq!(state.turn(), Zero);
    state.apply(Zero, Action::Refuse).unwrap();
    assert_eq!(state.turn(), One);
    for (rules, points) in [(RuleSet::Tavla, 3), (RuleSet::Tavla2004, 3), (RuleSet::Table, 2), (RuleSet::Plain, 1)] {
        let won = Event::GameWon { winner: Zero, points };
        assert_eq!(second_turn(rules, None).apply(One, Action::Resign(3)), Ok(won), "{rules}");
    }
}

#[test]
fn table_flag_must_be_claimed() {
    let mut state = second_turn(RuleSet::Table, None);
    state.apply(One, Action::Tick(101_000)).unwrap();
    assert!(state.apply(Zero, Action::ClaimTime).is_err());
    state.apply(One, Action::Tick(1)).unwrap();
    assert!(state.apply(One, Action::ClaimTime).is_err());
    assert_eq!(state.apply(Zero, Action::ClaimTime), Ok(Event::GameWon { winner: Zero, points: 2 }));
}

#[test]
fn tavla_time_loses_the_match() {
    let mut state = second_turn(RuleSet::Tavla, Some(7));
    assert_eq!(state.apply(One, Action::TimeOut), Ok(Event::MatchLostOnTime(One)));
    assert_eq!(state.phase(), Phase::MatchOver);
}

proptest! {
    /// A refused action changes nothing, and scores never fall.
    #[test]
    fn refused_actions_change_nothing(rules in 0..5usize, steps in prop::collection::vec(any::<[u8; 4]>(), 1..300)) {
        let rules = RuleSet::ALL[rules];
        let length = rules.terms().matches.then_some(5);
        let mut state = Match::new(rules, length, MoneyOptions::default()).unwrap();
        for [kind, a, b, who] in steps {
            let by = if who % 4 > 0 { state.turn() } else { state.turn().opponent() };
            let dice = Dice::new(a % 6 + 1, b % 6 + 1).unwrap();
            let action = match kind % 24 {
                0 => Action::Double,
                1 => Action::Take,
                2 => Action::Drop,
                3 => Action::Beaver,
                4 => Action::Resign(u32::from(a % 5)),
                5 => Action::Accept,
                6 => Action::Refuse,
                7 => Action::Tick(u32::from(a) * 400),
                8 => Action::ClaimTime,
                9 => Action::Play(Position::START),
                10 => Action::NextGame,
                11 => Action::Opening([a % 8, b % 8]),
                _ => match state.dice() {
                    Some(dice) => {
                        let plays = state.position().legal_plays(dice, rules);
                        Action::Play(plays[usize::from(a) % plays.len()].after)
                    }
                    None if state.phase() == Phase::Opening => Action::Opening([dice.high(), dice.low()]),
                    None => Action::Roll(dice),
                },
            };
            let before = state.clone();
            if state.apply(by, action).is_err() {
                prop_assert_eq!(&state, &before);
            }
            prop_assert!(state.scores()[0] >= before.scores()[0] && state.scores()[1] >= before.scores()[1]);
            let id = state.match_id();
            prop_assert_eq!(id.to_string().parse(), Ok(id));
            prop_assert!(state.phase() == Phase::MatchOver || state.stakes().is_some());
        }
    }
}

#[test]
fn who_has_a_cube() {
    for (length, expected) in [(None, [true, true, false]), (Some(1), [true, false, false]), (Some(5), [true; 3])] {
        let rules = [RuleSet::Backgammon, RuleSet::Tavla, RuleSet::Tavla2004];
        assert_eq!(rules.map(|rules| second_turn(rules, length).may_double()), expected, "{length:?}");
    }
    assert!(!second_turn(RuleSet::Table, None).may_double());
    assert!(!second_turn(RuleSet::Plain, None).may_double());
}

#[test]
fn take_turns_the_cube_and_gives_it() {
    let mut state = second_turn(RuleSet::Backgammon, None);
    state.apply(One, Action::Double).unwrap();
    state.apply(Zero, Action::Take).unwrap();
    let id = state.match_id();
    assert_eq!((id.cube_value, id.cube_owner, state.may_double()), (2, Some(Zero), false));
}
