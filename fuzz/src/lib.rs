//! Fuzz targets for whatever zar reads: each takes any bytes, and panics when a promise of the library is broken.
//!
//! A target answers whether what it was given was accepted, so that a run can show how much of it went past the first
//! check. The same functions serve libFuzzer (`fuzz_targets/`) and the driver for the stable toolchain (`drive`).

mod bytes;
mod codes;
mod matches;
mod plays;
mod tables;
mod weights;

pub use codes::{match_id, position_id, xgid};
pub use matches::match_state;
pub use plays::play_text;
pub use tables::met;
pub use weights::weights;

/// One target, with what a driver needs to know of it.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Tries some bytes, and says whether they were accepted. Panics when a promise is broken.
    pub run: fn(&[u8]) -> bool,
    /// Bytes that are accepted, to begin from.
    pub samples: fn() -> Vec<Vec<u8>>,
    /// What the format is made of, for insertions.
    pub words: &'static [&'static str],
    /// The longest input that is worth its time.
    pub longest: usize,
    /// The longest of those that were accepted from which others are made.
    pub kept: usize,
}

/// All targets.
pub const TARGETS: [Target; 7] = [
    Target {
        name: "position_id",
        run: position_id,
        samples: codes::position_id_samples,
        words: codes::BASE_64,
        longest: 40,
        kept: 40,
    },
    Target {
        name: "match_id",
        run: match_id,
        samples: codes::match_id_samples,
        words: codes::BASE_64,
        longest: 40,
        kept: 40,
    },
    Target { name: "xgid", run: xgid, samples: codes::xgid_samples, words: codes::XGID_WORDS, longest: 120, kept: 120 },
    Target { name: "play_text", run: play_text, samples: plays::samples, words: plays::WORDS, longest: 80, kept: 80 },
    Target { name: "match_state", run: match_state, samples: matches::samples, words: &["\0"], longest: 256, kept: 64 },
    Target {
        name: "weights",
        run: weights,
        samples: weights::samples,
        words: weights::WORDS,
        longest: 6000,
        kept: 6000,
    },
    Target { name: "met", run: met, samples: tables::samples, words: tables::WORDS, longest: 600, kept: 600 },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Fuzzing that begins from what is refused would not come far.
    #[test]
    fn samples_are_good() {
        for target in TARGETS {
            let samples = (target.samples)();
            assert!(samples.iter().all(|sample| sample.len() <= target.longest), "{}", target.name);
            let accepted = samples.iter().filter(|sample| (target.run)(sample)).count();
            assert!(5 * accepted >= samples.len(), "{}: {accepted} of {}", target.name, samples.len());
        }
    }
}
