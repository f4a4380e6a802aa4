//! A library of functions as bitcode, NVIDIA's libdevice: read when the first of them is called, linked at the end.

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{FlagBehavior, Linkage, Module};
use inkwell::types::{BasicMetadataTypeEnum, BasicType, BasicTypeEnum};
use inkwell::values::BasicMetadataValueEnum;
use warploom_ir::diag::Code;

use super::{Ir, Val};
use crate::error::{Result, internal, refuse};

impl<'c> Ir<'c, '_> {
    /// Calls a function of the library.
    pub fn call_library(
        &mut self,
        name: &str,
        result: BasicTypeEnum<'c>,
        args: &[Val<'c>],
    ) -> Result<Val<'c>> {
        let Some(bitcode) = self.library.bitcode else {
            let refusal = refuse(Code::Op, format!("{name} of NVIDIA's libdevice")).rule("C68");
            return Err(refusal.note("needs", "libdevice.10.bc, named by --libdevice").into());
        };
        if self.library.read.is_none() {
            let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "libdevice");
            let read = Module::parse_bitcode_from_buffer(&buffer, self.ctx);
            let unread = |e| {
                refuse(Code::Op, format!("the library of --libdevice is no bitcode that LLVM 22 reads: {e}"))
            };
            self.library.read = Some(read.map_err(|e| unread(e).rule("C68"))?);
        }
        let found = self.library.read.as_ref().and_then(|library| library.get_function(name));
        let params: Vec<BasicMetadataTypeEnum> = args.iter().map(|a| a.get_type().into()).collect();
        let ty = result.fn_type(&params, false);
        match found.map(|function| function.get_type()) {
            Some(known) if known == ty && found.is_some_and(|f| f.count_basic_blocks() > 0) => {}
            Some(known) => {
                let text = format!("{name} of the library is {known}, here it is called as {ty}");
                return Err(refuse(Code::Type, text).rule("C68").into());
            }
            None => return Err(refuse(Code::Op, format!("the library has no {name}")).rule("C68").into()),
        }
        let function = self.module.get_function(name);
        let function =
            function.unwrap_or_else(|| self.module.add_function(name, ty, Some(Linkage::External)));
        let args: Vec<BasicMetadataValueEnum> = args.iter().map(|&a| a.into()).collect();
        let call = self.builder.build_call(function, &args, "")?;
        call.try_as_basic_value().basic().ok_or_else(|| internal(format!("{name} has no result")))
    }

    /// Puts the library into the module, if anything of it is called.
    pub(super) fn link(&mut self) -> Result<()> {
        let Some(library) = self.library.read.take() else { return Ok(()) };
        library.set_triple(&self.module.get_triple());
        library.set_data_layout(&self.module.get_data_layout());
        let own: Vec<_> = self.module.get_functions().map(|f| f.get_name().to_owned()).collect();
        let defined: Vec<_> = library
            .get_functions()
            .filter(|f| f.count_basic_blocks() > 0)
            .map(|f| f.get_name().to_owned())
            .collect();
        if own
            .iter()
            .any(|name| defined.contains(name) && name.to_bytes() == self.function.get_name().to_bytes())
        {
            let name = self.function.get_name().to_string_lossy().into_owned();
            let text = format!("the kernel @{name} is called as a function of the library");
            return Err(refuse(Code::Verify, text).rule("C68").into());
        }
        self.module.link_in_module(library).map_err(|e| internal(format!("LLVM linker: {e}")))?;
        let internal_ones =
            self.module.get_functions().filter(|f| defined.iter().any(|d| **d == *f.get_name()));
        internal_ones.for_each(|function| function.set_linkage(Linkage::Internal));
        let flush = self.i32().const_int(self.flush.into(), false);
        self.module.add_basic_value_flag("nvvm-reflect-ftz", FlagBehavior::Override, flush);
        self.library.linked = true;
        Ok(())
    }

    /// Whether the user names a library.
    pub fn has_library(&self) -> bool {
        self.library.bitcode.is_some()
    }

    /// Whether a library was linked.
    pub fn links(&self) -> bool {
        self.library.linked
    }
}
