//! A machine given as data, validated (B82).

use crate::input::{Access, AccessRole, MachineSpec, OwnName, Space};
use crate::output::AssignError;
use std::collections::{BTreeMap, BTreeSet};

/// Spaces without a base begin at multiples of this, so that alignments up to it hold.
const GRAIN: u64 = 1 << 16;
/// Bytes that a space may have, and where it may begin at most.
const MOST: u64 = 1 << 44;

/// What the phases ask of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub spaces: Vec<OwnSpace>,
    pub roles: BTreeMap<AccessRole, OwnRole>,
    pub semaphores: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct OwnSpace {
    pub name: OwnName,
    pub base: u64,
    pub bytes: u64,
    pub align: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct OwnRole {
    pub reads: bool,
    pub writes: bool,
    /// Indices of the spaces that it reaches, ascending.
    pub spaces: Vec<usize>,
    pub signals: bool,
    pub align: u64,
}

fn bad(field: String, why: impl std::fmt::Display) -> AssignError {
    AssignError::invalid(format!("target.{field}"), why)
}

impl Machine {
    /// Reads a description.
    ///
    /// # Errors
    /// The field that makes no sense.
    pub fn new(spec: &MachineSpec) -> Result<Machine, AssignError> {
        if spec.spaces.is_empty() {
            return Err(bad("spaces".into(), "a machine has at least one space"));
        }
        let mut spaces: Vec<OwnSpace> = Vec::new();
        for (k, s) in spec.spaces.iter().enumerate() {
            let field = |f: &str| format!("spaces[{k}].{f}");
            if spaces.iter().any(|o| o.name == s.name) {
                return Err(bad(field("name"), format!("two spaces are called {}", s.name)));
            }
            if s.bytes == 0 || s.bytes > MOST {
                return Err(bad(field("bytes"), format!("a space has from 1 to {MOST} bytes")));
            }
            if !s.align.is_power_of_two() || s.align > GRAIN {
                return Err(bad(field("align"), format!("an alignment is a power of two up to {GRAIN}")));
            }
            let end = spaces.last().map_or(0, |o| o.base + o.bytes);
            let base = s.base.unwrap_or(end.next_multiple_of(GRAIN));
            if base < end || base > MOST || base % s.align != 0 {
                let why = format!(
                    "a multiple of its alignment from {end} on: spaces come in the order of their addresses"
                );
                return Err(bad(field("base"), why));
            }
            spaces.push(OwnSpace { name: s.name, base, bytes: s.bytes, align: s.align });
        }
        let mut roles = BTreeMap::new();
        for (k, r) in spec.roles.iter().enumerate() {
            let field = |f: &str| format!("roles[{k}].{f}");
            let role: AccessRole = r.role.to_string().parse().map_err(|e| bad(field("role"), e))?;
            let AccessRole::Own(_) = role else {
                return Err(bad(
                    field("role"),
                    format!("{role} is a role of the built-in chips; take another name"),
                ));
            };
            let mut reached = BTreeSet::new();
            for s in &r.spaces {
                let at = spaces.iter().position(|o| o.name == *s);
                reached
                    .insert(at.ok_or_else(|| bad(field("spaces"), format!("the machine has no space {s}")))?);
            }
            if reached.is_empty() {
                return Err(bad(field("spaces"), "a role reaches at least one space"));
            }
            if !r.align.is_power_of_two() || r.align > GRAIN {
                return Err(bad(field("align"), format!("an alignment is a power of two up to {GRAIN}")));
            }
            if r.signals && spec.semaphores == 0 {
                return Err(bad(field("signals"), "no barrier can serve it: the machine has no semaphores"));
            }
            let own = OwnRole {
                reads: r.access != Access::Write,
                writes: r.access != Access::Read,
                spaces: reached.into_iter().collect(),
                signals: r.signals,
                align: r.align,
            };
            if roles.insert(role, own).is_some() {
                return Err(bad(field("role"), format!("two roles are called {role}")));
            }
        }
        if spec.workers == 0 {
            return Err(bad("workers".into(), "a machine has at least one"));
        }
        Ok(Machine { spaces, roles, semaphores: spec.semaphores })
    }

    /// Index of a space by its name.
    pub fn space(&self, space: Space) -> Option<usize> {
        self.spaces.iter().position(|s| Space::Own(s.name) == space)
    }
}
