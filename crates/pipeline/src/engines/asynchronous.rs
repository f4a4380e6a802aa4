//! Asynchronous products of the partition that copies: wgmma or tcgen05.mma reads the slots that lanes or copy engines
//! filled (C21, C26, C30, C61-C63, C66).
//!
//! Copies by lanes are writes of the generic proxy, and these products read by the asynchronous one: whoever copied or
//! stored fences, and all meet, before a product reads. A slot is filled again once everybody knows that the products
//! that read it have ended: with `pending` products left unfinished in each trip, loads are pipelined over that much
//! less.

use warploom_chips::mma::MmaInstruction;
use warploom_chips::{Feature, Target};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, Category, FloatKind, Module, OpId, Opcode, Type, ValueId};

use crate::engines::chain;
use crate::engines::covered::is_free;
use crate::engines::tensor::accumulates;
use crate::nest::is_inside;
use crate::normalize::widened::{sums_anew, sums_halves};
use crate::place::refuse;
use crate::tma::TilePlan;
use crate::transports::find::{copied_tile, swizzle};
use crate::transports::operands::{DotOperand, Slot};
use crate::transports::panels;
use crate::views::{look_through, non_unit};

/// How the products of one partition are issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Products {
    /// By mma.sync: each is there at once.
    Synchronous,
    /// By the asynchronous instruction of the chip, wgmma or tcgen05.mma.
    Asynchronous {
        /// Products that a trip may leave unfinished (C30).
        pending: u64,
    },
}

/// What a product takes.
pub(super) struct Product {
    /// 32-bit words of registers: its accumulators.
    pub words: u64,
    /// Those of an operand that is read from there.
    pub operand: u64,
    /// Its rows.
    pub rows: u64,
    /// Those of the operands that lanes hold for it.
    pub operands: Vec<u64>,
}

/// Whether a product stays in tensor memory: it adds to what a loop carries, or another one goes on with it.
pub(super) fn is_not_read(module: &Module, dot: OpId) -> bool {
    accumulates(module, dot) || chain::behind(module, dot).is_some()
}

/// One product, if the chip's asynchronous instruction has a form for it.
pub(super) fn product(
    module: &Module,
    dot: OpId,
    all: &[DotOperand],
    (columns, target): (u64, &Target),
) -> Result<Product, Box<Diagnostic>> {
    let no = |code: Code, rule: &'static str, text: String| {
        Err(Box::new(refuse(module, dot, code, text).rule(rule).note("instead", "mma.sync")))
    };
    let operands = &module.ops[dot].operands;
    let (Some(&a), Some(&b), Some(result)) = (operands.first(), operands.get(1), module.result(dot)) else {
        return no(Code::Verify, "C45", "tt.dot without operands".to_owned());
    };
    let tensor = target.mma_instruction() == MmaInstruction::Tcgen05;
    if module.ops[dot].opcode == Opcode::DotBlockScaled {
        return scaled_by_blocks(module, dot, all, target);
    }
    let name = if tensor { "tcgen05.mma" } else { "wgmma" };
    if !target.has(if tensor { Feature::Tcgen05 } else { Feature::Wgmma }) {
        return no(Code::Target, "T5", format!("{} has no {name}", target.name()));
    }
    let (ta, tb, tc) = (module.ty(a), module.ty(b), module.ty(result));
    let (&[m, k], &[_, n]) = (ta.shape(), tb.shape()) else {
        return no(Code::Shape, "C63", "tt.dot of tiles that are no matrices".to_owned());
    };
    let bits = match (ta.elem(), tb.elem()) {
        (Type::Float(FloatKind::BF16 | FloatKind::F16), other) if other == ta.elem() => 16,
        (Type::Float(FloatKind::F32), Type::Float(FloatKind::F32)) => 32,
        (Type::Float(FloatKind::F8E4M3FN | FloatKind::F8E5M2), other) if other == ta.elem() => 8,
        (Type::Int(8, _), Type::Int(8, _)) if !tensor || target.has(Feature::Tcgen05I8) => 8,
        _ => return no(Code::Type, "T12", format!("tt.dot of {ta} and {tb}")),
    };
    let tf32 = module.attr(dot, "inputPrecision").and_then(Attr::as_str) == Some("tf32");
    let fresh = sums_anew(module, dot, target);
    let sum = if matches!(ta.elem(), Type::Int(..)) { Type::I32 } else { Type::F32 };
    let halves = sums_halves(module, dot, target);
    if !(*tc.elem() == sum || halves) || (bits == 32 && !tf32) || fresh {
        return no(Code::Precision, "C7", format!("tt.dot of {ta} into {tc}"));
    }
    // Columns of a warpgroup: its part begins where bits of its number say.
    let part = n / columns;
    let step = if tensor || (sum == Type::I32 && part > 32) { 16 } else { 8 };
    let whole = part.is_multiple_of(step) && (part <= 256 || (tensor && n == 512));
    let dealt_out = columns == 1 || (n == part * columns && part.is_power_of_two());
    if !m.is_multiple_of(64) || !whole || !dealt_out || !k.is_multiple_of(256 / bits) {
        return no(Code::Shape, "C63", format!("no {name} covers {m}x{n}x{k}"));
    }
    // What goes round a loop as a sum of products alone stays in tensor memory.
    let stays = tensor && is_not_read(module, dot);
    let words = if stays { 0 } else { m.saturating_mul(n) >> u32::from(halves) };
    let (mut registers, mut held) = (0, Vec::new());
    let settled = all.iter().any(|f| f.dot == dot && f.index == 0 && f.is_settled());
    for (index, operand) in [a, b].into_iter().enumerate() {
        // Parts of an operand whose columns are contiguous are whole panels, where warpgroups multiply parts; those that the
        // copy engine brings are as wide as their box.
        let boxed = is_boxed(module, operand);
        let in_panels = |k_major: bool, swizzle: u32| {
            let width = part * bits / 8;
            let whole = width.is_multiple_of(u64::from(swizzle));
            let shared = columns > 1 && !tensor && index == 1 && !k_major;
            !shared || whole || (!boxed && panels::divide(width, swizzle))
        };
        let readable =
            |k_major, swizzle| readable(k_major, swizzle, bits, tensor) && in_panels(k_major, swizzle);
        match place(module, operand, index == 1, target) {
            Some(Place::Slot { k_major, swizzle }) if readable(k_major, swizzle) => {}
            Some(Place::Computed { plain: true, .. })
                if index == 0 && bits == 16 && !tensor && !settled && columns == 1 =>
            {
                registers = m.saturating_mul(k) / 2;
            }
            Some(Place::Computed { k_major, swizzle, rows, .. }) if readable(k_major, swizzle) => {
                held.extend(rows);
            }
            _ => {
                let text =
                    format!("operand {} is none that {name} reads", if index == 0 { 'a' } else { 'b' });
                return no(Code::Layout, "C62", text);
            }
        }
    }
    Ok(Product { words, operand: registers, rows: m, operands: held })
}

/// One product that the tensor core scales itself (C69): operands of bytes in slots, tables of scales that products of
/// one lane copy to tensor memory.
fn scaled_by_blocks(
    module: &Module,
    dot: OpId,
    all: &[DotOperand],
    target: &Target,
) -> Result<Product, Box<Diagnostic>> {
    let mut held = Vec::new();
    for operand in all.iter().filter(|f| f.dot == dot) {
        let Some(&value) = module.ops[dot].operands.get(operand.index) else { continue };
        // Elements of four bits are read along K alone.
        let format = if operand.index == 0 { "a_elem_type" } else { "b_elem_type" };
        let bytes_along_k = module.attr(dot, format).and_then(Attr::as_str) == Some("e2m1");
        let place = match operand.index {
            0 | 1 => place(module, value, operand.index == 1, target),
            _ if operand.slot.is_some() => continue,
            _ => {
                let rows = module.ty(value).shape().first().copied();
                Some(Place::Computed { plain: true, k_major: true, swizzle: 32, rows })
            }
        };
        match place {
            Some(Place::Slot { k_major, swizzle }) if swizzle >= 32 && (k_major || !bytes_along_k) => {}
            Some(Place::Computed { k_major, swizzle, rows, .. })
                if swizzle >= 32 && (k_major || !bytes_along_k) =>
            {
                held.extend(rows.filter(|_| !is_brought(module, value)));
            }
            _ => {
                let text = format!("operand {} is none that tcgen05.mma scales", operand.index);
                return Err(Box::new(refuse(module, dot, Code::Layout, text).rule("C62")));
            }
        }
    }
    let Some(&[m, n]) = module.result(dot).map(|v| module.ty(v).shape()) else {
        return Err(Box::new(refuse(module, dot, Code::Shape, "a product that is no matrix").rule("C63")));
    };
    let words = if accumulates(module, dot) { 0 } else { m.saturating_mul(n) };
    Ok(Product { words, operand: 0, rows: m, operands: held })
}

/// Whether lanes can make a tile wherever it is stored: of what loads bring to memory, or as [`is_free`] says.
fn is_brought(module: &Module, value: ValueId) -> bool {
    let mut at = value;
    while let Some(op) = module.def_op(at) {
        let data = &module.ops[op];
        match (data.opcode, data.operands.first()) {
            (Opcode::DescriptorLoad, _) => return true,
            (opcode, Some(&from)) if opcode.facts().category == Category::View => at = from,
            _ => break,
        }
    }
    is_free(module, at)
}

/// Whether a product of a loop by wgmma reads what lanes compute or copy in its trip: registers are its own until it has
/// ended, and so is the slot that the next trip stores to; it ends in its trip (C46).
pub(crate) fn reads_own(module: &Module, scf_for: OpId, operands: &[DotOperand], target: &Target) -> bool {
    let computed = |f: &&DotOperand| {
        let place = module.ops[f.dot].operands.get(f.index).map(|&v| place(module, v, f.index == 1, target));
        matches!(place, Some(Some(Place::Computed { .. }))) && !f.is_settled()
    };
    let copied = |f: &&DotOperand| {
        let load = module.def_op(f.seen.base).filter(|_| f.slot == Some(Slot::Blocking));
        load.is_some_and(|load| is_inside(module, load, scf_for))
    };
    let mut here = operands.iter().filter(|f| module.parent(f.dot) == Some(scf_for));
    target.mma_instruction() == MmaInstruction::Wgmma && here.any(|f| computed(&f) || copied(&f))
}

/// Where an operand comes from.
enum Place {
    /// A slot that a load fills.
    Slot { k_major: bool, swizzle: u32 },
    /// Lanes: they store it to a slot, or wgmma reads it from their registers where it is `plain`. `rows` must be those of
    /// their layout, where it is not made wherever it is stored.
    Computed { plain: bool, k_major: bool, swizzle: u32, rows: Option<u64> },
}

/// Whether the copy engine brings an operand.
fn is_boxed(module: &Module, operand: ValueId) -> bool {
    let base = module.def_op(look_through(module, operand).base);
    base.is_some_and(|op| module.ops[op].opcode == Opcode::DescriptorLoad)
}

/// Rows of 32 bytes at least; elements of more than 16 bits must have K inside, and those of 8 bits for wgmma (C62, T13).
fn readable(k_major: bool, swizzle: u32, bits: u64, tensor: bool) -> bool {
    swizzle >= 32 && (k_major || bits == 16 || (bits == 8 && tensor))
}

/// The place of an operand; `second` is B.
fn place(module: &Module, value: ValueId, second: bool, target: &Target) -> Option<Place> {
    let seen = look_through(module, value);
    let k_major = seen.transposed() == second;
    if !seen.plain() && !seen.transposed() {
        return None;
    }
    if let Some(maker) = module.def_op(seen.base) {
        let swizzle = match module.ops[maker].opcode {
            Opcode::Load => copied_tile(module, maker).map(|tile| tile.swizzle),
            Opcode::DescriptorLoad => {
                let descriptor = module.ops[maker].operands.first().copied()?;
                TilePlan::new(module.ty(descriptor), target).ok().map(|plan| plan.swizzle)
            }
            _ => None,
        };
        if let Some(swizzle) = swizzle {
            return Some(Place::Slot { k_major, swizzle });
        }
    }
    let ty = module.ty(seen.base);
    let extents = non_unit(ty.shape());
    let &[rows, cols] = extents.as_slice() else { return None };
    let swizzle = swizzle(&extents, cols.saturating_mul(u64::from(ty.elem_bits()?)) / 8);
    let rows = (!is_free(module, seen.base)).then_some(rows);
    Some(Place::Computed { plain: seen.views.is_empty(), k_major, swizzle, rows })
}
