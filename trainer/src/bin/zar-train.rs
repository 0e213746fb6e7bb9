//! The `zar-train` command: see `zar-train --help`.

use std::process::ExitCode;

// burn allocates and frees megabytes in every step; with glibc's allocator the learner takes twice as long.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    zar_trainer::cli::main()
}
