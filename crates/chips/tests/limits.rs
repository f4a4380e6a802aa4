//! Laws and numbers of swizzles, copies, barriers, tensor-core shapes, residency and registers.

#![allow(clippy::unwrap_used, clippy::panic)] // Helpers outside of test functions.

use proptest::prelude::*;
use warploom_chips::barrier::{BarrierViolation, check_mbarrier, check_named};
use warploom_chips::check::{self, RegisterViolation};
use warploom_chips::mma::{self, Major, OperandPlace, mma_sync, tcgen05, wgmma};
use warploom_chips::tma::{self, TmaBox, TmaDirection, TmaTensor, TmaViolation};
use warploom_chips::{
    CtaDemand, DEFAULT_KEEP, Element, PartitionWarps, RegisterError, RegisterPlan, Resource, Swizzle, Target,
    TmaSwizzle,
};

fn target(name: &str) -> Target {
    Target::named(name).unwrap()
}

#[test]
fn t10_tma_codes() {
    let codes = Swizzle::ALL.map(|swizzle| (swizzle.tma_code().mode, swizzle.tma_code().atomicity));
    assert_eq!(codes, [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1)]);
    assert!(Swizzle::ALL.iter().all(|s| Swizzle::from_tma_code(s.tma_code()) == Some(*s)));
    assert_eq!(Swizzle::from_tma_code(TmaSwizzle { mode: 4, atomicity: 0 }), None);
}

#[test]
fn t10_wgmma_codes() {
    assert_eq!(Swizzle::ALL.map(Swizzle::wgmma_code), [Some(0), Some(3), Some(2), Some(1), None]);
    assert_eq!(Swizzle::from_wgmma_code(1), Some(Swizzle::B128));
    assert_eq!(Swizzle::from_wgmma_code(4), None);
}

#[test]
fn t10_tcgen05_codes() {
    assert_eq!(Swizzle::ALL.map(Swizzle::tcgen05_code), [0, 6, 4, 2, 1]);
    assert_eq!(Swizzle::from_tcgen05_code(2), Some(Swizzle::B128));
    assert_eq!(Swizzle::from_tcgen05_code(3), None);
}

#[test]
fn t9_patterns_and_alignments() {
    assert_eq!(Swizzle::ALL.map(Swizzle::pattern_bytes), [16, 256, 512, 1024, 512]);
    assert_eq!(Swizzle::ALL.map(Swizzle::alignment), [16, 256, 512, 1024, 1024]);
    assert_eq!(Swizzle::ALL.map(Swizzle::tma_alignment), [128, 256, 512, 1024, 1024]);
    assert_eq!(Swizzle::ALL.map(Swizzle::width), [None, Some(32), Some(64), Some(128), Some(128)]);
    assert_eq!(Swizzle::None.stage_alignment(false, 1), 16);
    assert_eq!(Swizzle::None.stage_alignment(true, 1), 128);
    assert_eq!(Swizzle::B64.stage_alignment(true, 2048), 2048);
}

/// Eight rows of a 128-byte panel: column chunk c of row r lies at chunk c ^ r (T9).
#[test]
fn t9_rows_of_128_bytes() {
    for (row, chunk) in (0..8).flat_map(|row| (0..8).map(move |chunk| (row, chunk))) {
        assert_eq!(Swizzle::B128.apply(row * 128 + chunk * 16), row * 128 + (chunk ^ row) * 16);
        let atom = Swizzle::B128Atom32.apply(row * 128 + chunk * 16);
        assert_eq!(atom, row * 128 + ((chunk / 2) ^ (row % 4)) * 32 + chunk % 2 * 16);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(9), ..ProptestConfig::default() })]

    /// An involution that repeats with the pattern, keeps 16-byte chunks whole and stays in its pattern.
    #[test]
    fn t9_swizzle_laws(which in 0..5_usize, address in any::<u32>()) {
        let swizzle = Swizzle::ALL[which];
        let pattern = swizzle.pattern_bytes();
        let moved = swizzle.apply(address);
        prop_assert_eq!(swizzle.apply(moved), address);
        prop_assert_eq!(moved % 16, address % 16);
        prop_assert_eq!(moved / pattern, address / pattern);
        let next = address.wrapping_add(pattern);
        prop_assert_eq!(swizzle.apply(next), moved.wrapping_add(pattern));
    }

    /// Every plan passes the independent checker, and a plan that asks for 8 registers more fails it (T16).
    #[test]
    fn t16_plans_pass_their_checker(
        chip in 0..9_usize,
        partitions in prop::collection::vec((1..=16_u32, any::<bool>()), 1..6),
        whole_groups in any::<bool>(),
        keep in 3..=5_u32,
    ) {
        let target = target(Target::names()[chip]);
        let scale = if whole_groups { 4 } else { 1 };
        let partitions: Vec<PartitionWarps> =
            partitions.iter().map(|&(warps, computes)| PartitionWarps { warps: warps.div_ceil(scale) * scale, computes }).collect();
        let total: u32 = partitions.iter().map(|partition| partition.warps).sum();
        match target.plan_registers(&partitions, keep * 8) {
            Ok(plan) => {
                prop_assert_eq!(check::registers(&target, &partitions, &plan), vec![]);
                let computing: u32 = partitions.iter().filter(|partition| partition.computes).map(|partition| partition.warps).sum();
                let raised = plan.partitions.iter().flatten().max().copied();
                if let Some(raised) = raised.filter(|&raised| raised < 256) {
                    let mut greedy = plan.clone();
                    for (partition, moved) in partitions.iter().zip(&mut greedy.partitions) {
                        *moved = moved.map(|value| if partition.computes { raised + 8 } else { value });
                    }
                    prop_assert!(computing > 0);
                    prop_assert!(!check::registers(&target, &partitions, &greedy).is_empty());
                }
            }
            Err(error) => {
                let expected = matches!(error, RegisterError::TooManyWarps { .. });
                prop_assert!(expected && total > 32, "{error}");
            }
        }
    }

    /// Residency is the most CTAs whose sum fits each resource.
    #[test]
    fn t4_residency_is_tight(
        chip in 0..9_usize, threads in 1..=1024_u32, registers in 1..=255_u32, smem_bytes in 0..240_000_u64, tmem_columns in 0..=512_u32,
    ) {
        let target = target(Target::names()[chip]);
        let demand = CtaDemand { threads, registers, smem_bytes, tmem_columns };
        let Ok(residency) = target.residency(&demand) else { return Ok(()) };
        let fits = |ctas: u64| {
            let warps = u64::from(threads.div_ceil(32));
            let per_warp = (u64::from(registers) * 32).next_multiple_of(256);
            ctas * (smem_bytes + 1024) <= target.smem.per_sm
                && ctas * warps * per_warp <= 65_536
                && ctas * warps * 32 <= u64::from(target.threads.per_sm)
                && ctas <= u64::from(target.threads.ctas_per_sm)
                && ctas * u64::from(tmem_columns) <= target.tmem.as_ref().map_or(0, |tmem| tmem.columns.into())
        };
        prop_assert!(residency.ctas >= 1 && fits(residency.ctas.into()));
        prop_assert!(!fits(u64::from(residency.ctas) + 1));
        prop_assert!(!residency.bound_by().is_empty());
    }
}

fn plain_box() -> TmaBox {
    TmaBox {
        element: Element::Bf16,
        extents: vec![64, 128],
        element_strides: vec![1, 1],
        swizzle: Swizzle::B128,
    }
}

fn plain_tensor() -> TmaTensor {
    TmaTensor { address: 1 << 40, extents: vec![4096, 8192], strides: vec![8192] }
}

#[test]
fn t11_boxes() {
    assert_eq!(tma::check_box(&plain_box()), []);
    assert_eq!(tma::copy_bytes(&plain_box()), Some(16_384));
    let with = |change: fn(&mut TmaBox)| {
        let mut changed = plain_box();
        change(&mut changed);
        tma::check_box(&changed)
    };
    use TmaViolation::*;
    assert_eq!(with(|b| b.extents[1] = 257), [BoxExtent { dimension: 1, extent: 257 }]);
    assert_eq!(with(|b| b.extents[1] = 0), [BoxExtent { dimension: 1, extent: 0 }]);
    assert_eq!(with(|b| b.extents[0] = 4), [BoxWidth { bits: 64 }]);
    assert_eq!(with(|b| b.extents[0] = 128), [SwizzleWidth { bytes: 256, width: 128 }]);
    assert_eq!(with(|b| b.element_strides[0] = 9), [ElementStride { dimension: 0, stride: 9 }]);
    assert_eq!(
        with(|b| b.element_strides = vec![1]),
        [Count { what: "element strides".into(), given: 1, rank: 2 }]
    );
    assert!(
        with(|b| *b = TmaBox { extents: vec![], element_strides: vec![], ..b.clone() })
            .contains(&Rank { rank: 0 })
    );
    assert!(with(|b| b.extents = vec![64; 6]).contains(&Rank { rank: 6 }));
    let strided = TmaBox { element_strides: vec![1, 3], ..plain_box() };
    assert_eq!(tma::copy_bytes(&strided), Some(64 * 43 * 2));
}

#[test]
fn t11_tensors_and_copies() {
    assert_eq!(tma::check_tensor(&plain_tensor()), []);
    let with = |change: fn(&mut TmaTensor)| {
        let mut changed = plain_tensor();
        change(&mut changed);
        tma::check_tensor(&changed)
    };
    use TmaViolation::*;
    assert_eq!(with(|t| t.strides[0] = 8), [Stride { dimension: 1, stride: 8 }]);
    assert_eq!(with(|t| t.strides[0] = 1 << 40), [Stride { dimension: 1, stride: 1 << 40 }]);
    assert_eq!(with(|t| t.extents[0] = 0), [Extent { dimension: 0, extent: 0 }]);
    assert_eq!(with(|t| t.extents[0] = (1 << 32) + 1), [Extent { dimension: 0, extent: (1 << 32) + 1 }]);
    assert_eq!(with(|t| t.extents[0] = 1 << 32), []);
    assert_eq!(with(|t| t.address += 8).len(), 1);
    assert_eq!(tma::check_map_address(64, false), []);
    assert_eq!(tma::check_map_address(64, true).len(), 1);

    let copy = |direction, address, at: &[i64]| tma::check_copy(&plain_box(), direction, address, at);
    assert_eq!(copy(TmaDirection::Load, 1024, &[-64, -1]), []);
    assert_eq!(copy(TmaDirection::Store, 1024, &[0, -1]), [NegativeStore { dimension: 1, coordinate: -1 }]);
    assert_eq!(
        copy(TmaDirection::Load, 128, &[0, 0]),
        [Alignment { what: "shared".into(), address: 128, align: 1024 }]
    );
    assert!(tma::cp_async_bytes_legal(8, false) && !tma::cp_async_bytes_legal(8, true));
    assert!(tma::bulk_bytes_legal(48) && !tma::bulk_bytes_legal(40) && !tma::bulk_bytes_legal(0));
}

#[test]
fn t7_named_barriers() {
    let chip = target("sm_90a");
    assert_eq!(check_named(&chip, 15, 256, 384), []);
    assert_eq!(check_named(&chip, 16, 256, 384), [BarrierViolation::Id { id: 16, last: 15 }]);
    assert_eq!(check_named(&chip, 0, 256, 384), [BarrierViolation::Reserved { id: 0 }]);
    assert_eq!(check_named(&chip, 1, 33, 384), [BarrierViolation::ThreadStep { threads: 33, step: 32 }]);
    assert_eq!(check_named(&chip, 1, 416, 384), [BarrierViolation::ThreadCount { threads: 416, cta: 384 }]);
}

#[test]
fn t8_mbarriers() {
    let chip = target("sm_90a");
    assert_eq!(check_mbarrier(&chip, 8, 1_048_575, 1_048_575), []);
    assert_eq!(check_mbarrier(&chip, 4, 1, 0), [BarrierViolation::Alignment { address: 4, align: 8 }]);
    for count in [0, 1 << 20] {
        assert_eq!(check_mbarrier(&chip, 8, count, 0), [BarrierViolation::Count { count, max: 1_048_575 }]);
    }
    let too_many = BarrierViolation::TxBytes { bytes: 1 << 20, max: 1_048_575 };
    assert_eq!(check_mbarrier(&chip, 8, 1, 1 << 20), [too_many]);
    assert_eq!(check_mbarrier(&target("sm_80"), 8, 1, 16), [BarrierViolation::TxBytes { bytes: 16, max: 0 }]);
}

#[test]
fn t12_mma_sync() {
    let shapes = |chip, element| mma_sync::shapes(&target(chip), element).to_vec();
    assert_eq!(shapes("sm_80", Element::F16), [(16, 8, 8), (16, 8, 16)]);
    assert_eq!(shapes("sm_80", Element::Tf32), [(16, 8, 4), (16, 8, 8)]);
    assert_eq!(shapes("sm_80", Element::S8), [(16, 8, 16), (16, 8, 32)]);
    assert_eq!(shapes("sm_80", Element::S4), [(16, 8, 32), (16, 8, 64)]);
    assert_eq!(shapes("sm_86", Element::E5m2), []);
    assert_eq!(shapes("sm_89", Element::E5m2), [(16, 8, 16), (16, 8, 32)]);
    assert_eq!(shapes("sm_89", Element::F64), [(8, 8, 4)]);
    assert_eq!(shapes("sm_90a", Element::F64), [(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)]);
    assert_eq!(shapes("sm_100a", Element::E2m1), []);
    assert_eq!(shapes("sm_120a", Element::E2m1), [(16, 8, 32)]);
    assert_eq!(shapes("sm_120a", Element::F32), []);
}

#[test]
fn t12_wgmma() {
    let legal = |element| (0..=300).filter(|&n| wgmma::n_legal(element, n)).collect::<Vec<u32>>();
    assert_eq!(legal(Element::Bf16), (1..=32).map(|n| n * 8).collect::<Vec<u32>>());
    let bytes: Vec<u32> = [8, 16, 24, 32].into_iter().chain((3..=16).map(|n| n * 16)).collect();
    assert_eq!(legal(Element::S8), bytes);
    assert_eq!(legal(Element::F32), []);
    let k = [Element::F16, Element::Tf32, Element::E4m3, Element::U8, Element::B1].map(wgmma::k);
    assert_eq!(k, [Some(16), Some(8), Some(32), Some(32), Some(256)]);
    assert_eq!(wgmma::n_dividing(Element::F16, 512), Some(256));
    assert_eq!(wgmma::n_dividing(Element::F16, 320), Some(160));
    assert_eq!(wgmma::n_dividing(Element::F16, 12), None);
    assert_eq!(wgmma::n_dividing(Element::S8, 40), Some(8));
}

#[test]
fn t13_operands() {
    use Major::{K, Mn};
    use OperandPlace::{Registers, Shared, TensorMemory};
    let legal = wgmma::operands_legal;
    assert!(legal(Element::Bf16, Shared, Mn, Mn) && legal(Element::Bf16, Registers, K, Mn));
    assert!(!legal(Element::Bf16, Registers, Mn, K) && !legal(Element::Bf16, TensorMemory, K, K));
    assert!(legal(Element::E4m3, Shared, K, K) && !legal(Element::E4m3, Shared, K, Mn));
    assert!(!legal(Element::Tf32, Shared, Mn, K));
    let legal = tcgen05::operands_legal;
    let (plain, atoms) = (Swizzle::B128, Swizzle::B128Atom32);
    assert!(legal(Element::E4m3, Shared, (Mn, plain), (Mn, plain)));
    assert!(legal(Element::Tf32, Shared, (Mn, atoms), (K, plain)));
    assert!(!legal(Element::Tf32, Shared, (Mn, plain), (K, plain)));
    assert!(legal(Element::F16, TensorMemory, (K, plain), (Mn, plain)));
    assert!(!legal(Element::F16, Registers, (K, plain), (K, plain)));
}

#[test]
fn t12_tcgen05() {
    use tcgen05::{Form, Kind, shape_legal};
    let blackwell = target("sm_100a");
    let legal = |kind: Kind, form, m, n| shape_legal(&blackwell, kind, form, m, n, kind.k());
    assert!(legal(Kind::F16, Form::OneCta, 64, 8) && legal(Kind::F16, Form::OneCta, 128, 256));
    assert!(!legal(Kind::F16, Form::OneCta, 256, 64) && !legal(Kind::F16, Form::OneCta, 64, 12));
    assert!(!legal(Kind::F16, Form::OneCta, 64, 264) && !legal(Kind::F16, Form::OneCta, 64, 0));
    assert!(legal(Kind::F16, Form::TwoCtas, 256, 16) && !legal(Kind::F16, Form::TwoCtas, 256, 24));
    assert!(legal(Kind::I8, Form::OneCta, 64, 24) && !legal(Kind::I8, Form::OneCta, 64, 40));
    assert!(legal(Kind::I8, Form::TwoCtas, 128, 32) && !legal(Kind::I8, Form::TwoCtas, 128, 48));
    assert!(!legal(Kind::Mxf4, Form::OneCta, 64, 64) && legal(Kind::Mxf4, Form::OneCta, 128, 64));
    assert!(legal(Kind::F16, Form::WeightStationary, 32, 64));
    assert!(!legal(Kind::F16, Form::WeightStationary, 32, 96));
    assert!(!shape_legal(&blackwell, Kind::F16, Form::OneCta, 128, 128, 32));
    assert!(!shape_legal(&blackwell, Kind::Mxf4, Form::TwoCtas, 256, 64, 96));
    assert!(shape_legal(&target("sm_103a"), Kind::Mxf4, Form::TwoCtas, 256, 64, 96));
    assert!(!shape_legal(&target("sm_103a"), Kind::I8, Form::OneCta, 64, 32, 32));
    assert!(!shape_legal(&target("sm_90a"), Kind::F16, Form::OneCta, 64, 32, 16));
    assert_eq!(Kind::of(Element::E2m1), Some(Kind::F8f6f4));
    assert_eq!(target("sm_120a").mma_instruction(), mma::MmaInstruction::MmaSync);
}

#[test]
fn t14_tensor_memory_allocations() {
    let chip = target("sm_100a");
    let sizes = [0, 1, 32, 33, 396, 512, 513].map(|columns| tcgen05::allocation(&chip, columns));
    assert_eq!(sizes, [None, Some(32), Some(32), Some(64), Some(512), Some(512), None]);
    assert_eq!(tcgen05::allocation(&target("sm_90a"), 32), None);
}

#[test]
fn t4_residency() {
    let chip = target("sm_90a");
    let demand = CtaDemand { threads: 128, registers: 128, smem_bytes: 49_152, tmem_columns: 0 };
    let residency = chip.residency(&demand).unwrap();
    assert_eq!(
        (residency.ctas, residency.bound_by()),
        (4, vec![Resource::SharedMemory, Resource::Registers])
    );
    let refused = |demand: CtaDemand| chip.residency(&demand).unwrap_err().resource;
    assert_eq!(refused(CtaDemand { smem_bytes: 232_449, ..demand }), Resource::SharedMemory);
    assert_eq!(refused(CtaDemand { threads: 1025, registers: 32, ..demand }), Resource::Threads);
    assert_eq!(refused(CtaDemand { threads: 512, registers: 136, ..demand }), Resource::Registers);
    assert_eq!(refused(CtaDemand { registers: 256, ..demand }), Resource::Registers);
    assert_eq!(refused(CtaDemand { tmem_columns: 32, ..demand }), Resource::TensorMemory);
    let on_blackwell = target("sm_100a").residency(&CtaDemand { tmem_columns: 256, ..demand }).unwrap();
    assert_eq!((on_blackwell.ctas, on_blackwell.bound_by()), (2, vec![Resource::TensorMemory]));
}

const LOADS: PartitionWarps = PartitionWarps { warps: 4, computes: false };
const COMPUTES: PartitionWarps = PartitionWarps { warps: 4, computes: true };

#[test]
fn c31_register_plans() {
    let chip = target("sm_90a");
    let plan = |partitions: &[PartitionWarps], keep| {
        let plan = chip.plan_registers(partitions, keep).unwrap();
        (plan.entry, plan.maxnreg, plan.partitions)
    };
    let three = [LOADS, COMPUTES, COMPUTES];
    assert_eq!(plan(&three, DEFAULT_KEEP), (168, 168, vec![Some(40), Some(232), Some(232)]));
    assert_eq!(plan(&three, 24), (168, 168, vec![Some(24), Some(240), Some(240)]));
    assert_eq!(plan(&[LOADS, COMPUTES], 40), (256, 255, vec![None, None]));
    let five = [LOADS, COMPUTES, COMPUTES, COMPUTES, COMPUTES];
    assert_eq!(plan(&five, 40), (96, 96, vec![Some(40), Some(104), Some(104), Some(104), Some(104)]));
    assert_eq!(plan(&[COMPUTES, COMPUTES, COMPUTES], 40), (168, 168, vec![None; 3]));
    let part = [PartitionWarps { warps: 1, computes: false }, COMPUTES, COMPUTES, COMPUTES];
    assert_eq!(plan(&part, 40), (152, 152, vec![None; 4]));
    assert_eq!(target("sm_80").plan_registers(&three, 40).unwrap().partitions, [None; 3]);
    for keep in [16, 44, 264] {
        assert!(matches!(chip.plan_registers(&three, keep), Err(RegisterError::Keep { .. })));
    }
    assert_eq!(chip.plan_registers(&[], 40), Err(RegisterError::NoWarps));
    let huge = PartitionWarps { warps: u32::MAX, computes: true };
    assert!(matches!(chip.plan_registers(&[huge, huge], 40), Err(RegisterError::TooManyWarps { .. })));
    let lasting = chip.plan_registers(&three, 40).unwrap();
    assert_eq!([0, 1, 3].map(|partition| lasting.of_partition(partition)), [Some(40), Some(232), None]);
}

/// Each rule of the register checker catches the plan that breaks it.
#[test]
fn t16_checker_catches_mutations() {
    let chip = target("sm_90a");
    let partitions = [LOADS, COMPUTES, COMPUTES];
    let good = chip.plan_registers(&partitions, 40).unwrap();
    let broken = |change: fn(&mut RegisterPlan)| {
        let mut plan = good.clone();
        change(&mut plan);
        check::registers(&chip, &partitions, &plan)
    };
    use RegisterViolation::*;
    assert_eq!(broken(|_| ()), []);
    assert_eq!(broken(|p| p.partitions[2] = Some(240)), [Pool { asked: 65_536, pool: 64_512 }]);
    assert_eq!(
        broken(|p| p.partitions[0] = Some(41)),
        [Operand { partition: 0, value: 41 }, Pool { asked: 64_640, pool: 64_512 }]
    );
    assert_eq!(broken(|p| p.partitions[0] = Some(16)), [Operand { partition: 0, value: 16 }]);
    assert!(broken(|p| p.partitions[0] = None).contains(&Pool { asked: 80_896, pool: 64_512 }));
    assert!(matches!(broken(|p| p.entry = 176)[..], [Entry { .. }]));
    assert!(matches!(broken(|p| (p.entry, p.maxnreg) = (176, 176))[..], [Launch { .. }]));
    assert!(broken(|p| (p.entry, p.maxnreg) = (16, 16)).contains(&MaxNReg {
        maxnreg: 16,
        min: 24,
        max: 255
    }));
    assert!(broken(|p| p.partitions.truncate(2)).contains(&Partitions { planned: 2, partitions: 3 }));
    let uneven = [PartitionWarps { warps: 5, ..LOADS }, COMPUTES, PartitionWarps { warps: 3, ..COMPUTES }];
    let parts = check::registers(&chip, &uneven, &good);
    assert_eq!(parts, [PartOfGroup { partition: 0, warps: 5 }, PartOfGroup { partition: 2, warps: 3 }]);
    assert!(matches!(
        check::registers(&target("sm_80"), &partitions, &good)[0],
        Operand { partition: 0, .. }
    ));
}
