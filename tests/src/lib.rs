//! Golden data, whole programs and real peers.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// The program `zar` or `zar-train`, built from this workspace on the first call, in the profile and the target folder
/// of the tests themselves.
///
/// # Panics
/// If it cannot be built; cargo then says why.
pub fn program(name: &str) -> PathBuf {
    static BUILT: Mutex<Option<HashMap<String, PathBuf>>> = Mutex::new(None);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    built.get_or_insert_default().entry(name.to_owned()).or_insert_with(|| build(name)).clone()
}

fn build(name: &str) -> PathBuf {
    let package = if name == "zar-train" { "zar-trainer" } else { name };
    let mut cargo = escargot::CargoBuild::new()
        .manifest_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml"))
        .package(package)
        .bin(name)
        .current_release();
    if let Some(folder) = target_folder() {
        cargo = cargo.target_dir(folder);
    }
    match cargo.run() {
        Ok(program) => program.path().to_owned(),
        Err(error) => panic!("cannot build {name}: {error}"),
    }
}

/// The target folder that this test program lies in: `target/debug/deps/commands-0123` lies in `target`.
fn target_folder() -> Option<PathBuf> {
    std::env::current_exe().ok()?.ancestors().nth(3).map(Path::to_owned)
}
