//! Operations on layouts (G5).

use smallvec::SmallVec;

use crate::bits::{Echelon, rank};
use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::space::{MOST_BITS, Space};

impl Layout {
    /// First this layout, then `next`. Every output of this one must be an input of `next` that is at least as large;
    /// what `next` takes beyond that is zero.
    ///
    /// ```
    /// use warploom_layout::{Dim, Layout};
    ///
    /// # fn main() -> Result<(), warploom_layout::LayoutError> {
    /// let lanes: Layout = "(lane: 1@dim0, 2@dim0) -> (dim0: 4)".parse()?;
    /// let turned: Layout = "(dim0: 2@dim1, 1@dim1) -> (dim1: 4)".parse()?;
    /// assert_eq!(lanes.then(&turned)?.to_string(), "(lane: 2@dim1, 1@dim1) -> (dim1: 4)");
    /// assert_eq!(turned.then(&turned.inverse())?, Layout::identity(&[(Dim::Axis(0), 4)])?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn then(&self, next: &Layout) -> Result<Layout> {
        for (dim, bits) in self.outputs.iter() {
            if bits > next.inputs.bits(dim) {
                return Err(LayoutError::Mismatch { dim, given: 1 << bits, taken: next.input_size(dim) });
            }
        }
        let images = self.images.iter().map(|&image| next.point(self.outputs.carry(image, &next.inputs)));
        Ok(Layout { inputs: self.inputs.clone(), outputs: next.outputs.clone(), images: images.collect() })
    }

    /// A layout `g` back: `l.then(g).then(l) = l`. Where this layout is one to one, `g` undoes it; where it is onto, `g`
    /// leads every point to its owner, whose copies' bits are all zero (G11); points that are not reached lead to zero
    /// as far as they go beyond those that are.
    pub fn inverse(&self) -> Layout {
        let mut echelon = self.echelon();
        // Points that are not reached: unit vectors outside of the span, with nothing before them.
        for bit in 0..self.outputs.total() {
            echelon.insert(1 << bit, 0);
        }
        let images = (0..self.outputs.total()).map(|bit| echelon.reduce(1 << bit).1);
        Layout { inputs: self.outputs.clone(), outputs: self.inputs.clone(), images: images.collect() }
    }

    /// The direct product: further bits of each input, mapped to further bits of each output.
    pub fn times(&self, high: &Layout) -> Result<Layout> {
        let joined = |low: &Space, high: &Space, what| {
            high.iter().try_fold(low.clone(), |space, (dim, bits)| space.widened(dim, bits, what))
        };
        let inputs = joined(&self.inputs, &high.inputs, "inputs")?;
        let outputs = joined(&self.outputs, &high.outputs, "outputs")?;
        let mut images = SmallVec::from_elem(0, inputs.total() as usize);
        for (bit, &image) in self.images.iter().enumerate() {
            if let Some((dim, number)) = self.inputs.bit(bit as u32) {
                images[(inputs.shift(dim) + number) as usize] = self.outputs.carry(image, &outputs);
            }
        }
        for (bit, &image) in high.images.iter().enumerate() {
            if let Some((dim, number)) = high.inputs.bit(bit as u32) {
                let raised = high.outputs.iter().fold(0, |sum, (d, _)| {
                    sum | high.outputs.part(image, d) << (outputs.shift(d) + self.outputs.bits(d))
                });
                images[(inputs.shift(dim) + self.inputs.bits(dim) + number) as usize] = raised;
            }
        }
        Ok(Layout { inputs, outputs, images })
    }

    /// The layout that makes this one when `low` is multiplied by it, if there is one: whether `low` divides it from the
    /// left.
    pub fn divide(&self, low: &Layout) -> Option<Layout> {
        let rest = |whole: &Space, part: &Space| {
            if part.iter().any(|(dim, bits)| bits > whole.bits(dim)) {
                return None;
            }
            whole.iter().try_fold(Space::default(), |space, (dim, bits)| {
                space.widened(dim, bits - part.bits(dim), "inputs").ok()
            })
        };
        let (inputs, outputs) = (rest(&self.inputs, &low.inputs)?, rest(&self.outputs, &low.outputs)?);
        let mut images = SmallVec::new();
        for (dim, _) in inputs.iter() {
            for &image in self.images_of(dim).iter().skip(low.inputs.bits(dim) as usize) {
                images.push(outputs.iter().fold(0, |sum, (d, _)| {
                    sum | self.outputs.part(image, d) >> low.outputs.bits(d) << outputs.shift(d)
                }));
            }
        }
        let quotient = Layout { inputs, outputs, images };
        (low.times(&quotient).as_ref() == Ok(self)).then_some(quotient)
    }

    /// The first `size` numbers of an input alone; all of them where there are no more.
    pub fn restrict(&self, input: Dim, size: u64) -> Result<Layout> {
        let kept = Layout::size_bits(input, size)?.min(self.inputs.bits(input));
        self.select(|dim, bit| dim != input || bit < kept)
    }

    /// The inputs that are named alone; the others are zero.
    pub fn only(&self, inputs: &[Dim]) -> Result<Layout> {
        self.select(|dim, _| inputs.contains(&dim))
    }

    /// The outputs that are named alone.
    pub fn project(&self, outputs: &[Dim]) -> Result<Layout> {
        let sizes: Vec<_> = self.outputs().into_iter().filter(|(dim, _)| outputs.contains(dim)).collect();
        let space = Space::of_sizes(&sizes, "outputs")?;
        let images = self.images.iter().map(|&image| self.outputs.carry(image, &space)).collect();
        Ok(Layout { inputs: self.inputs.clone(), outputs: space, images })
    }

    /// The same with other names of outputs; two outputs with one name are refused.
    pub fn rename_outputs(&self, name: impl Fn(Dim) -> Dim) -> Result<Layout> {
        let sizes: Vec<_> = self.outputs.iter().map(|(dim, bits)| (name(dim), 1 << bits)).collect();
        let outputs = Space::of_sizes(&sizes, "outputs")?;
        if sizes.iter().any(|&(dim, size)| 1 << outputs.bits(dim) != size) {
            return Err(LayoutError::Shape { what: "two outputs with one name".into() });
        }
        let renamed = |image| {
            self.outputs
                .iter()
                .fold(0, |sum, (dim, _)| sum | self.outputs.part(image, dim) << outputs.shift(name(dim)))
        };
        let images = self.images.iter().map(|&image| renamed(image)).collect();
        Ok(Layout { inputs: self.inputs.clone(), outputs, images })
    }

    /// Whether every point of the outputs is reached.
    pub fn is_onto(&self) -> bool {
        self.rank() == self.outputs.total()
    }

    /// Whether no point is reached twice: there are no copies.
    pub fn is_one_to_one(&self) -> bool {
        self.rank() == self.inputs.total()
    }

    /// How many bits of the outputs are reached independently.
    pub fn rank(&self) -> u32 {
        rank(self.images.iter().copied())
    }

    /// What separates a place from its copies: a basis of the sums of inputs that lead to zero, each as numbers of
    /// inputs. Adding (xor) one to a place leads to a copy of it.
    pub fn copies_basis(&self) -> Vec<Vec<(Dim, u64)>> {
        crate::bits::kernel(&self.images).into_iter().map(|point| self.inputs.parts(point)).collect()
    }

    /// The bits of an input that only make copies: an owner has zero in all of them (G11).
    pub fn copy_bits(&self, input: Dim) -> u64 {
        self.inputs.part(self.copy_mask(), input)
    }

    /// The basis of all points that are reached, each as numbers of outputs: those of the owners' bits.
    pub fn image_basis(&self) -> Vec<Vec<(Dim, u64)>> {
        let copies = self.copy_mask();
        let owned = self.images.iter().enumerate().filter(|(bit, _)| copies >> bit & 1 == 0);
        owned.map(|(_, &image)| self.outputs.parts(image)).collect()
    }

    /// The same with every copy's bit mapped to zero, and high bits of inputs that make copies alone left out.
    pub fn owners(&self) -> Layout {
        let copies = self.copy_mask();
        let mut images = self.images.clone();
        for (bit, image) in images.iter_mut().enumerate() {
            if copies >> bit & 1 == 1 {
                *image = 0;
            }
        }
        let all = Layout { inputs: self.inputs.clone(), outputs: self.outputs.clone(), images };
        let needed = |dim| 64 - (!all.copy_bits(dim) & (all.input_size(dim) - 1)).leading_zeros();
        all.select(|dim, bit| bit < needed(dim)).unwrap_or_default()
    }

    /// Whether every owner stands at the same place: equality modulo copies (G5).
    pub fn equals_but_copies(&self, other: &Layout) -> bool {
        self.owners() == other.owners()
    }

    /// The span of the images, tagged with the input bits that make it.
    pub(crate) fn echelon(&self) -> Echelon {
        let mut echelon = Echelon::new();
        for (bit, &image) in self.images.iter().enumerate() {
            echelon.insert(image, 1 << bit);
        }
        echelon
    }

    /// The bits of a point of the inputs whose images depend on those before.
    pub(crate) fn copy_mask(&self) -> u64 {
        let mut echelon = Echelon::new();
        let dependent =
            self.images.iter().enumerate().filter(|(_, image)| echelon.insert(**image, 0).is_some());
        dependent.fold(0, |mask, (bit, _)| mask | 1 << bit)
    }

    /// The input bits that are wanted, renumbered.
    pub(crate) fn select(&self, wanted: impl Fn(Dim, u32) -> bool) -> Result<Layout> {
        let mut inputs = Space::default();
        let mut images = SmallVec::new();
        for (bit, &image) in self.images.iter().enumerate().take(MOST_BITS as usize) {
            let Some((dim, number)) = self.inputs.bit(bit as u32) else { continue };
            if wanted(dim, number) {
                inputs = inputs.widened(dim, 1, "inputs")?;
                images.push(image);
            }
        }
        Ok(Layout { inputs, outputs: self.outputs.clone(), images })
    }
}
