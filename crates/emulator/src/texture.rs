//! Textures and surfaces as the host describes them (E101).

use crate::error::EmulatorRefusal;
use serde::{Deserialize, Serialize};

/// Most texels along one extent.
const MAX_EXTENT: u32 = 1 << 28;

/// How the texels of a texture are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TextureKind {
    /// A line: `.1d`.
    Line,
    /// A rectangle: `.2d`.
    Plane,
    /// A box: `.3d`.
    Volume,
    /// Several lines: `.a1d`.
    Lines,
    /// Several rectangles: `.a2d`.
    Planes,
    /// Six square faces: `.cube`.
    Cube,
    /// Several cubes: `.acube`.
    Cubes,
}

impl TextureKind {
    /// The kind of a `.geom` modifier without its dot: `1d`, `2d`, `3d`, `a1d`, `a2d`, `cube`, `acube`.
    pub fn named(word: &str) -> Option<TextureKind> {
        Some(match word {
            "1d" => TextureKind::Line,
            "2d" => TextureKind::Plane,
            "3d" => TextureKind::Volume,
            "a1d" => TextureKind::Lines,
            "a2d" => TextureKind::Planes,
            "cube" => TextureKind::Cube,
            "acube" => TextureKind::Cubes,
            _ => return None,
        })
    }

    /// Whether the first coordinate picks a layer.
    pub(crate) fn layered(self) -> bool {
        matches!(self, TextureKind::Lines | TextureKind::Planes | TextureKind::Cubes)
    }

    /// Whether the coordinates are a direction.
    pub(crate) fn cubic(self) -> bool {
        matches!(self, TextureKind::Cube | TextureKind::Cubes)
    }

    /// Extents that its texels have within a layer or face.
    pub(crate) fn rank(self) -> usize {
        match self {
            TextureKind::Line | TextureKind::Lines => 1,
            TextureKind::Volume => 3,
            _ => 2,
        }
    }
}

/// Type of the channels of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Channel {
    /// 8 bits.
    U8,
    /// 8 bits, signed.
    S8,
    /// 16 bits.
    U16,
    /// 16 bits, signed.
    S16,
    /// 32 bits.
    U32,
    /// 32 bits, signed.
    S32,
    /// IEEE half.
    F16,
    /// IEEE single.
    F32,
}

impl Channel {
    /// Bytes of one channel.
    pub fn bytes(self) -> u64 {
        match self {
            Channel::U8 | Channel::S8 => 1,
            Channel::U16 | Channel::S16 | Channel::F16 => 2,
            Channel::U32 | Channel::S32 | Channel::F32 => 4,
        }
    }

    /// Whether it is a floating-point number.
    pub fn float(self) -> bool {
        matches!(self, Channel::F16 | Channel::F32)
    }

    /// Whether it is a signed integer.
    pub fn signed(self) -> bool {
        matches!(self, Channel::S8 | Channel::S16 | Channel::S32)
    }
}

/// What stands at coordinates outside of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Addressing {
    /// The nearest texel.
    Clamp,
    /// Zero.
    Border,
    /// The texture again; as `Clamp` where coordinates are not normalised.
    Wrap,
    /// The texture mirrored; as `Clamp` where coordinates are not normalised.
    Mirror,
}

/// Which texels a fetch reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Filter {
    /// The one at the coordinates.
    Point,
    /// The nearest two along each axis, weighted with eight bits of fraction.
    Linear,
}

/// A texture object: texels in a buffer, and how they are sampled. Instructions on surfaces take the same objects and
/// look at the texels alone. Texels lie tightly packed: levels, in each of them layers or cubes, faces, slices, rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Texture {
    /// How the texels are arranged.
    pub kind: TextureKind,
    /// Global address of the first texel, from [`crate::Device::alloc`].
    pub addr: u64,
    /// Type of the channels.
    pub channel: Channel,
    /// Channels of a texel: 1, 2 or 4.
    pub channels: u32,
    /// Width, height and depth in texels; 1 where the kind has none.
    pub extent: [u32; 3],
    /// Layers, or cubes; 1 where the kind has none.
    pub layers: u32,
    /// Levels; each has half the extents of the one before, rounded down, and at least 1.
    pub levels: u32,
    /// Bytes from row to row, for textures of one level; 0 where rows are packed.
    pub pitch: u64,
    /// What is outside, along each axis.
    pub addressing: [Addressing; 3],
    /// How a level is sampled.
    pub filter: Filter,
    /// How levels are chosen: the nearest, or the two around the level of detail.
    pub mip_filter: Filter,
    /// Coordinates go from 0 to 1 instead of to the extent.
    pub normalized: bool,
    /// Integers of 8 and 16 bits are read as fractions: 0 to 1, signed ones -1 to 1.
    pub fractions: bool,
}

impl Texture {
    /// A texture of one layer and one level, sampled at points with coordinates in texels, clamped.
    pub fn of(kind: TextureKind, addr: u64, channel: Channel, channels: u32, extent: [u32; 3]) -> Texture {
        Texture {
            kind,
            addr,
            channel,
            channels,
            extent,
            layers: 1,
            levels: 1,
            pitch: 0,
            addressing: [Addressing::Clamp; 3],
            filter: Filter::Point,
            mip_filter: Filter::Point,
            normalized: kind.cubic(),
            fractions: false,
        }
    }

    /// Bytes of a texel.
    pub fn texel(&self) -> u64 {
        self.channel.bytes() * u64::from(self.channels)
    }

    /// Width, height and depth of a level.
    pub(crate) fn level_extent(&self, level: u32) -> [u32; 3] {
        self.extent.map(|e| e.checked_shr(level).unwrap_or(0).max(1))
    }

    /// Bytes of a row of a level.
    fn row(&self, level: u32) -> u64 {
        if self.pitch > 0 { self.pitch } else { u64::from(self.level_extent(level)[0]) * self.texel() }
    }

    /// Layers, faces and slices of a level together, without rows.
    fn slices(&self, level: u32) -> u64 {
        let faces = if self.kind.cubic() { 6 } else { 1 };
        u64::from(self.layers) * faces * u64::from(self.level_extent(level)[2])
    }

    fn level_bytes(&self, level: u32) -> u64 {
        (self.row(level) * u64::from(self.level_extent(level)[1])).saturating_mul(self.slices(level))
    }

    /// Bytes of all texels.
    pub fn bytes(&self) -> u64 {
        (0..self.levels).fold(0, |sum: u64, l| sum.saturating_add(self.level_bytes(l)))
    }

    /// The address of a byte of a row: the slice is the number of the layer, face or slice.
    pub(crate) fn address(&self, level: u32, slice: u32, y: u32, x_bytes: u64) -> u64 {
        let before: u64 = (0..level).map(|l| self.level_bytes(l)).sum();
        let rows = u64::from(slice) * u64::from(self.level_extent(level)[1]) + u64::from(y);
        self.addr + before + rows * self.row(level) + x_bytes
    }

    /// Refuses what no texture object can be.
    pub(crate) fn check(&self) -> Result<(), EmulatorRefusal> {
        let rank = self.kind.rank();
        let [width, height, _] = self.extent;
        let flat = self.extent.iter().skip(rank).any(|e| *e != 1);
        let longest = self.extent.iter().copied().max().unwrap_or(0);
        let no = |why: &str| {
            let remedy = "see the CUDA runtime's cudaCreateTextureObject for what a texture may be";
            Err(EmulatorRefusal::one("L01", 0, format!("texture of {:?}: {why}", self.kind), remedy))
        };
        if !matches!(self.channels, 1 | 2 | 4) {
            return no("a texel has 1, 2 or 4 channels");
        }
        if self.extent.contains(&0) || longest > MAX_EXTENT || flat {
            return no("its extents are not those of its kind");
        }
        if self.layers == 0 || self.layers > 1 << 16 || self.layers > 1 && !self.kind.layered() {
            return no("its layers are not those of its kind");
        }
        if self.levels == 0 || self.levels > 1 + longest.ilog2() {
            return no("it has no or too many levels");
        }
        if self.pitch > 0 && (self.levels > 1 || self.pitch < u64::from(width) * self.texel()) {
            return no("the pitch is below a row, or there are several levels");
        }
        if self.kind.cubic() && (width != height || !self.normalized) {
            return no("faces of cubes are square, and their coordinates normalised");
        }
        if self.fractions && (self.channel.float() || self.channel.bytes() > 2) {
            return no("integers of 8 and 16 bits alone are read as fractions");
        }
        let whole = !self.channel.float() && !self.fractions;
        if whole && (self.filter == Filter::Linear || self.mip_filter == Filter::Linear) {
            return no("whole numbers are not filtered: read them as fractions, or at points");
        }
        Ok(())
    }
}
