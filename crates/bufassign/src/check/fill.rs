//! Rings deeper than their lifetimes ask, and the reason given for each (B81).

use super::barriers::required;
use super::facts::{Facts, Life};
use super::report::Report;
use crate::output::{Assignment, Class, FillEnd, FillStep, Handshake};
use std::collections::{BTreeMap, BTreeSet};

/// Follows the steps of an answer: each is the one that its reason makes it, and from then on its rings are due a slot more.
/// False where they cannot be followed.
pub(super) fn follow(f: &mut Facts<'_>, a: &Assignment, report: &mut Report) -> bool {
    let plan = match (&a.fill, f.options.fill) {
        (None, false) => return true,
        (Some(plan), true) => plan,
        (found, _) => {
            let text =
                format!("spare memory is {}used", if found.is_some() { "" } else { "not said to be " });
            report.add("B81", &[], text);
            return false;
        }
    };
    let ground = Ground::of(f);
    for step in &plan.steps {
        let due = due(f, a, &ground, step.region, step.partition);
        if due.as_ref() != Some(step) {
            report.add("B81", &step.values, format!("the step is {step:?}, due is {due:?}"));
            return false;
        }
        for v in &step.values {
            let k = f.life_of[v];
            f.lives[k].depth += 1;
        }
    }
    let helps = writers(f)
        .into_iter()
        .any(|(region, partition)| due(f, a, &ground, f.region_id(region), partition).is_some());
    let right = match plan.ended {
        FillEnd::NothingHelps => !helps,
        FillEnd::NoRoom => helps,
        FillEnd::Steps => helps && plan.steps.len() == 256,
        FillEnd::Late => true,
    };
    if !right || plan.steps.len() > 256 {
        report.add("B81", &[], format!("it cannot have ended with {:?}", plan.ended));
    }
    true
}

/// A ring that is deeper than it needs to be shares with nobody.
pub(super) fn alone(f: &Facts<'_>, a: &Assignment, report: &mut Report) {
    let deeper: BTreeSet<u64> =
        a.fill.iter().flat_map(|p| &p.steps).flat_map(|s| s.values.iter().copied()).collect();
    for m in &a.merge {
        let lives: BTreeSet<usize> = m.members.iter().filter_map(|v| f.life_of.get(v).copied()).collect();
        if lives.len() > 1 && m.members.iter().any(|v| deeper.contains(v)) {
            report.add("B81", &m.members, "a ring that has spare slots shares its buffer");
        }
    }
}

/// Loops and partitions that write there.
fn writers(f: &Facts<'_>) -> BTreeSet<(usize, u64)> {
    f.lives.iter().filter_map(|l| Some((l.region, f.ops[&l.producer?].partition))).collect()
}

/// What no step changes.
struct Ground {
    /// Region and partition of ops that read something, or wait for what the caller orders.
    waiting: BTreeSet<(u64, u64)>,
    /// Lifetimes of each root.
    of_root: BTreeMap<Option<u64>, BTreeSet<usize>>,
}

impl Ground {
    fn of(f: &Facts<'_>) -> Ground {
        let reads = f.problem.values.iter().flat_map(|v| &v.consumers).map(|c| c.op);
        let all = reads.chain(f.problem.edges.iter().map(|e| e.dst));
        let waiting = all.filter_map(|op| f.ops.get(&op)).filter_map(|o| Some((o.region?, o.partition)));
        let mut of_root: BTreeMap<Option<u64>, BTreeSet<usize>> = BTreeMap::new();
        for (v, &k) in &f.life_of {
            of_root.entry(f.values[v].root).or_default().insert(k);
        }
        Ground { waiting: waiting.collect(), of_root }
    }
}

/// The step that a partition's rings are due next; none where nothing is saved, or where it may not have one.
fn due(f: &Facts<'_>, a: &Assignment, ground: &Ground, region: u64, partition: u64) -> Option<FillStep> {
    let at = f.problem.regions.iter().position(|r| r.id == region)?;
    let ii = f.ii(at)?;
    if ground.waiting.contains(&(region, partition)) {
        return None;
    }
    let pair = |v: u64| required(f, &f.pipe_members(f.pipe(v))).0 == Handshake::Pair;
    let own = |l: &Life| {
        l.region == at
            && l.producer.is_some_and(|p| f.ops[&p].partition == partition)
            && l.members.iter().any(|&v| pair(v))
    };
    let rings: Vec<usize> = (0..f.lives.len()).filter(|&k| own(&f.lives[k])).collect();
    let lead = |k: usize| f.lives[k].depth * ii - (f.lives[k].end - f.lives[k].start);
    let least = rings.iter().map(|&k| lead(k)).min()?;
    let mut values: BTreeSet<u64> = BTreeSet::new();
    for &k in rings.iter().filter(|&&k| lead(k) - least < ii) {
        // Values that update each other in place have no spare slots, so the first speaks for all.
        values.extend(f.pipe_members(f.pipe(f.lives[k].members[0])));
    }
    let deeper: BTreeSet<usize> = values.iter().map(|v| f.life_of[v]).collect();
    if deeper.iter().any(|k| !rings.contains(k) || !able(f, a, ground, &f.lives[*k])) {
        return None;
    }
    let then = rings.iter().map(|k| lead(*k) + if deeper.contains(k) { ii } else { 0 }).min()?;
    let wait = |lead: i128| rings.iter().map(|&k| late(f, &f.lives[k], ii, lead)).sum::<i128>() as u64;
    let bytes = values.iter().map(|&v| f.stage_bytes(v)).sum();
    let step = FillStep {
        region,
        partition,
        values: values.into_iter().collect(),
        bytes,
        wait: wait(least),
        left: wait(then),
    };
    (step.left < step.wait).then_some(step)
}

/// Whether a lifetime may have more slots than it needs: a stored ring of one value, not bound to others by its author.
fn able(f: &Facts<'_>, a: &Assignment, ground: &Ground, life: &Life) -> bool {
    let &[v] = life.members.as_slice() else { return false };
    let stored = a.record(v).is_some_and(|r| matches!(r.class, Class::Smem | Class::Tmem));
    let shared = ground.of_root[&f.values[&v].root].len() > 1;
    stored && !shared && !life.carried && life.layout.is_none()
}

/// What is left of a second latency of a life's copy behind its slack and its lead.
fn late(f: &Facts<'_>, life: &Life, ii: i128, lead: i128) -> i128 {
    let Some(p) = life.producer.filter(|p| f.ops[p].is_async) else { return 0 };
    let copy = f.at[&p];
    let needed = life.uses.iter().map(|u| f.at[&u.op].t + u.distance * ii).min();
    needed.map_or(0, |t| (copy.t + 2 * copy.latency - t - lead).max(0))
}
