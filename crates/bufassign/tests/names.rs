//! Ids and the order of lists decide nothing (B80).
#![allow(clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use warploom_bufassign::{Assignment, BufferValue, Class, Problem, assign};
use warploom_testing::bufassign::{Choices, Family, problem_of};

/// New ids for those of a list, all different.
fn renamed(ids: impl Iterator<Item = u64>, c: &mut Choices<'_>) -> BTreeMap<u64, u64> {
    let old: Vec<u64> = ids.collect();
    let mut new: Vec<u64> = (0..old.len() as u64).map(|k| 7 * k + c.below(7)).collect();
    shuffle(&mut new, c);
    old.into_iter().zip(new).collect()
}

fn shuffle<T>(list: &mut [T], c: &mut Choices<'_>) {
    for k in (1..list.len()).rev() {
        list.swap(k, c.below(k as u64 + 1) as usize);
    }
}

/// The same problem under other names, its lists in another order; and the new id of each value.
fn disguised(p: &Problem, c: &mut Choices<'_>) -> (Problem, BTreeMap<u64, u64>) {
    let mut q = p.clone();
    let partition = renamed(p.partitions.iter().map(|x| x.id), c);
    let region = renamed(p.regions.iter().map(|x| x.id), c);
    let op = renamed(p.ops.iter().map(|x| x.id), c);
    let value = renamed(p.values.iter().map(|x| x.id), c);
    let roots: BTreeSet<u64> = p.values.iter().filter_map(|v| v.root).collect();
    let root = renamed(roots.into_iter(), c);
    // A pipe's id may not meet that of a value of another pipe, since a value's own pipe has the value's.
    let pipes: BTreeSet<u64> = p.values.iter().filter_map(|v| v.pipe).collect();
    let mut pipe = renamed(pipes.into_iter(), c);
    pipe.values_mut().for_each(|x| *x += 1_000_000);
    q.partitions.iter_mut().for_each(|x| x.id = partition[&x.id]);
    for x in &mut q.regions {
        x.id = region[&x.id];
        x.inside.iter_mut().for_each(|i| i.region = region[&i.region]);
    }
    for o in &mut q.ops {
        (o.id, o.partition, o.region) = (op[&o.id], partition[&o.partition], o.region.map(|r| region[&r]));
    }
    for v in &mut q.values {
        (v.id, v.root, v.pipe) = (value[&v.id], v.root.map(|r| root[&r]), v.pipe.map(|x| pipe[&x]));
        v.view_of = v.view_of.map(|o| value[&o]);
        v.producer.iter_mut().for_each(|x| x.op = op[&x.op]);
        v.consumers.iter_mut().for_each(|x| x.op = op[&x.op]);
        shuffle(&mut v.consumers, c);
    }
    q.edges.iter_mut().for_each(|e| (e.src, e.dst) = (op[&e.src], op[&e.dst]));
    shuffle(&mut q.partitions, c);
    shuffle(&mut q.ops, c);
    shuffle(&mut q.values, c);
    shuffle(&mut q.edges, c);
    shuffle(&mut q.reserved, c);
    (q, value)
}

/// What of an answer may not depend on names, in the names that `name` gives: bytes, columns, barriers, occupancy, and
/// the classes with their waits.
#[derive(Debug, PartialEq)]
struct Gist {
    bytes: (u64, u64, Option<(u64, u64)>),
    barriers: (u32, bool),
    waits: usize,
    implied: usize,
    classes: BTreeMap<Vec<u64>, (u64, Option<u64>, usize)>,
    depths: BTreeMap<u64, (u64, Class)>,
}

fn gist(a: &Assignment, name: &dyn Fn(u64) -> u64) -> Gist {
    let edges = || a.merge.iter().flat_map(|m| &m.edges);
    let classes = a.merge.iter().map(|m| {
        let mut members: Vec<u64> = m.members.iter().map(|&v| name(v)).collect();
        members.sort_unstable();
        let offset = a.record(m.class).and_then(|r| r.offset);
        (members, (m.depth, offset, m.edges.iter().filter(|e| !e.implied).count()))
    });
    Gist {
        bytes: (a.smem.used, a.smem.load_bound, a.tmem.as_ref().map(|t| (t.used, t.load_bound))),
        barriers: (a.barriers.used, a.barriers.recoloured),
        waits: edges().filter(|e| !e.implied).count(),
        implied: edges().filter(|e| e.implied).count(),
        classes: classes.collect(),
        depths: a.records.iter().map(|r| (name(r.value), (r.depth, r.class))).collect(),
    }
}

/// `count` problems of each family, each under `names` other names: the same answer up to renaming.
fn names_decide_nothing(count: u64, names: u64) {
    let (mut answered, mut alike) = (0, 0);
    for family in Family::ALL {
        for seed in 0..count {
            let p = problem_of(family, &mut Choices::seeded(seed));
            let mine = assign(&p, &p.options);
            answered += u32::from(mine.is_ok());
            for n in 0..names {
                let (q, value) = disguised(&p, &mut Choices::seeded(seed * names + n));
                match (&mine, assign(&q, &q.options)) {
                    (Ok(a), Ok(b)) => {
                        let (x, y) = (gist(a, &|v| value[&v]), gist(&b, &|v| v));
                        // Values that nothing but their names tells apart may change places.
                        let same = x == y || swapped(&p) && x.bytes == y.bytes && x.waits == y.waits;
                        alike += u32::from(x == y);
                        assert!(same, "{family:?}, seed {seed}, names {n}:\n{x:#?}\n{y:#?}");
                    }
                    (Err(e), Err(f)) => assert_eq!(e.kind, f.kind, "{family:?}, seed {seed}, names {n}"),
                    (mine, other) => panic!("{family:?}, seed {seed}, names {n}: {mine:?} {other:?}"),
                }
            }
        }
    }
    println!("{answered} answered, {alike} answers alike to the last offset");
    assert!(answered > 0);
}

/// Two values of a problem are alike but for their names.
fn swapped(p: &Problem) -> bool {
    let mut seen = BTreeSet::new();
    p.values.iter().any(|v| {
        let mut plain = BufferValue { id: 0, name: String::new(), root: None, pipe: None, ..v.clone() };
        plain.consumers.sort_by_key(|c| (c.op, c.distance));
        !seen.insert(format!("{plain:?}"))
    })
}

#[test]
fn answers_do_not_depend_on_names() {
    names_decide_nothing(12, 4);
}

#[test]
#[ignore = "minutes in a release build: `make soak`"]
fn answers_do_not_depend_on_names_in_a_thousand_problems() {
    names_decide_nothing(1_000, 20);
}
