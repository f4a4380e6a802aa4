//! Products that add up in tensor memory: which loop each belongs to, who else touches its sum, and how many slots it has
//! (C66, T14).

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, Module, OpId, Opcode, ValueDef, ValueId};
use warploom_target::Target;

use super::{Dot, Operand, Ring};
use crate::columns;
use crate::loops::innermost_for;
use crate::place::refuse;
use crate::walk::Users;

/// Who touches a sum while its loop runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SumKind {
    /// Only its product: what the loop carries adds up, and is read behind the loop.
    Plain,
    /// The computing agent reads each product in the trip that made it; every trip starts from zero.
    Read,
    /// The computing agent scales what the loop carries before the product of the trip adds to it.
    Scaled {
        /// What the product adds to, made from what the loop carries.
        scaled: ValueId,
        /// What the loop carries, as its body sees it.
        carried: ValueId,
    },
}

/// A sum in tensor memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sum {
    /// Position of its product in [`super::Selection::dots`].
    pub dot: usize,
    /// The loop it adds up in.
    pub scf_for: OpId,
    /// Which loop-carried value it is; none for one that each trip reads.
    pub at: Option<usize>,
    /// Who else touches it.
    pub kind: SumKind,
    /// Whether a loop around it starts it again.
    pub looped: bool,
    /// Slots of a plain sum: two where the next sum may start while this one is read. The schedule decides about others.
    pub slots: u64,
    /// Columns of one slot: blocks of 128 rows stand side by side.
    pub columns: u64,
    /// The sum whose slots it uses: its own, or those of an earlier loop.
    pub home: usize,
}

/// A tile that the computing agent writes into tensor memory, for a product to read as its A (C24).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Factor {
    /// Position of its product in [`super::Selection::dots`].
    pub dot: usize,
    /// The loop of that product.
    pub scf_for: OpId,
    /// The tile.
    pub value: ValueId,
    /// Columns of one slot.
    pub columns: u64,
    /// The factor whose slots it uses: its own, or those of an earlier loop.
    pub home: usize,
}

/// The sum of every product and the factors written for them, with every reason against them.
pub(super) fn select(
    module: &Module,
    loops: &[OpId],
    dots: &[Dot],
    rings: &[Ring],
    target: &Target,
    errors: &mut Vec<Diagnostic>,
) -> (Vec<Sum>, Vec<Factor>) {
    let Some(tmem) = &target.tmem else { return (Vec::new(), Vec::new()) };
    let (lanes, most) = (u64::from(tmem.lanes).max(1), u64::from(tmem.columns));
    let mut maker = Maker { module, users: Users::new(module), dots, rings, loops, lanes, errors };
    let mut sums: Vec<Sum> = Vec::new();
    for index in 0..dots.len() {
        let made = maker.sum(index, &sums);
        sums.extend(made);
    }
    let factors = maker.factors();
    let own = sums.iter().filter(|s| sums.get(s.home).is_some_and(|home| home.dot == s.dot));
    let written = factors.iter().enumerate().filter(|(i, f)| f.home == *i).map(|(_, f)| f.columns);
    let one: u64 = own.map(|s| s.columns).chain(written).sum();
    if one > most {
        let at = dots.first().map(|d| d.op);
        let parts = columns::Parts { dots, sums: &sums, factors: &factors };
        errors.extend(at.map(|op| *columns::too_many(module, op, &parts, one, most)));
    } else if 2 * one <= most {
        sums.iter_mut().filter(|s| s.looped).for_each(|s| s.slots = 2);
    }
    (sums, factors)
}

struct Maker<'a> {
    module: &'a Module,
    users: Users,
    dots: &'a [Dot],
    rings: &'a [Ring],
    loops: &'a [OpId],
    lanes: u64,
    errors: &'a mut Vec<Diagnostic>,
}

impl Maker<'_> {
    /// The sum of one product, after those of the products before it.
    fn sum(&mut self, index: usize, before: &[Sum]) -> Option<Sum> {
        let module = self.module;
        let dot = self.dots.get(index)?;
        let [m, n, _] = dot.extents;
        let columns = m.div_ceil(self.lanes) * n;
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
        if kind != SumKind::Plain && looped {
            let text = "a loop around one that reads its products is not supported yet";
            self.errors.push(
                refuse(module, dot.op, Code::Op, text)
                    .rule("C24")
                    .note("instead", "one tile per program, without the loop around it"),
            );
        }
        if kind == SumKind::Plain && !at.is_some_and(|at| starts_from_zero(module, scf_for, at)) {
            self.errors.push(
                refuse(module, scf_for, Code::Op, "the accumulator does not start from zero")
                    .rule("C8")
                    .note("instead", "start from zero and add the tile after the loop"),
            );
        }
        let own = before.len();
        let leads = self.leads(scf_for);
        let extents = |s: &Sum| self.dots.get(s.dot).map(|d| d.extents);
        let alike = |s: &Sum| {
            let free = s.scf_for != scf_for && !self.taken(before, s.home, scf_for);
            s.kind == SumKind::Read && extents(s) == Some(dot.extents) && free
        };
        let home = match kind {
            SumKind::Plain => None,
            SumKind::Read => before.iter().position(alike).filter(|_| !leads),
            SumKind::Scaled { .. } => at.and_then(|at| self.goes_on_from(before, scf_for, at)),
        };
        let home = home.and_then(|h| before.get(h)).map(|s| s.home);
        // A loop that copies into the rings of an earlier one has its place in memory through that one (B55).
        let scaled = matches!(kind, SumKind::Scaled { .. });
        if (leads && scaled && home.is_some()) || (!leads && kind != SumKind::Plain && home.is_none()) {
            let text = "products of a later loop that do not go on like those of the earlier one are not supported yet";
            self.errors.push(refuse(module, dot.op, Code::Op, text).rule("B55").note(
                "supported",
                "loops that copy and multiply the same tiles, or loops with nothing in common",
            ));
        }
        Some(Sum { dot: index, scf_for, at, kind, looped, slots: 1, columns, home: home.unwrap_or(own) })
    }

    /// Whether another product of a loop uses the slots of a sum already.
    fn taken(&self, before: &[Sum], home: usize, scf_for: OpId) -> bool {
        before.iter().any(|s| s.home == home && s.scf_for == scf_for)
    }

    /// The sum of an earlier loop that a loop-carried value starts from, if nothing else reads it.
    fn goes_on_from(&self, before: &[Sum], scf_for: OpId, at: usize) -> Option<usize> {
        let initial = *self.module.ops[scf_for].operands.get(3 + at)?;
        let made = self.module.def_op(initial)?;
        let of = |s: &Sum| s.at.and_then(|at| self.module.ops[made].results.get(at)) == Some(&initial);
        let alone = self.users.of(initial) == [scf_for];
        let scaled = |s: &Sum| matches!(s.kind, SumKind::Scaled { .. });
        before.iter().position(|s| alone && s.scf_for == made && of(s) && scaled(s))
    }

    /// Whether a loop owns a ring of copies.
    fn leads(&self, scf_for: OpId) -> bool {
        self.rings.iter().any(|r| r.uses.first().is_some_and(|u| u.scf_for == Some(scf_for)))
    }

    /// What kind of sum a product adds to, in which loop, and as which of the values that the loop carries.
    fn kind(&self, dot: OpId) -> Option<(OpId, Option<usize>, SumKind)> {
        let module = self.module;
        if let Some((scf_for, at)) = self.carried(dot) {
            return Some((scf_for, Some(at), SumKind::Plain));
        }
        let scf_for = innermost_for(module, dot).filter(|l| self.loops.contains(l))?;
        let body = module.entry(scf_for, 0).filter(|&b| module.ops[dot].block == Some(b))?;
        let (result, yielded) = (module.result(dot)?, module.terminator(body)?);
        let into = *module.ops[dot].operands.get(2)?;
        if is_zero(module, into) && !self.users.of(result).contains(&yielded) {
            return Some((scf_for, None, SumKind::Read));
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
        fits.then_some((scf_for, Some(at), SumKind::Scaled { scaled: into, carried }))
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

    /// The factors that products read from tensor memory.
    fn factors(&mut self) -> Vec<Factor> {
        let module = self.module;
        let mut factors: Vec<Factor> = Vec::new();
        for (index, dot) in self.dots.iter().enumerate().filter(|(_, d)| d.a == Operand::Registers) {
            let Some(scf_for) = innermost_for(module, dot.op) else { continue };
            let Some(&value) = module.ops[dot.op].operands.first() else { continue };
            if self.users.of(value) != [dot.op] {
                let text = "a factor of tt.dot is read by something else as well, which is not supported yet";
                self.errors.push(refuse(module, dot.op, Code::Op, text).rule("C24"));
            }
            let [m, _, k] = dot.extents;
            let columns = m.div_ceil(self.lanes) * k * u64::from(dot.element.bits()) / 32;
            let extents = |f: &Factor| self.dots.get(f.dot).map(|d| (d.extents[0], d.extents[2], d.element));
            let own = factors.len();
            let home = factors.iter().position(|f| {
                extents(f) == Some((m, k, dot.element)) && f.scf_for != scf_for && !self.leads(scf_for)
            });
            let home = home.filter(|&h| !factors.iter().any(|f| f.home == h && f.scf_for == scf_for));
            let home = home.and_then(|h| factors.get(h)).map_or(own, |f| f.home);
            factors.push(Factor { dot: index, scf_for, value, columns, home });
        }
        factors
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
