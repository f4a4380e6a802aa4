//! A machine given as data, validated (B82). The built-in chips are such machines, too.

use crate::input::{Access, AccessRole, BlockSpec, MachineSpec, OwnName, Proxy, RoleSpec, Space, SpaceSpec};
use crate::output::AssignError;
use std::collections::{BTreeMap, BTreeSet};

/// Tensor-memory geometry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TmemLimits {
    pub lanes: u64,
    pub columns: u64,
    pub cell_bits: u64,
    pub min_alloc: u64,
}

/// Spaces without a base begin at multiples of this, so that alignments up to it hold.
const GRAIN: u64 = 1 << 16;
/// Bytes that a space may have, and where it may begin at most.
const MOST: u64 = 1 << 44;
/// Lanes, columns and bits of a cell that a space may have at most.
const MOST_CELLS: u64 = 1 << 16;

/// Spaces of a machine that runs no blocks.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub spaces: Vec<OwnSpace>,
}

#[derive(Clone, Debug)]
pub(crate) struct OwnSpace {
    pub name: OwnName,
    pub base: u64,
    pub bytes: u64,
    pub align: u64,
}

/// What a role does.
#[derive(Clone, Debug)]
pub(crate) struct Role {
    pub reads: bool,
    pub writes: bool,
    /// Indices of the spaces that it reaches, ascending.
    pub spaces: Vec<usize>,
    /// It is legal in shared memory and in tensor memory, whether or not the machine has that (B5).
    pub legal: (bool, bool),
    pub signals: bool,
    pub grouped: bool,
    pub counted: bool,
    pub accumulates: bool,
    pub descriptor: bool,
    pub proxy: Option<Proxy>,
    pub align: u64,
}

fn bad(field: String, why: impl std::fmt::Display) -> AssignError {
    AssignError::invalid(format!("target.{field}"), why)
}

/// The spaces of a description at their addresses; columns have none and are left out.
///
/// # Errors
/// The field that makes no sense.
pub(super) fn spaces(spec: &MachineSpec) -> Result<Vec<OwnSpace>, AssignError> {
    if spec.spaces.is_empty() {
        return Err(bad("spaces".into(), "a machine has at least one space"));
    }
    let mut spaces: Vec<OwnSpace> = Vec::new();
    for (k, s) in spec.spaces.iter().enumerate() {
        let field = |f: &str| format!("spaces[{k}].{f}");
        if spec.spaces[..k].iter().any(|o| o.name == s.name) {
            return Err(bad(field("name"), format!("two spaces are called {}", s.name)));
        }
        if s.bytes == 0 || s.bytes > MOST {
            return Err(bad(field("bytes"), format!("a space has from 1 to {MOST} bytes")));
        }
        if !s.align.is_power_of_two() || s.align > GRAIN {
            return Err(bad(field("align"), format!("an alignment is a power of two up to {GRAIN}")));
        }
        if s.columns.is_some() {
            continue;
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
    Ok(spaces)
}

/// The memory of columns, if there is one; it and what blocks have stand in a description together.
///
/// # Errors
/// The field that makes no sense.
pub(super) fn columns(spec: &MachineSpec) -> Result<Option<TmemLimits>, AssignError> {
    let mut found = None;
    for (k, s) in spec.spaces.iter().enumerate() {
        let field = |f: &str| format!("spaces[{k}].{f}");
        let name = if s.columns.is_some() { "tmem" } else { "smem" };
        match (&spec.block, s.columns) {
            (None, None) => continue,
            (None, Some(_)) => {
                return Err(bad(field("columns"), "only machines with a `block` have columns"));
            }
            _ if s.name.as_str() != name => {
                let why = "where there is a `block`, its memory is called smem, and columns are called tmem";
                return Err(bad(field("name"), why));
            }
            (Some(_), None) if s.base.is_some_and(|b| b != 0) => {
                return Err(bad(field("base"), "the memory of a block begins at 0"));
            }
            (Some(_), None) => {}
            (Some(_), Some(c)) => {
                let sane = |n: u64| (1..=MOST_CELLS).contains(&n);
                let whole = c.lanes % 2 == 0
                    && [c.cell_bits, c.columns, c.min_alloc].iter().all(|n| n.is_power_of_two());
                if ![c.lanes, c.columns, c.cell_bits, c.min_alloc].into_iter().all(sane) || !whole {
                    let why = format!("all are from 1 to {MOST_CELLS}, lanes even, the others powers of two");
                    return Err(bad(field("columns"), why));
                }
                if c.bytes() != Some(s.bytes) || s.align != 1 || s.base.is_some() {
                    let why = format!(
                        "all cells have {} bytes, and neither base nor align",
                        c.bytes().unwrap_or(0)
                    );
                    return Err(bad(field("bytes"), why));
                }
                let (lanes, columns, cell_bits, min_alloc) = (c.lanes, c.columns, c.cell_bits, c.min_alloc);
                found = Some(TmemLimits { lanes, columns, cell_bits, min_alloc });
            }
        }
    }
    if spec.block.is_some() && spec.spaces.iter().all(|s| s.columns.is_some()) {
        return Err(bad("spaces".into(), "a block has a memory called smem"));
    }
    Ok(found)
}

/// The roles of a description.
///
/// # Errors
/// The field that makes no sense.
pub(super) fn roles(spec: &MachineSpec) -> Result<BTreeMap<AccessRole, Role>, AssignError> {
    let mut roles = BTreeMap::new();
    for (k, r) in spec.roles.iter().enumerate() {
        let field = |f: &str| format!("roles[{k}].{f}");
        let role: AccessRole = r.role.as_str().parse().map_err(|e| bad(field("role"), e))?;
        let own = matches!(role, AccessRole::Own(_)) || spec.block.is_some() && role != AccessRole::Signal;
        if !own {
            let why = format!("{role} is a role of the built-in chips; take another name");
            return Err(bad(field("role"), why));
        }
        let in_block = r.grouped || r.counted || r.accumulates || r.descriptor || r.proxy.is_some();
        if in_block && spec.block.is_none() {
            let why = "grouped, counted, accumulates, descriptor and proxy speak of machines with a `block`";
            return Err(bad(field("role"), why));
        }
        let found = one(spec, r, &field)?;
        if roles.insert(role, found).is_some() {
            return Err(bad(field("role"), format!("two roles are called {role}")));
        }
    }
    Ok(roles)
}

fn one(spec: &MachineSpec, r: &RoleSpec, field: &dyn Fn(&str) -> String) -> Result<Role, AssignError> {
    let mut reached = BTreeSet::new();
    for s in &r.spaces {
        match spec.spaces.iter().position(|o| o.name == *s) {
            Some(at) => _ = reached.insert(at),
            None if spec.without.contains(s) => {}
            None => return Err(bad(field("spaces"), format!("the machine has no space {s}"))),
        }
    }
    if r.spaces.is_empty() != r.descriptor {
        return Err(bad(field("spaces"), "a role reaches at least one space, and that of a descriptor none"));
    }
    if !r.align.is_power_of_two() || r.align > GRAIN {
        return Err(bad(field("align"), format!("an alignment is a power of two up to {GRAIN}")));
    }
    if r.signals && spec.block.is_none() && spec.semaphores == 0 {
        return Err(bad(field("signals"), "no barrier can serve it: the machine has no semaphores"));
    }
    let names = |name: &str| r.spaces.iter().any(|s| s.as_str() == name);
    Ok(Role {
        reads: r.access != Access::Write,
        writes: r.access != Access::Read,
        spaces: reached.into_iter().collect(),
        legal: (names("smem"), names("tmem")),
        signals: r.signals,
        grouped: r.grouped,
        counted: r.counted,
        accumulates: r.accumulates,
        descriptor: r.descriptor,
        proxy: r.proxy,
        align: r.align,
    })
}

/// What a block has makes sense.
///
/// # Errors
/// The field that does not.
pub(super) fn block(spec: &MachineSpec, b: &BlockSpec) -> Result<(), AssignError> {
    let smem = spec.spaces.iter().find(|s: &&SpaceSpec| s.columns.is_none()).map_or(0, |s| s.bytes);
    let word = b.ring_barriers.bytes;
    let wrong = match () {
        () if spec.semaphores > 0 => {
            ("semaphores", "a block has named barriers and barriers in memory instead")
        }
        () if b.threads_per_warp == 0 || b.threads < b.threads_per_warp => {
            ("block.threads", "less than one warp")
        }
        () if b.shared_bytes < smem => ("block.shared_bytes", "less than the memory of one block"),
        () if b.shared_bytes > MOST || b.reserved_bytes > MOST => ("block.shared_bytes", "too many bytes"),
        () if b.barriers > 1 << 16 => ("block.barriers", "more than 65,536 barriers"),
        () if !word.is_power_of_two() || word > GRAIN => {
            ("block.ring_barriers.bytes", "no power of two up to 65,536")
        }
        () if b.descriptors.bytes > MOST || b.descriptors.align > GRAIN => {
            ("block.descriptors", "too many bytes")
        }
        () => return Ok(()),
    };
    Err(bad(wrong.0.into(), wrong.1))
}

impl Machine {
    /// Index of a space by its name.
    pub fn space(&self, space: Space) -> Option<usize> {
        self.spaces.iter().position(|s| Space::Own(s.name) == space)
    }
}
