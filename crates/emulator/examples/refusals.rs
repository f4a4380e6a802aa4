//! How many kernels of some PTX files load, and what the others are refused for, the commonest first (E101):
//! `cargo run --release -p warploom-emulator --example refusals -- FILE.ptx ...`

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Write};
use warploom_emulator::{EmulatorRefusal, Module};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match print(std::env::args().skip(1), &mut io::stdout().lock()) {
        // Who reads this has read enough.
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}

/// Prints what loads of these files, and why the rest does not.
fn print(paths: impl Iterator<Item = String>, out: &mut impl Write) -> io::Result<()> {
    let (mut entries, mut loaded) = (0, 0);
    let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
    for path in paths {
        let text = std::fs::read_to_string(&path)?;
        let module = match Module::parse(&text) {
            Ok(module) => module,
            Err(refusal) => {
                writeln!(out, "{path}: {refusal}")?;
                entries += text.matches(".entry").count();
                continue;
            }
        };
        for entry in module.entries() {
            entries += 1;
            match entry.refusal() {
                None => loaded += 1,
                Some(refusal) => messages(refusal)
                    .into_iter()
                    .for_each(|m| *reasons.entry(m.to_string()).or_default() += 1),
            }
        }
    }
    writeln!(out, "{loaded} of {entries} entries load")?;
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    for (reason, count) in reasons {
        writeln!(out, "{count:5} {reason}")?;
    }
    Ok(())
}

/// What an entry is refused for, each reason once.
fn messages(refusal: &EmulatorRefusal) -> Vec<&str> {
    let mut seen: Vec<&str> = refusal.diagnostics.iter().map(|d| d.message.as_str()).collect();
    seen.sort_unstable();
    seen.dedup();
    seen
}
