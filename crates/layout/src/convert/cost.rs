//! What a conversion takes, and what that costs.

/// Instructions of one warp, and what they move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Selects between registers by the lane's number: one for each 32-bit word and bit of the choice.
    pub selects: u64,
    /// Byte permutes: elements below 32 bits put together anew.
    pub permutes: u64,
    /// Shuffles of 32-bit words.
    pub shuffles: u64,
    /// Stores to shared memory.
    pub stores: u64,
    /// Their wavefronts: transactions of 128 bytes.
    pub store_wavefronts: u64,
    /// Loads from shared memory.
    pub loads: u64,
    /// Their wavefronts.
    pub load_wavefronts: u64,
    /// Barriers: of a warp, or of the partition.
    pub barriers: u64,
    /// Bytes of scratch memory.
    pub bytes: u64,
}

/// Cycles of a warp's share of its processor, to be had from the chip's model. The default has the proportions of the
/// chips since sm_80: 16 to 32 lanes a cycle for arithmetic, one wavefront a cycle for all four parts of a processor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Prices {
    /// A select or a byte permute.
    pub alu: u64,
    /// A shuffle.
    pub shuffle: u64,
    /// Issue of a load or store.
    pub access: u64,
    /// A wavefront of shared memory.
    pub wavefront: u64,
    /// A barrier among the lanes of a warp.
    pub warp_barrier: u64,
    /// A barrier among warps.
    pub barrier: u64,
    /// Bytes of scratch memory that there are: plans that need more are none.
    pub scratch: u64,
    /// Whether `stmatrix` and `ldmatrix` may be used.
    pub matrices: bool,
}

impl Default for Prices {
    fn default() -> Prices {
        let (scratch, matrices) = (u64::MAX, true);
        Prices {
            alu: 2,
            shuffle: 4,
            access: 2,
            wavefront: 4,
            warp_barrier: 20,
            barrier: 60,
            scratch,
            matrices,
        }
    }
}

impl Prices {
    /// The same with so many bytes of scratch memory.
    #[must_use]
    pub fn scratch(self, scratch: u64) -> Prices {
        Prices { scratch, ..self }
    }

    /// The same with `stmatrix` and `ldmatrix`, or without.
    #[must_use]
    pub fn matrices(self, matrices: bool) -> Prices {
        Prices { matrices, ..self }
    }

    /// The cost of a conversion; `among_warps` says whether its barriers are the partition's.
    pub fn cost(&self, counts: &Counts, among_warps: bool) -> u64 {
        let barrier = if among_warps { self.barrier } else { self.warp_barrier };
        [
            (counts.selects.saturating_add(counts.permutes), self.alu),
            (counts.shuffles, self.shuffle),
            (counts.stores.saturating_add(counts.loads), self.access),
            (counts.store_wavefronts.saturating_add(counts.load_wavefronts), self.wavefront),
            (counts.barriers, barrier),
        ]
        .into_iter()
        .fold(0, |sum: u64, (count, price)| sum.saturating_add(count.saturating_mul(price)))
    }
}
