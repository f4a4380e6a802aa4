//! The modifiers of an opcode, taken one by one.

use crate::error::RefusalReason;
use crate::isa::types::Ty;
use smallvec::SmallVec;

/// `mbarrier.try_wait.parity.shared::cta.b64` split into base and modifiers.
pub(crate) struct Mods<'a> {
    pub full: &'a str,
    pub base: &'a str,
    pub line: u32,
    rest: SmallVec<[&'a str; 12]>,
}

impl<'a> Mods<'a> {
    pub(crate) fn new(full: &'a str, line: u32) -> Self {
        let mut parts = full.split('.');
        let base = parts.next().unwrap_or("");
        Mods { full, base, line, rest: parts.collect() }
    }

    /// Takes a modifier if it is there.
    pub(crate) fn flag(&mut self, word: &str) -> bool {
        match self.rest.iter().position(|m| *m == word) {
            Some(i) => {
                self.rest.remove(i);
                true
            }
            None => false,
        }
    }

    /// Whether a modifier is there, without taking it.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.rest.contains(&word)
    }

    /// Takes the first modifier of a list that is there.
    pub(crate) fn one_of(&mut self, words: &[&'static str]) -> Option<&'static str> {
        words.iter().find(|w| self.flag(w)).copied()
    }

    /// Takes the first modifier, whatever it is.
    pub(crate) fn first(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() { None } else { Some(self.rest.remove(0)) }
    }

    /// Takes the first modifier that `read` understands.
    pub(crate) fn take<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (i, t) = self.rest.iter().enumerate().find_map(|(i, m)| read(m).map(|t| (i, t)))?;
        self.rest.remove(i);
        Some(t)
    }

    /// Takes the first type.
    pub(crate) fn ty(&mut self) -> Result<Ty, RefusalReason> {
        self.take(Ty::of).ok_or_else(|| self.unknown("it has no type"))
    }

    /// Drops modifiers that mean nothing to a machine without caches.
    pub(crate) fn ignore(&mut self, words: &[&str]) {
        self.rest.retain(|m| !words.contains(m));
    }

    /// Drops cache hints: eviction, prefetch sizes, policies. Returns whether a policy operand follows.
    pub(crate) fn cache_hints(&mut self) -> bool {
        let hint = self.flag("L2::cache_hint");
        self.rest.retain(|m| !(m.starts_with("L1::") || m.starts_with("L2::")));
        self.ignore(&["ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "evict_first", "evict_last"]);
        hint
    }

    /// The complaint that this form is not known.
    pub(crate) fn unknown(&self, why: &str) -> RefusalReason {
        RefusalReason::new("X01", self.line, format!("{}: {why}", self.full), near(self.base))
    }

    /// Fails on what nobody took.
    pub(crate) fn finish(&self) -> Result<(), RefusalReason> {
        match self.rest.first() {
            None => Ok(()),
            Some(m) => Err(self.unknown(&format!("modifier .{m} is not supported here"))),
        }
    }
}

/// What is known in the neighbourhood of an opcode (issue: name what is known nearby).
pub(crate) fn near(base: &str) -> String {
    const KNOWN: &[(&str, &str)] = &[
        (
            "wgmma",
            "wgmma.fence, commit_group, wait_group, mma_async m64nNk{8,16,32} f16 bf16 tf32 e4m3 e5m2 s8 u8",
        ),
        (
            "mma",
            "mma.sync m16n8 f16 bf16 tf32 e4m3 e5m2 e3m2 e2m3 e2m1 s8 u8 s4 u4 b1 f64, m8n8 s8 u8 s4 u4 b1 f64",
        ),
        (
            "tcgen05",
            "tcgen05 alloc, dealloc, relinquish_alloc_permit, mma f16 tf32 f8f6f4 i8, commit, ld, st, wait, fence",
        ),
        (
            "mbarrier",
            "mbarrier init, inval, arrive, arrive_drop, expect_tx, complete_tx, test_wait, try_wait, pending_count",
        ),
        (
            "cp",
            "cp.async, cp.async.bulk, cp.async.bulk.tensor tile mode, cp.reduce.async.bulk(.tensor), groups",
        ),
        ("fence", "fence.acq_rel, fence.sc, fence.proxy.async, fence.proxy.tensormap, fence.mbarrier_init"),
        (
            "bar",
            "bar.sync, bar.arrive, bar.red, barrier.sync, barrier.arrive, barrier.cluster, bar.warp.sync",
        ),
        ("ld", "ld and st .global .shared .local .param of b8 to b128, v2 v4 v8"),
        ("atom", "atom and red add min max and or xor inc dec exch cas"),
        ("cvt", "cvt between u8..s64, f16, bf16, tf32, f32, f64 and packed f16x2 bf16x2 e4m3x2 e5m2x2"),
        ("shfl", "shfl.sync, vote.sync, match.sync, redux.sync, elect.sync, activemask"),
        ("tex", "tex, tld4, txq of 1d 2d 3d a1d a2d cube acube, point and linear; suld.b, sust.b"),
        ("suld", "suld.b of 1d 2d 3d a1d a2d"),
        ("sust", "sust.b of 1d 2d 3d a1d a2d"),
        ("wmma", "wmma.load, store, mma of f16 bf16 tf32 f64 s8 u8 s4 u4 b1"),
        ("call", "functions of the module, vprintf, __assertfail, malloc, free"),
    ];
    KNOWN
        .iter()
        .find(|(k, _)| base.starts_with(k))
        .map_or_else(|| "see docs/emulator.md for the instruction set".to_string(), |(_, t)| (*t).to_string())
}
