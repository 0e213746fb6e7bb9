//! Games on the disk.

use std::{fs, path::Path};

use redb::{
    Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition, backends::InMemoryBackend,
};
use thiserror::Error;

use super::record::{Deed, Record};

/// Where each game stands, by its name.
const GAMES: TableDefinition<&str, &[u8]> = TableDefinition::new("games");
/// What was done in it, by its name and the number of the action.
const DEEDS: TableDefinition<(&str, u64), &[u8]> = TableDefinition::new("deeds");

/// Memory for what has been read and for what is written, in bytes.
const CACHE: usize = 32 << 20;

/// All games of a server, in one file that no other server has open.
pub struct Store {
    database: Database,
    most: u64,
}

/// Why games cannot be read or kept.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The database fails, or is none.
    #[error("{0}")]
    Database(#[from] redb::Error),
    /// A folder, or a device.
    #[error("expected a regular file, or a new name")]
    NoFile,
    /// The folder of the file cannot be made.
    #[error(transparent)]
    Folder(#[from] std::io::Error),
    /// What was kept cannot be read.
    #[error("what is kept of the game cannot be read: {0}")]
    Damaged(#[from] serde_json::Error),
    /// There is no such game.
    #[error("there is no such game")]
    NoGame,
    /// Another request has acted in the meantime.
    #[error("the game has {found} actions, and not {expected}")]
    Version {
        /// Actions there are.
        found: u64,
        /// Actions that were expected.
        expected: u64,
    },
    /// There is no room for another game.
    #[error("there are {0} games already: expected some to be deleted first")]
    Full(u64),
}

type Result<T> = std::result::Result<T, StoreError>;

impl Store {
    /// The games in a file, which is made if it is not there.
    ///
    /// # Errors
    /// A file that is none, that holds something else, or that another server has open.
    pub fn open(path: &Path, most: u64) -> Result<Store> {
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(StoreError::NoFile);
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        let database = Database::builder().set_cache_size(CACHE).create(path).map_err(redb::Error::from)?;
        Store { database, most }.with_tables()
    }

    /// Games in memory, which end with the server.
    ///
    /// # Errors
    /// None that is known.
    pub fn in_memory(most: u64) -> Result<Store> {
        let database = Database::builder()
            .set_cache_size(CACHE)
            .create_with_backend(InMemoryBackend::new())
            .map_err(redb::Error::from)?;
        Store { database, most }.with_tables()
    }

    fn with_tables(self) -> Result<Store> {
        let writing = self.database.begin_write().map_err(redb::Error::from)?;
        writing.open_table(GAMES).map_err(redb::Error::from)?;
        writing.open_table(DEEDS).map_err(redb::Error::from)?;
        writing.commit().map_err(redb::Error::from)?;
        Ok(self)
    }

    /// How many games there are.
    ///
    /// # Errors
    /// What the database answers.
    pub fn count(&self) -> Result<u64> {
        let reading = self.database.begin_read().map_err(redb::Error::from)?;
        let games = reading.open_table(GAMES).map_err(redb::Error::from)?;
        Ok(games.len().map_err(redb::Error::from)?)
    }

    /// Where a game stands.
    ///
    /// # Errors
    /// A game that is not there, or that cannot be read.
    pub fn read(&self, name: &str) -> Result<Record> {
        let reading = self.database.begin_read().map_err(redb::Error::from)?;
        let games = reading.open_table(GAMES).map_err(redb::Error::from)?;
        let kept = games.get(name).map_err(redb::Error::from)?.ok_or(StoreError::NoGame)?;
        Ok(serde_json::from_slice(kept.value())?)
    }

    /// What was done in a game, from an action on, at most so many.
    ///
    /// # Errors
    /// A game that is not there, or that cannot be read.
    pub fn deeds(&self, name: &str, from: u64, most: usize) -> Result<Vec<Deed>> {
        self.read(name)?;
        let reading = self.database.begin_read().map_err(redb::Error::from)?;
        let deeds = reading.open_table(DEEDS).map_err(redb::Error::from)?;
        let range = deeds.range((name, from)..=(name, u64::MAX)).map_err(redb::Error::from)?;
        let mut found = Vec::new();
        for kept in range.take(most) {
            let (_, deed) = kept.map_err(redb::Error::from)?;
            found.push(serde_json::from_slice(deed.value())?);
        }
        Ok(found)
    }

    /// Keeps a new game, and what has been done in it; on the disk once this returns.
    ///
    /// # Errors
    /// No room, and what the database answers.
    pub fn create(&self, name: &str, record: &Record, deeds: &[Deed]) -> Result<()> {
        let most = self.most;
        self.write(name, record, deeds, |found, count| match found {
            None if count < most => Ok(()),
            _ => Err(StoreError::Full(count)),
        })
    }

    /// Keeps where a game stands after `deeds`, if it stood at version `expected`; on the disk once this returns.
    ///
    /// # Errors
    /// A game that another request has changed or removed, and what the database answers.
    pub fn update(&self, name: &str, expected: u64, record: &Record, deeds: &[Deed]) -> Result<()> {
        self.write(name, record, deeds, |found, _| match found {
            None => Err(StoreError::NoGame),
            Some(found) if found != expected => Err(StoreError::Version { found, expected }),
            Some(_) => Ok(()),
        })
    }

    fn write(
        &self,
        name: &str,
        record: &Record,
        deeds: &[Deed],
        check: impl FnOnce(Option<u64>, u64) -> Result<()>,
    ) -> Result<()> {
        let writing = self.database.begin_write().map_err(redb::Error::from)?;
        {
            let mut games = writing.open_table(GAMES).map_err(redb::Error::from)?;
            let found = match games.get(name).map_err(redb::Error::from)? {
                Some(kept) => Some(serde_json::from_slice::<Record>(kept.value())?.version),
                None => None,
            };
            check(found, games.len().map_err(redb::Error::from)?)?;
            games.insert(name, serde_json::to_vec(record)?.as_slice()).map_err(redb::Error::from)?;
            let mut all = writing.open_table(DEEDS).map_err(redb::Error::from)?;
            for deed in deeds {
                all.insert((name, deed.version), serde_json::to_vec(deed)?.as_slice()).map_err(redb::Error::from)?;
            }
        }
        // The commit is synced: what is answered afterwards outlives a crash.
        Ok(writing.commit().map_err(redb::Error::from)?)
    }

    /// Removes a game and all that was done in it.
    ///
    /// # Errors
    /// A game that is not there, and what the database answers.
    pub fn delete(&self, name: &str) -> Result<()> {
        let writing = self.database.begin_write().map_err(redb::Error::from)?;
        {
            let mut games = writing.open_table(GAMES).map_err(redb::Error::from)?;
            if games.remove(name).map_err(redb::Error::from)?.is_none() {
                return Err(StoreError::NoGame);
            }
            let mut deeds = writing.open_table(DEEDS).map_err(redb::Error::from)?;
            deeds.retain_in((name, 0)..=(name, u64::MAX), |_, _| false).map_err(redb::Error::from)?;
        }
        Ok(writing.commit().map_err(redb::Error::from)?)
    }
}
