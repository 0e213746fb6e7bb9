//! zar-train
use std::{path::{Path,PathBuf}, sync::atomic::AtomicBool, time::{Duration, Instant}};
use zar_trainer::{config::Config, device::DeviceChoice, run::{Run, Supervision}, score::Reference};
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let threads: usize = args[3].parse().unwrap();
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().unwrap();
    let config = Config::load(Path::new(&args[1])).unwrap();
    let reference = Reference::load(Path::new("tests/data/checker_dev.jsonl")).unwrap();
    let mut run = Run::create(&PathBuf::from(&args[2]), config, DeviceChoice::Cpu).unwrap();
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    let mut n = 0;
    let every: u64 = args[4].parse().unwrap();
    let ending = rayon::scope(|_| run.go(&mut Supervision {
        stop: &stop, time_budget: None, checkpoint_every: Duration::from_secs(120), measure_every: every, reference: Some(&reference),
        progress: &mut |p| { n += 1; if n % 10 == 1 { println!("{:6.1}s {:?} {:.0} games/s", begun.elapsed().as_secs_f64(), p, p.games as f64 / begun.elapsed().as_secs_f64()); } },
        measured: &mut |m| println!("{:.1}s games {} \n{}", m.seconds, m.games, m.score.as_ref().unwrap()),
    })).unwrap();
    println!("{ending:?}");
}
