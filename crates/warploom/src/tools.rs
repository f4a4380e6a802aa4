//! LLVM IR, PTX and machine code of a lowered kernel, and the assembler beside them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use warploom::Diagnostic;
use warploom::codegen::assemble::{Assembled, Report, assemble};
use warploom::codegen::{Emitted, sass};
use warploom::ir::diag::{self, Code};
use warploom::pipeline::{Facts, SplitCandidate, SplitVerdict};
use warploom::target::PtxVersion;

use crate::command::session::{Emit, Made, Session};
use crate::io::Failure;

// How PTX is written and assembled. No doc comment: it would replace those of the commands.
#[derive(clap::Args)]
pub struct PtxArgs {
    /// Version of PTX to write, such as 8.6; default: what LLVM and the chip need
    #[arg(long, value_name = "VERSION", value_parser = version)]
    ptx_version: Option<PtxVersion>,
    /// Do not fuse multiplications with additions
    #[arg(long)]
    no_fusion: bool,
    /// Functions of f32 keep numbers too small to be normal
    #[arg(long)]
    no_flush: bool,
    /// Most registers of a thread (`.maxnreg`)
    #[arg(long, value_name = "COUNT")]
    max_registers: Option<u32>,
    /// Say in the PTX which line of the kernel's source each instruction comes from
    #[arg(long)]
    lines: bool,
    /// NVIDIA's libdevice as LLVM bitcode, for functions that have no code of our own
    #[arg(long, value_name = "PATH")]
    libdevice: Option<PathBuf>,
    /// The assembler; default: `ptxas` on PATH, then in a `.venv` here or above
    #[arg(long, value_name = "PATH")]
    ptxas: Option<PathBuf>,
}

fn version(text: &str) -> Result<PtxVersion, String> {
    text.parse().map_err(|e| format!("{e}"))
}

/// The bytes of a library.
fn library(path: &Path) -> Result<Arc<[u8]>, Failure> {
    std::fs::read(path).map(Arc::from).map_err(|e| {
        let report = diag::Report::error("io", format!("{}: {e}", path.display()));
        Failure::plain(report.note("needs", "libdevice.10.bc, as Triton and CUDA ship it"))
    })
}

/// Writes the PTX of a session's program.
pub fn ptx(session: &Session, args: &PtxArgs, llvm: bool) -> Result<Emitted, Failure> {
    let mut options = session.options.clone();
    options.codegen.ptx = args.ptx_version;
    options.codegen.fuse = !args.no_fusion;
    options.codegen.flush = !args.no_flush;
    options.codegen.lines = args.lines;
    options.codegen.max_registers = args.max_registers;
    options.codegen.llvm = llvm;
    options.codegen.libdevice = args.libdevice.as_deref().map(library).transpose()?;
    warploom::emit(session.lowered.program(), &session.target, &options)
        .map_err(|found| Failure::found(&found, &session.input))
}

/// LLVM IR, PTX or machine code with the launch record (C12), and where it will be `told` with what was decided, which
/// takes searches of its own.
pub fn make(session: &Session, emit: Emit, args: &PtxArgs, told: bool) -> Result<Made, Failure> {
    let emitted = ptx(session, args, emit == Emit::Llvm)?;
    let mut fields = match json!(emitted.metadata) {
        Value::Object(fields) => fields,
        other => serde_json::Map::from_iter([("metadata".to_owned(), other)]),
    };
    let mut micros = session.micros.clone();
    let t = emitted.timings;
    for (stage, time) in
        [("build", t.build), ("optimize", t.optimize), ("generate", t.generate), ("scan", t.scan)]
    {
        micros.insert(stage.into(), json!(u64::try_from(time.as_micros()).unwrap_or(u64::MAX)));
    }
    fields.insert("micros".into(), Value::Object(micros));
    if told {
        fields.insert("facts".into(), facts(&session.lowered.facts(), session.lowered.candidates()));
    }
    let mut remarks = Vec::new();
    let bytes = match emit {
        Emit::Llvm => emitted.llvm.unwrap_or_default().into_bytes(),
        Emit::Cubin => {
            let assembled = cubin(session, args, &emitted)?;
            let report = &assembled.report;
            fields.insert("registers".into(), json!(report.registers));
            fields.insert("spill_bytes".into(), json!(report.spill_stores + report.spill_loads));
            remarks.extend(spills(report, &emitted.metadata.name));
            assembled.cubin
        }
        _ => emitted.ptx.into_bytes(),
    };
    Ok(Made { bytes, fields, remarks })
}

/// A remark where the assembler has put registers into memory.
fn spills(report: &Report, kernel: &str) -> Option<Diagnostic> {
    let (stored, loaded) = (report.spill_stores, report.spill_loads);
    (stored + loaded > 0).then(|| {
        let text = format!("ptxas spills registers of @{kernel}: {stored} B stored, {loaded} B loaded");
        Diagnostic::remark(Code::Registers, text)
            .rule("C80")
            .note("instead", "a smaller tile, more warps, or fewer values alive at once")
    })
}

/// What was decided, in numbers, and what it was chosen from.
fn facts(facts: &Facts, candidates: &[SplitCandidate]) -> Value {
    let strategies = candidates.iter().map(|c| {
        let (verdict, why) = match &c.verdict {
            SplitVerdict::Taken => ("taken", None),
            SplitVerdict::Dearer => ("dearer", None),
            SplitVerdict::Refused(why) => ("refused", Some(why)),
            _ => ("unknown", None),
        };
        json!({"name": c.split.name(), "verdict": verdict, "why": why, "ii": c.price.cost().map(|c| c.ii)})
    });
    let loops = facts.loops.iter().map(|l| {
        json!({"name": l.name, "ii": l.ii, "lower_bound": l.lower_bound, "bound_by": l.bound_by,
               "length": l.length, "length_optimal": l.length_optimal, "stages": l.stages,
               "loads": l.loads})
    });
    let partitions = facts.partitions.iter();
    let partitions = partitions.map(|a| json!({"name": a.name, "warps": a.warps, "registers": a.registers}));
    let rings = facts.rings.iter().map(|(name, depth)| json!({"name": name, "depth": depth}));
    json!({"loops": loops.collect::<Vec<_>>(), "partitions": partitions.collect::<Vec<_>>(),
           "rings": rings.collect::<Vec<_>>(), "strategies": strategies.collect::<Vec<_>>(), "warps": facts.warps,
           "launch_registers": facts.registers, "shared": facts.shared_bytes, "tmem": facts.tmem_columns})
}

fn cubin(session: &Session, args: &PtxArgs, emitted: &Emitted) -> Result<Assembled, Failure> {
    let path = args.ptxas.clone().or_else(|| find("ptxas")).ok_or_else(|| {
        let remedy = "name it by --ptxas, put it on PATH, or run `make setup`";
        Failure::plain(diag::Report::error("assemble", "no ptxas found").note("instead", remedy))
    })?;
    assemble(&path, &emitted.ptx, session.target.name())
        .map_err(|found| Failure::found(&[*found], &session.input))
}

/// The C80 numbers, where the assembler is at hand (C93).
pub fn quality(session: &Session, args: &PtxArgs) -> Result<String, Failure> {
    if args.ptxas.is_none() && find("ptxas").is_none() {
        return Ok("\nmachine code\n  no ptxas at hand: `make setup` installs one\n".into());
    }
    let emitted = ptx(session, args, false)?;
    let assembled = cubin(session, args, &emitted)?;
    let report = &assembled.report;
    let mut text = format!(
        "\nmachine code (ptxas for {})\n  registers {}, spills {} B stored and {} B loaded, shared memory {} B\n",
        session.target.name(),
        report.registers,
        report.spill_stores,
        report.spill_loads,
        emitted.metadata.shared,
    );
    for note in report.notes.iter().filter(|n| n.is_repair()) {
        text += &format!("  note: {}\n", note.text);
    }
    if let Some(nvdisasm) = find("nvdisasm")
        && let Ok(listing) = sass::disassemble(&nvdisasm, &assembled.cubin)
    {
        for l in sass::loops(&listing).iter().filter(|l| !l.is_spin()) {
            let kinds =
                [(l.hgmma, "HGMMA"), (l.utcmma, "UTCMMA"), (l.mma, "MMA of a warp"), (l.utmaldg, "UTMALDG")];
            let kinds = kinds.iter().filter(|(count, _)| *count > 0);
            let kinds: String = kinds.map(|(count, name)| format!(", {count} {name}")).collect();
            text += &format!("  loop: {} instructions a trip{kinds}\n", l.instructions);
        }
    }
    Ok(text)
}

/// A tool on PATH, or in a virtual environment here or in a folder above.
pub fn find(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let on_path = std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|p| p.is_file());
    on_path.or_else(|| std::env::current_dir().ok()?.ancestors().find_map(|folder| in_venv(folder, tool)))
}

/// `.venv/lib/pythonX/site-packages/nvidia/*/bin/TOOL`, first in name order.
fn in_venv(folder: &Path, tool: &str) -> Option<PathBuf> {
    let children = |folder: PathBuf| -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> =
            std::fs::read_dir(folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path())).collect();
        found.sort();
        found
    };
    children(folder.join(".venv/lib"))
        .into_iter()
        .flat_map(|python| children(python.join("site-packages/nvidia")))
        .map(|package| package.join("bin").join(tool))
        .find(|p| p.is_file())
}
