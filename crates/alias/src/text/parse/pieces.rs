//! Runs of pieces: types, locations, text.

use super::{is_close, is_open};
use crate::text::tree::{Op, Piece, Tree};

/// Takes `loc(..)` off the end.
pub(super) fn split_loc(op: &mut Op) {
    if op.body.last().map(Piece::text) != Some(")") {
        return;
    }
    let mut open = 0usize;
    for (n, piece) in op.body.iter().enumerate().rev() {
        match piece.text() {
            ")" => open += 1,
            "(" => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            let before = n.checked_sub(1);
            if before.and_then(|b| op.body.get(b)).map(Piece::text) == Some("loc") {
                let tail = op.body.split_off(n - 1);
                op.loc = Some(join(&tail));
            }
            return;
        }
    }
}

/// Tokens as text; values do not occur in them.
pub(crate) fn join(pieces: &[Piece]) -> String {
    let mut out = String::with_capacity(pieces.iter().map(|p| p.text().len() + 1).sum());
    for piece in pieces {
        if let Piece::Text(text, space) = piece {
            if *space && !out.is_empty() {
                out.push(' ');
            }
            out.push_str(text);
        }
    }
    out
}

/// Gives block arguments the types that stand behind them: `%a: T` up to a comma or the closing bracket.
pub(crate) fn typed_defs(tree: &mut Tree, pieces: &[Piece]) {
    for (n, piece) in pieces.iter().enumerate() {
        let Piece::Def(value, _) = piece else { continue };
        if pieces.get(n + 1).map(Piece::text) != Some(":") {
            continue;
        }
        let ty = pieces.get(n + 2..).map(|rest| join(&rest[..type_len(rest)]));
        if let Some(v) = tree.values.get_mut(*value) {
            v.ty = ty;
        }
    }
}

/// Number of pieces that make one type: up to `,`, `->`, `{`, `=`, `loc`, or a bracket that it did not open.
pub(crate) fn type_len(pieces: &[Piece]) -> usize {
    let mut open = 0usize;
    for (n, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(text, _) => match text.as_ref() {
                "," | "->" | "{" | "=" | "loc" | "attributes" if open == 0 => return n,
                t if is_open(t) => open += 1,
                t if is_close(t) => {
                    if open == 0 {
                        return n;
                    }
                    open -= 1;
                }
                _ => {}
            },
            _ => return n,
        }
    }
    pieces.len()
}
