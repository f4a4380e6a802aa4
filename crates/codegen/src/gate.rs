//! Which of LLVM's passes run in code generation.
//!
//! LLVM's straight-line strength reduction compares each sum, product and address with all others: in functions of many it
//! took seven tenths of the compile, and machine code has as many instructions a trip without it. LLVM's C interface has no
//! word for single passes of code generation, so the gate itself is in `gate.cpp`.

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::prelude::LLVMContextRef;
use inkwell::module::Module;
use inkwell::values::InstructionOpcode;

/// Sums, products and addresses of a module beyond which they are not compared. Kernels of half as many gain up to a
/// twentieth of a trip by it.
const MANY: usize = 500;

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
