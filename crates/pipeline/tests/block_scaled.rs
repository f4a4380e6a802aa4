//! Products that the tensor core scales itself (C69): what is chosen, why not, and what the checker finds in broken programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{broken, checked, one_partition, several};
use warploom_chips::Target;
use warploom_ir::print;
use warploom_pipeline::check::Rule;
use warploom_pipeline::{CompileOptions, Compiled, compile_to_program, explain};

fn compiled(text: &str, chip: &str, options: &CompileOptions) -> Compiled {
    compile_to_program(&common::parse(text), &Target::named(chip).unwrap(), options)
        .unwrap_or_else(|e| panic!("{}", e[0]))
}

/// Whether a program stores tiles to a ring.
fn stores(text: &str, ring: &str) -> bool {
    text.lines().any(|line| line.contains("warploom.tile_store") && line.contains(ring))
}

#[test]
fn tables_that_a_descriptor_brings_are_read_as_they_came_c69() {
    for name in ["mxfp8_tables", "mxfp4_tables", "nvfp4_tables"] {
        let text = print(&compiled(&common::kernel(name), "sm_100a", &several()).program);
        assert_eq!(text.matches("\"warploom.mma_block_scaled\"").count(), 1, "{name}\n{text}");
        assert!(!text.contains("tt.broadcast") && !stores(&text, "@p0"), "{name}\n{text}");
        let one = print(&one_partition(name, "sm_100a", &checked()).program);
        assert!(!one.contains("@f0") && one.contains("tma_to_mma"), "{name}\n{one}");
    }
}

#[test]
fn other_scales_are_stored_in_tables_c69() {
    let text = print(&one_partition("mxfp8_mxfp4", "sm_100a", &checked()).program);
    assert!(stores(&text, "@f0") && text.contains("tensor<32x16xi8>"), "{text}");
    // Four bits beside eight: 8 bytes of each 16.
    assert!(text.contains("tensor<64x4x2x8xi8>"), "{text}");
}

#[test]
fn what_the_tensor_core_does_not_scale_says_why_c69() {
    let table = common::kernel("mxfp8_tables");
    for (name, text, chip, why) in [
        ("rows", common::kernel("mxfp8"), "sm_100a", "no tcgen05.mma with scales covers 64x64x64"),
        ("bf16", common::kernel("mxfp4"), "sm_100a", "no tcgen05.mma scales bf16"),
        ("chip", table.clone(), "sm_90a", "sm_90a has no tcgen05.mma with scales of blocks"),
        ("chip", table, "sm_120a", "sm_120a has no tcgen05.mma with scales of blocks"),
    ] {
        let made = compiled(&text, chip, &checked());
        assert!(!print(&made.program).contains("mma_block_scaled"), "{name}");
        let told = made.remarks.iter().any(|r| r.notes.iter().any(|(_, note)| note.contains(why)));
        assert!(told || explain(&made).contains(why), "{name}: {:?}", made.remarks);
    }
}

#[test]
fn broken_tables_are_found_c69() {
    let right = print(&compiled(&common::kernel("mxfp8_tables"), "sm_100a", &several()).program);
    assert!(broken("sm_100a", &right).is_empty(), "{right}");
    let line = right.lines().find(|l| l.contains("mma_block_scaled")).unwrap();
    let ring =
        right.lines().find(|l| l.contains("warploom.pipeline") && l.contains("tensor<32x16xi8>")).unwrap();
    let column = ring.split("column = ").nth(1).unwrap().split('>').next().unwrap();
    assert_eq!(column, "array<i64: 0, 128, 132");
    for (what, from, to, rule) in [
        ("over the sum", column, "array<i64: 0, 124, 132", Rule::Columns),
        ("over each other", column, "array<i64: 0, 128, 130", Rule::Columns),
        ("beyond the end", column, "array<i64: 0, 128, 510", Rule::Columns),
    ] {
        let found = broken("sm_100a", &right.replacen(from, to, 1));
        assert!(found.contains(&rule), "{what}: {found:?}");
    }
    // Scales that nobody has waited for.
    let wait = right.lines().find(|l| l.contains("consumer_wait @p0")).unwrap();
    let found = broken("sm_100a", &right.replacen(&format!("{wait}\n"), "", 1));
    assert!(found.contains(&Rule::Read) || found.contains(&Rule::Arrivals), "{found:?}\n{line}");
}
