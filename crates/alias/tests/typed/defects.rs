//! D1 to D13: what the existing implementation gets wrong. D12 and D14 are about text, in `tests/`.

use super::*;
use warploom_alias::{Encoding, GroupElement, ReuseGroup, TensorEncoding};

#[test]
fn d1_sub_tiles_stay_in_their_group() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let a = leaf(&mut m, s, "a", &[4, 32], Elem::F32);
    let b = leaf(&mut m, s, "b", &[4, 32], Elem::F32);
    let inner = ReuseGroup::distinct([a, b]).unwrap();
    m.set_buffer_overlap(s, ReuseGroup::shared([inner]).unwrap().group_size(2).unwrap()).unwrap();
    let layout = laid_out(&m, &AliasOptions::default());
    let units = |leaf| positions(&layout, leaf).iter().map(|p| p / 128).collect::<Vec<_>>();
    assert_eq!((units(a), units(b)), (vec![0, 2, 4, 6], vec![1, 3, 5, 7]));

    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let a = leaf(&mut m, s, "A", &[2, 64], Elem::F32);
    let p = leaf(&mut m, s, "P", &[4, 32], Elem::F32);
    let sliced = ReuseGroup::shared([p]).unwrap().group_size(2).unwrap();
    m.set_buffer_overlap(s, ReuseGroup::distinct([GroupElement::from(a), sliced.into()]).unwrap()).unwrap();
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!(positions(&layout, p), [2 * 128, 3 * 128, 6 * 128, 7 * 128]);

    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let qk = leaf(&mut m, s, "qk", &[2, 4096], Elem::F32);
    let p = leaf(&mut m, s, "p", &[4, 1024], Elem::F32);
    let sliced = ReuseGroup::shared([p]).unwrap().group_size(2).unwrap();
    m.set_buffer_overlap(s, ReuseGroup::shared([GroupElement::from(qk), sliced.into()]).unwrap()).unwrap();
    assert_eq!(positions(&laid_out(&m, &AliasOptions::default()), p), [0, 4096, 16384, 20480]);
}

fn side_by_side(count: usize) -> (AliasModule, Vec<LeafId>) {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Tmem);
    let leaves: Vec<LeafId> =
        (0..count).map(|n| leaf(&mut m, s, &format!("t{n}"), &[2, 128, 128], Elem::F32)).collect();
    m.set_buffer_overlap(s, ReuseGroup::distinct(leaves.clone()).unwrap()).unwrap();
    (m, leaves)
}

#[test]
fn d2_tensor_memory_backing_holds_the_tree() {
    let (m, leaves) = side_by_side(2);
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!((layout.storages[0].size, positions(&layout, leaves[1])), (512, vec![128, 384]));
    let (m, _) = side_by_side(3);
    assert_eq!(refusal(&m, &AliasOptions::default()).code, "A51");
}

fn alone(shape: &[u64], elem: Elem, encoding: Encoding) -> AliasModule {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Tmem);
    let (count, tile) = shape.split_first().unwrap();
    m.local_alloc(Alloc::new("x", *count, tile, elem).encoding(encoding).reuse(s)).unwrap();
    m
}

#[test]
fn d3_rows_above_128_fold_into_columns() {
    let m = alone(&[1, 256, 64], Elem::F32, Encoding::Tensor(TensorEncoding::new(128, 64)));
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!((layout.storages[0].rows, layout.storages[0].size), (128, 128));
}

#[test]
fn d4_group_size_of_a_distinct_group_counts() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let a = leaf(&mut m, s, "a", &[4, 256], Elem::F32);
    let b = leaf(&mut m, s, "b", &[4, 128], Elem::F32);
    m.set_buffer_overlap(s, ReuseGroup::distinct([a, b]).unwrap().group_size(2).unwrap()).unwrap();
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!(positions(&layout, a), [0, 1536, 3072, 4608]);
    assert_eq!(positions(&layout, b), [1024, 2560, 4096, 5632]);
}

#[test]
fn d5_nothing_is_divided() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let a = leaf(&mut m, s, "a", &[2, 96], Elem::F32);
    let b = leaf(&mut m, s, "b", &[4, 32], Elem::F32);
    let sliced = ReuseGroup::shared([b]).unwrap().group_size(2).unwrap();
    m.set_buffer_overlap(s, ReuseGroup::shared([GroupElement::from(a), sliced.into()]).unwrap()).unwrap();
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!((layout.storages[0].stride, positions(&layout, b)), (384, vec![0, 128, 384, 512]));
}

#[test]
fn d6_declaration_order_does_not_matter() {
    let build = |counts: [u64; 2]| {
        let mut m = AliasModule::new();
        let s = spec(&mut m, Storage::Smem);
        let ids = counts.map(|n| leaf(&mut m, s, &format!("n{n}"), &[n, 64], Elem::F32));
        let mut order = ids;
        order.sort_by_key(|l| m.leaf(*l).count());
        m.set_buffer_overlap(s, ReuseGroup::shared(order).unwrap()).unwrap();
        (laid_out(&m, &AliasOptions::default()), ids)
    };
    let (one, a) = build([1, 4]);
    let (other, b) = build([4, 1]);
    assert_eq!((one.storages[0].groups, other.storages[0].groups), (4, 4));
    assert_eq!(positions(&one, a[0]), positions(&other, b[1]));
    assert_eq!(positions(&one, a[1]), positions(&other, b[0]));
}

#[test]
fn d7_a_leaf_outside_the_tree_is_refused_or_held() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let a = leaf(&mut m, s, "a", &[1, 64], Elem::F32);
    let x = leaf(&mut m, s, "x", &[4, 64], Elem::F32);
    m.set_buffer_overlap(s, ReuseGroup::shared([a]).unwrap()).unwrap();
    let error = refusal(&m, &AliasOptions::default());
    let message = "allocation %x of this storage_alias_spec is not in its overlap tree";
    assert_eq!((error.code, error.message.as_str()), ("A13", message));
    let layout = laid_out(&m, &AliasOptions::tlx());
    assert_eq!((layout.storages[0].size, positions(&layout, x)), (1024, vec![0, 256, 512, 768]));
}

#[test]
fn d8_sizes_that_do_not_divide_are_legal() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let a = leaf(&mut m, s, "a", &[2, 64, 64], Elem::F32);
    let b = leaf(&mut m, s, "b", &[2, 64, 32], Elem::F32);
    m.set_buffer_overlap(s, ReuseGroup::distinct([a, b]).unwrap()).unwrap();
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!((place(&layout, a), place(&layout, b)), ((0, 24576), (16384, 24576)));
    assert_eq!(layout.storages[0].size, 49152);
    let strict = AliasOptions::default().strict_slots(true);
    let error = refusal(&m, &strict);
    assert_eq!(
        (error.code, error.message.as_str()),
        ("A34", "units_between_buffer_groups (24576) must be a multiple of the original buffer size (16384)")
    );
}

#[test]
fn d9_sub_byte_sizes_have_one_formula() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let a = leaf(&mut m, s, "a", &[2, 64, 64], Elem::int(4));
    let layout = laid_out(&m, &AliasOptions::default().strict_slots(true));
    assert_eq!((layout.leaf(a).unwrap().1.unit, layout.storages[0].size), (2048, 4096));
}

#[test]
fn d10_tensor_memory_has_512_columns() {
    let mut m = AliasModule::new();
    for name in ["a", "b"] {
        let s = spec(&mut m, Storage::Tmem);
        m.name_spec(s, name, None);
        leaf(&mut m, s, name, &[1, 128, 300], Elem::F32);
    }
    let error = refusal(&m, &AliasOptions::default());
    assert_eq!(error.message, "tensor memory needs 600 columns of 512: %a 300, %b 300");
    assert_eq!(error.help.as_deref(), Some("sharing %a with %b would save 300 columns"));
    assert_eq!([1, 33, 300, 512].map(warploom_alias::allocated_columns), [32, 64, 512, 512]);
}

#[test]
fn d11_column_stride_counts() {
    let mut e = TensorEncoding::new(128, 64);
    e.col_stride = 2;
    let m = alone(&[1, 128, 64], Elem::F16, Encoding::Tensor(e));
    assert_eq!(laid_out(&m, &AliasOptions::default()).storages[0].size, 64);
    assert_eq!(m.layout(&AliasOptions::tlx()).unwrap().storages[0].size, 32);
}

#[test]
fn d13_the_backing_is_aligned_for_its_leaves() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let swizzled = Encoding::Nvmma { swizzle: 128, fp4_padded: false };
    m.local_alloc(Alloc::new("a", 2, [64, 64], Elem::F16).encoding(swizzled).reuse(s)).unwrap();
    assert_eq!(laid_out(&m, &AliasOptions::default()).storages[0].align, 1024);
}
