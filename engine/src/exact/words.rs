//! The numbers of a table as they lie in its file, in memory or mapped from it.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | magic `ZARBEAR\n` |
//! | 4 | 0x01020304 |
//! | 4 | format version |
//! | 4 | 1 for a one-sided table, 2 for a two-sided one |
//! | 4 | points |
//! | 4 | checkers a side |
//! | 4 | 1 for plays of least waste, else 0 |
//! | 8 | 4-byte words behind the header, the lower half first |
//! | 20 | 0 |
//! | 4 | CRC-32 of all other bytes |
//! | words | see [`OneSided`](super::OneSided) and [`TwoSided`](super::TwoSided) |
//!
//! A file lies in the byte order of the machine that wrote it; to one of the other order it is damaged.

use std::{
    fs::{self, File},
    io,
    ops::Deref,
    path::Path,
};

use memmap2::Mmap;
use thiserror::Error;

use super::{TableKind, TableSpec};

/// The version that this build writes and reads. It is part of the names of files.
pub const FORMAT_VERSION: u32 = 1;

/// Words of the header.
pub(super) const HEADER: usize = 16;
const MAGIC: [u8; 8] = *b"ZARBEAR\n";
const BYTE_ORDER: u32 = 0x0102_0304;
const CHECKSUM: usize = HEADER - 1;
const WORD: usize = size_of::<u32>();

/// Why a file is not the table that it should be.
#[derive(Debug, Error)]
pub enum TableFileError {
    /// It could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is a folder, a pipe or a device.
    #[error("expected a regular file")]
    NoFile,
    /// It has another length than its header asks for, or none.
    #[error("a table of {0} bytes, expected those of its header")]
    Length(u64),
    /// Its header is that of another table, version or machine.
    #[error("its header is not that of the table ({0})")]
    Header(TableSpec),
    /// Its checksum does not fit its bytes.
    #[error("it is damaged: its checksum is {stored:08x}, its bytes give {computed:08x}")]
    Checksum {
        /// As the file says.
        stored: u32,
        /// Of its bytes.
        computed: u32,
    },
    /// Numbers that no table has.
    #[error("it holds numbers that do not belong into the table ({0})")]
    Contents(TableSpec),
}

/// A table with its header.
#[derive(Debug)]
pub(super) enum Words {
    Built(Vec<u32>),
    Mapped(Mmap),
}

impl Deref for Words {
    type Target = [u32];

    #[inline]
    fn deref(&self) -> &[u32] {
        match self {
            Words::Built(words) => words,
            Words::Mapped(bytes) => bytemuck::cast_slice(bytes),
        }
    }
}

impl Words {
    /// Puts the header in front of what was computed: the first [`HEADER`] words are overwritten.
    pub(super) fn seal(mut words: Vec<u32>, spec: &TableSpec) -> Words {
        let header = header(spec, words.len() - HEADER);
        words[..HEADER].copy_from_slice(&header);
        words[CHECKSUM] = checksum(&words);
        Words::Built(words)
    }

    /// The bytes of the file.
    pub(super) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }

    /// Maps a file of the table `spec`, after its length, header and checksum have been checked.
    pub(super) fn map(path: &Path, spec: &TableSpec) -> Result<Words, TableFileError> {
        // Before it is opened, which waits for a writer where it is a pipe.
        if !fs::metadata(path)?.is_file() {
            return Err(TableFileError::NoFile);
        }
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        if length < (HEADER * WORD) as u64 || length % WORD as u64 != 0 {
            return Err(TableFileError::Length(length));
        }
        // SAFETY: nobody changes the bytes while they are mapped: this program replaces tables by renaming another file
        // over them, which leaves the mapped one as it is. Every bit pattern is a valid word.
        let bytes = unsafe { Mmap::map(&file)? };
        let words = Words::Mapped(bytes);
        let expected = header(spec, words.len() - HEADER);
        if words[..CHECKSUM] != expected[..CHECKSUM] {
            return Err(TableFileError::Header(*spec));
        }
        let (stored, computed) = (words[CHECKSUM], checksum(&words));
        if stored != computed {
            return Err(TableFileError::Checksum { stored, computed });
        }
        Ok(words)
    }
}

/// The header without its checksum.
fn header(spec: &TableSpec, payload: usize) -> [u32; HEADER] {
    let mut header = [0; HEADER];
    bytemuck::bytes_of_mut(&mut header)[..MAGIC.len()].copy_from_slice(&MAGIC);
    let kind = match spec.kind() {
        TableKind::OneSided => 1,
        TableKind::TwoSided => 2,
    };
    let payload = payload as u64;
    header[2..10].copy_from_slice(&[
        BYTE_ORDER,
        FORMAT_VERSION,
        kind,
        spec.points().into(),
        spec.checkers().into(),
        spec.least_waste().into(),
        payload as u32,
        (payload >> 32) as u32,
    ]);
    header
}

/// CRC-32 of all words but the checksum itself.
fn checksum(words: &[u32]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(bytemuck::cast_slice(&words[..CHECKSUM]));
    hasher.update(bytemuck::cast_slice(&words[HEADER..]));
    hasher.finalize()
}
