//! Packing problems with a plan that is known to exist (B85).
//!
//! A rectangle of time and bytes is cut into buffers without a gap; then buffers are shortened or made smaller
//! until so much of it is left. Nothing of the plan shows: order, mirror and seed hide it.

use warploom_bufassign::pack::{PackProblem, TimeSegment};
use warploom_testing::bufassign::Choices;

/// How the rectangle is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// From edge to edge, again and again, the largest pieces first or any; moments and sizes fine or coarse.
    Cuts,
    /// The same on a grid of 24 moments and 64 sizes, so that many buffers are alike.
    Grid,
    /// At one moment after the other some neighbours end and others take their bytes: no cut goes from edge to
    /// edge.
    Sweep,
    /// Lifetimes inside each other, as calls of functions make them, beside sweeps.
    Nested,
    /// Long buffers and many short ones that start where one of them does.
    Fans,
    /// Tiles of few sizes that come back in every turn, double-buffered, around long accumulators.
    Attention,
    /// Cuts whose buffers do not fill up the places that their alignment gives them.
    Aligned,
    /// A sweep around a circle.
    Circle,
}

/// Of [`Plant::Aligned`].
const ALIGNMENT: u64 = 1 << 12;

impl Plant {
    /// All of them.
    pub const ALL: [Plant; 8] = [
        Plant::Cuts,
        Plant::Grid,
        Plant::Sweep,
        Plant::Nested,
        Plant::Fans,
        Plant::Attention,
        Plant::Aligned,
        Plant::Circle,
    ];

    /// A problem of this many buffers whose known plan takes `load` percent of the rectangle.
    pub fn problem(self, buffers: usize, load: u64, c: &mut Choices<'_>) -> PackProblem {
        let mut tiles = match self {
            Plant::Cuts => {
                let moments = [30, 100, 1000, 10_000][c.below(4) as usize];
                let unit = [1, 1 << 10, 1 << 13][c.below(3) as usize];
                let among = [2, 4, 8][c.below(3) as usize];
                cuts(buffers, (moments, 1 << 20), (1, unit), among, c)
            }
            Plant::Grid => cuts(buffers, (24, 1 << 20), (1, 1 << 14), 3, c),
            Plant::Aligned => cuts(buffers, (1000, 1 << 20), (1, ALIGNMENT), 4, c),
            Plant::Sweep | Plant::Circle => {
                let wide = 8 + c.below(12);
                sweep(buffers, wide, c)
            }
            Plant::Nested => nested(buffers, c),
            Plant::Fans => fans(buffers, c),
            Plant::Attention => attention(buffers, c),
        };
        let (end, capacity) = (most(&tiles, |t| t.1), most(&tiles, |t| t.3));
        thin(&mut tiles, end * capacity / 100 * (100 - load.min(100)), c);
        let mirror = c.below(2) == 0;
        let mut p = PackProblem::linear(Some(capacity));
        let mut turn = 0;
        if self == Plant::Circle {
            p.segments = vec![TimeSegment::Circular(end.cast_signed())];
            turn = c.below(end);
        }
        while !tiles.is_empty() {
            let (a, b, from, to) = tiles.swap_remove(c.below(tiles.len() as u64) as usize);
            let (a, b) = if mirror { (end - b, end - a) } else { (a, b) };
            let (a, b) = ((a + turn).cast_signed(), (b + turn).cast_signed());
            if self == Plant::Aligned {
                let short = c.below(ALIGNMENT).min(to - from - 1);
                p.push_aligned(to - from - short, ALIGNMENT, a, b);
            } else {
                p.push(to - from, a, b);
            }
        }
        p
    }
}

/// Start and end in time, first byte and the one behind the last.
type Tile = (u64, u64, u64, u64);

fn most(tiles: &[Tile], of: impl Fn(&Tile) -> u64) -> u64 {
    tiles.iter().map(of).max().unwrap_or(0)
}

/// Cuts the largest of some tiles in two, along time or bytes, on a grid.
fn cuts(n: usize, (time, bytes): (u64, u64), grid: (u64, u64), among: u64, c: &mut Choices<'_>) -> Vec<Tile> {
    let mut tiles = vec![(0, time, 0, bytes)];
    let area = |t: &Tile| (t.1 - t.0) * (t.3 - t.2);
    for _ in 0..100 * n {
        if tiles.len() >= n {
            break;
        }
        let some = (0..among).map(|_| c.below(tiles.len() as u64) as usize);
        let Some(k) = some.max_by_key(|&k| area(&tiles[k])) else { break };
        let t = tiles[k];
        let (long, high) = ((t.1 - t.0) * (bytes / time), t.3 - t.2);
        // Long tiles are cut in time more often, high ones in bytes.
        if c.below(long + high + 1) < long {
            if let Some(at) = inside(t.0, t.1, grid.0, c) {
                tiles[k].1 = at;
                tiles.push((at, t.1, t.2, t.3));
            }
        } else if let Some(at) = inside(t.2, t.3, grid.1, c) {
            tiles[k].3 = at;
            tiles.push((t.0, t.1, at, t.3));
        }
    }
    tiles
}

/// A multiple of the grid between two others, if there is one.
fn inside(from: u64, to: u64, grid: u64, c: &mut Choices<'_>) -> Option<u64> {
    let places = (to - from) / grid;
    (places >= 2).then(|| from + grid * (1 + c.below(places - 1)))
}

/// Sizes of `n` parts of some bytes.
fn parts(bytes: u64, n: u64, c: &mut Choices<'_>) -> Vec<u64> {
    let mut at: Vec<u64> = (1..n).filter_map(|_| inside(0, bytes, 64, c)).collect();
    at.extend([0, bytes]);
    at.sort_unstable();
    at.dedup();
    at.windows(2).map(|w| w[1] - w[0]).collect()
}

/// Neighbours end together, and others take their bytes.
fn sweep(n: usize, wide: u64, c: &mut Choices<'_>) -> Vec<Tile> {
    // Since when, and how many bytes.
    let mut live: Vec<(u64, u64)> = parts(1 << 20, wide, c).into_iter().map(|size| (0, size)).collect();
    let (mut done, mut now) = (Vec::new(), 0);
    let mut end = |live: &[(u64, u64)], from: usize, to: usize, now: u64| {
        let mut at: u64 = live[..from].iter().map(|l| l.1).sum();
        for l in &live[from..to] {
            done.push((l.0, now, at, at + l.1));
            at += l.1;
        }
        done.len()
    };
    loop {
        now += 1 + c.below(20);
        let from = c.below(live.len() as u64) as usize;
        let to = (from + 1 + c.below(3) as usize).min(live.len());
        let ended = end(&live, from, to, now);
        let bytes = live[from..to].iter().map(|l| l.1).sum();
        let count = if live.len() as u64 > wide { 1 + c.below(2) } else { 1 + c.below(4) };
        live.splice(from..to, parts(bytes, count, c).into_iter().map(|size| (now, size)));
        if ended + live.len() >= n {
            now += 10;
            end(&live, 0, live.len(), now);
            return done;
        }
    }
}

/// A tile that holds a strip of its own bytes and, above it, tiles of shorter and shorter lives.
fn nested(n: usize, c: &mut Choices<'_>) -> Vec<Tile> {
    let (time, bytes) = (10_000, 1 << 20);
    let mut open: Vec<Tile> = vec![(0, time, 0, bytes)];
    let mut tiles = Vec::new();
    while tiles.len() + open.len() < n && !open.is_empty() {
        let k = (0..open.len()).max_by_key(|&k| (open[k].1 - open[k].0) * (open[k].3 - open[k].2) / 64);
        let t = open.swap_remove(k.unwrap_or(0));
        let strip = ((t.3 - t.2) / (4 + c.below(6))).max(1);
        let at = t.2 + strip;
        let calls = 1 + c.below(3);
        tiles.push((t.0, t.1, t.2, if at < t.3 { at } else { t.3 }));
        if at >= t.3 {
            continue;
        }
        let mut from = t.0;
        for call in 1..=calls {
            let to = if call == calls { Some(t.1) } else { inside(from, t.1, 1, c) };
            if let Some(to) = to {
                open.push((from, to, at, t.3));
                from = to;
            }
            if from == t.1 {
                break;
            }
        }
    }
    tiles.append(&mut open);
    tiles
}

/// Long strips; between two of them short tiles in columns that begin together.
fn fans(n: usize, c: &mut Choices<'_>) -> Vec<Tile> {
    let (time, bytes) = (4000, 1 << 20);
    let strips = parts(bytes, 8, c);
    let per = n / strips.len();
    let (mut at, mut tiles) = (0, Vec::new());
    for (k, size) in strips.iter().enumerate() {
        let base = tiles.len();
        let want = if k + 1 == strips.len() { n - tiles.len() } else { per };
        let long = (size / 4).max(1);
        let half = time / 4 + c.below(time / 2);
        tiles.extend([(0, half, at, at + long), (half, time, at, at + long)]);
        let mut from = 0;
        while from < time {
            let left = (want + base).saturating_sub(tiles.len()).max(1) as u64;
            let count = (1 + c.below(5)).min(left);
            let to =
                if left <= 5 { time } else { (from + 1 + c.below(2 * (time - from) * 3 / left)).min(time) };
            let mut low = at + long;
            for part in parts(size - long, count, c) {
                tiles.push((from, to, low, low + part));
                low += part;
            }
            from = to;
        }
        at += size;
    }
    tiles
}

/// Two rings of two slots each and scratch, whose turns are shifted against each other; accumulators throughout.
fn attention(n: usize, c: &mut Choices<'_>) -> Vec<Tile> {
    let tile = 1u64 << (13 + c.below(3));
    let rows = [tile, tile, 2 * tile, 2 * tile, tile / 2, tile / 2, tile / 4, 3 * tile, tile / 2, tile];
    let turns = n.div_ceil(rows.len()).max(1) as u64;
    let (mut at, mut tiles) = (0, Vec::new());
    for (row, &size) in rows.iter().enumerate() {
        let (period, mut from) = (40 + 8 * (row as u64 % 3), 0);
        let end = turns * 48;
        let shift = c.below(period);
        while from < end && tiles.len() + 1 < n {
            let to = if from == 0 { period - shift } else { from + period - c.below(4) };
            let to = if to + 12 >= end { end } else { to };
            tiles.push((from, to, at, at + size));
            from = to;
        }
        at += size;
    }
    tiles
}

/// Shortens buffers, or makes them smaller, until so much is gone.
fn thin(tiles: &mut [Tile], mut away: u64, c: &mut Choices<'_>) {
    for _ in 0..100 * tiles.len() {
        if away == 0 {
            return;
        }
        let t = &mut tiles[c.below(tiles.len() as u64) as usize];
        let (long, size) = (t.1 - t.0, t.3 - t.2);
        if c.below(2) == 0 {
            let cut = (1 + c.below(1 + long / 4)).min(long - 1).min(away / size);
            if c.below(2) == 0 {
                t.0 += cut
            } else {
                t.1 -= cut
            }
            away -= cut * size;
        } else {
            let cut = (1 + c.below(1 + size / 4)).min(size - 1).min(away / long);
            t.3 -= cut;
            away -= cut * long;
        }
    }
}
