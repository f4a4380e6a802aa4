//! Straight-line code: a list of operations on tiles in, unique buffers with addresses out (B68..B72, B83).
//!
//! What PyPTO's passes BasicMemoryReuse and AddAlloc do together. A tile may name its buffer, as PyPTO's MemRefs do;
//! tiles of one buffer are never live at one time. Other tiles get buffers of their own, but for what is written in
//! place: an element-wise operation may leave its result in an operand of as many bytes in the same space that nobody
//! reads any more. Buffers of a space come one behind the other, or, packed, on common bytes where they are not live at
//! one time. [`check_straight`] runs the operations on the addresses and looks whether a tile is still there when it is
//! read.
//!
//! ```
//! use warploom_bufassign::straight::{StraightLine, check_straight, straight_line};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let code = StraightLine::from_json(r#"{
//!   "name": "compute",
//!   "spaces": [{"name": "DDR"}, {"name": "UB", "bytes": 524288}],
//!   "tiles": [{"name": "x", "shape": [64, 64], "element": "f32", "space": "DDR", "live_in": true},
//!             {"name": "a", "shape": [64, 64], "element": "f32", "space": "UB"},
//!             {"name": "b", "shape": [64, 64], "element": "f32", "space": "UB", "live_out": true}],
//!   "ops": [{"name": "load", "reads": ["x"], "writes": ["a"]},
//!           {"name": "exp", "reads": ["a"], "writes": ["b"], "elementwise": true}]
//! }"#)?;
//! let answer = straight_line(&code)?;
//! check_straight(&code, &answer)?;
//! // One buffer for `a` and `b`, at the start of UB.
//! assert_eq!((answer.allocs.len(), answer.tiles[2].addr, answer.in_place.len()), (2, Some(0), 1));
//! # Ok(())
//! # }
//! ```

mod check;
mod live;
mod types;

pub use check::check_straight;
pub use types::{
    InPlaceUse, Placement, ReservedRange, SpaceUse, StraightAnswer, StraightError, StraightLine, StraightOp,
    StraightSpace, Tile, TilePlace,
};

use crate::materialize::{MemAlloc, MemBuffer, MemRefs, MemSpace, MemSpaces, MemUser, materialize};
use crate::pack::{LiveSpan, PackItem, PackOptions, PackOutcome, PackProblem, TimeSegment, pack};
use live::Resolved;

/// Buffers and addresses for straight-line code (B83).
///
/// # Errors
/// What makes no sense in the input with its JSON path, tiles of one buffer that are live at one time, or a space that
/// is too small, with what it needs and what it has.
pub fn straight_line(code: &StraightLine) -> Result<StraightAnswer, StraightError> {
    let found = live::resolve(code)?;
    let refs = refs(code, &found);
    let spaces = MemSpaces(code.spaces.iter().map(space).collect());
    let made = match code.place {
        Placement::Sequential => materialize(&refs, &spaces).map_err(StraightError::of)?,
        Placement::Packed => {
            // In a space without an end the packer has nothing to ask of; alignments and reservations are looked at.
            let wide = MemSpaces(
                spaces.0.iter().map(|s| MemSpace { limit: s.limit.map(|_| u64::MAX), ..s.clone() }).collect(),
            );
            let mut made = materialize(&refs, &wide).map_err(StraightError::of)?;
            for s in spaces.0.iter().filter(|s| s.limit.is_some()) {
                packed(s, &refs, &mut made.allocs)?;
            }
            let rank = |a: &MemAlloc| spaces.0.iter().position(|s| s.name == a.space);
            made.allocs.sort_by_key(|a| (rank(a), a.addr, a.id, a.buffer));
            made
        }
    };
    let addr = |buffer: usize| made.allocs.iter().find(|a| a.buffer == buffer).and_then(|a| a.addr);
    let tiles = code.tiles.iter().zip(&found.buffer_of).map(|(t, &b)| TilePlace {
        name: t.name.clone(),
        buffer: refs.buffers[b].id,
        addr: addr(b),
    });
    let used = |name: &str| {
        let ends = made.allocs.iter().filter(|a| a.space == name).filter_map(|a| Some(a.addr? + a.bytes));
        ends.max().unwrap_or(0)
    };
    Ok(StraightAnswer {
        name: code.name.clone(),
        ok: true,
        tiles: tiles.collect(),
        spaces: code
            .spaces
            .iter()
            .map(|s| SpaceUse { name: s.name.clone(), used: used(&s.name), bytes: s.bytes })
            .collect(),
        allocs: made.allocs,
        in_place: found.in_place,
        warnings: made.warnings,
    })
}

fn space(s: &StraightSpace) -> MemSpace {
    let reserved = s.reserved.iter().map(|r| (r.offset, r.bytes, r.name.clone())).collect();
    MemSpace { name: s.name.clone(), limit: s.bytes, align: s.align, reserved }
}

fn refs(code: &StraightLine, found: &Resolved) -> MemRefs {
    // Ids that nobody gave count on behind those that somebody did.
    let mut fresh = found.next_id..;
    let buffers = found.buffers.iter().map(|b| MemBuffer {
        id: b.id.or_else(|| fresh.next()).unwrap_or(u64::MAX),
        space: code.spaces[b.space].name.clone(),
        bytes: b.bytes,
        live: b.live.clone(),
    });
    let buffers: Vec<MemBuffer> = buffers.collect();
    let users = code
        .tiles
        .iter()
        .zip(&found.buffer_of)
        .zip(&found.bytes)
        .map(|((t, &buffer), &bytes)| MemUser { variable: t.name.clone(), buffer, bytes });
    MemRefs { users: users.collect(), buffers }
}

/// Gives the buffers of a space new addresses, on common bytes where they are not live at one time.
fn packed(space: &MemSpace, refs: &MemRefs, allocs: &mut [MemAlloc]) -> Result<(), StraightError> {
    let mut problem = PackProblem { segments: vec![TimeSegment::Linear], ..PackProblem::default() };
    problem.capacity = space.limit;
    problem.reserved = space.reserved.iter().map(|r| (r.0, r.1)).collect();
    let mut own: Vec<&mut MemAlloc> = allocs.iter_mut().filter(|a| a.space == space.name).collect();
    for a in &own {
        let live = refs.buffers[a.buffer].live.iter().map(|&(from, to)| LiveSpan {
            segment: 0,
            start: from as i64,
            len: (to - from) as i64,
            window: None,
        });
        let (size, align) = (a.bytes, space.align);
        problem.items.push(PackItem { size, align, fixed: None, live: live.collect() });
    }
    let (offsets, need) = match pack(&problem, &PackOptions::default()) {
        PackOutcome::Fits { offsets, .. } => (Some(offsets), 0),
        PackOutcome::ProvedInfeasible { lower_bound, .. } => (None, lower_bound),
        PackOutcome::GaveUp { best, lower_bound } => (None, best.map_or(lower_bound, |b| b.1)),
        PackOutcome::Invalid(e) => return Err(StraightError::invalid("spaces", e)),
    };
    let Some(offsets) = offsets else {
        return Err(StraightError::capacity(&space.name, need, space.limit.unwrap_or(0)));
    };
    for (a, at) in own.iter_mut().zip(offsets) {
        a.addr = Some(at);
    }
    Ok(())
}
