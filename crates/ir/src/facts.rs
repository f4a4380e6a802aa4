//! What the table says about an operation: words for how its result comes about, what it does beside, what it costs.

/// How the result of an operation follows from its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Category {
    /// Each element from the elements at the same place; the first operand holds integers.
    Integers,
    /// Each element from the elements at the same place; the operands hold floats of a format with arithmetic of its
    /// own (16 bits and more).
    Floats,
    /// Each element from the elements at the same place, of whatever type.
    Elements,
    /// From nothing: constants, ranges, the place of the program in the grid.
    Source,
    /// The operand's elements at other places: no element is computed.
    View,
    /// Elements move between places that different threads may hold.
    Exchange,
    /// Elements along a dimension are combined by a region.
    Reduction,
    /// A matrix product.
    Product,
    /// Global memory through pointers.
    Pointers,
    /// Global memory through tensor descriptors, and the descriptors.
    Descriptors,
    /// Modules, functions, loops, conditions, calls.
    Structure,
    /// The end of a block.
    Terminator,
    /// What the author claims or wants to see.
    Claim,
    /// Operations of the program form: handshakes, copies, slots, partitions.
    Program,
    /// Outside the known dialects.
    Unknown,
}

impl Category {
    /// Whether each element of the result depends on the elements at the same place alone.
    pub const fn is_elementwise(self) -> bool {
        matches!(self, Category::Integers | Category::Floats | Category::Elements)
    }
}

/// What an operation does beside giving results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Effect {
    /// Nothing: it may be moved, repeated, and left out when nobody uses the results.
    None,
    /// Nothing, but what it gives is undefined where the second operand is zero: it may run only where it did.
    Divides,
    /// Reads global memory.
    Read,
    /// Changes global memory.
    Write,
    /// Reads global memory and changes it at once.
    Update,
    /// What the operations in its regions do.
    Regions,
    /// Hands values to the operation around it.
    Control,
    /// Orders, starts or waits for work of other threads and engines, or fills memory they share.
    Order,
    /// Declares what others name.
    Declares,
    /// Somebody looks at it: claims, assertions, output.
    Observed,
    /// What foreign code does; an attribute `pure` may say that it does nothing.
    Foreign,
}

impl Effect {
    /// Whether global memory may be another afterwards by the operation itself.
    pub const fn writes(self) -> bool {
        matches!(self, Effect::Write | Effect::Update)
    }
}

/// What the cost model charges an operation on a tile for (T33).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CostClass {
    /// Nothing: resolved where the result is used, or structure.
    Free,
    /// A cheap instruction for each element.
    Light,
    /// Whole numbers, comparison, selection or logic for each element.
    Logic,
    /// A maximum or minimum for each element.
    MinMax,
    /// A multiplication for each element.
    Multiply,
    /// An instruction of the special-function unit for each element.
    Special,
    /// A logarithm of each element.
    Logarithm,
    /// A conversion of each element.
    Convert,
    /// An exchange between threads through shared memory.
    Exchange,
    /// A reduction or scan along a dimension.
    Reduction,
    /// A tensor-core product.
    Product,
    /// A load through pointers.
    PointerLoad,
    /// A store through pointers.
    PointerStore,
    /// An atomic operation on global memory.
    Atomic,
    /// A copy into shared memory by the copy engine.
    TileLoad,
    /// Registers to shared memory, and the copy out of it by the copy engine.
    TileStore,
    /// An arrival at a barrier.
    Arrive,
    /// What the operations in its regions cost.
    Regions,
    /// Nobody has a cost for it.
    Unknown,
}

/// A row of the table, without what only this crate reads: the format and the verifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OpFacts {
    /// The name in MLIR text; `None` outside the known dialects.
    pub name: Option<&'static str>,
    /// How the result follows from the operands.
    pub category: Category,
    /// What it does beside.
    pub effect: Effect,
    /// What it is charged for.
    pub cost: CostClass,
    /// Whether the compiler has code for it. What has none is refused, or rewritten before code is made.
    pub lowered: bool,
}

impl OpFacts {
    /// What is said of an operation outside the known dialects.
    pub(crate) const UNKNOWN: OpFacts = OpFacts {
        name: None,
        category: Category::Unknown,
        effect: Effect::Foreign,
        cost: CostClass::Unknown,
        lowered: false,
    };
}
