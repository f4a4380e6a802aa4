//! Alias edges of section 11, and schedules that break them (M21).

use super::*;
use warploom_alias::schedule::{
    AliasEdge, Binding, Times, check_schedule, cycles, edges, parse_binding, unordered,
};
use warploom_alias::{GroupElement, ReuseGroup};

fn bind(value: &str, leaf: LeafId, (mul, add): (u64, u64), write: u32, read: u32) -> Binding {
    Binding { value: value.to_owned(), leaf, mul, add, write, reads: vec![read] }
}

fn edge(src: usize, dst: usize, distance: u64) -> AliasEdge {
    AliasEdge { src, dst, distance }
}

/// One MMA group with a fixed index: qk written by op 0 and read by 1, which writes alpha and, as 2, p.
#[test]
fn a46_edges_of_attention() {
    let (m, [qk, p, alpha, ..]) = tables::attention(2, 128);
    let layout = laid_out(&m, &AliasOptions::default());
    for group in [0, 1] {
        let bindings = [
            bind("qk", qk, (0, group), 0, 1),
            bind("p0", p, (0, 2 * group), 2, 3),
            bind("alpha", alpha, (0, group), 2, 4),
        ];
        let found = edges(&layout, &bindings);
        for (src, dst, distance) in [(0, 1, 0), (0, 2, 0), (1, 0, 1), (2, 0, 1)] {
            assert!(found.contains(&edge(src, dst, distance)), "{found:?}");
        }
        assert!(!found.iter().any(|e| (e.src, e.dst) == (1, 2) || (e.src, e.dst) == (2, 1)));
    }
    let across = [bind("qk0", qk, (0, 0), 0, 1), bind("qk1", qk, (0, 1), 0, 1), bind("p1", p, (0, 2), 2, 3)];
    assert!(!edges(&layout, &across).iter().any(|e| (e.src, e.dst) == (0, 1) || (e.src, e.dst) == (0, 2)));
    // A ring over iterations: p slice k of iteration j is buffer 2 j + k.
    let ring = [bind("qk", qk, (1, 0), 0, 1), bind("p1", p, (2, 1), 2, 3)];
    let found = edges(&layout, &ring);
    assert!(found.contains(&edge(1, 0, 2)) && found.contains(&edge(0, 0, 2)), "{found:?}");
    assert_eq!(ring[1].slots(layout.leaf(p).unwrap().1), [32, 160]);
}

#[test]
fn a48_a_cycle_at_distance_0_has_no_schedule() {
    let (m, [qk, p, ..]) = tables::attention(2, 128);
    let layout = laid_out(&m, &AliasOptions::default());
    // qk is still read by operation 4, which needs the p of operation 2.
    let bindings = [bind("qk", qk, (0, 0), 0, 4), bind("p", p, (0, 0), 2, 3)];
    let found = cycles(&layout, &bindings, &edges(&layout, &bindings), &[(0, 2), (2, 3), (3, 4)]);
    let text = "leaves %qk_tiles and %p_tiles share columns 0..32 of group 0, but %qk_tiles is read by operation 4 \
                after operation 2 has written %p_tiles";
    assert!(found[0].message.starts_with(text), "{}", found[0].message);
    assert!(cycles(&layout, &bindings, &edges(&layout, &bindings), &[(0, 2), (2, 3)]).is_empty());
}

#[test]
fn m21_l15_finds_schedules_that_break_an_edge() {
    let (m, [qk, p, ..]) = tables::attention(2, 128);
    let layout = laid_out(&m, &AliasOptions::default());
    let bindings = [bind("qk", qk, (0, 0), 0, 1), bind("p", p, (0, 0), 2, 3)];
    let found = edges(&layout, &bindings);
    let good = Times { ii: 40, issue: vec![0, 10, 20, 30], done: vec![10, 20, 30, 40] };
    assert_eq!(check_schedule(&layout, &bindings, &found, &good), Ok(()));
    let early = Times { issue: vec![0, 10, 15, 30], ..good.clone() };
    let fast = Times { ii: 30, ..good };
    for bad in [early, fast] {
        let findings = check_schedule(&layout, &bindings, &found, &bad).unwrap_err();
        assert!(findings.iter().any(|f| f.message.contains("are live in one unit")), "{findings:?}");
        assert!(findings.iter().any(|f| f.message.starts_with("missing edge")), "{findings:?}");
    }
}

#[test]
fn a44_bindings_in_text() {
    let read = |t| parse_binding(t).ok();
    assert_eq!(read("#warploom.buffer<\"p\", mul = 2, add = 1>"), Some(("p".to_owned(), 2, 1)));
    assert_eq!(read("#warploom.buffer<\"qk\">"), Some(("qk".to_owned(), 1, 0)));
    for bad in
        ["", "#warploom.buffer<p>", "#warploom.buffer<\"p\", mul = -1>", "#warploom.buffer<\"p\", x = 1>"]
    {
        assert_eq!(parse_binding(bad).unwrap_err().code, "A44");
    }
}

/// The edges of A46 by its own words: some iteration finds the two in one unit.
fn edges_by_search(layout: &AliasLayout, bindings: &[Binding]) -> Vec<AliasEdge> {
    let mut out = Vec::new();
    for (src, x) in bindings.iter().enumerate() {
        for (dst, y) in bindings.iter().enumerate() {
            let ((s, a), (t, b)) = (layout.leaf(x.leaf).unwrap(), layout.leaf(y.leaf).unwrap());
            let all = x.period(a.count) * y.period(b.count);
            let first = u64::from(src == dst || x.write >= y.write);
            let meets = |d: &u64| {
                s.spec == t.spec
                    && (0..all).any(|j| {
                        let p = a.position(x.index(j, a.count)).unwrap();
                        let q = b.position(y.index(j + d, b.count)).unwrap();
                        p < q + b.unit && q < p + a.unit
                    })
            };
            let distance = (first..=first + all).find(meets);
            out.extend(distance.map(|distance| edge(src, dst, distance)));
        }
    }
    out
}

#[test]
fn a46_edges_are_those_of_a_search_over_iterations() {
    let mut found = 0;
    for seed in 0..300u64 {
        let m = warploom_testing::alias::module(
            &mutations::stream(seed, 90),
            warploom_testing::alias::Ranges::SMALL,
        );
        let Ok(layout) = m.layout(&AliasOptions::default()) else { continue };
        let leaves: Vec<LeafId> =
            layout.storages.iter().flat_map(|s| &s.leaves).map(|l| l.leaf).take(5).collect();
        let bindings: Vec<Binding> = (0u64..)
            .zip(&leaves)
            .map(|(n, &leaf)| {
                let write = u32::try_from((seed + 3 * n) % 7).unwrap();
                bind("v", leaf, ((seed + n) % 4, (seed / 3 + n) % 5), write, write + 1)
            })
            .collect();
        let edges = edges(&layout, &bindings);
        assert_eq!(edges, edges_by_search(&layout, &bindings), "seed {seed}");
        found += edges.iter().filter(|e| e.src != e.dst).count();
    }
    assert!(found > 100, "{found} edges between values: too few to mean anything");
}

#[test]
fn a49_shared_leaves_that_never_meet_want_an_order_all_the_same() {
    // alpha lies behind p's half of the scores: shared with the scores, no column in common with a narrow leaf.
    let (m, [qk, p, alpha, ..]) = tables::attention(2, 128);
    let layout = laid_out(&m, &AliasOptions::default());
    let bindings =
        [bind("qk", qk, (0, 0), 0, 1), bind("p1", p, (0, 1), 2, 3), bind("alpha", alpha, (0, 0), 2, 4)];
    let times = Times { ii: 40, issue: vec![0, 10, 5, 20, 20], done: vec![10, 20, 20, 30, 40] };
    // qk meets both, and distinct leaves need no order.
    assert_eq!(unordered(&layout, &bindings, &times), []);

    let mut m = AliasModule::new();
    let spec = m.storage_alias_spec(Storage::Smem, None).unwrap();
    let mut leaf = |name: &str, count, elements| {
        m.local_alloc(Alloc::new(name, count, [elements], Elem::F8).reuse(spec)).unwrap()
    };
    let (a, b, c) = (leaf("a", 2, 128), leaf("b", 2, 128), leaf("c", 4, 128));
    let inner = ReuseGroup::distinct([
        GroupElement::from(b),
        ReuseGroup::shared([c]).unwrap().group_size(2).unwrap().into(),
    ]);
    let tree = ReuseGroup::shared([GroupElement::from(a), inner.unwrap().into()]).unwrap();
    m.set_buffer_overlap(spec, tree).unwrap();
    let layout = laid_out(&m, &AliasOptions::default());
    // a[0] and c[0] are at one cell; a lies below c.
    let ring =
        |first: (u64, u64), second: (u64, u64)| [bind("x", a, first, 0, 1), bind("y", c, second, 2, 3)];
    let late = Times { ii: 20, issue: vec![0, 10, 20, 30], done: vec![10, 20, 30, 40] };
    let found = unordered(&layout, &ring((0, 0), (0, 0)), &late);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0, found[0].1.code), (edge(1, 0, 1), "A49"));
    assert_eq!(found[0].1.severity, warploom_alias::AliasSeverity::Warning);
    let text = "nothing orders the last read of %c (y) before the first write of %a one iteration later (x): \
                missing edge y -> x, distance 1";
    assert_eq!(found[0].1.message, text);
    // A longer interval orders them; another cell needs no order; a ring comes back two iterations later.
    assert_eq!(unordered(&layout, &ring((0, 0), (0, 0)), &Times { ii: 40, ..late.clone() }), []);
    assert_eq!(unordered(&layout, &ring((0, 0), (0, 2)), &late), []);
    assert_eq!(unordered(&layout, &ring((1, 0), (2, 1)), &late), []);
    let early = Times { ii: 15, ..late };
    assert!(
        unordered(&layout, &ring((1, 0), (2, 1)), &early)[0]
            .1
            .message
            .ends_with("missing edge y -> x, distance 2")
    );
}

/// The earliest times that keep the body's order (each value is read behind its write) and these edges.
fn earliest(bindings: &[Binding], edges: &[AliasEdge], latency: &[u64], ii: u64) -> Option<Times> {
    let mut issue = vec![0i64; latency.len()];
    let lat = |n: u32| i64::try_from(latency[n as usize]).unwrap();
    for round in 0..=2 * latency.len() {
        let before = issue.clone();
        for b in bindings {
            for read in &b.reads {
                issue[*read as usize] = issue[*read as usize].max(issue[b.write as usize] + lat(b.write));
            }
        }
        for e in edges {
            let (x, y) = (&bindings[e.src], &bindings[e.dst]);
            for read in &x.reads {
                let ready = issue[*read as usize] + lat(*read) - i64::try_from(e.distance * ii).unwrap();
                issue[y.write as usize] = issue[y.write as usize].max(ready);
            }
        }
        if issue == before {
            let issue: Vec<u64> = issue.into_iter().map(|t| u64::try_from(t).unwrap()).collect();
            let done = issue.iter().zip(latency).map(|(t, l)| t + l).collect();
            return Some(Times { ii, issue, done });
        }
        assert!(round < 2 * latency.len() + 1);
    }
    None
}

/// Whether two live values have a unit in common in some cycle, counted cycle by cycle and unit by unit.
fn collide(layout: &AliasLayout, bindings: &[Binding], times: &Times) -> bool {
    let mut owner = std::collections::BTreeMap::new();
    let stages = times.done.iter().max().unwrap() / times.ii + 2;
    let period = bindings.iter().map(|b| b.period(layout.leaf(b.leaf).unwrap().1.count)).product::<u64>();
    for (n, b) in bindings.iter().enumerate() {
        let (storage, leaf) = layout.leaf(b.leaf).unwrap();
        for j in 0..period + stages {
            let start = times.issue[b.write as usize] + j * times.ii;
            let end = b.reads.iter().map(|r| times.done[*r as usize]).max().unwrap() + j * times.ii;
            let at = leaf.position(b.index(j, leaf.count)).unwrap();
            // Every unit size of the test is a multiple of 16.
            for (cycle, unit) in
                (start..end).flat_map(|c| (at..at + leaf.unit).step_by(16).map(move |u| (c, u / 16)))
            {
                if owner.insert((storage.spec, cycle, unit), (n, j)).is_some_and(|other| other != (n, j)) {
                    return true;
                }
            }
        }
    }
    false
}

/// M21: an edge dropped, or its distance one more. Schedules made without it are caught wherever they collide.
#[test]
fn m21_schedules_made_without_an_edge_are_caught() {
    let (mut caught, mut harmless) = (0, 0);
    for seed in 0..60u64 {
        let mut m = AliasModule::new();
        let s = spec(&mut m, Storage::Smem);
        let mut made = Vec::new();
        for n in 0..3 {
            let (count, units) = (1 + (seed + n) % 3, 1 + (seed / 3 + 2 * n) % 4);
            made.push(leaf(&mut m, s, &format!("l{n}"), &[count, 128 * units], Elem::F8));
        }
        let group = match seed % 3 {
            0 => ReuseGroup::shared(made.clone()).unwrap(),
            1 => {
                let beside = ReuseGroup::distinct([made[1], made[2]]).unwrap();
                ReuseGroup::shared([GroupElement::from(made[0]), beside.into()]).unwrap()
            }
            _ => ReuseGroup::shared([made[0], made[1]]).unwrap(),
        };
        if seed % 3 < 2 {
            m.set_buffer_overlap(s, group).unwrap();
        }
        let layout = laid_out(&m, &AliasOptions::default());
        let bindings: Vec<Binding> = (0u32..)
            .zip(&made)
            .map(|(n, &leaf)| bind("v", leaf, (1, u64::from(n) * seed % 2), 2 * n, 2 * n + 1))
            .collect();
        let latency: Vec<u64> = (0..6).map(|n| 1 + (seed * 7 + n * 5) % 9).collect();
        let needed = edges(&layout, &bindings);
        let Some(good) = (1..200).find_map(|ii| earliest(&bindings, &needed, &latency, ii)) else { continue };
        assert_eq!(check_schedule(&layout, &bindings, &needed, &good), Ok(()), "seed {seed}");
        assert!(!collide(&layout, &bindings, &good), "seed {seed}");
        for at in 0..needed.len() {
            let mut dropped = needed.clone();
            dropped.remove(at);
            let mut late = needed.clone();
            late[at].distance += 1;
            for bad in [dropped, late] {
                let times = earliest(&bindings, &bad, &latency, good.ii)
                    .expect("fewer edges, a schedule all the same");
                // The simulation does not look at edges.
                let found = check_schedule(&layout, &bindings, &[], &times).is_err();
                assert_eq!(found, collide(&layout, &bindings, &times), "seed {seed}, edge {:?}", needed[at]);
                if found {
                    caught += 1;
                } else {
                    harmless += 1;
                }
            }
        }
    }
    println!("M21: {caught} caught, {harmless} that collide nowhere, 0 missed");
    assert!(caught > 60, "{caught}");
}
