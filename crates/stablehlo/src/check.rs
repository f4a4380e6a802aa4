//! Storage of host-level buffers, by running the program on cells that remember what was written last (L16).
//!
//! Every loop is run zero to three times and every branch is taken; a value that is read must still be what
//! its cell holds. Reading a text is shared with the producer, deciding is not.

use hashbrown::{HashMap, HashSet};
use warploom_alias::AliasFindings;

use super::machine::run;
use super::plan::Plan;
use super::program::{Kind, Node, NodeId, Part, Program};

/// Checks a plan against its program.
///
/// # Errors
/// Every L16 that does not hold, at most 100.
pub(crate) fn check_buffers(p: &Program, plan: &Plan) -> Result<(), AliasFindings> {
    let mut findings = AliasFindings::default();
    links(p, plan, &mut findings);
    for copy in &plan.copies {
        let node = p.nodes.get(copy.node);
        let buffer = node.and_then(|n| if copy.pin { n.results.first() } else { n.operands.first() });
        let kind = if copy.pin { Kind::Pin } else { Kind::Unpin };
        let bytes =
            buffer.and_then(|b| plan.of.get(&p.origin((*b, Vec::new())))).and_then(|s| plan.stores.get(*s));
        if node.is_none_or(|n| n.kind != kind) || bytes.map(|s| s.bytes) != Some(copy.bytes) {
            findings.add(
                "L16",
                "a copy stands where no tensor becomes a buffer or back, or has another size".to_owned(),
            );
        }
    }
    for trips in 0..4 {
        for finding in run(p, plan, trips).0 {
            findings.add(finding.law, finding.message);
        }
    }
    findings.into_result()
}

/// Parts that must share memory: the ends of pairs, all of a slot, all of a cycle.
fn must(p: &Program, node: &Node) -> Vec<(Part, Part)> {
    let mut out = Vec::new();
    match &node.kind {
        Kind::Call(pairs) => out.extend(pairs.iter().cloned()),
        Kind::While(cycles) => {
            let ends = node.regions.get(1).and_then(|b| p.last(b)).map_or(&[][..], |n| &n.operands);
            for (k, result) in node.results.iter().enumerate() {
                let mut with = vec![node.operands.get(k), ends.get(k)];
                with.extend(node.regions.iter().map(|r| r.args.get(k)));
                for value in with.into_iter().flatten() {
                    out.extend(p.buffers(*result).into_iter().map(|b| ((*value, b.1.clone()), b)));
                }
            }
            for cycle in cycles {
                for (a, b) in cycle.iter().zip(cycle.iter().skip(1)) {
                    if let (Some(a), Some(b)) = (node.results.get(*a), node.results.get(*b)) {
                        out.extend(p.buffers(*a).into_iter().map(|x| ((*b, x.1.clone()), x)));
                    }
                }
            }
        }
        _ => {}
    }
    out.into_iter().filter(|(a, _)| p.is_buffer(a)).map(|(a, b)| (p.origin(a), p.origin(b))).collect()
}

/// Closed under links, and nothing in one storage that no link leads to.
fn links(p: &Program, plan: &Plan, findings: &mut AliasFindings) {
    let copied: HashSet<NodeId> = plan.copies.iter().map(|c| c.node).collect();
    let mut near: HashMap<Part, Vec<Part>> = HashMap::new();
    let mut all: Vec<Part> = Vec::new();
    for (id, node) in p.nodes.iter().enumerate() {
        for value in node.results.iter().chain(node.regions.iter().flat_map(|r| &r.args)) {
            all.extend(p.parts(*value).into_iter().map(|b| p.origin(b)));
        }
        for (a, b) in must(p, node) {
            if plan.of.get(&a).is_none() || plan.of.get(&a) != plan.of.get(&b) {
                let message = format!("{} and {} share memory, but not a storage", p.name(a.0), p.name(b.0));
                findings.add("L16", message);
            }
            near.entry(a.clone()).or_default().push(b.clone());
            near.entry(b).or_default().push(a);
        }
        if matches!(node.kind, Kind::Pin | Kind::Unpin)
            && !copied.contains(&id)
            && let (Some(a), Some(b)) = (node.operands.first(), node.results.first())
        {
            let (a, b) = (p.origin((*a, Vec::new())), (*b, Vec::new()));
            near.entry(a.clone()).or_default().push(b.clone());
            near.entry(b).or_default().push(a);
        }
    }
    // Tensors of one slot lie together too.
    for node in &p.nodes {
        let Kind::While(_) = node.kind else { continue };
        let ends = node.regions.get(1).and_then(|b| p.last(b)).map_or(&[][..], |n| &n.operands);
        for (k, result) in node.results.iter().enumerate() {
            let mut with = vec![node.operands.get(k), ends.get(k)];
            with.extend(node.regions.iter().map(|r| r.args.get(k)));
            for value in with.into_iter().flatten() {
                for part in p.parts(*result) {
                    let other = p.origin((*value, part.1.clone()));
                    near.entry(other.clone()).or_default().push(part.clone());
                    near.entry(part).or_default().push(other);
                }
            }
        }
    }
    for (n, store) in plan.stores.iter().enumerate() {
        let members: Vec<&Part> = all.iter().filter(|m| plan.of.get(*m) == Some(&n)).collect();
        let mut reached: HashSet<Part> = HashSet::new();
        let mut work: Vec<Part> =
            members.iter().find(|m| p.is_buffer(m)).map(|m| (**m).clone()).into_iter().collect();
        while let Some(part) = work.pop() {
            if reached.insert(part.clone()) {
                work.extend(near.get(&part).into_iter().flatten().cloned());
            }
        }
        if members.iter().any(|m| !reached.contains(*m)) {
            findings.add("L16", format!("storage {} holds two classes", store.name));
        }
    }
    if all.iter().any(|part| p.is_buffer(part) && !plan.of.contains_key(part)) {
        findings.add("L16", "a buffer has no storage".to_owned());
    }
}
