//! Types and values of generated kernels.

/// A type of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Elem {
    I1,
    I8,
    I16,
    I32,
    I64,
    BF16,
    F16,
    F32,
    F64,
}

impl Elem {
    pub const INTS: [Elem; 4] = [Elem::I32, Elem::I8, Elem::I64, Elem::I16];
    pub const FLOATS: [Elem; 4] = [Elem::F32, Elem::F16, Elem::BF16, Elem::F64];

    pub fn name(self) -> &'static str {
        match self {
            Elem::I1 => "i1",
            Elem::I8 => "i8",
            Elem::I16 => "i16",
            Elem::I32 => "i32",
            Elem::I64 => "i64",
            Elem::BF16 => "bf16",
            Elem::F16 => "f16",
            Elem::F32 => "f32",
            Elem::F64 => "f64",
        }
    }

    pub fn bits(self) -> u64 {
        match self {
            Elem::I1 => 1,
            Elem::I8 => 8,
            Elem::I16 | Elem::BF16 | Elem::F16 => 16,
            Elem::I32 | Elem::F32 => 32,
            Elem::I64 | Elem::F64 => 64,
        }
    }

    pub fn float(self) -> bool {
        matches!(self, Elem::BF16 | Elem::F16 | Elem::F32 | Elem::F64)
    }

    pub fn int(self) -> bool {
        !self.float() && self != Elem::I1
    }

    /// The largest magnitude up to which a type of floating point holds every integer.
    pub fn exact(self) -> u64 {
        match self {
            Elem::BF16 => 1 << 8,
            Elem::F16 => 1 << 11,
            Elem::F32 => 1 << 24,
            Elem::F64 => 1 << 50,
            _ => u64::MAX,
        }
    }
}

/// A value: a number where the shape is empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Value {
    pub name: String,
    pub elem: Elem,
    pub shape: Vec<u64>,
    /// No element is larger in magnitude; kept for floating point and for what may become it.
    pub most: u64,
}

impl Value {
    pub fn ty(&self) -> String {
        ty(self.elem.name(), &self.shape)
    }

    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    pub fn alike(&self, other: &Value) -> bool {
        self.elem == other.elem && self.shape == other.shape
    }
}

/// The text of a type.
pub(super) fn ty(elem: &str, shape: &[u64]) -> String {
    match shape {
        [] => elem.to_owned(),
        shape => format!("tensor<{}{elem}>", shape.iter().map(|n| format!("{n}x")).collect::<String>()),
    }
}
