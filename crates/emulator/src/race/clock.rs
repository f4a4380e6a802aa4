//! What an agent knows to have happened: a vector clock over threads, and for each channel of asynchronous
//! operations the numbers known to be complete (E60).

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

    fn join(&mut self, other: &Done) {
        self.upto = self.upto.max(other.upto);
        if !other.above.is_empty() || !self.above.is_empty() {
            self.above.extend(other.above.iter().copied());
            self.above.sort_unstable();
            self.merge();
        }
    }
}

/// Knowledge of threads and operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Know {
    /// For each thread of the cluster, the time up to which its accesses happened before.
    pub threads: Vec<u32>,
    /// For each channel, the operations known complete.
    pub done: Vec<Done>,
}

impl Know {
    fn new(threads: usize, channels: usize) -> Self {
        Know { threads: vec![0; threads], done: vec![Done::default(); channels] }
    }

    fn join(&mut self, other: &Know) {
        for (a, b) in self.threads.iter_mut().zip(&other.threads) {
            *a = (*a).max(*b);
        }
        for (a, b) in self.done.iter_mut().zip(&other.done) {
            if a != b {
                a.join(b);
            }
        }
    }

    pub(crate) fn knows(&self, channel: u32, n: u32) -> bool {
        self.done.get(channel as usize).is_some_and(|d| d.contains(n))
    }

    pub(crate) fn thread(&self, t: usize) -> u32 {
        self.threads.get(t).copied().unwrap_or(0)
    }

    /// Those of a warp's lanes whose accesses up to `time` are not all known.
    pub(crate) fn behind(&self, warp: u32, lanes: u32, time: u32) -> u32 {
        let first = warp as usize * 32;
        super::shadow::lanes(lanes)
            .filter(|&l| self.thread(first + l as usize) < time)
            .fold(0, |late, l| late | 1 << l)
    }
}

/// A clock: what happened before, and which part of it was followed by a proxy fence (R04).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    pub seen: Know,
    pub fenced: Know,
}

impl Clock {
    /// A clock that knows nothing; sized 0 when the analysis is off.
    pub(crate) fn new(threads: usize, channels: usize) -> Self {
        Clock { seen: Know::new(threads, channels), fenced: Know::new(threads, channels) }
    }

    pub(crate) fn join(&mut self, other: &Clock) {
        self.seen.join(&other.seen);
        self.fenced.join(&other.fenced);
    }

    /// An operation is known complete.
    pub(crate) fn complete(&mut self, channel: u32, n: u32) {
        if let Some(d) = self.seen.done.get_mut(channel as usize) {
            d.insert(n);
        }
    }

    /// All operations of a channel below `n` are known complete.
    pub(crate) fn complete_below(&mut self, channel: u32, n: u32) {
        if let Some(d) = self.seen.done.get_mut(channel as usize) {
            d.upto = d.upto.max(n);
            d.merge();
        }
    }

    /// Everything seen so far was followed by a proxy fence.
    pub(crate) fn fence(&mut self) {
        let Clock { seen, fenced } = self;
        fenced.join(seen);
    }

    /// Only the accesses of these lanes of a warp up to `time` were followed by a proxy fence (`--strict`).
    pub(crate) fn fence_own(&mut self, warp: u32, lanes: u32, time: u32) {
        for l in (0..32).filter(|l| lanes >> l & 1 == 1) {
            if let Some(t) = self.fenced.threads.get_mut((warp * 32 + l) as usize) {
                *t = (*t).max(time);
            }
        }
    }

    /// The lanes of a warp are known up to `time`.
    pub(crate) fn tick(&mut self, warp: u32, lanes: u32, time: u32) {
        for l in (0..32).filter(|l| lanes >> l & 1 == 1) {
            if let Some(t) = self.seen.threads.get_mut((warp * 32 + l) as usize) {
                *t = (*t).max(time);
            }
        }
    }
}
