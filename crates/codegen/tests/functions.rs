//! Functions of angles, functions of libdevice and inline assembly, element by element (C68).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/pointers.rs"]
mod pointers;

use pointers::{Kernel, f32_bytes, f32s};
use warploom_emulator::Policy;

/// Applies operations that make `%y` of `%x` to these numbers.
fn apply(ops: &str, x: &[f32]) -> Vec<f32> {
    let count = x.len() as u64;
    let kernel = Kernel { buffers: vec!["f32", "f32"], ..Kernel::blocked(1, count, 4, [1, 128]) };
    let kernel = kernel.load("x", 0, "C").ops(ops).store("y", 1, "C");
    let after = kernel.run(&kernel.compile(), &[f32_bytes(x), vec![0; 4 * x.len()]], Policy::Eager);
    f32s(&after[1])
}

fn refused(ops: &str, words: &str) {
    let kernel = Kernel { buffers: vec!["f32", "f32"], ..Kernel::blocked(1, 128, 4, [1, 128]) };
    let kernel = kernel.load("x", 0, "C").ops(ops).store("y", 1, "C");
    let Err(text) = kernel.try_compile() else { panic!("compiled: {ops}") };
    assert!(text.contains(words), "no `{words}` in {text}");
}

/// Angles of every size, multiples of a quarter turn, and the ends.
fn angles() -> Vec<f32> {
    let mut list: Vec<f32> = (0..400).map(|i| f32::from_bits(0x0800_0000 + i * 4_718_593)).collect();
    list.extend((0..80).map(|i| (f64::from(i * i * 31) * std::f64::consts::FRAC_PI_2) as f32));
    list.extend([
        0.0,
        -0.0,
        65535.996,
        65536.0,
        f32::MAX,
        f32::MIN_POSITIVE,
        1e-42,
        16_367_173.0 * 2f32.powi(72),
    ]);
    for i in 0..24 {
        list.push(-list[17 * i]);
    }
    assert_eq!(list.len(), 512);
    list
}

#[test]
fn sine_and_cosine_of_every_angle_c68() {
    let x = angles();
    for (op, exact) in [("sin", f64::sin as fn(f64) -> f64), ("cos", f64::cos)] {
        for (x, y) in x.iter().zip(apply(&format!("%y = math.{op} %x : Cxf32"), &x)) {
            let wanted = exact(f64::from(*x));
            let bound = wanted.abs() * 3.0 * 2f64.powi(-24) + 1e-44;
            assert!((f64::from(y) - wanted).abs() <= bound, "{op} {x}: {y}, not {wanted}");
            assert_eq!(y.is_sign_negative(), wanted.is_sign_negative(), "{op} {x}");
        }
        let ends: Vec<f32> = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN].repeat(32);
        assert!(apply(&format!("%y = math.{op} %x : Cxf32"), &ends).iter().all(|y| y.is_nan()), "{op}");
    }
}

#[test]
fn halves_go_through_f32() {
    let x: Vec<f32> = (0..128).map(|i| i as f32 * 0.75 - 48.0).collect();
    let ops = "%h = arith.truncf %x : Cxf32 to Cxf16\n%s = math.sin %h : Cxf16\n%y = arith.extf %s : Cxf16 to Cxf32";
    for (x, y) in x.iter().zip(apply(ops, &x)) {
        assert!((y - x.sin()).abs() < 6e-4, "{x}: {y}");
    }
}

#[test]
fn libdevice_by_name() {
    let x: Vec<f32> = (0..128).map(|i| i as f32 * 0.05 + 0.01).collect();
    for (name, exact) in [
        ("__nv_tanhf", f64::tanh as fn(f64) -> f64),
        ("__nv_expf", f64::exp),
        ("__nv_logf", f64::ln),
        ("__nv_cosf", f64::cos),
        ("__nv_sqrtf", f64::sqrt),
        ("__nv_floorf", f64::floor),
    ] {
        let ops = format!(
            "%y = tt.extern_elementwise %x {{libname = \"\", libpath = \"\", pure = true, symbol = \"{name}\"}} : \
             (Cxf32) -> Cxf32"
        );
        for (x, y) in x.iter().zip(apply(&ops, &x)) {
            let wanted = exact(f64::from(*x));
            assert!((f64::from(y) - wanted).abs() <= 1e-6 * (1.0 + wanted.abs()), "{name} {x}: {y}");
        }
    }
    let other = "%y = tt.extern_elementwise %x {libname = \"\", libpath = \"\", pure = true, symbol = \"__nv_j0f\"} : \
                 (Cxf32) -> Cxf32";
    refused(other, "__nv_j0f");
}

fn assembly(text: &str, constraints: &str, rest: &str) -> String {
    format!(
        "%y = tt.elementwise_inline_asm \"{text}\" {{constraints = \"{constraints}\", {rest}}} %x : Cxf32 -> Cxf32"
    )
}

#[test]
fn assembly_of_the_kernel() {
    let plain = "packed_element = 1 : i32, pure = true";
    let x: Vec<f32> = (0..128).map(|i| i as f32 * 0.125 - 8.0).collect();
    let y = apply(&assembly("abs.f32 $0, $1;", "=f,f", plain), &x);
    assert!(x.iter().zip(&y).all(|(x, y)| x.abs() == *y));
    // What LLVM or ptxas would stumble over.
    refused(&assembly("abs.f32 $0, $2;", "=f,f", plain), "text");
    refused(&assembly("abs.f32 $0, ${1:h};", "=f,f", plain), "text");
    refused(&assembly("abs.f32 $0, $;", "=f,f", plain), "text");
    refused(&assembly("", "=f,f", plain), "text");
    refused(&assembly("abs.f32 $0, $1;", "=f", plain), "constraints");
    refused(&assembly("abs.f32 $0, $1;", "f,f", plain), "constraints");
    refused(&assembly("abs.f32 $0, $1;", "=l,f", plain), "constraints");
    refused(&assembly("abs.f32 $0, $1;", "=f,n", plain), "constraints");
    let made =
        assembly("mov.b32 $0, $1;", "=n,f", plain).replace("%y", "%bits").replace("-> Cxf32", "-> Cxi32");
    refused(&format!("{made}\n%y = tt.bitcast %bits : Cxi32 -> Cxf32"), "constraints");
    let moved = assembly("mov.b32 $0, $1;", "=f,n", plain).replace("%x : Cxf32", "%bits : Cxi32");
    refused(&format!("%bits = tt.bitcast %x : Cxf32 -> Cxi32\n{moved}"), "no constant");
    refused(&assembly("abs.f32 $0, $1;", "=f,{r1}", plain), "constraints");
    refused(&assembly("abs.f32 $0, $1;", "=f,f", "packed_element = 2 : i32, pure = true"), "constraints");
    refused(&assembly("abs.f32 $0, $1;", "=f,f", "packed_element = 3 : i32, pure = true"), "3 elements");
    // Two elements at a time; a lane that holds one alone passes it twice.
    let two =
        assembly("abs.f32 $0, $2; abs.f32 $1, $3;", "=f,=f,f,f", "packed_element = 2 : i32, pure = true");
    for count in [128u16, 512] {
        let x: Vec<f32> = (0..count).map(|i| f32::from(i) * 0.125 - 8.0).collect();
        assert!(x.iter().zip(&apply(&two, &x)).all(|(x, y)| x.abs() == *y), "{count}");
    }
}

#[test]
fn registers_of_any_class_that_holds_the_bits() {
    let x: Vec<f32> = (0..128).map(|i| i as f32 * 0.25 - 8.0).collect();
    let text = "{ .reg .pred p; setp.gt.f32 p, $1, 15.; @p mov.f32 $0, 1.5e-1; @!p abs.f32 $0, $1; }";
    let y = apply(&assembly(text, "=r,r", "packed_element = 1 : i32, pure = true"), &x);
    assert!(x.iter().zip(&y).all(|(x, y)| *y == if *x > 15.0 { 0.15 } else { x.abs() }));
    // Narrower ones lie in the low bits of a register of 32.
    let narrow = "%b = tt.bitcast %x : Cxf32 -> Cxi32\n%i = arith.trunci %b : Cxi32 to Cxi8\n\
                  %n = tt.elementwise_inline_asm \"shl.b32 $0, $1, 3;\" {constraints = \"=r,r\", \
                  packed_element = 1 : i32, pure = true} %i : Cxi8 -> Cxi8\n\
                  %w = arith.extui %n : Cxi8 to Cxi32\n%y = tt.bitcast %w : Cxi32 -> Cxf32";
    let bytes: Vec<f32> = (0..128).map(f32::from_bits).collect();
    let y = apply(narrow, &bytes);
    assert!(bytes.iter().zip(&y).all(|(x, y)| y.to_bits() == (x.to_bits() << 3) & 0xff));
    // A number that is known now, as the instruction wants it.
    let constant = "%bits = arith.constant dense<0x7fffff00> : Cxi32\n\
                    %y = tt.elementwise_inline_asm \"and.b32 $0, $1, $2;\" {constraints = \"=r,r,n\", \
                    packed_element = 1 : i32, pure = true} %x, %bits : Cxf32, Cxi32 -> Cxf32";
    let y = apply(constant, &x);
    assert!(x.iter().zip(&y).all(|(x, y)| y.to_bits() == x.to_bits() & 0x7fff_ff00));
}

#[test]
fn assembly_of_pointers_c3() {
    let x: Vec<f32> = (0..128).map(|i| i as f32 * 0.25 - 8.0).collect();
    let rest = "packed_element = 1 : i32, pure = false";
    let read = assembly("ld.global.f32 $0, [$1];", "=f,l", rest);
    let y = apply(&read.replace("%x : Cxf32", "%xq : Cx!tt.ptr<f32>"), &x);
    assert_eq!(x, y);
    let made = assembly("mov.b64 $0, $1;", "=l,l", rest)
        .replace("%x : Cxf32 -> Cxf32", "%xq : Cx!tt.ptr<f32> -> Cx!tt.ptr<f32>")
        .replace("%y", "%z");
    refused(&format!("{made}\n%y = tt.load %z : Cx!tt.ptr<f32>"), "result is a pointer");
}

#[test]
fn assembly_with_effects_stays_used_or_not_c3() {
    let text = "{ .reg .pred p; setp.gt.f32 p, $1, 1000.0; @p trap; } mov.f32 $0, $1;";
    let unused = assembly(text, "=f,f", "packed_element = 1 : i32, pure = false").replace("%y", "%z")
        + "\n%y = arith.addf %x, %x : Cxf32";
    let x: Vec<f32> = (0..128).map(|i| i as f32).collect();
    let y = apply(&unused, &x);
    assert!(x.iter().zip(&y).all(|(x, y)| 2.0 * x == *y));
    let kernel = Kernel { buffers: vec!["f32", "f32"], ..Kernel::blocked(1, 128, 4, [1, 128]) };
    let ptx = kernel.load("x", 0, "C").ops(&unused).store("y", 1, "C").compile().ptx;
    assert!(ptx.contains("trap"), "{ptx}");
}

/// Numbers as they are, and what a conversion of each leaves behind on a chip, as bytes.
fn converted(chip: &'static str, buffers: [&'static str; 2], ops: &str, x: &[u8], out: usize) -> Vec<u8> {
    let from: u64 = if buffers[0] == "i8" { 1 } else { 4 };
    let kernel =
        Kernel { chip, buffers: buffers.to_vec(), ..Kernel::blocked(1, x.len() as u64 / from, 4, [1, 128]) };
    let kernel = kernel.load("x", 0, "C").ops(ops).store("y", 1, "C");
    let emitted = kernel.compile();
    assert_eq!(emitted.ptx.contains("cvt.rn.satfinite"), chip == "sm_90a" && buffers[0] == "f32", "{chip}");
    kernel.run(&emitted, &[x.to_vec(), vec![0; out]], Policy::Eager).swap_remove(1)
}

#[test]
fn floats_of_8_bits_are_the_same_with_and_without_the_instruction_c68() {
    for kind in ["f8E4M3FN", "f8E5M2"] {
        let ops = format!("%h = tt.bitcast %x : Cxi8 -> Cx{kind}\n%y = tt.fp_to_fp %h : Cx{kind} -> Cxf32");
        let bytes: Vec<u8> = (0..=255).collect();
        let wide = converted("sm_90a", ["i8", "f32"], &ops, &bytes, 1024);
        let soft = converted("sm_80", ["i8", "f32"], &ops, &bytes, 1024);
        let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        let (wide, soft) = (f32s(&wide), f32s(&soft));
        assert!(wide.iter().zip(&soft).all(|(&a, &b)| same(a, b)), "{kind}: {wide:?}\n{soft:?}");
        // Every number, its neighbours, the middles between numbers and theirs; and bits of all sorts.
        let mut x: Vec<f32> = Vec::new();
        let mut sorted: Vec<f32> = wide.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f32::total_cmp);
        for two in sorted.windows(2) {
            for middle in [two[0], (two[0] + two[1]) / 2.0] {
                let bits = middle.to_bits();
                x.extend([bits.wrapping_sub(1), bits, bits.wrapping_add(1)].map(f32::from_bits));
            }
        }
        x.extend([f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, f32::MAX, f32::MIN, 1e-45, -1e-45]);
        let noise = pointers::noise(4096 - x.len() as u64, 9, 1 << 32);
        x.extend(noise.into_iter().map(|bits| f32::from_bits(bits as u32)));
        let ops = format!(
            "%h = tt.fp_to_fp %x, rounding = rtne : Cxf32 -> Cx{kind}\n%y = tt.bitcast %h : Cx{kind} -> Cxi8"
        );
        let wide = converted("sm_90a", ["f32", "i8"], &ops, &f32_bytes(&x), 4096);
        let soft = converted("sm_80", ["f32", "i8"], &ops, &f32_bytes(&x), 4096);
        for ((x, a), b) in x.iter().zip(&wide).zip(&soft) {
            assert_eq!(a, b, "{kind}: {x} ({:#x})", x.to_bits());
        }
    }
}
