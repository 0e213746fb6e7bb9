//! Drives a fuzz target without libFuzzer, on the stable toolchain: `drive TARGET EXECUTIONS [SEED]` tries that many
//! inputs, `drive TARGET FILE` one that is kept in a file.
//!
//! Inputs are samples with some bytes changed, taken out, put in, or joined with another; now and then random bytes.
//! What is accepted joins the samples. The same seed gives the same inputs. It ends with status 1 when an execution
//! panics, and keeps the input in `fuzz/artifacts/TARGET/`.

use std::{
    fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};
use zar_fuzz::{TARGETS, Target};

/// The most samples that are kept.
const POOL: usize = 4096;
const REPORT_EVERY: u64 = 1_000_000;

/// Inputs that change.
struct Inputs {
    target: Target,
    rng: Xoshiro256PlusPlus,
    pool: Vec<Vec<u8>>,
    /// How many of the pool are never replaced.
    fixed: usize,
}

impl Inputs {
    fn new(target: Target, seed: u64) -> Inputs {
        let pool = (target.samples)();
        Inputs { target, rng: Xoshiro256PlusPlus::seed_from_u64(seed), fixed: pool.len(), pool }
    }

    /// A number below `bound`, or 0 when there is none.
    fn below(&mut self, bound: usize) -> usize {
        ((u64::from(self.rng.next_u32()) * bound as u64) >> 32) as usize
    }

    fn sample(&mut self) -> usize {
        self.below(self.pool.len())
    }

    fn next(&mut self) -> Vec<u8> {
        let mut input;
        if self.below(16) == 0 {
            input = vec![0; self.below(self.target.longest.min(100) + 1)];
            self.rng.fill_bytes(&mut input);
        } else {
            let sample = self.sample();
            input = self.pool[sample].clone();
            for _ in 0..1 + self.below(4) {
                self.change(&mut input);
            }
        }
        input.truncate(self.target.longest);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let until = input.len().min(at + 1 + self.below(8));
        match self.below(8) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.rng.next_u32() as u8,
            2 => drop(input.drain(at..until)),
            3 => {
                let piece = input[at..until].to_vec();
                let to = self.below(input.len() + 1);
                input.splice(to..to, piece);
            }
            4 => {
                let other = self.sample();
                let from = self.below(self.pool[other].len() + 1);
                input.truncate(at);
                input.extend_from_slice(&self.pool[other][from..]);
            }
            5 if until > at => {
                // A word over another, so that what has a fixed length keeps it.
                let word = self.target.words[self.below(self.target.words.len())].as_bytes();
                let until = input.len().min(at + word.len());
                input.splice(at..until, word.iter().copied());
            }
            6 => {
                let word = self.target.words[self.below(self.target.words.len())].as_bytes();
                input.splice(at..at, word.iter().copied());
            }
            _ if input.len() > 1 => {
                let other = self.below(input.len());
                let at = at.min(input.len() - 1);
                input.swap(at, other);
            }
            _ => {}
        }
    }

    fn accepted(&mut self, input: Vec<u8>) {
        if input.len() > self.target.kept {
            return;
        }
        if self.pool.len() < POOL {
            self.pool.push(input);
        } else {
            let place = self.fixed + self.below(POOL - self.fixed);
            self.pool[place] = input;
        }
    }
}

/// Whether the input was accepted, or `None` when the target panicked.
fn execute(target: &Target, input: &[u8]) -> Option<bool> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).ok()
}

fn keep(target: &Target, seed: u64, execution: u64, input: &[u8]) -> io::Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(target.name);
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("seed-{seed}-execution-{execution}"));
    fs::write(&path, input)?;
    Ok(path)
}

fn drive(target: Target, executions: u64, seed: u64) -> ExitCode {
    let (mut inputs, mut accepted, start) = (Inputs::new(target, seed), 0u64, Instant::now());
    for sample in (target.samples)() {
        if execute(&target, &sample).is_none() {
            eprintln!("{}: a sample fails: {:?}", target.name, String::from_utf8_lossy(&sample));
            return ExitCode::FAILURE;
        }
    }
    for execution in 1..=executions {
        let input = inputs.next();
        match execute(&target, &input) {
            Some(true) => {
                accepted += 1;
                inputs.accepted(input);
            }
            Some(false) => {}
            None => {
                let kept = keep(&target, seed, execution, &input);
                eprintln!(
                    "{}: execution {execution} of seed {seed} fails with {:?}",
                    target.name,
                    String::from_utf8_lossy(&input)
                );
                match kept {
                    Ok(path) => eprintln!("kept as {}", path.display()),
                    Err(error) => eprintln!("it could not be kept: {error}"),
                }
                return ExitCode::FAILURE;
            }
        }
        if execution.is_multiple_of(REPORT_EVERY) || execution == executions {
            println!(
                "{}: {execution} executions, {accepted} accepted, {:.1} s",
                target.name,
                start.elapsed().as_secs_f64()
            );
        }
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    let names = TARGETS.map(|target| target.name);
    eprintln!("expected TARGET EXECUTIONS [SEED], or TARGET FILE; the targets are {}", names.join(", "));
    ExitCode::from(2)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(target) = arguments.first().and_then(|name| TARGETS.into_iter().find(|target| target.name == name)) else {
        return usage();
    };
    match &arguments[1..] {
        [count] if count.parse::<u64>().is_err() => match fs::read(count) {
            Ok(input) => match execute(&target, &input) {
                Some(accepted) => {
                    println!("{}", if accepted { "accepted" } else { "refused" });
                    ExitCode::SUCCESS
                }
                None => ExitCode::FAILURE,
            },
            Err(error) => {
                eprintln!("cannot read {count:?}: {error}");
                ExitCode::from(2)
            }
        },
        [count] | [count, _] => {
            let seed = arguments.get(2).map_or(Ok(0), |seed| seed.parse());
            match (count.parse(), seed) {
                (Ok(executions), Ok(seed)) => drive(target, executions, seed),
                _ => usage(),
            }
        }
        _ => usage(),
    }
}
