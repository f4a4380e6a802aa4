//! Bindings of explicit text: which buffer an index reads in which iteration (A44).

use hashbrown::HashMap;
use serde::Serialize;

use super::form::read_forms;
use super::parse::parse;
use super::print::constant;
use super::read::{ReadOptions, functions, read};
use super::tree::{OpId, Piece, Tree, ValueId};
use crate::error::{AliasError, Note};
use crate::layout::{AliasOptions, Errors};
use crate::model::LeafId;

/// Operations of one index expression that are followed.
const MOST_STEPS: u32 = 1000;

/// The buffers that one `ttg.memdesc_index` of a leaf reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexedLeaf {
    /// The leaf's name.
    pub leaf: String,
    /// SSA name of the result, without `%`.
    pub value: String,
    /// Iteration j reads buffer `(mul * j + add) mod n`; `None`: any of them.
    pub visit: Option<(u64, u64)>,
}

/// Reads the pairs of all indices of leaves off their index expressions: affine in the induction variable of
/// the loop around, or constant. For any other a note says that the value holds all buffers.
///
/// # Errors
/// Everything that is wrong with the text's declarations.
pub fn indexed_leaves(text: &str, options: &AliasOptions) -> Result<(Vec<IndexedLeaf>, Vec<Note>), Errors> {
    let mut tree = parse(text, 1)?;
    read_forms(&mut tree)?;
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    for ops in functions(&tree) {
        let roots = super::sync::Roots::new(&tree, &ops);
        let kernel = read(&tree, &ops, ReadOptions { compat: options.compat }).map_err(Errors)?;
        let result = |op: OpId| tree.ops.get(op).and_then(|o| o.results.first()).copied();
        let of: HashMap<ValueId, LeafId> =
            kernel.leaves.iter().filter_map(|(leaf, op)| Some((result(*op)?, *leaf))).collect();
        for id in ops {
            let Some(op) = tree.ops.get(id).filter(|o| o.name == "ttg.memdesc_index") else { continue };
            let Some([buffer, index]) = op.form.as_ref().map(|f| f.operands.as_slice()) else { continue };
            let Some(leaf) = of.get(&roots.of(*buffer)) else { continue };
            let leaf = kernel.module.leaf(*leaf);
            let visit = visits(&tree, id, *index, leaf.count());
            if visit.is_none() {
                let message = format!(
                    "the index of {} is not affine in the induction variable; the value holds all {} buffers",
                    leaf.shown(),
                    leaf.count()
                );
                notes.push(
                    AliasError::note("A44", message)
                        .at(op.pos)
                        .help("index by a multiple of it and a constant"),
                );
            }
            let value = op.results.first().and_then(|v| tree.values.get(*v)).map_or("", |v| v.name.as_str());
            out.push(IndexedLeaf { leaf: leaf.name().to_owned(), value: value.to_owned(), visit });
        }
    }
    Ok((out, notes))
}

/// `mul * j + add` modulo the number of buffers, j the iteration of the innermost `scf.for` around.
fn visits(tree: &Tree, at: OpId, index: ValueId, count: u64) -> Option<(u64, u64)> {
    let mut around = tree.parent(at);
    while let Some(op) = around {
        if tree.ops.get(op).is_some_and(|o| o.name == "scf.for") {
            break;
        }
        around = tree.parent(op);
    }
    let (mut variable, mut first, mut step) = (None, 0i128, 1i128);
    if let Some(op) = around {
        let region = tree.regions_of(op).first().copied().and_then(|r| tree.regions.get(r));
        let block = region.and_then(|r| r.blocks.first()).and_then(|b| tree.blocks.get(*b));
        variable = block.and_then(|b| b.args.first()).copied();
        let bounds = tree.operands(op);
        let number = |n: usize| {
            affine(tree, *bounds.get(n)?, None, &mut { MOST_STEPS }).filter(|(mul, _)| *mul == 0).map(|p| p.1)
        };
        // Without constant bounds the iteration is not known from the variable.
        match (number(0), number(2)) {
            (Some(a), Some(s)) => (first, step) = (a, s),
            _ if uses(tree, index, variable, &mut { MOST_STEPS }) => return None,
            _ => {}
        }
    }
    let (mul, add) = affine(tree, index, variable, &mut { MOST_STEPS })?;
    let n = i128::from(count.max(1));
    let wrap = |v: i128| u64::try_from(v.rem_euclid(n)).ok();
    Some((wrap(mul.checked_mul(step)?)?, wrap(mul.checked_mul(first)?.checked_add(add)?)?))
}

fn operands(tree: &Tree, value: ValueId) -> Option<(&str, Vec<ValueId>)> {
    let op = tree.values.get(value)?.def.and_then(|d| tree.ops.get(d))?;
    let uses = op.body.iter().filter_map(|p| if let Piece::Use(v, _) = p { Some(*v) } else { None });
    Some((op.name.as_str(), uses.collect()))
}

fn uses(tree: &Tree, value: ValueId, variable: Option<ValueId>, budget: &mut u32) -> bool {
    if Some(value) == variable {
        return true;
    }
    let Some(left) = budget.checked_sub(1) else { return true };
    *budget = left;
    operands(tree, value).is_some_and(|(_, list)| list.iter().any(|v| uses(tree, *v, variable, budget)))
}

/// A value as `mul * variable + add`; expressions of more than [`MOST_STEPS`] operations are not followed.
fn affine(tree: &Tree, value: ValueId, variable: Option<ValueId>, budget: &mut u32) -> Option<(i128, i128)> {
    if Some(value) == variable {
        return Some((1, 0));
    }
    *budget = budget.checked_sub(1)?;
    let op = tree.values.get(value)?.def.and_then(|d| tree.ops.get(d))?;
    if let Some((n, _)) = constant(op) {
        return Some((0, i128::from(n)));
    }
    let (name, list) = operands(tree, value)?;
    let mut of = |n: usize| affine(tree, *list.get(n)?, variable, budget);
    match name {
        "arith.addi" => {
            let (a, b) = (of(0)?, of(1)?);
            Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))
        }
        "arith.subi" => {
            let (a, b) = (of(0)?, of(1)?);
            Some((a.0.checked_sub(b.0)?, a.1.checked_sub(b.1)?))
        }
        "arith.muli" => match (of(0)?, of(1)?) {
            ((0, k), (m, c)) | ((m, c), (0, k)) => Some((m.checked_mul(k)?, c.checked_mul(k)?)),
            _ => None,
        },
        "arith.index_cast" | "arith.extsi" | "arith.trunci" => of(0),
        _ => None,
    }
}
