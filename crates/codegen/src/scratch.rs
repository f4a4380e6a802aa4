//! Shared memory by which the warps of an agent exchange values, declared by the agent (C65).

use warploom_ir::diag::Code;
use warploom_ir::{Attr, Module, OpId};

use crate::error::{Result, refuse};
use crate::program::NamedBarrier;

/// Bytes that nothing else uses while the agent runs, and the barrier of its warps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scratch {
    /// Byte offset in shared memory.
    pub offset: u64,
    /// Its size.
    pub bytes: u64,
    /// Where all warps of the agent meet, and nobody else.
    pub barrier: NamedBarrier,
}

/// The attributes `scratch = array<i64: offset, bytes>` and `barrier = @name` of an agent of `warps` warps.
pub(crate) fn read(
    module: &Module,
    agent: OpId,
    warps: u64,
    shared: u64,
    barrier: impl Fn(&str) -> Option<NamedBarrier>,
) -> Result<Option<Scratch>> {
    let bad = |text: String| Err(refuse(Code::Verify, text).rule("C65").into());
    let place = match module.attr(agent, "scratch") {
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
    let name = module.attr(agent, "barrier").and_then(Attr::as_symbol);
    let Some(barrier) = name.and_then(barrier) else {
        return bad("scratch needs `barrier`, a named barrier declared before the agent".to_owned());
    };
    if barrier.threads != 32 * warps {
        return bad(format!("a barrier of {} threads for the {warps} warps of an agent", barrier.threads));
    }
    Ok(Some(Scratch { offset, bytes, barrier }))
}
