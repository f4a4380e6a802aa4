//! Shared memory by which the warps of a partition exchange values, declared by the partition (C65).

use warploom_ir::diag::Code;
use warploom_ir::{Attr, Module, OpId};

use super::types::{NamedBarrier, Scratch};
use crate::error::{Result, refuse};

/// The attributes `scratch = array<i64: offset, bytes>` and `barrier = @name` of a partition of `warps` warps.
pub(crate) fn read(
    module: &Module,
    partition: OpId,
    warps: u64,
    shared: u64,
    barrier: impl Fn(&str) -> Option<NamedBarrier>,
) -> Result<Option<Scratch>> {
    let bad = |text: String| Err(refuse(Code::Verify, text).rule("C65").into());
    let place = match module.attr(partition, "scratch") {
        None => return Ok(None),
        Some(Attr::DenseArray { values, .. }) => values.as_slice(),
        Some(_) => &[],
    };
    let place: Vec<u64> = place.iter().filter_map(|&v| u64::try_from(v).ok()).collect();
    let &[offset, bytes] = place.as_slice() else {
        return bad("scratch is an offset and a number of bytes".to_owned());
    };
    if offset % 16 != 0 || offset.checked_add(bytes).is_none_or(|end| end > shared) {
        return bad(format!("{bytes} B of scratch at {offset} of {shared} B of shared memory"));
    }
    let name = module.attr(partition, "barrier").and_then(Attr::as_symbol);
    let Some(barrier) = name.and_then(barrier) else {
        return bad("scratch needs `barrier`, a named barrier declared before the partition".to_owned());
    };
    if barrier.threads != 32 * warps {
        return bad(format!("a barrier of {} threads for the {warps} warps of a partition", barrier.threads));
    }
    Ok(Some(Scratch { offset, bytes, barrier }))
}
