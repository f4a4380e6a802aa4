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
    /// Bytes of a word of tensor memory where the scales of A and of B begin, and whether they are of E4M3, not powers of
    /// two.
    pub scales: ([u32; 2], bool),
}

/// Reads a descriptor. The error says what is wrong with it.
pub(super) fn read(bits: u32, kind: TcgenKind, pair: bool) -> Result<Descriptor, String> {
    if matches!(kind, TcgenKind::MxF8F6F4 | TcgenKind::MxF4 | TcgenKind::MxF4NvF4) {
        return scaled(bits, kind);
    }
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
        (TcgenKind::F8F6F4, code) => narrow(code),
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
        scales: ([0; 2], false),
    })
}

/// The floating-point types of at most eight bits.
fn narrow(code: u32) -> Option<MatTy> {
    [
        Some(MatTy::E4M3),
        Some(MatTy::E5M2),
        None,
        Some(MatTy::PaddedE2M3),
        Some(MatTy::PaddedE3M2),
        Some(MatTy::PaddedE2M1),
    ]
    .get(code as usize)
    .copied()
    .flatten()
}

/// Reads the descriptor of a product with scales of blocks.
fn scaled(bits: u32, kind: TcgenKind) -> Result<Descriptor, String> {
    let field = |at: u32, n: u32| bits >> at & ((1 << n) - 1);
    let bad = |why: &str| Err(format!("instruction descriptor {bits:#010x}: {why}"));
    if field(0, 4) | field(6, 1) | field(24, 3) | field(31, 1) != 0 {
        return bad("a dense product with scales has zeros in bits 0 to 3, 6, 24 to 26 and 31");
    }
    let eight = kind == TcgenKind::MxF8F6F4;
    let operand = |code: u32| match code {
        code if eight => narrow(code),
        1 => Some(MatTy::PackedE2M1),
        _ => None,
    };
    let (Some(a), Some(b)) = (operand(field(7, 3)), operand(field(10, 3))) else {
        return bad("these operand types do not exist for the kind");
    };
    let powers = field(23, 1) == 1;
    if !powers && kind != TcgenKind::MxF4NvF4 {
        return bad("this kind has scales of UE8M0 only");
    }
    let (trans_a, trans_b) = (field(15, 1) == 1, field(16, 1) == 1);
    if !eight && (trans_a || trans_b) {
        return bad("operands of four bits are not transposed");
    }
    let (n, m) = (field(17, 6) << 3, field(27, 2) << 7);
    if m != 128 || n == 0 || n > 256 || n % 8 != 0 {
        return Err(format!("instruction descriptor {bits:#010x}: no shape {m}x{n} with scales (T12)"));
    }
    Ok(Descriptor {
        a,
        b,
        d: AccTy::F32,
        m,
        n,
        saturate: false,
        negate: field(13, 1) != field(14, 1),
        trans_a,
        trans_b,
        scales: ([field(29, 2), field(4, 2)], !powers),
    })
}
