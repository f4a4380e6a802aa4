//! Index functions (C8): tiles that are computed from ranges and scalars where they are needed, never stored.

use warploom_ir::{Module, OpId, Opcode, Type, ValueDef, ValueId};

use crate::classes::is_scalar_type;
use crate::walk::Users;

/// Which values are index functions, and which operations only make addresses.
pub(super) struct Indices<'a> {
    module: &'a Module,
    users: Users,
}

impl<'a> Indices<'a> {
    pub fn new(module: &'a Module) -> Indices<'a> {
        Indices { module, users: Users::new(module) }
    }

    /// Whether an operation takes no time of its own: a row of indices, or a tile that only addresses and masks are made
    /// of.
    pub fn is_address(&self, op: OpId) -> bool {
        let module = self.module;
        let results = &module.ops[op].results;
        let whole =
            |v: ValueId| matches!(module.ty(v).elem(), Type::Int(..) | Type::Index | Type::Ptr { .. });
        if results.is_empty() || !results.iter().all(|&v| whole(v)) {
            return false;
        }
        let operands = &module.ops[op].operands;
        if !operands.iter().all(|&v| whole(v) && self.follows_indices(v)) {
            return false;
        }
        let row = |v: ValueId| module.ty(v).shape().iter().filter(|&&e| e != 1).count() < 2;
        results.iter().all(|&v| row(v) || self.only_addresses(v))
    }

    /// Whether a value is made of ranges and scalars alone.
    fn follows_indices(&self, value: ValueId) -> bool {
        let (mut seen, mut stack) = (std::collections::BTreeSet::new(), vec![value]);
        while let Some(value) = stack.pop() {
            if !seen.insert(value) || is_scalar_type(self.module.ty(value)) {
                continue;
            }
            let ValueDef::Result { op, .. } = self.module.values[value].def else {
                // A pointer tile goes round a loop as an address.
                if matches!(self.module.ty(value).elem(), Type::Ptr { .. } | Type::Int(..)) {
                    continue;
                }
                return false;
            };
            match self.module.ops[op].opcode {
                Opcode::Load | Opcode::DescriptorLoad | Opcode::Gather | Opcode::Reduce | Opcode::Scan => {
                    return false;
                }
                Opcode::For | Opcode::If | Opcode::While => {}
                _ => stack.extend(self.module.ops[op].operands.iter().copied()),
            }
        }
        true
    }

    /// Whether a value ends in addresses and masks of loads and stores only.
    fn only_addresses(&self, value: ValueId) -> bool {
        let (mut seen, mut stack) = (std::collections::BTreeSet::new(), vec![value]);
        while let Some(value) = stack.pop() {
            if !seen.insert(value) {
                continue;
            }
            for &user in self.users.of(value) {
                let data = &self.module.ops[user];
                let at = |index: usize| data.operands.get(index) == Some(&value);
                match data.opcode {
                    Opcode::Load if at(0) || at(1) => {}
                    Opcode::Store | Opcode::AtomicRmw if at(0) || at(2) => {}
                    Opcode::Yield => {}
                    Opcode::Load | Opcode::Store | Opcode::AtomicRmw | Opcode::Select => return false,
                    _ => stack.extend(data.results.iter().copied()),
                }
            }
        }
        true
    }
}
