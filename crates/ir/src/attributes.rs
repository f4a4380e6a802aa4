//! What the operations of Triton's dialect are told beside their operands, and what becomes of it: nothing is dropped in
//! silence (C3). An attribute that stands nowhere here is refused by the verifier.

/// What becomes of an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Becomes {
    /// It decides what is computed or emitted.
    Honoured,
    /// Advice on speed, or on what has one way here; no result depends on it.
    Advice,
    /// It says what types, operands or names say already; it must agree.
    Restated,
}

/// One attribute.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Attribute {
    /// The operation; `*` where any may have it.
    pub op: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What becomes of it.
    pub becomes: Becomes,
    /// The same in words.
    pub how: &'static str,
}

const fn row(op: &'static str, name: &'static str, becomes: Becomes, how: &'static str) -> Attribute {
    Attribute { op, name, becomes, how }
}

use Becomes::{Advice, Honoured, Restated};

/// Every attribute of the dialect `tt` in Triton 3.9, and those of others that its front end writes.
pub const ATTRIBUTES: &[Attribute] = &[
    row("tt.fp_to_fp", "rounding", Honoured, "to nearest even, or towards zero where PTX converts so"),
    row("tt.clampf", "propagateNan", Honoured, "which maxima and minima are taken"),
    row(
        "tt.load",
        "cachePolicy",
        Honoured,
        "modifier or eviction of `ld.global`; copies to shared memory pass by the first cache, of which it speaks",
    ),
    row("tt.load", "isVolatile", Honoured, "`ld.volatile`, once and where it stands"),
    row("tt.load", "operandSegmentSizes", Restated, "the number of operands says it"),
    row("tt.store", "cachePolicy", Honoured, "modifier or eviction of `st.global`"),
    row("tt.store", "ignore_cta", Advice, "one CTA runs each program"),
    row("tt.atomic_load", "sem", Honoured, "order of the load"),
    row("tt.atomic_load", "scope", Honoured, "its scope"),
    row("tt.atomic_store", "sem", Honoured, "order of the store"),
    row("tt.atomic_store", "scope", Honoured, "its scope"),
    row("tt.atomic_poll", "sem", Honoured, "a fence behind the poll, or none"),
    row("tt.atomic_poll", "scope", Honoured, "scope of the loads and of the fence"),
    row("tt.atomic_rmw", "atomic_rmw_op", Honoured, "what is done"),
    row("tt.atomic_rmw", "sem", Honoured, "order of `atom` or `red`"),
    row("tt.atomic_rmw", "scope", Honoured, "its scope"),
    row("tt.atomic_cas", "sem", Honoured, "order of `atom.cas`"),
    row("tt.atomic_cas", "scope", Honoured, "its scope"),
    row("tt.expand_dims", "axis", Honoured, "where the new dimension stands"),
    row("tt.reshape", "allow_reorder", Advice, "elements keep their order"),
    row("tt.reshape", "efficient_layout", Advice, "layouts follow from use"),
    row("tt.trans", "order", Honoured, "the permutation"),
    row("tt.get_program_id", "axis", Honoured, "the axis of the grid"),
    row("tt.get_num_programs", "axis", Honoured, "the axis of the grid"),
    row("tt.dot", "inputPrecision", Honoured, "products of f32 by tf32, in parts, or in full"),
    row(
        "tt.dot",
        "maxNumImpreciseAcc",
        Honoured,
        "how many products of fp8 may be summed less precisely than in f32: where fewer than K, and the chip does not sum in f32, as f16",
    ),
    row("tt.dot_scaled", "a_elem_type", Honoured, "what the bits of A mean"),
    row("tt.dot_scaled", "b_elem_type", Honoured, "what the bits of B mean"),
    row("tt.dot_scaled", "fastMath", Advice, "scales that are NaN give NaN either way"),
    row("tt.dot_scaled", "lhs_k_pack", Honoured, "which way two numbers of A share a byte"),
    row("tt.dot_scaled", "rhs_k_pack", Honoured, "which way two numbers of B share a byte"),
    row("tt.dot_scaled", "operandSegmentSizes", Honoured, "which scales there are"),
    row("tt.reduce", "axis", Honoured, "the dimension that goes"),
    row("tt.scan", "axis", Honoured, "the dimension along which it runs"),
    row("tt.scan", "reverse", Honoured, "which end it begins at"),
    row("tt.map_elementwise", "pack", Honoured, "how many elements the region takes at once"),
    row(
        "tt.extern_elementwise",
        "libname",
        Advice,
        "the symbol says which function: ours, or NVIDIA's libdevice where it is named; others are refused",
    ),
    row("tt.extern_elementwise", "libpath", Advice, "`--libdevice` says where it lies"),
    row("tt.extern_elementwise", "symbol", Honoured, "the function"),
    row("tt.extern_elementwise", "pure", Honoured, "functions with effects are refused"),
    row("tt.make_range", "start", Honoured, "the first number"),
    row("tt.make_range", "end", Restated, "the type says how many there are"),
    row("tt.elementwise_inline_asm", "asm_string", Honoured, "the text"),
    row("tt.elementwise_inline_asm", "constraints", Honoured, "its operands and clobbers"),
    row("tt.elementwise_inline_asm", "packed_element", Honoured, "elements that share a register"),
    row("tt.elementwise_inline_asm", "pure", Honoured, "whether it may be left out, or moved"),
    row("tt.gather", "axis", Honoured, "the dimension that indices count along"),
    row("tt.gather", "efficient_layout", Advice, "layouts follow from use"),
    row("tt.print", "prefix", Honoured, "the text before the numbers"),
    row("tt.print", "hex", Honoured, "how numbers are written"),
    row("tt.print", "isSigned", Honoured, "how integers are written"),
    row("tt.assert", "message", Honoured, "what `__assertfail` is told"),
    row("tt.make_tensor_descriptor", "padding", Honoured, "what loads find outside: zero or NaN"),
    row("tt.call", "callee", Honoured, "the function"),
    row("tt.call", "arg_attrs", Advice, "hints: the function is inlined"),
    row("tt.call", "res_attrs", Advice, "hints: the function is inlined"),
    row("tt.func", "sym_name", Honoured, "the name of the entry"),
    row("tt.func", "sym_visibility", Honoured, "which function is the entry"),
    row("tt.func", "function_type", Restated, "the arguments say it"),
    row("tt.func", "arg_attrs", Honoured, "`tt.divisibility` of each argument"),
    row("tt.func", "res_attrs", Advice, "hints: functions with results are inlined"),
    row("tt.func", "noinline", Advice, "every call is inlined; recursion is refused"),
    row(
        "tt.descriptor_load",
        "cachePolicy",
        Advice,
        "the copy engine passes by the first cache, of which it speaks",
    ),
    row("tt.descriptor_reduce", "kind", Honoured, "what is done"),
    row("*", "tt.divisibility", Honoured, "widths of accesses"),
    row("*", "tt.contiguity", Honoured, "widths of accesses"),
    row("*", "tt.constancy", Honoured, "widths of accesses"),
    row("*", "tt.num_stages", Honoured, "a bound of the depth of rings"),
    row("*", "tt.warp_specialize", Advice, "the price decides how many partitions there are"),
    row("*", "tt.flatten", Advice, "the scheduler works on nests"),
    row("*", "tt.disallow_acc_multi_buffer", Advice, "the price decides how many accumulators there are"),
    row("*", "tt.loop_unroll_factor", Advice, "the scheduler overlaps iterations"),
    row("*", "llvm.loop_annotation", Advice, "loop-invariant scalars leave the loop either way"),
];

/// Whether an operation of Triton's dialect may have an attribute of this name.
pub(crate) fn is_known(op: &str, name: &str) -> bool {
    ATTRIBUTES.iter().any(|row| row.name == name && row.op == op)
}
