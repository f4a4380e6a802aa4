//! One part: read, verified, and given storage.

use warploom_alias::{
    AliasEmit, AliasError, AliasErrors, LoweredPart, TextOptions, TextOutput, TextPart, lower_text_with,
    render, to_json,
};

use super::check::check_buffers;
use super::dialect::STABLEHLO;
use super::linear::Linear;
use super::lint::{Strict, lint};
use super::order::arrange;
use super::plan::{Plan, layout, plan};
use super::program::Program;
use super::verify::verify;
use super::write::{annotate, copies};

/// What to do with a text of StableHLO parts, and of others.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StablehloOptions {
    /// What to print, and how parts of storage-alias specs are lowered.
    pub text: TextOptions,
    /// Only A57, no linearity and no storage (`--lint off`).
    pub no_linearity: bool,
    /// XLA's own bans too (A64).
    pub xla_strict: bool,
}

impl StablehloOptions {
    /// Sets how to lower and what to print.
    #[must_use]
    pub fn text(mut self, text: TextOptions) -> StablehloOptions {
        self.text = text;
        self
    }

    /// With or without linearity and storage.
    pub fn no_linearity(mut self, no_linearity: bool) -> StablehloOptions {
        self.no_linearity = no_linearity;
        self
    }

    /// With or without XLA's own bans.
    pub fn xla_strict(mut self, xla_strict: bool) -> StablehloOptions {
        self.xla_strict = xla_strict;
        self
    }
}

/// Verifies, lints and gives storage to the parts of StableHLO; parts between `// -----` stand alone, and those of
/// storage-alias specs are lowered by [`warploom_alias::lower_text`].
pub fn lower_text(text: &str, options: &StablehloOptions) -> TextOutput {
    lower_text_with(text, &options.text, &|part, line| {
        if !part.contains("stablehlo.") {
            return None;
        }
        match TextPart::read(part, line, STABLEHLO) {
            Ok(part) => is_stablehlo(&part).then(|| lower(part, options)),
            Err(errors) => Some(Err(errors)),
        }
    })
}

fn is_stablehlo(part: &TextPart) -> bool {
    part.walk().into_iter().any(|op| part.name(op).starts_with("stablehlo."))
}

/// What a part comes to: its program in the final order, and its plan.
pub(crate) struct Planned {
    pub(crate) program: Program,
    pub(crate) plan: Plan,
}

/// Verifies a part, and prints it back or gives it storage.
fn lower(mut part: TextPart, options: &StablehloOptions) -> Result<LoweredPart, AliasErrors> {
    let mut done = LoweredPart::default();
    verified(&part)?;
    if options.no_linearity {
        print(&part, options, &mut done);
        return Ok(done);
    }
    let program = Program::new(&part);
    let linear = lint(&program, Strict { xla: options.xla_strict });
    done.notes.extend(linear.notes.iter().cloned());
    if !linear.errors.is_empty() {
        return Err(AliasErrors::from([done.notes, linear.errors].concat()));
    }
    if options.text.no_lower {
        print(&part, options, &mut done);
        return Ok(done);
    }
    match stored(&mut part, program, &linear, options, &mut done) {
        Ok(()) => Ok(done),
        Err(errors) => Err(AliasErrors::from([done.notes, errors.0].concat())),
    }
}

fn print(part: &TextPart, options: &StablehloOptions, done: &mut LoweredPart) {
    if options.text.emit == AliasEmit::Mlir {
        done.text = part.print();
    }
}

fn stored(
    part: &mut TextPart,
    program: Program,
    linear: &Linear,
    options: &StablehloOptions,
    done: &mut LoweredPart,
) -> Result<(), AliasErrors> {
    let Planned { program, plan } = planned(part, program, linear)?;
    if let Err(findings) = check_buffers(&program, &plan) {
        let wrong =
            findings.iter().map(|f| AliasError::new(f.law, format!("our storage is wrong: {}", f.message)));
        return Err(AliasErrors::from(wrong.collect::<Vec<_>>()));
    }
    let (_, layout) = layout(&plan)?;
    match options.text.emit {
        AliasEmit::Map => done.text = render(&layout),
        AliasEmit::Json => {
            if let Some(serde_json::Value::Array(list)) = to_json(&layout).get_mut("storages") {
                done.storages.append(list);
            }
            let copies = copies(&program, &plan);
            if !copies.is_empty() {
                done.lists.push(("copies", copies));
            }
        }
        _ => {
            annotate(part, &program, &plan);
            done.text = part.print();
        }
    }
    Ok(())
}

/// A part that keeps A55 to A57.
fn verified(part: &TextPart) -> Result<(), AliasErrors> {
    let errors = verify(part);
    if errors.is_empty() { Ok(()) } else { Err(AliasErrors::from(errors)) }
}

/// Orders rotated chains, then plans.
fn planned(part: &mut TextPart, program: Program, linear: &Linear) -> Result<Planned, AliasErrors> {
    if !arrange(part, &program, linear)? {
        let plan = plan(&program, linear)?;
        return Ok(Planned { program, plan });
    }
    verified(part)?;
    let program = Program::new(part);
    let linear = lint(&program, Strict::default());
    if !linear.errors.is_empty() {
        return Err(AliasErrors::from(linear.errors));
    }
    let plan = plan(&program, &linear)?;
    Ok(Planned { program, plan })
}

/// The plan of a text of one part, for tests of the checker.
#[cfg(test)]
pub(crate) fn plan_text(text: &str) -> Result<Planned, AliasErrors> {
    let mut part = TextPart::read(text, 1, STABLEHLO)?;
    verified(&part)?;
    let program = Program::new(&part);
    let linear = lint(&program, Strict::default());
    if !linear.errors.is_empty() {
        return Err(AliasErrors::from(linear.errors));
    }
    planned(&mut part, program, &linear)
}
