//! What ptxas says about every cell of T5 and every limit it checks (T2-T4, T7, T8, T12, T14, T15, B45).
//!
//! ptxas is that of the workspace's `.venv`, where `make setup` installs it.

#![allow(clippy::unwrap_used, clippy::panic)] // Helpers outside of test functions.

mod assembler;
mod kernels;
mod limits;

use assembler::Assembler;
use warploom_chips::{Feature, Target};

/// T6: the feature tables are what ptxas accepts, cell for cell.
#[test]
fn t5_every_feature_cell() {
    let ptxas = Assembler::found();
    let targets = Target::all().unwrap();
    let cells = targets.iter().flat_map(|target| Feature::ALL.iter().map(move |&feature| (target, feature)));
    let complaint = |(target, feature): (&Target, Feature)| {
        let kernel = kernels::of(feature);
        let module = kernels::module(assembler::VERSION, target.name(), kernel.body);
        let answer = ptxas.ask(target.name(), &module);
        let accepted = answer.accepted
            && !(kernel.advisory_refuses && answer.text.contains("Advisory"))
            && kernel.machine.is_none_or(|name| ptxas.machine_code(target.name(), &module).contains(name));
        (accepted != target.has(feature)).then(|| format!("{feature} on {}: {}", target.name(), answer.text))
    };
    let wrong: Vec<String> = cells.filter_map(complaint).collect();
    assert!(wrong.is_empty(), "{} cells differ:\n{}", wrong.len(), wrong.join("\n"));
}
