//! What kind of operation each opcode is, as far as pipelining is concerned.

use warploom_ir::{Category, Effect, Module, OpId, Opcode, Type, ValueId};

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
    /// A row or column of a tile folded, or folded step by step.
    Reduction,
    /// Elements of tiles that go to other places.
    Exchange,
    /// A write of global memory through pointers, atomic ones included.
    PointerStore,
    /// A descriptor that the kernel makes.
    TensorMap,
    /// Our own wait for matrix products, in scheduled and later forms.
    MmaWait,
    /// Anything else: not supported yet.
    Unsupported,
}

/// The class of an opcode, which follows from its row of the table of operations but for what partitions of their own
/// have no form for yet.
pub(crate) fn class(opcode: Opcode) -> Class {
    let facts = opcode.facts();
    match (facts.category, facts.effect) {
        _ if !facts.lowered => Class::Unsupported,
        (Category::Source | Category::View, _) => Class::Pure,
        (category, Effect::None | Effect::Divides) if category.is_elementwise() => Class::Pure,
        (Category::Pointers, Effect::Read) => Class::PointerLoad,
        (Category::Pointers, _) if matches!(opcode, Opcode::Store | Opcode::AtomicRmw) => Class::PointerStore,
        (Category::Descriptors, Effect::Read) => Class::TileLoad,
        (Category::Descriptors, Effect::Write) => Class::TileStore,
        (Category::Product, _) => Class::Dot,
        (Category::Reduction, _) => Class::Reduction,
        (Category::Exchange, _) => Class::Exchange,
        _ => match opcode {
            Opcode::MmaWait => Class::MmaWait,
            Opcode::ReduceReturn | Opcode::ScanReturn => Class::Reduction,
            Opcode::Module | Opcode::Func | Opcode::For | Opcode::If => Class::Structure,
            Opcode::Yield | Opcode::Return | Opcode::Assume | Opcode::Alloc => Class::Structure,
            Opcode::MakeTensorDescriptor => Class::TensorMap,
            _ => Class::Unsupported,
        },
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
    let data = &module.ops[op];
    match data.opcode.facts().effect {
        Effect::Divides => data.operands.get(1).and_then(|&v| constant(module, v)).is_some_and(|v| v > 0),
        _ => matches!(class(data.opcode), Class::Pure | Class::TensorMap),
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
