//! The inner loops of known kernels as the joint search takes them: who may issue what, for how long, and what it holds.
//!
//! Costs of Blackwell are those of S89. Hopper has no tensor memory: products are issued by the warps that hold their
//! accumulators, at half the rate (S90); its other costs are taken over, so no length there is calibrated.

use warploom_sched::{LoopGraph, PartitionKind, ResourceUse};

/// A chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chip {
    /// sm_90a.
    Hopper,
    /// sm_100a.
    Blackwell,
}

type Tile = usize;

/// The loops of attention and its gradient in 1, 2 and 4 sub-tiles, a product, a gated product, latent attention, and a
/// state-space recurrence, for both chips.
pub fn kernels_to_split() -> Vec<LoopGraph> {
    let mut all = Vec::new();
    for chip in [Chip::Hopper, Chip::Blackwell] {
        all.push(product(chip));
        all.push(gated(chip));
        for tiles in [1, 2, 4] {
            all.push(attention(chip, tiles));
        }
        for tiles in [1, 2, 4] {
            all.push(attention_gradient(chip, tiles));
        }
        all.push(latent_attention(chip));
        all.push(state_space(chip));
    }
    all
}

/// Attention's gradient in so many sub-tiles, one after the other within an iteration.
pub fn gradient_in_tiles(chip: Chip, tiles: u64) -> LoopGraph {
    attention_gradient(chip, tiles)
}

/// Attention in so many sub-tiles, one after the other within an iteration.
pub fn attention_in_tiles(chip: Chip, tiles: u64) -> LoopGraph {
    attention(chip, tiles)
}

/// Ping-pong: attention in two sub-tiles, each of which is one compute partition's, the copies that of a producer. The streams of
/// the three are units (S65).
pub fn ping_pong(chip: Chip) -> LoopGraph {
    let mut g = attention(chip, 2);
    g.name = g.name.replace("attention, 2 tiles", "ping-pong");
    let names = ["copies", "ping", "pong"];
    names.iter().for_each(|name| _ = g.add_resource(*name, 1));
    let (copies, tile) = (2, (g.nodes.len() - 2) / 2);
    for v in &mut g.nodes {
        let stream = if v.id < copies { 0 } else { 1 + (v.id - copies) / tile };
        let duration = v.issue_latency.unwrap_or(0);
        let name = names.get(stream).copied().unwrap_or("pong");
        v.uses.push(ResourceUse { resource: name.to_owned(), start: 0, duration, ..ResourceUse::default() });
    }
    g
}

struct Machine {
    g: LoopGraph,
    chip: Chip,
}

impl Machine {
    fn new(name: &str, chip: Chip) -> Self {
        let chip_name = if chip == Chip::Hopper { "hopper" } else { "blackwell" };
        let mut g = LoopGraph::new(format!("{name} {chip_name}"));
        ["TMA", "TC", "CUDA", "SFU"].iter().for_each(|r| _ = g.add_resource(*r, 1));
        Machine { g, chip }
    }

    fn op(&mut self, name: &str, latency: u64, unit: &str, held: u64, issue: u64, from: &[Tile]) -> Tile {
        let id = self.g.add_node(name, latency as i64, &[(unit, 0, held)]);
        self.g.nodes[id].issue_latency = Some(issue);
        for &src in from {
            self.g.add_edge(src, id, self.g.nodes[src].latency, 0);
        }
        id
    }

    fn load(&mut self, rows: u64, columns: u64) -> Tile {
        let kilobytes = rows * columns * 2 / 1024;
        let id = self.op("load", 460 + 6 * kilobytes, "TMA", (6 * kilobytes).max(30), 30, &[]);
        self.g.nodes[id].kinds = vec![PartitionKind::Producer, PartitionKind::Compute];
        id
    }

    fn store(&mut self, rows: u64, columns: u64, from: &[Tile]) -> Tile {
        let kilobytes = rows * columns * 2 / 1024;
        let id = self.op("store", 130 + 52 * kilobytes, "TMA", (52 * kilobytes).max(30), 30, from);
        self.g.nodes[id].kinds = vec![PartitionKind::Producer, PartitionKind::Compute];
        id
    }

    fn dot(&mut self, m: u64, n: u64, k: u64, from: &[Tile]) -> Tile {
        let rate = if self.chip == Chip::Hopper { 2048 } else { 4096 };
        let latency = if k >= 128 { 900 } else { 559 };
        let id = self.op("dot", latency, "TC", (m * n * k / rate).max(30), 30, from);
        if self.chip == Chip::Blackwell {
            self.g.nodes[id].kinds = vec![PartitionKind::Mma];
        }
        id
    }

    /// An operation on registers, whose costs are those of 16,384 elements.
    fn tile(&mut self, name: &str, unit: &str, cost: (u64, u64), elements: u64, from: &[Tile]) -> Tile {
        let scaled = |cycles: u64| (cycles * elements / 16_384).max(1);
        self.op(name, scaled(cost.0), unit, scaled(cost.1), scaled(cost.1), from)
    }

    fn simple(&mut self, name: &str, elements: u64, from: &[Tile]) -> Tile {
        self.tile(name, "CUDA", (130, 128), elements, from)
    }

    fn exp2(&mut self, elements: u64, from: &[Tile]) -> Tile {
        self.tile("exp2", "SFU", (1140, 128), elements, from)
    }

    fn convert(&mut self, elements: u64, from: &[Tile]) -> Tile {
        self.tile("convert", "CUDA", (105, 64), elements, from)
    }

    /// A product's result where registers can be computed with: a move from tensor memory, on Hopper nothing.
    fn fetched(&mut self, elements: u64, dot: Tile) -> Tile {
        if self.chip == Chip::Hopper {
            return dot;
        }
        self.tile("fetch", "CUDA", (532, 256), elements, &[dot])
    }

    /// The other way.
    fn put(&mut self, elements: u64, tile: Tile) -> Tile {
        if self.chip == Chip::Hopper {
            return tile;
        }
        self.tile("put", "CUDA", (96, 48), elements, &[tile])
    }

    fn stored(&mut self, tile: Tile) -> Tile {
        self.op("to shared", 105, "CUDA", 105, 105, &[tile])
    }

    fn carried(&mut self, src: Tile, dst: Tile) {
        self.g.add_edge(src, dst, self.g.nodes[src].latency, 1);
    }

    fn accumulates(&mut self, dot: Tile) {
        let held = self.g.nodes[dot].uses[0].duration as i64;
        self.g.add_edge(dot, dot, held, 1);
    }

    /// The running soft-max of a tile of scores: the probabilities in 16 bits, and the factor for what is summed.
    fn soft_max(&mut self, rows: u64, columns: u64, scores: Tile) -> (Tile, Tile) {
        let most = self.tile("max", "CUDA", (461, 304), rows * columns, &[scores]);
        let running = self.simple("running max", rows, &[most]);
        self.carried(running, running);
        let change = self.simple("change", rows, &[running]);
        self.carried(running, change);
        let alpha = self.exp2(rows, &[change]);
        let shifted = self.simple("shift", rows * columns, &[scores, running]);
        let p = self.exp2(rows * columns, &[shifted]);
        let part = self.tile("sum", "CUDA", (1691, 639), rows * columns, &[p]);
        let total = self.simple("total", rows, &[part, alpha]);
        self.carried(total, total);
        (self.convert(rows * columns, &[p]), alpha)
    }
}

fn product(chip: Chip) -> LoopGraph {
    let mut k = Machine::new("product", chip);
    let (a, b) = (k.load(128, 64), k.load(64, 128));
    let dot = k.dot(128, 128, 64, &[a, b]);
    k.accumulates(dot);
    k.g
}

fn gated(chip: Chip) -> LoopGraph {
    let mut k = Machine::new("gated product, 4-bit weights", chip);
    let a = k.load(128, 64);
    for _ in 0..2 {
        let b = k.load(64, 32);
        let wide = k.convert(64 * 128, &[b]);
        let scaled = k.tile("scale", "CUDA", (138, 128), 64 * 128, &[wide]);
        let shared = k.stored(scaled);
        let dot = k.dot(128, 128, 64, &[a, shared]);
        k.accumulates(dot);
    }
    k.g
}

fn attention(chip: Chip, tiles: u64) -> LoopGraph {
    let mut k = Machine::new(&format!("attention, {tiles} tiles"), chip);
    let (rows, columns, depth) = (if chip == Chip::Hopper { 64 } else { 128 }, 128, 128);
    let (keys, values) = (k.load(columns, depth), k.load(columns, depth));
    for _ in 0..tiles {
        let qk = k.dot(rows, columns, depth, &[keys]);
        let scores = k.fetched(rows * columns, qk);
        let (p, alpha) = k.soft_max(rows, columns, scores);
        let p = k.put(rows * columns, p);
        let first = k.g.nodes.len();
        let old = if chip == Chip::Blackwell {
            vec![k.tile("fetch", "CUDA", (532, 256), rows * depth, &[])]
        } else {
            vec![]
        };
        let mut from = old;
        from.push(alpha);
        let scaled = k.tile("rescale", "CUDA", (138, 128), rows * depth, &from);
        let sum = k.put(rows * depth, scaled);
        let pv = k.dot(rows, depth, columns, &[p, values, sum]);
        k.carried(pv, first);
    }
    k.g
}

fn attention_gradient(chip: Chip, tiles: u64) -> LoopGraph {
    let mut k = Machine::new(&format!("attention gradient, {tiles} tiles"), chip);
    let (rows, columns, depth) = (if chip == Chip::Hopper { 64 } else { 128 }, 128, 128);
    let (q, d_out, norm) = (k.load(rows, depth), k.load(rows, depth), k.load(rows, 2));
    let (mut first, mut d_q): (Option<Tile>, Option<Tile>) = (None, None);
    for _ in 0..tiles {
        let qk = k.dot(rows, columns, depth, &[q]);
        let s = k.fetched(rows * columns, qk);
        let shifted = k.simple("shift", rows * columns, &[s, norm]);
        let p = k.exp2(rows * columns, &[shifted]);
        let half = k.convert(rows * columns, &[p]);
        let put = k.put(rows * columns, half);
        let d_v = k.dot(columns, depth, rows, &[put, d_out]);
        k.accumulates(d_v);
        let dp = k.dot(rows, columns, depth, &[d_out]);
        let dp = k.fetched(rows * columns, dp);
        let centred = k.simple("centre", rows * columns, &[dp, norm]);
        let ds = k.tile("gate", "CUDA", (138, 128), rows * columns, &[centred, p]);
        let ds = k.convert(rows * columns, &[ds]);
        let ds = k.stored(ds);
        let d_k = k.dot(columns, depth, rows, &[ds, q]);
        k.accumulates(d_k);
        let mut from = vec![ds];
        from.extend(d_q);
        let next = k.dot(rows, depth, columns, &from);
        first = first.or(Some(next));
        d_q = Some(next);
    }
    if let (Some(first), Some(d_q)) = (first, d_q) {
        let out = k.fetched(rows * depth, d_q);
        k.carried(out, first);
        let shared = k.stored(out);
        k.store(rows, depth, &[shared]);
    }
    k.g
}

/// Latent attention: scores over 576 columns, values of 512 in four parts.
fn latent_attention(chip: Chip) -> LoopGraph {
    let mut k = Machine::new("latent attention", chip);
    let (rows, columns) = (64, 64);
    let latent: Vec<Tile> = (0..4).map(|_| k.load(columns, 128)).collect();
    let rope = k.load(columns, 64);
    let mut scores = k.dot(rows, columns, 64, &[rope]);
    for &part in &latent {
        scores = k.dot(rows, columns, 128, &[part, scores]);
    }
    let scores = k.fetched(rows * columns, scores);
    let (p, alpha) = k.soft_max(rows, columns, scores);
    let p = k.put(rows * columns, p);
    for &part in &latent {
        let first = k.g.nodes.len();
        let mut from = match chip {
            Chip::Blackwell => vec![k.tile("fetch", "CUDA", (532, 256), rows * 128, &[])],
            Chip::Hopper => Vec::new(),
        };
        from.push(alpha);
        let scaled = k.tile("rescale", "CUDA", (138, 128), rows * 128, &from);
        let sum = k.put(rows * 128, scaled);
        let pv = k.dot(rows, 128, columns, &[p, part, sum]);
        k.carried(pv, first);
    }
    k.g
}

/// A state that decays and grows by a product, read by every chunk.
fn state_space(chip: Chip) -> LoopGraph {
    let mut k = Machine::new("state space", chip);
    let (chunk, depth) = (128, 64);
    let (q, key, v, gate) =
        (k.load(chunk, depth), k.load(chunk, depth), k.load(chunk, depth), k.load(chunk, 2));
    let decay = k.exp2(chunk, &[gate]);
    let qk = k.dot(chunk, chunk, depth, &[q, key]);
    let s = k.fetched(chunk * chunk, qk);
    let masked = k.tile("mask", "CUDA", (138, 128), chunk * chunk, &[s, decay]);
    let half = k.convert(chunk * chunk, &[masked]);
    let put = k.put(chunk * chunk, half);
    let first = k.g.nodes.len();
    let state = k.tile("state", "CUDA", (532, 256), depth * depth, &[]);
    let half = k.convert(depth * depth, &[state]);
    let shared = k.stored(half);
    let inter = k.dot(chunk, depth, depth, &[q, shared]);
    let out = k.dot(chunk, depth, chunk, &[put, v, inter]);
    let scaled = k.tile("decay", "CUDA", (138, 128), depth * depth, &[state, decay]);
    let back = k.put(depth * depth, scaled);
    let grown = k.dot(depth, depth, chunk, &[key, v, back]);
    k.carried(grown, first);
    let o = k.fetched(chunk * depth, out);
    k.carried(o, inter);
    let o = k.convert(chunk * depth, &[o]);
    let o = k.stored(o);
    k.store(chunk, depth, &[o]);
    k.g
}
