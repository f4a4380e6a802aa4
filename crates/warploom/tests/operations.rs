//! The table of operations: a kernel for each one that Triton's front end can make is read, verified, interpreted, compiled
//! for four chips and run on the emulator; `docs/operations.md` says what became of it (C3).
#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "tests may fail")]

use std::fmt::Write as _;

use warploom::run::{Case, prepare};
use warploom::{Options, Target};
use warploom_emulator::{self as emulator, Policy};
use warploom_ir::Opcode;

const CHIPS: [&str; 4] = ["sm_80", "sm_90a", "sm_100a", "sm_120a"];

/// What the body of a kernel gives to store.
#[derive(Clone, Copy)]
enum Gives {
    Nothing,
    /// A tile of i32.
    Ints,
    /// A tile of f32.
    Floats,
    /// A tile of i1.
    Truths,
}

/// Text that uses an operation: `%x` and `%y` are tiles of i32, `%y` positive; `%f` and `%h` of f32, `%h` positive; `%at` and
/// `%to` pointers to i32 and f32, `%i`, `%j`, `%l` numbers; I, F and B stand for the types of tiles.
fn body(name: &str) -> Option<(String, Gives)> {
    use Gives::{Floats, Ints, Nothing, Truths};
    let (dialect, word) = name.split_once('.')?;
    let text = match (dialect, word) {
        ("arith", "cmpi") => return Some(("%r = arith.cmpi slt, %x, %y : I".into(), Truths)),
        ("arith", "cmpf") => return Some(("%r = arith.cmpf olt, %f, %h : F".into(), Truths)),
        ("arith", "select") => {
            ("%c = arith.cmpi slt, %x, %y : I\n %r = arith.select %c, %x, %y : B, I", Ints)
        }
        ("arith", "constant") => ("%r = arith.constant dense<7> : I", Ints),
        ("arith", "extsi" | "extui") => {
            return Some((
                format!("%c = arith.trunci %x : I to tensor<64xi8>\n %r = {name} %c : tensor<64xi8> to I"),
                Ints,
            ));
        }
        ("arith", "trunci") => {
            ("%c = arith.trunci %x : I to tensor<64xi8>\n %r = arith.extsi %c : tensor<64xi8> to I", Ints)
        }
        ("arith", "extf" | "truncf") => (
            "%c = arith.truncf %f : F to tensor<64xbf16>\n %r = arith.extf %c : tensor<64xbf16> to F",
            Floats,
        ),
        ("arith", "sitofp" | "uitofp") => return Some((format!("%r = {name} %y : I to F"), Floats)),
        ("arith", "fptosi" | "fptoui") => return Some((format!("%r = {name} %h : F to I"), Ints)),
        ("arith", "bitcast") => ("%r = arith.bitcast %x : I to F\n %s = arith.bitcast %r : F to I", Nothing),
        ("arith", "index_cast") => (
            "%c = arith.index_cast %i : i32 to index\n %d = arith.index_cast %c : index to i32\n %r = tt.splat %d : i32 -> I",
            Ints,
        ),
        ("arith", "negf") | ("math", "absf") => return Some((format!("%r = {name} %f : F"), Floats)),
        ("arith", word) if word.ends_with('f') => return Some((format!("%r = {name} %f, %h : F"), Floats)),
        ("arith", _) | ("tt", "mulhiui") => return Some((format!("%r = {name} %x, %y : I"), Ints)),
        ("math", "absi") => ("%r = math.absi %x : I", Ints),
        ("math", "fma") => ("%r = math.fma %f, %h, %f : F", Floats),
        ("math", _) | ("tt", "precise_sqrt") => return Some((format!("%r = {name} %h : F"), Floats)),
        ("tt", "precise_divf" | "approx_divf") => return Some((format!("%r = {name} %f, %h : F"), Floats)),
        ("scf", "for") => (
            "%r = scf.for %k = %i to %j step %i iter_args(%a = %x) -> (I)  : i32 {\n %b = arith.addi %a, %y : I\n scf.yield %b : I\n }",
            Ints,
        ),
        ("scf", "if" | "yield") => (
            "%c = arith.cmpi slt, %i, %j : i32\n %r = scf.if %c -> (I) {\n scf.yield %x : I\n } else {\n scf.yield %y : I\n }",
            Ints,
        ),
        ("scf", "while" | "condition") => (
            "%r:2 = scf.while (%k = %i, %a = %x) : (i32, I) -> (i32, I) {\n %c = arith.cmpi slt, %k, %j : i32\n scf.condition(%c) %k, %a : i32, I\n } do {\n ^bb0(%k: i32, %a: I):\n %m = arith.addi %k, %i : i32\n %b = arith.addi %a, %y : I\n scf.yield %m, %b : i32, I\n }\n tt.store %at, %r#1 : PI",
            Nothing,
        ),
        ("cf", _) => (
            "%c = arith.cmpi slt, %i, %j : i32\n cf.cond_br %c, ^bb1, ^bb2\n ^bb1:\n tt.store %at, %y : PI\n cf.br ^bb3\n ^bb2:\n cf.br ^bb3\n ^bb3:",
            Nothing,
        ),
        ("ub", "poison") => {
            ("%p0 = ub.poison : I\n %z = arith.constant dense<0> : I\n %r = arith.andi %p0, %z : I", Ints)
        }
        ("llvm", _) => ("%c = arith.cmpi slt, %i, %j : i32\n llvm.intr.assume %c : i1", Nothing),
        ("ttg", "barrier") => ("ttg.barrier local", Nothing),
        ("tt", "func" | "return") => ("%r = arith.addi %x, %y : I", Ints),
        ("tt", "call") => ("%r = tt.call @twice(%x) : (I) -> I", Ints),
        ("tt", "get_program_id" | "get_num_programs") => {
            return Some((format!("%c = {name} x : i32\n %r = tt.splat %c : i32 -> I"), Ints));
        }
        ("tt", "make_range") => ("%r = tt.make_range {end = 64 : i32, start = 0 : i32} : I", Ints),
        ("tt", "splat") => ("%r = tt.splat %i : i32 -> I", Ints),
        ("tt", "broadcast" | "expand_dims" | "reduce" | "reduce.return") => (
            "%e = tt.expand_dims %x {axis = 1 : i32} : I -> tensor<64x1xi32>\n %w = tt.broadcast %e : tensor<64x1xi32> -> tensor<64x32xi32>\n %r = \"tt.reduce\"(%w) <{axis = 1 : i32}> ({\n ^bb0(%a: i32, %b: i32):\n %s = arith.addi %a, %b : i32\n tt.reduce.return %s : i32\n }) : (tensor<64x32xi32>) -> I",
            Ints,
        ),
        ("tt", "scan" | "scan.return") => (
            "%r = \"tt.scan\"(%x) <{axis = 0 : i32, reverse = false}> ({\n ^bb0(%a: i32, %b: i32):\n %s = arith.addi %a, %b : i32\n tt.scan.return %s : i32\n }) : (I) -> I",
            Ints,
        ),
        ("tt", "map_elementwise" | "map_elementwise.return") => (
            "%r = \"tt.map_elementwise\"(%x, %y) <{pack = 1 : i32}> ({\n ^bb0(%a: i32, %b: i32):\n %c = arith.cmpi slt, %a, %b : i32\n cf.cond_br %c, ^bb2(%a : i32), ^bb1\n ^bb1:\n %d = arith.divsi %a, %b : i32\n cf.br ^bb2(%d : i32)\n ^bb2(%v: i32):\n tt.map_elementwise.return %v : i32\n }) : (I, I) -> I",
            Ints,
        ),
        ("tt", "reshape" | "trans") => (
            "%w = tt.reshape %x : I -> tensor<8x8xi32>\n %v = tt.trans %w {order = array<i32: 1, 0>} : tensor<8x8xi32> -> tensor<8x8xi32>\n %r = tt.reshape %v : tensor<8x8xi32> -> I",
            Ints,
        ),
        ("tt", "cat") => (
            "%w = tt.cat %x, %y : I -> tensor<128xi32>\n %v = tt.reshape %w : tensor<128xi32> -> tensor<64x2xi32>\n %r, %s = tt.split %v : tensor<64x2xi32> -> I",
            Ints,
        ),
        ("tt", "join" | "split") => (
            "%w = tt.join %x, %y : I -> tensor<64x2xi32>\n %s, %r = tt.split %w : tensor<64x2xi32> -> I",
            Ints,
        ),
        ("tt", "unsplat") => (
            "%w = tt.make_range {end = 1 : i32, start = 0 : i32} : tensor<1xi32>\n %c = tt.unsplat %w : tensor<1xi32>\n %r = tt.splat %c : i32 -> I",
            Ints,
        ),
        ("tt", "bitcast") => ("%c = tt.bitcast %f : F -> I\n %r = arith.andi %c, %y : I", Ints),
        ("tt", "fp_to_fp") => (
            "%c = tt.fp_to_fp %f, rounding = rtne : F -> tensor<64xf8E5M2>\n %r = tt.fp_to_fp %c : tensor<64xf8E5M2> -> F",
            Floats,
        ),
        ("tt", "int_to_ptr" | "ptr_to_int") => (
            "%c = tt.ptr_to_int %at : PI -> tensor<64xi64>\n %d = tt.int_to_ptr %c : tensor<64xi64> -> PI\n tt.store %d, %y : PI",
            Nothing,
        ),
        ("tt", "addptr" | "load" | "store") => ("%r = tt.load %from : PI", Ints),
        ("tt", "dot") => (
            "%w = tt.reshape %f : F -> tensor<64x1xf32>\n %v = tt.broadcast %w : tensor<64x1xf32> -> tensor<64x32xf32>\n %u = arith.truncf %v : tensor<64x32xf32> to tensor<64x32xbf16>\n %tr = tt.trans %u {order = array<i32: 1, 0>} : tensor<64x32xbf16> -> tensor<32x64xbf16>\n %z = arith.constant dense<0.0> : tensor<64x64xf32>\n %d = tt.dot %u, %tr, %z : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>\n %r = \"tt.reduce\"(%d) <{axis = 1 : i32}> ({\n ^bb0(%a: f32, %b: f32):\n %s = arith.maxnumf %a, %b : f32\n tt.reduce.return %s : f32\n }) : (tensor<64x64xf32>) -> F",
            Floats,
        ),
        ("tt", "dot_scaled") => (
            "%w = tt.reshape %f : F -> tensor<64x1xf32>\n %v = tt.broadcast %w : tensor<64x1xf32> -> tensor<64x64xf32>\n %u = tt.fp_to_fp %v, rounding = rtne : tensor<64x64xf32> -> tensor<64x64xf8E5M2>\n %k = arith.constant dense<127> : tensor<64x2xi8>\n %z = arith.constant dense<0.0> : tensor<64x64xf32>\n %d = tt.dot_scaled %u scale %k, %u scale %k, %z lhs = e5m2 rhs = e5m2 {fastMath = false} : tensor<64x64xf8E5M2>, tensor<64x2xi8> * tensor<64x64xf8E5M2>, tensor<64x2xi8> -> tensor<64x64xf32>\n %r = \"tt.reduce\"(%d) <{axis = 1 : i32}> ({\n ^bb0(%a: f32, %b: f32):\n %s = arith.maxnumf %a, %b : f32\n tt.reduce.return %s : f32\n }) : (tensor<64x64xf32>) -> F",
            Floats,
        ),
        ("tt", "gather") => (
            "%c = arith.constant dense<63> : I\n %d = arith.andi %x, %c : I\n %r = tt.gather %y[%d] {axis = 0 : i32} : (I, I) -> I",
            Ints,
        ),
        ("tt", "histogram") => (
            "%c = arith.constant dense<63> : I\n %d = arith.andi %x, %c : I\n %r = tt.histogram %d : I -> I",
            Ints,
        ),
        ("tt", "atomic_rmw") => ("%r = tt.atomic_rmw add, acq_rel, gpu, %at, %y : (PI, I) -> I", Ints),
        ("tt", "atomic_cas") => ("%r = tt.atomic_cas acq_rel, gpu, %at, %x, %y : (PI, I, I) -> I", Ints),
        ("tt", "atomic_load") => ("%r = tt.atomic_load acquire, gpu, %from : (PI) -> I", Ints),
        ("tt", "atomic_store") => ("tt.atomic_store release, gpu, %at, %y : PI", Nothing),
        ("tt", "atomic_poll") => {
            return Some(("%r = tt.atomic_poll acquire, gpu, %from, %x : PI, I -> B".into(), Truths));
        }
        ("tt", "grid_dependency_wait" | "grid_dependency_launch_dependents") => {
            return Some((name.to_owned(), Nothing));
        }
        ("tt", "clampf") => ("%r = tt.clampf %f, %h, %h, propagateNan = none : F", Floats),
        ("tt", "extern_elementwise") => (
            "%r = tt.extern_elementwise %h {libname = \"\", libpath = \"\", pure = true, symbol = \"__nv_sqrtf\"} : (F) -> F",
            Floats,
        ),
        ("tt", "elementwise_inline_asm") => (
            "%r = tt.elementwise_inline_asm \"ex2.approx.ftz.f32 $0, $1;\" {constraints = \"=f,f\", packed_element = 1 : i32, pure = true} %h : F -> F",
            Floats,
        ),
        ("tt", "assert") => ("%c = arith.cmpi slt, %i, %j : i32\n tt.assert %c, \"holds\" : i1", Nothing),
        ("tt", "print") => ("tt.print \" i: \" {hex = false, isSigned = array<i32: 1>} : %i : i32", Nothing),
        ("tt", "make_tensor_descriptor" | "descriptor_store" | "descriptor_load" | "descriptor_reduce") => {
            let used = match word {
                "descriptor_load" => {
                    "%w = tt.descriptor_load %desc[%o, %o] : !tt.tensordesc<8x8xi32> -> tensor<8x8xi32>\n tt.descriptor_store %desc[%o, %o], %w : !tt.tensordesc<8x8xi32>, tensor<8x8xi32>"
                }
                "descriptor_reduce" => {
                    "tt.descriptor_reduce add, %desc[%o, %o], %v : !tt.tensordesc<8x8xi32>, tensor<8x8xi32>"
                }
                _ => "tt.descriptor_store %desc[%o, %o], %v : !tt.tensordesc<8x8xi32>, tensor<8x8xi32>",
            };
            let made = "%one = arith.constant 1 : i64\n %eight = arith.constant 8 : i64\n %e = arith.constant 8 : i32\n %o = arith.constant 0 : i32\n %v = tt.reshape %y : I -> tensor<8x8xi32>\n %desc = tt.make_tensor_descriptor %q, [%e, %e], [%eight, %one] : <i32>, <8x8xi32>";
            return Some((format!("{made}\n {used}"), Nothing));
        }
        ("tt", "descriptor_gather" | "descriptor_scatter") => {
            let used = match word {
                "descriptor_gather" => {
                    "%w = tt.descriptor_gather %desc[%rows, %o] : (!tt.tensordesc<1x8xi32>, tensor<8xi32>, i32) -> tensor<8x8xi32>\n %r = tt.reshape %w : tensor<8x8xi32> -> I\n tt.store %at, %r : PI"
                }
                _ => {
                    "tt.descriptor_scatter %desc[%rows, %o], %v : !tt.tensordesc<1x8xi32>, tensor<8xi32>, i32, tensor<8x8xi32>"
                }
            };
            let made = "%one = arith.constant 1 : i64\n %eight = arith.constant 8 : i64\n %e = arith.constant 8 : i32\n %o = arith.constant 0 : i32\n %rows = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n %v = tt.reshape %y : I -> tensor<8x8xi32>\n %desc = tt.make_tensor_descriptor %q, [%e, %e], [%eight, %one] : <i32>, <1x8xi32>";
            return Some((format!("{made}\n {used}"), Nothing));
        }
        _ => return None,
    };
    Some((text.0.to_owned(), text.1))
}

/// The kernel around a body.
fn kernel(name: &str) -> Option<String> {
    let (body, gives) = body(name)?;
    let stored = match gives {
        Gives::Nothing => "",
        Gives::Ints => "tt.store %at, %r : PI",
        Gives::Floats => "tt.store %to, %r : PF",
        Gives::Truths => "%n1 = arith.extui %r : B to I\n    tt.store %at, %n1 : PI",
    };
    let text = format!(
        "module {{
  tt.func private @twice(%a: I) -> I attributes {{noinline = false}} {{
    %b = arith.addi %a, %a : I
    tt.return %b : I
  }}
  tt.func public @k(%p: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %q: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %s0: !tt.ptr<f32>, %t: !tt.ptr<f32>, %i: i32, %j: i32) {{
    %n = tt.make_range {{end = 64 : i32, start = 0 : i32}} : I
    %seven = arith.constant dense<7> : I
    %ones = arith.constant dense<1> : I
    %half = arith.constant dense<5.0e-01> : F
    %from0 = tt.splat %p : !tt.ptr<i32> -> PI
    %from = tt.addptr %from0, %n : PI, I
    %at0 = tt.splat %q : !tt.ptr<i32> -> PI
    %at = tt.addptr %at0, %n : PI, I
    %ff0 = tt.splat %s0 : !tt.ptr<f32> -> PF
    %ff = tt.addptr %ff0, %n : PF, I
    %to0 = tt.splat %t : !tt.ptr<f32> -> PF
    %to = tt.addptr %to0, %n : PF, I
    %x = tt.load %from : PI
    %y0 = arith.andi %x, %seven : I
    %y = arith.addi %y0, %ones : I
    %f = tt.load %ff : PF
    %h0 = math.absf %f : F
    %h = arith.addf %h0, %half : F
    {body}
    {stored}
    tt.return
  }}
}}
"
    );
    let types = [
        ("PI", "tensor<64x!tt.ptr<i32>>"),
        ("PF", "tensor<64x!tt.ptr<f32>>"),
        ("I", "tensor<64xi32>"),
        ("F", "tensor<64xf32>"),
        ("B", "tensor<64xi1>"),
    ];
    // Types stand alone between marks.
    let mut out = String::new();
    for word in text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_') {
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let spelt = types.iter().find(|(short, _)| *short == bare && !out.ends_with(['%', '@', '"', '.']));
        match spelt {
            Some((_, ty)) => out.push_str(&word.replacen(bare, ty, 1)),
            None => out.push_str(word),
        }
    }
    Some(out)
}

/// What became of a kernel on a chip: `runs`, or why not.
fn outcome(text: &str, chip: &str) -> String {
    let target = Target::named(chip).unwrap();
    let module = warploom::read(text).unwrap_or_else(|d| panic!("{}\n{text}", d[0]));
    let options = Options::default();
    let output = match warploom::compile(&module, &target, &options) {
        Ok(output) => output,
        Err(refused) => return format!("[{}] {}", refused[0].code.name(), refused[0].message),
    };
    let args = ["[64]", "[64]", "[64]", "[64]", "1", "4"];
    let args = args.iter().map(|arg| arg.parse().unwrap()).collect();
    let prepared = prepare(&module, "k", &Case { args, grid: [1, 1, 1], seed: 3 })
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    let options = emulator::RunOptions::default().policy(Policy::Lazy);
    match prepared.run(&ptx, &output.emitted.metadata, &target, &options) {
        Ok(found) if found.passed() => "runs".to_owned(),
        Ok(found) => format!("[wrong] {}", found.report),
        Err(error) => format!("[wrong] {error}"),
    }
}

/// The operations that Triton's front end makes, and how each is spelt.
fn operations() -> impl Iterator<Item = &'static str> {
    let own = |name: &&str| !name.starts_with("warploom.") && !name.starts_with("builtin.");
    Opcode::ALL.iter().filter_map(|opcode| opcode.name()).filter(own)
}

/// The page.
fn page() -> String {
    let mut text = String::from(
        "# Operations\n\nEvery operation that Triton 3.9's front end makes, read, verified and run by the interpreter; and what \
         becomes of a kernel with it\non each chip: `runs` says that it compiled and that the emulator found what the interpreter \
         finds. Written by\n`cargo test -p warploom --test operations -- --ignored`; the test without `--ignored` fails where the \
         page is not true. Triton's front end makes no `index`; PTX has `griddepcontrol` from sm_90 on.\n\n| operation |",
    );
    CHIPS.iter().for_each(|chip| write!(text, " {chip} |").unwrap());
    text.push_str("\n|---|---|---|---|---|\n");
    for name in operations() {
        let kernel = kernel(name).unwrap_or_else(|| panic!("no kernel has {name}"));
        write!(text, "| `{name}` |").unwrap();
        for chip in CHIPS {
            write!(text, " {} |", outcome(&kernel, chip)).unwrap();
        }
        text.push('\n');
    }
    text
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");

#[test]
fn the_page_of_operations_is_true_c3() {
    let (found, written) = (page(), std::fs::read_to_string(PAGE).unwrap());
    for (found, written) in found.lines().zip(written.lines()) {
        assert_eq!(found, written);
    }
    assert_eq!(found.lines().count(), written.lines().count());
    let silent = found.lines().filter(|line| line.contains("[internal]") || line.contains("[wrong]"));
    assert_eq!(silent.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
#[ignore = "writes the page"]
fn write_the_page_of_operations() {
    std::fs::write(PAGE, page()).unwrap();
}
