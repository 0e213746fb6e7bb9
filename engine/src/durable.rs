//! Files that appear whole or not at all.

use std::{
    borrow::Cow,
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use tempfile::NamedTempFile;

/// How the names of files begin that are not whole yet.
const PARTIAL: &str = ".zar-partial-";

/// Writes `bytes` to `path`, or to what it is a link to: into a temporary file beside it, synced, then renamed over it. A
/// crash at any moment leaves the old file or the new one.
///
/// # Errors
/// Something there that is no file, such as a folder or a device; otherwise whatever the file system answers.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = &*target(path)?;
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
/// As [`write()`].
pub fn check_writable(path: &Path) -> io::Result<()> {
    partial(folder_of(&target(path)?)).map(|_| ())
}

/// The file itself, where `path` is a link to it.
fn target(path: &Path) -> io::Result<Cow<'_, Path>> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(path.into()),
        Ok(found) if found.is_symlink() => match fs::canonicalize(path)? {
            target if target.is_file() => Ok(target.into()),
            _ => Err(no_file()),
        },
        Ok(_) => Err(no_file()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.into()),
        Err(error) => Err(error),
    }
}

fn no_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "what is there is no regular file, and is not replaced")
}

/// A file beside the one that is to be written; gone when it is dropped.
fn partial(folder: &Path) -> io::Result<NamedTempFile> {
    // The name that was tried, which says nothing to anybody, is wrapped around what the system answered.
    let plain = |error: io::Error| {
        let wrapped = error.get_ref().and_then(|error| error.source()?.downcast_ref::<io::Error>()?.raw_os_error());
        wrapped.map_or(error, io::Error::from_raw_os_error)
    };
    tempfile::Builder::new().prefix(PARTIAL).tempfile_in(folder).map_err(plain)
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
    #[cfg(unix)]
    fn links_lead_to_files_and_nothing_else_is_replaced() {
        use std::os::unix::{fs::symlink, net::UnixListener};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("below")).unwrap();
        fs::write(at("below/file"), b"one").unwrap();
        symlink("below/file", at("link")).unwrap();
        write(&at("link"), b"two").unwrap();
        assert_eq!(fs::read(at("below/file")).unwrap(), b"two");
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        symlink("nowhere", at("dangling")).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        for name in ["below", "dangling", "socket"] {
            assert!(check_writable(&at(name)).is_err() && write(&at(name), b"x").is_err(), "{name}");
        }
        assert!(write(&at("missing/file"), b"x").unwrap_err().to_string().starts_with("No such file"));
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
