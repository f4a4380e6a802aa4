//! `tcgen05.cp`, and the scales of `tcgen05.mma` with blocks (E44).

use super::alu::poisoned;
use super::idesc::Descriptor;
use super::pair::{allocated, pair};
use crate::isa::op::{Addr, CopyRows, Src, TcgenMma};
use crate::machine::asynchronous::issue;
use crate::machine::core::Core;
use crate::machine::operations::{OperandLayout, Scales, TmemCopy, TmemWork, Work};
use crate::machine::warp::Warp;
use crate::race::channel::Kind;

/// Where a product finds its scales; the error is a code and why.
pub(super) fn scales(
    core: &Core<'_>,
    w: &Warp,
    m: &TcgenMma,
    i: &Descriptor,
    one: u32,
) -> Result<Option<[Scales; 2]>, (&'static str, String)> {
    let Some(&(a, b, along)) = m.scales.as_deref() else { return Ok(None) };
    let ([byte_a, byte_b], e4m3) = i.scales;
    let find = |addr: Addr, byte: u32, rows: u32| {
        let at = w.scalar(core, addr.base, one).wrapping_add(addr.offset) as u32;
        let column = at & 0xffff;
        if at >> 16 != 0 {
            return Err(("T01", format!("scales at TMEM lane {}", at >> 16)));
        }
        if !byte.is_multiple_of(along) || byte + along > 4 {
            return Err(("T05", format!("{along} scales of a row from byte {byte} of a word on")));
        }
        match (column..column + rows.div_ceil(32)).find(|c| !allocated(core, w.cta, *c)) {
            Some(c) => Err(("T01", format!("TMEM column {c} is not allocated"))),
            None => Ok(Scales { column, byte, along, e4m3 }),
        }
    };
    if e4m3 && along != 4 {
        return Err(("T05", format!("{along} scales of E4M3 in a row: four are needed")));
    }
    Ok(Some([find(a, byte_a, i.m)?, find(b, byte_b, i.n)?]))
}

/// Checks and issues a copy; the error is a code and why.
pub(super) fn copy(
    core: &mut Core<'_>,
    w: &mut Warp,
    (addr, desc): (Addr, Src),
    (rows, chunks): (CopyRows, u32),
    group: u8,
    pc: u32,
    lane: u32,
) -> Result<(), (&'static str, String)> {
    let one = 1 << lane;
    if (w.poison_of(addr.base) | w.poison_of(desc)) as u32 & one != 0 {
        poisoned(core, w, pc, one, "an operand of tcgen05.cp");
    }
    let layout = OperandLayout::tcgen(w.scalar(core, desc, one), false).map_err(|e| ("W03", e))?;
    let at = w.scalar(core, addr.base, one).wrapping_add(addr.offset) as u32;
    let (lane, column) = (at >> 16, at & 0xffff);
    if lane != 0 {
        return Err(("T01", format!("tcgen05.cp to TMEM lane {lane}")));
    }
    let ctas = pair(core, w.cta, group);
    for cta in &ctas {
        if let Some(c) = (column..column + 4 * chunks).find(|c| !allocated(core, *cta, *c)) {
            return Err(("T01", format!("TMEM column {c} is not allocated")));
        }
    }
    let copy = TmemCopy { column, rows, chunks, layout, ctas, values: Vec::new() };
    issue(core, w, Kind::TcgenMma, one, pc, Work::Tmem(Box::new(TmemWork::Copy(copy))));
    Ok(())
}
