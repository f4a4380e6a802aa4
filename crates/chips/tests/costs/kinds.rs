//! What holds for every operation of every chip: shares of few warps, kinds that exist, where numbers come from.

use warploom_chips::Target;
use warploom_chips::cost::{CostError, Op, OpClass, OpKind, Origin, unit};

use crate::target;

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
