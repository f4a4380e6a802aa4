//! Properties of layouts over random trees.

use proptest::prelude::*;
use warploom_testing::alias::{
    Ranges, declaration_order_changes_nothing, layout_is_right, lowering_is_right, modules,
    strict_slots_are_a_subset, text_is_stable, texts, with_layout, without_limits as wide,
};

use super::*;

/// The same cases on every run.
fn fixed(cases: u32) -> ProptestConfig {
    let rng_seed = prop::test_runner::RngSeed::Fixed(5);
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(fixed(300))]

    /// Every random tree is laid out, and the checker finds nothing.
    #[test]
    fn layouts_are_right(m in modules(Ranges::WIDE)) {
        if layout_is_right(&m, &wide()).map_err(TestCaseError::fail)?.is_none() {
            // Only unequal counts under gcd can be refused.
            let errors = m.layout(&wide()).expect_err("refused").0;
            prop_assert!(errors.iter().all(|e| e.code == "A41"), "{:?}", errors);
        }
    }

    /// Strict slots accept a subset, with the same addresses (A34).
    #[test]
    fn strict_slots_keep_the_addresses(m in modules(Ranges::WIDE)) {
        prop_assert_eq!(strict_slots_are_a_subset(&m, &wide()), Ok(()));
    }

    /// TLX's numbers obey the same laws, and the default never takes more where no encoding needs more
    /// than TLX gives (section 17).
    #[test]
    fn compat_is_right_and_no_smaller(m in modules(Ranges::SMALL)) {
        let Ok(layout) = m.layout(&AliasOptions::tlx()) else { return Ok(()) };
        let compat = CheckOptions::of(&wide()).compat(true);
        prop_assert_eq!(check(&m, &layout, &compat), Ok(()));
        let Ok(plain) = m.layout(&wide()) else { return Ok(()) };
        for (a, b) in layout.storages.iter().zip(&plain.storages) {
            let small = m.leaves().filter(|(_, l)| l.spec() == Some(a.spec))
                .all(|(_, l)| warploom_alias::footprint(l).is_ok_and(|f| f.align <= 128));
            if a.space == Storage::Smem && small {
                prop_assert!(b.size <= a.size, "{} > {}: {:?}", b.size, a.size, m);
            }
        }
    }
}

proptest! {
    #![proptest_config(fixed(150))]

    /// A2: the order in which leaves are declared changes no base and no stride.
    #[test]
    fn leaves_may_be_declared_in_any_order(m in modules(Ranges::WIDE)) {
        prop_assert_eq!(declaration_order_changes_nothing(&m, &wide()), Ok(()));
    }

    /// L13, L14: the text of a module says what its layout says, views and slots.
    #[test]
    fn texts_are_lowered_right(text in texts(Ranges::SMALL)) {
        for (compat, strict_slots) in [(false, false), (false, true), (true, true)] {
            let options = wide().compat(compat).strict_slots(strict_slots);
            lowering_is_right(&text, &with_layout(options)).map_err(TestCaseError::fail)?;
        }
    }
}

/// What the fuzz target `alias_text` asks, on the texts of this crate with lines taken out and doubled.
#[test]
fn texts_are_stable() {
    let sources = [include_str!("../texts/compat.mlir"), include_str!("../texts/default.mlir")];
    let mut accepted = 0;
    for seed in 0..60usize {
        for source in sources {
            let lines: Vec<&str> = source.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
            let at = (seed * 7919) % lines.len();
            let edited: Vec<&str> = match seed % 2 {
                0 => lines.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, l)| *l).collect(),
                _ => lines.iter().take(at).chain(lines.iter().skip(at.saturating_sub(1))).copied().collect(),
            };
            let text = edited.join("\n");
            assert_eq!(text_is_stable(&text), Ok(()));
            accepted += usize::from(
                !warploom_alias::lower_text(&text, &warploom_alias::TextOptions::default()).failed,
            );
        }
    }
    assert!(accepted >= 5, "only {accepted} texts were accepted");
}
