//! Layouts that descriptors name, against the address formulas of E40 (G14).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use warploom_layout::fragment::descriptor::{Fields, Major, recognise, shared};
use warploom_layout::fragment::tma;
use warploom_layout::{Dim, Layout, Swizzle};

const MODES: [(Swizzle, u64, u64); 4] =
    [(Swizzle::NONE, 0, 16), (Swizzle::B32, 1, 32), (Swizzle::B64, 3, 64), (Swizzle::B128, 7, 128)];

/// Byte address of element (r, k) by E40.
fn address(fields: &Fields, (mask, width): (u64, u64), e: u64, r: u64, k: u64) -> u64 {
    let (lbo, sbo) = (fields.leading, fields.stride);
    let plain = match (fields.major, fields.swizzle.bits) {
        (Major::K, 0) => r % 8 * 16 + r / 8 * sbo + k * e % 16 + k * e / 16 * lbo,
        (Major::K, _) => r % 8 * width + r / 8 * sbo + k * e % width + k * e / width * lbo,
        (Major::Mn, 0) => r * e % 16 + r * e / 16 * sbo + k % 8 * 16 + k / 8 * lbo,
        (Major::Mn, _) => r * e % width + r * e / width * lbo + k % 8 * width + k / 8 * sbo,
    };
    plain ^ (((plain / 128) & mask) * 16)
}

#[test]
fn named_layouts_are_the_addresses_of_the_isa_g14_e40() {
    let mut seen = 0;
    for (swizzle, mask, width) in MODES {
        for e in [1u64, 2, 4] {
            for major in [Major::K, Major::Mn] {
                let wide = width / e;
                let (side, other) = (4 * wide, 32u64);
                let (rows, k) = if major == Major::K { (other, side) } else { (side, other) };
                let atom = 8 * width;
                for (leading, stride) in [(atom, 4 * atom), (4 * atom, atom)] {
                    let fields = Fields { major, swizzle, leading, stride };
                    let layout = shared(fields, rows, k, 8 * e).unwrap();
                    assert!(layout.is_onto() && layout.is_one_to_one());
                    for r in 0..rows {
                        for x in 0..k {
                            let place = address(&fields, (mask, width), e, r, x) / e;
                            let at = layout.apply(&[(Dim::Offset, place)]).unwrap();
                            assert_eq!(at, [(Dim::Axis(0), r), (Dim::Axis(1), x)], "{fields:?}");
                        }
                    }
                    // A tile of 8-row atoms without a swizzle may read as either major where it is square.
                    let found = recognise(&layout, 8 * e).expect("a name");
                    assert_eq!(shared(found, rows, k, 8 * e).unwrap(), layout);
                    if swizzle.bits > 0 {
                        assert_eq!(found, fields);
                    }
                    seen += 1;
                }
            }
        }
    }
    assert_eq!(seen, 48);
}

#[test]
fn boxes_of_tma_are_operands_g14() {
    for (swizzle, _, width) in MODES.into_iter().skip(1) {
        for bits in [8u64, 16, 32] {
            let wide = width * 8 / bits;
            let tile = tma::shared(&[64, wide], bits, swizzle).unwrap();
            let fields = recognise(&tile, bits).expect("K-major");
            assert_eq!((fields.major, fields.swizzle, fields.stride), (Major::K, swizzle, 8 * width));
            // The same box read as K x N: its rows are K (C62).
            let turned =
                tile.rename_outputs(|dim| if dim == Dim::Axis(0) { Dim::Axis(1) } else { Dim::Axis(0) });
            let fields = recognise(&turned.unwrap(), bits).expect("MN-major");
            assert_eq!((fields.major, fields.swizzle, fields.stride), (Major::Mn, swizzle, 8 * width));
        }
    }
    // Panels one behind the other: the second is 64 rows of 128 bytes further.
    let panels = tma::shared(&[64, 64], 16, Swizzle::B128).unwrap();
    let two = panels.times(&Layout::of(&[(Dim::Offset, Dim::Axis(1), 2)]).unwrap()).unwrap();
    assert_eq!(recognise(&two, 16).expect("panels").leading, 64 * 128);
}

#[test]
fn what_no_descriptor_names_is_not_recognised_g14() {
    let rows = |swizzle, extents: &[u64]| tma::shared(extents, 16, swizzle).unwrap();
    assert_eq!(recognise(&rows(Swizzle::B128_ATOM_32, &[64, 64]), 16), None);
    assert_eq!(recognise(&rows(Swizzle::NONE, &[64, 64]), 16), None);
    assert_eq!(recognise(&rows(Swizzle::B128, &[4, 64]), 16), None);
    // One bit of one image changed.
    let good = rows(Swizzle::B64, &[64, 32]);
    let bent: Layout = good.to_string().replace("2@dim0^8@dim1", "2@dim0").parse().unwrap();
    assert!(recognise(&good, 16).is_some() && bent != good);
    assert_eq!(recognise(&bent, 16), None);
    let fields = Fields { major: Major::K, swizzle: Swizzle::B128, leading: 0, stride: 512 };
    assert!(
        shared(fields, 64, 64, 16).is_err() && shared(Fields { stride: 1000, ..fields }, 64, 64, 16).is_err()
    );
    assert!(shared(Fields { stride: 1024, ..fields }, 64, 64, 12).is_err());
}
