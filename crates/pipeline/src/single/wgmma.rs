//! Asynchronous products of the partition that copies: wgmma reads the slots that `cp.async` filled (C21, C26, C30,
//! C61-C63).
//!
//! Copies by lanes are writes of the generic proxy, and wgmma reads by the asynchronous one: whoever copied fences
//! behind its wait, and all meet, before a product reads. A slot is filled again once everybody has retired the
//! products that read it: with `pending` products left unfinished in each trip, loads are pipelined over that much
//! less.

use std::collections::BTreeMap;

use warploom_chips::{Feature, Target};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, FloatKind, Module, OpId, Opcode, Type, ValueId};

use super::find::copied_tile;
use crate::classes::{Class, class};
use crate::nest::innermost_for;
use crate::place::refuse;
use crate::views::look_through;

/// How the products of one partition are issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Products {
    /// By mma.sync: each is there at once.
    Synchronous,
    /// By wgmma.
    Asynchronous {
        /// Products that a trip may leave unfinished (C30).
        pending: u64,
    },
}

/// The mark of the function of a later form whose products are asynchronous.
pub(super) const MARK: &str = "warploom.products";
/// Its value.
pub(super) const WGMMA: &str = "wgmma";

/// Whether a kernel of a later form was made with asynchronous products.
pub(super) fn marked(module: &Module, func: OpId) -> bool {
    module.attr(func, MARK).and_then(Attr::as_str) == Some(WGMMA)
}

/// Registers of a thread beside accumulators and operands: addresses, masks, the epilogue.
const OVERHEAD: u64 = 88;

/// The most of them where pointers of unknown alignment are copied through registers.
const COPYING: u64 = 72;

/// Warps for the products of a kernel: two warpgroups where the rows allow, then one, then four.
///
/// # Errors
/// Products that no wgmma covers, and accumulators that fit no number of warpgroups.
pub(super) fn warps(
    module: &Module,
    dots: &[OpId],
    aligned: bool,
    target: &Target,
) -> Result<u64, Box<Diagnostic>> {
    let mut accumulators: BTreeMap<Option<OpId>, u64> = BTreeMap::new();
    let mut rows = Vec::new();
    for &dot in dots {
        let product = product(module, dot, target)?;
        *accumulators.entry(innermost_for(module, dot)).or_default() += product.words;
        rows.push(product.rows);
    }
    let words = accumulators.values().copied().max().unwrap_or(0);
    let file = u64::from(target.registers.per_cta);
    let fits = |most: Option<u64>, groups: u64| {
        let each = (file / (128 * groups)).min(256);
        let room = each.saturating_sub(OVERHEAD);
        words / (128 * groups) <= most.unwrap_or(room).min(room)
            && rows.iter().all(|rows| rows.is_multiple_of(64 * groups))
    };
    let limits = if aligned { [None, None] } else { [Some(COPYING), None] };
    let choices = limits.into_iter().flat_map(|most| [2, 1, 4].map(|groups| (most, groups)));
    match choices.into_iter().find(|&(most, groups)| fits(most, groups)) {
        Some((_, groups)) => Ok(4 * groups),
        None => {
            let text = format!("products of {words} words fit the registers of no 1, 2 or 4 warpgroups");
            let at = dots.first().copied().unwrap_or(module.root);
            Err(Box::new(refuse(module, at, Code::Registers, text).rule("C31").note("instead", "mma.sync")))
        }
    }
}

/// What a product takes.
struct Product {
    rows: u64,
    /// 32-bit words of its accumulators and of an operand in registers.
    words: u64,
}

/// One product, if wgmma has a form for it.
fn product(module: &Module, dot: OpId, target: &Target) -> Result<Product, Box<Diagnostic>> {
    let no = |code: Code, rule: &'static str, text: String| {
        Err(Box::new(refuse(module, dot, code, text).rule(rule).note("instead", "mma.sync")))
    };
    let operands = &module.ops[dot].operands;
    let (Some(&a), Some(&b), Some(result)) = (operands.first(), operands.get(1), module.result(dot)) else {
        return no(Code::Verify, "C45", "tt.dot without operands".to_owned());
    };
    if !target.has(Feature::Wgmma) {
        return no(Code::Target, "T5", format!("{} has no wgmma", target.name()));
    }
    let (ta, tb, tc) = (module.ty(a), module.ty(b), module.ty(result));
    let (&[m, k], &[_, n]) = (ta.shape(), tb.shape()) else {
        return no(Code::Shape, "C63", "tt.dot of tiles that are no matrices".to_owned());
    };
    let bits = match (ta.elem(), tb.elem()) {
        (Type::Float(FloatKind::BF16 | FloatKind::F16), other) if other == ta.elem() => 16,
        (Type::Float(FloatKind::F32), Type::Float(FloatKind::F32)) => 32,
        (Type::Float(FloatKind::F8E4M3FN | FloatKind::F8E5M2), other) if other == ta.elem() => 8,
        _ => return no(Code::Type, "T12", format!("tt.dot of {ta} and {tb}")),
    };
    let tf32 = module.attr(dot, "inputPrecision").and_then(Attr::as_str) == Some("tf32");
    let imprecise = module.attr(dot, "maxNumImpreciseAcc").and_then(Attr::as_i64).unwrap_or(0);
    let fresh = bits == 8 && imprecise > 0 && i64::try_from(k).is_ok_and(|k| imprecise < k);
    if *tc.elem() != Type::F32 || (bits == 32 && !tf32) || fresh {
        return no(Code::Precision, "C7", format!("tt.dot of {ta} into {tc}"));
    }
    if !m.is_multiple_of(64) || !n.is_multiple_of(8) || n > 256 || !k.is_multiple_of(256 / bits) {
        return no(Code::Shape, "C63", format!("no wgmma covers {m}x{n}x{k}"));
    }
    let mut words = m.saturating_mul(n);
    match place(module, a, false) {
        Some(Place::Slot { k_major, swizzle }) if readable(k_major, swizzle, bits) => {}
        Some(Place::Registers) if bits == 16 => words = words.saturating_add(m * k / 2),
        _ => return no(Code::Layout, "C62", "operand a is none that wgmma reads".to_owned()),
    }
    match place(module, b, true) {
        Some(Place::Slot { k_major, swizzle }) if readable(k_major, swizzle, bits) => {}
        _ => return no(Code::Layout, "C62", "operand b is none that wgmma reads".to_owned()),
    }
    Ok(Product { rows: m, words })
}

/// Where an operand comes from.
enum Place {
    Slot { k_major: bool, swizzle: u32 },
    Registers,
}

/// Rows of 32 bytes at least; other than 16-bit elements must have K inside, and those that have not fill whole panels
/// (C62).
fn readable(k_major: bool, swizzle: u32, bits: u64) -> bool {
    swizzle >= 32 && (k_major || (bits == 16 && swizzle == 128))
}

/// The place of an operand; `second` is B.
fn place(module: &Module, value: ValueId, second: bool) -> Option<Place> {
    let seen = look_through(module, value);
    let maker = module.def_op(seen.base)?;
    match module.ops[maker].opcode {
        Opcode::Load if seen.plain() || seen.transposed() => {
            let tile = copied_tile(module, maker)?;
            Some(Place::Slot { k_major: seen.transposed() == second, swizzle: tile.swizzle })
        }
        opcode if !second && seen.views.is_empty() && class(opcode) == Class::Pure => Some(Place::Registers),
        _ => None,
    }
}
