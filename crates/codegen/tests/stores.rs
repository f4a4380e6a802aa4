//! Results through pointers, and control flow on scalars (C7, C33).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/machine.rs"]
mod machine;

use common::{Gemm, messages};
use machine::{Case, Extra, error, run, value};
use warploom_emulator::{Arg, Policy};

/// How a tile goes to memory.
#[derive(Clone, Copy)]
struct Way {
    m: u64,
    n: u64,
    elem: &'static str,
    /// Whether pointer and width are multiples of 16.
    aligned: bool,
    masked: bool,
    /// `tt.atomic_rmw` instead of `tt.store`: the name of the operation.
    atomic: Option<&'static str>,
}

/// Stores `%acc` through pointers, row by row of `N` columns, inside M x N.
fn pointer_store(way: &Way) -> String {
    let Way { m, n, elem, .. } = *way;
    let t = |e: &str| format!("tensor<{m}x{n}x{e}>");
    let narrowed = match elem {
        "f32" => String::new(),
        "bf16" | "f16" => format!("%val = arith.truncf %acc : {} to {}\n", t("f32"), t(elem)),
        "i32" => format!("%val = arith.fptosi %acc : {} to {}\n", t("f32"), t(elem)),
        _ => format!("%val = tt.fp_to_fp %acc, rounding = rtne : {} -> {}\n", t("f32"), t(elem)),
    };
    let value = if elem == "f32" { "%acc" } else { "%val" };
    let tp = t(&format!("!tt.ptr<{elem}>"));
    let mask = if way.masked { ", %mask" } else { "" };
    let put = match way.atomic {
        None => format!("tt.store %q, {value}{mask} : {tp}\n"),
        Some(name) => format!(
            "%old = tt.atomic_rmw {name}, relaxed, gpu, %q, {value}{mask} : ({tp}, {e}{tm}) -> {e}\n",
            e = t(elem),
            tm = if way.masked { format!(", {}", t("i1")) } else { String::new() },
        ),
    };
    format!(
        "%mr = tt.make_range {{end = {m} : i32, start = 0 : i32}} : tensor<{m}xi32>\n\
         %ms = tt.splat %row : i32 -> tensor<{m}xi32>\n%mo = arith.addi %ms, %mr : tensor<{m}xi32>\n\
         %me = tt.expand_dims %mo {{axis = 1 : i32}} : tensor<{m}xi32> -> tensor<{m}x1xi32>\n\
         %mw = tt.splat %N : i32 -> tensor<{m}x1xi32>\n%mi = arith.muli %me, %mw : tensor<{m}x1xi32>\n\
         %mp = tt.splat %ptr : !tt.ptr<{elem}> -> tensor<{m}x1x!tt.ptr<{elem}>>\n\
         %mq = tt.addptr %mp, %mi : tensor<{m}x1x!tt.ptr<{elem}>>, tensor<{m}x1xi32>\n\
         %mb = tt.broadcast %mq : tensor<{m}x1x!tt.ptr<{elem}>> -> {tp}\n\
         %nr = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>\n\
         %ns = tt.splat %col : i32 -> tensor<{n}xi32>\n%no = arith.addi %ns, %nr : tensor<{n}xi32>\n\
         %ne = tt.expand_dims %no {{axis = 0 : i32}} : tensor<{n}xi32> -> tensor<1x{n}xi32>\n\
         %nb = tt.broadcast %ne : tensor<1x{n}xi32> -> {ti}\n\
         %q = tt.addptr %mb, %nb : {tp}, {ti}\n\
         %cm = tt.splat %M : i32 -> tensor<{m}x1xi32>\n%lm = arith.cmpi slt, %me, %cm : tensor<{m}x1xi32>\n\
         %bm = tt.broadcast %lm : tensor<{m}x1xi1> -> {tb}\n\
         %cn = tt.splat %N : i32 -> tensor<1x{n}xi32>\n%ln = arith.cmpi slt, %ne, %cn : tensor<1x{n}xi32>\n\
         %bn = tt.broadcast %ln : tensor<1x{n}xi1> -> {tb}\n%mask = arith.andi %bm, %bn : {tb}\n\
         {narrowed}{put}%out = arith.truncf %acc : {tf} to tensor<{m}x{n}xbf16>\n",
        ti = t("i32"),
        tb = t("i1"),
        tf = t("f32"),
    )
}

/// Stores a product of these sizes through pointers into numbers that were there, and compares; returns the PTX.
fn stores(way: &Way, [m, n, k]: [u64; 3]) -> String {
    let hint = if way.aligned { " {tt.divisibility = 16 : i32}" } else { "" };
    let params = format!(", %ptr: !tt.ptr<{}>{hint}, %M: i32, %N: i32{hint}", way.elem);
    let name = format!("{}x{} {} {hint} {:?}", way.m, way.n, way.elem, way.atomic);
    let epilogue = pointer_store(way);
    let params: &'static str = Box::leak(params.into_boxed_str());
    let gemm = Gemm { m: way.m, n: way.n, k: 32, groups: way.m / 64, params, epilogue, ..Gemm::default() };
    let emitted = gemm.emit().unwrap_or_else(|e| panic!("{name}: {}", messages(&e)));
    let size = if way.elem == "i32" { 4 } else { common::bytes(way.elem) };
    let before = match way.elem {
        "i32" => (0..m * n).flat_map(|i| (i as i32 % 7).to_le_bytes()).collect(),
        elem => machine::fill(elem, m * n, 9),
    };
    let number = |b: &[u8]| match way.elem {
        "i32" => f64::from(i32::from_le_bytes(b.try_into().unwrap())),
        elem => value(elem, b),
    };
    let old: Vec<f64> = before.chunks_exact(size as usize).map(number).collect();
    let args =
        vec![Extra::Buffer(before), Extra::Scalar(Arg::I32(m as i32)), Extra::Scalar(Arg::I32(n as i32))];
    let result = run(&gemm, &emitted, &Case { size: [m, n, k], policy: Policy::Random(2), args });
    let stored: Vec<f64> = result.buffers[0].chunks_exact(size as usize).map(number).collect();
    let bound = match way.elem {
        "f32" => 1e-6,
        "i32" => 0.0,
        "f16" => 2e-3,
        "bf16" => 8e-3,
        _ => 0.14,
    };
    let wanted = result.product.iter().zip(&old).map(|(&new, old)| match way.atomic {
        None => new,
        Some("fadd") => old + new,
        Some("max") => old.max(new.trunc()),
        Some(_) => old + new.trunc(),
    });
    let worst = error(&stored, wanted);
    assert!(worst <= bound, "{name}: {worst}");
    assert!(error(&result.stored, result.product.iter().copied()) < 4e-3, "{name}");
    emitted.ptx
}

/// Adds a tile that is loaded through pointers to the product; masked, columns from N - 16 on are 1.5. Returns the
/// PTX.
fn loads(way: &Way, [m, n, k]: [u64; 3]) -> String {
    let hint = if way.aligned { " {tt.divisibility = 16 : i32}" } else { "" };
    let Way { elem, .. } = *way;
    let t = |e: &str| format!("tensor<{}x{}x{e}>", way.m, way.n);
    let tp = t(&format!("!tt.ptr<{elem}>"));
    let rest = if way.masked { ", %mask, %other" } else { "" };
    let widen = match elem {
        "f32" => String::new(),
        "f8E5M2" => format!("%wide = tt.fp_to_fp %got : {} -> {}\n", t(elem), t("f32")),
        _ => format!("%wide = arith.extf %got : {} to {}\n", t(elem), t("f32")),
    };
    let wide = if elem == "f32" { "%got" } else { "%wide" };
    let load = format!(
        "%other = arith.constant dense<1.5> : {}\n%got = tt.load %q{rest} : {tp}\n{widen}\
         %sum = arith.addf %acc, {wide} : {tf}\n%out = arith.truncf %sum : {tf} to {}\n",
        t(elem),
        t("bf16"),
        tf = t("f32"),
    );
    // The store's text up to its mask, which ends 16 columns early.
    let text = pointer_store(&Way { masked: true, ..*way });
    let text = &text[..text.find("%mask = ").unwrap()];
    let text = text.replace(
        "%cn = tt.splat %N",
        "%c16 = arith.constant 16 : i32\n%lim = arith.subi %N, %c16 : i32\n%cn = tt.splat %lim",
    );
    let epilogue = format!("{text}%mask = arith.andi %bm, %bn : {}\n{load}", t("i1"));
    let params = format!(", %ptr: !tt.ptr<{elem}>{hint}, %M: i32, %N: i32{hint}");
    let name = format!("{}x{} {elem} {hint} {}", way.m, way.n, way.masked);
    let params: &'static str = Box::leak(params.into_boxed_str());
    let gemm = Gemm { m: way.m, n: way.n, k: 32, groups: way.m / 64, params, epilogue, ..Gemm::default() };
    let emitted = gemm.emit().unwrap_or_else(|e| panic!("{name}: {}", messages(&e)));
    let bytes = machine::fill(elem, m * n, 9);
    let beside: Vec<f64> = bytes.chunks_exact(common::bytes(elem) as usize).map(|b| value(elem, b)).collect();
    let args =
        vec![Extra::Buffer(bytes), Extra::Scalar(Arg::I32(m as i32)), Extra::Scalar(Arg::I32(n as i32))];
    let result = run(&gemm, &emitted, &Case { size: [m, n, k], policy: Policy::Random(2), args });
    let wanted = result.product.iter().zip(&beside).enumerate().map(|(at, (product, beside))| {
        let col = at as u64 % n;
        product + if way.masked && col + 16 >= n { 1.5 } else { *beside }
    });
    let worst = error(&result.stored, wanted);
    assert!(worst < 6e-3, "{name}: {worst}");
    emitted.ptx
}

/// Two neighbours of a row come with one access (C48).
#[test]
fn neighbours_come_together_c48() {
    for (elem, wide) in [("f32", "v2.b32"), ("bf16", "b32"), ("f16", "b32"), ("f8E5M2", "b16")] {
        for masked in [false, true] {
            let ptx = loads(&Way { elem, masked, ..WAY }, [128, 64, 64]);
            assert!(ptx.contains(&format!("ld.global.{wide}")), "{elem} {masked}");
            let alone = format!("ld.global.b{} ", 8 * common::bytes(elem));
            assert!(!ptx.contains(&alone) && !ptx.contains(&alone.replace(' ', "\t")), "{elem} {masked}");
        }
        loads(&Way { elem, aligned: false, ..WAY }, [64, 40, 64]);
    }
}

const WAY: Way = Way { m: 64, n: 32, elem: "f32", aligned: true, masked: true, atomic: None };

#[test]
fn tiles_through_pointers() {
    let ragged = [72, 24, 64];
    let ptx = stores(&Way { n: 16, aligned: false, ..WAY }, ragged);
    assert!(ptx.contains("st.global.b32") && !ptx.contains("st.global.v"));
    let ptx = stores(&Way { n: 16, aligned: false, masked: false, ..WAY }, [64, 16, 64]);
    assert!(!ptx.contains("st.global.v"));
}

/// 16 bytes of one row by each lane, where nothing speaks against it (C33, C48).
#[test]
fn neighbours_leave_together_c33() {
    for (elem, masked, least) in [("f32", true, "v4"), ("f32", false, "v4"), ("bf16", true, "v4")] {
        let ptx = stores(&Way { elem, masked, ..WAY }, [128, 64, 64]);
        assert!(ptx.contains(&format!("st.global.{least}.b32")), "{elem}");
        assert!(!ptx.contains("st.global.b"), "{elem}: {ptx}");
    }
    stores(&Way { elem: "f16", masked: false, ..WAY }, [128, 64, 64]);
    // Few columns: what a quad can deal out, and no more.
    for n in [8, 16] {
        for elem in ["f32", "bf16", "f8E5M2"] {
            stores(&Way { n, elem, ..WAY }, [128, 16, 64]);
        }
    }
    // Two warpgroups, a block of 64 rows each; one warpgroup with two.
    stores(&Way { m: 128, elem: "bf16", ..WAY }, [128, 64, 64]);
    stores(&Way { m: 128, ..WAY }, [144, 64, 64]);
}

#[test]
fn sums_in_memory() {
    let add = Way { atomic: Some("fadd"), ..WAY };
    let ptx = stores(&add, [128, 64, 64]);
    assert!(ptx.contains("red.relaxed.gpu.global.add.v4.f32"), "{ptx}");
    let ptx = stores(&Way { aligned: false, ..add }, [72, 40, 64]);
    assert!(ptx.contains("red.relaxed.gpu.global.add.f32") && !ptx.contains("add.v"));
    for (elem, packed) in [("bf16", "bf16x2"), ("f16", "f16x2")] {
        let ptx = stores(&Way { elem, ..add }, [128, 64, 64]);
        assert!(ptx.contains(&format!("red.relaxed.gpu.global.add.noftz.v4.{packed}")), "{ptx}");
        let ptx = stores(&Way { elem, aligned: false, ..add }, [72, 40, 64]);
        assert!(ptx.contains(&format!("red.relaxed.gpu.global.add.noftz.{elem}")), "{ptx}");
    }
    let whole = Way { elem: "i32", masked: false, ..WAY };
    stores(&Way { atomic: Some("add"), ..whole }, [64, 32, 64]);
    stores(&Way { atomic: Some("max"), ..whole }, [64, 32, 64]);
}

/// `scf.if` and `scf.for` on scalars, integer arithmetic, and a scalar load and store.
#[test]
fn scalars() {
    let epilogue = "%five = arith.constant 5 : i32\n%big = arith.cmpi sgt, %N, %five : i32\n\
        %v = scf.if %big -> (i32) {\n%x = arith.muli %N, %five : i32\nscf.yield %x : i32\n} else {\n\
        %y = arith.subi %N, %five : i32\nscf.yield %y : i32\n}\n\
        %sum = scf.for %j = %i0 to %N step %i1 iter_args(%s = %v) -> (i32) : i32 {\n\
        %t = arith.addi %s, %j : i32\nscf.yield %t : i32\n}\n\
        %g = arith.sitofp %sum : i32 to f32\n%old = tt.load %ptr : !tt.ptr<f32>\n%new = arith.addf %g, %old : f32\n\
        %next = tt.addptr %ptr, %i1 : !tt.ptr<f32>, i32\ntt.store %next, %new : !tt.ptr<f32>\n\
        %fs = tt.splat %g : f32 -> tensor<64x8xf32>\n%h = arith.addf %acc, %fs : tensor<64x8xf32>\n\
        %out = arith.truncf %h : tensor<64x8xf32> to tensor<64x8xbf16>\n";
    let params = ", %ptr: !tt.ptr<f32>, %N: i32";
    let gemm =
        Gemm { m: 64, n: 8, k: 32, groups: 1, params, epilogue: epilogue.to_owned(), ..Gemm::default() };
    let emitted = gemm.emit().unwrap_or_else(|e| panic!("{}", messages(&e)));
    for n in [0, 3, 7] {
        let start = if n > 5 { n * 5 } else { n - 5 };
        let sum = f64::from(start + (0..n).sum::<i32>());
        let buffer: Vec<u8> = [1.5f32, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let args = vec![Extra::Buffer(buffer), Extra::Scalar(Arg::I32(n))];
        let result = run(&gemm, &emitted, &Case { size: [64, 8, 32], policy: Policy::Eager, args });
        assert!(error(&result.stored, result.product.iter().map(|p| p + sum)) < 4e-3, "{n}");
        assert_eq!(value("f32", &result.buffers[0][4..]), sum + 1.5, "{n}");
    }
}

/// An exchange returns what was there; where masked, the program must not ask.
#[test]
fn old_values_come_back() {
    let t = "tensor<64x32xf32>";
    let tail = format!(
        "%out0 = arith.addf %old, %acc : {t}\n%out = arith.truncf %out0 : {t} to tensor<64x32xbf16>\n"
    );
    for (name, sem) in [("fadd", "acq_rel"), ("exch", "relaxed")] {
        let way = Way { atomic: Some(name), masked: false, ..WAY };
        let text = pointer_store(&way).replace("relaxed", sem);
        let epilogue =
            text.replace("%out = arith.truncf %acc : tensor<64x32xf32> to tensor<64x32xbf16>\n", &tail);
        let params = ", %ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %N: i32 {tt.divisibility = 16 : i32}";
        let gemm = Gemm { m: 64, n: 32, k: 32, groups: 1, params, epilogue, ..Gemm::default() };
        let emitted = gemm.emit().unwrap_or_else(|e| panic!("{name}: {}", messages(&e)));
        assert!(emitted.ptx.contains(&format!("atom.global.gpu.{sem}.")), "{name}");
        let before = machine::fill("f32", 64 * 32, 4);
        let old: Vec<f64> = before.chunks_exact(4).map(|b| value("f32", b)).collect();
        let args = vec![Extra::Buffer(before), Extra::Scalar(Arg::I32(64)), Extra::Scalar(Arg::I32(32))];
        let result = run(&gemm, &emitted, &Case { size: [64, 32, 64], policy: Policy::Eager, args });
        let wanted = result.product.iter().zip(&old).map(|(new, old)| new + old);
        assert!(error(&result.stored, wanted) < 8e-3, "{name}");
        let stored: Vec<f64> = result.buffers[0].chunks_exact(4).map(|b| value("f32", b)).collect();
        let wanted = result.product.iter().zip(&old);
        let wanted = wanted.map(|(new, old)| if name == "exch" { *new } else { new + old });
        assert!(error(&stored, wanted) < 1e-6, "{name}");
    }
}
