//! The program form and the report of a kernel: `cargo run -p warploom-pipeline --example program -- KERNEL.ttir [CHIP]`.
use warploom_pipeline::{CompileOptions, compile_to_program, explain};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let text = std::fs::read_to_string(args.next().ok_or("a file is needed")?)?;
    let target = warploom_chips::Target::named(args.next().as_deref().unwrap_or("sm_90a"))?;
    let module = warploom_ir::parse(&text)?;
    let compiled = compile_to_program(&module, &target, &CompileOptions::default())?;
    println!("{}\n{}", warploom_ir::print(&compiled.program), explain(&compiled));
    Ok(())
}
