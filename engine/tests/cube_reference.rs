//! The cube model against reference decisions, from the probabilities that stand beside them.

#![allow(clippy::unwrap_used, reason = "a test")]

use zar::{
    board::{CubeOwner, CubeState, Position},
    cube::{CubeModel, Efficiency},
    net::Probabilities,
    rules::{MatchScore, RuleSet, Session, Stakes},
};

#[derive(Default)]
struct Tally {
    decisions: usize,
    no_double: f64,
    double_take: f64,
    agreed: usize,
    takes: usize,
}

impl Tally {
    fn add(&mut self, found: [f64; 2], expected: [f64; 3]) {
        let [nd, dt, dp] = expected;
        self.decisions += 1;
        self.no_double += (found[0] - nd).abs();
        self.double_take += (found[1] - dt).abs();
        let doubles = |nd: f64, dt: f64| dt.min(dp) > nd;
        self.agreed += usize::from(doubles(found[0], found[1]) == doubles(nd, dt));
        self.takes += usize::from((found[1] < dp) == (dt < dp));
    }

    /// Mean differences of ND and DT, and the shares of doubles and of takes that agree.
    fn means(&self) -> [f64; 4] {
        let n = self.decisions as f64;
        [self.no_double / n, self.double_take / n, self.agreed as f64 / n, self.takes as f64 / n]
    }
}

#[test]
fn equities_are_near_the_reference() {
    let text = include_str!("../../tests/data/cube_dev.jsonl");
    let model = CubeModel::usual(RuleSet::Backgammon);
    let (mut money, mut matches) = (Tally::default(), Tally::default());
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let number = |key: &str| record[key].as_f64().unwrap();
        let position: Position = record["pos"].as_str().unwrap().parse().unwrap();
        let p: Vec<f32> = record["probs"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap() as f32).collect();
        let p = Probabilities::from_array(p.try_into().unwrap());
        let owned = record["cube"] == "owned";
        let owner = if owned { CubeOwner::Player } else { CubeOwner::Centered };
        let entry = &record["match"];
        let stakes = if entry.is_null() {
            Stakes::new(Stakes::MONEY.session, CubeState::new(if owned { 2 } else { 1 }, owner).unwrap())
        } else {
            let field = |key: &str| entry[key].as_u64().unwrap() as u32;
            let score = MatchScore::new(field("length"), [field("score_on_roll"), field("score_opp")], false).unwrap();
            Stakes::new(Session::Match(score), CubeState::new(field("cube_value"), owner).unwrap())
        };
        let decision = model.decide(&p, Efficiency::of(&position), &stakes).unwrap();
        let tally = if entry.is_null() { &mut money } else { &mut matches };
        let found = [decision.no_double.0, decision.double_take.0].map(f64::from);
        tally.add(found, [number("nd"), number("dt"), number("dp")]);
    }
    assert_eq!((money.decisions, matches.decisions), (465, 155));
    // No double and double/take within these of the reference on average, and at least such shares of doubles and takes.
    for (tally, [no_double, double_take, doubles, takes]) in
        [(money, [0.0300, 0.0050, 0.92, 0.99]), (matches, [0.0415, 0.0090, 0.91, 0.99])]
    {
        let means = tally.means();
        println!("{means:?}");
        assert!(means[0] <= no_double && means[1] <= double_take, "{means:?}");
        assert!(means[2] >= doubles && means[3] >= takes, "{means:?}");
    }
}

/// What the model gets wrong where the exact worth is known: bear-offs of a few checkers, from the exact chance to win.
#[test]
fn bear_offs_show_what_the_model_gets_wrong() {
    let text = include_str!("../../tests/data/bearoff_two_sided.jsonl");
    let model = CubeModel::usual(RuleSet::Backgammon);
    let owners = [("owned", CubeOwner::Player), ("centered", CubeOwner::Centered), ("opponent", CubeOwner::Opponent)];
    let mut errors = [0.0; 3];
    let mut lines = 0.0;
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let number = |key: &str| record[key].as_f64().unwrap();
        let position: Position = record["pos"].as_str().unwrap().parse().unwrap();
        let win = (number("cubeless") as f32 + 1.0) / 2.0;
        let p = Probabilities::from_array([win, 0.0, 0.0, 0.0, 0.0]);
        for (error, (key, owner)) in errors.iter_mut().zip(owners) {
            let stakes = Stakes::new(Stakes::MONEY.session, CubeState::new(2, owner).unwrap());
            let found = model.equity(model.no_double(&p, Efficiency::of(&position), &stakes), &stakes).0;
            *error += (f64::from(found) - number(key)).abs();
        }
        lines += 1.0;
    }
    let means = errors.map(|error| error / lines);
    println!("mean absolute error, cube owned, centered, opponent's: {means:.4?}");
    assert!(means.iter().all(|mean| *mean < 0.12), "{means:?}");
}
