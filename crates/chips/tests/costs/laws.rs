//! Laws over every operation (T31), and over every text given as a cost file (T39).

use proptest::prelude::*;
use warploom_chips::cost::{Access, Combine, MmaOp, Op};
use warploom_chips::mma::{MmaInstruction, OperandPlace};
use warploom_chips::{Element, Target};

use crate::target;

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
    let sized = (size.clone(), size, 0..20_usize, any::<bool>()).prop_map(|(n, inner_bytes, which, flag)| {
        let combine = if flag { Combine::Sum } else { Combine::Max };
        [
            Op::TmaLoad { bytes: n, inner_bytes },
            Op::TmaStore { bytes: n },
            Op::CpAsync { bytes: n, lanes: Access::widest(n) },
            Op::GlobalLoad { bytes: n, lanes: Access::widest(n) },
            Op::GlobalStore { bytes: n, lanes: Access::widest(n) },
            Op::GlobalAtomic { bytes: n, lanes: Access::widest(n) },
            Op::Shared { bytes: n },
            Op::TmemLoad { elements: n },
            Op::TmemStore { elements: n },
            Op::Mul { elements: n },
            Op::Elementwise { elements: n },
            Op::Exp2 { elements: n },
            Op::Convert { elements: n },
            Op::Reduce { elements: n, rows: inner_bytes, sharing: 4, combine, last_axis: flag },
            Op::Logic { elements: n },
            Op::MinMax { elements: n },
            Op::Narrow { elements: n },
            Op::Widen { elements: n },
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
        let data = include_str!("../../data/sm_90a.toml");
        let (head, tail) = data.split_at(cut);
        let _ = target("sm_90a").with_costs(head);
        let _ = target("sm_90a").with_costs(tail);
        let _ = target("sm_90a").with_costs(&format!("{head}{text}{tail}"));
    }
}
