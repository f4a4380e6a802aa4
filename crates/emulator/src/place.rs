//! Who, where and with what: the parts that findings and sights share (E69).

use serde::{Deserialize, Serialize};
use std::fmt;

/// One side of a finding: who, and where in the PTX.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FindingPlace {
    /// "warp 3 lanes 0-31" or "tensor copy #2 of warp 0".
    pub actor: String,
    /// PTX line, from 1.
    pub line: u32,
    /// The opcode with its modifiers.
    pub opcode: String,
    /// How often this warp had come to this instruction, from 1.
    pub visit: u32,
    /// `.loc` file, line and column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// The bytes, or TMEM cells, that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Extent {
    /// "shared", "global" or "tmem".
    pub space: String,
    /// First byte: offset in the CTA's shared memory, or in the named buffer; a column of TMEM.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// The buffer's name, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What they hold behind the access, as hexadecimal bytes in the order of memory, the first 16 at most; empty where
    /// that says nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub holds: String,
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}..{}", self.space, self.start, self.end)?;
        if let Some(name) = &self.name {
            write!(f, " ({name})")?;
        }
        if !self.holds.is_empty() {
            write!(f, ", now {}", self.holds)?;
        }
        Ok(())
    }
}

/// What a register holds in the lanes of a warp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Values {
    /// The register, as the PTX calls it.
    pub name: String,
    /// 1 for a predicate, else its width.
    pub bits: u8,
    /// By lane: `None` where the lane is not concerned, or the register was never written.
    pub lanes: Vec<Option<u64>>,
}

/// Lanes of [`Values`] that are written out when they have no rule.
pub(crate) const SHOWN: usize = 4;

impl fmt::Display for Values {
    /// `%r1 = 7`, `%r1 = 0, 1 .. 31`, `%r1 = 3, 1, 4, 1 ..`, `%r1 undefined`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<u64> = self.lanes.iter().flatten().copied().collect();
        let show = |v: u64| if v < 1 << 20 { v.to_string() } else { format!("{v:#x}") };
        let steps = |step: u64| known.windows(2).all(|w| matches!(*w, [a, b] if b.wrapping_sub(a) == step));
        match *known {
            [] => write!(f, "{} undefined", self.name),
            [first, ..] if steps(0) => write!(f, "{} = {}", self.name, show(first)),
            [first, second, .., last] if known.len() > SHOWN && steps(second.wrapping_sub(first)) => {
                write!(f, "{} = {}, {} .. {}", self.name, show(first), show(second), show(last))
            }
            _ => {
                let some: Vec<String> = known.iter().take(SHOWN).map(|v| show(*v)).collect();
                let more = if known.len() > SHOWN { " .." } else { "" };
                write!(f, "{} = {}{more}", self.name, some.join(", "))
            }
        }
    }
}
