//! Products of types that mma.sync lacks, by wider ones that give the same (C67, T12).
//!
//! 8-bit floats become f16, which holds both formats exactly, on chips whose tensor cores have none, and where the author
//! asks for sums that are more precise than those of 8-bit floats (C7). Accumulators of f16 are kept in f32 by each
//! product, and rounded behind it, where the chip's instruction has none of f16 for its operands.

use warploom_chips::{Feature, Target};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, BlockId, FloatKind, Module, OpId, Opcode, Type, ValueId};

use crate::emit::Emit;
use crate::place::remark;
use crate::views::look_through;
use crate::walk::preorder;

/// Rewrites such products; tells of each.
pub(crate) fn widen(module: &mut Module, func: OpId, target: &Target) -> Vec<Diagnostic> {
    let dots = |op: &OpId| module.ops[*op].opcode == Opcode::Dot;
    let all: Vec<OpId> = preorder(module, func).into_iter().filter(dots).collect();
    let mut told = Vec::new();
    for dot in all {
        let operands: Vec<ValueId> = module.ops[dot].operands.iter().copied().take(2).collect();
        let all_narrow = operands.iter().all(|&v| is_narrow(module.ty(v).elem()));
        let narrow = all_narrow && (!target.has(Feature::Fp8MmaSync) || sums_anew(module, dot, target));
        if narrow {
            let chip = target.name();
            let (why, rule) = match target.has(Feature::Fp8MmaSync) {
                true => {
                    ("adds up 8-bit floats less precisely than this product asks for: its operands", "C7")
                }
                false => ("multiplies no 8-bit floats: the operands of this product", "T12"),
            };
            told.push(remark(module, dot, Code::Target, format!("{chip} {why} become f16")).rule(rule));
        }
        let half = |&v: &ValueId| *module.ty(v).elem() == Type::Float(FloatKind::F16);
        let result = module.result(dot).filter(|v| half(v) && !sums_halves(module, dot, target));
        if result.is_some() {
            let text = "the accumulators of this product are kept in f32 and rounded to f16 behind it";
            told.push(remark(module, dot, Code::Type, text).rule("T12"));
        }
        let Some(block) = module.ops[dot].block.filter(|_| narrow || result.is_some()) else { continue };
        let Some(at) = module.blocks[block].ops.iter().position(|&op| op == dot) else { continue };
        let mut behind = module.blocks[block].ops.split_off(at);
        let loc = module.ops[dot].loc;
        for (index, operand) in operands.into_iter().enumerate().filter(|_| narrow) {
            let wide = wide(&mut Emit { out: module, block, loc }, operand);
            if let (Some(wide), Some(operand)) = (wide, module.ops[dot].operands.get_mut(index)) {
                *operand = wide;
            }
        }
        match result {
            Some(result) => {
                behind.remove(0);
                in_single(module, block, (dot, result), behind);
            }
            None => module.blocks[block].ops.extend(behind),
        }
    }
    told
}

/// A product with accumulators of f16, at the end of a block and in front of what stood behind it: with accumulators of
/// f32 between two conversions.
fn in_single(module: &mut Module, block: BlockId, (dot, result): (OpId, ValueId), behind: Vec<OpId>) {
    let half = module.ty(result).clone();
    let single = half.with_elem(Type::F32);
    let loc = module.ops[dot].loc;
    let old = module.ops[dot].operands.get(2).copied();
    let wide =
        old.map(|accumulator| Emit { out: module, block, loc }.value(Opcode::ExtF, &[accumulator], &single));
    if let (Some(wide), Some(operand)) = (wide, module.ops[dot].operands.get_mut(2)) {
        *operand = wide;
    }
    module.append(block, dot);
    let rounded = Emit { out: module, block, loc }.value(Opcode::TruncF, &[result], &half);
    module.blocks[block].ops.extend(behind);
    module.replace_all_uses(result, rounded);
    module.values[result].ty = single;
    // The conversion itself reads the product.
    let conversion = module.def_op(rounded);
    if let Some(operand) = conversion.and_then(|op| module.ops[op].operands.get_mut(0)) {
        *operand = result;
    }
}

/// Whether accumulators of f16 are what the chip's instruction has for a product: of f16 by mma.sync and wgmma. Those in
/// tensor memory are kept in f32.
pub(crate) fn sums_halves(module: &Module, dot: OpId, target: &Target) -> bool {
    let half = Type::Float(FloatKind::F16);
    let mut tiles = module.ops[dot].operands.iter().take(2).copied().chain(module.result(dot));
    let rows = module.result(dot).and_then(|v| module.ty(v).shape().first().copied());
    let tensor = target.has(Feature::Tcgen05) && rows.is_none_or(|rows| rows.is_multiple_of(64));
    tiles.all(|v| *module.ty(v).elem() == half) && !tensor
}

/// Whether a product of 8-bit floats asks for sums that start anew within its K, and the chip's would lose bits else:
/// those of tcgen05 are f32 to the last bit.
pub(crate) fn sums_anew(module: &Module, dot: OpId, target: &Target) -> bool {
    let operand = module.ops[dot].operands.first().map(|&v| module.ty(v));
    let k = operand.and_then(|ty| i64::try_from(*ty.shape().last()?).ok()).unwrap_or(0);
    let most = module.attr(dot, "maxNumImpreciseAcc").and_then(Attr::as_i64).unwrap_or(0);
    let narrow = operand.is_some_and(|ty| is_narrow(ty.elem()));
    narrow && 0 < most && most < k && !target.has(Feature::Tcgen05)
}

/// Whether elements are 8-bit floats.
fn is_narrow(elem: &Type) -> bool {
    matches!(elem, Type::Float(FloatKind::F8E4M3FN | FloatKind::F8E5M2))
}

/// An operand as f16: the tile behind its views is converted, and seen the same way.
fn wide(emit: &mut Emit<'_>, operand: ValueId) -> Option<ValueId> {
    let seen = look_through(emit.out, operand);
    let ty = emit.out.ty(seen.base).with_elem(Type::Float(FloatKind::F16));
    let value = emit.value(Opcode::FpToFp, &[seen.base], &ty);
    emit.seen_as(value, &seen.views)
}
