//! The classes of T33 and the entries a data file can have.

use crate::named::named;

named! {
    /// What kind of work an operation is (T33); every operation of the IR maps to exactly one.
    OpClass {
        /// Tensor copies from global to shared memory by the copy engine.
        TmaLoad = "tma_load",
        /// Tensor copies and reductions from shared to global memory by the copy engine.
        TmaStore = "tma_store",
        /// Per-thread asynchronous copies from global to shared memory.
        CpAsync = "cp_async",
        /// Loads, stores and atomics of registers on global memory.
        Global = "global",
        /// Loads and stores of registers on shared memory.
        Shared = "shared",
        /// Tensor-core products.
        Mma = "mma",
        /// Tensor memory to registers.
        TmemLd = "tmem_ld",
        /// Registers to tensor memory.
        TmemSt = "tmem_st",
        /// Arithmetic on each element.
        Elementwise = "elementwise",
        /// Transcendental functions of each element.
        Sfu = "sfu",
        /// Conversions of each element to another type.
        Convert = "convert",
        /// Reductions along an axis.
        Reduce = "reduce",
        /// Exchange of elements between threads.
        Layout = "layout",
        /// Handshakes.
        Barrier = "barrier",
        /// Scalars, branches, index functions, and what is not known.
        Control = "control",
    }
}

named! {
    /// An entry `[op.NAME]` of a data file: the rows of T34, and their likes on other chips.
    OpKind {
        /// TMA load.
        TmaLoad = "tma_load",
        /// TMA store.
        TmaStore = "tma_store",
        /// cp.async.
        CpAsync = "cp_async",
        /// Loads from global memory into registers.
        GlobalLoad = "global_load",
        /// Stores from registers into global memory.
        GlobalStore = "global_store",
        /// Atomics on global memory.
        GlobalAtomic = "global_atomic",
        /// Loads and stores of shared memory.
        Shared = "shared",
        /// Synchronous products by one warp.
        MmaSync = "mma_sync",
        /// Asynchronous products by a warpgroup.
        Wgmma = "wgmma",
        /// Asynchronous products into tensor memory.
        Tcgen05 = "tcgen05",
        /// Tensor memory to registers.
        TmemLd = "tmem_ld",
        /// Registers to tensor memory.
        TmemSt = "tmem_st",
        /// Multiplication.
        Mul = "mul",
        /// Addition and other cheap arithmetic of floats.
        Elementwise = "elementwise",
        /// Comparison, selection, logic, whole numbers.
        Logic = "logic",
        /// Shift to the left by numbers that are known.
        Shift = "shift",
        /// Maximum and minimum.
        MinMax = "min_max",
        /// exp2, rsqrt, sqrt, tanh and other single special-function instructions.
        Exp2 = "exp2",
        /// log2.
        Log2 = "log2",
        /// Conversion between whole numbers and floats, or of floats of any other size.
        Convert = "convert",
        /// Conversion to a float of half as many bits, two at a time.
        Narrow = "narrow",
        /// Conversion to a float of twice as many bits, from bf16.
        Widen = "widen",
        /// The same from f16.
        WidenHalf = "widen_half",
        /// Conversion from a float of 8 bits.
        Widen8 = "widen8",
        /// Conversion to a float of 8 bits.
        Narrow8 = "narrow8",
        /// Sum along the last axis.
        ReduceSumLast = "reduce_sum_last",
        /// Sum along another axis.
        ReduceSumOuter = "reduce_sum_outer",
        /// Maximum or minimum along the last axis.
        ReduceMaxLast = "reduce_max_last",
        /// Maximum or minimum along another axis.
        ReduceMaxOuter = "reduce_max_outer",
        /// Change of layout between threads.
        Layout = "layout",
        /// Hand-over to another partition through an mbarrier, arrival to wake-up.
        Mbarrier = "mbarrier",
        /// Hand-over to another partition through a named barrier.
        NamedBarrier = "named_barrier",
        /// Registers to shared memory to another partition's registers.
        RegSmemReg = "reg_smem_reg",
        /// Waiting on a barrier that is already complete.
        BarrierWait = "barrier_wait",
        /// Arriving at a barrier.
        BarrierArrive = "barrier_arrive",
        /// What a trip of a partition's loop takes beside its operations and its rings.
        Trip = "trip",
        /// Waiting for a slot of a ring.
        RingWait = "ring_wait",
        /// Handing a slot of a ring over.
        RingArrive = "ring_arrive",
        /// Going on to the next slot of a ring, and its phase.
        RingAdvance = "ring_advance",
        /// Waiting for one's own threads' copies or fencing their writes; going on to the next slot of such a ring.
        RingSync = "ring_sync",
        /// Scalar arithmetic, branches, index functions, unknown operations.
        Control = "control",
    }
}

impl OpKind {
    /// The class this entry belongs to.
    pub fn class(self) -> OpClass {
        use OpKind::*;
        match self {
            TmaLoad => OpClass::TmaLoad,
            TmaStore => OpClass::TmaStore,
            CpAsync => OpClass::CpAsync,
            GlobalLoad | GlobalStore | GlobalAtomic => OpClass::Global,
            Shared => OpClass::Shared,
            MmaSync | Wgmma | Tcgen05 => OpClass::Mma,
            TmemLd => OpClass::TmemLd,
            TmemSt => OpClass::TmemSt,
            Mul | Elementwise | Logic | Shift | MinMax => OpClass::Elementwise,
            Exp2 | Log2 => OpClass::Sfu,
            Convert | Narrow | Widen | WidenHalf | Narrow8 | Widen8 => OpClass::Convert,
            ReduceSumLast | ReduceSumOuter | ReduceMaxLast | ReduceMaxOuter => OpClass::Reduce,
            Layout => OpClass::Layout,
            Mbarrier | NamedBarrier | RegSmemReg | BarrierWait | BarrierArrive | RingWait | RingArrive
            | RingAdvance | RingSync => OpClass::Barrier,
            Trip | Control => OpClass::Control,
        }
    }

    /// Issue slot in clocks of what a single thread or warpgroup starts and another engine carries out
    /// (T34); `None` for what occupies its partition to the end.
    pub fn usual_issue(self) -> Option<u64> {
        match self {
            OpKind::TmaLoad | OpKind::TmaStore | OpKind::CpAsync | OpKind::Wgmma | OpKind::Tcgen05 => {
                Some(30)
            }
            _ => None,
        }
    }
}
