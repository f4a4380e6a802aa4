//! Copies by all lanes (`cp.async`): each warp fills its part of a tile, in groups that it waits for itself; what
//! others copied is there once all have met behind their waits (C24).

use warploom_ir::{OpId, Opcode, ValueId};

use super::{Run, Step, Val};
use crate::check::machine::{Part, PlaceId, State};
use crate::check::report::Rule;

/// The version of a copy that is masked off everywhere: it fills a slot with zeros that nobody should read.
const NOTHING: u64 = u64::MAX;

impl Run<'_, '_> {
    /// Whether a ring is filled by copies of this kind.
    pub(super) fn is_grouped(&self, ring: usize) -> bool {
        self.model.rings.get(ring).is_some_and(|r| r.is_grouped())
    }

    /// Whether products of a warp's partition are there at once.
    pub(super) fn multiplies_at_once(&self, w: usize) -> bool {
        let partition = self.warps.get(w).and_then(|x| self.model.partitions.get(x.partition));
        partition.is_some_and(|a| a.layout == "mma_sync")
    }

    pub(super) fn async_copy(&mut self, w: usize, op: OpId) -> Step {
        let Some((ring, payload, place)) = self.payload_place(w, op) else { return Step::Broken };
        if !self.is_grouped(ring) {
            return self.broken(w, Rule::Form, "copies by all lanes into a ring of another handshake");
        }
        let read = self.plain(w, op);
        if read != Step::Went {
            return read;
        }
        if let Some(broken) = self.writable(w, place) {
            return broken;
        }
        self.machine.spoil(place);
        self.machine.forget_parts(place);
        let nothing = self.model.operand(op, 2).is_some_and(|mask| self.is_false(w, mask));
        let Some(warp) = self.warps.get_mut(w) else { return Step::Done };
        let count = warp.copied.entry((ring, payload)).or_insert(0);
        let version = if nothing { NOTHING } else { *count };
        *count += u64::from(!nothing);
        warp.open_group.push((place, version));
        self.machine.parts.insert((place, w), Part { version, state: State::Flies, fenced: false });
        Step::Went
    }

    /// A warp writes its part of a tile from registers: it sees it at once, others once they have met.
    pub(super) fn store_part(&mut self, w: usize, (ring, payload): (usize, usize), place: PlaceId) -> Step {
        if let Some(broken) = self.writable(w, place) {
            return broken;
        }
        self.machine.spoil(place);
        self.machine.forget_parts(place);
        let Some(warp) = self.warps.get_mut(w) else { return Step::Done };
        let count = warp.copied.entry((ring, payload)).or_insert(0);
        let version = *count;
        *count += 1;
        self.machine.parts.insert((place, w), Part { version, state: State::Landed, fenced: false });
        Step::Went
    }

    /// Whether warps write a ring from registers.
    pub(super) fn is_stored(&self, w: usize, ring: usize) -> bool {
        let (Some(warp), Some(ring)) = (self.warps.get(w), self.model.rings.get(ring)) else { return false };
        ring.writers.contains(&warp.partition)
    }

    /// Whether a mask is false everywhere because its last operand is: the guard of an iteration that may not exist.
    fn is_false(&self, w: usize, mask: ValueId) -> bool {
        let module = self.model.module;
        let Some(op) = module.def_op(mask) else { return false };
        match (module.ops[op].opcode, module.ops[op].operands.as_slice()) {
            (Opcode::Splat, &[scalar]) => self.value(w, scalar) == Val::Int(0),
            (Opcode::AndI, &[_, last]) if module.ty(last).is_tensor() => match module.def_op(last) {
                Some(op) if module.ops[op].opcode == Opcode::Splat => self.is_false(w, last),
                _ => false,
            },
            _ => false,
        }
    }

    pub(super) fn async_commit(&mut self, w: usize) -> Step {
        if let Some(warp) = self.warps.get_mut(w) {
            let group = std::mem::take(&mut warp.open_group);
            warp.groups.push_back(group);
        }
        Step::Went
    }

    pub(super) fn async_wait(&mut self, w: usize, op: OpId) -> Step {
        let pending = self.model.number(op, "pending").unwrap_or(u64::MAX);
        let mut landed = Vec::new();
        if let Some(warp) = self.warps.get_mut(w) {
            while warp.groups.len() as u64 > pending {
                landed.extend(warp.groups.pop_front().into_iter().flatten());
            }
        }
        for (place, version) in landed {
            if let Some(part) = self.machine.parts.get_mut(&(place, w)).filter(|p| p.version == version) {
                part.state = State::Landed;
            }
        }
        Step::Went
    }

    /// All warps at a barrier have met: what they waited for is there for everybody.
    pub(super) fn publish(&mut self, met: &[usize]) {
        for ((_, writer), part) in &mut self.machine.parts {
            if met.contains(writer) && part.state == State::Landed {
                part.state = State::Public;
            }
        }
    }

    /// The warp makes what it copied and waited for known to the asynchronous proxy (C26).
    pub(super) fn fence_parts(&mut self, w: usize) {
        for ((_, writer), part) in &mut self.machine.parts {
            part.fenced |= *writer == w && part.state == State::Landed;
        }
    }

    /// Products of the asynchronous proxy read what every warp has fenced.
    pub(super) fn parts_fenced(&mut self, w: usize, place: PlaceId) -> Option<Step> {
        let bare = self.machine.parts_of(place).find(|(_, part)| !part.fenced);
        let writer = bare.map(|((_, writer), _)| *writer)?;
        let text = format!(
            "a product reads what warp {writer} copied, without a proxy fence of its behind the wait"
        );
        Some(self.broken(w, Rule::Fence, text))
    }

    /// Products that one lane issues read what every warp has fenced, and has met with that lane's warp behind it: its
    /// own warp too, for other lanes have copied as well.
    pub(super) fn parts_known(&mut self, w: usize, place: PlaceId) -> Option<Step> {
        let own = self.machine.parts.get(&(place, w)).is_some_and(|part| part.state != State::Public);
        if own {
            let text = "one lane multiplies what other lanes of its warp copied, before they met";
            return Some(self.broken(w, Rule::Read, text));
        }
        self.parts_fenced(w, place)
    }

    /// Which copy the next view of a payload should show: copies are read in the order they were made, each once;
    /// a tile that is copied once, outside of loops, stays what it is. A tile stored from registers is the one stored last.
    pub(super) fn wanted(&mut self, w: usize, ring: usize, payload: usize) -> u64 {
        if self.is_stored(w, ring) {
            let stored = self.warps.get(w).and_then(|x| x.copied.get(&(ring, payload)));
            return stored.copied().unwrap_or(0).saturating_sub(1);
        }
        let Some(warp) = self.warps.get_mut(w) else { return 0 };
        let copied = self.model.rings.get(ring).and_then(|r| r.copied.get(&(warp.partition, payload)));
        if copied.is_none_or(|&times| times < 2) {
            return 0;
        }
        let count = warp.viewed.entry((ring, payload)).or_insert(0);
        let version = *count;
        *count += 1;
        version
    }

    /// Whether every warp's part of a place is the wanted copy, and there.
    pub(super) fn parts_readable(&mut self, w: usize, place: PlaceId, version: u64) -> Option<Step> {
        let partition = self.warps.get(w)?.partition;
        let writers: Vec<usize> =
            self.warps.iter().enumerate().filter(|(_, x)| x.partition == partition).map(|(u, _)| u).collect();
        for u in writers {
            let part = self.machine.parts.get(&(place, u)).copied();
            let there = part.is_some_and(|p| {
                p.version == version && (p.state == State::Public || (u == w && p.state == State::Landed))
            });
            if there {
                continue;
            }
            let found = match part {
                None => "nothing".to_owned(),
                Some(Part { version: found, state, .. }) => format!("copy {found}, {}", state.text()),
            };
            let text = format!("reads copy {version} of the ring and finds {found} in the part of warp {u}");
            return Some(self.broken(w, Rule::Read, text));
        }
        None
    }
}
