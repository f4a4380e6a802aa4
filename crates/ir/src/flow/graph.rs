//! The blocks of a function as a graph that can be changed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::attr::Attr;
use crate::entity::{BlockId, LocId, OpId, RegionId, ValueId};
use crate::module::{Block, Module};
use crate::opcode::Opcode;
use crate::types::Type;
use crate::walk;

/// Number of a node.
pub(super) type Node = usize;

/// A way from one node to another, with the values of its arguments.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) to: Node,
    pub(super) args: Vec<ValueId>,
}

/// How a node ends.
#[derive(Clone, Debug)]
pub(super) enum End {
    /// The function returns the arguments of the node.
    Return,
    /// It goes on.
    Go(Edge),
    /// It goes on at the first node if the condition holds, else at the second.
    Choose(ValueId, [Edge; 2]),
}

impl End {
    pub(super) fn edges(&self) -> &[Edge] {
        match self {
            End::Return => &[],
            End::Go(edge) => std::slice::from_ref(edge),
            End::Choose(_, edges) => edges,
        }
    }

    pub(super) fn edges_mut(&mut self) -> &mut [Edge] {
        match self {
            End::Return => &mut [],
            End::Go(edge) => std::slice::from_mut(edge),
            End::Choose(_, edges) => edges,
        }
    }
}

/// A block, or a decision between blocks.
#[derive(Clone, Debug)]
pub(super) struct Data {
    pub(super) args: Vec<ValueId>,
    /// Without the terminator.
    pub(super) ops: Vec<OpId>,
    pub(super) end: End,
    /// The branch that ends it in the text, for places.
    pub(super) branch: Option<OpId>,
    /// It only decides where to go on, by a selector.
    pub(super) decides: bool,
}

impl Data {
    fn is_exit(&self) -> bool {
        matches!(self.end, End::Return)
    }
}

/// The function while it is rewritten.
pub(super) struct Graph<'m> {
    pub(super) m: &'m mut Module,
    pub(super) nodes: Vec<Data>,
    /// Constants, which go to the start of the function.
    pub(super) constants: Vec<OpId>,
    known: Vec<(Attr, ValueId)>,
    poisons: Vec<(Type, ValueId)>,
    /// What arguments of nodes became.
    bound: HashMap<ValueId, ValueId>,
    /// Holds arguments of nodes that are no blocks.
    scratch: BlockId,
    /// Place of the branch that is being rewritten.
    pub(super) loc: LocId,
    /// The same in the text that was read.
    pub(super) span: Option<u32>,
}

impl<'m> Graph<'m> {
    /// Node 0 is the first block, the last node the function's return.
    pub(super) fn read(m: &'m mut Module, region: RegionId) -> Graph<'m> {
        let scratch = m.blocks.push(Block::default());
        let loc = m.unknown_loc();
        let blocks = m.regions[region].blocks.clone();
        let number: HashMap<BlockId, Node> = blocks.iter().enumerate().map(|(n, b)| (*b, n)).collect();
        let mut nodes = Vec::new();
        let mut returned: Vec<Type> = Vec::new();
        for &block in &blocks {
            let mut ops = m.blocks[block].ops.clone();
            let branch = ops.pop();
            let edge = |(to, args): (BlockId, &[ValueId])| Edge {
                to: number.get(&to).copied().unwrap_or(blocks.len()),
                args: args.to_vec(),
            };
            let mut edges = branch.map_or_else(Vec::new, |op| m.branches(op).map(edge).collect());
            let operands = branch.map_or(&[][..], |op| &m.ops[op].operands);
            let end = match (edges.pop(), edges.pop(), operands.first()) {
                (Some(second), Some(first), Some(&condition)) => End::Choose(condition, [first, second]),
                (Some(only), ..) => End::Go(only),
                (None, ..) => {
                    returned = operands.iter().map(|v| m.ty(*v).clone()).collect();
                    End::Go(Edge { to: blocks.len(), args: operands.to_vec() })
                }
            };
            nodes.push(Data { args: m.blocks[block].args.to_vec(), ops, end, branch, decides: false });
        }
        let (known, poisons, bound) = (Vec::new(), Vec::new(), HashMap::new());
        let mut graph =
            Graph { m, nodes, constants: Vec::new(), known, poisons, bound, scratch, loc, span: None };
        graph.add(&returned, End::Return);
        graph
    }

    /// A node without operations; its arguments are new.
    pub(super) fn add(&mut self, args: &[Type], end: End) -> Node {
        let args = args.iter().map(|ty| self.fresh(ty.clone())).collect();
        self.nodes.push(Data { args, ops: Vec::new(), end, branch: None, decides: false });
        self.nodes.len() - 1
    }

    /// A value that will be bound to another.
    pub(super) fn fresh(&mut self, ty: Type) -> ValueId {
        self.m.add_arg(self.scratch, ty, self.loc)
    }

    pub(super) fn types(&self, values: &[ValueId]) -> Vec<Type> {
        values.iter().map(|v| self.m.ty(*v).clone()).collect()
    }

    /// A constant at the start of the function.
    pub(super) fn constant(&mut self, value: Attr) -> ValueId {
        if let Some((_, found)) = self.known.iter().find(|(attr, _)| *attr == value) {
            return *found;
        }
        let ty = if matches!(value, Attr::Bool(_)) { Type::I1 } else { Type::I32 };
        let op = self.m.create_op(Opcode::Constant, &[], &[ty], self.loc);
        self.m.ops[op].props.set("value", value.clone());
        let result = self.m.ops[op].results[0];
        self.constants.push(op);
        self.known.push((value, result));
        result
    }

    /// A value that nobody looks at.
    pub(super) fn poison(&mut self, ty: &Type) -> ValueId {
        if let Some((_, found)) = self.poisons.iter().find(|(known, _)| known == ty) {
            return *found;
        }
        let op = self.m.create_op(Opcode::Poison, &[], std::slice::from_ref(ty), self.loc);
        let result = self.m.ops[op].results[0];
        self.constants.push(op);
        self.poisons.push((ty.clone(), result));
        result
    }

    /// From now on the arguments of a node are these values.
    pub(super) fn bind(&mut self, node: Node, values: &[ValueId]) {
        let args = self.nodes[node].args.clone();
        self.bind_values(&args, values);
    }

    /// From now on these fresh values are those.
    pub(super) fn bind_values(&mut self, args: &[ValueId], values: &[ValueId]) {
        for (arg, value) in args.iter().zip(values) {
            let value = self.resolve(*value);
            if *arg != value {
                self.bound.insert(*arg, value);
            }
        }
    }

    fn resolve(&self, mut value: ValueId) -> ValueId {
        while let Some(&next) = self.bound.get(&value) {
            value = next;
        }
        value
    }

    /// Puts what arguments were bound to in their place, in a block and everything below it.
    pub(super) fn substitute(&mut self, block: BlockId) {
        let ops: Vec<OpId> = walk::block_ops(self.m, block).collect();
        for op in ops {
            for n in 0..self.m.ops[op].operands.len() {
                self.m.ops[op].operands[n] = self.resolve(self.m.ops[op].operands[n]);
            }
        }
    }

    /// Where edges lead within a set; what goes back to the head of the loop that is being written leaves it.
    pub(super) fn inside<'a>(
        &'a self,
        at: Node,
        set: &'a BTreeSet<Node>,
        head: Option<Node>,
    ) -> impl Iterator<Item = Node> {
        let edges = self.nodes[at].end.edges().iter().map(|e| e.to);
        edges.filter(move |to| Some(*to) != head && set.contains(to))
    }

    /// What is reached from a node within a set, but for one edge of that node.
    pub(super) fn reached(
        &self,
        from: Node,
        set: &BTreeSet<Node>,
        head: Option<Node>,
        without: Option<usize>,
    ) -> BTreeSet<Node> {
        let mut seen = BTreeSet::new();
        let first = self.nodes[from].end.edges().iter().enumerate().filter(|(n, _)| Some(*n) != without);
        let mut work: Vec<Node> =
            first.map(|(_, e)| e.to).filter(|to| Some(*to) != head && set.contains(to)).collect();
        while let Some(node) = work.pop() {
            if seen.insert(node) {
                work.extend(self.inside(node, set, head));
            }
        }
        seen
    }

    /// Nodes in an order in which each comes before those it leads to, circles aside.
    pub(super) fn order(
        &self,
        from: Node,
        set: &BTreeSet<Node>,
        head: Option<Node>,
    ) -> BTreeMap<Node, usize> {
        let mut left = Vec::new();
        let mut seen = BTreeSet::from([from]);
        let mut open = vec![(from, self.inside(from, set, head).collect::<Vec<_>>())];
        while let Some((node, next)) = open.last_mut() {
            match next.pop() {
                Some(to) if seen.insert(to) => open.push((to, self.inside(to, set, head).collect())),
                Some(_) => {}
                None => {
                    left.push(*node);
                    open.pop();
                }
            }
        }
        left.into_iter().rev().enumerate().map(|(n, node)| (node, n)).collect()
    }

    /// The node that makes each value.
    pub(super) fn makers(&self, set: &BTreeSet<Node>) -> HashMap<ValueId, Node> {
        let mut makers = HashMap::new();
        for &node in set {
            let data = &self.nodes[node];
            let results = data.ops.iter().flat_map(|op| self.m.ops[*op].results.iter());
            makers.extend(data.args.iter().chain(results).map(|v| (*v, node)));
        }
        makers
    }

    /// Every value that a node reads.
    pub(super) fn reads(&self, node: Node) -> Vec<ValueId> {
        let data = &self.nodes[node];
        let below = data.ops.iter().flat_map(|op| walk::ops(self.m, *op));
        let mut values: Vec<ValueId> = below.flat_map(|op| self.m.ops[op].operands.to_vec()).collect();
        values.extend(data.end.edges().iter().flat_map(|e| e.args.iter().copied()));
        if let End::Choose(condition, _) = data.end {
            values.push(condition);
        }
        values
    }

    /// Makes a node read other values.
    pub(super) fn rename(&mut self, node: Node, names: &HashMap<ValueId, ValueId>) {
        let ops: Vec<OpId> = self.nodes[node].ops.iter().flat_map(|op| walk::ops(self.m, *op)).collect();
        let new = |value: &mut ValueId| {
            if let Some(found) = names.get(value) {
                *value = *found;
            }
        };
        for op in ops {
            self.m.ops[op].operands.iter_mut().for_each(new);
        }
        let end = &mut self.nodes[node].end;
        if let End::Choose(condition, _) = end {
            new(condition);
        }
        end.edges_mut().iter_mut().for_each(|edge| edge.args.iter_mut().for_each(new));
    }

    /// Edges to nodes that only pass on go where those lead, as long as nobody else reads their arguments.
    pub(super) fn shorten(&mut self) {
        let all: Vec<Vec<ValueId>> = (0..self.nodes.len()).map(|n| self.reads(n)).collect();
        for node in 1..self.nodes.len() {
            let End::Go(next) = self.nodes[node].end.clone() else { continue };
            let args = self.nodes[node].args.clone();
            let elsewhere =
                |(n, reads): (usize, &Vec<ValueId>)| n != node && reads.iter().any(|v| args.contains(v));
            if next.to == node || !self.nodes[node].ops.is_empty() || all.iter().enumerate().any(elsewhere) {
                continue;
            }
            for other in 0..self.nodes.len() {
                for edge in self.nodes[other].end.edges_mut().iter_mut().filter(|e| e.to == node) {
                    let passed = |v: &ValueId| match args.iter().position(|a| a == v) {
                        Some(at) => edge.args.get(at).copied().unwrap_or(*v),
                        None => *v,
                    };
                    *edge = Edge { to: next.to, args: next.args.iter().map(passed).collect() };
                }
            }
        }
    }

    /// The arguments of a block are new values of their own; returns them.
    pub(super) fn block_args(&mut self, block: BlockId, types: &[Type]) -> Vec<ValueId> {
        types.iter().map(|ty| self.m.add_arg(block, ty.clone(), self.loc)).collect()
    }

    /// Empties nodes that cannot be reached.
    pub(super) fn prune(&mut self) {
        let all = (0..self.nodes.len()).collect();
        let mut live = self.reached(0, &all, None, None);
        live.insert(0);
        for (_, node) in self.nodes.iter_mut().enumerate().filter(|(n, d)| !live.contains(n) && !d.is_exit())
        {
            *node =
                Data { args: Vec::new(), ops: Vec::new(), end: End::Return, branch: None, decides: false };
        }
    }

    /// What is written from now on stands where this node's branch stood.
    pub(super) fn stands_at(&mut self, node: Node) {
        if let Some(branch) = self.nodes[node].branch {
            (self.loc, self.span) = (self.m.ops[branch].loc, self.m.ops[branch].span);
        }
    }
}
