//! Functions of CUDA's device runtime that PTX calls by name, and what they read: strings and lists of arguments.

use inkwell::module::Linkage;
use inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum};
use inkwell::values::{BasicMetadataValueEnum, PointerValue};

use super::{Ir, Val, as_ptr};
use crate::error::{Result, internal};

impl<'c> Ir<'c, '_> {
    /// A string that ends with a zero, in memory.
    pub fn text(&self, text: &str) -> Result<Val<'c>> {
        // C ends a string at its first zero.
        let text = text.split('\0').next().unwrap_or_default();
        Ok(self.builder.build_global_string_ptr(text, "text")?.as_pointer_value().into())
    }

    /// Calls a function of the device runtime; what it returns is dropped.
    pub fn call_runtime(
        &self,
        name: &str,
        result: Option<BasicTypeEnum<'c>>,
        args: &[Val<'c>],
    ) -> Result<()> {
        let function = self.module.get_function(name).unwrap_or_else(|| {
            let params: Vec<BasicMetadataTypeEnum> = args.iter().map(|a| a.get_type().into()).collect();
            let ty = match result {
                Some(BasicTypeEnum::IntType(ty)) => ty.fn_type(&params, false),
                _ => self.ctx.void_type().fn_type(&params, false),
            };
            self.module.add_function(name, ty, Some(Linkage::External))
        });
        let args: Vec<BasicMetadataValueEnum> = args.iter().map(|&a| a.into()).collect();
        self.builder.build_call(function, &args, "")?;
        Ok(())
    }

    /// Memory of a thread's own, so many bytes at a multiple of 8.
    pub fn own_bytes(&self, bytes: u32) -> Result<PointerValue<'c>> {
        let here = self.here()?;
        // Once for the whole function: in a loop it would grow with each trip.
        let entry =
            self.function.get_first_basic_block().ok_or_else(|| internal("a function without blocks"))?;
        match entry.get_first_instruction() {
            Some(first) => self.builder.position_before(&first),
            None => self.seek(entry),
        }
        let words = self.ctx.i64_type().array_type(bytes.div_ceil(8).max(1));
        let made = self.builder.build_alloca(words, "");
        self.seek(here);
        as_ptr(made?.into())
    }
}
