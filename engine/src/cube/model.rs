//! What a position is worth with the cube: from the probabilities of a game without one to equities in money play and
//! match winning chances.
//!
//! Rick Janowski, "Take-Points in Money Games" (1993): between a *dead* cube, which nobody turns any more, and a *live* one,
//! which is always turned at the very point where taking and dropping are equal, the real cube lies at a share of the
//! way, the [efficiency](Efficiency). With the probability p to win, a dead cube is worth pW + (1 − p)L, where W and L are
//! the mean worth of a won and of a lost game (single games, gammons and triple games at the cube as it stands). With a
//! live cube the worth is a line between the points where something happens:
//!
//! | p | worth to the player on roll | when |
//! |---|---|---|
//! | 0 | L | always |
//! | the opponent's cash point | a lost single game | the opponent may turn the cube |
//! | his own cash point | a won single game | he may turn the cube |
//! | 1 | W | always |
//!
//! A cash point is where the other player is indifferent between drop and take; the taker then owns a live cube of twice the
//! value, on a line that ends at his own cash point for the next turn of it. In money play without a limit that repeats
//! itself for ever, which gives (L + 1) / (W + L + ½) with W and L in points; in a match, and with a highest cube, it ends
//! at a cube that is of no more use, and is reckoned back from there (Tom Keith, "Match Play Doubling Strategy", 1996, gives
//! the same recursion for dead cubes). What the worth of a result is comes from the points in money play and from the
//! match equity table in a match, so that one model serves both.

use std::ops::Neg;

use crate::{
    board::CubeOwner,
    net::{Equity, Probabilities},
    rules::{RuleSet, Session, Stakes},
};

use super::{CubeDecision, Efficiency, MatchEquityTable, MatchWinningChance};

/// What a game is worth to a player, in units that do not change with the cube: points in money play, and twice the match
/// winning chance less one in a match. What is worth u to a player is worth −u to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Worth(pub f32);

impl Neg for Worth {
    type Output = Worth;

    #[inline]
    fn neg(self) -> Worth {
        Worth(-self.0)
    }
}

/// What the cube makes of probabilities, by the rules and a match equity table.
#[derive(Clone, Copy, Debug)]
pub struct CubeModel<'t> {
    rules: RuleSet,
    table: &'t MatchEquityTable,
}

/// One of the two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    OnRoll,
    Waiting,
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::OnRoll => Side::Waiting,
            Side::Waiting => Side::OnRoll,
        }
    }
}

/// A game that is played to its end at given stakes, as the formulas see it.
struct Game<'a> {
    model: &'a CubeModel<'a>,
    stakes: &'a Stakes,
    win: f32,
    /// How the games that a player wins divide into single games, gammons and triple games: the player on roll's, and
    /// the other's.
    shares: [[f32; 3]; 2],
    /// Points that each of them pays once the cube has been turned.
    points: [u32; 3],
    /// Points that each of them pays while it has not.
    undoubled_points: [u32; 3],
}

/// How often the taker's next double is looked at where nothing ends it.
const ENDLESS: u32 = 16;

impl Game<'_> {
    /// The worth to `side` of winning (or losing) a game of so many points.
    #[inline]
    fn paid(&self, side: Side, won: bool, points: u32) -> f32 {
        match self.stakes.session {
            Session::Money(_) if won => points as f32,
            Session::Money(_) => -(points as f32),
            Session::Match(score) => {
                let on_roll_wins = won == (side == Side::OnRoll);
                let result = if on_roll_wins { [points, 0] } else { [0, points] };
                let worth = 2.0 * self.model.table.after_game(score, result).0 - 1.0;
                if side == Side::OnRoll { worth } else { -worth }
            }
        }
    }

    /// W or L: the mean worth to `side` of the games that it wins, or loses, at a cube.
    #[inline]
    fn mean(&self, side: Side, won: bool, cube: u32) -> f32 {
        let winner = if won { side } else { side.other() };
        let shares = self.shares[winner as usize];
        let mut mean = shares[0] * self.paid(side, won, cube);
        let points = if cube == self.stakes.cube.value() { self.undoubled_points } else { self.points };
        for kind in [1, 2] {
            if shares[kind] > 0.0 {
                mean += shares[kind] * self.paid(side, won, cube * points[kind]);
            }
        }
        mean
    }

    /// Whether `side` could turn a cube and have a use for it.
    #[inline]
    fn useful(&self, side: Side, cube: u32) -> bool {
        if !self.stakes.has_cube(self.model.rules) || cube * 2 > self.stakes.cube_limit(self.model.rules) {
            return false;
        }
        self.stakes.score().is_none_or(|score| score.away()[side as usize] > cube)
    }

    /// The chance to win with which `taker` is indifferent between taking and dropping a double from `cube`, when he then
    /// owns a live cube.
    fn take_point(&self, taker: Side, cube: u32) -> f32 {
        let endless = self.stakes.score().is_none() && cube <= self.stakes.cube_limit(self.model.rules) / ENDLESS;
        if endless {
            let scale = 1.0 / (2 * cube) as f32;
            let (won, lost) = (scale * self.mean(taker, true, 2 * cube), scale * self.mean(taker, false, 2 * cube));
            return ((-lost - 0.5) / (won - lost + 0.5)).clamp(0.0, 1.0);
        }
        let doubled = cube * 2;
        let (dropped, lost) = (self.paid(taker, false, cube), self.mean(taker, false, doubled));
        let (end, won) = if self.useful(taker, doubled) {
            (1.0 - self.take_point(taker.other(), doubled), self.paid(taker, true, doubled))
        } else {
            (1.0, self.mean(taker, true, doubled))
        };
        if won > lost { (end * (dropped - lost) / (won - lost)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The worth to the player on roll if nobody turns the cube any more.
    fn dead(&self, cube: u32) -> f32 {
        self.win * self.mean(Side::OnRoll, true, cube) + (1.0 - self.win) * self.mean(Side::OnRoll, false, cube)
    }

    /// The worth to the player on roll with a live cube.
    fn live(&self, owner: CubeOwner, cube: u32) -> f32 {
        let may = |side: Side, holder: CubeOwner| owner != holder && self.useful(side, cube);
        let mut left = (0.0, self.mean(Side::OnRoll, false, cube));
        let mut right = (1.0, self.mean(Side::OnRoll, true, cube));
        if may(Side::Waiting, CubeOwner::Player) {
            let cashes = (self.take_point(Side::OnRoll, cube), self.paid(Side::OnRoll, false, cube));
            if self.win >= cashes.0 {
                left = cashes;
            } else {
                right = cashes;
            }
        }
        if may(Side::OnRoll, CubeOwner::Opponent) && self.win > left.0 {
            let cashes = (1.0 - self.take_point(Side::Waiting, cube), self.paid(Side::OnRoll, true, cube));
            if self.win < cashes.0 {
                right = if cashes.0 < right.0 { cashes } else { right };
            } else if cashes.0 >= left.0 {
                left = cashes;
            }
        }
        // A piece whose ends fall together is a point.
        let length = right.0 - left.0;
        if length > 0.0 { left.1 + (self.win - left.0) / length * (right.1 - left.1) } else { left.1 }
    }

    /// Between dead and live.
    fn cubeful(&self, efficiency: Efficiency, owner: CubeOwner, cube: u32) -> f32 {
        // An owner who loses the match with the cube as it is loses nothing by turning it: he does so at once, and the other,
        // who has no more use for it, takes or drops.
        let turned_at_once = owner == CubeOwner::Opponent
            && self.useful(Side::Waiting, cube)
            && self.stakes.score().is_some_and(|score| score.away()[0] <= cube);
        if turned_at_once && self.win > 0.0 && self.win < 1.0 {
            // Unless a gammon with the cube as it is would be worth more to him than the drop.
            let turned = self.dead(cube * 2).max(self.paid(Side::OnRoll, false, cube));
            return turned.min(self.dead(cube));
        }
        let dead = self.dead(cube);
        if !self.useful(Side::OnRoll, cube) && !self.useful(Side::Waiting, cube) {
            return dead;
        }
        let share = efficiency.share(owner);
        share * self.live(owner, cube) + (1.0 - share) * dead
    }
}

impl<'t> CubeModel<'t> {
    /// The model for games by `rules`, with a match equity table that money play does not look at.
    pub fn new(rules: RuleSet, table: &'t MatchEquityTable) -> CubeModel<'t> {
        CubeModel { rules, table }
    }

    /// The model with the table that is usual for the rules.
    pub fn usual(rules: RuleSet) -> CubeModel<'static> {
        CubeModel { rules, table: MatchEquityTable::usual(rules) }
    }

    /// The rules.
    pub fn rules(&self) -> RuleSet {
        self.rules
    }

    /// The match equity table.
    pub fn table(&self) -> &'t MatchEquityTable {
        self.table
    }

    fn game<'a>(&'a self, p: &Probabilities, stakes: &'a Stakes) -> Game<'a> {
        let gammon = self.rules.terms().gammon_points;
        let shares = |all: f32, gammon: f32, triple: f32| {
            // What never happens is worth whatever it may be: a single game.
            if all > 0.0 {
                let gammon = (gammon / all).clamp(0.0, 1.0);
                let triple = (triple / all).clamp(0.0, gammon);
                [1.0 - gammon, gammon - triple, triple]
            } else {
                [1.0, 0.0, 0.0]
            }
        };
        let triple = if self.rules.terms().triple.is_some() { 3 } else { gammon };
        Game {
            model: self,
            stakes,
            win: p.win,
            shares: [shares(p.win, p.win_gammon, p.win_triple), shares(1.0 - p.win, p.lose_gammon, p.lose_triple)],
            points: [1, gammon, triple],
            undoubled_points: [1, gammon, triple],
        }
    }

    /// The worth if the player on roll does not double this turn.
    #[inline]
    pub fn no_double(&self, p: &Probabilities, efficiency: Efficiency, stakes: &Stakes) -> Worth {
        let cube = stakes.cube;
        let mut game = self.game(p, stakes);
        if stakes.money_options().jacoby && cube.owner() == CubeOwner::Centered {
            // The cash points are those of doubled games, whose gammons count; the ends of the line are single games.
            game.undoubled_points = [1; 3];
        }
        Worth(game.cubeful(efficiency, cube.owner(), cube.value()))
    }

    /// The worth if the player on roll does not double this turn, and if he doubles and the opponent takes.
    #[inline]
    pub fn two_ways(&self, p: &Probabilities, efficiency: Efficiency, stakes: &Stakes) -> [Worth; 2] {
        let taken = self.game(p, stakes).cubeful(efficiency, CubeOwner::Opponent, stakes.cube.value() * 2);
        [self.no_double(p, efficiency, stakes), Worth(taken)]
    }

    /// What a double is worth when the opponent, who would take, beavers where that is allowed and better for him; and
    /// whether he does. A beaver doubles all that a money game is worth with the cube on his side.
    #[inline]
    pub fn answered(&self, taken: Worth, stakes: &Stakes) -> (Worth, bool) {
        let allowed = stakes.money_options().beavers && stakes.cube.value() * 4 <= stakes.cube_limit(self.rules);
        if allowed && taken.0 < 0.0 { (Worth(2.0 * taken.0), true) } else { (taken, false) }
    }

    /// Whether to double, with equities per unit of the cube (EMG in a match), or `None` when the player on roll may not
    /// turn the cube.
    pub fn decide(&self, p: &Probabilities, efficiency: Efficiency, stakes: &Stakes) -> Option<CubeDecision> {
        if !stakes.may_double(self.rules) {
            return None;
        }
        let [no_double, taken] = self.two_ways(p, efficiency, stakes);
        let (double_take, beaver) = self.answered(taken, stakes);
        Some(self.decision(stakes, [no_double, double_take, self.dropped(stakes)], beaver))
    }

    /// The decision between the worths of no double, a double that is taken, and one that is dropped.
    pub fn decision(&self, stakes: &Stakes, worths: [Worth; 3], beaver: bool) -> CubeDecision {
        let [no_double, double_take, double_drop] = worths.map(|worth| self.equity(worth, stakes));
        let redouble = stakes.cube.owner() == CubeOwner::Player;
        CubeDecision { beaver, ..CubeDecision::between(no_double, double_take, double_drop, redouble) }
    }

    /// The worth with the right to double this turn counted in, if there is one.
    #[inline]
    pub fn worth(&self, p: &Probabilities, efficiency: Efficiency, stakes: &Stakes) -> Worth {
        if !stakes.may_double(self.rules) {
            return self.no_double(p, efficiency, stakes);
        }
        let [no_double, taken] = self.two_ways(p, efficiency, stakes);
        Worth(no_double.0.max(self.answered(taken, stakes).0.0.min(self.dropped(stakes).0)))
    }

    /// The worth of a drop of his double to the player on roll.
    #[inline]
    pub fn dropped(&self, stakes: &Stakes) -> Worth {
        Worth(self.game(&Probabilities::default(), stakes).paid(Side::OnRoll, true, stakes.cube.value()))
    }

    /// Whether a double by the player on roll is allowed and of use.
    pub fn doubles(&self, stakes: &Stakes) -> bool {
        let game = self.game(&Probabilities::default(), stakes);
        stakes.may_double(self.rules) && game.useful(Side::OnRoll, stakes.cube.value())
    }

    /// A worth in points per unit of the cube; in a match as EMG, on the scale on which losing the cube's value is −1 and
    /// winning it 1, and 0 where the match is so far decided that the chances of both are the same number.
    #[inline]
    pub fn equity(&self, worth: Worth, stakes: &Stakes) -> Equity {
        let cube = stakes.cube.value();
        match stakes.session {
            Session::Money(_) => Equity(worth.0 / cube as f32),
            Session::Match(_) => {
                let game = self.game(&Probabilities::default(), stakes);
                let (won, lost) = (game.paid(Side::OnRoll, true, cube), game.paid(Side::OnRoll, false, cube));
                if won > lost { Equity((2.0 * worth.0 - won - lost) / (won - lost)) } else { Equity(0.0) }
            }
        }
    }

    /// The worth of an equity, the other way round.
    pub fn worth_of(&self, equity: Equity, stakes: &Stakes) -> Worth {
        let cube = stakes.cube.value();
        match stakes.session {
            Session::Money(_) => Worth(equity.0 * cube as f32),
            Session::Match(_) => {
                let game = self.game(&Probabilities::default(), stakes);
                let (won, lost) = (game.paid(Side::OnRoll, true, cube), game.paid(Side::OnRoll, false, cube));
                Worth(0.5 * (won + lost + equity.0 * (won - lost)))
            }
        }
    }

    /// A worth as the chance to win the match; `None` in money play.
    pub fn chance(&self, worth: Worth, stakes: &Stakes) -> Option<MatchWinningChance> {
        stakes.score().map(|_| MatchWinningChance::of(worth))
    }

    /// The worth to the player on roll of losing so many points at a cube of 1, with the cube as it is.
    pub fn lost(&self, points: u32, stakes: &Stakes) -> Worth {
        let game = self.game(&Probabilities::default(), stakes);
        Worth(game.paid(Side::OnRoll, false, points * stakes.cube.value()))
    }

    /// The chance to win with which a double of the player on roll is just a take: with a dead cube, and with a live one in
    /// the taker's hands.
    pub fn take_points(&self, p: &Probabilities, stakes: &Stakes) -> TakePoints {
        let cube = stakes.cube.value();
        let game = self.game(p, stakes);
        let taker = Side::Waiting;
        let (dropped, lost) = (game.paid(taker, false, cube), game.mean(taker, false, cube * 2));
        let won = game.mean(taker, true, cube * 2);
        let dead = if won > lost { ((dropped - lost) / (won - lost)).clamp(0.0, 1.0) } else { 0.0 };
        TakePoints { dead, live: game.take_point(taker, cube) }
    }

    /// The chance to win from which the player on roll gains by a double when it is the last cube of the game: the cube
    /// dead both before and after.
    pub fn double_point(&self, p: &Probabilities, stakes: &Stakes) -> f32 {
        let cube = stakes.cube.value();
        let game = self.game(p, stakes);
        let gain = game.mean(Side::OnRoll, true, cube * 2) - game.mean(Side::OnRoll, true, cube);
        let risk = game.mean(Side::OnRoll, false, cube) - game.mean(Side::OnRoll, false, cube * 2);
        if gain + risk > 0.0 { risk / (gain + risk) } else { 1.0 }
    }

    /// What the player on roll gains by winning a gammon rather than a single game, as a share of what he gains by winning
    /// a single game rather than losing one; ½ in money play. The same of a triple game against a gammon.
    pub fn gammon_prices(&self, stakes: &Stakes) -> GammonPrices {
        let cube = stakes.cube.value();
        let game = self.game(&Probabilities::default(), stakes);
        let paid = |kind: usize| game.paid(Side::OnRoll, true, cube * game.points[kind]);
        let swing = paid(0) - game.paid(Side::OnRoll, false, cube);
        let price = |more: f32| if swing > 0.0 { more / swing } else { 0.0 };
        GammonPrices { gammon: price(paid(1) - paid(0)), triple: price(paid(2) - paid(1)) }
    }
}

/// The chances of the taker with which a double is just a take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TakePoints {
    /// When nobody turns the cube again.
    pub dead: f32,
    /// When he owns a live cube.
    pub live: f32,
}

/// What gammons and triple games are worth at a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammonPrices {
    /// Of a gammon rather than a single game.
    pub gammon: f32,
    /// Of a triple game rather than a gammon.
    pub triple: f32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        board::CubeState,
        cube::CubeAction,
        rules::{MatchScore, MoneyOptions, Outcome},
    };

    const RULES: RuleSet = RuleSet::Backgammon;
    const OWNERS: [CubeOwner; 3] = [CubeOwner::Centered, CubeOwner::Player, CubeOwner::Opponent];

    fn model() -> CubeModel<'static> {
        CubeModel::usual(RULES)
    }

    fn money(owner: CubeOwner) -> Stakes {
        Stakes {
            cube: CubeState::new(if owner == CubeOwner::Centered { 1 } else { 2 }, owner).unwrap(),
            ..Stakes::MONEY
        }
    }

    fn at(length: u32, scores: [u32; 2], crawford: bool, value: u32, owner: CubeOwner) -> Stakes {
        let score = MatchScore::new(length, scores, crawford).unwrap();
        Stakes::new(Session::Match(score), CubeState::new(value, owner).unwrap())
    }

    /// Where one player needs one point and the other hundreds, nothing that a game could win shows in a chance.
    #[test]
    fn a_match_that_is_as_good_as_decided_has_equities() {
        let model = model();
        for length in [64, 150, 500, 32_767] {
            for (scores, crawford) in [([length - 1, 0], true), ([0, length - 1], true), ([0, length - 1], false)] {
                let stakes = at(length, scores, crawford, 1, CubeOwner::Centered);
                let game = model.game(&Probabilities::default(), &stakes);
                for won in [true, false] {
                    let worth = Worth(game.paid(Side::OnRoll, won, 1));
                    let equity = model.equity(worth, &stakes);
                    assert!(equity.0.is_finite(), "{scores:?} {equity:?}");
                    assert_eq!(model.worth_of(equity, &stakes), worth);
                }
            }
        }
    }

    fn some_stakes() -> Vec<Stakes> {
        let mut stakes: Vec<Stakes> = OWNERS.map(money).into();
        for (scores, crawford) in [([0, 0], false), ([3, 5], false), ([6, 2], true), ([6, 2], false), ([4, 6], false)] {
            stakes.push(at(7, scores, crawford, 1, CubeOwner::Centered));
            if !crawford {
                stakes.extend([CubeOwner::Player, CubeOwner::Opponent].map(|owner| at(7, scores, false, 2, owner)));
            }
        }
        stakes.push(Stakes { highest_cube: 4, ..Stakes::MONEY });
        stakes
    }

    fn gammonless(win: f32) -> Probabilities {
        Probabilities::from_array([win, 0.0, 0.0, 0.0, 0.0])
    }

    fn close(a: f32, b: f32) -> bool {
        (a - b).abs() < 1e-5
    }

    #[test]
    fn a_dead_cube_gives_the_cubeless_equity() {
        for p in [[0.5, 0.1, 0.01, 0.2, 0.02], [0.9, 0.6, 0.1, 0.01, 0.0], [0.05, 0.0, 0.0, 0.4, 0.1]] {
            let p = Probabilities::from_array(p);
            for owner in OWNERS {
                let stakes = money(owner);
                let dead = model().no_double(&p, Efficiency::new(0.0), &stakes);
                assert!(close(model().equity(dead, &stakes).0, p.equity(RULES).0), "{p:?}");
            }
        }
    }

    /// Without gammons a dead cube is taken with 25 % and a live one with 20 %.
    #[test]
    fn take_points_for_money() {
        let points = model().take_points(&gammonless(0.5), &Stakes::MONEY);
        assert!(close(points.dead, 0.25) && close(points.live, 0.2), "{points:?}");
        for (efficiency, take_point) in [(0.0, 0.25), (1.0, 0.2)] {
            let double = |win| model().decide(&gammonless(win), Efficiency::new(efficiency), &Stakes::MONEY).unwrap();
            assert!(double(1.0 - take_point - 0.001).is_take());
            assert!(!double(1.0 - take_point + 0.001).is_take());
        }
        assert!(close(model().double_point(&gammonless(0.5), &Stakes::MONEY), 0.5));
        assert_eq!(model().gammon_prices(&Stakes::MONEY), GammonPrices { gammon: 0.5, triple: 0.5 });
    }

    /// A cap that is far away changes next to nothing, and one that the next double reaches makes the cube dead.
    #[test]
    fn the_recursion_ends_where_the_endless_formula_does() {
        let limited =
            |highest_cube| model().take_points(&gammonless(0.5), &Stakes { highest_cube, ..Stakes::MONEY }).live;
        assert!(close(limited(1 << 15), 0.2) && close(limited(2), 0.25));
        assert!((limited(8) - 0.2).abs() < 0.005 && limited(8) != limited(1 << 15));
    }

    /// Prices at scores that every book has: a gammon wins the match for who needs two, and means nothing to who needs one.
    #[test]
    fn gammon_prices_at_known_scores() {
        let price = |length, scores, crawford| {
            model().gammon_prices(&at(length, scores, crawford, 1, CubeOwner::Centered)).gammon
        };
        assert!(close(price(1, [0, 0], false), 0.0));
        assert!(close(price(5, [4, 1], true), 0.0));
        // 2-away 2-away, cube at 1: (1 - 0.677) / (0.677 - 0.323).
        assert!((price(3, [1, 1], false) - 0.91).abs() < 0.01, "{}", price(3, [1, 1], false));
        // The trailer of a Crawford game at 2-away wins the match by a gammon: (1 - 0.5) / 0.5.
        assert!(close(price(3, [1, 2], true), 1.0));
        // Long matches are nearly money.
        assert!((price(25, [0, 0], false) - 0.5).abs() < 0.06);
    }

    /// After the Crawford game the trailer doubles at once, and at 2-away 2-away the take point is 30 %.
    #[test]
    fn decisions_at_known_scores() {
        let decide = |stakes: Stakes, p: Probabilities| model().decide(&p, Efficiency::CONTACT, &stakes).unwrap();
        let p = Probabilities::from_array([0.5, 0.13, 0.01, 0.13, 0.01]);
        let trailer = at(5, [2, 4], false, 1, CubeOwner::Centered);
        assert!(matches!(decide(trailer, p).action, CubeAction::DoubleTake), "{:?}", decide(trailer, p));
        let leader = at(5, [4, 2], false, 1, CubeOwner::Centered);
        assert_eq!(decide(leader, p).action, CubeAction::NoDouble);
        assert!(!model().doubles(&leader) && model().doubles(&trailer));
        let even = at(3, [1, 1], false, 1, CubeOwner::Centered);
        let points = model().take_points(&gammonless(0.5), &even);
        assert!((points.dead - 0.323).abs() < 0.003 && close(points.dead, points.live), "{points:?}");
        // The Crawford game has no cube.
        let crawford = at(5, [4, 2], true, 1, CubeOwner::Centered);
        assert_eq!(model().decide(&p, Efficiency::CONTACT, &crawford), None);
        // Who takes when the other cannot use the cube any more turns it at once: his take is worth a game at four.
        let owned = at(7, [5, 3], false, 2, CubeOwner::Opponent);
        let turned = at(7, [5, 3], false, 4, CubeOwner::Player);
        let worth = |stakes| model().no_double(&p, Efficiency::CONTACT, &stakes).0;
        assert!(close(worth(owned), worth(turned)));
    }

    /// In matches longer than any table a point still makes a difference.
    #[test]
    fn long_matches_are_nearly_money() {
        let p = Probabilities::from_array([0.65, 0.2, 0.01, 0.1, 0.01]);
        let money = model().decide(&p, Efficiency::CONTACT, &Stakes::MONEY).unwrap();
        for length in [24, 25, 26, 30, 64, 65, 66, 100, 1000, 32_767] {
            let decision =
                model().decide(&p, Efficiency::CONTACT, &at(length, [0, 0], false, 1, CubeOwner::Centered)).unwrap();
            for (found, expected) in
                [(decision.no_double.0, money.no_double.0), (decision.double_take.0, money.double_take.0)]
            {
                assert!((found - expected).abs() < 0.15, "{length}: {decision:?} {money:?}");
            }
        }
    }

    /// Who doubles although he is lost with a gammon is not let off with a drop: the other plays on.
    #[test]
    fn a_lost_gammon_is_played_on_for() {
        let lost = Probabilities::from_array([1e-6, 0.0, 0.0, 0.9996, 0.0]);
        for scores in [[6, 3], [5, 3]] {
            let stakes = at(7, scores, false, 1, CubeOwner::Centered);
            let [_, taken] = model().two_ways(&lost, Efficiency::CONTACT, &stakes);
            assert!(taken.0 < -0.99, "{scores:?}: {taken:?}");
        }
    }

    #[test]
    fn both_players_see_the_same_worth_of_a_centered_cube() {
        for p in [[0.5, 0.15, 0.01, 0.15, 0.01], [0.7, 0.3, 0.05, 0.1, 0.0], [0.03, 0.01, 0.0, 0.3, 0.1]] {
            let p = Probabilities::from_array(p);
            for stakes in [Stakes::MONEY, at(7, [3, 5], false, 1, CubeOwner::Centered)] {
                let seen = model().no_double(&p, Efficiency::CONTACT, &stakes).0;
                let other = model().no_double(&p.flipped(), Efficiency::CONTACT, &stakes.swapped()).0;
                assert!(close(seen, -other), "{p:?} {stakes:?}: {seen} {other}");
            }
        }
    }

    /// More chances are never worth less, and nothing jumps.
    #[test]
    fn worth_grows_with_the_chance_to_win() {
        for stakes in some_stakes() {
            let mut last = -f32::INFINITY;
            for i in 1..1000 {
                let win = i as f32 / 1000.0;
                let lost = 1.0 - win;
                let p = Probabilities::from_array([win, 0.3 * win, 0.02 * win, 0.2 * lost, 0.01 * lost]);
                let now = model().no_double(&p, Efficiency::CONTACT, &stakes).0;
                assert!(now >= last - 1e-5 && (i == 1 || now - last < 0.03), "{win} {stakes:?}: {last} {now}");
                let ways = model().worth(&p, Efficiency::CONTACT, &stakes).0;
                assert!(ways >= now - 1e-5 || stakes.money_options().jacoby, "{win} {stakes:?}");
                last = now;
            }
        }
    }

    #[test]
    fn owning_the_cube_is_worth_most() {
        for i in 0..=100 {
            let win = i as f32 / 100.0;
            let p = Probabilities::from_array([win, 0.3 * win, 0.02 * win, 0.2 * (1.0 - win), 0.0]);
            let [centered, owned, facing] = OWNERS.map(|owner| {
                let stakes = money(owner);
                model().equity(model().no_double(&p, Efficiency::CONTACT, &stakes), &stakes).0
            });
            // Where little can happen the efficiencies differ more than the cubes.
            assert!(owned >= centered - 0.02 && centered >= facing - 0.02, "{win}: {owned} {centered} {facing}");
        }
    }

    #[test]
    fn actions_change_in_their_order() {
        let decide = |p: &Probabilities, owner| model().decide(p, Efficiency::CONTACT, &money(owner));
        let action = |win| decide(&gammonless(win), CubeOwner::Player).unwrap().action;
        assert_eq!(
            [0.5, 0.75, 0.85].map(action),
            [CubeAction::NoDouble, CubeAction::DoubleTake, CubeAction::DoubleDrop]
        );
        let gammonish = Probabilities::from_array([0.9, 0.8, 0.2, 0.0, 0.0]);
        assert_eq!(decide(&gammonish, CubeOwner::Centered).unwrap().action, CubeAction::TooGood);
        assert!(decide(&gammonish, CubeOwner::Opponent).is_none());
    }

    /// Under the Jacoby rule nobody is too good to double, and a beaver punishes a double that is worth less than nothing.
    #[test]
    fn options_of_money_play() {
        let with = |jacoby, beavers| Stakes::new(Session::Money(MoneyOptions { jacoby, beavers }), CubeState::START);
        let decide = |p: [f32; 5], stakes: Stakes| {
            model().decide(&Probabilities::from_array(p), Efficiency::CONTACT, &stakes).unwrap()
        };
        let gammonish = [0.9, 0.8, 0.2, 0.0, 0.0];
        assert_eq!(decide(gammonish, with(true, false)).action, CubeAction::DoubleDrop);
        let behind = [0.4, 0.1, 0.0, 0.1, 0.0];
        let (plain, beaver) = (decide(behind, with(false, false)), decide(behind, with(false, true)));
        assert!(close(beaver.double_take.0, 2.0 * plain.double_take.0) && plain.double_take.0 < 0.0);
        assert!(beaver.beaver && !plain.beaver);
        assert_eq!(beaver.to_string(), "No double, beaver");
        assert!(!decide([0.7, 0.2, 0.0, 0.1, 0.0], with(false, true)).beaver);
    }

    #[test]
    fn finished_games_are_worth_what_they_pay() {
        use Outcome::*;
        for outcome in [WinSingle, WinGammon, WinTriple, LoseSingle, LoseGammon, LoseTriple] {
            let certain = Probabilities::certain(outcome);
            for stakes in some_stakes() {
                let points = outcome.points(RULES);
                let paid = points.unsigned_abs() * stakes.cube.value();
                let expected = match stakes.score() {
                    None => (points * stakes.cube.value() as i32) as f32,
                    Some(score) => {
                        let result = if points > 0 { [paid, 0] } else { [0, paid] };
                        2.0 * MatchEquityTable::kazaross().after_game(score, result).0 - 1.0
                    }
                };
                let worth = model().no_double(&certain, Efficiency::new(0.0), &stakes).0;
                assert!(close(worth, expected), "{outcome:?} {stakes:?}: {worth} {expected}");
                let there_and_back = model().worth_of(model().equity(Worth(worth), &stakes), &stakes).0;
                assert!((there_and_back - worth).abs() < 1e-4, "{stakes:?}");
            }
        }
    }
}
