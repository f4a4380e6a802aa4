//! `warploom explain`: what was decided, and why (C93).

use std::path::PathBuf;

use warploom_ir::diag::Report;

use super::compile::KernelArgs;
use super::tuning;
use crate::io::{Failure, Io};

/// Show what was decided for a kernel, and why.
///
///   warploom explain gemm.ttir --target sm_90a
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    kernel: KernelArgs,
    /// Write the report as a page with drawings
    #[arg(long, value_name = "OUT")]
    html: Option<PathBuf>,
    /// One JSON value on standard output and nothing else
    #[arg(long, conflicts_with = "html")]
    pub json: bool,
    #[cfg(feature = "llvm")]
    #[command(flatten)]
    ptx: crate::tools::PtxArgs,
}

impl Args {
    /// Prints the report.
    pub fn run(self, io: &Io) -> Result<(), Failure> {
        let session = self.kernel.lower(io)?;
        let Some(text) = session.lowered.explain() else {
            let report = Report::error("op", "a program says nothing of how it came to be");
            return Err(Failure::refused(&[report.note("instead", "explain the kernel")], &session.input));
        };
        let text = match &session.tuned {
            Some(tuned) => text + "\n" + &tuning::text(tuned),
            None => text,
        };
        #[cfg(feature = "llvm")]
        let text = text + &crate::tools::quality(&session, &self.ptx)?;
        if self.json {
            return io.json(&serde_json::json!({"ok": true, "text": text}));
        }
        if let Some(path) = &self.html {
            let page = crate::html::page(session.lowered.assignment(), &text);
            return io.write(Some(path), page.as_bytes());
        }
        io.stdout(text.as_bytes())
    }
}
