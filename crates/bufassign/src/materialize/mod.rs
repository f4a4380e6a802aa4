//! From buffers of a function to allocations at its head: the AddAlloc contract (B68..B72).
//!
//! ```
//! use warploom_bufassign::materialize::*;
//! let tile = |v: &str, buffer| MemUser { variable: v.into(), buffer, bytes: 16384 };
//! let refs = MemRefs {
//!     buffers: vec![MemBuffer { id: 0, space: "UB".into(), bytes: 16384, live: vec![] }],
//!     users: vec![tile("a", 0), tile("b", 0)],
//! };
//! let spaces = MemSpaces(vec![MemSpace::placed("UB", 524_288, 32)]);
//! let m = materialize(&refs, &spaces).unwrap();
//! assert_eq!(m.allocs.len(), 1);
//! assert_eq!(m.allocs[0].addr, Some(0));
//! ```

mod check;

pub use check::{MemViolation, check_allocs};

use serde::{Deserialize, Serialize};

/// The buffers of a function and who names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemRefs {
    /// Buffers; identity is the index, not the printed id.
    pub buffers: Vec<MemBuffer>,
    /// Variables, loop arguments, results and parameters, in program order.
    pub users: Vec<MemUser>,
}

/// One buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemBuffer {
    /// Printed id; two buffers may print alike.
    pub id: u64,
    /// Name of its space.
    pub space: String,
    /// Bytes.
    pub bytes: u64,
    /// Half-open lifetimes; empty is the whole function.
    #[serde(default)]
    pub live: Vec<(u64, u64)>,
}

/// A variable that names a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemUser {
    /// Name.
    pub variable: String,
    /// Index of the buffer.
    pub buffer: usize,
    /// Footprint of the variable in bytes.
    pub bytes: u64,
}

/// Memory spaces in the order of the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemSpaces(pub Vec<MemSpace>);

/// One memory space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemSpace {
    /// Name.
    pub name: String,
    /// Bytes; none for a space without addresses.
    pub limit: Option<u64>,
    /// Alignment of every start address, a power of two.
    pub align: u64,
    /// Ranges `(offset, bytes, name)` nobody may use; buffers start behind the last.
    #[serde(default)]
    pub reserved: Vec<(u64, u64, String)>,
}

impl MemSpace {
    /// A space with addresses.
    pub fn placed(name: &str, limit: u64, align: u64) -> MemSpace {
        MemSpace { name: name.into(), limit: Some(limit), align, reserved: Vec::new() }
    }

    /// A space whose buffers are declared but not placed, such as DDR.
    pub fn unplaced(name: &str) -> MemSpace {
        MemSpace { name: name.into(), limit: None, align: 1, reserved: Vec::new() }
    }
}

/// One allocation at the head of the function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemAlloc {
    /// Index of the buffer.
    pub buffer: usize,
    /// Its printed id.
    pub id: u64,
    /// Space.
    pub space: String,
    /// Bytes.
    pub bytes: u64,
    /// Start address; none in a space without addresses.
    pub addr: Option<u64>,
}

/// The allocations in the order they are prepended, the address of every user, and warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Materialized {
    /// Ordered by (space in target order, address, id).
    pub allocs: Vec<MemAlloc>,
    /// Address per user, in the order of the users.
    pub addresses: Vec<Option<u64>>,
    /// Two buffers that print alike, and the like.
    pub warnings: Vec<String>,
}

/// Why buffers cannot be materialised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum MemError {
    /// A user names no buffer, or a buffer no space (B68).
    Dangling(String),
    /// A user's footprint is larger than its buffer (B69).
    TooSmall {
        /// Index of the buffer.
        buffer: usize,
        /// Its bytes.
        bytes: u64,
        /// The user.
        variable: String,
        /// The user's bytes.
        needed: u64,
    },
    /// An alignment is no power of two, or reservations overlap or pass the limit (B69, B71).
    BadSpace(String),
    /// A space is too small (B71).
    Capacity {
        /// Space.
        space: String,
        /// End of the last buffer.
        used: u64,
        /// Bytes there are.
        limit: u64,
        /// Reservations of the space.
        reserved: Vec<(u64, u64, String)>,
    },
}

impl std::fmt::Display for MemError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MemError::Dangling(what) => write!(f, "{what} [B68]"),
            MemError::TooSmall { buffer, bytes, variable, needed } => {
                write!(f, "buffer {buffer} has {bytes} bytes, '{variable}' needs {needed} [B69]")
            }
            MemError::BadSpace(what) => write!(f, "{what} [B71]"),
            MemError::Capacity { space, used, limit, reserved } => {
                write!(f, "{space}: {used} bytes of {limit} are needed; reserved: {reserved:?} [B71]")
            }
        }
    }
}

impl std::error::Error for MemError {}

/// One allocation per unique buffer, addresses per space from its reserved end (B68..B71).
///
/// # Errors
/// See [`MemError`].
pub fn materialize(refs: &MemRefs, spaces: &MemSpaces) -> Result<Materialized, MemError> {
    let bases = spaces.0.iter().map(base).collect::<Result<Vec<u64>, MemError>>()?;
    for u in &refs.users {
        let Some(b) = refs.buffers.get(u.buffer) else {
            return Err(MemError::Dangling(format!("'{}' names no buffer", u.variable)));
        };
        if u.bytes > b.bytes {
            let (variable, needed) = (u.variable.clone(), u.bytes);
            return Err(MemError::TooSmall { buffer: u.buffer, bytes: b.bytes, variable, needed });
        }
    }
    let mut out = Materialized::default();
    let mut addr = vec![None; refs.buffers.len()];
    for b in &refs.buffers {
        if !spaces.0.iter().any(|s| s.name == b.space) {
            return Err(MemError::Dangling(format!("buffer {} is in '{}', no such space", b.id, b.space)));
        }
    }
    for (space, &base) in spaces.0.iter().zip(&bases) {
        let mut next = base;
        for (k, b) in refs.buffers.iter().enumerate().filter(|(_, b)| b.space == space.name) {
            if let Some(limit) = space.limit {
                let over = |used| MemError::Capacity {
                    space: space.name.clone(),
                    used,
                    limit,
                    reserved: space.reserved.clone(),
                };
                let at = next.checked_next_multiple_of(space.align).ok_or_else(|| over(u64::MAX))?;
                next = at.checked_add(b.bytes).ok_or_else(|| over(u64::MAX))?;
                addr[k] = Some(at);
            }
            if refs.buffers[..k].iter().any(|o| o.id == b.id && o.space == b.space) {
                out.warnings.push(format!("two buffers of {} print alike: id {}", b.space, b.id));
            }
            let alloc =
                MemAlloc { buffer: k, id: b.id, space: b.space.clone(), bytes: b.bytes, addr: addr[k] };
            out.allocs.push(alloc);
        }
        if let Some(limit) = space.limit.filter(|&l| next > l) {
            let (space, reserved) = (space.name.clone(), space.reserved.clone());
            return Err(MemError::Capacity { space, used: next, limit, reserved });
        }
    }
    let rank = |a: &MemAlloc| spaces.0.iter().position(|s| s.name == a.space);
    out.allocs.sort_by_key(|a| (rank(a), a.addr, a.id, a.buffer));
    out.addresses = refs.users.iter().map(|u| addr.get(u.buffer).copied().flatten()).collect();
    Ok(out)
}

/// Where buffers of a space begin: behind its reservations, which must make sense.
fn base(space: &MemSpace) -> Result<u64, MemError> {
    let refuse = |what: &str| Err(MemError::BadSpace(format!("{}: {what}", space.name)));
    if !space.align.is_power_of_two() {
        return refuse("an alignment is a power of two");
    }
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for (at, bytes, _) in &space.reserved {
        match at.checked_add(*bytes) {
            Some(end) => ranges.push((*at, end)),
            None => return refuse("a reservation overflows"),
        }
    }
    ranges.sort_unstable();
    if ranges.windows(2).any(|w| w[0].1 > w[1].0) {
        return refuse("reservations overlap");
    }
    Ok(ranges.last().map_or(0, |r| r.1))
}
