//! Where tables are kept between runs.

use std::{
    env,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use etcetera::BaseStrategy;

use crate::durable;

use super::{FORMAT_VERSION, TableKind, TableSpec, words::Words};

/// The environment variable that names the folder.
pub const CACHE_VARIABLE: &str = "ZAR_CACHE";

/// Held while a table is built, so that two processes do not build it at once.
const LOCK: &str = "bearoff.lock";

/// The folder in which tables are kept, if there is one. Nothing is written before the first table is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheFolder {
    folder: Option<PathBuf>,
}

/// Where a table came from.
#[derive(Debug)]
pub enum Origin {
    /// It was in the cache folder.
    Found,
    /// It was built and written there.
    Kept,
    /// It was built and is in memory alone.
    NotKept(io::Error),
}

impl CacheFolder {
    /// The folder that the environment variable `ZAR_CACHE` names, or else `zar` in the user's folder for such things
    /// (`$XDG_CACHE_HOME`, or what the system has in its place).
    pub fn of_user() -> CacheFolder {
        let named = env::var_os(CACHE_VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
        let folder =
            named.or_else(|| Some(etcetera::base_strategy::choose_native_strategy().ok()?.cache_dir().join("zar")));
        CacheFolder { folder }
    }

    /// This folder, which is created when something is kept.
    pub fn at(folder: impl Into<PathBuf>) -> CacheFolder {
        CacheFolder { folder: Some(folder.into()) }
    }

    /// No folder: everything is computed anew, and stays in memory.
    pub fn none() -> CacheFolder {
        CacheFolder::default()
    }

    /// The path of a table.
    pub fn path(&self, spec: &TableSpec) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(file_name(spec)))
    }

    /// The largest table of the kind and rules of `least`, and no smaller, that the folder has by its names.
    pub(super) fn largest(&self, least: TableSpec) -> TableSpec {
        let names = self.folder.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        names
            .filter_map(|entry| spec_of(entry.file_name().to_str()?, least))
            .filter(|spec| spec.covers(&least))
            .max_by_key(TableSpec::positions)
            .unwrap_or(least)
    }

    /// The table `spec`: from the folder if it is there and sound, else from `build`, which is then kept if the folder
    /// can be written to.
    pub(super) fn obtain<T>(
        &self,
        spec: TableSpec,
        open: impl Fn(&Path) -> Option<T>,
        build: impl FnOnce() -> T,
        words: impl Fn(&T) -> &Words,
    ) -> (T, Origin) {
        let Some((folder, path)) = self.folder.as_ref().zip(self.path(&spec)) else {
            return (build(), Origin::NotKept(io::Error::new(io::ErrorKind::NotFound, "there is no cache folder")));
        };
        if let Some(table) = open(&path) {
            return (table, Origin::Found);
        }
        let lock = match lock(folder) {
            Ok(lock) => lock,
            Err(error) => return (build(), Origin::NotKept(error)),
        };
        // Another process may have built it while this one waited.
        if let Some(table) = open(&path) {
            return (table, Origin::Found);
        }
        // Whoever was killed while it wrote held the lock too. What cannot be removed does no harm.
        let _ = durable::clean(folder);
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            // The folder is ours: what bears a table's name and is none gives way.
            let _ = fs::remove_file(&path);
        }
        let built = build();
        let written = durable::write(&path, words(&built).bytes());
        drop(lock);
        match written {
            // Mapped it takes no memory of this process alone.
            Ok(()) => (open(&path).unwrap_or(built), Origin::Kept),
            Err(error) => (built, Origin::NotKept(error)),
        }
    }
}

/// Waits for the lock of a folder; dropping the file gives it back.
fn lock(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let file = File::options().create(true).truncate(false).write(true).open(folder.join(LOCK))?;
    file.lock()?;
    Ok(file)
}

fn file_name(spec: &TableSpec) -> String {
    let waste = if spec.least_waste() { "-least-waste" } else { "" };
    format!("bearoff-{}{waste}-{}x{}-v{FORMAT_VERSION}.zar", spec.kind(), spec.points(), spec.checkers())
}

/// What a file's name says it is, if it is a table of the kind and rules of `like`.
fn spec_of(name: &str, like: TableSpec) -> Option<TableSpec> {
    let prefix = match (like.kind(), like.least_waste()) {
        (TableKind::OneSided, false) => "bearoff-one-sided-",
        (TableKind::OneSided, true) => "bearoff-one-sided-least-waste-",
        (TableKind::TwoSided, false) => "bearoff-two-sided-",
        (TableKind::TwoSided, true) => "bearoff-two-sided-least-waste-",
    };
    let (points, rest) = name.strip_prefix(prefix)?.split_once('x')?;
    let (checkers, _) = rest.split_once('-')?;
    let spec = like.with_size(points.parse().ok()?, checkers.parse().ok()?).ok()?;
    (file_name(&spec) == name).then_some(spec)
}
