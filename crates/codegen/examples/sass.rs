//! Assembles PTX and counts its loops: `cargo run -p warploom-codegen --example sass FILE.ptx [sm_90a]`.
//! `ptxas` and `nvdisasm` are taken from the search path.

use std::path::Path;

use warploom_codegen::{assemble::assemble, sass, scan::scan};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let ptx = std::fs::read_to_string(args.first().ok_or("which PTX?")?)?;
    for finding in scan(&ptx) {
        println!("{finding}");
    }
    let chip = args.get(1).map_or("sm_90a", String::as_str);
    let assembled = assemble(Path::new("ptxas"), &ptx, chip).map_err(|d| d.to_string())?;
    println!("{:?}", assembled.report);
    let text = sass::disassemble(Path::new("nvdisasm"), &assembled.cubin).map_err(|d| d.to_string())?;
    for found in sass::loops(&text).iter().filter(|l| !l.is_spin()) {
        println!("{found:?}");
    }
    Ok(())
}
