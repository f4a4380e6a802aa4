//! From PTX text to kernels that the machine can run (E71, E81).

mod entry;
mod features;
mod frame;
mod functions;
mod guess;
mod variables;

use crate::code::{FUNCTION_BASE, KERNEL_BASE};
use crate::error::{EmulatorRefusal, RefusalReason};
use crate::isa::decode::context::Symbol;
use crate::module::Module;
use entry::Surroundings;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use variables::{Shared, place};
use warploom_chips::Target;
use warploom_ptx::{Function, Item};

impl Module {
    /// Reads PTX text. Entries that use unsupported instructions are kept, and refused when they are run.
    ///
    /// # Errors
    /// `P01` with the line when the text is not PTX, `X01` for unsupported declarations.
    pub fn parse(text: &str) -> Result<Module, EmulatorRefusal> {
        let tree = warploom_ptx::parse(text)?;
        let Some(target) = tree.target.first().filter(|_| !tree.version.is_empty()) else {
            return Err(EmulatorRefusal::one("P01", 1, "no .version or .target", "give a whole PTX module"));
        };
        if tree.address_size.is_some_and(|bits| bits != 64) {
            return Err(EmulatorRefusal::one("X01", 1, "32-bit addresses", "compile for 64-bit addresses"));
        }
        let mut data = Vec::new();
        let mut symbols = HashMap::new();
        let mut shared = Shared::default();
        let mut files = HashMap::new();
        let mut placed = Vec::new();
        for item in &tree.items {
            match item {
                Item::Variable(v) => placed.extend(place(v, &mut data, &mut symbols, &mut shared)?),
                Item::File { number, name, .. } => {
                    files.entry(*number).or_insert(*name);
                }
                _ => {}
            }
        }
        let mut bodies = BTreeMap::new();
        let second = aliases(&tree);
        for function in tree.functions().chain(&second).filter(|f| !f.kernel) {
            if function.body.is_some() {
                let number = bodies.len() as u32;
                bodies.entry(function.name).or_insert((number, function));
            }
        }
        for (name, (number, _)) in &bodies {
            symbols.insert(name, Symbol::At(FUNCTION_BASE + 16 * (u64::from(*number) + 1)));
        }
        // A kernel may be declared before whoever launches it.
        let kernels: Vec<_> = tree.functions().filter(|f| f.kernel && f.body.is_some()).collect();
        for (number, kernel) in kernels.iter().enumerate() {
            symbols.entry(kernel.name).or_insert(Symbol::At(KERNEL_BASE + 16 * (number as u64 + 1)));
        }
        // A table may hold functions of other modules: whoever calls one of them is told.
        for function in tree.functions().filter(|f| !f.kernel && f.body.is_none()) {
            symbols.entry(function.name).or_insert(Symbol::At(FUNCTION_BASE));
        }
        for p in &placed {
            p.fill(&mut data, &symbols)?;
        }
        let parameters = kernels.iter().map(|k| entry::parameters(k).map(|(_, bytes)| bytes));
        let parameters = parameters.collect::<Result<_, RefusalReason>>()?;
        let chip = Target::named(target).ok();
        let module = Surroundings { files, symbols, bodies, parameters, chip };
        let mut entries = Vec::new();
        for function in kernels {
            entries.push(entry::load(function, &module, shared.clone())?);
        }
        let (version, target) = (tree.version.to_string(), (*target).to_string());
        Ok(Module { version, target, entries, data: Arc::new(data) })
    }
}

/// Functions once more under their second names: `.alias second, first;`.
fn aliases<'a>(tree: &warploom_ptx::Module<'a>) -> Vec<Function<'a>> {
    let one = |item: &Item<'a>| {
        let Item::Other(text) = item else { return None };
        let (second, first) = text.strip_prefix(".alias")?.trim_end_matches(';').split_once(',')?;
        let found = tree.functions().find(|f| f.name == first.trim() && f.body.is_some())?;
        Some(Function { name: second.trim(), ..found.clone() })
    };
    tree.items.iter().filter_map(one).collect()
}

impl From<warploom_ptx::SyntaxError> for RefusalReason {
    fn from(e: warploom_ptx::SyntaxError) -> Self {
        RefusalReason::new(warploom_ptx::SyntaxError::CODE, e.line, e.message, e.remedy)
    }
}

impl From<warploom_ptx::SyntaxError> for EmulatorRefusal {
    fn from(e: warploom_ptx::SyntaxError) -> Self {
        RefusalReason::from(e).into()
    }
}
