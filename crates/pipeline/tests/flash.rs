//! Attention on chips with tensor memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use warploom_pipeline::{Options, compile_to_program};
use warploom_target::Target;

#[test]
fn probe() {
    let name = std::env::var("KERNEL").unwrap();
    let text = std::fs::read_to_string(format!("/work/shared/data/kernels/{name}.ttir")).unwrap();
    let mut options = Options::default();
    options.check = false;
    match compile_to_program(&common::parse(&text), &Target::named("sm_100a").unwrap(), &options) {
        Err(e) => panic!("{}", e[0]),
        Ok(c) => {
            println!("{}", warploom_pipeline::explain(&c));
            for r in &c.assignment.records {
                println!("{r:?}");
            }
            println!("{:?}", c.assignment.merge);
            println!("{:?}", c.assignment.notes);
            println!("{}", warploom_ir::print(&c.program));
            let r = warploom_pipeline::check::program(
                &c.program,
                &Target::named("sm_100a").unwrap(),
                warploom_pipeline::check::Effort::Quick,
            );
            println!("CHECK {r:?}");
        }
    }
}
