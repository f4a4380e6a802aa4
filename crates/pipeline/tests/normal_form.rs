//! The normal form of C8 and C9, and values that loops carry beside the accumulator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use warploom_ir::{Module, Opcode, print};
use warploom_pipeline::{CompileOptions, compile_to_program, entry_function, normalize};
use warploom_testing::pipeline::{Kernel, Outcome, exercise};

fn compile(text: &str) -> Module {
    assert_eq!(
        exercise(text, &common::hopper(), &CompileOptions::default(), 4),
        Ok(Outcome::Compiled),
        "{text}"
    );
    compile_to_program(&common::parse(text), &common::hopper(), &CompileOptions::default()).unwrap().program
}

fn in_loop(m: &Module, opcode: Opcode) -> usize {
    let func = m.functions().next().unwrap();
    let all = warploom_ir::walk::ops(m, func);
    all.filter(|&op| {
        m.ops[op].opcode == opcode && m.parent(op).is_some_and(|p| m.ops[p].opcode == Opcode::For)
    })
    .count()
}

#[test]
fn loop_invariant_scalars_leave_the_loop() {
    let text = Kernel::default().text();
    let text = text.replace(
        "      %a.l =",
        "      %q = arith.addi %row, %c0 : i32\n      %q2 = arith.muli %q, %bm : i32\n      %a.l =",
    );
    let text = text.replace("%a[%row, %k]", "%a[%q2, %k]");
    let module = common::parse(&text);
    let normal = normalize(&module, entry_function(&module, None).unwrap()).unwrap();
    assert_eq!((in_loop(&module, Opcode::MulI), in_loop(&normal, Opcode::MulI)), (1, 0));
    assert_eq!(in_loop(&compile(&text), Opcode::MulI), 0);
}

#[test]
fn a_division_by_what_may_be_zero_stays_where_it_was() {
    let text = Kernel::default().text();
    let text = text.replace("      %a.l =", "      %q = arith.divsi %row, %M : i32\n      %h = arith.divsi %row, %bm : i32\n      %s = arith.addi %q, %h : i32\n      %a.l =");
    let text = text.replace("%a[%row, %k]", "%a[%s, %k]");
    let module = common::parse(&text);
    let normal = normalize(&module, entry_function(&module, None).unwrap()).unwrap();
    assert_eq!(in_loop(&normal, Opcode::DivSI), 1);
    compile(&text);
}

#[test]
fn carried_scalars_go_to_the_partitions_that_need_them() {
    // A coordinate that the loop carries: the loading partition alone computes it.
    let text = Kernel::default().text();
    let text = text
        .replace("%r = scf.for", "%r:2 = scf.for")
        .replace(
            "iter_args(%acc = %zero) -> (tensor<128x128xf32>)",
            "iter_args(%acc = %zero, %p = %c0) -> (tensor<128x128xf32>, i32)",
        )
        .replace("%a[%row, %k]", "%a[%row, %p]")
        .replace(
            "scf.yield %d : tensor<128x128xf32>",
            "%p1 = arith.addi %p, %bk : i32\n      scf.yield %d, %p1 : tensor<128x128xf32>, i32",
        )
        .replace("truncf %r", "truncf %r#0");
    let program = compile(&text);
    assert_eq!(in_loop(&program, Opcode::AddI), 1, "{}", print(&program));
    // The same value read after the loop: both partitions carry it.
    let text = text.replace("%out0[%row, %col]", "%out0[%row, %r#1]");
    assert_eq!(in_loop(&compile(&text), Opcode::AddI), 2);
}

#[test]
fn views_move_nothing() {
    for (a_transposed, b_transposed) in [(false, false), (false, true), (true, false), (true, true)] {
        let program = compile(&Kernel { a_transposed, b_transposed, ..Kernel::default() }.text());
        assert_eq!(in_loop(&program, Opcode::Trans), usize::from(a_transposed) + usize::from(b_transposed));
    }
    // Rank 3 with a leading extent of 1, dropped by a reshape inside the loop.
    let text = Kernel { batched: true, ..Kernel::default() }.text();
    let text = text.replace("-> tensor<128x64xbf16>\n      %b.l", "-> tensor<1x128x64xbf16>\n      %a.v = tt.reshape %a.l : tensor<1x128x64xbf16> -> tensor<128x64xbf16>\n      %b.l");
    let program = compile(&text.replace("tt.dot %a.l", "tt.dot %a.v"));
    assert_eq!(in_loop(&program, Opcode::Reshape), 0);
    assert!(print(&program).contains("!tt.tensordesc<1x128x64xbf16>"));
}

#[test]
fn tiles_are_loaded_along_the_dimension_in_which_neighbours_lie() {
    // B [K, N] with K innermost in memory, if its stride along K is 1.
    for (stride, turned) in [("1", true), ("2", false)] {
        let text = format!(
            "module {{\n  tt.func public @f(%p: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}) {{\n\
             %k = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32>\n\
             %n = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>\n\
             %by = arith.constant dense<{stride}> : tensor<32xi32>\n%wide = arith.constant dense<32> : tensor<64xi32>\n\
             %ks = arith.muli %k, %by : tensor<32xi32>\n%ns = arith.muli %n, %wide : tensor<64xi32>\n\
             %kc = tt.expand_dims %ks {{axis = 1 : i32}} : tensor<32xi32> -> tensor<32x1xi32>\n\
             %nc = tt.expand_dims %ns {{axis = 0 : i32}} : tensor<64xi32> -> tensor<1x64xi32>\n\
             %kb = tt.broadcast %kc : tensor<32x1xi32> -> tensor<32x64xi32>\n\
             %nb = tt.broadcast %nc : tensor<1x64xi32> -> tensor<32x64xi32>\n\
             %o = arith.addi %kb, %nb : tensor<32x64xi32>\n\
             %s = tt.splat %p : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>\n\
             %q = tt.addptr %s, %o : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>\n\
             %x = tt.load %q : tensor<32x64x!tt.ptr<f16>>\n\
             tt.store %q, %x : tensor<32x64x!tt.ptr<f16>>\ntt.return\n}}\n}}\n"
        );
        let module = common::parse(&text);
        let normal = normalize(&module, entry_function(&module, None).unwrap()).unwrap();
        let load = normal
            .ops
            .keys()
            .find(|&op| normal.ops[op].opcode == Opcode::Load && normal.ops[op].block.is_some());
        let shape = normal.ty(normal.result(load.unwrap()).unwrap()).shape().to_vec();
        assert_eq!(shape, if turned { [64, 32] } else { [32, 64] }, "{}", print(&normal));
    }
}

#[test]
fn two_stores_and_a_second_use_of_one_tile() {
    compile(&Kernel { stores: 2, bias: true, ..Kernel::default() }.text());
    // A times its own transpose: one copy, two views.
    let text = Kernel::default().text();
    let line = text.lines().find(|l| l.contains("%b.l =")).unwrap();
    let text = text.replace(line, "").replace("tt.trans %b.l", "tt.trans %a.l");
    let program = compile(&text);
    assert!(print(&program).contains("bytes = 16384 : i32, full"), "{}", print(&program));
}
