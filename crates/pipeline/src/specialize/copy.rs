//! Copying operations of the kernel into the program.

use std::collections::BTreeMap;

use warploom_ir::{BlockId, Module, OpId, ValueId};

/// Which value of the program each value of the kernel has become, in one region.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    map: BTreeMap<ValueId, ValueId>,
}

impl Scope {
    /// Says what a value has become.
    pub fn bind(&mut self, old: ValueId, new: ValueId) {
        self.map.insert(old, new);
    }

    /// Says what values have become for a while; gives what [`Scope::restore`] takes.
    pub fn rebind(&mut self, bindings: impl IntoIterator<Item = (ValueId, ValueId)>) -> Before {
        let swap = |(old, new)| (old, self.map.insert(old, new));
        Before(bindings.into_iter().map(swap).collect())
    }

    /// Says again what values were before.
    pub fn restore(&mut self, before: Before) {
        for (old, new) in before.0.into_iter().rev() {
            match new {
                Some(new) => self.map.insert(old, new),
                None => self.map.remove(&old),
            };
        }
    }

    /// What a value has become.
    pub fn get(&self, old: ValueId) -> Option<ValueId> {
        self.map.get(&old).copied()
    }

    /// What several values have become; `None` if one has not been made.
    pub fn all(&self, old: &[ValueId]) -> Option<Vec<ValueId>> {
        old.iter().map(|&v| self.get(v)).collect()
    }
}

/// What values were before they became something else for a while.
pub(super) struct Before(Vec<(ValueId, Option<ValueId>)>);

/// Copies operations.
pub(super) struct Copier<'a> {
    /// The kernel.
    pub from: &'a Module,
    /// The program.
    pub to: &'a mut Module,
}

impl Copier<'_> {
    /// Copies an operation, with its regions, to the end of a block; does nothing if an operand has not been made.
    pub fn op(&mut self, op: OpId, block: BlockId, scope: &mut Scope) -> Option<OpId> {
        let operands = scope.all(&self.from.ops[op].operands)?;
        self.op_on(op, &operands, block, scope)
    }

    /// Copies an operation, with its regions, giving it these operands.
    pub fn op_on(
        &mut self,
        op: OpId,
        operands: &[ValueId],
        block: BlockId,
        scope: &mut Scope,
    ) -> Option<OpId> {
        let old = &self.from.ops[op];
        let types: Vec<_> = old.results.iter().map(|&v| self.from.ty(v).clone()).collect();
        let new = self.to.create_op(old.opcode, operands, &types, old.loc);
        self.to.ops[new].props = old.props.clone();
        // The schedule's marks say nothing in a program.
        self.to.ops[new].attrs = old
            .attrs
            .iter()
            .filter(|(n, _)| !n.starts_with("warploom."))
            .map(|(n, a)| (n, a.clone()))
            .collect();
        self.to.ops[new].span = old.span;
        self.to.append(block, new);
        for &region in &old.regions {
            let copy = self.to.add_region(new);
            for &inner in &self.from.regions[region].blocks {
                let home = self.to.add_block(copy);
                let mut inside = Vec::new();
                for &arg in &self.from.blocks[inner].args {
                    let made = self.to.add_arg(home, self.from.ty(arg).clone(), self.from.values[arg].loc);
                    self.to.values[made].name.clone_from(&self.from.values[arg].name);
                    inside.push((arg, made));
                }
                let made = |&op: &OpId| self.from.ops[op].results.iter().map(|&v| (v, scope.get(v)));
                let before = Before(self.from.blocks[inner].ops.iter().flat_map(made).collect());
                let arguments = scope.rebind(inside);
                for &nested in &self.from.blocks[inner].ops {
                    self.op(nested, home, scope)?;
                }
                scope.restore(before);
                scope.restore(arguments);
            }
        }
        for (&value, &copy) in old.results.iter().zip(&self.to.ops[new].results.clone()) {
            self.to.values[copy].name.clone_from(&self.from.values[value].name);
            scope.bind(value, copy);
        }
        Some(new)
    }
}
