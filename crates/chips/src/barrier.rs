//! What named barriers and mbarriers take (T7, T8).

use serde::{Deserialize, Serialize};

use crate::Target;

/// One broken rule of T7 or T8.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BarrierViolation {
    /// No such named barrier.
    #[error("T7: named barrier {id}; a CTA has 0 to {last}")]
    Id {
        /// The id used.
        id: u32,
        /// The greatest there is.
        last: u32,
    },
    /// The named barrier belongs to somebody else.
    #[error("T7: named barrier {id} is reserved; 0 belongs to `bar.sync 0`")]
    Reserved {
        /// The id used.
        id: u32,
    },
    /// Thread count not a multiple of a warp, or 0.
    #[error("T7: named barrier for {threads} threads; multiples of {step} are legal")]
    ThreadStep {
        /// Threads that take part.
        threads: u32,
        /// What it must be a multiple of.
        step: u32,
    },
    /// More threads than the CTA has.
    #[error("T7: named barrier for {threads} threads in a CTA of {cta}")]
    ThreadCount {
        /// Threads that take part.
        threads: u32,
        /// Threads of the CTA.
        cta: u32,
    },
    /// mbarrier not aligned.
    #[error("T8: mbarrier at {address:#x}, which is not a multiple of {align}")]
    Alignment {
        /// Shared-memory address, bytes.
        address: u64,
        /// Alignment, bytes.
        align: u32,
    },
    /// Arrival count out of range.
    #[error("T8: mbarrier expecting {count} arrivals; 1 to {max} are legal")]
    Count {
        /// Arrivals expected.
        count: u64,
        /// The most there can be.
        max: u32,
    },
    /// Too many bytes awaited in one phase.
    #[error(
        "T8: mbarrier awaiting {bytes} bytes in one phase, at most {max} can be: use several barriers or smaller stages"
    )]
    TxBytes {
        /// Bytes awaited.
        bytes: u64,
        /// The most there can be; 0 where the chip has no transaction counts.
        max: u32,
    },
}

/// All rules that a named barrier breaks, `threads` of the CTA's `cta_threads` taking part.
pub fn check_named(target: &Target, id: u32, threads: u32, cta_threads: u32) -> Vec<BarrierViolation> {
    let rules = &target.barriers;
    let mut broken = Vec::new();
    if id >= rules.named {
        broken.push(BarrierViolation::Id { id, last: rules.named.saturating_sub(1) });
    } else if rules.reserved.contains(&id) {
        broken.push(BarrierViolation::Reserved { id });
    }
    if threads == 0 || !threads.is_multiple_of(rules.count_step) {
        broken.push(BarrierViolation::ThreadStep { threads, step: rules.count_step });
    }
    if threads > cta_threads {
        broken.push(BarrierViolation::ThreadCount { threads, cta: cta_threads });
    }
    broken
}

/// All rules that an mbarrier breaks: its address, expected arrivals and bytes awaited per phase.
pub fn check_mbarrier(target: &Target, address: u64, count: u64, tx_bytes: u64) -> Vec<BarrierViolation> {
    let rules = &target.barriers;
    let mut broken = Vec::new();
    if !address.is_multiple_of(rules.mbarrier_bytes.into()) {
        broken.push(BarrierViolation::Alignment { address, align: rules.mbarrier_bytes });
    }
    if !(1..=u64::from(rules.mbarrier_count)).contains(&count) {
        broken.push(BarrierViolation::Count { count, max: rules.mbarrier_count });
    }
    if tx_bytes > rules.mbarrier_tx_bytes.into() {
        broken.push(BarrierViolation::TxBytes { bytes: tx_bytes, max: rules.mbarrier_tx_bytes });
    }
    broken
}
