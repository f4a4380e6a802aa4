//! Kernels outside the pipelined subset, each against what its Python source says.

use warploom_ir::interp::{Accumulate, Tensor};
use warploom_ir::{FloatKind, Type};

use super::{Launch, assert_rounded, kernel, product};
use crate::build::{random, tensor};

const BF16: Type = Type::Float(FloatKind::BF16);

fn zeros(elem: Type, shape: &[u64]) -> Tensor {
    Tensor::zeros(elem, shape).unwrap()
}

#[test]
fn a_call() {
    let module = kernel("call");
    let (rows, cols) = (70, 60);
    let x = random(Type::F32, &[rows, cols], 1);
    let expected: Vec<f64> = x
        .to_f64()
        .iter()
        .enumerate()
        .map(|(p, x)| {
            let first = p as u64 / cols / 32 * 32;
            x * 0.5 * (first + 1) as f64
        })
        .collect();
    let launch = Launch::new().desc(&x).desc(&zeros(Type::F32, &[rows, cols])).float(0.5);
    let y = launch.run(&module, [3, 1, 1], Accumulate::F32, 1);
    assert_rounded("call", &y, &expected, 1e-7);
}

#[test]
fn elementwise() {
    let module = kernel("elementwise");
    let n = 512;
    let mut x = zeros(Type::F32, &[n]);
    x.fill_random(1, 0.01, 4.0);
    let mut i = zeros(Type::I32, &[n]);
    i.fill_random(2, -2e9, 2e9);
    let e4m3 = |x: f64| tensor(Type::Float(FloatKind::F8E4M3FN), &[x]).to_f64()[0];
    let expected: Vec<f64> = x
        .to_f64()
        .iter()
        .zip(i.to_f64())
        .map(|(&x, i)| {
            let i = i as i32;
            let floats = [
                x * x + 1.0,
                x.clamp(-1.0, 1.0),
                x.sin(),
                x.cos(),
                x.ln(),
                x.log2(),
                x.floor(),
                x.ceil(),
                x.abs(),
                x.sqrt(),
                x / 3.0,
                x.tanh(),
                x.max(0.0),
                e4m3(x),
                f64::from((x as f32).to_bits() as i32),
                x.tanh(),
            ];
            let high = ((u64::from(i as u32) * 12345) >> 32) as i32;
            let j = ((i << 3) ^ (i >> 1) | (i & 7))
                .wrapping_add(high.wrapping_add((i / 5) % 3).wrapping_add((i64::from(i) * 3) as i32));
            let ints = [f64::from(j), f64::from(j as i8), f64::from(i as u32 / 7)];
            floats.iter().sum::<f64>() + ints.iter().sum::<f64>()
        })
        .collect();
    let launch = Launch::new().ptr(&x).ptr(&i).ptr(&zeros(Type::F32, &[n]));
    let y = launch.run(&module, [2, 1, 1], Accumulate::F64, 2);
    assert_rounded("elementwise", &y, &expected, 1e-6);
}

#[test]
fn reductions() {
    let module = kernel("reductions");
    let (m, n) = (32usize, 64usize);
    let mut x = zeros(Type::F32, &[32, 64]);
    x.fill_random(1, -5.0, 5.0);
    let values = x.to_f64();
    let rows: Vec<&[f64]> = values.chunks_exact(n).collect();
    let largest = |row: &[f64]| (0..n).fold(0, |best, j| if row[j] > row[best] { j } else { best });
    let mut out: Vec<f64> = rows
        .iter()
        .map(|row| {
            let least = row.iter().copied().fold(f64::INFINITY, f64::min);
            let bits = row.iter().fold(0, |bits, &x| bits ^ x as i32);
            row[largest(row)] + least + f64::from(bits)
        })
        .collect();
    // Column sums of the running sums and of the scan of (a c, b c + d) over pairs (x, x).
    let mut totals = vec![0.0; n];
    for row in &rows {
        let (mut sum, mut scan) = (0.0, 0.0);
        for (j, x) in row.iter().enumerate() {
            sum += x;
            scan = if j == 0 { *x } else { scan * x + x };
            totals[j] += sum + scan;
        }
    }
    out.resize(n, 0.0);
    out.iter_mut().zip(&totals).take(5).for_each(|(y, total)| *y = y.max(*total));
    let indices: Vec<f64> = rows.iter().map(|row| 2.0 * largest(row) as f64).collect();
    let mut launch = Launch::new().ptr(&x).ptr(&zeros(Type::F32, &[64])).ptr(&zeros(Type::I32, &[32]));
    launch.go(&module, [1, 1, 1], Accumulate::F64);
    assert_rounded("reductions", &launch.tensor(1), &out, 1e-4);
    assert_eq!(launch.tensor(2).to_f64(), indices, "of {m} rows");
}

#[test]
fn shapes() {
    let module = kernel("shapes");
    let (m, n) = (32usize, 64usize);
    let x = random(Type::F32, &[32, 64], 1);
    let v = x.to_f64();
    let expected: Vec<f64> = (0..m * n)
        .map(|p| {
            let (i, j) = (p / n, p % n);
            // join(split(x)) permuted to the front: first all even columns, then all odd ones.
            let flat = p % (m * n / 2);
            let permuted = v[flat / 32 * n + flat % 32 * 2 + p / (m * n / 2)];
            permuted + v[p] + v[i * n + (j ^ 1)] + 1.0
        })
        .collect();
    let mut launch = Launch::new().ptr(&x).ptr(&zeros(Type::F32, &[32, 64]));
    launch.go(&module, [1, 1, 1], Accumulate::F32);
    assert_rounded("shapes", &launch.tensor(1), &expected, 1e-6);
}

#[test]
fn block_scaled_products() {
    let module = kernel("scaled");
    let byte = Type::int(8);
    let a = random(Type::Float(FloatKind::F8E4M3FN), &[128, 128], 1);
    let mut b = zeros(Type::Int(8, warploom_ir::Signedness::Unsigned), &[128, 64]);
    b.fill_random(2, 0.0, 256.0);
    let scales = |seed| {
        let mut t = zeros(byte.clone(), &[128, 4]);
        t.fill_random(seed, 120.0, 134.0);
        t
    };
    let (sa, sb) = (scales(3), scales(4));
    let factor =
        |t: &Tensor, row: usize, l: usize| 2f64.powf(t.to_f64()[row * 4 + l / 32].rem_euclid(256.0) - 127.0);
    let fours = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0];
    let (codes, av) = (b.to_f64(), a.to_f64());
    let x: Vec<f64> = (0..128 * 128).map(|p| av[p] * factor(&sa, p / 128, p % 128)).collect();
    let y: Vec<f64> = (0..128 * 128)
        .map(|p| {
            let code = codes[p / 2] as usize >> (4 * (p % 2)) & 15;
            fours[code] * factor(&sb, p / 128, p % 128)
        })
        .collect();
    let expected = product(&x, &y, 128);
    let launch = Launch::new().desc(&a).desc(&b).desc(&zeros(Type::F32, &[128, 128])).ptr(&sa).ptr(&sb);
    let c = launch.run(&module, [1, 1, 1], Accumulate::F32, 2);
    assert_rounded("scaled", &c, &expected, 1e-6);
}

#[test]
fn rows_by_number() {
    let module = kernel("gather_rows");
    let (rows, cols) = (40usize, 64usize);
    let x = random(BF16, &[40, 64], 1);
    let order: Vec<f64> = (0..32).map(|i| f64::from((i * 7 + 3) % 45)).collect();
    let v = x.to_f64();
    let mut out = vec![0.0; rows * cols];
    let mut sums = vec![0.0; cols];
    for &row in order.iter().filter(|&&r| r < rows as f64) {
        let source = &v[row as usize * cols..][..cols];
        out[row as usize * cols..][..cols].copy_from_slice(source);
        sums.iter_mut().zip(source).for_each(|(sum, x)| *sum += x);
    }
    let rounded = tensor(BF16, &sums).to_f64();
    out.iter_mut().zip(&rounded).for_each(|(y, sum)| *y += sum);
    let launch = Launch::new().desc(&x).desc(&zeros(BF16, &[40, 64])).ptr(&tensor(Type::I32, &order));
    let y = launch.run(&module, [1, 1, 1], Accumulate::F64, 1);
    assert_rounded("gather_rows", &y, &out, 1e-12);
}
