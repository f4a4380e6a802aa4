//! Programs for chips with tcgen05: what their PTX computes on the emulator, what ptxas says of it for every
//! such chip, and how many instructions a trip takes (C66, C80, C82).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/machine.rs"]
mod machine;

use std::collections::BTreeMap;

use common::{Gemm, emit_for, messages, tool};
use machine::{Case, error, run};
use serde::Deserialize;
use warploom_codegen::assemble::assemble;
use warploom_codegen::scan::scan;
use warploom_codegen::{EmitOptions, sass};
use warploom_emulator::Policy;

const CHIPS: [&str; 3] = ["sm_100a", "sm_103a", "sm_110a"];

fn tile(m: u64, n: u64, k: u64) -> Gemm {
    Gemm { chip: "sm_100a", m, n, k, ..Gemm::default() }
}

/// Runs a program whose CTAs make `tiles` tiles each, under several orders of warps.
fn computes_tiles(name: &str, gemm: &Gemm, tiles: u64, size: [u64; 3], bound: f64) {
    let text = gemm.tiles_text(tiles);
    let emitted = emit_for(gemm.chip, &text, &EmitOptions::default());
    let emitted = emitted.unwrap_or_else(|e| panic!("{name}: {}", messages(&e)));
    let whole = Gemm { m: gemm.m * tiles, ..gemm.clone() };
    for policy in [Policy::Eager, Policy::Random(7), Policy::Random(8)] {
        let case = Case { size, policy, args: Vec::new() };
        let result = run(&whole, &emitted, &case);
        let worst = error(&result.stored, result.product.iter().copied());
        assert!(worst < bound, "{name} {policy:?}: {worst}");
    }
}

fn computes(name: &str, gemm: &Gemm, size: [u64; 3], bound: f64) {
    computes_tiles(name, gemm, 1, size, bound);
}

#[test]
fn trips_and_edges() {
    let small = tile(128, 64, 64);
    for trips in [0, 1, 2, 3, 4, 7] {
        computes(&format!("{trips} trips"), &small, [128, 64, 64 * trips], 4e-3);
    }
    computes("ragged", &small, [136, 72, 104], 4e-3);
}

#[test]
fn tiles_of_many_shapes() {
    for (m, n, k) in [(128, 16, 16), (128, 32, 32), (128, 256, 64), (256, 64, 64), (128, 128, 128)] {
        computes(&format!("{m}x{n}x{k}"), &tile(m, n, k), [m, n, 3 * k], 4e-3);
    }
}

#[test]
fn sixty_four_rows_take_half_of_the_lanes_e44() {
    for (n, k) in [(16, 16), (64, 64), (48, 32), (256, 64)] {
        computes(&format!("64x{n}x{k}"), &tile(64, n, k), [64, n, 3 * k], 4e-3);
    }
    computes("ragged", &tile(64, 64, 64), [136, 72, 104], 4e-3);
    computes_tiles("several tiles", &tile(64, 64, 64), 3, [192, 64, 128], 4e-3);
    computes_tiles("no trip", &tile(64, 64, 64), 2, [128, 64, 0], 4e-3);
    computes("f32 out", &Gemm { out: "f32", ..tile(64, 64, 64) }, [64, 64, 128], 1e-5);
    let fp8 = Gemm { elems: ["f8E4M3FN"; 2], ..tile(64, 64, 128) };
    computes("fp8", &fp8, [64, 64, 384], 4e-3);
    let tn = Gemm { elems: ["f16"; 2], k_major: [false, false], out: "f16", ..tile(64, 128, 64) };
    computes("tn", &tn, [64, 128, 192], 6e-4);
    let ptx = tile(64, 64, 64).emit().unwrap().ptx;
    assert!(ptx.contains("tcgen05.ld.sync.aligned.16x256b.x8") && ptx.contains("stmatrix"));
}

#[test]
fn two_warpgroups_share_128_rows_c66() {
    let pairs = |m, n, k| Gemm { pairs: true, ..tile(m, n, k) };
    for (m, n, k) in [(128, 16, 16), (128, 64, 64), (128, 48, 32), (256, 64, 64), (128, 256, 64)] {
        computes(&format!("{m}x{n}x{k}"), &pairs(m, n, k), [m, n, 3 * k], 4e-3);
    }
    computes("ragged", &pairs(128, 64, 64), [136, 72, 104], 4e-3);
    computes_tiles("several tiles", &pairs(128, 64, 64), 3, [384, 64, 128], 4e-3);
    computes("f32 out", &Gemm { out: "f32", ..pairs(128, 64, 64) }, [128, 64, 128], 1e-5);
    let ptx = pairs(128, 64, 64).emit().unwrap().ptx;
    assert!(ptx.contains("tcgen05.ld.sync.aligned.16x256b.x8") && ptx.contains("stmatrix"));
    // One instruction multiplies 128 rows.
    assert!(pairs(128, 64, 16).emit().unwrap().ptx.matches("tcgen05.mma").count() == 1);
    let alone = pairs(128, 64, 64).tensor_text().replace("layout = \"wgmma_pairs\"", "layout = \"wgmma\"");
    let found = messages(&emit_for("sm_100a", &alone, &EmitOptions::default()).unwrap_err());
    assert!(found.contains("read by other lanes than reach it"), "{found}");
}

#[test]
fn sixty_four_rows_are_read_as_accumulators_and_no_other_way_c66() {
    let refused = |gemm: &Gemm, from: &str, to: &str| {
        let text = gemm.tensor_text();
        let changed = text.replace(from, to);
        assert_ne!(text, changed);
        messages(&emit_for("sm_100a", &changed, &EmitOptions::default()).unwrap_err())
    };
    let found = refused(&tile(64, 64, 64), "layout = \"wgmma\"", "layout = \"rows\"");
    assert!(found.contains("read by other lanes than reach it"), "{found}");
    let found = refused(&tile(128, 64, 64), "layout = \"rows\"", "layout = \"wgmma\"");
    assert!(found.contains("read by other lanes than reach it"), "{found}");
    // Bytes have 128 rows: no store takes them as the lanes of 64 rows hold them.
    let found = refused(&tile(64, 64, 64), "tile = [tensor<64x64xf32>]", "tile = [tensor<64x64xf8E5M2>]");
    assert!(found.contains("tensor<64x64xf8E5M2> in tensor memory"), "{found}");
}

#[test]
fn majors() {
    for (name, k_major) in
        [("nt", [true, true]), ("nn", [true, false]), ("tn", [false, false]), ("tt", [false, true])]
    {
        let gemm = Gemm { elems: ["f16"; 2], k_major, out: "f16", ..tile(128, 128, 64) };
        computes(name, &gemm, [128, 128, 192], 6e-4);
    }
}

#[test]
fn types() {
    for (a, b) in [("f8E4M3FN", "f8E4M3FN"), ("f8E5M2", "f8E5M2"), ("f8E4M3FN", "f8E5M2")] {
        let gemm = Gemm { elems: [a, b], ..tile(128, 64, 128) };
        computes(&format!("{a} {b}"), &gemm, [128, 64, 384], 4e-3);
    }
    computes("tf32", &Gemm { elems: ["f32"; 2], out: "f32", ..tile(128, 64, 32) }, [128, 64, 96], 1e-5);
    computes("f32 out", &Gemm { out: "f32", ..tile(128, 64, 64) }, [128, 64, 128], 1e-5);
    let narrow = "%out = tt.fp_to_fp %acc, rounding = rtne : tensor<128x64xf32> -> tensor<128x64xf8E5M2>\n";
    let fp8 = Gemm { out: "f8E5M2", epilogue: narrow.to_owned(), ..tile(128, 64, 64) };
    computes("e5m2 out", &fp8, [128, 64, 64], 0.13);
}

#[test]
fn an_accumulator_of_two_slots() {
    let small = tile(128, 64, 64);
    for trips in [0, 1, 4] {
        computes_tiles(&format!("3 tiles, {trips} trips"), &small, 3, [384, 64, 64 * trips], 4e-3);
    }
    computes_tiles("ragged tiles", &small, 2, [232, 40, 104], 4e-3);
}

#[test]
fn a_tile_added_behind_the_product() {
    let epilogue = "%x = arith.extf %beta : tensor<128x64xbf16> to tensor<128x64xf32>\n\
                    %y = arith.addf %acc, %x : tensor<128x64xf32>\n\
                    %out = arith.truncf %y : tensor<128x64xf32> to tensor<128x64xbf16>\n";
    let gemm = Gemm { extra: Some("bf16"), epilogue: epilogue.to_owned(), ..tile(128, 64, 64) };
    let emitted = gemm.emit().unwrap_or_else(|e| panic!("{}", messages(&e)));
    for trips in [0, 2] {
        let case = Case { size: [128, 64, 64 * trips], policy: Policy::Random(3), args: Vec::new() };
        let result = run(&gemm, &emitted, &case);
        let wanted = result.product.iter().zip(&result.extra).map(|(p, e)| p + e);
        assert!(error(&result.stored, wanted) < 4e-3);
    }
}

/// What a kernel may take at most.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Bar {
    /// Instructions a trip of the loop that multiplies.
    multiply: u32,
    /// Instructions a trip of the loop that loads.
    load: u32,
    /// Registers.
    registers: u32,
}

#[test]
fn bars_c82() {
    let ptxas = tool("ptxas");
    let nvdisasm = tool("nvdisasm");
    let version = std::process::Command::new(&ptxas).arg("--version").output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout);
    assert!(
        version.contains("release 13.5"),
        "the bars are those of ptxas 13.5, which make setup installs: {version}"
    );
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bars.tcgen05.toml");
    let bars: BTreeMap<String, Bar> = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let f16 = |a, b| Gemm { elems: ["f16"; 2], k_major: [a, b], out: "f16", ..tile(128, 256, 64) };
    let kernels = [
        ("gemm_bf16", Gemm { depth: 4, ..tile(128, 256, 64) }, 1),
        ("gemm_bf16, 4 tiles", tile(128, 256, 64), 4),
        ("256x128x64", tile(256, 128, 64), 1),
        ("f16_nn", f16(true, false), 1),
        ("f16_tn", f16(false, false), 1),
        ("fp8", Gemm { elems: ["f8E4M3FN"; 2], ..tile(128, 256, 128) }, 1),
        ("tf32", Gemm { elems: ["f32"; 2], out: "f32", ..tile(128, 128, 32) }, 1),
    ];
    let mut found = BTreeMap::new();
    for (name, gemm, tiles) in kernels {
        for chip in CHIPS {
            let gemm = Gemm { chip, ..gemm.clone() };
            let emitted = emit_for(chip, &gemm.tiles_text(tiles), &EmitOptions::default())
                .unwrap_or_else(|e| panic!("{name}, {chip}: {}", messages(&e)));
            let assembled = assemble(&ptxas, &emitted.ptx, chip).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(assembled.report.is_clean(), "{name}, {chip}: {}", assembled.log);
            let all = sass::loops(&sass::disassemble(&nvdisasm, &assembled.cubin).unwrap());
            let innermost = |works: &dyn Fn(&sass::Loop) -> bool| {
                all.iter().filter(|l| works(l)).min_by_key(|l| l.instructions).unwrap()
            };
            let (multiply, load) = (innermost(&|l| l.utcmma > 0), innermost(&|l| l.utmaldg > 0));
            assert_eq!((multiply.utmaldg, load.utcmma), (0, 0), "{name}, {chip}");
            let registers = assembled.report.registers;
            let bar = Bar { multiply: multiply.instructions, load: load.instructions, registers };
            found.insert(format!("{name}, {chip}"), bar);
        }
    }
    assert_eq!(found, bars, "left: measured, right: tests/bars.tcgen05.toml");
    // The example of the rule itself.
    for chip in CHIPS {
        let example = &bars[&format!("gemm_bf16, {chip}")];
        assert!(example.multiply <= 50 && example.load <= 35, "{chip}");
    }
}

/// The number of a line that starts with this instruction.
fn line_of(ptx: &str, instruction: &str) -> usize {
    ptx.lines().position(|line| line.trim_start().starts_with(instruction)).unwrap()
}

#[test]
fn the_scan_sees_early_uses_and_lost_products_c46() {
    let good = tile(128, 16, 16).emit().unwrap_or_else(|e| panic!("{}", messages(&e))).ptx;
    assert!(scan(&good).is_empty());
    let without = |instruction: &str| {
        let at = line_of(&good, instruction);
        let lines = good.lines().enumerate().filter(|(i, _)| *i != at).map(|(_, line)| line);
        lines.collect::<Vec<_>>().join("\n")
    };
    let rules = |ptx: &str| scan(ptx).iter().map(|f| f.rule).collect::<Vec<_>>();
    // Without its wait, what the load writes is converted too early.
    assert!(rules(&without("tcgen05.wait::ld")).iter().all(|r| *r == "C46"));
    assert!(!rules(&without("tcgen05.wait::ld")).is_empty());
    // Both commits gone: the products of the loop reach the end of the kernel.
    let uncommitted: Vec<&str> = good.lines().filter(|line| !line.contains("tcgen05.commit")).collect();
    assert_eq!(rules(&uncommitted.join("\n")), ["C46"]);
}

#[test]
fn the_scan_sees_stores_that_others_are_told_of_too_early_c24() {
    let emitted = emit_for("sm_100a", &common::program("attention_bf16.sm100.mlir"), &EmitOptions::default());
    let good = emitted.unwrap_or_else(|e| panic!("{}", messages(&e))).ptx;
    assert!(scan(&good).is_empty());
    let lines = good.lines().filter(|line| !line.contains("tcgen05.wait::st"));
    let found = scan(&lines.collect::<Vec<_>>().join("\n"));
    assert!(!found.is_empty() && found.iter().all(|f| f.rule == "C24"), "{found:?}");
}

#[test]
fn tiles_in_tensor_memory_that_are_refused() {
    let text = common::program("attention_bf16.sm100.mlir");
    let edited = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    let chip = "sm_100a";
    refused(&edited("\"generic_to_mma\"", "\"tma_to_mma\""), chip, "C24", "for this space");
    refused(
        &edited("@q[%c0, %c0] {bytes = 32768", "@p[%c0, %c0] {bytes = 32768"),
        chip,
        "C24",
        "32768 bytes",
    );
    refused(
        &edited("commit @p[%si, %sf] {bytes = 0", "commit @p[%si, %sf] {bytes = 4"),
        chip,
        "C24",
        "4 bytes",
    );
    let zeros = "%zt = arith.constant dense<0.000000e+00> : tensor<128x128xbf16>\n\
                 warploom.tile_store %zt, @p[%si]";
    let zeros = edited("warploom.tile_store %pt, @p[%si]", zeros);
    assert!(emit_for(chip, &zeros, &EmitOptions::default()).is_ok());
    let elsewhere = zeros.replace("layout = \"rows\"", "layout = \"wgmma\"");
    refused(&elsewhere, chip, "C66", "do not hold its rows");
    // Packed elements are for products alone; so is the place of operand a.
    let read = "%pv = warploom.slot @p[%si] {payload = 0 : i32} : tensor<128x128xbf16>\n\
                warploom.tile_store %pv, @p[%si] {payload";
    refused(&edited("warploom.tile_store %pt, @p[%si] {payload", read), chip, "C66", "read into registers");
    let second = "{payload = 0 : i32} %q, %p, %keep";
    refused(&edited("{payload = 0 : i32} %p, %v, %keep", second), chip, "C45", "in tensor memory");
    let turned = "%pt = tt.trans %p {order = array<i32: 1, 0>} : tensor<128x128xbf16> -> tensor<128x128xbf16>\n\
                  warploom.mma @o[%c0] {payload = 0 : i32} %pt, %v, %keep";
    let plain = "warploom.mma @o[%c0] {payload = 0 : i32} %p, %v, %keep";
    refused(&edited(plain, turned), chip, "C66", "transposed");
}

#[track_caller]
fn refused(text: &str, chip: &str, rule: &str, words: &str) {
    let Err(list) = emit_for(chip, text, &EmitOptions::default()) else { panic!("compiled") };
    let found = list.iter().any(|d| d.rule == Some(rule) && d.to_string().contains(words));
    assert!(found, "no {rule} with `{words}` in\n{}", messages(&list));
}

#[test]
fn what_is_refused() {
    let text = tile(128, 256, 64).text();
    let edited = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    let chip = "sm_100a";
    refused(&text, "sm_90a", "T5", "no tensor memory");
    refused(&edited("warploom.tmem = 256", "warploom.tmem = 128"), chip, "T14", "do not fit");
    refused(&edited("warploom.tmem = 256", "warploom.tmem = 96"), chip, "T14", "96 columns");
    refused(&edited("warploom.tmem_slot = ", "warploom.tmem_slot = 9"), chip, "C20", "address");
    refused(&edited("\"mma_to_generic\"", "\"tma_to_mma\""), chip, "C24", "for this space");
    refused(&edited("layout = \"rows\"", "layout = \"wgmma\""), chip, "C66", "other lanes");
    refused(&edited("{lag = 0 : i32}\n%n:2", "{lag = 1 : i32}\n%n:2"), chip, "C24", "late release");
    let wide = Gemm { elems: ["f32"; 2], out: "f32", ..tile(128, 64, 32) }.text();
    refused(&wide.replace("inputPrecision = tf32", "inputPrecision = ieee"), chip, "C7", "tf32");
    // A quarter of the rows: no instruction (C63).
    refused(
        &tile(128, 256, 64).text().replace("128x", "32x").replace("i32: 128, 64", "i32: 32, 64"),
        chip,
        "C63",
        "32x256",
    );
    let odd = Gemm { elems: ["f32"; 2], out: "f32", k_major: [true, false], ..tile(128, 64, 32) };
    refused(&odd.text(), chip, "C62", "must have K contiguous");
}
