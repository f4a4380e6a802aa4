//! The state of one cluster that all actors share, and the checks every memory access goes through.

use super::actor::Actor;
use super::cluster_barrier::ClusterBarrier;
use super::coverage::Seen;
use super::global::Fault;
use super::heap::Heap;
use super::launch::{Launch, RunOptions};
use super::map_fence::MapFence;
use super::mbarrier::Mbarrier;
use super::named::NamedBarrier;
use super::operations::{Operands, Operation};
use super::plan::Plan;
use super::rng::Rng;
use super::shared::Shared;
use super::tmem::Tmem;
use super::warp::Votes;
use super::world::World;
use crate::code::Code;
use crate::isa::op::Space;
use crate::race::clock::Clock;
use crate::race::released::Released;
use crate::race::shadow::Flat;
use crate::report::{Finding, Severity, Stats, TraceEvent};
use crate::sight::Sight;
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
    pub shared: Shared,
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

/// A product as the first warp issued it: instruction, descriptors and scale, warps so far.
pub(crate) type Issued = (u32, [u64; 3], u32);

/// The line that issued work on a block of tensor memory, and the issuer's clock at its fence.
pub(crate) type Issue = (u32, Option<Rc<Clock>>);

/// All of a cluster but its warps.
pub(crate) struct Core<'a> {
    pub code: &'a Code,
    pub launch: &'a Launch,
    pub opts: &'a RunOptions,
    pub params: &'a [u8],
    pub ctas: Vec<Cta>,
    /// Global memory while this cluster runs.
    pub world: World<'a>,
    /// Number of the cluster in the grid.
    pub home: u32,
    /// A clock that knows nothing, of the right size.
    pub empty: Clock,
    pub ops: Vec<Operation>,
    /// Matrix operands that were read last.
    pub operands: Operands,
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
    /// What releases at addresses of a CTA's shared memory carry.
    pub released: Released,
    /// The cta_group that the kernel uses; 0 before the first (T06).
    pub cta_group: u8,
    /// Products of warpgroups that not all warps have issued: (CTA, warpgroup, number) to what one issued (W03).
    pub products: BTreeMap<(u32, u32, u32), Issued>,
    /// Issue of each TMEM operation: the warp's time, and what its last after_thread_sync fence saw (E65).
    pub tmem_issue: BTreeMap<(u32, u32), Issue>,
    /// Times of the before_thread_sync fences of each warp.
    pub tmem_fences: BTreeMap<u32, Vec<u32>>,
    /// Fences for tensor maps.
    pub map_fences: Vec<MapFence>,
    pub race: bool,
    /// Errors among the findings.
    pub errors: usize,
    /// Counts loads of shared bytes that nobody has written.
    pub undefined: u64,
    pub findings: Vec<Finding>,
    pub trace: Vec<TraceEvent>,
    /// What to look at, and what was seen.
    pub plan: &'a Plan,
    pub seen: Vec<Sight>,
    /// What the kernel printed.
    pub printed: String,
    pub stats: Stats,
    pub opcode_counts: Vec<u64>,
    pub coverage: Seen,
    pub steps: u64,
    /// Counts everything that may let somebody else move.
    pub progress: u64,
    /// Counts strong reads: whoever waits in a loop polls.
    pub polls: u64,
    /// Nobody has made progress for a while: loops are watched for coming back to the same state.
    pub suspect: bool,
    /// Times that a warp may still pause behind taking a lock.
    pub pauses: u32,
    /// Warps whose named barrier completed, and what they learn.
    pub wakes: Vec<(u32, u32, Rc<Clock>, Votes)>,
    /// The kernel cannot go on.
    pub dead: bool,
}

impl<'a> Core<'a> {
    /// A clock that knows nothing, of the right size.
    pub(crate) fn empty_clock(&self) -> Clock {
        self.empty.clone()
    }

    /// Where an address of an instruction leads, for a thread of `cta`.
    pub(crate) fn spot(&self, space: Space, addr: u64, cta: u32) -> Spot {
        match space {
            Space::Global | Space::Const => Spot::Global(addr),
            Space::Param => Spot::Param(addr),
            Space::Local => Spot::Local(addr),
            Space::Shared if addr.wrapping_sub(SHARED_WINDOW).min(addr) >> 24 != 0 => Spot::Nowhere,
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

    /// Whether a range lies in one piece of the heap; reports A01 if not.
    fn heap_bounds(&mut self, addr: u64, len: u64, actor: &Actor) -> bool {
        let Err(misuse) = self.world.heap.check(addr, len) else { return true };
        let (message, remedy) = misuse.explain();
        let extent = Some(self.global_extent(addr, addr.saturating_add(len)));
        self.report("A01", Severity::Error, actor, None, extent, message, remedy);
        false
    }

    /// Bounds of a global range; false after reporting A01.
    pub(crate) fn global_bounds(&mut self, addr: u64, len: u64, actor: &Actor) -> bool {
        let fault = match self.world.global.check(addr, len) {
            Ok(()) if Heap::holds(addr) => return self.heap_bounds(addr, len, actor),
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
}
