//! Storage-alias specs and their leaves: the typed API (A1 to A15).

use hashbrown::{HashMap, HashSet};
use serde::Serialize;

use crate::error::{AliasError, Note, Pos, Result};
use crate::group::ReuseGroup;
use crate::types::{Elem, Encoding, Storage};

/// A spec of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct SpecId(pub(crate) u32);

/// A leaf of a module: one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct LeafId(pub(crate) u32);

impl SpecId {
    /// Its number, in order of declaration.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LeafId {
    /// Its number, in order of declaration.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How leaves that need different numbers of groups go together (A41).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Counts {
    /// The shorter ones fill the first groups.
    #[default]
    Prefix,
    /// They must be equal.
    Equal,
    /// The greatest common divisor is the number of groups; implicit group sizes take the rest.
    Gcd,
}

impl Counts {
    /// The rule of this name.
    pub fn from_name(name: &str) -> Option<Counts> {
        match name {
            "prefix" => Some(Counts::Prefix),
            "equal" => Some(Counts::Equal),
            "gcd" => Some(Counts::Gcd),
            _ => None,
        }
    }
}

/// A region that several leaves share. It allocates nothing, is no buffer and cannot be indexed; nothing of
/// it changes after it was made (A1):
///
/// ```compile_fail
/// use warploom_alias::{AliasModule, Storage};
/// let mut m = AliasModule::new();
/// let spec = m.storage_alias_spec(Storage::Smem, None).unwrap();
/// m.spec(spec).storage = Storage::Tmem; // private field
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageAliasSpec {
    storage: Storage,
    size_bytes: Option<u64>,
    pub(crate) name: Option<String>,
    pub(crate) at: Option<Pos>,
    pub(crate) counts: Counts,
    pub(crate) merge: bool,
}

impl StorageAliasSpec {
    /// Where it lies.
    pub fn storage(&self) -> Storage {
        self.storage
    }

    /// The author's own size in bytes, if given.
    pub fn size_bytes(&self) -> Option<u64> {
        self.size_bytes
    }

    /// The name for messages and maps.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

/// What a leaf reuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    name: String,
    count: u64,
    tile: Vec<u64>,
    elem: Elem,
    storage: Option<Storage>,
    encoding: Option<Encoding>,
    reuse: Option<Reuse>,
    align: Option<u64>,
    offset: Option<u64>,
    pitch: Option<u64>,
    tma: Option<String>,
    at: Option<Pos>,
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
    alloc: Alloc,
    storage: Storage,
    encoding: Encoding,
    spec: Option<SpecId>,
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

/// A `set_buffer_overlap`: the tree of a spec, in one phase or for good.
#[derive(Clone, Debug)]
pub struct Overlap {
    /// The spec.
    pub spec: SpecId,
    /// The phase of a fused kernel (A40).
    pub phase: Option<String>,
    /// The tree.
    pub tree: ReuseGroup,
    /// Where it stands in the text.
    pub at: Option<Pos>,
}

/// The specs, leaves and trees of one kernel.
#[derive(Clone, Debug, Default)]
pub struct AliasModule {
    specs: Vec<StorageAliasSpec>,
    leaves: Vec<Leaf>,
    overlaps: Vec<Overlap>,
    /// Positions in `overlaps`, by spec.
    overlaps_by_spec: HashMap<SpecId, Vec<usize>>,
    /// Groups that no `set_buffer_overlap` names (A39).
    groups: Vec<ReuseGroup>,
    notes: Vec<Note>,
}

impl AliasModule {
    /// An empty module.
    pub fn new() -> AliasModule {
        AliasModule::default()
    }

    /// Declares a spec; `size_bytes` is its explicit size.
    ///
    /// # Errors
    /// A4 for other storage than SMEM and TMEM, A5 for a size that is not positive, A7 for too many.
    pub fn storage_alias_spec(&mut self, storage: Storage, size_bytes: Option<i64>) -> Result<SpecId> {
        self.spec_in(storage.for_spec()?, size_bytes)
    }

    pub(crate) fn spec_in(&mut self, storage: Storage, size_bytes: Option<i64>) -> Result<SpecId> {
        let size_bytes = match size_bytes {
            Some(n) => Some(u64::try_from(n).ok().filter(|n| *n > 0).ok_or_else(|| {
                AliasError::new("A5", format!("buffer_size_bytes must be positive, got {n}"))
                    .help("leave the size out to have it computed")
            })?),
            None => None,
        };
        let id = SpecId(id_of(self.specs.len())?);
        let spec = StorageAliasSpec {
            storage,
            size_bytes,
            name: None,
            at: None,
            counts: Counts::default(),
            merge: false,
        };
        self.specs.push(spec);
        Ok(id)
    }

    /// Gives a spec a name for messages and maps, and its place in the text.
    pub fn name_spec(&mut self, spec: SpecId, name: impl Into<String>, at: Option<Pos>) {
        if let Some(spec) = self.specs.get_mut(spec.index()) {
            spec.name = Some(name.into());
            spec.at = at;
        }
    }

    /// Says how unequal counts go together in a spec (A41).
    pub fn set_counts(&mut self, spec: SpecId, counts: Counts) {
        if let Some(spec) = self.specs.get_mut(spec.index()) {
            spec.counts = counts;
        }
    }

    /// Lets a spec be merged with another of disjoint lifetime that allows it too (A50).
    pub fn allow_merge(&mut self, spec: SpecId) {
        if let Some(spec) = self.specs.get_mut(spec.index()) {
            spec.merge = true;
        }
    }

    /// Declares an allocation.
    ///
    /// # Errors
    /// A6 and A15 when its storage is not that of what it reuses, A7 for its shape, A18 for a padded encoding
    /// in a spec.
    pub fn local_alloc(&mut self, alloc: Alloc) -> Result<LeafId> {
        let at = alloc.at;
        self.declare(alloc).map_err(|e| e.at(at))
    }

    fn declare(&mut self, alloc: Alloc) -> Result<LeafId> {
        let mut spec = None;
        let mut storage = alloc.storage;
        match alloc.reuse {
            Some(Reuse::Spec(id)) => {
                let own = self.spec(id).storage;
                let given = *storage.get_or_insert(own);
                if given != own {
                    let message = format!(
                        "storage_alias_spec storage ({}) doesn't match local_alloc storage ({})",
                        own.name(),
                        given.name()
                    );
                    return Err(AliasError::new("A6", message).help("declare both in one storage"));
                }
                spec = Some(id);
            }
            Some(Reuse::Buffer(owner)) => {
                let own = self.leaf(owner).storage;
                if *storage.get_or_insert(own) != own {
                    return Err(AliasError::new("A15", "reuse tensor has different storage")
                        .help("declare both in one storage"));
                }
                spec = Some(self.legacy_spec(owner, &alloc)?);
            }
            None => {}
        }
        let storage = storage.unwrap_or(Storage::Smem);
        if storage == Storage::SmemCluster {
            storage.for_spec()?;
        }
        check_shape(&alloc, storage)?;
        let encoding = alloc.encoding.clone().unwrap_or(match (storage, alloc.tile.as_slice()) {
            (Storage::Tmem, [.., m, n]) => Encoding::Tensor(crate::types::TensorMemory::new(
                if *m == 64 { 64 } else { 128 },
                (*n).min(512) as u32,
            )),
            _ => Encoding::Swizzled,
        });
        if encoding == Encoding::Padded && spec.is_some() {
            return Err(AliasError::new("A18", "padded encodings are not supported in a storage_alias_spec")
                .help("use a swizzled encoding, or a plain allocation"));
        }
        let id = LeafId(id_of(self.leaves.len())?);
        self.leaves.push(Leaf { alloc, storage, encoding, spec });
        Ok(id)
    }

    /// A15: the anonymous bare spec over the owner and all its aliases.
    fn legacy_spec(&mut self, owner: LeafId, alloc: &Alloc) -> Result<SpecId> {
        let leaf = self.leaf(owner);
        let (name, storage, known) = (leaf.name().to_owned(), leaf.storage, leaf.spec);
        let help = format!(
            "%s = tlx.storage_alias_spec storage = {0} : !tlx.storage_alias_spec<{0}>, and allocate %{name} and \
             %{1} with tlx.storage_alias_local_alloc %s",
            storage.name(),
            alloc.name
        );
        self.notes.push(
            AliasError::warning("A15", "reuse of a buffered tensor is deprecated; use a storage_alias_spec")
                .at(alloc.at)
                .help(help),
        );
        if let Some(spec) = known {
            return Ok(spec);
        }
        let spec = self.spec_in(storage, None)?;
        self.name_spec(spec, name, None);
        if let Some(leaf) = self.leaves.get_mut(owner.index()) {
            leaf.spec = Some(spec);
        }
        Ok(spec)
    }

    /// Links a spec to its tree (A10).
    ///
    /// # Errors
    /// A10 for a tree that is not of this spec's own leaves, each once; A12 for the second one.
    pub fn set_buffer_overlap(&mut self, spec: SpecId, tree: ReuseGroup) -> Result<()> {
        self.overlap(Overlap { spec, phase: None, tree, at: None })
    }

    /// The same for one phase of a fused kernel (A40).
    ///
    /// # Errors
    /// Those of [`AliasModule::set_buffer_overlap`], A12 for the second of one phase.
    pub fn set_buffer_overlap_in(&mut self, spec: SpecId, phase: &str, tree: ReuseGroup) -> Result<()> {
        self.overlap(Overlap { spec, phase: Some(phase.to_owned()), tree, at: None })
    }

    pub(crate) fn overlap(&mut self, overlap: Overlap) -> Result<()> {
        self.check_tree(&overlap).map_err(|e| e.at(overlap.at))?;
        let earlier = self
            .overlaps_of(overlap.spec)
            .find(|o| o.phase == overlap.phase || o.phase.is_none() || overlap.phase.is_none());
        if let Some(first) = earlier {
            let message = "storage_alias_spec already has a set_buffer_overlap defined; \
                           each spec can only have one overlap definition";
            return Err(AliasError::new("A12", message)
                .at(overlap.at)
                .related("the first is here", first.at)
                .help("keep one, or give each its own warploom.phase"));
        }
        self.overlaps_by_spec.entry(overlap.spec).or_default().push(self.overlaps.len());
        self.overlaps.push(overlap);
        Ok(())
    }

    fn check_tree(&self, overlap: &Overlap) -> Result<()> {
        let mut seen = HashSet::new();
        let leaves = overlap.tree.leaves();
        if leaves.is_empty() {
            return Err(AliasError::new("A10", "reuse_group tree must contain at least one allocation"));
        }
        for leaf in leaves {
            if !seen.insert(leaf) {
                let message = "reuse_group tree contains duplicate elements; \
                               each allocation can only appear once in the tree";
                return Err(AliasError::new("A10", message)
                    .related(format!("{} is there twice", self.leaf(leaf).shown()), self.leaf(leaf).at())
                    .help("name each allocation once"));
            }
            let Some(own) = self.leaf(leaf).spec else {
                let message = "all elements in the reuse_group tree must be allocated via \
                               tlx.storage_alias_local_alloc, but found an element that is not";
                return Err(AliasError::new("A10", message)
                    .related(
                        format!("{} is a plain allocation", self.leaf(leaf).shown()),
                        self.leaf(leaf).at(),
                    )
                    .help("allocate it with reuse of the spec"));
            };
            if own != overlap.spec {
                let message = "all allocations in the reuse_group must reference the same \
                               storage_alias_spec, but found an allocation that uses a different spec";
                return Err(AliasError::new("A10", message)
                    .related(format!("{} is of another spec", self.leaf(leaf).shown()), self.leaf(leaf).at())
                    .help("allocate all leaves of a tree from one spec"));
            }
        }
        Ok(())
    }

    /// Declares a group without naming it in a `set_buffer_overlap`: the overlap is inferred (A39).
    pub fn declare_group(&mut self, group: ReuseGroup) {
        self.groups.push(group);
    }

    /// A spec. Ids of another module give the first spec, or an SMEM spec without name.
    pub fn spec(&self, id: SpecId) -> &StorageAliasSpec {
        self.specs.get(id.index()).unwrap_or(&NO_SPEC)
    }

    /// A leaf. Ids of another module give a leaf without buffers.
    pub fn leaf(&self, id: LeafId) -> &Leaf {
        self.leaves.get(id.index()).unwrap_or(&NO_LEAF)
    }

    /// All specs, in order of declaration.
    pub fn specs(&self) -> impl Iterator<Item = (SpecId, &StorageAliasSpec)> {
        self.specs.iter().enumerate().map(|(n, s)| (SpecId(n as u32), s))
    }

    /// All leaves, in order of declaration.
    pub fn leaves(&self) -> impl Iterator<Item = (LeafId, &Leaf)> {
        self.leaves.iter().enumerate().map(|(n, l)| (LeafId(n as u32), l))
    }

    /// All overlap definitions, in order.
    pub fn overlaps(&self) -> &[Overlap] {
        &self.overlaps
    }

    /// The overlap definitions of one spec, in order.
    pub fn overlaps_of(&self, spec: SpecId) -> impl Iterator<Item = &Overlap> {
        let list = self.overlaps_by_spec.get(&spec).map_or(&[][..], Vec::as_slice);
        list.iter().filter_map(|n| self.overlaps.get(*n))
    }

    /// Groups declared without an overlap definition.
    pub fn groups(&self) -> &[ReuseGroup] {
        &self.groups
    }

    /// Warnings of the declarations (A15).
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}

static NO_SPEC: StorageAliasSpec = StorageAliasSpec {
    storage: Storage::Smem,
    size_bytes: None,
    name: None,
    at: None,
    counts: Counts::Prefix,
    merge: false,
};

static NO_LEAF: Leaf = Leaf {
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

fn id_of(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| AliasError::new("A7", "a module has at most 2^32 specs and leaves"))
}

/// A7.
fn check_shape(alloc: &Alloc, storage: Storage) -> Result<()> {
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
