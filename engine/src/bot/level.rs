//! How well the bot plays.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// How far the bot looks ahead, or how well a person plays whom it imitates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Level {
    /// Errs by 70 thousandths of a point a decision with the shipped weights, measured as all of these by `zar-train score` on
    /// the decisions of `tests/data/checker_dev.jsonl`.
    Beginner,
    /// Errs by 49.
    Casual,
    /// Errs by 31.
    Intermediate,
    /// Errs by 16.
    Advanced,
    /// Errs by 7.
    Expert,
    /// As good as any person: one turn ahead.
    WorldClass,
    /// The bare networks.
    #[default]
    ZeroPly,
    /// One turn ahead.
    OnePly,
    /// Two turns ahead.
    TwoPly,
    /// Three turns ahead.
    ThreePly,
    /// Games played to their end, for the plays that come into question.
    Rollout,
}

/// A name that no level has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not a level: expected {names}", names = Level::names())]
pub struct UnknownLevel(pub String);

impl Level {
    /// All levels: the people from the weakest to the strongest, then the depths.
    pub const ALL: [Level; 11] = [
        Level::Beginner,
        Level::Casual,
        Level::Intermediate,
        Level::Advanced,
        Level::Expert,
        Level::WorldClass,
        Level::ZeroPly,
        Level::OnePly,
        Level::TwoPly,
        Level::ThreePly,
        Level::Rollout,
    ];

    /// The level of those who ask for none but give a time: as deep as it allows.
    pub const WITHIN_A_TIME: Level = Level::ThreePly;

    /// Plies of look-ahead; of a rollout, those by which it chooses what to roll out.
    pub fn plies(self) -> u8 {
        match self {
            Level::Beginner | Level::Casual | Level::Intermediate | Level::Advanced | Level::Expert => 0,
            Level::ZeroPly => 0,
            Level::WorldClass | Level::OnePly | Level::Rollout => 1,
            Level::TwoPly => 2,
            Level::ThreePly => 3,
        }
    }

    /// The standard deviation of the errors in judging a position that is even, in points.
    pub fn misjudges(self) -> f32 {
        match self {
            Level::Beginner => 0.30,
            Level::Casual => 0.20,
            Level::Intermediate => 0.13,
            Level::Advanced => 0.08,
            Level::Expert => 0.04,
            Level::WorldClass | Level::ZeroPly | Level::OnePly | Level::TwoPly | Level::ThreePly | Level::Rollout => {
                0.0
            }
        }
    }

    /// The names of all levels, for messages.
    fn names() -> String {
        let names: Vec<String> = Level::ALL.iter().map(Level::to_string).collect();
        let (last, others) = names.split_last().expect("there are levels");
        format!("{} or {last}", others.join(", "))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Level::Beginner => "beginner",
            Level::Casual => "casual",
            Level::Intermediate => "intermediate",
            Level::Advanced => "advanced",
            Level::Expert => "expert",
            Level::WorldClass => "worldclass",
            Level::ZeroPly => "0ply",
            Level::OnePly => "1ply",
            Level::TwoPly => "2ply",
            Level::ThreePly => "3ply",
            Level::Rollout => "rollout",
        })
    }
}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Level, UnknownLevel> {
        Level::ALL
            .into_iter()
            .find(|level| level.to_string() == name)
            .ok_or_else(|| UnknownLevel(name.chars().take(40).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_names() {
        for level in Level::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        let unknown = "4ply".parse::<Level>().unwrap_err();
        assert_eq!(unknown, UnknownLevel("4ply".into()));
        assert!(unknown.to_string().ends_with("2ply, 3ply or rollout"), "{unknown}");
    }

    #[test]
    fn better_players_err_less() {
        assert!(Level::ALL[..6].is_sorted_by(|worse, better| worse.misjudges() > better.misjudges()));
    }
}
