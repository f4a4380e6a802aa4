//! Who moves next (E6, E9-E11), and what to say when nobody can (E68).

use super::actor::actor;
use super::asynchronous;
use super::cluster::Machine;
use super::core::Core;
use super::exec;
use super::launch::Policy;
use super::warp::{Cond, Wait, Warp};
use crate::isa::op::{Op, Presence};
use crate::race::channel::Kind;
use std::rc::Rc;

/// Steps in which some lanes could have moved and did not, before they go first (E6).
const PATIENCE: u32 = 10_000;

/// Priorities below this are of warps that poll.
const LOWERED: u64 = 1 << 32;
/// Polls of a cluster without progress before others have their turn.
const POLLS: u64 = 16;

/// How a slice of a cluster's time ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slice {
    /// All its warps have exited and all its operations are done.
    Ended,
    /// Its time is up.
    Running,
    /// Nobody can move.
    Stuck,
    /// The kernel cannot go on: trapped, out of steps, or too many findings.
    Dead,
}

/// What a warp could do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pick {
    /// Lanes that run the instruction at a place.
    Run(u32, u32),
    /// All live lanes wait.
    Blocked,
    /// Lanes stand at different warp-wide instructions: C02.
    Diverged(u32, u32),
    /// No lane lives.
    Gone,
}

impl Machine<'_> {
    /// Runs for some steps, or until it only polls.
    pub(crate) fn slice(&mut self, steps: u64) -> Slice {
        let end = self.core.steps.saturating_add(steps);
        let (polls, progress) = (self.core.polls, self.core.progress);
        loop {
            if self.core.dead || self.core.errors >= self.core.opts.max_findings {
                return Slice::Dead;
            }
            if self.core.steps >= self.core.opts.max_steps {
                super::deadlock::no_progress(self);
                return Slice::Dead;
            }
            let idle = self.core.polls > polls + POLLS && self.core.progress == progress;
            if self.core.steps >= end || idle {
                return Slice::Running;
            }
            if matches!(self.core.opts.policy, Policy::Random(_) | Policy::Pct(_)) {
                self.some_operations();
            }
            self.poll();
            let moved = match self.core.opts.policy {
                Policy::Eager | Policy::Lazy => self.round_robin(),
                Policy::Random(_) => self.random_warp(),
                Policy::Pct(_) => self.highest_priority(),
            };
            if moved || self.any_operation() {
                continue;
            }
            return if self.warps.iter().all(|w| w.live == 0) { Slice::Ended } else { Slice::Stuck };
        }
    }

    /// Whether some warp took a lock and lets others go first.
    pub(crate) fn paused(&self) -> bool {
        self.warps.iter().any(|w| w.paused)
    }

    /// Lets the warps that took a lock go on; false if there is none.
    pub(crate) fn resume(&mut self) -> bool {
        self.warps.iter_mut().filter_map(|w| std::mem::take(&mut w.paused).then_some(())).count() > 0
    }

    /// Watches loops, or no longer.
    pub(crate) fn suspect(&mut self, on: bool) {
        if self.core.suspect != on {
            self.core.suspect = on;
            self.warps.iter_mut().for_each(|w| w.watch.forget());
        }
    }

    /// Whether every lane waits or goes round in circles.
    pub(crate) fn hopeless(&self) -> bool {
        // The rest stand before warp-wide instructions that those would have to join.
        let lost = |w: &Warp| {
            let rest = w.live & !w.blocked_lanes() & !w.watch.lanes();
            standing(w, rest).iter().all(|(pc, lanes)| !present(&self.core, w, *pc, *lanes))
        };
        self.warps.iter().all(|w| lost(w) && !w.paused)
    }

    /// Runs one warp for up to `burst` steps; false if it cannot move.
    fn burst(&mut self, i: usize, mut burst: u32) -> bool {
        let mut done = 0;
        while done < burst {
            let Some(w) = self.warps.get_mut(i) else { break };
            match pick(&self.core, w) {
                Pick::Run(lanes, pc) => {
                    exec::step(&mut self.core, w, lanes, pc);
                    w.gather();
                    if w.polled.is_some() && came_back(&mut self.core, w, lanes, pc) {
                        burst = 0;
                    }
                }
                Pick::Diverged(lanes, pc) => {
                    let a = actor(w, pc, lanes);
                    let message = "the lanes of a warp stand at different warp-wide instructions";
                    self.core.error("C02", &a, message, "bring all lanes to the same instruction first (E7)");
                    exec::step(&mut self.core, w, lanes, pc);
                    w.gather();
                }
                Pick::Blocked | Pick::Gone => break,
            }
            done += 1;
            self.wake();
            if self.core.opts.policy == Policy::Eager {
                self.drain();
            }
            if self.core.steps >= self.core.opts.max_steps || self.core.dead {
                break;
            }
        }
        done > 0
    }

    fn round_robin(&mut self) -> bool {
        let n = self.warps.len();
        for k in 0..n {
            let i = (self.next + k) % n.max(1);
            if self.burst(i, 64) {
                self.next = i + 1;
                return true;
            }
        }
        false
    }

    fn random_warp(&mut self) -> bool {
        let n = self.warps.len();
        let start = self.core.rng.below(n);
        for k in 0..n {
            let length = 1 + self.core.rng.below(24) as u32;
            if self.burst((start + k) % n.max(1), length) {
                return true;
            }
        }
        false
    }

    /// The runnable warp of highest priority; change points lower it.
    fn highest_priority(&mut self) -> bool {
        let mut order: Vec<usize> = (0..self.warps.len()).collect();
        order.sort_by_key(|i| std::cmp::Reverse(self.warps.get(*i).map_or(0, |w| w.priority)));
        for i in order {
            if self.burst(i, 16) {
                if self.core.rng.below(64) == 0
                    && let Some(w) = self.warps.get_mut(i)
                {
                    w.priority = LOWERED + (self.core.rng.next() >> 32);
                }
                return true;
            }
        }
        false
    }

    /// Joins what warps learn at named barriers that completed.
    fn wake(&mut self) {
        for (warp, id, clock, votes) in std::mem::take(&mut self.core.wakes) {
            let Some(w) = self.warps.get_mut(warp as usize) else { continue };
            let mut blocked = std::mem::take(&mut w.blocked);
            let mut woken = 0;
            blocked.retain(|(lanes, wait)| match wait {
                Wait::Named { id: i, result } if *i == id => {
                    if let Some(vote) = result {
                        w.count_votes(*vote, votes, *lanes);
                    }
                    woken |= *lanes;
                    false
                }
                _ => true,
            });
            w.blocked = blocked;
            if self.core.race {
                w.learn(woken, &clock);
                // What lanes were told came to the barrier with them.
                Rc::make_mut(&mut w.clock).tell(woken, w.live);
            }
            w.gather();
        }
    }

    /// Unblocks lanes whose condition holds now.
    fn poll(&mut self) {
        let core = &self.core;
        for w in &mut self.warps {
            if w.blocked.is_empty() {
                continue;
            }
            let mut blocked = std::mem::take(&mut w.blocked);
            blocked.retain(|(lanes, wait)| !may_go(core, w, *lanes, wait));
            w.blocked = blocked;
            w.gather();
        }
    }

    /// Lets every failed wait return to its program.
    pub(crate) fn release_polls(&mut self) -> bool {
        let mut any = false;
        for w in &mut self.warps {
            let before = w.blocked.len();
            w.blocked.retain(|(_, wait)| !matches!(wait, Wait::Mbar(_)));
            any |= w.blocked.len() != before;
            w.gather();
        }
        any
    }

    /// Eager: every operation happens now.
    fn drain(&mut self) {
        while self.any_operation() {}
    }

    /// Does one event of the oldest operation that may; false if there is none.
    pub(crate) fn any_operation(&mut self) -> bool {
        let found = (0..self.core.ops.len())
            .find(|i| self.core.ops.get(*i).is_some_and(|o| asynchronous::ready(&self.core, o)));
        match found {
            Some(i) => {
                asynchronous::advance(&mut self.core, &mut self.warps, i);
                true
            }
            None => false,
        }
    }

    /// Random: some events of random operations.
    fn some_operations(&mut self) {
        while !self.core.ops.is_empty() && self.core.rng.below(3) != 0 {
            let i = self.core.rng.below(self.core.ops.len());
            if self.core.ops.get(i).is_some_and(|o| asynchronous::ready(&self.core, o)) {
                asynchronous::advance(&mut self.core, &mut self.warps, i);
            }
        }
    }
}

/// Whether a waiting group may go on.
fn may_go(core: &Core<'_>, w: &Warp, lanes: u32, wait: &Wait) -> bool {
    match wait {
        Wait::Mbar(list) => list.iter().any(|(cta, at, phase, _)| {
            core.ctas.get(*cta as usize).and_then(|c| c.mbars.get(at)).is_none_or(|b| b.phase != *phase)
        }),
        Wait::Named { .. } | Wait::Lanes(_) => false,
        Wait::Retry(c) => match *c {
            Cond::CpAsync { keep } => {
                !w.cp_async.covered(keep, lanes).iter().any(|n| core.in_flight(w.id, Kind::CpAsync, *n))
            }
            Cond::Bulk { keep, read } => !w.bulk.covered(keep, lanes).iter().any(|n| {
                if read {
                    core.before_event(w.id, Kind::BulkStore, *n, 1)
                } else {
                    core.in_flight(w.id, Kind::BulkStore, *n)
                }
            }),
            Cond::Wgmma { keep } => {
                !w.wgmma.covered(keep, lanes).iter().any(|n| core.in_flight(w.id, Kind::Wgmma, *n))
            }
            Cond::Tmem { store } => {
                let (list, kind) =
                    if store { (&w.tmem_st, Kind::TcgenSt) } else { (&w.tmem_ld, Kind::TcgenLd) };
                !list.iter().any(|n| core.in_flight(w.id, kind, *n))
            }
            Cond::WgmmaRegister { number } => !core.in_flight(w.id, Kind::Wgmma, number),
            Cond::TmemRegister { number } => !core.in_flight(w.id, Kind::TcgenLd, number),
            Cond::Registers { need } => {
                core.ctas.get(w.cta as usize).is_none_or(|c| c.free_registers >= need)
            }
            Cond::TmemAlloc { columns } => {
                core.ctas.get(w.cta as usize).is_none_or(|c| c.tmem.room(columns).is_some())
            }
            Cond::Cluster { generation } => core.cluster_barrier.generation != generation,
        },
    }
}

/// The lanes of a warp that go next: those with the lowest counter whose instruction may run (E6, E7).
fn pick(core: &Core<'_>, w: &mut Warp) -> Pick {
    if w.live == 0 {
        return Pick::Gone;
    }
    if w.paused {
        return Pick::Blocked;
    }
    if w.uniform {
        return Pick::Run(w.live, w.at);
    }
    let free = w.live & !w.blocked_lanes();
    if free == 0 {
        return Pick::Blocked;
    }
    let mut groups = standing(w, free);
    if groups.len() > 1 {
        w.starved += 1;
        if w.starved > PATIENCE {
            groups.reverse();
            if w.starved > 2 * PATIENCE {
                w.starved = 0;
            }
        }
    }
    for (pc, lanes) in &groups {
        if present(core, w, *pc, *lanes) {
            return Pick::Run(*lanes, *pc);
        }
    }
    // Everybody who is not blocked stands before a warp-wide instruction that others must join.
    match groups.first() {
        Some((pc, lanes)) if free == w.live => Pick::Diverged(*lanes, *pc),
        _ => Pick::Blocked,
    }
}

/// Lanes that came back to the head of a loop in which they polled let the others of their warp go first, and other
/// warps; their state is noted. False if they did not come back.
fn came_back(core: &mut Core<'_>, w: &mut Warp, lanes: u32, pc: u32) -> bool {
    let Some(Op::Bra { target }) = core.code.insts.get(pc as usize).map(|i| &i.op) else { return false };
    if *target > pc {
        return false;
    }
    let back = (0..32).filter(|l| lanes >> l & 1 == 1 && w.pc(*l) == *target).fold(0, |m, l| m | 1 << l);
    // A branch back that nobody takes is none: the loop goes on behind it.
    if back == 0 {
        return false;
    }
    let Some(place) = w.polled.take() else { return false };
    if !w.uniform {
        w.starved = if w.starved > PATIENCE { 0 } else { PATIENCE + 1 };
    }
    if core.suspect {
        let hash = w.state(back);
        w.watch.see(back, *target, place, hash);
    }
    if matches!(core.opts.policy, Policy::Pct(_)) {
        // Behind all others, pollers in turn.
        w.priority = LOWERED.saturating_sub(core.polls);
    }
    true
}

/// Places at which some lanes stand, the lowest first, with the lanes.
fn standing(w: &Warp, lanes: u32) -> Vec<(u32, u32)> {
    let mut groups: Vec<(u32, u32)> = Vec::new();
    for l in (0..32_u32).filter(|l| lanes >> l & 1 == 1) {
        let pc = w.pc(l);
        match groups.iter_mut().find(|(p, _)| *p == pc) {
            Some((_, m)) => *m |= 1 << l,
            None => groups.push((pc, 1 << l)),
        }
    }
    groups.sort_unstable();
    groups
}

/// Whether all lanes that an instruction needs are there.
fn present(core: &Core<'_>, w: &Warp, pc: u32, lanes: u32) -> bool {
    match core.code.insts.get(pc as usize).map(|i| (i.presence, i.guard, &i.op)) {
        Some((Presence::Warp, ..)) => lanes == w.live,
        Some((Presence::Mask(m), guard, op)) => {
            let barrier = matches!(op, Op::BarWarp { .. });
            let active = guard.map_or(lanes, |(p, n)| lanes & w.predicate(crate::isa::op::PSrc::Reg(p, n)));
            let members = exec::meet::named(core, w, m, active);
            let missing = members & w.live & !lanes;
            active == 0 || missing == 0 || barrier && missing & !exec::meet::meeting(core, w, members) == 0
        }
        _ => true,
    }
}
