//! How a game may end, and what that is worth.

use std::{fmt, ops::Neg};

use serde::{Deserialize, Serialize};

use crate::board::{BAR, Position};

use super::{Outcome, RuleSet};

/// The probabilities of the ways in which a game ends, for the player on roll.
///
/// They are cumulative: a gammon won is also a win, a backgammon also a gammon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Probabilities {
    /// P(win).
    pub win: f32,
    /// P(win a gammon or better).
    pub win_gammon: f32,
    /// P(win a triple game).
    pub win_triple: f32,
    /// P(lose a gammon or worse).
    pub lose_gammon: f32,
    /// P(lose a triple game).
    pub lose_triple: f32,
}

/// An expected result in points at a cube of 1, for the player on roll.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Equity(pub f32);

impl Probabilities {
    /// From `[win, win gammon, win triple, lose gammon, lose triple]`.
    #[inline]
    pub const fn from_array([win, win_gammon, win_triple, lose_gammon, lose_triple]: [f32; 5]) -> Probabilities {
        Probabilities { win, win_gammon, win_triple, lose_gammon, lose_triple }
    }

    /// As `[win, win gammon, win triple, lose gammon, lose triple]`.
    #[inline]
    pub const fn to_array(self) -> [f32; 5] {
        [self.win, self.win_gammon, self.win_triple, self.lose_gammon, self.lose_triple]
    }

    /// The certain result of a finished game.
    pub fn certain(outcome: Outcome) -> Probabilities {
        Probabilities::from_array(match outcome {
            Outcome::WinSingle => [1.0, 0.0, 0.0, 0.0, 0.0],
            Outcome::WinGammon => [1.0, 1.0, 0.0, 0.0, 0.0],
            Outcome::WinTriple => [1.0, 1.0, 1.0, 0.0, 0.0],
            Outcome::LoseSingle => [0.0, 0.0, 0.0, 0.0, 0.0],
            Outcome::LoseGammon => [0.0, 0.0, 0.0, 1.0, 0.0],
            Outcome::LoseTriple => [0.0, 0.0, 0.0, 1.0, 1.0],
        })
    }

    /// The same for the other player.
    #[inline]
    pub fn flipped(self) -> Probabilities {
        Probabilities {
            win: 1.0 - self.win,
            win_gammon: self.lose_gammon,
            win_triple: self.lose_triple,
            lose_gammon: self.win_gammon,
            lose_triple: self.win_triple,
        }
    }

    /// Cubeless money equity: 2·P(win) − 1, and what gammons and triple games pay more than a single game. Under the
    /// international rules that is 2·P(win) − 1 + P(wg) + P(wbg) − P(lg) − P(lbg).
    #[inline]
    pub fn equity(self, rules: RuleSet) -> Equity {
        let (gammon, triple) = rules.premiums();
        Equity(
            2.0 * self.win - 1.0
                + gammon * (self.win_gammon - self.lose_gammon)
                + triple * (self.win_triple - self.lose_triple),
        )
    }

    /// Takes away what cannot happen from `position` any more, and what contradicts itself or the rules: a side that
    /// has borne off a checker loses no gammon, in a race nobody loses a triple game without a checker where the rules ask
    /// for one, and no ending is likelier than one that includes it.
    #[inline]
    pub fn made_possible(self, position: &Position, rules: RuleSet) -> Probabilities {
        let mut p = self;
        let gammons = rules.has_gammons();
        p.win_gammon = if position.opponent_off() > 0 || !gammons { 0.0 } else { p.win_gammon.min(p.win) };
        p.lose_gammon = if position.off() > 0 || !gammons { 0.0 } else { p.lose_gammon.min(1.0 - p.win) };
        let Some(triple) = rules.terms().triple else {
            (p.win_triple, p.lose_triple) = (0.0, 0.0);
            return p;
        };
        p.win_triple = p.win_triple.min(p.win_gammon);
        p.lose_triple = p.lose_triple.min(p.lose_gammon);
        if position.is_race() {
            let safe = triple.furthest_safe_point();
            if position.points()[..BAR - safe].iter().all(|&count| count >= 0) {
                p.win_triple = 0.0;
            }
            if position.points()[safe + 1..].iter().all(|&count| count <= 0) {
                p.lose_triple = 0.0;
            }
        }
        p
    }
}

impl Neg for Equity {
    type Output = Equity;

    /// The same for the other player.
    #[inline]
    fn neg(self) -> Equity {
        Equity(-self.0)
    }
}

impl fmt::Display for Equity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:+.*}", f.precision().unwrap_or(3), self.0)
    }
}

/// The place of the evaluation that is worth least to the next player, and so most to the player who makes the play; the
/// first of equals. 0 when there is none.
#[inline]
pub fn best_play(evaluations: &[Probabilities], rules: RuleSet) -> usize {
    let mut best = (0, f32::INFINITY);
    for (place, evaluation) in evaluations.iter().enumerate() {
        let equity = evaluation.equity(rules).0;
        if equity < best.1 {
            best = (place, equity);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_results_are_worth_their_points() {
        use Outcome::*;
        for outcome in [WinSingle, WinGammon, WinTriple, LoseSingle, LoseGammon, LoseTriple] {
            let certain = Probabilities::certain(outcome);
            let points = outcome.points(RuleSet::Backgammon) as f32;
            assert_eq!(certain.equity(RuleSet::Backgammon), Equity(points), "{outcome:?}");
            assert_eq!(certain.flipped().equity(RuleSet::Backgammon), Equity(-points), "{outcome:?}");
        }
    }

    #[test]
    fn impossible_endings_are_taken_away() {
        let all = Probabilities::from_array([0.5, 0.6, 0.7, 0.6, 0.7]);
        assert_eq!(all.made_possible(&Position::START, RuleSet::Backgammon).to_array(), [0.5; 5]);
        let mut points = [0i8; 26];
        points[3] = 15;
        points[22] = -14;
        let race = Position::new(points).unwrap();
        assert_eq!(all.made_possible(&race, RuleSet::Backgammon).to_array(), [0.5, 0.0, 0.0, 0.5, 0.0]);
        assert_eq!(
            all.flipped().made_possible(&race.swapped(), RuleSet::Backgammon).to_array(),
            [0.5, 0.5, 0.0, 0.0, 0.0]
        );
        // The opponent still has a checker in the home board of the player on roll.
        points[22] = -14;
        points[4] = -1;
        points[3] = 15;
        let race = Position::new(points).unwrap();
        assert_eq!(all.made_possible(&race, RuleSet::Backgammon).win_triple, 0.5);
    }
}
