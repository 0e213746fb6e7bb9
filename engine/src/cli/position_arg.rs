//! POSITION on the command line, and what it says around the checkers in words.

use crate::{
    board::{CubeOwner, CubeState},
    rules::{MoneyOptions, PositionArg, RuleSet, Session, Stakes},
};

use super::CliError;

impl PositionArg {
    /// The position of a game that goes on.
    pub(super) fn unfinished(text: &str) -> Result<PositionArg, CliError> {
        let arg: PositionArg = text.parse()?;
        if arg.position.is_over() { Err(CliError::GameOver(arg.position.to_string())) } else { Ok(arg) }
    }
}

/// Score or money, and the cube, in words.
pub(super) fn stakes_in_words(stakes: &Stakes, rules: RuleSet) -> String {
    let session = match stakes.session {
        Session::Match(score) => score.to_string(),
        Session::Money(MoneyOptions { jacoby, beavers }) => {
            let options = [(jacoby, ", Jacoby rule"), (beavers, ", beavers")];
            let on: String = options.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect();
            format!("money play{on}")
        }
    };
    if stakes.has_cube(rules) {
        format!("{session}, cube {}", cube_in_words(stakes.cube))
    } else {
        format!("{session}, no cube")
    }
}

/// Where the cube is, in words.
fn cube_in_words(cube: CubeState) -> String {
    match cube.owner() {
        CubeOwner::Centered => format!("{}, in the middle", cube.value()),
        CubeOwner::Player => format!("{}, with the player on roll", cube.value()),
        CubeOwner::Opponent => format!("{}, with the opponent", cube.value()),
    }
}
