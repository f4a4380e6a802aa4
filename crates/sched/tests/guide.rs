//! The programs of the guide for embedders (`docs/embedding.md`) run.

#[path = "../examples/operators.rs"]
mod operators;
#[path = "../examples/partitions.rs"]
mod partitions;
#[path = "../examples/vliw.rs"]
mod vliw;

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[test]
fn operators_of_different_latency() -> Outcome {
    operators::main()
}

#[test]
fn two_clusters_and_a_copy_unit() -> Outcome {
    vliw::main()
}

#[test]
fn a_gpu_loop_with_partitions() -> Outcome {
    partitions::main()
}
