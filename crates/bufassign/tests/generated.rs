//! Generated problems: whatever is accepted, the checker accepts too, and the replays of B76 find nothing.
#![allow(clippy::panic)]

use std::collections::BTreeMap;
use warploom_bufassign::pack::{PackOptions, check_pack, pack};
use warploom_bufassign::{
    Assignment, BufferValue, Class, ErrorKind, Problem, Record, Sharing, assign, check,
};
use warploom_testing::bufassign as replay;
use warploom_testing::bufassign::{Choices, packing, problem};

#[test]
fn accepted_answers_hold() {
    let (mut tmem, mut deepest, mut barriers) = (0, 0, 0);
    let (mut accepted, mut merged, mut refused) = (0, 0, BTreeMap::<String, u32>::new());
    for seed in 0u64..400 {
        let p = problem(&mut Choices::seeded(seed));
        match assign(&p, &p.options) {
            Ok(a) => {
                accepted += 1;
                tmem += u32::from(a.records.iter().any(|r| r.class == Class::Tmem));
                deepest = deepest.max(a.records.iter().map(|r| r.depth).max().unwrap_or(0));
                barriers = barriers.max(a.barriers.used);
                merged += u32::from(a.merge.iter().any(|m| m.members.len() > 1));
                check::check(&p, &a).unwrap_or_else(|v| panic!("seed {seed}: {v:?}"));
                replay::steady(&p, &a).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                let mut delays = Choices::seeded(seed);
                replay::delayed(&p, &a, 2, &mut delays).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                replay::every_timing(&p, &a).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            }
            Err(e) => {
                assert_ne!(e.kind, ErrorKind::Internal, "seed {seed}: {e}");
                *refused.entry(format!("{:?} {}", e.kind, e.code)).or_default() += 1;
            }
        }
    }
    println!("{accepted} accepted, {merged} with merges, {tmem} with tensor memory, refused: {refused:?}");
    println!("deepest ring {deepest}, most named barriers {barriers}");
    assert!(accepted > 150 && merged > 10);
}

#[test]
fn depth_is_the_least_that_is_safe() {
    for seed in 0u64..100 {
        let p = problem(&mut Choices::seeded(seed));
        let Ok(a) = assign(&p, &p.options) else { continue };
        for m in a.merge.iter().filter(|m| m.members.len() == 1 && m.depth > 1) {
            // One slot less breaks the law or the position term; the checker must say so.
            let mut b = a.clone();
            for r in b.records.iter_mut().filter(|r| r.parent == m.class) {
                r.depth -= 1;
            }
            assert!(check::check(&p, &b).is_err(), "seed {seed}");
        }
    }
}

#[test]
fn shuffle_invariant() {
    for seed in 0u64..40 {
        let p = problem(&mut Choices::seeded(seed));
        let mut q = p.clone();
        q.ops.reverse();
        q.values.reverse();
        q.partitions.reverse();
        let text = |p: &Problem| match assign(p, &p.options) {
            Ok(a) => a.to_json(),
            Err(e) => e.to_json(),
        };
        assert_eq!(text(&p), text(&q), "seed {seed}");
    }
}

#[test]
fn packings_hold() {
    let options = PackOptions::default().node_budget(20_000);
    for seed in 0u64..150 {
        let p = packing(&mut Choices::seeded(seed));
        let outcome = pack(&p, &options);
        check_pack(&p, &outcome).unwrap_or_else(|v| panic!("seed {seed}: {v:?}"));
        assert_eq!(outcome, pack(&p, &options));
    }
}

/// A slot too few, a wait too few: the replay notices every one that matters. Whether it matters is the
/// checker's word, from distances in its own graph, which the replay knows nothing of; what random delays
/// find, all timings must find too.
#[test]
fn replay_catches_what_is_broken() {
    // By mutation: made, harmless by the checker's graph, caught, caught by twelve random runs.
    let mut table = BTreeMap::<&str, [u32; 4]>::new();
    for seed in 0u64..300 {
        let mut p = problem(&mut Choices::seeded(seed));
        let mut judge = |name: &'static str, p: &Problem, b: &Assignment, harmless: bool| {
            let early = replay::steady(p, b).is_err();
            let late = replay::delayed(p, b, 12, &mut Choices::seeded(seed)).is_err();
            let caught = early || replay::every_timing(p, b).is_err();
            assert!(caught || !late, "seed {seed}: random delays find more than all timings");
            assert_eq!(caught, !harmless, "seed {seed}, {name}: caught {caught}, harmless {harmless}");
            let counts = [true, harmless, caught, early || late];
            let row = table.entry(name).or_default();
            row.iter_mut().zip(counts).for_each(|(n, is)| *n += u32::from(is));
        };
        for sharing in [p.options.sharing, Sharing::Always] {
            p.options.sharing = sharing;
            let Ok(a) = assign(&p, &p.options) else { continue };
            for m in a.merge.iter().filter(|m| m.members.len() == 1 && m.depth > 1) {
                let b = one_slot(&a, m.class);
                let ii = |r: &Record| p.regions.iter().find(|x| x.id == r.region).and_then(|x| x.ii);
                let short = a.record(m.class).is_some_and(|r| ii(r).is_some_and(|ii| r.length <= ii));
                // Several initial versions do not fit one slot.
                let own = |v: &&BufferValue| v.id == m.class || v.view_of == Some(m.class);
                let near = p.values.iter().filter(own).flat_map(|v| &v.consumers).all(|c| c.distance < 2);
                let harmless = short && near && check::ordered(&p, &b, m.class, m.class, 1);
                judge("B17 one slot for a ring", &p, &b, harmless);
            }
            for (m, e) in inserted(&a) {
                let mut b = a.clone();
                let edge = b.merge[m].edges.remove(e);
                let harmless = check::ordered(&p, &b, edge.from, edge.to, edge.distance);
                // The checker asks of neighbours in a ring for all; it must miss none that matters.
                assert!(harmless || check::check(&p, &b).is_err(), "seed {seed}: {edge:?}");
                judge("B51 inserted wait dropped", &p, &b, harmless);
            }
        }
    }
    println!("{:<28} made harmless caught by random delays", "");
    for (name, [made, harmless, caught, random]) in &table {
        println!("{name:<28} {made:>4} {harmless:>8} {caught:>6} {random:>16}");
    }
    assert!(table.len() == 2 && table.values().all(|n| n[2] > 10), "{table:?}");
}

/// The storage of a ring alone shrinks to one slot; producers still run ahead by the old depth.
fn one_slot(a: &Assignment, class: u64) -> Assignment {
    let mut b = a.clone();
    for r in b.records.iter_mut().filter(|r| r.parent == class && r.byte_offset.is_none()) {
        r.stride = Some(0);
        if let Some(t) = &mut r.tmem {
            t.stride = 0;
        }
    }
    b
}

/// Where the inserted waits of an answer stand: class and edge.
fn inserted(a: &Assignment) -> Vec<(usize, usize)> {
    let all = a.merge.iter().enumerate().flat_map(|(n, m)| (0..m.edges.len()).map(move |e| (n, e)));
    all.filter(|&(n, e)| !a.merge[n].edges[e].implied).collect()
}

/// Sharing is there to save: it never takes more bytes than no sharing.
#[test]
fn sharing_never_costs_bytes() {
    for seed in 0u64..60 {
        let mut p = problem(&mut Choices::seeded(seed));
        p.options.smem_limit = None;
        let mut used = Vec::new();
        for sharing in [Sharing::Off, Sharing::Implied, Sharing::Always] {
            p.options.sharing = sharing;
            used.push(assign(&p, &p.options).ok().map(|a| a.smem));
        }
        if let [Some(off), Some(implied), Some(always)] = &used[..] {
            assert!(implied.used <= off.used || !off.optimal, "seed {seed}: {} {}", off.used, implied.used);
            assert!(always.used <= off.used || !off.optimal, "seed {seed}: {} {}", off.used, always.used);
        }
    }
}

/// Two values that wait at one hardware barrier are never live at one moment (B30).
#[test]
fn barriers_are_never_shared_by_concurrent_pairs() {
    for seed in 0u64..100 {
        let p = problem(&mut Choices::seeded(seed));
        let Ok(a) = assign(&p, &p.options) else { continue };
        for (n, x) in a.records.iter().enumerate() {
            for y in &a.records[..n] {
                let same = x.barrier.is_some_and(|b| y.barrier.is_some_and(|c| b.slot == c.slot));
                let apart = x.pipe.is_none() || x.pipe != y.pipe;
                let Some(ii) = p.regions.iter().find(|r| r.id == x.region).and_then(|r| r.ii) else {
                    continue;
                };
                if !same
                    || !apart
                    || x.region != y.region
                    || x.byte_offset.is_some()
                    || y.byte_offset.is_some()
                {
                    continue;
                }
                let busy = |r: &Record, t: u64| (t + 64 * ii - r.start[0] * ii - r.start[1]) % ii < r.length;
                assert!((0..ii).all(|t| !(busy(x, t) && busy(y, t))), "seed {seed}: {} {}", x.value, y.value);
            }
        }
    }
}

#[test]
fn fuzz_laws_hold_on_plain_bytes() {
    for seed in 0u8..40 {
        let data: Vec<u8> = (0..200u32).map(|k| (k * 37 + u32::from(seed) * 101) as u8).collect();
        replay::assign_bytes(&data).unwrap_or_else(|e| panic!("{seed}: {e}"));
        replay::pack_bytes(&data).unwrap_or_else(|e| panic!("{seed}: {e}"));
    }
}
