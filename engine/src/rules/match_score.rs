//! The score of a match.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Crawford, RuleSet};

/// The longest match.
pub const LONGEST_MATCH: u32 = (1 << 15) - 1;

/// The score of a match that goes on, seen by the player on roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "ScoreRecord", into = "ScoreRecord")]
pub struct MatchScore {
    length: u32,
    scores: [u32; 2],
    crawford: bool,
}

/// Why numbers are not the score of a match that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MatchScoreError {
    /// A length that no match has.
    #[error("a match to {0} points, expected 1 to {LONGEST_MATCH}")]
    Length(u32),
    /// A player has won already.
    #[error("the score {}-{} does not fit a match to {length} points that goes on", scores[0], scores[1])]
    Over {
        /// Points that win the match.
        length: u32,
        /// Points of the player on roll and of his opponent.
        scores: [u32; 2],
    },
    /// A Crawford game in which nobody, or everybody, needs one point.
    #[error("{}-{} in a match to {length} is no score of a Crawford game: expected one player, and one alone, to need one point", scores[0], scores[1])]
    Crawford {
        /// Points that win the match.
        length: u32,
        /// Points of the player on roll and of his opponent.
        scores: [u32; 2],
    },
}

impl MatchScore {
    /// A score: the points that win the match, those of the player on roll and of his opponent, and whether this is the
    /// Crawford game.
    ///
    /// # Errors
    /// A match that cannot be, or that is over.
    pub fn new(length: u32, scores: [u32; 2], crawford: bool) -> Result<MatchScore, MatchScoreError> {
        if !(1..=LONGEST_MATCH).contains(&length) {
            return Err(MatchScoreError::Length(length));
        }
        if scores.iter().any(|&score| score >= length) {
            return Err(MatchScoreError::Over { length, scores });
        }
        let needing_one = scores.iter().filter(|&&score| score + 1 == length).count();
        if crawford && needing_one != 1 {
            return Err(MatchScoreError::Crawford { length, scores });
        }
        Ok(MatchScore { length, scores, crawford })
    }

    /// Points that win the match.
    pub fn length(self) -> u32 {
        self.length
    }

    /// Points of the player on roll and of his opponent.
    pub fn scores(self) -> [u32; 2] {
        self.scores
    }

    /// Points that the player on roll and his opponent still need.
    pub fn away(self) -> [u32; 2] {
        self.scores.map(|score| self.length - score)
    }

    /// Whether this is the Crawford game.
    pub fn crawford(self) -> bool {
        self.crawford
    }

    /// The same score seen by the other player.
    pub fn swapped(self) -> MatchScore {
        let [player, opponent] = self.scores;
        MatchScore { scores: [opponent, player], ..self }
    }

    /// Whether the cube may be turned at all in a game at this score.
    pub fn has_cube(self, rules: RuleSet) -> bool {
        match rules.terms().cube.map(|cube| cube.crawford) {
            None => false,
            Some(Crawford::OneGame) => !self.crawford,
            Some(Crawford::EveryGame) => !self.away().contains(&1),
        }
    }
}

/// A score as it is written; what is read is checked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScoreRecord {
    length: u32,
    score: [u32; 2],
    #[serde(default)]
    crawford: bool,
}

impl TryFrom<ScoreRecord> for MatchScore {
    type Error = MatchScoreError;

    fn try_from(ScoreRecord { length, score, crawford }: ScoreRecord) -> Result<MatchScore, MatchScoreError> {
        MatchScore::new(length, score, crawford)
    }
}

impl From<MatchScore> for ScoreRecord {
    fn from(MatchScore { length, scores, crawford }: MatchScore) -> ScoreRecord {
        ScoreRecord { length, score: scores, crawford }
    }
}

/// Written `3-2 in a match to 7`.
impl fmt::Display for MatchScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [player, opponent] = self.scores;
        write!(f, "{player}-{opponent} in a match to {}", self.length)?;
        if self.crawford { f.write_str(" (Crawford game)") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_checked() {
        assert_eq!(MatchScore::new(0, [0, 0], false), Err(MatchScoreError::Length(0)));
        assert_eq!(MatchScore::new(5, [5, 0], false), Err(MatchScoreError::Over { length: 5, scores: [5, 0] }));
        for scores in [[3, 2], [4, 4]] {
            assert_eq!(MatchScore::new(5, scores, true), Err(MatchScoreError::Crawford { length: 5, scores }));
        }
        let score = MatchScore::new(7, [6, 2], true).unwrap();
        assert_eq!((score.away(), score.swapped().scores()), ([1, 5], [2, 6]));
        assert_eq!(score.to_string(), "6-2 in a match to 7 (Crawford game)");
        let text = serde_json::to_string(&score).unwrap();
        assert_eq!(text, r#"{"length":7,"score":[6,2],"crawford":true}"#);
        assert_eq!(serde_json::from_str::<MatchScore>(&text).unwrap(), score);
        assert!(serde_json::from_str::<MatchScore>(r#"{"length":7,"score":[7,2]}"#).is_err());
    }

    #[test]
    fn the_cube_rests() {
        let crawford = MatchScore::new(7, [6, 2], true).unwrap();
        let afterwards = MatchScore::new(7, [6, 3], false).unwrap();
        let early = MatchScore::new(7, [5, 5], false).unwrap();
        for (rules, expected) in [
            (RuleSet::Backgammon, [false, true, true]),
            (RuleSet::Tavla, [false, false, true]),
            (RuleSet::Tavla2004, [false, false, true]),
            (RuleSet::Table, [false; 3]),
            (RuleSet::Plain, [false; 3]),
        ] {
            assert_eq!([crawford, afterwards, early].map(|score| score.has_cube(rules)), expected, "{rules}");
        }
    }
}
