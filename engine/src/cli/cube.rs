//! `zar cube`: whether to double, and whether to take.

use std::io::Write;

use crate::requests::CubeAnswer;

use super::{
    CliError, Options, PositionArg,
    answer::{HEADING, percentages, write_json},
    position_arg::stakes_in_words,
};

/// Says whether to double, and whether to take
///
/// The decision is that of the player on roll before he rolls. The equities are his, in points per
/// unit of the cube as it stands (EMG in a match, with match winning chances beside): if he does
/// not double (nd), if he doubles and is taken (dt), and if he doubles and is dropped (dp). The
/// action is no-double, double-take, double-drop or too-good, or with a cube that he holds already
/// no-redouble, redouble-take, redouble-drop or too-good. Where beavers are on and the opponent
/// should answer with one, dt is its equity. Dice in POSITION do not matter.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A Position ID, PositionID:MatchID, an XGID, or "start".
    position: String,
}

pub fn run(args: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    let arg = PositionArg::unfinished(&args.position)?;
    let stakes = options.stakes(arg.stakes)?;
    let advice = options.ask(|bot| Ok(bot.cube_action(&arg.position, &stakes)?))?;
    if options.json {
        return Ok(write_json(&CubeAnswer::from(advice), out)?);
    }
    let decision = advice.decision;
    let double = if decision.redouble { "redouble" } else { "double" };
    let best = decision.equity();
    writeln!(out, "{}", stakes_in_words(&stakes, options.rules))?;
    writeln!(out, "%                {HEADING}\n                 {}", percentages(advice.probabilities))?;
    let answer = if decision.beaver { "beaver" } else { "take" };
    let ways = [
        (format!("no {double}"), decision.no_double),
        (format!("{double}, {answer}"), decision.double_take),
        (format!("{double}, drop"), decision.double_drop),
    ];
    for (way, (name, equity)) in ways.into_iter().enumerate() {
        let chance = advice.chances.map(|chances| format!("  {:>6.2}%", 100.0 * chances[way].0));
        writeln!(out, "{name:<16} {equity:>6}  {:>+6.3}{}", equity.0 - best.0, chance.unwrap_or_default())?;
    }
    Ok(writeln!(out, "{decision}")?)
}
