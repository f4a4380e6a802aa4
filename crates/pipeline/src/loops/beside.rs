//! What a loop over tiles does beside the loops that multiply: its epilogue (Q50).

use warploom_chips::Target;
use warploom_chips::cost::CostError;
use warploom_ir::{Module, OpId, Opcode};

use super::access::Accesses;
use super::index::Indices;
use super::nodes::enclosing_function;
use super::price::{Prices, RowShare};
use crate::walk::Users;

/// Cycles that a computing partition takes in a trip of `outer` for all but the loops `inner`: results go to staging
/// buffers, from where the copy engine takes them by itself.
///
/// # Errors
/// The chip has no cost for an operation.
pub(crate) fn beside(
    module: &Module,
    outer: OpId,
    inner: &[OpId],
    target: &Target,
) -> Result<u64, CostError> {
    let users = Users::new(module);
    let prices = Prices {
        module,
        target,
        instruction: target.mma_instruction(),
        one_partition: false,
        indices: Indices::new(module, outer, &users),
        users,
        accesses: Accesses::new(module, enclosing_function(module, outer)),
        split: [1, 1],
        share: RowShare::of(module, outer, 1),
    };
    let ops = module.entry(outer, 0).map(|b| module.blocks[b].ops.as_slice()).unwrap_or_default();
    let mut cycles = 0u64;
    for &op in ops.iter().filter(|op| !inner.contains(op)) {
        let data = &module.ops[op];
        let cost = match (data.opcode, data.operands.get(1)) {
            (Opcode::DescriptorStore, Some(&tile)) => Some(prices.shared(tile)?),
            _ => prices.of(op)?,
        };
        cycles = cycles.saturating_add(cost.map_or(0, |cost| cost.latency));
    }
    Ok(cycles)
}
