//! Games on the disk.
//!
//! What is kept has bounds: so many games, so many bytes, and so many days in which nothing is done in a game. Where there is
//! no room for a new game, the one that has lain idle longest gives way if nothing was done in it for a day.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use redb::{
    Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, Table, TableDefinition, WriteTransaction,
    backends::InMemoryBackend,
};
use thiserror::Error;

use super::record::{Deed, Record};

/// Where each game stands, by its name.
const GAMES: TableDefinition<&str, &[u8]> = TableDefinition::new("games");
/// What was done in it, by its name and the number of the action.
const DEEDS: TableDefinition<(&str, u64), &[u8]> = TableDefinition::new("deeds");
/// When something was last done in it, in seconds since 1970.
const TIMES: TableDefinition<&str, u64> = TableDefinition::new("times");
/// The same in the order of the times.
const BY_TIME: TableDefinition<(u64, &str), ()> = TableDefinition::new("by_time");
/// Sums over all games.
const SUMS: TableDefinition<&str, u64> = TableDefinition::new("sums");
/// The sum of the bytes of names, games and actions.
const BYTES: &str = "bytes";

/// Memory for what has been read and for what is written, in bytes.
const CACHE: usize = 32 << 20;
/// Seconds in which nothing is done in a game before it may have to give way.
const IDLE: u64 = 24 * 60 * 60;
/// Games that one new game may put out: so many forgotten ones are removed at a time.
const AT_ONCE: usize = 16;

/// What is kept at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Games.
    pub games: u64,
    /// Bytes of games and their actions; there are no new games once nine tenths are taken.
    pub bytes: u64,
    /// How long a game is kept in which nothing is done.
    pub idle: Duration,
}

/// All games of a server, in one file that no other server has open.
pub struct Store {
    database: Database,
    limits: Limits,
    /// How many there are, for those who only want to know that.
    count: AtomicU64,
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
    /// There is no room for more.
    #[error(
        "there is no room for more games: expected some to be deleted, or another try in {0} s, when one has been idle for a day"
    )]
    Full(u64),
}

type Result<T> = std::result::Result<T, StoreError>;

impl Store {
    /// The games in a file, which is made if it is not there.
    ///
    /// # Errors
    /// A file that is none, that holds something else, or that another server has open.
    pub fn open(path: &Path, limits: Limits) -> Result<Store> {
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(StoreError::NoFile);
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        let database = Database::builder().set_cache_size(CACHE).create(path).map_err(redb::Error::from)?;
        Store::over(database, limits)
    }

    /// Games in memory, which end with the server.
    ///
    /// # Errors
    /// None that is known.
    pub fn in_memory(limits: Limits) -> Result<Store> {
        let database = Database::builder()
            .set_cache_size(CACHE)
            .create_with_backend(InMemoryBackend::new())
            .map_err(redb::Error::from)?;
        Store::over(database, limits)
    }

    fn over(database: Database, limits: Limits) -> Result<Store> {
        let writing = database.begin_write().map_err(redb::Error::from)?;
        let count = {
            let mut tables = Tables::open(&writing)?;
            if tables.sums.get(BYTES).map_err(redb::Error::from)?.is_none() {
                tables.take_stock()?;
            }
            tables.count()?
        };
        writing.commit().map_err(redb::Error::from)?;
        Ok(Store { database, limits, count: AtomicU64::new(count) })
    }

    /// How many games there are.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
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

    /// Keeps a new game, and what has been done in it; on the disk once this returns. Games that have lain idle too long are
    /// removed for it.
    ///
    /// # Errors
    /// No room, and what the database answers.
    pub fn create(&self, name: &str, record: &Record, deeds: &[Deed]) -> Result<()> {
        let Limits { games, bytes, idle } = self.limits;
        self.change(|tables| {
            let now = now();
            for _ in 0..AT_ONCE {
                if !tables.remove_idle_since(now.saturating_sub(idle.as_secs()))? {
                    break;
                }
            }
            tables.put(name, record, deeds, now)?;
            tables.make_room(games, bytes / 10 * 9, now)
        })
    }

    /// Keeps where a game stands after `deeds`, if it stood at version `expected`; on the disk once this returns.
    ///
    /// # Errors
    /// A game that another request has changed or removed, no room, and what the database answers.
    pub fn update(&self, name: &str, expected: u64, record: &Record, deeds: &[Deed]) -> Result<()> {
        let bytes = self.limits.bytes;
        self.change(|tables| {
            let found = tables.version(name)?;
            if found != expected {
                return Err(StoreError::Version { found, expected });
            }
            let now = now();
            tables.put(name, record, deeds, now)?;
            // There may be more games than a server with other options would make.
            tables.make_room(u64::MAX, bytes, now)
        })
    }

    /// Removes a game and all that was done in it.
    ///
    /// # Errors
    /// A game that is not there, and what the database answers.
    pub fn delete(&self, name: &str) -> Result<()> {
        self.change(|tables| if tables.remove(name)? { Ok(()) } else { Err(StoreError::NoGame) })
    }

    /// Does all of something or nothing.
    fn change(&self, change: impl FnOnce(&mut Tables<'_>) -> Result<()>) -> Result<()> {
        let writing = self.database.begin_write().map_err(redb::Error::from)?;
        let (before, after) = {
            let mut tables = Tables::open(&writing)?;
            let before = tables.count()?;
            change(&mut tables)?;
            (before, tables.count()?)
        };
        // The commit is synced: what is answered afterwards outlives a crash.
        writing.commit().map_err(redb::Error::from)?;
        // Others may have changed something since the commit.
        self.count.fetch_add(after.wrapping_sub(before), Ordering::Relaxed);
        Ok(())
    }
}

/// What is written in one transaction.
struct Tables<'t> {
    games: Table<'t, &'static str, &'static [u8]>,
    deeds: Table<'t, (&'static str, u64), &'static [u8]>,
    times: Table<'t, &'static str, u64>,
    by_time: Table<'t, (u64, &'static str), ()>,
    sums: Table<'t, &'static str, u64>,
}

impl<'t> Tables<'t> {
    fn open(writing: &'t WriteTransaction) -> Result<Tables<'t>> {
        Ok(Tables {
            games: writing.open_table(GAMES).map_err(redb::Error::from)?,
            deeds: writing.open_table(DEEDS).map_err(redb::Error::from)?,
            times: writing.open_table(TIMES).map_err(redb::Error::from)?,
            by_time: writing.open_table(BY_TIME).map_err(redb::Error::from)?,
            sums: writing.open_table(SUMS).map_err(redb::Error::from)?,
        })
    }

    fn count(&self) -> Result<u64> {
        Ok(self.games.len().map_err(redb::Error::from)?)
    }

    fn bytes(&self) -> Result<u64> {
        Ok(self.sums.get(BYTES).map_err(redb::Error::from)?.map_or(0, |bytes| bytes.value()))
    }

    fn count_bytes(&mut self, more: u64, less: u64) -> Result<()> {
        let bytes = (self.bytes()? + more).saturating_sub(less);
        self.sums.insert(BYTES, bytes).map_err(redb::Error::from)?;
        Ok(())
    }

    fn version(&self, name: &str) -> Result<u64> {
        let kept = self.games.get(name).map_err(redb::Error::from)?.ok_or(StoreError::NoGame)?;
        Ok(serde_json::from_slice::<Record>(kept.value())?.version)
    }

    /// Counts what was kept before there were sums and times; nothing is idle then.
    fn take_stock(&mut self) -> Result<()> {
        let (now, mut bytes) = (now(), 0);
        for kept in self.games.iter().map_err(redb::Error::from)? {
            let (name, game) = kept.map_err(redb::Error::from)?;
            bytes += size(name.value(), game.value());
            self.times.insert(name.value(), now).map_err(redb::Error::from)?;
            self.by_time.insert((now, name.value()), ()).map_err(redb::Error::from)?;
        }
        for kept in self.deeds.iter().map_err(redb::Error::from)? {
            let (key, deed) = kept.map_err(redb::Error::from)?;
            bytes += size(key.value().0, deed.value());
        }
        self.count_bytes(bytes, 0)
    }

    fn put(&mut self, name: &str, record: &Record, deeds: &[Deed], now: u64) -> Result<()> {
        let game = serde_json::to_vec(record)?;
        let before = self.games.insert(name, game.as_slice()).map_err(redb::Error::from)?;
        let less = before.map_or(0, |before| size(name, before.value()));
        let mut more = size(name, &game);
        for deed in deeds {
            let written = serde_json::to_vec(deed)?;
            more += size(name, &written);
            self.deeds.insert((name, deed.version), written.as_slice()).map_err(redb::Error::from)?;
        }
        let before = self.times.insert(name, now).map_err(redb::Error::from)?.map(|before| before.value());
        if let Some(before) = before {
            self.by_time.remove((before, name)).map_err(redb::Error::from)?;
        }
        self.by_time.insert((now, name), ()).map_err(redb::Error::from)?;
        self.count_bytes(more, less)
    }

    /// Whether it was there.
    fn remove(&mut self, name: &str) -> Result<bool> {
        let Some(mut less) = self.games.remove(name).map_err(redb::Error::from)?.map(|game| size(name, game.value()))
        else {
            return Ok(false);
        };
        let mut forget = |_: (&str, u64), deed: &[u8]| {
            less += size(name, deed);
            false
        };
        self.deeds.retain_in((name, 0)..=(name, u64::MAX), &mut forget).map_err(redb::Error::from)?;
        let time = self.times.remove(name).map_err(redb::Error::from)?.map(|time| time.value());
        if let Some(time) = time {
            self.by_time.remove((time, name)).map_err(redb::Error::from)?;
        }
        self.count_bytes(0, less)?;
        Ok(true)
    }

    /// The game that has lain idle longest, and since when.
    fn idlest(&self) -> Result<Option<(u64, String)>> {
        let first = self.by_time.first().map_err(redb::Error::from)?;
        Ok(first.map(|(key, _)| {
            let (time, name) = key.value();
            (time, name.to_owned())
        }))
    }

    /// Removes the game that has lain idle longest, if nothing was done in it after `time`; whether there was one.
    fn remove_idle_since(&mut self, time: u64) -> Result<bool> {
        match self.idlest()? {
            Some((since, name)) if since <= time => self.remove(&name),
            _ => Ok(false),
        }
    }

    /// Removes idle games until there are no more than so many, with so many bytes.
    fn make_room(&mut self, games: u64, bytes: u64, now: u64) -> Result<()> {
        while self.count()? > games || self.bytes()? > bytes {
            if !self.remove_idle_since(now.saturating_sub(IDLE))? {
                let since = self.idlest()?.map_or(now, |(since, _)| since);
                return Err(StoreError::Full((since + IDLE).saturating_sub(now).clamp(1, IDLE)));
            }
        }
        Ok(())
    }
}

/// Bytes of something that is kept for a game.
fn size(name: &str, kept: &[u8]) -> u64 {
    (name.len() + kept.len()) as u64
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Match, MatchOptions, RuleSet};

    use super::super::record::DeedKind;

    const WIDE: Limits = Limits { games: 1000, bytes: 1 << 30, idle: Duration::from_secs(90 * IDLE) };

    fn record() -> Record {
        let game = Match::new(RuleSet::Backgammon, None, MatchOptions::default()).unwrap();
        Record { game, level: "0ply".into(), seed: 1, rolls: 0, version: 1, declined: 0, thinks_since: None }
    }

    fn deed(version: u64) -> Deed {
        let (action, dice) = (DeedKind::Roll, Some([2, 1]));
        Deed { version, by: None, action, dice, play: None, after: None, points: None, passed: false, won: None }
    }

    /// Makes it as if something had last been done in a game so many seconds ago.
    fn age(store: &Store, name: &str, seconds: u64) {
        store
            .change(|tables| {
                let record = record();
                tables.put(name, &record, &[], now() - seconds)
            })
            .unwrap();
    }

    fn bytes(store: &Store) -> u64 {
        let mut found = 0;
        store
            .change(|tables| {
                found = tables.bytes()?;
                Ok(())
            })
            .unwrap();
        found
    }

    #[test]
    fn idle_games_give_way_and_others_do_not() {
        let store = Store::in_memory(Limits { games: 2, ..WIDE }).unwrap();
        store.create("a", &record(), &[deed(1)]).unwrap();
        store.create("b", &record(), &[]).unwrap();
        let full = store.create("c", &record(), &[]);
        assert!(matches!(full, Err(StoreError::Full(seconds)) if (IDLE - 60..=IDLE).contains(&seconds)), "{full:?}");
        assert_eq!(store.count(), 2);
        age(&store, "a", IDLE - 10);
        assert!(matches!(store.create("c", &record(), &[]), Err(StoreError::Full(1..=10))));
        age(&store, "a", IDLE);
        store.create("c", &record(), &[]).unwrap();
        assert!(matches!(store.read("a"), Err(StoreError::NoGame)));
        assert!(store.read("b").is_ok() && store.read("c").is_ok() && store.count() == 2);
    }

    #[test]
    fn games_that_lie_idle_too_long_are_forgotten() {
        let store = Store::in_memory(WIDE).unwrap();
        for (name, days) in [("a", 91), ("b", 89), ("c", 92)] {
            store.create(name, &record(), &[deed(1)]).unwrap();
            age(&store, name, days * IDLE);
        }
        store.create("d", &record(), &[]).unwrap();
        assert_eq!(["a", "b", "c", "d"].map(|name| store.read(name).is_ok()), [false, true, false, true]);
        assert_eq!(store.count(), 2);
        store.update("b", 1, &record(), &[]).unwrap();
        assert!(matches!(store.update("a", 1, &record(), &[]), Err(StoreError::NoGame)));
    }

    #[test]
    fn bytes_are_bounded_and_counted() {
        let store = Store::in_memory(Limits { bytes: 10_000, ..WIDE }).unwrap();
        store.create("a", &record(), &[deed(1)]).unwrap();
        let one = bytes(&store);
        assert!((200..1000).contains(&one), "{one}");
        let mut version = 1;
        let full = loop {
            let mut next = record();
            next.version = version + 1;
            match store.update("a", version, &next, &[deed(version + 1)]) {
                Ok(()) => version += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(full, StoreError::Full(_)) && bytes(&store) <= 10_000 && bytes(&store) > 9_900);
        assert!(matches!(store.create("b", &record(), &[]), Err(StoreError::Full(_))));
        assert_eq!(store.read("a").unwrap().version, version);
        store.delete("a").unwrap();
        assert_eq!((bytes(&store), store.count()), (0, 0));
        store.create("b", &record(), &[deed(1)]).unwrap();
        assert_eq!(bytes(&store), one);
    }

    /// A file of a server that kept neither sums nor times.
    #[test]
    fn older_files_are_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("games");
        {
            let database = Database::create(&file).unwrap();
            let writing = database.begin_write().unwrap();
            let (game, done) = (serde_json::to_vec(&record()).unwrap(), serde_json::to_vec(&deed(1)).unwrap());
            writing.open_table(GAMES).unwrap().insert("a", game.as_slice()).unwrap();
            writing.open_table(DEEDS).unwrap().insert(("a", 1), done.as_slice()).unwrap();
            writing.commit().unwrap();
        }
        let store = Store::open(&file, WIDE).unwrap();
        assert_eq!((store.count(), store.read("a").unwrap().version), (1, 1));
        let fresh = Store::in_memory(WIDE).unwrap();
        fresh.create("a", &record(), &[deed(1)]).unwrap();
        assert_eq!(bytes(&store), bytes(&fresh));
        store.update("a", 1, &record(), &[]).unwrap();
        store.delete("a").unwrap();
        assert_eq!((bytes(&store), store.count()), (0, 0));
    }
}
