//! Conflicts between CTAs of different clusters, found when all have run (E5, E63).

use super::global::{Overlay, Store};
use super::launch::Launch;
use crate::code::Code;
use crate::place::{Extent, FindingPlace};
use crate::race::access::Act;
use crate::race::shadow::{GRANULE, PER_PAGE, Sparse};
use crate::report::{Finding, Severity};
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

impl Touch {
    fn nothing(&self) -> bool {
        self.written | self.read | self.atomic == 0
    }

    /// Adds what a later cluster did. Gives the bytes at which the two collide, and whether by a plain write; bytes
    /// that were `equal` before and after the later one's write are written in any order.
    fn join(&mut self, t: &Touch, equal: impl Fn() -> u32) -> Option<(u32, bool)> {
        if t.nothing() {
            return None;
        }
        if self.nothing() {
            *self = *t;
            return None;
        }
        let twice = t.written & self.written;
        let twice = if twice == 0 { 0 } else { twice & !equal() };
        let writes = twice | (t.written & (self.read | self.atomic)) | (self.written & (t.read | t.atomic));
        // A plain read of what another CTA changes atomically may be a published flag: a note.
        let reads = (t.atomic & self.read) | (self.atomic & t.read);
        self.written |= t.written;
        self.read |= t.read;
        self.atomic |= t.atomic;
        let bytes = if writes != 0 { writes } else { reads };
        (bytes != 0).then_some((bytes, writes != 0))
    }
}

/// What was done to each granule of a page.
type Page = Box<[Touch; PER_PAGE]>;

/// What one cluster did to global memory.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// By number, in order.
    pages: Vec<(u64, Page)>,
    cta: [u32; 3],
}

impl Summary {
    /// What the cluster of a CTA did.
    pub(crate) fn of(shadow: &Sparse, cta: [u32; 3]) -> Summary {
        let mut pages = Vec::new();
        for (number, granules) in shadow.pages() {
            let mut page = Box::new([Touch::default(); PER_PAGE]);
            for (t, g) in page.iter_mut().zip(granules) {
                // What a later write of the same cluster hides from `seen` was read all the same.
                t.read = g.read;
                for a in g.seen.list() {
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
            }
            pages.push((number, page));
        }
        Summary { pages, cta }
    }
}

/// All clusters so far.
#[derive(Debug, Default)]
pub(crate) struct Between {
    /// The union of what was done to each page, and an instruction that wrote each granule.
    all: BTreeMap<u64, Page>,
    /// (granule, first pc, its CTA, second pc, its CTA, bytes).
    conflicts: Vec<(u64, u32, u32, [u32; 3], u32, bool)>,
}

impl Between {
    /// Takes a cluster in, before its writes are merged into the store.
    pub(crate) fn add(&mut self, s: Summary, store: &Store, overlay: &Overlay) {
        for (number, page) in s.pages {
            match self.all.get_mut(&number) {
                None => {
                    self.all.insert(number, page);
                }
                Some(olds) => {
                    let first = number * PER_PAGE as u64;
                    for (g, (old, t)) in (first..).zip(olds.iter_mut().zip(page.iter())) {
                        let equal = || overlay.equal(store, g * GRANULE);
                        if let Some((bytes, writes)) = old.join(t, equal)
                            && self.conflicts.len() < 64
                        {
                            self.conflicts.push((g, old.pc, t.pc, s.cta, bytes, writes));
                        }
                    }
                }
            }
        }
    }

    pub(crate) fn findings(&self, code: &Code, launch: &Launch, store: &Store) -> Vec<Finding> {
        let place = |pc: u32, actor: &str| {
            let inst = code.insts.get(pc as usize);
            FindingPlace {
                actor: actor.to_string(),
                line: inst.map_or(0, |i| i.line),
                opcode: inst.and_then(|i| code.opcodes.get(i.opcode as usize)).cloned().unwrap_or_default(),
                visit: 0,
                source: inst.and_then(|i| code.source(i.loc)),
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
                extent: Some(Extent {
                    space: "global".into(),
                    start: at,
                    end: at + (end - start),
                    name,
                    holds: String::new(),
                }),
                registers: Vec::new(),
                count: 1,
                pairs: Vec::new(),
                since: None,
                lanes: 0,
            }
        };
        self.conflicts.iter().map(one).collect()
    }
}
