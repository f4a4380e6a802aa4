//! Attributes: constants attached to operations.

use crate::types::Type;

/// A constant attached to an operation.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Attr {
    /// `unit`: present without a value.
    Unit,
    /// `true`, `false`.
    Bool(bool),
    /// `64 : i32`.
    Int {
        /// The value, sign-extended.
        value: i128,
        /// Integer or index type.
        ty: Type,
    },
    /// `1.0 : f32`, as the bit pattern of its type (so that NaNs and -0.0 survive).
    Float {
        /// The bits, in the low end.
        bits: u64,
        /// Floating-point type.
        ty: Type,
    },
    /// `"text"`.
    String(String),
    /// `@name` or `@outer::@inner`, outermost first.
    Symbol(Vec<String>),
    /// A type.
    Type(Type),
    /// `[a, b]`.
    Array(Vec<Attr>),
    /// `{a = 1, b}`.
    Dict(AttrDict),
    /// `array<i32: 1, 0>`.
    DenseArray {
        /// Integer element type (`i1`, `i8`, .., `i64`).
        elem: Type,
        /// The values, sign-extended.
        values: Vec<i64>,
    },
    /// `dense<5> : tensor<4xi32>`: one value for every element.
    Splat {
        /// An `Int` or `Float` attribute of the element type.
        value: Box<Attr>,
        /// The tensor type.
        ty: Type,
    },
    /// `dense<[1, 2]> : tensor<2xi32>`: one value per element, row-major.
    Dense {
        /// `Int` or `Float` attributes of the element type, row-major.
        values: Vec<Attr>,
        /// The tensor type.
        ty: Type,
    },
    /// `#name`: a reference to an attribute alias of the module, kept by name.
    Alias(String),
    /// A dialect attribute kept as its text, with the leading `#` (`#tt.cache_policy<..>`), or a bare
    /// keyword of a custom assembly (`tf32`, `slt`).
    Opaque(String),
}

impl Attr {
    /// An `i32` constant.
    pub fn i32(value: i32) -> Attr {
        Attr::Int { value: i128::from(value), ty: Type::I32 }
    }

    /// An `i64` constant.
    pub fn i64(value: i64) -> Attr {
        Attr::Int { value: i128::from(value), ty: Type::I64 }
    }

    /// A string constant.
    pub fn string(text: impl Into<String>) -> Attr {
        Attr::String(text.into())
    }

    /// A symbol reference of one level.
    pub fn symbol(name: impl Into<String>) -> Attr {
        Attr::Symbol(vec![name.into()])
    }

    /// The integer, if this is one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Attr::Int { value, .. } => i64::try_from(*value).ok(),
            Attr::Bool(b) => Some(i64::from(*b)),
            _ => None,
        }
    }

    /// The text of a string or keyword attribute.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Attr::String(text) | Attr::Opaque(text) => Some(text),
            _ => None,
        }
    }

    /// The innermost name of a symbol reference.
    pub fn as_symbol(&self) -> Option<&str> {
        match self {
            Attr::Symbol(path) => path.last().map(String::as_str),
            _ => None,
        }
    }

    /// The elements of an array attribute.
    pub fn as_array(&self) -> Option<&[Attr]> {
        match self {
            Attr::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The type of an `Int`, `Float`, `Splat` or `Dense` constant.
    pub fn value_type(&self) -> Option<&Type> {
        match self {
            Attr::Int { ty, .. }
            | Attr::Float { ty, .. }
            | Attr::Splat { ty, .. }
            | Attr::Dense { ty, .. } => Some(ty),
            _ => None,
        }
    }
}

/// Named attributes in the order of the text. Names are unique.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AttrDict {
    entries: Vec<(String, Attr)>,
}

impl AttrDict {
    /// No attributes.
    pub fn new() -> AttrDict {
        AttrDict::default()
    }

    /// The attribute of this name.
    pub fn get(&self, name: &str) -> Option<&Attr> {
        self.entries.iter().find(|(n, _)| n == name).map(|(_, a)| a)
    }

    /// Whether an attribute of this name exists.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets an attribute and returns the one it replaces; a new name goes to the end.
    pub fn set(&mut self, name: impl Into<String>, attr: Attr) -> Option<Attr> {
        let name = name.into();
        match self.entries.iter_mut().find(|(n, _)| *n == name) {
            Some((_, old)) => Some(std::mem::replace(old, attr)),
            None => {
                self.entries.push((name, attr));
                None
            }
        }
    }

    /// Removes an attribute.
    pub fn remove(&mut self, name: &str) -> Option<Attr> {
        let at = self.entries.iter().position(|(n, _)| n == name)?;
        Some(self.entries.remove(at).1)
    }

    /// Name and attribute in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Attr)> {
        self.entries.iter().map(|(n, a)| (n.as_str(), a))
    }

    /// Name and attribute in order, by value.
    pub fn into_entries(self) -> impl Iterator<Item = (String, Attr)> {
        self.entries.into_iter()
    }

    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<N: Into<String>> FromIterator<(N, Attr)> for AttrDict {
    fn from_iter<I: IntoIterator<Item = (N, Attr)>>(iter: I) -> AttrDict {
        let mut dict = AttrDict::new();
        for (name, attr) in iter {
            dict.set(name, attr);
        }
        dict
    }
}
