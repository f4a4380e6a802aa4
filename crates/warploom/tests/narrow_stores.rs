//! Results of 8 bits that partitions of their own store by descriptors, on the emulator against what the kernel means (C33).
#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "tests may fail")]

mod gemms;

use gemms::{Kind, run_text};
use warploom::{Options, Partitions};
use warploom_testing::pipeline::Kernel;

#[test]
fn results_of_8_bits_leave_by_descriptors_c33() {
    let mut several = Options::default();
    several.pipeline = several.pipeline.partitions(Some(Partitions::Several));
    for output in ["f8E4M3FN", "f8E5M2"] {
        for (extents, row_scale) in [([128, 128, 64], false), ([128, 64, 64], true), ([64, 256, 32], false)] {
            let kernel = Kernel { extents, output, row_scale, ..Kernel::default() };
            for chip in ["sm_90a", "sm_100a"] {
                // tcgen05 multiplies 128 rows.
                if chip == "sm_100a" && extents[0] < 128 {
                    continue;
                }
                let name = format!("{output} of {extents:?} on {chip}");
                run_text(chip, (&name, &kernel.text()), &several, Kind::Generated, extents, &[0, 1, 4], 2);
            }
        }
    }
}
