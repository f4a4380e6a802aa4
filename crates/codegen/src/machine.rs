//! LLVM's target machine, passes and assembly printer (C40, C42).

use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target as Backend, TargetMachine, TargetTriple,
};
use warploom_chips::{PtxVersion, Target};
use warploom_ir::diag::Code;

use crate::error::{Result, internal, refuse};
use crate::llvm::divides;

/// The triple of 64-bit PTX.
const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// The machine for a chip and a version of PTX, both within what LLVM 22 takes.
pub(crate) fn machine(target: &Target, ptx: PtxVersion, level: u8) -> Result<TargetMachine> {
    if ptx < target.chip.ptx_min || ptx > PtxVersion::LLVM_22_LAST {
        let text = format!("PTX {ptx} for {}", target.name());
        let needs = format!("{} to {}", target.chip.ptx_min, PtxVersion::LLVM_22_LAST);
        return Err(refuse(Code::Target, text).rule("C42").note("needs", needs).into());
    }
    Backend::initialize_nvptx(&InitializationConfig::default());
    let triple = TargetTriple::create(TRIPLE);
    let backend = Backend::from_triple(&triple).map_err(|e| internal(format!("no NVPTX in LLVM: {e}")))?;
    let features = format!("+ptx{}{}", ptx.major, ptx.minor);
    let level = match level {
        0 => OptimizationLevel::None,
        _ => OptimizationLevel::Aggressive,
    };
    let (reloc, model) = (RelocMode::Default, CodeModel::Default);
    backend
        .create_target_machine(&triple, target.name(), &features, level, reloc, model)
        .ok_or_else(|| internal("LLVM has no machine for this chip"))
}

/// The passes that programs of this crate profit from. Loops are already in their final form, calls are all
/// intrinsics, and nothing is in memory that could be in a register: `default<O3>` gives the same machine code
/// in four times the time. Without `no-verify-fixpoint` LLVM ends the process where one round of combining is not
/// enough.
const LEAN: &str =
    "function(early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),early-cse)";

/// What follows where divisions are functions: loops have lost those that do not change.
const DIVISIONS: &str = "always-inline,function(early-cse)";

/// Runs the passes of an optimisation level.
pub(crate) fn optimize(module: &Module, machine: &TargetMachine, level: u8) -> Result<()> {
    let passes = match level {
        0 => "default<O0>",
        1 => LEAN,
        2 => "default<O2>",
        _ => "default<O3>",
    };
    let run = |passes| {
        let options = PassBuilderOptions::create();
        module.run_passes(passes, machine, options).map_err(|e| internal(format!("LLVM passes: {e}")))
    };
    run(passes)?;
    if level == 1 && divides(module) { run(DIVISIONS) } else { Ok(()) }
}

/// Brings functions of a library where they are called: those that ask for it become part of their callers, the others stay
/// functions, those that nobody calls go; what they ask of the chip is answered.
pub(crate) fn inline_linked(module: &Module, machine: &TargetMachine) -> Result<()> {
    let passes = "nvvm-reflect,always-inline,globaldce,function(sroa,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg)";
    let options = PassBuilderOptions::create();
    module.run_passes(passes, machine, options).map_err(|e| internal(format!("LLVM passes: {e}")))
}

/// Prints the module as PTX.
pub(crate) fn assembly(module: &Module, machine: &TargetMachine) -> Result<String> {
    let buffer = machine
        .write_to_memory_buffer(module, FileType::Assembly)
        .map_err(|e| internal(format!("LLVM code generation: {e}")))?;
    let text = String::from_utf8_lossy(buffer.as_slice());
    Ok(text.trim_end_matches('\0').to_owned())
}
