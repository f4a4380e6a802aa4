//! Products that add up in tensor memory: which loop each belongs to, and how many slots its sum has (C66, T14).

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, Module, OpId, Opcode, ValueDef};
use warploom_target::Target;

use super::Dot;
use crate::loops::innermost_for;
use crate::place::refuse;
use crate::walk::Users;

/// A sum in tensor memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sum {
    /// Position of its product in [`super::Selection::dots`].
    pub dot: usize,
    /// The loop it adds up in.
    pub scf_for: OpId,
    /// Which loop-carried value it is.
    pub at: usize,
    /// Whether a loop around it starts it again.
    pub looped: bool,
    /// Slots: two where the next sum may start while this one is read.
    pub slots: u64,
    /// Columns of one slot: blocks of 128 rows stand side by side.
    pub columns: u64,
}

/// The sum of every product, with every reason against it.
pub(super) fn select(
    module: &Module,
    dots: &[Dot],
    target: &Target,
    errors: &mut Vec<Diagnostic>,
) -> Vec<Sum> {
    let Some(tmem) = &target.tmem else { return Vec::new() };
    let users = Users::new(module);
    let (lanes, most) = (u64::from(tmem.lanes).max(1), u64::from(tmem.columns));
    let mut sums = Vec::new();
    for (index, dot) in dots.iter().enumerate() {
        let Some((scf_for, at)) = carried(module, dot.op, &users) else {
            let text =
                "the accumulator of tt.dot is not carried from one trip to the next and read behind the loop";
            errors.push(
                refuse(module, dot.op, Code::Op, text)
                    .rule("C24")
                    .note("supported", "acc = tt.dot a, b, acc with nothing in between"),
            );
            continue;
        };
        if !starts_from_zero(module, scf_for, at) {
            errors.push(
                refuse(module, scf_for, Code::Op, "the accumulator does not start from zero")
                    .rule("C8")
                    .note("instead", "start from zero and add the tile after the loop"),
            );
        }
        let [m, n, _] = dot.extents;
        let looped = innermost_for(module, scf_for).is_some();
        sums.push(Sum { dot: index, scf_for, at, looped, slots: 1, columns: m / lanes * n });
    }
    let one: u64 = sums.iter().map(|s| s.columns).sum();
    if one > most {
        let owners: Vec<String> = sums.iter().map(|s| format!("{} columns", s.columns)).collect();
        let at = dots.first().map(|d| d.op);
        let text = format!("tensor memory {one} columns of {most}");
        let fits = dots.first().map(|d| d.extents).map(|[m, n, _]| format!("a tile of {m}x{}", n / 2));
        let error = at.map(|op| refuse(module, op, Code::Capacity, text).rule("C92"));
        let error = error.map(|e| e.note("", format!("accumulators: {}", owners.join(", "))));
        errors.extend(error.map(|e| e.note("fits", fits.unwrap_or_default())));
    } else if 2 * one <= most {
        sums.iter_mut().filter(|s| s.looped).for_each(|s| s.slots = 2);
    }
    sums
}

/// The loop and the position of the loop-carried value that only this product changes and nothing else in the loop reads.
fn carried(module: &Module, dot: OpId, users: &Users) -> Option<(OpId, usize)> {
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

fn starts_from_zero(module: &Module, scf_for: OpId, at: usize) -> bool {
    let initial = module.ops[scf_for].operands.get(3 + at).and_then(|&v| module.def_op(v));
    initial.is_some_and(|op| {
        let value = match module.attr(op, "value") {
            Some(Attr::Splat { value, .. }) => matches!(**value, Attr::Float { bits: 0, .. }),
            _ => false,
        };
        module.ops[op].opcode == Opcode::Constant && value
    })
}
