//! The tables of sections 10 and 11.

use super::*;
use warploom_alias::{GroupElement, ReuseGroup};

fn shared<const N: usize>(e: [GroupElement; N]) -> ReuseGroup {
    ReuseGroup::shared(e).unwrap()
}

fn distinct<const N: usize>(e: [GroupElement; N]) -> ReuseGroup {
    ReuseGroup::distinct(e).unwrap()
}

type Leaves<'a> = &'a [(&'a [u64], Elem)];
type Row<'a> = (Leaves<'a>, fn(&[LeafId]) -> ReuseGroup, u64, &'a [(u64, u64)], &'a [u64]);

#[test]
fn a27_conformance_of_shared_memory() {
    let f32s: (&[u64], Elem) = (&[2, 64, 64], Elem::F32);
    let rows: [Row<'_>; 6] = [
        (
            &[f32s, (&[2, 64, 64], Elem::F16)],
            |l| shared([l[0].into(), l[1].into()]),
            32768,
            &[(0, 16384), (0, 16384)],
            &[2, 3],
        ),
        (
            &[f32s, f32s],
            |l| distinct([l[0].into(), l[1].into()]),
            65536,
            &[(0, 32768), (16384, 32768)],
            &[3, 4],
        ),
        (
            &[f32s, (&[2, 64, 64], Elem::F16), (&[2, 64], Elem::F32)],
            |l| shared([l[0].into(), distinct([l[1].into(), l[2].into()]).into()]),
            32768,
            &[(0, 16384), (0, 16384), (8192, 16384)],
            &[2, 3, 97],
        ),
        (
            &[(&[2, 32, 32], Elem::F32), (&[2, 32, 32], Elem::F32), (&[2, 32, 32], Elem::F16)],
            |l| distinct([l[0].into(), shared([l[1].into(), l[2].into()]).into()]),
            16384,
            &[(0, 8192), (4096, 8192), (4096, 8192)],
            &[3, 4, 7],
        ),
        (
            &[f32s, (&[2, 32, 32], Elem::F32), (&[2, 16, 16], Elem::F32)],
            |l| shared([l[0].into(), l[1].into(), l[2].into()]),
            32768,
            &[(0, 16384), (0, 16384), (0, 16384)],
            &[2, 5, 17],
        ),
        (
            &[(&[4, 2], Elem::F32), (&[4, 2], Elem::F32), (&[1, 1], Elem::BF16), (&[4, 2], Elem::F32)],
            |l| {
                let inner = distinct([l[1].into(), l[2].into()]);
                distinct([shared([l[0].into(), inner.into()]).into(), l[3].into()])
            },
            1536,
            &[(0, 384), (0, 384), (128, 384), (256, 384)],
            &[145, 145, 65, 177],
        ),
    ];
    for (leaves, tree, size, bases, dims) in rows {
        for options in [AliasOptions::default(), AliasOptions::tlx()] {
            let mut m = AliasModule::new();
            let s = spec(&mut m, Storage::Smem);
            let ids: Vec<LeafId> =
                leaves.iter().map(|(shape, elem)| leaf(&mut m, s, "x", shape, *elem)).collect();
            m.set_buffer_overlap(s, tree(&ids)).unwrap();
            let layout = laid_out(&m, &options);
            assert_eq!(layout.storages[0].size, size);
            for (n, id) in ids.iter().enumerate() {
                assert_eq!(place(&layout, *id), bases[n], "leaf {n}");
                if options.compat {
                    assert_eq!(slots(&layout, *id), dims[n], "leaf {n}");
                }
            }
        }
    }
}

#[test]
fn a25_bare_specs() {
    let rows: [(&[u64], Elem, u64); 5] = [
        (&[2, 64, 64], Elem::F32, 32768),
        (&[2, 64, 64], Elem::F16, 16384),
        (&[4, 128, 32], Elem::BF16, 32768),
        (&[8, 16, 16], Elem::int(8), 2048),
        (&[2, 8, 8], Elem::PTR, 1024),
    ];
    for (shape, elem, size) in rows {
        let mut m = AliasModule::new();
        let s = spec(&mut m, Storage::Smem);
        leaf(&mut m, s, "a", shape, elem);
        assert_eq!(laid_out(&m, &AliasOptions::default()).storages[0].size, size);
    }
    let mut m = AliasModule::new();
    let s = m.storage_alias_spec(Storage::Smem, Some(65536)).unwrap();
    leaf(&mut m, s, "a", &[2, 64, 64], Elem::F32);
    assert_eq!(laid_out(&m, &AliasOptions::default()).storages[0].size, 65536);
}

/// The attention spec of section 11 with P in `slices`; the accumulator stands beside it.
pub(super) fn attention(slices: u64, columns: u64) -> (AliasModule, [LeafId; 5]) {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Tmem);
    m.name_spec(s, "qk_storage_alias", None);
    let qk = leaf(&mut m, s, "qk_tiles", &[2, 128, 128], Elem::F32);
    let p = leaf(&mut m, s, "p_tiles", &[2 * slices, 128, 128 / slices], Elem::BF16);
    let [alpha, l, r] =
        ["alpha_tiles", "l_tiles", "m_tiles"].map(|name| leaf(&mut m, s, name, &[2, 128, 1], Elem::F32));
    let sliced = shared([p.into()]).group_size(slices as i64).unwrap();
    let beside = distinct([sliced.into(), alpha.into(), l.into(), r.into()]);
    m.set_buffer_overlap(s, shared([qk.into(), beside.into()])).unwrap();
    m.local_alloc(Alloc::new("acc", 2, [128, columns], Elem::F32).storage(Storage::Tmem)).unwrap();
    (m, [qk, p, alpha, l, r])
}

#[test]
fn a31_attention_with_two_and_four_slices() {
    for (slices, at, dim) in [(2, vec![0, 32, 128, 160], 6), (4, vec![0, 16, 32, 48, 128, 144, 160, 176], 12)]
    {
        let (m, [qk, p, alpha, l, r]) = attention(slices, 128);
        for options in [AliasOptions::default(), AliasOptions::tlx()] {
            let layout = laid_out(&m, &options);
            let storage = &layout.storages[0];
            assert_eq!((storage.size, storage.groups, storage.stride, storage.rows), (256, 2, 128, 128));
            assert_eq!(positions(&layout, qk), [0, 128]);
            assert_eq!(positions(&layout, p), at);
            assert_eq!(positions(&layout, alpha), [64, 192]);
            assert_eq!(positions(&layout, l), [65, 193]);
            assert_eq!(positions(&layout, r), [66, 194]);
            if options.compat {
                assert_eq!([qk, p, alpha, l, r].map(|x| slots(&layout, x)), [2, dim, 193, 194, 195]);
            }
        }
        assert_eq!(warploom_alias::used_columns(&m, &laid_out(&m, &AliasOptions::default())), 512);
    }
}

#[test]
fn a52_the_map_of_attention() {
    let (m, _) = attention(2, 128);
    let expected = [
        "storage qk_storage_alias: tmem, 128 rows x 256 columns, 2 groups of 128",
        "  qk_tiles[0]     |################################################################|   0..128",
        "  p_tiles[0]      |################                                                |   0..32",
        "  p_tiles[1]      |                ################                                |  32..64",
        "  alpha_tiles[0]  |                                #                               |  64..65",
        "  l_tiles[0]      |                                #                               |  65..66",
        "  m_tiles[0]      |                                 #                              |  66..67",
        "  group 1: + 128",
        "",
    ];
    assert_eq!(warploom_alias::render(&laid_out(&m, &AliasOptions::default())), expected.join("\n"));
}

#[test]
fn a53_what_attention_with_head_dimension_64_could_stop_sharing() {
    let (m, _) = attention(2, 64);
    let layout = laid_out(&m, &AliasOptions::default());
    let used = warploom_alias::used_columns(&m, &layout);
    assert_eq!(used, 384);
    let notes: Vec<String> = warploom_alias::under_use(&m, &layout, Storage::Tmem, 512 - used)
        .into_iter()
        .map(|n| n.message)
        .collect();
    assert_eq!(
        notes,
        [
            "sharing %alpha_tiles, %l_tiles, %m_tiles with %qk_tiles saves 64 columns; 128 are unused",
            "sharing %p_tiles with %qk_tiles saves 128 columns; 128 are unused",
        ]
    );
    let (m, _) = attention(2, 128);
    assert!(
        warploom_alias::under_use(&m, &laid_out(&m, &AliasOptions::default()), Storage::Tmem, 0).is_empty()
    );
}

#[test]
fn a42_moved_alignment() {
    let mut m = AliasModule::new();
    let s = spec(&mut m, Storage::Smem);
    let h = leaf(&mut m, s, "h", &[1, 128], Elem::int(8));
    let a = m.local_alloc(Alloc::new("a", 1, [128], Elem::int(8)).align(256).reuse(s)).unwrap();
    let b = leaf(&mut m, s, "b", &[1, 512], Elem::int(8));
    m.set_buffer_overlap(s, distinct([h.into(), shared([a.into(), b.into()]).into()])).unwrap();
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!([h, a, b].map(|x| place(&layout, x).0), [0, 256, 128]);
}

#[test]
fn a41_unequal_counts() {
    let build = |counts, a: u64, b: u64| {
        let mut m = AliasModule::new();
        let s = spec(&mut m, Storage::Smem);
        m.set_counts(s, counts);
        let x = leaf(&mut m, s, "x", &[a, 32], Elem::F32);
        let y = leaf(&mut m, s, "y", &[b, 32], Elem::F32);
        m.set_buffer_overlap(s, shared([x.into(), y.into()])).unwrap();
        (m, x, y)
    };
    use warploom_alias::Counts::{Equal, Gcd, Prefix};
    let (m, x, y) = build(Gcd, 2, 4);
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!((layout.storages[0].groups, layout.storages[0].stride), (2, 256));
    assert_eq!((positions(&layout, x), positions(&layout, y)), (vec![0, 256], vec![0, 128, 256, 384]));
    assert!(warploom_alias::render(&layout).contains("  y: implied group_size = 2\n"));
    let (m, x, _) = build(Gcd, 1, 4);
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!((layout.storages[0].groups, positions(&layout, x)), (1, vec![0]));
    let (m, ..) = build(Equal, 2, 4);
    assert_eq!(refusal(&m, &AliasOptions::default()).message, "%x fills 2 of 4 groups");
    let (m, ..) = build(Prefix, 2, 4);
    let layout = laid_out(&m, &AliasOptions::default());
    assert_eq!((layout.storages[0].groups, layout.notes[0].code), (4, "A28"));
    assert_eq!(layout.notes[0].help.as_deref(), Some("group_size = 2 around %y would pair all buffers"));
}
