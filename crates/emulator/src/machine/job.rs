//! A launch that runs: what all clusters share, and a cluster before its first step.

use super::cluster::Machine;
use super::cluster_barrier::ClusterBarrier;
use super::core::{Core, Cta};
use super::coverage::Seen;
use super::global::Store;
use super::launch::{Launch, Policy, Race, RunOptions};
use super::named::NamedBarrier;
use super::operations::Operands;
use super::plan::Plan;
use super::rng::Rng;
use super::shared::Shared;
use super::tmem::Tmem;
use super::warp::Warp;
use super::world::World;
use crate::code::Code;
use crate::module::Param;
use crate::race::channel::channels;
use crate::race::clock::Clock;
use crate::race::released::Released;
use crate::race::shadow::Flat;
use crate::report::Stats;
use std::collections::BTreeMap;

/// Locks taken by a cluster behind which the taker pauses, so that others come to want them.
const PAUSES: u32 = 16;

/// What all clusters share.
pub(crate) struct Job<'a> {
    pub code: &'a Code,
    /// The kernel's parameters, for hints.
    pub declared: &'a [Param],
    pub launch: &'a Launch,
    pub opts: &'a RunOptions,
    pub params: &'a [u8],
    pub plan: &'a Plan,
    /// Bytes of the heap that earlier grids took.
    pub heap: u64,
    pub sms: u32,
    /// Registers of a thread at the start; 0 if nobody says so.
    pub registers: u32,
    /// Clusters that the chip holds at once.
    pub most: usize,
}

impl Job<'_> {
    /// Clusters of the grid.
    pub(crate) fn clusters(&self) -> usize {
        self.launch.grid.iter().zip(&self.launch.cluster).map(|(g, c)| (g / c.max(&1)) as usize).product()
    }

    /// A cluster before its first step.
    pub(crate) fn machine<'s>(&'s self, store: &'s Store, index: usize) -> Machine<'s> {
        let launch = self.launch;
        let threads: u32 = launch.block.iter().product();
        let per_cta = threads.div_ceil(32);
        let size: u32 = launch.cluster.iter().product();
        let total = per_cta * size;
        let race = self.opts.race == Race::Full;
        let (seed, policy) = match self.opts.policy {
            Policy::Random(s) | Policy::Pct(s) => (s, true),
            _ => (0, false),
        };
        let mut rng = Rng::new(seed, index as u64);
        let salt = rng.next() as u32;
        let bytes = self.code.reserved_shared(launch.smem).end;
        let clock = if race {
            Clock::new(index as u32, total as usize * 32, channels(total))
        } else {
            Clock::default()
        };
        let mut ctas = Vec::new();
        let mut warps = Vec::new();
        for rank in 0..size {
            ctas.push(Cta {
                ctaid: launch.position(index as u64, rank),
                shared: Shared::new(bytes),
                shadow: if race { Flat::new(bytes) } else { Flat::default() },
                poisoned: false,
                mbars: BTreeMap::new(),
                named: vec![NamedBarrier::default(); 16],
                tmem: Tmem::default(),
                warps: (rank * per_cta, per_cta),
                live_warps: per_cta,
                free_registers: 0,
            });
            for i in 0..per_cta {
                let lanes = (threads - i * 32).min(32);
                let live = if lanes == 32 { u32::MAX } else { (1 << lanes) - 1 };
                let id = rank * per_cta + i;
                let mut w = Warp::new(id, rank, i, live, self.code, clock.clone(), self.registers);
                w.priority = if policy { rng.next() | 1 << 63 } else { 0 };
                warps.push(w);
            }
        }
        let core = Core {
            code: self.code,
            launch,
            opts: self.opts,
            params: self.params,
            ctas,
            world: World::new(store),
            home: index as u32,
            empty: clock.clone(),
            ops: Vec::new(),
            operands: Operands::default(),
            numbers: vec![0; channels(total)],
            issued: vec![Vec::new(); channels(total)],
            cluster_barrier: ClusterBarrier::new(clock),
            rng,
            any_lane: policy,
            elect_salt: salt,
            sms: self.sms,
            released: Released::default(),
            cta_group: 0,
            products: BTreeMap::new(),
            tmem_issue: BTreeMap::new(),
            tmem_fences: BTreeMap::new(),
            map_fences: Vec::new(),
            errors: 0,
            undefined: 0,
            race,
            findings: Vec::new(),
            trace: Vec::new(),
            plan: self.plan,
            seen: Vec::new(),
            printed: String::new(),
            stats: Stats::default(),
            opcode_counts: vec![0; self.code.opcodes.len()],
            coverage: Seen::new(self.code),
            steps: 0,
            progress: 0,
            polls: 0,
            suspect: false,
            pauses: if self.code.shares_global { PAUSES } else { 0 },
            wakes: Vec::new(),
            dead: false,
        };
        Machine { core, warps, next: 0 }
    }
}
