//! The table of operations: one row for each, and everything that is said about an operation as such.
//!
//! The macro hands its rows to another macro, which takes the columns it knows how to read: the enum of operations and
//! their facts ([`crate::Opcode`], [`crate::OpFacts`]), the assembly formats ([`crate::text`]), the verifier
//! ([`crate::verify()`]). The pipeline's classes and prices, the interpreter's choice of a way and the code generator's
//! choice of a lowering are derived from the facts.
//!
//! | column | what it says | where its words are defined |
//! |---|---|---|
//! | variant | the name in Rust | here |
//! | name | the name in MLIR text | here |
//! | operands, results, regions | how many: `[2]`, `[1..=3]`, `[3..]`; regions are one number | here |
//! | format | the assembly format | constants of `text/format.rs` |
//! | verifier | what else must hold | functions of `verify/*.rs` |
//! | category | how the result follows from the operands | [`Category`](crate::Category) |
//! | effect | what it does beside its results | [`Effect`](crate::Effect) |
//! | cost | what the cost model charges | [`CostClass`](crate::CostClass) |
//! | lowered | whether the compiler has code for it; what has none is refused or rewritten before | here |
//!
//! # To add an operation
//!
//! An element-wise one, as `math.exp10`, takes three steps:
//!
//! 1. a row here: `Exp10 "math.exp10" [1] [1] 0 UNARY_FAST arith::floats Elements None Special yes,`;
//! 2. its meaning: one arm in `interp/functions.rs` (functions of one number) or `interp/elementwise.rs`;
//! 3. its lowering: one arm in `lower/math.rs` (functions of an f32) or `lower/element.rs` of the code generator.
//!
//! Reading, printing, verifying, scheduling, pricing and fusing it into loops follow from the row. A method of
//! [`Builder`](crate::build::Builder) is one line more, where embedders need it; `tests/fixtures/good/every_op.mlir`
//! must show the operation once.
//!
//! Any other operation needs, where the row does not say it already: a format (`text/format.rs`), a verifier
//! (`verify/`), an arm in `interp/machine.rs` and one in `lower/walk.rs`, and a place in the passes that treat memory,
//! loops or handshakes.

macro_rules! operations {
    ($then:ident) => { $then! {
    // iant              name                        operand resul   format                 verifier                   category    effect   cost         low
    Module               "builtin.module"            [0]     [0]   1 MODULE                 control::module            Structure   Regions  Free         yes,

    AddI                 "arith.addi"                [2]     [1]   0 BINARY_OVERFLOW        arith::ints                Integers    None     Logic        yes,
    SubI                 "arith.subi"                [2]     [1]   0 BINARY_OVERFLOW        arith::ints                Integers    None     Logic        yes,
    MulI                 "arith.muli"                [2]     [1]   0 BINARY_OVERFLOW        arith::ints                Integers    None     Logic        yes,
    DivSI                "arith.divsi"               [2]     [1]   0 BINARY_EXACT           arith::ints                Integers    Divides  Light        yes,
    DivUI                "arith.divui"               [2]     [1]   0 BINARY_EXACT           arith::ints                Integers    Divides  Light        yes,
    RemSI                "arith.remsi"               [2]     [1]   0 BINARY                 arith::ints                Integers    Divides  Light        yes,
    RemUI                "arith.remui"               [2]     [1]   0 BINARY                 arith::ints                Integers    Divides  Light        yes,
    AndI                 "arith.andi"                [2]     [1]   0 BINARY                 arith::ints                Integers    None     Logic        yes,
    OrI                  "arith.ori"                 [2]     [1]   0 BINARY                 arith::ints                Integers    None     Logic        yes,
    XOrI                 "arith.xori"                [2]     [1]   0 BINARY                 arith::ints                Integers    None     Logic        yes,
    ShLI                 "arith.shli"                [2]     [1]   0 BINARY_OVERFLOW        arith::ints                Integers    None     Logic        yes,
    ShRSI                "arith.shrsi"               [2]     [1]   0 BINARY_EXACT           arith::ints                Integers    None     Logic        yes,
    ShRUI                "arith.shrui"               [2]     [1]   0 BINARY_EXACT           arith::ints                Integers    None     Logic        yes,
    MinSI                "arith.minsi"               [2]     [1]   0 BINARY                 arith::ints                Integers    None     MinMax       yes,
    MaxSI                "arith.maxsi"               [2]     [1]   0 BINARY                 arith::ints                Integers    None     MinMax       yes,
    MinUI                "arith.minui"               [2]     [1]   0 BINARY                 arith::ints                Integers    None     MinMax       yes,
    MaxUI                "arith.maxui"               [2]     [1]   0 BINARY                 arith::ints                Integers    None     MinMax       yes,
    CmpI                 "arith.cmpi"                [2]     [1]   0 CMP_I                  arith::cmpi                Integers    None     Logic        yes,
    AddF                 "arith.addf"                [2]     [1]   0 BINARY_FAST            arith::floats              Floats      None     Light        yes,
    SubF                 "arith.subf"                [2]     [1]   0 BINARY_FAST            arith::floats              Floats      None     Light        yes,
    MulF                 "arith.mulf"                [2]     [1]   0 BINARY_FAST            arith::floats              Floats      None     Multiply     yes,
    DivF                 "arith.divf"                [2]     [1]   0 BINARY_FAST            arith::floats              Floats      None     Special      yes,
    RemF                 "arith.remf"                [2]     [1]   0 BINARY_FAST            arith::floats              Floats      None     Light        yes,
    NegF                 "arith.negf"                [1]     [1]   0 UNARY_FAST             arith::floats              Floats      None     Light        yes,
    MaxNumF              "arith.maxnumf"             [2]     [1]   0 BINARY_FAST            arith::floats              Floats      None     MinMax       yes,
    MinNumF              "arith.minnumf"             [2]     [1]   0 BINARY_FAST            arith::floats              Floats      None     MinMax       yes,
    MaximumF             "arith.maximumf"            [2]     [1]   0 BINARY_FAST            arith::floats              Floats      None     MinMax       yes,
    MinimumF             "arith.minimumf"            [2]     [1]   0 BINARY_FAST            arith::floats              Floats      None     MinMax       yes,
    CmpF                 "arith.cmpf"                [2]     [1]   0 CMP_F                  arith::cmpf                Floats      None     Logic        yes,
    Select               "arith.select"              [3]     [1]   0 SELECT                 arith::select              Elements    None     Logic        yes,
    Constant             "arith.constant"            [0]     [1]   0 CONSTANT               arith::constant            Source      None     Free         yes,
    ExtSI                "arith.extsi"               [1]     [1]   0 CONVERT                arith::extend_int          Integers    None     Logic        yes,
    ExtUI                "arith.extui"               [1]     [1]   0 CONVERT_NON_NEGATIVE   arith::extend_int          Integers    None     Logic        yes,
    TruncI               "arith.trunci"              [1]     [1]   0 TRUNC_I                arith::truncate_int        Integers    None     Logic        yes,
    ExtF                 "arith.extf"                [1]     [1]   0 CONVERT_FAST           arith::extend_float        Elements    None     Convert      yes,
    TruncF               "arith.truncf"              [1]     [1]   0 TRUNC_F                arith::truncate_float      Elements    None     Convert      yes,
    SIToFP               "arith.sitofp"              [1]     [1]   0 CONVERT                arith::int_to_float        Integers    None     Convert      yes,
    UIToFP               "arith.uitofp"              [1]     [1]   0 CONVERT_NON_NEGATIVE   arith::int_to_float        Integers    None     Convert      yes,
    FPToSI               "arith.fptosi"              [1]     [1]   0 CONVERT                arith::float_to_int        Floats      None     Convert      yes,
    FPToUI               "arith.fptoui"              [1]     [1]   0 CONVERT                arith::float_to_int        Floats      None     Convert      yes,
    ArithBitcast         "arith.bitcast"             [1]     [1]   0 CONVERT                arith::bitcast             Elements    None     Logic        yes,
    IndexCast            "arith.index_cast"          [1]     [1]   0 CONVERT                arith::index_cast          Integers    None     Logic        yes,

    Exp                  "math.exp"                  [1]     [1]   0 UNARY_FAST             arith::floats              Elements    None     Special      yes,
    Exp2                 "math.exp2"                 [1]     [1]   0 UNARY_FAST             arith::floats              Elements    None     Special      yes,
    Log                  "math.log"                  [1]     [1]   0 UNARY_FAST             arith::floats              Elements    None     Logarithm    yes,
    Log2                 "math.log2"                 [1]     [1]   0 UNARY_FAST             arith::floats              Elements    None     Logarithm    yes,
    Sqrt                 "math.sqrt"                 [1]     [1]   0 UNARY_FAST             arith::floats              Elements    None     Special      yes,
    Rsqrt                "math.rsqrt"                [1]     [1]   0 UNARY_FAST             arith::floats              Elements    None     Special      yes,
    Sin                  "math.sin"                  [1]     [1]   0 UNARY_FAST             arith::floats              Elements    None     Special      yes,
    Cos                  "math.cos"                  [1]     [1]   0 UNARY_FAST             arith::floats              Elements    None     Special      yes,
    Tanh                 "math.tanh"                 [1]     [1]   0 UNARY_FAST             arith::floats              Elements    None     Special      yes,
    Erf                  "math.erf"                  [1]     [1]   0 UNARY_FAST             arith::floats              Elements    None     Light        yes,
    AbsF                 "math.absf"                 [1]     [1]   0 UNARY_FAST             arith::floats              Floats      None     Light        yes,
    AbsI                 "math.absi"                 [1]     [1]   0 UNARY                  arith::ints                Integers    None     Logic        yes,
    Floor                "math.floor"                [1]     [1]   0 UNARY_FAST             arith::floats              Elements    None     Light        yes,
    Ceil                 "math.ceil"                 [1]     [1]   0 UNARY_FAST             arith::floats              Elements    None     Light        yes,
    Fma                  "math.fma"                  [3]     [1]   0 FMA                    arith::floats              Floats      None     Multiply     yes,

    For                  "scf.for"                   [3..]   [0..] 1 FOR                    control::for_loop          Structure   Regions  Regions      yes,
    If                   "scf.if"                    [1]     [0..] 2 IF                     control::if_else           Structure   Regions  Regions      yes,
    While                "scf.while"                 [0..]   [0..] 2 WHILE                  control::while_loop        Structure   Regions  Regions      yes,
    Condition            "scf.condition"             [1..]   [0]   0 CONDITION              control::condition         Terminator  Control  Free         yes,
    Yield                "scf.yield"                 [0..]   [0]   0 YIELD                  control::yield_values      Terminator  Control  Free         yes,

    Br                   "cf.br"                     [0..]   [0]   0 BRANCH                 control::branch            Terminator  Control  Free         no,
    CondBr               "cf.cond_br"                [1..]   [0]   0 BRANCH                 control::branch            Terminator  Control  Free         no,
    Poison               "ub.poison"                 [0]     [1]   0 MAKE_RANGE             program::nothing           Source      None     Free         no,

    Func                 "tt.func"                   [0]     [0]   1 FUNC                   control::func              Structure   Regions  Free         yes,
    Return               "tt.return"                 [0..]   [0]   0 YIELD                  control::return_values     Terminator  Control  Free         yes,
    Call                 "tt.call"                   [0..]   [0..] 0 CALL                   control::call              Structure   Foreign  Unknown      no,
    GetProgramId         "tt.get_program_id"         [0]     [1]   0 PROGRAM_AXIS           control::program_number    Source      None     Free         yes,
    GetNumPrograms       "tt.get_num_programs"       [0]     [1]   0 PROGRAM_AXIS           control::program_number    Source      None     Free         yes,
    MakeRange            "tt.make_range"             [0]     [1]   0 MAKE_RANGE             shapes::make_range         Source      None     Free         yes,
    Splat                "tt.splat"                  [1]     [1]   0 REARRANGE              shapes::splat              View        None     Free         yes,
    Broadcast            "tt.broadcast"              [1]     [1]   0 REARRANGE              shapes::broadcast          View        None     Free         yes,
    ExpandDims           "tt.expand_dims"            [1]     [1]   0 REARRANGE              shapes::expand_dims        View        None     Free         yes,
    Reshape              "tt.reshape"                [1]     [1]   0 RESHAPE                shapes::reshape            View        None     Free         yes,
    Trans                "tt.trans"                  [1]     [1]   0 REARRANGE              shapes::trans              View        None     Free         yes,
    Cat                  "tt.cat"                    [2]     [1]   0 JOIN                   shapes::cat                Exchange    None     Exchange     yes,
    Join                 "tt.join"                   [2]     [1]   0 JOIN                   shapes::join               Exchange    None     Exchange     yes,
    Split                "tt.split"                  [1]     [2]   0 SPLIT                  shapes::split              Exchange    None     Exchange     yes,
    Unsplat              "tt.unsplat"                [1]     [1]   0 UNSPLAT                shapes::unsplat            Exchange    None     Free         yes,
    Bitcast              "tt.bitcast"                [1]     [1]   0 REARRANGE              arith::bitcast             Elements    None     Logic        yes,
    FpToFp               "tt.fp_to_fp"               [1]     [1]   0 FP_TO_FP               arith::fp_to_fp            Elements    None     Convert      yes,
    IntToPtr             "tt.int_to_ptr"             [1]     [1]   0 REARRANGE              memory::int_to_ptr         Integers    None     Logic        yes,
    PtrToInt             "tt.ptr_to_int"             [1]     [1]   0 REARRANGE              memory::ptr_to_int         Elements    None     Logic        yes,
    AddPtr               "tt.addptr"                 [2]     [1]   0 ADD_PTR                memory::addptr             Elements    None     Logic        yes,
    Load                 "tt.load"                   [1..=3] [1]   0 LOAD                   memory::load               Pointers    Read     PointerLoad  yes,
    Store                "tt.store"                  [2..=3] [0]   0 STORE                  memory::store              Pointers    Write    PointerStore yes,
    MakeTensorDescriptor "tt.make_tensor_descriptor" [1..]   [1]   0 MAKE_DESCRIPTOR        memory::make_descriptor    Descriptors None     Unknown      yes,
    DescriptorLoad       "tt.descriptor_load"        [2..]   [1]   0 DESCRIPTOR_LOAD        memory::descriptor_load    Descriptors Read     TileLoad     yes,
    DescriptorStore      "tt.descriptor_store"       [3..]   [0]   0 DESCRIPTOR_STORE       memory::descriptor_store   Descriptors Write    TileStore    yes,
    DescriptorGather     "tt.descriptor_gather"      [3]     [1]   0 DESCRIPTOR_GATHER      memory::descriptor_gather  Descriptors Read     Unknown      no,
    DescriptorScatter    "tt.descriptor_scatter"     [4]     [0]   0 DESCRIPTOR_SCATTER     memory::descriptor_scatter Descriptors Write    Unknown      no,
    DescriptorReduce     "tt.descriptor_reduce"      [3..]   [0]   0 DESCRIPTOR_REDUCE      memory::descriptor_store   Descriptors Update   Unknown      no,
    Dot                  "tt.dot"                    [3]     [1]   0 DOT                    products::dot              Product     None     Product      yes,
    DotScaled            "tt.dot_scaled"             [3..=5] [1]   0 DOT_SCALED             products::dot_scaled       Product     None     Unknown      no,
    Reduce               "tt.reduce"                 [1..]   [1..] 1 GENERIC                shapes::reduce             Reduction   None     Reduction    yes,
    ReduceReturn         "tt.reduce.return"          [1..]   [0]   0 CLAUSE_RETURN          shapes::combined           Terminator  Control  Free         yes,
    Scan                 "tt.scan"                   [1..]   [1..] 1 GENERIC                shapes::scan               Reduction   None     Reduction    yes,
    ScanReturn           "tt.scan.return"            [1..]   [0]   0 CLAUSE_RETURN          shapes::combined           Terminator  Control  Free         yes,
    Gather               "tt.gather"                 [2]     [1]   0 GATHER                 shapes::gather             Exchange    None     Exchange     yes,
    Histogram            "tt.histogram"              [1..=2] [1]   0 HISTOGRAM              shapes::histogram          Exchange    None     Exchange     yes,
    AtomicRmw            "tt.atomic_rmw"             [2..=3] [1]   0 ATOMIC_RMW             memory::atomic_rmw         Pointers    Update   Atomic       yes,
    AtomicCas            "tt.atomic_cas"             [3]     [1]   0 ATOMIC_CAS             memory::atomic_cas         Pointers    Update   Atomic       yes,
    AtomicLoad           "tt.atomic_load"            [1..=2] [1]   0 ATOMIC_LOAD            memory::atomic_load        Pointers    Update   Atomic       yes,
    AtomicStore          "tt.atomic_store"           [2..=3] [0]   0 ATOMIC_STORE           memory::atomic_store           Pointers    Update   Atomic       yes,
    AtomicPoll           "tt.atomic_poll"            [2..=3] [1]   0 ATOMIC_POLL            memory::atomic_poll        Pointers    Update   Atomic       yes,
    MapElementwise       "tt.map_elementwise"        [1..]   [1..] 1 GENERIC                shapes::map_elementwise    Structure   Regions  Regions      no,
    MapElementwiseReturn "tt.map_elementwise.return" [0..]   [0]   0 YIELD_VALUES           shapes::mapped             Terminator  Control  Free         no,
    ClampF               "tt.clampf"                 [3]     [1]   0 CLAMP_F                arith::floats              Floats      None     MinMax       yes,
    PreciseSqrt          "tt.precise_sqrt"           [1]     [1]   0 UNARY                  arith::floats              Elements    None     Special      yes,
    PreciseDivF          "tt.precise_divf"           [2]     [1]   0 BINARY                 arith::floats              Floats      None     Special      yes,
    ApproxDivF           "tt.approx_divf"            [2]     [1]   0 BINARY                 arith::floats              Floats      None     Special      yes,
    MulHiUI              "tt.mulhiui"                [2]     [1]   0 BINARY                 arith::ints                Integers    None     Logic        yes,
    ExternElementwise    "tt.extern_elementwise"     [0..]   [1]   0 EXTERN_ELEMENTWISE     arith::extern_elementwise  Elements    Foreign  Unknown      yes,
    ElementwiseInlineAsm "tt.elementwise_inline_asm" [0..]   [1..] 0 ELEMENTWISE_INLINE_ASM arith::inline_asm          Elements    Foreign  Unknown      yes,
    Assert               "tt.assert"                 [1]     [0]   0 ASSERT                 memory::truth              Claim       Observed Unknown      yes,
    Print                "tt.print"                  [0..]   [0]   0 PRINT                  arith::print               Claim       Observed Unknown      yes,

    GridWait             "tt.grid_dependency_wait"   [0]     [0]   0 PLAIN                  program::nothing           Program     Update   Unknown      yes,
    GridLaunch           "tt.grid_dependency_launch_dependents" [0] [0] 0 PLAIN             program::nothing           Program     Update   Unknown      yes,

    TtgBarrier           "ttg.barrier"               [0]     [0]   0 TTG_BARRIER            program::nothing           Program     Order    Unknown      yes,

    Assume               "llvm.intr.assume"          [1]     [0]   0 ASSUME                 memory::truth              Claim       Observed Free         yes,

    Alloc                "warploom.alloc"            [0]     [0]   0 PLAIN                  program::alloc             Program     Declares Unknown      yes,
    Pipeline             "warploom.pipeline"         [0]     [0]   0 DECLARATION            program::pipeline          Program     Declares Unknown      yes,
    NamedBarrier         "warploom.named_barrier"    [0]     [0]   0 DECLARATION            program::named_barrier     Program     Declares Unknown      yes,
    /// Replicas of a partition that take turns (Q41).
    Turns                "warploom.turns"            [0]     [0]   0 DECLARATION            program::turns             Program     Declares Unknown      yes,
    Partition            "warploom.partition"        [0]     [0]   1 PARTITION              program::partition         Program     Regions  Unknown      yes,
    Elect                "warploom.elect"            [0]     [0]   1 ELECT                  program::elect             Program     Regions  Unknown      yes,
    ProducerAcquire      "warploom.producer_acquire" [2]     [0]   0 RING                   program::ring              Program     Order    Unknown      yes,
    ProducerCommit       "warploom.producer_commit"  [2]     [0]   0 RING                   program::ring              Program     Order    Unknown      yes,
    ConsumerWait         "warploom.consumer_wait"    [2]     [0]   0 RING                   program::ring              Program     Order    Unknown      yes,
    ConsumerRelease      "warploom.consumer_release" [2]     [0]   0 RING                   program::ring              Program     Order    Unknown      yes,
    Advance              "warploom.advance"          [2..=3] [2]   0 ADVANCE                program::ring              Program     None     Free         yes,
    TmaLoad              "warploom.tma_load"         [3..]   [0]   0 TMA                    program::tma               Program     Order    Unknown      yes,
    TmaStore             "warploom.tma_store"        [3..]   [0]   0 TMA                    program::tma               Program     Write    Unknown      yes,
    StoreCommit          "warploom.store_commit"     [0]     [0]   0 PLAIN                  program::inside_partition  Program     Order    Unknown      yes,
    StoreWait            "warploom.store_wait"       [0]     [0]   0 PLAIN                  program::store_wait        Program     Order    Unknown      yes,
    Slot                 "warploom.slot"             [1..=2] [1]   0 SLOT                   program::slot              Program     None     Free         yes,
    TileStore            "warploom.tile_store"       [2]     [0]   0 TILE_STORE             program::tile_store        Program     Order    Unknown      yes,
    MmaWait              "warploom.mma_wait"         [1..]   [1..] 0 MMA_WAIT               program::mma_wait          Program     Order    Arrive       yes,
    /// A product into a slot of tensor memory.
    Mma                  "warploom.mma"              [4]     [0]   0 MMA                    program::mma               Program     Order    Unknown      yes,
    /// The same with tables of scales, which go to tensor memory in front of it.
    MmaBlockScaled       "warploom.mma_block_scaled" [6]     [0]   0 GENERIC                program::mma               Program     Order    Unknown      yes,
    ProxyFence           "warploom.proxy_fence"      [0]     [0]   0 PLAIN                  program::inside_partition  Program     Order    Unknown      yes,
    BarrierSync          "warploom.barrier_sync"     [0]     [0]   0 BARRIER_SYNC           program::barrier_sync      Program     Order    Unknown      yes,
    /// Waits until it is the replica's turn.
    TurnTake             "warploom.turn_take"        [0]     [0]   0 TURN                   program::turn              Program     Order    Unknown      yes,
    /// Makes it the next replica's turn.
    TurnPass             "warploom.turn_pass"        [0]     [0]   0 TURN                   program::turn              Program     Order    Unknown      yes,
    AsyncCopy            "warploom.async_copy"       [2..=4] [0]   0 ASYNC_COPY             program::async_copy        Program     Order    Unknown      yes,
    /// A product by multiplications and additions, of elements in scratch memory.
    DotFma               "warploom.dot_fma"          [3]     [1]   0 DOT                    products::dot              Exchange    None     Exchange     yes,
    /// A product of narrow floats in the form that block-scaling tensor cores read: operands by bytes, scales as they
    /// lie in blocks of 128 rows.
    DotBlockScaled       "warploom.dot_block_scaled" [5]     [1]   0 GENERIC                products::dot_block_scaled Product     None     Product      yes,
    AsyncCommit          "warploom.async_commit"     [0]     [0]   0 PLAIN                  program::inside_partition  Program     Order    Unknown      yes,
    AsyncWait            "warploom.async_wait"       [0]     [0]   0 PLAIN                  program::async_wait        Program     Order    Unknown      yes,
    } };
}

pub(crate) use operations;
