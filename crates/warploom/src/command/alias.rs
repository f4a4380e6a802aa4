//! `warploom alias`: storage-alias specs and host-level buffers, text to text.

use std::path::PathBuf;

use clap::ValueEnum;
use warploom_alias::text::{AliasEmit, TextOptions, filecheck, verify_diagnostics};
use warploom_alias::{AliasError, AliasErrors, AliasOptions, AliasSeverity};
use warploom_ir::diag::{Report, Severity, TextPlace};
use warploom_stablehlo::{StablehloOptions, lower_text};

use super::targets::named;
use crate::io::{Failure, Io, show};

/// Lay out storage-alias specs and lower them, text to text; parts are separated by `// -----`.
///
/// Parts of StableHLO get the storage of their buffers and the copies at its boundaries.
///
///   warploom alias kernel.mlir
///   warploom alias kernel.mlir --emit map
///   warploom alias tests.mlir --compat tlx --filecheck
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
        let options = StablehloOptions::default().text(options);
        Ok(options.no_linearity(self.lint == Some(Lint::Off)).xla_strict(self.xla_strict))
    }

    /// Lowers.
    pub fn run(self, io: &Io) -> Result<(), Failure> {
        let options = self.options(io)?;
        let input = io.read(&self.file)?;
        let nothing = || {
            let report = Report::error("input", "nothing was laid out: no storage-alias spec and no buffer");
            let remedy = "a text as docs/aliasing.md shows it, and without --no-lower for anything but MLIR";
            Failure::refused(&[report.note("instead", remedy).rule("A16")], &input)
        };
        if input.text.lines().all(|line| matches!(line.trim(), "" | "// -----")) {
            return Err(nothing());
        }
        let output = lower_text(&input.text, &options);
        let reports =
            |errors: &[AliasError]| errors.iter().map(|e| report(e, &input.text)).collect::<Vec<_>>();
        let refused = |errors: AliasErrors| Failure::refused(&reports(&errors.0), &input);
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
        if output.diagnostics.is_empty() && output.text.trim().is_empty() {
            return Err(nothing());
        }
        io.stdout(output.text.as_bytes())?;
        let said = reports(&output.diagnostics);
        if output.failed {
            return Err(Failure::refused(&said, &input));
        }
        io.note(&show(&said, &input));
        Ok(())
    }
}

/// What is said of a text, at its place.
fn report(error: &AliasError, text: &str) -> Report {
    let severity = match error.severity {
        AliasSeverity::Error => Severity::Error,
        AliasSeverity::Warning => Severity::Warning,
        _ => Severity::Remark,
    };
    let place = error.at.map(|at| TextPlace::offset_of(text, at.line as usize, at.col as usize));
    let mut report = Report::new(severity, error.code, &error.message).at(place);
    for related in &error.related {
        let place = related.at.map_or(String::new(), |at| format!("{}:{}: ", at.line, at.col));
        report = report.note("note", format!("{place}{}", related.message));
    }
    if let Some(help) = &error.help {
        report = report.note("instead", help);
    }
    report.rule(error.code)
}
