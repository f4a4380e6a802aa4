//! Tiles whose elements stand elsewhere in what was loaded: reshapes, transpositions, gathers, joins, splits (C8).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/pointers.rs"]
mod pointers;

use pointers::{Kernel, i32_bytes, i32s, noise};
use warploom_emulator::Policy;

/// Makes `%y` of `%x`, the numbers 0, 1, .. of 32 rows of 64, and returns it; `%i` holds other numbers.
fn apply(ops: &str, indices: &[i32]) -> Vec<i32> {
    let kernel = Kernel { buffers: vec!["i32"; 3], ..Kernel::blocked(32, 64, 4, [4, 16]) };
    let kernel = kernel.load("x", 0, "M").load("i", 1, "M").ops(ops).store("y", 2, "M");
    let x: Vec<i32> = (0..2048).collect();
    let after =
        kernel.run(&kernel.compile(), &[i32_bytes(&x), i32_bytes(indices), vec![0; 8192]], Policy::Random(4));
    i32s(&after[2])
}

#[test]
fn reshapes_and_transpositions() {
    let y = apply(
        "%a = tt.reshape %x : Mxi32 -> tensor<32x32x2xi32>\n\
         %b = tt.trans %a {order = array<i32: 2, 0, 1>} : tensor<32x32x2xi32> -> tensor<2x32x32xi32>\n\
         %c = tt.reshape %b : tensor<2x32x32xi32> -> Mxi32\n%y = arith.addi %c, %x : Mxi32",
        &[0; 2048],
    );
    for (at, y) in (0..).zip(y) {
        let (half, row, col) = (at / 1024, at / 32 % 32, at % 32);
        assert_eq!(y, (row * 32 + col) * 2 + half + at, "{at}");
    }
    let y = apply(
        "%a = tt.trans %x {order = array<i32: 1, 0>} : Mxi32 -> tensor<64x32xi32>\n\
         %y = tt.reshape %a : tensor<64x32xi32> -> Mxi32",
        &[0; 2048],
    );
    assert!((0..).zip(y).all(|(at, y)| y == at % 32 * 64 + at / 32));
}

#[test]
fn gathers_along_both_axes() {
    let columns: Vec<i32> = noise(2048, 1, 64).iter().map(|&v| v as i32).collect();
    let y = apply("%y = tt.gather %x[%i] {axis = 1 : i32} : (Mxi32, Mxi32) -> Mxi32", &columns);
    assert!((0..).zip(y).zip(&columns).all(|((at, y), i)| y == at / 64 * 64 + i));
    let rows: Vec<i32> = noise(2048, 2, 32).iter().map(|&v| v as i32).collect();
    // What is gathered may be computed, and gathered from again.
    let y = apply(
        "%s = arith.addi %x, %mat : Mxi32\n%a = tt.gather %s[%i] {axis = 0 : i32} : (Mxi32, Mxi32) -> Mxi32\n\
         %y = tt.gather %a[%i] {axis = 0 : i32} : (Mxi32, Mxi32) -> Mxi32",
        &rows,
    );
    for (at, y) in y.iter().enumerate() {
        let (row, col) = (rows[at] as usize, at % 64);
        assert_eq!(*y, 2 * (rows[row * 64 + col] * 64 + col as i32), "{at}");
    }
}

#[test]
fn joins_and_splits() {
    let y = apply(
        "%a = tt.reshape %x : Mxi32 -> tensor<32x32x2xi32>\n\
         %l, %h = tt.split %a : tensor<32x32x2xi32> -> tensor<32x32xi32>\n\
         %j = tt.join %h, %l : tensor<32x32xi32> -> tensor<32x32x2xi32>\n\
         %y = tt.reshape %j : tensor<32x32x2xi32> -> Mxi32",
        &[0; 2048],
    );
    assert!((0..).zip(y).all(|(at, y)| y == (at ^ 1)));
}

#[test]
fn what_lanes_hold_needs_scratch_memory() {
    let ops = "%r = \"tt.reduce\"(%x) <{axis = 1 : i32}> ({\n^bb0(%a: i32, %b: i32):\n\
               %c = arith.addi %a, %b : i32\ntt.reduce.return %c : i32\n}) : (Mxi32) -> Rxi32\n\
               %e = tt.expand_dims %r {axis = 1 : i32} : Rxi32 -> tensor<32x1xi32>\n\
               %b = tt.broadcast %e : tensor<32x1xi32> -> Mxi32\n\
               %y = tt.gather %b[%x] {axis = 0 : i32} : (Mxi32, Mxi32) -> Mxi32";
    let kernel = Kernel { buffers: vec!["i32"; 2], ..Kernel::blocked(32, 64, 4, [4, 16]) };
    let kernel = kernel.load("x", 0, "M").ops(ops).store("y", 1, "M");
    assert!(kernel.try_compile().unwrap_err().contains("scratch memory"));
}
