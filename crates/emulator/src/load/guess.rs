//! Atomics that a program makes of `atom.cas`: an ordinary load guesses the old value, the swap checks the guess.

use crate::isa::op::{AtomOp, Inst, Op, Reg, Src};
use std::collections::BTreeMap;

/// Steps back to where an address comes from.
const STEPS: usize = 16;

/// Marks the loads whose address an `atom.cas` of the same width swaps. What they read may be old: the swap then fails.
/// The address must come by additions of constants from one register that is written in one place, or it may be two.
pub(super) fn mark(insts: &mut [Inst], uses: &[Vec<(Reg, bool)>], opcodes: &[String]) {
    let mut written: BTreeMap<Reg, Vec<usize>> = BTreeMap::new();
    for (at, registers) in uses.iter().enumerate() {
        for (register, _) in registers.iter().filter(|(_, writes)| *writes) {
            written.entry(*register).or_default().push(at);
        }
    }
    let comes_from = |base: Src, offset: u64| root(insts, opcodes, &written, base, offset);
    let swaps: Vec<_> = insts
        .iter()
        .filter_map(|i| match &i.op {
            Op::Atom(a) if a.op == AtomOp::Cas => {
                comes_from(a.addr.base, a.addr.offset).map(|r| (r, a.ty.bits(), a.b.len()))
            }
            _ => None,
        })
        .collect();
    let guesses = |inst: &Inst| match &inst.op {
        Op::Ld(l) if !l.order.strong() => comes_from(l.addr.base, l.addr.offset)
            .is_some_and(|root| swaps.contains(&(root, l.ty.bits(), l.dsts.len()))),
        _ => false,
    };
    let marks: Vec<bool> = insts.iter().map(guesses).collect();
    for (inst, guess) in insts.iter_mut().zip(marks) {
        if let Op::Ld(load) = &mut inst.op {
            load.guess = guess;
        }
    }
}

/// The register or symbol that an address comes from, and the distance; nothing where the register is written twice.
fn root(
    insts: &[Inst],
    opcodes: &[String],
    written: &BTreeMap<Reg, Vec<usize>>,
    mut base: Src,
    mut offset: u64,
) -> Option<(Src, u64)> {
    for _ in 0..STEPS {
        let register = match base {
            Src::Plus(r, k) => {
                offset = offset.wrapping_add(k);
                r
            }
            Src::Reg(r) => r,
            other => return Some((other, offset)),
        };
        base = Src::Reg(register);
        let [at] = written.get(&register)?.as_slice() else { return None };
        let inst = insts.get(*at).filter(|i| i.guard.is_none())?;
        let adds = opcodes.get(inst.opcode as usize).is_some_and(|o| o.starts_with("add."));
        match inst.op {
            Op::Bin { a: a @ (Src::Reg(_) | Src::Plus(..)), b: Src::Imm(k), .. } if adds => {
                (base, offset) = (a, offset.wrapping_add(k));
            }
            _ => break,
        }
    }
    Some((base, offset))
}
