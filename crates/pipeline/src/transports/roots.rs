//! Which argument of the function a pointer comes from.

use std::collections::BTreeMap;

use warploom_ir::{Module, Opcode, ValueDef, ValueId};

/// The arguments that pointers come from, each pointer followed once.
pub(crate) struct Roots<'m> {
    module: &'m Module,
    known: BTreeMap<ValueId, Option<ValueId>>,
}

impl<'m> Roots<'m> {
    /// Nothing followed yet.
    pub fn new(module: &'m Module) -> Roots<'m> {
        Roots { module, known: BTreeMap::new() }
    }

    /// The argument of the function that a pointer, a tile of pointers or a descriptor comes from.
    pub fn of(&mut self, pointer: Option<ValueId>) -> Option<ValueId> {
        let (mut at, mut passed) = (pointer, Vec::new());
        let root = loop {
            let value = at?;
            if let Some(&root) = self.known.get(&value) {
                break root;
            }
            // What is met again on its own way comes from nowhere.
            self.known.insert(value, None);
            passed.push(value);
            match self.before(value) {
                Some(before) if before == value => break Some(value),
                before => at = before,
            }
        };
        self.known.extend(passed.into_iter().map(|value| (value, root)));
        root
    }

    /// What a pointer is made of; an argument of the function is itself.
    fn before(&self, pointer: ValueId) -> Option<ValueId> {
        let module = self.module;
        match module.values[pointer].def {
            ValueDef::Result { op, .. } => match module.ops[op].opcode {
                Opcode::AddPtr
                | Opcode::MakeTensorDescriptor
                | Opcode::Splat
                | Opcode::Broadcast
                | Opcode::ExpandDims
                | Opcode::Reshape
                | Opcode::Trans
                | Opcode::Bitcast => module.ops[op].operands.first().copied(),
                _ => None,
            },
            ValueDef::Argument { block, index } => {
                let owner = module.blocks[block].region.and_then(|r| module.regions[r].parent)?;
                match module.ops[owner].opcode {
                    Opcode::Func => Some(pointer),
                    Opcode::For if index > 0 => module.ops[owner].operands.get(index as usize + 2).copied(),
                    _ => None,
                }
            }
        }
    }
}
