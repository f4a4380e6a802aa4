//! Types that follow another value's: printed from it, so that a change shows everywhere.

use crate::text::parse::{join, type_len};
use crate::text::tree::{OpId, Piece, Tree};

/// Types in operations that carry buffers through become those of their values, so that they follow changes.
pub(super) fn retype(tree: &mut Tree, id: OpId, name: &str) {
    let Some(op) = tree.ops.get(id) else { return };
    if op.quoted {
        return;
    }
    let body = op.body.clone();
    let results = op.results.clone();
    let uses: Vec<_> =
        body.iter().filter_map(|p| if let Piece::Use(v, _) = p { Some(*v) } else { None }).collect();
    let defs: Vec<_> =
        body.iter().filter_map(|p| if let Piece::Def(v, _) = p { Some(*v) } else { None }).collect();
    let mut out: Vec<Piece> = Vec::with_capacity(body.len());
    let mut at = 0;
    let mut open = 0usize;
    while let Some(piece) = body.get(at) {
        match piece {
            Piece::Def(value, _) if body.get(at + 1).map(Piece::text) == Some(":") => {
                out.extend([piece.clone(), Piece::Text(":".into(), false), Piece::TypeOf(*value, true)]);
                at += 2;
                at += type_len(body.get(at..).unwrap_or(&[]));
                continue;
            }
            Piece::Text(text, _) => match text.as_ref() {
                "(" | "[" | "{" | "<" => open += 1,
                ")" | "]" | "}" | ">" => open = open.saturating_sub(1),
                ":" if open == 0 && name != "scf.for" => {
                    at = typed(tree, &body, at, &uses, &mut out);
                    continue;
                }
                "->" if open == 0 && name == "scf.for" => {
                    at = typed(tree, &body, at, &results, &mut out);
                    for (arg, result) in defs.iter().skip(1).zip(&results) {
                        let ty = tree.values.get(*result).and_then(|v| v.ty.clone());
                        if let Some(v) = tree.values.get_mut(*arg) {
                            v.ty = ty;
                        }
                    }
                    continue;
                }
                _ => {}
            },
            _ => {}
        }
        out.push(piece.clone());
        at += 1;
    }
    if let Some(op) = tree.ops.get_mut(id) {
        op.body = out;
    }
}

/// Replaces the list of types behind the mark at `at` by the types of values.
fn typed(tree: &mut Tree, body: &[Piece], at: usize, values: &[usize], out: &mut Vec<Piece>) -> usize {
    let mut at = at;
    out.extend(body.get(at).cloned());
    at += 1;
    let parens = body.get(at).map(Piece::text) == Some("(");
    if parens {
        out.extend(body.get(at).cloned());
        at += 1;
    }
    let mut n = 0;
    loop {
        let rest = body.get(at..).unwrap_or(&[]);
        let len = type_len(rest);
        if len == 0 {
            break;
        }
        let ty = join(rest.get(..len).unwrap_or(&[]));
        match values.get(n) {
            Some(value) => {
                if let Some(v) = tree.values.get_mut(*value)
                    && v.ty.is_none()
                {
                    v.ty = Some(ty);
                }
                out.push(Piece::TypeOf(*value, n > 0 || !parens));
            }
            None => out.push(Piece::Text(ty.into(), n > 0 || !parens)),
        }
        at += len;
        n += 1;
        if body.get(at).map(Piece::text) != Some(",") {
            break;
        }
        out.push(Piece::Text(",".into(), false));
        at += 1;
    }
    if parens {
        out.extend(body.get(at).cloned());
        at += 1;
    }
    at
}
