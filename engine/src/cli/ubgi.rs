//! `zar ubgi`: the Universal Backgammon Interface on standard input and output.

use std::io::{self, BufReader, Write};

use crate::{
    rules::Stakes,
    serve::ubgi::{Ended, Engine},
};

use super::{CliError, Options};

/// Speaks the Universal Backgammon Interface, for duel runners and graphical interfaces
///
/// One command a line on standard input, answers on standard output; --level, --rules, --threads,
/// --jacoby and --beavers say what holds until the runner sets something else.
///
///   ubgi, isready, quit
///   keys, get KEY, set KEY VALUE, setoption name NAME value VALUE
///   newgame
///   newsession type money|match [length N] [jacoby on|off] [beavers on|off] [crawford on|off]
///   setscore P0 P1, setcube value N owner center|p0|p1, setturn p0|p1
///   position gnubgid ID, position gnubgid ID:MATCHID, position xgid XGID
///   dice D1 D2
///   go [role] chequer|cube|turn [movetime MS] [depth PLIES] [trials GAMES]
///     without a depth to that of the level; where no level was asked for, movetime
///     alone looks up to three plies ahead
///   stop
///
/// A line by itself that is a FIBS board or an XGID is answered with the action alone.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {}

pub fn run(Args {}: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    let money = options.stakes(Stakes::MONEY)?.money_options();
    options.with_bot(|bot| {
        let pool = options.thread_pool()?;
        match Engine::new(bot, options.level.is_some(), options.seed.unwrap_or(0), pool, money)
            .run(BufReader::new(io::stdin()), out)
        {
            Ended::Quit => Ok(()),
            Ended::Input(error) | Ended::Thread(error) => Err(CliError::Input(error)),
            Ended::Output(error) => Err(CliError::Output(error)),
        }
    })
}
