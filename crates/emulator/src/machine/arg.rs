//! Arguments of a launch.

use super::tensormap::TensorMap;

/// A kernel argument; its size must be that of the parameter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Arg {
    /// An address from [`crate::Device::alloc`].
    Ptr(u64),
    /// 8 bits.
    U8(u8),
    /// 16 bits, also f16 and bf16 as bits.
    U16(u16),
    /// 32 bits, signed.
    I32(i32),
    /// 32 bits.
    U32(u32),
    /// 64 bits, signed.
    I64(i64),
    /// 64 bits.
    U64(u64),
    /// Single precision.
    F32(f32),
    /// Double precision.
    F64(f64),
    /// Bytes by value, such as a tensor map.
    Bytes(Vec<u8>),
}

impl From<&TensorMap> for Arg {
    fn from(m: &TensorMap) -> Arg {
        Arg::Bytes(m.bytes().to_vec())
    }
}

impl Arg {
    /// The value of a whole number, as reports show it; nothing for addresses and all else.
    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Arg::U8(v) => Some(i64::from(*v)),
            Arg::U16(v) => Some(i64::from(*v)),
            Arg::I32(v) => Some(i64::from(*v)),
            Arg::U32(v) => Some(i64::from(*v)),
            Arg::I64(v) => Some(*v),
            Arg::U64(v) => i64::try_from(*v).ok(),
            Arg::Bytes(v) => <[u8; 4]>::try_from(v.as_slice()).ok().map(|b| i64::from(i32::from_le_bytes(b))),
            Arg::Ptr(_) | Arg::F32(_) | Arg::F64(_) => None,
        }
    }

    /// The bytes of the parameter.
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Arg::Ptr(v) | Arg::U64(v) => v.to_le_bytes().to_vec(),
            Arg::U8(v) => vec![*v],
            Arg::U16(v) => v.to_le_bytes().to_vec(),
            Arg::I32(v) => v.to_le_bytes().to_vec(),
            Arg::U32(v) => v.to_le_bytes().to_vec(),
            Arg::I64(v) => v.to_le_bytes().to_vec(),
            Arg::F32(v) => v.to_le_bytes().to_vec(),
            Arg::F64(v) => v.to_le_bytes().to_vec(),
            Arg::Bytes(v) => v.clone(),
        }
    }
}
