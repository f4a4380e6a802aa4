//! Calls: intrinsics, which the table is asked about first (C43), and inline assembly (C40); where they come from.

use inkwell::attributes::AttributeLoc;
use inkwell::debug_info::DILocation;
use inkwell::intrinsics::Intrinsic;
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{BasicMetadataValueEnum, FunctionValue};
use warploom_ir::diag::Code;

use super::lines::{Line, Lines};
use super::{Ir, Val};
use crate::error::{Refusal, Result, internal, refuse};
use crate::intrinsic::{self, Lack};

impl<'c> Ir<'c, '_> {
    /// Says in the PTX where instructions come from; the function stands at this place.
    pub fn tell_lines(&mut self, function: Line) {
        self.lines = Some(Lines::new(self.ctx, &self.module, self.function, function));
    }

    /// Instructions from here on come from this place; gives the place before.
    pub fn come_from(&mut self, place: Option<Line>) -> Option<DILocation<'c>> {
        let (lines, place) = (self.lines.as_mut()?, place?);
        let before = self.builder.get_current_debug_location();
        self.builder.set_current_debug_location(lines.at(self.ctx, place));
        before
    }

    /// Instructions from here on come from an earlier place, if there was one.
    pub fn come_back(&mut self, place: Option<DILocation<'c>>) {
        if let Some(place) = place {
            self.builder.set_current_debug_location(place);
        }
    }

    /// Completes the module.
    pub fn finish(&mut self) -> Result<()> {
        self.lines = None;
        self.link()
    }

    /// Calls an intrinsic without a result, or drops it.
    pub fn effect(&mut self, name: &'static str, args: &[Val<'c>]) -> Result<()> {
        self.invoke(name, None, args).map(|_| ())
    }

    /// Calls an intrinsic with a result.
    pub fn intrinsic(&mut self, name: &'static str, args: &[Val<'c>]) -> Result<Val<'c>> {
        self.invoke(name, None, args)?.ok_or_else(|| internal(format!("{name} has no result")))
    }

    /// Calls an intrinsic that LLVM overloads on the type of its first argument.
    pub fn overloaded(&mut self, name: &'static str, args: &[Val<'c>]) -> Result<Val<'c>> {
        let ty = args.first().map(|a| a.get_type());
        self.invoke(name, ty, args)?.ok_or_else(|| internal(format!("{name} has no result")))
    }

    /// Like [`Ir::effect`] for an intrinsic overloaded on its first argument.
    pub fn overloaded_effect(&mut self, name: &'static str, args: &[Val<'c>]) -> Result<()> {
        let ty = args.first().map(|a| a.get_type());
        self.invoke(name, ty, args).map(|_| ())
    }

    fn invoke(
        &mut self,
        name: &'static str,
        overload: Option<BasicTypeEnum<'c>>,
        args: &[Val<'c>],
    ) -> Result<Option<Val<'c>>> {
        let known = self.declared.get(name).and_then(|all| all.iter().find(|(ty, _)| *ty == overload));
        let function = match known {
            Some((_, function)) => *function,
            None => {
                let function = self.declare(name, overload)?;
                self.declared.entry(name).or_default().push((overload, function));
                function
            }
        };
        let wanted = function.get_type().get_param_types();
        let matches = wanted.len() == args.len()
            && wanted.iter().zip(args).all(|(want, arg)| *want == BasicMetadataTypeOf::of(*arg));
        if !matches {
            return Err(internal(format!("wrong arguments for {name}")));
        }
        let args: Vec<BasicMetadataValueEnum> = args.iter().map(|&a| a.into()).collect();
        let call = self.builder.build_call(function, &args, "")?;
        Ok(call.try_as_basic_value().basic())
    }

    fn declare(
        &mut self,
        name: &'static str,
        overload: Option<BasicTypeEnum<'c>>,
    ) -> Result<FunctionValue<'c>> {
        intrinsic::check(name, self.target, self.ptx).map_err(|lack| match lack {
            Lack::Unknown => internal(format!("intrinsic {name} is not in the table")),
            Lack::Chip(feature) => {
                let text = format!("{} has no {feature}", self.target.name());
                refuse(Code::Target, text).rule("C43").into()
            }
            Lack::Version(least) => {
                let text = format!("PTX {} has no {name}", self.ptx);
                let fix = format!("PTX {least} or later");
                Refusal::from(refuse(Code::Target, text).rule("C43").note("needs", fix))
            }
        })?;
        let found = Intrinsic::find(&format!("llvm.{name}"));
        let types: Vec<BasicTypeEnum> = overload.into_iter().collect();
        found
            .and_then(|intrinsic| intrinsic.get_declaration(&self.module, &types))
            .ok_or_else(|| internal(format!("LLVM does not declare {name}")))
    }

    /// Inline assembly. `results` are its outputs in order: none, one value, or a structure of several.
    pub fn assembly(
        &self,
        text: &str,
        constraints: &str,
        results: &[BasicTypeEnum<'c>],
        args: &[Val<'c>],
        pure: bool,
    ) -> Result<Option<Val<'c>>> {
        let params: Vec<_> = args.iter().map(|a| BasicMetadataTypeOf::of(*a)).collect();
        let ty = match results {
            [] => self.ctx.void_type().fn_type(&params, false),
            [one] => one.fn_type(&params, false),
            many => self.ctx.struct_type(many, false).fn_type(&params, false),
        };
        let asm = self.ctx.create_inline_asm(
            ty,
            text.to_owned(),
            constraints.to_owned(),
            !pure,
            false,
            None,
            false,
        );
        let args: Vec<BasicMetadataValueEnum> = args.iter().map(|&a| a.into()).collect();
        let call = self.builder.build_indirect_call(ty, asm, &args, "")?;
        if !pure {
            call.add_attribute(AttributeLoc::Function, self.convergent);
        }
        Ok(call.try_as_basic_value().basic())
    }
}

/// The type of a value, as parameter lists want it.
struct BasicMetadataTypeOf;

impl BasicMetadataTypeOf {
    fn of(value: Val<'_>) -> inkwell::types::BasicMetadataTypeEnum<'_> {
        value.get_type().into()
    }
}
