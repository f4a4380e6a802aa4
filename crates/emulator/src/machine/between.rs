//! Conflicts between CTAs of different clusters, found when all have run (E5, E63).

use super::global::{Overlay, Store};
use super::launch::Launch;
use crate::code::Code;
use crate::race::shadow::{Act, GRANULE, PAGE, Sparse};
use crate::report::{Extent, Finding, FindingPlace, Severity};
use std::collections::BTreeMap;

/// What one cluster did to a granule of global memory.
#[derive(Clone, Copy, Debug, Default)]
struct Touch {
    written: u32,
    read: u32,
    atomic: u32,
    /// An instruction that did it.
    pc: u32,
}

/// What one cluster did to global memory.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    touches: Vec<(u64, Touch)>,
    cta: [u32; 3],
}

impl Summary {
    /// What the cluster of a CTA did.
    pub(crate) fn of(shadow: &Sparse, cta: [u32; 3]) -> Summary {
        let mut touches = Vec::new();
        for (page, granules) in &shadow.pages {
            for (i, g) in granules.iter().enumerate() {
                // What a later write of the same cluster hides from `seen` was read all the same.
                let mut t = Touch { read: g.read, ..Touch::default() };
                for a in &g.seen {
                    match a.act {
                        Act::Read => t.read |= a.mask,
                        Act::Write => {
                            t.written |= a.mask;
                            t.pc = a.pc;
                        }
                        Act::Atomic => t.atomic |= a.mask,
                    }
                    if t.written == 0 {
                        t.pc = a.pc;
                    }
                }
                if t.written | t.read | t.atomic != 0 {
                    touches.push((page * (PAGE / GRANULE) + i as u64, t));
                }
            }
        }
        Summary { touches, cta }
    }
}

/// All clusters so far.
#[derive(Debug, Default)]
pub(crate) struct Between {
    /// Granule to the union of what was done, and one writer.
    all: BTreeMap<u64, (Touch, usize)>,
    /// (granule, first pc, its CTA, second pc, its CTA, bytes).
    conflicts: Vec<(u64, u32, u32, [u32; 3], u32, bool)>,
}

impl Between {
    /// Takes a cluster in, before its writes are merged into the store.
    pub(crate) fn add(&mut self, index: usize, s: Summary, store: &Store, overlay: &Overlay) {
        for (g, t) in s.touches {
            match self.all.get_mut(&g) {
                None => {
                    self.all.insert(g, (t, index));
                }
                Some((old, _)) => {
                    let twice = t.written & old.written;
                    let twice = if twice == 0 { 0 } else { twice & !overlay.equal(store, g * GRANULE) };
                    let writes =
                        twice | (t.written & (old.read | old.atomic)) | (old.written & (t.read | t.atomic));
                    // A plain read of what another CTA changes atomically may be a published flag: a note.
                    let reads = (t.atomic & old.read) | (old.atomic & t.read);
                    if writes | reads != 0 && self.conflicts.len() < 64 {
                        let bytes = if writes != 0 { writes } else { reads };
                        self.conflicts.push((g, old.pc, t.pc, s.cta, bytes, writes != 0));
                    }
                    old.written |= t.written;
                    old.read |= t.read;
                    old.atomic |= t.atomic;
                }
            }
        }
    }

    pub(crate) fn findings(&self, code: &Code, launch: &Launch, store: &Store) -> Vec<Finding> {
        let place = |pc: u32, actor: &str| {
            let inst = code.insts.get(pc as usize);
            let loc = inst.and_then(|i| code.locs.get((i.loc as usize).checked_sub(1)?));
            FindingPlace {
                actor: actor.to_string(),
                line: inst.map_or(0, |i| i.line),
                opcode: inst.and_then(|i| code.opcodes.get(i.opcode as usize)).cloned().unwrap_or_default(),
                visit: 0,
                source: loc.map(|(f, l, c)| format!("{f}:{l}:{c}")),
            }
        };
        let one = |(g, first, second, cta, bytes, writes): &(u64, u32, u32, [u32; 3], u32, bool)| {
            let start = g * GRANULE + u64::from(bytes.trailing_zeros());
            let end = g * GRANULE + u64::from(32 - bytes.leading_zeros());
            let (name, at) = match store.describe(start) {
                Some((n, o)) => (Some(n), o),
                None => (None, start),
            };
            Finding {
                code: "R02".into(),
                severity: if *writes { Severity::Error } else { Severity::Note },
                kernel: launch.entry.clone(),
                cta: *cta,
                message: "two CTAs touch the same global bytes, at least one writes, and nothing orders them"
                    .into(),
                remedy: "give each CTA its own part, or use atomics".into(),
                first: Some(place(*second, "a later CTA")),
                second: Some(place(*first, "an earlier CTA")),
                extent: Some(Extent { space: "global".into(), start: at, end: at + (end - start), name }),
                count: 1,
                pairs: Vec::new(),
                since: None,
            }
        };
        self.conflicts.iter().map(one).collect()
    }
}
