//! The numbers of T34 to T37 and T41, row by row.

use warploom_chips::cost::{Access, Combine, CostError, MmaOp, Op, unit};
use warploom_chips::mma::{MmaInstruction, OperandPlace};
use warploom_chips::{Element, Target};

use crate::{cost, product, target, wgmma};

#[test]
fn t41_published_numbers() {
    let load = Op::TmaLoad { bytes: 128 * 64 * 2, inner_bytes: 128 };
    assert_eq!(cost("sm_100a", load, unit::TMA), (556, 96));
    let mma = product(MmaInstruction::Tcgen05, 128, 128, 64, Element::F16);
    assert_eq!(cost("sm_100a", mma, unit::TC), (559, 256));
    assert_eq!(cost("sm_100a", Op::TmaStore { bytes: 32 << 10 }, unit::TMA), (1794, 1664));
    assert_eq!(cost("sm_90a", Op::TmaLoad { bytes: 16 << 10, inner_bytes: 128 }, unit::TMA).1, 256);
}

/// The published table is a cost file of its own (T44).
#[test]
fn t34_rows_of_sm_100a() {
    let published = include_str!("../../costs/sm_100a.published.toml");
    let chip = target("sm_100a").with_costs(published).unwrap();
    let (elements, rows) = (16_384, 128);
    let reduce = |combine, last_axis| Op::Reduce { elements, rows, sharing: 1, combine, last_axis };
    let sum = |last_axis| reduce(Combine::Sum, last_axis);
    let max = |last_axis| reduce(Combine::Max, last_axis);
    let rows = [
        (Op::TmaLoad { bytes: 64 << 10, inner_bytes: 2048 }, unit::TMA, (460 + 384 + 480, 384)),
        (Op::TmaLoad { bytes: 1024, inner_bytes: 128 }, unit::TMA, (466, 30)),
        (Op::TmaLoad { bytes: 2047, inner_bytes: 513 }, unit::TMA, (706, 30)),
        (product(MmaInstruction::Tcgen05, 128, 128, 128, Element::F16), unit::TC, (900, 512)),
        (product(MmaInstruction::Tcgen05, 128, 128, 64, Element::E4m3), unit::TC, (559, 128)),
        (product(MmaInstruction::Tcgen05, 128, 128, 32, Element::Tf32), unit::TC, (559, 256)),
        (product(MmaInstruction::Tcgen05, 64, 8, 16, Element::Bf16), unit::TC, (559, 30)),
        (Op::TmemLoad { elements }, unit::TMEM, (532, 256)),
        (Op::TmemStore { elements }, unit::TMEM, (96, 48)),
        (Op::Mul { elements }, unit::FP32, (138, 128)),
        (Op::Elementwise { elements }, unit::FP32, (130, 128)),
        (Op::Elementwise { elements: 8192 }, unit::FP32, (65, 64)),
        (Op::Convert { elements }, unit::FP32, (105, 64)),
        (Op::Exp2 { elements }, unit::SFU, (1140, 1024)),
        (Op::Exp2 { elements }, unit::ISSUE, (1140, 128)),
        (Op::Log2 { elements }, unit::SFU, (11_268, 1024)),
        (sum(true), unit::FP32, (1691, 639)),
        (sum(false), unit::FP32, (963, 363)),
        (max(true), unit::FP32, (461, 304)),
        (max(false), unit::FP32, (961, 633)),
        (Op::Shared { bytes: 32 << 10 }, unit::SMEM, (105, 105)),
        (Op::Layout { bytes: 32 << 10 }, unit::SMEM, (105, 105)),
        (Op::Mbarrier, unit::ISSUE, (92, 20)),
        (Op::NamedBarrier, unit::ISSUE, (30, 30)),
        (Op::BarrierWait, unit::ISSUE, (30, 30)),
        (Op::BarrierArrive, unit::ISSUE, (20, 1)),
        (Op::Control, unit::ISSUE, (1, 1)),
    ];
    for (op, on, expected) in rows {
        let cost = chip.cost(&op, 4).unwrap();
        assert_eq!((cost.latency, cost.duration_on(on)), expected, "{op:?}");
    }
    // S64: 61 + ceil(161 * bytes / 10240).
    for bytes in [0_u64, 1, 1000, 10_240, 32_768] {
        let cost = target("sm_100a").cost(&Op::RegSmemReg { bytes }, 4).unwrap();
        assert_eq!(cost.latency, 61 + (161 * bytes).div_ceil(10_240));
    }
}

/// The issue slot is 30 for copies and products, the duration for all else (T34, S65).
#[test]
fn t34_issue_slots() {
    let chip = target("sm_100a");
    for (op, issue) in [
        (Op::TmaLoad { bytes: 16 << 10, inner_bytes: 128 }, 30),
        (Op::TmaStore { bytes: 16 << 10 }, 30),
        (product(MmaInstruction::Tcgen05, 128, 128, 64, Element::F16), 30),
        (Op::Elementwise { elements: 16_384 }, 128),
        (Op::BarrierWait, 30),
    ] {
        assert_eq!(chip.cost(&op, 4).unwrap().issue, issue, "{op:?}");
    }
}

#[test]
fn t36_wgmma_durations() {
    let tc = |m, n, k, element| cost("sm_90a", wgmma(m, n, k, element), unit::TC).1;
    assert_eq!(tc(64, 256, 16, Element::F16), 128);
    assert_eq!(tc(64, 256, 8, Element::Tf32), 128);
    assert_eq!(tc(64, 256, 32, Element::E4m3), 128);
    assert_eq!(tc(64, 32, 16, Element::Bf16), 24);
    assert_eq!(tc(128, 256, 64, Element::Bf16), 1024);
    assert_eq!(tc(128, 128, 64, Element::Bf16), 512);
    for n in (8..=256).step_by(8) {
        let op = wgmma(64, n, 16, Element::F16);
        let n = u64::from(n);
        assert_eq!(cost("sm_90a", op, unit::TC).1, (n / 2).max(16 + n / 4), "N = {n}");
        assert_eq!(cost("sm_90a", op, unit::SMEM).1, 16 + n / 4);
    }
    let from_registers = MmaOp {
        instruction: MmaInstruction::Wgmma,
        m: 64,
        n: 32,
        k: 16,
        element: Element::F16,
        a: OperandPlace::Registers,
        split: [1, 1],
    };
    assert_eq!(cost("sm_90a", Op::Mma(from_registers), unit::TC), (16 + 64, 16));
}

/// 2 x 4 warps read 128x64 of A four times, 256x64 of B twice: 128 KiB at 128 B/clk, under 2048 clocks of products.
#[test]
fn t36_mma_sync_reads_its_operands_by_warp() {
    let by = |split, a| MmaOp {
        instruction: MmaInstruction::MmaSync,
        m: 128,
        n: 256,
        k: 64,
        element: Element::Bf16,
        a,
        split,
    };
    let held = |op, unit| cost("sm_80", Op::Mma(op), unit).1;
    let op = by([2, 4], OperandPlace::Shared);
    assert_eq!((held(op, unit::SMEM), held(op, unit::TC)), (1024, 2048));
    assert_eq!(held(by([8, 1], OperandPlace::Registers), unit::SMEM), 8 * 256);
    // Warps in a column read all of B each: longer than the tensor core takes, which is free meanwhile.
    let column = by([16, 1], OperandPlace::Shared);
    assert_eq!((held(column, unit::SMEM), held(column, unit::TC)), (128 + 16 * 256, 2048));
}

#[test]
fn t35_tensor_rates() {
    let rates = [1024, 512, 512, 2048, 4096, 4096, 4096, 512, 512];
    for (target, rate) in Target::all().unwrap().iter().zip(rates) {
        let op = |element, scale: u32| product(target.mma_instruction(), 128, 128, 128 * scale, element);
        let clocks =
            |element, scale| target.cost(&op(element, scale), 4).map(|cost| cost.duration_on(unit::TC));
        let expected = 128 * 128 * 512 / rate;
        assert_eq!(clocks(Element::F16, 4), Ok(expected), "{}", target.name());
        assert_eq!(clocks(Element::Tf32, 2), Ok(expected));
        if target.has(warploom_chips::Feature::Fp8MmaSync) {
            assert_eq!(clocks(Element::E4m3, 8), Ok(expected));
        } else {
            assert!(matches!(clocks(Element::E4m3, 8), Err(CostError::NoRate { .. })));
        }
    }
}

/// Counted in the machine code of attention with 128 rows of 128, scaled: what a tile of 128x128 holds (T42). On sm_90a a
/// warpgroup's warp has 64 instructions for 64 elements a lane, and 2 x 2 exchanges; on sm_100a half as many.
#[test]
fn t42_native_instructions() {
    let (elements, rows) = (16_384, 128);
    let reduce = |sharing, combine| Op::Reduce { elements, rows, sharing, combine, last_axis: true };
    let [sum, max] = [Combine::Sum, Combine::Max].map(|combine| reduce(4, combine));
    let [own_sum, own_max] = [Combine::Sum, Combine::Max].map(|combine| reduce(1, combine));
    let held = |chip, op, on| cost(chip, op, on).1;
    let cases = [
        ("sm_90a", Op::Mul { elements }, [128, 0, 0, 128]),
        ("sm_90a", Op::Logic { elements }, [0, 256, 0, 128]),
        ("sm_90a", Op::Exp2 { elements }, [0, 0, 1024, 128]),
        ("sm_90a", Op::Narrow { elements }, [0, 128, 0, 64]),
        ("sm_90a", Op::WidenHalf { elements }, [128, 0, 0, 128]),
        ("sm_90a", Op::Shift { elements }, [256, 0, 0, 128]),
        ("sm_90a", Op::RingArrive { lanes: 128 }, [0, 4, 0, 3]),
        ("sm_90a", sum, [128 + 8, 0, 0, 128 + 16]),
        ("sm_90a", max, [0, 256 + 16, 0, 128 + 16]),
        ("sm_100a", Op::Mul { elements }, [128, 0, 0, 64]),
        ("sm_100a", own_sum, [128, 0, 0, 64]),
        ("sm_100a", own_max, [0, 64, 0, 64]),
        ("sm_103a", Op::Exp2 { elements }, [0, 0, 512, 128]),
        ("sm_80", Op::Mul { elements }, [256, 0, 0, 128]),
    ];
    for (chip, op, expected) in cases {
        let got = [unit::FP32, unit::ALU, unit::SFU, unit::ISSUE].map(|on| held(chip, op, on));
        assert_eq!(got, expected, "{chip} {op:?}");
    }
    // The chain of a lane's elements, and the exchanges: 128 / 4 elements of 4 clocks in two chains.
    assert_eq!(cost("sm_90a", sum, unit::FP32).0, 60 + 64 + 144);
}

/// Lanes that move less than 16 bytes at a time have more moves, not more addresses; masks of whole moves are a comparison
/// and a sum, those of parts find how many bytes are left (T42).
#[test]
fn t42_moves_addresses_and_masks() {
    let bytes = 16 * 1024;
    let held = |lanes, on| cost("sm_90a", Op::CpAsync { bytes, lanes }, on).1;
    let wide = Access::widest(bytes);
    assert_eq!((wide.moves, wide.addresses), (1024, 1024));
    let narrow = Access { moves: 4096, ..wide };
    assert_eq!(held(narrow, unit::ALU), held(wide, unit::ALU));
    assert_eq!(held(narrow, unit::ISSUE) - held(wide, unit::ISSUE), 3072 / 128);
    let masked = Access { masks: 1024, ..wide };
    let partial = Access { partial: 1024, ..wide };
    let [none, whole, parts] = [wide, masked, partial].map(|lanes| held(lanes, unit::ALU));
    assert!(none < whole && whole < parts, "{none} {whole} {parts}");
}

/// A class that the chip does not list is refused by name.
#[test]
fn t42_unknown_classes() {
    let text = "[op.mul]\nduration = { unit = \"FP32\", native = { fms = 1 }, origin = \"derived\" }\n\
                latency = { plus_duration = true, origin = \"derived\" }\n";
    let refused = target("sm_90a").with_costs(text).unwrap_err().to_string();
    assert!(refused.contains("op.mul.duration.native.fms") && refused.contains("fma"), "{refused}");
}

/// Instructions that warps issue for products: four warps a wgmma; mma.sync of 16 rows, 8 columns and 32 bytes, and four
/// matrices of 128 bytes to a load.
#[test]
fn t42_products_take_issue_slots() {
    let issue = |chip, op| cost(chip, op, unit::ISSUE).1;
    assert_eq!(issue("sm_90a", wgmma(128, 256, 64, Element::F16)), 2 * 4 * 4);
    let mma = product(MmaInstruction::MmaSync, 128, 128, 64, Element::F16);
    let (products, loads) = (8 * 16 * 4, 2 * 128 * 64 * 2 / 512);
    assert_eq!(issue("sm_80", mma), ((products + loads) * 10_u64).div_ceil(36));
}

#[test]
fn t37_rates() {
    let exp2 = Op::Exp2 { elements: 16_384 };
    assert_eq!(cost("sm_90a", exp2, unit::SFU).1, 1024);
    assert_eq!(cost("sm_103a", exp2, unit::SFU).1, 512);
    assert_eq!(cost("sm_80", Op::Elementwise { elements: 16_384 }, unit::FP32).1, 256);
    assert_eq!(cost("sm_90a", Op::Elementwise { elements: 16_384 }, unit::FP32).1, 128);
    let load = Op::TmaLoad { bytes: 38 << 10, inner_bytes: 128 };
    let busy = target("sm_90a").with_all_sms_pulling().cost(&load, 4).unwrap();
    assert_eq!(busy.duration_on(unit::TMA), 1024);
}
