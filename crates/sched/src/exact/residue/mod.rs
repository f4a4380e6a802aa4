//! Residues: which cycles of the table are still open to an operation (S33).

mod domains;
mod matching;
pub(crate) mod residues;
