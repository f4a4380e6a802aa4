//! The front door for texts.

use serde_json::Value;

use super::form::read_forms;
use super::lower::{left_over, lower, sizes};
use super::parse::parse;
use super::print::{Names, print};
use super::read::{Kernel, ReadOptions, functions, read};
use super::tree::Tree;
use crate::check::{CheckOptions, check};
use crate::error::{AliasError, Severity};
use crate::layout::{AliasOptions, Layout};
use crate::render::{render, to_json};
use crate::types::Storage;

/// What to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emit {
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
pub struct TextOptions {
    /// Layout options; `compat` also chooses TLX's output and diagnostics.
    pub layout: AliasOptions,
    /// Only verify and print back.
    pub no_lower: bool,
    /// Print sizes on the specs and leave everything else (`--stop-after sizes`).
    pub stop_after_sizes: bool,
    /// What to print.
    pub emit: Emit,
    /// Uses of shared leaves that nothing orders are errors (A49).
    pub deny_alias_sync: bool,
    /// StableHLO parts: only A57, no linearity and no storage (`--lint off`, section 13).
    pub no_linearity: bool,
    /// StableHLO parts: XLA's own bans too (A64).
    pub xla_strict: bool,
}

/// What became of a text.
#[derive(Clone, Debug, Default, PartialEq)]
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
pub(crate) fn parts(text: &str) -> Vec<(u32, &str)> {
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

/// Reads, lays out and lowers each part on its own; a failed part does not stop the others. TLX and StableHLO
/// parts may stand in one file.
pub fn lower_text(text: &str, options: &TextOptions) -> TextOutput {
    let mut out = TextOutput::default();
    let mut texts = Vec::new();
    let mut storages: Vec<Value> = Vec::new();
    let mut copies: Vec<Value> = Vec::new();
    for (line, part) in parts(text) {
        if part.trim().is_empty() {
            continue;
        }
        let mut done = Part::default();
        let result = one(part, line, options, &mut done);
        out.diagnostics.append(&mut done.notes);
        match result {
            Ok(()) => {
                texts.push(done.text);
                storages.append(&mut done.storages);
                copies.append(&mut done.copies);
            }
            Err(mut errors) => {
                out.failed = true;
                out.diagnostics.append(&mut errors);
            }
        }
    }
    let said = std::mem::take(&mut out.diagnostics);
    out.diagnostics = said.into_iter().map(AliasError::with_remedy).collect();
    out.text = match options.emit {
        Emit::Mlir => texts.join("// -----\n"),
        Emit::Map => texts.concat(),
        Emit::Json => {
            let mut value = serde_json::json!({ "storages": storages });
            if let (Some(map), false) = (value.as_object_mut(), copies.is_empty()) {
                map.insert("copies".to_owned(), Value::Array(copies));
            }
            format!("{value}\n")
        }
    };
    out
}

/// What one part gave.
#[derive(Default)]
pub(crate) struct Part {
    pub(crate) text: String,
    pub(crate) notes: Vec<AliasError>,
    pub(crate) storages: Vec<Value>,
    pub(crate) copies: Vec<Value>,
}

fn one(part: &str, line: u32, options: &TextOptions, done: &mut Part) -> Result<(), Vec<AliasError>> {
    let mut tree = parse(part, line).map_err(|e| vec![e])?;
    if crate::host::is_host(&tree) {
        return crate::host::lower_part(&mut tree, options, done);
    }
    read_forms(&mut tree).map_err(|e| vec![e])?;
    let compat = options.layout.compat;
    let mut kernels = Vec::new();
    let mut errors = Vec::new();
    for ops in functions(&tree) {
        match read(&tree, &ops, ReadOptions { compat }) {
            Ok(mut kernel) => {
                if !compat || options.layout.lint {
                    kernel.notes.extend(super::sync::unordered(&tree, &ops, &kernel));
                }
                kernels.push(kernel);
            }
            Err(list) => errors.extend(list),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    for kernel in &mut kernels {
        for note in kernel.notes.drain(..) {
            match options.deny_alias_sync && note.code == "A49" && note.severity == Severity::Warning {
                true => errors.push(AliasError { severity: Severity::Error, ..note }),
                false => done.notes.push(note),
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    if options.no_lower {
        done.text = print(&tree, Names::Numbered);
        return Ok(());
    }
    for kernel in kernels
        .iter()
        .filter(|k| k.module.leaves().next().is_some() || !k.specs.is_empty() || !k.trees.is_empty())
    {
        kernel_part(&mut tree, kernel, options, done)?;
    }
    if options.emit == Emit::Mlir {
        if !options.stop_after_sizes {
            left_over(&tree)?;
        }
        done.text = print(&tree, Names::Numbered);
    }
    Ok(())
}

/// Lays one function out, checks it, and lowers it.
fn kernel_part(
    tree: &mut Tree,
    kernel: &Kernel,
    options: &TextOptions,
    done: &mut Part,
) -> Result<(), Vec<AliasError>> {
    let layout = layout_of(kernel, &options.layout, &mut done.notes)?;
    match options.emit {
        Emit::Map => done.text.push_str(&render(&layout)),
        Emit::Json => {
            let mut value = to_json(&layout);
            if let Some(Value::Array(list)) = value.get_mut("storages") {
                done.storages.append(list);
            }
        }
        Emit::Mlir if options.stop_after_sizes => sizes(tree, kernel, &layout),
        Emit::Mlir => lower(tree, kernel, &layout, &options.layout)?,
    }
    Ok(())
}

/// The checked layout of a function, its notes said.
pub(crate) fn layout_of(
    kernel: &Kernel,
    options: &AliasOptions,
    notes: &mut Vec<AliasError>,
) -> Result<Layout, Vec<AliasError>> {
    let layout = match kernel.module.layout(options) {
        Ok(layout) => layout,
        Err(mut errors) => {
            // A step of TLX stops at its first error, but step 1 visits every spec (A20).
            let later = |e: &AliasError| matches!(e.code, "A34" | "A13" | "A30");
            if options.compat && errors.0.first().is_some_and(later) {
                errors.0.truncate(1);
            }
            return Err(errors.0);
        }
    };
    if cfg!(debug_assertions) {
        let against = CheckOptions { compat: options.compat, limits: options.limits };
        if let Err(findings) = check(&kernel.module, &layout, &against) {
            let wrong = findings
                .iter()
                .map(|f| AliasError::new(f.law, format!("our layout is wrong: {}", f.message)));
            return Err(wrong.collect());
        }
    }
    let said = layout.notes.iter().filter(|n| !options.compat || options.lint || n.code == "A14");
    notes.extend(said.cloned());
    if options.lint && options.limits.tmem_columns > 0 {
        let used = crate::used_columns(&kernel.module, &layout);
        let slack = options.limits.tmem_columns.saturating_sub(used);
        notes.extend(crate::under_use(&kernel.module, &layout, Storage::Tmem, slack));
    }
    notes.iter_mut().filter(|n| n.severity == Severity::Note).for_each(|n| n.related.truncate(4));
    Ok(layout)
}
