//! `zar move`: the plays of a roll, best first.

use std::io::{self, Write};

use serde::Serialize;

use crate::{board::Position, bot::Valuation, rules::Dice, search::RankedPlay};

use super::{
    CliError, Options, PositionArg,
    answer::{HEADING, Rounded, percentages, probabilities, write_json},
};

/// Shows the plays of a roll, best first
///
/// The probabilities (to win, to win a gammon or better, to win a backgammon, to lose a gammon or
/// worse, to lose a backgammon) and the equities are those of the player who makes the play. The
/// equities count the cube and the score in, in points per unit of the cube (EMG in a match). Looking
/// ahead, the plays that were looked at come first and the others, at 0-ply, behind them. With --json
/// every play is shown, with the position that it leads to as the next player sees it.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A Position ID, PositionID:MatchID, an XGID, or "start".
    position: String,
    /// The roll, as in 31 or 3-1 [default: the dice in POSITION].
    dice: Option<String>,
    /// Leave the cube out: cubeless equities.
    #[arg(long)]
    cubeless: bool,
    /// Show all plays, not only the best ten.
    #[arg(long)]
    all: bool,
}

/// Plays shown without `--all`.
const SHOWN: usize = 10;

/// What `--json` prints.
#[derive(Serialize)]
struct Answer {
    pos: String,
    dice: [u8; 2],
    plays: Vec<PlayAnswer>,
}

#[derive(Serialize)]
struct PlayAnswer {
    after: String,
    play: String,
    equity: Rounded,
    probs: [Rounded; 5],
}

pub fn run(args: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    let arg = PositionArg::unfinished(&args.position)?;
    let position = arg.position;
    let dice: Dice = match &args.dice {
        Some(text) => text.parse()?,
        None => arg.dice.ok_or(CliError::NoDice)?,
    };
    let valuation = if args.cubeless { Valuation::Cubeless } else { Valuation::Cubeful(options.stakes(arg.stakes)?) };
    let plays = options.ask(|bot| Ok(bot.rank(&position, dice, valuation)))?;
    if options.json {
        let plays = plays
            .iter()
            .map(|valued| PlayAnswer {
                after: valued.after.to_string(),
                play: valued.play.text(&position),
                equity: valued.equity.into(),
                probs: probabilities(valued.probabilities),
            })
            .collect();
        let answer = Answer { pos: position.to_string(), dice: [dice.high(), dice.low()], plays };
        return Ok(write_json(&answer, out)?);
    }
    let shown = if args.all { plays.len() } else { SHOWN };
    table(&position, &plays, shown, out)?;
    Ok(())
}

fn table(position: &Position, plays: &[RankedPlay], shown: usize, out: &mut impl Write) -> io::Result<()> {
    let texts: Vec<String> = plays
        .iter()
        .take(shown)
        .map(|valued| match valued.play.text(position) {
            text if text.is_empty() => "cannot move".to_owned(),
            text => text,
        })
        .collect();
    let width = texts.iter().map(String::len).max().unwrap_or(0).max(4);
    writeln!(out, "    {:<width$}  equity    diff  {HEADING}", "play")?;
    for (i, (text, valued)) in texts.iter().zip(plays).enumerate() {
        let difference = match valued.equity.0 - plays[0].equity.0 {
            _ if i == 0 => String::new(),
            difference => format!("{difference:+.3}"),
        };
        let (rank, equity) = (i + 1, valued.equity.to_string());
        writeln!(
            out,
            "{rank:>2}  {text:<width$}  {equity:>6}  {difference:>6}  {}",
            percentages(valued.probabilities)
        )?;
    }
    match plays.len().saturating_sub(shown) {
        0 => Ok(()),
        1 => writeln!(out, "and one more (--all)"),
        more => writeln!(out, "and {more} more (--all)"),
    }
}
