//! What a chip can do (T5).

use crate::named::named;

named! {
    /// One capability of T5; its name in data files is in snake case.
    Feature {
        /// `cp.async`, per-thread copies from global to shared memory.
        CpAsync = "cp_async",
        /// mbarrier init, arrive, test_wait, inval.
        Mbarrier = "mbarrier",
        /// `ldmatrix` of 8x8 tiles of 16 bits.
        Ldmatrix = "ldmatrix",
        /// Conversions to and from e4m3 and e5m2.
        Fp8Convert = "fp8_convert",
        /// `mma.sync` with e4m3 and e5m2 operands.
        Fp8MmaSync = "fp8_mma_sync",
        /// `mbarrier.try_wait`, which may suspend the thread.
        MbarrierTryWait = "mbarrier_try_wait",
        /// mbarrier transaction counts: `expect_tx`, `complete_tx`.
        MbarrierTxCount = "mbarrier_tx_count",
        /// `mbarrier.arrive` with a count.
        MbarrierArriveCount = "mbarrier_arrive_count",
        /// mbarrier arrivals in another CTA of the cluster.
        MbarrierRemoteArrive = "mbarrier_remote_arrive",
        /// Bulk tensor copies from global to shared memory.
        TmaLoad = "tma_load",
        /// Bulk tensor copies from shared to global memory.
        TmaStore = "tma_store",
        /// Bulk tensor reductions from shared to global memory.
        TmaReduce = "tma_reduce",
        /// `stmatrix` of 8x8 tiles of 16 bits.
        Stmatrix = "stmatrix",
        /// `elect.sync`.
        Elect = "elect",
        /// Thread-block clusters and `barrier.cluster`.
        Clusters = "clusters",
        /// `mapa`, addresses in another CTA's shared memory.
        Mapa = "mapa",
        /// `griddepcontrol`, programmatic dependent launch.
        GridDepControl = "griddepcontrol",
        /// `fence.proxy.async`.
        FenceProxyAsync = "fence_proxy_async",
        /// `setmaxnreg`, moving registers between warpgroups.
        SetMaxNReg = "setmaxnreg",
        /// `tensormap.replace`, making descriptors on the device.
        TensormapReplace = "tensormap_replace",
        /// TMA multicast without a performance advisory of ptxas.
        TmaMulticast = "tma_multicast",
        /// `wgmma`, Hopper's tensor core.
        Wgmma = "wgmma",
        /// `tcgen05`, Blackwell's tensor core with tensor memory.
        Tcgen05 = "tcgen05",
        /// TMA copies with `.cta_group::2`.
        TmaCtaGroup2 = "tma_cta_group_2",
        /// `tcgen05.mma` of `kind::i8`.
        Tcgen05I8 = "tcgen05_i8",
        /// `tcgen05.ld.red`, loads that reduce.
        Tcgen05LdRed = "tcgen05_ld_red",
        /// `redux.sync` on f32.
        ReduxF32 = "redux_f32",
        /// Conversions with stochastic rounding, `cvt.rs`.
        CvtRs = "cvt_rs",
        /// Arithmetic on pairs of f32.
        F32x2 = "f32x2",
        /// The same as one machine instruction; elsewhere the assembler makes two of it.
        PackedF32 = "packed_f32",
        /// `max.f32` and `min.f32` of three inputs.
        Max3F32 = "max3_f32",
        /// Loads and stores of 256 bits.
        LdSt256 = "ldst_256",
        /// TMA `tile::gather4` into `shared::cta`.
        TmaGather4Cta = "tma_gather4_cta",
        /// `clusterlaunchcontrol`.
        ClusterLaunchControl = "clusterlaunchcontrol",
        /// `ldmatrix` of 16x16 tiles of 8 bits.
        LdmatrixM16n16 = "ldmatrix_m16n16",
        /// `stmatrix` of 16x8 tiles of 8 bits.
        StmatrixM16n8 = "stmatrix_m16n8",
        /// `mma.sync` with e2m1 operands.
        MmaSyncE2m1 = "mma_sync_e2m1",
        /// `mma.sync` with block scales.
        MmaSyncBlockScaled = "mma_sync_block_scaled",
    }
}
