//! `zar-train duel`: one player against another.

use indicatif::{ProgressBar, ProgressStyle};
use rayon::ThreadPoolBuildError;
use serde::Serialize;
use thiserror::Error;
use zar::rules::RuleSet;

use crate::duel::{Contestant, Duel, DuelError, PlayerError, Report};

use super::thread_pool;

/// Plays one player against another, each dice sequence from both sides.
///
/// A player is a weights file, a level of the shipped weights such as `0ply`, `2ply` or `expert`, FILE@LEVEL, `random`,
/// `gnubg:0ply`, `gnubg:1ply`, `gnubg:2ply` or `gnubg:pubeval`. The
/// games are cubeless money games; the result is seen by A. gnubg needs GNU Backgammon, gnubg:pubeval Python 3 with
/// the package gnubg-nn.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The first player.
    pub a: Contestant,
    /// The second player.
    pub b: Contestant,
    /// Games to play, rounded up to an even number.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub games: u64,
    /// Seed of the dice.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Threads to play on, each with players of its own [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// The rules.
    #[arg(long, value_name = "NAME", default_value_t)]
    pub rules: RuleSet,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Why there is no result.
#[derive(Debug, Error)]
pub enum DuelCommandError {
    /// A contestant cannot play.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// The duel was broken off.
    #[error(transparent)]
    Duel(#[from] DuelError),
    /// The threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] ThreadPoolBuildError),
    /// The result could not be written as JSON.
    #[error("cannot write the result: {0}")]
    Json(#[from] serde_json::Error),
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer {
    a: String,
    b: String,
    seed: u64,
    rules: RuleSet,
    #[serde(flatten)]
    report: Report,
}

/// Plays the duel and tells its result.
///
/// # Errors
/// Players that cannot be made or that fail: see [`DuelCommandError`].
pub fn run(args: &Args) -> Result<String, DuelCommandError> {
    let Args { a, b, games, seed, threads, rules, json } = args;
    let (source_a, source_b) = (a.source(*rules, *seed)?, b.source(*rules, *seed)?);
    let duel = Duel { pairs: games.div_ceil(2), seed: *seed, rules: *rules };
    let pool = thread_pool(*threads)?;
    // The bar draws nothing where standard error is no terminal.
    let bar = if *json { ProgressBar::hidden() } else { ProgressBar::new(2 * duel.pairs) };
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} games, {per_sec}, {eta} left") {
        bar.set_style(style);
    }
    let report = pool.install(|| duel.run(source_a.as_ref(), source_b.as_ref(), &|games| bar.set_position(games)));
    bar.finish_and_clear();
    let report = report?;
    if *json {
        let answer = Answer { a: a.to_string(), b: b.to_string(), seed: *seed, rules: *rules, report };
        Ok(serde_json::to_string(&answer)?)
    } else {
        Ok(format!("A: {a}\nB: {b}\n{report}"))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        duel: Args,
    }

    fn parse(line: &str) -> Result<Args, String> {
        let words = ["duel"].into_iter().chain(line.split(' '));
        Command::try_parse_from(words).map(|command| command.duel).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_and_options() {
        let args = parse("random gnubg:0ply").unwrap();
        assert_eq!((args.a, args.b), (Contestant::Random, Contestant::Gnubg { plies: 0 }));
        assert_eq!((args.games, args.seed, args.threads, args.json), (2000, 0, None, false));
        let args = parse("random random --games 7 --seed 5 --threads 2 --rules backgammon --json").unwrap();
        assert_eq!((args.games, args.seed, args.threads, args.json), (7, 5, Some(2), true));
        run(&args).unwrap();
    }

    #[test]
    fn bad_input_is_named() {
        for (line, fault) in [
            ("random nobody", "\"nobody\" is neither a weights file"),
            ("random random --games 0", "'0'"),
            ("random random --threads 0", "'0'"),
            ("random random --rules chess", "\"chess\" is not a rule set"),
        ] {
            let message = parse(line).unwrap_err();
            assert!(message.contains(fault), "{message}");
        }
    }
}
