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
fn two_stores_and_a_second_use_of_one_tile() {
    compile(&Kernel { stores: 2, bias: true, ..Kernel::default() }.text());
    // A times its own transpose: one copy, two views.
    let text = Kernel::default().text();
    let line = text.lines().find(|l| l.contains("%b.l =")).unwrap();
    let text = text.replace(line, "").replace("tt.trans %b.l", "tt.trans %a.l");
    let program = compile(&text);
    assert!(print(&program).contains("bytes = 16384 : i32, full"), "{}", print(&program));
}
