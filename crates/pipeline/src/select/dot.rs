//! The matrix product of the loop: its operands, extents, precision and registers (C7, C31, C62, C63).

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, FloatKind, Module, OpId, Opcode, Type, ValueDef, ValueId};
use warploom_target::{Element, Feature, Target};

use super::{Dot, Operand, TileLoad};
use crate::place::refuse;
use crate::registers;
use crate::views::{look_through, non_unit};
use crate::walk::Users;

/// The only product of the loop, with every reason against it.
pub(super) fn select(
    module: &Module,
    scf_for: OpId,
    loads: &mut [TileLoad],
    target: &Target,
    users: &Users,
    errors: &mut Vec<Diagnostic>,
) -> Option<Dot> {
    let body = module.entry(scf_for, 0)?;
    let all = module.blocks[body].ops.iter().copied();
    let dots: Vec<OpId> = all.filter(|&op| module.ops[op].opcode == Opcode::Dot).collect();
    let Some(&op) = dots.first() else {
        errors.push(
            refuse(module, scf_for, Code::Loop, "the loop loads tiles and multiplies none")
                .rule("C9")
                .note("supported", "a loop with one tt.dot of loaded tiles"),
        );
        return None;
    };
    for &extra in dots.iter().skip(1) {
        errors.push(
            refuse(module, extra, Code::Op, "a second tt.dot in the pipelined loop is not supported yet")
                .note("supported", "one tt.dot per loop"),
        );
    }
    if !target.has(Feature::Wgmma) {
        return None;
    }
    let before = errors.len();
    let element = precision(module, op, errors);
    let a = operand(module, op, 0, loads, errors);
    let b = operand(module, op, 1, loads, errors);
    let accumulator = accumulator(module, op, scf_for, users, errors);
    let extents = extents(module, op, target, errors);
    let (element, a, b, accumulator, extents) = (element?, a?, b?, accumulator?, extents?);
    check_layout(module, op, &a, &b, element, loads, errors);
    if extents[0].is_multiple_of(64) {
        check_registers(module, op, extents, target, errors);
    }
    unused_loads(module, loads, users, errors);
    if errors.len() > before || dots.len() > 1 {
        return None;
    }
    for (index, name) in [(b.load, "b"), (a.load, "a")] {
        if let Some(load) = loads.get_mut(index) {
            load.name = name.to_owned();
        }
    }
    Some(Dot { op, a, b, extents, element, accumulator })
}

/// What the tensor core multiplies; other types and precisions are refused.
fn precision(module: &Module, op: OpId, errors: &mut Vec<Diagnostic>) -> Option<Element> {
    let operands = &module.ops[op].operands;
    let (a, b) = (module.ty(*operands.first()?).elem(), module.ty(*operands.get(1)?).elem());
    let result = module.ty(module.result(op)?).elem();
    let supported = "bf16, f16, f8E4M3FN, f8E5M2, and f32 with inputPrecision = tf32, accumulated in f32";
    if a != b || *result != Type::F32 {
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
    let imprecise = module.attr(op, "maxNumImpreciseAcc").and_then(Attr::as_i64).unwrap_or(0);
    let k = module.ty(*operands.first()?).shape().last().copied().unwrap_or(0);
    if element.bits() == 8 && imprecise > 0 && i64::try_from(k).is_ok_and(|k| imprecise < k) {
        let text = format!("tt.dot with maxNumImpreciseAcc = {imprecise} below its K of {k}");
        errors.push(
            refuse(module, op, Code::Precision, text)
                .rule("C7")
                .note("supported", format!("maxNumImpreciseAcc of 0 or at least {k}")),
        );
        return None;
    }
    Some(element)
}

/// Operand 0 (A) or 1 (B): a tile loaded in this loop, seen through views.
fn operand(
    module: &Module,
    op: OpId,
    index: usize,
    loads: &[TileLoad],
    errors: &mut Vec<Diagnostic>,
) -> Option<Operand> {
    let name = if index == 0 { "a" } else { "b" };
    let value = *module.ops[op].operands.get(index)?;
    let seen = look_through(module, value);
    let Some(load) = loads.iter().position(|l| l.value == seen.base) else {
        let by_descriptor = module.def_op(seen.base);
        let refused = by_descriptor.is_some_and(|d| {
            matches!(module.ops[d].opcode, Opcode::DescriptorLoad | Opcode::Load)
                && module.ops[d].block == module.ops[op].block
        });
        // A load that was refused itself says enough.
        if !refused {
            errors.push(
                refuse(
                    module,
                    op,
                    Code::Op,
                    format!("operand {name} of tt.dot is not a tile loaded in the loop"),
                )
                .note("supported", "tiles of tt.descriptor_load in the same loop, transposed or not"),
            );
        }
        return None;
    };
    if seen.order.len() != 2 || !(seen.plain() || seen.transposed()) {
        let text = format!("operand {name} of tt.dot is a view of rank {}", seen.order.len());
        errors.push(refuse(module, op, Code::Shape, text).note("supported", "matrices"));
        return None;
    }
    let transposed = seen.transposed();
    Some(Operand { load, transposed, k_major: transposed == (index == 1) })
}

/// The loop-carried value that the product adds to: it must start from a constant and go round untouched.
fn accumulator(
    module: &Module,
    op: OpId,
    scf_for: OpId,
    users: &Users,
    errors: &mut Vec<Diagnostic>,
) -> Option<usize> {
    let body = module.entry(scf_for, 0)?;
    let (result, yielded) = (module.result(op)?, module.terminator(body)?);
    let into = *module.ops[op].operands.get(2)?;
    let carried = match module.values[into].def {
        ValueDef::Argument { block, index } if block == body && index > 0 => Some(index as usize - 1),
        _ => None,
    };
    let returned = |at: usize| module.ops[yielded].operands.get(at).copied();
    let Some(at) =
        carried.filter(|&at| returned(at).is_some_and(|v| v == result || waits_for(module, v, result)))
    else {
        errors.push(
            refuse(
                module,
                op,
                Code::Op,
                "the accumulator of tt.dot is not carried from one trip to the next",
            )
            .rule("C30")
            .note("supported", "acc = tt.dot a, b, acc with nothing in between"),
        );
        return None;
    };
    let other = |&&user: &&OpId| user != op && user != yielded && module.ops[user].opcode != Opcode::MmaWait;
    if let Some(&user) = users.of(into).iter().chain(users.of(result)).find(other) {
        errors.push(
            refuse(
                module,
                user,
                Code::Op,
                format!("{} reads the accumulator inside the loop", module.op_name(user)),
            )
            .note("supported", "acc = tt.dot a, b, acc with nothing in between"),
        );
        return None;
    }
    let initial = *module.ops[scf_for].operands.get(3 + at)?;
    let constant = module.def_op(initial).is_some_and(|d| module.ops[d].opcode == Opcode::Constant);
    if !constant {
        errors.push(
            refuse(module, scf_for, Code::Op, "the accumulator does not start from a constant")
                .note("supported", "a constant, most often zero")
                .note("instead", "start from zero and add the tile after the loop"),
        );
        return None;
    }
    Some(at)
}

fn waits_for(module: &Module, value: ValueId, result: ValueId) -> bool {
    module.def_op(value).is_some_and(|op| {
        module.ops[op].opcode == Opcode::MmaWait && module.ops[op].operands.contains(&result)
    })
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
    let mut complain = |what: String, needs: String| {
        errors.push(refuse(module, op, Code::Shape, what).rule("C63").note("supported", needs));
    };
    if !m.is_multiple_of(64) || m > rows {
        complain(
            format!("tt.dot with M = {m}"),
            format!("multiples of 64 up to {rows}: 64 rows per warpgroup"),
        );
    }
    if !n.is_multiple_of(8) || n > 256 {
        complain(format!("tt.dot with N = {n}"), "multiples of 8 up to 256".to_owned());
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
    a: &Operand,
    b: &Operand,
    element: Element,
    loads: &[TileLoad],
    errors: &mut Vec<Diagnostic>,
) {
    for (name, operand, outer, store) in [
        ("a", a, "M", "store A as [M, K]"),
        ("b", b, "N", "store B as [N, K] and transpose it, as in gemm_fp8"),
    ] {
        let Some(load) = loads.get(operand.load) else { continue };
        let found = module.ty(load.descriptor).to_string();
        let found = found.strip_prefix("!tt.").unwrap_or(&found);
        if !operand.k_major && element.bits() != 16 {
            let text = format!("{}-bit operand {name} of tt.dot must have K contiguous", element.bits());
            errors.push(
                refuse(module, op, Code::Layout, text)
                    .rule("C62")
                    .note("found", format!("{found}, {outer} contiguous"))
                    .note("instead", store),
            );
        } else if load.plan.swizzle == 0 || (!operand.k_major && load.plan.swizzle != 128) {
            let text = format!("operand {name} of tt.dot is too narrow in memory");
            let least =
                if operand.k_major { "32 B along K" } else { "64 elements along the contiguous extent" };
            errors.push(
                refuse(module, op, Code::Layout, text)
                    .rule("C62")
                    .note("found", found)
                    .note("needs", format!("at least {least}")),
            );
        }
    }
}

/// The accumulator must fit into the registers of the computing warps (C31).
fn check_registers(
    module: &Module,
    op: OpId,
    extents: [u64; 3],
    target: &Target,
    errors: &mut Vec<Diagnostic>,
) {
    let [m, n, _] = extents;
    if registers::fits(m, n, target) {
        return;
    }
    let (live, have) = (registers::live(n), registers::available(m, target));
    let text = format!("a {m}x{n} f32 accumulator needs {live} registers per thread of {have}");
    let parts = format!(
        "{} for the accumulator, {} for addresses and the epilogue, in {} warpgroups",
        n / 2,
        registers::OVERHEAD,
        m / 64
    );
    let mut error = refuse(module, op, Code::Registers, text).rule("C31").note("live", parts);
    let smaller = [(m, n / 2), (m / 2, n), (m / 2, n / 2), (64, 128)];
    if let Some((m, n)) =
        smaller.into_iter().find(|&(m, n)| m >= 64 && n >= 8 && registers::fits(m, n, target))
    {
        error = error.note("fits", format!("a tile of {m}x{n}"));
    }
    errors.push(error);
}

/// A tile that is loaded and read by something else than the product is refused.
fn unused_loads(module: &Module, loads: &[TileLoad], users: &Users, errors: &mut Vec<Diagnostic>) {
    for load in loads {
        let mut stack = vec![load.value];
        let mut used = false;
        while let Some(value) = stack.pop() {
            for &user in users.of(value) {
                match module.ops[user].opcode {
                    Opcode::Trans | Opcode::Reshape => stack.extend(module.result(user)),
                    Opcode::Dot => used = true,
                    _ => errors.push(
                        refuse(
                            module,
                            user,
                            Code::Op,
                            format!("{} reads a tile loaded in the loop", module.op_name(user)),
                        )
                        .note("supported", "tt.dot, through transposes"),
                    ),
                }
            }
        }
        if !used {
            errors.push(
                refuse(module, load.op, Code::Op, "nothing multiplies this tile")
                    .note("instead", "remove the load"),
            );
        }
    }
}
