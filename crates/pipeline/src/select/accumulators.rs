//! Products that add up in tensor memory: which loop each belongs to, who else touches its accumulator, and how many
//! slots it has (C66, T14).

use warploom_chips::Target;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, Module, OpId, Opcode, ValueDef, ValueId};

use super::{Dot, OperandSource, TileRing};
use crate::columns;
use crate::engines::tensor::table_columns;
use crate::nest::innermost_for;
use crate::place::refuse;
use crate::select::{Accumulator, AccumulatorKind, TmemOperand};
use crate::walk::Users;

/// The accumulator of every product and the operands written for them, with every reason against them.
pub(super) fn select(
    module: &Module,
    loops: &[OpId],
    dots: &[Dot],
    rings: &[TileRing],
    target: &Target,
    errors: &mut Vec<Diagnostic>,
) -> (Vec<Accumulator>, Vec<TmemOperand>) {
    let Some(tmem) = &target.tmem else { return (Vec::new(), Vec::new()) };
    let (lanes, most) = (u64::from(tmem.lanes).max(1), u64::from(tmem.columns));
    let mut maker = Maker { module, users: Users::new(module), dots, rings, loops, lanes, errors };
    let mut accumulators: Vec<Accumulator> = Vec::new();
    for index in 0..dots.len() {
        let made = maker.accumulator(index, &accumulators);
        accumulators.extend(made);
    }
    let operands = maker.operands();
    let own = accumulators.iter().filter(|s| accumulators.get(s.home).is_some_and(|home| home.dot == s.dot));
    let written = operands.iter().enumerate().filter(|(i, f)| f.home == *i).map(|(_, f)| f.columns);
    let one: u64 = own.map(|s| s.columns).chain(written).sum();
    if one > most {
        let at = dots.first().map(|d| d.op);
        let parts = columns::Parts { dots, accumulators: &accumulators, operands: &operands };
        errors.extend(at.map(|op| *columns::too_many(module, op, &parts, one, most)));
    } else if 2 * one <= most {
        accumulators.iter_mut().filter(|s| s.looped).for_each(|s| s.slots = 2);
    }
    (accumulators, operands)
}

struct Maker<'a> {
    module: &'a Module,
    users: Users,
    dots: &'a [Dot],
    rings: &'a [TileRing],
    loops: &'a [OpId],
    lanes: u64,
    errors: &'a mut Vec<Diagnostic>,
}

impl Maker<'_> {
    /// The accumulator of one product, after those of the products before it.
    fn accumulator(&mut self, index: usize, before: &[Accumulator]) -> Option<Accumulator> {
        let module = self.module;
        let dot = self.dots.get(index)?;
        let [m, n, _] = dot.extents;
        // Tables of scales lie behind it.
        let tables = module.ops[dot.op].operands.iter().skip(3).map(|&v| table_columns(module.ty(v)));
        let columns = m.div_ceil(self.lanes) * n + tables.sum::<u64>();
        let Some((scf_for, at, kind)) = self.kind(dot.op) else {
            let text = "what tt.dot adds to is neither zero nor what its loop carries";
            self.errors.push(
                refuse(module, dot.op, Code::Op, text)
                    .rule("C24")
                    .note("supported", "acc = tt.dot a, b, acc with nothing in between; tt.dot a, b, acc * scale; tt.dot a, b, 0, read in the loop"),
            );
            return None;
        };
        let looped = innermost_for(module, scf_for).is_some();
        if kind != AccumulatorKind::Plain && looped {
            let text = "a loop around one that reads its products is not supported yet";
            self.errors.push(
                refuse(module, dot.op, Code::Op, text)
                    .rule("C24")
                    .note("instead", "one tile per program, without the loop around it"),
            );
        }
        if kind == AccumulatorKind::Plain && !at.is_some_and(|at| starts_from_zero(module, scf_for, at)) {
            self.errors.push(
                refuse(module, scf_for, Code::Op, "the accumulator does not start from zero")
                    .rule("C8")
                    .note("instead", "start from zero and add the tile after the loop"),
            );
        }
        let own = before.len();
        let leads = self.leads(scf_for);
        let extents = |s: &Accumulator| self.dots.get(s.dot).map(|d| d.extents);
        let alike = |s: &Accumulator| {
            let free = s.scf_for != scf_for && !self.taken(before, s.home, scf_for);
            s.kind == AccumulatorKind::Read && extents(s) == Some(dot.extents) && free
        };
        let home = match kind {
            AccumulatorKind::Plain => None,
            AccumulatorKind::Read => before.iter().position(alike).filter(|_| !leads),
            AccumulatorKind::Scaled { .. } => at.and_then(|at| self.goes_on_from(before, scf_for, at)),
        };
        let home = home.and_then(|h| before.get(h)).map(|s| s.home);
        // A loop that copies into the rings of an earlier one has its place in memory through that one (B55).
        let scaled = matches!(kind, AccumulatorKind::Scaled { .. });
        if (leads && scaled && home.is_some()) || (!leads && kind != AccumulatorKind::Plain && home.is_none())
        {
            let text = "products of a later loop that do not go on like those of the earlier one are not supported yet";
            self.errors.push(refuse(module, dot.op, Code::Op, text).rule("B55").note(
                "supported",
                "loops that copy and multiply the same tiles, or loops with nothing in common",
            ));
        }
        Some(Accumulator {
            dot: index,
            scf_for,
            at,
            kind,
            looped,
            slots: 1,
            columns,
            home: home.unwrap_or(own),
        })
    }

    /// Whether another product of a loop uses the slots of an accumulator already.
    fn taken(&self, before: &[Accumulator], home: usize, scf_for: OpId) -> bool {
        before.iter().any(|s| s.home == home && s.scf_for == scf_for)
    }

    /// The accumulator of an earlier loop that a loop-carried value starts from, if nothing else reads it.
    fn goes_on_from(&self, before: &[Accumulator], scf_for: OpId, at: usize) -> Option<usize> {
        let initial = *self.module.ops[scf_for].operands.get(3 + at)?;
        let made = self.module.def_op(initial)?;
        let of =
            |s: &Accumulator| s.at.and_then(|at| self.module.ops[made].results.get(at)) == Some(&initial);
        let alone = self.users.of(initial) == [scf_for];
        let scaled = |s: &Accumulator| matches!(s.kind, AccumulatorKind::Scaled { .. });
        before.iter().position(|s| alone && s.scf_for == made && of(s) && scaled(s))
    }

    /// Whether a loop owns a ring of copies.
    fn leads(&self, scf_for: OpId) -> bool {
        self.rings.iter().any(|r| r.uses.first().is_some_and(|u| u.scf_for == Some(scf_for)))
    }

    /// What kind of accumulator a product adds to, in which loop, and as which of the values that the loop carries.
    fn kind(&self, dot: OpId) -> Option<(OpId, Option<usize>, AccumulatorKind)> {
        let module = self.module;
        if let Some((scf_for, at)) = self.carried(dot) {
            return Some((scf_for, Some(at), AccumulatorKind::Plain));
        }
        let scf_for = innermost_for(module, dot).filter(|l| self.loops.contains(l))?;
        let body = module.entry(scf_for, 0).filter(|&b| module.ops[dot].block == Some(b))?;
        let (result, yielded) = (module.result(dot)?, module.terminator(body)?);
        let into = *module.ops[dot].operands.get(2)?;
        if is_zero(module, into) && !self.users.of(result).contains(&yielded) {
            return Some((scf_for, None, AccumulatorKind::Read));
        }
        let at = module.ops[yielded].operands.iter().position(|&v| v == result)?;
        let again = module.ops[yielded].operands.iter().filter(|&&v| v == result).count() > 1;
        let carried = *module.blocks[body].args.get(at + 1)?;
        let scaling = module.def_op(into).filter(|&op| module.ops[op].block == Some(body))?;
        let in_place =
            matches!(module.ops[scaling].opcode, Opcode::MulF | Opcode::DivF | Opcode::AddF | Opcode::SubF);
        let fits = in_place
            && !again
            && module.ops[scaling].operands.contains(&carried)
            && self.users.of(carried) == [scaling]
            && self.users.of(into) == [dot]
            && self.users.of(result) == [yielded];
        fits.then_some((scf_for, Some(at), AccumulatorKind::Scaled { scaled: into, carried }))
    }

    /// The loop and the position of the loop-carried value that only this product changes and nothing else in the loop
    /// reads.
    fn carried(&self, dot: OpId) -> Option<(OpId, usize)> {
        let (module, users) = (self.module, &self.users);
        let scf_for = innermost_for(module, dot)?;
        let body = module.entry(scf_for, 0).filter(|&b| module.ops[dot].block == Some(b))?;
        let (result, yielded) = (module.result(dot)?, module.terminator(body)?);
        let into = *module.ops[dot].operands.get(2)?;
        let at = match module.values[into].def {
            ValueDef::Argument { block, index } if block == body && index > 0 => index as usize - 1,
            _ => return None,
        };
        let goes_round = module.ops[yielded].operands.get(at) == Some(&result);
        (goes_round && users.of(into) == [dot] && users.of(result) == [yielded]).then_some((scf_for, at))
    }

    /// The operands that products read from tensor memory.
    fn operands(&mut self) -> Vec<TmemOperand> {
        let module = self.module;
        let mut operands: Vec<TmemOperand> = Vec::new();
        for (index, dot) in self.dots.iter().enumerate().filter(|(_, d)| d.a == OperandSource::Registers) {
            let Some(scf_for) = innermost_for(module, dot.op) else { continue };
            let Some(&value) = module.ops[dot.op].operands.first() else { continue };
            if self.users.of(value) != [dot.op] {
                let text =
                    "an operand of tt.dot is read by something else as well, which is not supported yet";
                self.errors.push(refuse(module, dot.op, Code::Op, text).rule("C24"));
            }
            let [m, _, k] = dot.extents;
            let columns = m.div_ceil(self.lanes) * k * u64::from(dot.element.bits()) / 32;
            let extents =
                |f: &TmemOperand| self.dots.get(f.dot).map(|d| (d.extents[0], d.extents[2], d.element));
            let own = operands.len();
            let home = operands.iter().position(|f| {
                extents(f) == Some((m, k, dot.element)) && f.scf_for != scf_for && !self.leads(scf_for)
            });
            let home = home.filter(|&h| !operands.iter().any(|f| f.home == h && f.scf_for == scf_for));
            let home = home.and_then(|h| operands.get(h)).map_or(own, |f| f.home);
            operands.push(TmemOperand { dot: index, scf_for, value, columns, home });
        }
        operands
    }
}

fn starts_from_zero(module: &Module, scf_for: OpId, at: usize) -> bool {
    module.ops[scf_for].operands.get(3 + at).is_some_and(|&v| is_zero(module, v))
}

fn is_zero(module: &Module, value: ValueId) -> bool {
    module.def_op(value).is_some_and(|op| {
        let zero = match module.attr(op, "value") {
            Some(Attr::Splat { value, .. }) => matches!(**value, Attr::Float { bits: 0, .. }),
            _ => false,
        };
        module.ops[op].opcode == Opcode::Constant && zero
    })
}
