//! From whichever form a file holds to a program.

use std::borrow::Cow;

use warploom_chips::Target;
use warploom_ir::Module;
use warploom_ir::diag::{Code, Diagnostic, Diagnostics};

use crate::compile::{compile_verified, verified};
use crate::forms::{self, TextForm};
use crate::normalize::{by_axes, plain, with_fma};
use crate::options::CompileOptions;
use crate::place::refuse;
use crate::resumed::Resumed;
use crate::select::entry_function;
use crate::storage::BUFFER;
use crate::walk::preorder;
use crate::{check, choice, fallback, single};

/// Goes on from whichever form a module has: kernels are compiled, programs are checked.
///
/// # Errors
/// Those of [`compile_to_program`](crate::compile_to_program) and [`check_program`].
pub fn resume(module: &Module, target: &Target, options: &CompileOptions) -> Result<Resumed, Diagnostics> {
    verified(module)?;
    let module = &*match entry_function(module, options.entry.as_deref()) {
        Ok(entry) => {
            let plain = with_fma(plain(module, entry)?, entry);
            match forms::form(&plain, target) {
                Ok(TextForm::Kernel) => by_axes(plain, entry),
                _ => plain,
            }
        }
        Err(_) => Cow::Borrowed(module),
    };
    match forms::form(module, target).map_err(|error| vec![*error])? {
        TextForm::Program => {
            check_program(module, target)?;
            Ok(Resumed::Program(Box::new(module.clone())))
        }
        TextForm::Kernel if single::applies(module, target, options.entry.as_deref()) => {
            refuse_bindings(module)?;
            let one = Resumed::Single(Box::new(single::compile(module, target, options)?));
            Ok(choice::weigh(module, target, options, one, None))
        }
        form if form != TextForm::Kernel
            && (forms::of_one_partition(module)
                || single::applies(module, target, options.entry.as_deref())) =>
        {
            Ok(Resumed::Single(Box::new(single::resume(module, target, options, form)?)))
        }
        TextForm::Kernel => {
            let (resumed, refused) = fallback::compile(module, target, options)?;
            Ok(choice::weigh(module, target, options, resumed, refused))
        }
        TextForm::Scheduled | TextForm::Assigned => {
            Ok(Resumed::Compiled(Box::new(compile_verified(module, target, options)?)))
        }
    }
}

/// A kernel that one partition runs takes no places from its author yet (A44).
fn refuse_bindings(module: &Module) -> Result<(), Vec<Diagnostic>> {
    let bound = preorder(module, module.root).into_iter().filter(|&op| module.attr(op, BUFFER).is_some());
    let refusals: Vec<Diagnostic> = bound
        .map(|op| {
            refuse(
                module,
                op,
                Code::Op,
                "one partition runs this kernel, and its buffers cannot be bound to leaves",
            )
            .rule("A44")
            .note("instead", "leave warploom.buffer away")
        })
        .collect();
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

/// Checks a module in program form, as it may have been edited by hand.
///
/// # Errors
/// Every rule it breaks (C35).
pub fn check_program(module: &Module, target: &Target) -> Result<(), Diagnostics> {
    forms::form(module, target).map_err(|error| vec![*error])?;
    check::program(module, target, check::Effort::Quick).map_err(|violations| {
        let refusal = |v: &check::ProgramViolation| {
            Diagnostic::error(Code::Verify, format!("the program is broken: {v}")).rule(v.rule.number())
        };
        violations.iter().map(refusal).collect()
    })
}
