//! Host-level buffers: StableHLO's buffer types, read, verified and given storage (A55 to A69).
//!
//! [`lower_part`] reads a part, verifies it (A57), proves that every buffer is written once and then dead (A59
//! to A64), orders rotated chains, gives each class of aliases one storage, and says where copies stand.

mod linear;
mod live;
mod order;
pub(crate) mod plan;
pub(crate) mod program;
mod slots;
pub(crate) mod types;
mod verify;
mod write;

use crate::check::buffers::check_buffers;
use crate::error::AliasError;
use crate::render::{render, to_json};
use crate::text::drive::Part;
use crate::text::form::read_generic;
use crate::text::print::{Names, print};
use crate::text::tree::Tree;
use crate::text::{Emit, TextOptions};
use linear::{Linear, Strict, lint};
use plan::Plan;
use program::Program;

/// Whether a part is of StableHLO.
pub(crate) fn is_host(tree: &Tree) -> bool {
    tree.ops.iter().any(|o| o.name.starts_with("stablehlo."))
}

/// What a part comes to: its program in the final order, and its plan.
pub(crate) struct Planned {
    pub(crate) program: Program,
    pub(crate) plan: Plan,
}

/// Verifies a part, and prints it back or gives it storage.
pub(crate) fn lower_part(
    tree: &mut Tree,
    options: &TextOptions,
    done: &mut Part,
) -> Result<(), Vec<AliasError>> {
    let forms = verified(tree)?;
    if options.no_linearity {
        if options.emit == Emit::Mlir {
            done.text = print(tree, Names::Kept);
        }
        return Ok(());
    }
    let program = Program::new(&forms);
    let linear = lint(&program, Strict { xla: options.xla_strict });
    done.notes.extend(linear.notes.iter().cloned());
    if !linear.errors.is_empty() {
        return Err(linear.errors);
    }
    if options.no_lower {
        if options.emit == Emit::Mlir {
            done.text = print(tree, Names::Kept);
        }
        return Ok(());
    }
    let planned = planned(tree, program, &linear)?;
    if let Err(findings) = check_buffers(&planned.program, &planned.plan) {
        let wrong =
            findings.iter().map(|f| AliasError::new(f.law, format!("our storage is wrong: {}", f.message)));
        return Err(wrong.collect());
    }
    let (_, layout) = plan::layout(&planned.plan).map_err(|e| e.0)?;
    match options.emit {
        Emit::Map => done.text = render(&layout),
        Emit::Json => {
            if let Some(serde_json::Value::Array(list)) = to_json(&layout).get_mut("storages") {
                done.storages.append(list);
            }
            done.copies.extend(write::copies(&planned.program, &planned.plan));
        }
        Emit::Mlir => {
            write::annotate(tree, &planned.program, &planned.plan);
            done.text = print(tree, Names::Kept);
        }
    }
    Ok(())
}

/// The forms of a part that keeps A55 to A57.
fn verified(tree: &Tree) -> Result<Tree, Vec<AliasError>> {
    let mut forms = tree.clone();
    read_generic(&mut forms).map_err(|e| vec![e])?;
    let errors = verify::verify(&forms);
    if errors.is_empty() { Ok(forms) } else { Err(errors) }
}

/// Orders rotated chains, then plans.
pub(crate) fn planned(
    tree: &mut Tree,
    program: Program,
    linear: &Linear,
) -> Result<Planned, Vec<AliasError>> {
    if !order::arrange(tree, &program, linear).map_err(|e| vec![e])? {
        let plan = plan::plan(&program, linear)?;
        return Ok(Planned { program, plan });
    }
    let forms = verified(tree)?;
    let program = Program::new(&forms);
    let linear = lint(&program, Strict::default());
    if !linear.errors.is_empty() {
        return Err(linear.errors);
    }
    let plan = plan::plan(&program, &linear)?;
    Ok(Planned { program, plan })
}

/// The plan of a text of one part, for tests of the checker.
#[cfg(test)]
pub(crate) fn plan_text(text: &str) -> Result<Planned, Vec<AliasError>> {
    let mut tree = crate::text::parse::parse(text, 1).map_err(|e| vec![e])?;
    let program = Program::new(&verified(&tree)?);
    let linear = lint(&program, Strict::default());
    if !linear.errors.is_empty() {
        return Err(linear.errors);
    }
    planned(&mut tree, program, &linear)
}
