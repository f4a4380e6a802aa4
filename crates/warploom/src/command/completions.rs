//! `warploom completions`: what a shell completes, from the command line's own definition.

use clap_complete::{Shell, generate};

use crate::io::{Failure, Io};

/// Print completions for a shell.
///
///   warploom completions bash > ~/.local/share/bash-completion/completions/warploom
///   warploom completions zsh > ~/.zfunc/_warploom
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Args {
    /// Prints them.
    pub fn run(self, io: &Io, mut definition: clap::Command) -> Result<(), Failure> {
        let mut script = Vec::new();
        generate(self.shell, &mut definition, "warploom", &mut script);
        io.stdout(&script)
    }
}
