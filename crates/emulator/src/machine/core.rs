//! The state of one cluster that all agents share, and the checks every memory access goes through.

use super::agents::Operation;
use super::global::{Fault, View};
use super::launch::{Launch, Options};
use super::mbarrier::Mbarrier;
use super::named::NamedBarrier;
use super::rng::Rng;
use super::tmem::Tmem;
use super::warp::Votes;
use crate::isa::op::Space;
use crate::module::Code;
use crate::race::clock::{Clock, KINDS, Kind};
use crate::race::shadow::{Access, Act, Conflict, ConflictKind, Flat, GRANULE, OPERATION, Sparse, granules};
use crate::report::{Extent, Finding, Place, Severity, Stats};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Generic windows (E22); everything else is global.
pub(crate) const SHARED_WINDOW: u64 = 0x2000_0000_0000_0000;
pub(crate) const LOCAL_WINDOW: u64 = 0x4000_0000_0000_0000;
pub(crate) const PARAM_WINDOW: u64 = 0x6000_0000_0000_0000;
const WINDOW: u64 = 1 << 32;

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    Global(u64),
    /// CTA of the cluster and offset.
    Shared(u32, u64),
    Local(u64),
    Param(u64),
    /// No such place: wrong space or a CTA outside the cluster (A03).
    Nowhere,
}

/// One CTA.
pub(crate) struct Cta {
    pub ctaid: [u32; 3],
    pub shared: Vec<u8>,
    pub shadow: Flat,
    /// Some shared byte may hold poison.
    pub poisoned: bool,
    pub mbars: BTreeMap<u32, Mbarrier>,
    pub named: Vec<NamedBarrier>,
    pub tmem: Tmem,
    /// First warp and number of warps.
    pub warps: (u32, u32),
    pub live_warps: u32,
    /// Registers that nobody holds (E29).
    pub free_registers: u32,
}

/// Who accesses memory: a warp's lanes or an operation.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    pub who: u32,
    pub time: u32,
    pub pc: u32,
    pub visit: u32,
    pub lanes: u32,
    pub proxy: bool,
    /// Writes what is there already.
    pub same: bool,
    /// CTA of the issuing warp.
    pub cta: u32,
    pub clock: Rc<Clock>,
}

impl Actor {
    fn access(&self, act: Act, mask: u32) -> Access {
        Access {
            who: self.who,
            time: self.time,
            pc: self.pc,
            visit: self.visit,
            lanes: self.lanes,
            mask,
            first: 0,
            stride: 0,
            act,
            proxy: self.proxy,
            same: self.same,
        }
    }
}

/// State of `barrier.cluster`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterBarrier {
    pub generation: u32,
    pub arrived: u32,
    pub clock: Clock,
    pub released: Rc<Clock>,
}

/// A product as the first warp issued it: instruction, descriptors and scale, warps so far.
pub(crate) type Issued = (u32, [u64; 3], u32);

/// All of a cluster but its warps.
pub(crate) struct Core<'a> {
    pub code: &'a Code,
    pub launch: &'a Launch,
    pub opts: &'a Options,
    pub params: &'a [u8],
    pub warps_total: u32,
    pub ctas: Vec<Cta>,
    pub global: View<'a>,
    pub global_shadow: Sparse,
    pub ops: Vec<Operation>,
    /// Next operation number of each channel.
    pub numbers: Vec<u32>,
    /// The instruction of each operation of each channel (C01).
    pub issued: Vec<Vec<u32>>,
    pub cluster_barrier: ClusterBarrier,
    pub rng: Rng,
    /// `elect.sync` may pick any lane, and this decides which (E10).
    pub any_lane: bool,
    pub elect_salt: u32,
    /// SMs of the chip.
    pub sms: u32,
    /// What releases at a shared (CTA + 1) or global (0) address carry.
    pub released: BTreeMap<(u32, u64), Clock>,
    /// The cta_group that the kernel uses; 0 before the first (T06).
    pub cta_group: u8,
    /// Products of warpgroups that not all warps have issued: (CTA, warpgroup, number) to what one issued (W03).
    pub products: BTreeMap<(u32, u32, u32), Issued>,
    pub race: bool,
    pub findings: Vec<Finding>,
    pub stats: Stats,
    pub opcode_counts: Vec<u64>,
    pub steps: u64,
    /// Counts everything that may let somebody else move.
    pub progress: u64,
    /// Warps whose named barrier completed, and what they learn.
    pub wakes: Vec<(u32, u32, Rc<Clock>, Votes)>,
    /// The kernel cannot go on.
    pub dead: bool,
}

impl<'a> Core<'a> {
    /// A clock that knows nothing, of the right size.
    pub(crate) fn empty_clock(&self) -> Clock {
        if self.race {
            Clock::new(self.warps_total as usize * 32, (self.warps_total * KINDS) as usize)
        } else {
            Clock::default()
        }
    }

    /// Where an address of an instruction leads, for a thread of `cta`.
    pub(crate) fn spot(&self, space: Space, addr: u64, cta: u32) -> Spot {
        match space {
            Space::Global | Space::Const => Spot::Global(addr),
            Space::Param => Spot::Param(addr),
            Space::Local => Spot::Local(addr),
            Space::Shared | Space::SharedCluster => self.shared_spot(addr, cta),
            Space::Generic => {
                if addr.wrapping_sub(SHARED_WINDOW) < WINDOW {
                    self.shared_spot(addr - SHARED_WINDOW, cta)
                } else if addr.wrapping_sub(LOCAL_WINDOW) < WINDOW {
                    Spot::Local(addr - LOCAL_WINDOW)
                } else if addr.wrapping_sub(PARAM_WINDOW) < WINDOW {
                    Spot::Param(addr - PARAM_WINDOW)
                } else {
                    Spot::Global(addr)
                }
            }
        }
    }

    /// E21: ((rank + 1) << 24) | offset, rank field 0 is the own CTA. Generic shared addresses are taken too.
    fn shared_spot(&self, addr: u64, cta: u32) -> Spot {
        let addr = if addr.wrapping_sub(SHARED_WINDOW) < WINDOW { addr - SHARED_WINDOW } else { addr };
        match addr >> 24 {
            0 => Spot::Shared(cta, addr),
            rank if rank <= self.ctas.len() as u64 => Spot::Shared(rank as u32 - 1, addr & 0xff_ffff),
            _ => Spot::Nowhere,
        }
    }

    /// The shared memory of a CTA.
    pub(crate) fn cta(&mut self, cta: u32) -> Option<&mut Cta> {
        self.ctas.get_mut(cta as usize)
    }

    /// Reports something; the first of its kind for a pair of lines is kept, later ones counted.
    #[allow(clippy::too_many_arguments, reason = "a finding has this many sides")]
    pub(crate) fn report(
        &mut self,
        code: &str,
        severity: Severity,
        actor: &Actor,
        other: Option<&Access>,
        extent: Option<Extent>,
        message: impl Into<String>,
        remedy: &str,
    ) {
        let first = self.place(actor.who, actor.time, actor.pc, actor.visit, actor.lanes);
        let second = other.map(|o| self.place(o.who, o.time, o.pc, o.visit, o.lanes));
        let line = first.line;
        let other_line = second.as_ref().map(|s| s.line);
        let same = self.findings.iter_mut().find(|f| {
            f.code == code
                && f.severity == severity
                && f.first.as_ref().is_some_and(|p| p.line == line)
                && f.second.as_ref().map(|p| p.line) == other_line
        });
        if let Some(f) = same {
            f.count += 1;
            return;
        }
        if self.findings.len() >= self.opts.max_findings {
            return;
        }
        let cta = self.ctas.get(actor.cta as usize).map_or([0; 3], |c| c.ctaid);
        self.findings.push(Finding {
            code: code.to_string(),
            severity,
            kernel: self.launch.entry.clone(),
            cta,
            message: message.into(),
            remedy: remedy.to_string(),
            first: Some(first),
            second,
            extent,
            count: 1,
        });
    }

    /// An error without a second agent.
    pub(crate) fn error(&mut self, code: &str, actor: &Actor, message: impl Into<String>, remedy: &str) {
        self.report(code, Severity::Error, actor, None, None, message, remedy);
    }

    fn place(&self, who: u32, time: u32, pc: u32, visit: u32, lanes: u32) -> Place {
        let (line, opcode, loc) =
            self.code.insts.get(pc as usize).map_or((0, 0, 0), |i| (i.line, i.opcode, i.loc));
        let agent = if who & OPERATION != 0 {
            let channel = who & !OPERATION;
            let kind = match channel % KINDS {
                0 => "cp.async",
                1 => "bulk load",
                2 | 8 => "bulk store",
                3 => "wgmma",
                4 => "tcgen05 operation",
                5 => "tcgen05.ld",
                6 => "tcgen05.st",
                7 => "st.async",
                _ => "arrival",
            };
            format!("{kind} #{time} of {}", self.warp_name(channel / KINDS))
        } else {
            format!("{} lanes {}", self.warp_name(who), lane_list(lanes))
        };
        let source = loc.checked_sub(1).and_then(|i| self.code.locs.get(i as usize));
        Place {
            agent,
            line,
            opcode: self.code.opcodes.get(opcode as usize).cloned().unwrap_or_default(),
            visit,
            source: source.map(|(f, l, c)| format!("{f}:{l}:{c}")),
        }
    }

    /// "warp 3", with its CTA when there are several.
    pub(crate) fn warp_name(&self, id: u32) -> String {
        match self.ctas.iter().position(|c| id >= c.warps.0 && id < c.warps.0 + c.warps.1) {
            Some(rank) if self.ctas.len() > 1 => {
                format!("warp {} of CTA rank {rank}", id - self.ctas.get(rank).map_or(0, |c| c.warps.0))
            }
            _ => format!("warp {id}"),
        }
    }

    /// The shared range with the name the caller gave it.
    pub(crate) fn shared_extent(&self, start: u64, end: u64) -> Extent {
        let named =
            |(s, n, _): &&(u32, u32, String)| start >= u64::from(*s) && start < u64::from(*s) + u64::from(*n);
        let name = self.opts.names.iter().find(named).map(|(_, _, n)| n.clone());
        Extent { space: "shared".to_string(), start, end, name }
    }

    fn global_extent(&self, start: u64, end: u64) -> Extent {
        match self.global.store.describe(start) {
            Some((name, offset)) => Extent {
                space: "global".into(),
                start: offset,
                end: offset + (end - start),
                name: Some(name),
            },
            None => Extent { space: "global".into(), start, end, name: None },
        }
    }

    /// Bounds of a shared range; false after reporting A01 or A03.
    pub(crate) fn shared_bounds(&mut self, cta: u32, start: u64, len: u64, actor: &Actor) -> bool {
        let size = self.ctas.get(cta as usize).map(|c| c.shared.len() as u64);
        if cta != actor.cta && self.ctas.get(cta as usize).is_some_and(|c| c.live_warps == 0) {
            let extent = self.shared_extent(start, start.saturating_add(len));
            let message = "access to the shared memory of a CTA that has ended";
            let remedy = "barrier.cluster before exit (C34)";
            self.report("A03", Severity::Error, actor, None, Some(extent), message, remedy);
            return false;
        }
        match size {
            Some(size) if start.checked_add(len).is_some_and(|end| end <= size) => {
                self.stats.shared_used = self.stats.shared_used.max(start + len);
                true
            }
            size => {
                let extent = self.shared_extent(start, start.saturating_add(len));
                let message = format!("access outside the {} bytes of shared memory", size.unwrap_or(0));
                let remedy = "launch with more dynamic shared memory, or mend the address";
                self.report("A01", Severity::Error, actor, None, Some(extent), message, remedy);
                false
            }
        }
    }

    /// Bounds of a global range; false after reporting A01.
    pub(crate) fn global_bounds(&mut self, addr: u64, len: u64, actor: &Actor) -> bool {
        let fault = match self.global.check(addr, len) {
            Ok(()) => return true,
            Err(f) => f,
        };
        let extent = self.global_extent(addr, addr.wrapping_add(len).max(addr));
        let message = match fault {
            Fault::Unmapped => format!("global address {addr:#x} lies in no buffer"),
            Fault::PastEnd => format!("{len} bytes at {addr:#x} end behind the buffer"),
        };
        let remedy = "mend the address or the mask";
        self.report("A01", Severity::Error, actor, None, Some(extent), message, remedy);
        false
    }

    /// Records an access of one agent to a shared range and reports what it collides with.
    pub(crate) fn touch_shared(&mut self, cta: u32, start: u64, len: u64, actor: &Actor, act: Act) {
        if !self.race {
            return;
        }
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
        for (g, mask) in granules(start, len) {
            self.touch_shared_granule(cta, g, actor.access(act, mask), actor);
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

    fn touch_shared_granule(&mut self, cta: u32, g: u64, access: Access, actor: &Actor) {
        let Some(granule) = self.ctas.get_mut(cta as usize).and_then(|c| c.shadow.at(g)) else { return };
        let undefined = access.mask & !granule.defined;
        let conflict = granule.access(access, &actor.clock);
        if undefined != 0 && access.act == Act::Read {
            if let Some(granule) = self.ctas.get_mut(cta as usize).and_then(|c| c.shadow.at(g)) {
                granule.defined |= access.mask;
            }
            let (s, e) = byte_range(g, undefined);
            let extent = self.shared_extent(s, e);
            let message = "shared memory that nobody has written is read";
            self.report(
                "U01",
                Severity::Error,
                actor,
                None,
                Some(extent),
                message,
                "write it first, or wait for it",
            );
        }
        if let Some(c) = conflict {
            let (s, e) = byte_range(g, c.bytes);
            let extent = self.shared_extent(s, e);
            self.collision("R01", actor, access.act, &c, extent);
        }
    }

    /// Records an access to 32 lanes (quarter `q`) of a TMEM column.
    pub(crate) fn touch_tmem(&mut self, cta: u32, column: u32, q: u32, lanes: u32, actor: &Actor, act: Act) {
        if !self.race {
            return;
        }
        let g = u64::from(column * 4 + q);
        let Some(granule) = self.ctas.get_mut(cta as usize).and_then(|c| c.tmem.shadow.at(g)) else { return };
        // TMEM has no proxies: only order counts.
        let access = Access { proxy: false, ..actor.access(act, lanes) };
        let undefined = lanes & !granule.defined;
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
        }
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

    /// Records an access to a global range.
    pub(crate) fn touch_global(&mut self, addr: u64, len: u64, actor: &Actor, act: Act) {
        if !self.race {
            return;
        }
        for (g, mask) in granules(addr, len) {
            self.touch_global_granule(g, actor.access(act, mask), actor);
        }
    }

    fn touch_global_granule(&mut self, g: u64, access: Access, actor: &Actor) {
        let Some(granule) = self.global_shadow.at(g) else { return };
        if let Some(c) = granule.access(access, &actor.clock) {
            let (s, e) = byte_range(g, c.bytes);
            let extent = self.global_extent(s, e);
            self.collision("R02", actor, access.act, &c, extent);
        }
    }

    /// Reports a race or a missing proxy fence.
    pub(crate) fn collision(&mut self, race: &str, actor: &Actor, act: Act, c: &Conflict, extent: Extent) {
        let verb = |a: Act| match a {
            Act::Read => "read",
            Act::Write => "write",
            Act::Atomic => "barrier or atomic operation",
        };
        let (new, old) = (verb(act), verb(c.other.act));
        match c.kind {
            ConflictKind::Race => {
                let message = format!("race: this {new} is not ordered after that {old}");
                let remedy = "no wait, barrier or release-acquire pair orders the two: add the missing one";
                self.report(race, Severity::Error, actor, Some(&c.other), Some(extent), message, remedy);
            }
            ConflictKind::Proxy => {
                let message =
                    format!("asynchronous {new} of bytes from a generic {old} without a proxy fence");
                let remedy = "fence.proxy.async by the writing threads before they release (C26)";
                self.report("R04", Severity::Error, actor, Some(&c.other), Some(extent), message, remedy);
            }
            ConflictKind::ProxyRead => {
                let message = format!("asynchronous {new} after a generic {old} without a proxy fence");
                let remedy = "whether hardware needs fence.proxy.async here is not verified (E64)";
                self.report("R04", Severity::Note, actor, Some(&c.other), Some(extent), message, remedy);
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
        let mut pending: Option<(u64, Access)> = None;
        for &(lane, addr) in list {
            if let Some(c) = cta {
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

/// "0-31", "5", "0,4,8".
pub(crate) fn lane_list(lanes: u32) -> String {
    let mut out = String::new();
    let mut l = 0;
    while l < 32 {
        if lanes >> l & 1 == 1 {
            let run = (lanes >> l).trailing_ones();
            if !out.is_empty() {
                out.push(',');
            }
            out.push_str(&l.to_string());
            if run > 1 {
                out.push_str(&format!("-{}", l + run - 1));
            }
            l += run;
        } else {
            l += 1;
        }
    }
    out
}
