//! `zar man`: man pages.

use std::{fs, io, path::PathBuf};

use crate::durable;

use super::CliError;

/// Writes man pages to a folder: zar.1, and one for each command
///
/// As in: zar man ~/.local/share/man/man1
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The folder, which is created.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub fn run(Args { folder }: &Args, command: clap::Command) -> Result<(), CliError> {
    let write = || {
        fs::create_dir_all(folder)?;
        let mut command = command.disable_help_subcommand(true);
        // Names the pages of the commands.
        command.build();
        pages(&command)?.into_iter().try_for_each(|(name, page)| durable::write(&folder.join(name), &page))
    };
    write().map_err(|error| CliError::Man { folder: folder.clone(), error })
}

/// The page of a command and those of the commands in it, with their file names.
fn pages(command: &clap::Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    let mut all = vec![(page.get_filename(), text)];
    for command in command.get_subcommands() {
        all.extend(pages(command)?);
    }
    Ok(all)
}
