//! Asynchronous copies.

use super::operand::{Addr, AtomOp, PSrc, Src};
use crate::isa::types::Ty;
use smallvec::SmallVec;

/// `cp.async`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CpAsync {
    pub dst: Addr,
    pub src: Addr,
    pub bytes: u32,
    pub src_size: Option<Src>,
    pub ignore: Option<PSrc>,
}

/// Which way a bulk or tensor copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyWay {
    /// Global to shared, signalled on an mbarrier.
    Load,
    /// Shared to global, by bulk group.
    Store,
    /// Shared to global with an atomic operation.
    Reduce(AtomOp),
    /// Shared of this CTA to shared of the cluster, signalled on an mbarrier.
    Peer,
    /// The same, to what is there already.
    ReducePeer(AtomOp),
    /// Zeros to shared of the cluster: the answer that no CTA was cancelled.
    Nothing,
    Prefetch,
}

/// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TensorCopy {
    pub way: CopyWay,
    pub shared: Option<Addr>,
    pub map: Addr,
    pub coords: SmallVec<[Src; 5]>,
    pub mbar: Option<Addr>,
    pub multicast: Option<Src>,
    pub cta_group: u8,
    /// Rows named one by one (`tile::gather4`, `tile::scatter4`).
    pub gather: bool,
}

/// `cp.async.bulk` without a tensor map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BulkCopy {
    pub way: CopyWay,
    pub dst: Addr,
    pub src: Addr,
    pub size: Src,
    pub mbar: Option<Addr>,
    pub multicast: Option<Src>,
    /// Which bytes of every sixteen are stored.
    pub mask: Option<Src>,
    /// Bytes that are not loaded, at the beginning and at the end.
    pub skip: Option<[Src; 2]>,
    pub ty: Ty,
}

/// Fields of `tensormap.replace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapField {
    GlobalAddress,
    Rank,
    BoxDim(u8),
    GlobalDim(u8),
    GlobalStride(u8),
    ElementStride(u8),
    ElemType,
    Interleave,
    Swizzle,
    Atomicity,
    Fill,
}
