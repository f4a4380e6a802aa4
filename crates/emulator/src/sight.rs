//! What was seen where somebody asked to look (E104).

use crate::place::{Extent, FindingPlace, SHOWN, Values};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why something was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SightKind {
    /// A warp came to a break; the instruction has not run.
    Break,
    /// Watched memory was read.
    Read,
    /// It was written.
    Write,
    /// An atomic or a strong access.
    Atomic,
    /// An error of this code was found.
    Finding(String),
}

/// One thing that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Sight {
    /// Why it is told.
    pub kind: SightKind,
    /// The CTA's position in the grid.
    pub cta: [u32; 3],
    /// Who, and where in the PTX and the source.
    pub place: FindingPlace,
    /// Warp instructions of the cluster before it.
    pub step: u64,
    /// Registers: those of the instruction, or all that were ever written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registers: Vec<Values>,
    /// The bytes that were accessed, and what they hold afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Extent>,
}

impl fmt::Display for Sight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match &self.kind {
            SightKind::Break => "break".to_owned(),
            SightKind::Read => "read".to_owned(),
            SightKind::Write => "write".to_owned(),
            SightKind::Atomic => "atomic".to_owned(),
            SightKind::Finding(code) => format!("state at {code}"),
        };
        let [x, y, z] = self.cta;
        let p = &self.place;
        write!(
            f,
            "{what}: line {} {} by {}, CTA ({x},{y},{z}), time {}",
            p.line, p.opcode, p.actor, p.visit
        )?;
        if let Some(source) = &p.source {
            write!(f, " ({source})")?;
        }
        write!(f, ", step {}", self.step)?;
        if let Some(e) = &self.memory {
            write!(f, "\n  {e}")?;
        }
        for group in self.registers.chunks(SHOWN) {
            let list: Vec<String> = group.iter().map(Values::to_string).collect();
            write!(f, "\n  {}", list.join("; "))?;
        }
        Ok(())
    }
}
