//! Loads, stores, atomics and descriptors.

use warploom_ir::interp::{Arg, BufferId, Fault, InterpOptions, Memory, Padding, Tensor, bind_args};
use warploom_ir::{Attr, FloatKind, Opcode, Type, ValueId};

use crate::build::{Kernel, tensor, word};

const I32: Type = Type::I32;

fn i32s(memory: &Memory, id: BufferId) -> Vec<i32> {
    let (chunks, _) = memory.bytes(id).unwrap().as_chunks::<4>();
    chunks.iter().map(|&c| i32::from_le_bytes(c)).collect()
}

fn upload(memory: &mut Memory, values: &[f64]) -> BufferId {
    memory.upload(&tensor(I32, values))
}

/// A mask of four elements, the first `n` of them on.
fn first(k: &mut Kernel, n: i64) -> ValueId {
    let ty = Type::tensor(&[4], I32);
    let props = [("start", Attr::i32(0)), ("end", Attr::i32(4))];
    let range = k.with(Opcode::MakeRange, &[], ty.clone(), &props);
    let n = k.full(Attr::i32(n as i32), ty);
    k.with(Opcode::CmpI, &[range, n], Type::tensor(&[4], Type::I1), &[("predicate", word("slt"))])
}

#[test]
fn masks_guard_loads_and_stores() {
    let mut k = Kernel::new("masked", &[Type::ptr(I32), Type::ptr(I32)]);
    let (from, to) = (k.arg(0), k.arg(1));
    let ty = Type::tensor(&[4], I32);
    let (from, to) = (k.addresses(from, 4), k.addresses(to, 4));
    let (two, three) = (first(&mut k, 2), first(&mut k, 3));
    let other = k.full(Attr::i32(-1), ty.clone());
    let with_other = k.value(Opcode::Load, &[from, two, other], ty.clone());
    let without = k.value(Opcode::Load, &[from, two], ty.clone());
    let sum = k.value(Opcode::AddI, &[with_other, without], ty);
    k.op(Opcode::Store, &[to, sum, three], &[], &[]);
    k.end(Opcode::Return, &[]);
    // Both buffers end where the masks do.
    let mut memory = Memory::new();
    let (a, b) = (upload(&mut memory, &[5.0, 6.0]), upload(&mut memory, &[0.0; 3]));
    k.run(&[Arg::ptr(a), Arg::ptr(b)], &mut memory, &InterpOptions::default()).unwrap();
    assert_eq!(i32s(&memory, b), [10, 12, -1]);
    let short = upload(&mut memory, &[0.0; 2]);
    let fault = k.run(&[Arg::ptr(a), Arg::ptr(short)], &mut memory, &InterpOptions::default()).unwrap_err();
    let nearest = Some((short.index(), 8));
    assert_eq!(fault, Fault::OutOfBounds { address: Memory::address(short) + 8, bytes: 4, nearest });
}

/// One atomic on [10, -3, 7, 7] with [2, 5, 7, -1], the last masked off: what was there, and what is.
fn atomic(op: &str) -> ([i32; 4], [i32; 4]) {
    let mut k = Kernel::new("atomic", &[Type::ptr(I32), Type::ptr(I32), Type::ptr(I32)]);
    let ty = Type::tensor(&[4], I32);
    let at: Vec<ValueId> = (0..3).map(|i| k.arg(i)).collect();
    let at: Vec<ValueId> = at.into_iter().map(|base| k.addresses(base, 4)).collect();
    let value = k.value(Opcode::Load, &[at[1]], ty.clone());
    let mask = first(&mut k, 3);
    let old = k.with(Opcode::AtomicRmw, &[at[0], value, mask], ty, &[("atomic_rmw_op", word(op))]);
    k.op(Opcode::Store, &[at[2], old], &[], &[]);
    k.end(Opcode::Return, &[]);
    let mut memory = Memory::new();
    let ids = [[10.0, -3.0, 7.0, 7.0], [2.0, 5.0, 7.0, -1.0], [0.0; 4]].map(|v| upload(&mut memory, &v));
    k.run(&ids.map(Arg::ptr), &mut memory, &InterpOptions::default()).unwrap();
    (i32s(&memory, ids[2]).try_into().unwrap(), i32s(&memory, ids[0]).try_into().unwrap())
}

#[test]
fn atomics_return_what_was_there() {
    for (op, after) in [
        ("add", [12, 2, 14]),
        ("and", [2, 5, 7]),
        ("or", [10, -3, 7]),
        ("xor", [8, -8, 0]),
        ("max", [10, 5, 7]),
        ("min", [2, -3, 7]),
        ("umax", [10, -3, 7]),
        ("umin", [2, 5, 7]),
        ("exch", [2, 5, 7]),
    ] {
        let (old, new) = atomic(op);
        assert_eq!(old, [10, -3, 7, 0], "{op}");
        assert_eq!(new, [after[0], after[1], after[2], 7], "{op}");
    }
}

#[test]
fn atomic_additions_to_one_place_all_count_and_round_each_time() {
    let half = Type::Float(FloatKind::BF16);
    let mut k = Kernel::new("sum", &[Type::ptr(half.clone())]);
    let base = k.arg(0);
    let at = k.value(Opcode::Splat, &[base], Type::tensor(&[4], Type::ptr(half.clone())));
    let ty = Type::tensor(&[4], half.clone());
    let one = k.full(Attr::Float { bits: 0x3F80, ty: half.clone() }, ty.clone());
    k.with(Opcode::AtomicRmw, &[at, one], ty, &[("atomic_rmw_op", word("fadd"))]);
    k.end(Opcode::Return, &[]);
    for (start, end) in [(0.0, 4.0), (254.0, 256.0)] {
        let mut memory = Memory::new();
        let sum = tensor(half.clone(), &[start]);
        let id = memory.upload(&sum);
        k.run(&[Arg::ptr(id)], &mut memory, &InterpOptions::default()).unwrap();
        assert_eq!(memory.download(id, &sum).unwrap().to_f64(), [end]);
    }
}

#[test]
fn compare_and_swap() {
    let mut k = Kernel::new("cas", &[Type::ptr(I32), I32, I32, Type::ptr(I32)]);
    let (at, expected, new, out) = (k.arg(0), k.arg(1), k.arg(2), k.arg(3));
    let old = k.value(Opcode::AtomicCas, &[at, expected, new], I32);
    k.op(Opcode::Store, &[out, old], &[], &[]);
    k.end(Opcode::Return, &[]);
    for (expected, after) in [(5, 9), (6, 5)] {
        let mut memory = Memory::new();
        let (at, out) = (upload(&mut memory, &[5.0]), upload(&mut memory, &[0.0]));
        let args = [Arg::ptr(at), Arg::Int(expected), Arg::Int(9), Arg::ptr(out)];
        k.run(&args, &mut memory, &InterpOptions::default()).unwrap();
        assert_eq!((i32s(&memory, at), i32s(&memory, out)), (vec![after], vec![5]));
    }
}

/// Two descriptor parameters of rank 2, with what stands behind each (C10).
fn described(desc: Type) -> Vec<Type> {
    let one = [desc, I32, I32, Type::I64, Type::I64];
    [&one[..], &one[..]].concat()
}

/// Copies one block from a descriptor at (%i, %j) to another at the same place.
fn copy(elem: &Type, block: [u64; 2]) -> Kernel {
    let desc = Type::desc(&block, elem.clone());
    let params: Vec<Type> = [&described(desc)[..], &[I32, I32]].concat();
    let mut k = Kernel::new("copy", &params);
    let (from, to, i, j) = (k.arg(0), k.arg(5), k.arg(10), k.arg(11));
    let tile = k.value(Opcode::DescriptorLoad, &[from, i, j], Type::tensor(&block, elem.clone()));
    k.op(Opcode::DescriptorStore, &[to, tile, i, j], &[], &[]);
    k.end(Opcode::Return, &[]);
    k
}

#[test]
fn descriptors_pad_loads_and_drop_stores() {
    let k = copy(&Type::F32, [2, 4]);
    for (padding, outside) in [(Padding::Zero, 0.0), (Padding::Nan, f64::NAN)] {
        for (i, j) in [(0, 0), (-1, -1), (2, 2), (5, 0), (i32::MIN, i32::MAX)] {
            let mut source = Tensor::zeros(Type::F32, &[3, 3]).unwrap();
            source.fill(|p| p as f64 + 1.0);
            let mut target = Tensor::zeros(Type::F32, &[4, 5]).unwrap();
            target.fill(|_| -1.0);
            let mut memory = Memory::new();
            let (from, to) = (memory.upload(&source), memory.upload(&target));
            let (shape, strides) = (vec![3, 3], vec![3, 1]);
            let from = Arg::Desc { buffer: from, offset: 0, shape, strides, padding };
            let args = [from, Arg::desc(to, &target), Arg::Int(i.into()), Arg::Int(j.into())];
            let args = bind_args(&k.module, None, &args).unwrap();
            k.run(&args, &mut memory, &InterpOptions::default()).unwrap();
            let expected: Vec<f64> = (0..20)
                .map(|p| {
                    let (y, x) = (p / 5, p % 5);
                    let inside = (0..2).contains(&(y - i64::from(i))) && (0..4).contains(&(x - i64::from(j)));
                    match (inside, y < 3 && x < 3) {
                        (true, true) => (3 * y + x + 1) as f64,
                        (true, false) => outside,
                        _ => -1.0,
                    }
                })
                .collect();
            let found = memory.download(to, &target).unwrap().compare(&expected).unwrap();
            assert_eq!(found.max_abs, 0.0, "{padding:?} {i} {j} {found:?}");
        }
    }
}

#[test]
fn arguments_are_checked() {
    let k = copy(&Type::F32, [2, 4]);
    let mut memory = Memory::new();
    let t = Tensor::zeros(Type::F32, &[4, 4]).unwrap();
    let id = memory.upload(&t);
    let desc = Arg::desc(id, &t);
    let short = bind_args(&k.module, None, &[desc.clone(), desc.clone()]).unwrap_err();
    assert_eq!(short.fault, Fault::ArgumentCount { expected: 12, found: 10 });
    let bind =
        |last: Arg| bind_args(&k.module, None, &[desc.clone(), desc.clone(), Arg::Int(0), last]).unwrap();
    for (bad, shown) in [
        (Arg::Int(1 << 32), "4294967296"),
        (Arg::Int(-(1 << 31) - 1), "-2147483649"),
        (Arg::Float(1.0), "the float 1"),
        (Arg::ptr(id), "a pointer"),
    ] {
        let fault = k.run(&bind(bad), &mut memory, &InterpOptions::default()).unwrap_err();
        assert_eq!(fault, Fault::Argument { index: 11, expected: "i32".into(), found: shown.into() });
    }
    for good in [u32::MAX.into(), i32::MIN.into()] {
        k.run(&bind(Arg::Int(good)), &mut memory, &InterpOptions::default()).unwrap();
    }
    let mut other = Memory::new();
    let fault = k.run(&bind(Arg::Int(0)), &mut other, &InterpOptions::default()).unwrap_err();
    assert!(matches!(fault, Fault::Argument { index: 0, .. }));
    assert!(bind_args(&k.module, Some("none"), &[]).is_err());
}

/// A descriptor made in the kernel, padded with NaN, from a pointer past the start.
#[test]
fn descriptors_made_in_the_kernel() {
    let mut k = Kernel::new("made", &[Type::ptr(Type::F32), Type::ptr(Type::F32)]);
    let (base, out) = (k.arg(0), k.arg(1));
    let one = k.int(1, I32);
    let zero = k.int(0, I32);
    let base = k.value(Opcode::AddPtr, &[base, one], Type::ptr(Type::F32));
    let (rows, columns) = (k.int(2, I32), k.int(2, I32));
    let (pitch, unit) = (k.int(3, Type::I64), k.int(1, Type::I64));
    let desc = Type::desc(&[2, 4], Type::F32);
    let props = [("padding", Attr::i32(2))];
    let desc = k.with(Opcode::MakeTensorDescriptor, &[base, rows, columns, pitch, unit], desc, &props);
    let tile = k.value(Opcode::DescriptorLoad, &[desc, one, zero], Type::tensor(&[2, 4], Type::F32));
    let tile = k.value(Opcode::Reshape, &[tile], Type::tensor(&[8], Type::F32));
    let at = k.addresses(out, 8);
    k.op(Opcode::Store, &[at, tile], &[], &[]);
    k.end(Opcode::Return, &[]);
    let mut memory = Memory::new();
    let source = tensor(Type::F32, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let target = tensor(Type::F32, &[0.0; 8]);
    let (from, to) = (memory.upload(&source), memory.upload(&target));
    k.run(&[Arg::ptr(from), Arg::ptr(to)], &mut memory, &InterpOptions::default()).unwrap();
    let nan = f64::NAN;
    let expected = [4.0, 5.0, nan, nan, nan, nan, nan, nan];
    assert_eq!(memory.download(to, &target).unwrap().compare(&expected).unwrap().max_abs, 0.0);
}

#[test]
fn rows_by_number_and_reductions_into_memory() {
    let desc = Type::desc(&[1, 2], I32);
    let params: Vec<Type> = [&described(desc)[..], &[Type::ptr(I32)]].concat();
    let mut k = Kernel::new("rows", &params);
    let (from, to, rows) = (k.arg(0), k.arg(5), k.arg(10));
    let rows = k.addresses(rows, 4);
    let rows = k.value(Opcode::Load, &[rows], Type::tensor(&[4], I32));
    let one = k.int(1, I32);
    let zero = k.int(0, I32);
    let tile = k.value(Opcode::DescriptorGather, &[from, rows, one], Type::tensor(&[4, 2], I32));
    k.op(Opcode::DescriptorScatter, &[to, rows, zero, tile], &[], &[]);
    let ten = k.full(Attr::i32(10), Type::tensor(&[1, 2], I32));
    k.op(Opcode::DescriptorReduce, &[to, ten, one, one], &[], &[("kind", word("add"))]);
    k.end(Opcode::Return, &[]);
    let mut source = Tensor::zeros(I32, &[3, 3]).unwrap();
    source.fill(|p| p as f64 + 1.0);
    let target = Tensor::zeros(I32, &[3, 2]).unwrap();
    let mut memory = Memory::new();
    let (a, b, rows) =
        (memory.upload(&source), memory.upload(&target), upload(&mut memory, &[2.0, 0.0, 7.0, -1.0]));
    let args = [Arg::desc(a, &source), Arg::desc(b, &target), Arg::ptr(rows)];
    k.run(&bind_args(&k.module, None, &args).unwrap(), &mut memory, &InterpOptions::default()).unwrap();
    assert_eq!(i32s(&memory, b), [2, 3, 0, 10, 8, 9]);
}
