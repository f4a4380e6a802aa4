//! What must be over when a cluster ends (C01, C03, T03).

use super::actor::actor;
use super::cluster::Machine;
use super::coverage::Seen;
use crate::race::access::{Access, OPERATION};
use crate::race::channel::{Kind, channel};
use crate::race::shadow::GRANULE;
use crate::report::{Finding, Severity, Stats, TraceEvent};
use crate::sight::Sight;

/// What a cluster leaves behind.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub findings: Vec<Finding>,
    pub trace: Vec<TraceEvent>,
    pub seen: Vec<Sight>,
    pub stats: Stats,
    pub printed: String,
    pub coverage: Seen,
}

impl Outcome {
    /// Of a cluster that has ended, or was stopped.
    pub(crate) fn of(mut m: Machine<'_>) -> Outcome {
        check(&mut m);
        let mut stats = m.core.stats;
        stats.steps = m.core.steps;
        for (name, n) in m.core.code.opcodes.iter().zip(&m.core.opcode_counts) {
            if *n > 0 {
                stats.opcodes.insert(name.clone(), *n);
            }
        }
        let mut coverage = m.core.coverage;
        m.warps.iter().for_each(|w| coverage.visited(&w.visits));
        Outcome {
            findings: m.core.findings,
            trace: m.core.trace,
            seen: m.core.seen,
            stats,
            printed: m.core.printed,
            coverage,
        }
    }
}

/// Checks the end of a cluster that has come to its end.
fn check(m: &mut Machine<'_>) {
    if m.warps.iter().any(|w| w.live != 0) {
        return;
    }
    registers(m);
    products(m);
    pending(m);
    peers(m);
    tmem(m);
}

/// C01: an operation on shared memory that no thread of the cluster ever learnt to be over.
///
/// Writes to global memory complete after the kernel, but shared memory is gone with its CTA. Knowledge, not the
/// schedule, decides: an operation that happened to be quick is still an error.
fn pending(m: &mut Machine<'_>) {
    if !m.core.race {
        return;
    }
    let mut known = m.core.empty_clock();
    for w in &m.warps {
        let mut all = (*w.clock).clone();
        all.tell_all();
        known.join(&all);
    }
    let kinds = [
        (Kind::CpAsync, "a cp.async"),
        (Kind::BulkLoad, "a copy into shared memory"),
        (Kind::BulkStore, "the reading of shared memory by a bulk store"),
        (Kind::Wgmma, "a wgmma"),
        (Kind::TcgenMma, "a tcgen05.mma"),
    ];
    for i in 0..m.warps.len() {
        for (kind, what) in kinds {
            let Some(w) = m.warps.get(i) else { continue };
            let c = channel(w.id, kind);
            let Some(issued) = m.core.issued.get(c as usize) else { continue };
            let left = issued.iter().enumerate().find(|(n, _)| !known.seen.knows(m.core.home, c, *n as u32));
            let Some((n, pc)) = left.map(|(n, pc)| (n as u32, *pc)) else { continue };
            let mut a = actor(w, pc, w.born);
            (a.who, a.time) = (OPERATION | c, n);
            let message = format!("{what} is waited for by nobody before the CTA ends");
            let remedy = "wait for it: the shared memory it uses is gone with the CTA";
            m.core.report("C01", Severity::Error, &a, None, None, message, remedy);
        }
    }
}

/// A03: what another CTA does to the shared memory of one that may have ended by then. Knowledge decides, not the schedule:
/// a CTA may end when its own warps know that nobody comes any more.
fn peers(m: &mut Machine<'_>) {
    if !m.core.race || m.core.ctas.len() < 2 {
        return;
    }
    for cta in 0..m.core.ctas.len() as u32 {
        let mut known = m.core.empty_clock();
        for w in m.warps.iter().filter(|w| w.cta == cta) {
            let mut all = (*w.clock).clone();
            all.tell_all();
            known.join(&all);
        }
        let Some(c) = m.core.ctas.get(cta as usize) else { continue };
        let late = c.shadow.granules.iter().zip(0..).find_map(|(granule, g)| {
            let foreign = |a: &&Access| u32::from(a.rank) != cta && !a.known(&known);
            granule.seen.list().iter().find(foreign).map(|a| (*a, g))
        });
        let Some((late, g)) = late else { continue };
        let Some(w) = m.warps.iter().find(|w| w.cta == u32::from(late.rank)) else { continue };
        let mut a = actor(w, late.pc, late.lanes);
        (a.who, a.time, a.visit) = (late.who, late.time, late.visit);
        let first = g * GRANULE + u64::from(late.mask.trailing_zeros());
        let extent = m.core.shared_extent(first, g * GRANULE + u64::from(32 - late.mask.leading_zeros()));
        let message =
            format!("CTA rank {cta} of the cluster may have ended before this access of its shared memory");
        let remedy = "barrier.cluster before exit, or let that CTA wait for it (C34)";
        m.core.report("A03", Severity::Error, &a, None, Some(extent), message, remedy);
    }
}

/// C02: a product that not all warps of a warpgroup issued.
fn products(m: &mut Machine<'_>) {
    for ((cta, group, _), (pc, _, seen)) in std::mem::take(&mut m.core.products) {
        let Some(w) = m.warps.iter().find(|w| w.cta == cta && w.index / 4 == group) else { continue };
        let a = actor(w, pc, w.born);
        let message = format!("{seen} of the four warps of a warpgroup come to this product");
        m.core.error("C02", &a, message, "let all four warps issue it, or none");
    }
}

/// T03: tensor memory that was not freed.
fn tmem(m: &mut Machine<'_>) {
    let Some(w) = m.warps.first() else { return };
    let a = actor(w, 0, w.born);
    let mut left = Vec::new();
    for c in &m.core.ctas {
        left.extend(c.tmem.allocs.iter().copied());
    }
    for (at, n, line) in left {
        let message = format!("TMEM columns {at}..{} (alloc line {line}) are not freed at exit", at + n);
        m.core.error("T03", &a, message, "tcgen05.dealloc by a warp of the CTA before it exits (T14)");
    }
}

/// C03: all warps of a warpgroup must run the same setmaxnreg instructions.
fn registers(m: &mut Machine<'_>) {
    let n = m.warps.len();
    for i in 0..n {
        let (Some(w), Some(first)) = (m.warps.get(i), m.warps.get(i - i % 4)) else { continue };
        // The same counts in the same order: Triton's warps do so from different lines.
        let differ = !w.setmax.iter().map(|x| x.1).eq(first.setmax.iter().map(|x| x.1));
        if w.cta == first.cta && differ && w.index / 4 == first.index / 4 {
            let pc = w.setmax.first().or(first.setmax.first()).map_or(0, |(pc, _)| *pc);
            let a = actor(w, pc, w.born);
            let message = "the warps of a warpgroup ask for different register counts";
            m.core.error("C03", &a, message, "all four warps run the same setmaxnreg (T15)");
        }
    }
}
