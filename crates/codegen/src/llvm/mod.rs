//! The LLVM boundary: a builder with few, typed verbs on top of inkwell, and the way from IR to PTX (C40).
//!
//! Every intrinsic goes through [`Ir::intrinsic`], which asks the table of [`crate::intrinsic`] first (C43);
//! every inline assembly is `sideeffect` and its call `convergent` unless it is said to be pure.

mod aggregate;
mod bitcode;
mod call;
mod division;
mod external;
mod field;
mod library;
pub(crate) mod lines;

pub(crate) use self::{bitcode::Library, division::divides, field::Field};
use hashbrown::HashMap;
use inkwell::AddressSpace;
use inkwell::attributes::Attribute;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::types::{BasicTypeEnum, FloatType, IntType, PointerType};
use inkwell::values::{
    BasicValue, BasicValueEnum, FastMathFlags, FunctionValue, GlobalValue, InstructionOpcode, IntValue,
    PhiValue, PointerValue,
};
use inkwell::{FloatPredicate, IntPredicate};
use warploom_chips::{PtxVersion, Target};

use crate::error::{Refusal, Result, internal};

/// A value of any first-class type.
pub(crate) type Val<'c> = BasicValueEnum<'c>;

/// Address space of global memory.
pub(crate) const GLOBAL: u16 = 1;
/// Address space of shared memory of the CTA.
pub(crate) const SHARED: u16 = 3;
/// Address space of tensor memory.
pub(crate) const TENSOR: u16 = 6;
/// Address space of shared memory of the cluster.
pub(crate) const SHARED_CLUSTER: u16 = 7;

/// An LLVM module under construction, for one chip and PTX version.
pub(crate) struct Ir<'c, 't> {
    /// The context.
    pub ctx: &'c Context,
    /// The module.
    pub module: Module<'c>,
    /// The function under construction.
    pub function: FunctionValue<'c>,
    /// The dynamic shared memory (C11).
    pub shared: PointerValue<'c>,
    /// The chip.
    pub target: &'t Target,
    /// The version of PTX to write.
    pub ptx: PtxVersion,
    /// Flags on floating-point arithmetic (C48).
    flags: FastMathFlags,
    builder: Builder<'c>,
    lines: Option<lines::Lines<'c>>,
    /// Whether functions of f32 take numbers too small to be normal for zero.
    pub flush: bool,
    /// Functions that nobody here has written.
    pub library: Library<'c, 't>,
    declared: HashMap<&'static str, Vec<(Option<BasicTypeEnum<'c>>, FunctionValue<'c>)>>,
    convergent: Attribute,
}

impl From<BuilderError> for Refusal {
    fn from(error: BuilderError) -> Refusal {
        internal(format!("LLVM builder: {error}"))
    }
}

impl<'c, 't> Ir<'c, 't> {
    /// Starts a module with a function of these parameters.
    pub fn new(
        ctx: &'c Context,
        module: Module<'c>,
        function: FunctionValue<'c>,
        target: &'t Target,
        ptx: PtxVersion,
        fuse: bool,
    ) -> Ir<'c, 't> {
        let bytes = ctx.i8_type().array_type(0);
        let global: GlobalValue<'c> =
            module.add_global(bytes, Some(AddressSpace::from(SHARED)), "global_smem");
        global.set_alignment(1024);
        let builder = ctx.create_builder();
        let flags = if fuse { FastMathFlags::AllowContract } else { FastMathFlags::empty() };
        let convergent = ctx.create_enum_attribute(Attribute::get_named_enum_kind_id("convergent"), 0);
        let (shared, declared) = (global.as_pointer_value(), HashMap::new());
        let (lines, library) = (None, Library::of(None));
        Ir {
            ctx,
            module,
            function,
            shared,
            target,
            ptx,
            flags,
            builder,
            lines,
            flush: true,
            library,
            declared,
            convergent,
        }
    }

    /// Integer type of this width.
    pub fn int(&self, bits: u32) -> IntType<'c> {
        match bits {
            1 => self.ctx.bool_type(),
            8 => self.ctx.i8_type(),
            16 => self.ctx.i16_type(),
            64 => self.ctx.i64_type(),
            _ => self.ctx.i32_type(),
        }
    }

    /// `i32`.
    pub fn i32(&self) -> IntType<'c> {
        self.ctx.i32_type()
    }

    /// `float`.
    pub fn f32(&self) -> FloatType<'c> {
        self.ctx.f32_type()
    }

    /// `double`.
    pub fn f64(&self) -> FloatType<'c> {
        self.ctx.f64_type()
    }

    /// A pointer to an address space.
    pub fn ptr(&self, space: u16) -> PointerType<'c> {
        self.ctx.ptr_type(AddressSpace::from(space))
    }

    /// An `i32` constant, taken modulo 2^32.
    pub fn c32(&self, value: u64) -> IntValue<'c> {
        self.i32().const_int(value & 0xffff_ffff, false)
    }

    /// An `i64` constant.
    pub fn c64(&self, value: u64) -> IntValue<'c> {
        self.ctx.i64_type().const_int(value, false)
    }

    /// A `float` constant.
    pub fn cf32(&self, value: f32) -> Val<'c> {
        self.f32().const_float(f64::from(value)).into()
    }

    /// A constant of a floating-point type by its bit pattern.
    pub fn float_bits(&self, ty: FloatType<'c>, bits: u32, pattern: u64) -> Result<Val<'c>> {
        let int = self.int(bits).const_int(pattern, false);
        self.cast(InstructionOpcode::BitCast, int.into(), ty.into())
    }

    /// A new basic block at the end of the function.
    pub fn block(&self) -> BasicBlock<'c> {
        self.ctx.append_basic_block(self.function, "")
    }

    /// Continues at the end of a block.
    pub fn seek(&self, block: BasicBlock<'c>) {
        self.builder.position_at_end(block);
    }

    /// The block under construction.
    pub fn here(&self) -> Result<BasicBlock<'c>> {
        self.builder.get_insert_block().ok_or_else(|| internal("no insertion point"))
    }

    /// Jumps.
    pub fn br(&self, to: BasicBlock<'c>) -> Result<()> {
        self.builder.build_unconditional_branch(to)?;
        Ok(())
    }

    /// Jumps to one of two blocks.
    pub fn br_if(&self, cond: IntValue<'c>, then: BasicBlock<'c>, otherwise: BasicBlock<'c>) -> Result<()> {
        self.builder.build_conditional_branch(cond, then, otherwise)?;
        Ok(())
    }

    /// Returns from the function.
    pub fn ret(&self) -> Result<()> {
        self.builder.build_return(None)?;
        Ok(())
    }

    /// A phi without incoming edges yet.
    pub fn phi(&self, ty: BasicTypeEnum<'c>) -> Result<PhiValue<'c>> {
        Ok(self.builder.build_phi(ty, "")?)
    }

    /// Whether a product and the sum that takes it may become one instruction.
    pub fn fuses(&self) -> bool {
        !self.flags.is_empty()
    }

    /// A binary operation. Floating-point ones carry the module's flags.
    pub fn binary(&self, op: InstructionOpcode, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        if a.get_type() != b.get_type() {
            return Err(internal(format!("{op:?} of different types")));
        }
        let value = self.builder.build_binop(op, a, b, "")?;
        let floats = match a.get_type() {
            BasicTypeEnum::VectorType(ty) => ty.get_element_type().is_float_type(),
            ty => ty.is_float_type(),
        };
        if floats && !self.flags.is_empty() {
            self.flag(value, self.flags);
        }
        Ok(value)
    }

    /// Sets fast-math flags where the value is an instruction that takes them.
    fn flag(&self, value: Val<'c>, flags: FastMathFlags) {
        if let Some(instruction) = value.as_instruction_value() {
            // An instruction without such flags has nothing to be told.
            let _ = instruction.set_fast_math_flags(flags);
        }
    }

    /// A binary operation on integers of one type.
    fn ints(&self, op: InstructionOpcode, a: IntValue<'c>, b: IntValue<'c>) -> Result<IntValue<'c>> {
        as_int(self.binary(op, a.into(), b.into())?)
    }

    /// `a + b`.
    pub fn add(&self, a: IntValue<'c>, b: IntValue<'c>) -> Result<IntValue<'c>> {
        self.ints(InstructionOpcode::Add, a, b)
    }

    /// `a - b`.
    pub fn sub(&self, a: IntValue<'c>, b: IntValue<'c>) -> Result<IntValue<'c>> {
        self.ints(InstructionOpcode::Sub, a, b)
    }

    /// `a * b`, which must not overflow in either signedness.
    pub fn scale(&self, a: IntValue<'c>, b: u64) -> Result<IntValue<'c>> {
        let value = self.ints(InstructionOpcode::Mul, a, a.get_type().const_int(b, false))?;
        if let Some(instruction) = value.as_instruction_value() {
            let _ = instruction.set_no_signed_wrap_flag(true);
            let _ = instruction.set_no_unsigned_wrap_flag(true);
        }
        Ok(value)
    }

    /// `a & b`.
    pub fn and(&self, a: IntValue<'c>, b: u64) -> Result<IntValue<'c>> {
        self.ints(InstructionOpcode::And, a, a.get_type().const_int(b, false))
    }

    /// `a | b` of two values.
    pub fn or(&self, a: IntValue<'c>, b: IntValue<'c>) -> Result<IntValue<'c>> {
        self.ints(InstructionOpcode::Or, a, b)
    }

    /// `a ^ b` of two values.
    pub fn xor(&self, a: IntValue<'c>, b: IntValue<'c>) -> Result<IntValue<'c>> {
        self.ints(InstructionOpcode::Xor, a, b)
    }

    /// `a >> b`, unsigned.
    pub fn shr(&self, a: IntValue<'c>, b: u64) -> Result<IntValue<'c>> {
        self.ints(InstructionOpcode::LShr, a, a.get_type().const_int(b, false))
    }

    /// `a / b`, unsigned; `b` is not zero.
    pub fn quotient(&self, a: IntValue<'c>, b: u64) -> Result<IntValue<'c>> {
        self.ints(InstructionOpcode::UDiv, a, a.get_type().const_int(b.max(1), false))
    }

    /// `a % b`, unsigned; `b` is not zero.
    pub fn remainder(&self, a: IntValue<'c>, b: u64) -> Result<IntValue<'c>> {
        self.ints(InstructionOpcode::URem, a, a.get_type().const_int(b.max(1), false))
    }

    /// `a << b`.
    pub fn shl(&self, a: IntValue<'c>, b: u64) -> Result<IntValue<'c>> {
        self.ints(InstructionOpcode::Shl, a, a.get_type().const_int(b, false))
    }

    /// A comparison of integers.
    pub fn icmp(&self, p: IntPredicate, a: IntValue<'c>, b: IntValue<'c>) -> Result<IntValue<'c>> {
        if a.get_type() != b.get_type() {
            return Err(internal("comparison of different types"));
        }
        Ok(self.builder.build_int_compare(p, a, b, "")?)
    }

    /// A comparison of floating-point numbers.
    pub fn fcmp(&self, p: FloatPredicate, a: Val<'c>, b: Val<'c>) -> Result<IntValue<'c>> {
        match (a, b) {
            (Val::FloatValue(a), Val::FloatValue(b)) if a.get_type() == b.get_type() => {
                Ok(self.builder.build_float_compare(p, a, b, "")?)
            }
            _ => Err(internal("comparison of different types")),
        }
    }

    /// `cond ? a : b`.
    pub fn select(&self, cond: IntValue<'c>, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        if a.get_type() != b.get_type() {
            return Err(internal("select of different types"));
        }
        Ok(self.builder.build_select(cond, a, b, "")?)
    }

    /// A cast that LLVM's types allow.
    pub fn cast(&self, op: InstructionOpcode, value: Val<'c>, ty: BasicTypeEnum<'c>) -> Result<Val<'c>> {
        Ok(self.builder.build_cast(op, value, ty, "")?)
    }

    /// Zero-extends (or keeps) an integer.
    pub fn zext(&self, value: IntValue<'c>, ty: IntType<'c>) -> Result<IntValue<'c>> {
        if value.get_type() == ty {
            return Ok(value);
        }
        as_int(self.cast(InstructionOpcode::ZExt, value.into(), ty.into())?)
    }

    /// `pointer + offset` in units of `elem`.
    #[allow(unsafe_code)]
    pub fn offset(
        &self,
        pointer: PointerValue<'c>,
        elem: BasicTypeEnum<'c>,
        offset: IntValue<'c>,
    ) -> Result<PointerValue<'c>> {
        // SAFETY: one index on a sized element type is well-formed for every pointer; without `inbounds` the
        // sum is defined for every offset.
        Ok(unsafe { self.builder.build_gep(elem, pointer, &[offset], "")? })
    }

    /// Shared memory at a byte offset.
    pub fn shared_at(&self, offset: IntValue<'c>) -> Result<PointerValue<'c>> {
        self.offset(self.shared, self.int(8).into(), offset)
    }

    /// A pointer as a number of so many bits.
    pub fn address(&self, pointer: PointerValue<'c>, bits: u32) -> Result<IntValue<'c>> {
        as_int(self.cast(InstructionOpcode::PtrToInt, pointer.into(), self.int(bits).into())?)
    }

    /// `pointer` plus a constant number of bytes.
    pub fn plus(&self, pointer: PointerValue<'c>, bytes: u64) -> Result<PointerValue<'c>> {
        match bytes {
            0 => Ok(pointer),
            _ => self.offset(pointer, self.int(8).into(), self.c32(bytes)),
        }
    }

    /// Loads a value with this alignment.
    pub fn load(&self, ty: BasicTypeEnum<'c>, pointer: PointerValue<'c>, align: u32) -> Result<Val<'c>> {
        let value = self.builder.build_load(ty, pointer, "")?;
        if let Some(instruction) = value.as_instruction_value() {
            instruction.set_alignment(align).map_err(|e| internal(e.to_string()))?;
        }
        Ok(value)
    }

    /// Stores a value with this alignment.
    pub fn store(&self, value: Val<'c>, pointer: PointerValue<'c>, align: u32) -> Result<()> {
        let store = self.builder.build_store(pointer, value)?;
        store.set_alignment(align).map_err(|e| internal(e.to_string()))
    }

    /// Reinterprets bits; same type is a no-op.
    pub fn bits(&self, value: Val<'c>, ty: BasicTypeEnum<'c>) -> Result<Val<'c>> {
        match value.get_type() == ty {
            true => Ok(value),
            false => self.cast(InstructionOpcode::BitCast, value, ty),
        }
    }
}

/// The value as an integer.
pub(crate) fn as_int(value: Val<'_>) -> Result<IntValue<'_>> {
    match value {
        Val::IntValue(value) => Ok(value),
        other => Err(internal(format!("expected an integer, found {}", other.get_type()))),
    }
}

/// The value as a pointer.
pub(crate) fn as_ptr(value: Val<'_>) -> Result<PointerValue<'_>> {
    match value {
        Val::PointerValue(value) => Ok(value),
        other => Err(internal(format!("expected a pointer, found {}", other.get_type()))),
    }
}
