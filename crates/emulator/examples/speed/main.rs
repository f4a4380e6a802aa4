//! How fast the machine is (E80, E105): `cargo run --release -p warploom-emulator --example speed [-- FILE.ptx]`
//!
//! Element-wise, with shared memory, a matrix product by tiles and a reduction, on one host thread and on two: wall time of the
//! best run, and warp instructions per second of processor time of all, which others on the machine do not lengthen. With FILE that alone: a GEMM of bf16 with 128x256x64 tiles and 384 threads in the launch contract of `gemm_bf16.ttir`.

use std::error::Error;
use std::time::Instant;
use warploom_chips::Target;
use warploom_emulator::{
    Arg, Device, ElemType, EmulatorRefusal, Launch, Module, Policy, Race, RunOptions, TensorMap, TiledMap,
};

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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

/// Runs of each launch.
const RUNS: u32 = 10;

/// Processor seconds of this process so far, on Linux; in steps of 10 ms.
fn processor() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// Measures a launch that gives its warp instructions, and whether it was clean.
fn measure(
    what: &str,
    launch: impl Fn() -> Result<(u64, bool), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let (mut best, mut steps, mut clean) = (f64::INFINITY, 0, true);
    let before = processor();
    for _ in 0..RUNS {
        let start = Instant::now();
        let (n, fine) = launch()?;
        best = best.min(start.elapsed().as_secs_f64());
        steps += n;
        clean &= fine;
    }
    let speed = match (before, processor()) {
        (Some(before), Some(after)) => format!("{:.0} k/s", steps as f64 / (after - before) / 1e3),
        _ => "unknown".to_string(),
    };
    println!("{what}: {best:.3} s, processor {speed}, clean: {clean}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(path) = std::env::args().nth(1) else {
        return kernels().iter().try_for_each(|(what, text, grid)| time(what, text, *grid));
    };
    let module = Module::parse(&std::fs::read_to_string(path)?)?;
    let entry = module.entries().first().ok_or("no entry")?;
    for (m, n, k, race) in [(512, 512, 512, Race::Off), (512, 512, 512, Race::Full)] {
        measure(&format!("{m}x{n}x{k} {race:?}"), || {
            let mut dev = Device::new(&Target::named(&module.target)?);
            let (a, b, c) =
                (dev.alloc(m * k * 2, "A")?, dev.alloc(n * k * 2, "B")?, dev.alloc(m * n * 2, "C")?);
            let mut args = Vec::new();
            for (p, rows, cols, r) in [(a, m, k, 128), (b, n, k, 256), (c, m, n, 128)] {
                args.push(Arg::from(&map(p, rows, cols, r)?));
                args.extend([
                    Arg::I32(rows as i32),
                    Arg::I32(cols as i32),
                    Arg::I64(cols as i64),
                    Arg::I64(1),
                ]);
            }
            args.extend([Arg::I32(k as i32), Arg::U64(0), Arg::U64(0)]);
            let grid = [(m / 128) as u32, (n / 256) as u32, 1];
            let launch = Launch { grid, smem: 196_688, args, ..Launch::of(entry) };
            let options = RunOptions::default().policy(Policy::Random(1)).race(race);
            let report = dev.run(&module, &launch, &options)?;
            Ok((report.stats.steps, report.clean()))
        })?;
    }
    Ok(())
}

/// The kernels that are not from a file: name, PTX, grid.
fn kernels() -> [(&'static str, String, [u32; 3]); 4] {
    let add = "ld.global.f32 %f1, [%rd5];\nld.global.f32 %f2, [%rd6];\nadd.f32 %f3, %f1, %f2;\n\
         st.global.f32 [%rd7], %f3;\n";
    let neighbours = "ld.global.f32 %f1, [%rd5];\nmov.b32 %r4, 0;\nmov.b32 %r5, words;\nshl.b32 %r6, %r1, 2;\n\
         add.s32 %r7, %r5, %r6;\nxor.b32 %r8, %r7, 128;\n$loop:\nst.shared.f32 [%r7], %f1;\nbar.sync 0;\n\
         ld.shared.f32 %f2, [%r8];\nfma.rn.f32 %f1, %f1, 0f3F000000, %f2;\nbar.sync 0;\nadd.s32 %r4, %r4, 1;\n\
         setp.lt.s32 %p1, %r4, 100;\n@%p1 bra $loop;\nst.global.f32 [%rd7], %f1;\n";
    [
        ("1024 CTAs that add two vectors", elements(add), [1024, 1, 1]),
        ("64 CTAs in a loop with a neighbour's word", elements(neighbours), [64, 1, 1]),
        ("64 CTAs that multiply matrices by tiles", include_str!("product.ptx").to_string(), [8, 8, 1]),
        ("256 CTAs that add up a vector", include_str!("reduction.ptx").to_string(), [256, 1, 1]),
    ]
}

/// A kernel of 256 threads a CTA and an element for each.
fn elements(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 16 .b8 words[1024];\n\
         .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)\n\
         .reqntid 256 {{\n.reg .pred %p<2>;\n.reg .b32 %r<9>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<8>;\n\
         ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [c];\nmov.u32 %r1, %tid.x;\n\
         mov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 256, %r1;\nmul.wide.u32 %rd4, %r3, 4;\n\
         add.s64 %rd5, %rd1, %rd4;\nadd.s64 %rd6, %rd2, %rd4;\nadd.s64 %rd7, %rd3, %rd4;\n{body}ret;\n}}\n"
    )
}

/// Runs a kernel on one host thread and on two, with all detectors.
fn time(what: &str, text: &str, grid: [u32; 3]) -> Result<(), Box<dyn Error>> {
    let module = Module::parse(text)?;
    for threads in [1, 2] {
        measure(&format!("{what}, {threads} threads"), || {
            let mut device = Device::new(&Target::named("sm_80")?);
            let args = ["a", "b", "c"].map(|name| device.alloc(1 << 20, name).map(Arg::Ptr));
            let args = args.into_iter().collect::<Result<Vec<Arg>, _>>()?;
            let launch = Launch { grid, args, ..Launch::of(module.entry("k")?) };
            let report = device.run(&module, &launch, &RunOptions::default().threads(threads))?;
            Ok((report.stats.steps, report.clean()))
        })?;
    }
    Ok(())
}
