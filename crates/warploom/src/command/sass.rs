//! `warploom sass`: the loops of machine code (C81).

use std::path::PathBuf;

use serde_json::json;
use warploom::codegen::assemble::{Assembled, assemble};
use warploom::codegen::sass;
use warploom_ir::diag::Report;

use super::targets::named;
use crate::io::{Failure, Input, Io};
use crate::tools::find;

/// Count the instructions a trip of the loops in machine code, ours or anyone's.
///
/// A cubin, or PTX, which ptxas assembles first and says what it spills. Spin code counts with the loop around it.
///
///   warploom sass kernel.cubin
///   warploom sass kernel.ptx --target sm_90a --json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A cubin or PTX; `-` is standard input
    input: PathBuf,
    /// The chip that PTX is assembled for
    #[arg(long, value_name = "CHIP")]
    target: Option<String>,
    /// The assembler; default: `ptxas` on PATH, then in a `.venv` here or above
    #[arg(long, value_name = "PATH")]
    ptxas: Option<PathBuf>,
    /// One JSON value on standard output and nothing else
    #[arg(long)]
    pub json: bool,
}

fn missing(tool: &str) -> Failure {
    let report = Report::error("assemble", format!("no {tool} found"));
    Failure::plain(report.note("instead", "put it on PATH, or run `make setup`"))
}

impl Args {
    /// Disassembles and counts.
    pub fn run(self, io: &Io) -> Result<(), Failure> {
        let (name, bytes) = io.read_bytes(&self.input)?;
        let input = Input::named(name);
        let refused = |d: Box<warploom::Diagnostic>| Failure::refused(&[Report::from(d.as_ref())], &input);
        let (cubin, report) = match bytes.starts_with(b"\x7fELF") {
            true => (bytes, None),
            false => {
                let Some(chip) = &self.target else {
                    return Err(Failure::usage(Report::error("usage", "PTX needs --target CHIP")));
                };
                let target = named(io, chip, None)?;
                let text = String::from_utf8(bytes).map_err(|_| {
                    let report = Report::error("parse", "neither a cubin nor text of PTX").rule("C81");
                    Failure::refused(&[report], &input)
                })?;
                let ptxas = self.ptxas.clone().or_else(|| find("ptxas")).ok_or_else(|| missing("ptxas"))?;
                let Assembled { cubin, report, .. } =
                    assemble(&ptxas, &text, target.name()).map_err(refused)?;
                (cubin, Some(report))
            }
        };
        let nvdisasm = find("nvdisasm").ok_or_else(|| missing("nvdisasm"))?;
        let listing = sass::disassemble(&nvdisasm, &cubin).map_err(refused)?;
        let loops: Vec<sass::Loop> = sass::loops(&listing).into_iter().filter(|l| !l.is_spin()).collect();
        if self.json {
            let registers = report.as_ref().map(|r| r.registers);
            let spills = report.as_ref().map(|r| r.spill_stores + r.spill_loads);
            return io.json(&json!({"registers": registers, "spill_bytes": spills, "loops": loops}));
        }
        let mut text = String::new();
        if let Some(r) = &report {
            let (stored, loaded) = (r.spill_stores, r.spill_loads);
            text += &format!("registers {}, spills {stored} B stored and {loaded} B loaded\n", r.registers);
        }
        for l in &loops {
            text += &format!(
                "{}+{:#x}: {} instructions a trip, {} where no wait fails, {} products, {} bulk copies, {} loops inside\n",
                l.function,
                l.head,
                l.instructions,
                l.fast,
                l.hgmma + l.utcmma + l.mma,
                l.utmaldg,
                l.inner
            );
        }
        io.stdout(text.as_bytes())
    }
}
