//! Kernels built from Rust are the kernels that the same text gives.

#![allow(clippy::unwrap_used, clippy::panic)]

use warploom_ir::build::kernel;
use warploom_ir::{Attr, AttrDict, FloatKind, Type, difference, parse, print, verify};

/// The plain GEMM of Triton (`gemm_bf16`) as the builder names things.
const GEMM: &str = "\
module {
  tt.func public @matmul(%a: !tt.tensordesc<128x64xbf16>, %a.shape.0: i32, %a.shape.1: i32, \
%a.stride.0: i64, %a.stride.1: i64, %b: !tt.tensordesc<256x64xbf16>, %b.shape.0: i32, %b.shape.1: i32, \
%b.stride.0: i64, %b.stride.1: i64, %c: !tt.tensordesc<128x256xbf16>, %c.shape.0: i32, %c.shape.1: i32, \
%c.stride.0: i64, %c.stride.1: i64, %K: i32) attributes {noinline = false} {
    %c128_i32 = arith.constant 128 : i32
    %c256_i32 = arith.constant 256 : i32
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<128x256xf32>
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c128_i32 : i32
    %2 = tt.get_program_id y : i32
    %3 = arith.muli %2, %c256_i32 : i32
    %4 = scf.for %arg0 = %c0_i32 to %K step %c64_i32 iter_args(%arg1 = %cst) -> (tensor<128x256xf32>)  : i32 {
      %6 = tt.descriptor_load %a[%1, %arg0] : !tt.tensordesc<128x64xbf16> -> tensor<128x64xbf16>
      %7 = tt.descriptor_load %b[%3, %arg0] : !tt.tensordesc<256x64xbf16> -> tensor<256x64xbf16>
      %8 = tt.trans %7 {order = array<i32: 1, 0>} : tensor<256x64xbf16> -> tensor<64x256xbf16>
      %9 = tt.dot %6, %8, %arg1, inputPrecision = tf32 : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
      scf.yield %9 : tensor<128x256xf32>
    }
    %5 = arith.truncf %4 : tensor<128x256xf32> to tensor<128x256xbf16>
    tt.descriptor_store %c[%1, %3], %5 : !tt.tensordesc<128x256xbf16>, tensor<128x256xbf16>
    tt.return
  }
}
";

#[test]
fn the_gemm_is_built_in_twenty_lines() {
    let bf16 = Type::Float(FloatKind::BF16);
    let module = kernel("matmul", |f| {
        let a = f.descriptor("a", &[128, 64], &bf16);
        let b = f.descriptor("b", &[256, 64], &bf16);
        let c = f.descriptor("c", &[128, 256], &bf16);
        let depth = f.argument("K", Type::I32);
        let (row, col) = (f.program_offset(0, 128), f.program_offset(1, 256));
        let (zero, step, sum) = (f.i32(0), f.i32(64), f.zeros(&[128, 256], &Type::F32));
        let [sum] = f.for_loop(zero, depth, step, [sum], |f, k, [sum]| {
            let x = f.descriptor_load(a, &[row, k]);
            let y = f.descriptor_load(b, &[col, k]);
            let y = f.trans(y, &[1, 0]);
            [f.dot(x, y, sum)]
        });
        let out = f.truncf(sum, &bf16);
        f.descriptor_store(c, &[row, col], out);
    })
    .unwrap();
    assert_eq!(print(&module), GEMM);
    // The names of unnamed arguments are given by the printer; all else is equal.
    let mut read = parse(GEMM).unwrap();
    let unnamed: Vec<_> = read
        .values
        .keys()
        .filter(|v| read.values[*v].name.as_deref().is_some_and(|n| n.starts_with("arg")))
        .collect();
    for value in unnamed {
        read.values[value].name = None;
    }
    assert_eq!(difference(&module, &read), None);
}

#[test]
fn control_flow_pointers_and_reductions_verify_and_read_back() {
    let f32 = Type::F32;
    let module = kernel("rows", |f| {
        let (input, output) = (f.pointer("in", &f32), f.pointer("out", &f32));
        let (n, width) = (f.argument("n", Type::I32), f.argument("width", Type::I32));
        f.at("rows.py", 7, 5);
        let (first, step) = (f.program_id(0), f.num_programs(0));
        let range = f.make_range(0, 128);
        let attrs = AttrDict::from_iter([("tt.num_stages", Attr::i32(2))]);
        let [] = f.for_loop_with(first, n, step, [], attrs, |f, row, []| {
            let offset = f.muli(row, width);
            let offset = f.splat(offset, &[128]);
            let offset = f.addi(offset, range);
            let limit = f.splat(width, &[128]);
            let mask = f.cmpi("slt", range, limit);
            let pointers = f.splat(input, &[128]);
            let pointers = f.addptr(pointers, offset);
            let none = f.full(&[128], &Type::F32, f64::NEG_INFINITY);
            let x = f.load(pointers, Some(mask), Some(none));
            let top = f.reduce(x, 0, |f, a, b| f.maxnumf(a, b));
            let zero = f.float(0.0, FloatKind::F32);
            let positive = f.cmpf("ogt", top, zero);
            let [scale] = f.if_else(positive, |_| [top], |f| [f.negf(top)]);
            let scale = f.splat(scale, &[128]);
            let y = f.divf(x, scale);
            let pointers = f.splat(output, &[128]);
            let pointers = f.addptr(pointers, offset);
            f.if_then(positive, |f| f.store(pointers, y, Some(mask)));
            []
        });
    })
    .unwrap();
    let text = print(&module);
    let read = parse(&text).unwrap();
    assert!(verify(&read).is_empty());
    assert_eq!(print(&read), text);
    for line in ["scf.if %12 {", "tt.num_stages = 2 : i32", "dense<0xFF800000>", "loc(\"rows.py\":7:5)"] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}

#[test]
fn a_wrong_kernel_is_refused_with_every_mistake_in_order() {
    let diags = kernel("wrong", |f| {
        let a = f.descriptor("a", &[96, 64], &Type::F32);
        let (x, k) = (f.argument("x", Type::F32), f.i32(3));
        f.addi(x, k);
        f.descriptor_load(a, &[k]);
    })
    .unwrap_err();
    let messages: Vec<&str> = diags.iter().map(|d| d.message.as_str()).collect();
    let wanted = ["extent 96", "operand of type `i32`", "extent 96", "indices: 1 value where 2"];
    assert_eq!(messages.len(), wanted.len(), "{messages:#?}");
    for (message, part) in messages.iter().zip(wanted) {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(diags[1].op.as_deref(), Some("%0 = \"arith.addi\"(%x, %c3_i32) : (f32, i32) -> f32"));
}
