//! The packer: fixtures of B62, public instances (B63), optimality against exhaustive search
//! (B76c), mutations of good plans (B64).

#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;
use warploom_bufassign::pack::*;

fn aligned(capacity: Option<u64>, items: &[(u64, i64, i64, u64)]) -> PackProblem {
    let mut p = PackProblem::linear(capacity);
    for &(size, start, end, align) in items {
        p.push_aligned(size, align, start, end);
    }
    p
}

fn solve(p: &PackProblem) -> PackOutcome {
    let o = pack(p, &PackOptions::default());
    check_pack(p, &o).unwrap();
    o
}

fn peak(p: &PackProblem) -> (u64, bool) {
    match solve(p) {
        PackOutcome::Fits { peak, optimal, .. } => (peak, optimal),
        o => panic!("{o:?}"),
    }
}

const PYPTO: [(u64, i64, i64, u64); 6] =
    [(6, 3, 5, 2), (6, 2, 7, 2), (4, 4, 5, 4), (8, 0, 3, 4), (2, 5, 7, 2), (1, 5, 10, 1)];

#[test]
fn greedy_fails_exact_fits() {
    assert!(matches!(solve(&aligned(Some(16), &PYPTO)), PackOutcome::Fits { .. }));
    assert!(matches!(solve(&aligned(Some(15), &PYPTO)), PackOutcome::ProvedInfeasible { .. }));
    assert_eq!(peak(&aligned(None, &PYPTO)), (16, true));
}

#[test]
fn heap_simulator_fixtures() {
    for (want, items) in [
        (100, vec![(10, 0, 4, 1), (30, 1, 5, 1), (20, 2, 6, 1), (40, 3, 7, 1)]),
        (140, vec![(10, 0, 3, 1), (20, 1, 6, 1), (40, 2, 7, 1), (30, 4, 8, 1), (50, 5, 9, 1)]),
        (110, vec![(10, 0, 3, 20), (20, 1, 5, 20), (50, 2, 6, 20), (40, 4, 7, 20)]),
        (12, vec![(4, 0, 3, 1), (4, 3, 9, 1), (4, 0, 9, 1), (4, 9, 21, 1), (4, 0, 21, 1)]),
    ] {
        assert_eq!(peak(&aligned(None, &items)), (want, true), "{items:?}");
    }
}

#[test]
fn colocated_groups() {
    for (want, [a, b, c]) in [(60, [40, 20, 40]), (40, [10, 30, 10]), (60, [40, 20, 30]), (70, [40, 20, 50])]
    {
        let mut p = aligned(None, &[(a, 0, 1, 1), (b, 2, 5, 1), (c, 3, 4, 1)]);
        p.colocations.push(vec![0, 2]);
        assert_eq!(peak(&p).0, want, "{a} {b} {c}");
    }
    let mut p = aligned(None, &[(40, 0, 1, 1), (20, 2, 3, 1), (40, 4, 5, 1)]);
    p.colocations.push(vec![0, 2]);
    let PackOutcome::Fits { offsets, peak, .. } = solve(&p) else { panic!() };
    assert_eq!((offsets, peak), (vec![0, 0, 0], 40));
}

#[test]
fn reserved_ranges_are_left_alone() {
    let mut p = aligned(Some(256), &[(48, 0, 2, 32), (64, 0, 2, 64)]);
    p.reserved = vec![(0, 32), (96, 32)];
    assert!(matches!(solve(&p), PackOutcome::Fits { .. }));
}

#[test]
fn fixed_and_separated() {
    let mut p = aligned(Some(30), &[(10, 0, 2, 1), (10, 1, 3, 1), (10, 5, 6, 1)]);
    p.items[0].fixed = Some(10);
    p.separations = vec![(0, 2), (1, 2)];
    let PackOutcome::Fits { offsets, .. } = solve(&p) else { panic!() };
    assert_eq!(offsets[0], 10);
    p.capacity = Some(29);
    assert!(matches!(solve(&p), PackOutcome::ProvedInfeasible { .. }));
    // Two fixed items on one byte.
    p.items[1].fixed = Some(15);
    p.capacity = None;
    assert!(!matches!(solve(&p), PackOutcome::Fits { .. }));
}

#[test]
fn circles_wrap() {
    let mut p = PackProblem { segments: vec![TimeSegment::Circular(10)], ..PackProblem::default() };
    for (start, len) in [(8, 4), (2, 6), (5, 4)] {
        let live = vec![LiveSpan { segment: 0, start, len, window: None }];
        p.items.push(PackItem { size: 8, align: 1, fixed: None, live });
    }
    // 8..12 meets 5..9; 2..8 meets 5..9; 8..12 and 2..8 touch and share.
    assert_eq!(peak(&p), (16, true));
}

/// Small blocks in loose places hide what cannot be placed: 22 of these 28 have no plan below the optimum,
/// and say so in a few thousand nodes, where all of them together do not in two million.
#[test]
fn few_blocks_prove_what_all_do_not() {
    const ARCS: [(u64, i64, i64); 28] = [
        (384, 43, 7),
        (241, 98, 4),
        (10, 19, 287),
        (220, 305, 202),
        (85, 104, 23),
        (247, 233, 218),
        (343, 114, 253),
        (202, 28, 290),
        (189, 26, 163),
        (192, 177, 243),
        (137, 236, 63),
        (48, 134, 279),
        (216, 275, 106),
        (9, 22, 196),
        (47, 257, 214),
        (52, 52, 145),
        (217, 57, 240),
        (139, 272, 138),
        (55, 173, 76),
        (351, 75, 145),
        (403, 319, 82),
        (368, 206, 225),
        (55, 358, 50),
        (292, 140, 255),
        (298, 371, 43),
        (407, 210, 163),
        (409, 209, 44),
        (21, 388, 99),
    ];
    let mut p = PackProblem { segments: vec![TimeSegment::Circular(400)], ..PackProblem::default() };
    for (size, start, len) in ARCS {
        let live = vec![LiveSpan { segment: 0, start, len, window: None }];
        p.items.push(PackItem { size: size * 128, align: 128, fixed: None, live });
    }
    assert_eq!(peak(&p), (3005 * 128, true));
    p.capacity = Some(3004 * 128);
    let PackOutcome::ProvedInfeasible { core, .. } = solve(&p) else { panic!() };
    assert!(core.len() < ARCS.len());
    // What is left out of the core is needed for nothing: the core alone is refused, too.
    p.items = core.iter().map(|&k| p.items[k].clone()).collect();
    assert!(matches!(solve(&p), PackOutcome::ProvedInfeasible { .. }));
}

#[test]
fn nonsense_is_refused() {
    let make = |f: &dyn Fn(&mut PackProblem)| {
        let mut p = aligned(None, &[(4, 0, 3, 1)]);
        f(&mut p);
        pack(&p, &PackOptions::default())
    };
    for p in [
        make(&|p| p.items[0].align = 0),
        make(&|p| p.items[0].live[0].len = 0),
        make(&|p| p.items[0].live[0].segment = 7),
        make(&|p| p.items[0].size = u64::MAX),
        make(&|p| p.separations.push((0, 9))),
        make(&|p| p.segments[0] = TimeSegment::Circular(0)),
        make(&|p| (p.items[0].align, p.items[0].fixed) = (4, Some(2))),
    ] {
        assert!(matches!(p, PackOutcome::Invalid(_)), "{p:?}");
    }
    let zero = solve(&aligned(Some(1), &[(0, 0, 3, 1), (1, 0, 3, 1)]));
    assert_eq!(zero, PackOutcome::Fits { offsets: vec![0, 0], peak: 1, lower_bound: 1, optimal: true });
}

#[test]
fn csv_in_any_column_order() {
    let text = "size,upper,lower,buffer_id\n4,3,0,a\n4,9,3,b\n4,9,0,c\n4,21,9,d\n4,21,0,e\n";
    let (outcome, rows) = pack_csv(text, Some(12), &PackOptions::default()).unwrap();
    assert!(matches!(outcome, PackOutcome::Fits { peak: 12, .. }));
    let rows = rows.unwrap();
    assert!(rows.starts_with("size,upper,lower,buffer_id,offset\n4,3,0,a,"), "{rows}");
    // Printed offsets read back as fixed ones.
    let again = CsvProblem::parse(&rows, Some(12)).unwrap();
    assert!(again.problem.items.iter().all(|i| i.fixed.is_some()));
    assert!(matches!(solve(&again.problem), PackOutcome::Fits { peak: 12, .. }));
    // `end` is inclusive.
    let (o, _) =
        pack_csv("id,begin,end,size\n0,0,2,4\n1,3,8,4\n2,2,3,4\n", None, &PackOptions::default()).unwrap();
    assert!(matches!(o, PackOutcome::Fits { peak: 8, .. }), "{o:?}");
}

/// Spreadsheets begin a file with a byte order mark; it is no part of the first column's name.
#[test]
fn csv_with_a_byte_order_mark() {
    let csv = CsvProblem::parse("\u{feff}id,lower,upper,size\r\n1,0,5,4\r\n", None).unwrap();
    assert_eq!(peak(&csv.problem), (4, true));
}

#[test]
fn csv_gaps_free_the_bytes() {
    let text = "id,lower,upper,size,gaps\n0,0,30,8,10-20\n1,10,20,8,\n";
    let (o, _) = pack_csv(text, Some(8), &PackOptions::default()).unwrap();
    assert!(matches!(o, PackOutcome::Fits { peak: 8, .. }), "{o:?}");
    let window = "id,lower,upper,size,gaps\n0,0,30,8,10-20@0:4\n1,10,20,4,\n";
    let csv = CsvProblem::parse(window, Some(8)).unwrap();
    assert!(matches!(solve(&csv.problem), PackOutcome::Fits { .. }));
}

#[test]
fn csv_refusals_name_line_and_column() {
    for (text, part) in [
        ("", "header"),
        ("id,lower,upper\n", "size"),
        ("id,lower,size\n", "upper"),
        ("id,lower,upper,size,colour\n", "colour"),
        ("id,lower,upper,size\n0,5,5,4\n", "ends at 5"),
        ("id,lower,upper,size\n0,5,9\n", "3 fields"),
        ("id,lower,upper,size\n0,5,9,-4\n", "no number"),
        ("id,lower,upper,size,alignment\n0,5,9,4,0\n", "alignment"),
        ("id,lower,upper,size\n0,5,9,4\n0,5,9,4\n", "twice"),
        ("id,lower,upper,size,gaps\n0,5,9,4,8-12\n", "gap"),
    ] {
        let e = CsvProblem::parse(text, None).unwrap_err();
        assert!(e.to_string().contains(part), "{text:?}: {e}");
    }
    assert!(CsvProblem::parse("id,lower,upper,size\n", Some(0)).is_err());
}

/// A plan of `count` buffers that fill 1,048,576 bytes over 400 ticks without a gap, one in `one_in` of them taken out, as
/// MiniMalloc's CSV: what its instances look like, made here.
fn planted(seed: u64, count: usize, one_in: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    };
    // Ticks and units of 1024 bytes; the largest is cut in two, along the longer side.
    let mut boxes = vec![(0, 400, 0, 1024)];
    while boxes.len() < count {
        let area = |b: &(u64, u64, u64, u64)| (b.1 - b.0) * (b.3 - b.2);
        let largest = (0..boxes.len()).max_by_key(|k| area(&boxes[*k])).unwrap();
        let (from, to, low, high) = boxes.swap_remove(largest);
        if (to - from) * 2 > high - low {
            let cut = from + (to - from) / 4 + draw((to - from) / 2).max(1);
            boxes.extend([(from, cut, low, high), (cut, to, low, high)]);
        } else {
            let cut = low + (high - low) / 4 + draw((high - low) / 2).max(1);
            boxes.extend([(from, to, low, cut), (from, to, cut, high)]);
        }
    }
    boxes.retain(|_| draw(one_in) > 0);
    let rows = boxes.iter().enumerate();
    let rows = rows.map(|(id, (from, to, low, high))| format!("{id},{from},{to},{}\n", (high - low) * 1024));
    "id,lower,upper,size\n".to_owned() + &rows.collect::<String>()
}

#[test]
fn large_instances_of_known_plans_fit() {
    for (seed, one_in) in [(1, 5), (3, 6), (5, 6), (1, 7), (3, 7), (4, 7)] {
        let csv = CsvProblem::parse(&planted(seed, 200, one_in), Some(1_048_576)).unwrap();
        assert!(csv.problem.items.len() > 150);
        let options = PackOptions::default().node_budget(20_000_000);
        let o = pack(&csv.problem, &options);
        check_pack(&csv.problem, &o).unwrap();
        assert!(matches!(o, PackOutcome::Fits { .. }), "seed {seed}: {o:?}");
    }
}

/// Broken plans are caught, each by its rule (B64).
#[test]
fn broken_plans_are_caught() {
    let mut p = aligned(Some(40), &[(8, 0, 4, 8), (8, 2, 6, 8), (8, 3, 9, 8), (8, 20, 30, 8)]);
    p.items[2].fixed = Some(16);
    p.reserved = vec![(32, 8)];
    p.separations = vec![(0, 3)];
    let PackOutcome::Fits { offsets, peak, lower_bound, optimal } = solve(&p) else { panic!() };
    let caught = |f: &dyn Fn(&mut Vec<u64>, &mut u64, &mut bool)| -> Vec<&'static str> {
        let (mut o, mut k, mut best) = (offsets.clone(), peak, optimal);
        f(&mut o, &mut k, &mut best);
        let outcome = PackOutcome::Fits { offsets: o, peak: k, lower_bound, optimal: best };
        check_pack(&p, &outcome).err().into_iter().flatten().map(|v| v.rule).collect()
    };
    assert!(caught(&|o, _, _| o[0] = o[1]).contains(&"B57"));
    assert!(caught(&|o, _, _| o[3] = o[0]).contains(&"B57"));
    assert!(caught(&|o, _, _| o[2] = 24).contains(&"B56"));
    assert!(caught(&|o, _, _| o[0] += 4).contains(&"B37"));
    assert!(caught(&|o, _, _| o[3] = 32).contains(&"B56"));
    assert!(caught(&|o, _, _| o[3] = 40).contains(&"B40"));
    assert!(caught(&|_, k, _| *k -= 1).contains(&"B58"));
    let loose = PackOutcome::Fits { offsets: vec![0, 8], peak: 16, lower_bound: 8, optimal: true };
    let apart = aligned(None, &[(8, 0, 2, 1), (8, 2, 4, 1)]);
    assert!(check_pack(&apart, &loose).unwrap_err().iter().any(|v| v.rule == "B58"));
    let wrong = PackOutcome::ProvedInfeasible { lower_bound: 8, core: vec![] };
    let fits = PackProblem { capacity: Some(8), ..apart };
    assert!(check_pack(&fits, &wrong).unwrap_err().iter().any(|v| v.rule == "B58"));
}

fn gpu_problem() -> impl Strategy<Value = PackProblem> {
    let item = (1u64..=512, 0usize..3, 0i64..400, 1i64..300, prop::sample::select(vec![128u64, 256, 1024]));
    prop::collection::vec(item, 2..=30).prop_map(|items| {
        let mut p = PackProblem {
            segments: vec![TimeSegment::Linear, TimeSegment::Circular(256), TimeSegment::Circular(400)],
            ..PackProblem::default()
        };
        for (units, segment, start, len, align) in items {
            let live = vec![LiveSpan { segment, start, len, window: None }];
            p.items.push(PackItem { size: units * 128, align, fixed: None, live });
        }
        p
    })
}

/// Peak over all permutations, each item at its lowest free place (B76c).
fn exhaustive(p: &PackProblem) -> u64 {
    fn go(p: &PackProblem, at: &mut Vec<Option<u64>>, peak: u64, best: &mut u64) {
        if peak >= *best {
            return;
        }
        if at.iter().all(Option::is_some) {
            *best = peak;
            return;
        }
        for i in 0..p.items.len() {
            if at[i].is_some() {
                continue;
            }
            let item = &p.items[i];
            let meets = |j: &usize| {
                p.items[*j].live.iter().any(|b| {
                    item.live.iter().any(|a| match p.segments[a.segment] {
                        _ if a.segment != b.segment => false,
                        TimeSegment::Linear => a.start < b.start + b.len && b.start < a.start + a.len,
                        TimeSegment::Circular(c) => (0..c).any(|t| {
                            (t - a.start).rem_euclid(c) < a.len && (t - b.start).rem_euclid(c) < b.len
                        }),
                        _ => true,
                    })
                })
            };
            let below: Vec<(u64, u64)> = (0..p.items.len())
                .filter(meets)
                .filter_map(|j| at[j].map(|o| (o, o + p.items[j].size)))
                .collect();
            let free = |o: &u64| below.iter().all(|b| o + item.size <= b.0 || *o >= b.1);
            let tops = below.iter().map(|b| b.1.next_multiple_of(item.align));
            let Some(o) = std::iter::once(0).chain(tops).filter(free).min() else { continue };
            at[i] = Some(o);
            go(p, at, peak.max(o + item.size), best);
            at[i] = None;
        }
    }
    let mut best = u64::MAX;
    go(p, &mut vec![None; p.items.len()], 0, &mut best);
    best
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn small_problems_are_solved_to_the_optimum(p in gpu_problem()) {
        let mut p = p;
        p.items.truncate(6);
        let (peak, optimal) = peak(&p);
        prop_assert!(optimal);
        prop_assert_eq!(peak, exhaustive(&p));
        // One byte less is proved impossible.
        p.capacity = Some(peak - 1);
        let refused = matches!(solve(&p), PackOutcome::ProvedInfeasible { .. });
        prop_assert!(refused);
    }

    #[test]
    fn order_of_items_does_not_matter_to_the_peak(p in gpu_problem()) {
        let mut p = p;
        p.items.truncate(8);
        let mut q = p.clone();
        q.items.reverse();
        prop_assert_eq!(peak(&p), peak(&q));
    }
}

#[test]
fn narrow_windows_do_not_switch_the_search_off() {
    // The greedy portfolio misses 16 here; an item that is only partly in use for a while does not
    // make the problem harder.
    let mut p = aligned(Some(16), &PYPTO);
    p.items[3].live[0].len = 2;
    p.items[3].live.push(LiveSpan { segment: 0, start: 2, len: 1, window: Some((0, 4)) });
    let o = solve(&p);
    check_pack(&p, &o).unwrap();
    assert!(matches!(o, PackOutcome::Fits { peak: 16, .. }), "{o:?}");
}

/// Nothing is below a peak of 0, whatever there is to place. Found by the fuzzer.
#[test]
fn a_peak_of_nothing_is_optimal() {
    let bytes = [10, 10, 0, 0, 0, 0, 3, 0, 0, 0, 0, 16, 0, 0];
    assert_eq!(warploom_testing::bufassign::pack_bytes(&bytes), Ok(()));
}
