//! A launch: all clusters of the grid, on one or several host threads, merged in order (E5, E81).

use super::between::{Between, Summary};
use super::child::Child;
use super::coverage::Seen;
use super::device::Device;
use super::ending::Outcome;
use super::global::{Buffer, Overlay, Store};
use super::grid::Grid;
use super::heap::{HEAP_BASE, HEAP_BYTES};
use super::in_order::{Bell, InOrder};
use super::job::Job;
use super::launch::{Launch, Race, RunOptions, check, parameters};
use super::plan::Plan;
use super::{reach, residency};
use crate::code::{GRID_BASE, MODULE_BASE};
use crate::error::EmulatorRefusal;
use crate::module::{Entry, Module};
use crate::report::{Finding, Report, Severity, Stats, TraceEvent};
use crate::sight::Sight;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Batches for each host thread: enough that all end at about the same time.
const BATCHES: usize = 16;
/// Clusters of a batch: small ones are handed over together.
const BATCH: usize = 16;

/// What a cluster that ran alone leaves behind.
type Alone = (Outcome, Overlay, Summary);

/// What clusters that ran alone left behind so far, and the memory that has it.
struct Taken<'a> {
    store: &'a mut Store,
    between: Between,
    merged: Merged,
}

/// What all clusters leave behind.
#[derive(Default)]
struct Merged {
    stats: Stats,
    findings: Vec<Finding>,
    trace: Vec<TraceEvent>,
    seen: Vec<Sight>,
    printed: String,
    coverage: Seen,
    children: Vec<Child>,
    heap: u64,
}

impl Device {
    /// Runs a kernel. Results are in the buffers, findings in the report.
    ///
    /// # Errors
    /// A [`EmulatorRefusal`] when the launch cannot begin: unknown entry, unsupported instructions (X01), wrong arguments
    /// or a launch over the chip's limits (L01). What goes wrong later is a finding.
    pub fn run(
        &mut self,
        module: &Module,
        launch: &Launch,
        opts: &RunOptions,
    ) -> Result<Report, EmulatorRefusal> {
        let entry = module.entry(&launch.entry)?;
        entry.code.as_ref().map_err(Clone::clone)?;
        let params = parameters(entry, launch)?;
        if opts.limits {
            check(&self.target, &module.target, entry, launch)?;
        }
        sane(launch)?;
        if !module.data.is_empty() {
            let data = Arc::clone(&module.data);
            self.store.insert(Buffer { base: MODULE_BASE, name: "module variables".into(), data });
        }
        let done =
            self.run_one(&Inputs { entry, launch, params: &params, opts }).map(|(mut report, children)| {
                self.run_children(module, children, opts, &mut report);
                report
            });
        self.store.buffers.retain(|b| ![MODULE_BASE, HEAP_BASE, GRID_BASE].contains(&b.base));
        self.heap = 0;
        done
    }

    /// Runs one grid; gives what it launched too.
    pub(super) fn run_one(&mut self, inputs: &Inputs<'_>) -> Result<(Report, Vec<Child>), EmulatorRefusal> {
        let Inputs { entry, launch, params, opts } = *inputs;
        let code = entry.code.clone()?;
        let own = [
            (code.allocates, HEAP_BASE, HEAP_BYTES, "heap"),
            (code.grid_barrier, GRID_BASE, 256, "grid barrier"),
        ];
        for (asked, base, bytes, name) in own {
            if asked && self.store.find(base).is_none() {
                let data = Arc::new(vec![0; bytes as usize]);
                self.store.insert(Buffer { base, name: name.to_string(), data });
            }
        }
        let registers = residency::registers(&self.target, entry);
        let most = residency::clusters(&self.target, &code, launch, registers);
        let sms = self.target.chip.sms;
        let plan = Plan::of(&opts.look, &code, &self.store, opts.race == Race::Full)?;
        let declared = &entry.params;
        let job = Job {
            code: &code,
            declared,
            launch,
            opts,
            params,
            plan: &plan,
            heap: self.heap,
            sms,
            registers,
            most,
        };
        let (report, children, heap) = job.run_all(&mut self.store, self.target.name().to_string());
        self.heap = heap;
        Ok((report, children))
    }
}

/// A grid to run: its kernel, its extents, the bytes of its parameters.
pub(super) struct Inputs<'a> {
    pub entry: &'a Entry,
    pub launch: &'a Launch,
    pub params: &'a [u8],
    pub opts: &'a RunOptions,
}

/// Bounds that hold even when the limits of the chip do not.
pub(super) fn sane(launch: &Launch) -> Result<(), EmulatorRefusal> {
    let product = |v: [u32; 3]| v.iter().fold(1_u64, |p, x| p.saturating_mul(u64::from(*x)));
    let (threads, ctas, cluster) = (product(launch.block), product(launch.grid), product(launch.cluster));
    let divides = launch.grid.iter().zip(&launch.cluster).all(|(g, c)| *c > 0 && g % c == 0);
    if threads == 0 || threads > 4096 || ctas == 0 || ctas > 1 << 24 || cluster > 64 || !divides {
        let message = format!("{threads} threads, {ctas} CTAs, clusters of {cluster}");
        return Err(EmulatorRefusal::one(
            "L01",
            0,
            message,
            "even without limits: 4096 threads, 2^24 CTAs, clusters of 64",
        ));
    }
    if launch.smem > 1 << 23 {
        return Err(EmulatorRefusal::one(
            "L01",
            0,
            format!("{} bytes of shared memory", launch.smem),
            "at most 8 MiB",
        ));
    }
    Ok(())
}

impl Job<'_> {
    fn run_all(&self, store: &mut Store, target: String) -> (Report, Vec<Child>, u64) {
        let merged = if self.code.shares_global { self.run_together(store) } else { self.run_apart(store) };
        let (kernel, policy) = (self.launch.entry.clone(), self.opts.policy);
        let mut coverage = merged.coverage.coverage(self.code);
        coverage.hints = reach::hints(&coverage, &merged.coverage, self.code, self.declared, self.launch);
        let Merged { stats, findings, trace, printed, seen, children, heap, .. } = merged;
        (
            Report { kernel, target, policy, findings, stats, coverage, printed, seen, trace },
            children,
            heap.max(self.heap),
        )
    }

    /// Clusters that see each other: resident together, in one memory.
    fn run_together(&self, store: &mut Store) -> Merged {
        let mut merged = Merged::default();
        let overlay = {
            let (outcomes, world) = Grid::new(self, store, 0..self.clusters()).run();
            for o in outcomes.into_values() {
                self.merge(&mut merged, o);
            }
            (merged.children, merged.heap) = (world.children, world.heap.taken);
            world.global.overlay
        };
        store.merge(&overlay);
        merged
    }

    /// Clusters of which none sees another: one by one, or on several host threads.
    fn run_apart(&self, store: &mut Store) -> Merged {
        let n = self.clusters();
        let before = store.clone();
        let take = |into: &mut Taken<'_>, (o, overlay, summary): Alone| {
            into.between.add(summary, into.store, &overlay);
            self.merge(&mut into.merged, o);
            into.store.merge(&overlay);
        };
        let mut taken = Taken { store, between: Between::default(), merged: Merged::default() };
        let threads = self.opts.threads.clamp(1, n.max(1));
        if threads == 1 {
            (0..n).for_each(|i| take(&mut taken, self.run_alone(&before, i)));
        } else {
            let batch = (n / (threads * BATCHES)).clamp(1, BATCH);
            let (next, line) = (AtomicUsize::new(0), InOrder::new(taken, threads));
            let work = || {
                let _bell = Bell(&line);
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let all = i * batch..n.min((i + 1) * batch);
                    let done = all.map(|k| self.run_alone(&before, k)).collect::<Vec<Alone>>();
                    if done.is_empty() {
                        break;
                    }
                    line.put(i, done, |into, batch| batch.into_iter().for_each(|alone| take(into, alone)));
                }
            };
            std::thread::scope(|s| {
                (1..threads).for_each(|_| _ = s.spawn(work));
                work();
            });
            taken = line.end();
        }
        let Taken { store, between, mut merged } = taken;
        if self.opts.race == Race::Full {
            for f in between.findings(self.code, self.launch, store) {
                merge_finding(&mut merged.findings, f, self.opts.max_findings);
            }
        }
        merged
    }

    fn run_alone(&self, store: &Store, index: usize) -> Alone {
        let (outcomes, world) = Grid::new(self, store, index..index + 1).run();
        let outcome = outcomes.into_values().next().unwrap_or_default();
        let summary = Summary::of(&world.shadow, self.launch.position(index as u64, 0));
        (outcome, world.global.overlay, summary)
    }

    fn merge(&self, merged: &mut Merged, o: Outcome) {
        merged.printed.push_str(&o.printed);
        merged.coverage.add(&o.coverage);
        merged.stats.add(&o.stats);
        let room = self.opts.trace.saturating_sub(merged.trace.len());
        merged.trace.extend(o.trace.into_iter().take(room));
        let room = self.plan.most.saturating_sub(merged.seen.len());
        merged.seen.extend(o.seen.into_iter().take(room));
        for f in o.findings {
            merge_finding(&mut merged.findings, f, self.opts.max_findings);
        }
    }
}

/// Findings of the same cause are counted, whichever CTA had them. Notes leave room for errors.
pub(super) fn merge_finding(list: &mut Vec<Finding>, f: Finding, limit: usize) {
    if let Some(g) = list.iter_mut().find(|g| g.same_cause(&f)) {
        g.absorb(&f);
        return;
    }
    let error = |f: &Finding| f.severity == Severity::Error;
    if list.iter().filter(|g| error(g) == error(&f)).count() < limit {
        list.push(f);
    }
}
