//! Golden data, whole programs and real peers.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The program `zar` or `zar-train` in the profile and the target folder of the tests.
///
/// A test run of the whole workspace has built both beside the tests. Where one is missing or older than its sources,
/// it is built first.
///
/// # Panics
/// If it cannot be built; cargo then says why.
pub fn program(name: &str) -> PathBuf {
    let package = if name == "zar-train" { "zar-trainer" } else { name };
    // `target/debug/deps/commands-0123` lies two folders below the programs' own.
    let test = std::env::current_exe().expect("a running program has a path");
    let folder = test.ancestors().nth(2).expect("tests lie in target/PROFILE/deps");
    let program = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    if is_newer_than_sources(&program).unwrap_or(false) {
        return program;
    }
    let mut cargo = escargot::CargoBuild::new().manifest_path(workspace().join("Cargo.toml"));
    cargo = cargo.package(package).bin(name).current_release();
    if let Some(target) = folder.parent() {
        cargo = cargo.target_dir(target);
    }
    match cargo.run() {
        Ok(program) => program.path().to_owned(),
        Err(error) => panic!("cannot build {name}: {error}"),
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn is_newer_than_sources(program: &Path) -> io::Result<bool> {
    let built = fs::metadata(program)?.modified()?;
    let changed = ["Cargo.lock", "engine", "models", "trainer"].map(|folder| last_change(&workspace().join(folder)));
    changed.into_iter().try_fold(true, |newer, changed| Ok(newer && changed? <= built))
}

fn last_change(path: &Path) -> io::Result<SystemTime> {
    let own = fs::metadata(path)?.modified()?;
    if !path.is_dir() {
        return Ok(own);
    }
    fs::read_dir(path)?.try_fold(own, |latest, entry| Ok(latest.max(last_change(&entry?.path())?)))
}
