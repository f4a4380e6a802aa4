//! Known kernels in more and more tiles: copies of one another that share units (S98, S99).

use warploom_sched::{LoopGraph, unroll};
use warploom_testing::sched::{Chip, attention_in_tiles, gradient_in_tiles, ping_pong};

/// The factors that ping-pong is unrolled by.
const FACTORS: [u64; 3] = [2, 4, 6];

/// Ping-pong unrolled, and attention and its gradient in 1 to 7 tiles, on either chip.
pub fn in_tiles() -> Vec<LoopGraph> {
    let on = |chip: Chip| {
        let unrolled = FACTORS.into_iter().filter_map(move |k| unroll(&ping_pong(chip), k).ok());
        let gradients = (1..=7).map(move |tiles| gradient_in_tiles(chip, tiles));
        unrolled.chain(gradients).chain((1..=7).map(move |tiles| attention_in_tiles(chip, tiles)))
    };
    [Chip::Hopper, Chip::Blackwell].into_iter().flat_map(on).collect()
}
