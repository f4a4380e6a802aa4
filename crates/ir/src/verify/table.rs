//! Checks operations against the [table](crate::table): how many operands, results and regions, and what else must hold.

use super::context::Cx;
use super::{arith, control, memory, products, program, shapes};
use crate::attributes::is_known;
use crate::diag::{Code, Diagnostic};
use crate::opcode::Opcode;
use crate::text::format::{Format, Item, format};
use crate::types::Type;

/// A row of the table.
struct Row {
    operands: (usize, usize),
    results: (usize, usize),
    regions: usize,
    check: fn(&mut Cx<'_>),
}

const ANY: usize = usize::MAX;

/// The bounds of a number of things as the table writes it.
macro_rules! bounds {
    ($n:literal) => {
        ($n, $n)
    };
    ($low:literal ..= $high:literal) => {
        ($low, $high)
    };
    ($low:literal ..) => {
        ($low, ANY)
    };
}

macro_rules! rows {
    ($($(#[$doc:meta])* $variant:ident $name:literal [$($in:tt)*] [$($out:tt)*] $regions:literal
        $format:ident $module:ident::$verifier:ident $category:ident $effect:ident $cost:ident $lowered:ident,)*) => {
        fn row(op: Opcode) -> Option<Row> {
            Some(match op {
                $(Opcode::$variant => Row {
                    operands: bounds!($($in)*),
                    results: bounds!($($out)*),
                    regions: $regions,
                    check: $module::$verifier,
                },)*
                Opcode::Other(_) => return None,
            })
        }
    };
}

crate::table::operations!(rows);

/// Checks an operation against its row, and the types of everything it makes against C4.
pub(super) fn check(cx: &mut Cx<'_>) {
    limits(cx);
    let Some(row) = row(cx.m.ops[cx.op].opcode) else { return };
    let found = [
        ("operands", cx.operands().len(), row.operands),
        ("results", cx.results().len(), row.results),
        ("regions", cx.m.ops[cx.op].regions.len(), (row.regions, row.regions)),
    ];
    let mut sound = true;
    for (what, n, (low, high)) in found {
        sound &= cx.need((low..=high).contains(&n), || {
            let wanted = match (low, high) {
                (l, h) if l == h => l.to_string(),
                (l, ANY) => format!("at least {l}"),
                (l, h) => format!("{l} to {h}"),
            };
            format!("{n} {what}, {wanted} needed")
        });
    }
    sound &= properties(cx);
    unread(cx);
    if sound {
        (row.check)(cx);
    }
}

/// Properties that the custom form spells must be there, and be what it says.
fn properties(cx: &mut Cx<'_>) -> bool {
    use crate::attr::Attr;
    let Format::Items(items, _) = format(cx.m.ops[cx.op].opcode) else { return true };
    let mut sound = true;
    for item in items {
        let (name, fits, wanted, optional) = match item {
            Item::Keyword(name, words) | Item::Named(name, words) => {
                let fits = cx.prop(name).and_then(Attr::as_str).is_some_and(|w| words.number(w).is_some());
                (name, fits, format!("one of {}", words.list()), false)
            }
            Item::MaybeKeyword(name, words) | Item::MaybeNamed(name, words) => {
                let fits = cx.prop(name).and_then(Attr::as_str).is_some_and(|w| words.number(w).is_some());
                (name, fits, format!("one of {}", words.list()), true)
            }
            Item::Text(name) => {
                (name, matches!(cx.prop(name), Some(Attr::String(_))), "a string".to_owned(), false)
            }
            Item::Symbol(name) => {
                (name, matches!(cx.prop(name), Some(Attr::Symbol(_))), "a symbol".to_owned(), false)
            }
            Item::Name => (
                &"sym_name",
                matches!(cx.prop("sym_name"), Some(Attr::String(_))),
                "a string".to_owned(),
                false,
            ),
            _ => continue,
        };
        let missing = cx.prop(name).is_none();
        sound &= cx.need(fits || (missing && optional), || match missing {
            true => format!("attribute `{name}` is missing"),
            false => format!("attribute `{name}` must be {wanted}"),
        });
    }
    sound
}

/// An attribute of an operation of Triton's dialect that nothing here knows would be dropped in silence (C3). Those with the
/// name of a dialect are advice.
fn unread(cx: &mut Cx<'_>) {
    let data = &cx.m.ops[cx.op];
    let Some(op) = data.opcode.name().filter(|name| name.starts_with("tt.")) else { return };
    let loose = data.attrs.iter().filter(|(name, _)| !name.contains('.'));
    let names = data.props.iter().chain(loose).map(|(name, _)| name);
    let unknown: Vec<String> = names.filter(|name| !is_known(op, name)).map(str::to_owned).collect();
    for name in unknown {
        cx.need(false, || format!("attribute `{name}` of {op} is unknown"));
    }
}

/// Most dimensions of a tile: as often as the largest can be halved.
const MAX_TILE_RANK: usize = 20;

/// Most dimensions of a block of a descriptor, which the copy engine moves.
const MAX_BLOCK_RANK: usize = 5;

/// Rank, extents and size of tiles and blocks (C4).
fn limits(cx: &mut Cx<'_>) {
    let m = cx.m;
    for value in cx.results() {
        limit(cx, m.ty(*value));
    }
    for region in &m.ops[cx.op].regions {
        for block in &m.regions[*region].blocks {
            for arg in &m.blocks[*block].args {
                limit(cx, m.ty(*arg));
            }
        }
    }
}

fn limit(cx: &mut Cx<'_>, ty: &Type) {
    if !ty.is_tensor() && !ty.is_desc() {
        return;
    }
    let shape = ty.shape();
    let most = if ty.is_desc() { MAX_BLOCK_RANK } else { MAX_TILE_RANK };
    let fault = if shape.is_empty() || shape.len() > most {
        format!("`{ty}` has rank {}, 1 to {most} are supported", shape.len())
    } else if let Some(odd) = shape.iter().find(|d| !d.is_power_of_two()) {
        format!("extent {odd} of `{ty}` is not a power of two")
    } else if ty.elements().is_none_or(|n| n > 1 << 20) {
        format!("`{ty}` has more than 1048576 elements")
    } else {
        return;
    };
    cx.report(Diagnostic::error(Code::Verify, fault).rule("C4"));
}
