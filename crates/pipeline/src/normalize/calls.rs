//! Functions and who calls whom: calls that come back to where they started cannot be inlined (C9).

use std::collections::BTreeMap;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::{Dfs, Reversed};
use warploom_ir::{Module, OpId, Opcode};

use crate::walk::preorder;

/// The calls of a function that lead into a circle of calls, in the order of the text.
pub(crate) fn recursive(module: &Module, entry: OpId) -> Vec<OpId> {
    let mut graph: DiGraph<OpId, OpId> = DiGraph::new();
    let mut named: BTreeMap<&str, NodeIndex> = BTreeMap::new();
    for func in module.functions() {
        let node = graph.add_node(func);
        named.entry(module.symbol_name(func).unwrap_or_default()).or_insert(node);
    }
    for from in graph.node_indices() {
        let func = graph.node_weight(from).copied().unwrap_or(module.root);
        for call in preorder(module, func).into_iter().filter(|&op| module.ops[op].opcode == Opcode::Call) {
            let name = module.attr(call, "callee").and_then(|a| a.as_symbol());
            if let Some(&to) = name.and_then(|name| named.get(name)) {
                graph.add_edge(from, to, call);
            }
        }
    }
    let circles = tarjan_scc(&graph).into_iter().filter(|part| match part.as_slice() {
        &[one] => graph.contains_edge(one, one),
        _ => true,
    });
    let mut into = Dfs::empty(Reversed(&graph));
    for start in circles.flatten() {
        into.move_to(start);
        while into.next(Reversed(&graph)).is_some() {}
    }
    let leads = |&edge: &EdgeIndex| {
        graph.edge_endpoints(edge).is_some_and(|(from, to)| {
            graph.node_weight(from) == Some(&entry) && into.discovered.contains(to.index())
        })
    };
    graph.edge_indices().filter(leads).filter_map(|edge| graph.edge_weight(edge).copied()).collect()
}
