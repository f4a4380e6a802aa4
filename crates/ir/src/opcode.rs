//! The operations: one enum, and the table of their names.
//!
//! A match on [`Opcode`] is exhaustive; what an operation's text looks like and what makes it valid is
//! said once, in the tables of [`crate::text`] and [`crate::verify`].

use crate::entity::NameId;

macro_rules! opcodes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What an operation does. `Other` is any operation outside the known dialects: it is read, printed
        /// and kept, and refused where its meaning would be needed.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Opcode {
            $(#[doc = concat!("`", $name, "`")] $(#[$doc])* $variant,)*
            /// An unknown operation; its name stands in the module.
            Other(NameId),
        }

        impl Opcode {
            /// Every known operation, in table order.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$variant,)*];

            /// The name in MLIR text; `None` for `Other`.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(Opcode::$variant => Some($name),)*
                    Opcode::Other(_) => None,
                }
            }

            /// The known operation of this name.
            pub fn from_name(name: &str) -> Option<Opcode> {
                match name {
                    $($name => Some(Opcode::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

opcodes! {
    Module = "builtin.module",

    AddI = "arith.addi",
    SubI = "arith.subi",
    MulI = "arith.muli",
    DivSI = "arith.divsi",
    DivUI = "arith.divui",
    RemSI = "arith.remsi",
    RemUI = "arith.remui",
    AndI = "arith.andi",
    OrI = "arith.ori",
    XOrI = "arith.xori",
    ShLI = "arith.shli",
    ShRSI = "arith.shrsi",
    ShRUI = "arith.shrui",
    MinSI = "arith.minsi",
    MaxSI = "arith.maxsi",
    MinUI = "arith.minui",
    MaxUI = "arith.maxui",
    CmpI = "arith.cmpi",
    AddF = "arith.addf",
    SubF = "arith.subf",
    MulF = "arith.mulf",
    DivF = "arith.divf",
    RemF = "arith.remf",
    NegF = "arith.negf",
    MaxNumF = "arith.maxnumf",
    MinNumF = "arith.minnumf",
    MaximumF = "arith.maximumf",
    MinimumF = "arith.minimumf",
    CmpF = "arith.cmpf",
    Select = "arith.select",
    Constant = "arith.constant",
    ExtSI = "arith.extsi",
    ExtUI = "arith.extui",
    TruncI = "arith.trunci",
    ExtF = "arith.extf",
    TruncF = "arith.truncf",
    SIToFP = "arith.sitofp",
    UIToFP = "arith.uitofp",
    FPToSI = "arith.fptosi",
    FPToUI = "arith.fptoui",
    ArithBitcast = "arith.bitcast",
    IndexCast = "arith.index_cast",

    Exp = "math.exp",
    Exp2 = "math.exp2",
    Log = "math.log",
    Log2 = "math.log2",
    Sqrt = "math.sqrt",
    Rsqrt = "math.rsqrt",
    Sin = "math.sin",
    Cos = "math.cos",
    Tanh = "math.tanh",
    Erf = "math.erf",
    AbsF = "math.absf",
    AbsI = "math.absi",
    Floor = "math.floor",
    Ceil = "math.ceil",
    Fma = "math.fma",

    For = "scf.for",
    If = "scf.if",
    While = "scf.while",
    Condition = "scf.condition",
    Yield = "scf.yield",

    Func = "tt.func",
    Return = "tt.return",
    Call = "tt.call",
    GetProgramId = "tt.get_program_id",
    GetNumPrograms = "tt.get_num_programs",
    MakeRange = "tt.make_range",
    Splat = "tt.splat",
    Broadcast = "tt.broadcast",
    ExpandDims = "tt.expand_dims",
    Reshape = "tt.reshape",
    Trans = "tt.trans",
    Cat = "tt.cat",
    Join = "tt.join",
    Split = "tt.split",
    Unsplat = "tt.unsplat",
    Bitcast = "tt.bitcast",
    FpToFp = "tt.fp_to_fp",
    IntToPtr = "tt.int_to_ptr",
    PtrToInt = "tt.ptr_to_int",
    AddPtr = "tt.addptr",
    Load = "tt.load",
    Store = "tt.store",
    MakeTensorDescriptor = "tt.make_tensor_descriptor",
    DescriptorLoad = "tt.descriptor_load",
    DescriptorStore = "tt.descriptor_store",
    DescriptorGather = "tt.descriptor_gather",
    DescriptorScatter = "tt.descriptor_scatter",
    DescriptorReduce = "tt.descriptor_reduce",
    Dot = "tt.dot",
    DotScaled = "tt.dot_scaled",
    Reduce = "tt.reduce",
    ReduceReturn = "tt.reduce.return",
    Scan = "tt.scan",
    ScanReturn = "tt.scan.return",
    Gather = "tt.gather",
    Histogram = "tt.histogram",
    AtomicRmw = "tt.atomic_rmw",
    AtomicCas = "tt.atomic_cas",
    ClampF = "tt.clampf",
    PreciseSqrt = "tt.precise_sqrt",
    PreciseDivF = "tt.precise_divf",
    MulHiUI = "tt.mulhiui",
    ExternElementwise = "tt.extern_elementwise",
    ElementwiseInlineAsm = "tt.elementwise_inline_asm",
    Assert = "tt.assert",
    Print = "tt.print",
    TtgBarrier = "ttg.barrier",
    Assume = "llvm.intr.assume",

    Alloc = "warploom.alloc",
    Pipeline = "warploom.pipeline",
    NamedBarrier = "warploom.named_barrier",
    Agent = "warploom.agent",
    Elect = "warploom.elect",
    ProducerAcquire = "warploom.producer_acquire",
    ProducerCommit = "warploom.producer_commit",
    ConsumerWait = "warploom.consumer_wait",
    ConsumerRelease = "warploom.consumer_release",
    Advance = "warploom.advance",
    TmaLoad = "warploom.tma_load",
    TmaStore = "warploom.tma_store",
    StoreCommit = "warploom.store_commit",
    StoreWait = "warploom.store_wait",
    Slot = "warploom.slot",
    TileStore = "warploom.tile_store",
    MmaWait = "warploom.mma_wait",
    /// A product into a slot of tensor memory.
    Mma = "warploom.mma",
    ProxyFence = "warploom.proxy_fence",
    BarrierSync = "warploom.barrier_sync",
    AsyncCopy = "warploom.async_copy",
    AsyncCommit = "warploom.async_commit",
    AsyncWait = "warploom.async_wait",
}
