//! Text of other dialects: formats given by the reader, and assembly that is kept.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use warploom_ir::text::dialect::{Dialect, Format, Infer, Item};
use warploom_ir::text::{parse_with, print_with};
use warploom_ir::{Module, Opcode, parse};

fn format(name: &str) -> Option<Format> {
    use Item::{Dict, Index, Mark, Operand, Params, Rest, Results, Signature, Type};
    Some(match name {
        "my.group" => Format::Items(
            &[Mark("("), Rest(0), Mark(")"), Params(&["kind", "size"]), Dict, Mark(":"), Signature],
            Infer::Spelt,
        ),
        "my.index" => Format::Items(
            &[Operand(0), Index(1), Dict, Mark(":"), Type(0), Mark("->"), Results],
            Infer::Spelt,
        ),
        "ttg.warp_specialize" => Format::WarpSpecialize,
        "stablehlo.while" => Format::CondDo,
        "func.func" => Format::Func,
        _ => return None,
    })
}

const MINE: Dialect = Dialect { format };

fn read(text: &str) -> Module {
    parse_with(text, MINE).unwrap_or_else(|e| panic!("{e:#?}\n{text}")).module
}

fn refused(text: &str) -> String {
    parse_with(text, MINE).unwrap_err()[0].message.clone()
}

const TEXT: &str = "\
#shared = #ttg.swizzled_shared<{order = [1, 0]}>
module {
  func.func @f(%a: !ttg.memdesc<2x64xf32, #shared>, %i: i32, %c: i1) {
    %0 = my.group(%a, %a) kind = shared, size = 2 {tt.name = \"g\"} : (!ttg.memdesc<2x64xf32, #shared>, !ttg.memdesc<2x64xf32, #shared>) -> !my.group<2>
    %x = my.index %a[%i] : !ttg.memdesc<2x64xf32, #shared> -> !ttg.memdesc<64xf32, #shared>
    %tile, %token = ttng.tmem_load %x[%i] {warploom.buffer = #warploom.buffer<\"qk\">} : !ttg.memdesc<64xf32, #shared> -> tensor<64xf32>
    ttng.copy %tile[%i, %i] %x, %c : tensor<64xf32>, !ttg.memdesc<64xf32, #shared>
    affine.for %k = 0 to 10 {
      gpu.barrier
    }
    ttg.warp_specialize(%a, %i)
    default {
      ttg.warp_yield
    }
    partition0(%y: !ttg.memdesc<2x64xf32, #shared>, %j: i32) num_warps(4) {
      ttg.warp_return
    } : (!ttg.memdesc<2x64xf32, #shared>, i32) -> ()
    %2:2 = stablehlo.while(%f = %c, %n = %i) : i1, i32
    cond {
      stablehlo.return %f : i1
    } do {
      %m = arith.addi %n, %i : i32
      stablehlo.return %f, %m : i1, i32
    }
    %w = other.token %token : !my.token
    cf.cond_br %c, ^bb1, ^bb2(%2#1 : i32)
  ^bb1:
    cf.br ^bb2(%i : i32)
  ^bb2(%last: i32):
    func.return
  }
}
";

#[test]
fn c1_other_dialects_print_back() {
    let m = read(TEXT);
    assert_eq!(print_with(&m, MINE), TEXT);
    let group = warploom_ir::walk::ops(&m, m.root).find(|op| m.op_name(*op) == "my.group").unwrap();
    assert!(matches!(m.ops[group].opcode, Opcode::Other(_)));
    assert_eq!(m.ops[group].operands.len(), 2);
    assert_eq!(m.attr(group, "size").and_then(|a| a.as_i64()), Some(2));
    let load = warploom_ir::walk::ops(&m, m.root).find(|op| m.op_name(*op) == "ttng.tmem_load").unwrap();
    let buffer = m.attr(load, "warploom.buffer").and_then(|a| a.as_str());
    assert_eq!(buffer, Some("#warploom.buffer<\"qk\">"), "attributes of kept assembly are attributes");
    // What is not in a table is still refused without one.
    assert!(parse(TEXT).is_err());
}

#[test]
fn c1_blocks_are_numbered_and_type_aliases_replaced() {
    let text = "!t = tensor<4xf32>\nmodule {\n  tt.func @f(%x: !t) {\n    cf.br ^there\n  ^there:\n    other.use %x : !t\n    tt.return\n  }\n}\n";
    let printed = print_with(&read(text), MINE);
    assert!(printed.contains("cf.br ^bb1\n  ^bb1:\n    other.use %x : tensor<4xf32>\n"), "{printed}");
    assert_eq!(print_with(&read(&printed), MINE), printed);
}

#[test]
fn c1_spans_go_to_the_next_token() {
    let text = "tt.func @f() {\n  %a = other.make : i32 // said\n  other.use %a : i32\n  tt.return\n}\n";
    let parsed = parse_with(text, MINE).unwrap();
    let m = &parsed.module;
    let make = warploom_ir::walk::ops(m, m.root).find(|op| m.op_name(*op) == "other.make").unwrap();
    let (from, to) = parsed.spans[make];
    assert_eq!(&text[from as usize..to as usize], "%a = other.make : i32 // said\n  ");
    assert_eq!(m.ops[make].span, text.find("other.make").map(|at| at as u32));
}

#[test]
fn c1_aliases_and_white_space_make_no_other_type() {
    let text = "#s = #my.s<{order = [1, 0]}>\ntt.func @f(%a: !my.t<2x8xf32, #s>) {\n  %0 = my.group(%a) kind = shared : (!my.t<2x8xf32, #my.s<{order = [1,0]}>>) -> i32\n  tt.return\n}\n";
    read(text);
    let wrong = text.replace("(!my.t<2x8xf32, #my.s<{order = [1,0]}>>)", "(!my.t<2x9xf32, #s>)");
    assert!(refused(&wrong).contains("but is used as"), "{}", refused(&wrong));
}

#[test]
fn c1_broken_assembly_has_its_error() {
    let rows = [
        ("a.b (", "`(` is never closed"),
        ("a.b ]", "`]` closes nothing"),
        ("a.b %x", "value `%x` is not defined"),
        ("f0\n", "expected an operation, found `f0`"),
        ("%a:2000 = x.y", "the number of results is out of range"),
        ("a.b #undefined", "alias `#undefined` is not defined"),
        ("tt.func @f() {\n cf.br ^nowhere\n}", "block `^nowhere` is not defined"),
        ("my.group() colour = red : () -> i32", "expected one of kind, size, found `colour`"),
    ];
    for (text, message) in rows {
        assert_eq!(refused(text), message, "{text}");
    }
}
