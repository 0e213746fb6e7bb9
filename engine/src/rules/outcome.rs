//! What a finished game was: single, gammon or triple, won or lost.

use crate::board::{CHECKERS, Position};

use super::RuleSet;

/// How a game ended for the player from whose side the position is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// He bore off all his checkers first, the opponent at least one.
    WinSingle,
    /// He won before the opponent bore off a checker.
    WinGammon,
    /// He won a backgammon (a triple game).
    WinTriple,
    /// He lost a single game.
    LoseSingle,
    /// He lost a gammon.
    LoseGammon,
    /// He lost a backgammon (a triple game).
    LoseTriple,
}

impl Outcome {
    /// How the game in `position` has ended for the player on roll, or `None` while it goes on.
    ///
    /// Under [`RuleSet::Backgammon`] a gammon is lost with no checker off, and a backgammon when besides one is still on
    /// the bar or in the winner's home board.
    pub fn of(position: &Position, rules: RuleSet) -> Option<Outcome> {
        let RuleSet::Backgammon = rules;
        if position.off() == CHECKERS {
            Some(match lost(&position.swapped()) {
                Outcome::LoseSingle => Outcome::WinSingle,
                Outcome::LoseGammon => Outcome::WinGammon,
                _ => Outcome::WinTriple,
            })
        } else if position.opponent_off() == CHECKERS {
            Some(lost(position))
        } else {
            None
        }
    }

    /// Points that the outcome pays at a cube of 1, negative when lost.
    pub fn points(self, rules: RuleSet) -> i32 {
        let RuleSet::Backgammon = rules;
        match self {
            Outcome::WinSingle => 1,
            Outcome::WinGammon => 2,
            Outcome::WinTriple => 3,
            Outcome::LoseSingle => -1,
            Outcome::LoseGammon => -2,
            Outcome::LoseTriple => -3,
        }
    }
}

/// The loss of the player on roll, whose opponent has borne off everything.
fn lost(position: &Position) -> Outcome {
    let in_winners_home = (19..=25).any(|point| position.checkers(point) > 0);
    match (position.off(), in_winners_home) {
        (0, true) => Outcome::LoseTriple,
        (0, false) => Outcome::LoseGammon,
        _ => Outcome::LoseSingle,
    }
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
