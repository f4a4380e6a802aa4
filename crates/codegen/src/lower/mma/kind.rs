//! What one multiplication of wgmma and tcgen05 takes.

use warploom_ir::diag::Code;
use warploom_ir::{FloatKind, Type};

use crate::error::{Refusal, refuse};
use crate::layout::Engine;

/// What one multiplication takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lower) struct Kind {
    /// PTX name of the element type.
    pub name: &'static str,
    /// Bytes of an element.
    pub bytes: u64,
    /// Whether elements are integers, whose sums are `i32`.
    pub whole: bool,
}

impl Kind {
    /// Elements of K per instruction (C63): 32 bytes.
    pub fn k(self) -> u64 {
        32 / self.bytes
    }

    /// The type of sums.
    pub fn sum(self) -> Type {
        if self.whole { Type::I32 } else { Type::F32 }
    }

    /// Whether operands may be MN-major (C62, T13).
    pub fn transposes(self, engine: Engine) -> bool {
        self.bytes == 2 || (self.bytes == 1 && engine == Engine::Tcgen05)
    }
}

/// The tensor core's name of an element type.
pub(in crate::lower) fn kind(ty: &Type) -> Option<Kind> {
    let (name, bytes) = match ty.elem() {
        Type::Float(FloatKind::BF16) => ("bf16", 2),
        Type::Float(FloatKind::F16) => ("f16", 2),
        Type::Float(FloatKind::F8E4M3FN) => ("e4m3", 1),
        Type::Float(FloatKind::F8E5M2) => ("e5m2", 1),
        Type::Float(FloatKind::F32) => ("tf32", 4),
        Type::Int(8, _) => ("s8", 1),
        _ => return None,
    };
    Some(Kind { name, bytes, whole: name == "s8" })
}

/// The refusal of a product of types that wgmma and mma.sync lack.
pub(in crate::lower) fn unsupported(a: &Type, b: &Type, sum: &Type) -> Refusal {
    let text = format!("tt.dot of {a} and {b} into {sum}");
    let known = "bf16, f16, f8E4M3FN, f8E5M2 or f32 (tf32) operands into f32, f16 into f16, i8 into i32";
    refuse(Code::Type, text).rule("T12").note("instead", known).into()
}
