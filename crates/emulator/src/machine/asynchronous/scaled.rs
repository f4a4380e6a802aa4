//! Products with scales of blocks, and `tcgen05.cp`, which brings the scales (E44).

use super::lanes::touch;
use crate::machine::actor::Actor;
use crate::machine::core::Core;
use crate::machine::operations::{Product, SCALES, Scales, TmemCopy};
use crate::number::minifloat::{E4M3, scale_value};
use crate::race::access::Act;

/// Multiplies the operands of a product by their scales.
pub(super) fn apply(
    core: &mut Core<'_>,
    actor: &Actor,
    p: &Product,
    [of_a, of_b]: [Scales; 2],
    (a, b): (&mut [f64], &mut [f64]),
) {
    let (n, k) = (p.n as usize, p.k as usize);
    let (for_a, for_b) = (read_scales(core, actor, p, of_a, p.m), read_scales(core, actor, p, of_b, p.n));
    let (block_a, block_b) = (k / of_a.along.max(1) as usize, k / of_b.along.max(1) as usize);
    for (row, scales) in a.chunks_mut(k.max(1)).zip(for_a.chunks(of_a.along.max(1) as usize)) {
        for (block, scale) in row.chunks_mut(block_a.max(1)).zip(scales) {
            block.iter_mut().for_each(|x| *x *= scale);
        }
    }
    for (at, row) in b.chunks_mut(n.max(1)).enumerate() {
        let scales = for_b.iter().skip(at / block_b.max(1)).step_by(of_b.along.max(1) as usize);
        row.iter_mut().zip(scales).for_each(|(x, scale)| *x *= scale);
    }
}

/// The scales of so many rows, those of a row beside each other. All quarters must hold them (T07).
fn read_scales(core: &mut Core<'_>, actor: &Actor, p: &Product, of: Scales, rows: u32) -> Vec<f64> {
    let Some(&cta) = p.ctas.first() else { return Vec::new() };
    // Reads of scales keep their order with copies (E52).
    let actor = Actor { lanes: SCALES, ..actor.clone() };
    let mut out = Vec::with_capacity((rows * of.along) as usize);
    let mut differ = None;
    if let Some(c) = core.cta(cta) {
        c.tmem.wake();
        for r in 0..rows {
            let column = of.column + r / 32;
            let word = |quarter: u32| c.tmem.get(32 * quarter + r % 32, column) >> (8 * of.byte);
            let used = u32::MAX >> (32 - 8 * of.along);
            if (1..4).any(|quarter| (word(quarter) ^ word(0)) & used != 0) {
                differ.get_or_insert((r, column));
            }
            out.extend((0..of.along).map(|i| {
                let bits = word(0) >> (8 * i) & 0xff;
                if of.e4m3 { E4M3.decode(bits & 0x7f) } else { scale_value(bits) }
            }));
        }
    }
    for column in of.column..of.column + rows.div_ceil(32) {
        let last = (rows - 32 * (column - of.column)).min(32);
        touch(core, &actor, cta, column, [u32::MAX >> (32 - last); 4], Act::Read);
    }
    if let Some((row, column)) = differ {
        let message = format!("the scales of row {row}, in TMEM column {column}, differ between quarters");
        core.error(
            "T07",
            &actor,
            message,
            "tcgen05.cp with .warpx4, or four warps that store the same (E44)",
        );
    }
    out
}

/// Reads what a copy takes from shared memory.
pub(super) fn read(core: &mut Core<'_>, actor: &Actor, copy: &mut TmemCopy) {
    copy.values.clear();
    for cta in copy.ctas.clone() {
        for row in 0..copy.rows.count() {
            for chunk in 0..copy.chunks {
                let at = copy.layout.address(u64::from(row), u64::from(16 * chunk), 1);
                let mut bytes = [0; 16];
                if core.shared_bounds(cta, at, 16, actor) {
                    core.touch_shared(cta, at, 16, actor, Act::Read);
                    let found = core.cta(cta).and_then(|c| c.shared.get(at as usize..at as usize + 16));
                    if let Some(found) = found.and_then(|b| <[u8; 16]>::try_from(b).ok()) {
                        bytes = found;
                    }
                }
                copy.values.push(bytes);
            }
        }
    }
}

/// Writes them to tensor memory.
pub(super) fn write(core: &mut Core<'_>, actor: &Actor, copy: &mut TmemCopy) {
    let mut values = std::mem::take(&mut copy.values).into_iter();
    for cta in copy.ctas.clone() {
        let mut lanes = [0_u32; 4];
        if let Some(c) = core.cta(cta) {
            c.tmem.wake();
        }
        for row in 0..copy.rows.count() {
            let to = copy.rows.lanes(row);
            for lane in &to {
                if let Some(mask) = lanes.get_mut((lane / 32) as usize) {
                    *mask |= 1 << (lane % 32);
                }
            }
            for chunk in 0..copy.chunks {
                let bytes = values.next().unwrap_or_default();
                for (word, bits) in bytes.as_chunks::<4>().0.iter().enumerate() {
                    let column = copy.column + 4 * chunk + word as u32;
                    for &lane in &to {
                        if let Some(c) = core.cta(cta) {
                            c.tmem.put(lane, column, u32::from_le_bytes(*bits));
                        }
                    }
                }
            }
        }
        for column in copy.column..copy.column + 4 * copy.chunks {
            touch(core, actor, cta, column, lanes, Act::Write);
        }
    }
}
