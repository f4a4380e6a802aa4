//! Branches between the blocks of a region: labels are names until the region ends.

use super::names::{Label, Use};
use super::{Parse, Parser};
use crate::entity::{OpId, RegionId};
use crate::opcode::Opcode;
use crate::text::lexer::Kind;
use crate::types::Type;

impl<'a> Parser<'a> {
    /// `cf.br ^bb1(%a : T) {..}` or `cf.cond_br %c, ^bb1(%a : T), ^bb2 {..}`
    pub(super) fn branch_op(&mut self, op: OpId) -> Parse<Vec<Type>> {
        let mut operands = Vec::new();
        let conditional = self.m.ops[op].opcode == Opcode::CondBr;
        if conditional {
            let condition = self.operand()?;
            self.check_type(condition, &Type::I1);
            operands.push(condition);
            self.expect(",")?;
        }
        self.successor(op, &mut operands)?;
        if conditional {
            self.expect(",")?;
            self.successor(op, &mut operands)?;
        }
        self.set_operands(op, &operands);
        let at = self.tok.start;
        let attrs = self.optional_dict()?;
        self.place_attrs(op, attrs, at)?;
        Ok(Vec::new())
    }

    /// `^bb1` or `^bb1(%a, %b : A, B)`
    fn successor(&mut self, op: OpId, operands: &mut Vec<Use>) -> Parse<()> {
        self.label(op)?;
        if !self.eat("(") {
            return Ok(());
        }
        let values = self.operand_list()?;
        let at = self.expect(":")?;
        let mut types = vec![self.ty()?];
        while self.eat(",") {
            types.push(self.ty()?);
        }
        self.check_types(&values, &types, at)?;
        self.expect(")")?;
        operands.extend(values);
        Ok(())
    }

    fn label(&mut self, op: OpId) -> Parse<()> {
        let token = self.expect_kind(Kind::Caret, "a block")?;
        let name = self.text(token);
        self.labels.push(Label { op, name, at: token.start });
        Ok(())
    }

    /// `[^bb1, ^bb2]` of the generic form.
    pub(super) fn generic_successors(&mut self, op: OpId) -> Parse<()> {
        self.expect("[")?;
        loop {
            self.label(op)?;
            if !self.eat(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(())
    }

    /// Finds the blocks of the labels that were named since `first`.
    pub(super) fn find_labels(&mut self, region: RegionId, first: usize, labels: &[&'a str]) -> Parse<()> {
        for Label { op, name, at } in self.labels.split_off(first) {
            let block = labels.iter().position(|l| *l == name);
            match block.and_then(|n| self.m.regions[region].blocks.get(n)) {
                Some(&block) => self.m.ops[op].successors.push(block),
                None => return Err(self.error(at, format!("block `{name}` is not defined"))),
            }
        }
        Ok(())
    }
}
