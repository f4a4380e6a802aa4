//! Which of LLVM's passes run in code generation.
//!
//! LLVM's straight-line strength reduction compares each sum, product and address with all others: in functions of many it
//! took seven tenths of code generation. LLVM's C interface has no word for single passes of code generation, so the gate itself
//! is in `gate.cpp`.

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::prelude::LLVMContextRef;
use inkwell::module::Module;
use inkwell::values::InstructionOpcode;

/// Sums, products and addresses of a module beyond which they are not compared. Kernels of fewer gain up to a ninth of a trip
/// by it, or the registers that keep them from spilling.
const MANY: usize = 700;

// SAFETY: this is its type in gate.cpp.
#[allow(unsafe_code)]
unsafe extern "C" {
    /// Code generation in this context leaves out straight-line strength reduction.
    fn warploom_close_gate(context: LLVMContextRef);
}

/// Closes the gate where a pass would cost more than it brings.
#[allow(unsafe_code)]
pub(crate) fn close(context: &Context, module: &Module) {
    if compared(module) > MANY {
        // SAFETY: the context lives through the call, which keeps nothing of it; the gate that it is given has no state
        // and lives as long as the process.
        unsafe { warploom_close_gate(context.as_ctx_ref()) }
    }
}

/// What the pass compares.
fn compared(module: &Module) -> usize {
    let instructions = module
        .get_functions()
        .flat_map(|function| function.get_basic_blocks())
        .flat_map(|block| block.get_instructions());
    let is_compared = |opcode| {
        matches!(opcode, InstructionOpcode::Add | InstructionOpcode::Mul | InstructionOpcode::GetElementPtr)
    };
    instructions.filter(|instruction| is_compared(instruction.get_opcode())).count()
}

#[cfg(test)]
mod tests {
    use inkwell::AddressSpace;
    use warploom_chips::{PtxVersion, Target};

    use super::*;
    use crate::machine;

    /// How many products are left of `(x + n) * s` for so many `n`.
    fn products(count: u64) -> usize {
        let context = Context::create();
        let module = context.create_module("products");
        let (word, pointer) = (context.i32_type(), context.ptr_type(AddressSpace::from(1)));
        let ty = context.void_type().fn_type(&[word.into(), word.into(), pointer.into()], false);
        let function = module.add_function("products", ty, None);
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, ""));
        let word_at = |n| function.get_nth_param(n).unwrap().into_int_value();
        let (x, s, to) = (word_at(0), word_at(1), function.get_nth_param(2).unwrap().into_pointer_value());
        for n in 0..count {
            let sum = builder.build_int_add(x, word.const_int(n, false), "").unwrap();
            let product = builder.build_int_mul(sum, s, "").unwrap();
            builder.build_store(to, product).unwrap().set_volatile(true).unwrap();
        }
        builder.build_return(None).unwrap();
        close(&context, &module);
        let target = Target::named("sm_90a").unwrap();
        let machine = machine::machine(&target, PtxVersion::LLVM_22_LAST, 1).unwrap();
        machine::assembly(&module, &machine).unwrap().matches("mul.lo").count()
    }

    #[test]
    fn few_sums_are_compared_and_many_are_not() {
        assert!(products(16) < 4);
        assert!(products(MANY as u64) > MANY / 2);
    }
}
