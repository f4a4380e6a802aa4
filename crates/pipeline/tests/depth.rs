//! Ring depths: the law, what fits, what the author says (C6, S51-S57, B65-B67).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use warploom_pipeline::{CompileOptions, Compiled, DepthBound, compile_to_program, explain};
use warploom_testing::pipeline::Kernel;

fn compile(kernel: &Kernel, options: &CompileOptions) -> Compiled {
    compile_to_program(&common::parse(&kernel.text()), &common::hopper(), options)
        .unwrap_or_else(|e| panic!("{}", e[0]))
}

#[test]
fn the_law_gives_at_least_three() {
    for extents in [
        [64, 64, 32],
        [64, 64, 64],
        [64, 256, 64],
        [128, 128, 32],
        [128, 128, 64],
        [128, 256, 64],
        [256, 128, 64],
    ] {
        let compiled = compile(&Kernel { extents, ..Kernel::default() }, &CompileOptions::default());
        let depth = &compiled.depths[0];
        assert_eq!((depth.bound, depth.slots), (DepthBound::Law, depth.law), "{extents:?}");
        assert!(depth.slots >= 3, "{extents:?}: {depth:?}");
        assert_eq!(compiled.loops[0].pipelined.pending, 1);
    }
}

#[test]
fn capacity_bounds_big_tiles_and_raises_the_ii_no_further_than_it_must() {
    // Slots of 96 KiB: the law asks for three, two fit.
    let compiled =
        compile(&Kernel { extents: [128, 256, 128], ..Kernel::default() }, &CompileOptions::default());
    let depth = &compiled.depths[0];
    assert_eq!((depth.bound, depth.slots), (DepthBound::Capacity, 2), "{depth:?}");
    assert!(depth.law > 2 && compiled.loops[0].answer.ii >= depth.unlimited_ii);
    assert!(depth.rounds[0].need.is_some_and(|need| need > 232_448));
    assert!(
        explain(&compiled).contains("ring depth 2: the most that fits; the depth law asks for 3"),
        "{depth:?}"
    );
}

#[test]
fn one_slot_is_the_last_resort() {
    // 96 KiB a slot in 160 KiB: a product cannot be pending while the next copy runs (C30).
    let mut options = CompileOptions::default();
    options.smem_limit = Some(160 * 1024);
    let compiled = compile(&Kernel { extents: [128, 256, 128], ..Kernel::default() }, &options);
    assert_eq!((compiled.depths[0].slots, compiled.loops[0].pipelined.pending), (1, 0));
    assert!(warploom_ir::print(&compiled.program).contains("lag = 0"));
}

#[test]
fn num_stages_caps_the_ring() {
    for stages in 1..=3 {
        let compiled =
            compile(&Kernel { num_stages: Some(stages), ..Kernel::default() }, &CompileOptions::default());
        let depth = &compiled.depths[0];
        assert_eq!((depth.bound, depth.slots), (DepthBound::NumStages, stages), "{depth:?}");
    }
    let compiled = compile(&Kernel { num_stages: Some(8), ..Kernel::default() }, &CompileOptions::default());
    assert_eq!(compiled.depths[0].bound, DepthBound::Law);
}

#[test]
fn slack_is_added_while_it_fits() {
    let kernel = Kernel { extents: [128, 256, 64], ..Kernel::default() };
    let mut options = CompileOptions::default();
    options.slack_slots = 1;
    let compiled = compile(&kernel, &options);
    assert_eq!(
        (compiled.depths[0].slots, compiled.depths[0].slack, compiled.depths[0].bound),
        (4, 1, DepthBound::Law)
    );
    options.slack_slots = 3;
    let compiled = compile(&kernel, &options);
    assert_eq!((compiled.depths[0].slots, compiled.depths[0].bound), (4, DepthBound::Capacity));
    assert_eq!(compiled.loops[0].answer.ii, compiled.depths[0].unlimited_ii);
}

#[test]
fn deeper_than_the_law_by_request() {
    let mut options = CompileOptions::default();
    options.depth = Some(6);
    let compiled = compile(&Kernel::default(), &options);
    assert_eq!((compiled.depths[0].slots, compiled.depths[0].bound), (6, DepthBound::Asked));
}
