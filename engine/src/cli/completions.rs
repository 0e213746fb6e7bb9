//! `zar completions`: what shells complete.

use std::io::Write;

use clap_complete::{Shell, generate};

use super::{CliError, NAME};

/// Prints what a shell needs to complete the words of "zar"
///
/// As in: zar completions bash > ~/.local/share/bash-completion/completions/zar
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(args: &Args, mut command: clap::Command, out: &mut impl Write) -> Result<(), CliError> {
    let mut script = Vec::new();
    generate(args.shell, &mut command, NAME, &mut script);
    Ok(out.write_all(&script)?)
}
