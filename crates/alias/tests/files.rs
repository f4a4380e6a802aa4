//! The front door for texts on the files of `tests/files`:
//!
//! | command | what is done with the text | output |
//! |---|---|---|
//! | `lower [--compat] [--no-lower] [--sizes]` | laid out and lowered, by default and as TLX has it; printed back; sizes alone | the text |
//! | `bind` | the declarations taken out of it (A44) | each storage and bound value, the edges between them (A46), the text that is left |
//! | `indices` | the buffers that its indices visit (A44) | one line per index |

use std::fmt::Write as _;
use std::process::ExitCode;

use warploom_alias::schedule::edges;
use warploom_alias::{
    AliasError, AliasOptions, AliasSeverity, Extracted, TextOptions, extract, indexed_leaves, lower_text,
};
use warploom_filetests::{Answer, Case, Diagnostic, Severity, Suite};

fn main() -> ExitCode {
    Suite::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files"))
        .command("lower", lower)
        .command("bind", bind)
        .command("indices", indices)
        .main()
}

/// A diagnostic as files name it; every one has a place, and an error a remedy.
fn shown(said: &AliasError) -> Result<Diagnostic, String> {
    let severity = match said.severity {
        AliasSeverity::Error => Severity::Error,
        AliasSeverity::Warning => Severity::Warning,
        _ => Severity::Remark,
    };
    let place = said.at.ok_or_else(|| format!("no place: {said}"))?;
    if severity == Severity::Error && said.help.is_none() {
        return Err(format!("no remedy: {said}"));
    }
    let diagnostic = Diagnostic::new(severity, said.message.as_str()).on(place.line as usize).tag(said.code);
    let notes = said.related.iter().map(|r| &r.message).chain(&said.help);
    Ok(notes.fold(diagnostic, |d, note| d.note(note.as_str())))
}

fn all(said: &[AliasError]) -> Result<Answer, String> {
    Ok(Answer::new().diagnostics(said.iter().map(shown).collect::<Result<Vec<_>, _>>()?))
}

fn lower(case: &Case) -> Result<Answer, String> {
    let layout = if case.run.flag("compat") { AliasOptions::tlx() } else { AliasOptions::default() };
    let options = TextOptions::default()
        .layout(layout)
        .no_lower(case.run.flag("no-lower"))
        .stop_after_sizes(case.run.flag("sizes"));
    let out = lower_text(&case.text, &options);
    let again = lower_text(&out.text, &options);
    if !out.failed && (again.failed || again.text != out.text) {
        return Err(format!("what is printed lowers to another text:\n{}\n{}", out.text, again.text));
    }
    Ok(all(&out.diagnostics)?.output(out.text))
}

fn bind(case: &Case) -> Result<Answer, String> {
    match extract(&case.text, &AliasOptions::default()) {
        Ok(Some(extracted)) => Ok(all(&extracted.notes)?.output(told(&extracted)?)),
        Ok(None) => Ok(Answer::new().output("no declarations\n")),
        Err(errors) => all(&errors.0),
    }
}

/// Where the bound values lie, what edges follow where value N is written by operation N and read by the next, and the
/// text that is left.
fn told(extracted: &Extracted) -> Result<String, String> {
    let mut out = String::new();
    let mut tell = |line: std::fmt::Arguments<'_>| writeln!(out, "{line}").map_err(|e| e.to_string());
    for bound in &extracted.bindings {
        tell(format_args!("%{} = {}[{} j + {}]", bound.value, bound.name, bound.mul, bound.add))?;
    }
    for storage in extracted.constraints() {
        tell(format_args!("%{}: {} bytes, aligned {}", storage.id, storage.bytes, storage.align))?;
        for leaf in storage.leaves {
            tell(format_args!(
                "  %{}: {} bytes at {}, strides {:?}, radices {:?}; indices {:?} at {:?}",
                leaf.value, leaf.bytes, leaf.offset, leaf.strides, leaf.radices, leaf.indices, leaf.slots
            ))?;
        }
    }
    let mut bindings: Vec<_> = extracted.bindings.iter().map(|b| b.binding()).collect();
    for (binding, operation) in bindings.iter_mut().zip(0..) {
        (binding.write, binding.reads) = (operation, vec![operation + 1]);
    }
    for edge in edges(&extracted.layout, &bindings) {
        let name = |at: usize| bindings.get(at).map_or("?", |b| b.value.as_str());
        tell(format_args!("edge %{} -> %{}, distance {}", name(edge.src), name(edge.dst), edge.distance))?;
    }
    // Blanks stand where the declarations stood.
    out.extend(extracted.text.lines().flat_map(|line| [line.trim_end(), "\n"]));
    Ok(out)
}

fn indices(case: &Case) -> Result<Answer, String> {
    let (found, notes) = match indexed_leaves(&case.text, &AliasOptions::default()) {
        Ok(found) => found,
        Err(errors) => return all(&errors.0),
    };
    let line = |leaf: &warploom_alias::IndexedLeaf| match leaf.visit {
        Some((mul, add)) => format!("%{} = {}[{mul} j + {add}]\n", leaf.value, leaf.leaf),
        None => format!("%{} = {}[any]\n", leaf.value, leaf.leaf),
    };
    Ok(all(&notes)?.output(found.iter().map(line).collect::<String>()))
}
