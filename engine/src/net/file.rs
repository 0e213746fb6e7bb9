//! The weights file.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | magic `ZARNET\r\n` |
//! | 4 | format version |
//! | 4 | length of the header |
//! | header | rule set, provenance, and the shape of each network, in bincode with fixed-size little-endian integers |
//! | payload | for each network (contact, race, and perhaps a sieve): biases of the first layer; one bit for each of its rows, set unless the row is all zero; the rows that are set, in half precision; each dense layer's biases and weights, in single precision |
//! | 4 | CRC-32 of all bytes before |
//!
//! All numbers are little-endian.

use std::{fs, io, path::Path};

use half::f16;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{durable, rules::RuleSet};

use super::{Activation, DenseLayer, FeatureSet, FirstLayer, Model, Network, NetworkRole, PositionClass, ShapeError};

/// What the networks are for, in the order of the file; there need not be a sieve.
const ROLES: [NetworkRole; 3] =
    [NetworkRole::Evaluates(PositionClass::Contact), NetworkRole::Evaluates(PositionClass::Race), NetworkRole::Sieve];

const MAGIC: [u8; 8] = *b"ZARNET\r\n";

/// The version that this build writes and reads.
pub const FORMAT_VERSION: u32 = 1;

/// Bytes before the header.
const PREFIX: usize = 16;
const CHECKSUM: usize = 4;
const MAX_HEADER: usize = 1 << 18;

/// How a model was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Self-play games played.
    pub games: u64,
    /// Positions that it learnt from.
    pub positions: u64,
    /// Seed of the run.
    pub seed: u64,
    /// When the run began, UTC, `YYYY-MM-DD`.
    pub date: String,
    /// Git revision of the program that wrote it.
    pub revision: String,
    /// The run's configuration, as TOML.
    pub config: String,
}

/// Why a weights file was refused.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// No file at all, but a folder or a device, which may have no end.
    #[error("expected a regular file")]
    NoFile,
    /// It starts with other bytes.
    #[error("not a weights file: it starts with {0:02x?}, expected \"ZARNET\\r\\n\"")]
    Magic(Vec<u8>),
    /// It has another format version.
    #[error("weights file of format version {0}, expected {FORMAT_VERSION}")]
    Version(u32),
    /// It ends before its header does.
    #[error("the weights file ends after {0} bytes, within its header")]
    Truncated(usize),
    /// Its checksum does not fit its bytes.
    #[error("the weights file is damaged: its checksum is {stored:08x}, its bytes give {computed:08x}")]
    Checksum {
        /// As the file says.
        stored: u32,
        /// Of its bytes.
        computed: u32,
    },
    /// The header could not be decoded.
    #[error("the header of the weights file cannot be read: {0}")]
    Header(String),
    /// The payload has another length than the shapes in the header ask for.
    #[error("the weights take {found} bytes, the shapes in the header ask for {expected}")]
    Length {
        /// Bytes of payload.
        found: usize,
        /// Bytes that the shapes need.
        expected: usize,
    },
    /// The networks are not those of the position classes, with or without a sieve.
    #[error("the weights file holds networks for {0:?}, expected contact and race, and perhaps a sieve")]
    Networks(Vec<String>),
    /// What is known of the making is too long to be written.
    #[error("what is known of the making of the weights takes {0} bytes, expected at most {MAX_HEADER}")]
    HeaderTooLong(usize),
    /// The third network is not made like a sieve.
    #[error("the sieve has another shape than sieves have")]
    NoSieve,
    /// A network's layers do not fit together or its features.
    #[error("the {role} network has a wrong shape: {error}")]
    Shape {
        /// Which network.
        role: NetworkRole,
        /// What is wrong.
        error: ShapeError,
    },
    /// A weight is not a number or infinite, or so large that sums would be.
    #[error("the {0} network holds a weight that is not a finite number, or weights that lead to such")]
    NotFinite(NetworkRole),
}

#[derive(Serialize, Deserialize)]
struct Header {
    rules: String,
    provenance: Provenance,
    networks: Vec<NetworkHeader>,
}

/// Names are written out, so that the order of an enum's variants is no part of the format.
#[derive(Serialize, Deserialize)]
struct NetworkHeader {
    /// A class of positions, or `sieve`.
    role: String,
    features: String,
    activation: String,
    first_width: u32,
    /// Outputs of each dense layer.
    dense: Vec<u32>,
}

fn header_encoding() -> impl bincode::config::Config {
    bincode::config::standard().with_little_endian().with_fixed_int_encoding().with_limit::<MAX_HEADER>()
}

fn activation_name(activation: Activation) -> &'static str {
    match activation {
        Activation::Relu => "relu",
        Activation::ClippedRelu => "clipped-relu",
    }
}

impl Model {
    /// Reads a weights file.
    ///
    /// # Errors
    /// A file that cannot be read, or that is not a whole, undamaged weights file of this version: see [`ModelError`].
    pub fn load(path: &Path) -> Result<Model, ModelError> {
        if !fs::metadata(path)?.is_file() {
            return Err(ModelError::NoFile);
        }
        Model::from_bytes(&fs::read(path)?)
    }

    /// Writes a weights file; a crash leaves the old file or the new one.
    ///
    /// # Errors
    /// What the file system answers.
    pub fn save(&self, path: &Path) -> Result<(), ModelError> {
        Ok(durable::write(path, &self.to_bytes()?)?)
    }

    /// The networks in the order of the file.
    fn all_networks(&self) -> impl Iterator<Item = &Network> {
        PositionClass::ALL.iter().map(|&class| self.network(class)).chain(self.sieve_network())
    }

    /// The CRC-32 that the weights file ends in: that of all bytes before it, which tells weights apart.
    ///
    /// # Errors
    /// As [`Model::to_bytes`].
    pub fn checksum(&self) -> Result<u32, ModelError> {
        let bytes = self.to_bytes()?;
        // Over the whole file, with its own CRC-32 at the end, it would be the same for all files.
        Ok(crc32fast::hash(&bytes[..bytes.len() - CHECKSUM]))
    }

    /// The bytes of the weights file. The rows of first layers are rounded to half precision.
    ///
    /// # Errors
    /// A provenance that is too long for a header.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        let networks = ROLES.iter().zip(self.all_networks()).map(|(role, network)| NetworkHeader {
            role: role.to_string(),
            features: network.features().to_string(),
            activation: activation_name(network.activation()).into(),
            first_width: network.first().width() as u32,
            dense: network.dense().iter().map(|layer| layer.outputs() as u32).collect(),
        });
        let header = Header {
            rules: self.rules().to_string(),
            provenance: self.provenance().clone(),
            networks: networks.collect(),
        };
        let header = bincode::serde::encode_to_vec(&header, header_encoding())
            .map_err(|error| ModelError::Header(error.to_string()))?;
        if header.len() > MAX_HEADER {
            return Err(ModelError::HeaderTooLong(header.len()));
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend(FORMAT_VERSION.to_le_bytes());
        bytes.extend((header.len() as u32).to_le_bytes());
        bytes.extend(header);
        for network in self.all_networks() {
            write_network(network, &mut bytes);
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// Reads the bytes of a weights file.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, ModelError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(ModelError::Magic(bytes[..bytes.len().min(MAGIC.len())].to_vec()));
        }
        let truncated = || ModelError::Truncated(bytes.len());
        let number = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let version = number(8).ok_or_else(truncated)?;
        if version != FORMAT_VERSION {
            return Err(ModelError::Version(version));
        }
        let header_length = number(12).ok_or_else(truncated)? as usize;
        let content = bytes.len().checked_sub(CHECKSUM).filter(|&end| end >= PREFIX).ok_or_else(truncated)?;
        let (stored, computed) = (number(content).ok_or_else(truncated)?, crc32fast::hash(&bytes[..content]));
        if stored != computed {
            return Err(ModelError::Checksum { stored, computed });
        }
        let header_end = PREFIX.checked_add(header_length).filter(|&end| end <= content).ok_or_else(truncated)?;
        let (header, used): (Header, usize) =
            bincode::serde::decode_from_slice(&bytes[PREFIX..header_end], header_encoding())
                .map_err(|error| ModelError::Header(error.to_string()))?;
        if used != header_length {
            return Err(ModelError::Header(format!("{} bytes left over", header_length - used)));
        }
        let rules: RuleSet = header.rules.parse().map_err(|error| ModelError::Header(format!("{error}")))?;
        let found: Vec<String> = header.networks.iter().map(|network| network.role.clone()).collect();
        let expected = ROLES.map(|role| role.to_string());
        if found != expected && found != expected[..PositionClass::ALL.len()] {
            return Err(ModelError::Networks(found));
        }
        let mut payload = Payload { bytes: &bytes[header_end..content], next: 0 };
        let mut networks = header
            .networks
            .iter()
            .zip(ROLES)
            .map(|(header, role)| read_network(header, role, &mut payload))
            .collect::<Result<Vec<_>, _>>()?
            .into_iter();
        let (Some(contact), Some(race)) = (networks.next(), networks.next()) else {
            return Err(ModelError::Networks(found));
        };
        if payload.next != payload.bytes.len() {
            return Err(ModelError::Length { found: payload.bytes.len(), expected: payload.next });
        }
        let model = Model::new(rules, header.provenance, [contact, race]);
        Ok(match networks.next() {
            Some(sieve) => model.with_sieve(sieve).ok_or(ModelError::NoSieve)?,
            None => model,
        })
    }
}

fn write_network(network: &Network, bytes: &mut Vec<u8>) {
    let single = |values: &mut dyn Iterator<Item = f32>, bytes: &mut Vec<u8>| {
        bytes.extend(values.flat_map(f32::to_le_bytes));
    };
    let first = network.first();
    single(&mut first.bias(), bytes);
    let halves: Vec<f16> = first.rows().map(f16::from_f32).collect();
    let rows: Vec<&[f16]> = halves.chunks(first.width()).collect();
    let is_set = |row: &[f16]| row.iter().any(|&value| value != f16::ZERO);
    bytes.extend(
        rows.chunks(8)
            .map(|rows| rows.iter().enumerate().fold(0u8, |bits, (i, row)| bits | u8::from(is_set(row)) << i)),
    );
    for row in rows.into_iter().filter(|row| is_set(row)) {
        bytes.extend(row.iter().flat_map(|value| value.to_le_bytes()));
    }
    for layer in network.dense() {
        single(&mut layer.bias(), bytes);
        single(&mut layer.weight(), bytes);
    }
}

struct Payload<'b> {
    bytes: &'b [u8],
    next: usize,
}

impl<'b> Payload<'b> {
    fn take(&mut self, length: usize) -> Result<&'b [u8], ModelError> {
        let end = self.next.saturating_add(length);
        let taken =
            self.bytes.get(self.next..end).ok_or(ModelError::Length { found: self.bytes.len(), expected: end })?;
        self.next = end;
        Ok(taken)
    }

    fn single(&mut self, count: usize) -> Result<Vec<f32>, ModelError> {
        let bytes = self.take(count.saturating_mul(4))?;
        Ok(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
    }
}

fn read_network(header: &NetworkHeader, role: NetworkRole, payload: &mut Payload<'_>) -> Result<Network, ModelError> {
    let unknown = |what: &str, name: &str| ModelError::Header(format!("unknown {what} {name:?} of the {role} network"));
    let shape = |error| ModelError::Shape { role, error };
    let features: FeatureSet = header.features.parse().map_err(|_| unknown("feature set", &header.features))?;
    let activation = [Activation::Relu, Activation::ClippedRelu]
        .into_iter()
        .find(|&activation| activation_name(activation) == header.activation)
        .ok_or_else(|| unknown("activation", &header.activation))?;

    let width = header.first_width as usize;
    FirstLayer::check_width(width).map_err(shape)?;
    let bias = payload.single(width)?;
    let set = payload.take(features.rows().div_ceil(8))?;
    let mut rows = vec![0.0; features.rows() * width];
    for (row, values) in rows.chunks_exact_mut(width).enumerate() {
        if set[row / 8] >> (row % 8) & 1 == 1 {
            let halves = payload.take(2 * width)?;
            for (value, half) in values.iter_mut().zip(halves.chunks_exact(2)) {
                *value = f16::from_le_bytes([half[0], half[1]]).to_f32();
            }
        }
    }
    let first = FirstLayer::new(&bias, &rows).map_err(shape)?;
    let mut inputs = width;
    let mut dense = Vec::new();
    for &outputs in &header.dense {
        let outputs = outputs as usize;
        if !(1..=1024).contains(&outputs) {
            return Err(shape(ShapeError::Outputs(outputs)));
        }
        let (bias, weight) = (payload.single(outputs)?, payload.single(inputs * outputs)?);
        dense.push(DenseLayer::new(inputs, &bias, &weight).map_err(shape)?);
        inputs = outputs;
    }
    let network = Network::new(features, activation, first, dense).map_err(shape)?;
    if network.is_finite() { Ok(network) } else { Err(ModelError::NotFinite(role)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(features: FeatureSet, seed: f32) -> Network {
        let rows: Vec<f32> = (0..features.rows() * 64)
            .map(|i| if i / 64 % 3 == 0 { 0.0 } else { ((i % 97) as f32 - 48.0) / 64.0 })
            .collect();
        let first = FirstLayer::new(&[seed; 64], &rows).unwrap();
        let dense = vec![
            DenseLayer::new(64, &[0.1; 16], &[seed; 64 * 16]).unwrap(),
            DenseLayer::new(16, &[0.2; 5], &[0.3; 16 * 5]).unwrap(),
        ];
        Network::new(features, Activation::ClippedRelu, first, dense).unwrap()
    }

    fn model() -> Model {
        let provenance = Provenance { games: 7, seed: 3, config: "x = 1".into(), ..Provenance::default() };
        let networks = [network(FeatureSet::ContactPatterns, 0.5), network(FeatureSet::RaceCounts, -0.25)];
        Model::new(RuleSet::Backgammon, provenance, networks)
    }

    /// The bytes with a new checksum, as if they had been written so.
    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        let content = bytes.len() - CHECKSUM;
        let checksum = crc32fast::hash(&bytes[..content]);
        bytes[content..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    #[test]
    fn round_trip() {
        let model = model();
        assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
        let sieve = Network::new(
            FeatureSet::ContactCounts,
            Activation::Relu,
            FirstLayer::new(&[0.5; 64], &vec![0.25; FeatureSet::ContactCounts.rows() * 64]).unwrap(),
            vec![DenseLayer::new(64, &[0.2; 5], &[0.3; 64 * 5]).unwrap()],
        );
        let sieved = model.clone().with_sieve(sieve.unwrap()).unwrap();
        assert_eq!(Model::from_bytes(&sieved.to_bytes().unwrap()).unwrap(), sieved);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights.zar");
        model.save(&path).unwrap();
        assert_eq!(Model::load(&path).unwrap(), model);
    }

    #[test]
    fn every_fault_has_its_error() {
        let good = model().to_bytes().unwrap();
        let read = |bytes: &[u8]| Model::from_bytes(bytes).unwrap_err();
        assert!(matches!(read(b""), ModelError::Magic(found) if found.is_empty()));
        assert!(matches!(read(b"GIF89a..........."), ModelError::Magic(_)));
        let mut bytes = good.clone();
        bytes[8] = 9;
        assert!(matches!(read(&bytes), ModelError::Version(9)));
        for length in [8, 12, 16, 19] {
            assert!(matches!(read(&good[..length]), ModelError::Truncated(n) if n == length), "{length}");
        }
        assert!(matches!(read(&good[..good.len() - 1]), ModelError::Checksum { .. }));
        for at in [20, 100, good.len() / 2, good.len() - 10, good.len() - 1] {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            assert!(matches!(read(&bytes), ModelError::Checksum { .. }), "{at}");
        }
        let mut bytes = good.clone();
        bytes[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(read(&sealed(bytes)), ModelError::Truncated(_)));
        let mut bytes = good.clone();
        bytes[PREFIX..PREFIX + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(read(&sealed(bytes)), ModelError::Header(_)));
        let mut bytes = good.clone();
        let end = bytes.len() - CHECKSUM;
        bytes.splice(end..end, [0; 8]);
        assert!(matches!(read(&sealed(bytes)), ModelError::Length { .. }));
        let mut bytes = good.clone();
        bytes.drain(end - 8..end);
        assert!(matches!(read(&sealed(bytes)), ModelError::Length { .. }));
        let mut bytes = good.clone();
        bytes[end - 4..end].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(matches!(read(&sealed(bytes)), ModelError::NotFinite(NetworkRole::Evaluates(PositionClass::Race))));
        let mut bytes = good.clone();
        bytes[end - 4..end].copy_from_slice(&f32::MAX.to_le_bytes());
        assert!(matches!(read(&sealed(bytes)), ModelError::NotFinite(NetworkRole::Evaluates(PositionClass::Race))));
        let replaced = |from: &str, to: &str| {
            let at = good.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
            let mut bytes = good.clone();
            bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
            read(&sealed(bytes))
        };
        assert!(matches!(replaced("backgammon", "checkergam"), ModelError::Header(_)));
        assert!(matches!(replaced("race-counts", "rice-counts"), ModelError::Header(_)));
        assert!(matches!(replaced("race", "rice"), ModelError::Networks(_)));
        // 64 wide made 65 wide.
        let at = good.windows(12).position(|w| w == b"clipped-relu").unwrap() + 12;
        let mut bytes = good.clone();
        bytes[at] = 65;
        let wrong =
            ModelError::Shape { role: NetworkRole::Evaluates(PositionClass::Contact), error: ShapeError::Width(65) };
        assert_eq!(read(&sealed(bytes)).to_string(), wrong.to_string());
    }
}
