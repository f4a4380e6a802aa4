//! A warp: registers, program counters, what it waits for.

use super::groups::Groups;
use super::stack::Stack;
use super::watch::Watch;
use crate::code::Code;
use crate::isa::lanes::Lanes;
use crate::isa::op::{PSrc, Pred, Reg};
use crate::race::clock::ByScope;
use crate::race::clock::Clock;
use smallvec::SmallVec;
use std::ops::RangeInclusive;
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
    /// At a `bar.warp.sync` of these lanes, which others come to at another place.
    Lanes(u32),
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

/// Marks of the registers that wgmma uses (E42).
#[derive(Clone, Debug, Default)]
pub(crate) struct WgmmaMarks {
    /// Step of the last write by another instruction, for each register.
    pub touched: Vec<u64>,
    /// Step and shape of the last product that wrote it.
    pub product: Vec<(u64, u32)>,
    /// Registers of each operation, until it is waited for.
    pub held: Vec<Held>,
    /// Step of the last `wgmma.fence`.
    pub fence: Option<u64>,
}

/// Registers of a product that has not been waited for.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    /// The operation.
    pub number: u32,
    /// Its accumulators, under each of their names.
    pub d: Vec<Reg>,
    /// What it reads.
    pub a: Vec<Reg>,
    /// All of them are in here.
    pub span: RangeInclusive<Reg>,
}

impl Held {
    pub(crate) fn new(number: u32, d: Vec<Reg>, a: Vec<Reg>) -> Self {
        let all = || d.iter().chain(&a).copied();
        let span = all().min().unwrap_or(1)..=all().max().unwrap_or(0);
        Held { number, d, a, span }
    }
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
    /// Local memory and the calls that each lane is in.
    pub stack: Stack,
    /// Registers per thread that this warp holds (E29).
    pub held_registers: u32,
    /// Lanes that arrived at the cluster's barrier and have not waited yet.
    pub cluster_arrived: u32,
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
    /// What the last thread fence of each scope saw: a later relaxed store publishes it.
    pub fence_clock: ByScope,
    /// What relaxed loads found for each scope: a later fence learns it.
    pub read_clock: ByScope,
    /// The last synchronisation it has done, as an instruction index plus one.
    pub since: u32,
    /// It has taken a lock and lets others go first.
    pub paused: bool,
    /// Where lanes last polled since their last backward branch.
    pub polled: Option<u32>,
    /// States at backward branches.
    pub watch: Watch,
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
            stack: Stack::new(code.local),
            held_registers: registers,
            cluster_arrived: 0,
            refused: 0,
            priority: 0,
            steps: 0,
            tainted: vec![false; n],
            pred_tainted: vec![false; code.preds],
            tcgen_after: None,
            setmax: Vec::new(),
            fence_clock: ByScope::default(),
            read_clock: ByScope::default(),
            since: 0,
            paused: false,
            polled: None,
            watch: Watch::default(),
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

    /// All that decides what some lanes do next, as one number.
    pub(crate) fn state(&self, lanes: u32) -> u64 {
        let each = |l: &usize| lanes >> l & 1 == 1;
        let regs = self.regs.iter().flat_map(|r| (0..32).filter(each).map(|l| r[l]));
        let preds = self.preds.iter().map(|p| u64::from(p & lanes));
        super::watch::hash(
            regs.chain(preds).chain(self.stack.words(lanes)).chain([u64::from(self.carry & lanes)]),
        )
    }

    /// The unblocked live lanes that stand at `pc`.
    pub(crate) fn standing(&self, pc: u32) -> u32 {
        let free = self.live & !self.blocked_lanes();
        if self.uniform {
            return free;
        }
        (0..32).filter(|l| free >> l & 1 == 1 && self.pc(*l) == pc).fold(0, |m, l| m | 1 << l)
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

    /// Some lanes learn what a clock knows.
    pub(crate) fn learn(&mut self, lanes: u32, clock: &Clock) {
        let live = self.live;
        Rc::make_mut(&mut self.clock).learn(lanes, live, clock);
    }

    /// A synchronisation of these lanes among themselves: their accesses so far are ordered for all of them.
    pub(crate) fn sync_lanes(&mut self, lanes: u32) {
        let (id, live, now) = (self.id, self.live, self.now);
        Rc::make_mut(&mut self.clock).meet(id, lanes, live, now);
        self.now += 1;
    }

    /// What a release by these lanes publishes: all the warp knows, and the lanes' own accesses.
    pub(crate) fn release(&mut self, lanes: u32) -> Clock {
        let mut c = (*self.clock).clone();
        c.passed_on_by(lanes);
        c.tick(self.id, lanes, self.now);
        c.publish(self.id, lanes);
        c.within = None;
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
