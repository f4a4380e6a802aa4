//! Choices a caller may make (B8). None of them touches soundness.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of [`assign`](crate::assign) (B8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AssignOptions {
    /// Which merges of buffers are tried (B53).
    pub sharing: Sharing,
    /// Lowers the chip's shared-memory capacity, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smem_limit: Option<u64>,
    /// A tile that may live in both spaces goes to TMEM above this many bytes (B35).
    pub tmem_threshold: u64,
    /// Least SMEM alignment in bytes, a power of two (B37).
    pub align_min: u64,
    /// Search for a colouring where first-fit runs out of named barriers (B32).
    pub recolour: bool,
    /// Values of different element type or size may share a class (B49).
    pub relax_footprint: bool,
    /// Nodes an exact search may visit; fewer for more than 32 classes, whose nodes cost more.
    pub node_budget: u64,
    /// Rings get spare slots where a late copy would make readers wait, while there is room (B81).
    pub fill: bool,
    /// A bundle of choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
}

impl Default for AssignOptions {
    fn default() -> Self {
        AssignOptions {
            sharing: Sharing::WhenNeeded,
            smem_limit: None,
            tmem_threshold: 16384,
            align_min: 16,
            recolour: true,
            relax_footprint: false,
            node_budget: 2_000_000,
            fill: false,
            preset: None,
        }
    }
}

impl AssignOptions {
    /// Sets which merges are tried.
    pub fn sharing(self, sharing: Sharing) -> Self {
        AssignOptions { sharing, ..self }
    }

    /// Lowers the chip's shared-memory capacity to so many bytes; `None` takes the chip's.
    pub fn smem_limit(self, smem_limit: Option<u64>) -> Self {
        AssignOptions { smem_limit, ..self }
    }

    /// Sets the bytes above which a tile that may live in both spaces goes to TMEM.
    pub fn tmem_threshold(self, tmem_threshold: u64) -> Self {
        AssignOptions { tmem_threshold, ..self }
    }

    /// Sets the least SMEM alignment in bytes, a power of two.
    pub fn align_min(self, align_min: u64) -> Self {
        AssignOptions { align_min, ..self }
    }

    /// Allows the search for a colouring where first-fit runs out of named barriers, or forbids it.
    pub fn recolour(self, recolour: bool) -> Self {
        AssignOptions { recolour, ..self }
    }

    /// Allows values of different element type or size to share a class, or forbids it.
    pub fn relax_footprint(self, relax_footprint: bool) -> Self {
        AssignOptions { relax_footprint, ..self }
    }

    /// Sets the nodes an exact search may visit.
    pub fn node_budget(self, node_budget: u64) -> Self {
        AssignOptions { node_budget, ..self }
    }

    /// Gives rings spare slots where they help, or leaves every ring at its least depth.
    pub fn fill(self, fill: bool) -> Self {
        AssignOptions { fill, ..self }
    }

    /// Takes a bundle of choices.
    pub fn preset(self, preset: Option<Preset>) -> Self {
        AssignOptions { preset, ..self }
    }

    /// Sharing in force, the preset considered.
    pub(crate) fn effective_sharing(&self) -> Sharing {
        if self.is_tileiras() { Sharing::Always } else { self.sharing }
    }

    /// Whether the recolouring search of B32 may run.
    pub(crate) fn may_recolour(&self) -> bool {
        self.recolour && !self.is_tileiras()
    }

    /// Whether the choices of the published description are to be imitated (B8).
    pub(crate) fn is_tileiras(&self) -> bool {
        self.preset == Some(Preset::Tileiras)
    }
}

/// Which merges are tried (B53).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Sharing {
    /// None.
    Off,
    /// Those whose order is implied already.
    Implied,
    /// Implied ones, and inserted waits only if the plan does not fit without.
    #[default]
    WhenNeeded,
    /// Implied ones and those that need an inserted wait.
    Always,
}

/// A bundle of choices (B8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Preset {
    /// The published description taken literally: 32-slot pool, a barrier for every value, class
    /// by size alone, sharing always, no recolouring.
    Tileiras,
}
