//! What is wrong with a line, in the protocol's own codes.

use thiserror::Error;

use super::super::AnswerError;

/// Why a line is not obeyed; written behind the word `error`, the code first.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UbgiError {
    /// A line that begins with no command.
    #[error("unknown_command {0:?}")]
    UnknownCommand(String),
    /// Something is wrong behind the command.
    #[error("bad_argument {argument}: {detail}")]
    BadArgument {
        /// What.
        argument: &'static str,
        /// What is wrong with it, and what was expected.
        detail: String,
    },
    /// A key that does not exist, or does not take the value.
    #[error("bad_value {key}: {detail}")]
    BadValue {
        /// The key, as it was written.
        key: String,
        /// What is wrong, and what was expected.
        detail: String,
    },
    /// A key that does not exist was to be read.
    #[error("unsupported key {0}")]
    UnknownKey(String),
    /// Something must be said first.
    #[error("missing_context {0}")]
    MissingContext(&'static str),
    /// A part of the protocol that the bot does not have.
    #[error("unsupported_feature {0}")]
    Unsupported(&'static str),
    /// The bot still thinks.
    #[error("search_in_progress: expected stop, isready or quit")]
    SearchInProgress,
    /// Nothing that the runner could help.
    #[error("internal {0}")]
    Internal(String),
}

impl UbgiError {
    /// Something is wrong behind the command.
    pub(super) fn argument(argument: &'static str, detail: impl ToString) -> UbgiError {
        UbgiError::BadArgument { argument, detail: detail.to_string() }
    }
}

impl From<AnswerError> for UbgiError {
    fn from(error: AnswerError) -> UbgiError {
        match error {
            AnswerError::Stakes(_) | AnswerError::Bot(_) => UbgiError::argument("session", error),
            AnswerError::IllegalPlay { .. } => UbgiError::Internal(error.to_string()),
        }
    }
}

/// The beginning of a text of the runner, in one line.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    text.chars().take(LONGEST).map(|c| if c.is_control() { '?' } else { c }).collect()
}
