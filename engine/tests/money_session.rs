//! Ten thousand money games of the bot against itself, with the cube, through the state machine.

#![allow(clippy::unwrap_used, reason = "a test")]

use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use rayon::prelude::*;
use zar::{
    board::{CHECKERS, CubeOwner, MatchPlayer, Position},
    bot::{Bot, DoubleAnswer, Level, Valuation},
    net::Model,
    rules::{Action, Dice, Event, Match, MatchOptions, Phase, RuleSet},
};

/// What happened in some games.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    games: u64,
    doubles: u64,
    drops: u64,
    cubes: u64,
    points: u64,
    turns: u64,
}

impl Tally {
    fn add(self, other: Tally) -> Tally {
        Tally {
            games: self.games + other.games,
            doubles: self.doubles + other.doubles,
            drops: self.drops + other.drops,
            cubes: self.cubes + other.cubes,
            points: self.points + other.points,
            turns: self.turns + other.turns,
        }
    }
}

/// What holds in every state of a money game.
fn check(game: &Match, before: [u32; 2]) {
    let position = game.position();
    let on_board = |sign: i8| position.points().iter().map(|&count| i32::from((count * sign).max(0))).sum::<i32>();
    assert_eq!(on_board(1) + i32::from(position.off()), i32::from(CHECKERS));
    assert_eq!(on_board(-1) + i32::from(position.opponent_off()), i32::from(CHECKERS));
    let stakes = game.stakes().unwrap();
    assert!(stakes.cube.value().is_power_of_two());
    assert_eq!(stakes.cube.value() == 1, stakes.cube.owner() == CubeOwner::Centered);
    assert!(game.scores().iter().zip(before).all(|(now, before)| *now >= before));
    if let Phase::Play(dice) = game.phase() {
        assert!(!position.legal_plays(dice, RuleSet::Backgammon)[0].play.is_empty());
    }
}

fn play(bot: &mut Bot<'_>, number: u64) -> Tally {
    let rules = RuleSet::Backgammon;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(number);
    let mut game = Match::new(rules, None, MatchOptions::default()).unwrap();
    let mut tally = Tally { games: 1, ..Tally::default() };
    let mut before = game.scores();
    while game.result().is_none() {
        check(&game, before);
        before = game.scores();
        let (position, stakes): (Position, _) = (*game.position(), game.stakes().unwrap());
        let action = match game.phase() {
            Phase::Opening => Action::opening(&mut rng),
            Phase::Roll => {
                let doubles = game.may_double() && bot.cube_action(&position, &stakes).unwrap().decision.is_double();
                if doubles { Action::Double } else { Action::Roll(Dice::roll(&mut rng)) }
            }
            Phase::Play(dice) => Action::Play(bot.rank(&position, dice, Valuation::Cubeful(stakes))[0].after),
            Phase::Doubled => match bot.take(&position, &stakes).unwrap() {
                DoubleAnswer::Drop => Action::Drop,
                _ => Action::Take,
            },
            Phase::GameOver | Phase::MatchOver => unreachable!("the game has a result"),
        };
        tally.doubles += u64::from(action == Action::Double);
        tally.drops += u64::from(action == Action::Drop);
        tally.turns += u64::from(matches!(action, Action::Roll(_)));
        // An action that is refused would be a fault of the bot.
        if let Event::GameWon { winner, points } = game.apply(game.turn(), action).unwrap() {
            tally.points += u64::from(points);
            tally.cubes += u64::from(stakes.cube.value());
            assert_eq!(game.scores()[winner as usize], points);
            assert!(matches!(winner, MatchPlayer::Zero | MatchPlayer::One));
        }
    }
    tally
}

#[test]
fn ten_thousand_money_games_without_an_illegal_state() {
    let bot = Bot::new(Model::shipped(), Level::ZeroPly, RuleSet::Backgammon).unwrap();
    let tally = (0..10_000u64).into_par_iter().map_init(|| bot.clone(), play).reduce(Tally::default, Tally::add);
    assert_eq!(tally.games, 10_000);
    let a_game = |count: u64| count as f64 / tally.games as f64;
    println!(
        "a game: {:.3} doubles, {:.3} drops, cube {:.3} at its end, {:.3} points, {:.1} turns",
        a_game(tally.doubles),
        a_game(tally.drops),
        a_game(tally.cubes),
        a_game(tally.points),
        a_game(tally.turns)
    );
    // What is usual between people: a double in most games, about half of them dropped.
    assert!((0.7..1.5).contains(&a_game(tally.doubles)) && (0.3..0.8).contains(&a_game(tally.drops)));
    assert!((1.2..2.5).contains(&a_game(tally.cubes)));
}
