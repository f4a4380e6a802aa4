//! Storage-alias specs and their leaves: the typed API (A1 to A15).

mod leaf;
mod spec;

use hashbrown::{HashMap, HashSet};

pub use leaf::{Alloc, Leaf, Reuse};
pub use spec::{Counts, LeafId, SpecId, StorageAliasSpec};

use crate::error::{AliasError, AliasNote, Pos, Result};
use crate::group::ReuseGroup;
use crate::types::{Encoding, Storage};
use leaf::{NO_LEAF, check_shape};
use spec::NO_SPEC;

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
    notes: Vec<AliasNote>,
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

    /// Declares a spec in device memory, where buffers of a host program lie (A65).
    ///
    /// # Errors
    /// A7 for too many.
    pub fn global_spec(&mut self) -> Result<SpecId> {
        self.spec_in(Storage::Global, None)
    }

    fn spec_in(&mut self, storage: Storage, size_bytes: Option<i64>) -> Result<SpecId> {
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
            (Storage::Tmem, [.., m, n]) => Encoding::Tensor(crate::types::TensorEncoding::new(
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
    pub fn notes(&self) -> &[AliasNote] {
        &self.notes
    }
}

fn id_of(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| AliasError::new("A7", "a module has at most 2^32 specs and leaves"))
}
