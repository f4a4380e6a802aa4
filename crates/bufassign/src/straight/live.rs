//! When tiles are live, and which of them share a buffer.

use super::types::{InPlaceUse, StraightError, StraightLine, Tile};
use crate::input::element_bits;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes that a tile may have.
const MOST: u64 = 1 << 44;

/// Buffers of the code.
pub(super) struct Resolved {
    /// Bytes of every tile.
    pub bytes: Vec<u64>,
    /// Buffer of every tile.
    pub buffer_of: Vec<usize>,
    pub buffers: Vec<Buffer>,
    pub in_place: Vec<InPlaceUse>,
    /// The first id that no tile names.
    pub next_id: u64,
}

/// A buffer: its tiles follow each other.
pub(super) struct Buffer {
    pub id: Option<u64>,
    pub space: usize,
    pub bytes: u64,
    /// Half-open lifetimes in steps, two for each operation.
    pub live: Vec<(u64, u64)>,
}

/// First and last operation of a tile: operation k spans the steps 2k and 2k + 1.
type Life = (u64, u64);

pub(super) fn resolve(code: &StraightLine) -> Result<Resolved, StraightError> {
    let index = names(code)?;
    let space: Vec<usize> = spaces(code)?;
    let bytes = code.tiles.iter().map(bytes).collect::<Result<Vec<u64>, _>>()?;
    let (reads, writes) = (operands(code, &index, "reads")?, operands(code, &index, "writes")?);
    let life = lives(code, &reads, &writes)?;
    let mut parent: Vec<usize> = (0..code.tiles.len()).collect();
    let mut in_place = Vec::new();
    // A tile that is already continued in place has given its bytes away.
    let mut given: BTreeSet<usize> = BTreeSet::new();
    for (k, _) in code.ops.iter().enumerate().filter(|(_, op)| op.elementwise) {
        for &to in &writes[k] {
            let fits = |&&from: &&usize| {
                let (a, b) = (&code.tiles[from], &code.tiles[to]);
                let ends = life[from].1 == k as u64 && !a.live_out;
                let fresh = life[to].0 == k as u64 && !b.live_in;
                let named = match (a.buffer, b.buffer) {
                    (None, None) => code.in_place,
                    (Some(x), Some(y)) => x == y,
                    _ => false,
                };
                from != to
                    && ends
                    && fresh
                    && named
                    && bytes[from] == bytes[to]
                    && space[from] == space[to]
                    && !given.contains(&from)
            };
            if let Some(&from) = reads[k].iter().find(fits) {
                given.insert(from);
                parent[to] = parent[from];
                let (from, to) = (code.tiles[from].name.clone(), code.tiles[to].name.clone());
                in_place.push(InPlaceUse { op: k, from, to });
            }
        }
    }
    // Buffers that tiles name, then one for each chain of the others.
    let mut buffers: Vec<Buffer> = Vec::new();
    let mut of: BTreeMap<(usize, Result<u64, usize>), usize> = BTreeMap::new();
    let mut buffer_of = vec![0; code.tiles.len()];
    let mut tiles_of: Vec<Vec<usize>> = Vec::new();
    for (k, t) in code.tiles.iter().enumerate() {
        let key = (space[k], t.buffer.ok_or(parent[k]));
        let at = *of.entry(key).or_insert_with(|| {
            buffers.push(Buffer { id: t.buffer, space: space[k], bytes: 0, live: Vec::new() });
            tiles_of.push(Vec::new());
            buffers.len() - 1
        });
        buffer_of[k] = at;
        buffers[at].bytes = buffers[at].bytes.max(bytes[k]);
        tiles_of[at].push(k);
    }
    for (b, tiles) in buffers.iter_mut().zip(&mut tiles_of) {
        tiles.sort_by_key(|&t| life[t]);
        for w in tiles.windows(2) {
            let (x, y) = (&code.tiles[w[0]].name, &code.tiles[w[1]].name);
            let handed = in_place.iter().any(|i| i.from == *x && i.to == *y);
            if life[w[1]].0 <= life[w[0]].1 && !handed {
                let why = format!("tiles '{x}' and '{y}' of one buffer are live at one time [B71]");
                return Err(StraightError::invalid(format!("tiles[{}].buffer", w[1]), why));
            }
        }
        let spans = tiles.iter().map(|&t| (2 * life[t].0, 2 * life[t].1 + 2));
        for (from, to) in spans {
            match b.live.last_mut() {
                Some(last) if last.1 >= from => last.1 = last.1.max(to),
                _ => b.live.push((from, to)),
            }
        }
    }
    let next_id = code.tiles.iter().filter_map(|t| t.buffer).max().map_or(0, |m| m.saturating_add(1));
    Ok(Resolved { bytes, buffer_of, buffers, in_place, next_id })
}

fn names(code: &StraightLine) -> Result<BTreeMap<&str, usize>, StraightError> {
    let mut index = BTreeMap::new();
    for (k, t) in code.tiles.iter().enumerate() {
        if index.insert(t.name.as_str(), k).is_some() {
            return Err(StraightError::invalid(
                format!("tiles[{k}].name"),
                format!("two tiles are called '{}'", t.name),
            ));
        }
    }
    Ok(index)
}

fn spaces(code: &StraightLine) -> Result<Vec<usize>, StraightError> {
    for (k, s) in code.spaces.iter().enumerate() {
        if code.spaces[..k].iter().any(|o| o.name == s.name) {
            return Err(StraightError::invalid(
                format!("spaces[{k}].name"),
                format!("two spaces are called '{}'", s.name),
            ));
        }
        if s.bytes == Some(0) {
            return Err(StraightError::invalid(
                format!("spaces[{k}].bytes"),
                "a space has at least one byte; leave it out where nothing is placed",
            ));
        }
    }
    let find = |(k, t): (usize, &Tile)| {
        let at = code.spaces.iter().position(|s| s.name == t.space);
        at.ok_or_else(|| {
            StraightError::invalid(format!("tiles[{k}].space"), format!("no space is called '{}'", t.space))
        })
    };
    code.tiles.iter().enumerate().map(find).collect()
}

/// Bytes of a tile, in bits first (B6).
fn bytes(t: &Tile) -> Result<u64, StraightError> {
    let refuse = |why: &str| StraightError::invalid(format!("tiles[name={}].shape", t.name), why);
    let bits = element_bits(&t.element).ok_or_else(|| {
        StraightError::invalid(
            format!("tiles[name={}].element", t.name),
            format!("unknown element type '{}'", t.element),
        )
    })?;
    if t.shape.contains(&0) {
        return Err(refuse("a dimension is 0"));
    }
    let all = t.shape.iter().try_fold(bits, |n, &d| n.checked_mul(d)).map(|n| n.div_ceil(8));
    all.filter(|&n| n <= MOST).ok_or_else(|| refuse("the footprint overflows"))
}

fn operands(
    code: &StraightLine,
    index: &BTreeMap<&str, usize>,
    field: &str,
) -> Result<Vec<Vec<usize>>, StraightError> {
    let mut out = Vec::with_capacity(code.ops.len());
    for (k, op) in code.ops.iter().enumerate() {
        let names = if field == "reads" { &op.reads } else { &op.writes };
        let mut list = Vec::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            let at = index.get(name.as_str()).copied();
            list.push(at.ok_or_else(|| {
                StraightError::invalid(
                    format!("ops[{k}].{field}[{i}]"),
                    format!("no tile is called '{name}'"),
                )
            })?);
        }
        out.push(list);
    }
    Ok(out)
}

/// First write and last use of every tile.
fn lives(
    code: &StraightLine,
    reads: &[Vec<usize>],
    writes: &[Vec<usize>],
) -> Result<Vec<Life>, StraightError> {
    let last = (code.ops.len() as u64).saturating_sub(1);
    let mut life: Vec<Option<Life>> = code.tiles.iter().map(|t| t.live_in.then_some((0, 0))).collect();
    for k in 0..code.ops.len() {
        for (i, &t) in reads[k].iter().enumerate() {
            match &mut life[t] {
                Some(l) => l.1 = k as u64,
                None => {
                    let why =
                        format!("'{}' is read before anything writes it; is it live_in?", code.tiles[t].name);
                    return Err(StraightError::invalid(format!("ops[{k}].reads[{i}]"), why));
                }
            }
        }
        for &t in &writes[k] {
            life[t].get_or_insert((k as u64, k as u64)).1 = k as u64;
        }
    }
    let mut out = Vec::with_capacity(life.len());
    for (k, (l, t)) in life.into_iter().zip(&code.tiles).enumerate() {
        let Some((from, to)) = l else {
            return Err(StraightError::invalid(
                format!("tiles[{k}]"),
                format!("nothing writes '{}'", t.name),
            ));
        };
        out.push((from, if t.live_out { last.max(from) } else { to }));
    }
    Ok(out)
}
