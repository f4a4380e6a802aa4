//! A launch: all clusters of the grid, on one or several host threads, merged in order (E5, E81).

use super::agents::channels;
use super::core::{ClusterBarrier, Core, Cta};
use super::device::Device;
use super::global::{Buffer, Overlay, Store, View};
use super::launch::{Launch, Options, Policy, Race, check, parameters};
use super::named::NamedBarrier;
use super::rng::Rng;
use super::sched::Machine;
use super::tmem::Tmem;
use super::warp::Warp;
use crate::error::Refusal;
use crate::module::{Code, MODULE_BASE, Module};
use crate::race::clock::Clock;
use crate::race::shadow::{Flat, Sparse};
use crate::report::{Finding, Report, Stats, TraceEvent};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a cluster leaves behind.
struct Outcome {
    overlay: Overlay,
    findings: Vec<Finding>,
    trace: Vec<TraceEvent>,
    stats: Stats,
    summary: super::between::Summary,
}

/// What all clusters share.
struct Job<'a> {
    code: &'a Code,
    launch: &'a Launch,
    opts: &'a Options,
    params: &'a [u8],
    sms: u32,
    registers: u32,
}

impl Device {
    /// Runs a kernel. Results are in the buffers, findings in the report.
    ///
    /// # Errors
    /// A [`Refusal`] when the launch cannot begin: unknown entry, unsupported instructions (X01), wrong arguments
    /// or a launch over the chip's limits (L01). What goes wrong later is a finding.
    pub fn run(&mut self, module: &Module, launch: &Launch, opts: &Options) -> Result<Report, Refusal> {
        let entry = module.entry(&launch.entry)?;
        let code = entry.code.clone()?;
        let params = parameters(entry, launch)?;
        if opts.limits {
            check(&self.target, &module.target, entry, launch)?;
        }
        sane(launch)?;
        if !module.data.is_empty() {
            let data = module.data.to_vec();
            self.store.buffers.insert(0, Buffer { base: MODULE_BASE, name: "module variables".into(), data });
        }
        let registers = entry.max_registers.map_or(0, |r| r.min(256) / 8 * 8);
        let job = Job { code: &code, launch, opts, params: &params, sms: self.target.chip.sms, registers };
        let report = job.run_all(&mut self.store, self.target.name().to_string());
        self.store.buffers.retain(|b| b.base != MODULE_BASE);
        Ok(report)
    }
}

/// Bounds that hold even when the limits of the chip do not.
fn sane(launch: &Launch) -> Result<(), Refusal> {
    let product = |v: [u32; 3]| v.iter().fold(1_u64, |p, x| p.saturating_mul(u64::from(*x)));
    let (threads, ctas, cluster) = (product(launch.block), product(launch.grid), product(launch.cluster));
    let divides = launch.grid.iter().zip(&launch.cluster).all(|(g, c)| *c > 0 && g % c == 0);
    if threads == 0 || threads > 4096 || ctas == 0 || ctas > 1 << 24 || cluster > 64 || !divides {
        let message = format!("{threads} threads, {ctas} CTAs, clusters of {cluster}");
        return Err(Refusal::one(
            "L01",
            0,
            message,
            "even without limits: 4096 threads, 2^24 CTAs, clusters of 64",
        ));
    }
    if launch.smem > 1 << 23 {
        return Err(Refusal::one(
            "L01",
            0,
            format!("{} bytes of shared memory", launch.smem),
            "at most 8 MiB",
        ));
    }
    Ok(())
}

impl Job<'_> {
    fn clusters(&self) -> usize {
        self.launch.grid.iter().zip(&self.launch.cluster).map(|(g, c)| (g / c.max(&1)) as usize).product()
    }

    fn run_all(&self, store: &mut Store, target: String) -> Report {
        let n = self.clusters();
        let mut between = super::between::Between::default();
        let mut stats = Stats::default();
        let mut findings: Vec<Finding> = Vec::new();
        let mut trace: Vec<TraceEvent> = Vec::new();
        let mut take = |store: &mut Store, i: usize, o: Outcome| {
            between.add(i, o.summary, store, &o.overlay);
            stats.add(&o.stats);
            trace.extend(o.trace.into_iter().take(self.opts.trace.saturating_sub(trace.len())));
            for f in o.findings {
                merge_finding(&mut findings, f, self.opts.max_findings);
            }
            store.merge(&o.overlay);
        };
        let threads = self.opts.threads.clamp(1, n.max(1));
        if self.code.shares_global || threads == 1 {
            // With global atomics each cluster sees what the ones before it left; without, none sees another.
            let before = if self.code.shares_global { None } else { Some(store.clone()) };
            for i in 0..n {
                let o = self.run_cluster(before.as_ref().unwrap_or(store), i);
                take(store, i, o);
            }
        } else {
            let before = store.clone();
            let next = AtomicUsize::new(0);
            let done: Mutex<BTreeMap<usize, Outcome>> = Mutex::new(BTreeMap::new());
            std::thread::scope(|s| {
                for _ in 0..threads {
                    s.spawn(|| {
                        loop {
                            let i = next.fetch_add(1, Ordering::Relaxed);
                            if i >= n {
                                break;
                            }
                            let o = self.run_cluster(&before, i);
                            if let Ok(mut d) = done.lock() {
                                d.insert(i, o);
                            }
                        }
                    });
                }
            });
            for (i, o) in done.into_inner().unwrap_or_default() {
                take(store, i, o);
            }
        }
        if self.opts.race == Race::Full {
            for f in between.findings(self.code, self.launch, store) {
                merge_finding(&mut findings, f, self.opts.max_findings);
            }
        }
        Report { kernel: self.launch.entry.clone(), target, policy: self.opts.policy, findings, stats, trace }
    }

    fn run_cluster(&self, store: &Store, index: usize) -> Outcome {
        let mut m = self.machine(store, index);
        m.run();
        super::ending::check(&mut m);
        let mut stats = std::mem::take(&mut m.core.stats);
        stats.steps = m.core.steps;
        for (name, n) in self.code.opcodes.iter().zip(&m.core.opcode_counts) {
            if *n > 0 {
                stats.opcodes.insert(name.clone(), *n);
            }
        }
        let summary = super::between::Summary::of(&m.core);
        Outcome {
            overlay: m.core.global.overlay,
            findings: m.core.findings,
            trace: m.core.trace,
            stats,
            summary,
        }
    }

    fn machine<'s>(&'s self, store: &'s Store, index: usize) -> Machine<'s> {
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
        let bytes = (self.code.dynamic_base + u64::from(launch.smem)).max(self.code.static_shared);
        let clock = if race { Clock::new(total as usize * 32, channels(total)) } else { Clock::default() };
        let mut ctas = Vec::new();
        let mut warps = Vec::new();
        for rank in 0..size {
            ctas.push(Cta {
                ctaid: position(launch, index as u64, rank),
                shared: vec![0xcb; bytes as usize],
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
                w.priority = if policy { rng.next() } else { 0 };
                warps.push(w);
            }
        }
        let core = Core {
            code: self.code,
            launch,
            opts: self.opts,
            params: self.params,
            warps_total: total,
            ctas,
            global: View::new(store),
            global_shadow: Sparse::default(),
            ops: Vec::new(),
            numbers: vec![0; channels(total)],
            issued: vec![Vec::new(); channels(total)],
            cluster_barrier: ClusterBarrier {
                clock: clock.clone(),
                released: Rc::new(clock),
                ..Default::default()
            },
            rng,
            any_lane: policy,
            elect_salt: salt,
            sms: self.sms,
            released: BTreeMap::new(),
            cta_group: 0,
            products: BTreeMap::new(),
            tmem_issue: BTreeMap::new(),
            tmem_fences: BTreeMap::new(),
            errors: 0,
            race,
            findings: Vec::new(),
            trace: Vec::new(),
            stats: Stats::default(),
            opcode_counts: vec![0; self.code.opcodes.len()],
            steps: 0,
            progress: 0,
            wakes: Vec::new(),
            dead: false,
        };
        Machine { core, warps }
    }
}

/// The grid position of a CTA of a cluster.
fn position(launch: &Launch, index: u64, rank: u32) -> [u32; 3] {
    let [gx, gy, _] = launch.grid;
    let [cx, cy, _] = launch.cluster;
    let (nx, ny) = (u64::from(gx / cx.max(1)), u64::from(gy / cy.max(1)));
    let at = [index % nx, index / nx % ny, index / (nx * ny)];
    let inner = [rank % cx, rank / cx % cy, rank / (cx * cy)];
    let mut out = [0; 3];
    for (i, o) in out.iter_mut().enumerate() {
        let c = launch.cluster.get(i).copied().unwrap_or(1);
        *o = at.get(i).copied().unwrap_or(0) as u32 * c + inner.get(i).copied().unwrap_or(0);
    }
    out
}

/// Findings of the same kind at the same lines are counted, whichever CTA had them.
fn merge_finding(list: &mut Vec<Finding>, f: Finding, limit: usize) {
    let lines = |f: &Finding| (f.first.as_ref().map(|p| p.line), f.second.as_ref().map(|p| p.line));
    if let Some(g) = list.iter_mut().find(|g| g.code == f.code && lines(g) == lines(&f)) {
        g.count += f.count;
    } else if list.len() < limit {
        list.push(f);
    }
}
