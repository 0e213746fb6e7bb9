//! Match equity: the chance to win a match at a score, between equal players before a game begins.

use std::sync::LazyLock;

use thiserror::Error;

use crate::{
    board::CubeState,
    net::Probabilities,
    rules::{Crawford, MatchScore, RuleSet, Session, Stakes},
};

use super::{CubeModel, Efficiency, Worth};

/// Points that a player may need in a table at most.
pub const LONGEST_TABLE: u32 = 64;

/// The chance to win the match, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct MatchWinningChance(pub f32);

impl MatchWinningChance {
    /// The chance of which a [`Worth`] in a match speaks.
    pub fn of(worth: Worth) -> MatchWinningChance {
        MatchWinningChance(0.5 * (worth.0 + 1.0))
    }
}

/// Match winning chances by the points that both players still need.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchEquityTable {
    name: String,
    /// Points to go for which the values were given; those beyond are computed.
    size: u32,
    /// Points to go for which there are values.
    reach: u32,
    /// `[(player - 1) * reach + opponent - 1]`; where one of the two is 1, it is the Crawford game that comes.
    before: Vec<f32>,
    /// After the Crawford game, for a player who needs so many points (less 1) against one who needs 1.
    after_crawford: Vec<f32>,
}

/// Why numbers are not a match equity table.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MatchEquityError {
    /// A size that no table has.
    #[error("a table for {0} points, expected 1 to {LONGEST_TABLE}")]
    Size(usize),
    /// Another number of values than the size asks for.
    #[error("{found} values, expected {expected}")]
    Values {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A number that is no chance, or no number.
    #[error("{0:?} is no match winning chance: expected a number from 0 to 1")]
    Chance(String),
    /// A line that says nothing known.
    #[error("line {line}: {text:?} is neither pre,i,j,p nor post,n,p")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// A score that no line gives.
    #[error("no value for {0} and {1} points to go")]
    Missing(u32, u32),
}

/// How often games between equal players end in which way, from which tables are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammonRates {
    /// Share of the won games that are gammons or better.
    pub gammon: f32,
    /// Share of the won games that are triple games.
    pub triple: f32,
}

impl Default for GammonRates {
    /// What players reckon with: 26 % gammons, 1.2 % of them and the rest backgammons.
    fn default() -> Self {
        GammonRates { gammon: 0.26, triple: 0.012 }
    }
}

static KAZAROSS: LazyLock<MatchEquityTable> = LazyLock::new(|| {
    MatchEquityTable::from_csv("Kazaross XG2", include_str!("../../data/met_kazaross_xg2.csv"))
        .expect("the table in the program is whole")
});

static EVERY_GAME: LazyLock<MatchEquityTable> =
    LazyLock::new(|| MatchEquityTable::computed(RuleSet::Tavla, GammonRates::default()));

impl MatchEquityTable {
    /// The table that is usual for a rule set: Neil Kazaross's XG2 table where the cube rests in one game only, else a
    /// computed one.
    pub fn usual(rules: RuleSet) -> &'static MatchEquityTable {
        match rules.terms().cube.map(|cube| cube.crawford) {
            Some(Crawford::EveryGame) => &EVERY_GAME,
            _ => &KAZAROSS,
        }
    }

    /// Neil Kazaross's table of 2011, rolled out to 9 points with eXtreme Gammon and to 15 with GNU Backgammon.
    pub fn kazaross() -> &'static MatchEquityTable {
        &KAZAROSS
    }

    /// From chances before the Crawford game, row by row of the player's points to go, and after it for the trailer.
    ///
    /// Longer matches are reckoned with chances computed from these, by the international rules.
    ///
    /// # Errors
    /// A wrong size, a wrong number of values, or values that are no chances.
    pub fn new(name: &str, before: Vec<f32>, after_crawford: Vec<f32>) -> Result<MatchEquityTable, MatchEquityError> {
        let size = after_crawford.len();
        if !(1..=LONGEST_TABLE as usize).contains(&size) {
            return Err(MatchEquityError::Size(size));
        }
        if before.len() != size * size {
            return Err(MatchEquityError::Values { found: before.len(), expected: size * size });
        }
        if let Some(wrong) = before.iter().chain(&after_crawford).find(|chance| !(0.0..=1.0).contains(*chance)) {
            return Err(MatchEquityError::Chance(wrong.to_string()));
        }
        let size = size as u32;
        let table = MatchEquityTable { name: name.into(), size, reach: size, before, after_crawford };
        Ok(table.extended(RuleSet::Backgammon, GammonRates::default()))
    }

    /// Reads lines `pre,i,j,p` and `post,n,p`; lines that begin with `#` are remarks.
    ///
    /// # Errors
    /// Lines that say something else, and scores without a value.
    pub fn from_csv(name: &str, text: &str) -> Result<MatchEquityTable, MatchEquityError> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let wrong = || MatchEquityError::Line { line: number + 1, text: line.chars().take(60).collect() };
            let points = |text: &str| text.parse().ok().filter(|n| (1..=LONGEST_TABLE).contains(n)).ok_or_else(wrong);
            let chance = |text: &str| text.parse::<f32>().map_err(|_| MatchEquityError::Chance(text.into()));
            match line.split(',').collect::<Vec<_>>()[..] {
                ["pre", player, opponent, p] => before.push(((points(player)?, points(opponent)?), chance(p)?)),
                ["post", trailer, p] => after.push((points(trailer)?, chance(p)?)),
                _ => return Err(wrong()),
            }
        }
        let size = after.iter().map(|&(trailer, _)| trailer).max().unwrap_or(0);
        let mut table = (Vec::new(), Vec::new());
        for player in 1..=size {
            for opponent in 1..=size {
                // A table may give half of the scores, since the other half follows from them.
                let mirrored = || before.iter().find(|(score, _)| *score == (opponent, player)).map(|(_, p)| 1.0 - p);
                let found = before.iter().find(|(score, _)| *score == (player, opponent)).map(|&(_, p)| p);
                table.0.push(found.or_else(mirrored).ok_or(MatchEquityError::Missing(player, opponent))?);
            }
            let found = after.iter().find(|(trailer, _)| *trailer == player).map(|&(_, p)| p);
            table.1.push(found.ok_or(MatchEquityError::Missing(player, 1))?);
        }
        MatchEquityTable::new(name, table.0, table.1)
    }

    /// A table computed from the shortest scores to the longest: at each score a game between equal players is worth what
    /// the cube model makes of the start, with the chances at the scores to which it may lead (the recursion of Zadeh,
    /// "On doubling in tournament backgammon", Management Science 23, 1977, with this program's cube model in it).
    pub fn computed(rules: RuleSet, rates: GammonRates) -> MatchEquityTable {
        let nothing = MatchEquityTable {
            name: "computed".into(),
            size: 0,
            reach: 0,
            before: Vec::new(),
            after_crawford: Vec::new(),
        };
        MatchEquityTable { size: LONGEST_TABLE, ..nothing.extended(rules, rates) }
    }

    /// The same table, gone on with by computing to [`LONGEST_TABLE`] points, as [`MatchEquityTable::computed`] does.
    fn extended(self, rules: RuleSet, rates: GammonRates) -> MatchEquityTable {
        let (old, reach) = (self, LONGEST_TABLE);
        let mut table = MatchEquityTable {
            name: old.name.clone(),
            size: old.size,
            reach,
            before: vec![0.5; (reach * reach) as usize],
            after_crawford: vec![0.5; reach as usize],
        };
        let even = Probabilities {
            win: 0.5,
            win_gammon: 0.5 * rates.gammon,
            win_triple: 0.5 * rates.triple,
            lose_gammon: 0.5 * rates.gammon,
            lose_triple: 0.5 * rates.triple,
        };
        let stakes = |away: [u32; 2], crawford: bool| {
            // The length does not matter to what comes, only the points to go.
            let length = away[0].max(away[1]);
            let score = MatchScore::new(length, away.map(|away| length - away), crawford);
            Stakes::new(Session::Match(score.expect("both players still need points")), CubeState::START)
        };
        for trailer in 2..=reach {
            table.after_crawford[trailer as usize - 1] = if trailer <= old.reach {
                old.after_crawford[trailer as usize - 1]
            } else {
                // The trailer doubles at the first chance, so that his cube is worth what it is after a take.
                let stakes = stakes([trailer, 1], false);
                0.5 + 0.5 * CubeModel::new(rules, &table).worth(&even, Efficiency::CONTACT, &stakes).0
            };
        }
        for sum in 3..=2 * reach {
            for player in sum.saturating_sub(reach).max(1)..=reach.min(sum - 1) {
                let opponent = sum - player;
                let cell = ((player - 1) * reach + opponent - 1) as usize;
                table.before[cell] = if player <= old.reach && opponent <= old.reach {
                    old.before[((player - 1) * old.reach + opponent - 1) as usize]
                } else {
                    let stakes = stakes([player, opponent], player == 1 || opponent == 1);
                    let model = CubeModel::new(rules, &table);
                    let worth = |stakes: &Stakes| model.no_double(&even, Efficiency::CONTACT, stakes).0;
                    // Nobody is on roll yet: the mean of both players' views.
                    0.5 + 0.25 * (worth(&stakes) - worth(&stakes.swapped()))
                };
            }
        }
        table
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The most points to go for which its values were given; those beyond are computed.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The chance of a player who needs `away[0]` points against one who needs `away[1]`; the next game is the Crawford
    /// game if one of the two needs one point.
    #[inline]
    pub fn before(&self, away: [u32; 2]) -> MatchWinningChance {
        match away {
            [0, _] => MatchWinningChance(1.0),
            [_, 0] => MatchWinningChance(0.0),
            _ => {
                let [player, opponent] = away;
                if player.max(opponent) > self.reach {
                    return self.beyond(away);
                }
                MatchWinningChance(self.before[((player - 1) * self.reach + opponent - 1) as usize])
            }
        }
    }

    /// The same after the Crawford game has been played.
    #[inline]
    pub fn after_crawford(&self, away: [u32; 2]) -> MatchWinningChance {
        match away {
            [0, _] => MatchWinningChance(1.0),
            [_, 0] => MatchWinningChance(0.0),
            [trailer, 1] => self.trailing(trailer),
            [_, trailer] => MatchWinningChance(1.0 - self.trailing(trailer).0),
        }
    }

    /// The chance of the player on roll before a game at `score`.
    #[inline]
    pub fn at(&self, score: MatchScore) -> MatchWinningChance {
        let away = score.away();
        let comes_after = !score.crawford() && (away[0] == 1) != (away[1] == 1);
        if comes_after { self.after_crawford(away) } else { self.before(away) }
    }

    /// The chance of the player on roll when the game at `score` ends with so many points for him and for his opponent, of
    /// which one number is 0.
    #[inline]
    pub fn after_game(&self, score: MatchScore, points: [u32; 2]) -> MatchWinningChance {
        let [player, opponent] = score.away();
        let crawford_is_over = score.crawford() || (player == 1) != (opponent == 1) || (player, opponent) == (1, 1);
        let away = [player.saturating_sub(points[0]), opponent.saturating_sub(points[1])];
        if crawford_is_over { self.after_crawford(away) } else { self.before(away) }
    }

    /// After the Crawford game, of a player who needs so many points against one. Each two points more are one game more
    /// to win.
    fn trailing(&self, trailer: u32) -> MatchWinningChance {
        let beyond = trailer.saturating_sub(self.reach);
        let within = self.after_crawford[(trailer - beyond.next_multiple_of(2)) as usize - 1];
        MatchWinningChance(within * 0.5f32.powi((beyond.div_ceil(2)).min(100) as i32))
    }

    /// Scores beyond the table: both numbers are shrunk alike, and the values around the place to which they come are
    /// weighted, so that a point more or less makes a difference however long the match is.
    #[cold]
    fn beyond(&self, away: [u32; 2]) -> MatchWinningChance {
        let shrink = f64::from(self.reach) / f64::from(away[0].max(away[1]));
        let [player, opponent] = away.map(|points| (f64::from(points) * shrink).max(1.0));
        let cell = |player: u32, opponent: u32| {
            let [player, opponent] = [player, opponent].map(|points| points.min(self.reach) - 1);
            f64::from(self.before[(player * self.reach + opponent) as usize])
        };
        let (p, o) = (player as u32, opponent as u32);
        let (right, down) = (player - f64::from(p), opponent - f64::from(o));
        let near = (1.0 - right) * cell(p, o) + right * cell(p + 1, o);
        let far = (1.0 - right) * cell(p, o + 1) + right * cell(p + 1, o + 1);
        MatchWinningChance(((1.0 - down) * near + down * far) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kazaross_is_what_players_know() {
        let table = MatchEquityTable::kazaross();
        assert_eq!(table.size(), 25);
        for (away, chance) in [([1, 1], 0.5), ([1, 2], 0.677), ([2, 1], 0.323), ([2, 2], 0.5), ([3, 2], 0.404)] {
            assert!((table.before(away).0 - chance).abs() < 0.006, "{away:?} {:?}", table.before(away));
        }
        assert!((table.after_crawford([2, 1]).0 - 0.4872).abs() < 0.02);
        assert_eq!(table.before([0, 3]), MatchWinningChance(1.0));
        assert_eq!(table.after_crawford([1, 0]), MatchWinningChance(0.0));
        // In matches as long as may be every point counts, and the leader stays the leader.
        for length in [26, 40, 64, 65, 66, 100, 1000, 32_767] {
            let chances = [3, 2, 1, 0].map(|lead| table.before([length - lead, length]).0);
            assert!((chances[3] - 0.5).abs() < 1e-6 && chances.is_sorted_by(|a, b| a > b), "{length}: {chances:?}");
            let trailing = [table.after_crawford([length, 1]).0, table.after_crawford([length - 2, 1]).0];
            assert!(trailing[0] <= trailing[1] && trailing[1] < 0.5, "{length}: {trailing:?}");
        }
    }

    #[test]
    fn tables_are_fair_and_monotone() {
        let computed = MatchEquityTable::computed(RuleSet::Backgammon, GammonRates::default());
        for table in [MatchEquityTable::kazaross(), &computed, MatchEquityTable::usual(RuleSet::Tavla)] {
            for player in 1..=table.size() {
                for opponent in 1..=table.size() {
                    let chance = table.before([player, opponent]).0;
                    let mirrored = table.before([opponent, player]).0;
                    assert!((chance + mirrored - 1.0).abs() < 1e-5, "{} {player} {opponent}", table.name());
                    if opponent > 1 {
                        let fewer = table.before([player, opponent - 1]).0;
                        assert!(chance > fewer - 1e-4, "{} {player} {opponent}: {fewer} {chance}", table.name());
                    }
                }
            }
        }
    }

    /// The recursion comes near the table that was rolled out.
    #[test]
    fn the_computed_table_is_near_kazaross() {
        let computed = MatchEquityTable::computed(RuleSet::Backgammon, GammonRates::default());
        let mut worst = (0.0f32, 0, 0);
        for player in 1..=25 {
            for opponent in 1..=25 {
                let known = MatchEquityTable::kazaross().before([player, opponent]).0;
                let difference = (computed.before([player, opponent]).0 - known).abs();
                if difference > worst.0 {
                    worst = (difference, player, opponent);
                }
            }
        }
        assert!(worst.0 < 0.02, "{worst:?}");
    }

    #[test]
    fn games_lead_to_scores() {
        let table = MatchEquityTable::kazaross();
        let score = |scores, crawford| MatchScore::new(7, scores, crawford).unwrap();
        // From 5-5 in a match to 7 a single game leads to the Crawford game.
        assert_eq!(table.after_game(score([5, 5], false), [1, 0]), table.before([1, 2]));
        // The Crawford game leads past it, and so does what comes after.
        assert_eq!(table.after_game(score([6, 4], true), [0, 1]), table.after_crawford([1, 2]));
        assert_eq!(table.after_game(score([6, 4], false), [0, 2]), table.after_crawford([1, 1]));
        assert_eq!(table.after_game(score([6, 4], false), [0, 4]), MatchWinningChance(0.0));
        assert_eq!(table.after_game(score([0, 0], false), [0, 8]), MatchWinningChance(0.0));
    }

    #[test]
    fn wrong_tables_are_refused() {
        let refused = |text: &str| MatchEquityTable::from_csv("x", text).unwrap_err();
        assert_eq!(refused(""), MatchEquityError::Size(0));
        assert_eq!(refused("post,1,0.5"), MatchEquityError::Missing(1, 1));
        assert_eq!(refused("post,1,x"), MatchEquityError::Chance("x".into()));
        assert_eq!(refused("post,1,0.5\npre,1,1,1.5"), MatchEquityError::Chance("1.5".into()));
        assert!(matches!(refused("post,0,0.5"), MatchEquityError::Line { line: 1, .. }));
        assert!(matches!(refused("# x\nhello"), MatchEquityError::Line { line: 2, .. }));
        assert!(MatchEquityTable::from_csv("x", "post,1,0.5\npre,1,1,0.5").is_ok());
    }
}
