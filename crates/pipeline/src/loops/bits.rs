//! Operations on bits that share an instruction: three operands go into one, and shifts take masks in (T42).

use warploom_ir::{OpId, Opcode, ValueId};

use super::price::Prices;

impl Prices<'_> {
    /// Whether an operation takes no instruction of its own: another reading of the same bits, or masks that a comparison
    /// takes in.
    pub(super) fn is_part_of_another(&self, op: OpId, tile: ValueId) -> bool {
        let mask = self.module.ty(tile).elem_bits() == Some(1);
        match self.module.ops[op].opcode {
            Opcode::ArithBitcast | Opcode::Bitcast | Opcode::IntToPtr | Opcode::PtrToInt => true,
            Opcode::AndI | Opcode::OrI => mask,
            // A mask or a shift takes in what clears or moves the same bits before it.
            Opcode::ExtUI | Opcode::ShRUI => {
                let users = self.users.of(tile).iter().map(|&user| self.module.ops[user].opcode);
                let mut users = users.peekable();
                users.peek().is_some() && users.all(|by| by == Opcode::AndI || is_shift(by))
            }
            _ => false,
        }
    }

    /// Whether an operation on bits reads or makes the result of another, shifted or not.
    pub(super) fn has_bitwise_neighbour(&self, op: OpId) -> bool {
        let opcode = |op: OpId| self.module.ops[op].opcode;
        let users = |op: OpId| self.module.result(op).map_or(&[][..], |value| self.users.of(value));
        let shifted = users(op).iter().filter(|&&by| is_shift(opcode(by))).flat_map(|&by| users(by));
        let makers = self.module.ops[op].operands.iter().filter_map(|&v| self.module.def_op(v));
        let mut beside = users(op).iter().chain(shifted).copied().chain(makers);
        is_bitwise(opcode(op)) && beside.any(|other| is_bitwise(opcode(other)))
    }
}

fn is_shift(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::ShLI | Opcode::ShRUI)
}

fn is_bitwise(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::AndI | Opcode::OrI | Opcode::XOrI)
}
