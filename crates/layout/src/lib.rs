//! Linear layouts over GF(2): which lane holds which element of a tile, where an element lies in memory, and how to get
//! from one layout to another (Zhou et al., arXiv 2505.23819).
//!
//! A [`Layout`] maps bits of named inputs (register, lane, warp, cta; offset; row, column) to bits of a tile's
//! coordinates. Every question about it is Gaussian elimination on machine words; no element is enumerated. Operations
//! on tiles ([`TileOp`]) and instructions ([`fragment`]) are layouts too. [`convert`] plans the way from one distributed
//! layout to another, [`reduction`] and [`scan`] the steps along a dimension, and [`check`] carries plans out element by
//! element without sharing code with the planner.
//!
//! ```
//! use warploom_layout::{Dim, Layout, Plan, Prices, TileOp, check, convert};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Each of four lanes has two neighbours of a row of 8.
//! let pairs: Layout = "(register: 1@dim0; lane: 2@dim0, 4@dim0) -> (dim0: 8)".parse()?;
//! assert_eq!(pairs.apply(&[(Dim::Register, 1), (Dim::Lane, 2)])?, [(Dim::Axis(0), 5)]);
//!
//! // As 2 x 4, transposed.
//! let matrix = TileOp::Reshape { from: vec![8], to: vec![2, 4] }.forward(&pairs)?.unwrap_or_default();
//! let turned = TileOp::Trans { shape: vec![2, 4], order: vec![1, 0] }.forward(&matrix)?.unwrap_or_default();
//! assert_eq!(turned.to_string(), "(register: 1@dim0; lane: 2@dim0, 1@dim1) -> (dim0: 4, dim1: 2)");
//!
//! // Wanted with neighbours of a row in a lane: two lanes exchange a word each.
//! let rows: Layout = "(register: 1@dim1; lane: 1@dim0, 2@dim0) -> (dim0: 4, dim1: 2)".parse()?;
//! let conversion = convert(&turned, &rows, 32, &Prices::default())?;
//! assert!(matches!(&conversion.plan, Plan::Shuffles(plan) if plan.rounds.len() == 2));
//! check::conversion(&turned, &rows, 32, &conversion)?;
//! # Ok(())
//! # }
//! ```
//!
//! The rules cited throughout (`G1` ..) are those of `docs/rules`; `docs/layouts.md` explains the algebra.

mod access;
mod algebra;
mod axis;
mod bits;
mod blocked;
pub mod check;
mod convert;
mod dim;
mod error;
pub mod fragment;
mod layout;
mod space;
mod swizzle;
mod text;
mod tile_op;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use access::{Access, global_pieces, pieces};
pub use axis::{AxisStep, Level, reduction, scan};
pub use blocked::{LANES, blocked, neighbours};
pub use convert::{
    Conversion, Counts, Exchange, Moves, Packed, Plan, Prices, Round, Scope, Shuffles, Transfer,
    TransferKind, convert,
};
pub use dim::Dim;
pub use error::{LayoutError, Result};
pub use layout::{Images, Layout};
pub use swizzle::{Padding, Swizzle};
pub use tile_op::{TileOp, in_order, row_major};
