//! Checkpoints: everything that a run needs to go on as if it had never stopped.
//!
//! A file is the magic `ZARCKPT\n`, the format version, a CRC-32 of the rest, and the rest: the state in bincode with
//! fixed-size little-endian integers. A run keeps its last few; one that is cut short or altered is refused, and the
//! one before it is used.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use zar::{board::Position, durable, net::Probabilities};

use crate::{learner::ClassState, self_play::Sample};

const MAGIC: [u8; 8] = *b"ZARCKPT\n";
const VERSION: u32 = 3;
const PREFIX: usize = 16;
/// Far more than the largest network needs; a length in a forged file cannot ask for more.
const LIMIT: usize = 8 << 30;
/// How many checkpoints stay on disk.
const KEPT: usize = 3;
const EXTENSION: &str = "zck";

/// The state of a run between two rounds.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunState {
    /// The configuration, as TOML.
    pub config: String,
    /// When the run began, UTC, `YYYY-MM-DD`.
    pub date: String,
    /// Rounds played.
    pub round: u64,
    /// Games played.
    pub games: u64,
    /// Positions learnt from.
    pub positions: u64,
    /// Seconds of work so far.
    pub seconds: f64,
    /// Games at the last measurement.
    pub measured_games: u64,
    /// Games behind the weights that measurements play against.
    pub rival_games: u64,
    /// Those weights, as a weights file.
    pub rival: Vec<u8>,
    /// Each class's networks and optimisers.
    pub classes: Vec<ClassState>,
    /// What has been played but not learnt yet.
    pub pending: Vec<Sample>,
    /// What may be learnt from again, the oldest first.
    pub replay: Vec<Sample>,
}

/// Why a checkpoint was refused.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// It could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It starts with other bytes.
    #[error("not a checkpoint")]
    Magic,
    /// It was written in another format.
    #[error("a checkpoint of format version {0}, expected {VERSION}")]
    Version(u32),
    /// Its checksum does not fit.
    #[error("cut short or altered: its checksum is {stored:08x}, its bytes give {computed:08x}")]
    Checksum {
        /// As the file says.
        stored: u32,
        /// Of its bytes.
        computed: u32,
    },
    /// Its content does not make sense.
    #[error("cannot be decoded: {0}")]
    Content(String),
}

fn encoding() -> impl bincode::config::Config {
    bincode::config::standard().with_little_endian().with_fixed_int_encoding().with_limit::<LIMIT>()
}

impl RunState {
    /// Writes the checkpoint of its round into `folder` and removes those that are too old. A crash leaves whole
    /// files only.
    ///
    /// # Errors
    /// What the file system answers.
    pub fn save(&self, folder: &Path) -> Result<PathBuf, CheckpointError> {
        let content = bincode::serde::encode_to_vec(self, encoding())
            .map_err(|error| CheckpointError::Content(error.to_string()))?;
        let mut bytes = Vec::with_capacity(PREFIX + content.len());
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(crc32fast::hash(&content).to_le_bytes());
        bytes.extend(content);
        let path = folder.join(format!("{:012}.{EXTENSION}", self.round));
        durable::write(&path, &bytes)?;
        for old in list(folder)?.into_iter().skip(KEPT) {
            fs::remove_file(old)?;
        }
        Ok(path)
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// A file that is not a whole, unaltered checkpoint of this version.
    pub fn load(path: &Path) -> Result<RunState, CheckpointError> {
        RunState::from_bytes(&fs::read(path)?)
    }

    fn from_bytes(bytes: &[u8]) -> Result<RunState, CheckpointError> {
        if !bytes.starts_with(&MAGIC) || bytes.len() < PREFIX {
            return Err(CheckpointError::Magic);
        }
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if number(8) != VERSION {
            return Err(CheckpointError::Version(number(8)));
        }
        let (stored, computed) = (number(12), crc32fast::hash(&bytes[PREFIX..]));
        if stored != computed {
            return Err(CheckpointError::Checksum { stored, computed });
        }
        let (state, used) = bincode::serde::decode_from_slice(&bytes[PREFIX..], encoding())
            .map_err(|error| CheckpointError::Content(error.to_string()))?;
        if used != bytes.len() - PREFIX {
            return Err(CheckpointError::Content(format!("{} bytes left over", bytes.len() - PREFIX - used)));
        }
        Ok(state)
    }
}

/// The checkpoints in a folder, the newest first.
///
/// # Errors
/// A folder that cannot be read.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .filter(|path: &io::Result<PathBuf>| {
            path.as_ref().map_or(true, |path| path.extension().is_some_and(|found| found == EXTENSION))
        })
        .collect::<io::Result<_>>()?;
    paths.sort();
    paths.reverse();
    Ok(paths)
}

/// A sample as it is stored; what is read back is checked like any position from outside.
#[derive(Serialize, Deserialize)]
struct StoredSample {
    points: [i8; 26],
    target: Probabilities,
}

impl Serialize for Sample {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        StoredSample { points: *self.position.points(), target: self.target }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Sample {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Sample, D::Error> {
        let StoredSample { points, target } = StoredSample::deserialize(deserializer)?;
        let position = Position::new(points).map_err(serde::de::Error::custom)?;
        Ok(Sample { position, target })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(round: u64) -> RunState {
        RunState {
            config: "seed = 1".into(),
            date: "2026-01-31".into(),
            round,
            games: 10 * round,
            positions: 500,
            seconds: 1.5,
            measured_games: 0,
            rival_games: 0,
            rival: vec![1, 2, 3],
            classes: vec![ClassState {
                sparse: (vec![1.0, 2.0], vec![0.5; 2], vec![0.25; 2], vec![7]),
                tail: vec![9; 5],
                averaged_sparse: vec![1.5; 2],
                averaged_dense: vec![(vec![0.0], vec![3.0, 4.0])],
            }],
            pending: vec![Sample { position: Position::START, target: Probabilities::default() }],
            replay: vec![Sample { position: Position::START, target: Probabilities::default() }; 3],
        }
    }

    #[test]
    fn round_trip_and_only_the_last_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        for round in 1..=5 {
            state(round).save(folder.path()).unwrap();
        }
        let paths = list(folder.path()).unwrap();
        assert_eq!(paths.len(), KEPT);
        let read = RunState::load(&paths[0]).unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", state(5)));
    }

    #[test]
    fn every_altered_byte_and_every_cut_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = fs::read(state(1).save(folder.path()).unwrap()).unwrap();
        assert!(RunState::from_bytes(&bytes).is_ok());
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 0x10;
            assert!(RunState::from_bytes(&altered).is_err(), "byte {at}");
            assert!(RunState::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn forged_lengths_ask_for_no_memory() {
        let mut content = vec![0xff; 64];
        content[7] = 0x7f;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(crc32fast::hash(&content).to_le_bytes());
        bytes.extend(content);
        assert!(matches!(RunState::from_bytes(&bytes), Err(CheckpointError::Content(_))));
    }
}
