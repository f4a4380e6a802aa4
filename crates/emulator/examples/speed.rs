//! How fast the machine is (E80): `cargo run --release -p warploom-emulator --example speed -- FILE.ptx`
//!
//! FILE is a GEMM of bf16 with 128x256x64 tiles and 384 threads in the launch contract of `gemm_bf16.ttir`.

use std::time::Instant;
use warploom_emulator::{
    Arg, Device, ElemType, Launch, Module, Options, Policy, Race, Refusal, TensorMap, TiledMap,
};
use warploom_target::Target;

fn map(addr: u64, rows: u64, cols: u64, box_rows: u32) -> Result<TensorMap, Refusal> {
    TensorMap::tiled(&TiledMap {
        elem: ElemType::BF16,
        addr,
        dims: vec![cols, rows],
        strides: vec![cols * 2],
        box_dims: vec![64, box_rows],
        elem_strides: vec![],
        swizzle: 128,
        nan_fill: false,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("give a PTX file")?;
    let module = Module::parse(&std::fs::read_to_string(path)?)?;
    let entry = module.entries().first().ok_or("no entry")?;
    for (m, n, k, race) in [
        (128, 256, 512, Race::Off),
        (128, 256, 512, Race::Full),
        (512, 512, 512, Race::Off),
        (512, 512, 512, Race::Full),
    ] {
        let mut dev = Device::new(&Target::named(&module.target)?);
        let (a, b, c) = (dev.alloc(m * k * 2, "A")?, dev.alloc(n * k * 2, "B")?, dev.alloc(m * n * 2, "C")?);
        let mut args = Vec::new();
        for (p, rows, cols, r) in [(a, m, k, 128), (b, n, k, 256), (c, m, n, 128)] {
            args.push(Arg::from(&map(p, rows, cols, r)?));
            args.extend([Arg::I32(rows as i32), Arg::I32(cols as i32), Arg::I64(cols as i64), Arg::I64(1)]);
        }
        args.extend([Arg::I32(k as i32), Arg::U64(0), Arg::U64(0)]);
        let grid = [(m / 128) as u32, (n / 256) as u32, 1];
        let launch = Launch { grid, smem: 196_688, args, ..Launch::of(entry) };
        let start = Instant::now();
        let report =
            dev.run(&module, &launch, &Options { policy: Policy::Random(1), race, ..Options::default() })?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{m}x{n}x{k} {race:?}: {seconds:.3} s, {} warp instructions, {:.0} k/s, clean: {}",
            report.stats.steps,
            report.stats.steps as f64 / seconds / 1e3,
            report.clean()
        );
    }
    Ok(())
}
