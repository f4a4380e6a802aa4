//! What a bulk copy and a `st.async` carry with them.

use crate::isa::op::{AtomOp, CopyWay};
use crate::isa::types::Ty;

/// One bulk copy.
#[derive(Clone, Debug)]
pub(crate) struct BulkWork {
    pub way: CopyWay,
    pub global: u64,
    /// Source CTA and offset in shared memory, when it is read.
    pub source: (u32, u64),
    /// Receiving CTAs and their offset, when shared memory is written.
    pub ctas: Vec<u32>,
    pub shared: u64,
    pub size: u64,
    /// Which bytes of every sixteen are stored.
    pub mask: u16,
    /// Bytes that are not loaded, at the beginning and at the end.
    pub skip: [u64; 2],
    pub ty: Ty,
    /// CTA of the mbarrier for a copy to a peer; else the receiving one.
    pub mbar: Option<(u64, Option<u32>)>,
    pub data: Vec<u8>,
}

/// The lanes of one `st.async` or `red.async`.
#[derive(Clone, Debug)]
pub(crate) struct StAsyncWork {
    /// CTA, offset, bytes, and offset of the mbarrier in that CTA.
    pub stores: Vec<(u32, u64, Vec<u8>, u64)>,
    /// What `red.async` does with the bytes that are there.
    pub reduces: Option<(AtomOp, Ty)>,
}
