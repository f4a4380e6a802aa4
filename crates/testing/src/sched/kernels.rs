//! Loops as the inner loops of real kernels are: tile operations with the costs of S89, in the shapes that
//! attention, its gradient, gated products, chunked recurrences and normalisations have.

use super::source::Source;
use warploom_sched::{LoopGraph, ResourceUse};

/// A random kernel's loop: 10 to 70 tile operations, reservations of up to some thousand cycles, recurrences
/// through several units; in one of three loops the issue streams of partitions are units too (S65).
pub fn kernel_loop(source: &mut Source<'_>) -> LoopGraph {
    let mut k = Kernel::new(source);
    match source.below(6) {
        0 | 1 => k.attention(source),
        2 => k.attention_gradient(source),
        3 => k.gated_product(source),
        4 => k.chunked_recurrence(source),
        _ => k.normalisation(source),
    }
    if source.below(2) == 0 {
        k.jitter(source);
    }
    k.g
}

/// One operation's result: the operation, and when the result may be used.
type Tile = usize;

struct Kernel {
    g: LoopGraph,
    /// The unit that moves tiles between registers and tensor memory.
    mover: &'static str,
    /// Partitions have issue streams.
    partitions: bool,
    /// The compute partition that issues what follows.
    partition: usize,
    rows: u64,
    columns: u64,
    depth: u64,
}

fn one_of(source: &mut Source<'_>, choices: &[u64]) -> u64 {
    choices.get(source.below(choices.len() as u64) as usize).copied().unwrap_or(64)
}

impl Kernel {
    fn new(source: &mut Source<'_>) -> Self {
        let mut g = LoopGraph::new("kernel");
        g.add_resource("TMA", 1).add_resource("TC", 1);
        g.add_resource("CUDA", if source.below(6) == 0 { 2 } else { 1 }).add_resource("SFU", 1);
        let mover = if source.below(2) == 0 { "CUDA" } else { "TMEM" };
        if mover == "TMEM" {
            g.add_resource(mover, 1);
        }
        let partitions = source.below(3) == 0;
        if partitions {
            ["copies", "products", "compute 0", "compute 1"].iter().for_each(|a| _ = g.add_resource(*a, 1));
        }
        Kernel {
            g,
            mover,
            partitions,
            partition: 0,
            rows: one_of(source, &[64, 128, 128]),
            columns: one_of(source, &[64, 128, 128]),
            depth: one_of(source, &[64, 128, 128, 256]),
        }
    }

    /// Costs as measured ones are: no two alike.
    fn jitter(&mut self, source: &mut Source<'_>) {
        let mut change = |cycles: u64| cycles - cycles / 8 + source.below(cycles / 4 + 1);
        for node in &mut self.g.nodes {
            node.uses.iter_mut().for_each(|u| u.duration = change(u.duration));
            let grown = change(node.latency as u64) as i64;
            let more = grown - node.latency;
            node.latency = grown;
            let out = self.g.edges.iter_mut().filter(|e| e.src == node.id);
            out.for_each(|e| e.latency = (e.latency + more).max(0));
        }
    }

    fn op(&mut self, name: &str, unit: &str, latency: u64, held: u64, from: &[Tile]) -> Tile {
        let id = self.g.add_node(name, latency as i64, &[(unit, 0, held)]);
        if self.partitions {
            let (resource, duration) = match unit {
                "TMA" => ("copies".to_owned(), 30),
                "TC" => ("products".to_owned(), 30),
                _ => (format!("compute {}", self.partition), held),
            };
            self.g.nodes[id].uses.push(ResourceUse {
                resource,
                start: 0,
                duration,
                ..ResourceUse::default()
            });
        }
        for &src in from {
            self.g.add_edge(src, id, self.g.nodes[src].latency, 0);
        }
        id
    }

    fn load(&mut self, rows: u64, columns: u64) -> Tile {
        let kilobytes = rows * columns * 2 / 1024;
        let segments = (columns * 2).div_ceil(512).saturating_sub(1).min(2);
        self.op("load", "TMA", 460 + 6 * kilobytes + 240 * segments, (6 * kilobytes).max(30), &[])
    }

    fn store(&mut self, rows: u64, columns: u64, from: &[Tile]) -> Tile {
        let kilobytes = rows * columns * 2 / 1024;
        self.op("store", "TMA", 130 + 52 * kilobytes, (52 * kilobytes).max(30), from)
    }

    fn product(&mut self, m: u64, n: u64, k: u64, from: &[Tile]) -> Tile {
        let held = (m * n * k / 4096).clamp(30, 4096);
        self.op("dot", "TC", if k >= 128 { 900 } else { 559 }, held, from)
    }

    /// An operation whose costs are given for 16,384 elements.
    fn tile(&mut self, name: &str, cost: (&str, u64, u64), elements: u64, from: &[Tile]) -> Tile {
        let scaled = |cycles: u64| (cycles * elements / 16_384).max(1);
        self.op(name, cost.0, scaled(cost.1), scaled(cost.2), from)
    }

    fn fetch(&mut self, elements: u64, from: &[Tile]) -> Tile {
        self.tile("fetch", (self.mover, 532, 256), elements, from)
    }

    fn put(&mut self, elements: u64, from: &[Tile]) -> Tile {
        self.tile("put", (self.mover, 96, 48), elements, from)
    }

    fn simple(&mut self, name: &str, elements: u64, from: &[Tile]) -> Tile {
        self.tile(name, ("CUDA", 130, 128), elements, from)
    }

    fn exp2(&mut self, elements: u64, from: &[Tile]) -> Tile {
        self.tile("exp2", ("SFU", 1140, 128), elements, from)
    }

    fn convert(&mut self, elements: u64, from: &[Tile]) -> Tile {
        self.tile("convert", ("CUDA", 105, 64), elements, from)
    }

    fn carried(&mut self, src: Tile, dst: Tile) {
        self.g.add_edge(src, dst, self.g.nodes[src].latency, 1);
    }

    /// Attention forwards: one to three query tiles, softmax in one to three parts of the columns.
    fn attention(&mut self, source: &mut Source<'_>) {
        let (queries, parts) = (1 + source.below(3), 1 + source.below(3));
        let (rows, depth) = (self.rows, self.depth.min(128));
        let columns = self.columns / parts.next_power_of_two().min(2);
        let causal = source.below(3) == 0;
        let (keys, values) = (self.load(columns * parts, depth), self.load(columns * parts, depth));
        for q in 0..queries {
            self.partition = (q % 2) as usize;
            let mut scores = Vec::new();
            let mut peak: Option<Tile> = None;
            for _ in 0..parts {
                let qk = self.product(rows, columns, depth, &[keys]);
                let mut s = self.fetch(rows * columns, &[qk]);
                if causal {
                    s = self.simple("mask", rows * columns, &[s]);
                }
                let most = self.tile("max", ("CUDA", 461, 304), rows * columns, &[s]);
                peak = Some(peak.map_or(most, |p| self.simple("larger", rows, &[p, most])));
                scores.push(s);
            }
            let Some(peak) = peak else { return };
            let running = self.simple("running max", rows, &[peak]);
            self.carried(running, running);
            let change = self.simple("change", rows, &[running]);
            self.carried(running, change);
            let alpha = self.exp2(rows, &[change]);
            let old = self.fetch(rows * depth, &[]);
            let scaled = self.tile("rescale", ("CUDA", 138, 128), rows * depth, &[old, alpha]);
            let mut acc = self.put(rows * depth, &[scaled]);
            let mut sum: Option<Tile> = None;
            for s in scores {
                let shifted = self.simple("shift", rows * columns, &[s, running]);
                let p = self.exp2(rows * columns, &[shifted]);
                let part = self.tile("sum", ("CUDA", 1691, 639), rows * columns, &[p]);
                sum = Some(sum.map_or(part, |t| self.simple("add", rows, &[t, part])));
                let half = self.convert(rows * columns, &[p]);
                let put = self.put(rows * columns, &[half]);
                acc = self.product(rows, depth, columns, &[put, values, acc]);
            }
            self.carried(acc, old);
            let total = self.simple("total", rows, &[alpha]);
            sum.into_iter().for_each(|s| _ = self.g.add_edge(s, total, self.g.nodes[s].latency, 0));
            self.carried(total, total);
        }
    }

    /// Attention backwards: the gradients of keys, values and queries, for one or two column tiles.
    fn attention_gradient(&mut self, source: &mut Source<'_>) {
        let tiles = 1 + source.below(3);
        let (rows, columns, depth) = (self.rows, self.columns, self.depth.min(128));
        let (q, d_out) = (self.load(rows, depth), self.load(rows, depth));
        let (norm, delta) = (self.load(rows, 1), self.load(rows, 1));
        let (mut first, mut d_q): (Option<Tile>, Option<Tile>) = (None, None);
        for t in 0..tiles {
            self.partition = (t % 2) as usize;
            let qk = self.product(rows, columns, depth, &[q]);
            let s = self.fetch(rows * columns, &[qk]);
            let shifted = self.simple("shift", rows * columns, &[s, norm]);
            let p = self.exp2(rows * columns, &[shifted]);
            let half = self.convert(rows * columns, &[p]);
            let put = self.put(rows * columns, &[half]);
            let d_v = self.product(columns, depth, rows, &[put, d_out]);
            self.g.add_edge(d_v, d_v, self.g.nodes[d_v].uses[0].duration as i64, 1);
            let dp = self.product(rows, columns, depth, &[d_out]);
            let dp = self.fetch(rows * columns, &[dp]);
            let centred = self.simple("centre", rows * columns, &[dp, delta]);
            let ds = self.tile("gate", ("CUDA", 138, 128), rows * columns, &[centred, p]);
            let ds = self.convert(rows * columns, &[ds]);
            let ds = self.op("to shared", "CUDA", 105, 105, &[ds]);
            let d_k = self.product(columns, depth, rows, &[ds, q]);
            self.g.add_edge(d_k, d_k, self.g.nodes[d_k].uses[0].duration as i64, 1);
            let mut from = vec![ds];
            from.extend(d_q);
            let product = self.product(rows, depth, columns, &from);
            first = first.or(Some(product));
            d_q = Some(product);
        }
        if let (Some(first), Some(d_q)) = (first, d_q) {
            let out = self.fetch(rows * depth, &[d_q]);
            // The next iteration's first product overwrites what is fetched here.
            self.carried(out, first);
            let shared = self.op("to shared", "CUDA", 105, 105, &[out]);
            self.store(rows, depth, &[shared]);
        }
    }

    /// Two products of one input, a gate between them, as in feed-forward layers.
    fn gated_product(&mut self, source: &mut Source<'_>) {
        let steps = 1 + source.below(4);
        let (rows, columns, depth) = (self.rows, self.columns, self.depth);
        let mut last: [Option<Tile>; 2] = [None; 2];
        let mut first: [Option<Tile>; 2] = [None; 2];
        for step in 0..steps {
            let a = self.load(rows, depth);
            let scale = source.below(2) == 0;
            for side in 0..2 {
                let b = self.load(depth, columns);
                let mut b = b;
                if scale {
                    self.partition = ((step + side as u64) % 2) as usize;
                    let wide = self.convert(depth * columns, &[b]);
                    let scaled = self.tile("scale", ("CUDA", 138, 128), depth * columns, &[wide]);
                    b = self.op("to shared", "CUDA", 105, 105, &[scaled]);
                }
                let mut from = vec![a, b];
                from.extend(last[side]);
                let dot = self.product(rows, columns, depth, &from);
                first[side] = first[side].or(Some(dot));
                last[side] = Some(dot);
            }
        }
        if let ([Some(x), Some(y)], [Some(fx), Some(fy)]) = (last, first) {
            let (gx, gy) = (self.fetch(rows * columns, &[x]), self.fetch(rows * columns, &[y]));
            let e = self.exp2(rows * columns, &[gx]);
            let s = self.simple("add one", rows * columns, &[e]);
            let d = self.tile("divide", ("SFU", 1140, 256), rows * columns, &[s]);
            let g = self.tile("gate", ("CUDA", 138, 128), rows * columns, &[d, gy]);
            let h = self.convert(rows * columns, &[g]);
            let shared = self.op("to shared", "CUDA", 105, 105, &[h]);
            self.store(rows, columns, &[shared]);
            self.carried(gx, fx);
            self.carried(gy, fy);
        }
    }

    /// Linear attention in chunks: a state that decays and grows by a product in every iteration.
    fn chunked_recurrence(&mut self, source: &mut Source<'_>) {
        let heads = 1 + source.below(3);
        let (chunk, depth) = (self.rows, self.depth.min(128));
        for h in 0..heads {
            self.partition = (h % 2) as usize;
            let (q, k, v) = (self.load(chunk, depth), self.load(chunk, depth), self.load(chunk, depth));
            let gate = self.load(chunk, 1);
            let decay = self.exp2(chunk, &[gate]);
            let qk = self.product(chunk, chunk, depth, &[q, k]);
            let s = self.fetch(chunk * chunk, &[qk]);
            let masked = self.tile("mask", ("CUDA", 138, 128), chunk * chunk, &[s, decay]);
            let half = self.convert(chunk * chunk, &[masked]);
            let put = self.put(chunk * chunk, &[half]);
            let state = self.fetch(depth * depth, &[]);
            let half_state = self.convert(depth * depth, &[state]);
            let shared = self.op("to shared", "CUDA", 105, 105, &[half_state]);
            let inter = self.product(chunk, depth, depth, &[q, shared]);
            let out = self.product(chunk, depth, chunk, &[put, v, inter]);
            let scaled = self.tile("decay", ("CUDA", 138, 128), depth * depth, &[state, decay]);
            let back = self.put(depth * depth, &[scaled]);
            let grown = self.product(depth, depth, chunk, &[k, v, back]);
            self.carried(grown, state);
            let o = self.fetch(chunk * depth, &[out]);
            self.carried(o, inter);
            let o = self.convert(chunk * depth, &[o]);
            let o = self.op("to shared", "CUDA", 105, 105, &[o]);
            self.store(chunk, depth, &[o]);
        }
    }

    /// Running statistics of several rows at once, then the normalised tile.
    fn normalisation(&mut self, source: &mut Source<'_>) {
        let tiles = 2 + source.below(4);
        let elements = self.rows * self.columns;
        for t in 0..tiles {
            self.partition = (t % 2) as usize;
            let x = self.load(self.rows, self.columns);
            let wide = self.convert(elements, &[x]);
            let sum = self.tile("sum", ("CUDA", 1691, 639), elements, &[wide]);
            let mean = self.simple("mean", self.rows, &[sum]);
            self.carried(mean, mean);
            let centred = self.simple("centre", elements, &[wide, mean]);
            let square = self.tile("square", ("CUDA", 138, 128), elements, &[centred]);
            let spread = self.tile("sum", ("CUDA", 1691, 639), elements, &[square]);
            let total = self.simple("total", self.rows, &[spread]);
            self.carried(total, total);
            let root = self.tile("root", ("SFU", 1140, 128), self.rows, &[total]);
            let scaled = self.tile("scale", ("CUDA", 138, 128), elements, &[centred, root]);
            let half = self.convert(elements, &[scaled]);
            let shared = self.op("to shared", "CUDA", 105, 105, &[half]);
            self.store(self.rows, self.columns, &[shared]);
        }
    }
}
