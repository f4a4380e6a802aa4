//! What to run and how, and the checks before the first step (E12).

use super::arg::Arg;
use crate::error::{EmulatorRefusal, RefusalReason};
use crate::look::Look;
use crate::module::{Entry, Param};
use serde::{Deserialize, Serialize};
use warploom_chips::{Feature, Target};

/// A kernel launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Name of the entry.
    pub entry: String,
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y, z.
    pub block: [u32; 3],
    /// CTAs of a cluster in x, y, z.
    pub cluster: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub smem: u32,
    /// Arguments in the order of the parameters.
    pub args: Vec<Arg>,
}

impl Launch {
    /// A launch of one CTA with the block and cluster that the entry asks for, without arguments.
    pub fn of(entry: &Entry) -> Launch {
        Launch {
            entry: entry.name.clone(),
            grid: [1; 3],
            block: entry.required_threads.or(entry.max_threads).unwrap_or([32, 1, 1]),
            cluster: entry.cluster.unwrap_or([1; 3]),
            smem: 0,
            args: Vec::new(),
        }
    }
}

impl Launch {
    /// The grid position of a CTA of a cluster.
    pub(crate) fn position(&self, cluster: u64, rank: u32) -> [u32; 3] {
        let [gx, gy, _] = self.grid;
        let [cx, cy, _] = self.cluster.map(|c| c.max(1));
        let (nx, ny) = (u64::from(gx / cx).max(1), u64::from(gy / cy).max(1));
        let at = [cluster % nx, cluster / nx % ny, cluster / (nx * ny)];
        let inner = [rank % cx, rank / cx % cy, rank / (cx * cy)];
        let mut out = [0; 3];
        for (i, o) in out.iter_mut().enumerate() {
            let c = self.cluster.get(i).copied().unwrap_or(1);
            *o = at.get(i).copied().unwrap_or(0) as u32 * c + inner.get(i).copied().unwrap_or(0);
        }
        out
    }
}

/// Who moves next, and when asynchronous work is done (E9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Policy {
    /// An operation happens when it is issued.
    Eager,
    /// An operation happens only when nobody else can move.
    Lazy,
    /// Seeded choices everywhere.
    Random(u64),
    /// Seeded priorities with change points (Burckhardt et al., ASPLOS 2010).
    Pct(u64),
}

impl Policy {
    /// The default set (E9): eager, lazy, then `seeds` random ones from seed 1.
    pub fn defaults(seeds: u64) -> Vec<Policy> {
        [Policy::Eager, Policy::Lazy].into_iter().chain((1..=seeds).map(Policy::Random)).collect()
    }
}

impl std::fmt::Display for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Policy::Eager => write!(f, "eager"),
            Policy::Lazy => write!(f, "lazy"),
            Policy::Random(s) => write!(f, "random:{s}"),
            Policy::Pct(s) => write!(f, "pct:{s}"),
        }
    }
}

impl std::str::FromStr for Policy {
    type Err = String;

    /// `eager`, `lazy`, `random:SEED` or `pct:SEED`; the seed may be left out and is then 1.
    fn from_str(text: &str) -> Result<Policy, String> {
        let (name, seed) = text.split_once(':').unwrap_or((text, "1"));
        let seed = seed.parse().map_err(|_| format!("'{seed}' is no seed: use a whole number"))?;
        match name {
            "eager" => Ok(Policy::Eager),
            "lazy" => Ok(Policy::Lazy),
            "random" => Ok(Policy::Random(seed)),
            "pct" => Ok(Policy::Pct(seed)),
            _ => Err(format!("no policy '{name}': use eager, lazy, random:SEED or pct:SEED")),
        }
    }
}

/// How much is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Race {
    /// Results, barriers, bounds and deadlocks only.
    Off,
    /// Happens-before analysis of every access too.
    Full,
}

/// How to run: the default, then what differs: `RunOptions::default().policy(Policy::Random(7))`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunOptions {
    /// Scheduling.
    pub policy: Policy,
    /// Race detection.
    pub race: Race,
    /// Proxy fences must stand in the writer (E64), TMEM fences must be there (E65).
    pub strict: bool,
    /// Warp instructions of one cluster before `D02`.
    pub max_steps: u64,
    /// Host threads for independent clusters; 0 means one.
    pub threads: usize,
    /// Check the launch against the chip (L01); `false` runs anyway.
    pub limits: bool,
    /// Findings of one cluster that are kept.
    pub max_findings: usize,
    /// Events of one cluster that are kept in [`crate::Report::trace`], and of all together; 0 keeps none.
    pub trace: usize,
    /// Names for shared memory ranges in reports: first byte, size, name.
    pub names: Vec<(u32, u32, String)>,
    /// What to look at: see [`crate::Report::seen`].
    pub look: Look,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            policy: Policy::Eager,
            race: Race::Full,
            strict: false,
            max_steps: 20_000_000,
            threads: 1,
            limits: true,
            max_findings: 100,
            trace: 0,
            names: Vec::new(),
            look: Look::default(),
        }
    }
}

impl RunOptions {
    /// Who moves next.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// How much is looked for.
    #[must_use]
    pub fn race(mut self, race: Race) -> Self {
        self.race = race;
        self
    }

    /// Whether proxy and TMEM fences must stand where the ISA wants them.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Warp instructions of one cluster before `D02`.
    #[must_use]
    pub fn max_steps(mut self, max_steps: u64) -> Self {
        self.max_steps = max_steps;
        self
    }

    /// Host threads.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Whether the launch is checked against the chip.
    #[must_use]
    pub fn limits(mut self, limits: bool) -> Self {
        self.limits = limits;
        self
    }

    /// Findings of one cluster that are kept.
    #[must_use]
    pub fn max_findings(mut self, max_findings: usize) -> Self {
        self.max_findings = max_findings;
        self
    }

    /// Events of one cluster that are kept.
    #[must_use]
    pub fn trace(mut self, trace: usize) -> Self {
        self.trace = trace;
        self
    }

    /// Names for shared memory ranges: first byte, size, name.
    #[must_use]
    pub fn names(mut self, names: Vec<(u32, u32, String)>) -> Self {
        self.names = names;
        self
    }

    /// Memory to watch, places to stop at.
    #[must_use]
    pub fn look(mut self, look: Look) -> Self {
        self.look = look;
        self
    }
}

/// The parameter space of a launch.
pub(crate) fn parameters(entry: &Entry, launch: &Launch) -> Result<Vec<u8>, EmulatorRefusal> {
    if entry.params.len() != launch.args.len() {
        let names: Vec<&str> = entry.params.iter().map(|p| p.name.as_str()).collect();
        return Err(EmulatorRefusal::one(
            "L01",
            0,
            format!("{} arguments for the {} parameters of {}", launch.args.len(), names.len(), entry.name),
            format!("pass one for each of: {}", names.join(", ")),
        ));
    }
    let mut space = Vec::new();
    for (i, (p, a)) in entry.params.iter().zip(&launch.args).enumerate() {
        let bytes = a.bytes();
        if bytes.len() as u64 != p.size {
            return Err(EmulatorRefusal::one(
                "L01",
                0,
                format!("argument {i} has {} bytes, parameter {} has {}", bytes.len(), p.name, p.size),
                format!("pass a {}", wanted(p)),
            ));
        }
        space.resize(p.offset as usize, 0);
        space.extend_from_slice(&bytes);
    }
    Ok(space)
}

fn wanted(p: &Param) -> String {
    if p.array { format!("value of {} bytes", p.size) } else { format!(".{}", p.ty) }
}

fn product(v: [u32; 3]) -> u64 {
    v.iter().map(|x| u64::from(*x)).fold(1, u64::saturating_mul)
}

/// Checks a launch against the chip and the entry's own directives (L01).
pub(crate) fn check(
    target: &Target,
    module_target: &str,
    entry: &Entry,
    launch: &Launch,
) -> Result<(), EmulatorRefusal> {
    let mut found = Vec::new();
    let mut no = |message: String, remedy: &str| found.push(RefusalReason::new("L01", 0, message, remedy));
    let threads = product(launch.block);
    let dynamic = entry.code.as_ref().map_or(0, |c| if c.static_shared == 0 { 0 } else { c.dynamic_base });
    let shared = dynamic + u64::from(launch.smem);
    if threads == 0 || threads > u64::from(target.threads.per_cta) {
        no(format!("{threads} threads in a CTA, the chip has 1 to {}", target.threads.per_cta), "use fewer");
    }
    if let Some(r) = entry.required_threads.filter(|r| *r != launch.block) {
        no(format!("block {:?} but .reqntid says {r:?}", launch.block), "launch what the kernel asks for");
    }
    if entry.max_threads.is_some_and(|m| threads > product(m)) {
        no(format!("{threads} threads are above .maxntid"), "use fewer");
    }
    if shared > target.smem.per_cta {
        no(
            format!("{shared} bytes of shared memory, {} has {}", target.name(), target.smem.per_cta),
            "use less",
        );
    }
    let limits = [target.grid.x, target.grid.y, target.grid.z];
    for (i, axis) in ["x", "y", "z"].iter().enumerate() {
        let (g, c) = (launch.grid.get(i).copied().unwrap_or(0), launch.cluster.get(i).copied().unwrap_or(0));
        if g == 0 || limits.get(i).is_some_and(|l| g > *l) {
            no(format!("grid {axis} of {g}"), "keep it within the chip's limits (T3)");
        }
        if c == 0 || g % c.max(1) != 0 {
            no(format!("cluster {axis} of {c} does not divide the grid of {g}"), "make it divide");
        }
    }
    let cluster = product(launch.cluster);
    if cluster > 1 && !target.has(Feature::Clusters) {
        no(format!("{} has no clusters", target.name()), "use cluster 1,1,1");
    }
    if let Some(c) = &target.cluster
        && cluster > u64::from(c.opt_in)
    {
        no(format!("cluster of {cluster} CTAs, at most {}", c.opt_in), "use a smaller cluster");
    }
    if entry.cluster.is_some_and(|c| c != launch.cluster) {
        no(format!("cluster {:?} but the entry requires {:?}", launch.cluster, entry.cluster), "launch that");
    }
    let registers = entry.max_registers.map_or(0, |r| u64::from(r) * threads.next_multiple_of(32));
    if registers > u64::from(target.registers.per_cta) {
        no(
            format!("{registers} registers by .maxnreg, a CTA has {}", target.registers.per_cta),
            "lower .maxnreg",
        );
    }
    if !runs_on(module_target, target.name()) {
        no(
            format!("the module is for {module_target}, the chip is {}", target.name()),
            "compile for the chip",
        );
    }
    if found.is_empty() { Ok(()) } else { Err(EmulatorRefusal { diagnostics: found }) }
}

/// Architecture-specific code (`a`) runs on its own chip only, plain code on later chips too.
fn runs_on(module: &str, chip: &str) -> bool {
    let number =
        |s: &str| s.strip_prefix("sm_").map(|s| s.trim_end_matches(['a', 'f'])).and_then(|s| s.parse().ok());
    let (Some(m), Some(c)): (Option<u32>, Option<u32>) = (number(module), number(chip)) else { return false };
    if module.ends_with('a') {
        m == c
    } else if module.ends_with('f') {
        m / 10 == c / 10 && m <= c
    } else {
        m <= c
    }
}
