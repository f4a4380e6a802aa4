//! Kernels of many operations in a row compile, whatever hangs on what: no step takes the stack for them. The bench
//! `straight` gives the time of each step.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use warploom_chips::Target;
use warploom_ir::{Module, Opcode, parse, verify};
use warploom_pipeline::{CompileOptions, resume};
use warploom_testing::ir::StraightLine;

const OPERATIONS: usize = 10_000;

/// Operations of this kind in the program of a kernel.
fn compiled(text: &str, chip: &str, counted: &[Opcode]) -> usize {
    let module = parse(text).unwrap();
    assert_eq!(verify(&module), []);
    let mut options = CompileOptions::default();
    options.check = true;
    let resumed = resume(&module, &Target::named(chip).unwrap(), &options);
    let resumed = resumed.unwrap_or_else(|refused| panic!("{refused}"));
    let program: &Module = resumed.program();
    program.ops.values().filter(|op| counted.contains(&op.opcode)).count()
}

#[test]
fn straight_lines_of_any_shape_compile() {
    for kernel in StraightLine::all(OPERATIONS) {
        let counted = [Opcode::AddF, Opcode::MulF, Opcode::AddPtr, Opcode::Load, Opcode::Store];
        let found = compiled(&kernel.text(), "sm_90a", &counted);
        assert!(found >= OPERATIONS, "{kernel:?}: {found}");
    }
}

/// Values behind a product are made when they are asked for, the last one first.
#[test]
fn a_chain_behind_a_product_compiles() {
    let (gemm, ty) = (include_str!("../examples/gemm.ttir"), "tensor<128x256xf32>");
    let mut chain = format!("    %e0 = arith.addf %4, %4 : {ty}\n");
    for n in 1..OPERATIONS {
        chain += &format!("    %e{n} = arith.addf %e{}, %4 : {ty}\n", n - 1);
    }
    let last = OPERATIONS - 1;
    let text = gemm.replace("    %5 = arith.truncf %4", &format!("{chain}    %5 = arith.truncf %e{last}"));
    for chip in ["sm_90a", "sm_100a"] {
        let found = compiled(&text, chip, &[Opcode::AddF]);
        assert!(found >= OPERATIONS, "{chip}: {found}");
    }
}
