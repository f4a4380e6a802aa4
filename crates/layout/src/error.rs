//! What is refused, with the rule and what would be taken.

use thiserror::Error;

use crate::dim::Dim;

/// Why a layout, or an operation on layouts, does not exist.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A size that is no power of two.
    #[error("{what} has size {size}, which is no power of two")]
    Size {
        /// What has the size.
        what: String,
        /// The size.
        size: u64,
    },
    /// More bits than a machine word holds.
    #[error("{bits} bits of {what}; at most 63 fit")]
    TooLarge {
        /// Inputs or outputs.
        what: &'static str,
        /// How many.
        bits: u32,
    },
    /// A value that the dimension is too small for.
    #[error("{value} lies outside of {dim}, which has size {size}")]
    Outside {
        /// The dimension.
        dim: Dim,
        /// The value.
        value: u64,
        /// The size of the dimension.
        size: u64,
    },
    /// A composition whose second layout does not take what the first gives.
    #[error("{dim} of size {given} is given, {taken} is taken")]
    Mismatch {
        /// The dimension.
        dim: Dim,
        /// Its size as an output.
        given: u64,
        /// Its size as an input.
        taken: u64,
    },
    /// A shape, an axis or an order that does not fit the operation.
    #[error("{what}")]
    Shape {
        /// What does not fit.
        what: String,
    },
    /// An instruction without such a form.
    #[error("{instruction} has no form for {what}")]
    Instruction {
        /// The instruction.
        instruction: &'static str,
        /// What was asked for.
        what: String,
    },
    /// An element of the target that the source does not hold.
    #[error("the source does not hold what {input} of the target wants")]
    NotHeld {
        /// The input whose elements are missing.
        input: Dim,
    },
    /// A conversion that moves elements between the CTAs of a cluster.
    #[error("the conversion moves elements from CTA to CTA")]
    AcrossCtas,
    /// A conversion that needs more scratch memory than there is.
    #[error("the conversion does not fit into {bytes} B of scratch memory")]
    Scratch {
        /// What there is.
        bytes: u64,
    },
    /// A name that no dimension has.
    #[error("{name:?} names no dimension")]
    Name {
        /// The name.
        name: String,
    },
    /// Text that is no layout.
    #[error("at byte {at}: expected {expected}")]
    Text {
        /// Where, in bytes.
        at: usize,
        /// What could stand there.
        expected: &'static str,
    },
}

impl LayoutError {
    /// A short name that stays.
    pub fn code(&self) -> &'static str {
        match self {
            LayoutError::Size { .. } => "size",
            LayoutError::TooLarge { .. } => "too-large",
            LayoutError::Outside { .. } => "outside",
            LayoutError::Mismatch { .. } => "mismatch",
            LayoutError::Shape { .. } => "shape",
            LayoutError::Instruction { .. } => "instruction",
            LayoutError::NotHeld { .. } => "not-held",
            LayoutError::AcrossCtas => "across-ctas",
            LayoutError::Scratch { .. } => "scratch",
            LayoutError::Name { .. } => "name",
            LayoutError::Text { .. } => "text",
        }
    }

    /// The rule it rests on.
    pub fn rule(&self) -> &'static str {
        match self {
            LayoutError::Mismatch { .. } | LayoutError::Shape { .. } => "G5",
            LayoutError::Instruction { .. } => "G13",
            LayoutError::NotHeld { .. } | LayoutError::AcrossCtas | LayoutError::Scratch { .. } => "G12",
            _ => "G1",
        }
    }

    /// What would be taken instead.
    pub fn remedy(&self) -> &'static str {
        match self {
            LayoutError::Size { .. } => "round the size up and mask what is beyond",
            LayoutError::TooLarge { .. } => "a smaller tile",
            LayoutError::Outside { .. } => "a larger dimension",
            LayoutError::Mismatch { .. } => "an input of the second layout for each output of the first",
            LayoutError::Shape { .. } => "shapes that belong together, axes below the rank",
            LayoutError::Instruction { .. } => "another shape or type, or loads and stores of elements",
            LayoutError::NotHeld { .. } => "a source that holds every element of the tile",
            LayoutError::AcrossCtas => "the same split among CTAs on both sides",
            LayoutError::Scratch { .. } => "scratch memory for the whole tile",
            LayoutError::Name { .. } => {
                "register, lane, warp, cta, offset, row, column, part, dim0 to dim255"
            }
            LayoutError::Text { .. } => "the form that a layout prints as",
        }
    }
}

/// The result of an operation on layouts.
pub type Result<T> = std::result::Result<T, LayoutError>;
