//! The numbers of C80 and C82, kept in `bars.json`: a worse one fails, a better one asks to be written down. Needs the
//! pinned ptxas and nvdisasm in `.venv` (`make setup`).
//!
//! What was found lies beside the build output, to be copied over the file; a failure says where.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "helpers of tests")]
#![cfg(feature = "llvm")]

use std::collections::BTreeMap;
use std::path::Path;

mod common;

use common::{kernel, root, tool};
use serde_json::{Value, json};
use warploom::codegen::{assemble, sass};
use warploom::{Options, Partitions, Resumed, Target};

/// The numbers of one kernel.
fn numbers(path: &Path, ptxas: &Path, nvdisasm: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    let target = Target::named("sm_90a").unwrap();
    let module = warploom::read(&text).unwrap_or_else(|d| panic!("{}: {}", path.display(), d[0]));
    let output = warploom::compile(&module, &target, &Options::default())
        .unwrap_or_else(|d| panic!("{}: {}", path.display(), d[0]));
    let Resumed::Compiled(compiled) = &output.lowered else { panic!("a kernel is no program") };
    let assembled =
        assemble::assemble(ptxas, &output.emitted.ptx, "sm_90a").unwrap_or_else(|e| panic!("{e}"));
    let report = &assembled.report;
    let repairs: Vec<&str> = report.notes.iter().filter(|n| n.is_repair()).map(|n| n.text.as_str()).collect();
    assert!(repairs.is_empty(), "{}: {repairs:?} (C80)", path.display());
    let loops = sass::loops(&sass::disassemble(nvdisasm, &assembled.cubin).unwrap_or_else(|e| panic!("{e}")));
    let multiply =
        loops.iter().find(|l| l.hgmma > 0).unwrap_or_else(|| panic!("{}: no HGMMA", path.display()));
    let load =
        loops.iter().find(|l| l.utmaldg > 0).unwrap_or_else(|| panic!("{}: no UTMALDG", path.display()));
    json!({
        "ii": compiled.loops[0].answer.ii, "slots": compiled.depths[0].slots, "shared": output.emitted.metadata.shared,
        "registers": report.registers, "spill_bytes": report.spill_stores + report.spill_loads,
        "stack_bytes": report.stack, "multiply_sass": multiply.instructions, "multiply_hgmma": multiply.hgmma,
        "load_sass": load.instructions, "load_utmaldg": load.utmaldg,
    })
}

#[test]
fn machine_code_keeps_its_bars() {
    let (ptxas, nvdisasm) = (tool("ptxas"), tool("nvdisasm"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bars.json");
    let mut bars: BTreeMap<String, Value> =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for name in bars.keys().cloned().collect::<Vec<_>>() {
        let path = root().join(&name);
        let found = numbers(&path, &ptxas, &nvdisasm);
        let bar = &bars[&name];
        for (field, value) in found.as_object().unwrap() {
            let (new, old) = (value.as_u64().unwrap(), bar[field].as_u64().unwrap_or(u64::MAX));
            if new != old {
                let verdict = if new > old { "worse" } else { "better: write it down" };
                wrong.push(format!("{name}: {field} {new}, the bar is {old} ({verdict})"));
            }
        }
        bars.insert(name, found);
    }
    let found = common::found("bars.json", &json!(bars));
    assert!(wrong.is_empty(), "{}\nall of it: {}", wrong.join("\n"), found.display());
    // C82: the bars of the flagship, whatever the file says.
    let flagship = &bars["examples/kernels/gemm.ttir"];
    assert!(flagship["multiply_sass"].as_u64() <= Some(44) && flagship["multiply_hgmma"] == 4, "{flagship}");
    assert!(flagship["load_sass"].as_u64() <= Some(35) && flagship["load_utmaldg"] == 2, "{flagship}");
    // C82: attention, per 64x128 block of a warpgroup.
    let attention = &bars["kernels/attention.ttir"];
    assert!(attention["multiply_sass"].as_u64() <= Some(589), "{attention}");
    assert_eq!(attention["multiply_hgmma"], 16, "{attention}");
    for (name, bar) in &bars {
        assert_eq!((&bar["spill_bytes"], &bar["stack_bytes"]), (&json!(0), &json!(0)), "{name} spills (C80)");
    }
}

/// Kernels that one partition runs: instructions a trip of the longest loop with products over all its warps, and nothing
/// spilled (C80). Attention stands here where its registers are scarcest; Triton's figures are those of docs/kernels.md.
#[test]
fn one_partition_keeps_its_bars_and_spills_nothing() {
    let (ptxas, nvdisasm) = (tool("ptxas"), tool("nvdisasm"));
    let mut wrong = Vec::new();
    for (name, chip, most) in [
        ("gemm_pointers", "sm_80", 552),
        ("gemm_pointers", "sm_90a", 308),
        ("gemm_device_descriptors", "sm_90a", 960),
        ("gemm_bf16_128.sm80", "sm_90a", 5440),
        ("attention.sm80", "sm_90a", 13368),
        ("attention.sm80", "sm_120a", 14064),
        ("attention_causal", "sm_86", 10072),
        ("attention_causal", "sm_120a", 9600),
    ] {
        let text = kernel(name);
        let target = Target::named(chip).unwrap();
        let module = warploom::read(&text).unwrap_or_else(|d| panic!("{name}: {}", d[0]));
        let mut one = Options::default();
        one.pipeline = one.pipeline.partitions(Some(Partitions::One));
        let output = warploom::compile(&module, &target, &one).unwrap_or_else(|d| panic!("{name}: {}", d[0]));
        let assembled = assemble::assemble(&ptxas, &output.emitted.ptx, chip)
            .unwrap_or_else(|e| panic!("{name} on {chip}: {e}"));
        let report = &assembled.report;
        assert_eq!(
            (report.spill_stores, report.spill_loads, report.stack),
            (0, 0, 0),
            "{name} on {chip} spills"
        );
        let text = sass::disassemble(&nvdisasm, &assembled.cubin).unwrap_or_else(|e| panic!("{e}"));
        let loops = sass::loops(&text);
        let warps = u64::from(output.emitted.metadata.num_warps);
        let longest =
            loops.iter().filter(|l| l.hgmma + l.mma > 0).map(|l| warps * l.instructions as u64).max();
        println!(
            "{name} on {chip}: {longest:?} instructions a trip, {warps} warps of {} registers",
            report.registers
        );
        if longest.is_none_or(|longest| longest > most) {
            wrong.push(format!("{name} on {chip}: {longest:?}, the bar is {most}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
