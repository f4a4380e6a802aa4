//! `warploom man`: the manual, from the command line's own definition.

use std::path::PathBuf;

use clap_mangen::Man;
use warploom_ir::diag::Report;

use crate::io::{Failure, Io};

/// Print the manual page, or write one page a command into a folder.
///
///   warploom man | man -l -
///   warploom man --pages ~/.local/share/man/man1
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Write `warploom.1`, `warploom-compile.1` and so on into this folder
    #[arg(long, value_name = "FOLDER")]
    pages: Option<PathBuf>,
}

impl Args {
    /// Prints the page, or writes all.
    pub fn run(self, io: &Io, mut definition: clap::Command) -> Result<(), Failure> {
        let Some(folder) = self.pages else {
            return io.stdout(&page(definition)?.1);
        };
        // Global options and the names of subcommands stand in each page only once it is built.
        definition.build();
        let commands: Vec<clap::Command> =
            definition.get_subcommands().filter(|c| c.get_name() != "help").cloned().collect();
        for command in commands.into_iter().chain([definition]) {
            let (file, text) = page(command)?;
            io.write(Some(&folder.join(file)), &text)?;
        }
        Ok(())
    }
}

/// The file name of a page, and the page.
fn page(command: clap::Command) -> Result<(String, Vec<u8>), Failure> {
    let (man, mut text) = (Man::new(command), Vec::new());
    let failed = |e: std::io::Error| Failure::plain(Report::error("output", format!("no manual page: {e}")));
    man.render(&mut text).map_err(failed)?;
    Ok((man.get_filename(), text))
}
