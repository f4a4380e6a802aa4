//! Prints the PTX of a program: `cargo run -p warploom-codegen --example emit FILE.mlir [--llvm] [sm_90a]`.

use warploom_chips::Target;
use warploom_codegen::{EmitOptions, emit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let llvm = args.iter().any(|a| a == "--llvm");
    let mut names = args.iter().filter(|a| !a.starts_with("--"));
    let file = names.next().ok_or("which program?")?;
    let target = Target::named(names.next().map_or("sm_90a", |name| name))?;
    let all = |list: warploom_ir::Diagnostics| list.iter().map(|d| format!("{d}\n")).collect::<String>();
    let module = warploom_ir::parse(&std::fs::read_to_string(file)?).map_err(all)?;
    let emitted = emit(&module, &target, &EmitOptions::default().llvm(llvm)).map_err(all)?;
    eprintln!("{:?}", emitted.timings);
    println!("{}", emitted.llvm.unwrap_or(emitted.ptx));
    Ok(())
}
