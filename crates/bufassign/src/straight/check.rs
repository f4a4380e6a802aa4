//! The answer to straight-line code, run on its addresses: is a tile still there when it is read? (B71, B83)

use super::types::{StraightAnswer, StraightLine, Tile};
use crate::failure::CheckFailure;
use crate::input::element_bits;
use crate::materialize::MemViolation;

/// Where a tile lies: space, first byte, bytes. Without an address its buffer stands for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Range<'a> {
    space: &'a str,
    from: u128,
    bytes: u128,
}

impl Range<'_> {
    fn meets(&self, other: &Range<'_>) -> bool {
        self.space == other.space
            && self.from < other.from + other.bytes
            && other.from < self.from + self.bytes
    }
}

/// Runs the operations: every tile is whole when it is read, aligned, in its space and in no reserved range.
///
/// # Errors
/// Every violation found.
pub fn check_straight(
    code: &StraightLine,
    answer: &StraightAnswer,
) -> Result<(), CheckFailure<MemViolation>> {
    let mut bad = Vec::new();
    let mut report = |rule, message: String| bad.push(MemViolation { rule, message });
    let names = |t: &Tile| t.name.clone();
    if answer.tiles.iter().map(|t| t.name.clone()).ne(code.tiles.iter().map(names)) {
        report("B83", "the answer has not the tiles of the code".into());
        return CheckFailure::unless_empty(bad);
    }
    let size = |t: &Tile| {
        let bits = u128::from(element_bits(&t.element).unwrap_or(0));
        t.shape.iter().fold(bits, |n, &d| n.saturating_mul(d.into())).div_ceil(8)
    };
    let mut ranges = Vec::new();
    for (t, place) in code.tiles.iter().zip(&answer.tiles) {
        let range = Range { space: &t.space, from: u128::from(place.addr.unwrap_or(0)), bytes: size(t) };
        let space = code.spaces.iter().find(|s| s.name == t.space);
        match (space.and_then(|s| s.bytes), place.addr) {
            (Some(limit), Some(at)) => {
                let end = range.from + range.bytes;
                if space.is_some_and(|s| at % s.align.max(1) != 0) {
                    report("B69", format!("tile '{}' at {at} is not aligned", t.name));
                }
                if end > u128::from(limit) {
                    report("B71", format!("tile '{}' ends at {end} of {limit}", t.name));
                }
                for r in space.into_iter().flat_map(|s| &s.reserved) {
                    if u128::from(r.offset) < end && range.from < u128::from(r.offset) + u128::from(r.bytes) {
                        report("B71", format!("tile '{}' lies in a reserved range", t.name));
                    }
                }
            }
            (None, None) => {}
            _ => report(
                "B70",
                format!("tile '{}' has an address where its space has none, or the other way", t.name),
            ),
        }
        ranges.push(range);
        let alloc = answer.allocs.iter().filter(|a| (a.id, &a.space) == (place.buffer, &t.space));
        if !alloc.clone().any(|a| a.addr == place.addr && u128::from(a.bytes) >= size(t)) {
            report("B68", format!("tile '{}' lies in no allocation of buffer {}", t.name, place.buffer));
        }
    }
    for (k, a) in answer.allocs.iter().enumerate() {
        if answer.allocs[..k].iter().any(|b| b.buffer == a.buffer) {
            report("B68", format!("buffer {} is allocated twice", a.id));
        }
    }
    let placed = |t: usize| answer.tiles[t].addr.is_some();
    let meet = |x: usize, y: usize| match (placed(x), placed(y)) {
        (true, true) => ranges[x].meets(&ranges[y]),
        (false, false) => {
            ranges[x].space == ranges[y].space && answer.tiles[x].buffer == answer.tiles[y].buffer
        }
        _ => false,
    };
    let find = |name: &String| code.tiles.iter().position(|t| t.name == *name);
    let mut whole: Vec<bool> = code.tiles.iter().map(|t| t.live_in).collect();
    for x in 0..whole.len() {
        for y in 0..x {
            if whole[x] && whole[y] && meet(x, y) {
                report(
                    "B71",
                    format!(
                        "'{}' and '{}' share bytes from the start",
                        code.tiles[y].name, code.tiles[x].name
                    ),
                );
            }
        }
    }
    for op in &code.ops {
        let reads: Vec<usize> = op.reads.iter().filter_map(find).collect();
        let writes: Vec<usize> = op.writes.iter().filter_map(find).collect();
        for &r in reads.iter().filter(|&&r| !whole[r]) {
            report("B71", format!("'{}' reads '{}', which is overwritten", op.name, code.tiles[r].name));
        }
        for &w in &writes {
            for &r in reads.iter().filter(|&&r| r != w && meet(r, w)) {
                // Element by element only the same bytes are safe.
                let exact = ranges[r] == ranges[w];
                if !op.elementwise || !exact || !code.in_place && code.tiles[r].buffer.is_none() {
                    report("B83", format!("'{}' writes over its operand '{}'", op.name, code.tiles[r].name));
                }
            }
            for &o in writes.iter().filter(|&&o| o != w && meet(o, w)) {
                report(
                    "B71",
                    format!(
                        "'{}' writes '{}' and '{}' to common bytes",
                        op.name, code.tiles[o].name, code.tiles[w].name
                    ),
                );
            }
            for (x, there) in whole.iter_mut().enumerate() {
                *there &= x == w || !meet(x, w);
            }
            whole[w] = true;
        }
    }
    for (t, _) in code.tiles.iter().zip(&whole).filter(|(t, there)| t.live_out && !**there) {
        report("B71", format!("'{}' is overwritten before the end", t.name));
    }
    CheckFailure::unless_empty(bad)
}
