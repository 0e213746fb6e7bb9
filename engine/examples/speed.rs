use std::time::Instant;
use zar::{board::Position, net::{Evaluator, Model}, rules::{Dice, LegalPlays, RuleSet}};
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
fn main() {
    let model = Model::load(std::path::Path::new(&std::env::args().nth(1).unwrap())).unwrap();
    let mut ev = Evaluator::new(&model);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut plays = LegalPlays::default();
    let mut out = Vec::new();
    // collect decisions from self-play
    let mut decisions = Vec::new();
    let mut p = Position::START;
    while decisions.len() < 20000 {
        if p.is_over() { p = Position::START; }
        let d = Dice::roll(&mut rng);
        plays.generate(&p, d, RuleSet::Backgammon);
        decisions.push((p, d));
        ev.evaluate_plays(&p, &plays, &mut out);
        let best = (0..out.len()).min_by(|&a, &b| out[a].equity(RuleSet::Backgammon).0.total_cmp(&out[b].equity(RuleSet::Backgammon).0)).unwrap();
        p = plays[best].after;
    }
    for _ in 0..5 {
        let t = Instant::now();
        let mut n = 0;
        for (p, d) in &decisions { plays.generate(p, *d, RuleSet::Backgammon); n += plays.len(); }
        let gen_s = t.elapsed().as_secs_f64();
        let t = Instant::now();
        for (p, d) in &decisions { plays.generate(p, *d, RuleSet::Backgammon); ev.evaluate_plays(p, &plays, &mut out); }
        let s = t.elapsed().as_secs_f64();
        println!("{:.0} evals/s with generation; {:.0} results/s {:.0} rolls/s generation; {:.1} results a roll", n as f64 / s, n as f64 / gen_s, decisions.len() as f64 / gen_s, n as f64 / decisions.len() as f64);
    }
}
