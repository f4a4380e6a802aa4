//! How the elements of a tile lie in the registers of a partition's lanes: one module for each family of layouts.
//!
//! Element `i` of a lane stands at the lane's own first row and column plus an offset that all lanes share.
//! Element-wise code knows no more than that, so that it serves every family. A row vector (`tensor<Mxf32>`)
//! lies as the rows of a tile do: each lane holds one element for every row of which it holds elements, and
//! lanes of one row hold the same.

mod axis;
mod blocked;
mod first;
mod layout;
mod mma_sync;
mod rows;
mod wgmma;

pub(crate) use axis::{Axis, Group, Peers};
pub(crate) use blocked::Blocked;
pub(crate) use layout::Family;
pub(crate) use mma_sync::MmaSync;
pub(crate) use rows::Rows;
pub(crate) use wgmma::Wgmma;
