//! Unit size, rows and alignment of a leaf, derived from its type once more (A22 to A24).

use crate::model::Leaf;
use crate::types::{CtaMode, Encoding, Storage, TensorEncoding};

/// What one buffer needs.
pub(crate) struct Need {
    pub(crate) unit: u64,
    pub(crate) rows: u32,
    pub(crate) align: u64,
}

fn ceil(a: u128, b: u128) -> u128 {
    a / b.max(1) + u128::from(!a.is_multiple_of(b.max(1)))
}

/// What a buffer of this leaf needs; `None` when a number does not fit.
pub(crate) fn need(leaf: &Leaf) -> Option<Need> {
    let mut elements = 1u128;
    for d in leaf.tile() {
        elements = elements.checked_mul(u128::from(*d))?;
    }
    let bits = u128::from(leaf.elem().bits());
    if leaf.storage() != Storage::Tmem {
        let (swizzle, pad) = match leaf.encoding() {
            Encoding::Nvmma { swizzle, fp4_padded } => (u64::from(*swizzle), u128::from(*fp4_padded)),
            _ => (0, 0),
        };
        let bytes = ceil(elements.checked_mul(bits)?.checked_mul(1 + pad)?, 8);
        let mut align = if leaf.storage() == Storage::Global { 256 } else { 128 };
        let elem = leaf.elem().bits().div_ceil(8);
        while align < u64::from(elem) {
            align *= 2;
        }
        if matches!(swizzle, 32 | 64 | 128) {
            align = align.max(swizzle * 8);
        }
        return Some(Need {
            unit: u64::try_from(bytes).ok()?,
            rows: 1,
            align: leaf.align().unwrap_or(align),
        });
    }
    let (m, n) = match leaf.tile() {
        [.., m, n] => (u128::from(*m), u128::from(*n)),
        _ => return None,
    };
    let stacked = elements / (m * n).max(1);
    let (columns, rows) = match leaf.encoding() {
        Encoding::Tensor(e) => tile(e, m, n, bits),
        Encoding::TensorScales | Encoding::TensorDummy => (ceil(m, 32) * ceil(n, 4), 128),
        _ => tile(&TensorEncoding::new(if m == 64 { 64 } else { 128 }, n.min(512) as u32), m, n, bits),
    };
    let unit = u64::try_from(columns.checked_mul(stacked)?).ok()?;
    let own = [1, 2, 4, 8, 16].into_iter().find(|a| *a >= unit).unwrap_or(32);
    Some(Need { unit, rows, align: leaf.align().unwrap_or(own) })
}

/// The table of A23, row by row.
fn tile(e: &TensorEncoding, m: u128, n: u128, bits: u128) -> (u128, u32) {
    let m = ceil(m, u128::from(e.split[0]));
    let n = ceil(n, u128::from(e.split[1]));
    let stride = u128::from(e.col_stride.max(1));
    let spread = bits * stride * if e.fp4_padded { 2 } else { 1 };
    let halved = e.two_ctas && e.block_m == 64;
    if e.mode == CtaMode::Rhs {
        return (ceil(m, u128::from(e.block_m)) * ceil(n * bits, 64), 128);
    }
    if e.mode == CtaMode::Lhs {
        return (ceil(m, u128::from(e.block_m)) * ceil(n * spread, 32), 128);
    }
    if e.block_m == 128 {
        return (ceil(m, 128) * ceil(n * spread, 32), 128);
    }
    if halved {
        return (ceil(m, 64) * ceil(n * spread, 64), 128);
    }
    if m > 64 {
        return (ceil(m, 128) * ceil(n * spread, 32), 128);
    }
    match m == 64 && n > u128::from(e.block_n) {
        true => (ceil(n * spread, 64), 128),
        false => (ceil(n * spread, 32), 64),
    }
}
