//! `zar bearoff`: the exact databases of bearing off.

use std::{collections::BTreeMap, io::Write, time::Instant};

use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::exact::{BearoffTables, CacheFolder, Distribution, Origin, Side, TableSpec, available_memory, build_time};

use super::{
    CliError, Options, PositionArg,
    answer::{HEADING, Rounded, percentages, probabilities, write_json},
};

/// Builds and shows the exact databases of bearing off
///
/// They are built when they are first needed, and kept in the cache folder.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    Build(BuildArgs),
    Show(ShowArgs),
}

/// Builds the tables that are not in the cache folder yet
///
/// The one-sided table holds how many rolls each position takes, the two-sided one exact equities
/// with and without the cube. Larger ones than usual are used wherever they are found. The size and
/// an estimate of the time are said on standard error before it starts. Where the folder cannot be
/// written to, a build is in vain, and says so with exit status 1.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
struct BuildArgs {
    /// The one-sided table only.
    #[arg(long, conflicts_with = "two_sided")]
    one_sided: bool,
    /// The two-sided table only.
    #[arg(long)]
    two_sided: bool,
    /// Points from off that are covered, up to 18 [default and least: 6].
    #[arg(long, value_name = "N")]
    points: Option<u8>,
    /// Checkers a side, up to 15, two-sided up to 14 [default and least: one-sided 15, two-sided 6].
    #[arg(long, value_name = "N")]
    checkers: Option<u8>,
}

/// Shows what the tables know of a position
///
/// For both sides: the effective pip count, the average number of rolls and its deviation, and the
/// probabilities of bearing off in so many rolls, or of bearing off the first checker. Then how the
/// game ends, and, with few checkers a side, the exact equities of money play if the player on roll
/// does not double this turn, by who holds the cube.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
struct ShowArgs {
    /// A Position ID, PositionID:MatchID, or an XGID.
    position: String,
}

/// A table in JSON.
#[derive(Serialize)]
struct BuildAnswer {
    kind: String,
    points: u8,
    checkers: u8,
    least_waste: bool,
    positions: u64,
    /// Whether it was there already.
    found: bool,
    seconds: f64,
    path: Option<String>,
}

/// A side in JSON.
#[derive(Serialize)]
struct SideAnswer {
    pips: u32,
    epc: Rounded,
    mean_rolls: Rounded,
    deviation: Rounded,
    off_in_rolls: BTreeMap<u32, Rounded>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_checker_off_in_rolls: Option<BTreeMap<u32, Rounded>>,
}

#[derive(Serialize)]
struct MoneyAnswer {
    owned: Rounded,
    centered: Rounded,
    opponent: Rounded,
}

/// A position in JSON.
#[derive(Serialize)]
struct ShowAnswer {
    pos: String,
    probs: [Rounded; 5],
    cubeless: Rounded,
    two_sided: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_double: Option<MoneyAnswer>,
    player: SideAnswer,
    opposing: SideAnswer,
}

pub fn run(args: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    match &args.command {
        Command::Build(args) => build(args, options, out),
        Command::Show(args) => show(args, options, out),
    }
}

fn build(args: &BuildArgs, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    let mut specs = Vec::new();
    for (usual, unwanted) in
        [(TableSpec::one_sided(options.rules), args.two_sided), (TableSpec::two_sided(options.rules), args.one_sided)]
    {
        if !unwanted {
            let points = args.points.unwrap_or(usual.points());
            let asked = usual.with_size(points, args.checkers.unwrap_or(usual.checkers()))?;
            // A smaller one than usual would never be looked into.
            specs.push(asked.with_size(points.max(usual.points()), asked.checkers().max(usual.checkers()))?);
        }
    }
    let cache = options.cache_folder();
    for spec in specs.iter().filter(|spec| !BearoffTables::is_kept(spec, &cache)) {
        if let Some(available) = available_memory().filter(|&available| available < spec.build_bytes()) {
            return Err(CliError::BearoffMemory {
                spec: *spec,
                needed: megabytes(spec.build_bytes()),
                available: megabytes(available),
            });
        }
    }
    let pool = options.thread_pool()?;
    for spec in specs {
        let answer = pool.install(|| build_one(spec, &cache))?;
        if options.json {
            write_json(&answer, out)?;
            continue;
        }
        let done = if answer.found { "found".into() } else { format!("built in {:.1} s", answer.seconds) };
        writeln!(out, "{spec}: {} positions a side, {done}, {}", spec.positions(), answer.path.unwrap_or_default())?;
    }
    Ok(())
}

fn build_one(spec: TableSpec, cache: &CacheFolder) -> Result<BuildAnswer, CliError> {
    let bar = ProgressBar::new(1000);
    let mut announced = false;
    let begin = Instant::now();
    let origin = BearoffTables::prepare(spec, cache, |share| {
        if !announced {
            announced = true;
            let time = build_time(spec, rayon::current_num_threads());
            bar.suspend(|| {
                // Nobody needs to hear it.
                let _ = writeln!(
                    std::io::stderr(),
                    "{spec}: about {} MB, {:.1} s to build",
                    megabytes(spec.bytes()),
                    time.as_secs_f64()
                );
            });
            if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent} %  {eta} left") {
                bar.set_style(style);
            }
        }
        bar.set_position((1000.0 * share) as u64);
    });
    bar.finish_and_clear();
    if let Origin::NotKept(error) = origin {
        return Err(CliError::BearoffNotKept { path: cache.path(&spec), error });
    }
    Ok(BuildAnswer {
        kind: spec.kind().to_string(),
        points: spec.points(),
        checkers: spec.checkers(),
        least_waste: spec.least_waste(),
        positions: spec.positions(),
        found: matches!(origin, Origin::Found),
        seconds: (begin.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
        path: cache.path(&spec).map(|path| path.display().to_string()),
    })
}

fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1_000_000)
}

fn by_rolls(distribution: Distribution<'_>) -> BTreeMap<u32, Rounded> {
    distribution.iter().map(|(rolls, probability)| (rolls, Rounded(probability))).collect()
}

fn side_answer(all: Distribution<'_>, first: Option<Distribution<'_>>, side: &Side) -> SideAnswer {
    SideAnswer {
        pips: side.pips(),
        epc: Rounded(all.epc() as f32),
        mean_rolls: Rounded(all.mean() as f32),
        deviation: Rounded(all.deviation() as f32),
        off_in_rolls: by_rolls(all),
        first_checker_off_in_rolls: first.map(by_rolls),
    }
}

fn show(args: &ShowArgs, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    let position = PositionArg::unfinished(&args.position)?.position;
    let tables = BearoffTables::new(options.rules, options.cache_folder());
    let sides = options.thread_pool()?.install(|| {
        let probabilities = tables.probabilities(&position)?;
        let (player, opponent) = (Side::of_player(&position)?, Side::of_opponent(&position)?);
        let table = tables.one_sided();
        let answer = |side: &Side| Some(side_answer(table.all_off(side)?, table.first_off(side), side));
        let few = tables.two_sided().cubeless(&player, &opponent).is_some();
        Some((probabilities, answer(&player)?, answer(&opponent)?, few))
    });
    let Some((probs, player, opposing, two_sided)) = sides else {
        return Err(CliError::NotInBearoff(position.to_string(), tables.one_sided().spec().points()));
    };
    let money = tables.money_equities(&position);
    let cubeless = probs.equity(options.rules);
    if options.json {
        let no_double = money.map(|money| MoneyAnswer {
            owned: money.owned.into(),
            centered: money.centered.into(),
            opponent: money.opponent.into(),
        });
        let answer = ShowAnswer {
            pos: position.to_string(),
            probs: probabilities(probs),
            cubeless: cubeless.into(),
            two_sided,
            no_double,
            player,
            opposing,
        };
        return Ok(write_json(&answer, out)?);
    }
    writeln!(out, "position  {position}   pips {} to {}", player.pips, opposing.pips)?;
    writeln!(out, "              player  opponent")?;
    for (name, ours, theirs) in [
        ("EPC", player.epc, opposing.epc),
        ("mean rolls", player.mean_rolls, opposing.mean_rolls),
        ("deviation", player.deviation, opposing.deviation),
    ] {
        writeln!(out, "{name:<10} {:>9.3} {:>9.3}", ours.0, theirs.0)?;
    }
    writeln!(out, "% off in")?;
    columns(out, &player.off_in_rolls, &opposing.off_in_rolls)?;
    if player.first_checker_off_in_rolls.is_some() || opposing.first_checker_off_in_rolls.is_some() {
        writeln!(out, "% first checker off in")?;
        let none = BTreeMap::new();
        let first = |side: &SideAnswer| side.first_checker_off_in_rolls.clone().unwrap_or_else(|| none.clone());
        columns(out, &first(&player), &first(&opposing))?;
    }
    writeln!(out, "%         {HEADING}")?;
    writeln!(out, "          {}   {}", percentages(probs), if two_sided { "exact" } else { "fewest rolls" })?;
    writeln!(out, "cubeless  {cubeless:>7.4}")?;
    if let Some(money) = money {
        for (owner, equity) in [
            ("with the player on roll", money.owned),
            ("in the middle", money.centered),
            ("with the opponent", money.opponent),
        ] {
            writeln!(out, "no double {equity:>7.4}   cube {owner}")?;
        }
    }
    Ok(())
}

/// A line for each number of rolls that either side may need.
fn columns(
    out: &mut impl Write,
    player: &BTreeMap<u32, Rounded>,
    opponent: &BTreeMap<u32, Rounded>,
) -> Result<(), CliError> {
    let mut rolls: Vec<u32> = player.keys().chain(opponent.keys()).copied().collect();
    rolls.sort_unstable();
    rolls.dedup();
    let percent = |side: &BTreeMap<u32, Rounded>, rolls| {
        side.get(rolls).map_or(String::new(), |probability| format!("{:.3}", 100.0 * probability.0))
    };
    for rolls in &rolls {
        writeln!(out, "{rolls:>10} {:>9} {:>9}", percent(player, rolls), percent(opponent, rolls))?;
    }
    Ok(())
}
