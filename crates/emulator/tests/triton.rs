//! PTX that Triton made, with its inputs and expected outputs, runs clean and right (E90).
//!
//! `make_triton_ptx.py` writes the modules to `target/triton-ptx` of the workspace; without them the tests say so
//! and pass. `cargo test -- --ignored` runs every policy.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;

use common::with;
use serde_json::Value;
use std::path::{Path, PathBuf};
use warploom_emulator::{Arg, Device, ElemType, Launch, Module, Policy, TensorMap, TiledMap};
use warploom_target::Target;

fn folder() -> Option<PathBuf> {
    let found = common::workspace()?.join("target/triton-ptx");
    found.is_dir().then_some(found)
}

fn ints(v: &Value) -> Vec<u64> {
    v.as_array().map(|a| a.iter().filter_map(Value::as_u64).collect()).unwrap_or_default()
}

/// The arguments of a manifest; the type of an integer is that of the parameter.
fn arguments(module: &Module, manifest: &Value, buffers: &[u64]) -> Vec<Arg> {
    let entry = &module.entries()[0];
    let list = manifest["args"].as_array().unwrap();
    let one = |(v, p): (&Value, &warploom_emulator::Param)| {
        if let Some(b) = v["ptr"].as_u64() {
            return Arg::Ptr(buffers[b as usize]);
        }
        if let Some(f) = v["f32"].as_f64() {
            return Arg::F32(f as f32);
        }
        if let Some(i) = v["int"].as_i64() {
            return match p.size {
                1 => Arg::U8(i as u8),
                2 => Arg::U16(i as u16),
                4 => Arg::I32(i as i32),
                _ => Arg::I64(i),
            };
        }
        let t = &v["tmap"];
        let map = TiledMap {
            elem: ElemType::from_code(t["elem"].as_u64().unwrap() as u8).unwrap(),
            addr: buffers[t["buffer"].as_u64().unwrap() as usize],
            dims: ints(&t["dims"]),
            strides: ints(&t["strides"]),
            box_dims: ints(&t["box"]).iter().map(|b| *b as u32).collect(),
            elem_strides: vec![],
            swizzle: t["swizzle"].as_u64().unwrap() as u32,
            nan_fill: false,
        };
        Arg::from(&TensorMap::tiled(&map).unwrap())
    };
    list.iter().zip(&entry.params).map(one).collect()
}

fn values(bytes: &[u8], dtype: &str) -> Vec<f64> {
    fn each<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        bytes.chunks_exact(N).map(|c| read(c.try_into().unwrap())).collect()
    }
    match dtype {
        "bf16" => each(bytes, |c| half::bf16::from_le_bytes(c).to_f64()),
        "fp16" => each(bytes, |c| half::f16::from_le_bytes(c).to_f64()),
        "fp32" => each(bytes, |c| f64::from(f32::from_le_bytes(c))),
        "fp64" => each(bytes, f64::from_le_bytes),
        "i8" => each(bytes, |c| f64::from(i8::from_le_bytes(c))),
        "i32" => each(bytes, |c| f64::from(i32::from_le_bytes(c))),
        "i64" => each(bytes, |c| i64::from_le_bytes(c) as f64),
        other => panic!("unknown type {other}"),
    }
}

/// Runs one module; says what is wrong.
fn check(root: &Path, manifest: &Value, policy: Policy) -> Result<(), String> {
    let name = manifest["name"].as_str().unwrap();
    let ptx = std::fs::read_to_string(root.join(format!("{name}.ptx"))).unwrap();
    let module = Module::parse(&ptx).map_err(|e| e.to_string())?;
    let mut dev = Device::new(&Target::named(manifest["target"].as_str().unwrap()).unwrap());
    let mut buffers = Vec::new();
    for b in manifest["buffers"].as_array().unwrap() {
        let data = std::fs::read(root.join("data").join(b["file"].as_str().unwrap())).unwrap();
        buffers.push(dev.alloc_from(&data, b["name"].as_str().unwrap()).unwrap());
    }
    let grid: Vec<u32> = ints(&manifest["grid"]).iter().map(|v| *v as u32).collect();
    let launch = Launch {
        entry: manifest["entry"].as_str().unwrap().to_string(),
        grid: [grid[0], grid[1], grid[2]],
        block: [manifest["threads"].as_u64().unwrap() as u32, 1, 1],
        cluster: [manifest["cluster"].as_u64().unwrap_or(1) as u32, 1, 1],
        smem: manifest["smem"].as_u64().unwrap() as u32,
        args: arguments(&module, manifest, &buffers),
    };
    let report = dev.run(&module, &launch, &with(policy)).map_err(|e| e.to_string())?;
    if let Some(code) = manifest["finding"].as_str() {
        // A fault of Triton's own, which this schedule may or may not show.
        return report.errors().all(|f| f.code == code).then_some(()).ok_or_else(|| report.to_string());
    }
    if !report.clean() {
        return Err(report.to_string());
    }
    for o in manifest["outputs"].as_array().unwrap() {
        let got = values(
            dev.read(buffers[o["buffer"].as_u64().unwrap() as usize]).unwrap(),
            o["dtype"].as_str().unwrap(),
        );
        let want = std::fs::read(root.join("data").join(o["want"].as_str().unwrap())).unwrap();
        let want = values(&want, "fp64");
        let peak = want.iter().fold(1e-300_f64, |m, v| m.max(v.abs()));
        let error = |(g, w): (&f64, &f64)| if g.is_nan() && w.is_nan() { 0.0 } else { (g - w).abs() };
        let worst = got
            .iter()
            .zip(&want)
            .map(error)
            .fold(0.0, |m: f64, e| if e.is_nan() { f64::INFINITY } else { m.max(e) });
        let tolerance = o["tolerance"].as_f64().unwrap();
        if got.len() != want.len() || worst > tolerance * peak {
            return Err(format!("error {} of the largest element, allowed {tolerance}", worst / peak));
        }
    }
    Ok(())
}

fn run_all(policies: &[Policy]) {
    let Some(root) = folder() else {
        eprintln!("skipped: no target/triton-ptx; tests/make_triton_ptx.py makes it");
        return;
    };
    let mut names: Vec<PathBuf> = std::fs::read_dir(&root).unwrap().map(|f| f.unwrap().path()).collect();
    names.sort();
    let (mut modules, mut runs) = (0, 0);
    let mut bad = Vec::new();
    for path in names.iter().filter(|p| p.extension().is_some_and(|e| e == "json")) {
        let manifest: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        modules += 1;
        for policy in policies {
            runs += 1;
            if let Err(why) = check(&root, &manifest, *policy) {
                bad.push(format!("{} {policy:?}: {why}", manifest["name"]));
                break;
            }
        }
    }
    println!("{modules} modules, {runs} runs, {} wrong", bad.len());
    assert!(bad.is_empty(), "{}", bad.join("\n\n"));
}

#[test]
fn triton_modules_are_clean_and_right() {
    run_all(&[Policy::Random(1)]);
}

#[test]
#[ignore = "takes minutes: every policy"]
fn triton_modules_under_every_policy() {
    run_all(&common::policies());
}
