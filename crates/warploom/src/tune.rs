//! Choices that do not depend on the tile: how deep the rings are, how many CTAs share an SM and so how registers and
//! shared memory are split among partitions. Each is compiled up to the program, checked, and priced by the cost model.

use warploom_chips::{CtaDemand, Target};
use warploom_ir::{Diagnostics, Module};
use warploom_pipeline::{Facts, Resumed};

use crate::compile::{Options, lower};

/// What [`tune`] tries.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TuneOptions {
    /// Iterations of each pipelined loop in the kernel that is priced.
    pub trips: u32,
    /// Most CTAs that may share an SM.
    pub most_ctas: u32,
    /// Most slots added to or taken from what the depth law asks for.
    pub depths: u64,
}

impl Default for TuneOptions {
    fn default() -> TuneOptions {
        TuneOptions { trips: 64, most_ctas: 3, depths: 2 }
    }
}

impl TuneOptions {
    /// Sets the iterations of each pipelined loop in the kernel that is priced.
    #[must_use]
    pub fn trips(self, trips: u32) -> Self {
        TuneOptions { trips, ..self }
    }

    /// Sets the most CTAs that may share an SM.
    #[must_use]
    pub fn most_ctas(self, most_ctas: u32) -> Self {
        TuneOptions { most_ctas, ..self }
    }

    /// Sets the most slots added to or taken from what the depth law asks for.
    #[must_use]
    pub fn depths(self, depths: u64) -> Self {
        TuneOptions { depths, ..self }
    }
}

/// One way to compile the kernel.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The options it was compiled with.
    pub options: Options,
    /// CTAs that it was compiled to share an SM with, itself included.
    pub ctas: u32,
    /// CTAs that an SM then holds.
    pub resident: u32,
    /// Modelled cycles of an SM for each tile of the output.
    pub cycles: u64,
    /// Slots of the deepest ring.
    pub depth: Option<u64>,
    /// What was decided.
    pub facts: Facts,
    /// The kernel, compiled up to its program.
    pub lowered: Resumed,
}

/// What [`tune`] found.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The candidate of the least price.
    pub best: Candidate,
    /// The others that compile, by their price, without those that came out as another did.
    pub runners_up: Vec<Candidate>,
    /// How many were tried.
    pub tried: usize,
}

impl Tuned {
    /// All candidates, best first.
    pub fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        std::iter::once(&self.best).chain(&self.runners_up)
    }
}

/// Tries depths, shares of an SM and register splits, each compiled and checked up to the program. At most
/// `most_ctas * (2 * depths + 1)` are tried, in a fixed order; equal input gives equal answers.
///
/// The price of a candidate is what the cost model says of one tile: its loops take `length + (trips - 1) * II` cycles
/// each; CTAs that share an SM hide each other's waits, but not more than the units allow:
///
/// ```text
/// cycles = max(sum of (length + (trips - 1) * II) / resident, sum of trips * ResMII)
/// ```
///
/// Ties go to fewer CTAs, then to what the depth law asks for, then to fewer slots.
///
/// # Errors
/// The refusals of the kernel as it would be compiled without tuning.
pub fn tune(
    module: &Module,
    target: &Target,
    options: &Options,
    limits: &TuneOptions,
) -> Result<Tuned, Diagnostics> {
    let first = candidate(lower(module, target, options)?, target, options, 1, limits);
    let law = first.depth.unwrap_or(0);
    let (mut best, mut runners_up) = (first, Vec::<Candidate>::new());
    let mut tried = 1;
    for ctas in 1..=limits.most_ctas.max(1) {
        let part = target.shared_by(ctas);
        for options in depths(options, law, limits.depths) {
            if ctas == 1 && options.pipeline.depth.is_none() && options.pipeline.slack_slots == 0 {
                continue;
            }
            tried += 1;
            // One that does not fit is no candidate.
            let Ok(lowered) = lower_for_share(module, &part, &options, ctas) else { continue };
            let new = candidate(lowered, target, &options, ctas, limits);
            let same = |old: &Candidate| old.facts == new.facts && old.depth == new.depth;
            if same(&best) || runners_up.iter().any(same) {
                continue;
            }
            // What nobody asked to change stays before its equals.
            match new.price() < best.price() {
                true => runners_up.insert(0, std::mem::replace(&mut best, new)),
                false => runners_up.push(new),
            }
        }
    }
    runners_up.sort_by_key(Candidate::price);
    Ok(Tuned { best, runners_up, tried })
}

impl Candidate {
    fn price(&self) -> (u64, u32) {
        (self.cycles, self.ctas)
    }
}

/// [`lower`] for a chip that `ctas` CTAs share: buffers are planned within the share's shared memory.
///
/// # Errors
/// Those of [`lower`].
pub fn lower_for_share(
    module: &Module,
    part: &Target,
    options: &Options,
    ctas: u32,
) -> Result<Resumed, Diagnostics> {
    let mut options = options.clone();
    if ctas > 1 {
        let most = options.pipeline.smem_limit.unwrap_or(u64::MAX);
        options.pipeline.smem_limit = Some(most.min(part.smem.per_cta));
    }
    lower(module, part, &options)
}

/// The depths to try: what the author asked for, or the law's and its neighbours.
fn depths(options: &Options, law: u64, around: u64) -> Vec<Options> {
    let mut all = vec![options.clone()];
    if options.pipeline.depth.is_some() || law == 0 {
        return all;
    }
    let explicit = (law.saturating_sub(around).max(1)..law).map(Some);
    for depth in explicit {
        let mut other = options.clone();
        (other.pipeline.depth, other.pipeline.slack_slots) = (depth, 0);
        all.push(other);
    }
    for slack in 1..=around {
        let mut other = options.clone();
        other.pipeline.slack_slots = options.pipeline.slack_slots.saturating_add(slack);
        all.push(other);
    }
    all
}

fn candidate(
    lowered: Resumed,
    target: &Target,
    options: &Options,
    ctas: u32,
    limits: &TuneOptions,
) -> Candidate {
    let facts = lowered.facts();
    let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let demand = CtaDemand {
        threads: small(facts.warps.saturating_mul(u64::from(target.threads.per_warp))),
        registers: small(facts.registers).min(target.registers.per_thread),
        smem_bytes: facts.shared_bytes,
        tmem_columns: small(facts.tmem_columns),
    };
    let resident = target.residency(&demand).map_or(1, |r| r.ctas.max(1));
    let depth = lowered.depth();
    Candidate {
        options: options.clone(),
        ctas,
        resident,
        cycles: price(&facts, resident, limits.trips),
        depth,
        facts,
        lowered,
    }
}

/// Modelled cycles of an SM for each tile.
fn price(facts: &Facts, resident: u32, trips: u32) -> u64 {
    let trips = u64::from(trips.max(1));
    let count = |cycles: i64| cycles.max(0).unsigned_abs();
    let of = |alone: &dyn Fn(u64, u64, u64) -> u64| {
        let each = facts.loops.iter().map(|l| alone(count(l.ii), count(l.length), count(l.res_mii)));
        each.fold(0, u64::saturating_add)
    };
    let waiting = of(&|ii, length, _| length.saturating_add(ii.saturating_mul(trips - 1)));
    let busy = of(&|_, _, units| units.saturating_mul(trips));
    busy.max(waiting.div_ceil(u64::from(resident.max(1))))
}
