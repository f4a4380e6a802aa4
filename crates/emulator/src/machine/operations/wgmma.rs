//! What a `wgmma.mma_async` carries with it.

use super::layout::OperandLayout;

/// One warp's part of a product.
#[derive(Clone, Debug)]
pub(crate) struct WgmmaWork {
    /// OperandLayouts of A (if in shared memory) and B.
    pub a: Option<OperandLayout>,
    pub b: OperandLayout,
    pub scale_d: bool,
    /// The warp's place in its warpgroup.
    pub quarter: u32,
    pub a_values: Vec<f64>,
    pub b_values: Vec<f64>,
    pub a_poison: bool,
}

impl WgmmaWork {
    pub(crate) fn new(a: Option<OperandLayout>, b: OperandLayout, scale_d: bool, quarter: u32) -> Self {
        WgmmaWork { a, b, scale_d, quarter, a_values: Vec::new(), b_values: Vec::new(), a_poison: false }
    }
}
