//! `scf.while`: the first region says whether to go on, the second is the body.

use warploom_ir::diag::Code;
use warploom_ir::{OpId, Opcode, ValueId};

use super::region::Carried;
use super::value::Bound;
use super::{Lower, Place};
use crate::error::{Result, internal, refuse};
use crate::llvm::Val;

impl<'c> Lower<'c, '_> {
    /// `scf.while`, tested at its start. What it carries is in registers at the end of each region.
    pub(super) fn while_loop(&mut self, op: OpId, depth: u32) -> Result<()> {
        let module = self.module;
        let missing = || internal("scf.while without its regions");
        let (before, after) =
            (module.entry(op, 0).ok_or_else(missing)?, module.entry(op, 1).ok_or_else(missing)?);
        let (inits, results) = (module.ops[op].operands.to_vec(), module.ops[op].results.to_vec());
        let (firsts, args) = (module.blocks[before].args.to_vec(), module.blocks[after].args.to_vec());
        let condition = module.terminator(before).filter(|&t| module.ops[t].opcode == Opcode::Condition);
        let condition = condition.map(|t| module.ops[t].operands.to_vec()).unwrap_or_default();
        let Some((&goes_on, passed)) = condition.split_first() else {
            return Err(refuse(Code::Verify, "the first region of scf.while ends with scf.condition").into());
        };
        let yielded = self.yielded(op, 1)?;
        let counts = [inits.len() == firsts.len(), yielded.len() == firsts.len()];
        if counts != [true; 2] || [results.len(), args.len()].iter().any(|&n| n != passed.len()) {
            return Err(refuse(Code::Verify, "scf.while carries as many values as it yields").into());
        }
        let (carried, initial) = self.in_registers(&inits, &firsts)?;
        let start = self.ir.here()?;
        let (head, body, exit) = (self.ir.block(), self.ir.block(), self.ir.block());
        self.open_front(op);
        self.ir.br(self.entry_of_loop(head))?;
        self.ir.seek(head);
        let heads = initial.iter().map(|value| self.ir.phi(value.get_type())).collect::<Result<Vec<_>>>()?;
        self.bind(&firsts, &carried, &heads)?;
        let place = self.place;
        self.place = Place { trip: None, ..place };
        let scope = self.enter();
        self.block(before, depth + 1)?;
        let poisoned = |this: &Self, v: &ValueId| matches!(this.bound.get(v), Some(Bound::Poison));
        let mut broken = condition.iter().any(|v| poisoned(self, v));
        if !broken {
            let (shapes, values) = self.in_registers(passed, &args)?;
            let goes_on = self.int(goes_on)?;
            let from = self.ir.here()?;
            self.ir.br_if(goes_on, body, exit)?;
            for (list, block) in [(&args, body), (&results, exit)] {
                self.ir.seek(block);
                let mut phis = Vec::new();
                for value in &values {
                    let phi = self.ir.phi(value.get_type())?;
                    phi.add_incoming(&[(value, from)]);
                    phis.push(phi);
                }
                self.bind(list, &shapes, &phis)?;
            }
            self.ir.seek(body);
            self.block(after, depth + 1)?;
            broken = yielded.iter().any(|v| poisoned(self, v));
        }
        if broken {
            // Said already; the loop cannot be closed.
            self.front = None;
            self.bound.extend(results.iter().map(|&v| (v, Bound::Poison)));
        } else {
            let (_, last) = self.in_registers(&yielded, &firsts)?;
            let latch = self.ir.here()?;
            self.ir.br(head)?;
            let from = self.close_front(start, head)?;
            for ((first, value), phi) in initial.iter().zip(&last).zip(&heads) {
                phi.add_incoming(&[(first, from), (value, latch)]);
            }
        }
        self.leave(scope);
        self.place = place;
        self.ir.seek(exit);
        Ok(())
    }

    /// Values as the registers of others, no product among them in flight.
    fn in_registers(&mut self, values: &[ValueId], like: &[ValueId]) -> Result<(Vec<Carried>, Vec<Val<'c>>)> {
        let (mut shapes, mut all) = (Vec::new(), Vec::new());
        for (&value, &like) in values.iter().zip(like) {
            self.land(value)?;
            let (shape, registers) = self.flatten(value, like)?;
            shapes.push(shape);
            all.extend(registers);
        }
        Ok((shapes, all))
    }
}
