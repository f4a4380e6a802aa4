//! The numbers of values in the assignment problem: the payloads of the rings, ring by ring, the staging buffers of the
//! stores, the accumulators, the operands.

use warploom_ir::{Module, OpId};

use crate::select::Selection;

/// The value of a payload of a ring.
pub(crate) fn payload_value(selection: &Selection, ring: usize, payload: usize) -> u64 {
    let before: usize = selection.rings.iter().take(ring).map(|r| r.payloads().len()).sum();
    (before + payload) as u64
}

/// The value of staging buffer number `index`: those of all stores for the first computing partition, then for the next.
pub(crate) fn staging_value(selection: &Selection, index: usize) -> u64 {
    payload_value(selection, selection.rings.len(), index)
}

/// Staging buffers of all computing partitions.
pub(crate) fn stagings(selection: &Selection) -> usize {
    selection.stores.len().saturating_mul(selection.computing())
}

/// The value of accumulator number `index` in tensor memory.
pub(crate) fn accumulator_value(selection: &Selection, index: usize) -> u64 {
    staging_value(selection, stagings(selection) + index)
}

/// The value of operand number `index` in tensor memory.
pub(crate) fn operand_value(selection: &Selection, index: usize) -> u64 {
    accumulator_value(selection, selection.accumulators.len() + index)
}

/// The operations that fill a buffer, each with its value.
pub(crate) fn filled(selection: &Selection) -> Vec<(OpId, u64)> {
    let loads = selection.loads.iter().enumerate().filter_map(|(load, data)| {
        let (ring, payload) = selection.ring_of(load)?;
        Some((data.op, payload_value(selection, ring, payload)))
    });
    let stores =
        selection.stores.iter().enumerate().map(|(index, s)| (s.op, staging_value(selection, index)));
    let accumulators =
        selection.accumulators.iter().enumerate().filter(|(index, s)| s.home == *index).filter_map(
            |(index, s)| Some((selection.dots.get(s.dot)?.op, accumulator_value(selection, index))),
        );
    loads.chain(stores).chain(accumulators).collect()
}

/// The operation that fills the buffer of a value.
pub(crate) fn value_fill(module: &Module, selection: &Selection, value: u64) -> Option<OpId> {
    let payloads =
        selection.rings.iter().flat_map(|r| r.payloads()).map(|&l| selection.loads.get(l).map(|l| l.op));
    let stores = (0..selection.computing()).flat_map(|_| selection.stores.iter().map(|s| Some(s.op)));
    let accumulators = selection.accumulators.iter().map(|s| selection.dots.get(s.dot).map(|d| d.op));
    let operands = selection.operands.iter().map(|f| module.def_op(f.value));
    payloads.chain(stores).chain(accumulators).chain(operands).nth(usize::try_from(value).ok()?)?
}
