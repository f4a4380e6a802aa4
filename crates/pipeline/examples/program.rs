//! The program form and the report of a kernel: `cargo run -p warploom-pipeline --example program -- KERNEL.ttir [CHIP]`.
use warploom_pipeline::{Options, compile_to_program, explain};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let text = std::fs::read_to_string(args.next().ok_or("a file is needed")?)?;
    let target = warploom_target::Target::named(args.next().as_deref().unwrap_or("sm_90a"))?;
    let shown = |list: Vec<warploom_ir::diag::Diagnostic>| {
        list.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let module = warploom_ir::parse(&text).map_err(shown)?;
    let compiled = compile_to_program(&module, &target, &Options::default()).map_err(shown)?;
    println!("{}\n{}", warploom_ir::print(&compiled.program), explain(&compiled));
    Ok(())
}
