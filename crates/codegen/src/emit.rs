//! The one function of this crate that embedders call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use inkwell::context::Context;
use warploom_chips::{PtxVersion, Target};
use warploom_ir::{Diagnostics, Module};

use crate::error::{Refusal, Result, internal};
use crate::llvm::lines::lines_alone;
use crate::metadata::Metadata;
use crate::program::{MAP_BYTES, Program};
use crate::{gate, lower, machine, scan};

/// What is asked of [`emit`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmitOptions {
    /// Version of PTX to write; the chip's default if `None` (C42).
    pub ptx: Option<PtxVersion>,
    /// Whether multiplications and additions may be fused (C48).
    pub fuse: bool,
    /// Whether functions of f32 take numbers too small to be normal for zero, as Triton's do unless told otherwise (C68).
    pub flush: bool,
    /// Passes of LLVM: 0 none, 1 the few that programs profit from, 2 and 3 `default<O2>` and `default<O3>`.
    pub level: u8,
    /// Whether to return the LLVM IR, as it is before LLVM's passes.
    pub llvm: bool,
    /// Whether the PTX says which line of the kernel's source each instruction comes from (`.loc`).
    pub lines: bool,
    /// Most registers of a thread (`.maxnreg`), where partitions do not move registers among them; what the program says
    /// if `None` (C31).
    pub max_registers: Option<u32>,
    /// NVIDIA's libdevice as LLVM bitcode (`libdevice.10.bc`), for functions that have no code of our own (C68).
    pub libdevice: Option<Arc<[u8]>>,
}

impl Default for EmitOptions {
    fn default() -> EmitOptions {
        EmitOptions {
            ptx: None,
            fuse: true,
            flush: true,
            level: 1,
            llvm: false,
            lines: false,
            max_registers: None,
            libdevice: None,
        }
    }
}

impl EmitOptions {
    /// Writes this version of PTX.
    #[must_use]
    pub fn ptx(self, version: PtxVersion) -> EmitOptions {
        EmitOptions { ptx: Some(version), ..self }
    }

    /// Whether multiplications and additions may be fused.
    #[must_use]
    pub fn fuse(self, fuse: bool) -> EmitOptions {
        EmitOptions { fuse, ..self }
    }

    /// Whether functions of f32 take numbers too small to be normal for zero.
    #[must_use]
    pub fn flush(self, flush: bool) -> EmitOptions {
        EmitOptions { flush, ..self }
    }

    /// The passes of LLVM.
    #[must_use]
    pub fn level(self, level: u8) -> EmitOptions {
        EmitOptions { level, ..self }
    }

    /// Whether to return the LLVM IR.
    #[must_use]
    pub fn llvm(self, llvm: bool) -> EmitOptions {
        EmitOptions { llvm, ..self }
    }

    /// Most registers of a thread.
    #[must_use]
    pub fn max_registers(self, max_registers: Option<u32>) -> EmitOptions {
        EmitOptions { max_registers, ..self }
    }

    /// NVIDIA's libdevice as LLVM bitcode.
    #[must_use]
    pub fn libdevice(self, libdevice: Option<Arc<[u8]>>) -> EmitOptions {
        EmitOptions { libdevice, ..self }
    }

    /// Whether the PTX says which line of the source each instruction comes from.
    #[must_use]
    pub fn lines(self, lines: bool) -> EmitOptions {
        EmitOptions { lines, ..self }
    }
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timings {
    /// Reading the program and building LLVM IR.
    pub build: Duration,
    /// LLVM's verifier and passes.
    pub optimize: Duration,
    /// LLVM's code generation.
    pub generate: Duration,
    /// Scanning the PTX.
    pub scan: Duration,
}

/// A compiled kernel.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Emitted {
    /// The PTX, one `.visible .entry`.
    pub ptx: String,
    /// LLVM IR before its passes, if asked for.
    pub llvm: Option<String>,
    /// What a launcher must know.
    pub metadata: Metadata,
    /// Where the time went.
    pub timings: Timings,
}

/// Compiles a program (the third text form) to PTX.
///
/// # Errors
/// Every refusal found: an operation, type, shape or layout that has no code yet, a capability the chip
/// lacks, a malformed program. `internal` and `emit` say that our own result failed a check; nothing is
/// returned then.
pub fn emit(
    module: &Module,
    target: &Target,
    options: &EmitOptions,
) -> std::result::Result<Emitted, Diagnostics> {
    let mut refusals = Vec::new();
    let result = compile(module, target, options, &mut refusals);
    match result {
        Ok(Some(emitted)) if refusals.is_empty() => Ok(emitted),
        Ok(_) => Err(refusals.into_iter().map(|refusal| *refusal.diagnostic).collect()),
        Err(refusal) => Err(refusal.diagnostic.into()),
    }
}

/// The way from program to PTX; `None` where operations were refused on it.
fn compile(
    module: &Module,
    target: &Target,
    options: &EmitOptions,
    refusals: &mut Vec<Refusal>,
) -> Result<Option<Emitted>> {
    let start = Instant::now();
    let ptx = options.ptx.unwrap_or_else(|| target.chip.ptx_default.max(lower::least_version(module)));
    let machine = machine::machine(target, ptx, options.level)?;
    let mut program = Program::read(module, target)?;
    if let Some(most) = options.max_registers {
        program.limit_registers(most)?;
    }
    let context = Context::create();
    let job = lower::Job {
        module,
        program: &program,
        target,
        ptx,
        fuse: options.fuse,
        flush: options.flush,
        lines: options.lines,
        libdevice: options.libdevice.as_deref(),
    };
    let ir = lower::lower(&context, &machine, job, refusals)?;
    if !refusals.is_empty() {
        return Ok(None);
    }
    if ir.links() {
        machine::inline_linked(&ir.module, &machine)?;
    }
    let built = Instant::now();
    let llvm = options.llvm.then(|| ir.module.print_to_string().to_string());
    ir.module.verify().map_err(|e| internal(format!("LLVM verifier: {e}")))?;
    machine::optimize(&ir.module, &machine, options.level)?;
    let optimized = Instant::now();
    if options.level == 1 {
        gate::close(&context, &ir.module);
    }
    let text = machine::assembly(&ir.module, &machine)?;
    let text = if options.lines { lines_alone(&text) } else { text };
    let generated = Instant::now();
    scan::check(&text, ir.links()).map_err(|findings| scan::refusal(&findings))?;
    let timings = Timings {
        build: built - start,
        optimize: optimized - built,
        generate: generated - optimized,
        scan: generated.elapsed(),
    };
    let metadata = Metadata {
        name: program.name.to_owned(),
        num_warps: program.warps as u32,
        num_ctas: 1,
        shared: program.shared,
        tmem_size: program.tmem.map_or(0, |tmem| tmem.columns as u32),
        global_scratch_size: program.global_scratch(),
        global_scratch_align: if program.maps.is_empty() { 1 } else { MAP_BYTES },
        profile_scratch_size: 0,
        profile_scratch_align: 1,
        tensordesc_meta: program.descriptors.clone(),
    };
    Ok(Some(Emitted { ptx: text, llvm, metadata, timings }))
}
