//! Files that appear whole or not at all.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

/// How the names of files begin that are not whole yet.
const PARTIAL: &str = ".zar-partial-";

/// Writes `bytes` to `path`: into a temporary file beside it, synced, then renamed over it. A crash at any moment
/// leaves the old file or the new one.
///
/// # Errors
/// Whatever the file system answers.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new().prefix(PARTIAL).tempfile_in(folder)?;
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
