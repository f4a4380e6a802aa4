//! Who moves next (E6, E9-E11), and what to say when nobody can (E68).

use super::agents;
use super::core::Core;
use super::exec;
use super::launch::Policy;
use super::warp::{Cond, Wait, Warp};
use crate::isa::op::Presence;
use crate::race::clock::Kind;

/// Steps in which some lanes could have moved and did not, before they go first (E6).
const PATIENCE: u32 = 10_000;
/// Rounds of polling without any progress before a deadlock is declared.
const SPINS: u32 = 3;

/// A cluster that runs.
pub(crate) struct Machine<'a> {
    pub core: Core<'a>,
    pub warps: Vec<Warp>,
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
    /// Runs until all warps have exited and all operations are done, or nothing can move.
    pub(crate) fn run(&mut self) {
        let mut next = 0;
        let mut spins = 0;
        let mut spun_at = 0;
        loop {
            if self.core.dead || self.core.errors >= self.core.opts.max_findings {
                return;
            }
            if self.core.steps >= self.core.opts.max_steps {
                super::deadlock::no_progress(self);
                return;
            }
            if matches!(self.core.opts.policy, Policy::Random(_) | Policy::Pct(_)) {
                self.some_operations();
            }
            self.poll();
            let moved = match self.core.opts.policy {
                Policy::Eager | Policy::Lazy => self.round_robin(&mut next),
                Policy::Random(_) => self.random_warp(),
                Policy::Pct(_) => self.highest_priority(),
            };
            if moved || self.any_operation() {
                continue;
            }
            if self.warps.iter().all(|w| w.live == 0) {
                return;
            }
            // A failed try_wait may return to the program, which may then do something else (E11).
            if spun_at != self.core.progress {
                spins = 0;
            }
            if spins < SPINS && self.release_polls() {
                spins += 1;
                self.spin();
                spun_at = self.core.progress.max(spun_at);
                continue;
            }
            super::deadlock::report(self);
            return;
        }
    }

    /// Runs one warp for up to `burst` steps; false if it cannot move.
    fn burst(&mut self, i: usize, burst: u32) -> bool {
        let mut done = 0;
        while done < burst {
            let Some(w) = self.warps.get_mut(i) else { break };
            match pick(&self.core, w) {
                Pick::Run(lanes, pc) => {
                    exec::step(&mut self.core, w, lanes, pc);
                    w.gather();
                }
                Pick::Diverged(lanes, pc) => {
                    let a = exec::actor(w, pc, lanes);
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

    fn round_robin(&mut self, next: &mut usize) -> bool {
        let n = self.warps.len();
        for k in 0..n {
            let i = (*next + k) % n.max(1);
            if self.burst(i, 64) {
                *next = i + 1;
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
                    w.priority = self.core.rng.next() >> 32;
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
            blocked.retain(|(lanes, wait)| match wait {
                Wait::Named { id: i, result } if *i == id => {
                    if let Some(vote) = result {
                        w.count_votes(*vote, votes, *lanes);
                    }
                    false
                }
                _ => true,
            });
            w.blocked = blocked;
            if self.core.race {
                w.learn(&clock);
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
    fn release_polls(&mut self) -> bool {
        let mut any = false;
        for w in &mut self.warps {
            let before = w.blocked.len();
            w.blocked.retain(|(_, wait)| !matches!(wait, Wait::Mbar(_)));
            any |= w.blocked.len() != before;
            w.gather();
        }
        any
    }

    fn spin(&mut self) {
        for i in 0..self.warps.len() {
            self.burst(i, 2000);
        }
    }

    /// Eager: every operation happens now.
    fn drain(&mut self) {
        while self.any_operation() {}
    }

    /// Does one event of the oldest operation that may; false if there is none.
    fn any_operation(&mut self) -> bool {
        let found = (0..self.core.ops.len())
            .find(|i| self.core.ops.get(*i).is_some_and(|o| agents::ready(&self.core, o)));
        match found {
            Some(i) => {
                agents::advance(&mut self.core, &mut self.warps, i);
                true
            }
            None => false,
        }
    }

    /// Random: some events of random operations.
    fn some_operations(&mut self) {
        while !self.core.ops.is_empty() && self.core.rng.below(3) != 0 {
            let i = self.core.rng.below(self.core.ops.len());
            if self.core.ops.get(i).is_some_and(|o| agents::ready(&self.core, o)) {
                agents::advance(&mut self.core, &mut self.warps, i);
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
        Wait::Named { .. } => false,
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
    if w.uniform {
        return Pick::Run(w.live, w.at);
    }
    let free = w.live & !w.blocked_lanes();
    if free == 0 {
        return Pick::Blocked;
    }
    let mut groups: Vec<(u32, u32)> = Vec::new();
    for l in (0..32_u32).filter(|l| free >> l & 1 == 1) {
        let pc = w.pc(l);
        match groups.iter_mut().find(|(p, _)| *p == pc) {
            Some((_, m)) => *m |= 1 << l,
            None => groups.push((pc, 1 << l)),
        }
    }
    groups.sort_unstable();
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

/// Whether all lanes that an instruction needs are there.
fn present(core: &Core<'_>, w: &Warp, pc: u32, lanes: u32) -> bool {
    match core.code.insts.get(pc as usize).map(|i| (i.presence, i.guard)) {
        Some((Presence::Warp, _)) => lanes == w.live,
        Some((Presence::Mask(m), guard)) => {
            let active = guard.map_or(lanes, |(p, n)| lanes & w.predicate(crate::isa::op::PSrc::Reg(p, n)));
            active == 0 || (w.scalar(core, m, active) as u32) & w.live & !lanes == 0
        }
        _ => true,
    }
}
