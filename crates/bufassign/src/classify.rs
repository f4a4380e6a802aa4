//! Phase 3, first half: which space a chain lives in, and its footprint there (B34..B38, B41, B42).

use crate::input::Space;
use crate::lifetime::{Lifetimes, Unit, describe};
use crate::model::{Machine, Model};
use crate::output::{AssignError, Class, Classification, ErrorKind, Lanes, ValueInfo, Why};

pub(crate) const SMEM: &str = "fails to assign smem buffer";
pub(crate) const TMEM: &str = "fails to assign tmem buffer";

/// The decision for a chain of values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision {
    pub class: Class,
    pub why: Option<Why>,
    /// A role is illegal there: only under the preset (B36).
    pub illegal: bool,
    /// Which of a machine's spaces.
    pub space: usize,
}

/// One stage of a value in its space: bytes (SMEM) or columns (TMEM).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Footprint {
    pub size: u64,
    pub align: u64,
    /// A 64-row tile takes half of the lanes.
    pub half_lanes: bool,
}

/// Columns of a tile in tensor memory and whether it takes half of the lanes (B42); the reason if
/// it cannot live there.
pub(crate) fn tmem_tile(model: &Model<'_>, v: usize) -> Result<(u64, bool), String> {
    let Some(t) = model.limits.tmem else { return Err("the chip has no tensor memory".into()) };
    let value = &model.values[v];
    let shape = &value.src.shape;
    let [leading @ .., rows, cols] = shape.as_slice() else {
        return Err(format!("a shape of rank {} has no rows and columns", shape.len()));
    };
    let half = *rows * 2 == t.lanes;
    if *rows != t.lanes && !half {
        let pair = if *rows == 2 * t.lanes { " (256 only across a CTA pair, 128 in each)" } else { "" };
        return Err(format!("{rows} rows: a tile has {} or {}{pair}", t.lanes / 2, t.lanes));
    }
    let bits = value.bits.unwrap_or(t.cell_bits);
    let columns =
        leading.iter().try_fold(cols.saturating_mul(bits).div_ceil(t.cell_bits), |n, &d| n.checked_mul(d));
    match columns {
        Some(c) if c <= t.columns => Ok((c, half)),
        _ => Err(format!("one stage takes more than {} columns", t.columns)),
    }
}

/// Whether the size rule counts a value as a 2-D tile (B35).
fn is_tile(model: &Model<'_>, v: usize) -> bool {
    let shape = &model.values[v].src.shape;
    let [leading @ .., rows, cols] = shape.as_slice() else { return false };
    leading.iter().all(|&d| d == 1) && *rows > 1 && *cols > 1 && tmem_tile(model, v).is_ok()
}

/// Decides the class of a chain: `values` are its members with their views (B34, B35).
pub(crate) fn decide(model: &Model<'_>, life: &Lifetimes, values: &[usize]) -> Result<Decision, AssignError> {
    let feature = model.limits.tmem.is_some();
    let roles = || values.iter().flat_map(|&v| model.roles(v));
    // The largest member speaks for the chain.
    let speaker = values
        .iter()
        .copied()
        .filter(|&v| life.owner[v] == v)
        .max_by_key(|&v| (model.values[v].bytes, std::cmp::Reverse(v)))
        .unwrap_or(values[0]);
    let plain = |class, why| Ok(Decision { class, why, illegal: false, space: 0 });
    if values.iter().all(|&v| model.is_signal(v)) {
        return plain(Class::BarrierOnly, None);
    }
    if let Some(machine) = &model.limits.machine {
        return own_space(model, life, machine, values, speaker);
    }
    let desc = roles().filter(|&r| model.limits.is(r, |r| r.descriptor)).count();
    if desc > 0 && desc == roles().count() {
        return plain(Class::Desc, Some(Why::Role));
    }
    let by_role = roles().map(|r| model.limits.legal(r)).fold((true, true), |a, b| (a.0 && b.0, a.1 && b.1));
    let author = values.iter().filter_map(|&v| {
        let layout = model.values[v].layout.map(|(l, _)| (model.layouts[l].space, Why::Layout));
        layout.or(model.values[v].src.space.map(|s| (s, Why::Forced)))
    });
    let mut legal = by_role;
    let mut bound = None;
    for (space, why) in author {
        bound = Some(why);
        legal = if space == Space::Smem { (legal.0, false) } else { (false, legal.1) };
    }
    let bits = model.values[speaker].bits.unwrap_or(8);
    let large =
        is_tile(model, speaker) && bits >= 8 && model.values[speaker].bytes > model.options.tmem_threshold;
    if model.options.is_tileiras() {
        let class = if feature && large { Class::Tmem } else { Class::Smem };
        let fits = if class == Class::Tmem { legal.1 } else { legal.0 };
        return Ok(Decision { class, why: Some(Why::Preset), illegal: !fits, space: 0 });
    }
    let why_one = |role_alone: bool| Some(if role_alone { Why::Role } else { bound.unwrap_or(Why::Role) });
    match legal {
        (true, false) => plain(Class::Smem, why_one(!by_role.1)),
        (false, true) if feature => plain(Class::Tmem, why_one(!by_role.0)),
        (false, true) => {
            let why = format!("{} has no tensor memory and its roles allow nothing else", model.limits.name);
            Err(fail(model, life, values, speaker, ErrorKind::Impossible, "B35", TMEM, &why))
        }
        (true, true) if !feature => plain(Class::Smem, Some(Why::Feature)),
        (true, true) => plain(if large { Class::Tmem } else { Class::Smem }, Some(Why::Size)),
        (false, false) => {
            let all: Vec<String> = roles().map(|r| r.to_string()).collect();
            let why = format!("no space is legal for all of its roles: {}", all.join(", "));
            Err(fail(model, life, values, speaker, ErrorKind::ClassConflict, "B34", SMEM, &why))
        }
    }
}

/// The first space of a machine that all roles of a chain reach, or the one that the author names (B82).
fn own_space(
    model: &Model<'_>,
    life: &Lifetimes,
    machine: &Machine,
    values: &[usize],
    speaker: usize,
) -> Result<Decision, AssignError> {
    let roles = || values.iter().flat_map(|&v| model.roles(v));
    let reached = |space: usize| roles().all(|r| model.limits.is(r, |r| r.spaces.contains(&space)));
    let legal: Vec<usize> = (0..machine.spaces.len()).filter(|&s| reached(s)).collect();
    let bound = values.iter().find_map(|&v| {
        let layout = model.values[v].layout.map(|(l, _)| (model.layouts[l].space, Why::Layout));
        layout.or(model.values[v].src.space.map(|s| (s, Why::Forced)))
    });
    let found = match bound {
        Some((space, why)) => machine.space(space).filter(|s| legal.contains(s)).map(|s| (s, why)),
        None => legal.first().map(|&s| (s, if legal.len() == 1 { Why::Role } else { Why::First })),
    };
    if let Some((space, why)) = found {
        return Ok(Decision { class: Class::Smem, why: Some(why), illegal: false, space });
    }
    let all: Vec<String> = roles().map(|r| r.to_string()).collect();
    let named = bound.map_or(String::new(), |(s, _)| format!(" with {s}, which it is bound to"));
    let why = format!("no space is reached by all of its roles: {}{named}", all.join(", "));
    Err(fail(model, life, values, speaker, ErrorKind::ClassConflict, "B82", SMEM, &why))
}

/// SMEM alignment of one value (B37).
pub(crate) fn smem_align(model: &Model<'_>, values: &[usize]) -> u64 {
    let mut align = model.options.align_min.max(model.limits.smem_align);
    for &v in values {
        let value = &model.values[v];
        let element = value.bits.map_or(1, |b| b.div_ceil(8).next_power_of_two());
        let swizzle = if value.src.swizzle == 0 { 1 } else { value.src.swizzle * 8 };
        let role =
            model.roles(v).filter_map(|r| model.limits.roles.get(&r)).map(|r| r.align).max().unwrap_or(1);
        align = align.max(role).max(element).max(value.src.align).max(swizzle);
    }
    align
}

/// One stage of a chain in its space (B37, B42).
pub(crate) fn footprint(
    model: &Model<'_>,
    life: &Lifetimes,
    values: &[usize],
    decision: &Decision,
) -> Result<Footprint, AssignError> {
    let own = values.iter().copied().filter(|&v| life.owner[v] == v);
    match decision.class {
        Class::Smem => {
            let size = own.map(|v| model.values[v].bytes).max().unwrap_or(0);
            let space = model.limits.machine.as_ref().and_then(|m| m.spaces.get(decision.space));
            let align = smem_align(model, values).max(space.map_or(1, |s| s.align));
            if let Some(s) = space.filter(|s| s.base % align != 0) {
                let why =
                    format!("it needs an alignment of {align}, and space {} begins at {}", s.name, s.base);
                return Err(fail(model, life, values, values[0], ErrorKind::Impossible, "B82", SMEM, &why));
            }
            Ok(Footprint { size, align, half_lanes: false })
        }
        Class::Tmem => {
            let mut fp = Footprint { size: 0, align: 1, half_lanes: true };
            for v in own {
                let (columns, half) = tmem_tile(model, v)
                    .map_err(|why| fail(model, life, values, v, ErrorKind::Impossible, "B42", TMEM, &why))?;
                fp.size = fp.size.max(columns);
                fp.half_lanes &= half;
            }
            fp.align = fp.size.next_power_of_two().min(model.limits.tmem.map_or(1, |t| t.min_alloc));
            Ok(fp)
        }
        Class::Desc | Class::BarrierOnly => Ok(Footprint { size: 0, align: 1, half_lanes: false }),
    }
}

/// Which lane set a chain takes, given its half.
pub(crate) fn lanes(half_lanes: bool, upper: bool) -> Lanes {
    match (half_lanes, upper) {
        (false, _) => Lanes::All,
        (true, false) => Lanes::H0,
        (true, true) => Lanes::H1,
    }
}

/// The class decision and its inputs, for the failure record (B73).
pub(crate) fn classification(
    model: &Model<'_>,
    values: &[usize],
    speaker: usize,
    decision: Option<&Decision>,
) -> Classification {
    let v = &model.values[speaker];
    let roles: Vec<_> = values.iter().flat_map(|&v| model.roles(v)).collect();
    let legal =
        roles.iter().map(|&r| model.limits.legal(r)).fold((true, true), |a, b| (a.0 && b.0, a.1 && b.1));
    let mut spaces = Vec::new();
    if legal.0 {
        spaces.push("smem".to_string());
    }
    if legal.1 {
        spaces.push("tmem".to_string());
    }
    Classification {
        class: decision.map(|d| d.class),
        why: decision.and_then(|d| d.why),
        element: v.src.element.clone(),
        bits: v.bits,
        shape: v.src.shape.clone(),
        stage_bytes: v.bytes,
        threshold: model.options.tmem_threshold,
        feature: model.limits.tmem.is_some(),
        legal: spaces,
        roles: roles.iter().map(|r| r.to_string()).collect(),
    }
}

/// A phase-3 failure of one chain.
#[allow(clippy::too_many_arguments)]
pub(crate) fn fail(
    model: &Model<'_>,
    life: &Lifetimes,
    values: &[usize],
    v: usize,
    kind: ErrorKind,
    rule: &str,
    phase: &str,
    why: &str,
) -> AssignError {
    let value = &model.values[v];
    let m = format!("{phase}: value {} '{}': {why}", value.id, value.src.name);
    let mut e = AssignError::new(kind, rule, Some(3), m);
    e.value = Some(info(model, v));
    let unit: &Unit = &life.units[life.unit_of[v]];
    describe(model, unit, &mut e);
    e.classification = Some(classification(model, values, v, None));
    e
}

/// A value's id and name, its times unknown.
pub(crate) fn info(model: &Model<'_>, v: usize) -> ValueInfo {
    let value = &model.values[v];
    ValueInfo {
        id: value.id,
        name: value.src.name.clone(),
        start: None,
        end: None,
        length: None,
        depth: None,
    }
}
