//! Factors of products that are computed: where they lie, what the checker finds where their stores are not ordered.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{broken_by, checked, kernel, parse};
use warploom_chips::Target;
use warploom_pipeline::check::Rule;
use warploom_pipeline::{Compiled, Partitions, RegisterLayout, compile_to_program, explain};

/// A kernel that one partition runs because it has to.
fn compiled(name: &str, chip: &str) -> Compiled {
    let made = compile_to_program(&parse(&kernel(name)), &Target::named(chip).unwrap(), &checked());
    let made = made.unwrap_or_else(|errors| panic!("{name}: {}", errors[0]));
    assert_eq!(made.strategy.partitions, Partitions::One, "{name}");
    made
}

#[test]
fn computed_weights_are_stored_in_front_of_their_product() {
    for chip in ["sm_80", "sm_90a", "sm_100a", "sm_120a"] {
        let kernel = compiled("dequant_int8", chip);
        let [group] = kernel.expanded().unwrap().stored.as_slice() else {
            panic!("{} groups", kernel.expanded().unwrap().stored.len())
        };
        let tiles: Vec<String> = group.tiles.iter().map(|t| t.tile.to_string()).collect();
        // Trips that copy by cp.async begin with a meeting: no other is needed in front of the stores.
        assert_eq!((tiles, group.again), (vec!["tensor<64x32xbf16>".to_owned()], false));
        assert!(explain(&kernel).contains("stored to shared memory in front of the product"));
    }
}

/// A that is computed stays in registers where all warps stand along M, and goes through shared memory where they
/// cannot.
#[test]
fn a_stays_in_registers_where_it_can() {
    let both = compiled("both_computed", "sm_80");
    let RegisterLayout::MmaSync { n, .. } = both.expanded().unwrap().shape.layout else {
        panic!("no products")
    };
    let stored: usize = both.expanded().unwrap().stored.iter().map(|g| g.tiles.len()).sum();
    assert_eq!((n, stored), (1, 1));
    // 32 rows, 256 columns of results: more than two warps hold, and no more than two stand along M.
    let wide = compiled("attention_bias", "sm_80");
    assert_eq!(wide.expanded().unwrap().shape.layout, RegisterLayout::MmaSync { m: 2, n: 2 });
    assert_eq!(wide.expanded().unwrap().stored.len(), 1);
}

#[test]
fn slots_lie_apart_from_everything_else() {
    for (name, chip) in [("both_computed", "sm_120a"), ("attention_bias", "sm_80"), ("mxfp4", "sm_90a")] {
        let kernel = compiled(name, chip);
        let stored = kernel.expanded().unwrap().stored.iter().flat_map(|g| &g.tiles);
        let mut spans: Vec<(u64, u64)> =
            stored.map(|t| (t.offset, t.offset + t.tile.bytes().unwrap())).collect();
        let blocking =
            kernel.expanded().unwrap().blocking.iter().flat_map(|g| g.tiles.iter().zip(&g.offsets));
        spans.extend(blocking.map(|(t, &offset)| (offset, offset + t.bytes())));
        if kernel.expanded().unwrap().shape.scratch > 0 {
            spans.push((0, kernel.expanded().unwrap().shape.scratch));
        }
        spans.sort_unstable();
        assert!(spans.windows(2).all(|w| w[0].1 <= w[1].0), "{name}: {spans:?}");
    }
}

#[test]
fn the_checker_finds_stores_that_nothing_orders() {
    let text = warploom_ir::print(&compiled("dequant_fp8", "sm_90a").program);
    let found = |from: &str, to: &str| broken_by("sm_90a", &text, from, to);
    let meet = "warploom.barrier_sync @all {orders = \"f0\"}\n";
    assert!(found(meet, meet).is_empty());
    // Stored while others may read what was there; that is behind the barrier in front.
    let position = text.find(meet).unwrap();
    let behind = &text[position + meet.len()..];
    let second = &behind[..behind.find(meet).unwrap() + meet.len()];
    assert!(found(&format!("{meet}{second}"), second).contains(&Rule::Read));
    // Read before others have stored.
    assert!(found(second, &second.replace(meet, "")).contains(&Rule::Read));
    // Nobody stores.
    let store = second.lines().find(|line| line.contains("warploom.tile_store")).unwrap();
    assert!(found(store, "").contains(&Rule::Read));
}
