//! Which tiles share a ring: those of one loop that the same operations read, and those of a later loop that are just
//! like them, since both loops never run at once (C22, B55).

use std::collections::BTreeSet;

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId, ValueId};

use super::TileLoad;
use crate::nest::is_inside;
use crate::place::refuse;
use crate::walk::Users;
use crate::{Filling, TileRing};

/// The rings of a kernel: those of loops first, then tiles that are loaded once.
pub(super) fn group(module: &Module, loops: &[OpId], loads: &[TileLoad], users: &Users) -> Vec<TileRing> {
    let mut rings: Vec<TileRing> = Vec::new();
    for &scf_for in loops {
        // Tiles with the same readers are handed over together.
        let mut groups: Vec<(BTreeSet<OpId>, Vec<usize>)> = Vec::new();
        for (index, load) in loads.iter().enumerate().filter(|(_, l)| l.scf_for == Some(scf_for)) {
            let readers = readers(module, load.value, users);
            match groups.iter_mut().find(|(known, _)| *known == readers) {
                Some((_, group)) => group.push(index),
                None => groups.push((readers, vec![index])),
            }
        }
        for (_, group) in groups {
            let alike = |ring: &&mut TileRing| {
                let known = ring.payloads();
                ring.used_in(scf_for).is_none()
                    && known.len() == group.len()
                    && known.iter().zip(&group).all(|(&a, &b)| same_tile(loads, a, b))
            };
            let found = rings.iter_mut().find(alike);
            let filling = Filling { scf_for: Some(scf_for), loads: group.clone() };
            match found {
                Some(ring) => ring.uses.push(filling),
                None => rings.push(TileRing { uses: vec![filling], looped: true }),
            }
        }
    }
    for (index, load) in loads.iter().enumerate() {
        if load.scf_for.is_none_or(|around| !loops.contains(&around)) {
            let filling = Filling { scf_for: load.scf_for, loads: vec![index] };
            rings.push(TileRing { uses: vec![filling], looped: load.scf_for.is_some() });
        }
    }
    rings
}

/// Refuses tiles that are loaded again and again outside the pipelined loops: nobody would give their slots back.
pub(super) fn check(module: &Module, loops: &[OpId], loads: &[TileLoad], errors: &mut Vec<Diagnostic>) {
    let again = |load: &&TileLoad| load.scf_for.is_some_and(|around| !loops.contains(&around));
    for load in loads.iter().filter(again) {
        let text = "a tile loaded in a loop around the pipelined loop is not supported yet";
        errors.push(
            refuse(module, load.op, Code::Op, text)
                .rule("C9")
                .note("supported", "tiles loaded in the pipelined loop, or once in the kernel"),
        );
    }
}

fn same_tile(loads: &[TileLoad], a: usize, b: usize) -> bool {
    let plan = |index: usize| loads.get(index).map(|l| &l.plan);
    plan(a) == plan(b)
}

/// The operations that read a tile, through views.
fn readers(module: &Module, value: ValueId, users: &Users) -> BTreeSet<OpId> {
    users.through_views(module, value).into_iter().map(|(user, _)| user).collect()
}

/// Whether an operation stands in any of several loops.
pub(super) fn in_any(module: &Module, op: OpId, loops: &[OpId]) -> bool {
    loops.iter().any(|&l| is_inside(module, op, l))
}
