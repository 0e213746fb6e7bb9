//! The command `zar`.

use std::process::ExitCode;

fn main() -> ExitCode {
    zar::cli::main()
}
