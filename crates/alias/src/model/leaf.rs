//! Leaves: allocations of equal buffers of one tile (A2, A6, A7).

use super::{LeafId, SpecId};
use crate::error::{AliasError, Pos, Result};
use crate::types::{Elem, Encoding, Storage};

/// What a leaf reuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reuse {
    /// A spec.
    Spec(SpecId),
    /// The memory of another buffer: the deprecated form (A15).
    Buffer(LeafId),
}

impl From<SpecId> for Reuse {
    fn from(spec: SpecId) -> Reuse {
        Reuse::Spec(spec)
    }
}

impl From<LeafId> for Reuse {
    fn from(leaf: LeafId) -> Reuse {
        Reuse::Buffer(leaf)
    }
}

/// An allocation before it is declared.
#[derive(Clone, Debug)]
pub struct Alloc {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) tile: Vec<u64>,
    pub(super) elem: Elem,
    pub(super) storage: Option<Storage>,
    pub(super) encoding: Option<Encoding>,
    pub(super) reuse: Option<Reuse>,
    pub(super) align: Option<u64>,
    pub(super) offset: Option<u64>,
    pub(super) pitch: Option<u64>,
    pub(super) tma: Option<String>,
    pub(super) at: Option<Pos>,
}

impl Alloc {
    /// `count` buffers of one tile.
    pub fn new(name: impl Into<String>, count: u64, tile: impl Into<Vec<u64>>, elem: Elem) -> Alloc {
        Alloc {
            name: name.into(),
            count,
            tile: tile.into(),
            elem,
            storage: None,
            encoding: None,
            reuse: None,
            align: None,
            offset: None,
            pitch: None,
            tma: None,
            at: None,
        }
    }

    /// In the region of a spec, or (deprecated) in that of another buffer.
    pub fn reuse(mut self, reuse: impl Into<Reuse>) -> Alloc {
        self.reuse = Some(reuse.into());
        self
    }

    /// In this storage; left out, that of what it reuses, else SMEM.
    pub fn storage(mut self, storage: Storage) -> Alloc {
        self.storage = Some(storage);
        self
    }

    /// With this encoding of its tile; left out, unswizzled SMEM or packed tensor memory.
    pub fn encoding(mut self, encoding: Encoding) -> Alloc {
        self.encoding = Some(encoding);
        self
    }

    /// With its own alignment in units (A24).
    pub fn align(mut self, align: u64) -> Alloc {
        self.align = Some(align);
        self
    }

    /// With its own base in units (`buffer_offset`, A30).
    pub fn buffer_offset(mut self, offset: u64) -> Alloc {
        self.offset = Some(offset);
        self
    }

    /// With its own stride in units (`bytes_between_buffers`, A30).
    pub fn bytes_between_buffers(mut self, pitch: u64) -> Alloc {
        self.pitch = Some(pitch);
        self
    }

    /// Named by this TMA operation, which needs 128 bytes of alignment.
    pub fn tma(mut self, op: impl Into<String>) -> Alloc {
        self.tma = Some(op.into());
        self
    }

    /// At this place of the text.
    pub fn at(mut self, at: Option<Pos>) -> Alloc {
        self.at = at;
        self
    }
}

/// One allocation: `count` equal buffers of one tile (A2, A7).
#[derive(Clone, Debug)]
pub struct Leaf {
    pub(super) alloc: Alloc,
    pub(super) storage: Storage,
    pub(super) encoding: Encoding,
    pub(super) spec: Option<SpecId>,
}

impl Leaf {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.alloc.name
    }

    /// Its name with `%`, for messages.
    pub fn shown(&self) -> String {
        format!("%{}", self.alloc.name)
    }

    /// Number of buffers.
    pub fn count(&self) -> u64 {
        self.alloc.count
    }

    /// Shape of one buffer.
    pub fn tile(&self) -> &[u64] {
        &self.alloc.tile
    }

    /// Element type.
    pub fn elem(&self) -> Elem {
        self.alloc.elem
    }

    /// Where it lies.
    pub fn storage(&self) -> Storage {
        self.storage
    }

    /// How its tile lies there.
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// The author's alignment in units.
    pub fn align(&self) -> Option<u64> {
        self.alloc.align
    }

    /// The author's base in units (A30).
    pub fn pinned_offset(&self) -> Option<u64> {
        self.alloc.offset
    }

    /// The author's stride in units (A30).
    pub fn pinned_stride(&self) -> Option<u64> {
        self.alloc.pitch
    }

    /// The TMA operation that names it.
    pub fn tma(&self) -> Option<&str> {
        self.alloc.tma.as_deref()
    }

    /// The spec it belongs to; `None` for a plain allocation.
    pub fn spec(&self) -> Option<SpecId> {
        self.spec
    }

    /// What it was declared to reuse.
    pub fn reuse(&self) -> Option<Reuse> {
        self.alloc.reuse
    }

    /// Where it stands in the text.
    pub fn at(&self) -> Option<Pos> {
        self.alloc.at
    }
}

pub(super) static NO_LEAF: Leaf = Leaf {
    alloc: Alloc {
        name: String::new(),
        count: 0,
        tile: Vec::new(),
        elem: Elem::F8,
        storage: None,
        encoding: None,
        reuse: None,
        align: None,
        offset: None,
        pitch: None,
        tma: None,
        at: None,
    },
    storage: Storage::Smem,
    encoding: Encoding::Swizzled,
    spec: None,
};

/// A7.
pub(super) fn check_shape(alloc: &Alloc, storage: Storage) -> Result<()> {
    let rank = alloc.tile.len() + 1;
    if storage == Storage::Tmem && alloc.tile.len() < 2 {
        return Err(AliasError::new("A7", format!("TMEM allocations must be at least 2D, got rank {rank}"))
            .help("give the tile its rows and columns"));
    }
    if alloc.count == 0 || alloc.tile.contains(&0) {
        return Err(AliasError::new("A7", format!("%{} has a dimension of size 0", alloc.name))
            .help("every dimension is at least 1"));
    }
    Ok(())
}
