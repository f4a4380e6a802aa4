//! Asynchronous operations by who issued them and of what kind, and which of them are over (E60).

use smallvec::SmallVec;

/// Kinds of asynchronous operations; a channel is a warp and a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    CpAsync,
    BulkLoad,
    BulkStore,
    Wgmma,
    TcgenMma,
    TcgenLd,
    TcgenSt,
    StAsync,
    /// The global writes of bulk stores; their reads are `BulkStore`, for `wait_group.read` ends with those.
    BulkWrite,
    /// Arrivals that wait for other operations.
    Signal,
}

impl Kind {
    /// What reports call an operation of this kind.
    pub(crate) fn name(self) -> &'static str {
        Self::name_of(self as u32)
    }

    /// The name of a kind by its number.
    pub(crate) fn name_of(kind: u32) -> &'static str {
        match kind {
            0 => "cp.async",
            1 => "bulk load",
            2 | 8 => "bulk store",
            3 => "wgmma",
            4 => "tcgen05 operation",
            5 => "tcgen05.ld",
            6 => "tcgen05.st",
            7 => "st.async",
            _ => "arrival",
        }
    }
}

/// Number of kinds.
pub(crate) const KINDS: u32 = 10;

/// The channel of a warp (numbered in its cluster) and a kind.
pub(crate) fn channel(warp: u32, kind: Kind) -> u32 {
    warp * KINDS + kind as u32
}

/// The number of channels of a cluster.
pub(crate) fn channels(warps: u32) -> usize {
    (warps * KINDS) as usize
}

/// A set of operation numbers: all below `upto`, and some ranges (half-open, sorted) above.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    upto: u32,
    above: SmallVec<[(u32, u32); 1]>,
}

impl Done {
    pub(crate) fn contains(&self, n: u32) -> bool {
        n < self.upto || self.above.iter().any(|&(a, b)| a <= n && n < b)
    }

    pub(crate) fn insert(&mut self, n: u32) {
        if self.contains(n) {
            return;
        }
        let at = self.above.iter().position(|&(a, _)| a > n).unwrap_or(self.above.len());
        self.above.insert(at, (n, n + 1));
        self.merge();
    }

    /// Joins neighbours and moves what touches `upto` below it.
    fn merge(&mut self) {
        let mut out: SmallVec<[(u32, u32); 1]> = SmallVec::new();
        for &(a, b) in &self.above {
            if a <= self.upto {
                self.upto = self.upto.max(b);
            } else if let Some(last) = out.last_mut().filter(|l| l.1 >= a) {
                last.1 = last.1.max(b);
            } else {
                out.push((a, b));
            }
        }
        self.above = out;
    }

    pub(super) fn join(&mut self, other: &Done) {
        self.upto = self.upto.max(other.upto);
        if !other.above.is_empty() || !self.above.is_empty() {
            self.above.extend(other.above.iter().copied());
            self.above.sort_unstable();
            self.merge();
        }
    }

    /// All below `n` are in it.
    pub(super) fn insert_below(&mut self, n: u32) {
        self.upto = self.upto.max(n);
        self.merge();
    }
}
