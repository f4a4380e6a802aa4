//! EmitOptions of the compiler, the launch contract, and metadata (C10..C12, C42, C48).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;

use common::{Gemm, emit_text, messages, program, tool};
use warploom_codegen::assemble::assemble;
use warploom_codegen::{EmitOptions, Emitted};

fn example(options: &EmitOptions) -> Emitted {
    emit_text(&program("gemm_bf16.mlir"), options).unwrap_or_else(|e| panic!("{}", messages(&e)))
}

#[test]
fn versions_choose_the_form_of_loads_c42() {
    let ptxas = tool("ptxas");
    for (version, space) in [("8.0", "shared::cluster"), ("8.6", "shared::cta"), ("9.0", "shared::cta")] {
        let emitted = example(&EmitOptions::default().ptx(version.parse().unwrap()));
        assert!(emitted.ptx.contains(&format!(".version {version}\n")));
        assert!(emitted.ptx.contains(&format!("cp.async.bulk.tensor.2d.{space}.global")), "{version}");
        assert!(assemble(&ptxas, &emitted.ptx, "sm_90a").unwrap().report.is_clean(), "{version}");
    }
}

#[test]
fn levels_all_give_a_kernel() {
    let ptxas = tool("ptxas");
    for level in [1, 2, 3] {
        let emitted = example(&EmitOptions::default().level(level));
        assert!(assemble(&ptxas, &emitted.ptx, "sm_90a").unwrap().report.is_clean(), "{level}");
    }
}

#[test]
fn fusion_can_be_turned_off_c48() {
    let t = "tensor<64x8xf32>";
    let epilogue = format!(
        "%s = arith.mulf %acc, %acc : {t}\n%q = arith.addf %s, %acc : {t}\n%out = arith.negf %q : {t}\n"
    );
    let gemm = Gemm { m: 64, n: 8, groups: 1, out: "f32", epilogue, ..Gemm::default() };
    let ptx = |fuse| emit_text(&gemm.text(), &EmitOptions::default().fuse(fuse)).unwrap().ptx;
    assert!(ptx(true).contains("fma.rn.f32"));
    let apart = ptx(false);
    // Without `.rn` ptxas would fuse them after all.
    assert!(!apart.contains("fma.rn.f32") && apart.contains("mul.rn.f32") && apart.contains("add.rn.f32"));
}

#[test]
fn functions_flush_small_numbers_unless_told_otherwise_c68() {
    let t = "tensor<64x8xf32>";
    let names = ["exp", "exp2", "log", "log2", "sqrt", "rsqrt", "erf"];
    let mut epilogue = String::new();
    for (n, name) in names.iter().enumerate() {
        let (from, to) = (if n == 0 { "acc" } else { names[n - 1] }, if n == 6 { "out" } else { name });
        epilogue.push_str(&format!("%{to} = math.{name} %{from} : {t}\n"));
    }
    let gemm = Gemm { m: 64, n: 8, groups: 1, out: "f32", epilogue, ..Gemm::default() };
    let ptx = |flush| emit_text(&gemm.text(), &EmitOptions::default().flush(flush)).unwrap().ptx;
    let (flushed, kept) = (ptx(true), ptx(false));
    for function in ["ex2", "lg2", "sqrt", "rsqrt"] {
        let flushing = format!("{function}.approx.ftz.f32");
        assert!(flushed.contains(&flushing), "{flushing}");
        assert!(kept.contains(&format!("{function}.approx.f32")) && !kept.contains(&flushing), "{flushing}");
    }
    assert!(assemble(&tool("ptxas"), &kept, "sm_90a").unwrap().report.is_clean());
}

#[test]
fn llvm_ir_on_request() {
    assert_eq!(example(&EmitOptions::default()).llvm, None);
    let llvm = example(&EmitOptions::default().llvm(true)).llvm.unwrap();
    assert!(llvm.contains("define ptx_kernel void @matmul("));
    assert!(llvm.contains("\"nvvm.grid_constant\""));
}

#[test]
fn launch_contract_c10_c11() {
    let ptx = example(&EmitOptions::default()).ptx;
    let head: String = ptx.split(".reg").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    for piece in [
        ".extern .shared .align 1024 .b8 global_smem[];",
        ".visible .entry matmul( .param .align 64 .b8 matmul_param_0[128], .param .u32 matmul_param_1,",
        ".param .u64 matmul_param_3,",
        ".param .align 64 .b8 matmul_param_5[128],",
        ".param .u32 matmul_param_15, .param .u64 .ptr .global .align 1 matmul_param_16, \
         .param .u64 .ptr .global .align 1 matmul_param_17 ) .reqntid 384 .maxnreg 168 {",
    ] {
        assert!(head.contains(piece), "{piece}\n{head}");
    }
}

#[test]
fn metadata_c12() {
    let metadata = serde_json::to_value(example(&EmitOptions::default()).metadata).unwrap();
    let descriptor = |rows: u32| {
        serde_json::json!({"swizzle": 3, "elem_size": 2, "elem_type": 10, "block_size": [rows, 64],
            "fp4_padded": false, "is_im2col": false})
    };
    let wanted = serde_json::json!({
        "name": "matmul", "num_warps": 12, "num_ctas": 1, "shared": 213_040, "tmem_size": 0,
        "global_scratch_size": 0, "global_scratch_align": 1, "profile_scratch_size": 0, "profile_scratch_align": 1,
        "tensordesc_meta": [descriptor(128), descriptor(256), descriptor(128)],
    });
    assert_eq!(metadata, wanted);
}
