//! What holds for every position: legal plays against a plain generator, texts that are read as they were written, and
//! parsers that refuse whatever else they are given.

use std::collections::BTreeSet;

use proptest::{prelude::*, sample::select};
use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};
use zar::{
    board::{
        BAR, CHECKERS, CubeOwner, GameState, MatchId, MatchPlayer, Position, Resignation, Xgid, XgidAction, XgidPlayer,
    },
    rules::{Dice, Play, RuleSet},
};

const RULES: RuleSet = RuleSet::Backgammon;

/// A position that random legal play from the start comes to after `plies` turns, or shortly before the end of the
/// game.
fn reachable(seed: u64, plies: usize) -> Position {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut position = Position::START;
    for _ in 0..plies {
        let plays = position.legal_plays(Dice::roll(&mut rng), RULES);
        let after = plays[rng.next_u32() as usize % plays.len()].after;
        if after.is_over() {
            break;
        }
        position = after;
    }
    position
}

fn reachable_positions() -> impl Strategy<Value = Position> {
    (any::<u64>(), 0..150usize).prop_map(|(seed, plies)| reachable(seed, plies))
}

/// Any position in which the game goes on, most of which no game comes to; in half of them the player bears off.
fn possible_positions() -> impl Strategy<Value = Position> {
    let places = |highest| prop::collection::vec(1..=highest, 1..=15usize);
    (prop_oneof![places(6), places(BAR)], places(BAR)).prop_map(|(own, opposing)| {
        let mut points = [0; 26];
        own.iter().for_each(|&point| points[point] += 1);
        for point in opposing.iter().map(|point| BAR - point) {
            // Where the player stands the opponent cannot: that checker is on the bar.
            points[if points[point] > 0 { 0 } else { point }] -= 1;
        }
        Position::new(points).expect("1 to 15 checkers a side, each on points of his own")
    })
}

fn positions() -> impl Strategy<Value = Position> {
    prop_oneof![reachable_positions(), possible_positions()]
}

fn rolls() -> impl Strategy<Value = Dice> {
    select(&Dice::ALL[..])
}

/// Signed counts of a board; the player who moves has the sign `side`: 1 moves down from 25, -1 up from 0.
type Board = [i8; 26];

/// Moves one checker by one die, if the rules allow it as a move by itself.
fn moved(board: &Board, side: i8, from: usize, die: u8) -> Option<Board> {
    let own = |point: usize| board[point] * side;
    let (bar, in_home): (usize, fn(usize) -> bool) =
        if side > 0 { (25, |point| point <= 6) } else { (0, |point| point >= 19) };
    // How far a point is from off.
    let distance = |point: usize| if side > 0 { point } else { 25 - point };
    if own(from) <= 0 || own(bar) > 0 && from != bar {
        return None;
    }
    let mut after = *board;
    after[from] -= side;
    if distance(from) > usize::from(die) {
        let to = if side > 0 { from - usize::from(die) } else { from + usize::from(die) };
        if own(to) < -1 {
            return None;
        }
        if own(to) == -1 {
            after[to] = 0;
            after[25 - bar] -= side;
        }
        after[to] += side;
    } else {
        let all_home = (0..26).all(|point| own(point) <= 0 || in_home(point));
        let farther = (0..26).any(|point| own(point) > 0 && distance(point) > distance(from));
        if !all_home || distance(from) < usize::from(die) && farther {
            return None;
        }
    }
    Some(after)
}

/// The boards that playing as many of `dice` as possible, in this order, leads to, and how many dice that is. A game that
/// ends has used them all.
fn played_in_order(board: Board, side: i8, dice: &[u8]) -> (usize, BTreeSet<Board>) {
    let mut boards = BTreeSet::from([board]);
    let mut ended = BTreeSet::new();
    for (played, &die) in dice.iter().enumerate() {
        let next: BTreeSet<Board> =
            boards.iter().flat_map(|board| (0..26).filter_map(move |from| moved(board, side, from, die))).collect();
        if next.is_empty() {
            return if ended.is_empty() { (played, boards) } else { (dice.len(), ended) };
        }
        let (over, going_on) = next.into_iter().partition(|board| board.iter().all(|&count| count * side <= 0));
        ended.extend::<BTreeSet<Board>>(over);
        boards = going_on;
    }
    boards.extend(ended);
    (dice.len(), boards)
}

/// Every legal result by rule C8 (as many dice as possible, the higher if only one), found by trying everything.
fn brute_force(board: Board, side: i8, dice: Dice) -> (usize, BTreeSet<Board>) {
    let (high, low) = (dice.high(), dice.low());
    if dice.is_double() {
        return played_in_order(board, side, &[high; 4]);
    }
    let (high_first, mut results) = played_in_order(board, side, &[high, low]);
    let (low_first, others) = played_in_order(board, side, &[low, high]);
    let most = high_first.max(low_first);
    match (most, high_first == most, low_first == most) {
        (0, ..) => {}
        // One die only: the higher if it can be played.
        (1, false, _) | (2, false, true) => results = others,
        (2, true, true) => results.extend(others),
        _ => {}
    }
    (most, results)
}

fn after_boards(position: &Position, dice: Dice) -> BTreeSet<Board> {
    position.legal_plays(dice, RULES).iter().map(|play| *play.after.points()).collect()
}

/// Characters of `text` replaced, inserted or left out.
fn mutated(text: &str, changes: &[(usize, u8, char)]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for &(place, kind, character) in changes {
        let place = place % (characters.len() + 1);
        match kind {
            0 if place < characters.len() => characters[place] = character,
            1 if place < characters.len() => drop(characters.remove(place)),
            _ => characters.insert(place, character),
        }
    }
    characters.into_iter().collect()
}

fn changes() -> impl Strategy<Value = Vec<(usize, u8, char)>> {
    let character = prop_oneof![
        4 => select("0123456789/*(), -:=ABCDEOPZabcdeopz+barofXGID".chars().collect::<Vec<_>>()),
        1 => any::<char>(),
    ];
    prop::collection::vec((0..40usize, 0..3u8, character), 0..4)
}

/// Gives a text to every parser. What they accept must be what is written again.
fn parse_all(text: &str, position: &Position, dice: Dice) -> Result<(), TestCaseError> {
    if let Ok(read) = text.parse::<Position>() {
        prop_assert_eq!(read.to_string(), text);
    }
    if let Ok(read) = text.parse::<MatchId>() {
        prop_assert_eq!(read.to_string(), text);
    }
    if let Ok(read) = text.parse::<Xgid>() {
        prop_assert_eq!(read.to_string().parse(), Ok(read));
    }
    if let Ok(read) = text.parse::<Dice>() {
        prop_assert_eq!(read.to_string().parse(), Ok(read));
    }
    if let Ok(read) = text.parse::<RuleSet>() {
        prop_assert_eq!(read.to_string(), text);
    }
    match position.parse_play(text, dice, RULES) {
        Ok(read) => prop_assert!(position.legal_plays(dice, RULES).contains(&read)),
        Err(fault) => prop_assert!(!fault.to_string().is_empty()),
    }
    Ok(())
}

fn match_players() -> impl Strategy<Value = MatchPlayer> {
    select(vec![MatchPlayer::Zero, MatchPlayer::One])
}

/// Two dice in the order in which they fell, or none.
fn fallen_dice() -> impl Strategy<Value = Option<[u8; 2]>> {
    prop::option::of([1..=6u8, 1..=6u8])
}

/// Match lengths with scores below them; any scores in money play.
fn scores() -> impl Strategy<Value = (u32, [u32; 2])> {
    prop_oneof![
        (0..1000u32, 0..1000u32).prop_map(|(first, second)| (0, [first, second])),
        (1..=32767u32).prop_flat_map(|length| (Just(length), [0..length, 0..length])),
    ]
}

fn match_ids() -> impl Strategy<Value = MatchId> {
    let states = vec![GameState::NoGame, GameState::Playing, GameState::Over, GameState::Resigned, GameState::Dropped];
    let resignations = vec![Resignation::None, Resignation::Single, Resignation::Gammon, Resignation::Backgammon];
    (
        (0..=15u32, prop::option::of(match_players()), match_players(), match_players()),
        (any::<bool>(), select(states), any::<bool>(), select(resignations)),
        (fallen_dice(), scores(), any::<bool>()),
    )
        .prop_map(
            |(
                (cube, cube_owner, on_roll, turn),
                (crawford, state, double_offered, resignation),
                (dice, (match_length, scores), jacoby),
            )| {
                let one_away = scores.iter().any(|score| score + 1 == match_length);
                MatchId {
                    cube_value: 1 << cube,
                    cube_owner,
                    on_roll,
                    turn,
                    crawford: crawford && one_away,
                    state,
                    double_offered: double_offered && dice.is_none(),
                    resignation,
                    dice,
                    match_length,
                    scores,
                    jacoby,
                }
            },
        )
}

fn xgids() -> impl Strategy<Value = Xgid> {
    let actions = prop_oneof![
        Just(XgidAction::None),
        [1..=6u8, 1..=6u8].prop_map(XgidAction::Rolled),
        select(vec![XgidAction::Doubled, XgidAction::Beavered, XgidAction::Raccooned]),
    ];
    (
        (positions(), select(vec![XgidPlayer::Bottom, XgidPlayer::Top]), actions, scores()),
        (0..=15u32, 0..=15u32, select(vec![CubeOwner::Centered, CubeOwner::Player, CubeOwner::Opponent])),
        (any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(
            |(
                (position, turn, action, (match_length, scores)),
                (cube, max_cube, cube_owner),
                (crawford, jacoby, beavers),
            )| {
                let one_away = scores.iter().any(|score| score + 1 == match_length);
                Xgid {
                    position,
                    cube_value: 1 << cube,
                    cube_owner,
                    turn,
                    action,
                    scores,
                    crawford: crawford && one_away,
                    jacoby: jacoby && match_length == 0,
                    beavers: beavers && match_length == 0,
                    match_length,
                    max_cube: 1 << max_cube,
                }
            },
        )
}

proptest! {
    #[test]
    fn checkers_never_appear_or_vanish(position in positions(), dice in rolls()) {
        for play in position.legal_plays(dice, RULES).iter() {
            let after = play.after;
            let on_board = |side: i8| -> i8 { after.points().iter().map(|&count| (count * side).max(0)).sum() };
            prop_assert_eq!(on_board(1) as u8 + after.off(), CHECKERS);
            prop_assert_eq!(on_board(-1) as u8 + after.opponent_off(), CHECKERS);
            prop_assert_eq!(after.off(), position.opponent_off());
        }
    }

    #[test]
    fn each_play_leads_die_by_die_to_its_result(position in positions(), dice in rolls()) {
        for play in position.legal_plays(dice, RULES).iter() {
            let mut left = if dice.is_double() { vec![dice.high(); 4] } else { vec![dice.high(), dice.low()] };
            let mut now = position;
            for &made in play.play.iter() {
                // The die is the distance, or a larger one when the checker goes off.
                let distance = made.from - made.to;
                let exact = left.iter().position(|&die| die == distance);
                let used = exact.or_else(|| left.iter().position(|&die| made.to == 0 && die > distance));
                prop_assert!(used.is_some(), "{} with {:?}", made, left);
                let die = left.remove(used.unwrap());
                let board = moved(now.points(), 1, made.from.into(), die);
                now = now.after_move(made).unwrap();
                prop_assert_eq!(board, Some(*now.points()));
            }
            prop_assert_eq!(now.swapped(), play.after);
        }
    }

    #[test]
    fn legal_plays_are_what_trying_everything_finds(position in positions(), dice in rolls()) {
        let plays = position.legal_plays(dice, RULES);
        let (used, results) = brute_force(*position.points(), 1, dice);
        prop_assert!(plays.iter().all(|play| play.play.len() == used || play.after.opponent_off() == CHECKERS));
        let found: BTreeSet<Board> = plays.iter().map(|play| *play.after.swapped().points()).collect();
        prop_assert_eq!(found.len(), plays.len(), "a result is there twice");
        prop_assert_eq!(found, results);
    }

    #[test]
    fn the_other_side_of_the_board_has_the_mirrored_plays(position in positions(), dice in rolls()) {
        prop_assert_eq!(position.swapped().swapped(), position);
        // The same turn on a board that is not turned round: the player has the negative counts and moves up.
        let (_, results) = brute_force(*position.swapped().points(), -1, dice);
        prop_assert_eq!(after_boards(&position, dice), results);
    }

    #[test]
    fn each_play_is_read_as_it_is_written(position in positions(), dice in rolls()) {
        for play in position.legal_plays(dice, RULES).iter() {
            let text = play.play.text(&position);
            prop_assert_eq!(position.parse_play(&text, dice, RULES), Ok(*play), "{}", text);
            let numbers = text.to_uppercase().replace("BAR", "25").replace("OFF", "0").replace(' ', ",");
            prop_assert_eq!(position.parse_play(&numbers, dice, RULES), Ok(*play), "{}", numbers);
        }
    }

    #[test]
    fn moves_are_read_one_by_one_in_any_order(position in positions(), dice in rolls(), seed in any::<u64>()) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        for play in position.legal_plays(dice, RULES).iter() {
            let mut words: Vec<String> = play.play.iter().map(ToString::to_string).collect();
            for i in (1..words.len()).rev() {
                words.swap(i, rng.next_u32() as usize % (i + 1));
            }
            let text = words.join(" ");
            prop_assert_eq!(position.parse_play(&text, dice, RULES), Ok(*play), "{}", text);
        }
    }

    #[test]
    fn what_is_read_is_legal(
        position in positions(),
        dice in rolls(),
        ways in prop::collection::vec((0..=25u8, 0..12u8, any::<bool>()), 0..5),
    ) {
        let words: Vec<String> = ways
            .iter()
            .map(|&(from, pips, star)| format!("{from}/{}{}", from.saturating_sub(pips), if star { "*" } else { "" }))
            .collect();
        if let Ok(read) = position.parse_play(&words.join(" "), dice, RULES) {
            prop_assert!(position.legal_plays(dice, RULES).contains(&read));
        }
    }

    #[test]
    fn position_ids_are_read_as_they_are_written(position in positions()) {
        prop_assert_eq!(position.to_string().parse(), Ok(position));
    }

    #[test]
    fn match_ids_are_read_as_they_are_written(id in match_ids()) {
        prop_assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn xgids_are_read_as_they_are_written(xgid in xgids()) {
        let text = xgid.to_string();
        prop_assert_eq!(text.parse(), Ok(xgid), "{}", text);
        prop_assert_eq!(text.strip_prefix("XGID=").unwrap().parse(), Ok(xgid));
    }

    #[test]
    fn no_text_makes_a_parser_panic(text in "\\PC*", position in positions(), dice in rolls()) {
        parse_all(&text, &position, dice)?;
    }

    #[test]
    fn no_damaged_text_makes_a_parser_panic(
        position in positions(),
        dice in rolls(),
        (id, xgid) in (match_ids(), xgids()),
        which in any::<prop::sample::Index>(),
        changes in changes(),
    ) {
        let plays = position.legal_plays(dice, RULES);
        let play: Play = plays[which.index(plays.len())].play;
        for text in [position.to_string(), id.to_string(), xgid.to_string(), dice.to_string(), play.text(&position)] {
            parse_all(&mutated(&text, &changes), &position, dice)?;
        }
    }

    #[test]
    fn no_characters_of_the_alphabet_make_a_parser_panic(text in "[A-Za-z0-9+/]{12}|[A-Za-z0-9+/]{14}") {
        parse_all(&text, &Position::START, Dice::ALL[0])?;
    }

    /// Records made by hand may hold anything; they are refused, and what is written for them is still a text.
    #[test]
    fn impossible_records_are_refused(
        id in match_ids(),
        cube_value in any::<u32>(),
        match_length in any::<u32>(),
        scores in any::<[u32; 2]>(),
        dice in any::<Option<[u8; 2]>>(),
    ) {
        let wild = MatchId { cube_value, match_length, scores, dice, ..id };
        prop_assert_eq!(wild.to_string().len(), 12);
        if wild.check().is_ok() {
            prop_assert_eq!(wild.to_string().parse(), Ok(wild));
        }
        let action = dice.map_or(XgidAction::None, XgidAction::Rolled);
        let wild = Xgid { cube_value, match_length, scores, action, ..Xgid::money(Position::START) };
        if wild.check().is_ok() {
            prop_assert_eq!(wild.to_string().parse(), Ok(wild));
        } else {
            prop_assert!(wild.to_string().starts_with("XGID="));
        }
    }
}
