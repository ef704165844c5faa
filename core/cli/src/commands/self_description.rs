//! `schema`, `completions` and `man`: what editors, shells and people need to know about the command.

use crate::cli::Cli;
use crate::failure::Failure;
use crate::output::{Report, json};
use acemq_core::topology::Topology;
use clap::CommandFactory as _;
use clap_complete::Shell;

/// The JSON Schema of topology documents.
pub fn schema() -> Result<Report, Failure> {
    Ok(Report::done(json(&Topology::schema())))
}

/// A completion script.
pub fn completions(shell: Shell) -> Result<Report, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "acemq", &mut script);
    Ok(Report::done(String::from_utf8_lossy(&script).into_owned()))
}

/// The man page: the command, then each of its commands.
pub fn man() -> Result<Report, Failure> {
    let mut page = Vec::new();
    let failed = |error: std::io::Error| Failure::input(format!("cannot write the man page: {error}"));
    let command = Cli::command();
    clap_mangen::Man::new(command.clone()).render(&mut page).map_err(failed)?;
    for sub in command.get_subcommands() {
        let title = format!("acemq {}", sub.get_name());
        let man = clap_mangen::Man::new(sub.clone().display_name(title.clone()).bin_name(title));
        man.render_name_section(&mut page).map_err(failed)?;
        man.render_synopsis_section(&mut page).map_err(failed)?;
        man.render_options_section(&mut page).map_err(failed)?;
    }
    Ok(Report::done(String::from_utf8_lossy(&page).into_owned()))
}
