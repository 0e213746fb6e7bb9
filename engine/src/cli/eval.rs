//! `zar eval`: what a position is worth.

use std::io::Write;

use serde::Serialize;

use super::{
    CliError, Options, PositionArg,
    answer::{HEADING, Rounded, percentages, probabilities, write_json},
    position_arg::cube_in_words,
};

/// Shows what a position is worth to the player on roll before he rolls
///
/// The probabilities are those of a game without cube: to win, to win a gammon or better, to win
/// a backgammon, to lose a gammon or worse, to lose a backgammon. The cubeless equity is in points
/// at a cube of 1. The cubeful equity is that of money play (no Jacoby rule, no beavers) in points
/// per unit of the cube, with the right to double this turn counted in. Dice in POSITION do not
/// matter.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A Position ID, PositionID:MatchID, an XGID, or "start".
    position: String,
    /// Leave the cube out: no cubeful equity.
    #[arg(long)]
    cubeless: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer {
    pos: String,
    probs: [Rounded; 5],
    cubeless: Rounded,
    #[serde(skip_serializing_if = "Option::is_none")]
    cubeful: Option<Rounded>,
}

pub fn run(args: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    let arg = PositionArg::unfinished(&args.position)?;
    let position = arg.position;
    let cube = if args.cubeless { None } else { Some(arg.money_cube(true)?) };
    let evaluation = options.with_bot(|mut bot| Ok(bot.evaluate(&position, cube.unwrap_or_default())))?;
    let cubeful = cube.map(|_| evaluation.cubeful.into());
    if options.json {
        let answer = Answer {
            pos: position.to_string(),
            probs: probabilities(evaluation.probabilities),
            cubeless: evaluation.cubeless.into(),
            cubeful,
        };
        return Ok(write_json(&answer, out)?);
    }
    writeln!(out, "position  {position}   pips {} to {}", position.pip_count(), position.opponent_pip_count())?;
    writeln!(out, "%         {HEADING}")?;
    writeln!(out, "          {}", percentages(evaluation.probabilities))?;
    writeln!(out, "cubeless  {:>6}", evaluation.cubeless)?;
    if let Some(cube) = cube {
        writeln!(out, "cubeful   {:>6}   cube {}", evaluation.cubeful, cube_in_words(cube))?;
    }
    Ok(())
}
