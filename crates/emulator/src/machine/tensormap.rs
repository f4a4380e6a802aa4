//! Tensor maps: 128 opaque bytes of our own (E34), and the host builder with the rules of T11.

use crate::error::EmulatorRefusal;
use crate::isa::op::MapField;
use serde::{Deserialize, Serialize};

/// Size of a tensor map in bytes.
pub const TENSOR_MAP_BYTES: usize = 128;
const MAGIC: u32 = 0x574c_544d;

/// Element types of a tensor map, with the codes of `tensormap.replace` (E34).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
#[non_exhaustive]
pub enum ElemType {
    /// 8 bits; also for 8-bit floats.
    U8 = 0,
    /// 16 bits.
    U16 = 1,
    /// 32 bits.
    U32 = 2,
    /// 32 bits, signed.
    S32 = 3,
    /// 64 bits.
    U64 = 4,
    /// 64 bits, signed.
    S64 = 5,
    /// IEEE half.
    F16 = 6,
    /// IEEE single.
    F32 = 7,
    /// IEEE single, subnormals flushed.
    F32Ftz = 8,
    /// IEEE double.
    F64 = 9,
    /// bfloat16.
    BF16 = 10,
    /// tf32 in 32 bits.
    TF32 = 11,
    /// tf32 in 32 bits, subnormals flushed.
    TF32Ftz = 12,
    /// 4 bits, sixteen in 8 bytes (`.b4x16`).
    B4 = 13,
    /// The same, with 8 bytes left free behind them in shared memory (`.b4x16_p64`).
    B4Padded = 14,
}

impl ElemType {
    const ALL: [ElemType; 15] = [
        ElemType::U8,
        ElemType::U16,
        ElemType::U32,
        ElemType::S32,
        ElemType::U64,
        ElemType::S64,
        ElemType::F16,
        ElemType::F32,
        ElemType::F32Ftz,
        ElemType::F64,
        ElemType::BF16,
        ElemType::TF32,
        ElemType::TF32Ftz,
        ElemType::B4,
        ElemType::B4Padded,
    ];

    /// The type with a code of `tensormap.replace`.
    pub fn from_code(code: u8) -> Option<ElemType> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Elements that are copied together: 16 of 4 bits, else one.
    pub fn together(self) -> u64 {
        if matches!(self, ElemType::B4 | ElemType::B4Padded) { 16 } else { 1 }
    }

    /// Bytes of those in global memory.
    pub fn bytes(self) -> u64 {
        match self {
            ElemType::U8 => 1,
            ElemType::U16 | ElemType::F16 | ElemType::BF16 => 2,
            ElemType::U64 | ElemType::S64 | ElemType::F64 | ElemType::B4 | ElemType::B4Padded => 8,
            _ => 4,
        }
    }

    /// Bytes of those in shared memory.
    pub fn bytes_shared(self) -> u64 {
        if self == ElemType::B4Padded { 16 } else { self.bytes() }
    }

    fn float(self) -> bool {
        !matches!(
            self,
            ElemType::U8
                | ElemType::U16
                | ElemType::U32
                | ElemType::S32
                | ElemType::U64
                | ElemType::S64
                | ElemType::B4
                | ElemType::B4Padded
        )
    }
}

/// What [`TensorMap::tiled`] needs; dimension 0 is the innermost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TiledMap {
    /// Element type.
    pub elem: ElemType,
    /// Global address of element 0, from [`crate::Device::alloc`].
    pub addr: u64,
    /// Extents in elements, innermost first; their number is the rank, 1 to 5.
    pub dims: Vec<u64>,
    /// Byte strides of dimensions 1.., one fewer than `dims`.
    pub strides: Vec<u64>,
    /// Box extents in elements, innermost first.
    pub box_dims: Vec<u32>,
    /// Step of each dimension in elements; empty means all ones.
    pub elem_strides: Vec<u32>,
    /// Swizzle width in bytes: 0, 32, 64 or 128.
    pub swizzle: u32,
    /// Whether loads outside the tensor give NaN instead of zero.
    pub nan_fill: bool,
}

/// A tensor map as it is passed to a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    bytes: [u8; TENSOR_MAP_BYTES],
}

fn refuse(message: String) -> EmulatorRefusal {
    EmulatorRefusal::one("L01", 0, message, "see T11 for what a tensor map may say")
}

impl TensorMap {
    /// Builds a tiled map.
    ///
    /// # Errors
    /// Every rule of T11, with the offending value.
    pub fn tiled(m: &TiledMap) -> Result<TensorMap, EmulatorRefusal> {
        let rank = m.dims.len();
        if !(1..=5).contains(&rank) || m.strides.len() + 1 != rank || m.box_dims.len() != rank {
            return Err(refuse(format!(
                "rank {rank} with {} strides and {} box extents",
                m.strides.len(),
                m.box_dims.len()
            )));
        }
        if !m.elem_strides.is_empty() && m.elem_strides.len() != rank {
            return Err(refuse(format!("{} element strides for rank {rank}", m.elem_strides.len())));
        }
        if !m.addr.is_multiple_of(16) {
            return Err(refuse(format!("address {:#x} is not a multiple of 16", m.addr)));
        }
        if let Some(d) = m.dims.iter().find(|d| **d == 0 || **d > 1 << 32) {
            return Err(refuse(format!("extent {d}: it must be 1 to 2^32")));
        }
        if let Some(s) = m.strides.iter().find(|s| **s % 16 != 0 || **s >= 1 << 40) {
            return Err(refuse(format!("stride {s}: it must be a multiple of 16 below 2^40")));
        }
        if let Some(b) = m.box_dims.iter().find(|b| !(1..=256).contains(*b)) {
            return Err(refuse(format!("box extent {b}: it must be 1 to 256")));
        }
        if let Some(s) = m.elem_strides.iter().find(|s| !(1..=8).contains(*s)) {
            return Err(refuse(format!("element stride {s}: it must be 1 to 8")));
        }
        let (innermost, together) = (u64::from(m.box_dims.first().copied().unwrap_or(0)), m.elem.together());
        let extent = m.dims.first().copied().unwrap_or(0);
        if !innermost.is_multiple_of(together) || !extent.is_multiple_of(together) {
            return Err(refuse(format!("box extent {innermost} of {extent}: multiples of {together}")));
        }
        let inner = innermost / together * m.elem.bytes_shared();
        if !inner.is_multiple_of(16) {
            return Err(refuse(format!("inner box of {inner} bytes: it must be a multiple of 16")));
        }
        let code = match m.swizzle {
            0 => 0,
            32 => 1,
            64 => 2,
            128 => 3,
            other => return Err(refuse(format!("swizzle {other}: it must be 0, 32, 64 or 128"))),
        };
        if m.swizzle != 0 && inner > u64::from(m.swizzle) {
            return Err(refuse(format!(
                "inner box of {inner} bytes is wider than the swizzle of {}",
                m.swizzle
            )));
        }
        if m.nan_fill && !m.elem.float() {
            return Err(refuse("NaN fill needs a floating-point element type".to_string()));
        }
        let mut map = TensorMap { bytes: [0; TENSOR_MAP_BYTES] };
        map.replace(MapField::Rank, rank as u64 - 1);
        map.replace(MapField::ElemType, m.elem as u64);
        map.replace(MapField::Swizzle, code);
        map.replace(MapField::Fill, u64::from(m.nan_fill));
        map.replace(MapField::GlobalAddress, m.addr);
        for i in 0..rank {
            let at = i as u8;
            map.replace(MapField::BoxDim(at), m.box_dims.get(i).map_or(1, |v| u64::from(*v)));
            map.replace(MapField::GlobalDim(at), m.dims.get(i).copied().unwrap_or(1));
            map.replace(MapField::ElementStride(at), m.elem_strides.get(i).map_or(1, |v| u64::from(*v)));
            if let Some(s) = m.strides.get(i) {
                map.replace(MapField::GlobalStride(at), *s);
            }
        }
        Ok(map)
    }

    /// The bytes that a kernel gets as its descriptor parameter.
    pub fn bytes(&self) -> &[u8; TENSOR_MAP_BYTES] {
        &self.bytes
    }

    fn replace(&mut self, field: MapField, value: u64) {
        replace(&mut self.bytes, field, value);
    }
}

/// Sets one field, as `tensormap.replace` does; the magic is set by the first one.
pub(crate) fn replace(bytes: &mut [u8; TENSOR_MAP_BYTES], field: MapField, value: u64) {
    let mut put = |at: usize, n: usize, v: u64| {
        for (d, s) in bytes.iter_mut().skip(at).zip(v.to_le_bytes().iter().take(n)) {
            *d = *s;
        }
    };
    put(0, 4, u64::from(MAGIC));
    match field {
        MapField::Rank => put(4, 1, value),
        MapField::ElemType => put(5, 1, value),
        MapField::Interleave => put(6, 1, value),
        MapField::Swizzle => put(7, 1, value),
        MapField::Atomicity => put(8, 1, value),
        MapField::Fill => put(9, 1, value),
        MapField::BoxDim(i) => put(12 + 2 * usize::from(i), 2, value),
        MapField::GlobalAddress => put(24, 8, value),
        MapField::GlobalDim(i) => put(32 + 8 * usize::from(i), 8, value),
        MapField::GlobalStride(i) if i < 4 => put(72 + 8 * usize::from(i), 8, value),
        MapField::GlobalStride(_) => {}
        MapField::ElementStride(i) => put(104 + usize::from(i), 1, value),
    }
}

/// A tensor map taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MapView {
    pub rank: usize,
    pub elem: ElemType,
    pub swizzle: u8,
    pub atomicity: u8,
    pub nan_fill: bool,
    pub addr: u64,
    /// In elements, the innermost in those that are copied [together](ElemType::together), as the box and coordinates.
    pub dims: [u64; 5],
    pub strides: [u64; 5],
    /// Box extents counted in elements that are copied: ceil(box / element stride) (E32).
    pub counts: [u64; 5],
    pub steps: [u64; 5],
}

impl MapView {
    /// Reads a map; says why it cannot be used.
    pub(crate) fn read(bytes: &[u8; TENSOR_MAP_BYTES]) -> Result<MapView, String> {
        let get = |at: usize, n: usize| {
            bytes.iter().skip(at).take(n).rev().fold(0_u64, |v, b| v << 8 | u64::from(*b))
        };
        if get(0, 4) != u64::from(MAGIC) {
            return Err("these 128 bytes are no tensor map".to_string());
        }
        let rank = get(4, 1) as usize + 1;
        let elem = ElemType::from_code(get(5, 1) as u8).ok_or("unknown element type")?;
        if rank > 5 {
            return Err(format!("rank {rank}"));
        }
        if get(6, 1) != 0 {
            return Err("interleaved layouts are not supported".to_string());
        }
        let mut v = MapView {
            rank,
            elem,
            swizzle: get(7, 1) as u8,
            atomicity: get(8, 1) as u8,
            nan_fill: get(9, 1) != 0,
            addr: get(24, 8),
            dims: [1; 5],
            strides: [0; 5],
            counts: [1; 5],
            steps: [1; 5],
        };
        if v.swizzle > 3 || v.atomicity > 1 {
            return Err(format!("swizzle {} with atomicity {}", v.swizzle, v.atomicity));
        }
        if !v.addr.is_multiple_of(16) {
            return Err(format!("global address {:#x} is not a multiple of 16", v.addr));
        }
        let mut box_bytes = elem.bytes_shared();
        for i in 0..rank {
            let box_dim = get(12 + 2 * i, 2);
            let step = get(104 + i, 1);
            let together = if i == 0 { elem.together() } else { 1 };
            let extent = get(32 + 8 * i, 8);
            if !box_dim.is_multiple_of(together)
                || !extent.is_multiple_of(together)
                || together > 1 && step != 1
            {
                return Err(format!(
                    "box extent {box_dim} of {extent}, step {step}: multiples of {together}"
                ));
            }
            if !(1..=256).contains(&box_dim) || !(1..=8).contains(&step) {
                return Err(format!("box extent {box_dim} with element stride {step} in dimension {i}"));
            }
            if let Some(c) = v.counts.get_mut(i) {
                *c = (box_dim / together).div_ceil(step);
                box_bytes *= *c;
            }
            if let Some(s) = v.steps.get_mut(i) {
                *s = step;
            }
            if let Some(d) = v.dims.get_mut(i) {
                *d = extent / together;
            }
            if i > 0 {
                let stride = get(72 + 8 * (i - 1), 8);
                if stride % 16 != 0 {
                    return Err(format!("stride {stride} of dimension {i} is not a multiple of 16"));
                }
                if let Some(s) = v.strides.get_mut(i) {
                    *s = stride;
                }
            }
        }
        if !v.inner_bytes().is_multiple_of(16) {
            return Err(format!("inner box of {} bytes is not a multiple of 16", v.inner_bytes()));
        }
        if v.swizzle > 0 && v.inner_bytes() > 16 << v.swizzle {
            return Err(format!("inner box of {} bytes is wider than the swizzle", v.inner_bytes()));
        }
        if box_bytes > 1 << 20 {
            return Err(format!("box of {box_bytes} bytes"));
        }
        Ok(v)
    }

    /// Bytes of the box along dimension 0.
    pub(crate) fn inner_bytes(&self) -> u64 {
        self.counts[0] * self.elem.bytes_shared()
    }

    /// Bytes of the whole box in shared memory, out-of-range elements included (E32).
    pub(crate) fn box_bytes(&self) -> u64 {
        self.counts.iter().take(self.rank).product::<u64>() * self.elem.bytes_shared()
    }

    /// The shared address of a linear byte offset of the box: the XOR of T9 on the absolute address.
    pub(crate) fn swizzled(&self, linear: u64) -> u64 {
        swizzle(linear, self.swizzle, self.atomicity)
    }
}

/// T9: `code` is 0 none, 1 32 B, 2 64 B, 3 128 B; `atomicity` 1 has 32-byte atoms.
pub(crate) fn swizzle(address: u64, code: u8, atomicity: u8) -> u64 {
    let mask = match code {
        0 => return address,
        1 => 1,
        2 => 3,
        _ if atomicity == 1 => return address ^ (((address >> 7) & 3) << 5),
        _ => 7,
    };
    address ^ (((address >> 7) & mask) << 4)
}
