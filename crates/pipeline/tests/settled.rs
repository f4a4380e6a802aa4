//! Operands that are computed in front of a loop and stay what they are in it, a scaled Q: stored once, in front of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{checked, compile_one, kernel, parse};
use warploom_chips::Target;
use warploom_ir::{OpId, Opcode, walk};

#[test]
fn a_scaled_q_is_stored_once_in_front_of_its_loop() {
    let load = "%9 = tt.load %8 : tensor<64x64x!tt.ptr<f16>>";
    let scale = "%half = arith.constant dense<5.0e-01> : tensor<64x64xf16>\n    %q = arith.mulf %9, %half : tensor<64x64xf16>";
    let text = kernel("attention_paged");
    assert!(text.contains(load) && text.contains("tt.dot %9,"));
    let module =
        parse(&text.replace(load, &format!("{load}\n    {scale}")).replace("tt.dot %9,", "tt.dot %q,"));
    for chip in ["sm_80", "sm_90a", "sm_100a", "sm_120a"] {
        let target = Target::named(chip).unwrap();
        let compiled =
            compile_one(&module, &target, &checked()).unwrap_or_else(|e| panic!("{chip}: {}", e[0]));
        let program = &compiled.program;
        let stores = |root: OpId| {
            walk::ops(program, root).filter(|&op| program.ops[op].opcode == Opcode::TileStore).count()
        };
        let loops = walk::ops(program, program.root).filter(|&op| program.ops[op].opcode == Opcode::For);
        let inside = loops.map(stores).max().unwrap();
        assert_eq!(stores(program.root), inside + 1, "{chip}: {}", warploom_ir::print(program));
    }
}
