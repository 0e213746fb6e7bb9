//! What can be set: keys in dialect 0.2, options in 0.1.

use std::fmt;

use crate::{
    bot::{Level, UnknownLevel},
    rules::{RuleSet, UnknownRuleSet},
};

use super::{
    error::{UbgiError, excerpt},
    search::DEPTHS,
};

/// One thing that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// How far to look ahead, or whom to imitate.
    Level,
    /// Plies of look-ahead: the level of that depth.
    Ply,
    /// Threads to look ahead on.
    Threads,
    /// The seed of rollouts, and of the errors of levels that imitate people.
    Seed,
    /// Whether the same question always has the same answer, as it has anyway.
    Deterministic,
    /// Whether plays are valued with the cube.
    EvalMode,
    /// The rule set.
    Variant,
    /// Whether beavers are on in money play.
    Beavers,
    /// Whether the result of a play is told too.
    MoveId,
}

/// The names of [`Level::ALL`].
const LEVELS: [&str; 11] = [
    "beginner",
    "casual",
    "intermediate",
    "advanced",
    "expert",
    "worldclass",
    "0ply",
    "1ply",
    "2ply",
    "3ply",
    "rollout",
];

/// The names of [`RuleSet::ALL`].
const VARIANTS: [&str; 5] = ["backgammon", "tavla", "tavla2004", "table", "plain"];

/// Values that a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Int(u64, u64),
    Bool,
    Enum(&'static [&'static str]),
}

const ALL: [Key; 9] = [
    Key::Level,
    Key::Ply,
    Key::Threads,
    Key::Seed,
    Key::Deterministic,
    Key::EvalMode,
    Key::Variant,
    Key::Beavers,
    Key::MoveId,
];

impl Key {
    /// Its names in 0.2 and in 0.1.
    fn names(self) -> [&'static str; 2] {
        match self {
            Key::Level => ["engine.level", "Level"],
            Key::Ply => ["engine.ply", "Ply"],
            Key::Threads => ["engine.threads", "Threads"],
            Key::Seed => ["engine.seed", "Seed"],
            Key::Deterministic => ["engine.deterministic", "Deterministic"],
            Key::EvalMode => ["engine.eval_mode", "EvalMode"],
            Key::Variant => ["game.variant", "Variant"],
            Key::Beavers => ["game.beavers", "Beavers"],
            Key::MoveId => ["engine.move_id", "MoveId"],
        }
    }

    fn kind(self) -> Kind {
        match self {
            Key::Ply => Kind::Int(0, 3),
            Key::Threads => Kind::Int(1, 1024),
            Key::Seed => Kind::Int(0, u64::MAX),
            Key::Level => Kind::Enum(&LEVELS),
            Key::Deterministic | Key::Beavers | Key::MoveId => Kind::Bool,
            Key::EvalMode => Kind::Enum(&["cubeful", "cubeless"]),
            Key::Variant => Kind::Enum(&VARIANTS),
        }
    }

    /// What it is for; a `!` in front where it does not change how well the bot plays.
    fn description(self) -> &'static str {
        match self {
            Key::Level => "how far to look ahead, or whom to imitate",
            Key::Ply => "plies of look-ahead: another name for the levels of that depth",
            Key::Threads => "! threads to look ahead on",
            Key::Seed => "! seed of rollouts, and of the errors of levels that imitate people",
            Key::Deterministic => "! the same question has the same answer anyway",
            Key::EvalMode => "whether plays are valued with the cube",
            Key::Variant => "the rules",
            Key::Beavers => "whether beavers are on in money play",
            Key::MoveId => "! a line bestmoveid with the Position ID of the result behind each bestmove",
        }
    }

    /// The key with a name of either dialect.
    pub fn named(name: &str) -> Option<Key> {
        ALL.into_iter().find(|key| key.names().contains(&name))
    }
}

/// What is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub level: Level,
    /// Whether somebody has asked for the level; otherwise a time to think takes its place.
    pub level_is_asked_for: bool,
    pub threads: usize,
    pub seed: u64,
    pub deterministic: bool,
    pub cubeful: bool,
    pub rules: RuleSet,
    pub beavers: bool,
    pub move_id: bool,
}

/// A value, as it is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Int(u64),
    Bool(bool),
    Word(&'static str),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(number) => number.fmt(f),
            Value::Bool(on) => on.fmt(f),
            Value::Word(word) => f.write_str(word),
        }
    }
}

impl Settings {
    fn get(&self, key: Key) -> Value {
        let word = |text: &str| match key.kind() {
            Kind::Enum(words) => Value::Word(words.iter().find(|word| **word == text).unwrap_or(&words[0])),
            Kind::Int(..) | Kind::Bool => Value::Word(""),
        };
        match key {
            Key::Level => word(&self.level.to_string()),
            Key::Ply => Value::Int(self.level.plies().into()),
            Key::Threads => Value::Int(self.threads as u64),
            Key::Seed => Value::Int(self.seed),
            Key::Deterministic => Value::Bool(self.deterministic),
            Key::EvalMode => word(if self.cubeful { "cubeful" } else { "cubeless" }),
            Key::Variant => word(&self.rules.to_string()),
            Key::Beavers => Value::Bool(self.beavers),
            Key::MoveId => Value::Bool(self.move_id),
        }
    }

    /// Sets what has this name.
    ///
    /// # Errors
    /// No such key, and a value that it does not take.
    pub fn set(&mut self, name: &str, value: &str) -> Result<Key, UbgiError> {
        let wrong = |detail: String| UbgiError::BadValue { key: excerpt(name), detail };
        let key = Key::named(name).ok_or_else(|| wrong("no such key".to_owned()))?;
        let bad = |expected: String| wrong(format!("{:?}, expected {expected}", excerpt(value)));
        let digits = value.bytes().all(|byte| byte.is_ascii_digit());
        let value = match key.kind() {
            Kind::Int(low, high) => {
                let number = value.parse().ok().filter(|number| digits && (low..=high).contains(number));
                Value::Int(number.ok_or_else(|| bad(format!("{low} to {high}")))?)
            }
            Kind::Bool => match value {
                "true" | "on" => Value::Bool(true),
                "false" | "off" => Value::Bool(false),
                _ => return Err(bad("true or false".to_owned())),
            },
            Kind::Enum(words) => {
                let word = words.iter().find(|word| **word == value);
                Value::Word(word.ok_or_else(|| bad(words.join(", ")))?)
            }
        };
        match (key, value) {
            (Key::Level, Value::Word(word)) => {
                self.level = word.parse().map_err(|error: UnknownLevel| wrong(error.to_string()))?;
                self.level_is_asked_for = true;
            }
            (Key::Ply, Value::Int(number)) => {
                self.level = DEPTHS[DEPTHS.len().min(number as usize + 1) - 1];
                self.level_is_asked_for = true;
            }
            (Key::Threads, Value::Int(number)) => self.threads = number as usize,
            (Key::Seed, Value::Int(number)) => self.seed = number,
            (Key::Deterministic, Value::Bool(on)) => self.deterministic = on,
            (Key::Beavers, Value::Bool(on)) => self.beavers = on,
            (Key::MoveId, Value::Bool(on)) => self.move_id = on,
            (Key::EvalMode, Value::Word(word)) => self.cubeful = word == "cubeful",
            (Key::Variant, Value::Word(word)) => {
                self.rules = word.parse().map_err(|error: UnknownRuleSet| wrong(error.to_string()))?;
            }
            _ => return Err(UbgiError::Internal(format!("{} has a value of another kind", excerpt(name)))),
        }
        Ok(key)
    }

    /// The line that answers `get`.
    ///
    /// # Errors
    /// No such key.
    pub fn value_line(&self, name: &str) -> Result<String, UbgiError> {
        let key = Key::named(name).ok_or_else(|| UbgiError::UnknownKey(excerpt(name)))?;
        Ok(format!("value {name} {}", self.get(key)))
    }

    /// What can be set, in dialect 0.2, with these values as those at the beginning.
    pub fn key_lines(&self) -> Vec<String> {
        let line = |key: Key| {
            let [name, _] = key.names();
            let kind = match key.kind() {
                Kind::Int(low, high) => format!("int {low}..{high}"),
                Kind::Bool => "bool true|false".to_owned(),
                Kind::Enum(words) => format!("enum {}", words.join("|")),
            };
            format!("key {name} {kind} {} {}", self.get(key), key.description())
        };
        ALL.into_iter().map(line).collect()
    }

    /// The same in dialect 0.1.
    pub fn option_lines(&self) -> Vec<String> {
        let line = |key: Key| {
            let ([_, name], value) = (key.names(), self.get(key));
            match key.kind() {
                Kind::Int(low, high) => format!("option name {name} type spin default {value} min {low} max {high}"),
                Kind::Bool => format!("option name {name} type check default {value}"),
                Kind::Enum(words) => {
                    format!("option name {name} type combo default {value} var {}", words.join(" var "))
                }
            }
        };
        ALL.into_iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Settings = Settings {
        level: Level::ZeroPly,
        level_is_asked_for: false,
        threads: 2,
        seed: 0,
        deterministic: true,
        cubeful: true,
        rules: RuleSet::Backgammon,
        beavers: false,
        move_id: false,
    };

    #[test]
    fn names_are_those_of_what_they_name() {
        assert_eq!(Level::ALL.map(|level| level.to_string()), LEVELS);
        assert_eq!(RuleSet::ALL.map(|rules| rules.to_string()), VARIANTS);
    }

    #[test]
    fn values_are_set_and_told() {
        let mut settings = START;
        for (name, value, line) in [
            ("engine.ply", "3", "value engine.ply 3"),
            ("Threads", "8", "value Threads 8"),
            ("engine.seed", "4294967295", "value engine.seed 4294967295"),
            ("engine.level", "worldclass", "value engine.level worldclass"),
            ("Ply", "2", "value engine.level 2ply"),
            ("Deterministic", "false", "value Deterministic false"),
            ("EvalMode", "cubeless", "value EvalMode cubeless"),
            ("game.variant", "tavla", "value game.variant tavla"),
            ("game.beavers", "on", "value game.beavers true"),
            ("MoveId", "true", "value MoveId true"),
        ] {
            settings.set(name, value).unwrap();
            let read = line.split(' ').nth(1).unwrap();
            assert_eq!(settings.value_line(read).as_deref(), Ok(line));
        }
        assert!(!settings.cubeful && settings.rules == RuleSet::Tavla);
    }

    #[test]
    fn wrong_values_are_refused() {
        let mut settings = START;
        for (name, value, expected) in [
            ("engine.ply", "4", "bad_value engine.ply: \"4\", expected 0 to 3"),
            ("engine.ply", "-1", "bad_value engine.ply: \"-1\", expected 0 to 3"),
            ("engine.ply", "+1", "bad_value engine.ply: \"+1\", expected 0 to 3"),
            ("engine.ply", "", "bad_value engine.ply: \"\", expected 0 to 3"),
            ("Deterministic", "maybe", "bad_value Deterministic: \"maybe\", expected true or false"),
            ("EvalMode", "x", "bad_value EvalMode: \"x\", expected cubeful, cubeless"),
            ("no\u{7}", "x", "bad_value no?: no such key"),
        ] {
            assert_eq!(settings.set(name, value).unwrap_err().to_string(), expected);
        }
        assert_eq!(settings, START);
        assert_eq!(settings.value_line("x").unwrap_err().to_string(), "unsupported key x");
    }

    #[test]
    fn keys_are_told_in_both_dialects() {
        let keys = START.key_lines();
        assert!(keys[0].starts_with("key engine.level enum beginner|casual|"));
        assert!(keys[1].starts_with("key engine.ply int 0..3 0 plies of look-ahead"));
        assert_eq!(keys[2], "key engine.threads int 1..1024 2 ! threads to look ahead on");
        assert!(keys[4].starts_with("key engine.deterministic bool true|false true !"));
        assert!(keys[5].starts_with("key engine.eval_mode enum cubeful|cubeless cubeful "));
        let options = START.option_lines();
        assert_eq!(options[2], "option name Threads type spin default 2 min 1 max 1024");
        assert_eq!(options[4], "option name Deterministic type check default true");
        assert_eq!(options[5], "option name EvalMode type combo default cubeful var cubeful var cubeless");
    }
}
