//! Functions of f64 without libdevice (C68): how far they err, against arithmetic of twice the precision, what they make of
//! the ends of their domains, and that compiled code gives the very bits of the programs measured here.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail")]

mod common;
#[path = "../src/double/mod.rs"]
mod double;
#[path = "double/ends.rs"]
mod ends;
#[path = "double/evaluate.rs"]
mod evaluate;
#[path = "common/pointers.rs"]
mod pointers;
#[path = "double/reference.rs"]
mod reference;
#[path = "double/turns.rs"]
mod turns;
#[path = "double/twice.rs"]
mod twice;

use std::f64::consts::FRAC_PI_2;

use double::{Function, form};
use ends::{ENDS, INF, MAX, NAN, TINY};
use evaluate::evaluate;
use pointers::Kernel;
use twice::Twice;
use warploom_emulator::Policy;

/// The program of a function that there is.
fn function(name: &str, operands: usize) -> Function {
    form(name, operands).unwrap().function()
}

/// Numbers that look random, by a generator of Marsaglia's.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Between two numbers, evenly; or with the same number of arguments for each exponent, where both have one sign.
    fn within(&mut self, [least, most]: [f64; 2]) -> f64 {
        if least > 0.0 {
            let (a, b) = (least.to_bits(), most.to_bits());
            return f64::from_bits(a + self.next() % (b - a + 1));
        }
        least + (most - least) * (self.next() >> 11) as f64 * 2f64.powi(-53)
    }
}

/// The error in units of the last place of what is wanted, a number that is not subnormal.
fn error(found: f64, wanted: Twice) -> f64 {
    let exponent = wanted.0.abs().to_bits() >> 52;
    ((found - wanted.0) - wanted.1).abs() / 2f64.powi(exponent as i32 - 1075)
}

/// The worst error of a function; results below 1e-290 must only be one of the two next numbers.
fn worst(name: &str, samples: impl Iterator<Item = (Vec<f64>, Twice)>) -> (f64, Vec<f64>) {
    let mut worst = (0.0, Vec::new());
    let mut program = None;
    for (args, wanted) in samples {
        let program = program.get_or_insert_with(|| function(name, args.len()));
        let found = evaluate(program, &args);
        if wanted.0.abs() < 1e-290 {
            let distance = found.to_bits().abs_diff(wanted.0.to_bits());
            assert!(distance <= 1, "{name} of {args:?}: {found:e}, not {wanted:?}");
        } else {
            let error = error(found, wanted);
            assert!(!error.is_nan(), "{name} of {args:?}: {found:e}, not {wanted:?}");
            worst = if error > worst.0 { (error, args) } else { worst };
        }
    }
    worst
}

type Exact1 = fn(Twice) -> Twice;
type Exact2 = fn(Twice, Twice) -> Twice;
type Rectangle = [[f64; 2]; 2];

/// The functions of one number, intervals of arguments, and the bound of the error in units of the last place.
const ONE: [(&str, Exact1, &[[f64; 2]], f64); 23] = [
    ("exp", reference::exp, &[[-708.0, 709.7], [-1.0, 1.0], [-745.0, -708.0]], 0.65),
    ("exp2", reference::exp2, &[[-1022.0, 1023.9], [-1.0, 1.0], [-1074.0, -1022.0]], 0.65),
    ("exp10", reference::exp10, &[[-307.0, 308.0], [-1.0, 1.0]], 0.65),
    ("expm1", reference::expm1, &[[-40.0, 709.0], [-2.0, 2.0], [1e-20, 1.0]], 0.95),
    ("log", reference::log, &[[5e-324, f64::MAX], [0.5, 2.0], [0.99, 1.01]], 0.6),
    ("log2", reference::log2, &[[5e-324, f64::MAX], [0.5, 2.0], [0.99, 1.01]], 0.6),
    ("log10", reference::log10, &[[5e-324, f64::MAX], [0.5, 2.0], [0.99, 1.01]], 0.6),
    ("log1p", reference::log1p, &[[1e-300, f64::MAX], [1e-17, 10.0], [-0.999, 2.0]], 0.6),
    ("sin", reference::sin, &[[1e-300, 1.0], [-100.0, 100.0], [1.0, f64::MAX], [16.7e6, 16.8e6]], 0.8),
    ("cos", reference::cos, &[[1e-300, 1.0], [-100.0, 100.0], [1.0, f64::MAX], [16.7e6, 16.8e6]], 0.8),
    ("tan", reference::tan, &[[1e-300, 1.0], [-100.0, 100.0], [1.0, f64::MAX], [16.7e6, 16.8e6]], 0.9),
    ("tanh", reference::tanh, &[[1e-300, 30.0], [-2.0, 2.0], [0.1, 20.0]], 0.8),
    ("sinh", reference::sinh, &[[1e-300, 710.0], [-2.0, 2.0], [0.1, 20.0]], 0.6),
    ("cosh", reference::cosh, &[[1e-300, 710.0], [-2.0, 2.0], [0.1, 20.0]], 0.6),
    ("erf", reference::erf, &[[1e-300, 7.0], [-2.0, 2.0], [0.1, 6.0]], 0.85),
    ("cbrt", reference::cbrt, &[[1e-300, 1e300], [0.5, 8.0]], 0.51),
    ("rsqrt", reference::rsqrt, &[[1e-300, 1e300], [0.5, 8.0]], 0.51),
    ("atan", reference::atan, &[[1e-300, 1e300], [-2.0, 2.0], [0.1, 10.0]], 0.7),
    ("asin", reference::asin, &[[1e-300, 1.0], [-1.0, 1.0], [0.5, 1.0]], 0.7),
    ("asinh", reference::asinh, &[[1e-300, 1e150], [-2.0, 2.0], [0.1, 10.0]], 0.6),
    ("acosh", reference::acosh, &[[1.0, 1e150], [1.0, 2.0], [1.0, 10.0]], 0.6),
    ("atanh", reference::atanh, &[[1e-300, 1.0], [-0.9, 0.9], [0.1, 0.99]], 0.6),
    ("acos", reference::acos, &[[1e-300, 1.0], [-1.0, 1.0], [0.5, 1.0]], 0.7),
];

/// The functions of two numbers likewise.
const TWO: [(&str, Exact2, &[Rectangle], f64); 3] = [
    ("atan2", reference::atan2, &[[[-2.0, 2.0], [-2.0, 2.0]], [[1e-100, 1e100], [1e-100, 1e100]]], 0.7),
    ("hypot", reference::hypot, &[[[-2.0, 2.0], [-2.0, 2.0]], [[1e-100, 1e100], [1e-100, 1e100]]], 0.51),
    (
        "pow",
        reference::pow,
        &[[[1e-3, 1e3], [-100.0, 100.0]], [[0.9, 1.1], [-6000.0, 6000.0]], [[1e-300, 1e300], [-1.0, 1.0]]],
        0.65,
    ),
];

/// Arguments of each interval.
const EACH: usize = 20_000;

#[test]
fn functions_of_one_number_keep_their_bounds_c68() {
    for (name, exact, intervals, bound) in ONE {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let args = intervals.iter().flat_map(|&interval| std::iter::repeat_n(interval, EACH));
        let samples = args.map(|interval| random.within(interval)).map(|x| (vec![x], exact(x.into())));
        let found = worst(name, samples);
        println!("{name} {found:?}");
        assert!(found.0 <= bound && found.0 > 0.45, "{name}: {found:?}");
    }
}

#[test]
fn functions_of_two_numbers_keep_their_bounds_c68() {
    for (name, exact, intervals, bound) in TWO {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let args = intervals.iter().flat_map(|&pair| std::iter::repeat_n(pair, EACH));
        let args = args.map(|[first, second]| [random.within(first), random.within(second)]);
        let samples = args.map(|[x, y]| (vec![x, y], exact(x.into(), y.into())));
        let found = worst(name, samples.filter(|(_, wanted)| wanted.0.abs() < 1e300));
        println!("{name} {found:?}");
        assert!(found.0 <= bound && found.0 > 0.45, "{name}: {found:?}");
    }
}

/// Multiples of a quarter turn, where everything cancels, one of them within 2^-60, and powers of two.
#[test]
fn angles_next_to_quarter_turns_c68() {
    let near = 6_381_956_970_095_103.0 * 2f64.powi(797);
    let turns = (1..60_000).map(|i| f64::from(i) * FRAC_PI_2).chain([near]);
    let turns: Vec<f64> = turns.chain((-900..1024).map(|n| 2f64.powi(n))).collect();
    assert!(reference::cos(near.into()).0.abs() < 2f64.powi(-60));
    for (name, exact) in [("sin", reference::sin as Exact1), ("cos", reference::cos), ("tan", reference::tan)]
    {
        let found = worst(name, turns.iter().map(|&x| (vec![x], exact(x.into()))));
        assert!(found.0 <= 0.9, "{name}: {found:?}");
    }
}

fn same(found: f64, wanted: f64) -> bool {
    found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan()
}

#[test]
fn ends_of_domains_c68() {
    for &(name, args, wanted) in ENDS {
        let found = evaluate(&function(name, args.len()), args);
        assert!(same(found, wanted), "{name} of {args:?}: {found:e}, not {wanted:e}");
    }
    for (name, ..) in ONE {
        assert!(evaluate(&function(name, 1), &[NAN]).is_nan(), "{name}");
    }
}

/// Numbers of all kinds: the ends, every size, and around 1.
fn numbers() -> Vec<f64> {
    let mut list = vec![0.0, INF, NAN, TINY, MAX, f64::MIN_POSITIVE, 1.0, 0.5, 709.0, 745.5, 2f64.powi(24)];
    let mut random = Random(88_172_645_463_325_252);
    list.extend((0..60).map(|_| random.within([TINY, MAX])));
    list.extend((0..120).map(|_| random.within([1e-3, 1e3])));
    list.extend((0..65).map(|_| random.within([0.5, 2.0])));
    list.extend(list.clone().iter().map(|x| -x));
    assert_eq!(list.len(), 512);
    list
}

/// Second operands for these first ones: the same numbers in another order.
fn second<T: Copy>(x: &[T]) -> Vec<T> {
    x.iter().cycle().skip(37).step_by(5).take(x.len()).copied().collect()
}

fn bytes(list: &[f64]) -> Vec<u8> {
    list.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Applies operations that make `%y` of `%x` and `%z`, in this type, on the emulator.
fn apply(ops: &str, ty: &'static str, x: &[Vec<u8>; 2], chip: &'static str) -> Vec<u8> {
    let kernel = Kernel { chip, buffers: vec![ty, ty, ty], ..Kernel::blocked(1, 512, 4, [1, 128]) };
    let kernel = kernel.load("x", 0, "C").load("z", 1, "C").ops(ops).store("y", 2, "C");
    let buffers = [x[0].clone(), x[1].clone(), vec![0; x[0].len()]];
    kernel.run(&kernel.compile(), &buffers, Policy::Eager).swap_remove(2)
}

fn call(symbol: &str, operands: usize, ty: &str) -> String {
    let args = ["%x", "%z", "%x"][..operands].join(", ");
    let types = vec![format!("Cx{ty}"); operands].join(", ");
    format!(
        "%y = tt.extern_elementwise {args} {{libname = \"\", libpath = \"\", pure = true, symbol = \"{symbol}\"}} : \
         ({types}) -> Cx{ty}"
    )
}

/// Compiled for the chip, a function gives the bits that its steps give here.
fn compiled_is_measured(ops: &str, name: &str, operands: usize, chip: &'static str) {
    let x = numbers();
    let z = second(&x);
    let program = function(name, operands);
    let found = apply(ops, "f64", &[bytes(&x), bytes(&z)], chip);
    for (i, found) in found.chunks_exact(8).enumerate() {
        let found = f64::from_le_bytes(found.try_into().unwrap());
        let wanted = evaluate(&program, &[x[i], z[i]]);
        assert!(same(found, wanted), "{ops} of {:e}, {:e}: {found:e}, not {wanted:e}", x[i], z[i]);
    }
}

#[test]
fn functions_of_libdevice_give_these_bits_c68() {
    for (name, ..) in ONE {
        compiled_is_measured(&call(&format!("__nv_{name}"), 1, "f64"), name, 1, "sm_80");
    }
    for name in ["atan2", "hypot", "pow"] {
        compiled_is_measured(&call(&format!("__nv_{name}"), 2, "f64"), name, 2, "sm_80");
    }
}

#[test]
fn functions_of_math_give_these_bits_c68() {
    for name in ["exp", "exp2", "log", "log2", "rsqrt", "sin", "cos", "tanh", "erf"] {
        for chip in ["sm_90a", "sm_100a"] {
            compiled_is_measured(&format!("%y = math.{name} %x : Cxf64"), name, 1, chip);
        }
    }
}

/// Functions of f32 that have no form of their own are those of f64, rounded.
#[test]
fn functions_of_f32_go_through_f64_c68() {
    let x: Vec<f32> = numbers().iter().map(|&x| x as f32).collect();
    let z = second(&x);
    let bytes = |list: &[f32]| list.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    for (name, operands) in [("tan", 1), ("log1p", 1), ("pow", 2)] {
        let program = function(name, operands);
        let ops = call(&format!("__nv_{name}f"), operands, "f32");
        let found = apply(&ops, "f32", &[bytes(&x), bytes(&z)], "sm_80");
        for (i, found) in found.chunks_exact(4).enumerate() {
            let found = f32::from_le_bytes(found.try_into().unwrap());
            let wanted = evaluate(&program, &[f64::from(x[i]), f64::from(z[i])]) as f32;
            let same = found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan();
            assert!(same, "{ops} of {:e}, {:e}: {found:e}, not {wanted:e}", x[i], z[i]);
        }
    }
}

/// Functions that the machine has, and the remainder: exact.
#[test]
fn functions_of_the_machine_are_exact_c68() {
    let x = numbers();
    let z = second(&x);
    type Exact = fn(f64, f64) -> f64;
    let functions: [(&str, usize, Exact); 13] = [
        ("ceil", 1, |x, _| x.ceil()),
        ("copysign", 2, f64::copysign),
        ("dsqrt_rn", 1, |x, _| x.sqrt()),
        ("fabs", 1, |x, _| x.abs()),
        ("floor", 1, |x, _| x.floor()),
        ("fma", 3, |x, z| x.mul_add(z, x)),
        ("fmax", 2, f64::max),
        ("fmin", 2, f64::min),
        ("fmod", 2, |x, z| x % z),
        ("rint", 1, |x, _| x.round_ties_even()),
        ("round", 1, |x, _| x.round()),
        ("sqrt", 1, |x, _| x.sqrt()),
        ("trunc", 1, |x, _| x.trunc()),
    ];
    for (name, operands, exact) in functions {
        let ops = call(&format!("__nv_{name}"), operands, "f64");
        let found = apply(&ops, "f64", &[bytes(&x), bytes(&z)], "sm_80");
        for (i, found) in found.chunks_exact(8).enumerate() {
            let (found, wanted) = (f64::from_le_bytes(found.try_into().unwrap()), exact(x[i], z[i]));
            // Of equal zeros, either may be the larger.
            let alike = same(found, wanted) || name.len() == 4 && found == 0.0 && wanted == 0.0;
            assert!(alike, "{name} of {:e}, {:e}: {found:e}, not {wanted:e}", x[i], z[i]);
        }
    }
}
