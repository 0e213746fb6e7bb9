//! What a finished game was: single, gammon or triple, won or lost.

use crate::board::{BAR, CHECKERS, Position};

use super::{RuleSet, rule_set::TRIPLE_POINTS};

/// How a game ended for the player from whose side the position is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// He bore off all his checkers first, the opponent at least one.
    WinSingle,
    /// He won before the opponent bore off a checker.
    WinGammon,
    /// He won a triple game, in backgammon called a backgammon.
    WinTriple,
    /// He lost a single game.
    LoseSingle,
    /// He lost a gammon.
    LoseGammon,
    /// He lost a triple game.
    LoseTriple,
}

impl Outcome {
    /// How the game in `position` has ended for the player on roll, or `None` while it goes on.
    ///
    /// A gammon is lost with no checker off, a triple game when besides the loser's checkers stand as
    /// [`Terms::triple`](super::Terms::triple) says. Where a rule set knows no gammons or no triple games, there are none.
    #[inline]
    pub fn of(position: &Position, rules: RuleSet) -> Option<Outcome> {
        if position.off() == CHECKERS {
            Some(lost(&position.swapped(), rules).reversed())
        } else if position.opponent_off() == CHECKERS {
            Some(lost(position, rules))
        } else {
            None
        }
    }

    /// How the player on roll would lose if the game ended with the board as it is.
    pub fn loss_as_it_stands(position: &Position, rules: RuleSet) -> Outcome {
        lost(position, rules)
    }

    /// Points that the outcome pays at a cube of 1, negative when lost.
    pub fn points(self, rules: RuleSet) -> i32 {
        let (gammon, triple) = (rules.terms().gammon_points as i32, TRIPLE_POINTS as i32);
        match self {
            Outcome::WinSingle => 1,
            Outcome::WinGammon => gammon,
            Outcome::WinTriple => triple,
            Outcome::LoseSingle => -1,
            Outcome::LoseGammon => -gammon,
            Outcome::LoseTriple => -triple,
        }
    }

    /// The same outcome for the other player.
    pub fn reversed(self) -> Outcome {
        match self {
            Outcome::WinSingle => Outcome::LoseSingle,
            Outcome::WinGammon => Outcome::LoseGammon,
            Outcome::WinTriple => Outcome::LoseTriple,
            Outcome::LoseSingle => Outcome::WinSingle,
            Outcome::LoseGammon => Outcome::WinGammon,
            Outcome::LoseTriple => Outcome::WinTriple,
        }
    }
}

/// The loss of the player on roll, whose opponent has borne off everything.
#[inline]
pub(super) fn lost(position: &Position, rules: RuleSet) -> Outcome {
    let terms = rules.terms();
    if position.off() > 0 || !rules.has_gammons() {
        return Outcome::LoseSingle;
    }
    if terms
        .triple
        .is_some_and(|triple| (triple.furthest_safe_point() + 1..=BAR).any(|point| position.checkers(point) > 0))
    {
        return Outcome::LoseTriple;
    }
    Outcome::LoseGammon
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost_with(counts: &[(usize, i8)]) -> Position {
        let mut points = [0; 26];
        for &(point, count) in counts {
            points[point] = count;
        }
        Position::new(points).unwrap()
    }

    #[test]
    fn losses_and_their_mirror_wins() {
        for (counts, loss, win) in [
            (vec![(6, 14)], Outcome::LoseSingle, Outcome::WinSingle),
            (vec![(6, 15)], Outcome::LoseGammon, Outcome::WinGammon),
            (vec![(6, 14), (18, 1)], Outcome::LoseGammon, Outcome::WinGammon),
            (vec![(6, 14), (19, 1)], Outcome::LoseTriple, Outcome::WinTriple),
            (vec![(6, 14), (25, 1)], Outcome::LoseTriple, Outcome::WinTriple),
            (vec![(6, 13), (25, 1)], Outcome::LoseSingle, Outcome::WinSingle),
        ] {
            let position = lost_with(&counts);
            assert_eq!(Outcome::of(&position, RuleSet::Backgammon), Some(loss), "{counts:?}");
            assert_eq!(Outcome::of(&position.swapped(), RuleSet::Backgammon), Some(win), "{counts:?}");
            assert_eq!(loss.points(RuleSet::Backgammon), -win.points(RuleSet::Backgammon));
        }
        assert_eq!(Outcome::of(&Position::START, RuleSet::Backgammon), None);
    }
}
