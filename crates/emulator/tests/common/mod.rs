//! Helpers of the tests: reference data, bf16, matrices, the launch of the frame's GEMM.
#![allow(dead_code, reason = "each test file uses some of them")]

pub mod manifest;

use std::path::PathBuf;
use warploom_chips::Target;
use warploom_emulator::{
    Arg, Device, ElemType, Launch, Module, Policy, Report, RunOptions, TensorMap, TiledMap,
};

/// The folder of the workspace.
pub fn workspace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// A file of the repository's kernels.
pub fn kernel(path: &str) -> String {
    let path = workspace().join("kernels").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub fn bf16(x: f32) -> u16 {
    half::bf16::from_f32(x).to_bits()
}

pub fn bf16_value(b: u16) -> f32 {
    half::bf16::from_bits(b).to_f32()
}

/// Runs a kernel of one warp or warpgroup with these arguments.
pub fn run(dev: &mut Device, text: &str, smem: u32, args: Vec<Arg>) -> Report {
    let module = Module::parse(text).unwrap();
    if let Some(r) = module.entries()[0].refusal() {
        panic!("{r}\n{text}");
    }
    let launch = Launch { smem, args, ..Launch::of(&module.entries()[0]) };
    dev.run(&module, &launch, &RunOptions::default()).unwrap()
}

/// A kernel of one warp that loads a box of two dimensions by the map `m`, waits until its barrier was `told` of so many bytes, and
/// copies what then lies in shared memory to `out`.
pub fn box_kernel(head: &str, corner: [u32; 2], told: u32, stored: u32) -> String {
    let ([x, y], words) = (corner, stored / 4 / 32);
    format!(
        "{head}.visible .entry k(.param .align 64 .b8 m[128], .param .u64 out) .reqntid 32 {{
        .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
        mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1; ld.param.u64 %rd2, [out];
        mov.u32 %r1, %tid.x; mov.b32 %r2, s; setp.ne.u32 %p1, %r1, 0; @%p1 bra $go;
        mbarrier.init.shared.b64 [%r2+8192], 1;
        mbarrier.arrive.expect_tx.shared.b64 _, [%r2+8192], {told};
        mov.b32 %r3, {x}; mov.b32 %r4, {y};
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {{%r3, %r4}}], [%r2+8192];
        $go: bar.warp.sync -1;
        $wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+8192], 0; @!%p2 bra $wait;
        mov.b32 %r5, 0;
        $copy: mad.lo.u32 %r6, %r5, 32, %r1; shl.b32 %r6, %r6, 2; add.u32 %r7, %r6, %r2;
        ld.shared.b32 %r8, [%r7]; cvt.u64.u32 %rd3, %r6; add.u64 %rd3, %rd3, %rd2; st.global.b32 [%rd3], %r8;
        add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, {words}; @%p1 bra $copy; ret; }}"
    )
}

/// Deterministic numbers in -1..1.
pub fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut s = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..n)
        .map(|_| {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            ((s >> 40) as f32) / ((1_u64 << 23) as f32) - 1.0
        })
        .collect()
}

pub fn bf16_bytes(x: &[f32]) -> Vec<u8> {
    x.iter().flat_map(|v| bf16(*v).to_le_bytes()).collect()
}

pub fn bf16_read(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(2).map(|c| bf16_value(u16::from_le_bytes([c[0], c[1]]))).collect()
}

/// A row-major bf16 matrix as a tensor map with 128-byte swizzle.
pub fn map(addr: u64, rows: u64, cols: u64, box_rows: u32, box_cols: u32) -> TensorMap {
    TensorMap::tiled(&TiledMap {
        elem: ElemType::BF16,
        addr,
        dims: vec![cols, rows],
        strides: vec![cols * 2],
        box_dims: vec![box_cols, box_rows],
        elem_strides: vec![],
        swizzle: 128,
        nan_fill: false,
    })
    .unwrap()
}

/// The parameters that a descriptor of rank 2 takes in Triton's calling convention (E23).
pub fn descriptor(args: &mut Vec<Arg>, m: &TensorMap, rows: u64, cols: u64) {
    args.push(m.into());
    args.push(Arg::I32(rows as i32));
    args.push(Arg::I32(cols as i32));
    args.push(Arg::I64(cols as i64));
    args.push(Arg::I64(1));
}

/// C = A @ B.T in bf16 by the entry `matmul` of gemm_bf16.ttir.
pub struct Gemm {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub tile: (u32, u32, u32),
    pub threads: u32,
    pub smem: u32,
    pub target: &'static str,
}

impl Gemm {
    pub fn hand_sm90(m: usize, n: usize, k: usize) -> Gemm {
        Gemm { m, n, k, tile: (128, 256, 64), threads: 384, smem: 196_672, target: "sm_90a" }
    }

    pub fn hand_sm100(m: usize, n: usize, k: usize) -> Gemm {
        Gemm { threads: 256, smem: 196_688, target: "sm_100a", ..Gemm::hand_sm90(m, n, k) }
    }

    /// Runs it; returns the report and the largest error relative to the largest element.
    pub fn run(&self, ptx: &str, opts: &RunOptions) -> (Report, f64) {
        let module = Module::parse(ptx).unwrap();
        self.run_module(&module, opts)
    }

    pub fn run_module(&self, module: &Module, opts: &RunOptions) -> (Report, f64) {
        let (m, n, k) = (self.m, self.n, self.k);
        let (a, b) = (numbers(m * k, 1), numbers(n * k, 2));
        let (a, b): (Vec<f32>, Vec<f32>) = (
            a.iter().map(|x| bf16_value(bf16(*x))).collect(),
            b.iter().map(|x| bf16_value(bf16(*x))).collect(),
        );
        let mut dev = Device::new(&Target::named(self.target).unwrap());
        let pa = dev.alloc_from(&bf16_bytes(&a), "A").unwrap();
        let pb = dev.alloc_from(&bf16_bytes(&b), "B").unwrap();
        let pc = dev.alloc((m * n * 2) as u64, "C").unwrap();
        let (bm, bn, bk) = self.tile;
        let mut args = Vec::new();
        descriptor(&mut args, &map(pa, m as u64, k as u64, bm, bk), m as u64, k as u64);
        descriptor(&mut args, &map(pb, n as u64, k as u64, bn, bk), n as u64, k as u64);
        descriptor(&mut args, &map(pc, m as u64, n as u64, bm, 64), m as u64, n as u64);
        args.extend([Arg::I32(k as i32), Arg::U64(0), Arg::U64(0)]);
        let launch = Launch {
            entry: module.entries()[0].name.clone(),
            grid: [(m as u32).div_ceil(bm), (n as u32).div_ceil(bn), 1],
            block: [self.threads, 1, 1],
            cluster: [1; 3],
            smem: self.smem,
            args,
        };
        let report = dev.run(module, &launch, opts).unwrap();
        let c = bf16_read(dev.read(pc).unwrap());
        let (mut worst, mut peak) = (0.0_f64, 0.0_f64);
        for i in 0..m {
            for j in 0..n {
                let want: f64 = (0..k).map(|x| f64::from(a[i * k + x]) * f64::from(b[j * k + x])).sum();
                let error = (f64::from(c[i * n + j]) - want).abs();
                worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
                peak = peak.max(want.abs());
            }
        }
        (report, worst / peak)
    }
}

/// The policies of E9.
pub fn policies() -> [Policy; 6] {
    [Policy::Eager, Policy::Lazy, Policy::Random(1), Policy::Random(2), Policy::Random(3), Policy::Random(4)]
}

pub fn with(policy: Policy) -> RunOptions {
    RunOptions::default().policy(policy).max_steps(2_000_000)
}
