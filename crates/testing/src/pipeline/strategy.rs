//! Proptest strategies of kernels; a failing one shrinks to the plainest kernel that fails.

use proptest::prelude::*;
use proptest::sample::select;
use warploom_pipeline::CompileOptions;

use super::kernel::{Activation, Kernel};

/// Kernels that compile for chips with wgmma or tcgen05 where their tiles fit, plain 128x128x64 in bf16 first.
pub fn kernels() -> impl Strategy<Value = Kernel> {
    let types = select(vec![
        ("bf16", "bf16"),
        ("f16", "f16"),
        ("bf16", "f32"),
        ("f8E4M3FN", "bf16"),
        ("f8E5M2", "f16"),
    ]);
    let extents =
        (select(vec![128u64, 64]), select(vec![128u64, 64, 256, 32, 16, 8]), select(vec![64u64, 128, 32]));
    let operands = (any::<bool>(), any::<bool>(), any::<bool>());
    let epilogue = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let activation = select(vec![Activation::None, Activation::Relu, Activation::Silu]);
    let stages = select(vec![None, Some(2), Some(1), Some(4), Some(8)]);
    (types, extents, operands, epilogue, activation, stages, 1u64..3).prop_map(
        |(
            (input, output),
            (m, n, k),
            (a, b, batched),
            (alpha, add_tile, bias, row_scale),
            activation,
            num_stages,
            stores,
        )| {
            // 8-bit operands have K contiguous.
            let narrow = input.starts_with("f8");
            Kernel {
                extents: [m, n, k],
                input,
                output,
                a_transposed: a && !narrow,
                b_transposed: !b || narrow,
                batched,
                alpha,
                add_tile,
                bias,
                row_scale,
                activation,
                num_stages,
                stores,
            }
        },
    )
}

/// Kernels of every kind, also such as no chip has code for.
pub fn any_kernels() -> impl Strategy<Value = Kernel> {
    proptest::collection::vec(any::<u8>(), 20).prop_map(|bytes| Kernel::from_bytes(&bytes))
}

/// How to compile them: checked, with slots added, asked for, or squeezed by a small shared memory.
pub fn options() -> impl Strategy<Value = CompileOptions> {
    proptest::collection::vec(any::<u8>(), 2).prop_map(|bytes| Kernel::options(&bytes))
}
