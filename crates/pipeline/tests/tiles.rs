//! Computing partitions that take turns by tiles (Q50): how they run, read back, and broken.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use warploom_ir::print;
use warploom_pipeline::check::{self, Effort};
use warploom_pipeline::{CompileOptions, Compiled, compile_to_program, explain};

fn compiled(name: &str) -> Compiled {
    let kernel = common::parse(&common::kernel(name));
    compile_to_program(&kernel, &common::hopper(), &CompileOptions::default()).unwrap()
}

#[test]
fn show() {
    let c = compiled("gemm_persistent_128");
    println!("{}", explain(&c));
    println!("{}", print(&c.program));
    for r in &c.remarks { println!("{r}"); }
    check::program(&c.program, &common::hopper(), Effort::Seeds(20)).unwrap();
}
