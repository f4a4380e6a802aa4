//! Asynchronous operations: actors of their own, with events that are scheduled one by one (E8).

mod bulk;
mod cp_async;
mod issue;
mod lanes;
pub(crate) mod operand;
pub(crate) mod products;
mod scaled;
pub(crate) mod signal;
mod tensor;
mod tmem;
pub(crate) mod wgmma;

pub(crate) use issue::issue;

use super::core::Core;
use super::operations::{Operation, Work};
use super::warp::Warp;
use crate::race::channel::Kind;

/// Whether the next event of an operation may happen now.
pub(crate) fn ready(core: &Core<'_>, op: &Operation) -> bool {
    match &op.work {
        Work::Signal(s) => !core.ops.iter().any(|o| {
            let earlier_commit =
                s.is_commit() && o.number < op.number && matches!(&o.work, Work::Signal(t) if t.is_commit());
            let awaited = s.after.iter().any(|(kind, n)| o.kind == *kind && o.number < *n);
            o.warp == op.warp && (earlier_commit || awaited)
        }),
        // The products of one warp run in order: only the same accumulators have to, more would be a guess (E42).
        Work::Wgmma(_) => {
            !core.ops.iter().any(|o| o.warp == op.warp && o.kind == Kind::Wgmma && o.number < op.number)
        }
        Work::Tmem(t) => tmem::ready(core, op, t),
        _ => true,
    }
}

/// Does the next event of the operation at `index`.
pub(crate) fn advance(core: &mut Core<'_>, warps: &mut [Warp], index: usize) {
    if index >= core.ops.len() {
        return;
    }
    let mut op = core.ops.remove(index);
    let finished = match &mut op.work {
        Work::CpAsync(_) => cp_async::advance(core, &mut op),
        Work::Signal(_) => signal::advance(core, &mut op),
        Work::Tensor(_) => tensor::advance(core, &mut op),
        Work::Bulk(_) => bulk::advance(core, &mut op),
        Work::StAsync(_) => bulk::advance_store(core, &mut op),
        Work::Wgmma(_) => wgmma::advance(core, warps, &mut op),
        Work::Tmem(_) => tmem::advance(core, warps, &mut op),
    };
    op.stage += 1;
    core.progress += 1;
    if !finished {
        core.ops.insert(index, op);
    } else if core.opts.trace > 0 {
        core.trace_operation(&op);
    }
}
