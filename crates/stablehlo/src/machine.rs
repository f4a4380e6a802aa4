//! A program run on cells that remember what was written last.

use hashbrown::{HashMap, HashSet};
use warploom_alias::AliasFindings;

use super::plan::Plan;
use super::program::{Kind, Node, NodeId, Part, Program};
use super::types::Type;

/// Operations of one run; loops in loops grow fast.
const MOST_STEPS: usize = 200_000;

/// A buffer of a storage.
type Cell = (usize, u64);

/// What a part of a value is while the program runs.
#[derive(Clone, Debug, PartialEq)]
struct Held {
    /// `None`: a tensor with memory of its own.
    cell: Option<Cell>,
    /// What was written last when the value came to be.
    content: u64,
    /// The `Pin`, `CreateBuffer` or argument that its chain began with.
    chain: u64,
}

struct Machine<'a> {
    p: &'a Program,
    plan: &'a Plan,
    copies: HashSet<NodeId>,
    trips: u64,
    cells: HashMap<Cell, u64>,
    env: HashMap<Part, Held>,
    /// Who began a chain, and who touched it last, at which step.
    makers: HashMap<u64, NodeId>,
    touched: HashMap<u64, (NodeId, usize)>,
    fresh: u64,
    steps: usize,
    findings: AliasFindings,
}

/// Runs a program with every loop run this many times.
pub(crate) fn run(p: &Program, plan: &Plan, trips: u64) -> AliasFindings {
    let mut machine = Machine {
        p,
        plan,
        copies: plan.copies.iter().map(|c| c.node).collect(),
        trips,
        cells: HashMap::new(),
        env: HashMap::new(),
        makers: HashMap::new(),
        touched: HashMap::new(),
        fresh: 0,
        steps: 0,
        findings: AliasFindings::default(),
    };
    for node in &p.top {
        machine.run(*node);
    }
    machine.findings
}

impl Machine<'_> {
    fn say(&mut self, message: String) {
        self.findings.add("L16", message);
    }

    fn next(&mut self) -> u64 {
        self.fresh += 1;
        self.fresh
    }

    /// The cell that a part begins in.
    fn place(&self, part: &Part) -> Option<Cell> {
        let store = *self.plan.of.get(part)?;
        Some((store, self.plan.lanes.get(part).copied().unwrap_or(0)))
    }

    /// A new content in the part's own cell.
    fn make(&mut self, part: Part, by: NodeId) {
        let (content, chain) = (self.next(), self.next());
        let cell = self.place(&part);
        if let Some(cell) = cell {
            self.cells.insert(cell, content);
        }
        self.makers.insert(chain, by);
        self.env.insert(part, Held { cell, content, chain });
    }

    /// A part as it is now; says when something else was written over it.
    fn read(&mut self, part: &Part, by: NodeId) -> Option<Held> {
        let part = self.p.origin(part.clone());
        let held = self.env.get(&part)?.clone();
        if let Some(cell) = held.cell
            && self.cells.get(&cell) != Some(&held.content)
        {
            let name = self.p.name(part.0).to_owned();
            let op = self.p.nodes.get(by).map_or(String::new(), |n| n.shown.clone());
            self.say(format!("{name} was overwritten before '{op}' reads it"));
        }
        self.touched.insert(held.chain, (by, self.steps));
        Some(held)
    }

    fn read_all(&mut self, id: NodeId, node: &Node) {
        for part in node.operands.iter().flat_map(|v| self.p.parts(*v)) {
            self.read(&part, id);
        }
    }

    fn run(&mut self, id: NodeId) {
        self.steps += 1;
        let Some(node) = self.p.nodes.get(id) else { return };
        if self.steps > MOST_STEPS {
            return;
        }
        match &node.kind {
            Kind::Func(_) => {
                for part in node.regions.iter().flat_map(|r| &r.args).flat_map(|v| self.p.parts(*v)) {
                    self.make(part, id);
                }
                self.body(node, 0);
            }
            Kind::Tuple | Kind::Element(_) => {}
            Kind::Return => self.read_all(id, node),
            Kind::Pin | Kind::Unpin => self.boundary(id, node),
            Kind::Call(pairs) => self.call(id, node, pairs),
            Kind::While(cycles) => self.repeat(id, node, cycles),
            Kind::Branch => {
                self.read_all(id, node);
                let n = usize::try_from(self.trips).unwrap_or(0) % node.regions.len().max(1);
                self.body(node, n);
                self.results(id, node, &[]);
            }
            Kind::Create | Kind::Constant | Kind::Elementwise | Kind::Other => {
                self.read_all(id, node);
                if self.p.top.contains(&id) || node.results.is_empty() {
                    for n in 0..node.regions.len() {
                        self.body(node, n);
                    }
                }
                let reads = self.cells_of(node);
                self.results(id, node, &reads);
            }
        }
    }

    fn body(&mut self, node: &Node, region: usize) {
        for inner in node.regions.get(region).map_or(&[][..], |r| r.nodes.as_slice()) {
            self.run(*inner);
        }
    }

    /// The cells that an operation reads, with the types that lie there.
    fn cells_of(&self, node: &Node) -> Vec<(Cell, Option<Type>)> {
        let parts = node.operands.iter().flat_map(|v| self.p.parts(*v));
        parts
            .filter_map(|part| {
                let held = self.env.get(&self.p.origin(part.clone()))?;
                Some((held.cell?, self.p.type_of(&part).cloned()))
            })
            .collect()
    }

    /// Results that are new; they may lie over an operand only where the operation allows.
    fn results(&mut self, id: NodeId, node: &Node, reads: &[(Cell, Option<Type>)]) {
        for part in node.results.iter().flat_map(|v| self.p.parts(*v)) {
            let cell = self.place(&part);
            let ty = self.p.type_of(&part).cloned();
            let over =
                reads.iter().any(|(c, t)| Some(*c) == cell && (node.kind != Kind::Elementwise || *t != ty));
            if over {
                let name = self.p.name(part.0).to_owned();
                self.say(format!("{name} is written over an operand that '{}' still reads", node.shown));
            }
            self.make(part, id);
        }
    }

    fn call(&mut self, id: NodeId, node: &Node, pairs: &[(Part, Part)]) {
        self.read_all(id, node);
        let paired: Vec<Part> = pairs.iter().map(|(_, operand)| self.p.origin(operand.clone())).collect();
        let reads: Vec<(Cell, Option<Type>)> = self.cells_of(node);
        let mut through = Vec::new();
        for ((result, _), operand) in pairs.iter().zip(&paired) {
            if let Some(held) = self.env.get(operand).cloned() {
                through.push((result.clone(), held));
            }
        }
        for part in node.results.iter().flat_map(|v| self.p.parts(*v)) {
            match through.iter().find(|(result, _)| *result == part) {
                Some((_, held)) => {
                    let content = self.next();
                    let store = held.cell.map(|c| c.0);
                    if store != self.plan.of.get(&part).copied() {
                        let name = self.p.name(part.0).to_owned();
                        self.say(format!("{name} does not lie where its pair does"));
                    }
                    if let Some(cell) = held.cell {
                        self.cells.insert(cell, content);
                    }
                    self.env.insert(part, Held { content, ..held.clone() });
                }
                None => {
                    if reads.iter().any(|(c, _)| Some(*c) == self.place(&part)) {
                        let name = self.p.name(part.0).to_owned();
                        self.say(format!(
                            "{name} is written over an operand that '{}' still reads",
                            node.shown
                        ));
                    }
                    self.make(part, id);
                }
            }
        }
    }

    /// A tensor becomes a buffer, or back: copied, or handed over in place.
    fn boundary(&mut self, id: NodeId, node: &Node) {
        let (Some(operand), Some(result)) = (node.operands.first(), node.results.first()) else { return };
        let Some(held) = self.read(&(*operand, Vec::new()), id) else { return };
        let part: Part = (*result, Vec::new());
        let chain = self.next();
        self.makers.insert(chain, id);
        if self.copies.contains(&id) {
            let cell = self.place(&part);
            if let Some(cell) = cell {
                self.cells.insert(cell, held.content);
            }
            self.env.insert(part, Held { cell, content: held.content, chain });
            return;
        }
        let same = held.cell.map(|c| c.0) == self.plan.of.get(&part).copied() && held.cell.is_some();
        let lane = self.plan.lanes.get(&part).is_none_or(|l| held.cell.map(|c| c.1) == Some(*l));
        if !same || !lane {
            let name = self.p.name(part.0).to_owned();
            self.say(format!("{name} is made by '{}' without a copy in other memory", node.shown));
        }
        self.env.insert(part, Held { chain, ..held });
    }

    fn repeat(&mut self, id: NodeId, node: &Node, cycles: &[Vec<usize>]) {
        self.read_all(id, node);
        let mut carried: Vec<(usize, Vec<i64>, Held)> = Vec::new();
        for (k, operand) in node.operands.iter().enumerate() {
            for part in self.p.parts(*operand) {
                if let Some(held) = self.env.get(&self.p.origin(part.clone())).cloned() {
                    carried.push((k, part.1, held));
                }
            }
        }
        for cycle in cycles {
            let cells: Vec<_> =
                carried.iter().filter(|(k, ..)| cycle.contains(k)).map(|c| c.2.cell).collect();
            if cells.iter().collect::<HashSet<_>>().len() != cells.len() {
                self.say(format!("slots {cycle:?} of a cycle begin in one buffer"));
            }
        }
        let first = carried.clone();
        for trip in 0..=self.trips {
            self.bind(node, 0, &carried);
            self.body(node, 0);
            if trip == self.trips {
                break;
            }
            self.bind(node, 1, &carried);
            let since = self.steps;
            self.body(node, 1);
            let Some(last) = node.regions.get(1).and_then(|b| self.p.last(b)) else { break };
            let mut next = Vec::new();
            for (k, path, old) in &carried {
                let Some(value) = last.operands.get(*k) else { continue };
                let part = self.p.origin((*value, path.clone()));
                let Some(new) = self.env.get(&part).cloned() else { continue };
                let cyclic = cycles.iter().any(|c| c.contains(k));
                if self.p.is_buffer(&part) && !cyclic {
                    if new.cell != old.cell {
                        self.say(format!("slot {k} of a loop moves to another buffer"));
                    }
                    self.ordered((id, *k), since, old.chain, new.chain);
                }
                next.push((*k, path.clone(), new));
            }
            carried = next;
        }
        for (k, path, held) in carried {
            // For what is around the loop, a slot is one chain, whatever took its place inside.
            let chain =
                first.iter().find(|(j, q, _)| *j == k && *q == path).map_or(held.chain, |f| f.2.chain);
            let chain = if cycles.iter().any(|c| c.contains(&k)) { held.chain } else { chain };
            if let Some(result) = node.results.get(k) {
                self.env.insert((*result, path), Held { chain, ..held });
            }
        }
    }

    /// The arguments of a region are what the slots carry.
    fn bind(&mut self, node: &Node, region: usize, carried: &[(usize, Vec<i64>, Held)]) {
        let Some(body) = node.regions.get(region) else { return };
        for (k, path, held) in carried {
            let Some(arg) = body.args.get(*k) else { continue };
            let part = (*arg, path.clone());
            if held.cell.map(|c| c.0) != self.plan.of.get(&part).copied() {
                self.say(format!("slot {k} of a loop does not lie where its argument does"));
            }
            self.env.insert(part, held.clone());
        }
    }

    /// A rotated chain: the old buffer ends before the new one begins, and the plan says so.
    fn ordered(&mut self, (id, k): (NodeId, usize), since: usize, old: u64, new: u64) {
        if old == new {
            return;
        }
        let inside = |n: &NodeId| self.p.around(*n).contains(&(id, 1));
        let end = self.touched.get(&old).copied().filter(|(n, step)| *step > since && inside(n));
        let (Some((end, _)), Some(start)) = (end, self.makers.get(&new).copied()) else { return };
        // What ends the buffer may be the end of what an inner loop made of it.
        let said = self.plan.order.iter().any(|(e, s)| *s == start && end <= *e && *e < start);
        if !said {
            self.say(format!(
                "slot {k} of a loop: nothing orders the end of the old buffer before the new one"
            ));
        }
    }
}
