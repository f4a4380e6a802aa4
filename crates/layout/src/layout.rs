//! The map: images of input bits, in canonical form.

use smallvec::SmallVec;

use crate::bits::{apply, log2};
use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::space::Space;

/// A linear map over GF(2) from the bits of named inputs to the bits of named outputs (G1).
///
/// It is stored as the images of its input bits, inputs and outputs in the order of [`Dim`]. A dimension of size 1 has
/// no bits and is not part of the map, so that two layouts that map the same numbers alike are equal, hash alike and
/// print alike. The rank of a tile is its type's: a column of 128 is a layout onto `dim0`, a row of 128 one onto `dim1`.
///
/// An input bit whose image depends on those before it makes copies (G2): bits of registers come first, then those of
/// lanes, warps and CTAs. Where all copies' bits are zero stands the owner (G11).
///
/// ```
/// use warploom_layout::{Dim, Layout};
///
/// # fn main() -> Result<(), warploom_layout::LayoutError> {
/// // Two neighbours in a lane, four lanes along a row of 8, eight lanes along 8 rows.
/// let layout = Layout::of(&[
///     (Dim::Register, Dim::Axis(1), 2),
///     (Dim::Lane, Dim::Axis(1), 4),
///     (Dim::Lane, Dim::Axis(0), 8),
/// ])?;
/// assert_eq!(layout.apply(&[(Dim::Register, 1), (Dim::Lane, 6)])?, [(Dim::Axis(0), 1), (Dim::Axis(1), 5)]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Layout {
    pub(crate) inputs: Space,
    pub(crate) outputs: Space,
    /// The image of each bit of an input's point, as a point of the outputs.
    pub(crate) images: SmallVec<[u64; 16]>,
}

/// The images of the bits of one input, lowest bit first: each as numbers of outputs, nothing for zero.
pub type Images<'a> = &'a [&'a [(Dim, u64)]];

impl Layout {
    /// Pieces in order: each maps as many further bits of its input to as many further bits of its output, one to one,
    /// and `size` is how many numbers that are. Refuses sizes that are no powers of two.
    pub fn of(pieces: &[(Dim, Dim, u64)]) -> Result<Layout> {
        let sizes = |select: fn(&(Dim, Dim, u64)) -> Dim| {
            pieces.iter().map(|piece| (select(piece), piece.2)).collect::<Vec<_>>()
        };
        let inputs = Space::of_sizes(&sizes(|p| p.0), "inputs")?;
        let outputs = Space::of_sizes(&sizes(|p| p.1), "outputs")?;
        let mut images: SmallVec<[u64; 16]> = SmallVec::from_elem(0, inputs.total() as usize);
        // How many bits of each dimension are given away already.
        let mut used: SmallVec<[(bool, Dim, u32); 8]> = SmallVec::new();
        let mut take = |output: bool, dim: Dim| {
            let at = used.iter().position(|&(o, d, _)| (o, d) == (output, dim)).unwrap_or_else(|| {
                used.push((output, dim, 0));
                used.len() - 1
            });
            used[at].2 += 1;
            used[at].2 - 1
        };
        for &(input, output, size) in pieces {
            for _ in 0..size.trailing_zeros() {
                let from = inputs.shift(input) + take(false, input);
                let to = outputs.shift(output) + take(true, output);
                images[from as usize] = 1 << to;
            }
        }
        Ok(Layout { inputs, outputs, images })
    }

    /// A layout from the images of the bits of each input, lowest bit first, onto outputs of these sizes. An image
    /// lists numbers of outputs; an empty one is zero, a copy.
    ///
    /// ```
    /// use warploom_layout::{Dim, Layout};
    ///
    /// # fn main() -> Result<(), warploom_layout::LayoutError> {
    /// let x = Dim::Axis(0);
    /// let swapped = Layout::new(&[(Dim::Lane, &[&[(x, 2)], &[(x, 1)], &[]])], &[(x, 4)])?;
    /// assert_eq!(swapped.to_string(), "(lane: 2@dim0, 1@dim0, 0) -> (dim0: 4)");
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(inputs: &[(Dim, Images)], outputs: &[(Dim, u64)]) -> Result<Layout> {
        let outputs = Space::of_sizes(outputs, "outputs")?;
        let mut space = Space::default();
        let mut listed = Vec::new();
        for &(dim, images) in inputs {
            if listed.iter().any(|&(other, _)| other == dim) {
                return Err(LayoutError::Shape { what: format!("{dim} is an input twice") });
            }
            space = space.widened(dim, images.len() as u32, "inputs")?;
            listed.push((dim, images));
        }
        listed.sort_by_key(|&(dim, _)| dim);
        let images = listed.iter().flat_map(|(_, images)| images.iter());
        let images = images.map(|parts| outputs.point(parts)).collect::<Result<_>>()?;
        Ok(Layout { inputs: space, outputs, images })
    }

    /// Every number of these inputs onto the same number of the same outputs.
    pub fn identity(sizes: &[(Dim, u64)]) -> Result<Layout> {
        Layout::of(&sizes.iter().map(|&(dim, size)| (dim, dim, size)).collect::<Vec<_>>())
    }

    /// All numbers of an input onto zero: copies.
    pub fn copies(input: Dim, size: u64) -> Result<Layout> {
        let inputs = Space::of_sizes(&[(input, size)], "inputs")?;
        let images = SmallVec::from_elem(0, inputs.total() as usize);
        Ok(Layout { inputs, outputs: Space::default(), images })
    }

    /// How many numbers an input has; 1 where it is not named.
    pub fn input_size(&self, dim: Dim) -> u64 {
        1 << self.inputs.bits(dim)
    }

    /// How many numbers an output has; 1 where it is not named.
    pub fn output_size(&self, dim: Dim) -> u64 {
        1 << self.outputs.bits(dim)
    }

    /// The inputs of more than one number, with how many, in canonical order.
    pub fn inputs(&self) -> Vec<(Dim, u64)> {
        self.inputs.iter().map(|(dim, bits)| (dim, 1 << bits)).collect()
    }

    /// The outputs of more than one number, with how many, in canonical order.
    pub fn outputs(&self) -> Vec<(Dim, u64)> {
        self.outputs.iter().map(|(dim, bits)| (dim, 1 << bits)).collect()
    }

    /// Where a number of each input goes; inputs that are not named are zero.
    pub fn apply(&self, at: &[(Dim, u64)]) -> Result<Vec<(Dim, u64)>> {
        Ok(self.outputs.parts(self.point(self.inputs.point(at)?)))
    }

    /// The image of bit `bit` of an input, in one output; 0 where there is no such bit.
    pub fn image(&self, input: Dim, bit: u32, output: Dim) -> u64 {
        if bit >= self.inputs.bits(input) {
            return 0;
        }
        self.outputs.part(self.images[(self.inputs.shift(input) + bit) as usize], output)
    }

    /// The images of the bits of an input, in one output.
    pub fn column(&self, input: Dim, output: Dim) -> Vec<u64> {
        self.images_of(input).iter().map(|&image| self.outputs.part(image, output)).collect()
    }

    /// The image of a point of the inputs.
    pub(crate) fn point(&self, point: u64) -> u64 {
        apply(&self.images, point)
    }

    /// The images of the bits of an input.
    pub(crate) fn images_of(&self, input: Dim) -> &[u64] {
        let from = self.inputs.shift(input) as usize;
        &self.images[from..from + self.inputs.bits(input) as usize]
    }

    /// A size as a number of bits, refused where it is no power of two.
    pub(crate) fn size_bits(what: impl ToString, size: u64) -> Result<u32> {
        log2(size).ok_or_else(|| LayoutError::Size { what: what.to_string(), size })
    }
}
