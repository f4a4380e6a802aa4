//! Loops, branches and calls (C7), and what bounds them.

use warploom_ir::interp::{Arg, Fault, InterpOptions, Interpreter, Memory};
use warploom_ir::{Attr, Opcode, Type, ValueId};

use crate::build::{Kernel, word};

/// Ends a kernel by storing an `i64` through its first parameter, a pointer.
fn store(k: &mut Kernel, value: ValueId) {
    let at = k.arg(0);
    k.op(Opcode::Store, &[at, value], &[], &[]);
    k.end(Opcode::Return, &[]);
}

/// Runs a kernel of a pointer to one `i64`, and integers; returns what it stored.
fn result(k: &Kernel, ints: &[i64]) -> Result<i64, Fault> {
    let mut memory = Memory::new();
    let out = memory.alloc(vec![0; 8]);
    let args: Vec<Arg> = std::iter::once(Arg::ptr(out)).chain(ints.iter().map(|&i| Arg::Int(i))).collect();
    let options = InterpOptions::default().max_work(100_000);
    k.run(&args, &mut memory, &options)?;
    Ok(i64::from_le_bytes(memory.bytes(out).unwrap().try_into().unwrap()))
}

fn out() -> Type {
    Type::ptr(Type::I64)
}

/// Counts trips in the low half, and adds up the iterators in `i8` arithmetic: trips + 1000 * (sum mod 256).
fn counting_loop(iterator: Type, unsigned: bool) -> Kernel {
    let mut k = Kernel::new("count", &[out(), iterator.clone(), iterator.clone(), iterator.clone()]);
    let zero = k.int(0, Type::I64);
    let props = if unsigned { vec![("unsignedCmp", Attr::Unit)] } else { vec![] };
    let operands = [k.arg(1), k.arg(2), k.arg(3), zero, zero];
    let op = k.op(Opcode::For, &operands, &[Type::I64, Type::I64], &props);
    k.region(op, &[iterator, Type::I64, Type::I64], |k, args| {
        let one = k.int(1, Type::I64);
        let trips = k.value(Opcode::AddI, &[args[1], one], Type::I64);
        let at = match k.module.ty(args[0]) {
            Type::Int(64, _) => args[0],
            _ => k.value(Opcode::ExtUI, &[args[0]], Type::I64),
        };
        let sum = k.value(Opcode::AddI, &[args[2], at], Type::I64);
        k.end(Opcode::Yield, &[trips, sum]);
    });
    let (trips, sum) = (k.module.ops[op].results[0], k.module.ops[op].results[1]);
    let mask = k.int(255, Type::I64);
    let scale = k.int(1000, Type::I64);
    let sum = k.value(Opcode::AndI, &[sum, mask], Type::I64);
    let sum = k.value(Opcode::MulI, &[sum, scale], Type::I64);
    let total = k.value(Opcode::AddI, &[trips, sum], Type::I64);
    store(&mut k, total);
    k
}

#[test]
fn a_loop_runs_as_often_as_its_bounds_say() {
    let signed = counting_loop(Type::int(8), false);
    for (low, high, step) in [(0, 10, 3), (0, 0, 1), (5, 3, 1), (-7, 8, 5), (100, 127, 50), (-128, 127, 100)]
    {
        let iterators: Vec<i64> = (low..high).step_by(step as usize).collect();
        let sum = iterators.iter().map(|i| i & 255).sum::<i64>() & 255;
        let expected = iterators.len() as i64 + 1000 * sum;
        assert_eq!(result(&signed, &[low, high, step]), Ok(expected), "{low} {high} {step}");
    }
    let unsigned = counting_loop(Type::int(8), true);
    assert_eq!(result(&unsigned, &[0, 200, 100]), Ok(2 + 1000 * 100));
    assert_eq!(result(&signed, &[0, 200, 100]), Ok(0));
    // The iterator would overflow after the last trip.
    let wide = counting_loop(Type::I64, false);
    assert_eq!(result(&wide, &[i64::MAX - 1, i64::MAX, 5]), Ok(1 + 1000 * 254));
}

#[test]
fn a_step_must_be_positive() {
    let k = counting_loop(Type::I32, false);
    assert_eq!(result(&k, &[0, 4, 0]), Err(Fault::LoopStep(0)));
    assert_eq!(result(&k, &[0, 4, -1]), Err(Fault::LoopStep(-1)));
}

#[test]
fn work_is_bounded() {
    let k = counting_loop(Type::I32, false);
    assert_eq!(result(&k, &[0, i32::MAX.into(), 1]), Err(Fault::WorkLimit(100_000)));
}

/// Halves or triples and adds one until one is left; counts the steps.
#[test]
fn a_while_loop_and_an_if() {
    let mut k = Kernel::new("collatz", &[out(), Type::I64]);
    let zero = k.int(0, Type::I64);
    let two = [Type::I64, Type::I64];
    let start = k.arg(1);
    let op = k.op(Opcode::While, &[start, zero], &two, &[]);
    k.region(op, &two, |k, args| {
        let one = k.int(1, Type::I64);
        let more = k.with(Opcode::CmpI, &[args[0], one], Type::I1, &[("predicate", word("sgt"))]);
        k.end(Opcode::Condition, &[more, args[0], args[1]]);
    });
    k.region(op, &two, |k, args| {
        let (one, two) = (k.int(1, Type::I64), k.int(2, Type::I64));
        let odd = k.value(Opcode::TruncI, &[args[0]], Type::I1);
        let branch = k.op(Opcode::If, &[odd], &[Type::I64], &[]);
        k.region(branch, &[], |k, _| {
            let three = k.int(3, Type::I64);
            let up = k.value(Opcode::MulI, &[args[0], three], Type::I64);
            let up = k.value(Opcode::AddI, &[up, one], Type::I64);
            k.end(Opcode::Yield, &[up]);
        });
        k.region(branch, &[], |k, _| {
            let down = k.value(Opcode::DivSI, &[args[0], two], Type::I64);
            k.end(Opcode::Yield, &[down]);
        });
        let next = k.module.result(branch).unwrap();
        let steps = k.value(Opcode::AddI, &[args[1], one], Type::I64);
        k.end(Opcode::Yield, &[next, steps]);
    });
    let steps = k.module.ops[op].results[1];
    store(&mut k, steps);
    assert_eq!(result(&k, &[27]), Ok(111));
    assert_eq!(result(&k, &[1]), Ok(0));
}

#[test]
fn an_if_without_else_may_do_nothing() {
    let mut k = Kernel::new("maybe", &[out(), Type::I1]);
    let condition = k.arg(1);
    let (at, value) = (k.arg(0), k.int(5, Type::I64));
    let branch = k.op(Opcode::If, &[condition], &[], &[]);
    k.region(branch, &[], |k, _| {
        k.op(Opcode::Store, &[at, value], &[], &[]);
    });
    k.end(Opcode::Return, &[]);
    assert_eq!(result(&k, &[1]), Ok(5));
    assert_eq!(result(&k, &[0]), Ok(0));
}

fn call(k: &mut Kernel, name: &str, x: ValueId) -> ValueId {
    k.with(Opcode::Call, &[x], Type::I64, &[("callee", Attr::symbol(name))])
}

#[test]
fn calls_go_to_other_functions_but_not_in_circles() {
    let mut k = Kernel::new("main", &[out(), Type::I64]);
    let x = k.arg(1);
    let once = call(&mut k, "double", x);
    let twice = call(&mut k, "double", once);
    store(&mut k, twice);
    k.function("double", &[Type::I64]);
    let x = k.arg(0);
    let sum = k.value(Opcode::AddI, &[x, x], Type::I64);
    k.end(Opcode::Return, &[sum]);
    assert_eq!(result(&k, &[5]), Ok(20));

    let mut k = Kernel::new("main", &[out(), Type::I64]);
    let x = k.arg(1);
    let y = call(&mut k, "other", x);
    store(&mut k, y);
    k.function("other", &[Type::I64]);
    let x = k.arg(0);
    let y = call(&mut k, "other", x);
    k.end(Opcode::Return, &[y]);
    assert!(matches!(result(&k, &[5]), Err(Fault::Unsupported(_))));

    let mut k = Kernel::new("main", &[out(), Type::I64]);
    let x = k.arg(1);
    let y = call(&mut k, "nobody", x);
    store(&mut k, y);
    assert_eq!(result(&k, &[5]), Err(Fault::NoEntry(Some("nobody".into()))));
}

/// `depth` branches in each other around one store.
fn nested(depth: usize) -> Kernel {
    let mut k = Kernel::new("nest", &[out(), Type::I1]);
    let (at, condition) = (k.arg(0), k.arg(1));
    let entry = k.block;
    for _ in 0..depth {
        let op = k.op(Opcode::If, &[condition], &[], &[]);
        let region = k.module.add_region(op);
        k.block = k.module.add_block(region);
    }
    let value = k.int(9, Type::I64);
    k.op(Opcode::Store, &[at, value], &[], &[]);
    k.block = entry;
    k.end(Opcode::Return, &[]);
    k
}

#[test]
fn nesting_is_bounded() {
    assert_eq!(result(&nested(90), &[1]), Ok(9));
    assert_eq!(result(&nested(100_000), &[1]), Err(Fault::DepthLimit(100)));
}

/// The program's number, as x + 10 y + 100 z, at element 'number' of an array; and the grid's size.
#[test]
fn every_program_of_the_grid_runs() {
    let mut k = Kernel::new("ids", &[Type::ptr(Type::I32)]);
    let mut number = k.int(0, Type::I32);
    let mut total = k.int(1, Type::I32);
    for (axis, scale) in [("x", 1), ("y", 10), ("z", 100)] {
        let props = [("axis", word(axis))];
        let id = k.with(Opcode::GetProgramId, &[], Type::I32, &props);
        let count = k.with(Opcode::GetNumPrograms, &[], Type::I32, &props);
        let scale = k.int(scale, Type::I32);
        let part = k.value(Opcode::MulI, &[id, scale], Type::I32);
        number = k.value(Opcode::AddI, &[number, part], Type::I32);
        total = k.value(Opcode::MulI, &[total, count], Type::I32);
    }
    let base = k.arg(0);
    let at = k.value(Opcode::AddPtr, &[base, number], Type::ptr(Type::I32));
    k.op(Opcode::Store, &[at, total], &[], &[]);
    k.end(Opcode::Return, &[]);
    let mut memory = Memory::new();
    let out = memory.alloc(vec![0; 4 * 400]);
    Interpreter::run(&k.module, None, [2, 3, 4], &[Arg::ptr(out)], &mut memory, &InterpOptions::default())
        .unwrap();
    let values: Vec<u8> = memory.bytes(out).unwrap().iter().copied().step_by(4).collect();
    for (number, &value) in values.iter().enumerate() {
        let inside = number % 10 < 2 && number / 10 % 10 < 3;
        assert_eq!(value, if inside { 24 } else { 0 }, "{number}");
    }
}

#[test]
fn assumptions_and_assertions_are_checked() {
    for (opcode, fault) in
        [(Opcode::Assume, Fault::Assumption), (Opcode::Assert, Fault::Assertion("odd".into()))]
    {
        let mut k = Kernel::new("check", &[out(), Type::I1]);
        let condition = k.arg(1);
        k.op(opcode, &[condition], &[], &[("message", Attr::string("odd"))]);
        let value = k.int(1, Type::I64);
        store(&mut k, value);
        assert_eq!(result(&k, &[1]), Ok(1));
        assert_eq!(result(&k, &[0]), Err(fault));
    }
}
