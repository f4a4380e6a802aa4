//! The generators, run for a moment by the ordinary tests.

use super::*;
use crate::{Algorithm, Options, bounds, schedule};
use proptest::prelude::*;

fn quick(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(quick(600))]

    #[test]
    fn small_loops_are_solved_exactly(seed: u64) {
        let graph = loop_graph(&mut Source::seed(seed), Shape::SMALL);
        if let Ok(valid) = validate(&graph) {
            prop_assert_eq!(small_laws(&valid), Ok(()), "{}", crate::to_line(&graph));
        }
    }
}

proptest! {
    #![proptest_config(quick(60))]

    #[test]
    fn wide_loops_keep_the_laws(seed: u64) {
        let graph = loop_graph(&mut Source::seed(seed), Shape::WIDE);
        if let Ok(valid) = validate(&graph) {
            prop_assert_eq!(laws(&valid), Ok(()), "{}", crate::to_line(&graph));
        }
    }
}

proptest! {
    #![proptest_config(quick(10))]

    #[test]
    fn gpu_loops_keep_the_laws(seed: u64) {
        let graph = gpu_loop(&mut Source::seed(seed));
        if let Ok(valid) = validate(&graph) {
            prop_assert_eq!(laws(&valid), Ok(()), "{}", crate::to_line(&graph));
        }
    }

    #[test]
    fn tile_loops_keep_the_laws(seed: u64) {
        let graph = tile_loop(&mut Source::seed(seed));
        prop_assert!(validate(&graph).is_ok());
        if let Ok(valid) = validate(&graph) {
            prop_assert_eq!(laws(&valid), Ok(()), "{}", crate::to_line(&graph));
        }
    }

    #[test]
    fn kernel_loops_keep_the_laws(seed: u64) {
        let graph = kernel_loop(&mut Source::seed(seed));
        prop_assert!(validate(&graph).is_ok());
        // The largest take a second each.
        if let Ok(valid) = validate(&graph)
            && graph.nodes.len() < 40
        {
            prop_assert_eq!(laws(&valid), Ok(()), "{}", crate::to_line(&graph));
        }
    }

    #[test]
    fn the_post_pass_never_raises_bytes(seed: u64) {
        let graph = loop_graph(&mut Source::seed(seed), Shape::WIDE);
        if let Ok(valid) = validate(&graph)
            && let Ok(before) = schedule(&valid, &Options::default().algorithm(Algorithm::Ims))
        {
            let after = crate::relax_stages(&valid, &before, &crate::StageOptions::default());
            let after = after.map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert!(after.bytes <= before.bytes && after.ii == before.ii);
            prop_assert_eq!(crate::check::all(&graph, &after), Ok(()));
        }
    }

    #[test]
    fn bytes_never_panic(data: Vec<u8>) {
        prop_assert_eq!(schedule_bytes(&data), Ok(()));
        prop_assert_eq!(check_bytes(&data), Ok(()));
    }

    #[test]
    fn ids_do_not_matter_to_the_optimum(seed: u64) {
        let graph = loop_graph(&mut Source::seed(seed), Shape::SMALL);
        let n = graph.nodes.len();
        let mut turned = graph.clone();
        let to = |v: usize| n - 1 - v;
        turned.nodes.reverse();
        turned.nodes.iter_mut().enumerate().for_each(|(i, v)| v.id = i);
        turned.edges.iter_mut().for_each(|e| (e.src, e.dst) = (to(e.src), to(e.dst)));
        for v in &mut turned.values {
            v.def = to(v.def);
            v.uses.iter_mut().for_each(|u| u.node = to(u.node));
        }
        prop_assert_eq!(exact_ii(&graph), exact_ii(&turned));
    }

    #[test]
    fn constraints_never_help(seed: u64) {
        let mut source = Source::seed(seed);
        let graph = loop_graph(&mut source, Shape::SMALL);
        let mut more = graph.clone();
        let n = graph.nodes.len() as u64;
        more.add_edge(source.below(n) as usize, source.below(n) as usize, source.below(5) as i64, 1);
        if let (Some(less), Some(more)) = (exact_ii(&graph), exact_ii(&more)) {
            prop_assert!(less <= more);
        }
    }

    #[test]
    fn scaling_latencies_scales_the_critical_ratio(seed: u64, factor in 1i64..9) {
        let shape = Shape { wild: false, ..Shape::WIDE };
        let graph = loop_graph(&mut Source::seed(seed), shape);
        let mut scaled = graph.clone();
        scaled.edges.iter_mut().for_each(|e| e.latency *= factor);
        scaled.values.iter_mut().for_each(|v| v.start *= factor);
        if let (Ok(one), Ok(many)) = (validate(&graph), validate(&scaled)) {
            let (one, many) = (bounds(&one).rec_ratio, bounds(&many).rec_ratio);
            let expected = one.map(|(p, q)| (i128::from(p) * i128::from(factor), i128::from(q)));
            let cross = |a: (i128, i128), b: (i128, i128)| a.0 * b.1 == b.0 * a.1;
            match (expected, many) {
                (None, None) => {}
                (Some(e), Some((p, q))) => prop_assert!(cross(e, (p.into(), q.into()))),
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}

fn exact_ii(graph: &crate::LoopGraph) -> Option<i64> {
    let valid = validate(graph).ok()?;
    schedule(&valid, &Options::default().algorithm(Algorithm::Exact).steps(10)).ok().map(|a| a.ii)
}

#[test]
fn most_generated_loops_are_valid() {
    for (shape, name) in [(Shape::SMALL, "small"), (Shape::WIDE, "wide")] {
        let valid = (0..300).filter(|&s| validate(&loop_graph(&mut Source::seed(s), shape)).is_ok()).count();
        println!("{name}: {valid} of 300 valid");
        assert!(valid > 150, "{name}: {valid}");
    }
}

/// Bounds against an enumeration of all circuits (S16).
#[test]
fn recurrence_bound_equals_enumeration() {
    for seed in 0..400 {
        let graph = loop_graph(&mut Source::seed(seed), Shape { ops: 8, ..Shape::SMALL });
        let Ok(valid) = validate(&graph) else { continue };
        let mut arcs: Vec<(usize, usize, i64, i64)> =
            graph.edges.iter().map(|e| (e.src, e.dst, e.latency, e.distance)).collect();
        for v in &graph.values {
            arcs.extend(v.uses.iter().map(|u| (v.def, u.node, v.start, u.distance)));
        }
        let mut best: Option<(i64, i64)> = None;
        for start in 0..graph.nodes.len() {
            circuits(&arcs, start, start, &mut vec![start], (0, 0), &mut best);
        }
        let b = bounds(&valid);
        let least = best.map_or(0, |(l, d)| bounds::div_ceil(l, d).max(0));
        assert_eq!(b.rec_mii, least, "{}", crate::to_line(&graph));
        if let Some((p, q)) = b.rec_ratio {
            let (l, d) = best.unwrap();
            assert_eq!(p * d, l * q, "{}", crate::to_line(&graph));
        }
    }
}

/// Every simple circuit through `start` whose nodes are not below it.
fn circuits(
    arcs: &[(usize, usize, i64, i64)],
    start: usize,
    at: usize,
    path: &mut Vec<usize>,
    sum: (i64, i64),
    best: &mut Option<(i64, i64)>,
) {
    for &(_, dst, latency, distance) in arcs.iter().filter(|a| a.0 == at && a.1 >= start) {
        let sum = (sum.0 + latency, sum.1 + distance);
        if dst == start {
            if sum.1 > 0 && best.is_none_or(|(l, d)| sum.0 * d > l * sum.1) {
                *best = Some(sum);
            }
        } else if !path.contains(&dst) {
            path.push(dst);
            circuits(arcs, start, dst, path, sum, best);
            path.pop();
        }
    }
}
