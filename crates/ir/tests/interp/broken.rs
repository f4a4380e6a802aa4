//! Modules that no verifier has seen: the interpreter refuses them, and never panics.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use warploom_ir::diag::Code;
use warploom_ir::interp::{Arg, Fault, InterpOptions, Interpreter, Memory, bind_args};
use warploom_ir::{Attr, EntityRef, FloatKind, Module, OpId, Opcode, Type, ValueId};

use crate::build::{Kernel, apply, random, word};
use crate::by_hand::gemm;

/// One thing to break, by numbers that are taken modulo what there is.
#[derive(Clone, Debug)]
enum Damage {
    Operand(usize, usize, usize),
    DropOperand(usize),
    AddOperand(usize, usize),
    Opcode(usize, usize),
    Type(usize, usize),
    DropProp(usize),
    Prop(usize, usize),
    DropRegion(usize),
    DropOp(usize, usize),
    DropResult(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let n = 0usize..10_000;
    prop_oneof![
        (n.clone(), n.clone(), n.clone()).prop_map(|(a, b, c)| Damage::Operand(a, b, c)),
        n.clone().prop_map(Damage::DropOperand),
        (n.clone(), n.clone()).prop_map(|(a, b)| Damage::AddOperand(a, b)),
        (n.clone(), n.clone()).prop_map(|(a, b)| Damage::Opcode(a, b)),
        (n.clone(), n.clone()).prop_map(|(a, b)| Damage::Type(a, b)),
        n.clone().prop_map(Damage::DropProp),
        (n.clone(), n.clone()).prop_map(|(a, b)| Damage::Prop(a, b)),
        n.clone().prop_map(Damage::DropRegion),
        (n.clone(), n.clone()).prop_map(|(a, b)| Damage::DropOp(a, b)),
        n.prop_map(Damage::DropResult),
    ]
}

fn types() -> Vec<Type> {
    let f32 = Type::F32;
    vec![
        Type::I1,
        Type::I32,
        Type::Int(0, warploom_ir::Signedness::Signless),
        Type::Int(128, warploom_ir::Signedness::Signless),
        Type::Index,
        f32.clone(),
        Type::Float(FloatKind::F8E5M2),
        Type::None,
        Type::Opaque("!x".into()),
        Type::ptr(f32.clone()),
        Type::ptr(Type::None),
        Type::tensor(&[], f32.clone()),
        Type::tensor(&[0], f32.clone()),
        Type::tensor(&[0, u64::MAX, u64::MAX], f32.clone()),
        Type::tensor(&[u64::MAX, 3, 0, 5], Type::I32),
        Type::tensor(&[u64::MAX], f32.clone()),
        Type::tensor(&[16, 8], f32.clone()),
        Type::tensor(&[4], Type::ptr(f32.clone())),
        Type::tensor(&[2, 2], Type::desc(&[2], f32.clone())),
        Type::desc(&[], f32.clone()),
        Type::desc(&[0, 3], f32.clone()),
        Type::desc(&[u64::MAX, 2], f32.clone()),
        Type::desc(&[16, 8], f32),
    ]
}

fn attrs() -> Vec<(&'static str, Attr)> {
    let names =
        ["value", "axis", "order", "predicate", "start", "end", "inputPrecision", "reverse", "callee"];
    let values = [
        Attr::Unit,
        Attr::i32(-1),
        Attr::i64(i64::MAX),
        Attr::i32(1),
        word("slt"),
        Attr::symbol("gemm"),
        Attr::DenseArray { elem: Type::I32, values: vec![0, 0, i64::MIN] },
        Attr::Float { bits: u64::MAX, ty: Type::F32 },
        Attr::Dense { values: vec![Attr::i32(1)], ty: Type::I32 },
    ];
    names.into_iter().flat_map(|n| values.iter().cloned().map(move |v| (n, v))).collect()
}

fn apply_damage(m: &mut Module, damage: &Damage) {
    fn nth<T: EntityRef>(n: usize, len: usize) -> T {
        T::new(n % len)
    }
    let (ops, values) = (m.ops.len(), m.values.len());
    match *damage {
        Damage::Operand(op, at, value) => {
            let operands = &mut m.ops[nth::<OpId>(op, ops)].operands;
            let len = operands.len().max(1);
            if let Some(slot) = operands.get_mut(at % len) {
                *slot = nth::<ValueId>(value, values);
            }
        }
        Damage::DropOperand(op) => {
            m.ops[nth::<OpId>(op, ops)].operands.pop();
        }
        Damage::AddOperand(op, value) => m.ops[nth::<OpId>(op, ops)].operands.push(nth(value, values)),
        Damage::Opcode(op, code) => {
            m.ops[nth::<OpId>(op, ops)].opcode = Opcode::ALL[code % Opcode::ALL.len()]
        }
        Damage::Type(value, ty) => {
            let types = types();
            m.values[nth::<ValueId>(value, values)].ty = types[ty % types.len()].clone();
        }
        Damage::DropProp(op) => {
            let props = &mut m.ops[nth::<OpId>(op, ops)].props;
            let name = props.iter().next().map(|(name, _)| name.to_owned());
            name.map(|name| props.remove(&name));
        }
        Damage::Prop(op, which) => {
            let attrs = attrs();
            let (name, attr) = attrs[which % attrs.len()].clone();
            m.ops[nth::<OpId>(op, ops)].props.set(name, attr);
        }
        // The module's own region is there by construction.
        Damage::DropRegion(op) if nth::<OpId>(op, ops) != m.root => {
            m.ops[nth::<OpId>(op, ops)].regions.pop();
        }
        Damage::DropRegion(_) => {}
        Damage::DropOp(block, at) => {
            let blocks = m.blocks.len();
            let ops = &mut m.blocks[nth::<warploom_ir::BlockId>(block, blocks)].ops;
            if !ops.is_empty() {
                ops.remove(at % ops.len());
            }
        }
        Damage::DropResult(op) => {
            m.ops[nth::<OpId>(op, ops)].results.pop();
        }
    }
}

/// Runs with two tensors of 16 elements for every parameter that could take one.
fn run(module: &Module) -> Result<(), Fault> {
    let mut memory = Memory::new();
    let tensors = [random(Type::F32, &[4, 4], 1), random(Type::F32, &[4, 4], 2)];
    let ids = tensors.each_ref().map(|t| memory.upload(t));
    let options = InterpOptions::default().max_work(200_000).max_tile_bytes(1 << 20);
    let Some(function) = module.functions().next() else { return Err(Fault::NoEntry(None)) };
    let Some(entry) = module.entry(function, 0) else { return Err(Fault::NoEntry(None)) };
    let params = module.blocks[entry].args.iter().map(|&v| module.ty(v)).enumerate();
    let args: Vec<Arg> = params
        .map(|(i, ty)| match ty {
            Type::Ptr { .. } => Arg::ptr(ids[i % 2]),
            Type::Float(_) => Arg::Float(0.5),
            Type::TensorDesc { shape, .. } => {
                let (shape, strides) = (vec![4; shape.len()], vec![1; shape.len()]);
                let padding = warploom_ir::interp::Padding::Nan;
                Arg::Desc { buffer: ids[i % 2], offset: 0, shape, strides, padding }
            }
            _ => Arg::Int(1),
        })
        .collect();
    let result = Interpreter::run(module, None, [2, 1, 1], &args, &mut memory, &options);
    result.map_err(|error| {
        let diagnostic = error.diagnostic(module);
        assert!(!diagnostic.to_string().is_empty() && !error.to_string().is_empty());
        error.fault
    })
}

/// A kernel with a reduction, a scan, masks, an atomic, a branch, a loop and a call.
fn mixed() -> Kernel {
    let mut k = Kernel::new("mixed", &[Type::ptr(Type::F32), Type::I32, Type::I1]);
    let (base, n, c) = (k.arg(0), k.arg(1), k.arg(2));
    let ty = Type::tensor(&[16], Type::F32);
    let at = k.addresses(base, 16);
    let x = k.value(Opcode::Load, &[at], ty.clone());
    let props = [("axis", Attr::i32(0))];
    let op = k.op(Opcode::Scan, &[x], std::slice::from_ref(&ty), &props);
    k.region(op, &[Type::F32, Type::F32], |k, args| {
        let sum = k.value(Opcode::AddF, args, Type::F32);
        k.end(Opcode::ScanReturn, &[sum]);
    });
    let sums = k.module.result(op).unwrap();
    let op = k.op(Opcode::Reduce, &[sums], &[Type::F32], &props);
    k.region(op, &[Type::F32, Type::F32], |k, args| {
        let top = k.value(Opcode::MaxNumF, args, Type::F32);
        k.end(Opcode::ReduceReturn, &[top]);
    });
    let top = k.module.result(op).unwrap();
    let zero = k.int(0, Type::I32);
    let one = k.int(1, Type::I32);
    let op = k.op(Opcode::For, &[zero, n, one, top], &[Type::F32], &[]);
    k.region(op, &[Type::I32, Type::F32], |k, args| {
        let branch = k.op(Opcode::If, &[c], &[Type::F32], &[]);
        for _ in 0..2 {
            k.region(branch, &[], |k, _| {
                let twice = k.with(Opcode::Call, &[args[1]], Type::F32, &[("callee", Attr::symbol("twice"))]);
                k.end(Opcode::Yield, &[twice]);
            });
        }
        let value = k.module.result(branch).unwrap();
        k.end(Opcode::Yield, &[value]);
    });
    let total = k.module.result(op).unwrap();
    let total = k.value(Opcode::Splat, &[total], ty.clone());
    let mask =
        k.with(Opcode::CmpF, &[total, x], Type::tensor(&[16], Type::I1), &[("predicate", word("ogt"))]);
    k.with(Opcode::AtomicRmw, &[at, total, mask], ty, &[("atomic_rmw_op", word("fadd"))]);
    k.end(Opcode::Return, &[]);
    k.function("twice", &[Type::F32]);
    let x = k.arg(0);
    let sum = k.value(Opcode::AddF, &[x, x], Type::F32);
    k.end(Opcode::Return, &[sum]);
    k
}

#[test]
fn the_kernels_run_before_they_are_broken() {
    assert_eq!(run(&gemm(4, 4, 4).module), Ok(()));
    assert_eq!(run(&mixed().module), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn broken_modules_are_refused_without_a_panic(which: bool, damages in prop::collection::vec(damage(), 1..5)) {
        let mut module = if which { gemm(4, 4, 4).module } else { mixed().module };
        for damage in &damages {
            apply_damage(&mut module, damage);
        }
        let _ = run(&module);
    }
}

#[test]
fn operations_without_a_meaning_are_named() {
    let mut k = Kernel::new("odd", &[]);
    let name = k.module.names.push("my.op".into());
    let op = k.op(Opcode::Other(name), &[], &[], &[]);
    k.module.ops[op].span = Some(17);
    k.end(Opcode::Return, &[]);
    let args = bind_args(&k.module, None, &[]).unwrap();
    let error =
        Interpreter::run(&k.module, None, [1, 1, 1], &args, &mut Memory::new(), &InterpOptions::default());
    let error = error.unwrap_err();
    assert_eq!(error.fault, Fault::Unsupported("my.op".into()));
    assert_eq!(error.to_string(), "my.op: the interpreter does not support my.op (program 0, 0, 0)");
    let diagnostic = error.diagnostic(&k.module);
    assert_eq!((diagnostic.code, diagnostic.rule, diagnostic.offset), (Code::Op, Some("C3"), Some(17)));
    assert_eq!(diagnostic.notes.last().map(|n| n.0), Some("instead"));
}

#[test]
fn much_data_counts_as_much_work() {
    let options = InterpOptions::default().max_work(1000);
    let found = apply(&[], &[], &options, |k, _| {
        let one = k.int(1, Type::I32);
        vec![k.value(Opcode::Splat, &[one], Type::tensor(&[2048], Type::I32))]
    });
    assert_eq!(found, Err(Fault::WorkLimit(1000)));
}

/// Found by the property above: an `i32` divisor of 256 is zero in the eight bits of a wrong result type.
#[test]
fn a_division_into_another_type_is_refused() {
    let found = apply(&[], &[], &InterpOptions::default(), |k, _| {
        let divisor = k.int(256, Type::I32);
        vec![k.value(Opcode::DivSI, &[divisor, divisor], Type::int(8))]
    });
    assert!(matches!(found, Err(Fault::Malformed(_))), "{found:?}");
}
