//! The same questions through every door have the same answers.
#![allow(clippy::unwrap_used, reason = "tests may")]

mod corpus;
mod programs;

use serde_json::{Value, json};
use zar::rules::RuleSet;

use corpus::{Form, Kind, Question, questions};

/// The same words, and numbers that are the same but for the digits that are left out.
fn assert_same(expected: &Value, found: &Value, digits: f64, asked: &dyn std::fmt::Display) {
    match (expected, found) {
        (Value::Number(expected), Value::Number(number)) => {
            let (a, b) = (expected.as_f64().unwrap(), number.as_f64().unwrap());
            // Half a unit of the last digit, and what a double is off.
            assert!((a - b).abs() <= 0.5 * digits + 1e-9, "{asked}: {a} {b}");
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            expected.iter().zip(found).for_each(|(a, b)| assert_same(a, b, digits, asked));
        }
        (Value::Object(expected), Value::Object(found)) if expected.len() == found.len() => {
            for (key, a) in expected {
                assert_same(a, found.get(key).unwrap_or(&Value::Null), digits, &format!("{asked} {key}"));
            }
        }
        _ => assert_eq!(expected, found, "{asked}"),
    }
}

#[test]
fn every_door_answers_the_same() {
    let questions = questions();
    assert_eq!(questions.len(), 1000);
    let mut expected = programs::decide(&questions);
    for answer in &mut expected {
        if let Some(error) = answer.get("error") {
            *answer = json!({"error": error});
        }
    }
    corpus_is_worth_asking(&questions, &expected);

    for ((question, expected), found) in questions.iter().zip(&expected).zip(programs::http(&questions)) {
        assert_eq!(*expected, found, "{}", question.request);
    }

    let mut without_c = 0;
    for ((question, expected), [python, c]) in questions.iter().zip(&expected).zip(programs::libraries(&questions)) {
        assert_same(expected, &python, 1e-6, &question.request);
        match c {
            Value::Null => without_c += 1,
            found => assert_same(expected, &found, 1e-6, &question.request),
        }
    }
    let overruled = |question: &&Question| question.form == Form::Overruled;
    let cubeless_text = |question: &&Question| !question.cubeful && question.form != Form::Beside;
    let beyond_c = questions.iter().filter(|question| overruled(question) || cubeless_text(question)).count();
    assert_eq!(without_c, beyond_c);

    let mut without_ubgi = 0;
    for ((question, expected), lines) in questions.iter().zip(&expected).zip(programs::ubgi(&questions)) {
        match lines {
            Some(lines) => assert_ubgi(question, expected, &lines),
            None => without_ubgi += 1,
        }
    }
    let beyond_ubgi = questions.iter().filter(|question| overruled(question) || question.kind == Kind::Eval).count();
    assert_eq!(without_ubgi, beyond_ubgi);
    // Each door is asked most of the questions.
    assert!(beyond_c < 100 && beyond_ubgi < 320, "{beyond_c} {beyond_ubgi}");
}

/// All kinds of questions are there, and all kinds of answers.
fn corpus_is_worth_asking(questions: &[Question], answers: &[Value]) {
    let count = |property: &dyn Fn(&Question, &Value) -> bool| {
        questions.iter().zip(answers).filter(|(question, answer)| property(question, answer)).count()
    };
    for rules in RuleSet::ALL {
        assert!(count(&|question, _| question.rules == rules) >= 115);
    }
    let action = |name: &'static str| count(&|_, answer| answer["action"] == name);
    for name in ["no-double", "double-take", "double-drop", "too-good", "no-redouble", "redouble-take", "redouble-drop"]
    {
        assert!(action(name) >= 2, "{name}: {}", action(name));
    }
    let error =
        |words: &'static str| count(&|_, answer| answer["error"].as_str().is_some_and(|error| error.contains(words)));
    for words in
        ["there is no cube in this game", "the Crawford game", "the opponent holds the cube", "the highest it may"]
    {
        assert!(error(words) >= 1, "{words}");
    }
    // Nothing is refused but cubes that may not be turned.
    assert_eq!(count(&|question, answer| answer.get("error").is_some() && question.kind != Kind::Cube), 0);
    assert!(count(&|_, answer| answer["beaver"] == true) >= 1);
    assert!(count(&|question, _| question.stakes.money_options().jacoby) >= 50);
    assert!(count(&|question, _| question.stakes.score().is_some_and(|score| score.crawford())) >= 10);
    assert!(count(&|question, _| !question.cubeful) >= 50);
    assert!(count(&|_, answer| answer["play"] == "") >= 1);
    for form in [Form::Beside, Form::Xgid, Form::MatchId, Form::Overruled] {
        assert!(count(&|question, _| question.form == form) >= 30, "{form:?}");
    }
}

/// What `zar ubgi` says is what `zar decide` does, in fewer digits.
fn assert_ubgi(question: &Question, expected: &Value, lines: &[String]) {
    let asked = format!("{} {lines:?}", question.request);
    let eval = lines.iter().find_map(|line| line.strip_prefix("eval ")).unwrap_or_else(|| panic!("{asked}"));
    let number = |name: &str| {
        let mut words = eval.split(' ').skip_while(|word| *word != name);
        words.nth(1).map_or(Value::Null, |number| json!(number.parse::<f64>().unwrap()))
    };
    let probs = json!([number("pwin"), number("pgammon"), number("pbg")]);
    let answer = |name: &str| {
        lines.iter().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{asked}")).trim().to_owned()
    };
    let same = |expected: &Value, found: &Value| assert_same(expected, found, 1.02e-4, &asked);
    if expected.get("error").is_some() {
        // Where the cube may not be turned, there is one way.
        assert_eq!(answer("bestcube "), "nodouble", "{asked}");
        return;
    }
    same(&json!(expected["probs"].as_array().unwrap()[..3]), &probs);
    match question.kind {
        Kind::Play(_) => {
            assert_eq!(answer("bestmoveid "), expected["after"], "{asked}");
            let pass = expected["play"] == "";
            assert_eq!(answer("bestmove ") == "pass", pass, "{asked}");
            same(&expected["equity"], &number("eq"));
        }
        _ => {
            let (way, doubles) = match expected["action"].as_str().unwrap() {
                "double-take" | "redouble-take" => ("dt", "double"),
                "double-drop" | "redouble-drop" => ("dp", "double"),
                _ => ("nd", "nodouble"),
            };
            assert_eq!(answer("bestcube "), doubles, "{asked}");
            same(&expected[way], &number("eq"));
            if expected.get("mwc").is_some() {
                same(&expected["mwc"][way], &number("mwc"));
            }
        }
    }
}
