//! Lanes in rows for kernels without a product: how many warps, how many neighbours each lane has, and how many lanes
//! stand along the columns (C61, G13).

use warploom_ir::vectors::{Along, Vectors};
use warploom_ir::{Module, OpId, Opcode, Type, ValueId};

use crate::engines::{RegisterLayout, held};
use crate::nest::loops_around;

/// Tiles of so many elements every lane can hold whole: no layout has to cover them (G2).
pub(crate) const WHOLE: u64 = 64;
/// Numbers of warps.
const COUNTS: [u64; 5] = [16, 8, 4, 2, 1];
/// Elements of the largest tile that a lane holds where more warps could: a few such tiles fit its registers.
const MOST_ELEMENTS: u64 = 64;
/// Elements of all tiles that a lane holds at once where more warps could: addresses and masks need registers, too.
const MOST_AT_ONCE: u64 = 144;
/// Bytes of a tile that a lane holds where lanes are dealt out by price.
const MOST_HELD: u64 = 256;
/// Trips that each loop is taken to have.
const TRIPS: u64 = 8;
/// Instructions of a warp where warps meet to exchange what they reduced.
const MEETING: u64 = 24;
/// Columns, at most, of a matrix that vectors are joined to.
const JOINED: u64 = 4;

/// One way to deal out lanes: warps, neighbours of a lane, lanes along the columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Way {
    warps: u64,
    vector: u64,
    across: u64,
}

/// Lanes of a kernel without a product: vectors of 16 bytes, a row of a matrix inside one warp, unless what the kernel does
/// costs a tenth less in another way. Where no layout covers all tiles, the smallest are left out.
pub(super) fn choose(module: &Module, func: OpId, ops: &[OpId]) -> (u64, RegisterLayout) {
    let tiles = ops.iter().flat_map(|&op| &module.ops[op].results).map(|&v| module.ty(v));
    let tiles: Vec<&Type> = tiles.filter(|t| t.is_tensor()).collect();
    let most = tiles.iter().filter_map(|t| t.elements()).max().unwrap_or(1);
    let mut limits = std::iter::successors(Some(WHOLE), |limit| limit.checked_mul(4));
    let limits = std::iter::once(0).chain(limits.by_ref().take_while(|limit| *limit < most));
    let warps = warps_for(most, carried(module, ops), held::most(module, ops));
    let covers = |limit: u64| {
        let large: Vec<&Type> =
            tiles.iter().copied().filter(|t| t.elements().is_none_or(|n| n > limit)).collect();
        covering(&large, warps).map(|way| (way, large))
    };
    let plain = Way { warps, vector: 1, across: 32 };
    let way = match limits.into_iter().find_map(covers) {
        Some((way, large)) => cheaper(module, func, ops, &large, way).unwrap_or(way),
        None => plain,
    };
    (way.warps, RegisterLayout::Blocked { vector: way.vector, across: way.across })
}

/// Warps of a kernel whose largest tile has so many elements, with those that a loop carries beside it and those that are held
/// at once: four, or as few as leave eight to each lane, or as many as leave it [`MOST_ELEMENTS`]. What fewer warps share goes through less scratch
/// memory and fewer meetings.
fn warps_for(largest: u64, carried: u64, held: u64) -> u64 {
    let fits = |warps: u64| {
        let each = |elements: u64| elements / (32 * warps);
        each(largest) <= MOST_ELEMENTS
            && each(largest + carried) <= 2 * MOST_ELEMENTS
            && each(held) <= MOST_AT_ONCE
    };
    match largest / (32 * 8) {
        0 | 1 => 1,
        2 | 3 => 2,
        _ => [4, 8].into_iter().find(|&warps| fits(warps)).unwrap_or(16),
    }
}

/// The most elements that a loop carries in tiles, but for pointers.
fn carried(module: &Module, ops: &[OpId]) -> u64 {
    let loops = ops.iter().filter(|&&op| matches!(module.ops[op].opcode, Opcode::For | Opcode::While));
    let elements = |&value: &ValueId| match module.ty(value) {
        ty if ty.is_tensor() && !matches!(ty.elem(), Type::Ptr { .. }) => ty.elements().unwrap_or(0),
        _ => 0,
    };
    loops.map(|&op| module.ops[op].results.iter().map(elements).sum()).max().unwrap_or(0)
}

/// Rows and columns of the matrices among tiles, but for those of a few columns that are a vector in another shape.
fn matrices(tiles: &[&Type]) -> Vec<[u64; 2]> {
    let vectors = tiles.iter().filter_map(|t| if t.shape().len() == 1 { t.elements() } else { None });
    let longest = vectors.max().unwrap_or(0);
    let joined = |[rows, cols]: &[u64; 2]| *cols <= JOINED && rows * cols <= longest;
    tiles.iter().filter_map(|t| matrix(t)).filter(|m| !joined(m)).collect()
}

fn matrix(ty: &Type) -> Option<[u64; 2]> {
    match *ty.shape() {
        [r, c] if r > 1 && c > 1 => Some([r, c]),
        _ => None,
    }
}

/// Elements in 16 bytes of the narrowest tile.
fn widest(tiles: &[&Type]) -> u64 {
    let bits = tiles.iter().filter_map(|t| t.elem_bits()).filter(|b| *b >= 8).min().unwrap_or(32);
    128 / u64::from(bits).clamp(8, 64)
}

/// Lanes in rows that cover these tiles, of so many warps at most.
fn covering(tiles: &[&Type], most: u64) -> Option<Way> {
    let matrices = matrices(tiles);
    let vector = widest(tiles);
    let counts = COUNTS.into_iter().filter(|&warps| warps <= most);
    let ways = counts.flat_map(|warps| [vector, 4, 2, 1].map(|v| (warps, v.min(vector))));
    if matrices.is_empty() {
        let vectors = tiles.iter().filter(|t| t.shape().len() < 3 && matrix(t).is_none());
        // A single row is a vector along it.
        let extent = |t: &Type| match t.shape() {
            [1, n] | [n, ..] => Some(*n),
            [] => None,
        };
        let least = vectors.filter_map(|t| extent(t)).min();
        let Some(least) = least else {
            // Tiles of other ranks take lanes as they come.
            return Some(Way { warps: most, vector, across: 32 * most });
        };
        let mut ways = ways.map(|(warps, vector)| Way { warps, vector, across: 32 * warps });
        return ways.find(|way| least.is_multiple_of(way.across * way.vector));
    }
    let cols = matrices.iter().map(|m| m[1]).min().unwrap_or(1);
    let mut ways = ways.map(|(warps, vector)| Way { warps, vector, across: (cols / vector).min(32) });
    ways.find(|way| way.covers(&matrices))
}

/// A way that costs a tenth less than this one, with as many warps at most; the cheapest, the first among equals.
fn cheaper(module: &Module, func: OpId, ops: &[OpId], tiles: &[&Type], way: Way) -> Option<Way> {
    let matrices = matrices(tiles);
    let any = |of: &[Opcode]| ops.iter().any(|&op| of.contains(&module.ops[op].opcode));
    // What products by fma take is not priced: they keep the widest accesses.
    if matrices.is_empty() || !any(&[Opcode::Reduce, Opcode::Scan]) || any(&[Opcode::DotFma]) {
        return None;
    }
    let vectors = Vectors::new(module, func);
    let most = tiles.iter().filter_map(|t| t.bytes()).max().unwrap_or(1);
    let vector = widest(tiles);
    // How often each operation runs does not depend on the way.
    let runs: Vec<(OpId, u64)> =
        ops.iter().map(|&op| (op, TRIPS.pow(loops_around(module, op).min(3)))).collect();
    let price =
        |way: Way| runs.iter().map(|&(op, times)| times * way.price(module, &vectors, op)).sum::<u64>();
    let counts = COUNTS.into_iter().filter(|&w| w <= way.warps && most / (32 * w) <= MOST_HELD);
    let lanes = counts.flat_map(|warps| {
        let widths = [8u64, 4, 2, 1].into_iter().filter(|v| *v <= vector);
        widths.flat_map(move |vector| {
            let across = (0..=7).map(|n| 1u64 << n).filter(move |&across| across <= 32 * warps);
            across.map(move |across| Way { warps, vector, across })
        })
    });
    let best = lanes.filter(|way| way.covers(&matrices)).min_by_key(|&way| price(way))?;
    (price(best) * 10 < price(way) * 9).then_some(best)
}

impl Way {
    /// Lanes along the rows.
    fn down(self) -> u64 {
        (32 * self.warps / self.across.max(1)).max(1)
    }

    /// Whether the lanes stand in whole patterns on every matrix.
    fn covers(self, matrices: &[[u64; 2]]) -> bool {
        let fits = |[rows, cols]: &[u64; 2]| {
            rows.is_multiple_of(self.down()) && cols.is_multiple_of(self.vector * self.across)
        };
        self.across > 0 && matrices.iter().all(fits)
    }

    /// Instructions of all warps for an operation.
    fn price(self, module: &Module, vectors: &Vectors, op: OpId) -> u64 {
        use Opcode::*;
        let data = &module.ops[op];
        let Some(&tile) = data.results.first().or(data.operands.first()) else { return 0 };
        let ty = module.ty(tile);
        match data.opcode {
            Constant | Splat | MakeRange | ExpandDims | Broadcast | Reshape | For | If | While => 0,
            Reduce | Scan => data.operands.first().map_or(0, |&v| self.reduction(module, op, module.ty(v))),
            Load | Store | AtomicRmw => self.access(module, vectors, tile),
            _ => match matrix(ty) {
                Some([rows, cols]) => rows * cols / 32,
                None => self.warps * self.held(vectors, module, tile),
            },
        }
    }

    /// Elements of a vector that a lane holds.
    fn held(self, vectors: &Vectors, module: &Module, vector: ValueId) -> u64 {
        let (rows, cols) = (|n: u64| (n / self.down()).max(1), |n: u64| (n / self.across).max(1));
        match (module.ty(vector).shape(), vectors.of(vector)) {
            (&[n, 1], _) | (&[n], Some(Along::Rows)) => rows(n),
            (&[1, n], _) | (&[n], _) => cols(n),
            _ => 0,
        }
    }

    /// Accesses of memory. Those of a row that is shorter than a sector of 32 bytes move more than they want.
    fn access(self, module: &Module, vectors: &Vectors, tile: ValueId) -> u64 {
        let ty = module.ty(tile);
        let elem = match ty.elem() {
            Type::Ptr { pointee, .. } => pointee,
            elem => elem,
        };
        let bytes = u64::from(elem.elem_bits().unwrap_or(32)).max(8) / 8;
        let width = self.vector.min(16 / bytes.min(16)).max(1);
        match matrix(ty) {
            Some([rows, cols]) => {
                let row = self.across.min(32) * self.vector * bytes;
                rows * cols / (32 * width) * (32 / row.clamp(1, 32))
            }
            None => self.warps * self.held(vectors, module, tile).div_ceil(width),
        }
    }

    /// Shuffles of each result that a lane holds, and meetings of warps.
    fn reduction(self, module: &Module, op: OpId, ty: &Type) -> u64 {
        let axis = module.attr(op, "axis").and_then(warploom_ir::Attr::as_i64);
        let Some([rows, cols]) = matrix(ty) else { return 0 };
        let inside = self.across.min(32);
        let (results, lanes, warps) = match axis {
            Some(1) => ((rows / self.down()).max(1), inside, self.across / inside),
            _ => ((cols / self.across).max(1), 32 / inside, self.down() * inside / 32),
        };
        let shuffles = 2 * results * u64::from(lanes.max(1).ilog2());
        let meeting = if warps > 1 { 2 * results + MEETING } else { 0 };
        rows * cols / 32 + self.warps * (shuffles + meeting)
    }
}
