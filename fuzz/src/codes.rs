//! The codes by which programs exchange positions.

use std::{error::Error, fmt::Display, str::FromStr};

use zar::board::{MatchId, Position, Xgid};

use crate::bytes::Bytes;

pub(crate) const BASE_64: &[&str] = &[
    "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W",
    "X", "Y", "Z", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t",
    "u", "v", "w", "x", "y", "z", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "+", "/",
];

pub(crate) const XGID_WORDS: &[&str] = &[
    "XGID=",
    ":",
    "-",
    "A",
    "B",
    "C",
    "E",
    "O",
    "P",
    "a",
    "b",
    "c",
    "e",
    "o",
    "p",
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "9",
    "10",
    "15",
    "16",
    "-1",
    "00",
    "52",
    "66",
    "D",
    "DD",
    "BB",
    "R",
    "4294967295",
    "4294967296",
];

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn position_id_samples() -> Vec<Vec<u8>> {
    texts(&["4HPwATDgc/ABMA", "sGfwATDgc/ABMA", "4HNwAGywZ/ABEA", "sGfwARDwOTgANg", "sGfwAVDgc3AADA", "AAAAAAAAAAAAAQ"])
}

pub(crate) fn match_id_samples() -> Vec<Vec<u8>> {
    texts(&[
        "cIkKAAAAAAAA",
        "cAkAAAAAAAAE",
        "MAEAAAAAAAAE",
        "AQGgABAAEAAE",
        "QgnvABAAMAAE",
        "8AngABAAMAAE",
        "QYkqASAAIAAA",
    ])
}

pub(crate) fn xgid_samples() -> Vec<Vec<u8>> {
    texts(&[
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:52:0:0:3:0:10",
        "XGID=bb---BD-B---cE---c-e----A-:0:0:-1:00:0:0:0:0:10",
        "XGID=-b---BD-B---cE---c-e----AA:1:-1:-1:00:2:1:0:5:10",
        "-b----E-C---eE---c-e----B-:2:-1:1:63:6:1:0:7:10",
        "-b----E-C---eE---c-e----B-:0:0:1:00:6:1:1:7:10",
        "-b----E-C---eE---c-e----B-:0:0:-1:DD:0:0:3:0:10",
    ])
}

/// Reads `text`. What is read is written, and read again is the same; what is refused says why.
fn read<T>(text: &str) -> Option<T>
where
    T: FromStr<Err: Error> + Display + PartialEq + std::fmt::Debug,
{
    match text.parse::<T>() {
        Ok(value) => {
            let written = value.to_string();
            let again = written.parse::<T>().expect("what is written can be read");
            assert_eq!(again, value, "{text:?} was written as {written:?}");
            assert_eq!(again.to_string(), written);
            Some(value)
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// Whether a position has fifteen checkers a side, off or on points of their own.
pub(crate) fn is_possible(position: &Position) -> bool {
    Position::new(*position.points()) == Ok(*position)
}

/// A Position ID that is read is written as the same text. Every position has one.
pub fn position_id(data: &[u8]) -> bool {
    let made = Bytes(data).position();
    let id = made.to_string();
    assert_eq!(read::<Position>(&id), Some(made), "{id}");

    let Ok(text) = str::from_utf8(data) else { return false };
    let Some(position) = read::<Position>(text) else { return false };
    assert_eq!(position.to_string(), text);
    assert!(is_possible(&position), "{text}");
    assert_eq!(position.swapped().swapped(), position);
    true
}

/// A Match ID that is read is consistent, and written as the same text.
pub fn match_id(data: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(data) else { return false };
    let Some(id) = read::<MatchId>(text) else { return false };
    assert_eq!(id.to_string(), text);
    assert_eq!(id.check(), Ok(()), "{text}");
    true
}

/// An XGID that is read is consistent. It is written without leading zeros, with one letter for a double and with the
/// word in front, and otherwise as it was read.
pub fn xgid(data: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(data) else { return false };
    let Some(xgid) = read::<Xgid>(text) else { return false };
    assert_eq!(xgid.check(), Ok(()), "{text}");
    assert!(is_possible(&xgid.position), "{text}");
    let fields = text.strip_prefix("XGID=").unwrap_or(text).split(':');
    let plain: Vec<&str> =
        fields.enumerate().map(|(i, field)| if i == DICE { dice(field) } else { number(field) }).collect();
    assert_eq!(xgid.to_string(), format!("XGID={}", plain.join(":")), "{text}");
    true
}

/// Which field of an XGID holds the dice.
const DICE: usize = 4;

/// The dice as they are written.
fn dice(field: &str) -> &str {
    if matches!(field, "DD" | "BB" | "RR") { &field[1..] } else { field }
}

/// Another field as it is written.
fn number(field: &str) -> &str {
    let digits = field.trim_start_matches('0');
    match digits.bytes().next() {
        Some(first) if first.is_ascii_digit() => digits,
        None if !field.is_empty() => "0",
        _ => field,
    }
}
