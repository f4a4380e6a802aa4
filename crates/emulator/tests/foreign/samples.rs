//! Launches of NVIDIA's CUDA samples, and what they must give by formulas of their own. The files are named as
//! `tools/foreign.py --data` names what it compiles.

use super::expected::{bytes, floats, input, zeros};
use super::{Case, Given, Want};
use crate::common::numbers;
use warploom_emulator::Arg;

const BASICS: &str = "Samples-0_Introduction-";
const CONCEPTS: &str = "Samples-2_Concepts_and_Techniques-";
const FEATURES: &str = "Samples-3_CUDA_Features-";
const SPEED: &str = "Samples-6_Performance-";

/// A launch whose result is in argument `result`.
fn case(
    file: String,
    entry: &str,
    size: ([u32; 3], [u32; 3], u32),
    args: Vec<Given>,
    result: usize,
    want: Want,
) -> Case {
    let (grid, block, smem) = size;
    Case { file, entry: entry.to_string(), grid, block, smem, args, result: Some(result), want }
}

fn number(v: i32) -> Given {
    Given::Value(Arg::I32(v))
}

/// All launches.
pub(super) fn cases() -> Vec<Case> {
    let mut all = elements();
    all.extend(transposes());
    all.extend(reductions());
    all.extend(sorts());
    all.extend(products());
    all
}

fn elements() -> Vec<Case> {
    let (a, b) = (numbers(1000, 1), numbers(1000, 2));
    let sums = a.iter().zip(&b).map(|(x, y)| f64::from(x + y)).collect();
    let x: Vec<u32> = (0..128).map(|t| u32::from(t < 32 || t == 70 || t > 95)).collect();
    let warps =
        |f: fn(&[u32]) -> bool| x.chunks(32).flat_map(|w| [u32::from(f(w)); 32]).collect::<Vec<u32>>();
    let vote = |entry, f| {
        let (file, args) = (
            format!("{BASICS}simpleVoteIntrinsics-simpleVoteIntrinsics"),
            vec![bytes(&x), zeros(128), number(128)],
        );
        case(file, entry, ([1, 1, 1], [128, 1, 1], 0), args, 1, Want::Words(warps(f)))
    };
    let scaled = |values: &[f32]| values[..64].iter().map(|v| 64.0 * f64::from(*v)).collect();
    vec![
        case(
            format!("{BASICS}vectorAdd-vectorAdd"),
            "_Z9vectorAddPKfS0_Pfi",
            ([4, 1, 1], [256, 1, 1], 0),
            vec![floats(&a), floats(&b), zeros(1000), number(1000)],
            2,
            Want::Floats(sums, 1e-6),
        ),
        vote("_Z14VoteAnyKernel1PjS_i", |w| w.iter().any(|v| *v != 0)),
        vote("_Z14VoteAllKernel2PjS_i", |w| w.iter().all(|v| *v != 0)),
        case(
            format!("{CONCEPTS}inlinePTX-inlinePTX"),
            "_Z12sequence_gpuPii",
            ([2, 1, 1], [100, 1, 1], 0),
            vec![zeros(150), number(150)],
            0,
            Want::Words((0..150).map(|i| i % 100 % 32).collect()),
        ),
        case(
            format!("{BASICS}simpleTemplates-simpleTemplates"),
            "_Z10testKernelIfEvPT_S1_",
            ([1, 1, 1], [64, 1, 1], 256),
            vec![floats(&a), zeros(64)],
            1,
            Want::Floats(scaled(&a), 1e-4),
        ),
    ]
}

fn transposes() -> Vec<Case> {
    let x = input(64 * 64);
    let turned: Vec<u32> = (0..64 * 64).map(|i| x[i % 64 * 64 + i / 64]).collect();
    let one = |entry: &str, want: &[u32]| {
        let args = vec![zeros(64 * 64), bytes(&x), number(64), number(64)];
        let size = ([2, 2, 1], [32, 16, 1], 0);
        case(format!("{SPEED}transpose-transpose"), entry, size, args, 0, Want::Words(want.to_vec()))
    };
    let all = [
        "_Z14transposeNaivePfS_ii",
        "_Z18transposeCoalescedPfS_ii",
        "_Z24transposeNoBankConflictsPfS_ii",
        "_Z17transposeDiagonalPfS_ii",
    ];
    let copies = ["_Z4copyPfS_ii", "_Z13copySharedMemPfS_ii"];
    copies.iter().map(|e| one(e, &x)).chain(all.iter().map(|e| one(e, &turned))).collect()
}

fn sum(x: &[u32]) -> u32 {
    x.iter().fold(0, |s, v| s.wrapping_add(*v))
}

fn reductions() -> Vec<Case> {
    let x = input(1024);
    let reduce = |entry: &str, block: u32, of_each: u32| {
        let blocks = 1024 / (block * of_each);
        let want = x.chunks((block * of_each) as usize).map(sum).collect();
        let args = vec![bytes(&x), zeros(blocks as usize), number(1024)];
        let size = ([blocks, 1, 1], [block, 1, 1], 4 * block.max(64));
        case(format!("{CONCEPTS}reduction-reduction_kernel"), entry, size, args, 1, Want::Words(want))
    };
    let mut all: Vec<Case> = (0..3).map(|n| reduce(&format!("_Z7reduce{n}IiEvPT_S1_j"), 128, 1)).collect();
    all.push(reduce("_Z7reduce3IiEvPT_S1_j", 128, 2));
    for (n, block) in [(4, 128), (4, 64), (5, 256), (5, 64)] {
        all.push(reduce(&format!("_Z7reduce{n}IiLj{block}EEvPT_S1_j"), block, 2));
    }
    all.push(reduce("_Z7reduce6IiLj128ELb1EEvPT_S1_j", 128, 8));

    let small: Vec<u32> = x.iter().map(|v| v % 1000).collect();
    let part = |odd: u32| sum(&small.iter().copied().filter(|v| v % 2 == odd).collect::<Vec<u32>>());
    all.push(case(
        format!("{FEATURES}binaryPartitionCG-binaryPartitionCG"),
        "_Z20oddEvenCountAndSumCGPiS_S_j",
        ([2, 1, 1], [128, 1, 1], 0),
        vec![bytes(&small), zeros(1), zeros(2), number(1024)],
        2,
        Want::Words(vec![part(1), part(0)]),
    ));
    let scanned = x.chunks(256).flat_map(|block| {
        block.iter().scan(0_u32, |s, v| {
            *s = s.wrapping_add(*v);
            Some(*s)
        })
    });
    all.push(case(
        format!("{CONCEPTS}shfl_scan-shfl_scan"),
        "_Z14shfl_scan_testPiiS_",
        ([4, 1, 1], [256, 1, 1], 32),
        vec![bytes(&x), number(32), zeros(4)],
        0,
        Want::Words(scanned.collect()),
    ));
    let f = numbers(1024, 3);
    all.push(case(
        format!("{CONCEPTS}threadFenceReduction-threadFenceReduction"),
        "_Z16reduceSinglePassILj128ELb1EEvPKfPfj",
        ([4, 1, 1], [128, 1, 1], 512),
        vec![floats(&f), zeros(4), number(1024)],
        1,
        Want::Floats(vec![f.iter().map(|v| f64::from(*v)).sum()], 1e-4),
    ));
    let dots = f.chunks(256).map(|v| v.iter().map(|x| f64::from(*x) * f64::from(*x)).sum());
    all.push(case(
        format!("{CONCEPTS}scalarProd-scalarProd"),
        "_Z13scalarProdGPUPfS_S_ii",
        ([2, 1, 1], [256, 1, 1], 0),
        vec![zeros(4), floats(&f), floats(&f), number(4), number(256)],
        0,
        Want::Floats(dots.collect(), 1e-4),
    ));
    all
}

fn sorts() -> Vec<Case> {
    let keys: Vec<u32> = input(1024).iter().map(|v| v % 5000).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    let one = |file: String, entry: &str| {
        let args = vec![zeros(1024), zeros(1024), bytes(&keys), bytes(&input(1024)), number(1024), number(1)];
        case(file, entry, ([1, 1, 1], [512, 1, 1], 0), args, 0, Want::Words(sorted.clone()))
    };
    vec![
        one(format!("{CONCEPTS}sortingNetworks-oddEvenMergeSort"), "_Z22oddEvenMergeSortSharedPjS_S_S_jj"),
        one(format!("{BASICS}mergeSort-bitonic"), "_Z23bitonicSortSharedKernelPjS_S_S_jj"),
    ]
}

fn products() -> Vec<Case> {
    const N: usize = 64;
    let (a, b) = (numbers(N * N, 4), numbers(N * N, 5));
    let at = |i: usize| (0..N).map(|k| f64::from(a[i / N * N + k]) * f64::from(b[k * N + i % N])).sum();
    let want: Vec<f64> = (0..N * N).map(at).collect();
    let one = |file: String, entry: &str, block: [u32; 3], size: &dyn Fn() -> Given| {
        let args = vec![zeros(N * N), floats(&a), floats(&b), size(), size()];
        case(file, entry, ([4, 4, 1], block, 0), args, 0, Want::Floats(want.clone(), 1e-4))
    };
    let int = || number(N as i32);
    let long = || Given::Value(Arg::I64(N as i64));
    let copies = |entry: &str, block| {
        one(format!("{FEATURES}globalToShmemAsyncCopy-globalToShmemAsyncCopy"), entry, block, &int)
    };
    let square = [16, 16, 1];
    // These are right for matrices of one number alone, which is what the sample multiplies.
    let constant = |entry: &str| Case {
        args: vec![zeros(N * N), floats(&[1.0; N * N]), floats(&[0.25; N * N]), int(), int()],
        want: Want::Floats(vec![16.0; N * N], 0.0),
        ..copies(entry, square)
    };
    vec![
        one(format!("{BASICS}matrixMulDrv-matrixMul_kernel"), "matrixMul_bs16_64bit", square, &long),
        copies("_Z14MatrixMulNaiveILi16EEvPfS0_S0_ii", square),
        constant("_Z24MatrixMulNaiveLargeChunkILi16EEvPfS0_S0_ii"),
        copies("_Z29MatrixMulAsyncCopySingleStageILi16EEvPfPKfS2_ii", square),
        copies("_Z28MatrixMulAsyncCopyMultiStageILi16EEvPfPKfS2_ii", square),
        constant("_Z28MatrixMulAsyncCopyLargeChunkILi16EEvPfPKfS2_ii"),
        constant("_Z38MatrixMulAsyncCopyMultiStageLargeChunkILi16EEvPfPKfS2_ii"),
        // All 16 threads of its first column initialise the barrier.
        Case {
            want: Want::Finding("M02"),
            ..copies("_Z37MatrixMulAsyncCopyLargeChunkAWBarrierILi16EEvPfPKfS2_ii", square)
        },
        copies("_Z39MatrixMulAsyncCopyMultiStageSharedStateILi16EEvPfPKfS2_ii", [16, 20, 1]),
    ]
}
