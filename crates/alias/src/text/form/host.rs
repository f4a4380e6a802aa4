//! StableHLO operations: generic form, and the short forms of calls, tuples and loops (A56).

use super::cursor::Cursor;
use super::generic;
use crate::error::Result;
use crate::text::parse::typed_defs;
use crate::text::tree::{Form, Op, OpId, Piece, Tree};

/// Reads the forms of StableHLO operations in generic form, keeping their pieces for printing; short forms of
/// calls, tuples and elements too (A56).
///
/// # Errors
/// A16 for assembly that is not that of the operation.
pub(crate) fn read_generic(tree: &mut Tree) -> Result<()> {
    for id in tree.walk() {
        typed_block_args(tree, id);
        let Some(op) = tree.ops.get(id).filter(|op| op.name.starts_with("stablehlo.")) else { continue };
        let form = match (op.quoted, op.name.as_str()) {
            (true, _) => generic(op)?,
            (
                false,
                "stablehlo.custom_call"
                | "stablehlo.tuple"
                | "stablehlo.get_tuple_element"
                | "stablehlo.return",
            ) => short(op)?,
            (false, "stablehlo.while") => short_while(op)?,
            _ => continue,
        };
        let results = op.results.clone();
        for (value, ty) in results.iter().zip(&form.outs) {
            if let Some(v) = tree.values.get_mut(*value) {
                v.ty = Some(ty.clone());
            }
        }
        if let Some(op) = tree.ops.get_mut(id) {
            op.form = Some(form);
        }
    }
    Ok(())
}

fn typed_block_args(tree: &mut Tree, id: OpId) {
    let body = tree.ops.get(id).map_or_else(Vec::new, |o| o.body.clone());
    typed_defs(tree, &body);
}

/// `@f(%a) {..} : (T) -> U`, `%a, %b : tuple<..>`, `%t[1] : (tuple<..>) -> U`, `%a : T`.
fn short(op: &Op) -> Result<Form> {
    let mut c = Cursor { pieces: &op.body, at: 0, op };
    let mut form = Form::default();
    while c.at < c.pieces.len() && c.text() != ":" {
        match c.pieces.get(c.at) {
            Some(Piece::Use(value, _)) => {
                form.operands.push(*value);
                c.at += 1;
            }
            _ if c.text() == "{" => c.dict(&mut form)?,
            _ if c.text() == "[" => {
                c.at += 1;
                let index = c.until(&["]"]);
                form.attrs.push(("index".to_owned(), index));
                c.at += 1;
            }
            _ => {
                if let Some(target) = c.text().strip_prefix('@') {
                    form.attrs.push(("call_target_name".to_owned(), target.to_owned()));
                }
                c.at += 1;
            }
        }
    }
    if c.at >= c.pieces.len() {
        return Ok(form);
    }
    c.signature(&mut form)?;
    if op.name == "stablehlo.return" {
        form.ins = std::mem::take(&mut form.outs);
    }
    Ok(form)
}

/// `(%iterArg = %x, ..) : types attributes {..} cond {..} do {..}`.
fn short_while(op: &Op) -> Result<Form> {
    let mut c = Cursor { pieces: &op.body, at: 0, op };
    let mut form = Form::default();
    while c.at < c.pieces.len() && c.text() != ":" {
        if let Some(Piece::Use(value, _)) = c.pieces.get(c.at) {
            form.operands.push(*value);
        }
        c.at += 1;
    }
    c.at += 1;
    let types = c.until(&["attributes", "cond"]);
    let types = crate::text::types::split(&types, ',').into_iter().filter(|t| !t.is_empty());
    form.ins = types.map(str::to_owned).collect();
    form.outs = form.ins.clone();
    if c.text() == "attributes" {
        c.at += 1;
        if c.text() != "{" {
            return Err(c.error("lacks its attributes"));
        }
        c.dict(&mut form)?;
    }
    Ok(form)
}
