//! `zar external`: an external player for GNU Backgammon.

use std::{io::Write, net::TcpListener};

use serde::Serialize;

use crate::{rules::Stakes, serve::external::ExternalPlayer};

use super::{CliError, Options, answer::write_json};

/// Plays for GNU Backgammon over a socket, as its external player
///
/// In GNU Backgammon `set player 0 external ADDR` (or 1) seats the bot. It answers whoever connects, any
/// number of games one after the other, several connections at once, until it is stopped; what it
/// listens to is printed when it is ready. GNU Backgammon does not say by which options of money play
/// it plays: give --jacoby and --beavers here if they are on there, as both are unless they are switched
/// off. After an accepted beaver it waits for its command "play"; "set beavers 0" avoids that.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Where to listen, as in 127.0.0.1:4321; port 0 is any that is free.
    #[arg(value_name = "ADDR")]
    address: String,
    /// Tell every decision on standard error, one a line.
    #[arg(long)]
    verbose: bool,
}

#[derive(Serialize)]
struct Ready {
    listening: String,
}

pub fn run(args: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    let cannot = |error| CliError::Listen { address: args.address.clone(), error };
    let money = options.stakes(Stakes::MONEY)?.money_options();
    options.with_bot(|bot| {
        let pool = options.thread_pool()?;
        let listener = TcpListener::bind(&args.address).map_err(cannot)?;
        let listening = listener.local_addr().map_err(cannot)?.to_string();
        if options.json {
            write_json(&Ready { listening }, out)?;
        } else {
            writeln!(out, "listening on {listening}")?;
        }
        out.flush()?;
        match (ExternalPlayer { bot, money, verbose: args.verbose }).serve(&listener, &pool) {}
    })
}
