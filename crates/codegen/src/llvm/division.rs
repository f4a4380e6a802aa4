//! Divisions of whole numbers by what no constant is. LLVM leaves them where they stand, since none may be done that the program
//! would not do; on this target they harm nobody, and those of a loop that stay what they are belong in front of it. So they
//! are calls of functions that may be called anywhere, until loops have lost what does not change in them.

use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::{FunctionValue, InstructionOpcode};

use super::{Ir, Val, as_int};
use crate::error::{Result, internal};

/// How the names of these functions begin.
const PREFIX: &str = "warploom.";

impl<'c> Ir<'c, '_> {
    /// A quotient or a remainder; of a division by 0 any number.
    pub fn division(&self, op: InstructionOpcode, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        if as_int(b)?.is_const() {
            return self.binary(op, a, b);
        }
        let function = self.dividing(op, as_int(a)?.get_type().get_bit_width())?;
        let call = self.builder.build_call(function, &[a.into(), b.into()], "")?;
        call.try_as_basic_value().basic().ok_or_else(|| internal("a division without a result"))
    }

    /// The function that divides numbers of so many bits.
    fn dividing(&self, op: InstructionOpcode, bits: u32) -> Result<FunctionValue<'c>> {
        let name = format!("{PREFIX}{op:?}.{bits}");
        if let Some(known) = self.module.get_function(&name) {
            return Ok(known);
        }
        let ty = self.int(bits);
        let function =
            self.module.add_function(&name, ty.fn_type(&[ty.into(); 2], false), Some(Linkage::Private));
        for attribute in ["alwaysinline", "speculatable", "willreturn", "nounwind", "memory"] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            function.add_attribute(AttributeLoc::Function, self.ctx.create_enum_attribute(kind, 0));
        }
        let builder = self.ctx.create_builder();
        builder.position_at_end(self.ctx.append_basic_block(function, ""));
        let parameter = |n| function.get_nth_param(n).ok_or_else(|| internal("a division of two numbers"));
        let (a, b) = (parameter(0)?, as_int(parameter(1)?)?);
        let none = builder.build_int_compare(IntPredicate::EQ, b, ty.const_zero(), "")?;
        let by = builder.build_select(none, ty.const_int(1, false), b, "")?;
        let result = builder.build_binop(op, a, by, "")?;
        builder.build_return(Some(&result))?;
        Ok(function)
    }
}

/// Whether a module has such functions.
pub(crate) fn divides(module: &Module) -> bool {
    module.get_functions().any(|function| function.get_name().to_bytes().starts_with(PREFIX.as_bytes()))
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;
    use warploom_chips::{PtxVersion, Target};

    use super::*;
    use crate::machine;

    /// Whether the remainder of two parameters is taken in front of a loop that asks for it in a branch.
    fn is_in_front(as_call: bool) -> bool {
        let context = Context::create();
        let module = context.create_module("remainder");
        let (word, condition) = (context.i32_type(), context.bool_type());
        let pointer = context.ptr_type(inkwell::AddressSpace::from(1));
        let parameters = [word.into(), word.into(), condition.into(), pointer.into()];
        let function = module.add_function("f", context.void_type().fn_type(&parameters, false), None);
        let target = Target::named("sm_90a").unwrap();
        let ir = Ir::new(&context, module, function, &target, PtxVersion::LLVM_22_LAST, false);
        let [x, y, taken, to] = [0, 1, 2, 3].map(|n| function.get_nth_param(n).unwrap());
        let (start, head, branch, end) = (ir.block(), ir.block(), ir.block(), ir.block());
        ir.seek(start);
        ir.br(head).unwrap();
        ir.seek(head);
        let store = |value| {
            let store = ir.builder.build_store(to.into_pointer_value(), value).unwrap();
            store.set_volatile(true).unwrap();
        };
        store(x);
        ir.br_if(taken.into_int_value(), branch, head).unwrap();
        ir.seek(branch);
        let remainder = match as_call {
            true => ir.division(InstructionOpcode::URem, x, y).unwrap(),
            false => ir.binary(InstructionOpcode::URem, x, y).unwrap(),
        };
        store(remainder);
        let again = ir.icmp(IntPredicate::EQ, as_int(remainder).unwrap(), ir.c32(3)).unwrap();
        ir.br_if(again, end, head).unwrap();
        ir.seek(end);
        ir.ret().unwrap();
        ir.module.verify().unwrap();
        let machine = machine::machine(&target, PtxVersion::LLVM_22_LAST, 1).unwrap();
        machine::optimize(&ir.module, &machine, 1).unwrap();
        let text = machine::assembly(&ir.module, &machine).unwrap();
        assert!(text.matches("rem.u32").count() == 1 && !text.contains("call"), "{text}");
        let front = function.get_first_basic_block().unwrap();
        front.get_instructions().any(|instruction| instruction.get_opcode() == InstructionOpcode::URem)
    }

    #[test]
    fn a_remainder_that_stays_is_taken_in_front_of_the_loop() {
        assert!(is_in_front(true));
        // By itself LLVM does not move it.
        assert!(!is_in_front(false));
    }
}
