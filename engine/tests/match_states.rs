//! The course of a match by each rule set.
#![allow(clippy::unwrap_used)]

use MatchPlayer::{One, Zero};
use proptest::prelude::*;
use proptest::sample::select;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use serde_json::{Value, json};
use zar::board::{CubeOwner, MatchId, MatchPlayer, Position};
use zar::rules::{
    Action, Dice, Ending, Event, Expected, GameResult, Match, MatchError, MatchOptions, MatchStateError, MoneyOptions,
    Phase, RuleSet,
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

/// Where one value or two are replaced, and by what.
fn change() -> impl Strategy<Value = (Vec<prop::sample::Index>, [u8; 2], u32)> {
    let places = prop::collection::vec(any::<prop::sample::Index>(), 1..3);
    (places, [0..13u8, 0..13u8], prop_oneof![0..8u32, any::<u32>()])
}

/// What every reader of a state relies on, said again apart from [`Match::check`].
fn holds_together(state: &Match) -> Result<(), TestCaseError> {
    let (rules, cube) = (state.rules(), state.cube());
    let ending = state.result().map(|result| result.ending);
    prop_assert_eq!(state.check(), Ok(()));
    prop_assert_eq!(ending.is_some(), matches!(state.phase(), Phase::GameOver | Phase::MatchOver));
    prop_assert_eq!(state.position().is_over(), ending == Some(Ending::BorneOff), "{:?}", state);
    match state.phase() {
        Phase::Opening => prop_assert_eq!(state.position(), &Position::START),
        Phase::Play(dice) => prop_assert!(!state.position().legal_plays(dice, rules)[0].play.is_empty()),
        Phase::Doubled => prop_assert!(state.stakes().unwrap().may_double(rules)),
        Phase::MatchOver => prop_assert!(state.length().is_some() || ending == Some(Ending::TimeOut)),
        Phase::Roll | Phase::GameOver => {}
    }
    if let Some(GameResult { winner, ending }) = state.result() {
        match ending {
            Ending::BorneOff | Ending::TimeClaimed => prop_assert_ne!(winner, state.on_roll()),
            Ending::Resigned(points) => prop_assert!(winner != state.on_roll() && (1..=3).contains(&points)),
            Ending::Dropped => prop_assert_eq!(winner, state.on_roll()),
            Ending::TimeOut => prop_assert_eq!(rules, RuleSet::Tavla),
        }
        prop_assert!(ending == Ending::TimeOut || state.scores()[winner as usize] > 0);
    }
    let reached = state.length().is_some_and(|length| state.scores().iter().any(|&score| score >= length));
    prop_assert_eq!(reached || ending == Some(Ending::TimeOut), state.phase() == Phase::MatchOver);
    if let Some((by, points)) = state.resignation() {
        prop_assert!(by == state.on_roll() && matches!(state.phase(), Phase::Roll | Phase::Play(_)));
        prop_assert!((1..=3).contains(&points) && matches!(rules, RuleSet::Backgammon | RuleSet::Tavla));
    }
    let highest = match rules {
        RuleSet::Backgammon => 1 << 15,
        RuleSet::Tavla => 64,
        RuleSet::Tavla2004 if state.length().is_some() => 64,
        RuleSet::Tavla2004 | RuleSet::Table | RuleSet::Plain => 1,
    };
    prop_assert!(cube.value() <= highest.min(state.options().highest_cube.unwrap_or(highest)));
    if cube.owner() == CubeOwner::Centered {
        prop_assert!(cube.value() <= 1 << state.options().automatic_doubles.min(15));
    } else {
        prop_assert!(cube.value() > 1 && !state.crawford());
    }
    let needs_one = |score: &u32| state.length().is_some_and(|length| score + 1 == length);
    if state.result().is_none() && rules != RuleSet::Backgammon && state.scores().iter().any(needs_one) {
        prop_assert_eq!(cube.value(), 1);
    }
    prop_assert!(!state.crawford() || rules == RuleSet::Backgammon && state.length().is_some());
    prop_assert!(rules == RuleSet::Table || !state.flag_fallen());
    prop_assert_eq!(state.stakes().is_some(), state.result().is_none());
    prop_assert_eq!(state.winner().is_some(), state.phase() == Phase::MatchOver);
    prop_assert!(state.expected().player().is_none_or(|player| player == state.turn()));
    Ok(())
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
            holds_together(&state)?;
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
        changes in prop::collection::vec(change(), 40),
        character in (any::<prop::sample::Index>(), any::<char>()),
        later in prop::collection::vec(any::<[u8; 4]>(), 20),
    ) {
        for &step in &steps {
            let (by, action) = action(&state, step);
            let _ = state.apply(by, action);
        }
        let value = serde_json::to_value(&state).unwrap();
        for (places, kinds, number) in changes {
            let mut value = value.clone();
            for (place, kind) in places.into_iter().zip(kinds) {
                **place.get_mut(&mut leaves(&mut value)) = other_leaf(kind, number);
            }
            if let Ok(mut state) = serde_json::from_value::<Match>(value) {
                holds_together(&state)?;
                prop_assert_eq!(read(&serde_json::to_string(&state).unwrap()).ok(), Some(state.clone()));
                for &step in &later {
                    let (by, action) = action(&state, step);
                    let _ = state.apply(by, action);
                    holds_together(&state)?;
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

fn roll(high: u8, low: u8) -> Action {
    Action::Roll(Dice::new(high, low).unwrap())
}

/// The player on roll rolls 6-5 in a position in which that wins, and plays it.
fn bear_off(state: &mut Match) -> Event {
    let by = state.turn();
    state.apply(by, roll(6, 5)).unwrap();
    let after = state.position().legal_plays(state.dice().unwrap(), state.rules())[0].after;
    state.apply(by, Action::Play(after)).unwrap()
}

fn money(rules: RuleSet, options: MatchOptions) -> Match {
    Match::new(rules, None, options).unwrap()
}

fn with_money_options(jacoby: bool, beavers: bool) -> MatchOptions {
    MatchOptions { money: MoneyOptions { jacoby, beavers }, ..MatchOptions::default() }
}

/// Rows "single game", "gammon", "triple game", and C9.
#[test]
fn borne_off_games_pay_what_the_rule_set_says() {
    for (position, expected) in
        [(SINGLE, [1; 5]), (GAMMON, [2, 2, 2, 2, 1]), (TRIPLE, [3, 3, 3, 2, 1]), (OUTSIDE, [2, 2, 3, 2, 1])]
    {
        for (rules, points) in RuleSet::ALL.into_iter().zip(expected) {
            let mut state = at(&second_turn(rules, None), position);
            assert_eq!(bear_off(&mut state), Event::GameWon { winner: One, points }, "{rules}: {position}");
            assert_eq!(state.result(), Some(GameResult { winner: One, ending: Ending::BorneOff }));
            assert_eq!((state.scores(), state.phase(), state.winner()), ([0, points], Phase::GameOver, None));
        }
    }
}

#[test]
fn a_win_is_worth_the_cube() {
    let mut state = at(&second_turn(RuleSet::Backgammon, None), TRIPLE);
    state.apply(One, Action::Double).unwrap();
    state.apply(Zero, Action::Take).unwrap();
    assert_eq!(bear_off(&mut state), Event::GameWon { winner: One, points: 6 });
}

#[test]
fn a_dropped_redouble_loses_the_cube_before_it() {
    let mut state = second_turn(RuleSet::Tavla, Some(9));
    state.apply(One, Action::Double).unwrap();
    state.apply(Zero, Action::Take).unwrap();
    state.apply(One, roll(3, 1)).unwrap();
    let after = state.position().legal_plays(state.dice().unwrap(), RuleSet::Tavla)[0].after;
    state.apply(One, Action::Play(after)).unwrap();
    state.apply(Zero, Action::Double).unwrap();
    assert_eq!(state.apply(One, Action::Drop), Ok(Event::GameWon { winner: Zero, points: 2 }));
    assert_eq!(state.result(), Some(GameResult { winner: Zero, ending: Ending::Dropped }));
}

/// Row "match to N points".
#[test]
fn a_match_ends_at_its_length() {
    for rules in [RuleSet::Backgammon, RuleSet::Tavla, RuleSet::Tavla2004] {
        for (length, over) in [(1, true), (2, true), (3, false)] {
            let mut state = at(&second_turn(rules, Some(length)), GAMMON);
            bear_off(&mut state);
            assert_eq!(state.winner(), over.then_some(One), "{rules}, {length}");
            let next = state.apply(Zero, Action::NextGame);
            if over {
                let expected = Expected::Nothing;
                let refused = MatchError::Unexpected { by: Zero, action: Action::NextGame, expected };
                assert_eq!(next, Err(refused));
            } else {
                assert_eq!((next, state.game(), state.phase()), (Ok(Event::GoesOn), 2, Phase::Opening));
                assert_eq!((state.scores(), state.position()), ([0, 2], &Position::START));
            }
        }
    }
    for length in [0, 1 << 15] {
        let refused = Match::new(RuleSet::Backgammon, Some(length), MatchOptions::default());
        assert_eq!(refused, Err(MatchError::Length(length, RuleSet::Backgammon)));
    }
}

/// Row "first move of the game".
#[test]
fn the_first_roll_may_be_a_double_only_when_it_is_rolled_afresh() {
    for rules in RuleSet::ALL {
        let mut state = opened(rules, None);
        let rolled = state.apply(Zero, roll(4, 4)).is_ok();
        assert_eq!(rolled, rules == RuleSet::Tavla2004, "{rules}");
        let dice = if rolled { Dice::new(4, 4) } else { Dice::new(3, 1) };
        assert_eq!(state.dice(), dice.ok(), "{rules}");
    }
}

#[test]
fn the_starter_who_rolls_afresh_may_double_before() {
    let mut state = opened(RuleSet::Tavla2004, Some(5));
    assert_eq!(state.expected(), Expected::Roll { player: Zero, may_double: true });
    state.apply(Zero, Action::Double).unwrap();
    state.apply(One, Action::Take).unwrap();
    assert_eq!((state.cube().value(), state.may_double()), (2, false));
}

/// Row "cube": only its owner turns it, and up to 64 where the rule set says so.
#[test]
fn the_cube_goes_up_to_its_limit() {
    let capped = MatchOptions { highest_cube: Some(8), ..MatchOptions::default() };
    let free = MatchOptions::default();
    for (rules, options, highest) in [
        (RuleSet::Backgammon, free, 1 << 15),
        (RuleSet::Backgammon, capped, 8),
        (RuleSet::Tavla, free, 64),
        (RuleSet::Tavla, capped, 8),
        (RuleSet::Tavla2004, free, 64),
    ] {
        let mut state = Match::new(rules, Some(101), options).unwrap();
        state.apply(Zero, Action::Opening([3, 1])).unwrap();
        let (mut value, mut turns) = (1, 0);
        while turns < 40 {
            if let Expected::Roll { player, may_double } = state.expected() {
                if may_double {
                    state.apply(player, Action::Double).unwrap();
                    assert!(state.apply(player.opponent(), Action::Beaver).is_err());
                    state.apply(player.opponent(), Action::Take).unwrap();
                    value *= 2;
                    assert_eq!(state.cube().value(), value);
                }
                assert!(state.apply(player, Action::Double).is_err());
                state.apply(player, roll(2, 1)).unwrap();
            }
            if let Expected::Play { player, dice } = state.expected() {
                let after = state.position().legal_plays(dice, rules)[0].after;
                state.apply(player, Action::Play(after)).unwrap();
            }
            turns += 1;
        }
        assert_eq!(value, highest, "{rules}");
        assert_eq!(state.stakes().unwrap().cube_limit(rules), highest);
    }
    for value in [0, 3, 1 << 16] {
        let options = MatchOptions { highest_cube: Some(value), ..free };
        assert!(matches!(Match::new(RuleSet::Tavla, None, options), Err(MatchError::HighestCube(_))), "{value}");
    }
}

/// Row "Crawford": who may double in each game of a match to 4 in which player 1 leads 3-0, then 3-1, then 3-2.
#[test]
fn crawford_games_of_each_rule_set() {
    for (rules, expected) in [
        (RuleSet::Backgammon, [(true, false), (false, true), (false, true)]),
        (RuleSet::Tavla, [(false, false); 3]),
        (RuleSet::Tavla2004, [(false, false); 3]),
    ] {
        let mut state = at(&second_turn(rules, Some(4)), TRIPLE);
        bear_off(&mut state);
        for game in expected {
            state.apply(Zero, Action::NextGame).unwrap();
            state.apply(Zero, Action::Opening([1, 3])).unwrap();
            state = at(&state, SINGLE);
            assert_eq!((state.crawford(), state.may_double()), game, "{rules} at {:?}", state.scores());
            // Player 0 wins: his opponent, who is on roll, gives up.
            state.apply(One, Action::Resign(1)).unwrap();
            if state.resignation().is_some() {
                state.apply(Zero, Action::Accept).unwrap();
            }
        }
        assert_eq!((state.scores(), state.winner()), ([3, 3], None));
    }
}

/// Row "money play options".
#[test]
fn only_backgammon_has_money_options_and_no_match_has() {
    let automatic = MatchOptions { automatic_doubles: 1, ..MatchOptions::default() };
    for options in [with_money_options(true, false), with_money_options(false, true), automatic] {
        for rules in RuleSet::ALL {
            let built = Match::new(rules, None, options);
            assert_eq!(built.is_ok(), rules == RuleSet::Backgammon, "{rules}");
            if rules.terms().matches {
                assert_eq!(Match::new(rules, Some(5), options), Err(MatchError::Options(rules)));
            }
        }
    }
}

#[test]
fn jacoby_pays_gammons_once_the_cube_is_turned() {
    for (doubled, points) in [(false, 1), (true, 4)] {
        let mut state = money(RuleSet::Backgammon, with_money_options(true, false));
        state.apply(Zero, Action::Opening([3, 5])).unwrap();
        state = at(&state, GAMMON);
        if doubled {
            state.apply(One, Action::Double).unwrap();
            state.apply(Zero, Action::Take).unwrap();
        }
        assert_eq!(bear_off(&mut state), Event::GameWon { winner: One, points });
    }
}

#[test]
fn a_beaver_turns_the_cube_again_and_keeps_it() {
    for (beavers, highest_cube, allowed) in [(true, None, true), (false, None, false), (true, Some(2), false)] {
        let mut state = money(RuleSet::Backgammon, MatchOptions { highest_cube, ..with_money_options(false, beavers) });
        state.apply(Zero, Action::Opening([3, 5])).unwrap();
        state = at(&state, SINGLE);
        state.apply(One, Action::Double).unwrap();
        assert_eq!(state.expected(), Expected::DoubleAnswer { player: Zero, may_beaver: allowed });
        let beavered = state.apply(Zero, Action::Beaver);
        if allowed {
            assert_eq!((beavered, state.turn(), state.cube().value()), (Ok(Event::GoesOn), One, 4));
            assert_eq!(state.match_id().cube_owner, Some(Zero));
            assert!(!state.may_double());
        } else {
            assert_eq!(beavered, Err(MatchError::NotAllowed(Action::Beaver)));
        }
    }
}

#[test]
fn opening_ties_double_the_cube_so_many_times() {
    for (automatic_doubles, highest_cube, expected) in
        [(0, None, [1, 1, 1]), (1, None, [2, 2, 2]), (2, None, [2, 4, 4]), (200, Some(4), [2, 4, 4])]
    {
        let options = MatchOptions { automatic_doubles, highest_cube, ..MatchOptions::default() };
        let mut state = money(RuleSet::Backgammon, options);
        let values = [1, 2, 3].map(|die| {
            assert_eq!(state.apply(Zero, Action::Opening([die, die])), Ok(Event::OpeningTied));
            state.cube().value()
        });
        assert_eq!(values, expected, "{automatic_doubles}");
        state.apply(Zero, Action::Opening([1, 4])).unwrap();
        assert_eq!(state.match_id().cube_owner, None);
        state.apply(One, Action::Resign(1)).unwrap();
        assert_eq!(state.apply(Zero, Action::Accept), Ok(Event::GameWon { winner: Zero, points: expected[2] }));
        state.apply(Zero, Action::NextGame).unwrap();
        assert_eq!(state.cube().value(), 1);
    }
}

/// C6 and C8: the turn passes by itself.
#[test]
fn a_roll_without_a_play_passes_the_turn() {
    for rules in RuleSet::ALL {
        let mut state = at(&second_turn(rules, None), CLOSED_OUT);
        let seen_by_the_other = state.position().swapped();
        assert_eq!(state.apply(One, roll(6, 6)), Ok(Event::TurnPassed), "{rules}");
        assert_eq!((state.turn(), state.phase(), *state.position()), (Zero, Phase::Roll, seen_by_the_other));
    }
}

/// Row "giving up the game", where a number of points is offered.
#[test]
fn offers_wait_for_an_answer() {
    for (rules, waiting) in [(RuleSet::Backgammon, [true, true, true]), (RuleSet::Tavla, [true, true, false])] {
        for (points, waits) in [1, 2, 3].into_iter().zip(waiting) {
            let mut state = second_turn(rules, Some(7));
            let won = Event::GameWon { winner: Zero, points };
            let offered = state.apply(One, Action::Resign(points));
            assert_eq!(offered, Ok(if waits { Event::GoesOn } else { won }), "{rules}, {points}");
            if waits {
                assert_eq!(state.expected(), Expected::ResignationAnswer { player: Zero, points });
                let mut refused = state.clone();
                refused.apply(Zero, Action::Refuse).unwrap();
                assert_eq!(refused, second_turn(rules, Some(7)));
                assert_eq!(state.apply(Zero, Action::Accept), Ok(won));
            }
            assert_eq!(state.result(), Some(GameResult { winner: Zero, ending: Ending::Resigned(points) }));
        }
        for points in [0, 4] {
            let refused = Err(MatchError::Number(Action::Resign(points)));
            assert_eq!(second_turn(rules, None).apply(One, Action::Resign(points)), refused);
        }
    }
}

/// Row "giving up the game", where the board says what it costs.
#[test]
fn giving_up_costs_what_the_board_says() {
    // Seen by the player who gives up, who is about to win otherwise: what he has on the board is what counts.
    let seen_by_the_other = |position: &str| position.parse::<Position>().unwrap().swapped().to_string();
    for (position, tavla2004, table) in [
        (SINGLE.to_owned(), 1, 1),
        (seen_by_the_other(GAMMON), 2, 2),
        (seen_by_the_other(TRIPLE), 3, 2),
        (seen_by_the_other(OUTSIDE), 3, 2),
    ] {
        for (rules, points) in [(RuleSet::Tavla2004, tavla2004), (RuleSet::Table, table), (RuleSet::Plain, 1)] {
            let mut state = at(&second_turn(rules, None), &position);
            let won = Event::GameWon { winner: Zero, points };
            assert_eq!(state.apply(One, Action::Resign(1)), Ok(won), "{rules}: {position}");
        }
    }
}

/// Row "running out of time".
#[test]
fn time_up_is_what_the_rule_set_says() {
    for rules in RuleSet::ALL {
        let mut state = second_turn(rules, None);
        let timed_out = state.apply(One, Action::TimeOut);
        if rules == RuleSet::Tavla {
            assert_eq!(timed_out, Ok(Event::MatchLostOnTime(One)));
            assert_eq!((state.winner(), state.expected()), (Some(Zero), Expected::Nothing));
        } else {
            assert_eq!(timed_out, Err(MatchError::NotAllowed(Action::TimeOut)), "{rules}");
        }
        let mut state = second_turn(rules, None);
        state.apply(One, Action::Tick(u32::MAX)).unwrap();
        assert_eq!(state.flag_fallen(), rules == RuleSet::Table, "{rules}");
        assert_eq!(state.apply(Zero, Action::ClaimTime).is_ok(), rules == RuleSet::Table, "{rules}");
    }
}

#[test]
fn who_loses_on_time_is_kept() {
    let mut state = second_turn(RuleSet::Tavla, Some(7));
    state.apply(One, Action::Double).unwrap();
    state.apply(Zero, Action::TimeOut).unwrap();
    assert_eq!(read(&serde_json::to_string(&state).unwrap()).unwrap().winner(), Some(One));
}

/// A turn has 11 seconds of its own; only what is beyond them uses the reserve, of which a game has 90 seconds.
#[test]
fn each_turn_of_table_has_seconds_of_its_own() {
    let mut state = second_turn(RuleSet::Table, None);
    for _ in 0..20 {
        let by = state.turn();
        state.apply(by, Action::Tick(11_000)).unwrap();
        state.apply(by, roll(2, 1)).unwrap();
        if let Some(dice) = state.dice() {
            let after = state.position().legal_plays(dice, RuleSet::Table)[0].after;
            state.apply(by, Action::Play(after)).unwrap();
        }
        assert!(!state.flag_fallen());
    }
    let by = state.turn();
    state.apply(by, Action::Tick(11_000 + 90_000)).unwrap();
    assert!(!state.flag_fallen());
    state.apply(by, Action::Tick(1)).unwrap();
    assert!(state.flag_fallen());
    state.apply(by.opponent(), Action::ClaimTime).unwrap();
    assert_eq!(state.result(), Some(GameResult { winner: by.opponent(), ending: Ending::TimeClaimed }));
    state.apply(by, Action::NextGame).unwrap();
    assert!(!state.flag_fallen());
}

#[test]
fn whole_games_come_to_their_end() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    for rules in RuleSet::ALL {
        let mut state = Match::new(rules, rules.terms().matches.then_some(3), MatchOptions::default()).unwrap();
        let mut games = 0;
        while state.winner().is_none() && games < 3 {
            let action = match state.expected() {
                Expected::OpeningDice => Action::opening(&mut rng),
                Expected::Roll { .. } => Action::roll(&mut rng),
                Expected::Play { dice, .. } => {
                    let plays = state.position().legal_plays(dice, rules);
                    Action::Play(plays.iter().max_by_key(|legal| legal.after.opponent_off()).unwrap().after)
                }
                Expected::NextGame => Action::NextGame,
                other => panic!("{other}"),
            };
            let by = state.turn();
            if let Event::GameWon { winner, .. } = state.apply(by, action).unwrap() {
                assert_eq!((winner, state.position().opponent_off()), (by, 15));
                games += 1;
            }
        }
        assert_eq!(state.winner().is_some(), rules.terms().matches, "{rules}");
    }
}

#[test]
fn what_is_expected_is_said() {
    let said = |state: &Match, by, action| state.clone().apply(by, action).unwrap_err().to_string();
    let mut state = money(RuleSet::Backgammon, with_money_options(false, true));
    assert_eq!(
        said(&state, Zero, Action::NextGame),
        "player 0 cannot begin the next game now: expected one die of each player"
    );
    state.apply(Zero, Action::Opening([3, 1])).unwrap();
    assert_eq!(said(&state, Zero, Action::Double), "player 0 cannot double now: expected player 0 to play 31");
    state = at(&state, SINGLE);
    assert_eq!(said(&state, One, roll(3, 1)), "player 1 cannot roll 31 now: expected player 0 to roll or to double");
    let mut resigning = state.clone();
    resigning.apply(Zero, Action::Resign(2)).unwrap();
    assert_eq!(
        said(&resigning, Zero, roll(3, 1)),
        "player 0 cannot roll 31 now: expected player 1 to accept or to refuse a resignation of 2 points"
    );
    state.apply(Zero, Action::Double).unwrap();
    assert_eq!(
        said(&state, Zero, Action::Take),
        "player 0 cannot take a double now: expected player 1 to take, to beaver or to drop a double"
    );
    state.apply(One, Action::Drop).unwrap();
    assert_eq!(said(&state, Zero, Action::Accept), "player 0 cannot accept a resignation now: expected the next game");
}

#[test]
fn a_state_that_contradicts_itself_names_its_fault() {
    let fault = |change: &dyn Fn(&mut Value)| {
        let mut value = serde_json::to_value(second_turn(RuleSet::Backgammon, Some(5))).unwrap();
        change(&mut value);
        serde_json::from_value::<Match>(value).unwrap_err().to_string()
    };
    for (key, value, expected) in [
        ("rules", json!("table"), "table has no match to 5 points"),
        ("scores", json!([5, 0]), "the score 5-0 does not fit a match to 5 points that goes on"),
        ("game", json!(0), "the game has the number 0, expected 1 or more"),
        ("position", json!("x"), "a Position ID has 14 characters, this has 1"),
        ("on_roll", json!(2), "2 is no player: expected 0 or 1"),
        ("phase", json!("play"), "there are dice exactly when a play is waited for"),
        ("dice", json!([3, 1]), "there are dice exactly when a play is waited for"),
        ("phase", json!("game_over"), "there is a result exactly when the game is over"),
        (
            "cube",
            json!({"value": 2, "owner": "centered"}),
            "a cube of 2 (Centered, as the player on roll sees it) is not possible here",
        ),
        ("resignation", json!({"by": 0, "points": 1}), "player 0 cannot be offering to lose 1"),
        ("turn_used", json!(1), "1 ms of the turn and 0-0 ms of the reserves cannot be used"),
        ("options", json!({"automatic_doubles": 1}), "backgammon has no options of money play, nor has a match"),
        ("options", json!({"highest_cube": 3}), "the cube shows 3, expected a power of two from 1 to 32768"),
    ] {
        let said = fault(&|state| state[key] = value.clone());
        assert!(said.contains(expected), "{key}: {said}");
    }
    assert!(fault(&|state| state["crawford"] = json!(true)).contains("is no score of a Crawford game"));
}

#[test]
fn a_result_that_cannot_be_names_its_fault() {
    let mut over = second_turn(RuleSet::Tavla, Some(5));
    over.apply(One, Action::Double).unwrap();
    over.apply(Zero, Action::Drop).unwrap();
    let fault = |key: &str, changed: Value| {
        let mut value = serde_json::to_value(&over).unwrap();
        value[key] = changed;
        serde_json::from_value::<Match>(value).unwrap_err().to_string()
    };
    for (result, expected) in [
        (json!({"winner": 0, "ending": "dropped"}), "player 0 cannot have won by Dropped"),
        (json!({"winner": 0, "ending": {"resigned": 4}}), "player 0 cannot have won by Resigned(4)"),
        (json!({"winner": 1, "ending": {"resigned": 1}}), "player 1 cannot have won by Resigned(1)"),
        (json!({"winner": 1, "ending": "time_claimed"}), "player 1 cannot have won by TimeClaimed"),
        (json!({"winner": 1, "ending": "time_out"}), "player 1 cannot have won by TimeOut"),
        (json!({"winner": 0, "ending": "borne_off"}), "does not fit what is waited for or how the game ended"),
        (json!({"winner": 0, "ending": {"resigned": 1}}), "the score 0-1 does not fit"),
        (json!(null), "there is a result exactly when the game is over"),
    ] {
        let said = fault("result", result.clone());
        assert!(said.contains(expected), "{result}: {said}");
    }
    assert!(fault("scores", json!([0, 5])).contains("the score 0-5 does not fit"));
    assert!(fault("phase", json!("match_over")).contains("the score 0-1 does not fit"));
    // A double of a cube at 2 costs him who drops it more than the score says.
    assert!(fault("cube", json!({"value": 2, "owner": "player"})).contains("the score 0-1 does not fit"));
}
