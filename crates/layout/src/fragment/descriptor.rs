//! Layouts of operands that the descriptors of wgmma and tcgen05 can name (C62, E40; G14).
//!
//! A tile of R rows along M or N (`dim0`) and K (`dim1`) is made of atoms of 8 rows by the swizzle's width of bytes,
//! one behind the other at two strides. K-major atoms have K side by side, MN-major ones M or N, and 8 of K.

use crate::bits::log2;
use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::space::Space;
use crate::swizzle::Swizzle;

const MN: Dim = Dim::Axis(0);
const K: Dim = Dim::Axis(1);

/// Which dimension of an operand stands side by side in memory. Exhaustive: an operand has two dimensions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Major {
    /// The one that is summed over.
    K,
    /// M of A, N of B.
    Mn,
}

/// What a descriptor says. Strides are in bytes, 0 where the tile has one atom in that direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fields {
    /// What stands side by side.
    pub major: Major,
    /// 128, 64, 32 bytes or none.
    pub swizzle: Swizzle,
    /// Leading byte offset. K-major without a swizzle: from 16 bytes of K to the next. MN-major with one: from one
    /// width of M or N to the next; without: from 8 of K to the next. K-major with a swizzle it is not read; here it is
    /// the distance between panels as wide as the swizzle, which the address advances by.
    pub leading: u64,
    /// Stride byte offset: from 8 rows to the next (K-major), from 8 of K to the next (MN-major with a swizzle), from 16
    /// bytes of M or N to the next (without).
    pub stride: u64,
}

/// The modes that both wgmma and tcgen05 have.
const SWIZZLES: [Swizzle; 4] = [Swizzle::B128, Swizzle::B64, Swizzle::B32, Swizzle::NONE];

/// Elements of an atom along the dimension that stands side by side, and which dimension each stride goes along: the
/// dimension, and elements of one step.
struct Atom {
    wide: u64,
    side: Dim,
    other: Dim,
    leading: (Dim, u64),
    stride: (Dim, u64),
}

fn atom(major: Major, swizzle: Swizzle, bits: u64) -> Atom {
    let wide = swizzle.width() * 8 / bits.max(1);
    let (side, other) = match major {
        Major::K => (K, MN),
        Major::Mn => (MN, K),
    };
    let (leading, stride) = match (major, swizzle.bits) {
        (Major::Mn, 0) => ((K, 8), (MN, wide)),
        _ => ((side, wide), (other, 8)),
    };
    Atom { wide, side, other, leading, stride }
}

/// The layout that these fields name, offset onto (M or N, K), for a tile of `rows` x `k` elements of `bits` bits, each
/// extent at least that of an atom. Strides are powers of two, at least the bytes of an atom, and do not overlap.
pub fn shared(fields: Fields, rows: u64, k: u64, bits: u64) -> Result<Layout> {
    let refuse = |what| Err(LayoutError::Instruction { instruction: "a matrix descriptor", what });
    if !matches!(bits, 4 | 8 | 16 | 32) || !SWIZZLES.contains(&fields.swizzle) {
        return refuse(format!("elements of {bits} bits with {:?}", fields.swizzle));
    }
    let atom = atom(fields.major, fields.swizzle, bits);
    let extent = |dim| if dim == MN { rows } else { k };
    let bad = |dim, least| !extent(dim).is_power_of_two() || extent(dim) < least || extent(dim) > 1 << 20;
    if bad(atom.side, atom.wide) || bad(atom.other, 8) {
        return refuse(format!("a tile of {rows} x {k} elements of {bits} bits"));
    }
    let outputs = Space::of_sizes(&[(MN, rows), (K, k)], "outputs")?;
    let total = outputs.total();
    // Where each bit of an offset leads; every one must be given once.
    let mut images = vec![0u64; total as usize];
    let mut next = 0;
    for (dim, count) in [(atom.side, atom.wide), (atom.other, 8)] {
        for bit in 0..count.trailing_zeros() {
            images[next] = 1 << (outputs.shift(dim) + bit);
            next += 1;
        }
    }
    for (bytes, (dim, step)) in [(fields.leading, atom.leading), (fields.stride, atom.stride)] {
        let first = log2(bytes.saturating_mul(8) / bits);
        for (number, bit) in (step.trailing_zeros()..outputs.bits(dim)).enumerate() {
            let place = first.map(|first| first as usize + number);
            match place.and_then(|place| images.get_mut(place)) {
                Some(image) if *image == 0 => *image = 1 << (outputs.shift(dim) + bit),
                _ => return refuse(format!("steps of {bytes} bytes in a tile of {rows} x {k}")),
            }
        }
    }
    let inputs = Space::of_sizes(&[(Dim::Offset, 1 << total)], "inputs")?;
    let plain = Layout { inputs, outputs, images: images.into() };
    fields.swizzle.map(1 << total, bits)?.then(&plain)
}

/// The fields of the descriptor that names a layout, offset onto (M or N, K), if one does: legality of an operand is
/// equality with a canonical layout (G14). `bits` is the size of an element.
///
/// ```
/// use warploom_layout::fragment::{descriptor, tma};
/// use warploom_layout::Swizzle;
///
/// // A box of 64 rows of 64 bf16 as TMA writes it with the 128-byte swizzle.
/// let tile = tma::shared(&[64, 64], 16, Swizzle::B128)?;
/// let fields = descriptor::recognise(&tile, 16).ok_or("no descriptor names it")?;
/// assert_eq!((fields.major, fields.swizzle), (descriptor::Major::K, Swizzle::B128));
/// assert_eq!((fields.leading, fields.stride), (0, 1024));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn recognise(layout: &Layout, bits: u64) -> Option<Fields> {
    let (rows, k) = (layout.output_size(MN), layout.output_size(K));
    let back = layout.inverse();
    for swizzle in SWIZZLES {
        for major in [Major::K, Major::Mn] {
            let atom = atom(major, swizzle, bits);
            // A stride is where the first step beyond the atom lies; bits of steps are never changed by the swizzle.
            let place = |(dim, step): (Dim, u64)| {
                let at = back.outputs.part(back.point(step << back.inputs.shift(dim)), Dim::Offset);
                if step < layout.output_size(dim) { at.saturating_mul(bits) / 8 } else { 0 }
            };
            let fields = Fields { major, swizzle, leading: place(atom.leading), stride: place(atom.stride) };
            if shared(fields, rows, k, bits).as_ref() == Ok(layout) {
                return Some(fields);
            }
        }
    }
    None
}
