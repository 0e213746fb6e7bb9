//! A thousand questions from games of the bot with itself, by every rule set; always the same.

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};
use serde_json::{Value, json};
use zar::{
    board::{
        CubeOwner, CubeState, GameState, MatchId, MatchPlayer, Position, Resignation, Xgid, XgidAction, XgidPlayer,
    },
    bot::{Bot, Level, Valuation},
    net::Model,
    rules::{Dice, MatchScore, MoneyOptions, RuleSet, Session, Stakes},
};

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Play(Dice),
    Cube,
    Eval,
}

/// How the position and its stakes are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A Position ID, and the rest beside it.
    Beside,
    /// An XGID says all.
    Xgid,
    /// PositionID:MatchID says all.
    MatchId,
    /// What is said beside an XGID counts more than what that says itself.
    Overruled,
}

/// A question, as the engine knows it and as `zar decide` is asked.
#[derive(Clone, Debug)]
pub struct Question {
    pub kind: Kind,
    pub form: Form,
    pub rules: RuleSet,
    pub level: Level,
    pub stakes: Stakes,
    pub cubeful: bool,
    pub request: Value,
}

/// How many plays, cube decisions and evaluations are asked by each rule set.
const COUNTS: [(RuleSet, [usize; 3]); 5] = [
    (RuleSet::Backgammon, [180, 140, 100]),
    (RuleSet::Tavla, [80, 70, 50]),
    (RuleSet::Tavla2004, [70, 50, 30]),
    (RuleSet::Table, [70, 15, 30]),
    (RuleSet::Plain, [70, 15, 30]),
];

/// Lengths of matches.
const LENGTHS: [u32; 8] = [1, 2, 3, 5, 7, 9, 15, 25];

pub fn questions() -> Vec<Question> {
    let mut corpus = Corpus(Xoshiro256PlusPlus::seed_from_u64(6));
    let mut questions = Vec::new();
    for (rules, [plays, cubes, evals]) in COUNTS {
        let positions = corpus.positions(rules, plays + cubes + evals);
        for (number, position) in positions.into_iter().enumerate() {
            let kind = match number {
                _ if number < plays => Kind::Play(Dice::roll(&mut corpus.0)),
                _ if number < plays + cubes => Kind::Cube,
                _ => Kind::Eval,
            };
            questions.push(corpus.question(rules, kind, position));
        }
    }
    questions
}

struct Corpus(Xoshiro256PlusPlus);

impl Corpus {
    /// A number below another.
    fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn of<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.below(things.len() as u64) as usize]
    }

    /// Positions from games in which not every play is the best.
    fn positions(&mut self, rules: RuleSet, count: usize) -> Vec<Position> {
        let mut bot = Bot::new(Model::shipped_for(rules), Level::ZeroPly, rules).unwrap();
        let mut positions = Vec::new();
        let mut position = Position::START;
        while positions.len() < count {
            if self.one_in(3) {
                positions.push(position);
            }
            let plays = bot.rank(&position, Dice::roll(&mut self.0), Valuation::Cubeless);
            let choice = if self.one_in(4) { self.below(plays.len().min(6) as u64) } else { 0 };
            position = plays[choice as usize].after;
            if position.is_over() {
                position = Position::START;
            }
        }
        // The kinds of questions are asked about all parts of games.
        for last in (1..count).rev() {
            positions.swap(last, self.below(last as u64 + 1) as usize);
        }
        positions
    }

    fn stakes(&mut self, rules: RuleSet) -> Stakes {
        let session = if rules.terms().matches && self.one_in(2) {
            let length = self.of(&LENGTHS);
            let scores = [self.below(length.into()) as u32, self.below(length.into()) as u32];
            let crawford = self.one_in(2) && MatchScore::new(length, scores, true).is_ok();
            Session::Match(MatchScore::new(length, scores, crawford).unwrap())
        } else {
            let options = rules.terms().money_options;
            Session::Money(MoneyOptions { jacoby: options && self.one_in(3), beavers: options && self.one_in(3) })
        };
        let mut stakes = Stakes::new(session, CubeState::START);
        if stakes.has_cube(rules) && self.one_in(2) {
            let owner = self.of(&[CubeOwner::Player, CubeOwner::Player, CubeOwner::Opponent]);
            stakes.cube = CubeState::new(self.of(&[2, 2, 4, 8, 64]), owner).unwrap();
        }
        stakes
    }

    fn level(&mut self) -> Level {
        match self.below(100) {
            0..75 => Level::ZeroPly,
            75..90 => Level::OnePly,
            90..93 => Level::TwoPly,
            93..96 => Level::Beginner,
            _ => Level::Expert,
        }
    }

    fn question(&mut self, rules: RuleSet, kind: Kind, position: Position) -> Question {
        let level = self.level();
        let mut stakes = self.stakes(rules);
        let cubeful = !matches!(kind, Kind::Play(_)) || !self.one_in(5);
        let said_by_id = stakes.money_options() == MoneyOptions::default();
        let form = match self.below(20) {
            0..12 => Form::Beside,
            12..15 if said_by_id => Form::MatchId,
            15 => Form::Overruled,
            _ => Form::Xgid,
        };
        let mut request = json!({"rules": rules.to_string(), "level": level.to_string()});
        if !cubeful {
            request["cubeful"] = json!(false);
        }
        // Half of the texts that can say the dice do.
        let dice_within = form != Form::Beside && self.one_in(2);
        let within = match kind {
            Kind::Play(dice) if dice_within => Some([dice.high(), dice.low()]),
            _ => None,
        };
        match (kind, within) {
            (Kind::Play(_), Some(_)) => request["want"] = json!("move"),
            (Kind::Play(dice), None) => request["dice"] = json!([dice.low(), dice.high()]),
            (Kind::Cube, _) => {}
            (Kind::Eval, _) => request["want"] = json!("eval"),
        }
        request["pos"] = json!(match form {
            Form::Beside => {
                say_beside(&stakes, &mut request);
                position.to_string()
            }
            Form::Xgid => {
                stakes.highest_cube = 1024;
                self.xgid(position, &stakes, within).to_string()
            }
            Form::MatchId => format!("{position}:{}", self.match_id(&stakes, within)),
            Form::Overruled => {
                let mut said = Stakes { highest_cube: 1024, ..self.stakes(rules) };
                if stakes.score().is_none() && said.score().is_some() {
                    // There is no way to say beside a text that this is no match.
                    said.session = Session::Money(MoneyOptions::default());
                    said.cube = CubeState::START;
                }
                stakes.highest_cube = said.highest_cube;
                say_beside(&stakes, &mut request);
                self.xgid(position, &said, within).to_string()
            }
        });
        Question { kind, form, rules, level, stakes, cubeful, request }
    }

    fn xgid(&mut self, position: Position, stakes: &Stakes, dice: Option<[u8; 2]>) -> Xgid {
        let score = stakes.score();
        let xgid = Xgid {
            cube_value: stakes.cube.value(),
            cube_owner: stakes.cube.owner(),
            turn: self.of(&[XgidPlayer::Bottom, XgidPlayer::Top]),
            action: dice.map_or(XgidAction::None, XgidAction::Rolled),
            scores: score.map_or([0, 0], MatchScore::scores),
            crawford: score.is_some_and(MatchScore::crawford),
            jacoby: stakes.money_options().jacoby,
            beavers: stakes.money_options().beavers,
            match_length: score.map_or(0, MatchScore::length),
            max_cube: 1024,
            ..Xgid::money(position)
        };
        xgid.check().unwrap();
        xgid
    }

    fn match_id(&mut self, stakes: &Stakes, dice: Option<[u8; 2]>) -> MatchId {
        let (score, on_roll) = (stakes.score(), self.of(&[MatchPlayer::Zero, MatchPlayer::One]));
        let mut scores = score.map_or([0, 0], MatchScore::scores);
        if on_roll == MatchPlayer::One {
            scores.reverse();
        }
        let id = MatchId {
            cube_value: stakes.cube.value(),
            cube_owner: match stakes.cube.owner() {
                CubeOwner::Centered => None,
                CubeOwner::Player => Some(on_roll),
                CubeOwner::Opponent => Some(on_roll.opponent()),
            },
            on_roll,
            turn: on_roll,
            crawford: score.is_some_and(MatchScore::crawford),
            state: GameState::Playing,
            double_offered: false,
            resignation: Resignation::None,
            dice,
            match_length: score.map_or(0, MatchScore::length),
            scores,
            jacoby: false,
        };
        id.check().unwrap();
        id
    }
}

/// Says all of the stakes beside a position.
fn say_beside(stakes: &Stakes, request: &mut Value) {
    let owner = match stakes.cube.owner() {
        CubeOwner::Centered => "centered",
        CubeOwner::Player => "player",
        CubeOwner::Opponent => "opponent",
    };
    request["cube"] = json!({"value": stakes.cube.value(), "owner": owner});
    match stakes.session {
        Session::Money(MoneyOptions { jacoby, beavers }) => {
            request["jacoby"] = json!(jacoby);
            request["beavers"] = json!(beavers);
        }
        Session::Match(score) => {
            request["match"] = json!({"length": score.length(), "score": score.scores(), "crawford": score.crawford()});
        }
    }
}
