//! What a buffer is made of: storage kinds, element widths, encodings.

use serde::Serialize;

use crate::error::{AliasError, Result};

/// Where a storage lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Storage {
    /// Shared memory of a CTA; the unit is the byte.
    Smem,
    /// Tensor memory; the unit is the 32-bit column.
    Tmem,
    /// Shared memory of a cluster; refused (A4).
    SmemCluster,
    /// Device memory, for the buffers of part 2 (A65); the unit is the byte.
    Global,
}

impl Storage {
    /// The name in text.
    pub fn name(self) -> &'static str {
        match self {
            Storage::Smem => "smem",
            Storage::Tmem => "tmem",
            Storage::SmemCluster => "smemCluster",
            Storage::Global => "global",
        }
    }

    /// What sizes and offsets count.
    pub fn unit(self) -> &'static str {
        match self {
            Storage::Tmem => "columns",
            _ => "bytes",
        }
    }

    /// The storage kind of a spec by its name in text.
    ///
    /// # Errors
    /// A4 for every name but `smem` and `tmem`.
    pub fn of_spec(name: &str) -> Result<Storage> {
        match name {
            "smem" => Ok(Storage::Smem),
            "tmem" => Ok(Storage::Tmem),
            "smemCluster" => Storage::SmemCluster.for_spec(),
            _ => Storage::Global.for_spec(),
        }
    }

    /// Itself if a spec may have it (A4).
    pub(crate) fn for_spec(self) -> Result<Storage> {
        match self {
            Storage::Smem | Storage::Tmem => Ok(self),
            Storage::SmemCluster => {
                Err(AliasError::new("A4", "smemCluster storage is not supported for storage_alias_spec")
                    .help("use smem, or tmem for tensor memory"))
            }
            Storage::Global => Err(AliasError::new(
                "A4",
                "unsupported storage kind for storage_alias_spec, expected smem or tmem",
            )
            .help("write storage = smem or storage = tmem")),
        }
    }
}

/// An element type: all that storage needs of it is the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Elem {
    bits: u32,
}

impl Elem {
    /// 64-bit float.
    pub const F64: Elem = Elem { bits: 64 };
    /// 32-bit float.
    pub const F32: Elem = Elem { bits: 32 };
    /// 16-bit float.
    pub const F16: Elem = Elem { bits: 16 };
    /// bfloat16.
    pub const BF16: Elem = Elem { bits: 16 };
    /// Any 8-bit float.
    pub const F8: Elem = Elem { bits: 8 };
    /// Any 4-bit float.
    pub const F4: Elem = Elem { bits: 4 };
    /// A pointer.
    pub const PTR: Elem = Elem { bits: 64 };

    /// An integer of 1 to 2^24 bits; `i1` is stored in a byte (A22).
    pub fn int(bits: u32) -> Elem {
        Elem { bits: if bits == 1 { 8 } else { bits } }
    }

    /// The element type of this MLIR spelling.
    pub fn from_name(name: &str) -> Option<Elem> {
        let digits = |s: &str| match s.is_empty() || !s.bytes().all(|b| b.is_ascii_digit()) {
            true => None,
            false => s.parse::<u32>().ok().filter(|n| (1..1 << 24).contains(n)),
        };
        if name.starts_with("!tt.ptr<") && name.ends_with('>') {
            return Some(Elem::PTR);
        }
        if let Some(n) = name.strip_prefix("si").or_else(|| name.strip_prefix("ui")).and_then(digits) {
            return Some(Elem::int(n));
        }
        if let Some(n) = name.strip_prefix('i').and_then(digits) {
            return Some(Elem::int(n));
        }
        match name {
            "bf16" => Some(Elem::BF16),
            "tf32" => Some(Elem::F32),
            "index" => Some(Elem { bits: 64 }),
            "f16" | "f32" | "f64" | "f80" | "f128" => {
                name.strip_prefix('f').and_then(digits).map(|bits| Elem { bits })
            }
            _ => match name.as_bytes() {
                // f8E5M2, f6E3M2FN, f4E2M1FN
                [b'f', d @ (b'4' | b'6' | b'8'), b'E', ..] if name.contains('M') => {
                    Some(Elem { bits: u32::from(d - b'0') })
                }
                _ => None,
            },
        }
    }

    /// Bits that one element takes in storage.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Whole bytes of one element, at least 1.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits).div_ceil(8)
    }
}

/// How two CTAs share a tensor-memory tile (A23).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize)]
#[non_exhaustive]
pub enum CtaMode {
    /// Each CTA its own half.
    #[default]
    Default,
    /// The A operand: rows double by broadcast.
    Lhs,
    /// The accumulator: rows double, columns halve.
    Rhs,
}

/// The parameters of `#ttng.tensor_memory_encoding`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct TensorEncoding {
    /// 64 or 128.
    pub block_m: u32,
    /// Columns of elements in one block.
    pub block_n: u32,
    /// 32-bit columns between elements: 1 packed, 2 for 16 bits unpacked.
    pub col_stride: u32,
    /// CTAs that split rows and columns (`CGALayout`).
    pub split: [u32; 2],
    /// A pair of CTAs works on the tile.
    pub two_ctas: bool,
    /// How the pair shares it.
    pub mode: CtaMode,
    /// 4-bit elements padded to 8.
    pub fp4_padded: bool,
}

impl TensorEncoding {
    /// One CTA, packed: what `blockM`, `blockN` and a column stride of 1 say.
    pub fn new(block_m: u32, block_n: u32) -> TensorEncoding {
        TensorEncoding {
            block_m,
            block_n,
            col_stride: 1,
            split: [1, 1],
            two_ctas: false,
            mode: CtaMode::Default,
            fp4_padded: false,
        }
    }
}

/// How a tile lies in its buffer (A18); only what changes size or alignment is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum Encoding {
    /// `#ttg.swizzled_shared`.
    Swizzled,
    /// `#ttg.nvmma_shared`: swizzle of 0, 32, 64 or 128 bytes.
    Nvmma {
        /// Bytes.
        swizzle: u32,
        /// 4-bit elements padded to 8.
        fp4_padded: bool,
    },
    /// `#ttg.padded_shared`; refused in a spec.
    Padded,
    /// `#ttng.tensor_memory_encoding`.
    Tensor(TensorEncoding),
    /// `#ttng.tensor_memory_scales_encoding`.
    TensorScales,
    /// `#tlx.dummy_tmem_layout`: not chosen yet.
    TensorDummy,
    /// Any other, kept as text and sized by its element product.
    Other(String),
}
