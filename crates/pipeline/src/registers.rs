//! Registers of the computing warps: what an accumulator takes, what there is (C31, T16).

use warploom_chips::{PartitionWarps, RegisterPlan, Target};

/// Registers a computing thread needs beside its accumulator: addresses, iterators, and the pieces of the
/// epilogue that are in flight.
pub(crate) const OVERHEAD: u64 = 32;

/// What a loading partition may keep, most first; it needs few, and gives more away where they are short.
const KEEPS: [u32; 2] = [40, 24];

/// Live registers per computing thread where tiles take `tiles` of them (64 rows by n columns of f32 in 128 threads
/// take n/2), with [`OVERHEAD`].
pub(crate) fn live(tiles: u64) -> u64 {
    tiles + OVERHEAD
}

/// How registers are split between a loading partition and a computing one.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub plan: RegisterPlan,
    /// Registers of tiles per computing thread.
    tiles: u64,
    /// What each loading thread keeps.
    keep: u32,
    /// What it would rather keep, and what each computing thread would have then: too little.
    passed: Option<(u32, u32)>,
}

impl Split {
    /// Why they are split so, in words.
    pub fn why(&self) -> String {
        let Split { plan, tiles, keep, passed } = self;
        let needs = format!("@math needs {tiles} for tiles and {OVERHEAD} for addresses and the epilogue");
        let left = computing(plan);
        match passed {
            _ if plan.partitions.iter().all(Option::is_none) => {
                format!("{needs}, of {left} at launch: none are moved")
            }
            None => format!("{needs}: @load keeps {keep}, which leaves {left}"),
            Some((more, less)) => {
                format!(
                    "{needs}: were @load to keep {more}, @math would have {less}; it keeps {keep}, which leaves {left}"
                )
            }
        }
    }
}

/// The split between one loading warpgroup and `m / 64` computing ones: the first of [`KEEPS`] with which
/// `tiles` registers of tiles fit. `None` if none does.
pub(crate) fn plan(m: u64, tiles: u64, target: &Target) -> Option<Split> {
    let mut passed = None;
    for keep in KEEPS {
        let Some(plan) = with_keep(m, keep, target) else { continue };
        let have = computing(&plan);
        if u64::from(have) >= live(tiles) {
            return Some(Split { plan, tiles, keep, passed });
        }
        passed = passed.or(Some((keep, have)));
    }
    None
}

/// Whether tiles of so many registers per thread fit.
pub(crate) fn fits(m: u64, tiles: u64, target: &Target) -> bool {
    plan(m, tiles, target).is_some()
}

/// The most registers a computing thread can have with `m / 64` computing warpgroups.
pub(crate) fn available(m: u64, target: &Target) -> u32 {
    let plans = KEEPS.into_iter().filter_map(|keep| with_keep(m, keep, target));
    plans.map(|plan| computing(&plan)).max().unwrap_or(0)
}

/// Registers per thread of the computing partition of a plan, at most what a thread can name.
fn computing(plan: &RegisterPlan) -> u32 {
    plan.of_partition(1).unwrap_or(0)
}

fn with_keep(m: u64, keep: u32, target: &Target) -> Option<RegisterPlan> {
    let group = target.threads.warps_per_group;
    let warps = u32::try_from(m / 64).ok()?.checked_mul(group)?;
    let partitions =
        [PartitionWarps { warps: group, computes: false }, PartitionWarps { warps, computes: true }];
    target.plan_registers(&partitions, keep).ok()
}
