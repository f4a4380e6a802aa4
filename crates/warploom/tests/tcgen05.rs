//! The GEMMs and attention on chips with tcgen05: their PTX on the emulator against what the kernel means, on ragged
//! shapes and for the trip counts of C28, under several interleavings; what `ptxas` says of it for each such chip (C80,
//! C82); refusals.
//!
//! The bars stand in `bars.tcgen05.json`. What was found lies beside the build output, to be copied over the file; a
//! failure says where.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]
#![cfg(feature = "llvm")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use warploom::codegen::{assemble, sass};
use warploom::run::{Case, policies, prepare};
use warploom::{Options, Partitions, Resumed, Target};
use warploom_emulator as emulator;

mod common;
mod gemms;

use common::{partitions, root};
use gemms::{Kind, NT, run_on};

const CHIPS: [&str; 3] = ["sm_100a", "sm_103a", "sm_110a"];

fn plain(ta: bool, tb: bool) -> Kind {
    Kind::Plain { ta, tb }
}

fn reference() -> PathBuf {
    root().join("kernels")
}

#[test]
fn the_example_kernels_run_right() {
    let folder = root().join("examples/kernels");
    for (file, kind, tile) in [
        ("gemm", NT, [128, 256, 64]),
        ("gemm_f16", NT, [128, 128, 64]),
        ("gemm_f32_out", NT, [128, 128, 64]),
        ("gemm_fp8", NT, [128, 256, 128]),
        ("gemm_bias_relu", Kind::BiasRelu, [128, 256, 64]),
    ] {
        run_on("sm_100a", &folder.join(format!("{file}.ttir")), kind, tile, &[0, 1, 3, 4], 2);
    }
}

/// The kernels of the folder `kernels` with a product per loop.
fn kernels() -> Vec<(&'static str, Kind, [u64; 3])> {
    vec![
        ("gemm_bf16", NT, [128, 256, 64]),
        ("gemm_bf16_128", NT, [128, 128, 64]),
        ("gemm_bf16_f32", NT, [128, 128, 64]),
        ("gemm_f16_nn", plain(false, false), [128, 256, 64]),
        ("gemm_f16_tn", plain(true, false), [128, 256, 64]),
        ("gemm_f16_tt", plain(true, true), [128, 256, 64]),
        ("gemm_tf32", NT, [128, 128, 32]),
        ("gemm_fp8", NT, [128, 256, 128]),
        ("gemm_fp8_e5m2", NT, [128, 128, 128]),
        ("gemm_fp8_scaled", Kind::Scaled, [128, 128, 128]),
        ("gemm_batched", Kind::Batched, [128, 128, 64]),
        ("gemm_epilogue_relu", Kind::Epilogue, [128, 256, 64]),
        ("gemm_epilogue_gelu", Kind::Epilogue, [128, 256, 64]),
        ("gemm_epilogue_silu", Kind::Epilogue, [128, 256, 64]),
        ("gemm_epilogue_alpha", Kind::Epilogue, [128, 256, 64]),
        ("hints", NT, [128, 128, 128]),
    ]
}

#[test]
fn the_reference_kernels_run_right() {
    for (file, kind, tile) in kernels() {
        // `hints` promises that K is above 0.
        let trips: &[u64] = if file == "hints" { &[1, 3] } else { &[0, 1, 3] };
        run_on("sm_100a", &reference().join(format!("{file}.ttir")), kind, tile, trips, 1);
    }
}

#[test]
fn the_flagship_runs_right_for_every_trip_count_of_c28() {
    let kernel = root().join("examples/kernels/gemm.ttir");
    run_on("sm_100a", &kernel, NT, [128, 256, 64], &[0, 1, 2, 3, 4, 5, 9], 3);
    for chip in ["sm_103a", "sm_110a"] {
        run_on(chip, &kernel, NT, [128, 256, 64], &[0, 3], 1);
    }
}

/// Runs one kernel on a chip: its launches, each under the two extremes and `seeds` random orders.
fn attention_on(chip: &str, name: &str, cases: &[Case], seeds: u64) {
    runs_right(chip, name, &common::kernel(name), cases, seeds);
}

fn runs_right(chip: &str, name: &str, text: &str, cases: &[Case], seeds: u64) {
    let target = Target::named(chip).unwrap();
    let module = warploom::read(text).unwrap_or_else(|d| panic!("{name}: {}", d[0]));
    let output = warploom::compile(&module, &target, &Options::default())
        .unwrap_or_else(|d| panic!("{name} for {chip}: {}", d[0]));
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    for case in cases {
        let prepared = prepare(&module, &output.emitted.metadata.name, case).unwrap();
        for policy in policies(seeds) {
            let options = emulator::RunOptions::default().policy(policy).strict(true);
            let outcome = prepared.run(&ptx, &output.emitted.metadata, &target, &options).unwrap();
            assert!(outcome.passed(), "{name} for {chip}, {case:?}, {policy:?}: {}", outcome.report);
        }
    }
}

/// A launch of one program over so many rows of K and V.
fn attention_case(rows: u64, head: u64) -> Case {
    let tile = |rows: u64| format!("{}x{head}", rows.max(128));
    let line =
        [tile(128), tile(rows), tile(rows), tile(128), "[128]".into(), rows.to_string(), "0.25".into()];
    Case { args: line.iter().map(|arg| arg.parse().unwrap()).collect(), grid: [1, 1, 1], seed: rows }
}

#[test]
fn attention_runs_right_for_every_trip_count() {
    let blocks = |head: u64| [0, 1, 2, 3, 5].map(|n| attention_case(n * 128, head));
    attention_on("sm_100a", "attention", &blocks(128), 1);
    attention_on("sm_100a", "attention_64", &blocks(64), 3);
    for chip in ["sm_103a", "sm_110a"] {
        attention_on(chip, "attention_64", &[0, 2, 3].map(|n| attention_case(n * 128, 64)), 1);
    }
}

/// Programs further down a causal kernel go through its first loop as well; the first one does not.
#[test]
fn causal_and_packed_attention_run_right() {
    attention_on("sm_100a", "attention_causal_f16", &[square(128, 64, 128), square(384, 64, 128)], 2);
    attention_on("sm_100a", "attention_causal", &[square(256, 128, 128)], 1);
    // Sequences of 70, 0 and 200 rows.
    let line = ["270x128", "270x128", "270x128", "[34560]", "0,70,70,270", "0.25", "2"];
    let args = line.iter().map(|arg| arg.parse().unwrap()).collect();
    attention_on("sm_100a", "attention_ragged", &[Case { args, grid: [2, 3, 2], seed: 7 }], 1);
}

/// A launch over as many rows of Q as of K and V, in programs of `block` rows.
fn square(rows: u64, head: u64, block: u64) -> Case {
    let tile = || format!("{rows}x{head}");
    let line = [tile(), tile(), tile(), tile(), format!("[{rows}]"), rows.to_string(), "0.25".into()];
    let args = line.iter().map(|arg| arg.parse().unwrap()).collect();
    Case { args, grid: [(rows / block) as u32, 1, 1], seed: rows }
}

/// The causal kernel with programs of 64 rows.
fn half_rows() -> String {
    let text = common::kernel("attention_causal_f16");
    let half = text
        .replace("128x64x", "64x64x")
        .replace("tensor<128x", "tensor<64x")
        .replace("end = 128", "end = 64")
        .replace("arith.constant 128 : i32", "arith.constant 64 : i32");
    assert_ne!(half, text);
    half
}

/// Products, the operand over them and what the loop scales lie in half of the lanes (E44).
#[test]
fn attention_of_64_rows_runs_right() {
    let text = half_rows();
    let cases = [square(64, 64, 64), square(128, 64, 64), square(320, 64, 64)];
    runs_right("sm_100a", "64 rows", &text, &cases, 3);
    let module = warploom::read(&text).unwrap();
    let output = warploom::compile(&module, &Target::named("sm_100a").unwrap(), &Options::default()).unwrap();
    assert_eq!(partitions(&output.lowered), Some(Partitions::Several), "by partitions of their own");
    // Each product is read, the operand written and the accumulator scaled as wgmma's lanes hold them.
    for access in ["ld.sync.aligned.16x256b", "st.sync.aligned.16x128b", "st.sync.aligned.16x256b"] {
        assert!(output.emitted.ptx.contains(&format!("tcgen05.{access}")), "{access}");
    }
    let ptxas = common::tool("ptxas");
    let assembled = assemble::assemble(&ptxas, &output.emitted.ptx, "sm_100a").unwrap();
    assert!(assembled.report.is_clean(), "{}", assembled.log);
}

/// Why one partition runs a kernel that partitions of their own have no code for: the remarks of what is compiled all the same.
fn taken_over(text: &str) -> String {
    let module = warploom::read(text).unwrap_or_else(|d| panic!("{}", d[0]));
    let lowered = warploom::lower(&module, &Target::named("sm_100a").unwrap(), &Options::default());
    let lowered = lowered.unwrap_or_else(|d| panic!("{}", d[0]));
    assert_eq!(partitions(&lowered), Some(Partitions::One), "by one partition");
    lowered.remarks().iter().map(|d| format!("{d}\n")).collect()
}

#[test]
fn products_of_other_rows_are_left_to_one_partition_c63() {
    let gemm = common::kernel("gemm_bf16_64").replace("64x64x", "32x32x");
    let text = taken_over(&gemm);
    assert!(text.contains("tt.dot with M = 32") && text.contains("64, or multiples of 128"), "{text}");
}

/// A persistent kernel has two accumulators in 512 columns, and products of the next tile begin before the first bytes of
/// this one are stored (B79, Q50).
#[test]
fn products_of_the_next_tile_run_before_the_stores_of_this_one_b79() {
    use warploom::run::ArgSpec::{Int, Tensor};
    let (m, n, k) = (300, 500, 128);
    let module = warploom::read(&common::kernel("gemm_persistent")).unwrap();
    let target = Target::named("sm_100a").unwrap();
    let output =
        warploom::compile(&module, &target, &Options::default()).unwrap_or_else(|d| panic!("{}", d[0]));
    let (metadata, facts) = (&output.emitted.metadata, output.lowered.facts());
    assert_eq!((metadata.tmem_size, facts.tmem_columns), (512, 512));
    assert!(facts.rings.iter().any(|ring| *ring == ("p2".to_owned(), 2)), "{:?}", facts.rings);
    let ptx = emulator::Module::parse(&output.emitted.ptx).unwrap();
    let args = vec![
        Tensor(vec![m, k]),
        Tensor(vec![n, k]),
        Tensor(vec![m, n]),
        Int(m as i64),
        Int(n as i64),
        Int(k as i64),
    ];
    let prepared = prepare(&module, &metadata.name, &Case { args, grid: [1, 1, 1], seed: 1 }).unwrap();
    let ahead = policies(6).filter(|&policy| {
        let options = emulator::RunOptions::default().policy(policy).trace(1 << 22);
        let outcome = prepared.run(&ptx, metadata, &target, &options).unwrap();
        assert!(outcome.passed(), "{policy:?}\n{}", outcome.report);
        let begins = |is: &dyn Fn(&str) -> bool| {
            let events = outcome.report.trace.iter().filter(|e| e.operation.is_none() && is(&e.opcode));
            let mut begins: Vec<u64> = events.map(|e| e.begin).collect();
            begins.sort_unstable();
            begins
        };
        let products = begins(&|opcode| opcode.starts_with("tcgen05.mma"));
        let stores = begins(&|o| o.starts_with("cp.async.bulk.tensor") && o.contains(".global.shared"));
        let tiles = 6;
        assert!(products.len() % tiles == 0 && stores.len() % tiles == 0 && !stores.is_empty());
        let (each, sent) = (products.len() / tiles, stores.len() / tiles);
        (1..tiles).any(|tile| products[tile * each] < stores[(tile - 1) * sent])
    });
    assert!(
        ahead.count() > 0,
        "no interleaving has a product of the next tile before the stores of this one"
    );
}

/// The numbers of one kernel on one chip.
fn numbers(path: &Path, chip: &str, ptxas: &Path, nvdisasm: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    let target = Target::named(chip).unwrap();
    let name = format!("{}, {chip}", path.display());
    let module = warploom::read(&text).unwrap_or_else(|d| panic!("{name}: {}", d[0]));
    let output = warploom::compile(&module, &target, &Options::default())
        .unwrap_or_else(|d| panic!("{name}: {}", d[0]));
    let Resumed::Compiled(compiled) = &output.lowered else { panic!("a kernel is no program") };
    let assembled =
        assemble::assemble(ptxas, &output.emitted.ptx, chip).unwrap_or_else(|e| panic!("{name}: {e}"));
    let report = &assembled.report;
    assert!(report.is_clean(), "{name}: {} (C80)", assembled.log);
    let loops =
        sass::loops(&sass::disassemble(nvdisasm, &assembled.cubin).unwrap_or_else(|e| panic!("{name}: {e}")));
    let issue = loops.iter().filter(|l| l.utcmma > 0).min_by_key(|l| l.instructions).unwrap();
    let load = loops.iter().filter(|l| l.utmaldg > 0).min_by_key(|l| l.instructions).unwrap();
    let mut numbers = json!({
        "ii": compiled.loops[0].answer.ii, "slots": compiled.depths[0].slots, "shared": output.emitted.metadata.shared,
        "columns": output.emitted.metadata.tmem_size, "registers": report.registers,
        "issue_sass": issue.instructions, "issue_mma": issue.utcmma,
        "load_sass": load.instructions, "load_utmaldg": load.utmaldg,
    });
    if ATTENTION.iter().any(|name| path.ends_with(format!("{name}.ttir"))) {
        // The loop of the soft-max, and of the other loop of a causal kernel.
        let own = |l: &&sass::Loop| l.utcmma == 0 && l.utmaldg == 0 && !l.is_spin();
        let math = loops.iter().filter(own).map(|l| l.instructions).max();
        numbers["math_sass"] = json!(math.unwrap_or(0));
    }
    numbers
}

/// The kernels whose products the computing partition reads.
const ATTENTION: [&str; 5] =
    ["attention", "attention_64", "attention_causal", "attention_causal_f16", "attention_ragged"];

#[test]
fn machine_code_keeps_its_bars() {
    let (ptxas, nvdisasm) = (common::tool("ptxas"), common::tool("nvdisasm"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bars.tcgen05.json");
    let known = std::fs::read_to_string(&file).unwrap_or_else(|_| "{}".to_owned());
    let bars: BTreeMap<String, Value> = serde_json::from_str(&known).unwrap();
    let flagship = ("examples/kernels/gemm.ttir".to_owned(), root().join("examples/kernels/gemm.ttir"));
    let names = kernels().into_iter().map(|(name, ..)| name).chain(ATTENTION);
    let others = names.map(|name| (format!("kernels/{name}.ttir"), reference().join(format!("{name}.ttir"))));
    let (mut found, mut wrong) = (BTreeMap::new(), Vec::new());
    for (name, path) in std::iter::once(flagship).chain(others) {
        // Almost the same code for every such chip; the others are assembled for the flagship and attention alone.
        let every = name.starts_with("examples") || name.ends_with("/attention.ttir");
        let chips = if every { &CHIPS[..] } else { &CHIPS[..1] };
        for chip in chips {
            let key = format!("{name}, {chip}");
            let numbers = numbers(&path, chip, &ptxas, &nvdisasm);
            if bars.get(&key) != Some(&numbers) {
                wrong
                    .push(format!("{key}: {numbers}, the bar is {}", bars.get(&key).unwrap_or(&Value::Null)));
            }
            found.insert(key, numbers);
        }
    }
    let all = common::found("bars.tcgen05.json", &json!(found));
    assert!(wrong.is_empty(), "{}\nall of it: {}", wrong.join("\n"), all.display());
    // C82: the bars of the flagship, whatever the file says.
    for chip in CHIPS {
        let flagship = &found[&format!("examples/kernels/gemm.ttir, {chip}")];
        assert!(flagship["issue_sass"].as_u64() <= Some(50) && flagship["issue_mma"] == 4, "{flagship}");
        assert!(flagship["load_sass"].as_u64() <= Some(35) && flagship["load_utmaldg"] == 2, "{flagship}");
    }
    // Attention against C81: soft-max and scaling of one block in at most as many instructions as there, and no spill.
    let attention = &found["kernels/attention.ttir, sm_100a"];
    assert!(attention["math_sass"].as_u64() <= Some(572 + 322), "{attention}");
    assert_eq!(attention["issue_mma"], 16, "{attention}");
}
