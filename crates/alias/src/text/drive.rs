//! The front door for texts.

use serde_json::{Map, Value};

use super::lower::{left_over, lower, sizes};
use super::names::as_mlir;
use super::part::TextPart;
use super::read::{Kernel, ReadOptions, functions, open, read};
use super::sync::unordered;
use crate::check::{CheckOptions, check};
use crate::error::{AliasError, AliasErrors, AliasSeverity};
use crate::layout::{AliasLayout, AliasOptions};
use crate::render::{render, to_json};
use crate::types::Storage;
use crate::underuse::{under_use, used_columns};

/// What to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AliasEmit {
    /// The lowered text.
    #[default]
    Mlir,
    /// The map of every storage (A52).
    Map,
    /// The layouts as JSON (A54).
    Json,
}

/// What to do with a text (A19).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TextOptions {
    /// AliasLayout options; `compat` also chooses TLX's output and diagnostics.
    pub layout: AliasOptions,
    /// Only verify and print back.
    pub no_lower: bool,
    /// Print sizes on the specs and leave everything else (`--stop-after sizes`).
    pub stop_after_sizes: bool,
    /// What to print.
    pub emit: AliasEmit,
    /// Uses of shared leaves that nothing orders are errors (A49).
    pub deny_alias_sync: bool,
}

impl TextOptions {
    /// Sets how to lay out.
    #[must_use]
    pub fn layout(self, layout: AliasOptions) -> Self {
        TextOptions { layout, ..self }
    }

    /// Only verifies and prints back, or lowers.
    #[must_use]
    pub fn no_lower(self, no_lower: bool) -> Self {
        TextOptions { no_lower, ..self }
    }

    /// Prints sizes on the specs and leaves everything else, or not.
    #[must_use]
    pub fn stop_after_sizes(self, stop_after_sizes: bool) -> Self {
        TextOptions { stop_after_sizes, ..self }
    }

    /// Sets what to print.
    #[must_use]
    pub fn emit(self, emit: AliasEmit) -> Self {
        TextOptions { emit, ..self }
    }

    /// Makes errors of uses of shared leaves that nothing orders (A49), or not.
    #[must_use]
    pub fn deny_alias_sync(self, deny_alias_sync: bool) -> Self {
        TextOptions { deny_alias_sync, ..self }
    }
}

/// What became of a text.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TextOutput {
    /// The text, map or JSON of the parts that succeeded.
    pub text: String,
    /// Everything that was said, in the order of the parts.
    pub diagnostics: Vec<AliasError>,
    /// Whether a part failed.
    pub failed: bool,
}

impl TextOutput {
    /// The diagnostics as lines.
    pub fn render_diagnostics(&self, file: &str) -> String {
        self.diagnostics.iter().map(|d| d.render(file)).collect()
    }
}

/// The parts of a text between lines `// -----`, with the number of their first line.
fn parts(text: &str) -> Vec<(u32, &str)> {
    let mut out = Vec::new();
    let (mut start, mut first, mut line, mut at) = (0usize, 1u32, 1u32, 0usize);
    for l in text.split_inclusive('\n') {
        let end = at + l.len();
        line = line.saturating_add(1);
        if l.trim() == "// -----" {
            out.push((first, text.get(start..at).unwrap_or("")));
            (start, first) = (end, line);
        }
        at = end;
    }
    out.push((first, text.get(start..).unwrap_or("")));
    out
}

/// What one part gave.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LoweredPart {
    /// The lowered text, or the maps.
    pub text: String,
    /// What was said about it.
    pub notes: Vec<AliasError>,
    /// Its storages as JSON.
    pub storages: Vec<Value>,
    /// Other lists of the JSON answer, by name; those of all parts are joined.
    pub lists: Vec<(&'static str, Vec<Value>)>,
}

/// Who lowers the parts of another kind: asked about a part and the number of its first line, it says `None` where the
/// part is one of ours.
pub type OtherPart<'f> = dyn Fn(&str, u32) -> Option<Result<LoweredPart, AliasErrors>> + 'f;

/// Reads, lays out and lowers each part on its own; a failed part does not stop the others.
pub fn lower_text(text: &str, options: &TextOptions) -> TextOutput {
    lower_text_with(text, options, &|_, _| None)
}

/// The same for a file with parts of another kind.
pub fn lower_text_with(text: &str, options: &TextOptions, other: &OtherPart<'_>) -> TextOutput {
    let mut out = TextOutput::default();
    let mut texts = Vec::new();
    let mut json = Map::new();
    json.insert("storages".to_owned(), Value::Array(Vec::new()));
    for (line, part) in parts(text) {
        if part.trim().is_empty() {
            continue;
        }
        match other(part, line).unwrap_or_else(|| one(part, line, options)) {
            Ok(mut done) => {
                out.diagnostics.append(&mut done.notes);
                texts.push(done.text);
                done.lists.insert(0, ("storages", done.storages));
                for (name, mut items) in done.lists {
                    let list = json.entry(name).or_insert_with(|| Value::Array(Vec::new()));
                    if let Value::Array(list) = list {
                        list.append(&mut items);
                    }
                }
            }
            Err(mut errors) => {
                out.failed = true;
                out.diagnostics.append(&mut errors.0);
            }
        }
    }
    let said = std::mem::take(&mut out.diagnostics);
    out.diagnostics = said.into_iter().map(AliasError::with_remedy).collect();
    out.text = match options.emit {
        AliasEmit::Mlir => texts.join("// -----\n"),
        AliasEmit::Map => texts.concat(),
        AliasEmit::Json => format!("{}\n", Value::Object(json)),
    };
    out
}

fn one(text: &str, line: u32, options: &TextOptions) -> Result<LoweredPart, AliasErrors> {
    let mut done = LoweredPart::default();
    let (mut part, renamed) = open(text, line)?;
    let compat = options.layout.compat;
    let mut kernels = Vec::new();
    let mut errors = Vec::new();
    for ops in functions(&part) {
        match read(&part, &ops, ReadOptions { compat }) {
            Ok(mut kernel) => {
                if !compat || options.layout.lint {
                    kernel.notes.extend(unordered(&part, &ops, &kernel));
                }
                kernels.push(kernel);
            }
            Err(list) => errors.extend(list.0),
        }
    }
    if !errors.is_empty() {
        return Err(AliasErrors(errors));
    }
    done.notes = renamed;
    for note in kernels.iter_mut().flat_map(|k| k.notes.drain(..)) {
        match options.deny_alias_sync && note.code == "A49" && note.severity == AliasSeverity::Warning {
            true => errors.push(AliasError { severity: AliasSeverity::Error, ..note }),
            false => done.notes.push(note),
        }
    }
    if !errors.is_empty() {
        done.notes.append(&mut errors);
        return Err(AliasErrors(done.notes));
    }
    if options.no_lower {
        as_mlir(&mut part.module);
        done.text = part.print();
        return Ok(done);
    }
    let declares =
        |k: &&Kernel| k.module.leaves().next().is_some() || !k.specs.is_empty() || !k.trees.is_empty();
    for kernel in kernels.iter().filter(declares) {
        if let Err(mut errors) = kernel_part(&mut part, kernel, options, &mut done) {
            done.notes.append(&mut errors.0);
            return Err(AliasErrors(done.notes));
        }
    }
    if options.emit == AliasEmit::Mlir {
        if !options.stop_after_sizes {
            left_over(&part)?;
        }
        as_mlir(&mut part.module);
        done.text = part.print();
    }
    Ok(done)
}

/// Lays one function out, checks it, and lowers it.
fn kernel_part(
    part: &mut TextPart,
    kernel: &Kernel,
    options: &TextOptions,
    done: &mut LoweredPart,
) -> Result<(), AliasErrors> {
    let layout = layout_of(kernel, &options.layout, &mut done.notes)?;
    match options.emit {
        AliasEmit::Map => done.text.push_str(&render(&layout)),
        AliasEmit::Json => {
            let mut value = to_json(&layout);
            if let Some(Value::Array(list)) = value.get_mut("storages") {
                done.storages.append(list);
            }
        }
        AliasEmit::Mlir if options.stop_after_sizes => sizes(part, kernel, &layout),
        AliasEmit::Mlir => lower(part, kernel, &layout, &options.layout)?,
    }
    Ok(())
}

/// The checked layout of a function, its notes said.
pub(crate) fn layout_of(
    kernel: &Kernel,
    options: &AliasOptions,
    notes: &mut Vec<AliasError>,
) -> Result<AliasLayout, AliasErrors> {
    let layout = match kernel.module.layout(options) {
        Ok(layout) => layout,
        Err(mut errors) => {
            // A step of TLX stops at its first error, but step 1 visits every spec (A20).
            let later = |e: &AliasError| matches!(e.code, "A34" | "A13" | "A30");
            if options.compat && errors.0.first().is_some_and(later) {
                errors.0.truncate(1);
            }
            return Err(errors);
        }
    };
    if cfg!(debug_assertions) {
        let against = CheckOptions::of(options);
        if let Err(findings) = check(&kernel.module, &layout, &against) {
            let wrong = findings
                .iter()
                .map(|f| AliasError::new(f.law, format!("our layout is wrong: {}", f.message)));
            return Err(AliasErrors(wrong.collect()));
        }
    }
    let said = layout.notes.iter().filter(|n| !options.compat || options.lint || n.code == "A14");
    notes.extend(said.cloned());
    if options.lint && options.limits.tmem_columns > 0 {
        let used = used_columns(&kernel.module, &layout);
        let slack = options.limits.tmem_columns.saturating_sub(used);
        notes.extend(under_use(&kernel.module, &layout, Storage::Tmem, slack));
    }
    notes.iter_mut().filter(|n| n.severity == AliasSeverity::Note).for_each(|n| n.related.truncate(4));
    Ok(layout)
}
