//! One-instruction kernels, one for each feature of T5.

use warploom_chips::Feature;

/// What a kernel needs besides its instruction.
pub struct Kernel {
    /// The instructions, inside the entry.
    pub body: &'static str,
    /// Whether a performance advisory counts as a refusal.
    pub advisory_refuses: bool,
    /// The machine instruction that must come of it, where that is the question.
    pub machine: Option<&'static str>,
}

/// Registers, predicates and shared memory that every kernel finds.
const HEAD: &str = ".address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .u64 p, .param .align 64 .b8 map[128])
{
  .reg .pred p0, q0;
  .reg .b16 h<8>;
  .reg .b32 r<64>;
  .reg .b64 d<16>;
  .reg .f32 f<32>;
  .reg .f64 g<8>;
  .reg .b128 x<2>;
";

/// A whole module around a body.
pub fn module(version: &str, chip: &str, body: &str) -> String {
    format!(".version {version}\n.target {chip}\n{HEAD}{body}\n  ret;\n}}\n")
}

/// The kernel that asks for a feature.
pub fn of(feature: Feature) -> Kernel {
    use Feature::*;
    let body = match feature {
        CpAsync => "cp.async.cg.shared.global [smem], [d0], 16;",
        Mbarrier => {
            "mbarrier.init.shared.b64 [smem], 1; mbarrier.arrive.shared.b64 d1, [smem];
             mbarrier.test_wait.shared.b64 p0, [smem], d1; mbarrier.inval.shared.b64 [smem];"
        }
        Ldmatrix => "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0, r1, r2, r3}, [smem];",
        Fp8Convert => "cvt.rn.satfinite.e4m3x2.f32 h0, f0, f1; cvt.rn.f16x2.e5m2x2 r0, h0;",
        Fp8MmaSync => {
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32
             {f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, {f0, f1, f2, f3};"
        }
        MbarrierTryWait => "mbarrier.try_wait.parity.shared.b64 p0, [smem], 0;",
        MbarrierTxCount => "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [smem], 16;",
        MbarrierArriveCount => "mbarrier.arrive.shared.b64 d1, [smem], 2;",
        MbarrierRemoteArrive => "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r0];",
        TmaLoad => {
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
             [smem], [d0, {r0, r1}], [smem];"
        }
        TmaStore => "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [d0, {r0, r1}], [smem];",
        TmaReduce => "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [d0, {r0, r1}], [smem];",
        Stmatrix => "stmatrix.sync.aligned.m8n8.x4.shared.b16 [smem], {r0, r1, r2, r3};",
        Elect => "elect.sync r0|p0, 0xffffffff;",
        Clusters => "barrier.cluster.arrive; barrier.cluster.wait;",
        Mapa => "mapa.shared::cluster.u32 r0, r1, 0;",
        GridDepControl => "griddepcontrol.wait;",
        FenceProxyAsync => "fence.proxy.async;",
        SetMaxNReg => "setmaxnreg.dec.sync.aligned.u32 24;",
        TensormapReplace => "tensormap.replace.tile.rank.shared::cta.b1024.b32 [smem], 1;",
        TmaMulticast => {
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
             [smem], [d0, {r0, r1}], [smem], h0;"
        }
        Wgmma => {
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {f0, f1, f2, f3}, d0, d1, p0, 1, 1, 0, 0;"
        }
        Tcgen05 => "tcgen05.mma.cta_group::1.kind::f16 [r0], d0, d1, r1, p0;",
        TmaCtaGroup2 => {
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2
             [smem], [d0, {r0, r1}], [smem];"
        }
        Tcgen05I8 => "tcgen05.mma.cta_group::1.kind::i8 [r0], d0, d1, r1, p0;",
        Tcgen05LdRed => "tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {f0, f1}, f2, [r2];",
        ReduxF32 => "redux.sync.max.f32 f0, f1, 0xffffffff;",
        CvtRs => "cvt.rs.f16x2.f32 r0, f0, f1, r1;",
        F32x2 => "add.rn.f32x2 d0, d1, d2;",
        PackedF32 => "ld.global.v2.b64 {d0, d1}, [d2]; add.rn.f32x2 d3, d0, d1; st.global.b64 [d2], d3;",
        Max3F32 => "max.f32 f0, f1, f2, f3;",
        LdSt256 => "ld.global.v8.b32 {r0, r1, r2, r3, r4, r5, r6, r7}, [d0];",
        TmaGather4Cta => {
            "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes
             [smem], [d0, {r0, r1, r2, r3, r4}], [smem];"
        }
        ClusterLaunchControl => {
            "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [smem], [smem];"
        }
        LdmatrixM16n16 => "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {r0, r1}, [smem];",
        StmatrixM16n8 => "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [smem], {r0};",
        MmaSyncE2m1 => {
            "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32
             {f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, {f0, f1, f2, f3};"
        }
        MmaSyncBlockScaled => {
            "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0
             {f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, {f0, f1, f2, f3}, r6, {0, 0}, r7, {0, 0};"
        }
        other => panic!("no instruction asks for {other}"),
    };
    let machine = (feature == PackedF32).then_some("FADD2");
    Kernel { body, advisory_refuses: feature == TmaMulticast, machine }
}
