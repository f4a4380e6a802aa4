//! The laws of text, of modules and of the interpreter, to be called on data of one's own.

use warploom_ir::diag::render;
use warploom_ir::interp::{Arg, InterpOptions, Interpreter, Memory, Padding};
use warploom_ir::{Block, Module, Type, difference, parse, print, verify};

use super::choices::Choices;
use super::damage::damaged;
use super::modules::module_of;

/// What became of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TextOutcome {
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
pub fn text_reads_and_prints(text: &str) -> Result<TextOutcome, String> {
    let module = match parse(text) {
        Ok(module) => module,
        Err(refused) => {
            let placed = refused.iter().all(|d| d.offset.is_some_and(|o| o as usize <= text.len()));
            if refused.is_empty() || !placed {
                return Err(format!("refused without a place: {refused:?}"));
            }
            return match refused.render("f", text).is_empty() || refused.to_string().is_empty() {
                true => Err("an empty message".into()),
                false => Ok(TextOutcome::Refused),
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
    let found = verify(&module);
    render(&found, "f", text);
    Ok(if found.is_empty() { TextOutcome::Sound } else { TextOutcome::Unsound })
}

/// The laws of a module that was made and not read: it verifies if it should, and its text reads back to it
/// but for names, which the printer completes.
///
/// # Errors
/// The law that is broken, in words.
pub fn module_reads_back(module: &Module, sound: bool) -> Result<(), String> {
    let printed = print(module);
    let found = verify(module);
    if sound && !found.is_empty() {
        return Err(format!("a valid module does not verify: {found:#?}\n{printed}"));
    }
    let read = parse(&printed).map_err(|d| format!("printed text is refused: {d:?}\n{printed}"))?;
    if let Some(what) = difference(&without_names(module), &without_names(&read)) {
        return Err(format!("reads back differently: {what}\n{printed}"));
    }
    text_reads_and_prints(&printed).map(|_| ())
}

/// The interpreter is total and repeatable: a module that verifies runs to its end or to a fault that can be told,
/// and twice with the same outcome. Every pointer is given a buffer of 4 KiB, every number is small.
///
/// # Errors
/// The law that is broken, in words.
pub fn interpreter_is_total(module: &Module) -> Result<(), String> {
    let (first, second) = (outcome(module), outcome(module));
    if first != second {
        return Err(format!("two runs differ:\n{}\n{}\n{}", first.0, second.0, print(module)));
    }
    Ok(())
}

/// How a run ends, in words, and the memory it leaves.
fn outcome(module: &Module) -> (String, Vec<u8>) {
    let mut memory = Memory::new();
    let buffer = memory.alloc(vec![0; 4096]);
    let entry = module.functions().next().and_then(|f| module.entry(f, 0));
    let params = entry.map_or(&[][..], |block| &module.blocks[block].args);
    let argument = |ty: &Type| match ty {
        Type::Ptr { .. } => Arg::ptr(buffer),
        Type::Float(_) => Arg::Float(0.5),
        Type::TensorDesc { shape, .. } => {
            let (shape, strides) = (vec![4; shape.len()], vec![1; shape.len()]);
            Arg::Desc { buffer, offset: 0, shape, strides, padding: Padding::Nan }
        }
        _ => Arg::Int(1),
    };
    let args: Vec<Arg> = params.iter().map(|&v| argument(module.ty(v))).collect();
    let options = InterpOptions::default().max_work(100_000).max_tile_bytes(1 << 20);
    let ended = Interpreter::run(module, None, [2, 1, 1], &args, &mut memory, &options);
    let told = match ended {
        Ok(()) => "done".to_owned(),
        Err(error) => format!("{error}\n{}", error.diagnostic(module)),
    };
    (told, memory.bytes(buffer).map(<[u8]>::to_vec).unwrap_or_default())
}

fn without_names(module: &Module) -> Module {
    let mut module = module.clone();
    let values: Vec<_> = module.values.keys().collect();
    for value in values {
        module.values[value].name = None;
    }
    module
}

/// A fuzz target's input: text as it is, or, after a zero byte, the choices of a module and of damage to its text.
///
/// # Errors
/// The law that is broken, in words.
pub fn bytes_keep_the_laws(bytes: &[u8]) -> Result<(), String> {
    if let [0, tape @ ..] = bytes {
        let mut choices = Choices::new(tape);
        let module = module_of(&mut choices);
        module_reads_back(&module, true)?;
        interpreter_is_total(&module)?;
        let text = damaged(&print(&module), &mut choices);
        return text_reads_and_prints(&text).map(|_| ());
    }
    text_reads_and_prints(&String::from_utf8_lossy(bytes)).map(|_| ())
}
