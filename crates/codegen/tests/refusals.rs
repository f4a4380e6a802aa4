//! What is refused, and how it is said (C90..C92).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;

use common::{Gemm, emit_text, messages, program};
use warploom_chips::Target;
use warploom_codegen::{EmitOptions, emit};
use warploom_ir::Diagnostic;
use warploom_ir::diag::Code;

fn refused(text: &str) -> Vec<Diagnostic> {
    match emit_text(text, &EmitOptions::default()) {
        Ok(_) => panic!("compiled:\n{text}"),
        Err(list) => list.into(),
    }
}

/// The example with one piece of text replaced.
fn edited(from: &str, to: &str) -> Vec<Diagnostic> {
    let text = program("gemm_bf16.mlir");
    assert!(text.contains(from), "{from}");
    refused(&text.replace(from, to))
}

#[track_caller]
fn says(list: &[Diagnostic], code: Code, rule: &str, words: &str) {
    let found = list.iter().any(|d| d.code == code && d.rule == Some(rule) && d.to_string().contains(words));
    assert!(found, "no {} {rule} with `{words}` in\n{}", code.name(), messages(list));
}

#[test]
fn the_worked_text_of_layout_c92() {
    let gemm =
        Gemm { elems: ["f8E4M3FN"; 2], k_major: [true, false], n: 256, k: 128, depth: 2, ..Gemm::default() };
    let list = refused(&gemm.text());
    let text = list[0].to_string();
    assert_eq!(
        text,
        "error[layout]: 8-bit operand b of tt.dot must have K contiguous\n\
         found: tensor<128x256xf8E4M3FN>, N contiguous\n\
         instead: store B as [N, K] and transpose it, as in gemm_fp8"
    );
    assert!(list[0].offset.is_some());
    assert!(list[0].op.as_deref().is_some_and(|op| op.starts_with("tt.dot")));
}

#[test]
fn shared_memory_and_descriptors_c15() {
    says(
        &edited("offset = array<i64: 0, 49152>", "offset = array<i64: 0, 49280>"),
        Code::Verify,
        "C15",
        "1024-byte aligned",
    );
    says(
        &edited("offset = array<i64: 147456>", "offset = array<i64: 180224>"),
        Code::Verify,
        "C15",
        "do not fit",
    );
    says(
        &edited("stride = array<i64: 16384, 32768>", "stride = array<i64: 8192, 32768>"),
        Code::Verify,
        "C15",
        "do not fit",
    );
    says(&edited("warploom.shared = 213040", "warploom.shared = 232449"), Code::Capacity, "T2", "232448");
    says(
        &edited("block_size = array<i32: 256, 64>", "block_size = array<i32: 256, 32>"),
        Code::Desc,
        "C13",
        "128 B innermost",
    );
    says(&edited("full = 212992", "full = 212996"), Code::Verify, "C20", "8-byte aligned");
    let wrong = edited("swizzle = array<i32: 128, 128>", "swizzle = array<i32: 128, 64>");
    says(&wrong, Code::Desc, "C14", "swizzle code 3");
}

#[test]
fn launch_and_partitions_c21_c31_c32() {
    says(&edited("registers = 232", "registers = 240"), Code::Registers, "C31", "of 64512");
    says(&edited("registers = 232", "registers = 230"), Code::Registers, "C31", "multiple of 8");
    says(&edited("max_registers = 168", "max_registers = 192"), Code::Registers, "C31", "12 warps");
    says(&edited("warp = 4 : i32", "warp = 0 : i32"), Code::Verify, "C21", "two partitions");
    says(&edited("id = 1 : i32", "id = 16 : i32"), Code::Verify, "C32", "named barrier 16");
    says(&edited("threads = 256 : i32", "threads = 250 : i32"), Code::Verify, "C32", "whole warps");
    says(&edited("warploom.warps = 12", "warploom.warps = 33"), Code::Target, "T3", "1 to 32");
    says(&edited("arrive_empty = 8", "arrive_empty = 1048576"), Code::Verify, "T8", "arrive_empty");
}

#[test]
fn dots_c7_t12() {
    let tf32 = Gemm { elems: ["f32"; 2], n: 64, k: 32, out: "f32", ..Gemm::default() };
    let ieee = tf32.text().replace("inputPrecision = tf32", "inputPrecision = ieee");
    says(&refused(&ieee), Code::Precision, "C7", "tf32");
    let plain = tf32.text().replace(", inputPrecision = tf32", "");
    says(&refused(&plain), Code::Precision, "C7", "tf32");
    let fp8 = Gemm { elems: ["f8E5M2"; 2], n: 64, k: 128, ..Gemm::default() };
    let dot = "inputPrecision = tf32";
    let often = fp8.text().replace(dot, &format!("{dot} {{maxNumImpreciseAcc = 64 : i32}}"));
    says(&refused(&often), Code::Precision, "C7", "every 64 of 128");
    for harmless in ["128", "1073741824", "0"] {
        let text = fp8.text().replace(dot, &format!("{dot} {{maxNumImpreciseAcc = {harmless} : i32}}"));
        assert!(emit_text(&text, &EmitOptions::default()).is_ok(), "{harmless}");
    }
    let narrow = Gemm { m: 64, groups: 2, ..Gemm::default() };
    says(&refused(&narrow.text()), Code::Shape, "C21", "64 rows");
}

#[test]
fn chips_and_versions_t5_c42_c43() {
    let module = warploom_ir::parse(&program("gemm_bf16.mlir")).unwrap();
    for (chip, rule) in [("sm_80", "T2"), ("sm_100a", "T5"), ("sm_120a", "T2")] {
        let list = emit(&module, &Target::named(chip).unwrap(), &EmitOptions::default()).unwrap_err();
        assert!(list.iter().any(|d| d.rule == Some(rule)), "{chip}: {}", messages(&list));
    }
    let hopper = Target::named("sm_90a").unwrap();
    for version in ["7.8", "9.1"] {
        let options = EmitOptions::default().ptx(version.parse().unwrap());
        let list = emit(&module, &hopper, &options).unwrap_err();
        says(&list, Code::Target, "C42", "8.0 to 9.0");
    }
}

#[test]
fn all_refusals_in_one_pass_in_order_c90() {
    let gemm = Gemm {
        n: 64,
        epilogue:
            "%e0 = tt.extern_elementwise %acc {libname = \"\", libpath = \"\", pure = true, symbol = \"__nv_none\"} : (tensor<128x64xf32>) -> tensor<128x64xf32>\n%e1 = math.exp %e0 : tensor<128x64xf32>\n\
                   %out = arith.truncf %e1 : tensor<128x64xf32> to tensor<128x64xbf16>\n"
                .to_owned(),
        ..Gemm::default()
    };
    let text = gemm.text().replace(
        "warploom.proxy_fence",
        "\"tt.descriptor_gather\"(%c, %i0, %i0) : (!tt.tensordesc<128x64xbf16>, i32, i32) -> tensor<128x64xbf16>\n\
         warploom.proxy_fence",
    );
    let list = refused(&text);
    let ops: Vec<&str> = list.iter().filter_map(|d| d.op.as_deref()).collect();
    assert_eq!(list.len(), 2, "{}", messages(&list));
    assert!(ops[0].starts_with("tt.extern_elementwise"), "{ops:?}");
    assert!(ops[1].starts_with("tt.descriptor_gather"), "{ops:?}");
    says(&list, Code::Op, "C3", "tt.descriptor_gather is not supported for sm_90a");
}

#[test]
fn broken_structure() {
    says(&edited("@p0[%i, %f]\n", "@p9[%i, %f]\n"), Code::Verify, "C35", "@p9");
    says(&edited("{payload = 1 : i32} %b", "{payload = 2 : i32} %b"), Code::Verify, "C35", "payload 2");
    says(&edited("lag = 1", "lag = 3"), Code::Verify, "C30", "ring of 3");
    says(&edited("handshake = \"tma_to_wgmma\"", "handshake = \"by_hand\""), Code::Op, "C24", "by_hand");
    assert!(!refused("module {}").is_empty());
    assert!(!refused("module { tt.func public @f() { tt.return } }").is_empty());
}

/// Maps that a program makes: what is said of them, where they are made, and on which chips (C16).
#[test]
fn tensor_maps_of_programs_c16() {
    let text = program("made_maps.mlir");
    let emitted = emit_text(&text, &EmitOptions::default()).unwrap_or_else(|_| panic!("refused"));
    let launch = &emitted.metadata;
    assert_eq!((launch.global_scratch_size, launch.global_scratch_align), (3 * 128, 128));
    assert_eq!(emitted.ptx.matches("tensormap.cp_fenceproxy").count(), 3);
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        refused(&text.replacen(from, to, 1))
    };
    says(
        &changed("warploom.tensor_map", "warploom.other"),
        Code::Verify,
        "C16",
        "what copies by it are like",
    );
    let bytes = text.replace("bf16", "f8E5M2").replacen(
        "{warploom.tensor_map",
        "{padding = 2 : i32, warploom.tensor_map",
        1,
    );
    let bytes = bytes.replace("elem_size = 2", "elem_size = 1").replace("elem_type = 10", "elem_type = 0");
    let bytes = bytes.replace("swizzle = 3", "swizzle = 2");
    says(&refused(&bytes), Code::Verify, "C16", "no NaN of 8 bits");
    says(&changed("staging = ", "stage = "), Code::Verify, "C16", "an offset in shared memory");
    says(&changed("staging = ", "staging = 1"), Code::Verify, "C16", "at a multiple of 128");
    says(&changed("tensor_map = {swizzle = 3", "tensor_map = {swizzle = 2"), Code::Desc, "C13", "a box of");
}
