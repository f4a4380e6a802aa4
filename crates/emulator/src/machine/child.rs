//! A grid that a kernel launches.

/// Launches that a grid may have pending, as CUDA has it by default.
pub(crate) const PENDING: usize = 2048;
/// A grid to be launched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Child {
    /// The kernel, by its number in the module.
    pub kernel: usize,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub smem: u32,
    pub params: Vec<u8>,
    /// Behind all others of its parent.
    pub tail: bool,
}
