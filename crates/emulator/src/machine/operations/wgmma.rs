//! What a `wgmma.mma_async` carries with it.

use super::layout::OperandLayout;
use std::rc::Rc;

/// One warp's part of a product.
#[derive(Clone, Debug)]
pub(crate) struct WgmmaWork {
    /// OperandLayouts of A (if in shared memory) and B.
    pub a: Option<OperandLayout>,
    pub b: OperandLayout,
    pub scale_d: bool,
    /// The warp's place in its warpgroup.
    pub quarter: u32,
    pub a_values: Rc<Vec<f64>>,
    pub b_values: Rc<Vec<f64>>,
    pub a_poison: bool,
}

impl WgmmaWork {
    pub(crate) fn new(a: Option<OperandLayout>, b: OperandLayout, scale_d: bool, quarter: u32) -> Self {
        let (a_values, b_values) = (Rc::default(), Rc::default());
        WgmmaWork { a, b, scale_d, quarter, a_values, b_values, a_poison: false }
    }
}
