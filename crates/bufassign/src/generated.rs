//! Generated problems: whatever is accepted, the checker accepts too, and the byte-by-byte replay
//! of B76 finds nothing (unit test, so that the generators need no feature).

use crate::fuzzing::{Choices, packing, problem};
use crate::output::{ErrorKind, Record};
use crate::pack::{PackOptions, check_pack, pack};
use crate::{Assignment, Problem, assign, check};
use std::collections::BTreeMap;

#[test]
fn accepted_answers_hold() {
    let (mut accepted, mut merged, mut refused) = (0, 0, BTreeMap::<String, u32>::new());
    for seed in 0u64..400 {
        let p = problem(&mut Choices::seeded(seed));
        match assign(&p, &p.options) {
            Ok(a) => {
                accepted += 1;
                merged += u32::from(a.merge.iter().any(|m| m.members.len() > 1));
                check::check(&p, &a).unwrap_or_else(|v| panic!("seed {seed}: {v:?}"));
                replay(&p, &a).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            }
            Err(e) => {
                assert_ne!(e.kind, ErrorKind::Internal, "seed {seed}: {e}");
                *refused.entry(format!("{:?} {}", e.kind, e.code)).or_default() += 1;
            }
        }
    }
    println!("{accepted} accepted, {merged} with merges, refused: {refused:?}");
    assert!(accepted > 150 && merged > 10);
}

/// Plain enumeration of instances in the steady state: who owns which byte when (B76a).
fn replay(p: &Problem, a: &Assignment) -> Result<(), String> {
    let stored: Vec<&Record> =
        a.records.iter().filter(|r| r.offset.is_some() && r.byte_offset.is_none()).collect();
    for region in &p.regions {
        let Some(ii) = region.ii else { continue };
        let here: Vec<&Record> = stored.iter().copied().filter(|r| r.region == region.id).collect();
        let mut owned: Vec<(u64, u64, u64, u64, u64)> = Vec::new();
        for r in &here {
            let start = r.start[0] * ii + r.start[1];
            for i in 0..24u64 {
                let slot = (i + r.slot_shift.unwrap_or(0)) % r.depth;
                let at = r.offset.unwrap_or(0) + slot * r.stride.unwrap_or(0);
                owned.push((
                    at,
                    at + r.stage_bytes.unwrap_or(0),
                    start + i * ii,
                    start + i * ii + r.length,
                    r.value,
                ));
            }
        }
        for (n, x) in owned.iter().enumerate() {
            for y in &owned[..n] {
                let bytes = x.0 < y.1 && y.0 < x.1;
                let time = x.2 < y.3 && y.2 < x.3;
                let carried =
                    |v: u64| p.values.iter().any(|w| w.id == v && w.consumers.iter().any(|c| c.in_place));
                if bytes && time && !(carried(x.4) && carried(y.4)) {
                    return Err(format!("values {} and {} own one byte at one cycle", x.4, y.4));
                }
            }
        }
    }
    Ok(())
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
        q.agents.reverse();
        let text = |p: &Problem| match assign(p, &p.options) {
            Ok(a) => a.to_json(),
            Err(e) => e.to_json(),
        };
        assert_eq!(text(&p), text(&q), "seed {seed}");
    }
}

#[test]
fn packings_hold() {
    let options = PackOptions { node_budget: 5_000, ..PackOptions::default() };
    for seed in 0u64..150 {
        let p = packing(&mut Choices::seeded(seed));
        let outcome = pack(&p, &options);
        check_pack(&p, &outcome).unwrap_or_else(|v| panic!("seed {seed}: {v:?}"));
        assert_eq!(outcome, pack(&p, &options));
    }
}
