//! Allocations against the buffers they stand for, sharing no code with the producer (B68..B71).

use crate::failure::CheckFailure;

use super::{MemAlloc, MemRefs, MemSpaces};

/// What is wrong with a list of allocations.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemViolation {
    /// Rule.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for MemViolation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} [{}]", self.message, self.rule)
    }
}

/// Tests one allocation per buffer, order, alignment, capacity, reservations, and that buffers live
/// at one time share no byte.
///
/// # Errors
/// Every violation found.
pub fn check_allocs(
    refs: &MemRefs,
    spaces: &MemSpaces,
    allocs: &[MemAlloc],
) -> Result<(), CheckFailure<MemViolation>> {
    let mut bad = Vec::new();
    let mut report = |rule, message: String| bad.push(MemViolation { rule, message });
    for k in 0..refs.buffers.len() {
        let n = allocs.iter().filter(|a| a.buffer == k).count();
        if n != 1 {
            report("B68", format!("buffer {k} has {n} allocations"));
        }
    }
    let place = |a: &MemAlloc| spaces.0.iter().position(|s| s.name == a.space);
    if !allocs.windows(2).all(|w| (place(&w[0]), w[0].addr, w[0].id) <= (place(&w[1]), w[1].addr, w[1].id)) {
        report("B70", "allocations are ordered by space, address, id".into());
    }
    for a in allocs {
        let (Some(b), Some(s)) = (refs.buffers.get(a.buffer), place(a).map(|k| &spaces.0[k])) else {
            report("B68", format!("allocation {} stands for no buffer or is in no space", a.id));
            continue;
        };
        let needed = refs.users.iter().filter(|u| u.buffer == a.buffer).map(|u| u.bytes).max().unwrap_or(0);
        if (a.id, &a.space, a.bytes) != (b.id, &b.space, b.bytes) || needed > a.bytes {
            report("B69", format!("allocation {} is not its buffer", a.id));
        }
        match (s.limit, a.addr) {
            (None, None) => {}
            (Some(limit), Some(at)) => {
                let end = u128::from(at) + u128::from(a.bytes);
                if at % s.align.max(1) != 0 {
                    report("B69", format!("address {at} is not aligned to {}", s.align));
                }
                if end > u128::from(limit) {
                    report("B71", format!("allocation {} ends at {end} of {limit}", a.id));
                }
                let hits = |r: &(u64, u64, String)| u128::from(r.0) < end && at < r.0.saturating_add(r.1);
                if s.reserved.iter().any(hits) {
                    report("B71", format!("allocation {} lies in a reserved range", a.id));
                }
            }
            _ => report(
                "B70",
                format!("{} {} an address", s.name, if a.addr.is_some() { "has not" } else { "needs" }),
            ),
        }
    }
    for (n, x) in allocs.iter().enumerate() {
        for y in allocs[..n].iter().filter(|y| y.space == x.space) {
            let (Some(a), Some(b)) = (x.addr, y.addr) else { continue };
            let bytes = a < b.saturating_add(y.bytes) && b < a.saturating_add(x.bytes);
            let together = match (refs.buffers.get(x.buffer), refs.buffers.get(y.buffer)) {
                (Some(p), Some(q)) => {
                    p.live.is_empty()
                        || q.live.is_empty()
                        || p.live.iter().any(|s| q.live.iter().any(|t| s.0 < t.1 && t.0 < s.1))
                }
                _ => true,
            };
            if bytes && together && x.buffer != y.buffer {
                report("B71", format!("allocations {} and {} share bytes while both are live", y.id, x.id));
            }
        }
    }
    CheckFailure::unless_empty(bad)
}
