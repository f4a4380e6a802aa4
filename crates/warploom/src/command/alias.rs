//! `warploom alias`: storage-alias specs and host-level buffers, text to text.

use std::path::PathBuf;

use clap::ValueEnum;
use warploom_alias::text::{AliasEmit, TextOptions, filecheck, verify_diagnostics};
use warploom_alias::{AliasError, AliasErrors, AliasOptions};
use warploom_stablehlo::{StablehloOptions, lower_text};

use super::rule::look_up;
use super::targets::named;
use crate::io::{Failure, Io};

/// Lay out storage-alias specs and lower them, text to text; parts are separated by `// -----`.
///
/// Parts of StableHLO get the storage of their buffers and the copies at its boundaries.
///
///     warploom alias kernel.mlir
///     warploom alias kernel.mlir --emit map
///     warploom alias tests.mlir --compat tlx --filecheck
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// MLIR with `tlx.storage_alias_spec` and its companions, or StableHLO; `-` is standard input
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
    /// The chip whose memories must hold the storages; `warploom targets` lists them
    #[arg(long)]
    target: Option<String>,
    /// What to print
    #[arg(long, value_enum, default_value = "mlir")]
    emit: What,
    /// End after this step: `sizes` puts sizes on the specs and leaves the rest
    #[arg(long, value_enum)]
    stop_after: Option<Step>,
    /// Say what could be smaller or need not be shared; `off` drops the linearity lint of StableHLO buffers
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "on")]
    lint: Option<Lint>,
    /// Make a warning an error
    #[arg(long, value_enum)]
    deny: Vec<Deny>,
    /// StableHLO: refuse what XLA refuses
    #[arg(long)]
    xla_strict: bool,
    /// Match the `expected-error` and `expected-warning` comments of the file instead of printing
    #[arg(long)]
    verify_diagnostics: bool,
    /// Match the CHECK lines of the file instead of printing
    #[arg(long)]
    filecheck: bool,
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

/// A step to end after.
#[derive(Clone, Copy, ValueEnum)]
enum Step {
    /// Sizes of the storages
    Sizes,
}

/// Remarks and lints.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Lint {
    /// Say more
    On,
    /// Say less
    Off,
}

/// Warnings that may be errors.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    /// Reuse of a buffered tensor
    LegacyReuse,
    /// Uses of shared leaves that nothing orders
    AliasSync,
}

impl Args {
    /// The options that the flags say.
    fn options(&self, io: &Io) -> Result<StablehloOptions, Failure> {
        let mut options = TextOptions::default();
        if let Some(Compat::Tlx) = self.compat {
            options.layout = AliasOptions::tlx();
        }
        if let Some(name) = &self.target {
            let target = named(io, name, None)?;
            options.layout.limits.smem_bytes = Some(target.smem.per_cta);
            options.layout.limits.tmem_columns = target.tmem.as_ref().map_or(0, |t| u64::from(t.columns));
        }
        options.layout.strict_slots |= self.strict_slots;
        options.layout.lint = self.lint == Some(Lint::On);
        options.layout.deny_legacy_reuse = self.deny.contains(&Deny::LegacyReuse);
        options.deny_alias_sync = self.deny.contains(&Deny::AliasSync);
        options.no_lower = self.no_lower;
        options.stop_after_sizes = self.stop_after.is_some();
        options.emit = match self.emit {
            What::Mlir => AliasEmit::Mlir,
            What::Map => AliasEmit::Map,
            What::Json => AliasEmit::Json,
        };
        let options = StablehloOptions::new(options);
        Ok(options.no_linearity(self.lint == Some(Lint::Off)).xla_strict(self.xla_strict))
    }

    /// Lowers.
    pub fn run(self, io: &Io) -> Result<(), Failure> {
        let options = self.options(io)?;
        let input = io.read(&self.file)?;
        let output = lower_text(&input.text, &options);
        let refused =
            |errors: AliasErrors| Failure::Refused(errors.0.iter().map(|e| e.render(&input.name)).collect());
        if self.verify_diagnostics {
            verify_diagnostics(&input.text, &output.diagnostics).map_err(refused)?;
        }
        if self.filecheck {
            // LLVM's tests pipe what was said into the same check.
            let all = output.render_diagnostics(&input.name) + &output.text;
            filecheck(&input.text, &all).map_err(refused)?;
        }
        if self.verify_diagnostics || self.filecheck {
            return Ok(());
        }
        io.stdout(output.text.as_bytes())?;
        let explained = |d: &AliasError| format!("{}  {}\n", d.render(&input.name), look_up(d.code));
        let said: String = output.diagnostics.iter().map(explained).collect();
        if output.failed {
            return Err(Failure::Refused(said));
        }
        eprint!("{said}");
        Ok(())
    }
}
