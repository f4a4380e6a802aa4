//! Atomics that a program makes of `atom.cas`: an ordinary load guesses the old value, the swap checks the guess.

use crate::isa::op::{AtomOp, Inst, Op, Reg, Src};
use std::collections::BTreeMap;

/// Marks the loads whose address, the same register with the same offset, an `atom.cas` of the same width swaps. What
/// they read may be old: the swap then fails. The register must be written in one place, or it may hold two addresses.
pub(super) fn mark(insts: &mut [Inst], uses: &[Vec<(Reg, bool)>]) {
    let mut written: BTreeMap<Reg, u32> = BTreeMap::new();
    for (register, _) in uses.iter().flatten().filter(|(_, writes)| *writes) {
        *written.entry(*register).or_default() += 1;
    }
    let swaps: Vec<_> = insts
        .iter()
        .filter_map(|i| match &i.op {
            Op::Atom(a) if a.op == AtomOp::Cas => Some((a.addr, a.ty.bits())),
            _ => None,
        })
        .collect();
    for inst in insts {
        let Op::Ld(load) = &mut inst.op else { continue };
        let fixed = match load.addr.base {
            Src::Reg(r) | Src::Plus(r, _) => written.get(&r) == Some(&1),
            _ => true,
        };
        let swapped = swaps.contains(&(load.addr, load.ty.bits()));
        load.guess = fixed && swapped && load.dsts.len() == 1 && !load.order.strong();
    }
}
