//! What `arith`, `math` and the element-wise part of `tt` compute.

use std::sync::Arc;

use warploom_ir::interp::{Accumulate, Assembly, AssemblyCall, Fault, InterpOptions};
use warploom_ir::{Attr, FloatKind, Opcode, Type};

use crate::build::{apply, elementwise, random, tensor, word};

const I8: Type = Type::int(8);
const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn float(kind: FloatKind) -> Type {
    Type::Float(kind)
}

/// Compares, with NaN equal to itself and zeros told apart.
fn same(found: &[f64], expected: &[f64], what: &str) {
    let equal = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(|(&a, &b)| equal(a, b)),
        "{what}: {found:?} is not {expected:?}"
    );
}

#[test]
fn integers_wrap_and_divide_towards_zero() {
    let x = tensor(I8, &[127.0, -128.0, -7.0, 7.0, 100.0]);
    let y = tensor(I8, &[1.0, -1.0, 2.0, -2.0, 100.0]);
    for (opcode, expected) in [
        (Opcode::AddI, [-128.0, 127.0, -5.0, 5.0, -56.0]),
        (Opcode::SubI, [126.0, -127.0, -9.0, 9.0, 0.0]),
        (Opcode::MulI, [127.0, -128.0, -14.0, -14.0, 16.0]),
        (Opcode::DivSI, [127.0, -128.0, -3.0, -3.0, 1.0]),
        (Opcode::RemSI, [0.0, 0.0, -1.0, 1.0, 0.0]),
        // As unsigned numbers: 127, 128, 249, 7, 100 and 1, 255, 2, 254, 100.
        (Opcode::DivUI, [127.0, 0.0, 124.0, 0.0, 1.0]),
        (Opcode::RemUI, [0.0, -128.0, 1.0, 7.0, 0.0]),
        (Opcode::AndI, [1.0, -128.0, 0.0, 6.0, 100.0]),
        (Opcode::OrI, [127.0, -1.0, -5.0, -1.0, 100.0]),
        (Opcode::XOrI, [126.0, 127.0, -5.0, -7.0, 0.0]),
        (Opcode::MinSI, [1.0, -128.0, -7.0, -2.0, 100.0]),
        (Opcode::MaxSI, [127.0, -1.0, 2.0, 7.0, 100.0]),
        (Opcode::MinUI, [1.0, -128.0, 2.0, 7.0, 100.0]),
        (Opcode::MaxUI, [127.0, -1.0, -7.0, -2.0, 100.0]),
        // The upper halves of 127, 32640, 498, 1778, 10000.
        (Opcode::MulHiUI, [0.0, 127.0, 1.0, 6.0, 39.0]),
    ] {
        same(&elementwise(opcode, &[&x, &y], I8, &[]).unwrap(), &expected, opcode.name().unwrap());
    }
}

#[test]
fn shifts_by_the_width_or_more_push_out_all_bits() {
    let x = tensor(I8, &[-127.0, -127.0, -127.0, -127.0, 64.0]);
    let y = tensor(I8, &[0.0, 1.0, 7.0, 8.0, -1.0]);
    for (opcode, expected) in [
        (Opcode::ShLI, [-127.0, 2.0, -128.0, 0.0, 0.0]),
        (Opcode::ShRSI, [-127.0, -64.0, -1.0, -1.0, 0.0]),
        (Opcode::ShRUI, [-127.0, 64.0, 1.0, 0.0, 0.0]),
    ] {
        same(&elementwise(opcode, &[&x, &y], I8, &[]).unwrap(), &expected, opcode.name().unwrap());
    }
}

#[test]
fn a_zero_divisor_is_an_error() {
    let (x, y) = (tensor(I8, &[1.0, 2.0]), tensor(I8, &[1.0, 0.0]));
    for opcode in [Opcode::DivSI, Opcode::DivUI, Opcode::RemSI, Opcode::RemUI] {
        assert_eq!(elementwise(opcode, &[&x, &y], I8, &[]), Err(Fault::DivisionByZero));
    }
}

#[test]
fn integer_predicates() {
    let (x, y) = (tensor(I8, &[1.0, -1.0, 3.0]), tensor(I8, &[1.0, 1.0, -3.0]));
    for (predicate, expected) in [
        ("eq", [1.0, 0.0, 0.0]),
        ("ne", [0.0, 1.0, 1.0]),
        ("slt", [0.0, 1.0, 0.0]),
        ("sle", [1.0, 1.0, 0.0]),
        ("sgt", [0.0, 0.0, 1.0]),
        ("sge", [1.0, 0.0, 1.0]),
        ("ult", [0.0, 0.0, 1.0]),
        ("ule", [1.0, 0.0, 1.0]),
        ("ugt", [0.0, 1.0, 0.0]),
        ("uge", [1.0, 1.0, 0.0]),
    ] {
        let props = [("predicate", word(predicate))];
        same(&elementwise(Opcode::CmpI, &[&x, &y], Type::I1, &props).unwrap(), &expected, predicate);
    }
}

#[test]
fn float_predicates_with_every_order() {
    let (x, y) = (tensor(Type::F32, &[1.0, 2.0, 1.0, NAN]), tensor(Type::F32, &[1.0, 1.0, 2.0, 1.0]));
    // Equal, greater, less, unordered.
    for (number, (predicate, expected)) in [
        ("false", [0.0, 0.0, 0.0, 0.0]),
        ("oeq", [1.0, 0.0, 0.0, 0.0]),
        ("ogt", [0.0, 1.0, 0.0, 0.0]),
        ("oge", [1.0, 1.0, 0.0, 0.0]),
        ("olt", [0.0, 0.0, 1.0, 0.0]),
        ("ole", [1.0, 0.0, 1.0, 0.0]),
        ("one", [0.0, 1.0, 1.0, 0.0]),
        ("ord", [1.0, 1.0, 1.0, 0.0]),
        ("ueq", [1.0, 0.0, 0.0, 1.0]),
        ("ugt", [0.0, 1.0, 0.0, 1.0]),
        ("uge", [1.0, 1.0, 0.0, 1.0]),
        ("ult", [0.0, 0.0, 1.0, 1.0]),
        ("ule", [1.0, 0.0, 1.0, 1.0]),
        ("une", [0.0, 1.0, 1.0, 1.0]),
        ("uno", [0.0, 0.0, 0.0, 1.0]),
        ("true", [1.0, 1.0, 1.0, 1.0]),
    ]
    .into_iter()
    .enumerate()
    {
        for attr in [word(predicate), Attr::i64(number as i64)] {
            let found = elementwise(Opcode::CmpF, &[&x, &y], Type::I1, &[("predicate", attr)]).unwrap();
            same(&found, &expected, predicate);
        }
    }
}

#[test]
fn the_four_maxima_and_minima() {
    let (x, y) =
        (tensor(Type::F32, &[1.0, NAN, 1.0, 0.0, -0.0]), tensor(Type::F32, &[2.0, 1.0, NAN, -0.0, 0.0]));
    for (opcode, expected) in [
        (Opcode::MaxNumF, [2.0, 1.0, 1.0, 0.0, 0.0]),
        (Opcode::MinNumF, [1.0, 1.0, 1.0, -0.0, -0.0]),
        (Opcode::MaximumF, [2.0, NAN, NAN, 0.0, 0.0]),
        (Opcode::MinimumF, [1.0, NAN, NAN, -0.0, -0.0]),
    ] {
        same(&elementwise(opcode, &[&x, &y], Type::F32, &[]).unwrap(), &expected, opcode.name().unwrap());
    }
}

#[test]
fn clamp_with_and_without_nan() {
    let x = tensor(Type::F32, &[-3.0, 0.5, 3.0, NAN]);
    let (low, high) = (tensor(Type::F32, &[-1.0; 4]), tensor(Type::F32, &[1.0; 4]));
    for (how, last) in [("none", -1.0), ("all", NAN)] {
        let props = [("propagateNan", word(how))];
        let found = elementwise(Opcode::ClampF, &[&x, &low, &high], Type::F32, &props).unwrap();
        same(&found, &[-1.0, 0.5, 1.0, last], how);
    }
}

/// `f32` operations against the processor's.
#[test]
fn f32_arithmetic_is_the_processors() {
    let (x, y) = (random(Type::F32, &[1000], 3), random(Type::F32, &[1000], 4));
    let pairs: Vec<(f32, f32)> =
        x.to_f64().iter().zip(y.to_f64()).map(|(&a, b)| (a as f32, b as f32)).collect();
    type Binary = fn(f32, f32) -> f32;
    type Unary = fn(f32) -> f32;
    let cases: [(Opcode, Binary); 5] = [
        (Opcode::AddF, |a, b| a + b),
        (Opcode::SubF, |a, b| a - b),
        (Opcode::MulF, |a, b| a * b),
        (Opcode::DivF, |a, b| a / b),
        (Opcode::RemF, |a, b| a % b),
    ];
    for (opcode, f) in cases {
        let expected: Vec<f64> = pairs.iter().map(|&(a, b)| f64::from(f(a, b))).collect();
        same(&elementwise(opcode, &[&x, &y], Type::F32, &[]).unwrap(), &expected, opcode.name().unwrap());
    }
    let unary: [(Opcode, Unary); 6] = [
        (Opcode::NegF, |a| -a),
        (Opcode::AbsF, f32::abs),
        (Opcode::Floor, f32::floor),
        (Opcode::Ceil, f32::ceil),
        (Opcode::Sqrt, f32::sqrt),
        (Opcode::PreciseSqrt, f32::sqrt),
    ];
    for (opcode, f) in unary {
        let expected: Vec<f64> = pairs.iter().map(|&(a, _)| f64::from(f(a))).collect();
        same(&elementwise(opcode, &[&x], Type::F32, &[]).unwrap(), &expected, opcode.name().unwrap());
    }
}

#[test]
fn functions_of_math_are_within_a_unit_in_the_last_place() {
    let mut x = random(Type::F32, &[500], 5);
    x.fill_random(5, 0.01, 8.0);
    // erf by its series, which converges for all x; the others by identities over other functions.
    let erf = |x: f64| {
        let (mut term, mut sum) = (x, x);
        for n in 1..400 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    };
    type Reference<'a> = &'a dyn Fn(f64) -> f64;
    let cases: [(Opcode, Reference<'_>, f64); 9] = [
        (Opcode::Exp, &|x| (x / 2.0).sinh() * 2.0 * (x / 2.0).exp() + 1.0, 8.0),
        (Opcode::Exp2, &|x| 2f64.powf(x), 8.0),
        (Opcode::Log, &|x| x.log10() * std::f64::consts::LN_10, 8.0),
        (Opcode::Log2, &|x| x.ln() / std::f64::consts::LN_2, 8.0),
        (Opcode::Rsqrt, &|x| x.powf(-0.5), 8.0),
        (Opcode::Sin, &|x| 2.0 * (x / 2.0).sin() * (x / 2.0).cos(), 8.0),
        (Opcode::Cos, &|x| (x / 2.0).cos().powi(2) - (x / 2.0).sin().powi(2), 8.0),
        (Opcode::Tanh, &|x| 1.0 - 2.0 / ((2.0 * x).exp() + 1.0), 8.0),
        (Opcode::Erf, &erf, 3.0),
    ];
    for (opcode, f, limit) in cases {
        let found = elementwise(opcode, &[&x], Type::F32, &[]).unwrap();
        for (x, found) in x.to_f64().into_iter().zip(found).filter(|(x, _)| *x < limit) {
            let (expected, ulp) = (f(x), 2f64.powi(-23));
            let error = (found - expected).abs() / expected.abs().max(1e-3);
            assert!(error <= ulp, "{} {x}: {found} is not {expected}", opcode.name().unwrap());
        }
    }
}

#[test]
fn fma_rounds_once() {
    // 1 + 2^-11 squared is 1 + 2^-10 + 2^-22; less 1 + 2^-10 in bf16 needs the last term.
    let x = tensor(Type::F32, &[1.0 + 2f64.powi(-12), 3.0]);
    let c = tensor(Type::F32, &[-1.0 - 2f64.powi(-11), 1.0]);
    let found = elementwise(Opcode::Fma, &[&x, &x, &c], Type::F32, &[]).unwrap();
    same(&found, &[2f64.powi(-24), 10.0], "fma");
}

#[test]
fn casts_between_formats_round_once_and_saturate_8_bits() {
    let x = tensor(Type::F32, &[1e9, -1e9, INF, NAN, 0.3, 1.0 + 2f64.powi(-9)]);
    for (kind, expected) in [
        (FloatKind::F8E4M3FN, [448.0, -448.0, 448.0, NAN, 0.3125, 1.0]),
        (FloatKind::F8E5M2, [57344.0, -57344.0, 57344.0, NAN, 0.3125, 1.0]),
        (FloatKind::F16, [INF, -INF, INF, NAN, 0.300048828125, 1.001953125]),
        (FloatKind::BF16, [998244352.0, -998244352.0, INF, NAN, 0.30078125, 1.0]),
    ] {
        for opcode in [Opcode::TruncF, Opcode::FpToFp] {
            same(&elementwise(opcode, &[&x], float(kind), &[]).unwrap(), &expected, kind.name());
        }
    }
    let down = [("rounding", word("rtz"))];
    let found = elementwise(Opcode::FpToFp, &[&x], float(FloatKind::F8E4M3FN), &down).unwrap();
    same(&found, &[448.0, -448.0, 448.0, NAN, 0.28125, 1.0], "rtz");
    let found = elementwise(Opcode::FpToFp, &[&x], float(FloatKind::F8E5M2), &down).unwrap();
    same(&found, &[57344.0, -57344.0, INF, NAN, 0.25, 1.0], "rtz");
    let up = [("roundingmode", word("upward"))];
    let found = elementwise(Opcode::TruncF, &[&x], float(FloatKind::BF16), &up);
    assert!(matches!(found, Err(Fault::Unsupported(_))), "{found:?}");
}

#[test]
fn integers_and_floats_convert() {
    let big = 16777217.0;
    let x = tensor(Type::I32, &[big, -big, -1.0, 7.0]);
    same(
        &elementwise(Opcode::SIToFP, &[&x], Type::F32, &[]).unwrap(),
        &[16777216.0, -16777216.0, -1.0, 7.0],
        "si",
    );
    let found = elementwise(Opcode::UIToFP, &[&x], Type::F32, &[]).unwrap();
    same(&found, &[16777216.0, 4278190080.0, 4294967296.0, 7.0], "ui");
    let x = tensor(Type::F32, &[-1.9, 300.0, -300.0, NAN]);
    same(&elementwise(Opcode::FPToSI, &[&x], I8, &[]).unwrap(), &[-1.0, 127.0, -128.0, 0.0], "fptosi");
    same(&elementwise(Opcode::FPToUI, &[&x], I8, &[]).unwrap(), &[0.0, -1.0, 0.0, 0.0], "fptoui");
    let x = tensor(I8, &[-1.0, 127.0]);
    same(&elementwise(Opcode::ExtSI, &[&x], Type::I32, &[]).unwrap(), &[-1.0, 127.0], "extsi");
    same(&elementwise(Opcode::ExtUI, &[&x], Type::I32, &[]).unwrap(), &[255.0, 127.0], "extui");
    same(&elementwise(Opcode::AbsI, &[&x], I8, &[]).unwrap(), &[1.0, 127.0], "absi");
    let x = tensor(Type::I32, &[511.0, -129.0]);
    same(&elementwise(Opcode::TruncI, &[&x], I8, &[]).unwrap(), &[-1.0, 127.0], "trunci");
}

/// 2^63 + 2^39 + 1 lies just above the midpoint of two `f32` values; through `f64` it would become the midpoint.
#[test]
fn large_integers_are_rounded_once() {
    let value = (1i64 << 62) + (1 << 38) + 1;
    let found = apply(&[], &[(Type::F32, &[1])], &InterpOptions::default(), |k, _| {
        let v = k.int(value, Type::I64);
        let f = k.value(Opcode::SIToFP, &[v], Type::F32);
        vec![k.value(Opcode::Splat, &[f], Type::tensor(&[1], Type::F32))]
    });
    assert_eq!(found.unwrap()[0].to_f64(), [f64::from(value as f32)]);
}

#[test]
fn bitcasts_keep_every_pattern() {
    let patterns: Vec<f64> =
        [0x7FA0_0001u32, 0xFF80_0000, 0x8000_0000, 1, 0x3F80_0000].map(|b| f64::from(b as i32)).into();
    let x = tensor(Type::I32, &patterns);
    let found = apply(&[&x], &[(Type::I32, &[5])], &InterpOptions::default(), |k, tiles| {
        let floats = k.value(Opcode::Bitcast, tiles, Type::tensor(&[5], Type::F32));
        vec![k.value(Opcode::ArithBitcast, &[floats], Type::tensor(&[5], Type::I32))]
    });
    same(&found.unwrap()[0].to_f64(), &patterns, "bitcast");
}

#[test]
fn select_takes_by_condition() {
    let c = tensor(Type::I1, &[1.0, 0.0]);
    let (x, y) = (tensor(Type::F32, &[1.0, 2.0]), tensor(Type::F32, &[3.0, 4.0]));
    same(&elementwise(Opcode::Select, &[&c, &x, &y], Type::F32, &[]).unwrap(), &[1.0, 4.0], "select");
    for (condition, expected) in [(1, [1.0, 2.0]), (0, [3.0, 4.0])] {
        let found = apply(&[&x, &y], &[(Type::F32, &[2])], &InterpOptions::default(), |k, t| {
            let c = k.int(condition, Type::I1);
            vec![k.value(Opcode::Select, &[c, t[0], t[1]], Type::tensor(&[2], Type::F32))]
        });
        same(&found.unwrap()[0].to_f64(), &expected, "select of whole tiles");
    }
}

#[test]
fn foreign_functions_by_name() {
    let x = tensor(Type::F32, &[0.5]);
    let tanh = [f64::from(0.5f64.tanh() as f32)];
    let symbol = |name: &str| [("symbol", Attr::string(name))];
    let found = elementwise(Opcode::ExternElementwise, &[&x], Type::F32, &symbol("__nv_tanhf"));
    same(&found.unwrap(), &tanh, "libdevice");
    let asm = |text: &str| [("asm_string", Attr::string(text))];
    let found = elementwise(Opcode::ElementwiseInlineAsm, &[&x], Type::F32, &asm("tanh.approx.f32 $0, $1;"));
    same(&found.unwrap(), &tanh, "asm");
    for found in [
        elementwise(Opcode::ExternElementwise, &[&x], Type::F32, &symbol("__nv_erfcinvf")),
        elementwise(Opcode::ExternElementwise, &[&x, &x], Type::F32, &symbol("__nv_expf")),
        elementwise(Opcode::ElementwiseInlineAsm, &[&x], Type::F32, &asm("trap;")),
    ] {
        assert!(matches!(found, Err(Fault::Unsupported(_))), "{found:?}");
    }
}

/// Adds up the bits of the operands, or gives one element too few.
#[derive(Debug)]
struct Sums {
    short: bool,
}

impl Assembly for Sums {
    fn run(&self, call: &AssemblyCall<'_>) -> Result<Vec<Vec<u64>>, String> {
        assert_eq!((call.text, call.constraints, call.pack), ("trap;", "=r,r,r", 2));
        let sum = |i: usize| call.operands.iter().map(|(_, bits)| bits[i]).sum();
        let sums: Vec<u64> = (0..call.count - usize::from(self.short)).map(sum).collect();
        Ok(vec![sums; call.results.len()])
    }
}

#[test]
fn assembly_is_run_by_whoever_can() {
    let x = tensor(Type::I32, &[1.0, 2.0, 3.0]);
    let run = |short| {
        let options = InterpOptions::default().assembly(Arc::new(Sums { short }));
        let outputs = [(Type::I32, &[3u64][..])];
        apply(&[&x, &x], &outputs, &options, |k, t| {
            let (word, ty) = (|text| Attr::string(text), Type::tensor(&[3], Type::I32));
            let attrs = [
                ("asm_string", word("trap;")),
                ("constraints", word("=r,r,r")),
                ("packed_element", Attr::i32(2)),
            ];
            vec![k.with(Opcode::ElementwiseInlineAsm, t, ty, &attrs)]
        })
    };
    same(&run(false).unwrap()[0].to_f64(), &[2.0, 4.0, 6.0], "sums");
    let found = run(true);
    assert!(matches!(found, Err(Fault::Unsupported(_))), "{found:?}");
}

#[test]
fn f64_accumulation_holds_f32_unrounded_until_it_is_stored() {
    let (x, y) = (tensor(Type::F32, &[1.0]), tensor(Type::F32, &[2f64.powi(-30)]));
    let run = |accumulate| {
        let options = InterpOptions::default().accumulate(accumulate);
        let outputs = [(Type::F32, &[1u64][..]), (Type::F32, &[1])];
        let found = apply(&[&x, &y], &outputs, &options, |k, t| {
            let ty = Type::tensor(&[1], Type::F32);
            let sum = k.value(Opcode::AddF, &[t[0], t[1]], ty.clone());
            vec![sum, k.value(Opcode::SubF, &[sum, t[0]], ty)]
        });
        found.unwrap().iter().map(|t| t.to_f64()[0]).collect::<Vec<_>>()
    };
    assert_eq!(run(Accumulate::F32), [1.0, 0.0]);
    assert_eq!(run(Accumulate::F64), [1.0, 2f64.powi(-30)]);
}
