//! Nested regions from the graph: what only one side of a branch leads to goes into that side.

use std::collections::BTreeSet;

use super::graph::{Edge, End, Graph, Node};
use super::loops::layout;
use crate::diag::{Code, Diagnostic};
use crate::entity::{BlockId, OpId, RegionId, ValueId};
use crate::module::Module;
use crate::opcode::Opcode;
use crate::text::MAX_REGIONS;
use crate::types::Type;

type Done = Result<(), Box<Diagnostic>>;

/// What becomes one region: nodes, and where they lead.
struct Part {
    set: BTreeSet<Node>,
    /// The head of the loop whose body this is: what goes back there leaves the region.
    head: Option<Node>,
    /// Where the region is left to.
    targets: Vec<Node>,
    /// The operation that leaves it.
    end: Opcode,
    depth: u32,
}

impl Part {
    fn holds(&self, node: Node) -> bool {
        self.set.contains(&node) && self.head != Some(node)
    }
}

/// Rewrites the body of a function.
pub(super) fn function(m: &mut Module, region: RegionId) -> Done {
    let Some(&entry) = m.regions[region].blocks.first() else { return Ok(()) };
    let mut graph = Graph::read(m, region);
    let last = graph.nodes.len() - 1;
    graph.prune();
    graph.shorten();
    graph.prune();
    graph.m.blocks[entry].ops.clear();
    graph.m.regions[region].blocks = vec![entry];
    let args = graph.nodes[0].args.clone();
    let part =
        Part { set: (0..last).collect(), head: None, targets: vec![last], end: Opcode::Return, depth: 1 };
    graph.region(entry, 0, args, part)?;
    let constants = std::mem::take(&mut graph.constants);
    for &op in &constants {
        graph.m.ops[op].block = Some(entry);
    }
    graph.m.blocks[entry].ops.splice(0..0, constants);
    graph.substitute(entry);
    Ok(())
}

impl Graph<'_> {
    /// Writes a part to the end of a block, from one of its nodes on, whose arguments are given.
    fn region(&mut self, out: BlockId, from: Node, args: Vec<ValueId>, mut part: Part) -> Done {
        let (mut at, mut args) = (from, args);
        loop {
            self.stands_at(at);
            if part.depth >= MAX_REGIONS {
                return Err(self.refuse(at, "branches nest too deep"));
            }
            let circle = self.circle(at, &part.set, part.head);
            if !circle.is_empty() {
                let before = self.nodes.len();
                let exit = self.one_exit(&circle, at);
                part.set.extend(before..self.nodes.len());
                let handed = self.circling(out, at, &args, circle, exit, part.depth)?;
                match exit {
                    Some(exit) => (at, args) = (exit, handed),
                    None => return self.dead_end(out, &part),
                }
                continue;
            }
            self.bind(at, &args);
            for op in self.nodes[at].ops.clone() {
                self.m.append(out, op);
            }
            let edge = match self.nodes[at].end.clone() {
                End::Return => return self.dead_end(out, &part),
                End::Go(edge) => edge,
                End::Choose(condition, edges) => match self.choice(out, at, condition, &edges, &mut part)? {
                    Some(next) => Edge { to: next, args: Vec::new() },
                    None => return Ok(()),
                },
            };
            if !part.holds(edge.to) {
                return self.leave(out, &edge, &part);
            }
            (at, args) = (edge.to, edge.args);
        }
    }

    /// Writes `scf.if`; the node that goes on behind it, unless the part ends here.
    fn choice(
        &mut self,
        out: BlockId,
        at: Node,
        condition: ValueId,
        edges: &[Edge; 2],
        part: &mut Part,
    ) -> Result<Option<Node>, Box<Diagnostic>> {
        let all = self.reached(at, &part.set, part.head, None);
        let alone = |n: usize| -> BTreeSet<Node> {
            all.difference(&self.reached(at, &part.set, part.head, Some(n))).copied().collect()
        };
        let arms = [alone(0), alone(1)];
        let [a, b] = edges;
        let mut targets = self.targets(at, edges, &arms, part);
        // Where both sides leave the part, they do so together.
        let last = !targets.iter().any(|t| part.holds(*t));
        // Else, some block that a decision leads to has no other way in, unless a circle does.
        let stuck = self.nodes[at].decides && arms.iter().flatten().all(|n| self.nodes[*n].decides);
        let both = arms.iter().all(BTreeSet::is_empty) && part.holds(a.to) && part.holds(b.to);
        if !last && (stuck || both) && a.to != b.to {
            return Err(self.refuse(at, "a circle of branches is entered at several places"));
        }
        if last {
            targets.clone_from(&part.targets);
        }
        let lists: Vec<Vec<Type>> = targets.iter().map(|t| self.types(&self.nodes[*t].args)).collect();
        let (selector, handed) = layout(&lists);
        let types: Vec<Type> = selector.into_iter().chain(handed).collect();
        let op = self.op(Opcode::If, &[condition], &types);
        for (edge, set) in edges.iter().zip(arms) {
            let region = self.m.add_region(op);
            let block = self.m.add_block(region);
            let (targets, depth) = (targets.clone(), part.depth + 1);
            let arm = Part { set, head: None, targets, end: Opcode::Yield, depth };
            match arm.holds(edge.to) {
                true => self.region(block, edge.to, edge.args.clone(), arm)?,
                false => self.leave(block, edge, &arm)?,
            }
        }
        self.m.append(out, op);
        let results = self.m.ops[op].results.to_vec();
        if last {
            self.end(out, results, part);
            return Ok(None);
        }
        let before = self.nodes.len();
        let end = self.dispatch(&targets, &results);
        let next = self.add(&[], end);
        self.nodes[next].decides = true;
        part.set.extend(before..=next);
        Ok(Some(next))
    }

    /// Where the sides of a branch lead: what comes first in the part first, what leaves it last.
    fn targets(&self, at: Node, edges: &[Edge; 2], arms: &[BTreeSet<Node>; 2], part: &Part) -> Vec<Node> {
        let mut targets: Vec<Node> = Vec::new();
        for (edge, arm) in edges.iter().zip(arms) {
            let inner = arm.iter().flat_map(|n| self.nodes[*n].end.edges().iter().map(|e| e.to));
            for to in std::iter::once(edge.to).chain(inner) {
                if !arm.contains(&to) && !targets.contains(&to) {
                    targets.push(to);
                }
            }
        }
        let order = self.order(at, &part.set, part.head);
        targets.sort_by_key(|t| order.get(t).copied().unwrap_or(usize::MAX));
        targets
    }

    /// Writes `scf.while` for a circle; what it hands to its exit.
    fn circling(
        &mut self,
        out: BlockId,
        head: Node,
        args: &[ValueId],
        circle: BTreeSet<Node>,
        exit: Option<Node>,
        depth: u32,
    ) -> Result<Vec<ValueId>, Box<Diagnostic>> {
        let carried = self.types(&self.nodes[head].args);
        let mut types = carried.clone();
        types.extend(exit.map_or_else(Vec::new, |exit| self.types(&self.nodes[exit].args)));
        let op = self.op(Opcode::While, args, &types);
        let region = self.m.add_region(op);
        let before = self.m.add_block(region);
        let inner = self.block_args(before, &carried);
        let targets = std::iter::once(head).chain(exit).collect();
        let part = Part { set: circle, head: Some(head), targets, end: Opcode::Condition, depth: depth + 1 };
        self.region(before, head, inner, part)?;
        let region = self.m.add_region(op);
        let after = self.m.add_block(region);
        let mut again = self.block_args(after, &types);
        again.truncate(carried.len());
        let back = self.op(Opcode::Yield, &again, &[]);
        self.m.append(after, back);
        self.m.append(out, op);
        Ok(self.m.ops[op].results[carried.len()..].to_vec())
    }

    /// Leaves a part along an edge.
    fn leave(&mut self, out: BlockId, edge: &Edge, part: &Part) -> Done {
        let values = self.handed(&part.targets, edge.to, &edge.args);
        self.end(out, values, part);
        Ok(())
    }

    /// The terminator of a part, which hands these values on.
    fn end(&mut self, out: BlockId, mut values: Vec<ValueId>, part: &Part) {
        if part.end == Opcode::Condition && part.targets.len() == 1 {
            values.insert(0, self.constant(crate::attr::Attr::Bool(true)));
        }
        let end = self.op(part.end, &values, &[]);
        self.m.append(out, end);
    }

    /// Ends a region whose end is never reached.
    fn dead_end(&mut self, out: BlockId, part: &Part) -> Done {
        match part.targets.first().copied() {
            Some(to) => {
                let args = self.types(&self.nodes[to].args).iter().map(|ty| self.poison(ty)).collect();
                self.leave(out, &Edge { to, args }, part)
            }
            None => {
                let end = self.op(part.end, &[], &[]);
                self.m.append(out, end);
                Ok(())
            }
        }
    }

    fn op(&mut self, opcode: Opcode, operands: &[ValueId], types: &[Type]) -> OpId {
        let op = self.m.create_op(opcode, operands, types, self.loc);
        self.m.ops[op].span = self.span;
        op
    }

    fn refuse(&self, at: Node, what: &str) -> Box<Diagnostic> {
        let place = self.nodes[at].branch.map_or(self.span, |op| self.m.ops[op].span);
        let refusal = Diagnostic::error(Code::Loop, format!("control flow without structure: {what}"))
            .rule("C9")
            .at(place)
            .note("instead", "scf.if, scf.for or scf.while");
        Box::new(refusal)
    }
}
