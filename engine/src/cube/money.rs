//! Cubeful equities in money play, without the Jacoby rule and beavers.
//!
//! Rick Janowski, "Take-Points in Money Games" (1993): between a *dead* cube, which nobody turns any more, and a *live*
//! one, which is always turned at the very point where taking and dropping are equal, the real cube lies at a share of
//! the way, the cube efficiency x.
//!
//! With W the average value of a won game and L that of a lost one (1 without gammons), and p the probability to win, a
//! dead cube gives E = p(W + L) − L. With a live cube the equity is a line between the points where something happens:
//!
//! | p | E for the player on roll | when |
//! |---|---|---|
//! | 0 | −L | always |
//! | (L − ½) / (W + L + ½), the opponent's cash point | −1 | the opponent may turn the cube |
//! | (L + 1) / (W + L + ½), his own cash point | +1 | he may turn the cube |
//! | 1 | +W | always |

use crate::{
    board::CubeOwner,
    net::{Equity, Probabilities},
    rules::RuleSet,
};

use super::CubeDecision;

/// The share of a live cube's value that play realises: 0 is a dead cube, 1 a live one. Janowski found 0.6 to 0.7;
/// 0.68 is what is generally used where the sides are in contact.
pub const CUBE_EFFICIENCY: f32 = 0.68;

/// The cube of money play at a fixed efficiency. All equities are for the player on roll before he rolls, per unit of
/// the cube as it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoneyCube {
    efficiency: f32,
}

/// A game that is played to its end, as the cube formulas see it.
#[derive(Clone, Copy)]
struct Game {
    win: f32,
    /// W, and L.
    won_value: f32,
    lost_value: f32,
}

impl Game {
    fn new(p: Probabilities, rules: RuleSet) -> Game {
        let (gammon, triple) = rules.premiums();
        // What never happens is worth whatever it may be: a single game.
        let average =
            |extra: f32, probability: f32| if probability > 0.0 { 1.0 + (extra / probability).min(2.0) } else { 1.0 };
        Game {
            win: p.win,
            won_value: average(gammon * p.win_gammon + triple * p.win_triple, p.win),
            lost_value: average(gammon * p.lose_gammon + triple * p.lose_triple, 1.0 - p.win),
        }
    }

    /// The equity with a live cube.
    fn live(self, owner: CubeOwner) -> f32 {
        let Game { win, won_value, lost_value } = self;
        let whole = won_value + lost_value + 0.5;
        let (lost, won) = ((0.0, -lost_value), (1.0, won_value));
        let opponent_cashes = if owner == CubeOwner::Player { lost } else { ((lost_value - 0.5) / whole, -1.0) };
        let player_cashes = if owner == CubeOwner::Opponent { won } else { ((lost_value + 1.0) / whole, 1.0) };
        let (left, right) = if win < opponent_cashes.0 {
            (lost, opponent_cashes)
        } else if win < player_cashes.0 {
            (opponent_cashes, player_cashes)
        } else {
            (player_cashes, won)
        };
        // A piece whose ends fall together, for a player who cannot cash, is a point.
        let length = right.0 - left.0;
        if length > 0.0 { left.1 + (win - left.0) / length * (right.1 - left.1) } else { left.1 }
    }
}

impl MoneyCube {
    /// A cube of the given efficiency, from 0, a dead cube, to 1, a live one; what lies outside counts as the nearer end.
    pub fn new(efficiency: f32) -> MoneyCube {
        MoneyCube { efficiency: efficiency.clamp(0.0, 1.0) }
    }

    /// The equity if the player does not double this turn.
    pub fn no_double(self, probabilities: Probabilities, rules: RuleSet, owner: CubeOwner) -> Equity {
        let dead = probabilities.equity(rules).0;
        let live = Game::new(probabilities, rules).live(owner);
        Equity(self.efficiency * live + (1.0 - self.efficiency) * dead)
    }

    /// Whether to double, or `None` when the cube is the opponent's.
    pub fn decide(self, probabilities: Probabilities, rules: RuleSet, owner: CubeOwner) -> Option<CubeDecision> {
        if owner == CubeOwner::Opponent {
            return None;
        }
        let no_double = self.no_double(probabilities, rules, owner);
        let double_take = Equity(2.0 * self.no_double(probabilities, rules, CubeOwner::Opponent).0);
        Some(CubeDecision::between(no_double, double_take, Equity(1.0), owner == CubeOwner::Player))
    }

    /// The equity with the right to double this turn counted in.
    pub fn equity(self, probabilities: Probabilities, rules: RuleSet, owner: CubeOwner) -> Equity {
        match self.decide(probabilities, rules, owner) {
            Some(decision) => decision.equity(),
            None => self.no_double(probabilities, rules, owner),
        }
    }
}

impl Default for MoneyCube {
    fn default() -> Self {
        MoneyCube::new(CUBE_EFFICIENCY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cube::CubeAction, rules::Outcome};

    const RULES: RuleSet = RuleSet::Backgammon;
    const OWNERS: [CubeOwner; 3] = [CubeOwner::Centered, CubeOwner::Player, CubeOwner::Opponent];

    fn gammonless(win: f32) -> Probabilities {
        Probabilities::from_array([win, 0.0, 0.0, 0.0, 0.0])
    }

    fn close(a: Equity, b: f32) -> bool {
        (a.0 - b).abs() < 1e-5
    }

    #[test]
    fn a_dead_cube_gives_the_cubeless_equity() {
        for p in [[0.5, 0.1, 0.01, 0.2, 0.02], [0.9, 0.6, 0.1, 0.01, 0.0], [0.05, 0.0, 0.0, 0.4, 0.1]] {
            let p = Probabilities::from_array(p);
            for owner in OWNERS {
                assert!(close(MoneyCube::new(0.0).no_double(p, RULES, owner), p.equity(RULES).0), "{p:?}");
            }
        }
    }

    /// Without gammons a dead cube is taken with 25 % and a live one with 20 %.
    #[test]
    fn take_points() {
        for (efficiency, take_point) in [(0.0, 0.25), (1.0, 0.2)] {
            let cube = MoneyCube::new(efficiency);
            let double = |win| cube.decide(gammonless(win), RULES, CubeOwner::Centered).unwrap();
            assert!(double(1.0 - take_point - 0.001).is_take());
            assert!(!double(1.0 - take_point + 0.001).is_take());
            assert!(close(double(1.0 - take_point).double_take, 1.0));
        }
    }

    #[test]
    fn both_players_see_the_same_value() {
        for p in [[0.5, 0.15, 0.01, 0.15, 0.01], [0.7, 0.3, 0.05, 0.1, 0.0], [0.03, 0.01, 0.0, 0.3, 0.1]] {
            let p = Probabilities::from_array(p);
            for owner in OWNERS {
                let seen = MoneyCube::default().no_double(p, RULES, owner);
                assert!(close(MoneyCube::default().no_double(p.flipped(), RULES, owner.swapped()), -seen.0), "{p:?}");
            }
        }
        assert!(close(MoneyCube::default().no_double(gammonless(0.5), RULES, CubeOwner::Centered), 0.0));
    }

    /// Owning the cube is worth most and facing it least, more chances are never worth less, and nothing jumps.
    #[test]
    fn order_of_equities() {
        let mut last = [-f32::INFINITY; 3];
        for i in 0..=1000 {
            let win = i as f32 / 1000.0;
            let p = Probabilities::from_array([win, 0.3 * win, 0.02 * win, 0.2 * (1.0 - win), 0.01 * (1.0 - win)]);
            let [centered, owned, facing] = OWNERS.map(|owner| MoneyCube::default().no_double(p, RULES, owner).0);
            assert!(owned >= centered - 1e-5 && centered >= facing - 1e-5, "{win}: {owned} {centered} {facing}");
            for (last, now) in last.iter_mut().zip([centered, owned, facing]) {
                assert!(now >= *last - 1e-5 && (i == 0 || now - *last < 0.02), "{win}");
                *last = now;
            }
        }
    }

    #[test]
    fn actions_change_in_their_order() {
        let action = |win| MoneyCube::default().decide(gammonless(win), RULES, CubeOwner::Player).unwrap().action;
        assert_eq!(
            [0.5, 0.75, 0.85].map(action),
            [CubeAction::NoDouble, CubeAction::DoubleTake, CubeAction::DoubleDrop]
        );
        let gammonish = Probabilities::from_array([0.9, 0.8, 0.2, 0.0, 0.0]);
        let decision = MoneyCube::default().decide(gammonish, RULES, CubeOwner::Centered).unwrap();
        assert_eq!(decision.action, CubeAction::TooGood);
        assert!(MoneyCube::default().decide(gammonish, RULES, CubeOwner::Opponent).is_none());
    }

    #[test]
    fn finished_games_are_worth_their_points() {
        use Outcome::*;
        for outcome in [WinSingle, WinGammon, WinTriple, LoseSingle, LoseGammon, LoseTriple] {
            for owner in OWNERS {
                let equity = MoneyCube::default().equity(Probabilities::certain(outcome), RULES, owner);
                assert!(close(equity, outcome.points(RULES) as f32), "{outcome:?} {owner:?}: {equity}");
            }
        }
    }
}
