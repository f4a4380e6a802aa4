//! A generated kernel: a matrix product with an epilogue.

use warploom_pipeline::CompileOptions;

/// A generated kernel, C = epilogue(A * B).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Extents M, N, K of the tile.
    pub extents: [u64; 3],
    /// Element type of A and B.
    pub input: &'static str,
    /// Element type of the result.
    pub output: &'static str,
    /// A is stored [K, M].
    pub a_transposed: bool,
    /// B is stored [N, K], as most are.
    pub b_transposed: bool,
    /// Descriptors have a leading extent of 1.
    pub batched: bool,
    /// The result is scaled by a scalar.
    pub alpha: bool,
    /// A tile is loaded and added.
    pub add_tile: bool,
    /// One value per column is added.
    pub bias: bool,
    /// Each row is scaled.
    pub row_scale: bool,
    /// The last operation.
    pub activation: Activation,
    /// `tt.num_stages`.
    pub num_stages: Option<u64>,
    /// Results stored: 1, or 2 with the second one before the activation.
    pub stores: u64,
}

/// What is applied last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activation {
    /// Nothing.
    None,
    /// max(x, 0).
    Relu,
    /// x / (1 + exp(-x)).
    Silu,
}

impl Default for Kernel {
    /// The plainest one: 128x128x64 in bf16.
    fn default() -> Kernel {
        Kernel {
            extents: [128, 128, 64],
            input: "bf16",
            output: "bf16",
            a_transposed: false,
            b_transposed: true,
            batched: false,
            alpha: false,
            add_tile: false,
            bias: false,
            row_scale: false,
            activation: Activation::None,
            num_stages: None,
            stores: 1,
        }
    }
}

/// Choices drawn from bytes; zeros when they run out.
struct Draw<'a>(&'a [u8]);

impl Draw<'_> {
    fn below(&mut self, limit: usize) -> usize {
        let (first, rest) = self.0.split_first().map_or((0, self.0), |(f, r)| (usize::from(*f), r));
        self.0 = rest;
        first % limit.max(1)
    }

    fn pick<T: Copy>(&mut self, list: &[T], otherwise: T) -> T {
        let at = self.below(list.len());
        list.get(at).copied().unwrap_or(otherwise)
    }
}

impl Kernel {
    /// The kernel that a string of bytes stands for; every string stands for one.
    pub fn from_bytes(bytes: &[u8]) -> Kernel {
        let mut draw = Draw(bytes);
        // Illegal extents and types come up now and then: they must be refused, not miscompiled.
        let m = draw.pick(&[64, 128, 256, 128, 64, 128, 64, 128, 256, 64, 32, 512], 128);
        let n = draw.pick(&[64, 128, 256, 128, 32, 16, 8, 64, 128, 64, 256, 512], 128);
        let k = draw.pick(&[32, 64, 128, 64, 16, 64, 256, 32, 64, 128], 64);
        let input = draw.pick(&["bf16", "f16", "f8E4M3FN", "f8E5M2", "f32", "bf16", "f16", "i8"], "bf16");
        let output = draw.pick(&["bf16", "f16", "f32", "f32", "bf16", "f16", "bf16", "f8E5M2"], "bf16");
        let narrow = input != "bf16" && input != "f16";
        let any = draw.below(16);
        Kernel {
            extents: [m, n, k],
            input,
            output,
            // 8- and 32-bit operands must have K contiguous: mostly so, sometimes not.
            a_transposed: any & 1 == 1 && (!narrow || any > 12),
            b_transposed: any & 2 == 0 || (narrow && any <= 12),
            batched: draw.below(4) == 3,
            alpha: draw.below(2) == 1,
            add_tile: draw.below(3) == 2,
            bias: draw.below(3) == 2,
            row_scale: draw.below(3) == 2,
            activation: draw.pick(&[Activation::None, Activation::Relu, Activation::Silu], Activation::None),
            num_stages: draw.pick(&[None, None, Some(1), Some(2), Some(4), Some(8)], None),
            stores: if draw.below(6) == 5 { 2 } else { 1 },
        }
    }

    /// Options drawn from bytes as well: slots added, asked for, or squeezed by a small shared memory.
    pub fn options(bytes: &[u8]) -> CompileOptions {
        let mut draw = Draw(bytes);
        let mut options = CompileOptions::default();
        options.check = true;
        match draw.below(8) {
            0 => options.slack_slots = draw.below(4) as u64,
            1 => options.depth = Some(1 + draw.below(6) as u64),
            2 => options.smem_limit = Some(16_384 * (1 + draw.below(14) as u64)),
            _ => {}
        }
        options
    }
}
