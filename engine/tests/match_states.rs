//! The course of a match by each rule set.
#![allow(clippy::unwrap_used)]

use MatchPlayer::{One, Zero};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use zar::board::{MatchId, MatchPlayer, Position};
use zar::rules::{
    Action, Dice, Event, Expected, Match, MatchError, MatchOptions, MatchStateError, MoneyOptions, Phase, RuleSet,
};

/// Positions in which the player on roll can win at once: a single game, ...
const SINGLE: &str = "AwAAGAAAAAAAAA";
/// ... a gammon, ...
const GAMMON: &str = "8PcPAAADAAAAAA";
/// ... a triple game where a checker in the winner's home board makes one, ...
const TRIPLE: &str = "8PcHAAIFAAAAAA";
/// ... or where one outside the loser's home board does.
const OUTSIDE: &str = "8PcnAAAFAAAAAA";
/// The player on roll has a checker on the bar behind a closed board.
const CLOSED_OUT: &str = "27YBAGAAAIAAAA";
const NEARLY_OVER: [&str; 5] = [SINGLE, GAMMON, TRIPLE, OUTSIDE, CLOSED_OUT];

fn opened(rules: RuleSet, length: Option<u32>) -> Match {
    let mut state = Match::new(rules, length, MatchOptions::default()).unwrap();
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
    let mut state = Match::new(RuleSet::Backgammon, None, MatchOptions::default()).unwrap();
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
        assert_eq!(Match::new(rules, Some(3), MatchOptions::default()), Err(MatchError::Length(3, rules)));
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

/// A random action, mostly one that is expected.
fn action(state: &Match, [kind, a, b, who]: [u8; 4]) -> (MatchPlayer, Action) {
    let by = if who % 4 > 0 { state.turn() } else { state.turn().opponent() };
    let dice = Dice::new(a % 6 + 1, b % 6 + 1).unwrap();
    let action = match kind % 32 {
        0 | 1 => Action::Double,
        2 => Action::Take,
        3 => Action::Drop,
        4 => Action::Beaver,
        5 => Action::Resign(u32::from(a % 5)),
        6 => Action::Accept,
        7 => Action::Refuse,
        8 => Action::Tick(u32::from(a) * 400),
        9 => Action::ClaimTime,
        10 => Action::Play(Position::START),
        11 => Action::NextGame,
        12 => Action::Opening([a % 8, b % 8]),
        13 if a < 8 => Action::TimeOut,
        _ => match state.expected() {
            Expected::OpeningDice => Action::Opening([a % 6 + 1, b % 6 + 1]),
            Expected::Roll { .. } => Action::Roll(dice),
            Expected::Play { dice, .. } => {
                let plays = state.position().legal_plays(dice, state.rules());
                Action::Play(plays[usize::from(a) % plays.len()].after)
            }
            Expected::DoubleAnswer { .. } => [Action::Take, Action::Drop, Action::Beaver][usize::from(a % 3)],
            Expected::ResignationAnswer { .. } => [Action::Accept, Action::Refuse][usize::from(a % 2)],
            Expected::NextGame | Expected::Nothing => Action::NextGame,
        },
    };
    (by, action)
}

/// The state with another position and the player on roll before his roll.
fn at(state: &Match, position: &str) -> Match {
    let mut value = serde_json::to_value(state).unwrap();
    value["position"] = json!(position);
    value["phase"] = json!("roll");
    value["dice"] = Value::Null;
    serde_json::from_value(value).unwrap()
}

/// Matches before their first roll or in a game that is nearly over.
fn matches() -> impl Strategy<Value = Match> {
    (matches_before_their_start(), prop::option::of(select(&NEARLY_OVER))).prop_map(
        |(state, position)| match position {
            Some(position) => at(&state, position),
            None => state,
        },
    )
}

fn matches_before_their_start() -> impl Strategy<Value = Match> {
    let lengths = prop_oneof![Just(None), (1..6u32).prop_map(Some)];
    let caps = prop_oneof![3 => Just(None), 1 => (0..4u32).prop_map(|exponent| Some(1 << exponent))];
    (0..5usize, lengths, any::<[bool; 2]>(), 0..4u8, caps).prop_map(
        |(rules, length, money, automatic, highest_cube)| {
            let rules = RuleSet::ALL[rules];
            let length = length.filter(|_| rules.terms().matches);
            let mut options = MatchOptions { highest_cube, ..MatchOptions::default() };
            if length.is_none() && rules.terms().money_options {
                options.money = MoneyOptions { jacoby: money[0], beavers: money[1] };
                options.automatic_doubles = automatic;
            }
            Match::new(rules, length, options).unwrap()
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<[u8; 4]>> {
    prop::collection::vec(any::<[u8; 4]>(), 1..400)
}

fn read(text: &str) -> Result<Match, serde_json::Error> {
    serde_json::from_str(text)
}

/// All values within a JSON value that hold no others.
fn leaves(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Array(values) => values.iter_mut().flat_map(leaves).collect(),
        Value::Object(values) => values.values_mut().flat_map(leaves).collect(),
        leaf => vec![leaf],
    }
}

fn other_leaf(kind: u8, number: u32) -> Value {
    let endings = ["borne_off", "dropped", "time_claimed", "time_out"];
    match kind {
        0 => json!(null),
        1 => json!(number),
        2 => json!(-1),
        3 => json!(true),
        4 => json!(["opening", "roll", "play", "doubled", "game_over", "match_over"][number as usize % 6]),
        5 => {
            json!({"winner": number % 2, "ending": endings[number as usize % 4]})
        }
        6 => json!({"winner": number % 2, "ending": {"resigned": number}}),
        7 => json!({"by": number % 2, "points": number % 4}),
        8 => json!([number % 6 + 1, number % 7]),
        9 => json!(RuleSet::ALL[number as usize % 5].to_string()),
        10 => json!(["player", "opponent", "centered"][number as usize % 3]),
        11 => json!("/wEAAAAAAAAAAA"),
        _ => json!(1u32 << (number % 20)),
    }
}

proptest! {
    /// A refused action changes nothing, scores never fall, and every state passes its own check.
    #[test]
    fn refused_actions_change_nothing(mut state in matches(), steps in steps()) {
        for step in steps {
            let (by, action) = action(&state, step);
            let before = state.clone();
            match state.apply(by, action) {
                Ok(Event::GameWon { winner, points }) => {
                    let other = winner.opponent() as usize;
                    prop_assert_eq!(state.scores()[winner as usize], before.scores()[winner as usize] + points);
                    prop_assert_eq!(state.scores()[other], before.scores()[other]);
                    prop_assert_eq!(state.result().map(|result| result.winner), Some(winner));
                }
                Ok(_) if action == Action::NextGame => prop_assert_eq!(state.scores(), before.scores()),
                Ok(_) => {}
                Err(fault) => {
                    prop_assert!(!fault.to_string().is_empty());
                    prop_assert_eq!(&state, &before);
                }
            }
            prop_assert_eq!(state.check(), Ok(()), "{:?} after {:?}", state, action);
            prop_assert_eq!(state.stakes().is_some(), state.result().is_none());
            prop_assert_eq!(state.winner().is_some(), state.phase() == Phase::MatchOver);
            prop_assert!(state.expected().player().is_none_or(|player| player == state.turn()));
        }
    }

    #[test]
    fn states_are_read_as_they_are_written(mut state in matches(), steps in steps()) {
        for step in steps {
            let (by, action) = action(&state, step);
            let _ = state.apply(by, action);
            let text = serde_json::to_string(&state).unwrap();
            prop_assert_eq!(read(&text).map_err(|fault| fault.to_string()), Ok(state.clone()), "{}", text);
        }
    }

    /// Except what a Match ID has no room for: used time, and games that ended on time.
    #[test]
    fn ids_are_read_as_they_are_written(mut state in matches(), steps in steps()) {
        for step in steps {
            let (by, action) = action(&state, step);
            if matches!(action, Action::Tick(_) | Action::TimeOut) {
                continue;
            }
            let _ = state.apply(by, action);
            let id = state.match_id();
            prop_assert_eq!(id.to_string().parse(), Ok(id));
            let read = Match::from_ids(*state.position(), id, state.rules(), state.options(), state.game());
            prop_assert_eq!(read, Ok(state.clone()), "{}:{}", state.position(), id);
        }
    }

    #[test]
    fn no_ids_make_a_state_that_does_not_hold_together(
        board in select(&NEARLY_OVER),
        text in "[A-Zc][A-Za-z0-9+/]{2}[A-H]A[AEIM]A[AEIM]A[A-H]A[AE]",
        rules in 0..5usize,
        swapped in any::<bool>(),
    ) {
        let position: Position = board.parse().unwrap();
        let position = if swapped { position.swapped() } else { position };
        if let Ok(id) = text.parse() {
            match Match::from_ids(position, id, RuleSet::ALL[rules], MatchOptions::default(), 1) {
                Ok(state) => prop_assert_eq!(state.check(), Ok(())),
                Err(fault) => prop_assert!(!fault.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn damaged_states_are_refused_or_hold_together(
        mut state in matches(),
        steps in steps(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..13u8, prop_oneof![0..8u32, any::<u32>()]), 1..4),
        character in (any::<prop::sample::Index>(), any::<char>()),
        later in prop::collection::vec(any::<[u8; 4]>(), 20),
    ) {
        for &step in &steps {
            let (by, action) = action(&state, step);
            let _ = state.apply(by, action);
        }
        let mut value = serde_json::to_value(&state).unwrap();
        for (place, kind, number) in changes {
            **place.get_mut(&mut leaves(&mut value)) = other_leaf(kind, number);
            if let Ok(mut state) = serde_json::from_value::<Match>(value.clone()) {
                prop_assert_eq!(state.check(), Ok(()));
                prop_assert_eq!(read(&serde_json::to_string(&state).unwrap()).ok(), Some(state.clone()));
                for &step in &later {
                    let (by, action) = action(&state, step);
                    let _ = state.apply(by, action);
                    prop_assert_eq!(state.check(), Ok(()), "{:?}", &state);
                }
            }
        }
        let mut characters: Vec<char> = value.to_string().chars().collect();
        let place = character.0.index(characters.len());
        characters[place] = character.1;
        let _ = read(&characters.into_iter().collect::<String>());
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

/// What GNU Backgammon 1.07.001 wrote (`show board`) is read, and written again as it was.
#[test]
fn ids_of_gnubg_are_read() {
    let start = MatchOptions::default();
    let jacoby = MatchOptions { money: MoneyOptions { jacoby: true, beavers: false }, ..start };
    let (after_double, after_drop) = ("cBEAAAAAAAAE", "cAQAAAAACAAE");
    for (position, id, expected) in [
        ("4HPwATDgc/ABMA", "cInqAAAAAAAE", Expected::Play { player: One, dice: Dice::new(5, 2).unwrap() }),
        ("4HPwATDgc/ABMA", "cAkAAAAAAAAE", Expected::Roll { player: One, may_double: true }),
        ("4HPwATDgc/ABMA", "cAkAAAAAAAAA", Expected::Roll { player: One, may_double: true }),
        ("4HPwATDgc/ABMA", "QQkAAAAAAAAE", Expected::Roll { player: One, may_double: false }),
        ("4HPwATDgc/ABMA", after_double, Expected::DoubleAnswer { player: Zero, may_beaver: false }),
        ("4HPwATDgc/ABMA", after_drop, Expected::NextGame),
        ("4HPwATDgc/ABMA", "cEEAAAAAAAAE", Expected::ResignationAnswer { player: Zero, points: 2 }),
        ("4HPwATDgc/ABMA", "cGMAADAAAAAE", Expected::NextGame),
        ("4HPwATDgc/ABMA", "sIGyAEAAAAAE", Expected::Play { player: Zero, dice: Dice::new(5, 4).unwrap() }),
    ] {
        let match_id: MatchId = id.parse().unwrap();
        let state = Match::from_ids(position.parse().unwrap(), match_id, RuleSet::Backgammon, start, 1).unwrap();
        assert_eq!(state.expected(), expected, "{id}");
        assert_eq!(state.match_id().to_string(), id);
        if id.ends_with('A') {
            assert_eq!(state.options(), jacoby);
        }
    }
}

#[test]
fn ids_that_do_not_fit_are_refused() {
    let read = |position: &str, id: &str, rules| {
        let id: MatchId = id.parse().unwrap();
        Match::from_ids(position.parse().unwrap(), id, rules, MatchOptions::default(), 1).unwrap_err()
    };
    // A beaver that waits for an answer.
    let beaver = read("4HPwATDgc/ABMA", "QRkAAAAAAAAE", RuleSet::Backgammon);
    assert_eq!(beaver, MatchStateError::Double(One));
    // Of a match that is over it only keeps what the cube showed, not who held it.
    assert!(matches!(read("AAAABgAAAAAAAA", "MgJgAAAAIAAE", RuleSet::Backgammon), MatchStateError::Cube(_)));
    // A match where there are none, and a cube.
    assert!(matches!(read("4HPwATDgc/ABMA", "cInqAAAAAAAE", RuleSet::Table), MatchStateError::Match(_)));
    assert!(matches!(read("4HPwATDgc/ABMA", "QQkAAAAAAAAE", RuleSet::Plain), MatchStateError::Cube(_)));
    // The Jacoby rule where it cannot be switched on, and a Crawford game where there is none.
    assert!(matches!(read("4HPwATDgc/ABMA", "cAkAAAAAAAAA", RuleSet::Tavla), MatchStateError::Match(_)));
    assert_eq!(read("4HPwATDgc/ABMA", "sIGyAEAAAAAE", RuleSet::Tavla), MatchStateError::Crawford(RuleSet::Tavla));
    // A game that goes on although a player has borne off everything.
    assert!(matches!(read("AAAAAAMAAAAAAA", "cAkAAAAAAAAE", RuleSet::Backgammon), MatchStateError::Board(_)));
}
