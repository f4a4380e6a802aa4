//! When each part of each value is live, in program order (A68).

use hashbrown::HashMap;

use super::program::{Kind, NodeId, Part, Program};

/// Positions in program order: each operation has one where it reads and one where its results are there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live {
    start: Vec<u64>,
    end: Vec<u64>,
    /// First and last position of each region.
    regions: HashMap<(NodeId, usize), (u64, u64)>,
    /// From definition to last use.
    spans: HashMap<Part, (u64, u64)>,
}

impl Live {
    pub(crate) fn new(p: &Program) -> Live {
        let mut live = Live { start: vec![0; p.nodes.len()], end: vec![0; p.nodes.len()], ..Live::default() };
        let mut clock = 0;
        for node in &p.top {
            live.visit(p, *node, &mut clock);
        }
        for (id, node) in p.nodes.iter().enumerate() {
            let made = live.end.get(id).copied().unwrap_or(0);
            for part in node.results.iter().flat_map(|v| p.parts(*v)) {
                live.spans.insert(part, (made, made));
            }
            for (r, region) in node.regions.iter().enumerate() {
                let (from, to) = live.regions.get(&(id, r)).copied().unwrap_or((0, 0));
                // What a slot carries goes through the condition into the body.
                let last = if matches!(node.kind, Kind::While(_)) && r == 0 { to } else { from };
                for part in region.args.iter().flat_map(|v| p.parts(*v)) {
                    let span = live.spans.entry(part).or_insert((from, last));
                    *span = (span.0.min(from), span.1.max(last));
                }
            }
        }
        for (id, node) in p.nodes.iter().enumerate() {
            if matches!(node.kind, Kind::Tuple | Kind::Element(_)) {
                continue;
            }
            for part in node.operands.iter().flat_map(|v| p.parts(*v)) {
                live.used(p, id, p.origin(part));
            }
        }
        live
    }

    /// Regions are nested at most 200 deep.
    fn visit(&mut self, p: &Program, id: NodeId, clock: &mut u64) {
        let Some(node) = p.nodes.get(id) else { return };
        *clock += 1;
        if let Some(s) = self.start.get_mut(id) {
            *s = *clock;
        }
        for (r, region) in node.regions.iter().enumerate() {
            *clock += 1;
            let from = *clock;
            for inner in &region.nodes {
                self.visit(p, *inner, clock);
            }
            *clock += 1;
            self.regions.insert((id, r), (from, *clock));
        }
        *clock += 1;
        if let Some(e) = self.end.get_mut(id) {
            *e = *clock;
        }
    }

    fn used(&mut self, p: &Program, by: NodeId, part: Part) {
        let mut at = self.start.get(by).copied().unwrap_or(0);
        let node = p.nodes.get(by);
        if node.is_some_and(|n| n.kind == Kind::Return) {
            // A slot keeps it until the region is over.
            let region = node.and_then(|n| n.parent).and_then(|r| self.regions.get(&r));
            at = region.map_or(at, |r| r.1);
        }
        for (around, region) in p.around(by) {
            let body = p.nodes.get(around).and_then(|n| n.regions.get(region));
            let own =
                body.is_some_and(|b| b.args.contains(&part.0)) || p.home(part.0) == Some((around, region));
            if own {
                break;
            }
            // The next iteration reads it again.
            if !matches!(p.nodes.get(around).map(|n| &n.kind), Some(Kind::Branch)) {
                at = at.max(self.end.get(around).copied().unwrap_or(0));
            }
        }
        if let Some(span) = self.spans.get_mut(&part) {
            span.1 = span.1.max(at);
        }
    }

    /// Whether two parts may not lie in one place.
    pub(crate) fn conflict(&self, p: &Program, a: &Part, b: &Part) -> bool {
        let (Some(x), Some(y)) = (self.spans.get(a), self.spans.get(b)) else { return true };
        if x.0 <= y.1 && y.0 <= x.1 {
            return true;
        }
        self.touching(p, a, b) || self.touching(p, b, a)
    }

    /// Whether `a` is last read by what makes `b`, and that operation may not overlay them.
    fn touching(&self, p: &Program, a: &Part, b: &Part) -> bool {
        let Some(maker) = p.made_by.get(&b.0).copied() else { return false };
        let Some(node) = p.nodes.get(maker).filter(|n| n.results.contains(&b.0)) else { return false };
        let last = self.spans.get(a).map(|s| s.1);
        if last != self.start.get(maker).copied() || last == self.end.get(maker).copied() {
            return false;
        }
        match &node.kind {
            Kind::Pin | Kind::Unpin | Kind::While(_) => false,
            Kind::Elementwise => p.type_of(a) != p.type_of(b),
            Kind::Call(pairs) => {
                !pairs.iter().any(|(result, operand)| result == b && p.origin(operand.clone()) == *a)
            }
            _ => true,
        }
    }
}
