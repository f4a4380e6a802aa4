//! Costs: the numbers of T34-T37 and T41, the laws of T31 and T32, and refusals of T39.

#![allow(clippy::unwrap_used, clippy::panic)] // Helpers outside of test functions.

use proptest::prelude::*;
use warploom_target::cost::{Combine, CostError, MmaOp, Op, OpClass, OpKind, Origin, unit};
use warploom_target::mma::{MmaInstruction, OperandPlace};
use warploom_target::{Element, Target, TargetError};

fn target(name: &str) -> Target {
    Target::named(name).unwrap()
}

/// Latency and duration on a unit, for four warps.
fn cost(chip: &str, op: Op, on: &str) -> (u64, u64) {
    let cost = target(chip).cost(&op, 4).unwrap();
    (cost.latency, cost.duration_on(on))
}

fn product(instruction: MmaInstruction, m: u32, n: u32, k: u32, element: Element) -> Op {
    Op::Mma(MmaOp { instruction, m, n, k, element, a: OperandPlace::Shared, split: [1, 1] })
}

fn wgmma(m: u32, n: u32, k: u32, element: Element) -> Op {
    product(MmaInstruction::Wgmma, m, n, k, element)
}

#[test]
fn t41_published_numbers() {
    let load = Op::TmaLoad { bytes: 128 * 64 * 2, inner_bytes: 128 };
    assert_eq!(cost("sm_100a", load, unit::TMA), (556, 96));
    let mma = product(MmaInstruction::Tcgen05, 128, 128, 64, Element::F16);
    assert_eq!(cost("sm_100a", mma, unit::TC), (559, 256));
    assert_eq!(cost("sm_100a", Op::TmaStore { bytes: 32 << 10 }, unit::TMA), (1794, 1664));
    assert_eq!(cost("sm_90a", Op::TmaLoad { bytes: 16 << 10, inner_bytes: 128 }, unit::TMA).1, 256);
}

#[test]
fn t34_rows_of_sm_100a() {
    let elements = 16_384;
    let sum = |last_axis| Op::Reduce { elements, combine: Combine::Sum, last_axis };
    let max = |last_axis| Op::Reduce { elements, combine: Combine::Max, last_axis };
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
        (Op::BarrierArrive, unit::ISSUE, (20, 20)),
        (Op::Control, unit::ISSUE, (1, 1)),
    ];
    for (op, on, expected) in rows {
        assert_eq!(cost("sm_100a", op, on), expected, "{op:?}");
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
    // Warps in a column read all of B each: more than the tensor core takes.
    let column = by([16, 1], OperandPlace::Shared);
    assert_eq!((held(column, unit::SMEM), held(column, unit::TC)), (128 + 16 * 256, 128 + 16 * 256));
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
        if target.has(warploom_target::Feature::Fp8MmaSync) {
            assert_eq!(clocks(Element::E4m3, 8), Ok(expected));
        } else {
            assert!(matches!(clocks(Element::E4m3, 8), Err(CostError::NoRate { .. })));
        }
    }
}

#[test]
fn t37_rates() {
    let exp2 = Op::Exp2 { elements: 16_384 };
    assert_eq!(cost("sm_90a", exp2, unit::SFU).1, 1024);
    assert_eq!(cost("sm_103a", exp2, unit::SFU).1, 512);
    assert_eq!(cost("sm_80", Op::Elementwise { elements: 16_384 }, unit::FP32).1, 256);
    assert_eq!(cost("sm_90a", Op::Elementwise { elements: 16_384 }, unit::FP32).1, 128);
    assert_eq!(cost("sm_90a", Op::Convert { elements: 16_384 }, unit::FP32).1, 256);
    let load = Op::TmaLoad { bytes: 38 << 10, inner_bytes: 128 };
    let busy = target("sm_90a").with_all_sms_pulling().cost(&load, 4).unwrap();
    assert_eq!(busy.duration_on(unit::TMA), 1024);
}

/// W warps get W/4 of FP32, SFU and ISSUE, and nothing less of the rest (T32).
#[test]
fn t32_few_warps() {
    let chip = target("sm_90a");
    let exp2 = Op::Exp2 { elements: 4096 };
    let held = |op: &Op, warps, on| chip.cost(op, warps).unwrap().duration_on(on);
    let by_warps = [1, 2, 3, 4, 8].map(|warps| held(&exp2, warps, unit::SFU));
    assert_eq!(by_warps, [1024, 512, 342, 256, 256]);
    assert_eq!(held(&exp2, 1, unit::ISSUE), 128);
    let load = Op::TmaLoad { bytes: 16 << 10, inner_bytes: 128 };
    assert_eq!(chip.cost(&load, 1), chip.cost(&load, 4));
    let (one, four) = (chip.cost(&exp2, 1).unwrap(), chip.cost(&exp2, 4).unwrap());
    assert_eq!(one.latency - four.latency, 768);
    assert_eq!(chip.cost(&exp2, 0), Err(CostError::NoWarps));
}

#[test]
fn t33_unknown_operations_cost_one() {
    for target in Target::all().unwrap() {
        let cost = target.cost(&Op::Unknown, 4).unwrap();
        assert_eq!((cost.latency, cost.duration_on(unit::ISSUE)), (1, 1));
        assert_eq!(cost.origin, Origin::Unverified);
    }
}

#[test]
fn t33_every_class_has_a_kind() {
    for class in OpClass::ALL {
        assert!(OpKind::ALL.iter().any(|kind| kind.class() == *class), "{class}");
    }
    let kinds = |name| target(name).op.keys().copied().collect::<Vec<_>>();
    for kind in OpKind::ALL {
        assert!(Target::names().iter().any(|name| kinds(name).contains(kind)), "{kind}");
    }
    assert!(!kinds("sm_80").contains(&OpKind::TmaLoad) && !kinds("sm_90a").contains(&OpKind::TmemLd));
    let missing = target("sm_80").cost(&Op::TmaStore { bytes: 1 }, 4).unwrap_err();
    assert_eq!(missing, CostError::NoEntry { chip: "sm_80".into(), kind: OpKind::TmaStore });
}

/// Only sm_100a's table is published; nothing is called measured before it is (S90).
#[test]
fn t38_origins() {
    for target in Target::all().unwrap() {
        for (kind, entry) in &target.op {
            for origin in [entry.duration.origin, entry.latency.origin] {
                assert_ne!(origin, Origin::Measured);
                assert!(
                    origin != Origin::Published || target.name() == "sm_100a",
                    "{kind} of {}",
                    target.name()
                );
            }
        }
    }
}

const WGMMA: &str = "[op.wgmma]
duration = { unit = \"TC\", work = \"macs\", origin = \"derived\" }
latency = { fixed = 200, plus_duration = true, origin = \"derived\" }
";

#[test]
fn t39_entries_are_replaced_whole() {
    let chip = target("sm_90a");
    let changed = chip.with_costs(WGMMA).unwrap();
    let cost = changed.cost(&wgmma(64, 32, 16, Element::F16), 4).unwrap();
    assert_eq!((cost.latency, cost.uses.len(), cost.duration_on(unit::TC), cost.issue), (216, 1, 16, 30));
    let same_otherwise = Target { op: chip.op.clone(), ..changed };
    assert_eq!(same_otherwise, chip);
}

/// What T38 shows is a legal file for the chip it names.
#[test]
fn t38_example() {
    let text = r#"
chip = { name = "sm_90a", sms = 114, clock_mhz = 1755 }
unit.TC = { count = 1, macs_per_clk = { f16 = 2048, bf16 = 2048, tf32 = 1024, e4m3 = 4096, e5m2 = 4096, s8 = 4096 } }
unit.TMA = { count = 1, bytes_per_clk = 64 }
unit.MINE = { count = 2, elements_per_clk = 0.5 }
[op.tma_load]
duration = { unit = "TMA", work = "bytes", min = 30, origin = "derived" }
latency = { fixed = 460, clk_per_kib = 16, box_step = 240, box_bytes = 512, box_max = 2, origin = "derived" }
[op.wgmma]
duration = { unit = "TC", work = "macs", also = [{ unit = "SMEM", work = "operand_bytes" }], origin = "derived" }
latency = { fixed = 64, plus_duration = true, origin = "derived" }
[op.convert]
duration = { unit = "MINE", work = "elements", origin = "derived" }
latency = { plus_duration = true, origin = "derived" }
"#;
    let chip = target("sm_90a").with_costs(text).unwrap();
    assert_eq!((chip.chip.sms, chip.chip.clock_mhz), (114, 1755));
    let cost = chip.cost(&Op::Convert { elements: 3 }, 4).unwrap();
    assert_eq!((cost.latency, cost.duration_on("MINE")), (6, 6));
    let load = Op::TmaLoad { bytes: 16 << 10, inner_bytes: 128 };
    assert_eq!(chip.cost(&load, 4), target("sm_90a").cost(&load, 4));
    assert!(target("sm_100a").with_costs(text).unwrap_err().to_string().contains("`chip.name`"));
}

/// A measured table stands in the place of a rate (T40).
#[test]
fn t40_tables() {
    let text = r#"
[op.tma_load]
duration = { unit = "TMA", work = "bytes", table = [[1024, 30], [16384, 250], [65536, 1100]], origin = "measured", measured = { device = "H100", clock_mhz = 1755, date = "2026-01-01", spread = 2.5 } }
latency = { work = "bytes", table = [[1024, 600], [65536, 2000]], origin = "measured", measured = { device = "H100", clock_mhz = 1755, date = "2026-01-01", spread = 9 } }
"#;
    let chip = target("sm_90a").with_costs(text).unwrap();
    let cost = chip.cost(&Op::TmaLoad { bytes: 16 << 10, inner_bytes: 128 }, 4).unwrap();
    assert_eq!((cost.latency, cost.duration_on(unit::TMA), cost.origin), (934, 250, Origin::Measured));
}

/// Bad cost files: text, then line and key of the refusal.
#[test]
fn t39_refusals() {
    let rule = |duration: &str, latency: &str| {
        format!("# one\n[op.shared]\nduration = {{ {duration} }}\nlatency = {{ {latency} }}\n")
    };
    let good = "unit = \"SMEM\", fixed = 5, origin = \"derived\"";
    let enough = "fixed = 5, origin = \"derived\"";
    assert!(target("sm_90a").with_costs(&rule(good, enough)).is_ok());
    let cases = [
        ("[op.shared", 1, "op.shared"),
        ("# x\nspeed = 3", 2, "speed"),
        ("[op.teleport]\n", 1, "op.teleport"),
        ("[op.shared]\n", 1, "op.shared"),
        ("[unit.TC]\ncount = 1\nwarp = 3", 3, "warp"),
        ("[unit.TC]\ncount = -1", 2, "count"),
        ("[unit.TC]\ncount = 0", 2, "unit.TC.count"),
        ("[unit.TMA]\ncount = 1\nbytes_per_clk = 0", 3, "unit.TMA.bytes_per_clk"),
        ("[unit.TMA]\ncount = 1", 1, "unit.TMA"),
        ("\n[unit.TC]\ncount = 1\nmacs_per_clk = { f16 = 1, bf16 = 0 }", 4, "unit.TC.macs_per_clk.bf16"),
        ("[unit.TC]\ncount = 1\nmacs_per_clk = { f17 = 1 }", 3, "macs_per_clk"),
        ("[unit.FP32]\ncount = 1\nfull_rate_warps = 0", 3, "unit.FP32.full_rate_warps"),
        ("chip = { name = \"sm_80\" }", 1, "chip.name"),
    ];
    let rules = [
        (rule("unit = \"X\", fixed = 5, origin = \"derived\"", enough), 3, "op.shared.duration.unit"),
        (
            rule("unit = \"SMEM\", work = \"elements\", origin = \"derived\"", enough),
            3,
            "op.shared.duration.work",
        ),
        (rule("unit = \"SMEM\", rate = 3, origin = \"derived\"", enough), 3, "op.shared.duration.work"),
        (
            rule("unit = \"SMEM\", work = \"bytes\", rate = 0.0, origin = \"derived\"", enough),
            3,
            "op.shared.duration.rate",
        ),
        (
            rule("unit = \"SMEM\", min = 4, max = 3, origin = \"derived\"", enough),
            3,
            "op.shared.duration.max",
        ),
        (rule("unit = \"SMEM\", fixed = 5, origin = \"guess\"", enough), 3, "duration"),
        (rule("unit = \"SMEM\", fixed = 5, origin = \"measured\"", enough), 3, "op.shared.duration.origin"),
        (rule(good, "fixed = 4, origin = \"derived\""), 4, "op.shared.latency"),
        (
            rule(good, "fixed = 5, table = [[2, 3], [1, 4]], work = \"bytes\", origin = \"derived\""),
            4,
            "op.shared.latency.table",
        ),
        (
            rule(good, "fixed = 5, box_bytes = 0, box_step = 1, origin = \"derived\""),
            4,
            "op.shared.latency.box_bytes",
        ),
        (rule(good, "fixed = 5, long_k = 3, origin = \"derived\""), 4, "op.shared.latency.long_k"),
        (rule(good, "fixed = 5, clk_per_kib = -1, origin = \"derived\""), 4, "latency"),
    ];
    let cases = cases.iter().map(|(text, line, key)| (text.to_string(), *line, *key)).chain(rules);
    for (text, line, key) in cases {
        match target("sm_90a").with_costs(&text) {
            Err(TargetError::File { line: at, key: found, reason }) => {
                assert_eq!((at, found.as_str()), (line, key), "{text}: {reason}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// Hostile text is refused, and soon: too much of it, or nested too deep (T39).
#[test]
fn t39_hostile_text() {
    for piece in ["[", "a.", "{", "a=[", "a={b=", "("] {
        for length in [10_000, 2_000_000] {
            let refusal = target("sm_90a").with_costs(&piece.repeat(length)).unwrap_err().to_string();
            assert!(refusal.starts_with("line 1: `") && refusal.len() < 500, "{refusal}");
        }
    }
    let deep = format!("a = {}", "[".repeat(100_000));
    assert!(target("sm_90a").with_costs(&deep).is_err());
}

fn any_op() -> impl Strategy<Value = Op> {
    let size = prop_oneof![0..100_000_u64, any::<u64>()];
    let side = prop_oneof![1..=512_u32, any::<u32>()];
    let mma = (side.clone(), side.clone(), side, 0..Element::ALL.len(), 0..3_usize, any::<bool>());
    let mma = mma.prop_map(|(m, n, k, element, instruction, shared)| {
        Op::Mma(MmaOp {
            instruction: [MmaInstruction::MmaSync, MmaInstruction::Wgmma, MmaInstruction::Tcgen05]
                [instruction],
            m,
            n,
            k,
            element: Element::ALL[element],
            a: if shared { OperandPlace::Shared } else { OperandPlace::Registers },
            split: if shared { [k.max(1), 4] } else { [1, 1] },
        })
    });
    let sized = (size.clone(), size, 0..16_usize, any::<bool>()).prop_map(|(n, inner_bytes, which, flag)| {
        let combine = if flag { Combine::Sum } else { Combine::Max };
        [
            Op::TmaLoad { bytes: n, inner_bytes },
            Op::TmaStore { bytes: n },
            Op::CpAsync { bytes: n },
            Op::GlobalLoad { bytes: n },
            Op::GlobalStore { bytes: n },
            Op::GlobalAtomic { bytes: n },
            Op::Shared { bytes: n },
            Op::TmemLoad { elements: n },
            Op::TmemStore { elements: n },
            Op::Mul { elements: n },
            Op::Elementwise { elements: n },
            Op::Exp2 { elements: n },
            Op::Convert { elements: n },
            Op::Reduce { elements: n, combine, last_axis: flag },
            Op::Layout { bytes: n },
            Op::RegSmemReg { bytes: n },
        ][which]
    });
    prop_oneof![mma, sized]
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(41), ..ProptestConfig::default() })]

    /// Whatever is asked: no panic, no unit held past the latency, fewer warps never faster.
    #[test]
    fn t31_latency_covers_every_use(chip in 0..9_usize, op in any_op(), warps in 1..=32_u32) {
        let target = target(Target::names()[chip]);
        if let Ok(cost) = target.cost(&op, warps) {
            prop_assert!(!cost.uses.is_empty());
            for held in &cost.uses {
                prop_assert!(held.start.saturating_add(held.duration) <= cost.latency);
            }
            let more = target.cost(&op, warps + 1).unwrap();
            prop_assert!(more.latency <= cost.latency);
        }
    }

    /// Cost files are data from outside: any text is read or refused.
    #[test]
    fn t39_no_text_panics(text in "\\PC{0,80}", cut in 0..2000_usize) {
        let _ = target("sm_80").with_costs(&text);
        let data = include_str!("../data/sm_90a.toml");
        let (head, tail) = data.split_at(cut);
        let _ = target("sm_90a").with_costs(head);
        let _ = target("sm_90a").with_costs(tail);
        let _ = target("sm_90a").with_costs(&format!("{head}{text}{tail}"));
    }
}
