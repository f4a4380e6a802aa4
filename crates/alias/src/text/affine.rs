//! Bindings of explicit text: which buffer an index reads in which iteration (A44).

use hashbrown::HashMap;
use serde::Serialize;
use warploom_ir::{OpId, Opcode, ValueId};

use super::part::TextPart;
use super::read::{ReadOptions, functions, open, read};
use super::views::Roots;
use crate::error::{AliasError, AliasErrors, AliasNote};
use crate::layout::AliasOptions;
use crate::model::LeafId;

/// Operations of one index expression that are followed.
const MOST_STEPS: u32 = 1000;

/// The buffers that one `ttg.memdesc_index` of a leaf reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
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
pub fn indexed_leaves(
    text: &str,
    options: &AliasOptions,
) -> Result<(Vec<IndexedLeaf>, Vec<AliasNote>), AliasErrors> {
    let (part, _) = open(text, 1)?;
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    for ops in functions(&part) {
        let roots = Roots::new(&part, &ops);
        let kernel = read(&part, &ops, ReadOptions { compat: options.compat })?;
        let of: HashMap<ValueId, LeafId> =
            kernel.leaves.iter().filter_map(|(leaf, op)| Some((part.result(*op)?, *leaf))).collect();
        for op in ops.into_iter().filter(|op| part.name(*op) == "ttg.memdesc_index") {
            let [buffer, index] = part.module.ops[op].operands[..] else { continue };
            let Some(leaf) = of.get(&roots.of(buffer)) else { continue };
            let leaf = kernel.module.leaf(*leaf);
            let visit = visits(&part, op, index, leaf.count());
            if visit.is_none() {
                let message = format!(
                    "the index of {} is not affine in the induction variable; the value holds all {} buffers",
                    leaf.shown(),
                    leaf.count()
                );
                notes.push(
                    AliasError::note("A44", message)
                        .at(part.pos(op))
                        .help("index by a multiple of it and a constant"),
                );
            }
            let value = part.result(op).map_or("", |v| part.value_name(v));
            out.push(IndexedLeaf { leaf: leaf.name().to_owned(), value: value.to_owned(), visit });
        }
    }
    Ok((out, notes))
}

/// `mul * j + add` modulo the number of buffers, j the iteration of the innermost `scf.for` around.
fn visits(part: &TextPart, at: OpId, index: ValueId, count: u64) -> Option<(u64, u64)> {
    let m = &part.module;
    let mut around = m.parent(at);
    while let Some(op) = around.filter(|op| m.ops[*op].opcode != Opcode::For) {
        around = m.parent(op);
    }
    let (mut variable, mut first, mut step) = (None, 0i128, 1i128);
    if let Some(op) = around {
        variable = m.entry(op, 0).and_then(|b| m.blocks[b].args.first()).copied();
        let number = |n: usize| {
            affine(part, part.operand(op, n)?, None, &mut { MOST_STEPS }).filter(|(mul, _)| *mul == 0)
        };
        // Without constant bounds the iteration is not known from the variable.
        match (number(0), number(2)) {
            (Some((_, a)), Some((_, s))) => (first, step) = (a, s),
            _ if uses(part, index, variable, &mut { MOST_STEPS }) => return None,
            _ => {}
        }
    }
    let (mul, add) = affine(part, index, variable, &mut { MOST_STEPS })?;
    let n = i128::from(count.max(1));
    let wrap = |v: i128| u64::try_from(v.rem_euclid(n)).ok();
    Some((wrap(mul.checked_mul(step)?)?, wrap(mul.checked_mul(first)?.checked_add(add)?)?))
}

fn uses(part: &TextPart, value: ValueId, variable: Option<ValueId>, budget: &mut u32) -> bool {
    if Some(value) == variable {
        return true;
    }
    let Some(left) = budget.checked_sub(1) else { return true };
    *budget = left;
    let Some(def) = part.module.def_op(value) else { return false };
    part.module.ops[def].operands.iter().any(|v| uses(part, *v, variable, budget))
}

/// A value as `mul * variable + add`; expressions of more than [`MOST_STEPS`] operations are not followed.
fn affine(
    part: &TextPart,
    value: ValueId,
    variable: Option<ValueId>,
    budget: &mut u32,
) -> Option<(i128, i128)> {
    if Some(value) == variable {
        return Some((1, 0));
    }
    *budget = budget.checked_sub(1)?;
    if let Some(n) = part.module.const_int(value) {
        return Some((0, n));
    }
    let op = part.module.def_op(value)?;
    let mut of = |n: usize| affine(part, part.operand(op, n)?, variable, budget);
    match part.module.ops[op].opcode {
        Opcode::AddI => {
            let (a, b) = (of(0)?, of(1)?);
            Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))
        }
        Opcode::SubI => {
            let (a, b) = (of(0)?, of(1)?);
            Some((a.0.checked_sub(b.0)?, a.1.checked_sub(b.1)?))
        }
        Opcode::MulI => match (of(0)?, of(1)?) {
            ((0, k), (m, c)) | ((m, c), (0, k)) => Some((m.checked_mul(k)?, c.checked_mul(k)?)),
            _ => None,
        },
        Opcode::IndexCast | Opcode::ExtSI | Opcode::TruncI => of(0),
        _ => None,
    }
}
