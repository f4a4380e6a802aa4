//! Types of values: scalars, tiles, pointers and tensor descriptors (C4).

use std::fmt;

use smallvec::SmallVec;

/// Extents of a tile, outermost first, in elements.
pub type Shape = SmallVec<[u64; 4]>;

/// Floating-point formats, named as MLIR names them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FloatKind {
    /// 8 bits, 4 exponent and 3 mantissa bits, no infinities.
    F8E4M3FN,
    /// 8 bits, 5 exponent and 2 mantissa bits.
    F8E5M2,
    /// IEEE binary16.
    F16,
    /// bfloat16.
    BF16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl FloatKind {
    /// Every format, narrowest first.
    pub const ALL: [FloatKind; 6] = [
        FloatKind::F8E4M3FN,
        FloatKind::F8E5M2,
        FloatKind::F16,
        FloatKind::BF16,
        FloatKind::F32,
        FloatKind::F64,
    ];

    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            FloatKind::F8E4M3FN | FloatKind::F8E5M2 => 8,
            FloatKind::F16 | FloatKind::BF16 => 16,
            FloatKind::F32 => 32,
            FloatKind::F64 => 64,
        }
    }

    /// The name in MLIR text.
    pub fn name(self) -> &'static str {
        match self {
            FloatKind::F8E4M3FN => "f8E4M3FN",
            FloatKind::F8E5M2 => "f8E5M2",
            FloatKind::F16 => "f16",
            FloatKind::BF16 => "bf16",
            FloatKind::F32 => "f32",
            FloatKind::F64 => "f64",
        }
    }
}

/// Whether an integer type carries a sign of its own. Values of the subset are signless; descriptor
/// elements may be signed or unsigned (C4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Signedness {
    /// `i32`: the operation decides.
    Signless,
    /// `si32`.
    Signed,
    /// `ui32`.
    Unsigned,
}

/// The type of an SSA value or attribute.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Type {
    /// `i1`, `i32`, `ui8`, ..: width in bits and signedness.
    Int(u32, Signedness),
    /// `index`.
    Index,
    /// `f32`, ..
    Float(FloatKind),
    /// `!tt.ptr<T>` or `!tt.ptr<T, space>`; address space 1 is global memory and not printed.
    Ptr {
        /// Type of the element pointed to.
        pointee: Box<Type>,
        /// Address space (1 = global).
        space: u32,
    },
    /// `tensor<AxBxT>`, optionally with an encoding attribute kept as text.
    Tensor {
        /// Extents, outermost first.
        shape: Shape,
        /// Element type: scalar or pointer.
        elem: Box<Type>,
        /// The text after the comma, kept as it is.
        encoding: Option<String>,
    },
    /// `!tt.tensordesc<AxBxT>`: a descriptor of a tensor in global memory, by its block.
    TensorDesc {
        /// Extents of the block, outermost first.
        shape: Shape,
        /// Element type.
        elem: Box<Type>,
    },
    /// `(A, B) -> (C)`.
    Function {
        /// Argument types.
        inputs: Vec<Type>,
        /// Result types.
        results: Vec<Type>,
    },
    /// `none`.
    None,
    /// Any other type, kept as its text (`!ttg.memdesc<..>`, `memref<..>`, `vector<..>`).
    Opaque(String),
}

impl Type {
    /// The signless integer type of this width.
    pub const fn int(bits: u32) -> Type {
        Type::Int(bits, Signedness::Signless)
    }
    /// `i1`.
    pub const I1: Type = Type::int(1);
    /// `i32`.
    pub const I32: Type = Type::int(32);
    /// `i64`.
    pub const I64: Type = Type::int(64);
    /// `f32`.
    pub const F32: Type = Type::Float(FloatKind::F32);

    /// A tile of this shape and element type.
    pub fn tensor(shape: &[u64], elem: Type) -> Type {
        Type::Tensor { shape: Shape::from_slice(shape), elem: Box::new(elem), encoding: None }
    }

    /// A descriptor of blocks of this shape and element type.
    pub fn desc(shape: &[u64], elem: Type) -> Type {
        Type::TensorDesc { shape: Shape::from_slice(shape), elem: Box::new(elem) }
    }

    /// A pointer to global memory.
    pub fn ptr(pointee: Type) -> Type {
        Type::Ptr { pointee: Box::new(pointee), space: 1 }
    }

    /// Shape of a tile or of a descriptor's block; empty for scalars.
    pub fn shape(&self) -> &[u64] {
        match self {
            Type::Tensor { shape, .. } | Type::TensorDesc { shape, .. } => shape,
            _ => &[],
        }
    }

    /// Element type of a tile or descriptor; the type itself for everything else.
    pub fn elem(&self) -> &Type {
        match self {
            Type::Tensor { elem, .. } | Type::TensorDesc { elem, .. } => elem,
            other => other,
        }
    }

    /// The same shape with another element type: a tile stays a tile, a scalar a scalar.
    pub fn with_elem(&self, elem: Type) -> Type {
        match self {
            Type::Tensor { shape, encoding, .. } => {
                Type::Tensor { shape: shape.clone(), elem: Box::new(elem), encoding: encoding.clone() }
            }
            Type::TensorDesc { shape, .. } => Type::TensorDesc { shape: shape.clone(), elem: Box::new(elem) },
            _ => elem,
        }
    }

    /// Whether this is a tile.
    pub fn is_tensor(&self) -> bool {
        matches!(self, Type::Tensor { .. })
    }

    /// Whether this is a tensor descriptor.
    pub fn is_desc(&self) -> bool {
        matches!(self, Type::TensorDesc { .. })
    }

    /// Number of elements: the product of the shape, 1 for scalars, `None` on overflow.
    pub fn elements(&self) -> Option<u64> {
        self.shape().iter().try_fold(1u64, |n, &d| n.checked_mul(d))
    }

    /// Width of one element in bits; pointers have 64. `None` for types without a width.
    pub fn elem_bits(&self) -> Option<u32> {
        match self.elem() {
            Type::Int(bits, _) => Some(*bits),
            Type::Float(kind) => Some(kind.bits()),
            Type::Ptr { .. } | Type::Index => Some(64),
            _ => None,
        }
    }

    /// Bytes of one tile, sub-byte elements rounded up once for the whole tile (B6).
    pub fn bytes(&self) -> Option<u64> {
        let bits = self.elements()?.checked_mul(u64::from(self.elem_bits()?))?;
        Some(bits.div_ceil(8))
    }
}

fn dims(f: &mut fmt::Formatter<'_>, shape: &[u64]) -> fmt::Result {
    shape.iter().try_for_each(|d| write!(f, "{d}x"))
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Int(bits, Signedness::Signless) => write!(f, "i{bits}"),
            Type::Int(bits, Signedness::Signed) => write!(f, "si{bits}"),
            Type::Int(bits, Signedness::Unsigned) => write!(f, "ui{bits}"),
            Type::Index => f.write_str("index"),
            Type::Float(kind) => f.write_str(kind.name()),
            Type::Ptr { pointee, space: 1 } => write!(f, "!tt.ptr<{pointee}>"),
            Type::Ptr { pointee, space } => write!(f, "!tt.ptr<{pointee}, {space}>"),
            Type::Tensor { shape, elem, encoding } => {
                f.write_str("tensor<")?;
                dims(f, shape)?;
                write!(f, "{elem}")?;
                if let Some(encoding) = encoding {
                    write!(f, ", {encoding}")?;
                }
                f.write_str(">")
            }
            Type::TensorDesc { shape, elem } => {
                f.write_str("!tt.tensordesc<")?;
                dims(f, shape)?;
                write!(f, "{elem}>")
            }
            Type::Function { inputs, results } => {
                f.write_str("(")?;
                list(f, inputs)?;
                f.write_str(") -> ")?;
                match results.as_slice() {
                    [one] if !matches!(one, Type::Function { .. }) => write!(f, "{one}"),
                    _ => {
                        f.write_str("(")?;
                        list(f, results)?;
                        f.write_str(")")
                    }
                }
            }
            Type::None => f.write_str("none"),
            Type::Opaque(text) => f.write_str(text),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, types: &[Type]) -> fmt::Result {
    for (i, t) in types.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{t}")?;
    }
    Ok(())
}
