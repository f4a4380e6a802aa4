//! The dependences as arrays: arcs sorted by source, strongly connected components in topological order.

use petgraph::visit::{Dfs, DfsPostOrder, Reversed, VisitMap};

/// A dependence in the solver's form; parallel arcs of one distance are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arc {
    pub src: u32,
    pub dst: u32,
    pub latency: i64,
    /// May be negative for arcs that cap a depth (S55).
    pub distance: i64,
}

impl Arc {
    /// The weight in the graph of longest paths at this II (S19).
    pub fn weight(&self, ii: i64) -> i64 {
        self.latency.saturating_sub(ii.saturating_mul(self.distance))
    }
}

/// Arcs in compressed rows by source and by target, and the components.
#[derive(Clone, Debug)]
pub(crate) struct Digraph {
    pub n: usize,
    pub arcs: Vec<Arc>,
    out_at: Vec<u32>,
    in_at: Vec<u32>,
    in_arcs: Vec<u32>,
    /// Component of every node; numbers ascend along arcs.
    pub comp: Vec<u32>,
    /// Nodes grouped by component, components in topological order, inside one by distance-0 order.
    pub order: Vec<u32>,
    comp_at: Vec<u32>,
    /// Some nodes wait for each other within one iteration: windows (S7).
    pub windows: bool,
}

impl Digraph {
    pub fn new(n: usize, mut arcs: Vec<Arc>) -> Self {
        arcs.sort_unstable_by_key(|a| (a.src, a.dst, a.distance, std::cmp::Reverse(a.latency)));
        arcs.dedup_by_key(|a| (a.src, a.dst, a.distance));
        let mut out_at = vec![0u32; n + 1];
        let mut in_at = vec![0u32; n + 1];
        for a in &arcs {
            out_at[a.src as usize + 1] += 1;
            in_at[a.dst as usize + 1] += 1;
        }
        for i in 0..n {
            out_at[i + 1] += out_at[i];
            in_at[i + 1] += in_at[i];
        }
        let mut next = in_at.clone();
        let mut in_arcs = vec![0u32; arcs.len()];
        for (i, a) in arcs.iter().enumerate() {
            let slot = &mut next[a.dst as usize];
            in_arcs[*slot as usize] = i as u32;
            *slot += 1;
        }
        let mut graph = Digraph {
            n,
            arcs,
            out_at,
            in_at,
            in_arcs,
            comp: Vec::new(),
            order: Vec::new(),
            comp_at: Vec::new(),
            windows: false,
        };
        let position = graph.within_iteration_order();
        graph.components(&position);
        graph
    }

    /// Arcs that leave `node`.
    pub fn out(&self, node: usize) -> &[Arc] {
        &self.arcs[self.out_at[node] as usize..self.out_at[node + 1] as usize]
    }

    /// Index of the first arc that leaves `node`.
    pub fn first_out(&self, node: usize) -> u32 {
        self.out_at[node]
    }

    /// Arcs that enter `node`.
    pub fn incoming(&self, node: usize) -> impl Iterator<Item = &Arc> + '_ {
        self.incoming_indices(node).iter().map(|&i| &self.arcs[i as usize])
    }

    /// The indices of the arcs that enter `node`.
    pub fn incoming_indices(&self, node: usize) -> &[u32] {
        &self.in_arcs[self.in_at[node] as usize..self.in_at[node + 1] as usize]
    }

    /// The members of every component, in topological order.
    pub fn components_in_order(&self) -> impl DoubleEndedIterator<Item = &[u32]> + '_ {
        self.comp_at.windows(2).map(|w| &self.order[w[0] as usize..w[1] as usize])
    }

    /// The members of one component.
    pub fn component(&self, comp: u32) -> Option<&[u32]> {
        let range = self.comp_at.get(comp as usize..comp as usize + 2)?;
        self.order.get(range[0] as usize..range[1] as usize)
    }

    /// The members of this component and of all after it, in topological order.
    pub fn components_from(&self, comp: u32) -> impl Iterator<Item = &[u32]> + '_ {
        self.components_in_order().skip(comp as usize)
    }

    /// Whether the component has a recurrence: several members, or an arc from its only member to itself.
    pub fn is_cyclic(&self, members: &[u32]) -> bool {
        members.len() > 1 || members.first().is_some_and(|&m| self.out(m as usize).iter().any(|a| a.dst == m))
    }

    /// Position of every node in a topological order of the arcs of distance 0 and below (Kahn 1962); nodes on
    /// recurrences of such arcs come last, and make `windows` true. First in, first out, unlike `petgraph`'s orders: what
    /// searches decide first, and so what they find, depends on it.
    fn within_iteration_order(&mut self) -> Vec<u32> {
        let mut waits = vec![0u32; self.n];
        for a in self.arcs.iter().filter(|a| a.distance <= 0) {
            waits[a.dst as usize] += 1;
        }
        let mut ready: Vec<u32> = (0..self.n as u32).filter(|&v| waits[v as usize] == 0).collect();
        let mut position = vec![u32::MAX; self.n];
        let mut done = 0;
        while let Some(&v) = ready.get(done) {
            position[v as usize] = done as u32;
            done += 1;
            for a in self.out(v as usize).iter().filter(|a| a.distance <= 0) {
                waits[a.dst as usize] -= 1;
                if waits[a.dst as usize] == 0 {
                    ready.push(a.dst);
                }
            }
        }
        self.windows = done < self.n;
        position
    }

    /// Strongly connected components (Kosaraju, Sharir 1981), in topological order, by two of `petgraph`'s walks, which no
    /// long chain can overflow the call stack with. Its own function makes a list for each component, which on large
    /// loops, where most are single, takes a twentieth of a schedule's time.
    fn components(&mut self, position: &[u32]) {
        let graph = &*self;
        let mut last_first = DfsPostOrder::empty(Reversed(graph));
        let mut finished = Vec::with_capacity(graph.n);
        for root in 0..graph.n as u32 {
            if !last_first.discovered.is_visited(&root) {
                last_first.move_to(root);
                finished.extend(std::iter::from_fn(|| last_first.next(graph)));
            }
        }
        let mut walk = Dfs::empty(graph);
        let mut comp = vec![0u32; graph.n];
        let mut order: Vec<u32> = Vec::with_capacity(graph.n);
        let mut at = vec![0];
        for &root in finished.iter().rev() {
            if walk.discovered.is_visited(&root) {
                continue;
            }
            let first = order.len();
            walk.move_to(root);
            order.extend(std::iter::from_fn(|| walk.next(Reversed(graph))));
            let members = &mut order[first..];
            members.sort_unstable_by_key(|&v| (position[v as usize], v));
            members.iter().for_each(|&v| comp[v as usize] = at.len() as u32 - 1);
            at.push(order.len() as u32);
        }
        (self.comp, self.order, self.comp_at) = (comp, order, at);
    }
}
