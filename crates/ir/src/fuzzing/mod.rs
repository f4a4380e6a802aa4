//! Random text and random modules, and the laws they must keep.
//!
//! The same generators serve the fuzz targets and an ordinary test. Everything is a function of a seed.

mod attrs;
mod kernel;
mod mutate;
mod nested;
mod random;

pub use kernel::random_module;
pub use mutate::mutate;
pub use random::Random;

use crate::diag::render;
use crate::module::{Block, Module};
use crate::{difference, parse, print, verify};

/// What became of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The parser refused it.
    Refused,
    /// It reads, and the verifier finds something.
    Unsound,
    /// It reads and verifies.
    Sound,
}

/// The laws of text: reading ends with a module or with errors that have a place; what is printed reads
/// back to an equal module and prints as it was; every error can be shown.
///
/// # Errors
/// The law that is broken, in words.
pub fn check_text(text: &str) -> Result<Outcome, String> {
    let module = match parse(text) {
        Ok(module) => module,
        Err(diags) => {
            let placed = diags.iter().all(|d| d.offset.is_some_and(|o| o as usize <= text.len()));
            if diags.is_empty() || !placed {
                return Err(format!("refused without a place: {diags:?}"));
            }
            return if render(&diags, "f", text).is_empty() {
                Err("an empty message".into())
            } else {
                Ok(Outcome::Refused)
            };
        }
    };
    let printed = print(&module);
    let again = parse(&printed).map_err(|d| format!("printed text is refused: {d:?}\n{printed}"))?;
    // The printer completes the names of block arguments that were numbers.
    let unnamed = |b: &Block| b.args.iter().any(|a| module.values[*a].name.is_none());
    let differs = match module.blocks.values().any(unnamed) {
        true => difference(&without_names(&module), &without_names(&again)),
        false => difference(&module, &again),
    };
    if let Some(what) = differs {
        return Err(format!("reads back differently: {what}\n{printed}"));
    }
    let twice = print(&again);
    if twice != printed {
        return Err(format!("prints differently:\n{printed}\n{twice}"));
    }
    let diags = verify(&module);
    render(&diags, "f", text);
    Ok(if diags.is_empty() { Outcome::Sound } else { Outcome::Unsound })
}

/// The laws of a module that was made and not read: it verifies if it should, and its text reads back to it
/// but for names, which the printer completes.
///
/// # Errors
/// The law that is broken, in words.
pub fn check_module(module: &Module, sound: bool) -> Result<(), String> {
    let printed = print(module);
    let diags = verify(module);
    if sound && !diags.is_empty() {
        return Err(format!("a valid module does not verify: {diags:#?}\n{printed}"));
    }
    let read = parse(&printed).map_err(|d| format!("printed text is refused: {d:?}\n{printed}"))?;
    if let Some(what) = difference(&without_names(module), &without_names(&read)) {
        return Err(format!("reads back differently: {what}\n{printed}"));
    }
    check_text(&printed).map(|_| ())
}

fn without_names(module: &Module) -> Module {
    let mut module = module.clone();
    let values: Vec<_> = module.values.keys().collect();
    for value in values {
        module.values[value].name = None;
    }
    module
}

/// A fuzz target's input: text as it is, or, after a zero byte, the seed of a mutated or random module.
///
/// # Errors
/// The law that is broken, in words.
pub fn check_bytes(bytes: &[u8]) -> Result<(), String> {
    if let [0, seed @ ..] = bytes {
        let seed = seed.iter().take(8).fold(0u64, |n, b| n << 8 | u64::from(*b));
        let mut random = Random::new(seed);
        let module = random_module(&mut random);
        check_module(&module, true)?;
        let text = mutate(&print(&module), &mut random);
        return check_text(&text).map(|_| ());
    }
    check_text(&String::from_utf8_lossy(bytes)).map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    const SEEDS: [&str; 3] = [
        include_str!("../../tests/fixtures/good/every_op.mlir"),
        include_str!("../../tests/fixtures/good/generic.mlir"),
        include_str!("../../tests/fixtures/good/program.mlir"),
    ];

    /// The generators at work for a while, at least so often.
    fn run(least: u64, mut one: impl FnMut(u64)) {
        let end = Instant::now() + Duration::from_millis(500);
        let mut seed = 0;
        while seed < least || Instant::now() < end {
            one(seed);
            seed += 1;
        }
    }

    #[test]
    fn mutated_text_keeps_the_laws() {
        let mut count = [0; 3];
        run(600, |seed| {
            let mut random = Random::new(seed);
            let text = mutate(SEEDS[seed as usize % 3], &mut random);
            let outcome = check_text(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n----\n{text}"));
            count[outcome as usize] += 1;
        });
        println!("refused {}, unsound {}, sound {}", count[0], count[1], count[2]);
        // A generator whose texts all fail alike, or never, would test nothing.
        assert!(count.iter().all(|n| *n > 0), "{count:?}");
    }

    #[test]
    fn random_modules_verify_and_read_back() {
        let mut ops = 0;
        run(50, |seed| {
            let module = random_module(&mut Random::new(seed));
            ops += module.ops.len();
            check_module(&module, true).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        });
        assert!(ops > 2000, "{ops} operations are few");
    }

    #[test]
    fn the_laws_can_be_broken() {
        // A module that cannot be read back: a name with a line end in an attribute kept as text.
        let mut module = parse("\"a.b\"() {x = 1} : () -> ()").unwrap();
        let op = module.blocks[module.body()].ops[0];
        module.ops[op].attrs.set("x", crate::Attr::Opaque("<".into()));
        assert!(check_module(&module, true).is_err());
        let mut module = random_module(&mut Random::new(1));
        let func = module.functions().next().unwrap();
        module.ops[func].props.remove("function_type");
        assert!(check_module(&module, true).is_err());
    }

    #[test]
    fn bytes_of_a_fuzzer_are_text_or_seeds() {
        assert_eq!(check_bytes(b"module {}"), Ok(()));
        assert_eq!(check_bytes(b"\xff\xfe ("), Ok(()));
        assert_eq!(check_bytes(&[0, 1, 2, 3]), Ok(()));
    }
}
