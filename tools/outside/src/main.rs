//! Schedules a loop, assigns buffers, lays out storage that its author shares, runs PTX and calls the laws on all of it,
//! with nothing of the project but its packages. The argument is a problem of buffers as JSON.

use std::error::Error;

use warploom_alias::{AliasModule, AliasOptions, Alloc, Elem, ReuseGroup, Storage};
use warploom_bufassign::{Problem, assign};
use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module};
use warploom_sched::{LoopGraph, ScheduleOptions, check, schedule, validate};
use warploom_testing::{alias, emulator, sched::laws};

fn main() -> Result<(), Box<dyn Error>> {
    let problem = std::env::args().nth(1).ok_or("usage: outside PROBLEM.json")?;
    println!("sched: {}", scheduled()?);
    println!("bufassign: {}", assigned(&std::fs::read_to_string(problem)?)?);
    println!("alias: {}", laid_out()?);
    println!("emulator: {}", emulated()?);
    Ok(())
}

/// A GEMM's loop on one copy engine and one tensor core.
fn scheduled() -> Result<String, Box<dyn Error>> {
    let mut gemm = LoopGraph::new("gemm");
    gemm.add_resource("TMA", 1).add_resource("TC", 1);
    let load = gemm.add_node("load", 556, &[("TMA", 0, 192)]);
    let dot = gemm.add_node("dot", 559, &[("TC", 0, 256)]);
    gemm.add_edge(load, dot, 556, 0).add_edge(dot, dot, 256, 1);
    let answer = schedule(&validate(&gemm)?, &ScheduleOptions::default())?;
    check::all(&gemm, &answer)?;
    laws::schedule_is_legal(&gemm, &ScheduleOptions::default())?;
    laws::algorithms_agree(&gemm)?;
    Ok(format!("II {}, {} stages", answer.ii, answer.stages))
}

/// Buffers and barriers of a problem, and what the checker says of them.
fn assigned(text: &str) -> Result<String, Box<dyn Error>> {
    let problem = Problem::from_json(text)?;
    let answer = assign(&problem, &problem.options)?;
    warploom_bufassign::check::check(&problem, &answer)?;
    Ok(format!("{} bytes of shared memory", answer.smem.used))
}

/// Two buffers, of which one may lie where the other does.
fn laid_out() -> Result<String, Box<dyn Error>> {
    let mut module = AliasModule::new();
    let spec = module.storage_alias_spec(Storage::Smem, None)?;
    let ring = module.local_alloc(Alloc::new("ring", 2, [128, 64], Elem::BF16).reuse(spec))?;
    let tile = module.local_alloc(Alloc::new("tile", 1, [128, 128], Elem::BF16).reuse(spec))?;
    module.set_buffer_overlap(spec, ReuseGroup::shared([ring, tile])?)?;
    let layout = module.layout(&AliasOptions::default())?;
    alias::layout_is_right(&module, &AliasOptions::default())?;
    let (storage, _) = layout.leaf(tile).ok_or("the tile is laid out")?;
    Ok(format!("{} bytes for both", storage.size))
}

const DOUBLE: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry double(.param .u64 data) .reqntid 32 {
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    ld.global.u32 %r2, [%rd2];
    add.u32 %r2, %r2, %r2;
    st.global.u32 [%rd2], %r2;
    ret;
}";

/// Doubles 32 numbers.
fn emulated() -> Result<String, Box<dyn Error>> {
    let module = Module::parse(DOUBLE)?;
    let mut device = Device::new(&Target::named("sm_80")?);
    let data = device.alloc_from(&[1; 128], "data")?;
    let launch = Launch { args: vec![Arg::Ptr(data)], ..Launch::of(module.entry("double")?) };
    let report = device.run(&module, &launch, &Default::default())?;
    if !report.clean() || device.read(data)? != [2; 128] {
        return Err(report.to_string().into());
    }
    for seed in 0..4_u8 {
        emulator::runs_alike(&emulator::program_of(&[seed; 64]))?;
    }
    Ok("clean and right".to_owned())
}
