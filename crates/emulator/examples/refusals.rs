//! How many kernels of some PTX files load, and what the others are refused for, the commonest first (E101):
//! `cargo run --release -p warploom-emulator --example refusals -- FILE.ptx ...`

use std::collections::BTreeMap;
use warploom_emulator::Module;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut entries, mut loaded) = (0, 0);
    let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
    for path in std::env::args().skip(1) {
        let module = match Module::parse(&std::fs::read_to_string(&path)?) {
            Ok(module) => module,
            Err(refusal) => {
                println!("{path}: {refusal}");
                continue;
            }
        };
        for entry in module.entries() {
            entries += 1;
            match entry.refusal() {
                None => loaded += 1,
                Some(refusal) => {
                    let mut seen: Vec<&str> =
                        refusal.diagnostics.iter().map(|d| d.message.as_str()).collect();
                    seen.sort_unstable();
                    seen.dedup();
                    seen.iter().for_each(|m| *reasons.entry((*m).to_string()).or_default() += 1);
                }
            }
        }
    }
    println!("{loaded} of {entries} entries load");
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    for (reason, count) in reasons {
        println!("{count:5} {reason}");
    }
    Ok(())
}
