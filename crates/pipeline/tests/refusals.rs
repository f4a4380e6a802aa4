//! What is refused, and in which words (C90-C92).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use warploom_ir::diag::{Code, Diagnostic};
use warploom_pipeline::{CompileOptions, Partitions, compile_to_program, resume};
use warploom_testing::pipeline::Kernel;

fn refusals(text: &str, options: &CompileOptions) -> Vec<Diagnostic> {
    let options = options.clone().partitions(Some(Partitions::Several));
    compile_to_program(&common::parse(text), &common::hopper(), &options).expect_err(text).into()
}

fn refuse(kernel: &Kernel) -> Vec<Diagnostic> {
    refusals(&kernel.text(), &CompileOptions::default())
}

/// The text of a kernel that stores elements of 64 bits.
fn wide(kernel: &Kernel) -> String {
    Kernel { output: "f64", ..kernel.clone() }.text().replace("arith.truncf", "arith.extf")
}

/// The line of the text that a diagnostic points at.
fn line<'t>(text: &'t str, diagnostic: &Diagnostic) -> &'t str {
    let at = diagnostic.offset.expect("a place") as usize;
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    text[start..].lines().next().unwrap().trim()
}

#[test]
fn c92_gather() {
    for (name, text) in common::kernel_files().into_iter().filter(|(name, _)| name == "gather_rows.ttir") {
        let all = refusals(&text, &CompileOptions::default());
        let gather = all.iter().find(|r| r.message.contains("gather")).expect(&name);
        assert_eq!(
            (gather.code, gather.message.as_str()),
            (Code::Op, "tt.descriptor_gather is not supported for sm_90a")
        );
        let notes: Vec<(&str, &str)> = gather.notes.iter().map(|(l, t)| (*l, t.as_str())).collect();
        assert_eq!(notes, [("needs", "gather4, sm_100 and later"), ("instead", "tt.load through pointers")]);
        assert_eq!(text[..gather.offset.unwrap() as usize].matches('\n').count() + 1, 8);
    }
}

#[test]
fn c92_layout_of_8_bit_operands() {
    let kernel =
        Kernel { extents: [128, 256, 128], input: "f8E4M3FN", b_transposed: false, ..Kernel::default() };
    let all = refuse(&kernel);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(
        (all[0].code, all[0].message.as_str()),
        (Code::Layout, "8-bit operand b of tt.dot must have K contiguous")
    );
    let notes: Vec<(&str, &str)> = all[0].notes.iter().map(|(l, t)| (*l, t.as_str())).collect();
    let found = "tensordesc<128x256xf8E4M3FN>, N contiguous";
    assert_eq!(notes, [("found", found), ("instead", "store B as [N, K] and transpose it, as in gemm_fp8")]);
    // A as well, and 32-bit operands too: both are named.
    let kernel = Kernel { a_transposed: true, ..kernel };
    assert_eq!(refuse(&kernel).len(), 2);
    let kernel = Kernel { extents: [128, 128, 32], input: "f32", b_transposed: false, ..Kernel::default() };
    assert_eq!(refuse(&kernel)[0].message, "32-bit operand b of tt.dot must have K contiguous");
}

#[test]
fn c92_capacity() {
    let kernel = Kernel { extents: [128, 128, 128], ..Kernel::default() };
    let mut options = CompileOptions::default();
    options.depth = Some(4);
    let all = refusals(&kernel.text(), &options);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(
        (all[0].code, all[0].message.as_str()),
        (Code::Capacity, "shared memory 262208 B of 232448 B")
    );
    let notes: Vec<(&str, &str)> = all[0].notes.iter().map(|(l, t)| (*l, t.as_str())).collect();
    assert_eq!(notes, [("", "a ring 4 x 32768, b ring 4 x 32768, barriers 64"), ("fits", "3 slots")]);
    options.depth = Some(3);
    let compiled = compile_to_program(&common::parse(&kernel.text()), &common::hopper(), &options).unwrap();
    assert_eq!(compiled.depths[0].slots, 3);
}

#[test]
fn a_tile_that_fits_at_no_depth_is_told_which_would() {
    let kernel = Kernel { extents: [128, 256, 64], add_tile: true, output: "f32", ..Kernel::default() };
    let mut options = CompileOptions::default();
    options.smem_limit = Some(100_000);
    let all = refusals(&kernel.text(), &options);
    assert_eq!(all[0].code, Code::Capacity);
    let fits = &all[0].notes.last().unwrap().1;
    assert!(fits.starts_with("a tile of "), "{fits}");
    // And it does.
    let extents: Vec<u64> = fits["a tile of ".len()..].split('x').map(|e| e.parse().unwrap()).collect();
    let smaller = Kernel { extents: extents.try_into().unwrap(), ..kernel };
    compile_to_program(&common::parse(&smaller.text()), &common::hopper(), &options).unwrap();
}

#[test]
fn c31_registers() {
    let all = refuse(&Kernel { extents: [256, 256, 64], ..Kernel::default() });
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].code, Code::Registers);
    assert_eq!(all[0].message, "a 256x256 f32 accumulator needs 160 registers per thread of 112");
    assert_eq!(all[0].notes.last().unwrap(), &("fits", "a tile of 256x128".to_owned()));
    let fits = Kernel { extents: [256, 128, 64], ..Kernel::default() };
    compile_to_program(&common::parse(&fits.text()), &common::hopper(), &CompileOptions::default()).unwrap();
}

#[test]
fn shapes_that_no_product_covers() {
    for (extents, what) in [
        ([32, 128, 64], "M = 32"),
        ([128, 512, 64], "N = 512"),
        ([128, 4, 64], "N = 4"),
        ([128, 128, 8], "K = 8"),
    ] {
        let all = refuse(&Kernel { extents, ..Kernel::default() });
        assert!(all.iter().any(|r| r.code == Code::Shape && r.message.contains(what)), "{what}: {all:?}");
    }
}

#[test]
fn types_and_precision() {
    let all = refuse(&Kernel { input: "i8", extents: [128, 128, 128], ..Kernel::default() });
    assert!(all.iter().any(|r| r.code == Code::Verify), "{all:?}");
    let all = refusals(&wide(&Kernel::default()), &CompileOptions::default());
    assert!(
        all.iter().any(|r| r.code == Code::Type && r.message.contains("descriptor_store of f64")),
        "{all:?}"
    );
    let text = Kernel { input: "f32", extents: [128, 128, 32], ..Kernel::default() }.text();
    let all = refusals(&text.replace(", inputPrecision = tf32", ""), &CompileOptions::default());
    assert_eq!(
        (all[0].code, all[0].message.as_str()),
        (Code::Op, "this tt.dot is exact to its type: lanes multiply and add, in one partition")
    );
    let text = Kernel { input: "f8E4M3FN", extents: [128, 128, 128], ..Kernel::default() }.text();
    let promoted = |n: u32| text.replace("tf32 :", &format!("tf32 {{maxNumImpreciseAcc = {n} : i32}} :"));
    let all = refusals(&promoted(64), &CompileOptions::default());
    assert_eq!((all[0].code, all[0].rule, all.len()), (Code::Op, Some("C7"), 1));
    compile_to_program(&common::parse(&promoted(128)), &common::hopper(), &CompileOptions::default())
        .unwrap();
}

#[test]
fn descriptors_that_break_a_tma_rule() {
    // A box of 4 bf16 is 8 bytes wide (T11).
    let all = refuse(&Kernel { extents: [128, 4, 64], ..Kernel::default() });
    let desc = all.iter().find(|r| r.code == Code::Desc).expect("a refusal of the descriptor");
    assert_eq!(desc.rule, Some("T11"));
    assert!(desc.message.contains("8 B wide"), "{desc}");
}

#[test]
fn loops_with_nothing_to_pipeline() {
    let text = Kernel::default().text();
    // Without its loop, the accumulator is stored as it is.
    let (head, rest) = text.split_once("    %r = scf.for").unwrap();
    let (_, tail) = rest.split_once("    }\n").unwrap();
    let all = refusals(&format!("{head}{}", tail.replace("%r ", "%zero ")), &CompileOptions::default());
    assert!(all.iter().any(|r| r.code == Code::Loop && r.message.contains("no scf.for")), "{all:?}");
    // A loop that multiplies nothing only hands its accumulator on: it is left out with what it loads.
    let dot = text.lines().find(|l| l.contains("tt.dot")).unwrap();
    let all = refusals(&text.replace(dot, "").replace("yield %d", "yield %acc"), &CompileOptions::default());
    assert!(all.iter().any(|r| r.code == Code::Loop && r.message.contains("no scf.for")), "{all:?}");
}

#[test]
fn every_reason_is_given_at_once_in_file_order() {
    let kernel =
        Kernel { extents: [32, 512, 64], input: "f8E4M3FN", b_transposed: false, ..Kernel::default() };
    let text = wide(&kernel);
    let all = refusals(&text, &CompileOptions::default());
    let codes: Vec<Code> = all.iter().map(|r| r.code).collect();
    assert_eq!(codes, [Code::Shape, Code::Shape, Code::Layout, Code::Type, Code::Type], "{all:?}");
    assert!(line(&text, &all[0]).contains("tt.dot"));
    assert!(line(&text, &all[3]).contains("arith.extf"));
    assert!(line(&text, &all[4]).contains("tt.descriptor_store"));
    assert!(all[0].op.as_deref().unwrap().contains("tt.dot"), "{:?}", all[0].op);
}

#[test]
fn files_without_one_kernel() {
    let all = refusals("module {\n}\n", &CompileOptions::default());
    assert_eq!((all[0].code, all[0].message.as_str()), (Code::Verify, "the file holds no kernel"));
    let text = Kernel::default().text();
    let body = text.strip_prefix("module {\n").and_then(|t| t.strip_suffix("}\n")).unwrap();
    let two = format!("module {{\n{body}{}}}\n", body.replace("@gemm", "@other"));
    assert!(refusals(&two, &CompileOptions::default())[0].notes[0].1.contains("@gemm, @other"));
    let mut options = CompileOptions::default();
    options.entry = Some("other".to_owned());
    let compiled = compile_to_program(&common::parse(&two), &common::hopper(), &options).unwrap();
    let func = compiled.program.functions().next().unwrap();
    assert_eq!(compiled.program.symbol_name(func), Some("other"));
    options.entry = Some("third".to_owned());
    assert!(refusals(&two, &options)[0].message.contains("@third"));
}

#[test]
fn scalar_calls_are_inlined_others_refused() {
    let text = Kernel { alpha: true, ..Kernel::default() }.text();
    let with = |body: &str| {
        let called = text.replace(
            "%e.alpha = tt.splat %alpha",
            "%f = tt.call @twice(%alpha) : (f32) -> f32\n    %e.alpha = tt.splat %f",
        );
        called.trim_end().strip_suffix('}').unwrap().to_owned() + body + "}\n"
    };
    let good = "  tt.func private @twice(%v: f32) -> f32 {\n    %t = arith.addf %v, %v : f32\n    tt.return %t : f32\n  }\n";
    let compiled =
        compile_to_program(&common::parse(&with(good)), &common::hopper(), &CompileOptions::default())
            .unwrap();
    assert!(warploom_ir::print(&compiled.program).contains("arith.addf"));
    let recursive = good.replace("arith.addf %v, %v : f32", "tt.call @twice(%v) : (f32) -> f32");
    let all = refusals(&with(&recursive), &CompileOptions::default());
    assert_eq!((all[0].code, all[0].rule), (Code::Op, Some("C9")), "{all:?}");
}

#[test]
fn what_makes_no_sense_is_refused_whichever_way_it_comes() {
    let text = Kernel::default().text();
    let mut module = common::parse(&text);
    let op = module.ops.iter().find(|(_, op)| op.opcode == warploom_ir::Opcode::Dot).map(|(op, _)| op);
    module.ops[op.expect("a product")].operands.pop();
    assert!(!warploom_ir::verify(&module).is_empty());
    let options = CompileOptions::default();
    let refused = compile_to_program(&module, &common::hopper(), &options).expect_err("a broken module");
    assert_eq!(refused.first().map(|d| d.code), Some(Code::Verify));
    let refused = resume(&module, &common::hopper(), &options).expect_err("a broken module");
    assert_eq!(refused.first().map(|d| d.code), Some(Code::Verify));
}
