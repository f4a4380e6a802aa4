//! A warp: registers, program counters, what it waits for.

use crate::isa::lanes::Lanes;
use crate::isa::op::{PSrc, Pred, Reg};
use crate::module::Code;
use crate::race::clock::Clock;
use smallvec::SmallVec;
use std::rc::Rc;

/// All lanes.
pub(crate) const FULL: u32 = u32::MAX;

/// Why some lanes of a warp cannot move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// A wait on mbarriers failed: (CTA, address, phase it saw, phase parity wanted).
    Mbar(SmallVec<[(u32, u32, u32, u32); 1]>),
    /// At a named barrier.
    Named { id: u32, result: Option<Vote> },
    /// The instruction is run again when this holds.
    Retry(Cond),
}

/// Where a barrier with a reduction leaves its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    Popc(Reg),
    And(Pred),
    Or(Pred),
}

/// What a barrier counted: lanes that voted yes, whether all did, whether any did.
pub(crate) type Votes = (u32, bool, bool);

/// Conditions of instructions that are run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cond {
    CpAsync {
        keep: u32,
    },
    Bulk {
        keep: u32,
        read: bool,
    },
    Wgmma {
        keep: u32,
    },
    Tmem {
        store: bool,
    },
    /// A register that a tcgen05.ld in flight will write.
    /// A register moved although its product is in flight: ptxas waits there.
    WgmmaRegister {
        number: u32,
    },
    TmemRegister {
        number: u32,
    },
    Registers {
        need: u32,
    },
    TmemAlloc {
        columns: u32,
    },
    Cluster {
        generation: u32,
    },
}

/// Committed groups of one kind of copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// Operations not yet committed: number and lanes.
    pub open: Vec<(u32, u32)>,
    /// Committed groups, oldest first: operations and the lanes that committed.
    pub closed: Vec<(SmallVec<[u32; 4]>, u32)>,
}

impl Groups {
    /// Closes a group for these lanes; what other lanes issued stays open for them.
    pub(crate) fn commit(&mut self, lanes: u32) {
        let mut ops = SmallVec::new();
        self.open.retain_mut(|(n, l)| {
            if *l & lanes != 0 {
                ops.push(*n);
                *l &= !lanes;
            }
            *l != 0
        });
        self.closed.push((ops, lanes));
    }

    /// The operations that must be complete so that these lanes have at most `keep` groups left.
    pub(crate) fn covered(&self, keep: u32, lanes: u32) -> Vec<u32> {
        let mut newer = [0_u32; 32];
        let mut out = Vec::new();
        for (ops, l) in self.closed.iter().rev() {
            let mine = l & lanes;
            if mine == 0 {
                continue;
            }
            let mut old = false;
            for (i, n) in newer.iter_mut().enumerate() {
                if mine >> i & 1 == 1 {
                    old |= *n >= keep;
                    *n += 1;
                }
            }
            if old {
                out.extend(ops.iter().copied());
            }
        }
        out
    }

    /// Forgets groups that have been waited for by all their lanes: each lane keeps its own newest ones.
    pub(crate) fn forget(&mut self, keep: u32, lanes: u32) {
        let mut newer = [0_u32; 32];
        for (_, l) in self.closed.iter_mut().rev() {
            let mine = *l & lanes;
            for (i, n) in newer.iter_mut().enumerate().filter(|(i, _)| mine >> i & 1 == 1) {
                if *n >= keep {
                    *l &= !(1 << i);
                }
                *n += 1;
            }
        }
        self.closed.retain(|(_, l)| *l != 0);
    }
}

/// Marks of the registers that wgmma uses (E42).
#[derive(Clone, Debug, Default)]
pub(crate) struct WgmmaMarks {
    /// Step of the last write by another instruction, for each register.
    pub touched: Vec<u64>,
    /// Step and shape of the last product that wrote it.
    pub product: Vec<(u64, u32)>,
    /// Registers of each operation, until it is waited for.
    pub held: Vec<(u32, Vec<Reg>, Vec<Reg>)>,
    /// Step of the last `wgmma.fence`.
    pub fence: Option<u64>,
}

/// One warp.
#[derive(Clone, Debug)]
pub(crate) struct Warp {
    /// Number in the cluster, and in its CTA.
    pub id: u32,
    pub cta: u32,
    pub index: u32,
    pub regs: Vec<Lanes>,
    /// Poisoned lanes: low 32 bits for the low half of a register, high 32 for the high half.
    pub poison: Vec<u64>,
    pub preds: Vec<u32>,
    pub pred_poison: Vec<u32>,
    /// Carry flags.
    pub carry: u32,
    /// Lanes that exist and have not exited.
    pub live: u32,
    /// Lanes that existed at the start.
    pub born: u32,
    /// All live lanes stand at `at` and none is blocked.
    pub uniform: bool,
    pub at: u32,
    pub pcs: [u32; 32],
    pub blocked: SmallVec<[(u32, Wait); 1]>,
    /// Steps in which other lanes could have moved.
    pub starved: u32,
    pub clock: Rc<Clock>,
    /// Time of the next access.
    pub now: u32,
    pub visits: Vec<u32>,
    pub cp_async: Groups,
    pub bulk: Groups,
    pub wgmma: Groups,
    /// Numbers of tcgen05.ld and st not yet waited for.
    pub tmem_ld: Vec<u32>,
    pub tmem_st: Vec<u32>,
    pub marks: WgmmaMarks,
    pub local: Vec<u8>,
    /// Registers per thread that this warp holds (E29).
    pub held_registers: u32,
    /// Cluster barrier generation this warp arrived for.
    pub cluster_arrived: Option<u32>,
    /// Spurious failures of try_wait in a row (E10).
    pub refused: u32,
    /// Priority under `pct`.
    pub priority: u64,
    /// Steps done.
    pub steps: u64,
    /// Register lanes whose value came from loaded data (E70).
    pub tainted: Vec<bool>,
    pub pred_tainted: Vec<bool>,
    /// What the last `tcgen05.fence::after_thread_sync` saw (E65).
    pub tcgen_after: Option<Rc<Clock>>,
    /// Executed setmaxnreg instructions: place and count (C03).
    pub setmax: Vec<(u32, u32)>,
    /// What the last thread fence saw: a later relaxed store publishes it.
    pub fence_clock: Option<Rc<Clock>>,
    /// What relaxed loads found: a later fence learns it.
    pub read_clock: Option<Clock>,
    /// TMEM loads whose registers must not be read before the wait: (operation, registers).
    pub tmem_pending: Vec<(u32, Vec<Reg>)>,
}

impl Warp {
    pub(crate) fn new(
        id: u32,
        cta: u32,
        index: u32,
        live: u32,
        code: &Code,
        clock: Clock,
        registers: u32,
    ) -> Self {
        let n = code.widths.len();
        Warp {
            id,
            cta,
            index,
            // Fresh registers hold quiet NaN patterns (E10).
            regs: code.widths.iter().map(|w| [fresh(*w); 32]).collect(),
            poison: vec![u64::MAX; n],
            preds: vec![0; code.preds],
            pred_poison: vec![FULL; code.preds],
            carry: 0,
            live,
            born: live,
            uniform: true,
            at: 0,
            pcs: [0; 32],
            blocked: SmallVec::new(),
            starved: 0,
            clock: Rc::new(clock),
            now: 1,
            visits: vec![0; code.insts.len()],
            cp_async: Groups::default(),
            bulk: Groups::default(),
            wgmma: Groups::default(),
            tmem_ld: Vec::new(),
            tmem_st: Vec::new(),
            marks: WgmmaMarks::default(),
            local: Vec::new(),
            held_registers: registers,
            cluster_arrived: None,
            refused: 0,
            priority: 0,
            steps: 0,
            tainted: vec![false; n],
            pred_tainted: vec![false; code.preds],
            tcgen_after: None,
            setmax: Vec::new(),
            fence_clock: None,
            read_clock: None,
            tmem_pending: Vec::new(),
        }
    }

    /// Lanes that are blocked.
    pub(crate) fn blocked_lanes(&self) -> u32 {
        self.blocked.iter().fold(0, |m, (l, _)| m | l)
    }

    /// Gives every lane its own program counter.
    pub(crate) fn spread(&mut self) {
        if self.uniform {
            self.pcs = [self.at; 32];
            self.uniform = false;
        }
    }

    /// Back to one program counter if all live lanes agree.
    pub(crate) fn gather(&mut self) {
        if self.uniform || !self.blocked.is_empty() || self.live == 0 {
            return;
        }
        let first = self.pcs.get(self.live.trailing_zeros() as usize).copied().unwrap_or(0);
        if (0..32).all(|l| self.live >> l & 1 == 0 || self.pcs[l] == first) {
            self.at = first;
            self.uniform = true;
            self.starved = 0;
        }
    }

    /// The program counter of a lane.
    pub(crate) fn pc(&self, lane: u32) -> u32 {
        if self.uniform { self.at } else { self.pcs.get(lane as usize).copied().unwrap_or(0) }
    }

    /// Sets the program counter of some lanes that were just run.
    pub(crate) fn jump(&mut self, lanes: u32, pc: u32) {
        if self.uniform && lanes == self.live {
            self.at = pc;
            return;
        }
        self.spread();
        for (l, slot) in self.pcs.iter_mut().enumerate() {
            if lanes >> l & 1 == 1 {
                *slot = pc;
            }
        }
    }

    /// The value of a predicate operand over all lanes.
    pub(crate) fn predicate(&self, p: PSrc) -> u32 {
        match p {
            PSrc::Imm(true) => FULL,
            PSrc::Imm(false) => 0,
            PSrc::Reg(r, negated) => {
                let v = self.preds.get(r as usize).copied().unwrap_or(0);
                if negated { !v } else { v }
            }
        }
    }

    /// Poisoned lanes of a predicate operand.
    pub(crate) fn predicate_poison(&self, p: PSrc) -> u32 {
        match p {
            PSrc::Imm(_) => 0,
            PSrc::Reg(r, _) => self.pred_poison.get(r as usize).copied().unwrap_or(0),
        }
    }

    /// Writes a predicate for some lanes.
    pub(crate) fn set_pred(&mut self, p: Pred, value: u32, poison: u32, lanes: u32) {
        if let Some(v) = self.preds.get_mut(p as usize) {
            *v = (*v & !lanes) | (value & lanes);
        }
        if let Some(v) = self.pred_poison.get_mut(p as usize) {
            *v = (*v & !lanes) | (poison & lanes);
        }
    }

    /// Writes a register for some lanes. `poison` has the form of `Warp::poison`.
    pub(crate) fn set(&mut self, r: Reg, value: &Lanes, poison: u64, lanes: u32) {
        let Some(slot) = self.regs.get_mut(r as usize) else { return };
        if lanes == FULL {
            *slot = *value;
        } else {
            for l in 0..32 {
                if lanes >> l & 1 == 1 {
                    slot[l] = value[l];
                }
            }
        }
        if let Some(p) = self.poison.get_mut(r as usize) {
            let both = u64::from(lanes) | u64::from(lanes) << 32;
            *p = (*p & !both) | (poison & both);
        }
    }

    /// Writes the result of a barrier with a reduction.
    pub(crate) fn count_votes(&mut self, vote: Vote, votes: Votes, lanes: u32) {
        let all = |yes: bool| if yes { FULL } else { 0 };
        match vote {
            Vote::Popc(d) => self.set(d, &[u64::from(votes.0); 32], 0, lanes),
            Vote::And(p) => self.set_pred(p, all(votes.1), 0, lanes),
            Vote::Or(p) => self.set_pred(p, all(votes.2), 0, lanes),
        }
    }

    /// Learns what a clock knows.
    pub(crate) fn learn(&mut self, clock: &Clock) {
        Rc::make_mut(&mut self.clock).join(clock);
    }

    /// A synchronisation of these lanes among themselves: their accesses so far are ordered for all of them.
    pub(crate) fn sync_lanes(&mut self, lanes: u32) {
        let (id, now) = (self.id, self.now);
        Rc::make_mut(&mut self.clock).tick(id, lanes, now);
        self.now += 1;
    }

    /// What a release by these lanes publishes: all the warp knows, and the lanes' own accesses.
    pub(crate) fn release(&mut self, lanes: u32) -> Clock {
        let mut c = (*self.clock).clone();
        c.tick(self.id, lanes, self.now);
        self.now += 1;
        c
    }
}

fn fresh(width: u8) -> u64 {
    match width {
        64 => 0x7ff8_dead_7fc0_dead,
        32 => 0x7fc0_dead,
        16 => 0x7eef,
        _ => 0xef,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOW: u32 = 0xffff;

    /// Lanes that have gone apart count groups of their own.
    #[test]
    fn groups_of_lanes_that_commit_apart() {
        let mut groups = Groups::default();
        for n in 0..3 {
            groups.open.push((n, !0));
            groups.commit(LOW);
            groups.commit(!LOW);
        }
        assert_eq!(groups.covered(1, LOW), [1, 0]);
        assert_eq!(groups.covered(1, !LOW), [1, 0]);
        groups.forget(1, LOW);
        assert_eq!((groups.covered(0, LOW), groups.covered(1, !LOW)), (vec![2], vec![1, 0]));
        groups.forget(1, !LOW);
        assert_eq!(groups.covered(0, !0), [2, 2]);
        groups.forget(0, !0);
        assert!(groups.closed.is_empty() && groups.open.is_empty());
    }
}
