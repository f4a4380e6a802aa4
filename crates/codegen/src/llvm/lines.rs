//! Which line of the kernel's own source each instruction comes from: `.file` and `.loc` in the PTX.

use inkwell::context::Context;
use inkwell::debug_info::{
    AsDIScope, DIFlags, DIFlagsConstants, DILocation, DIScope, DWARFEmissionKind, DWARFSourceLanguage,
    DebugInfoBuilder,
};
use inkwell::module::{FlagBehavior, Module};
use inkwell::values::FunctionValue;

/// A place in a source: file, line, column.
pub(crate) type Line<'m> = (&'m str, u32, u32);

/// The version of LLVM's debug metadata; without it they are dropped.
const VERSION: u64 = 3;

/// The lines of one function.
pub(crate) struct Lines<'c> {
    builder: DebugInfoBuilder<'c>,
    function: DIScope<'c>,
    files: Vec<(String, DIScope<'c>)>,
}

impl<'c> Lines<'c> {
    /// Of a function that stands at this place.
    pub fn new(ctx: &'c Context, module: &Module<'c>, function: FunctionValue<'c>, place: Line) -> Lines<'c> {
        let (file, line, _) = place;
        let version = ctx.i32_type().const_int(VERSION, false);
        module.add_basic_value_flag("Debug Info Version", FlagBehavior::Warning, version);
        let (language, kind) = (DWARFSourceLanguage::C, DWARFEmissionKind::LineTablesOnly);
        let (builder, unit) = module.create_debug_info_builder(
            false, language, file, "", "warploom", true, "", 0, "", kind, 0, false, false, "", "",
        );
        let (source, flags) = (unit.get_file(), DIFlags::ZERO);
        let nothing = builder.create_subroutine_type(source, None, &[], flags);
        let name = function.get_name().to_string_lossy().into_owned();
        let scope = unit.as_debug_info_scope();
        let program = builder
            .create_function(scope, &name, None, source, line, nothing, false, true, line, flags, true);
        function.set_subprogram(program);
        let function = program.as_debug_info_scope();
        Lines { builder, function, files: vec![(file.to_owned(), function)] }
    }

    /// What instructions of this place are told.
    pub fn at(&mut self, ctx: &'c Context, place: Line) -> DILocation<'c> {
        let (file, line, column) = place;
        let known = self.files.iter().find(|(name, _)| name == file).map(|(_, scope)| *scope);
        let scope = known.unwrap_or_else(|| {
            let source = self.builder.create_file(file, "");
            let block = self.builder.create_lexical_block(self.function, source, line, column);
            let scope = block.as_debug_info_scope();
            self.files.push((file.to_owned(), scope));
            scope
        });
        self.builder.create_debug_location(ctx, line, column, scope, None)
    }
}

/// PTX with its lines and without what else LLVM writes of them: sections for debuggers, which keep the assembler from
/// optimising.
pub(crate) fn lines_alone(text: &str) -> String {
    let end = text.find("\t.section").unwrap_or(text.len());
    let (code, rest) = text.split_at(end);
    // The names of files stand behind the sections, or before them.
    let files = rest.lines().filter(|row| row.trim_start().starts_with(".file"));
    let mut out = code.replacen(", debug\n", "\n", 1);
    files.for_each(|row| out += &format!("{row}\n"));
    out
}
