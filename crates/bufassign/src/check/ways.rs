//! What roles do: of a chip by its name as this checker knows it (B5, B27), else as the description says (B82).

use super::description::role;
use super::facts::Facts;
use crate::input::{AccessRole, Proxy, TargetSpec};

/// What a role does.
#[derive(Clone, Copy, Default)]
pub(super) struct Way {
    /// Legal in shared memory.
    pub smem: bool,
    /// Legal in tensor memory.
    pub tmem: bool,
    /// The hardware signals that a write of it is complete.
    pub signals: bool,
    /// Waited for in groups.
    pub grouped: bool,
    /// The barrier counts its bytes.
    pub counted: bool,
    /// The unit orders its own updates.
    pub accumulates: bool,
    /// A descriptor.
    pub descriptor: bool,
    /// Writes by plain stores.
    pub generic: bool,
    /// Reads by itself.
    pub by_async: bool,
    /// Least alignment.
    pub align: u64,
}

/// What a role does on the target of the problem; nothing, where it has none of this name.
pub(super) fn way(f: &Facts<'_>, r: AccessRole) -> Way {
    let TargetSpec::Machine(spec) = &f.problem.target else { return of_chips(r) };
    let Some(own) = role(spec, r) else { return Way { align: 1, ..Way::default() } };
    let reaches = |name: &str| own.spaces.iter().any(|s| s.as_str() == name);
    Way {
        // Which of its spaces a machine's role reaches is another question.
        smem: spec.block.is_none() || reaches("smem"),
        tmem: spec.block.is_some() && reaches("tmem"),
        signals: own.signals,
        grouped: own.grouped,
        counted: own.counted,
        accumulates: own.accumulates,
        descriptor: own.descriptor,
        generic: own.proxy == Some(Proxy::Generic),
        by_async: own.proxy == Some(Proxy::Async),
        align: own.align,
    }
}

fn of_chips(r: AccessRole) -> Way {
    use AccessRole::*;
    let tmem = matches!(r, Tcgen05D | Tcgen05Scale | Tcgen05CpDst | Tcgen05St | Tcgen05Ld);
    let either = matches!(r, RegWrite | RegRead | Tcgen05A);
    Way {
        smem: !tmem && !matches!(r, Signal | TmaDesc),
        tmem: tmem || either,
        signals: matches!(r, TmaLoad | Tcgen05D | Tcgen05CpDst),
        grouped: r == CpAsync,
        counted: r == TmaLoad,
        accumulates: r == Tcgen05D,
        descriptor: r == TmaDesc,
        generic: matches!(r, RegWrite | SharedWrite | CpAsync),
        by_async: matches!(r, TmaStore | TmaReduce | WgmmaA | WgmmaB | Tcgen05A | Tcgen05B | Tcgen05CpSrc),
        align: if matches!(r, TmaLoad | TmaStore | TmaReduce) { 128 } else { 1 },
    }
}
