//! What must hold of every run.

use super::Program;
use warploom_chips::Target;
use warploom_emulator::{Arg, Device, Launch, Module, Policy, Race, Report, RunOptions};

/// Any text is loaded or refused with a reason, and every entry of it can be run or says why not.
///
/// # Errors
/// What does not hold.
pub fn any_module_is_judged(text: &str) -> Result<(), String> {
    match Module::parse(text) {
        Err(refusal) if refusal.diagnostics.is_empty() => Err("a refusal without a reason".to_owned()),
        Err(_) => Ok(()),
        Ok(module) => module.entries().iter().try_for_each(|entry| match entry.refusal() {
            Some(refusal) if refusal.diagnostics.is_empty() => {
                Err(format!("{} is refused without a reason", entry.name))
            }
            Some(_) if entry.instructions() > 0 => Err(format!("{} is refused, and decoded", entry.name)),
            _ => Ok(()),
        }),
    }
}

/// Report and global memory after a run.
fn run(module: &Module, program: &Program, policy: Policy) -> Result<(Report, Vec<u8>), String> {
    let target = Target::named("sm_90a").map_err(|e| e.to_string())?;
    let mut device = Device::new(&target);
    let data = device.alloc(256, "data").map_err(|e| e.to_string())?;
    let launch = Launch {
        entry: "k".into(),
        grid: [1; 3],
        block: [program.threads, 1, 1],
        cluster: [1; 3],
        smem: 1024,
        args: vec![Arg::Ptr(data)],
    };
    let options = RunOptions::default().policy(policy).race(Race::Full).max_steps(5_000);
    let report = device.run(module, &launch, &options).map_err(|e| e.to_string())?;
    let bytes = device.read(data).map_err(|e| e.to_string())?.to_vec();
    Ok((report, bytes))
}

/// A program loads, ends, and ends twice the same under one seed; where no schedule finds an error, eager and lazy
/// asynchronous operations give the same memory. Returns whether it ran clean.
///
/// # Errors
/// What does not hold.
pub fn runs_alike(program: &Program) -> Result<bool, String> {
    let module = Module::parse(&program.text).map_err(|e| e.to_string())?;
    let first = run(&module, program, Policy::Random(program.seed))?;
    if first != run(&module, program, Policy::Random(program.seed))? {
        return Err("same seed, different run".to_owned());
    }
    let (eager, lazy) = (run(&module, program, Policy::Eager)?, run(&module, program, Policy::Lazy)?);
    let clean = eager.0.clean() && lazy.0.clean() && !eager.0.stats.data_dependent;
    if clean && eager.1 != lazy.1 {
        return Err("clean, but eager and lazy differ".to_owned());
    }
    Ok(clean)
}
