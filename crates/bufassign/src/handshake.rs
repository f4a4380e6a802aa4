//! How producer and consumers agree (B27), decided per pipe (B21).

use crate::input::AccessRole;
use crate::lifetime::Lifetimes;
use crate::model::Model;
use crate::output::Handshake;
use std::collections::BTreeSet;

/// The handshake of one pipe.
#[derive(Clone, Debug)]
pub(crate) struct Shake {
    pub kind: Handshake,
    /// A named barrier is needed.
    pub named: bool,
    /// Partitions concerned, and those that only produce.
    pub partitions: BTreeSet<usize>,
    pub producers: BTreeSet<usize>,
    pub consumers: BTreeSet<usize>,
}

/// Handshakes of all pipes.
pub(crate) fn decide(model: &Model<'_>, life: &Lifetimes) -> Vec<Shake> {
    model.pipes.iter().map(|p| pipe(model, life, &p.values)).collect()
}

fn pipe(model: &Model<'_>, life: &Lifetimes, values: &[usize]) -> Shake {
    // Uses through a view belong to its owner's pipe; a view has no handshake of its own.
    let mut members: Vec<usize> = values.to_vec();
    members.extend(values.iter().flat_map(|&v| &life.family[v]).filter(|&&w| life.owner[w] != w));
    members.sort_unstable();
    members.dedup();
    let mut producers = BTreeSet::new();
    let mut consumers = BTreeSet::new();
    let mut roles: BTreeSet<AccessRole> = BTreeSet::new();
    for &v in &members {
        let value = &model.values[v];
        if let Some((p, role)) = value.producer {
            producers.insert(model.ops[p].partition);
            roles.insert(role);
        }
        consumers.extend(value.uses.iter().map(|u| model.ops[u.op].partition));
    }
    let partitions: BTreeSet<usize> = producers.union(&consumers).copied().collect();
    let several_warps = partitions.iter().any(|&a| model.partitions[a].warps > 1);
    let local = values.iter().all(|&v| model.values[v].src.warp_local);
    let exchanged = several_warps && !local;
    let (kind, named) = if values.iter().any(|&v| model.is_signal(v)) {
        (Handshake::Named, true)
    } else if producers.is_empty() {
        (Handshake::Order, false)
    } else if partitions.len() > 1 {
        (Handshake::Pair, false)
    } else if roles.iter().any(|&r| model.limits.is(r, |r| r.signals)) {
        (Handshake::Full, exchanged)
    } else if roles.iter().any(|&r| model.limits.is(r, |r| r.grouped)) {
        (Handshake::Group, exchanged)
    } else if exchanged {
        (Handshake::Named, true)
    } else {
        (Handshake::Order, false)
    };
    Shake { kind, named: named || model.options.is_tileiras(), partitions, producers, consumers }
}
