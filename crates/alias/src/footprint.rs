//! Unit size, rows and alignment of one buffer (A22 to A24). Every step and the slot form call [`footprint`].

use crate::error::{AliasError, Result};
use crate::model::{AliasModule, Leaf, LeafId};
use crate::types::{CtaMode, Elem, Encoding, Storage, TensorEncoding};

/// What one buffer of a leaf takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Units: bytes, or 32-bit columns in tensor memory.
    pub unit: u64,
    /// Rows in tensor memory, 64 or 128; 1 elsewhere.
    pub rows: u32,
    /// Alignment in units, a power of two.
    pub align: u64,
}

/// `v` rounded up to a multiple of `a` (at least 1); `None` when it does not fit.
pub(crate) fn up(v: u64, a: u64) -> Option<u64> {
    v.checked_next_multiple_of(a.max(1))
}

fn product(dims: &[u64]) -> Option<u64> {
    dims.iter().try_fold(1u64, |p, d| p.checked_mul(*d))
}

/// The footprint of one buffer of a leaf.
///
/// # Errors
/// A7 when a number does not fit 64 bits or the rank is too small, A23 for an encoding that tensor memory
/// does not have, A24 for an alignment that is too small.
pub fn footprint(leaf: &Leaf) -> Result<Footprint> {
    let (unit, rows) = match leaf.storage() {
        Storage::Tmem => tensor_columns(leaf)?,
        _ => (shared_bytes(leaf)?, 1),
    };
    Ok(Footprint { unit, rows, align: alignment(leaf, unit)? })
}

/// A22.
fn shared_bytes(leaf: &Leaf) -> Result<u64> {
    let padded = matches!(leaf.encoding(), Encoding::Nvmma { fp4_padded: true, .. });
    let bits = u64::from(leaf.elem().bits()) * if padded { 2 } else { 1 };
    product(leaf.tile())
        .and_then(|elements| elements.checked_mul(bits))
        .map(|bits| bits.div_ceil(8))
        .filter(|bytes| *bytes <= i64::MAX as u64)
        .ok_or_else(|| AliasError::overflow(&leaf.shown()).at(leaf.at()))
}

/// A23.
fn tensor_columns(leaf: &Leaf) -> Result<(u64, u32)> {
    let [leading @ .., m, n] = leaf.tile() else {
        let rank = leaf.tile().len() + 1;
        return Err(AliasError::new("A7", format!("TMEM allocations must be at least 2D, got rank {rank}"))
            .at(leaf.at())
            .help("give the tile its rows and columns"));
    };
    let overflow = || AliasError::overflow(&leaf.shown()).at(leaf.at());
    let count = product(leading).ok_or_else(overflow)?;
    let default;
    let encoding = match leaf.encoding() {
        Encoding::Tensor(encoding) => encoding,
        Encoding::TensorScales | Encoding::TensorDummy => {
            let tiles = m.div_ceil(32).checked_mul(n.div_ceil(4)).and_then(|t| t.checked_mul(count));
            return Ok((tiles.ok_or_else(overflow)?, 128));
        }
        Encoding::Swizzled | Encoding::Nvmma { .. } | Encoding::Padded | Encoding::Other(_) => {
            default = TensorEncoding::new(if *m == 64 { 64 } else { 128 }, (*n).min(512) as u32);
            &default
        }
    };
    let (per_tile, rows) = tile_columns(encoding, *m, *n, leaf.elem(), leaf)?;
    let columns = per_tile.checked_mul(count).filter(|c| *c <= i64::MAX as u64).ok_or_else(overflow)?;
    Ok((columns, rows))
}

/// Columns and rows of one M x N tile.
fn tile_columns(e: &TensorEncoding, m: u64, n: u64, elem: Elem, leaf: &Leaf) -> Result<(u64, u32)> {
    let overflow = || AliasError::overflow(&leaf.shown()).at(leaf.at());
    let [m_split, n_split] = e.split.map(|s| u64::from(s.max(1)));
    let (m, n) = (m.div_ceil(m_split), n.div_ceil(n_split));
    let bits = u64::from(elem.bits());
    let plain = n.checked_mul(bits).ok_or_else(overflow)?;
    let factor = u64::from(e.col_stride.max(1)) * if e.fp4_padded { 2 } else { 1 };
    let wide = plain.checked_mul(factor).ok_or_else(overflow)?;
    let block_m = u64::from(e.block_m);
    let (blocks, columns, rows) = match (e.mode, e.block_m) {
        (_, b) if b != 64 && b != 128 => {
            return Err(AliasError::new(
                "A23",
                format!("tensor memory has blocks of 64 or 128 rows, not {b}"),
            )
            .at(leaf.at())
            .help("write blockM = 64 or blockM = 128"));
        }
        (CtaMode::Rhs, _) => (m.div_ceil(block_m), plain.div_ceil(64), 128),
        (CtaMode::Lhs, _) => (m.div_ceil(block_m), wide.div_ceil(32), 128),
        (CtaMode::Default, 128) => (m.div_ceil(128), wide.div_ceil(32), 128),
        (CtaMode::Default, _) if e.two_ctas => (m.div_ceil(64), wide.div_ceil(64), 128),
        (CtaMode::Default, _) if m > 64 => (m.div_ceil(128), wide.div_ceil(32), 128),
        (CtaMode::Default, _) if m == 64 && n > u64::from(e.block_n) => (1, wide.div_ceil(64), 128),
        (CtaMode::Default, _) => (1, wide.div_ceil(32), 64),
    };
    Ok((blocks.checked_mul(columns).ok_or_else(overflow)?, rows))
}

/// The least alignment that the type of a leaf needs, in units (A24).
fn needed(leaf: &Leaf, unit: u64) -> u64 {
    if leaf.storage() == Storage::Tmem {
        return unit.checked_next_power_of_two().map_or(32, |p| p.min(32));
    }
    let swizzle = match leaf.encoding() {
        Encoding::Nvmma { swizzle, .. } => u64::from(*swizzle) * 8,
        _ => 0,
    };
    leaf.elem().bytes().checked_next_power_of_two().unwrap_or(1 << 32).max(swizzle)
}

/// A24: `warploom.align` or what the type asks for.
fn alignment(leaf: &Leaf, unit: u64) -> Result<u64> {
    let need = needed(leaf, unit);
    let Some(own) = leaf.align() else {
        return Ok(match leaf.storage() {
            Storage::Tmem => need,
            Storage::Global => need.max(256),
            _ => need.max(128),
        });
    };
    let name = leaf.shown();
    if !own.is_power_of_two() || own > 1 << 31 {
        let message = format!("alignment {own} of {name} is not a power of two");
        return Err(AliasError::new("A24", message).at(leaf.at()).help("use 16, 32, 64, 128, .."));
    }
    if leaf.storage() == Storage::Tmem {
        return Ok(own);
    }
    let (least, who) = match leaf.tma() {
        Some(op) if need < 128 => (128, op),
        Some(op) => (need, op),
        None => (need, "its type"),
    };
    if own < least {
        let message = format!("alignment {own} of {name} is below the {least} bytes that {who} needs");
        return Err(AliasError::new("A24", message)
            .at(leaf.at())
            .help(format!("write warploom.align = {least} or more, or leave it out")));
    }
    Ok(own)
}

/// The plain allocations of a kernel: leaves of no spec.
pub(crate) fn plain(m: &AliasModule, space: Storage) -> impl Iterator<Item = LeafId> + '_ {
    m.leaves().filter(move |(_, l)| l.spec().is_none() && l.storage() == space).map(|(id, _)| id)
}
