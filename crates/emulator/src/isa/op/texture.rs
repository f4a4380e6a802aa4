//! Instructions on textures and surfaces.

use super::operand::{Pred, Reg, Src};
use crate::isa::types::Ty;
use crate::texture::TextureKind;
use smallvec::SmallVec;

/// Coordinates of a fetch.
pub(crate) type Coords = SmallVec<[Src; 4]>;

/// Which level of a texture is meant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lod {
    /// The first.
    Base,
    /// So many levels behind the first, an f32.
    Level(Src),
    /// That of these changes of the coordinates from pixel to pixel.
    Gradient(Coords, Coords),
}

/// `tex` and `tld4`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fetch {
    pub kind: TextureKind,
    pub handle: Src,
    pub coords: Coords,
    /// Coordinates are whole numbers.
    pub whole: bool,
    pub lod: Lod,
    /// `tld4`: this channel of the four texels that a linear filter reads.
    pub gather: Option<u8>,
    /// Texels that are added to the coordinates.
    pub offsets: Coords,
    pub ty: Ty,
    pub dsts: SmallVec<[Option<Reg>; 4]>,
    /// Set where the texels are in memory, as they always are here.
    pub resident: Option<Pred>,
}

/// What an access outside of a surface does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    Trap,
    /// Goes to the nearest place inside.
    Clamp,
    /// Reads zero and writes nothing.
    Zero,
}

/// `suld.b` and `sust.b`: the first coordinate counts bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SurfaceAccess {
    pub kind: TextureKind,
    pub handle: Src,
    pub coords: Coords,
    pub ty: Ty,
    pub outside: Outside,
    pub dsts: SmallVec<[Option<Reg>; 4]>,
    pub srcs: SmallVec<[Src; 4]>,
}

/// What `txq` and `suq` ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextureQuery {
    Extent(u8),
    Layers,
    Levels,
    Normalized,
}
