//! What a client is told of a game.

use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    board::CubeOwner,
    rules::{Ending, Expected, ResignationTerms, RuleSet},
};

use super::record::{BOT, Clock, Deed, DeedKind, Player, Record, SystemClock, YOU};

/// A game against the bot.
#[derive(Serialize, ToSchema)]
pub struct GameAnswer {
    /// Its name, which only he knows who made it.
    id: String,
    /// How many actions there have been.
    version: u64,
    /// The rule set.
    #[schema(value_type = String, example = "backgammon")]
    rules: RuleSet,
    /// Points that win the match; null for money play and single games.
    length: Option<u32>,
    /// How well the bot plays.
    level: String,
    /// Whether the Jacoby rule is on.
    jacoby: bool,
    /// Whether beavers are.
    beavers: bool,
    /// How many times equal opening dice double the cube.
    automatic_doubles: u8,
    /// The highest value of the cube that was agreed on.
    highest_cube: Option<u32>,
    /// The number of the game, from 1.
    game: u32,
    /// Points of both.
    score: Score,
    /// Whether this is the Crawford game.
    crawford: bool,
    /// Position ID, as the player on roll sees it.
    pos: String,
    /// GNU Backgammon's Match ID of the state; you are player 1.
    match_id: String,
    /// Who rolls or has rolled.
    on_roll: Player,
    /// The dice that are to be played.
    dice: Option<[u8; 2]>,
    /// The cube, before any double that waits for an answer.
    cube: Cube,
    /// An offer to give up that waits for an answer.
    resignation: Option<Offer>,
    /// How the game has ended, when it is over.
    result: Option<GameEnd>,
    /// Whether the match is over.
    over: bool,
    /// The time that is left, in a game with a clock.
    clock: Option<ClockAnswer>,
    /// Who has to decide; null when the match is over, and between games, which the client ends.
    turn: Option<Player>,
    /// What you may do now.
    may: Vec<DeedKind>,
    /// The legal plays, when you are to play.
    plays: Vec<LegalPlay>,
    /// What this request has led to, in order.
    actions: Vec<Deed>,
    /// Whether the time was up, so that the bot has done what it had found out until then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stopped: bool,
}

/// The time that is left, in milliseconds, when the request was answered.
#[derive(Serialize, ToSchema)]
struct ClockAnswer {
    /// Of the turn's own time.
    turn: u32,
    /// Of your reserve, which is used after that.
    you: u32,
    /// Of the bot's.
    bot: u32,
}

/// Points of both players.
#[derive(Serialize, ToSchema)]
struct Score {
    /// Yours.
    you: u32,
    /// The bot's.
    bot: u32,
}

/// What the cube shows, and who may turn it.
#[derive(Serialize, ToSchema)]
struct Cube {
    /// What it shows.
    value: u32,
    /// Who may turn it: `centered`, `you` or `bot`.
    owner: &'static str,
}

/// An offer to give up.
#[derive(Serialize, ToSchema)]
struct Offer {
    /// By whom.
    by: Player,
    /// Points, at a cube of 1.
    points: u32,
}

/// How a game has ended.
#[derive(Serialize, ToSchema)]
struct GameEnd {
    /// The winner.
    winner: Player,
    /// `borne_off`, `resigned`, `dropped`, `time_claimed` or `time_out`.
    ending: &'static str,
}

/// A legal play.
#[derive(Serialize, ToSchema)]
struct LegalPlay {
    /// Position ID of its result, as the next player sees it.
    after: String,
    /// The play, as in `8/5 6/5`.
    play: String,
}

impl GameAnswer {
    /// What is told of a game after `actions`.
    pub fn new(id: &str, record: &Record, actions: Vec<Deed>) -> GameAnswer {
        let game = &record.game;
        let options = game.options();
        let scores = game.scores();
        let cube = game.cube();
        let expected = game.expected();
        let on_roll = Player::from(game.on_roll());
        let plays = match expected {
            Expected::Play { player, dice } if player == YOU => {
                let position = game.position();
                let legal = position.legal_plays(dice, game.rules());
                let play = |play: &crate::rules::LegalPlay| LegalPlay {
                    after: play.after.to_string(),
                    play: play.play.text(position),
                };
                legal.iter().map(play).collect()
            }
            _ => Vec::new(),
        };
        GameAnswer {
            id: id.to_owned(),
            version: record.version,
            rules: game.rules(),
            length: game.length(),
            level: record.level.clone(),
            jacoby: options.money.jacoby,
            beavers: options.money.beavers,
            automatic_doubles: options.automatic_doubles,
            highest_cube: options.highest_cube,
            game: game.game(),
            score: Score { you: scores[YOU as usize], bot: scores[BOT as usize] },
            crawford: game.crawford(),
            pos: game.position().to_string(),
            match_id: game.match_id().to_string(),
            on_roll,
            dice: game.dice().map(|dice| [dice.high(), dice.low()]),
            cube: Cube {
                value: cube.value(),
                owner: match (cube.owner(), on_roll) {
                    (CubeOwner::Centered, _) => "centered",
                    (CubeOwner::Player, Player::You) | (CubeOwner::Opponent, Player::Bot) => "you",
                    (CubeOwner::Player, Player::Bot) | (CubeOwner::Opponent, Player::You) => "bot",
                },
            },
            resignation: game.resignation().map(|(by, points)| Offer { by: by.into(), points }),
            result: game.result().map(|result| GameEnd {
                winner: result.winner.into(),
                ending: match result.ending {
                    Ending::BorneOff => "borne_off",
                    Ending::Resigned(_) => "resigned",
                    Ending::Dropped => "dropped",
                    Ending::TimeClaimed => "time_claimed",
                    Ending::TimeOut => "time_out",
                },
            }),
            over: expected == Expected::Nothing,
            clock: record.time_left(SystemClock.now()).map(|left| ClockAnswer {
                turn: left.turn,
                you: left.reserves[YOU as usize],
                bot: left.reserves[BOT as usize],
            }),
            turn: expected.player().map(Player::from),
            may: may(record),
            plays,
            actions,
            stopped: false,
        }
    }

    /// The same, with whether the time was up.
    pub fn stopped(self, stopped: bool) -> GameAnswer {
        GameAnswer { stopped, ..self }
    }
}

/// What the client may do.
fn may(record: &Record) -> Vec<DeedKind> {
    let game = &record.game;
    let expected = game.expected();
    if record.may_claim() {
        return vec![DeedKind::Claim];
    }
    if expected.player().is_some_and(|player| player != YOU) {
        return Vec::new();
    }
    match expected {
        Expected::Roll { may_double: true, .. } => vec![DeedKind::Roll, DeedKind::Double, DeedKind::Resign],
        Expected::Roll { .. } => vec![DeedKind::Roll, DeedKind::Resign],
        Expected::Play { .. } => vec![DeedKind::Play, DeedKind::Resign],
        Expected::DoubleAnswer { may_beaver: true, .. } => vec![DeedKind::Take, DeedKind::Drop, DeedKind::Beaver],
        Expected::DoubleAnswer { .. } => vec![DeedKind::Take, DeedKind::Drop],
        Expected::ResignationAnswer { .. } => vec![DeedKind::Accept, DeedKind::Refuse],
        Expected::NextGame => vec![DeedKind::Next],
        Expected::OpeningDice | Expected::Nothing => Vec::new(),
    }
}

/// What giving up costs is said by the rules themselves.
pub fn names_points(rules: RuleSet) -> bool {
    matches!(rules.terms().resignation, ResignationTerms::Offered | ResignationTerms::OfferedTripleBinding)
}
