//! What a checker finds.

use thiserror::Error;

use crate::dim::Dim;

/// A place: a register of a lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The register.
    pub register: u64,
    /// The lane of the warp.
    pub lane: u64,
    /// The warp.
    pub warp: u64,
    /// The CTA.
    pub cta: u64,
}

/// What is wrong with a plan.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Violation {
    /// G12: a place of the target ends with another element, or with none.
    #[error("{at:?} ends with {found:?} in place of {wanted:?}")]
    Wrong {
        /// The place.
        at: Place,
        /// Coordinates of the element that is there.
        found: Option<Vec<(Dim, u64)>>,
        /// Coordinates of the element that should be.
        wanted: Vec<(Dim, u64)>,
    },
    /// G12: a register, lane or offset that does not exist.
    #[error("{at:?} names {what} {number}, which there is not")]
    Beyond {
        /// Who names it.
        at: Place,
        /// A register, a lane, an offset.
        what: &'static str,
        /// Its number.
        number: u64,
    },
    /// G12: a word of more than 32 bits, a register filled twice, a round that is said to need no shuffle and does.
    #[error("a round of shuffles: {what}")]
    Round {
        /// What is wrong.
        what: &'static str,
    },
    /// G12: an access to shared memory that no instruction makes.
    #[error("{at:?}: {what} at offset {offset}")]
    Access {
        /// Who accesses.
        at: Place,
        /// What is wrong.
        what: &'static str,
        /// The offset, in elements.
        offset: u64,
    },
    /// G12: an instruction, transaction or byte more or less than is said.
    #[error("{what}: {said} said, {found} found")]
    Count {
        /// What was counted.
        what: &'static str,
        /// What the plan says.
        said: u64,
        /// What it takes.
        found: u64,
    },
    /// G15: an element combined twice, or out of order, or left out.
    #[error("{at:?} combines {found:?}")]
    Combined {
        /// The place.
        at: Place,
        /// Coordinates along the axis, in the order in which they were combined.
        found: Vec<u64>,
    },
    /// Too large to be carried out element by element.
    #[error("{places} places are too many to be looked at one by one")]
    TooLarge {
        /// Places.
        places: u64,
    },
}

impl Violation {
    /// The rule that is broken.
    pub fn rule(&self) -> &'static str {
        match self {
            Violation::Combined { .. } => "G15",
            _ => "G12",
        }
    }
}
