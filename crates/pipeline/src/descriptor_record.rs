//! What the host must know of a descriptor (C12).

use warploom_ir::{Attr, AttrDict, Type};

use crate::emit::number;
use crate::tma::TilePlan;

/// What the host must know of a descriptor (C12).
pub(crate) fn record(plan: &TilePlan) -> Attr {
    let block = plan.box_extents.iter().map(|&e| i64::try_from(e).unwrap_or(i64::MAX)).collect();
    Attr::Dict(AttrDict::from_iter([
        ("swizzle", number(plan.swizzle_code())),
        ("elem_size", number(plan.element_bytes)),
        ("elem_type", number(plan.element_code)),
        ("block_size", Attr::DenseArray { elem: Type::I32, values: block }),
        ("fp4_padded", Attr::Bool(false)),
        ("is_im2col", Attr::Bool(false)),
    ]))
}
