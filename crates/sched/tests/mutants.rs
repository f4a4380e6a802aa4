//! What the checker accepts of changed answers is true: bindings (S103), maps of several iterations (S101), partitions and
//! replicas (S98), cores (S102), nests (S104).

use warploom_sched::to_line;
use warploom_testing::sched::{
    LoopShape, Source, loop_graph, mutants, nest_of_two, small_machine, split_loop, with_alternatives,
};

const SEEDS: u64 = 300;

#[test]
fn units() {
    let plain = LoopShape { ops: 4, wild: false, ..LoopShape::SMALL };
    for seed in 0..SEEDS {
        let source = &mut Source::seed(seed);
        let graph = with_alternatives(loop_graph(source, plain), source);
        assert_eq!(mutants::wrong_units(&graph), Ok(()), "{}", to_line(&graph));
    }
}

#[test]
fn copies() {
    for seed in 0..SEEDS {
        let graph = loop_graph(&mut Source::seed(seed), LoopShape { ops: 3, ..LoopShape::SMALL });
        assert_eq!(mutants::wrong_copies(&graph), Ok(()), "{}", to_line(&graph));
    }
}

#[test]
fn partitions_and_replicas() {
    for seed in 0..SEEDS {
        let graph = split_loop(&mut Source::seed(seed));
        assert_eq!(mutants::wrong_partitions(&graph, &small_machine()), Ok(()), "{}", to_line(&graph));
    }
}

#[test]
fn cores() {
    for seed in 0..SEEDS {
        let graph = loop_graph(&mut Source::seed(seed), LoopShape::SMALL);
        assert_eq!(mutants::wrong_cores(&graph), Ok(()), "{}", to_line(&graph));
    }
}

#[test]
fn nests() {
    for seed in 0..SEEDS {
        let loops = nest_of_two(&mut Source::seed(seed));
        let lines: Vec<String> = loops.iter().map(to_line).collect();
        assert_eq!(mutants::wrong_nests(&loops), Ok(()), "{}", lines.join("\n"));
    }
}
