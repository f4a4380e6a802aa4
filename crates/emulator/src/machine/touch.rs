//! Every access to memory goes through here: shadow state, poison, and what it collides with (E60-E65).

use super::actor::Actor;
use super::core::{Core, Spot};
use super::plan::Watched;
use super::warp::FULL;
use crate::isa::op::Op;
use crate::place::Extent;
use crate::race::access::{Access, Act, OPERATION};
use crate::race::channel::{KINDS, Kind};
use crate::race::seen::Along;
use crate::race::shadow::{Conflict, GRANULE, granules, side_by_side};
use crate::report::Severity;
use smallvec::SmallVec;

impl Core<'_> {
    /// Records an access of one actor to a shared range and reports what it collides with.
    pub(crate) fn touch_shared(&mut self, cta: u32, start: u64, len: u64, actor: &Actor, act: Act) {
        if !self.race {
            return;
        }
        self.watch_range((Watched::Shared, cta), start..start + len, actor, act);
        self.guard_mbarriers(cta, start, len, actor, act);
        if act == Act::Read && actor.proxy && self.holds_poison(cta, start, len) {
            let message = "an asynchronous operation reads shared bytes whose value was never defined";
            let extent = Some(self.shared_extent(start, start + len));
            self.report(
                "U03",
                Severity::Error,
                actor,
                None,
                extent,
                message,
                "write the register on every path",
            );
        }
        let mut along = Along::default();
        for (g, mask) in granules(start, len) {
            self.touch_along(cta, (g, mask), (actor, act), &mut along);
        }
    }

    /// Records an access to parts of a matrix: granules of shared memory with the bytes of each.
    pub(crate) fn touch_operand(&mut self, cta: u32, list: &[(u64, u32)], actor: &Actor, act: Act) {
        if !self.race {
            return;
        }
        let Some(c) = self.ctas.get(cta as usize) else { return };
        let from = list.iter().map(|(g, _)| g * GRANULE).min().unwrap_or(0);
        let to = list.iter().map(|(g, _)| (g + 1) * GRANULE).max().unwrap_or(0);
        if c.poisoned || c.mbars.range((from.saturating_sub(7)) as u32..to as u32).next().is_some() {
            for (g, mask) in list {
                let start = g * GRANULE + u64::from(mask.trailing_zeros());
                self.touch_shared(cta, start, u64::from(mask.count_ones()), actor, act);
            }
            return;
        }
        if self.plan.watches(Watched::Shared) {
            let piece = |(g, m): &(u64, u32)| {
                (FULL, g * GRANULE + u64::from(m.trailing_zeros()), u64::from(m.count_ones()))
            };
            self.watch((Watched::Shared, cta), list.iter().map(piece), actor, act);
        }
        let mut along = Along::default();
        for part in list {
            self.touch_along(cta, *part, (actor, act), &mut along);
        }
    }

    /// M03: an ordinary access to the bytes of a live mbarrier.
    fn guard_mbarriers(&mut self, cta: u32, start: u64, len: u64, actor: &Actor, act: Act) {
        if act == Act::Atomic {
            return;
        }
        let Some(c) = self.ctas.get(cta as usize) else { return };
        let (low, high) = (start.saturating_sub(7) as u32, (start + len) as u32);
        let Some((at, line)) = c.mbars.range(low..high).next().map(|(a, b)| (*a, b.line)) else { return };
        let extent = self.shared_extent(u64::from(at), u64::from(at) + 8);
        let message = format!("ordinary access to the mbarrier at shared {at} that line {line} initialised");
        let remedy = "mbarrier.inval before the bytes serve anything else (T8)";
        self.report("M03", Severity::Error, actor, None, Some(extent), message, remedy);
    }

    fn touch_along(
        &mut self,
        cta: u32,
        (g, mask): (u64, u32),
        (actor, act): (&Actor, Act),
        along: &mut Along,
    ) {
        let Some(granule) = self.ctas.get_mut(cta as usize).and_then(|c| c.shadow.at(g)) else { return };
        let undefined = mask & !granule.defined;
        if (act != Act::Read || undefined == 0) && granule.again(act, mask, along) {
            return;
        }
        let access = actor.access(act, mask);
        let conflict = granule.access_along(access, &actor.clock, along);
        self.judge_shared(cta, g, (access, undefined, conflict), actor);
    }

    fn touch_shared_granule(&mut self, cta: u32, g: u64, access: Access, actor: &Actor) {
        let Some(granule) = self.ctas.get_mut(cta as usize).and_then(|c| c.shadow.at(g)) else { return };
        let undefined = access.mask & !granule.defined;
        let conflict = granule.access(access, &actor.clock);
        self.judge_shared(cta, g, (access, undefined, conflict), actor);
    }

    /// Reports what an access to a granule found: bytes that nobody had written, and a collision.
    fn judge_shared(
        &mut self,
        cta: u32,
        g: u64,
        (access, undefined, conflict): (Access, u32, Option<Conflict>),
        actor: &Actor,
    ) {
        if undefined != 0 && access.act == Act::Read {
            // An ordinary load may drop what it loaded, as merges do that look one element too far: using it is U03.
            let loads = matches!(self.code.insts.get(actor.pc as usize).map(|i| &i.op), Some(Op::Ld(_)));
            if let Some(c) = self.ctas.get_mut(cta as usize)
                && let Some(granule) = c.shadow.at(g)
            {
                granule.defined |= access.mask;
                if loads {
                    granule.poison |= undefined;
                    c.poisoned = true;
                    self.undefined += 1;
                }
            }
            let severity = if loads { Severity::Note } else { Severity::Error };
            let (s, e) = byte_range(g, undefined);
            let extent = self.holding(Spot::Shared(cta, s), e - s);
            let message = "shared memory that nobody has written is read";
            let remedy = "write it first, or wait for it";
            self.report("U01", severity, actor, None, Some(extent), message, remedy);
        }
        if let Some(c) = conflict {
            let (s, e) = byte_range(g, c.bytes);
            let extent = self.holding(Spot::Shared(cta, s), e - s);
            self.collision("R01", actor, access.act, &c, extent);
        }
    }

    /// Records an access to 32 lanes (quarter `q`) of a TMEM column.
    pub(crate) fn touch_tmem(&mut self, cta: u32, column: u32, q: u32, lanes: u32, actor: &Actor, act: Act) {
        if !self.race {
            return;
        }
        let at = u64::from(column);
        self.watch_range((Watched::Tensor, cta), at..at + 1, actor, act);
        let g = u64::from(column * 4 + q);
        let Some(granule) = self.ctas.get_mut(cta as usize).and_then(|c| c.tmem.shadow.at(g)) else { return };
        // TMEM has no proxies: only order counts.
        let access = Access { proxy: false, ..actor.access(act, lanes) };
        let undefined = lanes & !granule.defined;
        let earlier: SmallVec<[Access; 2]> = granule
            .seen
            .list()
            .iter()
            .filter(|o| o.mask & lanes != 0 && !(o.act == Act::Read && act == Act::Read))
            .copied()
            .collect();
        let conflict = granule.access(access, &actor.clock);
        let extent = Extent {
            space: "tmem".into(),
            start: u64::from(column),
            end: u64::from(column) + 1,
            name: Some(format!(
                "lanes {}-{}",
                32 * q + lanes.trailing_zeros(),
                32 * q + 31 - lanes.leading_zeros()
            )),
            holds: String::new(),
        };
        if undefined != 0 && act == Act::Read {
            let message = "tensor memory that nobody has written is read";
            let remedy = "start the product from zero, or tcgen05.st first";
            // A load alone is a note: peeled loops load what they then drop. Using it is U03.
            let loads =
                actor.who & OPERATION != 0 && (actor.who & !OPERATION) % KINDS == Kind::TcgenLd as u32;
            let severity = if loads { Severity::Note } else { Severity::Error };
            self.report("U02", severity, actor, None, Some(extent.clone()), message, remedy);
        }
        if let Some(c) = conflict {
            self.collision("R03", actor, act, &c, extent);
        } else if let Some(old) = earlier.iter().find(|o| !self.fenced_between(o, &access, actor)) {
            let severity = if self.opts.strict { Severity::Error } else { Severity::Note };
            let message = "tensor memory passes between threads without tcgen05.fence on both sides";
            let remedy =
                "tcgen05.fence::before_thread_sync before the barrier, ::after_thread_sync behind it (E65)";
            self.report("R05", severity, actor, Some(old), Some(extent), message, remedy);
        }
    }

    /// E65: two ordered accesses to TMEM by different warps, with a fence before the first one's release and one
    /// behind the second one's acquire. A commit stands for the first of them.
    fn fenced_between(&self, old: &Access, new: &Access, actor: &Actor) -> bool {
        let channel = |who: u32| who & !OPERATION;
        if old.who & new.who & OPERATION == 0 || channel(old.who) / KINDS == channel(new.who) / KINDS {
            return true;
        }
        let warp = channel(old.who) / KINDS;
        let known = (0..32).map(|l| actor.clock.seen.thread((warp * 32 + l) as usize)).max().unwrap_or(0);
        let issued = self.tmem_issue.get(&(channel(old.who), old.time)).map_or(0, |i| i.0);
        let fences = self.tmem_fences.get(&warp).map_or(&[][..], |f| f.as_slice());
        let committed = channel(old.who) % KINDS == Kind::TcgenMma as u32;
        let before = committed || fences.iter().any(|f| *f > issued && *f <= known);
        let after = self.tmem_issue.get(&(channel(new.who), new.time)).and_then(|i| i.1.as_ref());
        before && after.is_some_and(|clock| old.before(new, clock, old.mask & new.mask))
    }

    /// Lanes of a TMEM column (quarter `q`) without a defined value.
    pub(crate) fn undefined_tmem(&self, cta: u32, column: u32, q: u32) -> u32 {
        if !self.race {
            return 0;
        }
        let shadow = self.ctas.get(cta as usize).map(|c| &c.tmem.shadow.granules);
        shadow.and_then(|g| g.get((column * 4 + q) as usize)).map_or(0, |g| !g.defined | g.poison)
    }

    /// These TMEM cells hold poison.
    pub(crate) fn poison_tmem(&mut self, cta: u32, column: u32, lanes: [u32; 4]) {
        for (q, mask) in lanes.iter().enumerate() {
            let g = u64::from(column * 4) + q as u64;
            if let Some(granule) = self.ctas.get_mut(cta as usize).and_then(|c| c.tmem.shadow.at(g)) {
                granule.poison |= mask;
            }
        }
    }

    /// These TMEM cells count as never written.
    pub(crate) fn undefine_tmem(&mut self, cta: u32, column: u32, lanes: [u32; 4]) {
        for (q, mask) in lanes.iter().enumerate() {
            let g = u64::from(column * 4) + q as u64;
            if let Some(granule) = self.ctas.get_mut(cta as usize).and_then(|c| c.tmem.shadow.at(g)) {
                granule.defined &= !mask;
            }
        }
    }

    /// Whether some byte of a shared range holds poison.
    pub(crate) fn holds_poison(&self, cta: u32, start: u64, len: u64) -> bool {
        let Some(c) = self.ctas.get(cta as usize).filter(|c| c.poisoned) else { return false };
        granules(start, len)
            .any(|(g, m)| c.shadow.granules.get(g as usize).is_some_and(|s| s.poison & m != 0))
    }

    /// These shared bytes hold poison.
    pub(crate) fn poison_shared(&mut self, cta: u32, start: u64, len: u64) {
        let Some(c) = self.ctas.get_mut(cta as usize) else { return };
        c.poisoned = true;
        for (g, m) in granules(start, len) {
            if let Some(granule) = c.shadow.at(g) {
                granule.poison |= m;
            }
        }
    }

    /// These shared bytes hold a value from here on: strong stores are recorded as atomics, which define nothing.
    pub(crate) fn define_shared(&mut self, cta: u32, start: u64, len: u64) {
        for (g, m) in granules(start, len) {
            if let Some(granule) = self.ctas.get_mut(cta as usize).and_then(|c| c.shadow.at(g)) {
                granule.defined |= m;
                granule.poison &= !m;
            }
        }
    }

    /// Records an access to a global range.
    pub(crate) fn touch_global(&mut self, addr: u64, len: u64, actor: &Actor, act: Act) {
        if !self.race {
            return;
        }
        self.watch_range((Watched::Global, 0), addr..addr + len, actor, act);
        let mut along = Along::default();
        for (g, mask) in granules(addr, len) {
            let Some(granule) = self.world.shadow.at(g) else { return };
            let access = Access { global: true, ..actor.access(act, mask) };
            let conflict = granule.access_along(access, &actor.clock, &mut along);
            self.judge_global(g, act, conflict, actor);
        }
    }

    fn touch_global_granule(&mut self, g: u64, access: Access, actor: &Actor) {
        let Some(granule) = self.world.shadow.at(g) else { return };
        let conflict = granule.access(Access { global: true, ..access }, &actor.clock);
        self.judge_global(g, access.act, conflict, actor);
    }

    fn judge_global(&mut self, g: u64, act: Act, conflict: Option<Conflict>, actor: &Actor) {
        if let Some(c) = conflict {
            let (s, e) = byte_range(g, c.bytes);
            let extent = self.holding(Spot::Global(s), e - s);
            self.collision("R02", actor, act, &c, extent);
        }
    }

    /// Reads that do not see writes of this kernel: what it has written, in whatever order, they may not read (R02).
    /// The message and the remedy say what reads.
    pub(crate) fn touch_constant(
        &mut self,
        list: &[(u32, u64)],
        size: u64,
        actor: &Actor,
        (message, remedy): (&str, &str),
    ) {
        for &(_, addr) in list {
            for (g, mask) in granules(addr, size) {
                let Some(granule) = self.world.shadow.at(g) else { continue };
                let writes = |a: &&Access| a.act == Act::Write && a.mask & mask != 0;
                let Some(old) = granule.seen.list().iter().find(writes).copied() else { continue };
                let (s, e) = byte_range(g, old.mask & mask);
                let extent = Some(self.holding(Spot::Global(s), e - s));
                self.report("R02", Severity::Error, actor, Some(&old), extent, message, remedy);
                return;
            }
        }
    }

    /// Records the accesses of the lanes of one instruction: (lane, address) in lane order, `size` bytes each.
    /// Neighbouring lanes are recorded together.
    pub(crate) fn touch_lanes(
        &mut self,
        cta: Option<u32>,
        list: &[(u32, u64)],
        size: u64,
        actor: &Actor,
        act: Act,
    ) {
        if !self.race {
            return;
        }
        self.watch_lanes(cta, list, size, actor, act);
        // Those that may run into an mbarrier.
        let guarded = cta.filter(|c| self.ctas.get(*c as usize).is_some_and(|c| !c.mbars.is_empty()));
        if guarded.is_none()
            && let Some((lane, start)) = side_by_side(list, size)
        {
            for (g, mask) in granules(start, list.len() as u64 * size) {
                let first = lane + ((g * GRANULE).saturating_sub(start) / size) as u32;
                let lanes = u32::MAX >> (32 - mask.count_ones() / size as u32) << first;
                let (first, stride) = (mask.trailing_zeros() as u8, size as u8);
                let access = Access { lanes, first, stride, ..actor.access(act, mask) };
                self.touch_pending(cta, g, access, actor);
            }
            return;
        }
        let mut pending: Option<(u64, Access)> = None;
        for &(lane, addr) in list {
            if let Some(c) = guarded {
                self.guard_mbarriers(c, addr, size, actor, act);
            }
            for (g, mask) in granules(addr, size) {
                if let Some((pg, p)) = &mut pending {
                    let next_byte = 32 - p.mask.leading_zeros();
                    let linear = *pg == g
                        && u32::from(p.stride) == mask.count_ones()
                        && lane == 32 - p.lanes.leading_zeros()
                        && mask.trailing_zeros() == next_byte;
                    let same = *pg == g && p.mask == mask && (p.stride == 0 || p.lanes.count_ones() == 1);
                    if linear {
                        p.lanes |= 1 << lane;
                        p.mask |= mask;
                        continue;
                    }
                    if same && act != Act::Write {
                        p.lanes |= 1 << lane;
                        p.stride = 0;
                        continue;
                    }
                }
                let mut a = actor.access(act, mask);
                a.lanes = 1 << lane;
                a.first = mask.trailing_zeros() as u8;
                a.stride = mask.count_ones() as u8;
                if let Some((g, a)) = pending.replace((g, a)) {
                    self.touch_pending(cta, g, a, actor);
                }
            }
        }
        if let Some((g, a)) = pending {
            self.touch_pending(cta, g, a, actor);
        }
    }

    fn touch_pending(&mut self, cta: Option<u32>, g: u64, a: Access, actor: &Actor) {
        match cta {
            Some(c) => self.touch_shared_granule(c, g, a, actor),
            None => self.touch_global_granule(g, a, actor),
        }
    }
}

fn byte_range(g: u64, mask: u32) -> (u64, u64) {
    (g * GRANULE + u64::from(mask.trailing_zeros()), g * GRANULE + u64::from(32 - mask.leading_zeros()))
}
