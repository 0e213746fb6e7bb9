//! The rules that all rule sets share, one test for each, with positions small enough to be checked by eye.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use zar::{
    board::Position,
    rules::{Dice, Move, RuleSet},
};

/// Counts by point: positive for the player on roll, negative for the opponent; 25 is the player's bar, 0 the opponent's.
fn position(counts: &[(usize, i8)]) -> Position {
    let mut points = [0; 26];
    for &(point, count) in counts {
        points[point] = count;
    }
    Position::new(points).unwrap()
}

fn plays(position: &Position, high: u8, low: u8, rules: RuleSet) -> BTreeSet<String> {
    let plays = position.legal_plays(Dice::new(high, low).unwrap(), rules);
    plays.iter().map(|legal| legal.play.text(position)).collect()
}

/// Holds `counts` and the roll to the plays, under every rule set; the least waste of `table` aside.
fn assert_plays(counts: &[(usize, i8)], [high, low]: [u8; 2], expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(|&text| text.to_owned()).collect();
    for rules in RuleSet::ALL.into_iter().filter(|rules| !rules.terms().least_waste) {
        assert_eq!(plays(&position(counts), high, low, rules), expected, "{counts:?} {high}{low} {rules}");
    }
}

/// C1.
#[test]
fn the_start_has_15_checkers_a_side() {
    let own = [(24, 2), (13, 5), (8, 3), (6, 5)];
    let others = own.map(|(point, count): (usize, i8)| (25 - point, -count));
    assert_eq!(position(&[own, others].concat()), Position::START);
    assert_eq!((Position::START.off(), Position::START.opponent_off()), (0, 0));
}

/// C3: own points without limit, empty points and blots are open; two opposing checkers block.
#[test]
fn where_a_checker_may_land() {
    assert_plays(&[(10, 1), (8, -2), (9, -2), (6, 14), (5, -2), (4, -2)], [2, 1], &[""]);
    assert_plays(&[(10, 1), (8, -1), (9, -2), (7, -2), (1, -5)], [2, 1], &["10/8*"]);
    assert_plays(&[(8, 1), (7, -2), (6, 14), (5, -2), (4, -2)], [2, 1], &["8/6"]);
}

/// C4: one checker may make both moves when the point between is open, and a double gives four.
#[test]
fn two_dice_are_two_moves_and_a_double_is_four() {
    assert_plays(&[(12, 1), (1, -1)], [4, 2], &["12/6"]);
    assert_plays(&[(12, 1), (10, -2), (1, -1)], [4, 2], &["12/6"]);
    assert_plays(&[(12, 1), (10, -2), (8, -2), (1, -1)], [4, 2], &[""]);
    assert_plays(&[(24, 1), (1, -1)], [3, 3], &["24/12"]);
    assert_plays(&[(24, 1), (15, -2), (1, -1)], [3, 3], &["24/18"]);
}

/// C5.
#[test]
fn a_hit_blot_goes_to_the_bar() {
    let before = position(&[(10, 1), (7, -1), (4, -2)]);
    let after = before.legal_plays(Dice::new(3, 2).unwrap(), RuleSet::Backgammon);
    let hit = after.iter().find(|legal| legal.play.text(&before) == "10/7*/5").unwrap();
    assert_eq!((hit.after.bar(), hit.after.checkers(25 - 7)), (1, 0));
}

/// C6: a die d enters on the 25-d point, all checkers enter before any other moves, and a closed board passes the turn.
#[test]
fn checkers_on_the_bar_enter_first() {
    for die in 1..=6 {
        let open = 25 - usize::from(die);
        let closed = (19..=24).filter(|&point| point != open).map(|point| (point, -2));
        let counts: Vec<_> = closed.chain([(25, 1)]).collect();
        let other = if die == 6 { 5 } else { 6 };
        let entered = position(&counts).legal_plays(Dice::new(die, other).unwrap(), RuleSet::Backgammon);
        assert!(entered.iter().all(|legal| legal.play[0] == Move { from: 25, to: open as u8 }), "{die}");
    }
    // The second checker cannot enter, so that nothing else moves.
    assert_plays(&[(25, 2), (13, 1), (19, -2)], [6, 1], &["bar/24"]);
    let closed: Vec<_> = (19..=24).map(|point| (point, -2)).chain([(25, 1), (13, 2)]).collect();
    assert_plays(&closed, [6, 1], &[""]);
}

/// C7: bearing off needs all checkers at home, an exact or a needlessly high die, and is never forced.
#[test]
fn when_checkers_are_borne_off() {
    assert_plays(&[(7, 1), (1, 1), (24, -1)], [6, 5], &["7/off"]);
    assert_plays(&[(8, 1), (6, 1), (24, -1)], [6, 5], &["8/2 6/1", "8/3 6/off"]);
    // A six bears off from the highest point, the 4; a three then moves inside or bears off from the 3.
    assert_plays(&[(4, 2), (3, 1), (24, -1)], [6, 3], &["4/1 4/off", "4/off 3/off"]);
    // A two on a gap is moved from above.
    assert_plays(&[(4, 1), (1, 1), (24, -1)], [2, 1], &["4/2 1/off", "4/1"]);
    // A checker that was hit comes home first.
    assert_plays(&[(25, 1), (1, 1), (12, -1)], [2, 1], &["bar/22"]);
}

/// C8: as many dice as possible, and if only one the larger.
#[test]
fn the_most_of_a_roll_is_played() {
    // The six is blocked before the one is played and after it; elsewhere only before it.
    assert_plays(&[(10, 1), (4, -2), (3, -2), (1, -1)], [6, 1], &["10/9"]);
    assert_plays(&[(12, 1), (6, -2), (1, -1)], [6, 1], &["12/5"]);
    // Either die can be played, not both: the six must be.
    assert_plays(&[(12, 1), (5, -2), (1, -2)], [6, 1], &["12/6"]);
    // A double is played as often as it goes: here three times.
    assert_plays(&[(17, 1), (1, -2)], [4, 4], &["17/5"]);
}
