//! `zar eval`: what a position is worth.

use std::io::Write;

use serde::Serialize;

use crate::{bot::Valuation, requests::EvaluationAnswer, rules::Stakes};

use super::{
    CliError, Options, PositionArg,
    answer::{HEADING, percentages, write_json},
    position_arg::stakes_in_words,
};

/// Shows what a position is worth to the player on roll before he rolls
///
/// The probabilities are those of a game without cube: to win, to win a gammon or better, to win
/// a backgammon, to lose a gammon or worse, to lose a backgammon. The cubeless equity is in points
/// at a cube of 1. The cubeful equity counts the cube and the score in, with the right to double
/// this turn, in points per unit of the cube (EMG in a match, with the match winning chance
/// beside). Dice in POSITION do not matter.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A Position ID, PositionID:MatchID, an XGID, or "start".
    position: String,
    /// Leave the cube and the score out: no cubeful equity.
    #[arg(long)]
    cubeless: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer {
    pos: String,
    #[serde(flatten)]
    evaluation: EvaluationAnswer,
}

pub fn run(args: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    let arg = PositionArg::unfinished(&args.position)?;
    let position = arg.position;
    let stakes = if args.cubeless { Stakes::CUBELESS } else { options.stakes(arg.stakes)? };
    let valuation = if args.cubeless { Valuation::Cubeless } else { Valuation::Cubeful(stakes) };
    let evaluation = options.ask(|bot| Ok(bot.evaluate(&position, valuation)))?;
    if options.json {
        let evaluation = EvaluationAnswer::new(&evaluation, !args.cubeless);
        let answer = Answer { pos: position.to_string(), evaluation };
        return Ok(write_json(&answer, out)?);
    }
    writeln!(out, "position  {position}   pips {} to {}", position.pip_count(), position.opponent_pip_count())?;
    writeln!(out, "%         {HEADING}")?;
    writeln!(out, "          {}", percentages(evaluation.probabilities))?;
    writeln!(out, "cubeless  {:>6}", evaluation.cubeless)?;
    if !args.cubeless {
        let stakes = stakes_in_words(&stakes, options.rules);
        writeln!(out, "cubeful   {:>6}   {stakes}", evaluation.cubeful)?;
    }
    if let Some(chance) = evaluation.chance.filter(|_| !args.cubeless) {
        writeln!(out, "match     {:>5.2}%   chance to win it", 100.0 * chance.0)?;
    }
    Ok(())
}
