//! Records against the law: lifetimes, depths, parents (B10, B11, B16, B17, B21, B22).

use super::facts::{Facts, Life};
use super::report::{AssignViolation, Report};
use super::ways::way;
use crate::output::{Assignment, Class, LastSlot, MergeClass, Record};
use std::collections::{BTreeMap, BTreeSet};

/// One record per value in ascending id, and a merge map of known values (B10, B11).
pub(super) fn complete(f: &Facts<'_>, a: &Assignment, report: &mut Report) -> bool {
    let found: Vec<u64> = a.records.iter().map(|r| r.value).collect();
    let required: Vec<u64> = f.values.keys().copied().collect();
    if found != required {
        report.add("B10", &[], format!("records of {found:?}, required of {required:?} in this order"));
        return false;
    }
    let mut seen = BTreeSet::new();
    let mut good = true;
    for m in &a.merge {
        let known = m.members.iter().all(|v| f.life_of.contains_key(v));
        let ascending = m.members.windows(2).all(|w| w[0] < w[1]);
        let fresh = m.members.iter().all(|v| seen.insert(*v));
        if !known || !ascending || !fresh || m.members.first() != Some(&m.class) {
            report.add("B11", &m.members, "a class lists each of its owners once, ascending, lowest first");
            good = false;
        }
        if m.edges.iter().any(|e| !f.life_of.contains_key(&e.from) || !f.life_of.contains_key(&e.to)) {
            report.add("B11", &m.members, "an ordering edge names no owner");
            good = false;
        }
    }
    if !a.merge.windows(2).all(|w| w[0].class < w[1].class) {
        report.add("B11", &[], "classes are listed in ascending order");
        good = false;
    }
    let classes = classes(a);
    for (v, k) in &f.life_of {
        let stored = a.record(*v).is_some_and(|r| matches!(r.class, Class::Smem | Class::Tmem));
        let own = classes.get(v);
        if stored != own.is_some() {
            report.add(
                "B11",
                &[*v],
                "a value with storage belongs to exactly one class, one without to none",
            );
            good = false;
        }
        // Values that update each other in place are one lifetime and cannot be torn apart.
        if let Some(m) = own
            && !f.lives[*k].members.iter().all(|w| classes.get(w).is_some_and(|n| n.class == m.class))
        {
            report.add("B19", &[*v], "values that update each other in place are in one class");
            good = false;
        }
    }
    good
}

/// The class of every value in the merge map.
fn classes(a: &Assignment) -> BTreeMap<u64, &MergeClass> {
    let mut all = BTreeMap::new();
    for m in &a.merge {
        m.members.iter().for_each(|&v| {
            all.entry(v).or_insert(m);
        });
    }
    all
}

pub(super) fn check(f: &Facts<'_>, a: &Assignment, report: &mut Report) {
    report.same("B9", 0, "ok", &a.ok, &true);
    report.same("B10", 0, "name", &a.name, &f.problem.name);
    report.same("B10", 0, "target", &a.target.as_str(), &f.target.name());
    let classes = classes(a);
    // Classes of several lifetimes.
    let joint: BTreeSet<u64> = a.merge.iter().filter(|m| lives(f, &m.members) > 1).map(|m| m.class).collect();
    for r in &a.records {
        let Some(&(owner, offset)) = f.owner.get(&r.value) else { continue };
        let Some(&k) = f.life_of.get(&owner) else { continue };
        let life = &f.lives[k];
        let value = f.values[&r.value];
        let v = r.value;
        report.same("B10", v, "name", &r.name, &value.name);
        report.same("B10", v, "region", &r.region, &f.region_id(life.region));
        report.same("B10", v, "producer", &r.producer, &f.values[&owner].producer.map(|p| f.source(p.op)));
        let mut ops: BTreeSet<u64> = value.consumers.iter().map(|c| f.source(c.op)).collect();
        if v == owner {
            ops.extend(f.family(v).flat_map(|w| w.consumers.iter().map(|c| f.source(c.op))));
        }
        report.same("B10", v, "consumers", &r.consumers.iter().copied().collect(), &ops);
        let split = |t: i128| match f.ii(life.region) {
            Some(ii) => [(t / ii) as u64, (t % ii) as u64],
            None => [0, t as u64],
        };
        report.same("B16", v, "start", &r.start, &split(life.start));
        report.same("B16", v, "end", &r.end, &split(life.end));
        report.same("B16", v, "length", &r.length, &((life.end - life.start) as u64));
        let stages = f.ii(life.region).and_then(|_| f.problem.regions[life.region].stages).unwrap_or(1);
        report.same("B10", v, "stages", &r.stages, &stages);
        let class = classes.get(&owner).copied();
        let is_joint = class.is_some_and(|m| joint.contains(&m.class)) && life.layout.is_none();
        depth((f, a), (life, class, is_joint), r.depth.into(), v, report);
        let in_stage = life.producer.and_then(|p| f.at.get(&p)).is_none_or(|p| {
            life.uses.iter().all(|u| u.distance == 0 && f.at.get(&u.op).is_some_and(|a| a.stage == p.stage))
        });
        let pipelined = f.ii(life.region).is_some() && !(r.depth == 1 && in_stage);
        report.same("B10", v, "pipelined", &r.pipelined, &pipelined);
        report.same("B11", v, "parent", &r.parent, &class.map_or(owner, |m| m.class));
        let ring = is_joint && r.depth > 1;
        if ring != r.slot_shift.is_some() || r.slot_shift.is_some_and(|s| s >= r.depth) {
            report.add("B50", &[v], "a rotation stands in joint rings only and is below the depth");
        }
        let live_out = life.live_out || value.live_out;
        let last = live_out.then(|| LastSlot { add: r.slot_shift.unwrap_or(0) as i64 - 1, modulo: r.depth });
        report.same("B22", v, "last_slot", &r.last_slot, &last);
        report.same("B14", v, "byte_offset", &r.byte_offset, &(v != owner).then_some(offset));
        if v != owner {
            view(a.record(owner), r, offset, report);
        }
        fence(f, owner, r, report);
    }
}

/// Number of lifetimes among values.
fn lives(f: &Facts<'_>, members: &[u64]) -> usize {
    members.iter().filter_map(|v| f.life_of.get(v)).collect::<BTreeSet<_>>().len()
}

/// Depth: the law for a ring of its own, the class's for a joint ring (B17, B21, B50).
fn depth(
    (f, a): (&Facts<'_>, &Assignment),
    (l, class, joint): (&Life, Option<&MergeClass>, bool),
    found: i128,
    v: u64,
    report: &mut Report,
) {
    if f.ii(l.region).is_none() {
        report.same("B17", v, "depth", &found, &1);
    } else if joint {
        let common = class.map_or(1, |m| m.depth.into());
        report.same("B50", v, "depth", &found, &common);
        if l.carried {
            report.same("B19", v, "depth of what is updated in place", &common, &1);
        }
        if common < l.depth {
            report.add(
                "B17",
                &[v],
                format!("a ring of {common} slots for a lifetime that needs {}", l.depth),
            );
        }
    } else {
        report.same("B17", v, "depth", &found, &l.depth);
        if let Some(m) = class.filter(|_| l.layout.is_none()) {
            report.same("B11", v, "class depth", &i128::from(m.depth), &l.depth);
        }
    }
    let owner = f.owner.get(&v).map_or(v, |o| o.0);
    for w in f.pipe_members(f.pipe(owner)) {
        let other = a.record(w).map_or(0, |r| r.depth);
        let carried = f.life_of.get(&w).is_some_and(|&k| f.lives[k].carried) || l.carried;
        if i128::from(other) != found && !carried {
            report.add("B21", &[v, w], "members of one pipe have one depth");
        }
    }
}

/// A view repeats its owner's place, further in (B10, B14).
fn view(owner: Option<&Record>, r: &Record, offset: u64, report: &mut Report) {
    let owner = owner.filter(|o| o.byte_offset.is_none() && o.parent == r.parent && o.producer == r.producer);
    let repeats = owner.is_some_and(|o| {
        o.offset.and_then(|x| x.checked_add(offset)) == r.offset
            && (o.class, o.stride, o.depth, o.pipe, o.full, o.empty, o.tmem, o.barrier, o.handshake)
                == (r.class, r.stride, r.depth, r.pipe, r.full, r.empty, r.tmem, r.barrier, r.handshake)
    });
    if !repeats {
        report.0.push(AssignViolation {
            rule: "B14",
            values: vec![r.value],
            message: "a view repeats its owner's place and handshake".into(),
        });
    }
}

/// A fence is due iff a generic write to shared memory is read by the async proxy (B10).
fn fence(f: &Facts<'_>, owner: u64, r: &Record, report: &mut Report) {
    let family: Vec<_> = f.family(owner).collect();
    let generic = family.iter().filter_map(|v| v.producer).any(|p| way(f, p.role).generic);
    let proxy = family.iter().flat_map(|v| &v.consumers).any(|c| way(f, c.role).by_async);
    let due = r.class == Class::Smem && generic && proxy;
    report.same("B10", r.value, "proxy_fence", &r.proxy_fence, &due);
}
