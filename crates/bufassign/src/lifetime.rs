//! Phase 1: who shares storage for certain, how long versions live, how deep rings are
//! (B14..B19, B21, B22).

mod types;
mod unit;

pub(crate) use types::{Lifetimes, Span, Unit, UnitUse, describe, fail};

use crate::model::{Model, owner, zero_distance_cycles};
use crate::output::{AssignError, ErrorKind};
use std::collections::{BTreeMap, BTreeSet};
use unit::{horizons, unit};

/// Phase 1 without the order questions, which need the graph of the depths found here.
///
/// # Errors
/// All failures of the phase, lowest value id first (B15).
pub(crate) fn resolve(model: &Model<'_>) -> Result<Lifetimes, AssignError> {
    let mut errors = Vec::new();
    let (owner, offset) = owners(model, &mut errors);
    if let Some(e) = AssignError::collect(std::mem::take(&mut errors)) {
        return Err(e);
    }
    let uses = uses_by_owner(model, &owner);
    anchors(model, &owner, &uses, &mut errors);
    if let Some(e) = AssignError::collect(std::mem::take(&mut errors)) {
        return Err(e);
    }
    let chains = in_place_chains(model, &owner, &uses, &mut errors);
    let horizon = horizons(model);
    let mut units = Vec::new();
    for chain in chains {
        match unit(model, chain, &uses, &horizon) {
            Ok(u) => units.push(u),
            Err(e) => errors.push(e),
        }
    }
    if let Some(e) = AssignError::collect(std::mem::take(&mut errors)) {
        return Err(e);
    }
    for u in &mut units {
        if let Err(e) = take_leaf(model, u) {
            errors.push(e);
        }
    }
    if let Some(e) = AssignError::collect(std::mem::take(&mut errors)) {
        return Err(e);
    }
    let mut unit_of = vec![0; model.values.len()];
    for (k, u) in units.iter().enumerate() {
        for &v in &u.values {
            unit_of[v] = k;
        }
    }
    for v in 0..unit_of.len() {
        unit_of[v] = unit_of[owner[v]];
    }
    for pipe in &model.pipes {
        let depth = pipe.values.iter().map(|&v| units[unit_of[v]].depth).max().unwrap_or(1);
        for &v in &pipe.values {
            let u = &mut units[unit_of[v]];
            if u.carried || u.depth == depth {
                continue;
            }
            if model.values[u.values[0]].layout.is_some() {
                let why = format!("its pipe has {depth} slots, its layout {}", u.depth);
                return Err(fail(model, ErrorKind::LayoutTooShallow, "B20", v, why));
            }
            u.depth = depth;
        }
    }
    for (pipe, &spare) in model.pipes.iter().zip(&model.spare) {
        let own: BTreeSet<usize> =
            pipe.values.iter().filter(|&&v| owner[v] == v).map(|&v| unit_of[v]).collect();
        own.into_iter().for_each(|k| units[k].depth += spare);
    }
    let mut family = vec![Vec::new(); owner.len()];
    owner.iter().enumerate().for_each(|(v, &o)| family[o].push(v));
    Ok(Lifetimes { owner, offset, family, unit_of, units, horizon })
}

/// A value bound to a layout has as many slots as its leaf, at least those its lifetime asks for (B20).
fn take_leaf(model: &Model<'_>, u: &mut Unit) -> Result<(), AssignError> {
    let v = u.values[0];
    let Some((layout, leaf)) = model.values[v].layout else { return Ok(()) };
    let slots = model.layouts[layout].leaves.get(leaf).map_or(0, |l| l.slots) as i64;
    if slots < u.depth {
        let why = format!("its lifetime asks for {} slots, its layout has {slots}", u.depth);
        let mut e = fail(model, ErrorKind::LayoutTooShallow, "B20", v, why);
        describe(model, u, &mut e);
        return Err(e);
    }
    if model.regions[u.region].is_loop && !u.carried {
        u.depth = slots;
    }
    Ok(())
}

/// Follows `view_of` to a value with a root and adds up offsets (B14).
fn owners(model: &Model<'_>, errors: &mut Vec<AssignError>) -> (Vec<usize>, Vec<u64>) {
    let n = model.values.len();
    let (mut owners, mut offsets) = ((0..n).collect::<Vec<_>>(), vec![0u64; n]);
    for v in 0..n {
        let Some(o) = owner(model, v) else {
            errors.push(fail(model, ErrorKind::CyclicChain, "B15", v, "its view_of links loop"));
            continue;
        };
        owners[v] = o;
        if model.values[o].src.root.is_none() {
            let path = format!("values[id={}].root", model.values[o].id);
            let why =
                format!("no root at the end of its back-cone: set {path}, which may be the value's own id");
            let mut e = fail(model, ErrorKind::Unanchored, "B15", v, why);
            e.path = Some(path);
            errors.push(e);
            continue;
        }
        let (mut at, mut sum) = (v, Some(0u64));
        while let Some(next) = model.values[at].view_of {
            sum = sum.and_then(|s| s.checked_add(model.values[at].src.byte_offset));
            at = next;
        }
        let end = sum.and_then(|s| s.checked_add(model.values[v].bytes));
        match (sum, end) {
            (Some(s), Some(end)) if end <= model.values[o].bytes || v == o => offsets[v] = s,
            _ => {
                let why = format!(
                    "the view ends at byte {} of an owner of {} bytes (value {})",
                    end.unwrap_or(u64::MAX),
                    model.values[o].bytes,
                    model.values[o].id
                );
                errors.push(fail(model, ErrorKind::ViewOutOfBounds, "B14", v, why));
            }
        }
    }
    (owners, offsets)
}

/// Uses of an owner, those through its views included; a write through a view is a use too.
fn uses_by_owner(model: &Model<'_>, owner: &[usize]) -> Vec<Vec<UnitUse>> {
    let mut uses: Vec<Vec<UnitUse>> = vec![Vec::new(); model.values.len()];
    for (v, value) in model.values.iter().enumerate() {
        let o = owner[v];
        for u in &value.uses {
            uses[o].push(UnitUse {
                value: v,
                op: u.op,
                distance: u.distance,
                carries: u.in_place && u.distance == 1,
            });
        }
        if let Some((p, _)) = value.producer.filter(|_| v != o)
            && model.values[o].producer.map(|x| x.0) != Some(p)
        {
            uses[o].push(UnitUse { value: v, op: p, distance: 0, carries: false });
        }
    }
    uses
}

/// The failures that concern one value alone (B15).
fn anchors(model: &Model<'_>, owner: &[usize], uses: &[Vec<UnitUse>], errors: &mut Vec<AssignError>) {
    let cyclic = zero_distance_cycles(model);
    for (v, value) in model.values.iter().enumerate() {
        let o = owner[v];
        let producer = model.values[o].producer.map(|p| p.0);
        let looped =
            producer.filter(|&p| cyclic[p] && value.uses.iter().any(|u| u.distance == 0 && cyclic[u.op]));
        if let Some(p) = looped {
            let why = format!("op {} needs its own result in the same iteration", model.ops[p].id);
            errors.push(fail(model, ErrorKind::CyclicChain, "B15", v, why));
            continue;
        }
        let own = value.producer.iter().map(|p| p.0).chain(value.uses.iter().map(|u| u.op));
        if let Some(op) = own.into_iter().find(|&op| model.ops[op].at.is_none()) {
            let why = format!("op {} has no region, stage or cycle", model.ops[op].id);
            errors.push(fail(model, ErrorKind::NoAnchor, "B15", v, why));
            continue;
        }
        let far = value.uses.iter().find(|u| u.distance > 0);
        if let Some(u) = far.filter(|_| !value.src.init && !model.values[o].src.init) {
            let why = format!(
                "op {} reads it {} iterations later and no init covers the first ones",
                model.ops[u.op].id, u.distance
            );
            errors.push(fail(model, ErrorKind::NoAnchor, "B15", v, why));
            continue;
        }
        if o == v && uses[v].is_empty() && !value.src.live_out {
            errors.push(fail(model, ErrorKind::NoConsumer, "B15", v, "nobody reads it"));
        }
    }
}

/// Groups values that update each other in place; every group in order of its updates (B19).
fn in_place_chains(
    model: &Model<'_>,
    owner: &[usize],
    uses: &[Vec<UnitUse>],
    errors: &mut Vec<AssignError>,
) -> Vec<Vec<usize>> {
    let n = model.values.len();
    let mut by_producer: BTreeMap<(usize, Option<u64>), usize> = BTreeMap::new();
    for v in (0..n).filter(|&v| owner[v] == v) {
        if let Some((p, _)) = model.values[v].producer {
            by_producer.entry((p, model.values[v].src.root)).or_insert(v);
        }
    }
    let mut next: Vec<Option<usize>> = vec![None; n];
    let mut linked = vec![false; n];
    for v in (0..n).filter(|&v| owner[v] == v) {
        let in_place = |u: &UnitUse| {
            model.values[u.value].uses.iter().any(|m| m.in_place && m.op == u.op && m.distance == u.distance)
        };
        for u in uses[v].iter().filter(|u| in_place(u)) {
            let target = by_producer.get(&(u.op, model.values[v].src.root)).copied();
            let problem = match target {
                Some(w) if u.distance == 0 && w != v => {
                    if next[v].is_some() || linked[w] {
                        Some("two ops update one version in place")
                    } else {
                        (next[v], linked[w]) = (Some(w), true);
                        None
                    }
                }
                None if u.distance > 0 => {
                    Some("the op that updates it in place produces no value of its root")
                }
                _ => None,
            };
            if let Some(why) = problem {
                let why = format!("{why} (op {})", model.ops[u.op].id);
                errors.push(fail(model, ErrorKind::OverwrittenBeforeRead, "B19", v, why));
            }
        }
    }
    let mut chains = Vec::new();
    for v in (0..n).filter(|&v| owner[v] == v && !linked[v]) {
        let mut chain = vec![v];
        let mut at = v;
        while let Some(w) = next[at] {
            chain.push(w);
            at = w;
        }
        chains.push(chain);
    }
    chains.sort_by_key(|c| c.iter().min().copied());
    chains
}
