//! `zar rollout`: what a position, a play or a double is worth by playing it out.

use std::io::Write;

use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    board::Position,
    bot::{Bot, Level, RolledCube, Valuation},
    net::{OUTPUTS, Probabilities},
    requests::{RolledCubeAnswer, RolledPlaysAnswer, RolledPositionAnswer},
    rules::{Dice, Stakes},
    search::{RankedPlay, RolledOut, RolloutOptions, RolloutProgress, Stop},
};

use super::{
    CliError, Options, PositionArg,
    answer::{HEADING, percentages, write_json},
    position_arg::stakes_in_words,
};

/// Plays a position out many times: what it is worth, and how sure that is
///
/// With DICE, or dice in POSITION, the plays that come into question are rolled out with the same
/// dice, and those that fall behind are given up; with --cube both ways of the double are; else the
/// position as it is, for the player on roll before he rolls. Both sides play at --level. Each
/// result stands with its standard error (se); ci95 is half the width of the interval that covers
/// the value with probability 0.95. The same seed gives the same result, whatever the number of
/// threads. Ctrl-C ends the rollout and shows what there is.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A Position ID, PositionID:MatchID, an XGID, or "start".
    position: String,
    /// The roll, as in 31 or 3-1 [default: the dice in POSITION, if it has any].
    dice: Option<String>,
    /// Roll out a cube decision; dice do not matter.
    #[arg(long, conflicts_with_all = ["dice", "cubeless"])]
    cube: bool,
    /// Leave the cube out: games without it that count their points.
    #[arg(long)]
    cubeless: bool,
    /// The most games of each candidate, rounded up to a multiple of 36; at least 72, since fewer tell no error.
    #[arg(long, value_name = "N", default_value_t = RolloutOptions::FULL.games, value_parser = clap::value_parser!(u32).range(72..=100_000_000))]
    games: u32,
    /// End when the standard error of every equity is no larger than this.
    #[arg(long, value_name = "EQUITY", allow_negative_numbers = true, value_parser = standard_error)]
    se: Option<f32>,
    /// Give up plays that are behind the best one with this confidence.
    #[arg(long, value_name = "P", default_value_t = Bot::ROLLOUT.confidence.unwrap_or(1.0), value_parser = confidence)]
    confidence: f32,
    /// End each game after so many turns with an evaluation [default: play to the end].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    turns: Option<u32>,
    /// Leave each game's luck in.
    #[arg(long)]
    no_variance_reduction: bool,
}

fn standard_error(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(error) if error > 0.0 && error < f32::INFINITY => Ok(error),
        _ => Err("expected an equity above 0, as in 0.005".into()),
    }
}

fn confidence(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(confidence) if confidence > 0.5 && confidence <= 1.0 => Ok(confidence),
        _ => Err("expected a probability above 0.5, as in 0.99; 1 gives up nothing".into()),
    }
}

pub fn run(args: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    let arg = PositionArg::unfinished(&args.position)?;
    let position = arg.position;
    let stakes = if args.cubeless { Stakes::CUBELESS } else { options.stakes(arg.stakes)? };
    let valuation = if args.cubeless { Valuation::Cubeless } else { Valuation::Cubeful(stakes) };
    let dice = match &args.dice {
        Some(text) => Some(text.parse()?),
        None => arg.dice,
    };
    let rollout = RolloutOptions {
        games: args.games,
        turns: args.turns,
        plies: if options.level == Some(Level::Rollout) { 0 } else { options.level().plies() },
        filter: options.filter,
        variance_reduction: !args.no_variance_reduction,
        standard_error: args.se,
        confidence: Some(args.confidence).filter(|&confidence| confidence < 1.0),
        ..RolloutOptions::FULL
    };
    let stop = Stop::on_sign();
    let sign = stop.clone();
    // Without a handler Ctrl-C ends the program, as ever.
    let _ = ctrlc::set_handler(move || sign.now());
    let words = stakes_in_words(&stakes, options.rules);
    let words = if args.cubeless { "without cube" } else { &words };
    options.with_bot(|bot| {
        // Bare networks roll out what a look ahead has chosen.
        let level = if bot.level() == Level::ZeroPly { Level::Rollout } else { bot.level() };
        let mut bot = bot.at_level(level).with_rollout(rollout).with_stop(stop);
        let bar = progress_bar();
        let mut progress = |heard: &RolloutProgress| show_progress(&bar, heard);
        let pool = options.thread_pool()?;
        if args.cube {
            let rolled = pool.install(|| bot.roll_out_cube(&position, &stakes, &mut progress))?;
            bar.finish_and_clear();
            return cube(&position, &rolled.ok_or(CliError::RolloutStopped)?, words, options, out);
        }
        match dice {
            Some(dice) => {
                let ranked = pool.install(|| bot.roll_out_plays(&position, dice, valuation, &mut progress));
                bar.finish_and_clear();
                plays(&position, dice, &ranked, !args.cubeless, words, options, out)
            }
            None => {
                let rolled = pool.install(|| bot.roll_out_position(&position, valuation, &mut progress));
                bar.finish_and_clear();
                evaluation(&position, &rolled.ok_or(CliError::RolloutStopped)?, !args.cubeless, words, options, out)
            }
        }
    })
}

fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::no_length();
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} games, {eta} left   {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style)
}

fn show_progress(bar: &ProgressBar, heard: &RolloutProgress) {
    let played: u64 = heard.candidates.iter().map(|rolled| u64::from(rolled.games)).sum();
    bar.set_length(played + heard.games_left);
    bar.set_position(played);
    if let Some(best) = heard.candidates.iter().max_by(|a, b| a.equity.0.total_cmp(&b.equity.0)) {
        bar.set_message(format!("{} ± {:.4}", best.equity, best.equity_error));
    }
}

fn evaluation(
    position: &Position,
    rolled: &RolledOut,
    cubeful: bool,
    words: &str,
    options: &Options,
    out: &mut impl Write,
) -> Result<(), CliError> {
    if options.json {
        return Ok(write_json(&RolledPositionAnswer::new(position, cubeful, *rolled), out)?);
    }
    writeln!(out, "position  {position}   {words}")?;
    writeln!(out, "%         {HEADING}")?;
    writeln!(out, "          {}", percentages(rolled.probabilities))?;
    writeln!(out, "se        {}", errors(&rolled.probability_errors))?;
    writeln!(out, "equity    {:>6}   {}", rolled.equity, sureness(rolled))?;
    if rolled.probability_errors.iter().all(|&error| error == 0.0) {
        let known = "No game needed a roll: the result is known, or a double is dropped at once.";
        writeln!(out, "{known}\n--cube rolls both ways of the double out, --cubeless plays on without.")?;
    }
    Ok(())
}

fn plays(
    position: &Position,
    dice: Dice,
    ranked: &[RankedPlay],
    cubeful: bool,
    words: &str,
    options: &Options,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let (rolled, others): (Vec<&RankedPlay>, Vec<&RankedPlay>) = ranked.iter().partition(|play| play.rolled.is_some());
    if rolled.is_empty() {
        return Err(CliError::RolloutStopped);
    }
    if options.json {
        return Ok(write_json(&RolledPlaysAnswer::new(position, dice, cubeful, ranked), out)?);
    }
    let rolled = rolled.into_iter().filter_map(|play| Some((play, play.rolled?)));
    writeln!(out, "{words}")?;
    let best = ranked[0].equity;
    for (rank, (play, rolled)) in rolled.enumerate() {
        let text = match play.play.text(position) {
            text if text.is_empty() => "cannot move".to_owned(),
            text => text,
        };
        let behind = if rank == 0 { String::new() } else { format!("{:+.3}   ", rolled.equity.0 - best.0) };
        writeln!(out, "{:>2}  {text}\n    {:>6}   {behind}{}", rank + 1, rolled.equity, sureness(&rolled))?;
        writeln!(out, "    %  {}\n    se {}", percentages(rolled.probabilities), errors(&rolled.probability_errors))?;
    }
    match others.len() {
        0 => Ok(()),
        1 => Ok(writeln!(out, "and one play that did not come into question")?),
        more => Ok(writeln!(out, "and {more} plays that did not come into question")?),
    }
}

fn cube(
    position: &Position,
    rolled: &RolledCube,
    words: &str,
    options: &Options,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let RolledCube { advice, errors: [no_double_error, double_take_error], probability_errors, games } = *rolled;
    let decision = advice.decision;
    if options.json {
        return Ok(write_json(&RolledCubeAnswer::new(position, rolled), out)?);
    }
    let double = if decision.redouble { "redouble" } else { "double" };
    let answer = if decision.beaver { "beaver" } else { "take" };
    writeln!(out, "{words}")?;
    writeln!(out, "%                {HEADING}\n                 {}", percentages(advice.probabilities))?;
    writeln!(out, "se               {}", errors(&probability_errors))?;
    let best = decision.equity();
    let ways = [
        (format!("no {double}"), decision.no_double, Some(no_double_error)),
        (format!("{double}, {answer}"), decision.double_take, Some(double_take_error)),
        (format!("{double}, drop"), decision.double_drop, None),
    ];
    for (name, equity, error) in ways {
        let error = error.map(|error| format!("   se {error:.4}")).unwrap_or_default();
        writeln!(out, "{name:<16} {equity:>6}  {:>+6.3}{error}", equity.0 - best.0)?;
    }
    Ok(writeln!(out, "{decision}   ({games} games of each)")?)
}

/// The standard errors of the probabilities in per cent, under their columns.
fn errors(errors: &[f32; OUTPUTS]) -> String {
    percentages(Probabilities::from_array(*errors))
}

fn sureness(rolled: &RolledOut) -> String {
    format!("se {:.4}   ± {:.4} with 95 %   {} games", rolled.equity_error, rolled.half_width, rolled.games)
}
