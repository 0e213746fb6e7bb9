//! What a large table asks of the machine before it is built.

use std::{
    fs,
    hint::black_box,
    time::{Duration, Instant},
};

use crate::rules::{Dice, RuleSet};

use super::{TableKind, TableSpec, TwoSided, side_plays::SidePlays, two_sided::Results};

/// About how long `threads` threads take to build a table, measured on a part of the work; that takes some hundredths of
/// a second itself.
pub fn build_time(spec: TableSpec, threads: usize) -> Duration {
    let index = spec.index();
    let step = index.len().div_ceil(400);
    let mut plays = SidePlays::new(&index, spec.least_waste());
    let (mut sampled, mut results) = (0u32, 0);
    let begin = Instant::now();
    for rank in (0..index.len()).step_by(step) {
        for dice in Dice::ALL {
            results += black_box(plays.generate(rank, dice)).len();
        }
        sampled += 1;
    }
    let generation = begin.elapsed() / sampled;
    let seconds = match spec.kind() {
        // Besides generating plays their averages are compared and their distributions added; and all of it twice.
        TableKind::OneSided => 3.0 * generation.as_secs_f64() * index.len() as f64,
        TableKind::TwoSided => {
            let rules = if spec.least_waste() { RuleSet::Table } else { RuleSet::Backgammon };
            let Ok(small) = TableSpec::two_sided(rules).with_size(6, 4) else { return Duration::ZERO };
            let work = Results::new(&small.index(), small.least_waste()).len() as f64 * small.index().len() as f64;
            let begin = Instant::now();
            black_box(TwoSided::build(small, |_| ()));
            // Some of the generated results are the same.
            let per_result = begin.elapsed().as_secs_f64() / work;
            0.7 * results as f64 / f64::from(sampled) * (index.len() as f64).powi(2) * per_result
        }
    };
    Duration::from_secs_f64(seconds / threads.max(1) as f64)
}

/// Bytes of memory that programs can still get without swapping, where the system says so (Linux).
pub fn available_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
