//! The board in characters.

use crate::{
    board::{BAR, CubeOwner, CubeState, Position},
    rules::Dice,
};

/// What is drawn around the checkers.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'a> {
    /// The checkers, seen by the player who looks at them; his are X.
    pub position: &'a Position,
    /// The cube as he sees it; `None` where there is none.
    pub cube: Option<CubeState>,
    /// A line for the other player, above the board.
    pub above: &'a str,
    /// A line for him, below it.
    pub below: &'a str,
    /// The roll that is to be played.
    pub dice: Option<Dice>,
}

/// Rows of checkers in each half.
const ROWS: u8 = 5;

/// The board: his home is below on the right, his 24-point above it.
pub fn drawn(drawing: &Drawing<'_>) -> String {
    let Drawing { position, cube, above, below, dice } = drawing;
    let cell = |point: usize, row: u8| {
        let count = position.points()[point];
        let (checkers, mark) = (count.unsigned_abs(), if count > 0 { 'X' } else { 'O' });
        match checkers {
            // What does not fit in the rows is counted on the last one.
            more if more > ROWS && row == ROWS - 1 => format!("{more:>2} "),
            some if some > row => format!(" {mark} "),
            _ => " · ".into(),
        }
    };
    let on_bar = |checkers: u8, mark: char, row: u8| match checkers {
        0 => "   ".to_owned(),
        more if more > ROWS && row == ROWS - 1 => format!("{more:>2} "),
        some if some > row => format!(" {mark} "),
        _ => "   ".to_owned(),
    };
    let cube_at = |owner: CubeOwner| match cube {
        Some(cube) if cube.owner() == owner => format!("  [{}]", cube.value()),
        _ => String::new(),
    };
    let numbers = |points: [usize; 12]| {
        let text: Vec<String> = points.iter().map(|point| format!("{point:>2}-")).collect();
        format!(" +{}-----{}+\n", text[..6].concat(), text[6..].concat())
    };
    let side = |points: [usize; 12], row: u8, bar: String, beside: String| {
        let text: Vec<String> = points.iter().map(|&point| cell(point, row)).collect();
        let line = format!(" |{}|{bar}|{}|{beside}", text[..6].concat(), text[6..].concat());
        format!("{}\n", line.trim_end())
    };
    let upper: [usize; 12] = std::array::from_fn(|i| 13 + i);
    let lower: [usize; 12] = std::array::from_fn(|i| 12 - i);
    let mut text = format!(" {above}\n");
    text += &numbers(upper);
    for row in 0..ROWS {
        let beside = if row == 0 { cube_at(CubeOwner::Opponent) } else { String::new() };
        text += &side(upper, row, on_bar(position.opponent_bar(), 'O', row), beside);
    }
    let middle = match dice {
        Some(dice) => format!("  {}-{} to play", dice.high(), dice.low()),
        None => String::new(),
    };
    text += format!(" |{:18}|BAR|{:18}|{}{middle}", "", "", cube_at(CubeOwner::Centered)).trim_end();
    text.push('\n');
    for row in (0..ROWS).rev() {
        let beside = if row == 0 { cube_at(CubeOwner::Player) } else { String::new() };
        text += &side(lower, row, on_bar(position.points()[BAR].unsigned_abs(), 'X', row), beside);
    }
    text += &numbers(lower);
    text += &format!(" {below}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start() {
        let drawing = Drawing {
            position: &Position::START,
            cube: Some(CubeState::START),
            above: "O: zar",
            below: "X: you",
            dice: Some(Dice::new(3, 1).unwrap()),
        };
        let text = drawn(&drawing);
        assert!(text.starts_with(" O: zar\n +13-14-15-16-17-18------19-20-21-22-23-24-+\n"), "{text}");
        assert!(text.contains("\n | X  ·  ·  ·  O  · |   | O  ·  ·  ·  ·  X |\n"), "{text}");
        assert!(text.contains("|  [1]  3-1 to play\n"), "{text}");
        assert!(text.ends_with("\n +12-11-10- 9- 8- 7------ 6- 5- 4- 3- 2- 1-+\n X: you\n"), "{text}");
        let width = |line: &str| line.trim_end().chars().count();
        assert!(text.lines().skip(1).take(6).map(width).all(|columns| columns == 44), "{text}");
    }

    #[test]
    fn tall_stacks_and_the_bar_are_counted() {
        let mut points = [0; 26];
        points[6] = 8;
        points[25] = 7;
        points[0] = -2;
        points[20] = -13;
        let position = Position::new(points).unwrap();
        let drawing = Drawing { position: &position, cube: None, above: "", below: "", dice: None };
        let text = drawn(&drawing);
        assert!(text.contains(" 8 ") && text.contains("| 7 |") && text.contains("13 "), "{text}");
        assert_eq!(text.matches(" O ").count(), 4 + 2, "{text}");
    }
}
