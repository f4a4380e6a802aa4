//! What a `cp.async` carries with it.

/// The copies of one instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct CpAsyncWork {
    pub copies: Vec<LaneCopy>,
    pub size: u32,
    pub data: Vec<[u8; 16]>,
}

/// One lane's copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneCopy {
    pub lane: u32,
    /// CTA and offset.
    pub dst: (u32, u64),
    pub src: u64,
    /// Bytes read; the rest of `size` is zero.
    pub valid: u32,
}

impl CpAsyncWork {
    pub(crate) fn new(size: u32, copies: Vec<LaneCopy>) -> Self {
        CpAsyncWork { copies, size, data: Vec::new() }
    }
}
