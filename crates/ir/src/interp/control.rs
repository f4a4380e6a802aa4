//! Loops, branches and calls (C7, C9).

use super::attrs;
use super::data::{Data, int_width, signed, wrap};
use super::error::Fault;
use super::machine::{Exit, Interpreter};
use super::value::Value;
use crate::attr::Attr;
use crate::entity::{BlockId, OpId, ValueId};
use crate::opcode::Opcode;

impl<'a> Interpreter<'a> {
    fn region_entry(&self, op: OpId, index: usize) -> Result<BlockId, Fault> {
        let blocks = self.region_blocks(op, index);
        match blocks {
            [one] => Ok(*one),
            [] => Err(Fault::Malformed(format!("{} lacks region {index}", self.module.op_name(op)))),
            _ => Err(Fault::Unsupported(format!("{} with several blocks", self.module.op_name(op)))),
        }
    }

    fn region_blocks(&self, op: OpId, index: usize) -> &[BlockId] {
        let region = self.module.ops[op].regions.get(index);
        region.map_or(&[][..], |&r| &self.module.regions[r].blocks)
    }

    /// Runs a region that must end in `terminator`.
    fn region(&mut self, block: BlockId, args: Vec<Value>, terminator: Opcode) -> Result<Vec<Value>, Fault> {
        let Exit { opcode, values, .. } = self.block(block, args)?;
        match opcode == terminator {
            true => Ok(values),
            false => Err(Fault::Malformed(format!("a region left by {}", opcode.name().unwrap_or("?")))),
        }
    }

    /// Runs the body of a function from its first block, along its branches.
    pub(super) fn body(&mut self, first: BlockId, args: Vec<Value>) -> Result<Vec<Value>, Fault> {
        let (mut block, mut args) = (first, args);
        loop {
            let exit = self.block(block, args)?;
            match exit.next {
                Some(next) => (block, args) = (next, exit.values),
                None => return Ok(exit.values),
            }
            self.spend(1)?;
        }
    }

    /// Where a terminator goes on, and the values that it hands on.
    pub(super) fn leaving(&self, op: OpId) -> Result<(Option<BlockId>, &'a [ValueId]), Fault> {
        let module = self.module;
        let taken = match module.ops[op].opcode {
            Opcode::CondBr => usize::from(self.scalar(op, 0, true)? == 0),
            _ => 0,
        };
        match module.branches(op).nth(taken) {
            Some((block, args)) => Ok((Some(block), args)),
            None => Ok((None, &module.ops[op].operands)),
        }
    }

    /// The only element of an integer scalar, as an operand of a loop.
    fn scalar(&self, op: OpId, index: usize, unsigned: bool) -> Result<i128, Fault> {
        let id = self.operand(op, index)?;
        let bits = int_width(self.module.ty(id))?;
        match (self.tile(id)?.ints()?, unsigned) {
            ([one], false) => Ok(i128::from(signed(*one, bits))),
            ([one], true) => Ok(i128::from(*one)),
            _ => Err(Fault::Malformed("a tile where a scalar is needed".into())),
        }
    }

    fn operands_from(&self, op: OpId, first: usize) -> Result<Vec<Value>, Fault> {
        self.module.ops[op].operands.iter().skip(first).map(|&v| self.get(v)).collect()
    }

    /// `scf.for`: `max(0, ceil((hi - lo) / step))` trips, signed unless the loop says otherwise (C7).
    pub(super) fn for_loop(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let unsigned = attrs::flag(self.module, op, "unsignedCmp");
        let (low, high, step) =
            (self.scalar(op, 0, unsigned)?, self.scalar(op, 1, unsigned)?, self.scalar(op, 2, unsigned)?);
        if step <= 0 {
            return Err(Fault::LoopStep(step));
        }
        let body = self.region_entry(op, 0)?;
        let bits = int_width(self.module.ty(self.operand(op, 0)?))?;
        let mut carried = self.operands_from(op, 3)?;
        let mut at = low;
        while at < high {
            self.spend(1)?;
            let mut args = Vec::with_capacity(carried.len() + 1);
            args.push(Data::Int(vec![wrap(at as u64, bits)]).into());
            args.append(&mut carried);
            carried = self.region(body, args, Opcode::Yield)?;
            at += step;
        }
        Ok(carried)
    }

    /// `scf.if`.
    pub(super) fn if_else(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let taken = self.scalar(op, 0, true)? == 1;
        let index = usize::from(!taken);
        if !taken && self.region_blocks(op, 1).is_empty() {
            return Ok(Vec::new());
        }
        let block = self.region_entry(op, index)?;
        self.region(block, Vec::new(), Opcode::Yield)
    }

    /// `scf.while`.
    pub(super) fn while_loop(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let (before, after) = (self.region_entry(op, 0)?, self.region_entry(op, 1)?);
        let mut carried = self.operands_from(op, 0)?;
        loop {
            self.spend(1)?;
            let mut values = self.region(before, carried, Opcode::Condition)?.into_iter();
            let goes_on = match values.next() {
                Some(Value::Tile(data)) => data.ints()?.first() == Some(&1),
                _ => return Err(Fault::Malformed("scf.condition without a condition".into())),
            };
            if !goes_on {
                return Ok(values.collect());
            }
            carried = self.region(after, values.collect(), Opcode::Yield)?;
        }
    }

    /// `tt.call`.
    pub(super) fn call(&mut self, op: OpId) -> Result<Vec<Value>, Fault> {
        let name = self.module.attr(op, "callee").and_then(Attr::as_symbol);
        let name = name.ok_or_else(|| Fault::Malformed("tt.call without a callee".into()))?;
        let (function, body) = super::entry::find_entry(self.module, Some(name))?;
        // A function's values have one place each, so that it cannot be active twice.
        if self.calls.contains(&function) {
            return Err(Fault::Unsupported(format!("recursion: @{name} calls itself")));
        }
        let args = self.operands_from(op, 0)?;
        self.calls.push(function);
        let results = self.body(body, args)?;
        self.calls.pop();
        Ok(results)
    }
}
