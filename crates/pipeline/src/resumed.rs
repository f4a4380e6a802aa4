//! Goes on from whichever form a file holds, and what that leads to.

use warploom_bufassign::Assignment;
use warploom_ir::Module;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_target::Target;

use crate::check;
use crate::choice::{self, Candidate};
use crate::compile::{Compiled, Options, compile_to_program};
use crate::fallback;
use crate::forms::{self, Form};
use crate::place::refuse;
use crate::single::{self, Single};
use crate::storage::BUFFER;
use crate::walk::preorder;

/// What a file of any form leads to.
#[derive(Clone, Debug)]
pub enum Resumed {
    /// A kernel, with or without schedule and assignment, compiled.
    Compiled(Box<Compiled>),
    /// A kernel that one agent runs, compiled.
    Single(Box<Single>),
    /// A program, checked.
    Program(Box<Module>),
}

impl Resumed {
    /// The program.
    pub fn program(&self) -> &Module {
        match self {
            Resumed::Compiled(compiled) => &compiled.program,
            Resumed::Single(single) => &single.program,
            Resumed::Program(program) => program,
        }
    }

    /// The scheduled form; programs have none any more.
    pub fn scheduled(&self) -> Option<&Module> {
        match self {
            Resumed::Compiled(compiled) => Some(&compiled.scheduled),
            Resumed::Single(single) => Some(&single.scheduled),
            Resumed::Program(_) => None,
        }
    }

    /// The assigned form; programs have none any more.
    pub fn assigned(&self) -> Option<&Module> {
        match self {
            Resumed::Compiled(compiled) => Some(&compiled.assigned),
            Resumed::Single(single) => Some(&single.assigned),
            Resumed::Program(_) => None,
        }
    }

    /// The assignment of buffers, where there are any.
    pub fn assignment(&self) -> Option<&Assignment> {
        match self {
            Resumed::Compiled(compiled) => Some(&compiled.assignment),
            Resumed::Single(single) => single.buffers.as_ref().map(|(_, assignment)| assignment),
            Resumed::Program(_) => None,
        }
    }

    /// Things worth telling.
    pub fn remarks(&self) -> &[Diagnostic] {
        match self {
            Resumed::Compiled(compiled) => &compiled.remarks,
            Resumed::Single(single) => &single.remarks,
            Resumed::Program(_) => &[],
        }
    }

    /// The ways to split its loops among agents that were looked at, the one that was taken first.
    pub fn candidates(&self) -> &[Candidate] {
        match self {
            Resumed::Compiled(compiled) => &compiled.candidates,
            Resumed::Single(single) => &single.candidates,
            Resumed::Program(_) => &[],
        }
    }

    /// Slots of the deepest ring.
    pub fn depth(&self) -> Option<u64> {
        match self {
            Resumed::Compiled(compiled) => Some(compiled.depth.slots),
            Resumed::Single(single) => single.loops.iter().map(|l| l.depth).max(),
            Resumed::Program(_) => None,
        }
    }

    /// What was decided and why; nothing is known of a program that was read.
    pub fn explain(&self) -> Option<String> {
        match self {
            Resumed::Compiled(compiled) => Some(crate::explain::explain(compiled)),
            Resumed::Single(single) => Some(single::explain(single)),
            Resumed::Program(_) => None,
        }
    }
}

/// Goes on from whichever form a module has: kernels are compiled, programs are checked.
///
/// # Errors
/// Those of [`compile_to_program`] and [`check_program`].
pub fn resume(module: &Module, target: &Target, options: &Options) -> Result<Resumed, Vec<Diagnostic>> {
    match forms::form(module, target).map_err(|error| vec![*error])? {
        Form::Program => {
            check_program(module, target)?;
            Ok(Resumed::Program(Box::new(module.clone())))
        }
        Form::Kernel if single::applies(module, target, options.entry.as_deref()) => {
            refuse_bindings(module)?;
            let one = Resumed::Single(Box::new(single::compile(module, target, options)?));
            Ok(choice::weigh(module, target, options, one, None))
        }
        form if form != Form::Kernel
            && (forms::of_one_agent(module) || single::applies(module, target, options.entry.as_deref())) =>
        {
            Ok(Resumed::Single(Box::new(single::resume(module, target, options, form)?)))
        }
        Form::Kernel => {
            let (resumed, refused) = fallback::compile(module, target, options)?;
            Ok(choice::weigh(module, target, options, resumed, refused))
        }
        Form::Scheduled | Form::Assigned => {
            Ok(Resumed::Compiled(Box::new(compile_to_program(module, target, options)?)))
        }
    }
}

/// A kernel that one agent runs takes no places from its author yet (A44).
fn refuse_bindings(module: &Module) -> Result<(), Vec<Diagnostic>> {
    let bound = preorder(module, module.root).into_iter().filter(|&op| module.attr(op, BUFFER).is_some());
    let refusals: Vec<Diagnostic> = bound
        .map(|op| {
            refuse(
                module,
                op,
                Code::Op,
                "one agent runs this kernel, and its buffers cannot be bound to leaves",
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
pub fn check_program(module: &Module, target: &Target) -> Result<(), Vec<Diagnostic>> {
    forms::form(module, target).map_err(|error| vec![*error])?;
    check::program(module, target, check::Effort::Quick).map_err(|violations| {
        let refusal = |v: &check::Violation| {
            Diagnostic::error(Code::Verify, format!("the program is broken: {v}")).rule(v.rule.number())
        };
        violations.iter().map(refusal).collect()
    })
}
