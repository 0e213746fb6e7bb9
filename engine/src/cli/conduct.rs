//! How the programs of this project speak of faults: in one line on standard error, without a panic.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::error::ErrorKind;

/// Help and version on standard output; what is wrong with the arguments in one line on standard error.
pub fn usage(program: &str, error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader who has left misses nothing.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        // clap would show the whole help.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            complain(program, "a subcommand or an argument is missing: --help lists them");
            ExitCode::from(2)
        }
        _ => {
            let text = error.render().to_string();
            let mut message = String::new();
            for line in text.lines().map(str::trim) {
                if line.is_empty() || line.starts_with("For more information") {
                    continue;
                }
                if !message.is_empty() {
                    message += if message.ends_with(':') { " " } else { "; " };
                }
                message += line.strip_prefix("error: ").unwrap_or(line);
            }
            complain(program, &message);
            ExitCode::from(2)
        }
    }
}

/// One line on standard error, whatever the text holds; nothing if it is closed.
pub fn complain(program: &str, text: &str) {
    const LONGEST: usize = 600;
    let mut line = format!("{program}: ");
    for character in text.chars().take(LONGEST) {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    line.push('\n');
    let _ = io::stderr().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Command {
        #[arg(long)]
        number: u8,
    }

    #[test]
    fn wrong_arguments_end_with_status_2_and_help_with_0() {
        let ending = |argument: &str| usage("test", &Command::try_parse_from(["test", argument]).unwrap_err());
        assert_eq!(ending("--number=x"), ExitCode::from(2));
        assert_eq!(ending("--help"), ExitCode::SUCCESS);
    }
}
