//! Kernels of ours as Triton 3.9 compiles them for three chips, `kernels/ptx`, run clean and right (E90); and they print
//! back. `make_triton_ptx.py --bare` makes them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;

use common::manifest::{compare, run, values};
use common::{kernel, numbers};
use serde_json::Value;
use warploom_emulator::Policy;

fn manifests() -> Vec<Value> {
    let folder = std::fs::read_dir(common::workspace().join("kernels/ptx")).unwrap();
    let mut names: Vec<String> = folder.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".json"));
    names.sort();
    names.iter().map(|name| serde_json::from_str(&kernel(&format!("ptx/{name}"))).unwrap()).collect()
}

/// C = A B^T of 128x192 and 64x192.
fn gemm(x: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let dot = |i: usize, j: usize| (0..192).map(|k| x[0][192 * i + k] * x[1][192 * j + k]).sum();
    vec![(0..128).flat_map(|i| (0..64).map(move |j| dot(i, j))).collect()]
}

/// 3 rows of 1000, 1024 apart.
fn softmax(x: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut y = vec![0.0; x[0].len()];
    for row in 0..3 {
        let x = &x[0][1024 * row..1024 * row + 1000];
        let peak = x.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let sum: f64 = x.iter().map(|v| (v - peak).exp()).sum();
        for (y, x) in y[1024 * row..].iter_mut().zip(x) {
            *y = (x - peak).exp() / sum;
        }
    }
    vec![y]
}

/// 2 rows of 1500, 1504 apart; then means and reciprocal deviations.
fn layernorm(x: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (mut y, mut means, mut scales) = (vec![0.0; x[0].len()], Vec::new(), Vec::new());
    for row in 0..2 {
        let at = 1504 * row;
        let one = &x[0][at..at + 1500];
        let mean = one.iter().sum::<f64>() / 1500.0;
        let scale = 1.0 / (one.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 1500.0 + 1e-5).sqrt();
        for i in 0..1500 {
            y[at + i] = (one[i] - mean) * scale * x[2][i] + x[3][i];
        }
        means.push(mean);
        scales.push(scale);
    }
    vec![y, means, scales]
}

/// Runs one module under a policy; says what is wrong.
fn check(manifest: &Value, policy: Policy) -> Result<(), String> {
    let name = manifest["name"].as_str().unwrap();
    let outputs = manifest["outputs"].as_array().unwrap();
    let written = |b: usize| outputs.iter().any(|o| o["buffer"].as_u64() == Some(b as u64));
    let fill = |(b, buffer): (usize, &Value)| {
        let count = buffer["count"].as_u64().unwrap() as usize;
        match buffer["dtype"].as_str().unwrap() {
            "bf16" if written(b) => vec![0; 2 * count],
            "bf16" => {
                let scale = if name.starts_with("softmax") { 4.0 } else { 1.0 };
                let x: Vec<f32> = numbers(count, b as u64 + 1).iter().map(|v| v * scale).collect();
                common::bf16_bytes(&x)
            }
            "fp32" if written(b) => vec![0; 4 * count],
            other => panic!("{name}: buffer {b} of {other}"),
        }
    };
    let buffers = manifest["buffers"].as_array().unwrap();
    let data: Vec<Vec<u8>> = buffers.iter().enumerate().map(fill).collect();
    let inputs = data.iter().zip(buffers).map(|(d, b)| values(d, b["dtype"].as_str().unwrap()));
    let inputs: Vec<Vec<f64>> = inputs.collect();
    let want = match name.split('.').next().unwrap() {
        "gemm_bf16_64" => gemm(&inputs),
        "softmax" => softmax(&inputs),
        "layernorm" => layernorm(&inputs),
        other => panic!("nothing is known of {other}"),
    };
    let (report, after) = run(&kernel(&format!("ptx/{name}.ptx")), manifest, &data, policy)?;
    if !report.clean() {
        return Err(report.to_string());
    }
    assert_eq!(outputs.len(), want.len(), "{name}");
    outputs.iter().zip(&want).try_for_each(|(output, want)| {
        compare(output, &after[output["buffer"].as_u64().unwrap() as usize], want)
    })
}

#[test]
fn compiled_kernels_are_clean_and_right() {
    let all = manifests();
    assert!(all.len() >= 12, "{} modules in kernels/ptx", all.len());
    for manifest in &all {
        for policy in [Policy::Eager, Policy::Lazy, Policy::Random(1), Policy::Random(2)] {
            if let Err(why) = check(manifest, policy) {
                panic!("{} {policy:?}: {why}", manifest["name"]);
            }
        }
    }
}

/// What is printed means the same: it prints back, and as many instructions are decoded.
#[test]
fn compiled_and_written_kernels_print_back() {
    let mut texts: Vec<String> =
        manifests().iter().map(|m| kernel(&format!("ptx/{}.ptx", m["name"].as_str().unwrap()))).collect();
    texts.extend(["hand/gemm_bf16.sm_90a.ptx", "hand/gemm_bf16.sm_100a.ptx"].map(kernel));
    for text in texts {
        assert_eq!(warploom_testing::ptx::prints_back(&text), Ok(()));
        let printed = warploom_ptx::parse(&text).unwrap().to_string();
        let counts = |text: &str| {
            let module = warploom_emulator::Module::parse(text).unwrap();
            module.entries().iter().map(warploom_emulator::Entry::instructions).collect::<Vec<_>>()
        };
        assert!(counts(&text) == counts(&printed) && counts(&text)[0] > 0);
    }
}
