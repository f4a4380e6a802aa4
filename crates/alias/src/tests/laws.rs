//! Properties of layouts over random trees.

use proptest::prelude::*;

use super::*;
use crate::fuzzing::{Ranges, module};

/// No limits: trees of random tiles are larger than a chip.
fn wide() -> AliasOptions {
    let limits = crate::Limits { tmem_columns: u64::MAX, ..crate::Limits::default() };
    AliasOptions { limits, ..AliasOptions::default() }
}

fn checked(m: &AliasModule, options: &AliasOptions) -> Layout {
    let layout = m.layout(options).expect("random trees fit");
    assert_eq!(check(m, &layout, &CheckOptions { compat: options.compat, limits: options.limits }), Ok(()));
    layout
}

/// The same cases on every run.
fn fixed(cases: u32) -> ProptestConfig {
    let rng_seed = prop::test_runner::RngSeed::Fixed(5);
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(fixed(300))]

    /// Every random tree is laid out, and the checker finds nothing.
    #[test]
    fn layouts_are_right(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        if let Ok(layout) = module(&bytes, Ranges::WIDE).layout(&wide()) {
            let m = module(&bytes, Ranges::WIDE);
            prop_assert_eq!(check(&m, &layout, &CheckOptions { compat: false, limits: wide().limits }), Ok(()));
        } else {
            // Only unequal counts under gcd can be refused.
            let m = module(&bytes, Ranges::WIDE);
            let errors = m.layout(&wide()).expect_err("refused").0;
            prop_assert!(errors.iter().all(|e| e.code == "A41"), "{:?}", errors);
        }
    }

    /// Strict slots accept a subset, with the same addresses (A34).
    #[test]
    fn strict_slots_are_a_subset(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        let m = module(&bytes, Ranges::WIDE);
        let strict = AliasOptions { strict_slots: true, ..wide() };
        if let Ok(layout) = m.layout(&strict) {
            prop_assert_eq!(check(&m, &layout, &CheckOptions { compat: false, limits: wide().limits }), Ok(()));
            let plain = checked(&m, &wide());
            for (a, b) in layout.storages.iter().zip(&plain.storages) {
                prop_assert_eq!(a.size, b.size);
                for (x, y) in a.leaves.iter().zip(&b.leaves) {
                    prop_assert_eq!(&x.map, &y.map);
                }
            }
        }
    }

    /// TLX's numbers obey the same laws, and the default never takes more where no encoding needs more
    /// than TLX gives (section 17).
    #[test]
    fn compat_is_right_and_no_smaller(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        let m = module(&bytes, Ranges::SMALL);
        let Ok(layout) = m.layout(&AliasOptions::tlx()) else { return Ok(()) };
        let compat = CheckOptions { compat: true, limits: wide().limits };
        prop_assert_eq!(check(&m, &layout, &compat), Ok(()));
        let Ok(plain) = m.layout(&wide()) else { return Ok(()) };
        for (a, b) in layout.storages.iter().zip(&plain.storages) {
            let small = m.leaves().filter(|(_, l)| l.spec() == Some(a.spec))
                .all(|(_, l)| crate::footprint(l).is_ok_and(|f| f.align <= 128));
            if a.space == Storage::Smem && small {
                prop_assert!(b.size <= a.size, "{} > {}: {:?}", b.size, a.size, m);
            }
        }
    }
}

/// The same module with its leaves declared the other way round.
fn reversed(m: &AliasModule) -> AliasModule {
    use crate::{Element, ReuseGroup};
    fn moved(g: &ReuseGroup, of: &dyn Fn(LeafId) -> LeafId) -> ReuseGroup {
        let elements: Vec<Element> = g
            .elements()
            .iter()
            .map(|e| match e {
                Element::Leaf(l) => of(*l).into(),
                Element::Group(g) => moved(g, of).into(),
            })
            .collect();
        ReuseGroup::new(g.kind(), elements).expect("a group").group_size(g.size() as i64).expect("a size")
    }
    let mut out = AliasModule::new();
    for (_, s) in m.specs() {
        let id = out.storage_alias_spec(s.storage(), None).expect("a spec");
        out.set_counts(id, s.counts);
    }
    let leaves: Vec<_> = m.leaves().collect();
    for (_, l) in leaves.iter().rev() {
        let mut alloc = Alloc::new(l.name(), l.count(), l.tile(), l.elem()).encoding(l.encoding().clone());
        if let Some(align) = l.align() {
            alloc = alloc.align(align);
        }
        out.local_alloc(alloc.reuse(l.spec().expect("of a spec"))).expect("a leaf");
    }
    let last = leaves.len() as u32 - 1;
    for o in m.overlaps() {
        out.set_buffer_overlap(o.spec, moved(&o.tree, &|l| LeafId(last - l.index() as u32))).expect("a tree");
    }
    out
}

proptest! {
    #![proptest_config(fixed(150))]

    /// A2: the order in which leaves are declared changes no base and no stride.
    #[test]
    fn declaration_order_changes_nothing(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        let m = module(&bytes, Ranges::WIDE);
        let (Ok(a), Ok(b)) = (m.layout(&wide()), reversed(&m).layout(&wide())) else { return Ok(()) };
        for (x, y) in a.storages.iter().zip(&b.storages) {
            prop_assert_eq!((x.size, x.groups, x.stride, x.align, x.rows), (y.size, y.groups, y.stride, y.align, y.rows));
            for l in &x.leaves {
                let other = y.leaves.iter().find(|o| o.name == l.name).expect("the same leaf");
                prop_assert_eq!(&l.map, &other.map);
            }
        }
    }

    /// Section 17: StableHLO text with random pairs is refused or obeys L16, and lowers to itself.
    #[test]
    fn host_texts_are_refused_or_right(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        prop_assert_eq!(crate::fuzzing::host_is_right(&bytes), Ok(()));
    }
}

/// What the fuzz target `alias_text` asks, on the texts of this crate with lines taken out and doubled.
#[test]
fn texts_are_stable() {
    let sources =
        [include_str!("../../tests/texts/compat.mlir"), include_str!("../../tests/texts/default.mlir")];
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
            assert_eq!(crate::fuzzing::text_is_stable(&text), Ok(()));
            accepted += usize::from(!crate::lower_text(&text, &crate::TextOptions::default()).failed);
        }
    }
    assert!(accepted >= 5, "only {accepted} texts were accepted");
}
