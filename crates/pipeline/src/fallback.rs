//! Kernels that partitions of their own have no code for: one partition runs them where it can (C3, C9).

use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic, Diagnostics, Severity};
use warploom_ir::{Module, OpId};

use crate::compile::compile_verified;
use crate::options::CompileOptions;
use crate::resumed::Resumed;
use crate::single;
use crate::storage::BUFFER;
use crate::walk::preorder;

/// Compiles a kernel by partitions of their own, or, where these have no code for it, by one partition, with a remark
/// that tells which form was refused and why; and that reason.
///
/// # Errors
/// Those of [`compile_verified`]: what one partition would say of such a kernel is about a form nobody asked for.
pub(crate) fn compile(
    module: &Module,
    target: &Target,
    options: &CompileOptions,
) -> Result<(Resumed, Option<String>), Diagnostics> {
    let refused = match compile_verified(module, target, options) {
        Ok(compiled) => return Ok((Resumed::Compiled(Box::new(compiled)), None)),
        Err(refused) => refused,
    };
    if !refused.iter().all(lacks_code) || places_bound(module, options) {
        return Err(refused);
    }
    let Ok(mut single) = single::compile(module, target, options) else { return Err(refused) };
    single.remarks.splice(0..0, refused.first().map(told));
    let why = refused.first().map(|d| d.message.clone());
    Ok((Resumed::Single(Box::new(single)), why))
}

/// Whether a refusal says that a form has no code for something. What is broken, contradicts the author, asks for a
/// precision or for more than there is stays refused: its own message says what to mend.
fn lacks_code(refusal: &Diagnostic) -> bool {
    matches!(refusal.code, Code::Op | Code::Loop | Code::Shape | Code::Layout | Code::Type)
}

/// Whether the author says where buffers lie: one partition takes no places from her (A44).
pub(crate) fn places_bound(module: &Module, options: &CompileOptions) -> bool {
    let bound = |op: OpId| module.attr(op, BUFFER).is_some();
    options.storage.is_some() || preorder(module, module.root).into_iter().any(bound)
}

/// The first refusal as a remark.
fn told(refusal: &Diagnostic) -> Diagnostic {
    let message =
        format!("one partition runs this kernel; partitions of their own were refused: {}", refusal.message);
    Diagnostic { severity: Severity::Remark, message, ..refusal.clone() }
}
