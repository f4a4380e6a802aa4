//! The matrix products: their operands, extents, precision and registers (C7, C31, C62, C63).

use warploom_chips::{Element, Feature, Target};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, FloatKind, Module, OpId, Opcode, Type};

use super::rings::in_any;
use super::{Dot, OperandSource, TileLoad};
use crate::classes::{Class, class};
use crate::nest::{innermost_for, is_inside};
use crate::normalize::widened::{sums_anew, sums_halves};
use crate::place::refuse;
use crate::registers;
use crate::select::selection::HALF_ROWS;
use crate::views::{look_through, non_unit, reshapes};
use crate::walk::{Users, preorder};

/// The products of a kernel, with every reason against them.
pub(super) fn select(
    module: &Module,
    func: OpId,
    loops: &[OpId],
    loads: &mut [TileLoad],
    target: &Target,
    errors: &mut Vec<Diagnostic>,
) -> Option<Vec<Dot>> {
    let ops: Vec<OpId> =
        preorder(module, func).into_iter().filter(|&op| module.ops[op].opcode.is_product()).collect();
    for &scf_for in loops {
        if !ops.iter().any(|&dot| is_inside(module, dot, scf_for)) {
            errors.push(
                refuse(module, scf_for, Code::Loop, "the loop loads tiles and multiplies none")
                    .rule("C9")
                    .note("supported", "loops with a tt.dot of loaded tiles"),
            );
        }
    }
    if !target.has(Feature::Wgmma) && !target.has(Feature::Tcgen05) {
        return None;
    }
    let before = errors.len();
    let dots: Vec<Option<Dot>> =
        ops.iter().map(|&op| product(module, op, loops, loads, target, errors)).collect();
    unused_loads(module, loads, loops, &Users::new(module), errors);
    let dots: Vec<Dot> = dots.into_iter().collect::<Option<_>>()?;
    let rows = dots.first().map_or(0, |d| d.extents[0]);
    for dot in dots.iter().filter(|d| d.extents[0] != rows) {
        let text = format!("tt.dot with M = {} beside one with M = {rows}", dot.extents[0]);
        errors
            .push(refuse(module, dot.op, Code::Shape, text).note("supported", "the same M in all products"));
    }
    if errors.len() > before {
        return None;
    }
    let several = dots.len() > 1;
    for (number, dot) in dots.iter().enumerate() {
        for (operand, name) in [(&dot.b, "b"), (&dot.a, "a")] {
            if let OperandSource::Tile { load, .. } = operand
                && let Some(load) = loads.get_mut(*load)
            {
                load.name = if several { format!("{name}{number}") } else { name.to_owned() };
            }
        }
    }
    Some(dots)
}

fn product(
    module: &Module,
    op: OpId,
    loops: &[OpId],
    loads: &[TileLoad],
    target: &Target,
    errors: &mut Vec<Diagnostic>,
) -> Option<Dot> {
    if !in_any(module, op, loops) {
        let text = "tt.dot outside a pipelined loop is not supported yet";
        errors.push(refuse(module, op, Code::Op, text).note("supported", "products in the pipelined loop"));
        return None;
    }
    let scaled = module.ops[op].opcode == Opcode::DotBlockScaled;
    let element = match scaled {
        // Bytes, whatever is in them.
        true => Some(Element::E4m3),
        false => precision(module, op, target, errors),
    };
    let scales = if scaled { scales(module, op, loads, errors)? } else { Vec::new() };
    let a = operand(module, op, 0, loads, target, errors);
    let b = operand(module, op, 1, loads, target, errors);
    let extents = extents(module, op, target, errors);
    let (element, a, b, extents) = (element?, a?, b?, extents?);
    check_layout(module, op, &a, &b, element, loads, errors);
    Some(Dot { op, a, b, scales, extents, element })
}

/// The loads of the tables of scales of a product, which lie in memory as the tensor core reads them (C69).
fn scales(module: &Module, op: OpId, loads: &[TileLoad], errors: &mut Vec<Diagnostic>) -> Option<Vec<usize>> {
    let tables = module.ops[op].operands.iter().skip(3);
    let found = tables.map(|&table| {
        let (base, _) = reshapes(module, table);
        loads.iter().position(|load| load.value == base && load.plan.swizzle == 0)
    });
    let found: Option<Vec<usize>> = found.collect();
    if found.is_none() {
        let text =
            "scales of tt.dot_scaled that no descriptor loads in the order of the tensor core's tables";
        let error = refuse(module, op, Code::Op, text).rule("C69");
        errors.push(error.note("supported", "512 bytes for each 128 rows and four blocks of K, taken apart"));
    }
    found
}

/// What the tensor core multiplies; other types and precisions are refused.
fn precision(module: &Module, op: OpId, target: &Target, errors: &mut Vec<Diagnostic>) -> Option<Element> {
    let operands = &module.ops[op].operands;
    let (a, b) = (module.ty(*operands.first()?).elem(), module.ty(*operands.get(1)?).elem());
    let result = module.ty(module.result(op)?).elem();
    let supported = "bf16, f16, f8E4M3FN, f8E5M2, and f32 with inputPrecision = tf32, accumulated in f32; f16 by wgmma in f16, too";
    if a != b || !(*result == Type::F32 || sums_halves(module, op, target)) {
        let text = format!("tt.dot of {a} and {b} into {result}");
        errors.push(refuse(module, op, Code::Type, text).note("supported", supported));
        return None;
    }
    let wanted = module.attr(op, "inputPrecision").and_then(Attr::as_str).unwrap_or("ieee");
    let element = match a {
        Type::Float(FloatKind::BF16) => Element::Bf16,
        Type::Float(FloatKind::F16) => Element::F16,
        Type::Float(FloatKind::F8E4M3FN) => Element::E4m3,
        Type::Float(FloatKind::F8E5M2) => Element::E5m2,
        Type::Float(FloatKind::F32) if wanted == "tf32" => Element::Tf32,
        Type::Float(FloatKind::F32) => {
            let text = format!("tt.dot of f32 with inputPrecision {wanted}");
            errors.push(
                refuse(module, op, Code::Precision, text)
                    .rule("C7")
                    .note("supported", "inputPrecision = tf32")
                    .note("instead", "allow tf32 where the kernel calls dot"),
            );
            return None;
        }
        other => {
            let text = format!("tt.dot of {other}");
            errors.push(refuse(module, op, Code::Type, text).note("supported", supported));
            return None;
        }
    };
    if sums_anew(module, op, target) {
        let imprecise = module.attr(op, "maxNumImpreciseAcc").and_then(Attr::as_i64).unwrap_or(0);
        let k = module.ty(*operands.first()?).shape().last().copied().unwrap_or(0);
        let text = format!("tt.dot with maxNumImpreciseAcc = {imprecise} below its K of {k}");
        // One partition has code for it.
        errors.push(
            refuse(module, op, Code::Op, text)
                .rule("C7")
                .note("supported", format!("maxNumImpreciseAcc of 0 or at least {k}")),
        );
        return None;
    }
    Some(element)
}

/// Operand 0 (A) or 1 (B): a loaded tile, seen through views, or for A a tile in registers.
fn operand(
    module: &Module,
    op: OpId,
    index: usize,
    loads: &[TileLoad],
    target: &Target,
    errors: &mut Vec<Diagnostic>,
) -> Option<OperandSource> {
    let name = if index == 0 { "a" } else { "b" };
    let value = *module.ops[op].operands.get(index)?;
    let seen = look_through(module, value);
    let Some(load) = loads.iter().position(|l| l.value == seen.base) else {
        let maker = module.def_op(seen.base).map(|d| module.ops[d].opcode);
        // A load that was refused itself says enough.
        if matches!(maker, Some(Opcode::DescriptorLoad | Opcode::Load)) {
            return None;
        }
        let multiplies = target.has(Feature::Wgmma) || target.has(Feature::Tcgen05);
        let narrow = multiplies && module.ty(seen.base).elem_bits() == Some(16);
        // A reshape that moves elements is no view of a slot, and lanes of a partition of its own cannot do it.
        let made = maker.is_some_and(|m| class(m) == Class::Pure && m != Opcode::Reshape);
        if index == 0 && narrow && seen.views.is_empty() && made {
            return Some(OperandSource::Registers);
        }
        let text = format!("operand {name} of tt.dot is not a tile loaded by descriptor");
        errors.push(refuse(module, op, Code::Op, text).note(
            "supported",
            "tiles of tt.descriptor_load, transposed or not; for a also 16-bit tiles computed element by element",
        ));
        return None;
    };
    if seen.order.len() != 2 || !(seen.plain() || seen.transposed()) {
        let text = format!("operand {name} of tt.dot is a view of rank {}", seen.order.len());
        errors.push(refuse(module, op, Code::Shape, text).note("supported", "matrices"));
        return None;
    }
    let transposed = seen.transposed();
    Some(OperandSource::Tile { load, transposed, k_major: transposed == (index == 1) })
}

/// M, N, K, if some wgmma shape covers them (T12, C63).
fn extents(module: &Module, op: OpId, target: &Target, errors: &mut Vec<Diagnostic>) -> Option<[u64; 3]> {
    let operands = &module.ops[op].operands;
    let (a, b) = (module.ty(*operands.first()?), module.ty(*operands.get(1)?));
    let ([m, k], [_, n]) = (non_unit(a.shape()).try_into().ok()?, non_unit(b.shape()).try_into().ok()?);
    let [m, k, n]: [u64; 3] = [m, k, n];
    let k_step = 256 / u64::from(a.elem_bits()?.max(1));
    let rows = u64::from(target.threads.warps_per_cta() / target.threads.warps_per_group.max(1))
        .saturating_sub(1)
        * 64;
    if rows == 0 {
        let threads = target.threads.per_cta;
        let text = format!("{threads} threads a CTA leave no warpgroup that computes");
        let refusal = refuse(module, op, Code::Capacity, text).rule("T4");
        errors.push(
            refusal
                .note("needs", "a warpgroup that copies and one that computes")
                .note("instead", "fewer CTAs on an SM"),
        );
        return None;
    }
    let mut complain = |what: String, needs: String| {
        errors.push(refuse(module, op, Code::Shape, what).rule("C63").note("supported", needs));
    };
    let (each, columns) = if target.has(Feature::Tcgen05) { (128, 16) } else { (64, 8) };
    let rows = rows / 64 * each;
    // 64 rows take half of the lanes of tensor memory (E44).
    let half = target.has(Feature::Tcgen05) && m == HALF_ROWS;
    if !(m.is_multiple_of(each) || half) || m > rows {
        let least = if target.has(Feature::Tcgen05) { "64, or " } else { "" };
        complain(
            format!("tt.dot with M = {m}"),
            format!("{least}multiples of {each} up to {rows}: {each} rows per warpgroup"),
        );
    }
    if !n.is_multiple_of(columns) || n > 256 {
        complain(format!("tt.dot with N = {n}"), format!("multiples of {columns} up to 256"));
    }
    if !k.is_multiple_of(k_step) {
        complain(format!("tt.dot with K = {k}"), format!("multiples of {k_step} for {}", a.elem()));
    }
    Some([m, n, k])
}

/// 8- and 32-bit operands must have K contiguous; others need whole panels (C62).
fn check_layout(
    module: &Module,
    op: OpId,
    a: &OperandSource,
    b: &OperandSource,
    element: Element,
    loads: &[TileLoad],
    errors: &mut Vec<Diagnostic>,
) {
    for (name, operand, outer, store) in [
        ("a", a, "M", "store A as [M, K]"),
        ("b", b, "N", "store B as [N, K] and transpose it, as in gemm_fp8"),
    ] {
        let OperandSource::Tile { load, k_major, .. } = operand else { continue };
        let Some(load) = loads.get(*load) else { continue };
        let found = module.ty(load.descriptor).to_string();
        let found = found.strip_prefix("!tt.").unwrap_or(&found);
        if !k_major && element.bits() != 16 {
            let text = format!("{}-bit operand {name} of tt.dot must have K contiguous", element.bits());
            errors.push(
                refuse(module, op, Code::Layout, text)
                    .rule("C62")
                    .note("found", format!("{found}, {outer} contiguous"))
                    .note("instead", store),
            );
        } else if load.plan.swizzle == 0 || (!k_major && load.plan.swizzle != 128) {
            let text = format!("operand {name} of tt.dot is too narrow in memory");
            let least = if *k_major { "32 B along K" } else { "64 elements along the contiguous extent" };
            errors.push(
                refuse(module, op, Code::Layout, text)
                    .rule("C62")
                    .note("found", found)
                    .note("needs", format!("at least {least}")),
            );
        }
    }
}

/// Accumulators, and the tiles that products read from registers, must fit into the registers of the computing warps
/// (C31).
pub(super) fn check_registers(module: &Module, dots: &[Dot], target: &Target, errors: &mut Vec<Diagnostic>) {
    let Some(last) = dots.last() else { return };
    // Loops one after the other reuse each other's registers.
    let of_loop = |dot: &&Dot| innermost_for(module, dot.op) == innermost_for(module, last.op);
    let tiles: Vec<u64> = dots.iter().filter(of_loop).map(Dot::registers).collect();
    let [m, n, _] = last.extents;
    if !m.is_multiple_of(64) {
        return;
    }
    let tile_registers: u64 = tiles.iter().sum();
    if registers::fits(m, tile_registers, target) {
        return;
    }
    let (live, have) = (registers::live(tile_registers), registers::available(m, target));
    let parts = format!(
        "partition @math, {} B in {} warpgroups: {tile_registers} for {}, {} for addresses and the epilogue",
        live * 4 * 2 * m,
        m / 64,
        if tiles.len() == 1 { "the accumulator" } else { "accumulators and operands" },
        registers::OVERHEAD,
    );
    let what = if tiles.len() == 1 {
        format!("a {m}x{n} f32 accumulator")
    } else {
        format!("{} products", tiles.len())
    };
    let needs = if tiles.len() == 1 { "needs" } else { "need" };
    let text = format!("{what} {needs} {live} registers per thread of {have}");
    let mut error = refuse(module, last.op, Code::Registers, text).rule("C31").note("live", parts);
    let scale = |m_by: u64, n_by: u64| (m / m_by, n / n_by, tile_registers / n_by);
    let smaller = [scale(1, 2), scale(2, 1), scale(2, 2), (64, 128, 64)];
    let legal =
        |&(m, n, registers): &(u64, u64, u64)| m >= 64 && n >= 8 && registers::fits(m, registers, target);
    if let Some((m, n, _)) = smaller.into_iter().find(legal) {
        error = error.note("fits", format!("a tile of {m}x{n}"));
    }
    errors.push(error);
}

/// A tile that is loaded in a loop and read by something else than a product is refused, and one that nothing reads.
fn unused_loads(
    module: &Module,
    loads: &[TileLoad],
    loops: &[OpId],
    users: &Users,
    errors: &mut Vec<Diagnostic>,
) {
    for load in loads {
        let looped = in_any(module, load.op, loops);
        let mut used = false;
        for (user, _) in users.through_views(module, load.value) {
            if module.ops[user].opcode.is_product() || !looped {
                used = true;
                continue;
            }
            let text = format!("{} reads a tile loaded in the loop", module.op_name(user));
            let error = refuse(module, user, Code::Op, text);
            errors.push(error.note("supported", "tt.dot, through transposes"));
        }
        if !used {
            errors.push(
                refuse(module, load.op, Code::Op, "nothing multiplies this tile")
                    .note("instead", "remove the load"),
            );
        }
    }
}
