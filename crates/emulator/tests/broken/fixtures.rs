//! The good kernels, their edits and launches.

use super::common::{self, map};
use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module, Policy, Report, RunOptions};

pub fn fixture(name: &str) -> String {
    let name = name.replace("_than_resident", "");
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Replaces the line that carries a marker; `{line}` in the replacement stands for the old line.
pub fn edit(text: &str, marker: &str, with: &str) -> String {
    let tag = format!("//!{marker}");
    assert_eq!(text.lines().filter(|l| l.trim_end().ends_with(&tag)).count(), 1, "marker {marker}");
    let line = |l: &str| if l.trim_end().ends_with(&tag) { with.replace("{line}", l) } else { l.to_string() };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

pub fn words(n: u32) -> Vec<u8> {
    (0..n).flat_map(|i| (i * 7 + 3).to_le_bytes()).collect()
}

/// Launches a fixture; returns the report and the output.
pub fn launch(name: &str, text: &str, policy: Policy, strict: bool) -> (Report, Vec<u8>) {
    let module = Module::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let entry = &module.entries()[0];
    if let Some(r) = entry.refusal() {
        panic!("{name}: {r}");
    }
    let mut dev = Device::new(&Target::named(&module.target).unwrap());
    let mut l = Launch { smem: 1024, ..Launch::of(entry) };
    let out;
    if name == "box.ptx" {
        l.smem = 1152;
        let values: Vec<u8> = common::bf16_bytes(&common::numbers(512, 3));
        let a = dev.alloc_from(&values, "in").unwrap();
        out = dev.alloc(1024, "out").unwrap();
        l.args = vec![(&map(a, 8, 64, 8, 64)).into(), (&map(out, 8, 64, 8, 64)).into()];
    } else if name == "product.ptx" {
        l.smem = 4096;
        let half = |n, s| -> Vec<u8> {
            common::numbers(n, s)
                .iter()
                .flat_map(|v| half::f16::from_f32(*v).to_bits().to_le_bytes())
                .collect()
        };
        let (a, b) = (half(1024, 5), half(128, 6));
        let (a, b) = (dev.alloc_from(&a, "A").unwrap(), dev.alloc_from(&b, "B").unwrap());
        out = dev.alloc(2048, "D").unwrap();
        l.args = vec![Arg::Ptr(a), Arg::Ptr(b), Arg::Ptr(out)];
    } else if name == "scaled.ptx" {
        l.smem = 8192;
        // Finite numbers, and scales that are not too large.
        let image: Vec<u8> = (0..6656_u32).map(|i| (i % 59 + 64) as u8).collect();
        let image = dev.alloc_from(&image, "in").unwrap();
        out = dev.alloc(16_384, "out").unwrap();
        l.args = vec![Arg::Ptr(image), Arg::Ptr(out)];
    } else {
        if name == "copies.ptx" {
            l.smem = 2048;
        }
        match name {
            "peers.ptx" => (l.grid, l.cluster) = ([2, 1, 1], [2, 1, 1]),
            "flag.ptx" | "locks.ptx" => l.grid = [2, 1, 1],
            "last_block.ptx" => l.grid = [5, 1, 1],
            "grid.ptx" => l.grid = [6, 1, 1],
            "later.ptx" => (l.grid, l.smem) = ([132, 1, 1], 204_800),
            "later_than_resident.ptx" => (l.grid, l.smem) = ([133, 1, 1], 204_800),
            _ => {}
        }
        let shared = ["flag.ptx", "locks.ptx", "last_block.ptx", "grid.ptx"].contains(&name)
            || name.starts_with("later");
        let first = if shared { vec![0; 2048] } else { words(512) };
        let a = dev.alloc_from(&first, "in").unwrap();
        out = dev.alloc(1024, "out").unwrap();
        l.args = vec![Arg::Ptr(a), Arg::Ptr(out)];
        if name == "ring.ptx" {
            l.args.push(Arg::I32(7));
        }
    }
    let opts = RunOptions::default().policy(policy).strict(strict).max_steps(100_000);
    let report = dev.run(&module, &l, &opts).unwrap_or_else(|e| panic!("{name}: {e}"));
    let bytes = dev.read(out).unwrap().to_vec();
    (report, bytes)
}
