//! What kind of operation each opcode is, as far as pipelining is concerned.

use warploom_ir::{Module, OpId, Opcode, Type, ValueId};

/// The part an operation plays in a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// Pure arithmetic and index functions (`make_range`, `splat`, ..): no memory, no order.
    Pure,
    /// A read of global memory through pointers.
    PointerLoad,
    /// A tile copied by descriptor.
    TileLoad,
    /// A tile written by descriptor.
    TileStore,
    /// A matrix product.
    Dot,
    /// Structure: loops, yields, returns, hints.
    Structure,
    /// A row or column of a tile folded.
    Reduction,
    /// A write of global memory through pointers, atomic ones included.
    PointerStore,
    /// Our own wait for matrix products, in scheduled and later forms.
    MmaWait,
    /// Anything else: not supported yet.
    Unsupported,
}

/// The class of an opcode.
pub(crate) fn class(opcode: Opcode) -> Class {
    use Opcode::*;
    match opcode {
        AddI | SubI | MulI | DivSI | DivUI | RemSI | RemUI | AndI | OrI | XOrI | ShLI | ShRSI | ShRUI
        | MinSI | MaxSI | MinUI | MaxUI | CmpI | AddF | SubF | MulF | DivF | NegF | MaxNumF | MinNumF
        | MaximumF | MinimumF | CmpF | Select | Constant | ExtSI | ExtUI | TruncI | ExtF | TruncF
        | SIToFP | UIToFP | FPToSI | FPToUI | ArithBitcast | Exp | Exp2 | Log | Log2 | Sqrt | Rsqrt | Erf
        | Sin | Cos | Tanh | MulHiUI | AbsF | AbsI | Floor | Ceil | Fma | ClampF | PreciseSqrt
        | PreciseDivF | FpToFp | Bitcast | GetProgramId | GetNumPrograms | MakeRange | Splat | Broadcast
        | ExpandDims | Reshape | Trans | AddPtr => Class::Pure,
        Load => Class::PointerLoad,
        DescriptorLoad => Class::TileLoad,
        DescriptorStore => Class::TileStore,
        Dot => Class::Dot,
        MmaWait => Class::MmaWait,
        Reduce | ReduceReturn => Class::Reduction,
        Store | AtomicRmw => Class::PointerStore,
        Module | For | If | Yield | Func | Return | Assume | Alloc => Class::Structure,
        RemF | IndexCast | While | Condition | Call | Cat | Join | Split | Unsplat | IntToPtr | PtrToInt
        | MakeTensorDescriptor | DescriptorGather | DescriptorScatter | DescriptorReduce | DotScaled
        | Scan | ScanReturn | Gather | Histogram | AtomicCas | ExternElementwise | ElementwiseInlineAsm
        | Assert | Print | TtgBarrier | Pipeline | NamedBarrier | Agent | Elect | ProducerAcquire
        | ProducerCommit | ConsumerWait | ConsumerRelease | Advance | TmaLoad | TmaStore | StoreCommit
        | StoreWait | Slot | TileStore | Mma | ProxyFence | BarrierSync | AsyncCopy | AsyncCommit
        | AsyncWait | Other(_) => Class::Unsupported,
    }
}

/// Whether an operation is pure and all its operands and results are scalars.
pub(crate) fn is_scalar(module: &Module, op: OpId) -> bool {
    let data = &module.ops[op];
    class(data.opcode) == Class::Pure
        && data.operands.iter().chain(&data.results).all(|&v| is_scalar_type(module.ty(v)))
}

/// Whether a type is a scalar: a number or a pointer, no tile, no descriptor.
pub(crate) fn is_scalar_type(ty: &Type) -> bool {
    matches!(ty, Type::Int(..) | Type::Float(_) | Type::Ptr { .. } | Type::Index)
}

/// Whether a pure operation may run where it did not before: everything but a division whose divisor might
/// be zero, which LLVM takes as undefined.
pub(crate) fn is_speculatable(module: &Module, op: OpId) -> bool {
    match module.ops[op].opcode {
        Opcode::DivSI | Opcode::DivUI | Opcode::RemSI | Opcode::RemUI => {
            module.ops[op].operands.get(1).and_then(|&v| constant(module, v)).is_some_and(|v| v > 0)
        }
        opcode => class(opcode) == Class::Pure,
    }
}

/// The value of an integer constant.
pub(crate) fn constant(module: &Module, value: ValueId) -> Option<i64> {
    let op = module.def_op(value)?;
    if module.ops[op].opcode != Opcode::Constant {
        return None;
    }
    module.attr(op, "value")?.as_i64()
}
