//! Shapes, reductions, scans and products of tiles.

use warploom_ir::interp::{Fault, InterpOptions, Tensor};
use warploom_ir::{Attr, FloatKind, Opcode, Type, ValueId};

use crate::build::{Kernel, apply, random, tensor, word};

const I32: Type = Type::I32;

/// 0, 1, 2, .. of this shape.
fn counting(shape: &[u64]) -> Tensor {
    let mut t = Tensor::zeros(I32, shape).unwrap();
    t.fill(|i| i as f64);
    t
}

/// One operation from tiles of `i32` to one of shape `out`.
fn reshaped(
    inputs: &[&Tensor],
    opcode: Opcode,
    out: &[u64],
    props: &[(&str, Attr)],
) -> Result<Vec<f64>, Fault> {
    let results = apply(inputs, &[(I32, out)], &InterpOptions::default(), |k, tiles| {
        vec![k.with(opcode, tiles, Type::tensor(out, I32), props)]
    })?;
    Ok(results[0].to_f64())
}

fn order(values: &[i64]) -> [(&'static str, Attr); 1] {
    [("order", Attr::DenseArray { elem: I32, values: values.to_vec() })]
}

#[test]
fn trans_moves_each_index() {
    let x = counting(&[2, 3, 4]);
    let found = reshaped(&[&x], Opcode::Trans, &[4, 2, 3], &order(&[2, 0, 1])).unwrap();
    for (p, value) in found.into_iter().enumerate() {
        let (a, b, c) = (p / 6, p / 3 % 2, p % 3);
        assert_eq!(value, (b * 12 + c * 4 + a) as f64);
    }
    for bad in [&[2, 1, 1][..], &[0, 1], &[0, 1, 5], &[0, 1, -1]] {
        assert!(matches!(reshaped(&[&x], Opcode::Trans, &[4, 2, 3], &order(bad)), Err(Fault::Malformed(_))));
    }
}

#[test]
fn broadcast_repeats_extents_of_one() {
    let x = counting(&[2, 1, 2]);
    let found = reshaped(&[&x], Opcode::Broadcast, &[2, 3, 2], &[]).unwrap();
    assert_eq!(found, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 2.0, 3.0, 2.0, 3.0]);
    let bad = reshaped(&[&counting(&[2, 2])], Opcode::Broadcast, &[2, 4], &[]);
    assert!(matches!(bad, Err(Fault::Malformed(_))));
}

#[test]
fn join_split_and_cat() {
    let (x, y) = (counting(&[2]), tensor(I32, &[7.0, 8.0]));
    assert_eq!(reshaped(&[&x, &y], Opcode::Join, &[2, 2], &[]).unwrap(), [0.0, 7.0, 1.0, 8.0]);
    assert_eq!(reshaped(&[&x, &y], Opcode::Cat, &[4], &[]).unwrap(), [0.0, 1.0, 7.0, 8.0]);
    let outputs = [(I32, &[3u64][..]), (I32, &[3])];
    let halves = apply(&[&counting(&[3, 2])], &outputs, &InterpOptions::default(), |k, tiles| {
        let half = Type::tensor(&[3], I32);
        let op = k.op(Opcode::Split, tiles, &[half.clone(), half], &[]);
        k.module.ops[op].results.to_vec()
    });
    let halves: Vec<_> = halves.unwrap().iter().map(Tensor::to_f64).collect();
    assert_eq!(halves, [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]);
}

#[test]
fn gather_reads_along_its_axis() {
    let x = counting(&[2, 3]);
    let mut index = Tensor::zeros(I32, &[2, 2]).unwrap();
    index.fill(|i| [2.0, 0.0, 1.0, 1.0][i]);
    let along = |axis| [("axis", Attr::i32(axis))];
    assert_eq!(reshaped(&[&x, &index], Opcode::Gather, &[2, 2], &along(1)).unwrap(), [2.0, 0.0, 4.0, 4.0]);
    let found = reshaped(&[&x, &index], Opcode::Gather, &[2, 2], &along(0));
    assert_eq!(found, Err(Fault::Index { index: 2, extent: 2 }));
    assert!(matches!(reshaped(&[&x, &index], Opcode::Gather, &[2, 2], &along(2)), Err(Fault::Malformed(_))));
}

#[test]
fn histogram_counts() {
    let x = tensor(I32, &[3.0, 0.0, 3.0, 1.0]);
    assert_eq!(reshaped(&[&x], Opcode::Histogram, &[4], &[]).unwrap(), [1.0, 1.0, 0.0, 2.0]);
    let found = reshaped(&[&x], Opcode::Histogram, &[2], &[]);
    assert_eq!(found, Err(Fault::Index { index: 3, extent: 2 }));
}

/// Adds a region of `ends` over pairs of these types.
fn combining(
    k: &mut Kernel,
    op: warploom_ir::OpId,
    types: &[Type],
    ends: Opcode,
    body: fn(&mut Kernel, &[ValueId]) -> Vec<ValueId>,
) {
    let args: Vec<Type> = types.iter().chain(types).cloned().collect();
    k.region(op, &args, |k, args| {
        let values = body(k, args);
        k.end(ends, &values);
    });
}

fn sum(k: &mut Kernel, args: &[ValueId]) -> Vec<ValueId> {
    vec![k.value(Opcode::AddF, args, Type::F32)]
}

#[test]
fn reductions_along_each_axis() {
    let shape = [2u64, 3, 4];
    let x = random(Type::F32, &shape, 9);
    let values: Vec<f32> = x.to_f64().iter().map(|&v| v as f32).collect();
    for axis in 0..3 {
        let mut out = shape.to_vec();
        out.remove(axis);
        let found = apply(&[&x], &[(Type::F32, &out)], &InterpOptions::default(), |k, tiles| {
            let props = [("axis", Attr::i32(axis as i32))];
            let op = k.op(Opcode::Reduce, tiles, &[Type::tensor(&out, Type::F32)], &props);
            combining(k, op, &[Type::F32], Opcode::ReduceReturn, sum);
            vec![k.module.result(op).unwrap()]
        });
        let mut expected = vec![0f32; 24 / shape[axis] as usize];
        for (p, value) in values.iter().enumerate() {
            let index = [p / 12, p / 4 % 3, p % 4];
            let at = (0..3).filter(|&d| d != axis).fold(0, |at, d| at * shape[d] as usize + index[d]);
            expected[at] += value;
        }
        let expected: Vec<f64> = expected.into_iter().map(f64::from).collect();
        assert_eq!(found.unwrap()[0].to_f64(), expected, "axis {axis}");
    }
}

/// The largest value and where it stands first, by a region of two values; to a scalar.
#[test]
fn a_reduction_of_two_values_to_scalars() {
    let x = tensor(Type::F32, &[1.0, 5.0, -2.0, 5.0]);
    let index = counting(&[4]);
    let outputs = [(Type::F32, &[1u64][..]), (I32, &[1])];
    let found = apply(&[&x, &index], &outputs, &InterpOptions::default(), |k, tiles| {
        let op = k.op(Opcode::Reduce, tiles, &[Type::F32, I32], &[("axis", Attr::i32(0))]);
        combining(k, op, &[Type::F32, I32], Opcode::ReduceReturn, |k, args| {
            let [x, i, y, j] = *args else { return Vec::new() };
            let first = k.with(Opcode::CmpF, &[x, y], Type::I1, &[("predicate", word("oge"))]);
            vec![
                k.value(Opcode::Select, &[first, x, y], Type::F32),
                k.value(Opcode::Select, &[first, i, j], I32),
            ]
        });
        let results = k.module.ops[op].results.to_vec();
        let splat = |k: &mut Kernel, v, ty| k.value(Opcode::Splat, &[v], Type::tensor(&[1], ty));
        vec![splat(k, results[0], Type::F32), splat(k, results[1], I32)]
    });
    let found = found.unwrap();
    assert_eq!((found[0].to_f64(), found[1].to_f64()), (vec![5.0], vec![1.0]));
}

#[test]
fn scans_forwards_and_backwards() {
    let x = tensor(Type::F32, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let matrix = x.clone();
    for (axis, reverse, expected) in [
        (1, false, [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]),
        (1, true, [6.0, 5.0, 3.0, 15.0, 11.0, 6.0]),
        (0, false, [1.0, 2.0, 3.0, 5.0, 7.0, 9.0]),
        (0, true, [5.0, 7.0, 9.0, 4.0, 5.0, 6.0]),
    ] {
        let found = apply(&[&matrix], &[(Type::F32, &[2, 3])], &InterpOptions::default(), |k, tiles| {
            let ty = Type::tensor(&[2, 3], Type::F32);
            let x = k.value(Opcode::Reshape, tiles, ty.clone());
            let props = [("axis", Attr::i32(axis)), ("reverse", Attr::Bool(reverse))];
            let op = k.op(Opcode::Scan, &[x], &[ty], &props);
            combining(k, op, &[Type::F32], Opcode::ScanReturn, sum);
            vec![k.module.result(op).unwrap()]
        });
        assert_eq!(found.unwrap()[0].to_f64(), expected, "{axis} {reverse}");
    }
}

/// A value from outside the region, and a constant inside it: x, y -> x + 2 y + c.
#[test]
fn regions_may_use_values_from_outside() {
    let x = tensor(Type::F32, &[1.0, 10.0, 100.0]);
    let found = apply(&[&x], &[(Type::F32, &[1])], &InterpOptions::default(), |k, tiles| {
        let one = Attr::Float { bits: 1.0f32.to_bits().into(), ty: Type::F32 };
        let outside = k.with(Opcode::Constant, &[], Type::F32, &[("value", one)]);
        let op = k.op(Opcode::Reduce, tiles, &[Type::F32], &[("axis", Attr::i32(0))]);
        k.region(op, &[Type::F32, Type::F32], |k, args| {
            let two = Attr::Float { bits: 2.0f32.to_bits().into(), ty: Type::F32 };
            let two = k.with(Opcode::Constant, &[], Type::F32, &[("value", two)]);
            let y = k.value(Opcode::MulF, &[args[1], two], Type::F32);
            let sum = k.value(Opcode::AddF, &[args[0], y], Type::F32);
            let sum = k.value(Opcode::AddF, &[sum, outside], Type::F32);
            k.end(Opcode::ReduceReturn, &[sum]);
        });
        let total = k.module.result(op).unwrap();
        vec![k.value(Opcode::Splat, &[total], Type::tensor(&[1], Type::F32))]
    });
    assert_eq!(found.unwrap()[0].to_f64(), [1.0 + 20.0 + 1.0 + 200.0 + 1.0]);
}

#[test]
fn a_reduction_region_with_a_loop_is_refused_by_name() {
    let x = tensor(Type::F32, &[1.0, 2.0]);
    let found = apply(&[&x], &[(Type::F32, &[1])], &InterpOptions::default(), |k, tiles| {
        let op = k.op(Opcode::Reduce, tiles, &[Type::F32], &[("axis", Attr::i32(0))]);
        combining(k, op, &[Type::F32], Opcode::ReduceReturn, |k, args| {
            k.op(Opcode::For, args, &[], &[]);
            vec![args[0]]
        });
        vec![]
    });
    assert_eq!(found, Err(Fault::Unsupported("scf.for in the region of tt.reduce".into())));
}

/// `a b + c` of these types by `tt.dot`.
fn dot(a: &Tensor, b: &Tensor, c: &Tensor, props: &[(&str, Attr)]) -> Result<Vec<f64>, Fault> {
    let ty = Type::tensor(c.shape(), c.elem().clone());
    let outputs = [(c.elem().clone(), c.shape())];
    let found = apply(&[a, b, c], &outputs, &InterpOptions::default(), |k, tiles| {
        vec![k.with(Opcode::Dot, tiles, ty, props)]
    })?;
    Ok(found[0].to_f64())
}

fn product(a: &Tensor, b: &Tensor, c: &Tensor, operand: fn(f64) -> f64) -> Vec<f64> {
    let (m, k, n) = (a.shape()[0] as usize, a.shape()[1] as usize, b.shape()[1] as usize);
    let (x, y, z) = (a.to_f64(), b.to_f64(), c.to_f64());
    let term = |i: usize, j: usize, l: usize| operand(x[i * k + l]) * operand(y[l * n + j]);
    (0..m * n).map(|p| z[p] + (0..k).map(|l| term(p / n, p % n, l)).sum::<f64>()).collect()
}

#[test]
fn dots_of_every_operand_type() {
    for kind in FloatKind::ALL {
        let elem = Type::Float(kind);
        let out = if kind == FloatKind::F64 { elem.clone() } else { Type::F32 };
        for k in [1, 3, 4, 8, 13] {
            let (a, b) = (random(elem.clone(), &[5, k], 1), random(elem.clone(), &[k, 7], 2));
            let c = random(out.clone(), &[5, 7], 3);
            let found = dot(&a, &b, &c, &[]).unwrap();
            let worst =
                found.iter().zip(product(&a, &b, &c, |x| x)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let bound = if kind == FloatKind::F64 { 1e-14 } else { 1e-6 };
            assert!(worst <= bound, "{} {k}: {worst}", kind.name());
        }
    }
}

#[test]
fn tf32_truncates_operands_and_nothing_else() {
    let (a, b) = (random(Type::F32, &[4, 8], 1), random(Type::F32, &[8, 4], 2));
    let c = random(Type::F32, &[4, 4], 3);
    let found = dot(&a, &b, &c, &[("inputPrecision", word("tf32"))]).unwrap();
    let cut = |x: f64| f64::from(f32::from_bits((x as f32).to_bits() >> 13 << 13));
    let expected = product(&a, &b, &c, cut);
    let full = product(&a, &b, &c, |x| x);
    let apart = |v: &[f64]| found.iter().zip(v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart(&expected) < 1e-6 && apart(&full) > 1e-4);
    for precision in ["tf32x3", "bf16x3", "bf16x6", "ieee"] {
        let split = dot(&a, &b, &c, &[("inputPrecision", word(precision))]).unwrap();
        let apart = split.iter().zip(&full).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-6, "{precision}");
    }
}

#[test]
fn integer_dots_wrap_in_the_result_type() {
    let a = tensor(Type::int(8), &[-128.0, 127.0]);
    let found = apply(&[&a], &[(Type::I32, &[1, 1])], &InterpOptions::default(), |k, tiles| {
        let (row, column) = (Type::tensor(&[1, 2], Type::int(8)), Type::tensor(&[2, 1], Type::int(8)));
        let x = k.value(Opcode::Reshape, tiles, row);
        let y = k.value(Opcode::Reshape, tiles, column);
        let ty = Type::tensor(&[1, 1], I32);
        let c = k.full(Attr::i32(i32::MAX), ty.clone());
        vec![k.value(Opcode::Dot, &[x, y, c], ty)]
    });
    let expected = i32::MAX.wrapping_add(128 * 128 + 127 * 127);
    assert_eq!(found.unwrap()[0].to_f64(), [f64::from(expected)]);
}

#[test]
fn batched_dots() {
    let (a, b) = (random(Type::F32, &[2, 3, 4], 1), random(Type::F32, &[2, 4, 5], 2));
    let c = Tensor::zeros(Type::F32, &[2, 3, 5]).unwrap();
    let found = dot(&a, &b, &c, &[]).unwrap();
    let (x, y) = (a.to_f64(), b.to_f64());
    for (p, found) in found.into_iter().enumerate() {
        let (batch, i, j) = (p / 15, p / 5 % 3, p % 5);
        let sum: f64 = (0..4).map(|l| x[batch * 12 + i * 4 + l] * y[batch * 20 + l * 5 + j]).sum();
        assert!((found - sum).abs() < 1e-6);
    }
}

#[test]
fn a_tensor_that_does_not_fit_is_refused_before_it_is_made() {
    let options = InterpOptions::default().max_tile_bytes(1 << 20);
    let found = apply(&[], &[], &options, |k, _| {
        let one = k.int(1, I32);
        vec![k.value(Opcode::Splat, &[one], Type::tensor(&[1 << 40], I32))]
    });
    assert_eq!(found, Err(Fault::TileLimit(1 << 20)));
    let found = apply(&[], &[], &options, |k, _| {
        let one = k.int(1, I32);
        vec![k.value(Opcode::Splat, &[one], Type::tensor(&[1 << 40, 1 << 40], I32))]
    });
    assert_eq!(found, Err(Fault::TileLimit(1 << 20)));
}
