//! Files that appear whole or not at all.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use tempfile::NamedTempFile;

/// How the names of files begin that are not whole yet.
const PARTIAL: &str = ".zar-partial-";

/// Writes `bytes` to `path`: into a temporary file beside it, synced, then renamed over it. A crash at any moment
/// leaves the old file or the new one.
///
/// # Errors
/// Whatever the file system answers.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    let mut file = partial(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    #[cfg(unix)]
    {
        use std::{fs::Permissions, os::unix::fs::PermissionsExt};
        // Temporary files are private; what replaces them should be readable like any other file.
        file.as_file().set_permissions(Permissions::from_mode(0o644))?;
    }
    file.persist(path).map_err(|error| error.error)?;
    if cfg!(unix) {
        // The rename itself is durable once the folder is.
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Whether [`write()`] could write to `path` now, found out without touching what is there.
///
/// # Errors
/// Whatever the file system answers.
pub fn check_writable(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    partial(folder_of(path)).map(|_| ())
}

/// A file beside the one that is to be written; gone when it is dropped.
fn partial(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(PARTIAL).tempfile_in(folder)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Removes what writers left in `folder` when they were killed. Only for folders in which nobody writes at the moment.
///
/// # Errors
/// Whatever the file system answers.
pub fn clean(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PARTIAL) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_and_leaves_nothing_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write(&folder.path().join("missing/file"), b"").is_err());
    }

    #[test]
    fn what_could_not_be_written_is_found_out_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        check_writable(&path).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::write(&path, b"one").unwrap();
        check_writable(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert!(check_writable(folder.path()).is_err());
        assert!(check_writable(&path.join("file")).is_err());
        assert!(check_writable(&folder.path().join("missing/file")).is_err());
    }

    #[test]
    fn clean_removes_partial_files_only() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["whole", ".hidden", ".zar-partial-x1"] {
            fs::write(folder.path().join(name), b"x").unwrap();
        }
        clean(folder.path()).unwrap();
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".hidden", "whole"]);
    }
}
