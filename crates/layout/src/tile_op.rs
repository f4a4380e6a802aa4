//! Operations on whole tiles that move no element: each states its map once (G5).

use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;

/// An operation that gives every element of its result the value of an element of an operand, or, for
/// [`TileOp::Reduce`], says which elements of the operand belong to one of the result. Shapes are in elements, the
/// slowest dimension first, every extent a power of two.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum TileOp {
    /// The same elements in the same row-major order.
    Reshape {
        /// Shape of the operand.
        from: Vec<u64>,
        /// Shape of the result.
        to: Vec<u64>,
    },
    /// Dimension `i` of the result is dimension `order[i]` of the operand.
    Trans {
        /// Shape of the operand.
        shape: Vec<u64>,
        /// A permutation of the dimensions.
        order: Vec<usize>,
    },
    /// A new dimension of size 1.
    ExpandDims {
        /// Shape of the operand.
        shape: Vec<u64>,
        /// Where it stands in the result.
        axis: usize,
    },
    /// Dimensions of size 1 repeated.
    Broadcast {
        /// Shape of the operand.
        from: Vec<u64>,
        /// Shape of the result: equal, but where `from` has 1.
        to: Vec<u64>,
    },
    /// A scalar in every place.
    Splat {
        /// Shape of the result.
        to: Vec<u64>,
    },
    /// Two tiles as neighbours in a new last dimension of size 2.
    Join {
        /// Shape of each operand.
        shape: Vec<u64>,
    },
    /// The last dimension, of size 2, as two tiles.
    Split {
        /// Shape of the operand.
        shape: Vec<u64>,
    },
    /// Two tiles one behind the other.
    Cat {
        /// Shape of each operand.
        shape: Vec<u64>,
        /// The dimension that doubles.
        axis: usize,
    },
    /// One dimension folded to nothing: the slice that is left (G15).
    Reduce {
        /// Shape of the operand.
        shape: Vec<u64>,
        /// The dimension.
        axis: usize,
    },
}

/// A dimension of a tile. More than 256 are refused by [`sizes`] before a number could be cut.
fn axis(number: usize) -> Dim {
    Dim::Axis(number as u8)
}

fn sizes(shape: &[u64]) -> Result<Vec<(Dim, u64)>> {
    if shape.len() > 256 {
        return Err(LayoutError::Shape { what: format!("{} dimensions", shape.len()) });
    }
    Ok(shape.iter().enumerate().map(|(i, &size)| (axis(i), size)).collect())
}

/// Row-major order: a point of the tile onto its number, `Offset`; the last dimension is the fastest.
///
/// ```
/// use warploom_layout::{Dim, row_major};
/// # fn main() -> Result<(), warploom_layout::LayoutError> {
/// assert_eq!(row_major(&[4, 8])?.apply(&[(Dim::Axis(0), 3), (Dim::Axis(1), 5)])?, [(Dim::Offset, 29)]);
/// # Ok(())
/// # }
/// ```
pub fn row_major(shape: &[u64]) -> Result<Layout> {
    let order: Vec<usize> = (0..shape.len()).rev().collect();
    in_order(shape, &order)
}

/// A point of the tile onto its number, `Offset`, with the dimensions from the fastest to the slowest.
pub fn in_order(shape: &[u64], fastest_first: &[usize]) -> Result<Layout> {
    permutation(fastest_first, shape.len())?;
    let sizes = sizes(shape)?;
    Layout::of(&fastest_first.iter().map(|&i| (sizes[i].0, Dim::Offset, sizes[i].1)).collect::<Vec<_>>())
}

fn permutation(order: &[usize], rank: usize) -> Result<()> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if sorted.len() != rank || sorted.iter().enumerate().any(|(i, &j)| i != j) {
        return Err(LayoutError::Shape { what: format!("{order:?} is no order of {rank} dimensions") });
    }
    Ok(())
}

impl TileOp {
    /// Shape of each operand.
    pub fn operand_shape(&self) -> Vec<u64> {
        match self {
            TileOp::Reshape { from, .. } | TileOp::Broadcast { from, .. } => from.clone(),
            TileOp::Splat { .. } => Vec::new(),
            TileOp::Trans { shape, .. }
            | TileOp::ExpandDims { shape, .. }
            | TileOp::Join { shape }
            | TileOp::Split { shape }
            | TileOp::Cat { shape, .. }
            | TileOp::Reduce { shape, .. } => shape.clone(),
        }
    }

    /// Shape of each result; refuses what does not fit together.
    pub fn result_shape(&self) -> Result<Vec<u64>> {
        let refuse = |what: String| Err(LayoutError::Shape { what });
        match self {
            TileOp::Reshape { from, to } => {
                let count = |shape: &[u64]| shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size));
                if count(from).is_none() || count(from) != count(to) {
                    return refuse(format!("{from:?} has not as many elements as {to:?}"));
                }
                Ok(to.clone())
            }
            TileOp::Trans { shape, order } => {
                permutation(order, shape.len())?;
                Ok(order.iter().map(|&i| shape[i]).collect())
            }
            TileOp::ExpandDims { shape, axis } => {
                if *axis > shape.len() {
                    return refuse(format!("dimension {axis} of a tile of rank {}", shape.len() + 1));
                }
                let mut result = shape.clone();
                result.insert(*axis, 1);
                Ok(result)
            }
            TileOp::Broadcast { from, to } => {
                let fits = |(a, b): (&u64, &u64)| *a == *b || *a == 1;
                if from.len() != to.len() || !from.iter().zip(to).all(fits) {
                    return refuse(format!("{from:?} does not spread over {to:?}"));
                }
                Ok(to.clone())
            }
            TileOp::Splat { to } => Ok(to.clone()),
            TileOp::Join { shape } => Ok(shape.iter().copied().chain([2]).collect()),
            TileOp::Split { shape } => match shape.split_last() {
                Some((2, rest)) => Ok(rest.to_vec()),
                _ => refuse(format!("{shape:?} has no last dimension of size 2")),
            },
            TileOp::Cat { shape, axis } => {
                let mut result = shape.clone();
                match result.get_mut(*axis).and_then(|size| Some((size.checked_mul(2)?, size))) {
                    Some((twice, size)) => *size = twice,
                    None => return refuse(format!("dimension {axis} of {shape:?}")),
                }
                Ok(result)
            }
            TileOp::Reduce { shape, axis } => {
                if *axis >= shape.len() {
                    return refuse(format!("dimension {axis} of a tile of rank {}", shape.len()));
                }
                let mut result = shape.clone();
                result.remove(*axis);
                Ok(result)
            }
        }
    }

    /// The map of the operation: from a place of the result to the place of the operand that it comes from, and for
    /// [`TileOp::Reduce`] from a place of the operand to the place of the result that it goes into. Which of two
    /// operands, or of two results, is the number [`Dim::Part`].
    pub fn map(&self) -> Result<Layout> {
        let (from, to) = (self.operand_shape(), self.result_shape()?);
        match self {
            TileOp::Reshape { .. } => row_major(&to)?.then(&row_major(&from)?.inverse()),
            TileOp::Trans { order, .. } => Layout::of(
                &order.iter().enumerate().map(|(i, &j)| (axis(i), axis(j), to[i])).collect::<Vec<_>>(),
            ),
            TileOp::ExpandDims { axis: new, .. } => without(&to, *new),
            TileOp::Broadcast { .. } => {
                let kept: Vec<_> = sizes(&to)?.into_iter().zip(&from).collect();
                let same = kept.iter().filter(|((_, to), from)| to == *from).map(|(size, _)| *size);
                let lost = kept.iter().filter(|((_, to), from)| to != *from).map(|(size, _)| *size);
                onto_nothing(Layout::identity(&same.collect::<Vec<_>>())?, lost)
            }
            TileOp::Splat { .. } => onto_nothing(Layout::default(), sizes(&to)?),
            TileOp::Join { .. } => {
                let mut pieces = pairs(&from)?;
                pieces.push((axis(from.len()), Dim::Part, 2));
                Layout::of(&pieces)
            }
            TileOp::Split { .. } => {
                let mut pieces = pairs(&to)?;
                pieces.push((Dim::Part, axis(to.len()), 2));
                Layout::of(&pieces)
            }
            TileOp::Cat { axis: along, .. } => {
                let mut pieces = pairs(&from)?;
                pieces.push((axis(*along), Dim::Part, 2));
                Layout::of(&pieces)
            }
            TileOp::Reduce { axis, .. } => without(&from, *axis),
        }
    }

    /// The layout of each result when the operands have this one and no element moves to another lane: a lane has
    /// further registers where elements are repeated or joined, and register `r` of the result is register `r` of the
    /// operand, as far as it has bits. `None` for a split whose two halves are not told apart by one bit of the
    /// registers alone ([`TileOp::part_bit`]): that needs a conversion first.
    pub fn forward(&self, operand: &Layout) -> Result<Option<Layout>> {
        let map = self.map()?;
        match self {
            TileOp::Reduce { .. } => operand.then(&map).map(Some),
            TileOp::Split { .. } => {
                let parted = operand.then(&map.inverse())?;
                Ok(part_bit(&parted).map(|bit| without_register(&parted, bit)).transpose()?)
            }
            TileOp::Join { .. } | TileOp::Cat { .. } => {
                operand.times(&Layout::of(&[(Dim::Register, Dim::Part, 2)])?)?.then(&map.inverse()).map(Some)
            }
            _ => spread(&operand.then(&map.inverse())?, &map).map(Some),
        }
    }

    /// The layout that the operands need so that results have this one and no element moves to another lane. `None` for
    /// a join or cat whose parts are not told apart by one bit of the registers alone.
    pub fn backward(&self, result: &Layout) -> Result<Option<Layout>> {
        let map = self.map()?;
        match self {
            TileOp::Reduce { .. } => spread(&result.then(&map.inverse())?, &map).map(Some),
            TileOp::Split { .. } => {
                result.times(&Layout::of(&[(Dim::Register, Dim::Part, 2)])?)?.then(&map).map(Some)
            }
            TileOp::Join { .. } | TileOp::Cat { .. } => {
                let parted = result.then(&map)?;
                Ok(part_bit(&parted).map(|bit| without_register(&parted, bit)).transpose()?)
            }
            _ => result.then(&map).map(Some),
        }
    }

    /// The bit of the registers' number that alone tells the two halves of a split's operand, or of a join's or cat's
    /// result, apart: bit set, second half; the other bits, closed up, number the registers of each half.
    pub fn part_bit(&self, whole: &Layout) -> Result<Option<u32>> {
        let map = self.map()?;
        let parted = match self {
            TileOp::Split { .. } => whole.then(&map.inverse())?,
            TileOp::Join { .. } | TileOp::Cat { .. } => whole.then(&map)?,
            _ => return Ok(None),
        };
        Ok(part_bit(&parted))
    }
}

/// Every dimension onto itself.
fn pairs(shape: &[u64]) -> Result<Vec<(Dim, Dim, u64)>> {
    Ok(sizes(shape)?.into_iter().map(|(dim, size)| (dim, dim, size)).collect())
}

/// A tile onto what is left of it without one dimension.
fn without(shape: &[u64], gone: usize) -> Result<Layout> {
    let sizes = sizes(shape)?;
    let kept = sizes.iter().enumerate().filter(|(i, _)| *i != gone);
    let kept = kept.map(|(i, &(dim, size))| (dim, axis(i - usize::from(i > gone)), size)).collect::<Vec<_>>();
    onto_nothing(Layout::of(&kept)?, sizes.get(gone).copied())
}

/// The same with more inputs, all of whose numbers go to zero.
fn onto_nothing(map: Layout, lost: impl IntoIterator<Item = (Dim, u64)>) -> Result<Layout> {
    lost.into_iter().try_fold(map, |map, (dim, size)| map.times(&Layout::copies(dim, size)?))
}

/// A layout of the places that `map` leads to itself, with further registers for all the others.
fn spread(layout: &Layout, map: &Layout) -> Result<Layout> {
    let copies = map.copy_mask();
    let inputs = layout.inputs.widened(Dim::Register, copies.count_ones(), "inputs")?;
    let at = layout.inputs.bits(Dim::Register) as usize;
    let mut images = layout.images.clone();
    let new = (0..map.inputs.total()).filter(|bit| copies >> bit & 1 == 1).map(|bit| 1u64 << bit);
    images.insert_many(at, new);
    Ok(Layout { inputs, outputs: layout.outputs.clone(), images })
}

/// The bit of the registers that alone has the second part.
fn part_bit(parted: &Layout) -> Option<u32> {
    let part = parted.outputs.mask(Dim::Part);
    let mut with = parted.images.iter().enumerate().filter(|(_, image)| *image & part != 0);
    let (bit, image) = with.next()?;
    let bit = bit as u32;
    let alone = with.next().is_none() && *image == part && bit < parted.inputs.bits(Dim::Register);
    alone.then_some(bit)
}

fn without_register(parted: &Layout, gone: u32) -> Result<Layout> {
    let tile: Vec<Dim> = parted.outputs.iter().map(|(dim, _)| dim).filter(|&dim| dim != Dim::Part).collect();
    parted.select(|dim, bit| dim != Dim::Register || bit != gone)?.project(&tile)
}
