//! One partition that moves its tiles by the copy engine: what it loads is read in every layout of registers, and what it
//! makes is stored from them, under every swizzle (C24, C26, C33, C60, C64, C67).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/machine.rs"]
mod machine;

use common::{bytes, cut, emit_for, messages, record};
use machine::launch::Case;
use machine::{fill, value};
use warploom_codegen::{EmitOptions, Emitted};
use warploom_emulator::{Arg, Policy};

/// A kernel that doubles a matrix, a tile of rows at a time.
#[derive(Clone, Debug)]
struct Double {
    chip: &'static str,
    rows: u64,
    cols: u64,
    elem: &'static str,
    warps: u64,
    layout: String,
    depth: u64,
}

impl Double {
    fn new(rows: u64, cols: u64, elem: &'static str, layout: &str, tiling: [u64; 2]) -> Double {
        let layout = format!("layout = \"{layout}\", tiling = array<i32: {}, {}>", tiling[0], tiling[1]);
        Double { chip: "sm_120a", rows, cols, elem, warps: 4, layout, depth: 2 }
    }

    fn text(&self) -> String {
        let Double { chip, rows, cols, elem, warps, ref layout, depth } = *self;
        let tile = format!("{rows}x{cols}x{elem}");
        let slot = (rows * cols * bytes(elem)).next_multiple_of(1024);
        let (staging, full) = (slot * depth, slot * (depth + 1));
        let (empty, shared, threads) = (full + 8 * depth, full + 16 * depth, 32 * warps);
        let (swizzle, total) = (cut(rows, cols, elem).0, rows * cols * bytes(elem));
        let add = if elem == "i8" { "arith.addi" } else { "arith.addf" };
        let record = record(rows, cols, elem);
        let registers = (65536 / threads / 8 * 8).min(256);
        format!(
            "module attributes {{warploom.form = \"program\", warploom.target = \"{chip}\"}} {{\n\
             tt.func public @k(%x: !tt.tensordesc<{tile}>, %x0: i32, %x1: i32, %x2: i64, %x3: i64, \
             %y: !tt.tensordesc<{tile}>, %y0: i32, %y1: i32, %y2: i64, %y3: i64, %n: i32) attributes \
             {{noinline = false, warploom.warps = {warps} : i32, warploom.max_registers = {registers} : i32, \
             warploom.shared = {shared} : i32, warploom.descriptors = [{record}, {record}]}} {{\n\
             %c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n%rows = arith.constant {rows} : i32\n\
             warploom.pipeline @p0 {{depth = {depth} : i32, handshake = \"tma_to_generic\", payload = [\"x\"], \
             tile = [tensor<{tile}>], swizzle = array<i32: {swizzle}>, offset = array<i64: 0>, \
             stride = array<i64: {slot}>, bytes = {total} : i32, full = {full} : i32, empty = {empty} : i32, \
             arrive_full = 1 : i32, arrive_empty = {warps} : i32}}\n\
             warploom.pipeline @p1 {{depth = 1 : i32, handshake = \"none\", payload = [\"y\"], \
             tile = [tensor<{tile}>], swizzle = array<i32: {swizzle}>, offset = array<i64: {staging}>, \
             stride = array<i64: {slot}>, bytes = 0 : i32, full = -1 : i32, empty = -1 : i32, arrive_full = 0 : i32, \
             arrive_empty = 0 : i32}}\n\
             warploom.named_barrier @all {{id = 1 : i32, threads = {threads} : i32}}\n\
             warploom.partition @main {{warp = 0 : i32, warps = {warps} : i32, registers = {registers} : i32, {layout}}} {{\n\
             %l:3 = scf.for %t = %c0 to %n step %c1 iter_args(%i = %c0, %f = %c0, %g = %c1) -> (i32, i32, i32) : i32 {{\n\
             %row = arith.muli %t, %rows : i32\n\
             warploom.elect {{\n\
             warploom.producer_acquire @p0[%i, %g]\n\
             warploom.producer_commit @p0[%i, %g] {{bytes = {total} : i32}}\n\
             warploom.tma_load @p0[%i] {{payload = 0 : i32}} %x[%row, %c0] : !tt.tensordesc<{tile}>\n}}\n\
             warploom.consumer_wait @p0[%i, %f]\n\
             %v = warploom.slot @p0[%i] {{payload = 0 : i32}} : tensor<{tile}>\n\
             %w = {add} %v, %v : tensor<{tile}>\n\
             warploom.tile_store %w, @p1[%c0] {{payload = 0 : i32}} : tensor<{tile}>\n\
             warploom.proxy_fence\n\
             warploom.consumer_release @p0[%i, %f] {{lag = 0 : i32}}\n\
             warploom.barrier_sync @all\n\
             warploom.elect {{\n\
             warploom.tma_store @p1[%c0] {{payload = 0 : i32}} %y[%row, %c0] : !tt.tensordesc<{tile}>\n\
             warploom.store_commit\nwarploom.store_wait {{pending = 0 : i32, read = true}}\n}}\n\
             warploom.barrier_sync @all\n\
             %a:2 = warploom.advance @p0[%i, %f]\n%b:2 = warploom.advance @p0[%i, %g]\n\
             scf.yield %a#0, %a#1, %b#1 : i32, i32, i32\n}}\n}}\ntt.return\n}}\n}}"
        )
    }

    fn compile(&self) -> Emitted {
        emit_for(self.chip, &self.text(), &EmitOptions::default())
            .unwrap_or_else(|e| panic!("{self:?}: {}", messages(&e)))
    }

    /// Runs it on so many tiles, the last one ragged, and compares every element.
    fn check(&self, tiles: u64, policy: Policy) -> Emitted {
        let emitted = self.compile();
        let rows = (tiles * self.rows).saturating_sub(3).max(1);
        let x = match self.elem {
            "i8" => (0..rows * self.cols).map(|i| (i * 37 % 251) as u8).collect(),
            elem => fill(elem, rows * self.cols, 7),
        };
        let y = vec![0x5a; x.len()];
        let case = Case::new(self.chip, &emitted).matrix(&x, rows, self.cols).matrix(&y, rows, self.cols);
        let after = case.scalar(Arg::I32(tiles as i32)).run([1, 1, 1], policy);
        if tiles == 0 {
            assert_eq!(after[1], y);
            return emitted;
        }
        let size = bytes(self.elem) as usize;
        for (n, (from, to)) in x.chunks(size).zip(after[1].chunks(size)).enumerate() {
            let right = match self.elem {
                "i8" => to[0] == from[0].wrapping_mul(2),
                elem => value(elem, to) == 2.0 * value(elem, from),
            };
            assert!(right, "{self:?}: element {n}");
        }
        emitted
    }
}

const POLICIES: [Policy; 3] = [Policy::Eager, Policy::Lazy, Policy::Random(5)];

#[test]
fn accumulators_of_mma_sync_come_and_go_by_matrices_c64() {
    for (cols, tiling) in
        [(64, [4, 1]), (128, [2, 2]), (32, [1, 4]), (64, [1, 4]), (16, [4, 1]), (256, [2, 2])]
    {
        for (elem, policy) in ["bf16", "f16"].into_iter().zip(POLICIES) {
            let emitted = Double::new(64, cols, elem, "mma_sync", tiling).check(3, policy);
            // Two tiles for each warp are one instruction either way; one alone goes by pairs.
            let paired = cols / 8 / tiling[1] % 2 == 0;
            assert_eq!(emitted.ptx.contains("stmatrix"), paired, "{cols} {tiling:?}");
            assert_eq!(emitted.ptx.contains("ldmatrix"), paired, "{cols} {tiling:?}");
        }
    }
}

#[test]
fn other_sizes_of_elements_in_accumulators_c67() {
    for (cols, tiling) in [(64, [4, 1]), (32, [2, 2]), (128, [1, 4])] {
        for (elem, policy) in ["f32", "i8"].into_iter().zip(POLICIES) {
            let emitted = Double::new(64, cols, elem, "mma_sync", tiling).check(3, policy);
            assert!(elem != "f32" || emitted.ptx.contains("st.shared.v2.b32"));
        }
    }
}

#[test]
fn plain_lanes_move_16_bytes_c48() {
    let ways =
        [(32, 64, [8, 8]), (4, 256, [4, 32]), (128, 32, [16, 1]), (64, 64, [2, 8]), (32, 128, [1, 32])];
    for (rows, cols, tiling) in ways {
        for (elem, policy) in ["f32", "bf16", "i8"].into_iter().zip(POLICIES) {
            let emitted = Double::new(rows, cols, elem, "blocked", tiling).check(3, policy);
            if tiling[0] * bytes(elem) >= 16 {
                assert!(emitted.ptx.contains("ld.shared.v4.b32"), "{elem} {tiling:?}");
                assert!(emitted.ptx.contains("st.shared.v4.b32"), "{elem} {tiling:?}");
            }
        }
    }
}

#[test]
fn no_trip_touches_nothing_and_one_slot_is_enough() {
    let kernel = Double::new(64, 64, "f16", "mma_sync", [2, 2]);
    kernel.check(0, Policy::Eager);
    for policy in POLICIES {
        Double { depth: 1, ..kernel.clone() }.check(4, policy);
        Double { chip: "sm_90a", depth: 3, ..kernel.clone() }.check(7, policy);
    }
}

/// What lies in a slot, and what is made of it, is stored by lanes in rows where the partition's layout does not cover it.
#[test]
fn tiles_that_the_lanes_do_not_cover_are_made_where_they_are_stored_c48() {
    for policy in POLICIES {
        Double::new(8, 32, "f32", "blocked", [1, 4]).check(3, policy);
        Double::new(16, 64, "bf16", "mma_sync", [4, 1]).check(3, policy);
    }
}

#[test]
fn another_type_than_the_slots_is_refused_c48() {
    // Another type than the slot's.
    let text = Double::new(64, 64, "bf16", "mma_sync", [4, 1]).text();
    let text = text
        .replace(
            "%w = arith.addf %v, %v : tensor<64x64xbf16>",
            "%w = arith.extf %v : tensor<64x64xbf16> to tensor<64x64xf32>",
        )
        .replace(
            "tile_store %w, @p1[%c0] {payload = 0 : i32} : tensor<64x64xbf16>",
            "tile_store %w, @p1[%c0] {payload = 0 : i32} : tensor<64x64xf32>",
        );
    let list = emit_for("sm_120a", &text, &EmitOptions::default()).unwrap_err();
    assert!(messages(&list).contains("stored into a slot of"), "{}", messages(&list));
}

#[test]
fn a_row_is_stored_by_the_lanes_that_own_it_c48() {
    for (layout, tiling) in
        [("blocked", [4, 32]), ("blocked", [2, 8]), ("mma_sync", [2, 2]), ("mma_sync", [4, 1])]
    {
        for (elem, policy) in ["f32", "bf16", "i8"].into_iter().zip(POLICIES) {
            Double::new(1, 256, elem, layout, tiling).check(3, policy);
        }
    }
}

/// A product of two tiles that copies bring, each as it lies in memory, stored as it is.
fn product(elem: &str, k: u64, b_by_k: bool, tiling: [u64; 2]) -> String {
    let [m, n] = [64, 64];
    let (ta, tb, tc) = (
        format!("{m}x{k}x{elem}"),
        if b_by_k { format!("{n}x{k}x{elem}") } else { format!("{k}x{n}x{elem}") },
        format!("{m}x{n}xf32"),
    );
    let [br, bc] = if b_by_k { [n, k] } else { [k, n] };
    let records = [record(m, k, elem), record(br, bc, elem), record(m, n, "f32")].join(", ");
    let slot = (m * k * bytes(elem)).next_multiple_of(1024);
    let (at_c, bars, total) = (2 * slot, 2 * slot + m * n * 4, 2 * m * k * bytes(elem));
    let (sa, sb, sc) = (cut(m, k, elem).0, cut(br, bc, elem).0, cut(m, n, "f32").0);
    let view = match b_by_k {
        true => {
            format!("%b = tt.trans %bs {{order = array<i32: 1, 0>}} : tensor<{tb}> -> tensor<{k}x{n}x{elem}>")
        }
        false => String::new(),
    };
    let name = if b_by_k { "%b" } else { "%bs" };
    format!(
        "module attributes {{warploom.form = \"program\", warploom.target = \"sm_120a\"}} {{\n\
         tt.func public @k(%x: !tt.tensordesc<{ta}>, %x0: i32, %x1: i32, %x2: i64, %x3: i64, \
         %y: !tt.tensordesc<{tb}>, %y0: i32, %y1: i32, %y2: i64, %y3: i64, \
         %z: !tt.tensordesc<{tc}>, %z0: i32, %z1: i32, %z2: i64, %z3: i64) attributes \
         {{noinline = false, warploom.warps = 4 : i32, warploom.max_registers = 256 : i32, \
         warploom.shared = {} : i32, warploom.descriptors = [{records}]}} {{\n\
         %c0 = arith.constant 0 : i32\n%zero = arith.constant dense<0.000000e+00> : tensor<{tc}>\n\
         warploom.pipeline @p0 {{depth = 1 : i32, handshake = \"tma_to_generic\", payload = [\"a\", \"b\"], \
         tile = [tensor<{ta}>, tensor<{tb}>], swizzle = array<i32: {sa}, {sb}>, offset = array<i64: 0, {slot}>, \
         stride = array<i64: {slot}, {slot}>, bytes = {total} : i32, full = {bars} : i32, empty = -1 : i32, \
         arrive_full = 1 : i32, arrive_empty = 0 : i32}}\n\
         warploom.pipeline @p1 {{depth = 1 : i32, handshake = \"none\", payload = [\"c\"], tile = [tensor<{tc}>], \
         swizzle = array<i32: {sc}>, offset = array<i64: {at_c}>, stride = array<i64: {}>, bytes = 0 : i32, \
         full = -1 : i32, empty = -1 : i32, arrive_full = 0 : i32, arrive_empty = 0 : i32}}\n\
         warploom.named_barrier @all {{id = 1 : i32, threads = 128 : i32}}\n\
         warploom.partition @main {{warp = 0 : i32, warps = 4 : i32, registers = 256 : i32, layout = \"mma_sync\", \
         tiling = array<i32: {}, {}>}} {{\n\
         warploom.elect {{\n\
         warploom.producer_commit @p0[%c0, %c0] {{bytes = {total} : i32}}\n\
         warploom.tma_load @p0[%c0] {{payload = 0 : i32}} %x[%c0, %c0] : !tt.tensordesc<{ta}>\n\
         warploom.tma_load @p0[%c0] {{payload = 1 : i32}} %y[%c0, %c0] : !tt.tensordesc<{tb}>\n}}\n\
         warploom.consumer_wait @p0[%c0, %c0]\n\
         %a = warploom.slot @p0[%c0] {{payload = 0 : i32}} : tensor<{ta}>\n\
         %bs = warploom.slot @p0[%c0] {{payload = 1 : i32}} : tensor<{tb}>\n{view}\n\
         %d = tt.dot %a, {name}, %zero, inputPrecision = tf32 : tensor<{ta}> * tensor<{k}x{n}x{elem}> -> tensor<{tc}>\n\
         warploom.tile_store %d, @p1[%c0] {{payload = 0 : i32}} : tensor<{tc}>\n\
         warploom.proxy_fence\nwarploom.barrier_sync @all\nwarploom.elect {{\n\
         warploom.tma_store @p1[%c0] {{payload = 0 : i32}} %z[%c0, %c0] : !tt.tensordesc<{tc}>\n\
         warploom.store_commit\nwarploom.store_wait {{pending = 0 : i32, read = true}}\n}}\n}}\ntt.return\n}}\n}}",
        bars + 8,
        m * n * 4,
        tiling[0],
        tiling[1],
    )
}

#[test]
fn factors_under_every_swizzle_of_copies_c60() {
    let ways = [
        ("bf16", 64, true, [2, 2]),
        ("f16", 32, true, [4, 1]),
        ("bf16", 128, true, [1, 4]),
        ("f16", 16, true, [2, 2]),
        ("f16", 64, false, [2, 2]),
        ("bf16", 32, false, [1, 4]),
        ("f32", 32, true, [2, 2]),
        ("f8E4M3FN", 64, true, [4, 1]),
        ("f8E5M2", 128, true, [2, 2]),
    ];
    for ((elem, k, b_by_k, tiling), policy) in ways.into_iter().zip(POLICIES.into_iter().cycle()) {
        let emitted = emit_for("sm_120a", &product(elem, k, b_by_k, tiling), &EmitOptions::default())
            .unwrap_or_else(|e| panic!("{elem} {k}: {}", messages(&e)));
        let [br, bc] = if b_by_k { [64, k] } else { [k, 64] };
        let (x, y) = (fill(elem, 64 * k, 3), fill(elem, br * bc, 4));
        let case = Case::new("sm_120a", &emitted).matrix(&x, 64, k).matrix(&y, br, bc);
        let after = case.matrix(&vec![0; 64 * 64 * 4], 64, 64).run([1, 1, 1], policy);
        let size = bytes(elem) as usize;
        let at = |list: &[u8], i: u64| value(elem, &list[size * i as usize..size * (i as usize + 1)]);
        for (i, c) in after[2].chunks(4).enumerate() {
            let (row, col) = (i as u64 / 64, i as u64 % 64);
            let b = |x| if b_by_k { col * k + x } else { x * 64 + col };
            let sum: f64 = (0..k).map(|j| at(&x, row * k + j) * at(&y, b(j))).sum();
            assert!((value("f32", c) - sum).abs() < 1e-3, "{elem} {k} {tiling:?}: element {i}");
        }
    }
}
