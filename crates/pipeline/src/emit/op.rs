//! Making operations of program form.

use warploom_ir::{Attr, BlockId, LocId, Module, OpId, Opcode, Type, ValueId};

/// Appends operations to one block.
pub(crate) struct Emit<'a> {
    /// The program.
    pub out: &'a mut Module,
    /// Where operations go.
    pub block: BlockId,
    /// Their location.
    pub loc: LocId,
}

impl Emit<'_> {
    /// An operation with properties.
    pub fn op(
        &mut self,
        opcode: Opcode,
        operands: &[ValueId],
        types: &[Type],
        props: &[(&str, Attr)],
    ) -> OpId {
        let op = self.out.create_op(opcode, operands, types, self.loc);
        for (name, attr) in props {
            self.out.ops[op].props.set(*name, attr.clone());
        }
        self.out.append(self.block, op);
        op
    }

    /// An `i32` constant.
    pub fn constant(&mut self, value: i32) -> ValueId {
        let op = self.op(Opcode::Constant, &[], &[Type::I32], &[("value", Attr::i32(value))]);
        self.out.ops[op].results[0]
    }

    /// An `i1` constant.
    pub fn flag(&mut self, value: bool) -> ValueId {
        let op = self.op(Opcode::Constant, &[], &[Type::I1], &[("value", Attr::Bool(value))]);
        self.out.ops[op].results[0]
    }

    /// An operation on a slot or phase of a pipeline.
    pub fn ring(&mut self, opcode: Opcode, ring: &str, iterator: &[ValueId], props: &[(&str, Attr)]) -> OpId {
        let op = self.op(opcode, iterator, &[], &[("pipeline", Attr::symbol(ring))]);
        for (name, attr) in props {
            self.out.ops[op].props.set(*name, attr.clone());
        }
        op
    }

    /// The next (index, phase) of a pipeline.
    pub fn advance(&mut self, ring: &str, iterator: [ValueId; 2]) -> Vec<ValueId> {
        self.advance_from(ring, &iterator)
    }

    /// The (index, phase) of a pipeline so many slots further.
    pub fn skip(&mut self, ring: &str, [slot, phase]: [ValueId; 2], by: ValueId) -> Vec<ValueId> {
        self.advance_from(ring, &[slot, phase, by])
    }

    fn advance_from(&mut self, ring: &str, from: &[ValueId]) -> Vec<ValueId> {
        let props = [("pipeline", Attr::symbol(ring))];
        let op = self.op(Opcode::Advance, from, &[Type::I32, Type::I32], &props);
        self.out.ops[op].results.to_vec()
    }

    /// A view of a slot.
    pub fn slot(&mut self, ring: &str, index: ValueId, payload: usize, tile: Type) -> ValueId {
        let props = [("pipeline", Attr::symbol(ring)), ("payload", number(payload))];
        let op = self.op(Opcode::Slot, &[index], &[tile], &props);
        self.out.ops[op].results[0]
    }

    /// A wait for all but `pending` products; accumulators pass through it (C46).
    pub fn mma_wait(&mut self, accumulators: &[ValueId], pending: u64) -> Vec<ValueId> {
        let types: Vec<Type> = accumulators.iter().map(|&v| self.out.ty(v).clone()).collect();
        let op = self.op(Opcode::MmaWait, accumulators, &types, &[("pending", number(pending))]);
        self.out.ops[op].results.to_vec()
    }

    /// An operation with one region; returns the region's block.
    pub fn region(&mut self, opcode: Opcode, props: &[(&str, Attr)]) -> BlockId {
        let op = self.op(opcode, &[], &[], props);
        let region = self.out.add_region(op);
        self.out.add_block(region)
    }
}

/// An `i32` attribute; what does not fit was refused long before.
pub(crate) fn number(value: impl TryInto<i32>) -> Attr {
    Attr::i32(value.try_into().unwrap_or(i32::MAX))
}
