//! Alias edges of section 11, and schedules that break them (M21).

use super::*;
use crate::schedule::{AliasEdge, Binding, Times, check_schedule, cycles, edges, parse_binding};

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
