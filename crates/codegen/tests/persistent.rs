//! A persistent GEMM: rings and iterators that live from tile to tile (C9, C23).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "common/machine.rs"]
mod machine;

use common::{messages, program};
use machine::Matrix;
use warploom_chips::Target;
use warploom_codegen::EmitOptions;
use warploom_emulator::{Arg, Device, ElemType, Launch, Module, Policy, TensorMap, TiledMap};

fn computes([m, n, k]: [u64; 3], programs: u32, policy: Policy) {
    let text = program("gemm_persistent_bf16.mlir");
    let emitted =
        common::emit_text(&text, &EmitOptions::default()).unwrap_or_else(|e| panic!("{}", messages(&e)));
    let depth = k.max(64);
    let (a, b) = (Matrix::random(m, depth, "bf16", 1), Matrix::random(n, depth, "bf16", 2));
    let c = Matrix::zero(m, n, "bf16");
    let mut device = Device::new(&Target::named("sm_90a").unwrap());
    let (mut args, mut at_c) = (Vec::new(), 0);
    for (matrix, record) in [&a, &b, &c].into_iter().zip(&emitted.metadata.tensordesc_meta) {
        at_c = device.alloc_from(&matrix.bytes, "matrix").unwrap();
        let map = TiledMap {
            elem: ElemType::from_code(record.elem_type as u8).unwrap(),
            addr: at_c,
            dims: vec![matrix.cols, matrix.rows],
            strides: vec![matrix.cols * 2],
            box_dims: record.block_size.iter().rev().copied().collect(),
            elem_strides: Vec::new(),
            swizzle: [0, 32, 64, 128][record.swizzle as usize],
            nan_fill: false,
        };
        args.push(Arg::from(&TensorMap::tiled(&map).unwrap()));
        args.extend([Arg::I32(matrix.rows as i32), Arg::I32(matrix.cols as i32)]);
        args.extend([Arg::I64(matrix.cols as i64), Arg::I64(1)]);
    }
    args.extend([m, n, k].map(|x| Arg::I32(x as i32)));
    args.extend([Arg::U64(0), Arg::U64(0)]);
    let module = Module::parse(&emitted.ptx).unwrap();
    let entry = module.entry(&emitted.metadata.name).unwrap();
    let smem = emitted.metadata.shared as u32;
    let launch = Launch { grid: [programs, 1, 1], smem, args, ..Launch::of(entry) };
    let options = warploom_emulator::RunOptions::default().policy(policy).strict(true);
    let report = device.run(&module, &launch, &options).unwrap_or_else(|e| panic!("{e}"));
    assert!(report.clean(), "{m}x{n}x{k} by {programs}, {policy:?}: {report}");
    let found = Matrix { bytes: device.read(at_c).unwrap().to_vec(), ..c }.values();
    let (a, b) = (a.values(), b.values());
    let row = |list: &[f64], i: u64| list[(i * depth) as usize..(i * depth + k) as usize].to_vec();
    let wanted = (0..m * n).map(|at| {
        let (x, y) = (row(&a, at / n), row(&b, at % n));
        x.iter().zip(&y).map(|(x, y)| x * y).sum()
    });
    let worst = machine::error(&found, wanted);
    assert!(worst < 4e-3, "{m}x{n}x{k} by {programs}, {policy:?}: {worst}");
}

/// More tiles than programs and fewer; trip counts around the depth of the ring; ragged edges.
#[test]
fn tiles_after_tiles() {
    computes([256, 512, 128], 1, Policy::Random(1));
    computes([200, 264, 192], 3, Policy::Random(2));
    computes([128, 520, 448], 1, Policy::Eager);
    computes([128, 256, 64], 2, Policy::Random(3));
    computes([128, 512, 0], 1, Policy::Random(4));
}
