//! Storage of host-level buffers: classes, sizes and the copies at the boundaries (A65 to A68).

use hashbrown::{HashMap, HashSet};
use warploom_alias::{AliasError, AliasErrors, AliasLayout, AliasModule, AliasOptions, Alloc, Elem, Storage};
use warploom_ir::ValueId;

use super::classes::Classes;
use super::linear::Linear;
use super::live::Live;
use super::program::{Kind, Node, NodeId, Part, Program};
use super::types::{Type, bytes_of, elem_of};

/// One region of device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Store {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) bytes: u64,
    /// Buffers; more than one for a declared cycle.
    pub(crate) count: u64,
}

/// A copy at a boundary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Copy {
    pub(crate) node: NodeId,
    pub(crate) pin: bool,
    pub(crate) bytes: u64,
}

/// Where every buffer lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) stores: Vec<Store>,
    /// The storage of each buffer, and of each tensor that shares one.
    pub(crate) of: HashMap<Part, usize>,
    /// Which buffer of a cycle's storage a chain begins in.
    pub(crate) lanes: HashMap<Part, u64>,
    pub(crate) copies: Vec<Copy>,
    /// Operations whose order is part of the plan.
    pub(crate) order: Vec<(NodeId, NodeId)>,
}

/// A place in the order of a cycle: which loop and side of it, and which buffer.
type Lane = ((NodeId, u8), u64);

/// Decides storage and copies.
///
/// # Errors
/// A66 for a buffer whose size is not known.
pub(crate) fn plan(p: &Program, linear: &Linear) -> Result<Plan, AliasErrors> {
    let mut classes = Classes::new();
    let mut links: Vec<(Part, Part)> = Vec::new();
    for node in &p.nodes {
        for value in node.results.iter().chain(node.regions.iter().flat_map(|r| &r.args)) {
            for part in p.parts(*value) {
                classes.id(p.origin(part));
            }
        }
        match &node.kind {
            Kind::Call(pairs) => links.extend(pairs.iter().map(|(a, b)| (a.clone(), p.origin(b.clone())))),
            Kind::While(cycles) => slots(p, node, cycles, &mut links),
            _ => {}
        }
    }
    let mut lanes = seeds(p);
    spread(p, &mut lanes);
    for (a, b) in links {
        let (a, b) = (classes.id(a), classes.id(b));
        classes.merge(a, b);
    }
    let live = Live::new(p);
    let copies = boundaries(p, &live, &mut classes, &mut lanes);
    let mut plan = Plan { copies, order: linear.order.clone(), ..Plan::default() };
    stores(p, &classes, &lanes, &mut plan)?;
    Ok(plan)
}

/// Operand, arguments, return and result of each slot; all slots of a cycle.
fn slots(p: &Program, node: &Node, cycles: &[Vec<usize>], links: &mut Vec<(Part, Part)>) {
    let returned = node.regions.get(1).and_then(|b| p.last(b)).map_or(&[][..], |n| n.operands.as_slice());
    for (k, operand) in node.operands.iter().enumerate() {
        let args = node.regions.iter().filter_map(|r| r.args.get(k));
        let others = args.chain(node.results.get(k)).chain(returned.get(k));
        for other in others {
            for part in p.parts(*operand) {
                links.push((p.origin((*other, part.1.clone())), p.origin(part)));
            }
        }
    }
    for cycle in cycles {
        for pair in cycle.windows(2) {
            let [a, b] = pair else { continue };
            let (Some(a), Some(b)) = (node.operands.get(*a), node.operands.get(*b)) else { continue };
            for part in p.buffers(*a) {
                links.push((p.origin((*b, part.1.clone())), p.origin(part)));
            }
        }
    }
}

/// The lanes of the slots of cycles.
fn seeds(p: &Program) -> HashMap<Part, Vec<Lane>> {
    let mut out: HashMap<Part, Vec<Lane>> = HashMap::new();
    for (id, node) in p.nodes.iter().enumerate() {
        let Kind::While(cycles) = &node.kind else { continue };
        for (lane, k) in cycles.iter().flat_map(|c| (0u64..).zip(c)) {
            let mut add = |value: Option<&ValueId>, side| {
                for part in value.map_or_else(Vec::new, |v| p.buffers(*v)) {
                    out.entry(p.origin(part)).or_default().push(((id, side), lane));
                }
            };
            add(node.operands.get(*k), 0);
            for region in &node.regions {
                add(region.args.get(*k), 1);
            }
            add(node.results.get(*k), 2);
        }
    }
    out
}

/// Lanes go with a buffer through calls and through slots of other loops.
fn spread(p: &Program, lanes: &mut HashMap<Part, Vec<Lane>>) {
    let mut near: HashMap<Part, Vec<Part>> = HashMap::new();
    for node in &p.nodes {
        let mut links = Vec::new();
        match &node.kind {
            Kind::Call(pairs) => links.extend(pairs.iter().map(|(a, b)| (a.clone(), p.origin(b.clone())))),
            Kind::While(cycles) if cycles.is_empty() => slots(p, node, &[], &mut links),
            _ => {}
        }
        for (a, b) in links.into_iter().filter(|(a, _)| p.is_buffer(a)) {
            near.entry(a.clone()).or_default().push(b.clone());
            near.entry(b).or_default().push(a);
        }
    }
    let mut work: Vec<(Part, Lane)> =
        lanes.iter().flat_map(|(part, l)| l.iter().map(|lane| (part.clone(), *lane))).collect();
    // The order of the work changes nothing: a lane reaches all parts that are linked to its seed.
    while let Some((part, lane)) = work.pop() {
        for other in near.get(&part).into_iter().flatten() {
            let list = lanes.entry(other.clone()).or_default();
            if !list.contains(&lane) {
                list.push(lane);
                work.push((other.clone(), lane));
            }
        }
    }
}

/// A67, A68: each boundary hands over, or copies.
fn boundaries(
    p: &Program,
    live: &Live,
    classes: &mut Classes,
    lanes: &mut HashMap<Part, Vec<Lane>>,
) -> Vec<Copy> {
    let mut copies = Vec::new();
    for (id, node) in p.nodes.iter().enumerate() {
        let pin = match node.kind {
            Kind::Pin => true,
            Kind::Unpin => false,
            _ => continue,
        };
        let (Some(operand), Some(result)) = (node.operands.first(), node.results.first()) else { continue };
        let (from, to) = (p.origin((*operand, Vec::new())), (*result, Vec::new()));
        let (tensor, buffer) = if pin { (from, to) } else { (to, from) };
        let (t, b) = (classes.id(tensor.clone()), classes.id(buffer.clone()));
        if classes.find(t) == classes.find(b) {
            continue;
        }
        let alone = classes.of(t).count() == 1;
        let own = lanes.get(&buffer).cloned().unwrap_or_default();
        let apart = |v: &Part| {
            let theirs = lanes.get(v).map_or(&[][..], Vec::as_slice);
            alone && own.iter().any(|(phase, lane)| theirs.iter().any(|(q, l)| q == phase && l != lane))
        };
        let foreign = classes.of(t).any(|part| is_foreign(p, part));
        let clash = || classes.of(t).any(|u| classes.of(b).any(|v| !apart(v) && live.conflict(p, u, v)));
        // The slots of a loop unify tensors that may have need of a copy among themselves.
        let torn = || {
            let all: Vec<&Part> = classes.of(t).collect();
            let mut pairs =
                all.iter().enumerate().flat_map(|(n, u)| all.iter().skip(n + 1).map(move |v| (u, v)));
            pairs.any(|(u, v)| live.conflict(p, u, v))
        };
        if foreign || torn() || clash() {
            let bytes = p.type_of(&buffer).and_then(bytes_of).unwrap_or(0);
            copies.push(Copy { node: id, pin, bytes });
            continue;
        }
        if alone {
            lanes.insert(tensor, own);
        }
        classes.merge(t, b);
    }
    copies
}

/// Tensors whose memory is not ours to take: arguments of the function, and constants.
fn is_foreign(p: &Program, part: &Part) -> bool {
    let Some(node) = p.made_by.get(&part.0).and_then(|n| p.nodes.get(*n)) else { return true };
    let argument = !node.results.contains(&part.0) && matches!(node.kind, Kind::Func(_));
    (argument && !p.is_buffer(part)) || node.kind == Kind::Constant
}

/// One storage per class that has a buffer.
fn stores(
    p: &Program,
    classes: &Classes,
    lanes: &HashMap<Part, Vec<Lane>>,
    plan: &mut Plan,
) -> Result<(), AliasErrors> {
    let mut errors = Vec::new();
    let mut names: HashSet<String> = HashSet::new();
    let mut store_of: HashMap<usize, usize> = HashMap::new();
    let lengths = cycle_lengths(p, classes);
    for (id, part) in classes.parts.iter().enumerate() {
        if !p.is_buffer(part) || store_of.contains_key(&classes.find(id)) {
            continue;
        }
        let Some(ty) = p.type_of(part).cloned() else { continue };
        let count = lengths.get(&classes.find(id)).copied().unwrap_or(1);
        if let Some(d) = ty.shape().and_then(|(dims, _)| dims.iter().position(Option::is_none)) {
            let message = format!(
                "buffer '{}' has dynamic dimension {d} ('{}'); storage needs a size known at compile time",
                p.name(part.0),
                ty.print()
            );
            let at = p.made_by.get(&part.0).and_then(|n| p.nodes.get(*n)).map(|n| n.pos);
            errors.push(AliasError::new("A66", message).at(at).help("--no-lower verifies without sizes"));
            continue;
        }
        let Some(bytes) = bytes_of(&ty) else {
            errors.push(AliasError::overflow(p.name(part.0)));
            continue;
        };
        let base = p.name(part.0).trim_start_matches('%').replace('#', "_");
        let mut name = base.clone();
        let mut n = 0;
        while !names.insert(name.clone()) {
            n += 1;
            name = format!("{base}_{n}");
        }
        store_of.insert(classes.find(id), plan.stores.len());
        plan.stores.push(Store { name, ty, bytes, count });
    }
    for (id, part) in classes.parts.iter().enumerate() {
        let Some(store) = store_of.get(&classes.find(id)) else { continue };
        plan.of.insert(part.clone(), *store);
        let many = plan.stores.get(*store).is_some_and(|s| s.count > 1);
        if let Some((_, lane)) = lanes.get(part).and_then(|l| l.iter().find(|((_, side), _)| *side == 0))
            && many
        {
            plan.lanes.insert(part.clone(), *lane);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.into()) }
}

/// The longest cycle that each class goes through, by its root.
fn cycle_lengths(p: &Program, classes: &Classes) -> HashMap<usize, u64> {
    let mut out: HashMap<usize, u64> = HashMap::new();
    for node in &p.nodes {
        let Kind::While(cycles) = &node.kind else { continue };
        for cycle in cycles {
            let first = cycle.first().and_then(|k| node.operands.get(*k));
            for part in first.map_or_else(Vec::new, |v| p.buffers(*v)) {
                if let Some(id) = classes.known(&p.origin(part)) {
                    let most = out.entry(classes.find(id)).or_default();
                    *most = (*most).max(cycle.len() as u64);
                }
            }
        }
    }
    out
}

/// The storages as a layout, in the order of the text (A65).
///
/// # Errors
/// A7 for sizes that do not fit 64 bits.
pub(crate) fn layout(plan: &Plan) -> Result<(AliasModule, AliasLayout), AliasErrors> {
    let mut m = AliasModule::new();
    for store in &plan.stores {
        let spec = m.global_spec()?;
        m.name_spec(spec, store.name.clone(), None);
        let (dims, elem) = store.ty.shape().unwrap_or_default();
        let elem = elem_of(elem).unwrap_or(Elem::int(8));
        // A buffer without elements still has a place.
        let tile: Vec<u64> = dims.iter().map(|d| d.unwrap_or(1).max(1)).collect();
        let alloc = Alloc::new(store.name.clone(), store.count, tile, elem).storage(Storage::Global);
        m.local_alloc(alloc.reuse(spec))?;
    }
    let layout = m.layout(&AliasOptions::default())?;
    Ok((m, layout))
}
