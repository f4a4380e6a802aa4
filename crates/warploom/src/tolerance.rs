//! How far a result may lie from the meaning of a kernel: what is rounded to a narrow type on the way to memory may be
//! rounded the other way where sums are taken in another order or products are fused (C68).

use std::collections::HashSet;

use warploom_ir::{Attr, FloatKind, Module, OpId, Opcode, Type, ValueDef, ValueId, walk};

/// Relative error that rounding to an element type and C68's approximations may cause.
pub(crate) fn of_type(elem: &Type) -> f64 {
    match elem {
        Type::Float(FloatKind::F8E4M3FN | FloatKind::F8E5M2) => 0.13,
        Type::Float(FloatKind::BF16) => 8e-3,
        Type::Float(FloatKind::F16) => 2e-3,
        Type::Float(_) => 2e-5,
        _ => 0.0,
    }
}

/// The same for what a kernel leaves behind a parameter: that of its elements, and of what is computed in a narrower type
/// before it is stored there.
pub(crate) fn of_param(module: &Module, func: OpId, param: ValueId) -> f64 {
    let elem = match module.ty(param) {
        Type::Ptr { pointee, .. } => (**pointee).clone(),
        ty => ty.elem().clone(),
    };
    let own = of_type(&elem);
    let writes = walk::ops(module, func).filter(|&op| {
        let first = module.ops[op].operands.first();
        let kept = matches!(module.ops[op].opcode, Opcode::Load | Opcode::DescriptorLoad);
        !kept
            && module.ops[op].opcode.facts().effect.writes()
            && first.is_some_and(|&to| behind(module, to).contains(&param))
    });
    match elem {
        Type::Float(_) => {
            let values = writes.flat_map(|op| module.ops[op].operands.iter().skip(1));
            let all = values.flat_map(|&value| behind(module, value));
            all.map(|value| rounded(module, value)).fold(own, f64::max)
        }
        // Integers are right or wrong.
        _ => own,
    }
}

/// What a value is made of, up to what memory holds.
fn behind(module: &Module, value: ValueId) -> HashSet<ValueId> {
    let (mut stack, mut seen) = (vec![value], HashSet::new());
    while let Some(value) = stack.pop() {
        if !seen.insert(value) {
            continue;
        }
        match module.values[value].def {
            ValueDef::Result { op, index } => match module.ops[op].opcode {
                Opcode::Load | Opcode::DescriptorLoad => {}
                Opcode::For | Opcode::If => {
                    stack.extend(carried(module, op, index as usize));
                }
                _ => stack.extend(handed(module, op)),
            },
            ValueDef::Argument { block, index } => {
                let owner = module.blocks[block].region.and_then(|region| module.regions[region].parent);
                match owner.map(|op| (op, module.ops[op].opcode)) {
                    Some((op, Opcode::For)) if index > 0 => {
                        stack.extend(carried(module, op, index as usize - 1));
                    }
                    Some((op, Opcode::While)) => stack.extend(handed(module, op)),
                    _ => {}
                }
            }
        }
    }
    seen
}

/// What a loop starts with and goes on with in place `n`, or what branches give there.
fn carried(module: &Module, op: OpId, n: usize) -> Vec<ValueId> {
    let first = match module.ops[op].opcode {
        Opcode::For => module.ops[op].operands.get(n + 3).copied(),
        _ => None,
    };
    let last = (0..module.ops[op].regions.len()).filter_map(|region| {
        let end = module.terminator(module.entry(op, region)?)?;
        module.ops[end].operands.get(n).copied()
    });
    first.into_iter().chain(last).collect()
}

/// Everything an operation and its regions' ends are given.
fn handed(module: &Module, op: OpId) -> Vec<ValueId> {
    let ends = (0..module.ops[op].regions.len()).filter_map(|region| {
        let end = module.terminator(module.entry(op, region)?)?;
        Some(module.ops[end].operands.to_vec())
    });
    module.ops[op].operands.iter().copied().chain(ends.flatten()).collect()
}

/// The error of a value that is rounded where it is computed; 0 where it is loaded, moved, or converted without loss.
fn rounded(module: &Module, value: ValueId) -> f64 {
    let Some(op) = module.def_op(value) else { return 0.0 };
    let elem = module.ty(value).elem();
    let narrow = matches!(elem, Type::Float(_)) && elem.elem_bits().is_some_and(|bits| bits < 32);
    let from = module.ops[op].operands.first().map(|&v| module.ty(v));
    let wider = |least: u32| from.and_then(Type::elem_bits).is_some_and(|bits| bits > least);
    let (elements, made) =
        (from.and_then(Type::elements).unwrap_or(1), module.ty(value).elements().unwrap_or(1));
    match module.ops[op].opcode {
        // What is computed a little differently may lie on the other side of where tf32 rounds, which has the bits of f16.
        Opcode::Dot if is_rounded_to_tf32(module, op) => of_type(&Type::Float(FloatKind::F16)),
        _ if !narrow => 0.0,
        // A sum of n numbers is rounded log2 n times at least, whatever the order is.
        Opcode::Reduce => of_type(elem) * f64::from((elements / made.max(1)).max(2).ilog2()),
        Opcode::FpToFp if !wider(elem.elem_bits().unwrap_or(0)) => 0.0,
        Opcode::SIToFP | Opcode::UIToFP if !wider(8) => 0.0,
        Opcode::ExtF | Opcode::Bitcast | Opcode::Load | Opcode::DescriptorLoad => 0.0,
        opcode if opcode.is_elementwise() || matches!(opcode, Opcode::Dot | Opcode::Scan) => of_type(elem),
        _ => 0.0,
    }
}

/// Whether a product rounds f32 that is computed, not loaded: what is loaded is rounded alike everywhere.
fn is_rounded_to_tf32(module: &Module, dot: OpId) -> bool {
    let precision = module.attr(dot, "inputPrecision").and_then(Attr::as_str);
    let factors = module.ops[dot].operands.iter().take(2);
    let single = |value: ValueId| *module.ty(value).elem() == Type::Float(FloatKind::F32);
    let computed = |value: ValueId| {
        let Some(op) = module.def_op(value).filter(|_| single(value)) else { return false };
        match module.ops[op].opcode {
            Opcode::ExtF | Opcode::FpToFp | Opcode::Bitcast | Opcode::Select => false,
            opcode => {
                opcode.is_elementwise() || matches!(opcode, Opcode::Dot | Opcode::Reduce | Opcode::Scan)
            }
        }
    };
    let mut made = factors.filter(|&&v| single(v)).flat_map(|&v| behind(module, v));
    precision == Some("tf32") && made.any(computed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// The tolerances of both parameters of a kernel that stores what a body makes of 128 elements behind `%x`.
    fn of(ty: &str, stored: &str, body: &str) -> [f64; 2] {
        let text = format!(
            "module {{
  tt.func @k(%x: !tt.ptr<{ty}>, %y: !tt.ptr<{stored}>) {{
    %range = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<128xi32>
    %xs = tt.splat %x : !tt.ptr<{ty}> -> tensor<128x!tt.ptr<{ty}>>
    %from = tt.addptr %xs, %range : tensor<128x!tt.ptr<{ty}>>, tensor<128xi32>
    %v = tt.load %from : tensor<128x!tt.ptr<{ty}>>
    {body}
    tt.return
  }}
}}
"
        );
        let module = warploom_ir::parse(&text).unwrap();
        let func = module.function("k").unwrap();
        let block = module.entry(func, 0).unwrap();
        let params = module.blocks[block].args.clone();
        [of_param(&module, func, params[0]), of_param(&module, func, params[1])]
    }

    const SCATTER: &str = "%ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %to = tt.addptr %ys, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %to, %w : tensor<128x!tt.ptr<f32>>";

    #[test]
    fn what_is_not_rounded_on_the_way_is_held_to_its_own_type() {
        let body = format!("%w = arith.addf %v, %v : tensor<128xf32>\n    {SCATTER}");
        assert_eq!(of("f32", "f32", &body), [2e-5, 2e-5]);
        // Narrow elements that are loaded and made wider lose nothing.
        let body = format!("%w = arith.extf %v : tensor<128xbf16> to tensor<128xf32>\n    {SCATTER}");
        assert_eq!(of("bf16", "f32", &body), [8e-3, 2e-5]);
    }

    #[test]
    fn what_is_rounded_on_the_way_may_be_off_by_as_much() {
        let body = format!(
            "%n = arith.truncf %v : tensor<128xf32> to tensor<128xbf16>
    %w = arith.extf %n : tensor<128xbf16> to tensor<128xf32>\n    {SCATTER}"
        );
        assert_eq!(of("f32", "f32", &body), [2e-5, 8e-3]);
        let body = "%s = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({
    ^bb0(%a: bf16, %b: bf16):
      %c = arith.addf %a, %b : bf16
      tt.reduce.return %c : bf16
    }) : (tensor<128xbf16>) -> bf16
    %w = arith.extf %s : bf16 to f32
    tt.store %y, %w : !tt.ptr<f32>";
        assert_eq!(of("bf16", "f32", body), [8e-3, 7.0 * 8e-3]);
    }

    #[test]
    fn factors_that_are_computed_and_rounded_to_tf32_may_be_off_by_as_much() {
        let product = |factor: &str, precision: &str| {
            let body = format!(
                "%e = tt.reshape %v : tensor<128xf32> -> tensor<16x8xf32>
    %f = math.exp2 %e : tensor<16x8xf32>
    %t = tt.reshape %v : tensor<128xf32> -> tensor<8x16xf32>
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %p = tt.dot {factor}, %t, %zero, inputPrecision = {precision} : tensor<16x8xf32> * tensor<8x16xf32> -> tensor<16x16xf32>
    %s = \"tt.reduce\"(%p) <{{axis = 1 : i32}}> ({{
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }}) : (tensor<16x16xf32>) -> tensor<16xf32>
    %to = tt.splat %y : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    tt.store %to, %s : tensor<16x!tt.ptr<f32>>"
            );
            of("f32", "f32", &body)[1]
        };
        assert_eq!(product("%f", "tf32"), 2e-3);
        assert_eq!(product("%f", "ieee"), 2e-5);
        assert_eq!(product("%e", "tf32"), 2e-5);
    }

    #[test]
    fn integers_are_right_or_wrong() {
        let body = "%w = arith.constant 1 : i32\n    tt.store %y, %w : !tt.ptr<i32>";
        assert_eq!(of("bf16", "i32", body), [8e-3, 0.0]);
    }
}
