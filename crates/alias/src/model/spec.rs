//! Specs: regions that several allocations reuse, by the author's word (A1, A4, A5, A41).

use serde::Serialize;

use crate::error::Pos;
use crate::types::Storage;

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
#[non_exhaustive]
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
    pub(super) storage: Storage,
    pub(super) size_bytes: Option<u64>,
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

    /// How unequal counts go together (A41).
    pub fn counts(&self) -> Counts {
        self.counts
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

pub(super) static NO_SPEC: StorageAliasSpec = StorageAliasSpec {
    storage: Storage::Smem,
    size_bytes: None,
    name: None,
    at: None,
    counts: Counts::Prefix,
    merge: false,
};
