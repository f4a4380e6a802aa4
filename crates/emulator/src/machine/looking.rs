//! Breaks, watches and registers of a cluster while it runs (E104).

use super::actor::Actor;
use super::core::{Core, Spot};
use super::plan::Watched;
use super::warp::{FULL, Warp};
use crate::isa::op::PSrc;
use crate::place::{Extent, Values};
use crate::race::access::Act;
use crate::report::Severity;
use crate::sight::{Sight, SightKind};
use std::ops::Range;

/// Bytes that a finding shows of what it is about.
const HELD: u64 = 16;
/// Bytes that are shown before and behind them where the state is asked for.
const AROUND: u64 = 16;

impl Core<'_> {
    /// Memory with its name and what it holds.
    pub(crate) fn holding(&mut self, spot: Spot, len: u64) -> Extent {
        let extent = match spot {
            Spot::Shared(_, at) => self.shared_extent(at, at + len),
            Spot::Global(at) => self.global_extent(at, at + len),
            _ => Extent { space: "none".into(), start: 0, end: len, name: None, holds: String::new() },
        };
        Extent { holds: self.held(spot, len.min(HELD)), ..extent }
    }

    /// The bytes of a place in hexadecimal; nothing where they do not exist.
    fn held(&mut self, spot: Spot, len: u64) -> String {
        let mut bytes = vec![0; len as usize];
        let there = match spot {
            Spot::Global(at) => self.world.global.read(at, &mut bytes).is_ok(),
            Spot::Shared(cta, at) => {
                let all = self.ctas.get(cta as usize).map(|c| &*c.shared);
                let some = all.and_then(|s| s.get(at as usize..)?.get(..len as usize));
                some.map(|s| bytes.copy_from_slice(s)).is_some()
            }
            _ => false,
        };
        let list: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
        if there { list.join(" ") } else { String::new() }
    }

    fn sight(&mut self, sight: impl FnOnce(&mut Self) -> Sight) {
        if self.seen.len() < self.plan.most {
            let sight = sight(self);
            self.seen.push(sight);
        }
    }

    /// Tells the registers where a warp comes to a break.
    pub(crate) fn stop(&mut self, w: &Warp, lanes: u32, pc: u32) {
        let visit = w.visits.get(pc as usize).copied().unwrap_or(0);
        let from = self.plan.breaks.partition_point(|(at, _)| *at < pc);
        let here = self.plan.breaks.iter().skip(from).take_while(|(at, _)| *at == pc);
        if !here.clone().any(|(_, only)| only.is_none_or(|v| v == visit)) {
            return;
        }
        let all = self.plan.state;
        self.sight(|core| core.warp_sight(SightKind::Break, w, lanes, pc, all));
    }

    /// What a warp looks like at an instruction.
    pub(crate) fn warp_sight(&self, kind: SightKind, w: &Warp, lanes: u32, pc: u32, all: bool) -> Sight {
        let visit = w.visits.get(pc as usize).copied().unwrap_or(0);
        Sight {
            kind,
            cta: self.ctas.get(w.cta as usize).map_or([0; 3], |c| c.ctaid),
            place: self.place(w.id, w.now, pc, visit, lanes),
            step: self.steps.saturating_sub(1),
            registers: if all { self.all_registers(w, lanes) } else { self.registers(w, pc, lanes) },
            memory: None,
        }
    }

    /// The registers that an instruction names, each once, and its guard.
    fn registers(&self, w: &Warp, pc: u32, lanes: u32) -> Vec<Values> {
        let mut out: Vec<Values> = Vec::new();
        let guard = self.code.insts.get(pc as usize).and_then(|i| i.guard);
        out.extend(guard.map(|(p, _)| self.predicate_values(w, p, lanes)));
        let mut seen = Vec::new();
        for (r, _) in self.code.uses.get(pc as usize).into_iter().flatten() {
            if !seen.contains(r) {
                seen.push(*r);
                out.push(self.values(w, *r, lanes));
            }
        }
        out
    }

    /// All registers that some of these lanes ever wrote.
    fn all_registers(&self, w: &Warp, lanes: u32) -> Vec<Values> {
        let general = (0..w.regs.len() as u32).map(|r| self.values(w, r, lanes));
        let predicates = (0..w.preds.len() as u32).map(|p| self.predicate_values(w, p, lanes));
        general.chain(predicates).filter(|v| v.lanes.iter().any(Option::is_some)).collect()
    }

    fn values(&self, w: &Warp, r: u32, lanes: u32) -> Values {
        let (poison, bits) = (w.poison_at(r), self.code.widths.get(r as usize).copied().unwrap_or(0));
        let known = lanes & !((poison | poison >> 32) as u32);
        let held = w.regs.get(r as usize).copied().unwrap_or([0; 32]);
        let name = self.code.names.get(r as usize).cloned().unwrap_or_default();
        Values { name, bits, lanes: (0..32).map(|l| (known >> l & 1 == 1).then(|| held[l])).collect() }
    }

    fn predicate_values(&self, w: &Warp, p: u32, lanes: u32) -> Values {
        let (value, poison) = (w.predicate(PSrc::Reg(p, false)), w.predicate_poison(PSrc::Reg(p, false)));
        let known = lanes & !poison;
        let one = |l: u32| (known >> l & 1 == 1).then(|| u64::from(value >> l & 1));
        let name = self.code.predicate_names.get(p as usize).cloned().unwrap_or_default();
        Values { name, bits: 1, lanes: (0..32).map(one).collect() }
    }

    /// Gives the findings behind `from`, which a warp made at `pc`, the registers of their instruction, and tells the
    /// whole state where that was asked for.
    pub(crate) fn explain(&mut self, w: &Warp, pc: u32, from: usize) {
        let line = self.code.insts.get(pc as usize).map(|i| i.line);
        for i in from..self.findings.len() {
            let Some(f) = self.findings.get(i) else { continue };
            if f.first.as_ref().map(|p| p.line) != line {
                continue;
            }
            let lanes = f.lanes & w.born;
            let state = self.plan.state && f.severity == Severity::Error;
            let (code, extent) = (f.code.clone(), f.extent.clone());
            let registers = self.registers(w, pc, lanes);
            if let Some(f) = self.findings.get_mut(i) {
                f.registers = registers;
            }
            if state {
                self.sight(|core| {
                    let memory = extent.map(|e| core.around(e, w.cta));
                    Sight { memory, ..core.warp_sight(SightKind::Finding(code), w, lanes, pc, true) }
                });
            }
        }
    }

    /// More of the memory that a finding is about, where that is global memory or the CTA's own.
    fn around(&mut self, e: Extent, cta: u32) -> Extent {
        let (start, end) = (e.start.saturating_sub(AROUND), e.end.saturating_add(AROUND));
        let base = match e.space.as_str() {
            "global" => self.world.global.store.buffers.iter().find(|b| Some(&b.name) == e.name.as_ref()),
            _ => None,
        };
        let room = match (&base, e.space.as_str()) {
            (Some(b), _) => b.data.len() as u64,
            (None, "shared") => self.ctas.get(cta as usize).map_or(0, |c| c.shared.len() as u64),
            _ => return e,
        };
        let end = end.min(room).max(start);
        let spot = base.map_or(Spot::Shared(cta, start), |b| Spot::Global(b.base + start));
        let holds = self.held(spot, (end - start).min(4 * AROUND));
        Extent { start, end, holds, ..e }
    }

    /// Tells an access to watched memory: pieces with the lanes that touch each.
    pub(crate) fn watch(
        &mut self,
        (what, cta): (Watched, u32),
        pieces: impl Iterator<Item = (u32, u64, u64)> + Clone,
        actor: &Actor,
        act: Act,
    ) {
        for i in 0..self.plan.watches.len() {
            let Some((_, range)) = self.plan.watches.get(i).filter(|(w, _)| *w == what) else { continue };
            let range = range.clone();
            let hit = |(lanes, at, len): (u32, u64, u64)| {
                let (from, to) = (at.max(range.start), at.saturating_add(len).min(range.end));
                (from < to).then_some((lanes, from, to))
            };
            let together =
                pieces.clone().filter_map(hit).reduce(|a, b| (a.0 | b.0, a.1.min(b.1), a.2.max(b.2)));
            let Some((lanes, from, to)) = together else { continue };
            self.sight(|core| {
                let memory = match what {
                    Watched::Global => core.holding(Spot::Global(from), to - from),
                    Watched::Shared => core.holding(Spot::Shared(cta, from), to - from),
                    Watched::Tensor => {
                        let holds = String::new();
                        Extent { space: "tmem".into(), start: from, end: to, name: None, holds }
                    }
                };
                let kind = match act {
                    Act::Read => SightKind::Read,
                    Act::Write => SightKind::Write,
                    Act::Atomic => SightKind::Atomic,
                };
                Sight {
                    kind,
                    cta: core.ctas.get(actor.cta as usize).map_or([0; 3], |c| c.ctaid),
                    place: core.place(actor.who, actor.time, actor.pc, actor.visit, lanes & actor.lanes),
                    step: core.steps.saturating_sub(1),
                    registers: Vec::new(),
                    memory: Some(memory),
                }
            });
        }
    }

    /// Tells an access of lanes to watched memory.
    pub(crate) fn watch_lanes(
        &mut self,
        cta: Option<u32>,
        list: &[(u32, u64)],
        size: u64,
        actor: &Actor,
        act: Act,
    ) {
        let place = cta.map_or((Watched::Global, 0), |c| (Watched::Shared, c));
        if self.plan.watches(place.0) {
            self.watch(place, list.iter().map(|(lane, at)| (1 << lane, *at, size)), actor, act);
        }
    }

    /// Tells an access of one actor to a watched range.
    pub(crate) fn watch_range(&mut self, place: (Watched, u32), range: Range<u64>, actor: &Actor, act: Act) {
        if self.plan.watches(place.0) {
            let one = std::iter::once((FULL, range.start, range.end - range.start));
            self.watch(place, one, actor, act);
        }
    }

    /// Tells the registers of lanes that stand still, where the state was asked for.
    pub(crate) fn stuck(&mut self, w: &Warp, lanes: u32, pc: u32) {
        if self.plan.state {
            self.sight(|core| core.warp_sight(SightKind::Finding("D01".into()), w, lanes, pc, true));
        }
    }
}
