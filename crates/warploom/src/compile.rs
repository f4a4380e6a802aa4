//! From text of any form to PTX, with the checkers between the steps.

use warploom_chips::Target;
use warploom_ir::diag::Severity;
use warploom_ir::verify;
use warploom_ir::{Diagnostics, Module};
use warploom_pipeline::{Resumed, resume};

use crate::storage;

/// How to compile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// From kernel to program. The checkers of schedule, assignment and program are on, also in release builds.
    pub pipeline: warploom_pipeline::CompileOptions,
    /// From program to PTX.
    #[cfg(feature = "llvm")]
    pub codegen: warploom_codegen::EmitOptions,
}

impl Default for Options {
    fn default() -> Options {
        let mut pipeline = warploom_pipeline::CompileOptions::default();
        pipeline.check = true;
        Options {
            pipeline,
            #[cfg(feature = "llvm")]
            codegen: warploom_codegen::EmitOptions::default(),
        }
    }
}

impl Options {
    /// Sets how to go from kernel to program.
    #[must_use]
    pub fn pipeline(self, pipeline: warploom_pipeline::CompileOptions) -> Self {
        Options { pipeline, ..self }
    }

    /// Sets how to go from program to PTX.
    #[cfg(feature = "llvm")]
    #[must_use]
    pub fn codegen(self, codegen: warploom_codegen::EmitOptions) -> Self {
        Options { codegen, ..self }
    }
}

/// A compiled kernel.
#[cfg(feature = "llvm")]
#[derive(Clone, Debug)]
pub struct Output {
    /// Everything decided on the way to the program, or the program that was read.
    pub lowered: Resumed,
    /// The PTX, and what a launcher must know (C12).
    pub emitted: warploom_codegen::Emitted,
}

/// Reads and verifies a module in any of the text forms. Storage-alias declarations of a kernel are taken out of
/// its text, laid out, and kept as the module's attribute `warploom.storage`, so that later forms have them too.
///
/// # Errors
/// What the reader or, if that finds nothing, the verifier refuses.
pub fn read(text: &str) -> Result<Module, Diagnostics> {
    let Some(extracted) = storage::extract(text)? else {
        let module = warploom_ir::parse(text)?;
        verified(&module)?;
        return Ok(module);
    };
    let mut module = warploom_ir::parse(&extracted.text)?;
    verified(&module)?;
    storage::keep(&mut module, &extracted);
    Ok(module)
}

fn verified(module: &Module) -> Result<(), Diagnostics> {
    let found = verify(module);
    if found.iter().any(|d| d.severity == Severity::Error) { Err(found.into()) } else { Ok(()) }
}

/// Compiles a module to program form, or resumes from the form it is in. Schedule, assignment and program have
/// passed their checkers.
///
/// # Errors
/// Every reason why it cannot be compiled, in file order (C90).
pub fn lower(module: &Module, target: &Target, options: &Options) -> Result<Resumed, Diagnostics> {
    verified(module)?;
    match storage::of(module)? {
        None => resume(module, target, &options.pipeline),
        Some(extracted) => {
            let mut pipeline = options.pipeline.clone();
            pipeline.storage = Some(extracted.layout);
            resume(module, target, &pipeline)
        }
    }
}

/// Writes the PTX of a program.
///
/// # Errors
/// What has no code on this chip, with its place.
#[cfg(feature = "llvm")]
pub fn emit(
    program: &Module,
    target: &Target,
    options: &Options,
) -> Result<warploom_codegen::Emitted, Diagnostics> {
    warploom_codegen::emit(program, target, &options.codegen)
}

/// Compiles a module to PTX.
///
/// # Errors
/// Those of [`lower`] and [`emit`].
#[cfg(feature = "llvm")]
pub fn compile(module: &Module, target: &Target, options: &Options) -> Result<Output, Diagnostics> {
    let lowered = lower(module, target, options)?;
    let emitted = emit(lowered.program(), target, options)?;
    Ok(Output { lowered, emitted })
}
