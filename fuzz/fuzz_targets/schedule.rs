//! Random loops: every answer passes the checker and keeps the laws of S87.
#![no_main]
use libfuzzer_sys::fuzz_target;
use warploom_testing::sched::{LoopShape, Source, laws, limit_loop, loop_graph, small_machine, split_loop};

fuzz_target!(|data: &[u8]| {
    let mut source = Source::bytes(data);
    let graph = match source.below(4) {
        0 => loop_graph(&mut source, LoopShape::SMALL),
        1 => loop_graph(&mut source, LoopShape::WIDE),
        2 => limit_loop(&mut source),
        _ => {
            let graph = split_loop(&mut source);
            return laws::best_split_is_found(&graph, &small_machine()).expect("the laws");
        }
    };
    let kept = laws::algorithms_agree(&graph).and_then(|()| laws::small_optimum_is_found(&graph));
    kept.expect("the laws");
});
