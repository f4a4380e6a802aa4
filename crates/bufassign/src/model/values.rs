//! Values, validated (B4, B6).

use super::ids::{Ids, bad, find, index};
use super::limits::Limits;
use super::types::{MAX_BYTES, MAX_DISTANCE, MLayout, MOp, MPipe, MUse, MValue};
use crate::input::{AccessRole, BufferValue, Problem, Space, element_bits};
use crate::output::AssignError;
use std::collections::BTreeMap;

pub(super) fn values<'a>(
    problem: &'a Problem,
    limits: &Limits,
    order: &[usize],
    ops: &[MOp],
    op_ids: &Ids,
    layouts: &[MLayout],
    layout_ids: &Ids,
) -> Result<(Vec<MValue<'a>>, Vec<MPipe>), AssignError> {
    let (list, ids) = index("values", &problem.values, order, |v| v.id)?;
    let mut pipe_of: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut out: Vec<MValue<'a>> = Vec::with_capacity(list.len());
    for (k, &v) in list.iter().enumerate() {
        let path = |f: &str| format!("values[id={}].{f}", v.id);
        let refuse = |f: &str, why: String| Err(AssignError::invalid(path(f), why));
        if !v.align.is_power_of_two() || v.align > MAX_BYTES {
            return refuse("align", "an alignment is a power of two".into());
        }
        if !matches!(v.swizzle, 0 | 32 | 64 | 128) {
            return refuse("swizzle", format!("{} is none of 0, 32, 64, 128", v.swizzle));
        }
        let own = |s: Space| limits.machine.as_ref().map(|m| m.space(s).is_some());
        if let Some(s) = v.space.filter(|&s| !own(s).unwrap_or(matches!(s, Space::Smem | Space::Tmem))) {
            return refuse("space", format!("the target has no space {s}"));
        }
        if v.root.is_some() && v.view_of.is_some() {
            return refuse("root", "a view has no root of its own".into());
        }
        if v.view_of.is_some() && (v.live_in || v.live_out) {
            return refuse("view_of", "live_in and live_out stand on the owner, not on a view".into());
        }
        let producer = match &v.producer {
            Some(p) => {
                match limits.access(p.role) {
                    Some((true, _)) => {}
                    Some(_) => return refuse("producer.role", format!("{} does not write", p.role)),
                    None => return refuse("producer.role", no_role(limits, p.role)),
                }
                Some((find(op_ids, p.op, || path("producer.op"))?, p.role))
            }
            None if v.live_in || v.view_of.is_some() => None,
            None => return refuse("producer", "only a value that is live_in has no producer".into()),
        };
        let mut uses = Vec::with_capacity(v.consumers.len());
        for (i, c) in v.consumers.iter().enumerate() {
            let field = format!("consumers[{i}]");
            if !(0..=MAX_DISTANCE).contains(&c.distance) {
                return refuse(&format!("{field}.distance"), format!("not within 0..={MAX_DISTANCE}"));
            }
            match limits.access(c.role) {
                Some((_, true)) => {}
                Some(_) => return refuse(&format!("{field}.role"), format!("{} does not read", c.role)),
                None => return refuse(&format!("{field}.role"), no_role(limits, c.role)),
            }
            if c.in_place && c.distance > 1 {
                return refuse(&format!("{field}.in_place"), "in place at distance 0 or 1 only (B19)".into());
            }
            let op = find(op_ids, c.op, || path(&format!("{field}.op")))?;
            uses.push(MUse { op, role: c.role, distance: c.distance, in_place: c.in_place });
        }
        region_order(v.id, producer, &uses, ops)?;
        let view_of = v.view_of.map(|o| find(&ids, o, || path("view_of"))).transpose()?;
        let layout = match v.layout {
            Some(l) => {
                let at = find(layout_ids, l.id, || path("layout.id"))?;
                let leaf = usize::try_from(l.leaf).ok().filter(|&leaf| leaf < layouts[at].leaves.len());
                let leaf = leaf.ok_or_else(|| {
                    AssignError::invalid(path("layout.leaf"), "the layout has no such leaf")
                })?;
                Some((at, leaf))
            }
            None => None,
        };
        let (bits, bytes) = footprint(limits, v, &path)?;
        pipe_of.entry(v.pipe.unwrap_or(v.id)).or_default().push(k);
        out.push(MValue { src: v, id: v.id, bits, bytes, producer, uses, view_of, pipe: 0, layout });
    }
    let mut pipes: Vec<MPipe> = pipe_of.into_iter().map(|(id, values)| MPipe { id, values }).collect();
    pipes.sort_by_key(|p| p.values[0]);
    for (k, pipe) in pipes.iter().enumerate() {
        pipe.values.iter().for_each(|&v| out[v].pipe = k);
    }
    Ok((out, pipes))
}

/// What to say of a role that the target has not.
fn no_role(limits: &Limits, role: AccessRole) -> String {
    format!("{} has no role {role}; its roles are {}", limits.name, limits.role_names())
}

/// A use comes in the producer's region or a later one (B4).
fn region_order(
    id: u64,
    producer: Option<(usize, AccessRole)>,
    uses: &[MUse],
    ops: &[MOp],
) -> Result<(), AssignError> {
    let Some(from) = producer.and_then(|(p, _)| ops[p].at) else { return Ok(()) };
    for (i, u) in uses.iter().enumerate() {
        let Some(to) = ops[u.op].at else { continue };
        let path = format!("consumers[{i}]");
        if to.region < from.region {
            return Err(bad("values", id, &path, "a use in an earlier region than the producer"));
        }
        if to.region > from.region && u.distance > 0 {
            return Err(bad("values", id, &path, "a use in a later region has distance 0"));
        }
    }
    Ok(())
}

/// Bits of the element and bytes of one stage, in bits first (B6).
fn footprint(
    limits: &Limits,
    v: &BufferValue,
    path: &impl Fn(&str) -> String,
) -> Result<(Option<u64>, u64), AssignError> {
    let bits =
        match &v.element {
            Some(e) => Some(element_bits(e).ok_or_else(|| {
                AssignError::invalid(path("element"), format!("unknown element type '{e}'"))
            })?),
            None => None,
        };
    if v.shape.contains(&0) {
        return Err(AssignError::invalid(path("shape"), "a dimension is 0"));
    }
    let no_payload = v.view_of.is_none()
        && !v.producer.iter().any(|p| limits.has_payload(p.role))
        && !v.consumers.iter().any(|c| limits.has_payload(c.role));
    let computed = match bits {
        Some(bits) => v
            .shape
            .iter()
            .try_fold(bits, |n, &d| n.checked_mul(d))
            .map(|n| n.div_ceil(8))
            .filter(|&n| n <= MAX_BYTES)
            .ok_or_else(|| AssignError::invalid(path("shape"), "the footprint overflows"))?,
        None if v.shape.is_empty() => 0,
        None => return Err(AssignError::invalid(path("element"), "a shape needs an element type")),
    };
    let bytes = match v.bytes {
        Some(b) if b < computed => {
            let m = format!("{b} is below the footprint of {computed} bytes");
            return Err(AssignError::invalid(path("bytes"), m));
        }
        Some(b) if b > MAX_BYTES => {
            return Err(AssignError::invalid(path("bytes"), format!("more than {MAX_BYTES}")));
        }
        Some(b) => b,
        None => computed,
    };
    if bits.is_none() && v.bytes.is_none() && !no_payload {
        return Err(AssignError::invalid(
            path("element"),
            "a value with a payload has a shape and an element",
        ));
    }
    Ok((bits, bytes))
}
