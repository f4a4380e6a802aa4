//! A chip as one plain value, and the nine that are built in.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::cost::{OpEntry, OpKind, Unit};
use crate::limits::{
    Barriers, Chip, Cluster, Descriptors, Grid, RegisterFile, SharedMemory, TensorMemory, Threads,
};
use crate::{Feature, TargetError, file};

/// What the compiler knows about a chip. Its fields are the tables of a data file, so a target can be
/// stored, changed and read back like any other data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Dotted keys of this file that nobody has verified yet ("U" in the specification).
    pub unverified: Vec<String>,
    /// What it can do; see [`Target::has`].
    pub features: BTreeSet<Feature>,
    /// Name, product, clock, PTX versions.
    pub chip: Chip,
    /// Shared memory.
    pub smem: SharedMemory,
    /// Registers.
    pub registers: RegisterFile,
    /// Threads, warps and CTAs.
    pub threads: Threads,
    /// Grid extents.
    pub grid: Grid,
    /// Clusters, where the chip has them.
    pub cluster: Option<Cluster>,
    /// Named barriers and mbarriers.
    pub barriers: Barriers,
    /// Tensor memory, where the chip has it.
    pub tmem: Option<TensorMemory>,
    /// Kernel parameters and TMA descriptors.
    pub descriptors: Descriptors,
    /// Functional units of an SM, by name (T30).
    pub unit: BTreeMap<String, Unit>,
    /// Costs, by kind of operation (T33); a kind that is absent is one the chip cannot do.
    pub op: BTreeMap<OpKind, OpEntry>,
}

/// The nine chips of T2 with their data files, oldest first.
const BUILT_IN: [(&str, &str); 9] = [
    ("sm_80", include_str!("../data/sm_80.toml")),
    ("sm_86", include_str!("../data/sm_86.toml")),
    ("sm_89", include_str!("../data/sm_89.toml")),
    ("sm_90a", include_str!("../data/sm_90a.toml")),
    ("sm_100a", include_str!("../data/sm_100a.toml")),
    ("sm_103a", include_str!("../data/sm_103a.toml")),
    ("sm_110a", include_str!("../data/sm_110a.toml")),
    ("sm_120a", include_str!("../data/sm_120a.toml")),
    ("sm_121a", include_str!("../data/sm_121a.toml")),
];

impl Target {
    /// The chip of this name, one of [`Target::names`].
    ///
    /// # Errors
    /// [`TargetError::PlainName`] for a name without its `a` (`sm_90`), [`TargetError::UnknownChip`] for
    /// any other (T1).
    ///
    /// ```
    /// use warploom_target::{Feature, Target};
    /// let hopper = Target::named("sm_90a").unwrap();
    /// assert!(hopper.has(Feature::Wgmma));
    /// assert_eq!(hopper.smem.per_cta, 232_448);
    /// assert!(Target::named("sm_90").is_err());
    /// ```
    pub fn named(name: &str) -> Result<Target, TargetError> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return file::read_target(text);
        }
        let with_suffix = BUILT_IN.iter().find(|(known, _)| known.strip_suffix('a') == Some(name));
        Err(match with_suffix {
            Some((instead, _)) => TargetError::PlainName { name: name.to_owned(), instead },
            None => TargetError::UnknownChip { name: name.to_owned(), known: Target::names().join(", ") },
        })
    }

    /// Names of all chips, oldest first.
    pub fn names() -> [&'static str; 9] {
        BUILT_IN.map(|(name, _)| name)
    }

    /// All chips, oldest first.
    ///
    /// # Errors
    /// None in practice: a test reads every built-in file.
    pub fn all() -> Result<Vec<Target>, TargetError> {
        Target::names().iter().map(|name| Target::named(name)).collect()
    }

    /// Whether the chip has this capability (T5).
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    /// Name of the chip, as in `.target`.
    pub fn name(&self) -> &str {
        &self.chip.name
    }

    /// This target with copies as fast as they are when every SM of the chip pulls at once, where that is
    /// known (T37).
    pub fn with_all_sms_pulling(mut self) -> Target {
        for unit in self.unit.values_mut() {
            if let Some(shared) = unit.chip_bytes_per_clk {
                unit.bytes_per_clk = Some(unit.bytes_per_clk.map_or(shared, |own| own.min(shared)));
            }
        }
        self
    }
}
