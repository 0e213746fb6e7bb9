//! `zar-train refine`: going on from weights.

use std::path::PathBuf;

use zar::net::Model;

use crate::run::Run;

use super::{
    run::{RunCommandError, WorkArgs, configured, work},
    weights_file,
};

/// Goes on from weights by self-play, in networks as large or larger.
///
/// The networks begin as the weights, grown into the shapes of the configuration with their function kept; its phases
/// may learn from exact expectations over the next roll (expectation = 1.0) in place of λ-returns. Everything else is as
/// in `zar-train run`, which also goes on with a refinement that was stopped (--resume).
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Weights to begin with [default: those in the program, for the rules of the configuration].
    #[arg(value_name = "WEIGHTS")]
    weights: Option<PathBuf>,
    /// A built-in configuration: refine (for the weights in the program).
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    preset: Option<String>,
    /// A configuration file, in TOML.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    work: WorkArgs,
}

/// Refines, and tells how it ended.
///
/// # Errors
/// See [`RunCommandError`].
pub fn run(args: &Args) -> Result<String, RunCommandError> {
    work(&args.work, || {
        let (config, folder) = configured(args.preset.as_deref(), args.config.as_deref(), &args.work)?;
        let reference = args.work.reference(config.rules)?;
        let run = match &args.weights {
            Some(path) => Run::refine(&folder, config, &weights_file::load(path)?, args.work.device),
            None => {
                let shipped = Model::shipped_for(config.rules);
                Run::refine(&folder, config, shipped, args.work.device)
            }
        };
        Ok((run?, reference))
    })
}
