//! Refusals and remarks of the typed API.

use super::*;
use warploom_alias::{Counts, Encoding, GroupElement, ReuseGroup, TensorEncoding};

fn message<T: std::fmt::Debug>(r: warploom_alias::Result<T>) -> (String, &'static str) {
    let error = r.expect_err("must be refused");
    (error.message, error.code)
}

#[test]
fn a4_a5_specs_that_are_refused() {
    let mut m = AliasModule::new();
    let mut refuse = |storage, size| message(m.storage_alias_spec(storage, size));
    let cluster = "smemCluster storage is not supported for storage_alias_spec".to_owned();
    assert_eq!(refuse(Storage::SmemCluster, None), (cluster, "A4"));
    let other = "unsupported storage kind for storage_alias_spec, expected smem or tmem".to_owned();
    assert_eq!(refuse(Storage::Global, None), (other, "A4"));
    for n in [0, -100] {
        let text = format!("buffer_size_bytes must be positive, got {n}");
        assert_eq!(refuse(Storage::Smem, Some(n)), (text, "A5"));
    }
}

#[test]
fn a1_equal_specs_and_leaves_stay_two() {
    let mut m = AliasModule::new();
    let (a, b) = (spec(&mut m, Storage::Smem), spec(&mut m, Storage::Smem));
    assert_ne!(a, b);
    let (x, y) = (leaf(&mut m, a, "x", &[1, 8], Elem::F32), leaf(&mut m, a, "x", &[1, 8], Elem::F32));
    assert_ne!(x, y);
    leaf(&mut m, b, "x", &[1, 8], Elem::F32);
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!((layout.storages.len(), layout.storages[0].leaves.len()), (2, 2));
}

#[test]
fn a6_a7_leaves_that_are_refused() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let alloc = Alloc::new("x", 2, [128, 4], Elem::F32).storage(Storage::Tmem).reuse(s);
    let text = "storage_alias_spec storage (smem) doesn't match local_alloc storage (tmem)";
    assert_eq!(message(m.local_alloc(alloc)), (text.to_owned(), "A6"));
    let alloc = Alloc::new("x", 128, [], Elem::F32).storage(Storage::Tmem);
    assert_eq!(
        message(m.local_alloc(alloc)),
        ("TMEM allocations must be at least 2D, got rank 1".to_owned(), "A7")
    );
    for shape in [&[0, 4][..], &[1, 0], &[2, 3, 0]] {
        let (n, tile) = shape.split_first().unwrap();
        assert_eq!(message(m.local_alloc(Alloc::new("x", *n, tile, Elem::F32))).1, "A7");
    }
    let huge = Alloc::new("x", u64::MAX, [u64::MAX, 8], Elem::F32).reuse(s);
    m.local_alloc(huge).expect("sizes are computed by the layout");
    assert_eq!(refusal(&m, &AliasOptions::default()).code, "A7");
}

#[test]
fn a7_sums_that_overflow_are_refused() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let a = leaf(&mut m, s, "a", &[1 << 40, 1 << 30], Elem::int(8));
    m.set_buffer_overlap(s, ReuseGroup::shared([a]).unwrap().group_size(i64::MAX).unwrap()).unwrap();
    assert_eq!(refusal(&m, &AliasOptions::default()).code, "A7");
}

#[test]
fn a8_groups_that_are_refused() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let a = leaf(&mut m, s, "a", &[1, 8], Elem::F32);
    let none: [GroupElement; 0] = [];
    assert_eq!(
        message(ReuseGroup::shared(none)),
        ("reuse_group requires at least one element".to_owned(), "A8")
    );
    for n in [0, -1] {
        let text = format!("group_size must be a positive integer, got {n}");
        assert_eq!(message(ReuseGroup::shared([a]).unwrap().group_size(n)), (text, "A8"));
    }
    let mut group = ReuseGroup::shared([a]).unwrap();
    for _ in 1..warploom_alias::MAX_DEPTH {
        group = ReuseGroup::shared([group]).unwrap();
    }
    assert_eq!(group.depth(), warploom_alias::MAX_DEPTH);
    assert_eq!(message(ReuseGroup::shared([group.clone()])).1, "A8");
    m.set_buffer_overlap(s, group).unwrap();
    laid_out(&m, &AliasOptions::default());
    assert_eq!(message(ReuseGroup::shared(vec![a; warploom_alias::MAX_LEAVES + 1])).1, "A8");
}

#[test]
fn a10_a12_overlaps_that_are_refused() {
    let mut m = AliasModule::new();
    let (s, t) = (spec(&mut m, Storage::Smem), spec(&mut m, Storage::Smem));
    let a = leaf(&mut m, s, "a", &[1, 8], Elem::F32);
    let other = leaf(&mut m, t, "b", &[1, 8], Elem::F32);
    let plain = m.local_alloc(Alloc::new("c", 1, [8], Elem::F32)).unwrap();
    let inner = ReuseGroup::shared([a]).unwrap();
    let twice = ReuseGroup::distinct([GroupElement::from(a), inner.into()]).unwrap();
    let mut refuse = |tree: ReuseGroup| message(m.set_buffer_overlap(s, tree));
    let (text, code) = refuse(twice);
    assert_eq!(code, "A10");
    assert!(text.starts_with("reuse_group tree contains duplicate elements;"), "{text}");
    let (text, _) = refuse(ReuseGroup::shared([a, plain]).unwrap());
    assert!(text.contains("but found an element that is not"), "{text}");
    let (text, _) = refuse(ReuseGroup::shared([a, other]).unwrap());
    assert!(text.contains("but found an allocation that uses a different spec"), "{text}");
    let tree = ReuseGroup::shared([a]).unwrap();
    m.set_buffer_overlap(s, tree.clone()).unwrap();
    let (text, code) = message(m.set_buffer_overlap(s, tree.clone()));
    assert_eq!(code, "A12");
    assert!(text.starts_with("storage_alias_spec already has a set_buffer_overlap defined"), "{text}");
    assert_eq!(message(m.set_buffer_overlap_in(s, "late", tree)).1, "A12");
}

#[test]
fn a14_a_spec_without_leaves_is_a_warning() {
    let mut m = AliasModule::new();
    spec(&mut m, Storage::Smem);
    let layout = laid_out(&m, &AliasOptions::default());
    assert!(layout.storages.is_empty());
    assert_eq!(
        layout.notes[0].message,
        "storage_alias_spec has no referencing storage_alias_local_alloc operations"
    );
}

#[test]
fn a15_legacy_reuse_holds_the_largest_and_is_warned() {
    for (owner, alias) in [(8, 64), (64, 8)] {
        let mut m = AliasModule::new();
        let a = m.local_alloc(Alloc::new("a", 2, [owner], Elem::F32)).unwrap();
        let b = m.local_alloc(Alloc::new("b", 2, [alias], Elem::F32).reuse(a)).unwrap();
        m.local_alloc(Alloc::new("c", 1, [4], Elem::F32).reuse(b)).unwrap();
        let layout = laid_out(&m, &AliasOptions::default());
        assert_eq!((layout.storages.len(), layout.storages[0].size), (1, 512));
        assert_eq!(layout.notes.len(), 2);
        assert!(layout.notes[0].message.starts_with("reuse of a buffered tensor is deprecated"));
        let deny = AliasOptions::default().deny_legacy_reuse(true);
        assert_eq!(refusal(&m, &deny).code, "A43");
        let wrong = Alloc::new("d", 1, [128, 4], Elem::F32).storage(Storage::Tmem).reuse(a);
        assert_eq!(message(m.local_alloc(wrong)), ("reuse tensor has different storage".to_owned(), "A15"));
    }
}

#[test]
fn a18_padded_encodings_are_refused_in_a_spec() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let alloc = Alloc::new("x", 2, [8], Elem::F32).encoding(Encoding::Padded);
    m.local_alloc(alloc.clone()).expect("a plain allocation may be padded");
    assert_eq!(message(m.local_alloc(alloc.reuse(s))).1, "A18");
}

#[test]
fn a23_columns_and_rows() {
    use warploom_alias::CtaMode::{Lhs, Rhs};
    let e = TensorEncoding::new;
    let rows = [
        (e(128, 128), [128, 128], Elem::BF16, (64, 128)),
        (e(128, 64), [256, 64], Elem::F32, (128, 128)),
        (e(64, 64), [64, 64], Elem::F32, (64, 64)),
        (e(64, 64), [64, 128], Elem::F32, (64, 128)),
        (e(64, 64), [128, 64], Elem::F32, (64, 128)),
        (TensorEncoding { split: [2, 1], ..e(128, 64) }, [256, 64], Elem::F32, (64, 128)),
        (TensorEncoding { mode: Rhs, two_ctas: true, ..e(64, 64) }, [64, 64], Elem::F32, (32, 128)),
        (TensorEncoding { mode: Lhs, two_ctas: true, ..e(64, 64) }, [64, 64], Elem::F16, (32, 128)),
        (TensorEncoding { two_ctas: true, ..e(64, 64) }, [64, 64], Elem::F32, (32, 128)),
        (TensorEncoding { fp4_padded: true, ..e(128, 64) }, [128, 64], Elem::F4, (16, 128)),
        (e(128, 3), [128, 3], Elem::F8, (1, 128)),
    ];
    for (encoding, tile, elem, (unit, rows)) in rows {
        let mut m = AliasModule::new();
        let s = spec(&mut m, Storage::Tmem);
        let alloc = Alloc::new("x", 1, tile, elem).encoding(Encoding::Tensor(encoding));
        let x = m.local_alloc(alloc.reuse(s)).unwrap();
        let foot = warploom_alias::footprint(m.leaf(x)).unwrap();
        assert_eq!((foot.unit, foot.rows), (unit, rows), "{encoding:?} {tile:?}");
        laid_out(&m, &AliasOptions::default());
    }
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Tmem);
    for (encoding, unit) in [(Encoding::TensorScales, 4 * 8), (Encoding::TensorDummy, 4 * 8)] {
        let x =
            m.local_alloc(Alloc::new("x", 1, [128, 32], Elem::int(8)).encoding(encoding).reuse(s)).unwrap();
        assert_eq!(warploom_alias::footprint(m.leaf(x)).unwrap().unit, unit);
    }
    let odd = Alloc::new("x", 1, [32, 4], Elem::F32).encoding(Encoding::Tensor(e(32, 4))).reuse(s);
    m.local_alloc(odd).unwrap();
    assert_eq!(refusal(&m, &AliasOptions::default()).code, "A23");
}

#[test]
fn a24_alignments() {
    let of = |alloc: Alloc| {
        let mut m = AliasModule::new();
        let s = spec(&mut m, Storage::Smem);
        let x = m.local_alloc(alloc.reuse(s)).unwrap();
        warploom_alias::footprint(m.leaf(x)).map(|f| f.align)
    };
    let tile = || Alloc::new("x", 1, [64], Elem::F16);
    assert_eq!(of(tile()), Ok(128));
    let swizzled = |swizzle| tile().encoding(Encoding::Nvmma { swizzle, fp4_padded: false });
    assert_eq!([0, 32, 64, 128].map(|s| of(swizzled(s)).unwrap()), [128, 256, 512, 1024]);
    assert_eq!(of(tile().align(16)), Ok(16));
    assert_eq!(message(of(tile().align(48))).1, "A24");
    assert_eq!(message(of(swizzled(128).align(512))).1, "A24");
    let text = "alignment 64 of %x is below the 128 bytes that ttng.async_tma_copy needs";
    assert_eq!(message(of(tile().align(64).tma("ttng.async_tma_copy"))), (text.to_owned(), "A24"));
}

#[test]
fn a26_explicit_sizes() {
    let build = |bytes| {
        let mut m = AliasModule::new();
        let s = m.storage_alias_spec(Storage::Tmem, Some(bytes)).unwrap();
        let a = leaf(&mut m, s, "a", &[2, 128, 32], Elem::F32);
        m.set_buffer_overlap(s, ReuseGroup::shared([a]).unwrap()).unwrap();
        m
    };
    let error = refusal(&build(32767), &AliasOptions::default());
    let text = "storage_alias_spec buffer_size_bytes 32767 is too small for computed shape, \
                requires at least 32768 bytes";
    assert_eq!(error.message, text);
    let related = "not enough space for distinct allocations: need 32 columns, have 31 columns";
    assert_eq!(error.related[0].message, related);
    assert_eq!(laid_out(&build(32768), &AliasOptions::default()).storages[0].size, 64);
    let layout = laid_out(&build(33000), &AliasOptions::default());
    assert_eq!((layout.storages[0].size, layout.notes[0].code), (64, "A26"));
}

#[test]
fn a30_pins() {
    let build = |offset: Option<u64>, pitch: Option<u64>| {
        let mut m = AliasModule::new();
        let s = spec(&mut m, Storage::Smem);
        let a = leaf(&mut m, s, "a", &[2, 64], Elem::F32);
        let mut alloc = Alloc::new("b", 2, [64], Elem::F32).reuse(s);
        if let Some(offset) = offset {
            alloc = alloc.buffer_offset(offset);
        }
        if let Some(pitch) = pitch {
            alloc = alloc.bytes_between_buffers(pitch);
        }
        let b = m.local_alloc(alloc).unwrap();
        m.set_buffer_overlap(s, ReuseGroup::distinct([a, b]).unwrap()).unwrap();
        (m, b)
    };
    let (m, b) = build(Some(256), Some(1024));
    assert_eq!(positions(&laid_out(&m, &AliasOptions::default()), b), [256, 1280]);
    let error = refusal(&build(Some(512), None).0, &AliasOptions::default());
    assert_eq!(error.message, "buffer_offset 512 of %b is not its place in the overlap tree, 256");
    let error = refusal(&build(None, Some(384)).0, &AliasOptions::default());
    let text = "not enough space for distinct allocations: need 512 bytes, have 384 bytes";
    assert_eq!(error.message, text);
    let (m, b) = build(Some(512), Some(384));
    assert_eq!(positions(&laid_out(&m, &AliasOptions::tlx()), b), [256, 768]);
}

#[test]
fn a30_bare_specs_are_laid_out_by_their_author() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let a = m
        .local_alloc(Alloc::new("a", 3, [8], Elem::F32).buffer_offset(128).bytes_between_buffers(96).reuse(s))
        .unwrap();
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!((positions(&layout, a), layout.storages[0].size), (vec![128, 224, 320], 352));
    m.local_alloc(Alloc::new("b", 3, [8], Elem::F32).bytes_between_buffers(16).reuse(s)).unwrap();
    assert_eq!(refusal(&m, &AliasOptions::default()).code, "A30");
}

#[test]
fn a39_overlap_inferred_from_groups() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let [a, b, c] = ["a", "b", "c"].map(|n| leaf(&mut m, s, n, &[2, 32], Elem::F32));
    let inner = ReuseGroup::shared([a, b]).unwrap().named("inner", None);
    let outer =
        ReuseGroup::distinct([GroupElement::from(inner.clone()), c.into()]).unwrap().named("outer", None);
    m.declare_group(inner.clone());
    m.declare_group(outer);
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!(positions(&layout, c), [128, 384]);
    assert!(laid_out(&m, &AliasOptions::tlx()).storages[0].bare);
    m.declare_group(ReuseGroup::shared([c]).unwrap().named("lone", None));
    laid_out(&m, &AliasOptions::default());
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let [a, b] = ["a", "b"].map(|n| leaf(&mut m, s, n, &[2, 32], Elem::F32));
    m.declare_group(ReuseGroup::shared([a]).unwrap().named("g", None));
    m.declare_group(ReuseGroup::shared([b]).unwrap().named("h", None));
    let error = refusal(&m, &AliasOptions::default());
    assert!(error.message.contains("two unrelated reuse_groups, %g and %h"), "{}", error.message);
}

#[test]
fn a40_phases_share_one_storage_and_anchors_stay() {
    let build = |pin: Option<u64>| {
        let mut m = AliasModule::new();
        let s = spec(&mut m, Storage::Smem);
        let a = leaf(&mut m, s, "a", &[1, 64], Elem::F32);
        let mut anchor = Alloc::new("x", 1, [32], Elem::F32).reuse(s);
        if let Some(pin) = pin {
            anchor = anchor.buffer_offset(pin);
        }
        let x = m.local_alloc(anchor).unwrap();
        let b = leaf(&mut m, s, "b", &[1, 96], Elem::F32);
        m.set_buffer_overlap_in(s, "loop1", ReuseGroup::distinct([a, x]).unwrap()).unwrap();
        m.set_buffer_overlap_in(s, "loop2", ReuseGroup::distinct([x, b]).unwrap()).unwrap();
        (m, [a, x, b])
    };
    let error = refusal(&build(None).0, &AliasOptions::default());
    let text = "leaf %x is placed at 256 in phase loop1 and at 0 in phase loop2; pin it with buffer_offset";
    assert_eq!(error.message, text);
    let (m, [a, x, b]) = build(Some(256));
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!([a, x, b].map(|l| place(&layout, l).0), [0, 256, 384]);
    assert_eq!((layout.storages[0].size, layout.storages[0].phases.len()), (768, 2));
}

#[test]
fn a51_shared_memory() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    m.name_spec(s, "s", None);
    leaf(&mut m, s, "a", &[1, 25], Elem::F32);
    m.local_alloc(Alloc::new("b", 1, [100], Elem::F32)).unwrap();
    let refused = |bytes| {
        let limits = warploom_alias::AliasLimits::default().smem_bytes(Some(bytes));
        m.layout(&AliasOptions::default().limits(limits)).err().map(|e| e.0[0].message.clone())
    };
    assert_eq!(refused(612), None);
    assert_eq!(refused(499).unwrap(), "shared memory needs 500 bytes of 499: %s 100, %b 400");
    assert!(refused(600).unwrap().starts_with("no place was found for 500 bytes in 600"));
}

#[test]
fn a29_another_order_is_only_a_remark() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let a = m.local_alloc(Alloc::new("a", 1, [32], Elem::F32).align(1024).reuse(s)).unwrap();
    let h = leaf(&mut m, s, "h", &[1, 224], Elem::F32);
    let t = leaf(&mut m, s, "t", &[1, 250], Elem::F32);
    m.set_buffer_overlap(s, ReuseGroup::distinct([h, a, t]).unwrap()).unwrap();
    let layout = laid_out(&m, &AliasOptions::default().lint(true));
    assert_eq!([h, a, t].map(|l| place(&layout, l).0), [0, 1024, 1152]);
    assert!(
        layout.notes[0].message.contains("need 2048 units a group instead of 3072"),
        "{:?}",
        layout.notes
    );
    assert_eq!(m.spec(s).size_bytes(), None);
    assert_eq!(Counts::from_name("prefix"), Some(Counts::Prefix));
}
