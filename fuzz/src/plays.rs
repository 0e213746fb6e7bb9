//! Plays as texts.

use std::borrow::Cow;

use zar::{
    board::Position,
    rules::{Dice, LegalPlay, RuleSet},
};

use crate::bytes::Bytes;

pub(crate) const WORDS: &[&str] = &[
    "bar", "BAR", "off", "25", "24", "23", "22", "20", "18", "13", "8", "6", "5", "3", "1", "0", "/", "/", "/", "*",
    " ", " ", ",", "(2)", "(3)", "(4)", "(", ")", "\u{a0}", "é",
];

/// The words of a text are bytes: these, by number.
const TOKENS: &[&str] = &["bar", "off", "/", "/", "/", "*", " ", " ", ",", "(2)", "(3)", "(4)", "(", ")"];

pub(crate) fn samples() -> Vec<Vec<u8>> {
    let mut samples = Vec::new();
    for (rules, dice, text) in [
        (0, 3, "24/18 13/11"),
        (1, 4, "bar/22*/16"),
        (3, 6, "8/5(2) 6/3(2)"),
        (0, 9, "6/off 3/off"),
        (2, 12, "24/20*/15, 6/5"),
    ] {
        for way in [0, 1, 2, 3, 7] {
            // The start, then scattered checkers.
            samples.push([&[rules, dice, way, 0][..], text.as_bytes()].concat());
            let checkers: Vec<u8> = (0..30u8).map(|i| if i % 3 == 2 { 200 } else { i * 7 + dice }).collect();
            samples.push([&[rules, dice, way, 1][..], &checkers, text.as_bytes()].concat());
        }
    }
    samples
}

/// Of a play that is read: it is legal, its moves make its result, and its own text means the same play. The text is the
/// bytes themselves, or points and signs by number, or that of a legal play with or without changes.
pub fn play_text(data: &[u8]) -> bool {
    let mut bytes = Bytes(data);
    let (rules, dice, way) = (bytes.rules(), bytes.dice(), bytes.next());
    let position = if bytes.next().is_multiple_of(4) { Position::START } else { bytes.position() };
    let text = match way % 4 {
        0 => String::from_utf8_lossy(bytes.rest()),
        1 => bytes.rest().iter().fold(String::new(), |text, &byte| text + &token(byte)).into(),
        _ => {
            let legal = position.legal_plays(dice, rules);
            let play = legal[usize::from(bytes.next()) % legal.len()];
            let text = play.play.text(&position);
            check(&position, &play, &text, dice, rules);
            if way % 4 == 2 {
                // What is always accepted would crowd out everything else.
                return false;
            }
            changed(text, bytes).into()
        }
    };
    match position.parse_play(&text, dice, rules) {
        Ok(play) => {
            let legal = position.legal_plays(dice, rules);
            assert!(legal.contains(&play), "{position} {dice} {rules} {text:?}: {play:?}");
            check(&position, &play, &play.play.text(&position), dice, rules);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// Moves one after another lead to the result, and the text to the play.
fn check(position: &Position, play: &LegalPlay, text: &str, dice: Dice, rules: RuleSet) {
    let moved = play.play.iter().try_fold(*position, |position, &made| position.after_move(made));
    assert_eq!(moved.map(|position| position.swapped()), Some(play.after), "{position} {dice} {rules} {text:?}");
    assert_eq!(position.parse_play(text, dice, rules), Ok(*play), "{position} {dice} {rules} {text:?}");
}

fn token(byte: u8) -> Cow<'static, str> {
    let number = usize::from(byte) % (TOKENS.len() + 26);
    TOKENS.get(number).map_or_else(|| (number - TOKENS.len()).to_string().into(), |&token| token.into())
}

/// Some changes: without the marks of hits, the words in another order, a word less, a word more.
fn changed(text: String, mut bytes: Bytes<'_>) -> String {
    let text = if bytes.next().is_multiple_of(2) { text.replace('*', "") } else { text };
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let (first, second) = (usize::from(bytes.next()) % words.len(), usize::from(bytes.next()) % words.len());
    words.swap(first, second);
    match bytes.next() % 4 {
        0 => drop(words.pop()),
        1 => words.push(bytes.rest().iter().map(|&byte| token(byte)).collect()),
        _ => {}
    }
    words.join(if first > second { "," } else { "  " })
}
