//! Operands, attributes and types of the operations that have a meaning here, from custom or generic form.

mod cursor;
mod host;
mod retype;

use super::parse::{join, type_len, typed_defs};
use super::tree::{Form, Op, OpId, Piece, Tree};
use crate::error::{AliasError, Result};
use cursor::Cursor;
pub(crate) use host::read_generic;
use retype::retype;

/// Operations that are read into a [`Form`] and printed from it (A16).
pub(crate) const KNOWN: [&str; 15] = [
    "tlx.storage_alias_spec",
    "tlx.shared_buffer_def",
    "tlx.storage_alias_local_alloc",
    "tlx.shared_buffer_local_alloc",
    "tlx.reuse_group",
    "tlx.set_buffer_overlap",
    "tlx.local_alias",
    "ttg.local_alloc",
    "ttng.tmem_alloc",
    "ttg.memdesc_index",
    "ttg.memdesc_reinterpret",
    "ttg.memdesc_subslice",
    "ttg.memdesc_trans",
    "ttng.tmem_subslice",
    "warploom.view",
];

/// Reads the forms of all known operations and the types of the values they make.
///
/// # Errors
/// A16 for assembly that is not that of the operation.
pub(crate) fn read_forms(tree: &mut Tree) -> Result<()> {
    for id in tree.walk() {
        let Some(op) = tree.ops.get(id) else { continue };
        let known = KNOWN.contains(&op.name.as_str());
        let results = op.results.clone();
        if known {
            let mut form = match op.quoted {
                true => generic(op)?,
                false => custom(op)?,
            };
            // The first name of the type (A3).
            for ty in form.ins.iter_mut().chain(&mut form.outs) {
                if ty.contains("!tlx.shared_buffer_def<") {
                    *ty = ty.replace("!tlx.shared_buffer_def<", "!tlx.storage_alias_spec<");
                }
            }
            if form.outs.len() != results.len() {
                let message = format!(
                    "operation defines {} results but was provided {} to bind",
                    form.outs.len(),
                    results.len()
                );
                return Err(AliasError::new("A16", message).at(op.pos));
            }
            for (value, ty) in results.iter().zip(&form.outs) {
                if let Some(v) = tree.values.get_mut(*value) {
                    v.ty = Some(ty.clone());
                }
            }
            operand_types(tree, id, &form)?;
            if let Some(op) = tree.ops.get_mut(id) {
                (op.form, op.body) = (Some(form), Vec::new());
            }
            continue;
        }
        // Operations without operands, results and types have nothing to read.
        if results.is_empty() && op.body.len() < 2 {
            continue;
        }
        let body = op.body.clone();
        typed_defs(tree, &body);
        let name = tree.ops.get(id).map_or_else(String::new, |o| o.name.clone());
        match name.as_str() {
            "ttg.warp_specialize" | "scf.for" | "scf.yield" => retype(tree, id, &name),
            _ => {
                for (value, ty) in results.iter().zip(last_types(&body)) {
                    if let Some(v) = tree.values.get_mut(*value) {
                        v.ty = Some(ty);
                    }
                }
            }
        }
    }
    Ok(())
}

/// The operands of a known operation have the types it says.
fn operand_types(tree: &Tree, id: OpId, form: &Form) -> Result<()> {
    let Some(op) = tree.ops.get(id) else { return Ok(()) };
    if form.ins.len() > form.operands.len() {
        let message = format!("{} operands, {} types", form.operands.len(), form.ins.len());
        return Err(AliasError::new("A16", message).at(op.pos));
    }
    for (value, ty) in form.operands.iter().zip(&form.ins) {
        let Some(v) = tree.values.get(*value) else { continue };
        if let Some(known) = &v.ty
            && !same_type(tree, known, ty)
        {
            let message = format!(
                "use of value '%{}' expects different type than prior uses: '{ty}' vs '{known}'",
                v.name
            );
            return Err(AliasError::new("A16", message).at(op.pos));
        }
    }
    Ok(())
}

/// Whether two types are the same but for aliases and white space.
fn same_type(tree: &Tree, a: &str, b: &str) -> bool {
    a == b || expanded(tree, a) == expanded(tree, b)
}

fn expanded(tree: &Tree, ty: &str) -> String {
    let mut out = String::new();
    let mut rest = ty;
    while let Some(at) = rest.find(['#', '!']) {
        let (head, tail) = rest.split_at(at);
        out.extend(head.chars().filter(|c| !c.is_whitespace()));
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
        let end = tail.get(1..).and_then(|t| t.find(|c| !word(c))).map_or(tail.len(), |n| n + 1);
        let (name, after) = tail.split_at(end);
        out.extend(tree.resolve(name).chars().filter(|c| !c.is_whitespace()));
        rest = after;
    }
    out.extend(rest.chars().filter(|c| !c.is_whitespace()));
    out
}

/// The types that the assembly ends with: those of the results.
pub(crate) fn last_types(body: &[Piece]) -> Vec<String> {
    let mut open = 0usize;
    let mut from = None;
    for (n, piece) in body.iter().enumerate().rev() {
        match piece.text() {
            ")" | "]" | "}" | ">" => open += 1,
            "(" | "[" | "{" | "<" => open = open.saturating_sub(1),
            ":" | "->" if open == 0 => {
                from = Some(n + 1);
                break;
            }
            _ => {}
        }
    }
    let rest = from.and_then(|n| body.get(n..)).unwrap_or(&[]);
    let mut at = usize::from(rest.first().map(Piece::text) == Some("("));
    let mut out = Vec::new();
    loop {
        let tail = rest.get(at..).unwrap_or(&[]);
        let len = type_len(tail);
        let ty = join(tail.get(..len).unwrap_or(&[]));
        if ty.is_empty() {
            return out;
        }
        out.push(ty);
        at += len;
        if rest.get(at).map(Piece::text) != Some(",") {
            return out;
        }
        at += 1;
    }
}

/// Custom assembly: operands and bracketed lists, `name = value`, a dictionary, types.
fn custom(op: &Op) -> Result<Form> {
    let mut c = Cursor { pieces: &op.body, at: 0, op };
    let mut form = Form::default();
    while c.at < c.pieces.len() && c.text() != ":" {
        match c.pieces.get(c.at) {
            Some(Piece::Use(value, _)) => {
                form.operands.push(*value);
                c.at += 1;
            }
            Some(Piece::Text(..)) => match c.text() {
                "{" => c.dict(&mut form)?,
                "[" if !matches!(c.pieces.get(c.at + 1), Some(Piece::Use(..))) => {
                    c.at += 1;
                    let list = c.until(&["]"]);
                    form.attrs.push(("offsets".to_owned(), format!("[{list}]")));
                    c.at += 1;
                }
                "(" | ")" | "[" | "]" | "," => c.at += 1,
                word if c.ahead() == "=" => {
                    let name = word.to_owned();
                    c.at += 2;
                    let value = c.until(&[",", ":", "{"]);
                    // `base = 64, strides = [1, 2] radices = ..` has no need of commas either.
                    form.attrs.push((name, value));
                }
                other => return Err(c.error(format!("has unexpected '{other}'"))),
            },
            _ => return Err(c.error("has an unexpected region or argument")),
        }
    }
    c.signature(&mut form)?;
    Ok(form)
}

/// `"op"(%a) <{..}> {..} : (T) -> R`
fn generic(op: &Op) -> Result<Form> {
    let mut c = Cursor { pieces: &op.body, at: 0, op };
    let mut form = Form::default();
    if c.text() != "(" {
        return Err(c.error("lacks its operands"));
    }
    c.at += 1;
    while c.text() != ")" {
        match c.pieces.get(c.at) {
            Some(Piece::Use(value, _)) => form.operands.push(*value),
            Some(Piece::Text(text, _)) if text.as_ref() == "," => {}
            _ => return Err(c.error("has a broken list of operands")),
        }
        c.at += 1;
    }
    c.at += 1;
    if c.text() == "<" && c.ahead() == "{" {
        c.at += 1;
        c.dict(&mut form)?;
        if c.text() != ">" {
            return Err(c.error("has properties without end"));
        }
        c.at += 1;
    }
    // Regions stand in brackets of their own.
    while c.text() == "(" {
        while c.at < c.pieces.len() && c.text() != ")" {
            c.at += 1;
        }
        c.at += 1;
    }
    if c.text() == "{" {
        c.dict(&mut form)?;
    }
    c.signature(&mut form)?;
    // What custom assembly writes as words and plain numbers.
    for (name, value) in &mut form.attrs {
        let inner = |v: &str| v.split_once('<').map(|(_, t)| t.trim_end_matches('>').to_owned());
        match name.as_str() {
            "storage" | "group_kind" if value.starts_with('#') => {
                *value = inner(value).unwrap_or_default();
            }
            "buffer_size_bytes" | "group_size" => {
                *value = value.split(':').next().unwrap_or("").trim().to_owned();
            }
            _ => {}
        }
        if name == "buffer_size_bytes" {
            *name = "size".to_owned();
        }
    }
    Ok(form)
}
