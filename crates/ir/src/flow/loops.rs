//! Circles of nodes: found, and given one way out.

use std::collections::{BTreeSet, HashMap};

use super::graph::{Edge, End, Graph, Node};
use crate::attr::Attr;
use crate::entity::ValueId;
use crate::opcode::Opcode;
use crate::types::Type;

impl Graph<'_> {
    /// The nodes of a set that a node leads to and that lead back to it; none where it is on no circle, or where it
    /// is the head of the loop that is being written.
    pub(super) fn circle(&self, node: Node, set: &BTreeSet<Node>, head: Option<Node>) -> BTreeSet<Node> {
        if head == Some(node) {
            return BTreeSet::new();
        }
        let after = self.reached(node, set, head, None);
        if !after.contains(&node) {
            return BTreeSet::new();
        }
        let mut before: HashMap<Node, Vec<Node>> = HashMap::new();
        for &from in &after {
            for to in self.inside(from, set, head) {
                before.entry(to).or_default().push(from);
            }
        }
        let mut circle = BTreeSet::new();
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            if circle.insert(node) {
                work.extend(before.get(&node).into_iter().flatten());
            }
        }
        circle
    }

    /// Leads every way out of a circle through one node, which gets the values that are read outside and decides
    /// where to go on; `None` where nothing leads out.
    pub(super) fn one_exit(&mut self, circle: &BTreeSet<Node>, head: Node) -> Option<Node> {
        let mut targets: Vec<Node> = Vec::new();
        for node in circle {
            for edge in self.nodes[*node].end.edges() {
                if !circle.contains(&edge.to) && !targets.contains(&edge.to) {
                    targets.push(edge.to);
                }
            }
        }
        if targets.is_empty() {
            return None;
        }
        let (escaping, makers) = self.escaping(circle);
        let lists: Vec<Vec<Type>> = targets.iter().map(|t| self.types(&self.nodes[*t].args)).collect();
        let (selector, handed) = layout(&lists);
        let mut types: Vec<Type> = selector.into_iter().chain(handed).collect();
        types.extend(self.types(&escaping));
        let exit = self.add(&types, End::Return);
        for &node in circle {
            let made: Vec<bool> = escaping
                .iter()
                .map(|v| makers.get(v).is_some_and(|maker| self.passes(head, *maker, node, circle)))
                .collect();
            self.lead_out(node, circle, &targets, exit, &escaping, &made);
        }

        let args = self.nodes[exit].args.clone();
        let (handed, kept) = args.split_at(args.len() - escaping.len());
        let end = self.dispatch(&targets, handed);
        self.nodes[exit].end = end;
        let names: HashMap<ValueId, ValueId> = escaping.iter().copied().zip(kept.iter().copied()).collect();
        // Decisions read nothing but what was handed to them.
        for node in (0..self.nodes.len()).filter(|n| !circle.contains(n) && *n != exit) {
            self.rename(node, &names);
        }
        Some(exit)
    }

    /// Values made in a circle and read outside of it, in a fixed order, and who makes what in it.
    fn escaping(&self, circle: &BTreeSet<Node>) -> (Vec<ValueId>, HashMap<ValueId, Node>) {
        let makers = self.makers(circle);
        let outside = (0..self.nodes.len()).filter(|n| !circle.contains(n));
        let read: BTreeSet<ValueId> =
            outside.flat_map(|n| self.reads(n)).filter(|v| makers.contains_key(v)).collect();
        (read.into_iter().collect(), makers)
    }

    /// Turns the edges of a node that leave a circle to its exit. On a way that does not lead through the maker of an
    /// escaping value nobody reads it.
    fn lead_out(
        &mut self,
        node: Node,
        circle: &BTreeSet<Node>,
        targets: &[Node],
        exit: Node,
        escaping: &[ValueId],
        made: &[bool],
    ) {
        for n in 0..self.nodes[node].end.edges().len() {
            let Edge { to, args } = self.nodes[node].end.edges()[n].clone();
            if circle.contains(&to) {
                continue;
            }
            let mut handed = self.handed(targets, to, &args);
            for (value, made) in escaping.iter().zip(made) {
                let ty = self.m.ty(*value).clone();
                handed.push(if *made { *value } else { self.poison(&ty) });
            }
            self.nodes[node].end.edges_mut()[n] = Edge { to: exit, args: handed };
        }
    }

    /// Whether every way from the head of a circle to a node of it leads through `maker`.
    fn passes(&self, head: Node, maker: Node, node: Node, circle: &BTreeSet<Node>) -> bool {
        let mut work = vec![head];
        let mut seen = BTreeSet::new();
        while let Some(at) = work.pop() {
            if at != maker && circle.contains(&at) && seen.insert(at) {
                work.extend(self.nodes[at].end.edges().iter().map(|e| e.to));
            }
        }
        !seen.contains(&node)
    }

    /// What an edge to one of several targets hands on: which one it is, its arguments, and poison for the others'.
    pub(super) fn handed(&mut self, targets: &[Node], to: Node, args: &[ValueId]) -> Vec<ValueId> {
        let mut values = Vec::new();
        let chosen = targets.iter().position(|t| *t == to).unwrap_or(0);
        match targets.len() {
            0 | 1 => {}
            2 => values.push(self.constant(Attr::Bool(chosen == 0))),
            _ => values.push(self.constant(Attr::i32(i32::try_from(chosen).unwrap_or(i32::MAX)))),
        }
        for (n, target) in targets.iter().enumerate() {
            if n == chosen {
                values.extend(args);
            } else {
                for ty in self.types(&self.nodes[*target].args.clone()) {
                    values.push(self.poison(&ty));
                }
            }
        }
        values
    }

    /// The end of a node that goes on at the target which `handed` names, by [`Graph::handed`].
    pub(super) fn dispatch(&mut self, targets: &[Node], handed: &[ValueId]) -> End {
        let (selector, mut rest) = handed.split_at(usize::from(targets.len() > 1));
        let mut edges = Vec::new();
        for &to in targets {
            let (args, others) = rest.split_at(self.nodes[to].args.len().min(rest.len()));
            edges.push(Edge { to, args: args.to_vec() });
            rest = others;
        }
        match (edges.len(), selector.first()) {
            (2, Some(&first)) => {
                let second = edges.pop();
                match (edges.pop(), second) {
                    (Some(a), Some(b)) => End::Choose(first, [a, b]),
                    _ => End::Return,
                }
            }
            (_, Some(&selector)) => self.chain(selector, edges),
            _ => edges.pop().map_or(End::Return, End::Go),
        }
    }

    /// Decisions one after the other, by the number of an edge.
    fn chain(&mut self, selector: ValueId, mut edges: Vec<Edge>) -> End {
        let Some(mut otherwise) = edges.pop() else { return End::Return };
        let mut end = End::Return;
        for (n, edge) in edges.into_iter().enumerate().rev() {
            let number = self.constant(Attr::i32(i32::try_from(n).unwrap_or(i32::MAX)));
            let compare = self.m.create_op(Opcode::CmpI, &[selector, number], &[Type::I1], self.loc);
            self.m.ops[compare].props.set("predicate", Attr::Opaque("eq".to_owned()));
            let condition = self.m.ops[compare].results[0];
            let node = self.add(&[], End::Choose(condition, [edge, otherwise]));
            self.nodes[node].ops.push(compare);
            self.nodes[node].decides = true;
            otherwise = Edge { to: node, args: Vec::new() };
            end = End::Go(otherwise.clone());
        }
        end
    }
}

/// Types that stand for one of several lists: a selector, where there is more than one, and all of them.
pub(super) fn layout(lists: &[Vec<Type>]) -> (Option<Type>, Vec<Type>) {
    let selector = match lists.len() {
        0 | 1 => None,
        2 => Some(Type::I1),
        _ => Some(Type::I32),
    };
    (selector, lists.concat())
}
