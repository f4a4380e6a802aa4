//! The author's storage-alias specs on their way through the compiler: out of the kernel's text, into an attribute
//! of the module, and from there to the layout that buffers are bound to (A44).

use warploom_alias::text::{Extracted, extract as take_out};
use warploom_alias::{AliasError, AliasOptions, AliasSeverity};
use warploom_ir::diag::{Code, TextPlace};
use warploom_ir::{Attr, Diagnostic, Diagnostics, Module};

/// The attribute of a module that holds its storage-alias declarations as text.
pub const STORAGE: &str = "warploom.storage";

/// The declarations in the text of a kernel, and the text without them; `None` where there are none.
///
/// # Errors
/// Everything that is wrong with the declarations, each at its place.
pub(crate) fn extract(text: &str) -> Result<Option<Extracted>, Diagnostics> {
    take_out(text, &AliasOptions::default()).map_err(|errors| {
        errors.iter().filter(|e| e.severity == AliasSeverity::Error).map(|e| diagnostic(e, text)).collect()
    })
}

/// Writes the declarations on a module.
pub(crate) fn keep(module: &mut Module, extracted: &Extracted) {
    let root = module.root;
    module.ops[root].attrs.set(STORAGE, Attr::string(&extracted.declarations));
}

/// The storage that is written on a module, laid out.
///
/// # Errors
/// Everything that is wrong with the declarations.
pub fn of(module: &Module) -> Result<Option<Extracted>, Diagnostics> {
    let Some(text) = module.attr(module.root, STORAGE).and_then(Attr::as_str) else { return Ok(None) };
    // The places are those of the attribute's own text, which nobody has at hand.
    extract(text).map_err(|errors| {
        let nowhere = |d: Diagnostic| Diagnostic { offset: None, ..d };
        errors.into_iter().map(nowhere).collect()
    })
}

/// An error of the declarations as the compiler prints its own (C90).
fn diagnostic(error: &AliasError, text: &str) -> Diagnostic {
    let mut out = Diagnostic::error(Code::Verify, error.message.clone()).rule(error.code);
    let place = error.at.map(|at| TextPlace::offset_of(text, at.line as usize, at.col as usize));
    out = out.at(place.and_then(|offset| u32::try_from(offset).ok()));
    if let Some(help) = &error.help {
        out = out.note("instead", help.clone());
    }
    for related in &error.related {
        out = out.note("note", related.message.clone());
    }
    out
}
