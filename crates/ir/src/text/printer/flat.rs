//! Operations of other dialects: kept assembly, and those with several regions in a row.

use super::Printer;
use crate::attr::Attr;
use crate::entity::{BlockId, OpId};
use crate::text::dialect::{ARGUMENT, ASSEMBLY, DICTIONARY, OPERAND, REGION};
use crate::types::Type;

impl<'m> Printer<'m> {
    /// Assembly that is kept as it stood, with the names that its values have now; false when it does not fit.
    pub(super) fn kept_op(&mut self, op: OpId) -> bool {
        let data = self.op_data(op);
        let Some(Attr::Opaque(text)) = data.props.get(ASSEMBLY) else { return false };
        let count = |mark: char| text.chars().filter(|c| *c == mark).count();
        let written = data.attrs.is_empty() || count(DICTIONARY) == 1;
        if count(OPERAND) != data.operands.len() || count(REGION) != data.regions.len() || !written {
            return false;
        }
        self.push(self.m.op_name(op));
        let (mut operands, mut regions) = (data.operands.iter(), data.regions.iter());
        let mut named = 0;
        for piece in text.chars() {
            match piece {
                OPERAND => {
                    if let Some(value) = operands.next() {
                        self.value(*value);
                    }
                }
                ARGUMENT => {
                    let block = regions.as_slice().first().and_then(|r| self.m.regions[*r].blocks.first());
                    let args = block.map_or(&[][..], |b| &self.m.blocks[*b].args);
                    if let Some(arg) = args.get(named) {
                        self.value(*arg);
                    }
                    named += 1;
                }
                REGION => {
                    if let Some(region) = regions.next() {
                        self.region(*region, named == 0, false);
                    }
                    named = 0;
                }
                DICTIONARY => self.dict(data.attrs.iter()),
                other => self.out.push(other),
            }
        }
        true
    }

    /// The only block of each region.
    fn single_blocks(&self, op: OpId) -> Option<Vec<BlockId>> {
        let regions = self.op_data(op).regions.iter();
        regions.map(|r| self.m.regions[*r].blocks.first().copied()).collect()
    }

    pub(super) fn warp_specialize_op(&mut self, op: OpId) -> bool {
        let data = self.op_data(op);
        let Some(Attr::DenseArray { values: warps, .. }) = data.props.get("partitionNumWarps") else {
            return false;
        };
        let Some(blocks) = self.single_blocks(op).filter(|b| b.len() == warps.len() + 1) else {
            return false;
        };
        let [first, partitions @ ..] = blocks.as_slice() else { return false };
        if !self.m.blocks[*first].args.is_empty() {
            return false;
        }
        self.push(self.m.op_name(op));
        self.push("(");
        self.values(&data.operands);
        self.push(")");
        self.attributes_clause(op, &["partitionNumWarps"]);
        self.newline();
        self.push("default ");
        self.region(data.regions[0], false, false);
        for (n, (block, warps)) in partitions.iter().zip(warps).enumerate() {
            self.newline();
            self.push(&format!("partition{n}("));
            for (k, arg) in self.m.blocks[*block].args.iter().enumerate() {
                if k > 0 {
                    self.push(", ");
                }
                self.argument(*arg);
                self.optional_loc(self.m.values[*arg].loc);
            }
            self.push(&format!(") num_warps({warps}) "));
            self.region(data.regions[n + 1], false, false);
        }
        self.push(" : ");
        self.signature(op);
        true
    }

    pub(super) fn cond_do_op(&mut self, op: OpId) -> bool {
        let data = self.op_data(op);
        let Some(blocks) = self.single_blocks(op) else { return false };
        let [cond, body] = blocks[..] else { return false };
        let types: Vec<&Type> = data.operands.iter().map(|v| self.m.ty(*v)).collect();
        let args = |block: BlockId| &self.m.blocks[block].args;
        let typed =
            |values: &[crate::ValueId]| values.iter().map(|v| self.m.ty(*v)).eq(types.iter().copied());
        // One list of names stands for the arguments of both regions.
        let same = args(cond).iter().zip(args(body)).all(|(a, b)| self.names[*a] == self.names[*b]);
        if !same || !typed(args(cond)) || !typed(args(body)) || !typed(&data.results) {
            return false;
        }
        self.push(self.m.op_name(op));
        self.push("(");
        self.bindings(args(cond), &data.operands);
        self.push(")");
        if !types.is_empty() {
            self.push(" : ");
            self.types(types);
        }
        self.attributes_clause(op, &[]);
        for (region, word) in data.regions.iter().zip(["cond", "do"]) {
            if word == "cond" {
                self.newline();
            } else {
                self.push(" ");
            }
            self.push(word);
            self.push(" ");
            self.region(*region, false, false);
        }
        true
    }
}
