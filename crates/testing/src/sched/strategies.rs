//! Strategies of `proptest`.

use super::generate::{LoopShape, gpu_loop, loop_graph};
use super::kernels::kernel_loop;
use super::limits::limit_loop;
use super::planted::{Planted, planted_loop};
use super::shrink::LoopTree;
use super::source::Source;
use super::split::split_loop;
use super::tiles::tile_loop;
use proptest::prelude::Rng;
use proptest::strategy::{NewTree, Strategy};
use proptest::test_runner::TestRunner;
use std::fmt;
use std::sync::Arc;
use warploom_sched::LoopGraph;

type Make = dyn Fn(&mut Source<'_>) -> LoopGraph + Send + Sync;

/// Random loops of one sort; what fails shrinks by [`LoopTree`].
#[derive(Clone)]
pub struct LoopStrategy(Arc<Make>);

impl LoopStrategy {
    /// The loops that this function makes of random choices.
    pub fn new(make: impl Fn(&mut Source<'_>) -> LoopGraph + Send + Sync + 'static) -> Self {
        LoopStrategy(Arc::new(make))
    }
}

impl fmt::Debug for LoopStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LoopStrategy")
    }
}

impl Strategy for LoopStrategy {
    type Tree = LoopTree;
    type Value = LoopGraph;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let seed = runner.rng().next_u64();
        Ok(LoopTree::new((self.0)(&mut Source::seed(seed))))
    }
}

/// Loops that reach into every corner of the format; most, not all, are valid.
pub fn loops(shape: LoopShape) -> LoopStrategy {
    LoopStrategy::new(move |source| loop_graph(source, shape))
}

/// Loops with the least and the greatest numbers that the format allows.
pub fn limit_loops() -> LoopStrategy {
    LoopStrategy::new(limit_loop)
}

/// Soups of tile operations; see [`gpu_loop`].
pub fn gpu_loops() -> LoopStrategy {
    LoopStrategy::new(gpu_loop)
}

/// Loops as the inner loops of kernels are; see [`kernel_loop`].
pub fn kernel_loops() -> LoopStrategy {
    LoopStrategy::new(kernel_loop)
}

/// Chains, layers and streams of tile operations; see [`tile_loop`].
pub fn tile_loops() -> LoopStrategy {
    LoopStrategy::new(tile_loop)
}

/// Small loops whose operations have yet to be given to partitions; see [`split_loop`].
pub fn split_loops() -> LoopStrategy {
    LoopStrategy::new(split_loop)
}

/// Loops whose optimum is known; see [`planted_loop`]. They do not shrink, as a part of them has another optimum.
pub fn planted_loops() -> impl Strategy<Value = Planted> {
    proptest::num::u64::ANY.no_shrink().prop_map(|seed| planted_loop(&mut Source::seed(seed)))
}
