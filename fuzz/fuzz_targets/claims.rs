//! Random claims beside a plain schedule, right and wrong: units of alternatives, copies of several iterations, partitions and
//! replicas, cores, nests.
#![no_main]
use libfuzzer_sys::fuzz_target;
use warploom_testing::sched::{
    LoopShape, Source, laws, loop_graph, mutants, nest_of_two, small_machine, split_loop, with_alternatives,
};

fuzz_target!(|data: &[u8]| {
    let mut source = Source::bytes(data);
    let small = LoopShape { ops: 3, ..LoopShape::SMALL };
    let kept = match source.below(5) {
        0 => {
            let plain = LoopShape { ops: 4, wild: false, ..LoopShape::SMALL };
            let graph = with_alternatives(loop_graph(&mut source, plain), &mut source);
            laws::best_binding_is_found(&graph).and_then(|()| mutants::wrong_units(&graph))
        }
        1 => {
            let graph = loop_graph(&mut source, small);
            laws::unrolling_never_hurts(&graph).and_then(|()| mutants::wrong_copies(&graph))
        }
        2 => mutants::wrong_partitions(&split_loop(&mut source), &small_machine()),
        3 => {
            let graph = loop_graph(&mut source, LoopShape::SMALL);
            laws::cores_refute(&graph).and_then(|()| mutants::wrong_cores(&graph))
        }
        _ => mutants::wrong_nests(&nest_of_two(&mut source)),
    };
    kept.expect("the laws");
});
