//! The instruction descriptor of `tcgen05.mma` (E46).

use crate::isa::op::{AccTy, MatTy, TcgenKind};

/// Types, shape and flags of an instruction descriptor (E46).
pub(super) struct Descriptor {
    pub a: MatTy,
    pub b: MatTy,
    pub d: AccTy,
    pub m: u32,
    pub n: u32,
    pub saturate: bool,
    pub negate: bool,
    pub trans_a: bool,
    pub trans_b: bool,
}

/// Reads a descriptor. The error says what is wrong with it.
pub(super) fn read(bits: u32, kind: TcgenKind, pair: bool) -> Result<Descriptor, String> {
    let field = |at: u32, n: u32| bits >> at & ((1 << n) - 1);
    let bad = |why: &str| Err(format!("instruction descriptor {bits:#010x}: {why}"));
    if field(0, 3) != 0 {
        return bad("sparse products are not supported");
    }
    if field(6, 1) | field(23, 1) | field(29, 1) != 0 {
        return bad("bits 6, 23 and 29 must be zero");
    }
    let operand = |code: u32| match (kind, code) {
        (TcgenKind::F16, 0) => Some(MatTy::F16),
        (TcgenKind::F16, 1) => Some(MatTy::BF16),
        (TcgenKind::TF32, 2) => Some(MatTy::TF32),
        (TcgenKind::F8F6F4, 0) => Some(MatTy::E4M3),
        (TcgenKind::F8F6F4, 1) => Some(MatTy::E5M2),
        (TcgenKind::I8, 0) => Some(MatTy::U8),
        (TcgenKind::I8, 1) => Some(MatTy::S8),
        _ => None,
    };
    let (Some(a), Some(b)) = (operand(field(7, 3)), operand(field(10, 3))) else {
        return bad("these operand types do not exist for the kind, or are not supported");
    };
    let d = match (field(4, 2), kind) {
        (2, TcgenKind::I8) => AccTy::S32,
        (1, TcgenKind::F16 | TcgenKind::TF32 | TcgenKind::F8F6F4) => AccTy::F32,
        (0, TcgenKind::F16 | TcgenKind::F8F6F4) => AccTy::F16,
        _ => return bad("this accumulator type does not exist for the kind"),
    };
    let (n, m) = (field(17, 6) << 3, field(24, 5) << 4);
    let (rows, step) = if pair { ([128, 256], 16) } else { ([64, 128], if m == 64 { 8 } else { 16 }) };
    if !rows.contains(&m) || n == 0 || n > 256 || n % step != 0 {
        return Err(format!("instruction descriptor {bits:#010x}: no shape {m}x{n} (T12)"));
    }
    Ok(Descriptor {
        a,
        b,
        d,
        m,
        n,
        saturate: field(3, 1) == 1,
        negate: field(13, 1) != field(14, 1),
        trans_a: field(15, 1) == 1,
        trans_b: field(16, 1) == 1,
    })
}
