//! Flags that the kernel has no code for: it ends with an error where one is set (C17, C90).

use warploom_ir::{Attr, Type};

use super::Lower;
use super::value::Bound;
use crate::error::Result;
use crate::llvm::as_int;

impl<'c> Lower<'c, '_> {
    /// Ends the kernel with `trap` where a parameter marked `warploom.unset` is true.
    pub(super) fn trap_on_flags(&mut self) -> Result<()> {
        let attrs =
            self.module.attr(self.program.func, "arg_attrs").and_then(Attr::as_array).unwrap_or_default();
        let marked = |attr: &Attr| matches!(attr, Attr::Dict(dict) if matches!(dict.get("warploom.unset"), Some(Attr::Bool(true))));
        let mut set = None;
        for (param, _) in self.program.params.iter().zip(attrs).filter(|(_, attr)| marked(attr)) {
            let Some(Bound::Scalar(flag)) = self.bound.get(param) else { continue };
            if *self.module.ty(*param) != Type::I1 {
                continue;
            }
            let flag = as_int(*flag)?;
            set = Some(match set {
                None => flag,
                Some(before) => self.ir.or(before, flag)?,
            });
        }
        let Some(set) = set else { return Ok(()) };
        let (refuse, go_on) = (self.ir.block(), self.ir.block());
        self.ir.br_if(set, refuse, go_on)?;
        self.ir.seek(refuse);
        self.ir.effect("trap", &[])?;
        self.ir.br(go_on)?;
        self.ir.seek(go_on);
        Ok(())
    }
}
