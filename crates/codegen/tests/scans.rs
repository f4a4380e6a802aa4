//! `tt.scan` and `tt.histogram` (C3, C65).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/pointers.rs"]
mod pointers;

use half::f16;
use pointers::{Kernel, f32_bytes, f32s, i32_bytes, i32s, noise};
use warploom_emulator::Policy;

/// Scans of `x` and of pairs (a, b) -> (a a', b a' + b'), which is not commutative, along an axis.
fn scans(kernel: Kernel, axis: u64, reverse: bool) {
    let name = format!("{kernel:?} along {axis}, reverse {reverse}");
    let (rows, cols) = (kernel.rows as usize, kernel.cols as usize);
    let attrs = format!("<{{axis = {axis} : i32, reverse = {reverse}}}>");
    let ops = format!(
        "%s = \"tt.scan\"(%x) {attrs} ({{\n^bb0(%a: i32, %b: i32):\n%c = arith.addi %a, %b : i32\n\
         tt.scan.return %c : i32\n}}) : (Mxi32) -> Mxi32\n\
         %p:2 = \"tt.scan\"(%x, %mat) {attrs} ({{\n^bb0(%a: i32, %b: i32, %c: i32, %d: i32):\n\
         %e = arith.muli %a, %c : i32\n%f = arith.muli %b, %c : i32\n%g = arith.addi %f, %d : i32\n\
         tt.scan.return %e, %g : i32, i32\n}}) : (Mxi32, Mxi32) -> (Mxi32, Mxi32)\n\
         %q = arith.xori %p#0, %p#1 : Mxi32"
    );
    let kernel = Kernel { buffers: vec!["i32"; 3], ..kernel }.load("x", 0, "M").ops(&ops).store("s", 1, "M");
    let kernel = kernel.store("q", 2, "M");
    let x: Vec<i32> = noise((rows * cols) as u64, 3, 9).iter().map(|&v| v as i32 - 3).collect();
    let after = kernel.run(
        &kernel.compile(),
        &[i32_bytes(&x), vec![0; 4 * x.len()], vec![0; 4 * x.len()]],
        Policy::Random(1),
    );
    let (sums, pairs) = (i32s(&after[1]), i32s(&after[2]));
    let (lines, length) = if axis == 1 { (rows, cols) } else { (cols, rows) };
    for line in 0..lines {
        let (mut sum, mut pair) = (0i32, None::<(i32, i32)>);
        for step in 0..length {
            let place = if reverse { length - 1 - step } else { step };
            let at = if axis == 1 { line * cols + place } else { place * cols + line };
            sum = sum.wrapping_add(x[at]);
            let next = (x[at], at as i32);
            pair = Some(match pair {
                None => next,
                Some((a, b)) => (a.wrapping_mul(next.0), b.wrapping_mul(next.0).wrapping_add(next.1)),
            });
            assert_eq!(sums[at], sum, "{name}: {at}");
            assert_eq!(pairs[at], pair.unwrap().0 ^ pair.unwrap().1, "{name}: {at}");
        }
    }
}

#[test]
fn rows_and_columns_c65() {
    for reverse in [false, true] {
        scans(Kernel::blocked(8, 128, 4, [4, 16]), 1, reverse);
        scans(Kernel::blocked(4, 64, 4, [1, 32]), 1, reverse);
        scans(Kernel::blocked(32, 64, 4, [2, 4]), 1, reverse);
        // Columns within one warp.
        scans(Kernel::blocked(32, 16, 1, [2, 4]), 0, reverse);
        scans(Kernel::blocked(8, 64, 2, [1, 64]), 0, reverse);
        // A lane has the whole row.
        let rows = Kernel {
            chip: "sm_100a",
            layout: "layout = \"rows\"".to_owned(),
            ..Kernel::blocked(128, 16, 4, [1, 1])
        };
        scans(rows, 1, reverse);
    }
}

#[test]
fn halves_and_vectors() {
    let text = |shape: &str, elem: &str| {
        format!(
            "%s = \"tt.scan\"(%x) <{{axis = {} : i32, reverse = false}}> ({{\n^bb0(%a: {elem}, %b: {elem}):\n\
             %c = arith.maxnumf %a, %b : {elem}\ntt.scan.return %c : {elem}\n}}) : ({shape}x{elem}) -> {shape}x{elem}",
            u8::from(shape == "M")
        )
    };
    let x: Vec<f32> = noise(256, 5, 2000).iter().map(|&v| v as f32 - 1000.0).collect();
    let vector = Kernel { buffers: vec!["f32", "f32"], ..Kernel::blocked(4, 256, 4, [4, 32]) };
    let vector = vector.load("x", 0, "C").ops(&text("C", "f32")).store("s", 1, "C");
    let after = vector.run(&vector.compile(), &[f32_bytes(&x), vec![0; 1024]], Policy::Eager);
    let mut most = f32::MIN;
    for (x, y) in x.iter().zip(f32s(&after[1])) {
        most = most.max(*x);
        assert_eq!(y, most);
    }
    let matrix = Kernel { buffers: vec!["f16", "f16"], ..Kernel::blocked(4, 64, 1, [8, 8]) };
    let matrix = matrix.load("x", 0, "M").ops(&text("M", "f16")).store("s", 1, "M");
    let halves: Vec<u8> = x.iter().flat_map(|&x| f16::from_f32(x).to_le_bytes()).collect();
    let after = matrix.run(&matrix.compile(), &[halves, vec![0; 512]], Policy::Eager);
    for (i, bytes) in after[1].chunks_exact(2).enumerate() {
        let row = &x[i / 64 * 64..=i];
        let wanted = row.iter().copied().fold(f32::MIN, f32::max);
        assert_eq!(f16::from_le_bytes(bytes.try_into().unwrap()).to_f32(), f16::from_f32(wanted).to_f32());
    }
}

#[test]
fn lines_over_several_warps_are_refused() {
    let text = "%s = \"tt.scan\"(%x) <{axis = 1 : i32, reverse = false}> ({\n^bb0(%a: f32, %b: f32):\n\
                %c = arith.addf %a, %b : f32\ntt.scan.return %c : f32\n}) : (Mxf32) -> Mxf32";
    let kernel = Kernel { buffers: vec!["f32"; 2], ..Kernel::blocked(4, 128, 4, [1, 128]) };
    let kernel = kernel.load("x", 0, "M").ops(text).store("s", 1, "M");
    assert!(kernel.try_compile().unwrap_err().contains("several warps"));
}

#[test]
fn histograms() {
    for bins in [64u64, 512] {
        let ops = format!(
            "%h = tt.histogram %x : Cxi32 -> tensor<{bins}xi32>\n\
             %r = tt.make_range {{end = {bins} : i32, start = 0 : i32}} : tensor<{bins}xi32>\n\
             %ps = tt.splat %p1 : !tt.ptr<i32> -> tensor<{bins}x!tt.ptr<i32>>\n\
             %pq = tt.addptr %ps, %r : tensor<{bins}x!tt.ptr<i32>>, tensor<{bins}xi32>\n\
             tt.store %pq, %h : tensor<{bins}x!tt.ptr<i32>>"
        );
        let kernel =
            Kernel { buffers: vec!["i32", "i32"], scratch: 2048, ..Kernel::blocked(2, 256, 4, [1, 64]) };
        let kernel = kernel.load("x", 0, "C").ops(&ops);
        let x: Vec<i32> = noise(256, 13, bins).iter().map(|&v| v as i32).collect();
        let emitted = kernel.compile();
        for policy in [Policy::Eager, Policy::Random(2)] {
            let after = kernel.run(&emitted, &[i32_bytes(&x), vec![0x33; 4 * bins as usize]], policy);
            for (bin, found) in i32s(&after[1]).iter().enumerate() {
                assert_eq!(*found as usize, x.iter().filter(|&&v| v as usize == bin).count());
            }
        }
    }
}
