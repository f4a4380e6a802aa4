//! The NVPTX intrinsics this crate uses, with what they need (C43, C44).
//!
//! LLVM aborts the process on an intrinsic that the chip or the PTX version lacks, so this table is asked
//! before any is emitted. A name LLVM does not know would come out as an external function: the table is
//! checked against LLVM by a test, and [`crate::scan`] refuses every `.extern .func`.

use warploom_chips::{Feature, PtxVersion, Target};

/// What an intrinsic needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    /// Name after `llvm.`.
    pub name: &'static str,
    /// Capability of the chip; `None` for all chips of T2.
    pub feature: Option<Feature>,
    /// Lowest PTX version that has it.
    pub ptx: PtxVersion,
}

const fn need(name: &'static str, feature: Option<Feature>, major: u32, minor: u32) -> Need {
    Need { name, feature, ptx: PtxVersion { major, minor } }
}

/// Where the program stands in its grid, by axis.
pub(crate) const PROGRAM: [&str; 3] =
    ["nvvm.read.ptx.sreg.ctaid.x", "nvvm.read.ptx.sreg.ctaid.y", "nvvm.read.ptx.sreg.ctaid.z"];

/// How many programs the grid has, by axis.
pub(crate) const PROGRAMS: [&str; 3] =
    ["nvvm.read.ptx.sreg.nctaid.x", "nvvm.read.ptx.sreg.nctaid.y", "nvvm.read.ptx.sreg.nctaid.z"];

/// Every intrinsic that [`crate::llvm::Ir::intrinsic`] accepts.
pub(crate) const TABLE: &[Need] = &[
    need("trap", None, 7, 0),
    need("fabs", None, 7, 0),
    need("fma", None, 7, 0),
    need("nvvm.add.rn.f", None, 7, 0),
    need("nvvm.add.rn.d", None, 7, 0),
    need("nvvm.mul.rn.d", None, 7, 0),
    need("trunc", None, 7, 0),
    need("rint", None, 7, 0),
    need("round", None, 7, 0),
    need("copysign", None, 7, 0),
    need("floor", None, 7, 0),
    need("ceil", None, 7, 0),
    need("maxnum", None, 7, 0),
    need("minnum", None, 7, 0),
    need("maximum", None, 7, 0),
    need("minimum", None, 7, 0),
    need("smax", None, 7, 0),
    need("smin", None, 7, 0),
    need("umax", None, 7, 0),
    need("umin", None, 7, 0),
    need("sadd.sat", None, 7, 0),
    need("ssub.sat", None, 7, 0),
    need("abs", None, 7, 0),
    need("sqrt", None, 7, 0),
    need("nvvm.read.ptx.sreg.tid.x", None, 7, 0),
    need(PROGRAM[0], None, 7, 0),
    need(PROGRAM[1], None, 7, 0),
    need(PROGRAM[2], None, 7, 0),
    need(PROGRAMS[0], None, 7, 0),
    need(PROGRAMS[1], None, 7, 0),
    need(PROGRAMS[2], None, 7, 0),
    need("nvvm.shfl.sync.idx.i32", None, 7, 0),
    need("nvvm.shfl.sync.bfly.i32", None, 7, 0),
    need("nvvm.shfl.sync.bfly.f32", None, 7, 0),
    need("nvvm.ex2.approx.ftz", None, 7, 0),
    need("nvvm.lg2.approx.ftz.f", None, 7, 0),
    need("nvvm.sqrt.approx.ftz.f", None, 7, 0),
    need("nvvm.rsqrt.approx.ftz.f", None, 7, 0),
    need("nvvm.ex2.approx", None, 7, 0),
    need("nvvm.lg2.approx.f", None, 7, 0),
    need("nvvm.sqrt.approx.f", None, 7, 0),
    need("nvvm.rsqrt.approx.f", None, 7, 0),
    need("nvvm.div.full", None, 7, 0),
    need("nvvm.prmt", None, 7, 0),
    need("nvvm.ff2bf16x2.rn", None, 7, 0),
    need("nvvm.ff2f16x2.rn", None, 7, 0),
    need("nvvm.ff2bf16x2.rz", None, 7, 0),
    need("nvvm.ff2f16x2.rz", None, 7, 0),
    need("nvvm.d2f.rz", None, 7, 0),
    need("nvvm.ff.to.e4m3x2.rn", Some(Feature::Fp8Convert), 8, 1),
    need("nvvm.ff.to.e5m2x2.rn", Some(Feature::Fp8Convert), 8, 1),
    need("nvvm.e4m3x2.to.f16x2.rn", Some(Feature::Fp8Convert), 8, 1),
    need("nvvm.e5m2x2.to.f16x2.rn", Some(Feature::Fp8Convert), 8, 1),
    need("nvvm.bar.warp.sync", None, 7, 0),
    need("nvvm.barrier.cta.sync.aligned.all", None, 7, 0),
    need("nvvm.barrier.cta.arrive.aligned.count", None, 7, 0),
    need("nvvm.barrier.cta.sync.aligned.count", None, 7, 0),
    need("nvvm.mbarrier.init.shared", Some(Feature::Mbarrier), 7, 0),
    need("nvvm.mbarrier.arrive.scope.cta.space.cta", Some(Feature::MbarrierArriveCount), 8, 0),
    need("nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta", Some(Feature::MbarrierTxCount), 8, 0),
    need("nvvm.mbarrier.try.wait.parity.scope.cta.space.cta", Some(Feature::MbarrierTryWait), 8, 0),
    need("nvvm.fence.mbarrier_init.release.cluster", Some(Feature::Clusters), 8, 0),
    need("nvvm.fence.proxy.async.shared_cta", Some(Feature::FenceProxyAsync), 8, 0),
    need("nvvm.elect.sync", Some(Feature::Elect), 8, 0),
    need("nvvm.setmaxnreg.inc.sync.aligned.u32", Some(Feature::SetMaxNReg), 8, 0),
    need("nvvm.setmaxnreg.dec.sync.aligned.u32", Some(Feature::SetMaxNReg), 8, 0),
    need("nvvm.cp.async.bulk.tensor.g2s.cta.tile.1d", Some(Feature::TmaLoad), 8, 6),
    need("nvvm.cp.async.bulk.tensor.g2s.cta.tile.2d", Some(Feature::TmaLoad), 8, 6),
    need("nvvm.cp.async.bulk.tensor.g2s.cta.tile.3d", Some(Feature::TmaLoad), 8, 6),
    need("nvvm.cp.async.bulk.tensor.g2s.cta.tile.4d", Some(Feature::TmaLoad), 8, 6),
    need("nvvm.cp.async.bulk.tensor.g2s.cta.tile.5d", Some(Feature::TmaLoad), 8, 6),
    need("nvvm.cp.async.bulk.tensor.g2s.tile.1d", Some(Feature::TmaLoad), 8, 0),
    need("nvvm.cp.async.bulk.tensor.g2s.tile.2d", Some(Feature::TmaLoad), 8, 0),
    need("nvvm.cp.async.bulk.tensor.g2s.tile.3d", Some(Feature::TmaLoad), 8, 0),
    need("nvvm.cp.async.bulk.tensor.g2s.tile.4d", Some(Feature::TmaLoad), 8, 0),
    need("nvvm.cp.async.bulk.tensor.g2s.tile.5d", Some(Feature::TmaLoad), 8, 0),
    need("nvvm.cp.async.bulk.tensor.s2g.tile.1d", Some(Feature::TmaStore), 8, 0),
    need("nvvm.cp.async.bulk.tensor.s2g.tile.2d", Some(Feature::TmaStore), 8, 0),
    need("nvvm.cp.async.bulk.tensor.s2g.tile.3d", Some(Feature::TmaStore), 8, 0),
    need("nvvm.cp.async.bulk.tensor.s2g.tile.4d", Some(Feature::TmaStore), 8, 0),
    need("nvvm.cp.async.bulk.tensor.s2g.tile.5d", Some(Feature::TmaStore), 8, 0),
    need("nvvm.cp.async.bulk.commit.group", Some(Feature::TmaStore), 8, 0),
    need("nvvm.cp.async.bulk.wait.group", Some(Feature::TmaStore), 8, 0),
    need("nvvm.cp.async.bulk.wait.group.read", Some(Feature::TmaStore), 8, 0),
    need("nvvm.stmatrix.sync.aligned.m8n8.x1.b16", Some(Feature::Stmatrix), 7, 8),
    need("nvvm.stmatrix.sync.aligned.m8n8.x1.trans.b16", Some(Feature::Stmatrix), 7, 8),
    need("nvvm.stmatrix.sync.aligned.m8n8.x2.b16", Some(Feature::Stmatrix), 7, 8),
    need("nvvm.stmatrix.sync.aligned.m8n8.x2.trans.b16", Some(Feature::Stmatrix), 7, 8),
    need("nvvm.stmatrix.sync.aligned.m8n8.x4.b16", Some(Feature::Stmatrix), 7, 8),
    need("nvvm.stmatrix.sync.aligned.m8n8.x4.trans.b16", Some(Feature::Stmatrix), 7, 8),
    need("nvvm.ldmatrix.sync.aligned.m8n8.x1.b16", Some(Feature::Ldmatrix), 7, 0),
    need("nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16", Some(Feature::Ldmatrix), 7, 0),
    need("nvvm.ldmatrix.sync.aligned.m8n8.x2.b16", Some(Feature::Ldmatrix), 7, 0),
    need("nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16", Some(Feature::Ldmatrix), 7, 0),
    need("nvvm.ldmatrix.sync.aligned.m8n8.x4.b16", Some(Feature::Ldmatrix), 7, 0),
    need("nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16", Some(Feature::Ldmatrix), 7, 0),
    need("nvvm.mma.m16n8k16.row.col.bf16", None, 7, 0),
    need("nvvm.mma.m16n8k16.row.col.f32.f32", None, 7, 0),
    need("nvvm.mma.m16n8k16.row.col.f16.f16", None, 7, 0),
    need("nvvm.mma.m16n8k8.row.col.tf32", None, 7, 0),
    need("nvvm.mma.m16n8k32.row.col.s8", None, 7, 0),
    need("nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32", Some(Feature::Fp8MmaSync), 8, 4),
    need("nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32", Some(Feature::Fp8MmaSync), 8, 4),
    need("nvvm.mma.m16n8k32.row.col.f32.e5m2.e4m3.f32", Some(Feature::Fp8MmaSync), 8, 4),
    need("nvvm.mma.m16n8k32.row.col.f32.e5m2.e5m2.f32", Some(Feature::Fp8MmaSync), 8, 4),
    need("nvvm.cp.async.cg.shared.global.16", Some(Feature::CpAsync), 7, 0),
    need("nvvm.cp.async.cg.shared.global.16.s", Some(Feature::CpAsync), 7, 0),
    need("nvvm.cp.async.ca.shared.global.8", Some(Feature::CpAsync), 7, 0),
    need("nvvm.cp.async.ca.shared.global.8.s", Some(Feature::CpAsync), 7, 0),
    need("nvvm.cp.async.ca.shared.global.4", Some(Feature::CpAsync), 7, 0),
    need("nvvm.cp.async.ca.shared.global.4.s", Some(Feature::CpAsync), 7, 0),
    need("nvvm.cp.async.commit.group", Some(Feature::CpAsync), 7, 0),
    need("nvvm.cp.async.wait.group", Some(Feature::CpAsync), 7, 0),
    need("nvvm.tcgen05.alloc.shared.cg1", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.relinq.alloc.permit.cg1", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.dealloc.cg1", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.fence.before.thread.sync", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.fence.after.thread.sync", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.mma.shared", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.mma.tensor", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.cp.32x128b_warpx4.cg1", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.commit.shared.cg1", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.ld.16x256b.x2", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.ld.16x256b.x8", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.ld.32x32b.x16", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.ld.32x32b.x32", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.st.16x128b.x2", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.st.16x128b.x4", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.st.16x128b.x8", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.st.16x256b.x2", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.st.16x256b.x8", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.st.32x32b.x8", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.st.32x32b.x16", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.st.32x32b.x32", Some(Feature::Tcgen05), 8, 6),
    need("nvvm.tcgen05.wait.st", Some(Feature::Tcgen05), 8, 6),
];

/// Why an intrinsic cannot be used here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lack {
    /// Not in the table.
    Unknown,
    /// The chip has no such capability.
    Chip(Feature),
    /// The PTX version is too low.
    Version(PtxVersion),
}

/// Whether the chip and the PTX version have this intrinsic.
pub(crate) fn check(name: &str, target: &Target, ptx: PtxVersion) -> Result<(), Lack> {
    let need = TABLE.iter().find(|need| need.name == name).ok_or(Lack::Unknown)?;
    match need.feature {
        Some(feature) if !target.has(feature) => Err(Lack::Chip(feature)),
        _ if ptx < need.ptx => Err(Lack::Version(need.ptx)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn llvm_knows_every_name_c43() {
        for need in TABLE {
            let name = format!("llvm.{}", need.name);
            assert!(inkwell::intrinsics::Intrinsic::find(&name).is_some(), "{name}");
        }
        assert!(inkwell::intrinsics::Intrinsic::find("llvm.nvvm.elect.snyc").is_none());
    }

    #[test]
    fn chips_and_versions_are_asked_first_c43() {
        let version = |text: &str| text.parse::<PtxVersion>().unwrap();
        let hopper = Target::named("sm_90a").unwrap();
        let ampere = Target::named("sm_80").unwrap();
        assert_eq!(check("nvvm.elect.sync", &hopper, version("8.6")), Ok(()));
        assert_eq!(check("nvvm.elect.sync", &ampere, version("8.6")), Err(Lack::Chip(Feature::Elect)));
        let load = "nvvm.cp.async.bulk.tensor.g2s.cta.tile.2d";
        assert_eq!(check(load, &hopper, version("8.0")), Err(Lack::Version(version("8.6"))));
        assert_eq!(check("nvvm.elect.snyc", &hopper, version("8.6")), Err(Lack::Unknown));
    }
}
