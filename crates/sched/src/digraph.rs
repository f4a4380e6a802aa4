//! The dependences as arrays: arcs sorted by source, strongly connected components in topological order.

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
        self.in_arcs[self.in_at[node] as usize..self.in_at[node + 1] as usize]
            .iter()
            .map(|&i| &self.arcs[i as usize])
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

    /// Whether the component has a circuit: several members, or an arc from its only member to itself.
    pub fn is_cyclic(&self, members: &[u32]) -> bool {
        members.len() > 1 || members.first().is_some_and(|&m| self.out(m as usize).iter().any(|a| a.dst == m))
    }

    /// Position of every node in a topological order of the arcs of distance 0 and below (Kahn 1962); nodes on
    /// circuits of such arcs come last, and make `windows` true.
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

    /// Strongly connected components (Tarjan 1972) with an explicit stack, so that long chains cannot overflow
    /// the call stack.
    fn components(&mut self, position: &[u32]) {
        const NEW: u32 = u32::MAX;
        let mut index = vec![NEW; self.n];
        let mut low = vec![0u32; self.n];
        let mut comp = vec![NEW; self.n];
        let mut open: Vec<u32> = Vec::new();
        let mut walk: Vec<(u32, u32)> = Vec::new();
        let (mut counter, mut comps) = (0u32, 0u32);
        let mut sizes: Vec<u32> = Vec::new();
        for root in 0..self.n as u32 {
            if index[root as usize] != NEW {
                continue;
            }
            walk.push((root, self.out_at[root as usize]));
            while let Some(&mut (v, ref mut at)) = walk.last_mut() {
                let vi = v as usize;
                if index[vi] == NEW {
                    index[vi] = counter;
                    low[vi] = counter;
                    counter += 1;
                    open.push(v);
                }
                if *at < self.out_at[vi + 1] {
                    let w = self.arcs[*at as usize].dst;
                    *at += 1;
                    if index[w as usize] == NEW {
                        walk.push((w, self.out_at[w as usize]));
                    } else if comp[w as usize] == NEW {
                        low[vi] = low[vi].min(index[w as usize]);
                    }
                    continue;
                }
                walk.pop();
                if let Some(&(parent, _)) = walk.last() {
                    low[parent as usize] = low[parent as usize].min(low[vi]);
                }
                if low[vi] == index[vi] {
                    let mut size = 0;
                    while let Some(w) = open.pop() {
                        comp[w as usize] = comps;
                        size += 1;
                        if w == v {
                            break;
                        }
                    }
                    sizes.push(size);
                    comps += 1;
                }
            }
        }
        // Tarjan finds sinks first; count from the other end so that numbers ascend along arcs.
        for c in &mut comp {
            *c = comps - 1 - *c;
        }
        sizes.reverse();
        let mut at = vec![0u32; comps as usize + 1];
        for (i, s) in sizes.iter().enumerate() {
            at[i + 1] = at[i] + s;
        }
        let mut next = at.clone();
        let mut order = vec![0u32; self.n];
        for v in 0..self.n {
            let slot = &mut next[comp[v] as usize];
            order[*slot as usize] = v as u32;
            *slot += 1;
        }
        for w in at.windows(2) {
            let members = &mut order[w[0] as usize..w[1] as usize];
            if members.len() > 1 {
                members.sort_unstable_by_key(|&v| (position[v as usize], v));
            }
        }
        self.comp = comp;
        self.order = order;
        self.comp_at = at;
    }
}
