//! Hands the git revision to the program, for the provenance of weights.

use std::process::Command;

fn main() {
    let revision = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12"])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo::rustc-env=ZAR_REVISION={}", revision.as_deref().map_or("unknown", str::trim));
    // Whatever is built into the program can make it differ from its revision.
    for path in ["../.git/logs/HEAD", "../Cargo.lock", "../engine", "../models", "src", "presets"] {
        println!("cargo::rerun-if-changed={path}");
    }
}
