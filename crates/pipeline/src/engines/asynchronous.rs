//! Asynchronous products of the partition that copies: wgmma or tcgen05.mma reads the slots that lanes or copy engines
//! filled (C21, C26, C30, C61-C63, C66).
//!
//! Copies by lanes are writes of the generic proxy, and these products read by the asynchronous one: whoever copied or
//! stored fences, and all meet, before a product reads. A slot is filled again once everybody knows that the products
//! that read it have ended: with `pending` products left unfinished in each trip, loads are pipelined over that much
//! less.

use std::collections::BTreeMap;

use warploom_chips::mma::MmaInstruction;
use warploom_chips::{Feature, Target};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, Category, FloatKind, Module, OpId, Opcode, Type, ValueId};

use crate::engines::covered::{Held, is_free};
use crate::engines::pressure::{held_behind, live_words};
use crate::engines::tensor::accumulates;
use crate::engines::{RegisterLayout, chain};
use crate::nest::{innermost_for, is_inside, repeats};
use crate::normalize::widened::{sums_anew, sums_halves};
use crate::place::refuse;
use crate::tma::TilePlan;
use crate::transports::find::{copied_tile, swizzle};
use crate::transports::operands::{DotOperand, Slot};
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

/// Registers of a thread beside accumulators and operands: addresses, masks, the epilogue.
const OVERHEAD: u64 = 88;

/// The most of them where pointers of unknown alignment are copied through registers.
const COPYING: u64 = 72;

/// Warpgroups that may stand side by side.
const SIDES: [u64; 2] = [2, 4];

/// The most registers of products where each lane has a row of 128 to itself; half of them for one that a loop repeats.
const ROWS: u64 = 128;

/// Warps for the products of a kernel, and how its tiles lie: one warpgroup where it has room for them, then two, then four.
/// A warpgroup has 128 rows of tensor memory to itself where its products leave room in registers, else it shares them
/// with another; one alone has 64 then. Where sums fit no number of warpgroups one below the other, warpgroups stand
/// side by side, and each has a part of the columns.
///
/// # Errors
/// Products that no such instruction covers, and accumulators that fit no number of warpgroups.
pub(crate) fn warps(
    module: &Module,
    func: OpId,
    (dots, operands): (&[OpId], &[DotOperand]),
    aligned: bool,
    target: &Target,
) -> Result<(u64, RegisterLayout), Box<Diagnostic>> {
    let of = |columns| warps_of(module, func, (dots, operands), (aligned, columns), target);
    of(1).or_else(|error| SIDES.iter().find_map(|&columns| of(columns).ok()).ok_or(error))
}

/// The same with so many warpgroups side by side.
fn warps_of(
    module: &Module,
    func: OpId,
    (dots, operands): (&[OpId], &[DotOperand]),
    (aligned, columns): (bool, u64),
    target: &Target,
) -> Result<(u64, RegisterLayout), Box<Diagnostic>> {
    let mut accumulators: BTreeMap<Option<OpId>, u64> = BTreeMap::new();
    let (mut held, mut widest) = (Held::of(module, func), 0);
    let mut held_for: BTreeMap<OpId, u64> = BTreeMap::new();
    for &dot in dots {
        let product = product(module, dot, operands, (columns, target))?;
        *accumulators.entry(innermost_for(module, dot)).or_default() += product.words + product.operand;
        held_for.insert(dot, product.operand);
        if repeats(module, dot) {
            widest = widest.max(product.words);
        }
        held.extend(product.held);
    }
    let tensor = target.mma_instruction() == MmaInstruction::Tcgen05;
    let stays = |dot: OpId| tensor && is_not_read(module, dot);
    let all = accumulators.values().copied().max().unwrap_or(0);
    // Sums of products that go round a loop beside them are in registers too. Where all of them do not fit, those that
    // live at once may.
    let scopes = accumulators.keys().map(|scope| scope.unwrap_or(func));
    let inside = scopes.map(|scope| live_words(module, scope, stays, &held_for)).max().unwrap_or(0);
    let live = inside.max(held_behind(module, dots, stays));
    // Products that the tensor core scales have 128 rows.
    let scaled = dots.iter().any(|&dot| module.ops[dot].opcode == Opcode::DotBlockScaled);
    let whole = |&(_, layout): &(u64, RegisterLayout)| {
        !scaled || !matches!(layout, RegisterLayout::TensorHalves { .. })
    };
    let fitting = |words: u64| fitting((words, widest), &held, (aligned, columns), target).filter(whole);
    let chosen = fitting(all.max(live)).or_else(|| fitting(all)).or_else(|| fitting(live));
    chosen.ok_or_else(|| {
        let text = format!("products of {} words and their tiles fit no 1, 2 or 4 warpgroups", live.min(all));
        let at = dots.first().copied().unwrap_or(module.root);
        Box::new(refuse(module, at, Code::Registers, text).rule("C31").note("instead", "mma.sync"))
    })
}

/// The number of warps that so many words of products fit, and how tiles lie; the widest product that a loop repeats has
/// `widest` of them.
fn fitting(
    (words, widest): (u64, u64),
    held: &Held,
    (aligned, columns): (bool, u64),
    target: &Target,
) -> Option<(u64, RegisterLayout)> {
    let file = u64::from(target.registers.per_cta);
    let room = |groups: u64| (file / (128 * groups)).min(256).saturating_sub(OVERHEAD);
    let fits = |most: Option<u64>, groups: u64| {
        let room = room(groups);
        let covered = groups.is_multiple_of(columns) && held.by(64 * groups / columns);
        words / (128 * groups) <= most.unwrap_or(room).min(room) && covered
    };
    let limits = if aligned { [None, None] } else { [Some(COPYING), None] };
    let mut choices = limits.into_iter().flat_map(|most| [1, 2, 4].map(|groups| (most, groups)));
    match target.mma_instruction() {
        MmaInstruction::Tcgen05 if columns > 1 => {
            // Of 64 rows of tensor memory: the warpgroups all reach them.
            let fitting = choices.find(|&(most, groups)| groups == columns && fits(most, groups))?;
            Some((4 * fitting.1, RegisterLayout::TensorHalves { columns }))
        }
        MmaInstruction::Tcgen05 => {
            let rows = || {
                let groups =
                    [1, 2, 4].into_iter().find(|&g| words / (128 * g) <= ROWS && held.by(128 * g))?;
                Some((4 * groups, RegisterLayout::TensorRows))
            };
            // What is copied through registers, and what a loop adds up there, is shared by more lanes where there is a choice.
            let few = rows().filter(|&(warps, _)| aligned && widest / (32 * warps) <= ROWS / 2);
            let pairs = || {
                let groups = [2, 4].into_iter().find(|&groups| fits(Some(COPYING), groups))?;
                Some((4 * groups, RegisterLayout::TensorPairs))
            };
            few.or_else(pairs).or_else(rows).or_else(|| {
                let (_, groups) = choices.find(|&(most, groups)| fits(most, groups))?;
                let layout = match groups {
                    1 => RegisterLayout::TensorHalves { columns },
                    _ => RegisterLayout::TensorPairs,
                };
                Some((4 * groups, layout))
            })
        }
        _ => {
            let (_, groups) = choices.find(|&(most, groups)| fits(most, groups))?;
            Some((4 * groups, RegisterLayout::Wgmma { columns }))
        }
    }
}

/// What a product takes.
struct Product {
    /// 32-bit words of registers: its accumulators.
    words: u64,
    /// Those of an operand that is read from there.
    operand: u64,
    /// Rows of the tiles that lanes hold for it.
    held: Vec<u64>,
}

/// Whether a product stays in tensor memory: it adds to what a loop carries, or another one goes on with it.
fn is_not_read(module: &Module, dot: OpId) -> bool {
    accumulates(module, dot) || chain::behind(module, dot).is_some()
}

/// One product, if the chip's asynchronous instruction has a form for it.
fn product(
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
    let (mut registers, mut held) = (0, vec![m]);
    let settled = all.iter().any(|f| f.dot == dot && f.index == 0 && f.is_settled());
    for (index, operand) in [a, b].into_iter().enumerate() {
        // Parts of an operand whose columns are contiguous are whole panels.
        let in_panels = |k_major: bool, swizzle: u32| {
            columns == 1 || index == 0 || k_major || (part * bits / 8).is_multiple_of(u64::from(swizzle))
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
    Ok(Product { words, operand: registers, held })
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
    held.push(m);
    let words = if accumulates(module, dot) { 0 } else { m.saturating_mul(n) };
    Ok(Product { words, operand: 0, held })
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
