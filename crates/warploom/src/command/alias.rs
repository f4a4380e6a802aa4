//! `warploom alias`: storage-alias specs, text to text.

use std::path::PathBuf;

use clap::ValueEnum;
use warploom_alias::AliasOptions;
use warploom_alias::text::{Emit, TextOptions, lower_text};

use crate::io::{self, Failure};

/// Lay out storage-alias specs and lower them, text to text; parts are separated by `// -----`.
///
///     warploom alias kernel.mlir
///     warploom alias kernel.mlir --emit map
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// MLIR with `tlx.storage_alias_spec` and its companions; `-` is standard input
    file: PathBuf,
    /// Follow another tool's numbers and messages where those are right
    #[arg(long, value_enum)]
    compat: Option<Compat>,
    /// Positions must be whole slots
    #[arg(long)]
    strict_slots: bool,
    /// Verify and print back, lower nothing
    #[arg(long)]
    no_lower: bool,
    /// What to print
    #[arg(long, value_enum, default_value = "mlir")]
    emit: What,
}

/// Whose numbers to follow.
#[derive(Clone, Copy, ValueEnum)]
enum Compat {
    /// Meta's TLX
    Tlx,
}

/// What to print.
#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// The lowered text
    Mlir,
    /// The map of every storage
    Map,
    /// The layouts as JSON
    Json,
}

impl Args {
    /// Lowers.
    pub fn run(self) -> Result<(), Failure> {
        let input = io::read(&self.file)?;
        let mut options = TextOptions::default();
        if let Some(Compat::Tlx) = self.compat {
            options.layout = AliasOptions::tlx();
        }
        options.layout.strict_slots |= self.strict_slots;
        options.no_lower = self.no_lower;
        options.emit = match self.emit {
            What::Mlir => Emit::Mlir,
            What::Map => Emit::Map,
            What::Json => Emit::Json,
        };
        let output = lower_text(&input.text, &options);
        io::stdout(output.text.as_bytes())?;
        let said = output.render_diagnostics(&input.name);
        if output.failed {
            return Err(Failure::Refused(said));
        }
        eprint!("{said}");
        Ok(())
    }
}
