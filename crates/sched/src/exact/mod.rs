//! Exact search: is there a schedule at this II, or at this II and length (S30-S36)?
//!
//! [`network`] keeps the least distances between operations closed under addition, [`contract`] builds it from a
//! loop, [`wrap`] orders uses of single units, [`intervals`] refutes what the intervals between them cannot take, [`learn`] learns from what
//! fails, [`residue`] fixes residues for everything else, and [`tree`] branches on both. Every pruning step is implied
//! by the constraints, so an exhausted tree is a proof.

pub(crate) mod ask;
mod choices;
mod clauses;
pub(crate) mod complete;
pub(crate) mod contract;
mod crowd;
mod intervals;
pub(crate) mod joint;
mod kinds;
mod learn;
mod network;
pub(crate) mod reach;
mod residue;
pub(crate) mod shortest;
pub(crate) mod span;
pub(crate) mod split;
pub(crate) mod steps;
mod tree;
pub(crate) mod verdict;
mod wrap;
