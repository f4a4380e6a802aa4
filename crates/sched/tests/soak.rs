//! Every law on many seeds of its generator, in one go: what `tests/laws.rs` and the fuzz targets ask now and then.

use std::time::{Duration, Instant};
use warploom_sched::{LoopGraph, to_line};
use warploom_testing::sched::{
    LoopShape, Source, gpu_loop, kernel_loop, laws, loop_graph, mutants, nest_of_two, planted_loop,
    small_machine, split_loop, tile_loop, with_alternatives,
};

type Verdict = Result<(), String>;

/// The loop is told where the law is broken.
fn told(graph: &LoopGraph, verdict: Verdict) -> Verdict {
    verdict.map_err(|e| format!("{e}\n  {}", to_line(graph)))
}

fn shape(ops: u64) -> LoopShape {
    LoopShape { ops, wild: false, ..LoopShape::SMALL }
}

fn plain(source: &mut Source<'_>) -> Verdict {
    let g = loop_graph(source, LoopShape::SMALL);
    told(&g, laws::algorithms_agree(&g).and_then(|()| laws::small_optimum_is_found(&g)))
}

fn wide(source: &mut Source<'_>) -> Verdict {
    let g = loop_graph(source, LoopShape::WIDE);
    told(&g, laws::algorithms_agree(&g).and_then(|()| laws::post_pass_never_raises_bytes(&g)))
}

fn alternatives(source: &mut Source<'_>) -> Verdict {
    let g = loop_graph(source, shape(4));
    let g = with_alternatives(g, source);
    told(&g, laws::best_binding_is_found(&g).and_then(|()| mutants::wrong_units(&g)))
}

fn partitions(source: &mut Source<'_>) -> Verdict {
    let (g, machine) = (split_loop(source), small_machine());
    let best = laws::best_split_is_found(&g, &machine);
    told(&g, best.and_then(|()| mutants::wrong_partitions(&g, &machine)))
}

fn copies(source: &mut Source<'_>) -> Verdict {
    let g = loop_graph(source, LoopShape { ops: 3, ..LoopShape::SMALL });
    told(&g, laws::unrolling_never_hurts(&g).and_then(|()| mutants::wrong_copies(&g)))
}

fn cores(source: &mut Source<'_>) -> Verdict {
    let g = loop_graph(source, LoopShape::SMALL);
    told(&g, laws::cores_refute(&g).and_then(|()| mutants::wrong_cores(&g)))
}

fn wide_cores(source: &mut Source<'_>) -> Verdict {
    let g = loop_graph(source, LoopShape::WIDE);
    told(&g, laws::cores_refute(&g).and_then(|()| mutants::wrong_cores(&g)))
}

fn nests(source: &mut Source<'_>) -> Verdict {
    let loops = nest_of_two(source);
    let both = |e| format!("{e}\n  {}\n  {}", to_line(&loops[0]), to_line(&loops[1]));
    mutants::wrong_nests(&loops).map_err(both)
}

fn budgets(source: &mut Source<'_>) -> Verdict {
    let g = loop_graph(source, LoopShape::SMALL);
    told(&g, laws::least_depths_have_a_schedule(&g))
}

fn wide_budgets(source: &mut Source<'_>) -> Verdict {
    let g = loop_graph(source, LoopShape::WIDE);
    told(&g, laws::least_depths_have_a_schedule(&g))
}

fn planted(source: &mut Source<'_>) -> Verdict {
    let planted = planted_loop(source);
    told(&planted.graph, laws::planted_optimum_is_found(&planted))
}

fn soups(source: &mut Source<'_>) -> Verdict {
    let g = gpu_loop(source);
    told(&g, laws::algorithms_agree(&g))
}

fn tiles(source: &mut Source<'_>) -> Verdict {
    let g = tile_loop(source);
    told(&g, laws::algorithms_agree(&g))
}

/// The largest take a second each.
fn kernels(source: &mut Source<'_>) -> Verdict {
    let g = kernel_loop(source);
    if g.nodes.len() < 40 { told(&g, laws::algorithms_agree(&g)) } else { Ok(()) }
}

/// A family on `count` seeds from `first` on; every failure is told, and what takes more than a second.
fn holds(law: fn(&mut Source<'_>) -> Verdict, first: u64, count: u64) {
    let mut failures = Vec::new();
    for seed in first..first + count {
        let start = Instant::now();
        let verdict = law(&mut Source::seed(seed));
        if start.elapsed() > Duration::from_secs(1) {
            println!("seed {seed}: {:.1} s", start.elapsed().as_secs_f64());
        }
        if let Err(error) = verdict {
            println!("seed {seed}: {error}");
            failures.push(format!("seed {seed}: {error}"));
        }
    }
    assert!(failures.is_empty(), "{} of {count} loops break a law:\n{}", failures.len(), failures.join("\n"));
}

/// For each law a test on a few seeds, and one on as many as take some minutes in a release build.
macro_rules! families {
    ($($law:ident on $few:literal and $many:literal;)*) => {
        mod few {
            $(#[test]
            fn $law() {
                super::holds(super::$law, 7_000_000, $few);
            })*
        }
        mod many {
            $(#[test]
            #[ignore = "minutes in a release build: `make soak`"]
            fn $law() {
                super::holds(super::$law, 8_000_000, $many);
            })*
        }
    };
}

families! {
    plain on 40 and 20_000;
    wide on 8 and 4_000;
    alternatives on 40 and 20_000;
    partitions on 40 and 20_000;
    copies on 40 and 20_000;
    cores on 40 and 20_000;
    wide_cores on 8 and 4_000;
    nests on 40 and 20_000;
    budgets on 40 and 20_000;
    wide_budgets on 8 and 4_000;
    planted on 4 and 2_000;
    soups on 1 and 100;
    tiles on 1 and 100;
    kernels on 1 and 200;
}
