//! The `zar-train` command: see `zar-train --help`.

use std::process::ExitCode;

use clap::Parser;
use zar_trainer::cli::Cli;

// burn allocates and frees megabytes in every step; with glibc's allocator the learner takes twice as long.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    Cli::parse().execute()
}
