//! The entry of a kernel: its name, parameters and launch attributes (C10, C11, C31, C40, C41).

use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum};
use inkwell::values::FunctionValue;
use warploom_ir::diag::Code;
use warploom_ir::{FloatKind, Module, Type};

use crate::error::{Result, refuse};
use crate::llvm::GLOBAL;
use crate::program::Program;

/// LLVM's number of the calling convention of kernels (C40).
const PTX_KERNEL: u32 = 71;

/// Declares the entry with its parameters and launch attributes (C10, C11, C31, C40, C41).
pub(super) fn declare<'c>(
    ctx: &'c Context,
    out: &inkwell::module::Module<'c>,
    module: &Module,
    program: &Program,
) -> Result<FunctionValue<'c>> {
    let mut types: Vec<BasicMetadataTypeEnum<'c>> = Vec::new();
    for &param in &program.params {
        let ty = module.ty(param);
        types.push(match ty {
            Type::TensorDesc { .. } => ctx.ptr_type(AddressSpace::default()).into(),
            _ => scalar_type(ctx, ty)?.into(),
        });
    }
    let scratch = ctx.ptr_type(AddressSpace::from(GLOBAL));
    types.push(scratch.into());
    types.push(scratch.into());
    let function = out.add_function(program.name, ctx.void_type().fn_type(&types, false), None);
    function.set_call_conventions(PTX_KERNEL);
    let flag = |name| ctx.create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0);
    for name in ["convergent", "nounwind", "norecurse"] {
        function.add_attribute(AttributeLoc::Function, flag(name));
    }
    let launch = [("nvvm.reqntid", 32 * program.warps), ("nvvm.maxnreg", program.max_registers.min(255))];
    for (name, value) in launch {
        let attribute = ctx.create_string_attribute(name, &value.to_string());
        function.add_attribute(AttributeLoc::Function, attribute);
    }
    let map = ctx.i8_type().array_type(128);
    let by_value = Attribute::get_named_enum_kind_id("byval");
    let align = Attribute::get_named_enum_kind_id("align");
    for (i, &param) in (0u32..).zip(&program.params) {
        if module.ty(param).is_desc() {
            let at = AttributeLoc::Param(i);
            function.add_attribute(at, ctx.create_type_attribute(by_value, map.into()));
            function.add_attribute(at, ctx.create_enum_attribute(align, 64));
            function.add_attribute(at, ctx.create_string_attribute("nvvm.grid_constant", ""));
        }
    }
    Ok(function)
}

/// LLVM type of a scalar; 8-bit floats are bytes.
pub(super) fn scalar_type<'c>(ctx: &'c Context, ty: &Type) -> Result<BasicTypeEnum<'c>> {
    Ok(match ty {
        Type::Int(1, _) => ctx.bool_type().into(),
        Type::Int(8, _) => ctx.i8_type().into(),
        Type::Int(16, _) => ctx.i16_type().into(),
        Type::Int(32, _) => ctx.i32_type().into(),
        Type::Int(64, _) => ctx.i64_type().into(),
        Type::Float(FloatKind::F8E4M3FN | FloatKind::F8E5M2) => ctx.i8_type().into(),
        Type::Float(FloatKind::F16) => ctx.f16_type().into(),
        Type::Float(FloatKind::BF16) => ctx.bf16_type().into(),
        Type::Float(FloatKind::F32) => ctx.f32_type().into(),
        Type::Float(FloatKind::F64) => ctx.f64_type().into(),
        Type::Ptr { space: 1, .. } => ctx.ptr_type(AddressSpace::from(GLOBAL)).into(),
        other => return Err(refuse(Code::Type, format!("{other} is not supported")).rule("C4").into()),
    })
}
