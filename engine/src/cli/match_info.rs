//! `zar match-info`: what a score of a match means for gammons, takes and doubles.

use std::io::Write;

use serde::Serialize;

use crate::{
    board::{CubeOwner, CubeState},
    cube::CubeModel,
    net::Probabilities,
    rules::{MatchScore, Session, Stakes},
};

use super::{
    CliError, Options,
    answer::{Rounded, write_json},
};

/// Shows what a score means: match winning chances, gammon prices, take points and double points
///
/// All is seen by the player whose points come first. The chances are those after each result of
/// a game with the cube as it is. The gammon price is what a gammon brings beyond a single game,
/// as a share of the difference between winning and losing one (0.5 in money play). The take point
/// is the chance to win from which the other takes a double, without gammons: when the cube is dead
/// afterwards, and when he can use it. The double point is the chance to win from which a last
/// double pays.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Points that win the match.
    #[arg(long, value_name = "N")]
    length: u32,
    /// Points of both players, as in 3,5.
    #[arg(long, value_name = "A,B", value_parser = score)]
    score: [u32; 2],
    /// This is the Crawford game.
    #[arg(long)]
    crawford: bool,
    /// What the cube shows.
    #[arg(long, value_name = "N", default_value_t = 1)]
    cube: u32,
}

#[derive(Serialize)]
struct Answer {
    table: String,
    length: u32,
    score: [u32; 2],
    crawford: bool,
    cube: u32,
    mwc: Option<Rounded>,
    results: Vec<ResultAnswer>,
    players: [PlayerAnswer; 2],
}

/// Match winning chances after a game that counts so many points.
#[derive(Serialize)]
struct ResultAnswer {
    points: u32,
    won: Rounded,
    lost: Rounded,
}

#[derive(Serialize)]
struct PlayerAnswer {
    gammon_price: Rounded,
    triple_price: Rounded,
    #[serde(skip_serializing_if = "Option::is_none")]
    take_point_dead: Option<Rounded>,
    #[serde(skip_serializing_if = "Option::is_none")]
    take_point_live: Option<Rounded>,
    #[serde(skip_serializing_if = "Option::is_none")]
    double_point: Option<Rounded>,
}

fn score(text: &str) -> Result<[u32; 2], String> {
    let wrong = || "expected two numbers of points, as in 3,5".to_owned();
    let (player, opponent) = text.split_once([',', '-']).ok_or_else(wrong)?;
    let points = |text: &str| text.trim().parse().map_err(|_| wrong());
    Ok([points(player)?, points(opponent)?])
}

pub fn run(args: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    let score = MatchScore::new(args.length, args.score, args.crawford)?;
    let table = options.table()?;
    let model = CubeModel::new(options.rules, &table);
    let owner = if args.cube == 1 { CubeOwner::Centered } else { CubeOwner::Player };
    let stakes = options.stakes(Stakes::new(Session::Match(score), CubeState::new(args.cube, owner)?))?;
    // Whose cube it is does not matter to prices; each player in turn is the one who doubles.
    let views = [stakes, Stakes { cube: stakes.cube, ..stakes.swapped() }];
    // Without gammons every game counts the cube.
    let even = Probabilities::from_array([0.5, 0.0, 0.0, 0.0, 0.0]);
    let players = views.map(|stakes| {
        let prices = model.gammon_prices(&stakes);
        let doubles = stakes.may_double(options.rules);
        // The take point of a player is that of the double of the other.
        let doubled = Stakes { cube: stakes.cube, ..stakes.swapped() };
        let takes = doubled.may_double(options.rules).then(|| model.take_points(&even, &doubled));
        PlayerAnswer {
            gammon_price: Rounded(prices.gammon),
            triple_price: Rounded(prices.triple),
            take_point_dead: takes.map(|takes| Rounded(takes.dead)),
            take_point_live: takes.map(|takes| Rounded(takes.live)),
            double_point: doubles.then(|| Rounded(model.double_point(&even, &stakes))),
        }
    });
    let result = |points: u32| ResultAnswer {
        points,
        won: Rounded(table.after_game(score, [points, 0]).0),
        lost: Rounded(table.after_game(score, [0, points]).0),
    };
    let results: Vec<ResultAnswer> = [1, 2, 3].map(|kind| result(kind * args.cube)).into();
    let before = table.at(score).0;
    if options.json {
        let answer = Answer {
            table: table.name().into(),
            length: args.length,
            score: args.score,
            crawford: args.crawford,
            cube: args.cube,
            mwc: Some(Rounded(before)),
            results,
            players,
        };
        return Ok(write_json(&answer, out)?);
    }
    writeln!(out, "{score}, cube {}   ({} match equity table)", args.cube, table.name())?;
    writeln!(out, "chance to win the match {:>8.2}%", 100.0 * before)?;
    for ResultAnswer { points, won, lost } in results {
        writeln!(out, "  after {points:>3} won {:>8.2}%   lost {:>6.2}%", 100.0 * won.0, 100.0 * lost.0)?;
    }
    writeln!(out, "{:<26}{:>8}{:>10}", "", "player", "opponent")?;
    let mut row = |name: &str, value: &dyn Fn(&PlayerAnswer) -> Option<Rounded>| {
        let [player, opponent] = [&players[0], &players[1]]
            .map(|player| value(player).map_or_else(|| "-".to_owned(), |value| format!("{:.3}", value.0)));
        writeln!(out, "{name:<26}{player:>8}{opponent:>10}")
    };
    row("gammon price", &|player| Some(player.gammon_price))?;
    row("triple game price", &|player| Some(player.triple_price))?;
    row("take point, dead cube", &|player| player.take_point_dead)?;
    row("take point, live cube", &|player| player.take_point_live)?;
    row("double point, last cube", &|player| player.double_point)?;
    Ok(())
}
