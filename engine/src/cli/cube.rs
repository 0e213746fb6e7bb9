//! `zar cube`: whether to double, and whether to take.

use std::io::Write;

use serde::Serialize;

use crate::bot::CubeAdvice;

use super::{
    CliError, Options, PositionArg,
    answer::{HEADING, Rounded, percentages, probabilities, write_json},
    position_arg::cube_in_words,
};

/// Says whether to double, and whether to take
///
/// The decision is that of the player on roll before he rolls, in money play without the Jacoby
/// rule and beavers. The equities are his, in points per unit of the cube as it stands: if he does
/// not double (nd), if he doubles and is taken (dt), and if he doubles and is dropped (dp). The
/// action is no-double, double-take, double-drop or too-good, or with a cube that he holds already
/// no-redouble, redouble-take, redouble-drop or too-good. Dice in POSITION do not matter.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A Position ID, PositionID:MatchID, an XGID, or "start".
    position: String,
}

/// A cube decision in JSON, here and in `zar decide`.
#[derive(Serialize)]
pub struct CubeAnswer {
    action: &'static str,
    nd: Rounded,
    dt: Rounded,
    dp: Rounded,
    probs: [Rounded; 5],
}

impl From<CubeAdvice> for CubeAnswer {
    fn from(CubeAdvice { probabilities: probs, decision }: CubeAdvice) -> CubeAnswer {
        CubeAnswer {
            action: decision.name(),
            nd: decision.no_double.into(),
            dt: decision.double_take.into(),
            dp: decision.double_drop.into(),
            probs: probabilities(probs),
        }
    }
}

pub fn run(args: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    let arg = PositionArg::unfinished(&args.position)?;
    let cube = arg.money_cube(false)?;
    let advice = options.with_bot(|mut bot| Ok(bot.cube_action(&arg.position, cube)?))?;
    if options.json {
        return Ok(write_json(&CubeAnswer::from(advice), out)?);
    }
    let decision = advice.decision;
    let double = if decision.redouble { "redouble" } else { "double" };
    let best = decision.equity();
    writeln!(out, "cube {}", cube_in_words(cube))?;
    writeln!(out, "%                {HEADING}\n                 {}", percentages(advice.probabilities))?;
    for (name, equity) in [
        (format!("no {double}"), decision.no_double),
        (format!("{double}, take"), decision.double_take),
        (format!("{double}, drop"), decision.double_drop),
    ] {
        writeln!(out, "{name:<16} {equity:>6}  {:>+6.3}", equity.0 - best.0)?;
    }
    Ok(writeln!(out, "{decision}")?)
}
