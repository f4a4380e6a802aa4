//! How fast the machine is (E80): `cargo run --release -p warploom-emulator --example speed -- FILE.ptx`
//!
//! FILE is a GEMM of bf16 with 128x256x64 tiles and 384 threads in the launch contract of `gemm_bf16.ttir`.

use std::time::Instant;
use warploom_chips::Target;
use warploom_emulator::{
    Arg, Device, ElemType, EmulatorRefusal, Launch, Module, Policy, Race, RunOptions, TensorMap, TiledMap,
};

fn map(addr: u64, rows: u64, cols: u64, box_rows: u32) -> Result<TensorMap, EmulatorRefusal> {
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
            dev.run(&module, &launch, &RunOptions::default().policy(Policy::Random(1)).race(race))?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{m}x{n}x{k} {race:?}: {seconds:.3} s, {} warp instructions, {:.0} k/s, clean: {}",
            report.stats.steps,
            report.stats.steps as f64 / seconds / 1e3,
            report.clean()
        );
    }
    many_ctas()
}

/// 1,024 CTAs that add two vectors, on one host thread and on two (E105).
fn many_ctas() -> Result<(), Box<dyn std::error::Error>> {
    let module = Module::parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c)\n\
         .reqntid 256 {\n.reg .b32 %r<5>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<8>;\nld.param.u64 %rd1, [a];\n\
         ld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [c];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n\
         mad.lo.u32 %r3, %r2, 256, %r1;\nmul.wide.u32 %rd4, %r3, 4;\nadd.s64 %rd5, %rd1, %rd4;\n\
         add.s64 %rd6, %rd2, %rd4;\nadd.s64 %rd7, %rd3, %rd4;\nld.global.f32 %f1, [%rd5];\n\
         ld.global.f32 %f2, [%rd6];\nadd.f32 %f3, %f1, %f2;\nst.global.f32 [%rd7], %f3;\nret;\n}\n",
    )?;
    for threads in [1, 2] {
        let mut device = Device::new(&Target::named("sm_80")?);
        let bytes = 1024 * 256 * 4;
        let args = ["a", "b", "c"].map(|name| device.alloc(bytes, name).map(Arg::Ptr));
        let args = args.into_iter().collect::<Result<Vec<Arg>, _>>()?;
        let launch = Launch { grid: [1024, 1, 1], args, ..Launch::of(module.entry("add")?) };
        let start = Instant::now();
        let report = device.run(&module, &launch, &RunOptions::default().threads(threads))?;
        let seconds = start.elapsed().as_secs_f64();
        let steps = report.stats.steps;
        println!("1024 CTAs on {threads} threads: {seconds:.3} s, {:.0} k/s", steps as f64 / seconds / 1e3);
    }
    Ok(())
}
