//! Kernels built by hand.

use warploom_ir::interp::{Accumulate, Arg, InterpOptions, Interpreter, Memory, Tensor, bind_args};
use warploom_ir::{Attr, FloatKind, Opcode, Type};

use crate::build::{Kernel, random, word};

const BF16: Type = Type::Float(FloatKind::BF16);

/// C = A B^T over descriptors, as gemm_bf16 writes it, with small tiles.
pub fn gemm(m: u64, n: u64, k: u64) -> Kernel {
    let mut params = Vec::new();
    for shape in [[m, k], [n, k], [m, n]] {
        params.push(Type::desc(&shape, BF16));
        params.extend([Type::I32, Type::I32, Type::I64, Type::I64]);
    }
    params.push(Type::I32);
    let mut t = Kernel::new("gemm", &params);
    let (a, b, c, extent) = (t.arg(0), t.arg(5), t.arg(10), t.arg(15));
    let zero = t.zeros(&[m, n]);
    let low = t.int(0, Type::I32);
    let step = t.int(k as i64, Type::I32);
    let mut start = |axis: &str, size: u64| {
        let id = t.with(Opcode::GetProgramId, &[], Type::I32, &[("axis", word(axis))]);
        let size = t.int(size as i64, Type::I32);
        t.value(Opcode::MulI, &[id, size], Type::I32)
    };
    let (row, col) = (start("x", m), start("y", n));
    let acc = Type::tensor(&[m, n], Type::F32);
    let loop_op = t.op(Opcode::For, &[low, extent, step, zero], std::slice::from_ref(&acc), &[]);
    t.region(loop_op, &[Type::I32, acc.clone()], |t, args| {
        let x = t.value(Opcode::DescriptorLoad, &[a, row, args[0]], Type::tensor(&[m, k], BF16));
        let y = t.value(Opcode::DescriptorLoad, &[b, col, args[0]], Type::tensor(&[n, k], BF16));
        let order = Attr::DenseArray { elem: Type::I32, values: vec![1, 0] };
        let y = t.with(Opcode::Trans, &[y], Type::tensor(&[k, n], BF16), &[("order", order)]);
        let sum = t.with(Opcode::Dot, &[x, y, args[1]], acc.clone(), &[("inputPrecision", word("tf32"))]);
        t.end(Opcode::Yield, &[sum]);
    });
    let sum = t.module.result(loop_op).unwrap();
    let out = t.value(Opcode::TruncF, &[sum], Type::tensor(&[m, n], BF16));
    t.op(Opcode::DescriptorStore, &[c, row, col, out], &[], &[]);
    t.end(Opcode::Return, &[]);
    t
}

fn run_gemm(kernel: &Kernel, tile: [u64; 2], size: [u64; 3], options: &InterpOptions) -> (Tensor, Vec<f64>) {
    let [m, n, k] = size;
    let (a, b) = (random(BF16, &[m, k], 1), random(BF16, &[n, k], 2));
    let c = Tensor::zeros(BF16, &[m, n]).unwrap();
    let mut memory = Memory::new();
    let ids = [&a, &b, &c].map(|t| memory.upload(t));
    let mut args: Vec<Arg> = [&a, &b, &c].iter().zip(ids).map(|(t, id)| Arg::desc(id, t)).collect();
    args.push(Arg::Int(k as i64));
    let args = bind_args(&kernel.module, None, &args).unwrap();
    let grid = [m.div_ceil(tile[0]) as u32, n.div_ceil(tile[1]) as u32, 1];
    Interpreter::run(&kernel.module, Some("gemm"), grid, &args, &mut memory, options).unwrap();
    let (a, b) = (a.to_f64(), b.to_f64());
    let dot = |i: usize, j: usize| -> f64 {
        let (row, col) = (&a[i * k as usize..][..k as usize], &b[j * k as usize..][..k as usize]);
        row.iter().zip(col).map(|(x, y)| x * y).sum()
    };
    let expected = (0..m * n).map(|p| dot((p / n) as usize, (p % n) as usize)).collect();
    (memory.download(ids[2], &c).unwrap(), expected)
}

#[test]
fn gemm_of_whole_and_ragged_sizes() {
    let kernel = gemm(16, 32, 8);
    for size in [[16, 32, 8], [32, 64, 24], [17, 33, 9], [1, 1, 1], [15, 70, 40]] {
        for accumulate in [Accumulate::F32, Accumulate::F64] {
            let options = InterpOptions::default().accumulate(accumulate);
            let (c, expected) = run_gemm(&kernel, [16, 32], size, &options);
            // One rounding to bf16, behind one to f32.
            let found = c.compare(&expected).unwrap();
            assert!(found.max_rel <= 1.001 / 256.0, "{size:?}: {found:?}");
        }
    }
}

#[test]
fn a_tile_of_full_size() {
    let kernel = gemm(128, 256, 64);
    let start = std::time::Instant::now();
    let (c, expected) = run_gemm(&kernel, [128, 256], [128, 256, 512], &InterpOptions::default());
    println!("128x256x512: {:?}", start.elapsed());
    assert!(c.compare(&expected).unwrap().max_rel <= 1.001 / 256.0);
}
