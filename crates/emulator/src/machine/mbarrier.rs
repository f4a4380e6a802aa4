//! mbarrier objects (E25, E26).

use crate::race::clock::Clock;
use std::rc::Rc;

/// Highest count and transaction count (T8).
pub(crate) const MAX_COUNT: u32 = (1 << 20) - 1;

/// { expected, pending, tx, phase }, and what its waiters learn.
#[derive(Clone, Debug)]
pub(crate) struct Mbarrier {
    pub expected: u32,
    pub pending: u32,
    pub tx: i64,
    pub phase: u32,
    /// What happened before the last completed phase.
    pub done: Rc<Clock>,
    /// What the arrivals of the running phase carry.
    pub current: Clock,
    /// Line of the init.
    pub line: u32,
    /// Arrivals so far in this phase, for M04.
    pub arrived: u32,
    /// Asynchronous signals on the way.
    pub in_flight: u32,
    /// The last phase that some thread saw complete (M07).
    pub seen_phase: u32,
    /// For each warp, the phase that the last wait of each lane passed on (M08).
    pub passed: Vec<(u32, [u32; 32])>,
}

/// What went wrong with an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArriveFault {
    /// More arrivals than the phase expects (M04).
    TooMany,
    /// A count out of range (M05).
    Range,
}

impl Mbarrier {
    /// `empty` is a clock that knows nothing.
    pub(crate) fn new(count: u32, line: u32, empty: Clock) -> Self {
        Mbarrier {
            expected: count,
            pending: count,
            tx: 0,
            phase: 0,
            done: Rc::new(empty.clone()),
            current: empty,
            line,
            arrived: 0,
            in_flight: 0,
            seen_phase: 0,
            passed: Vec::new(),
        }
    }

    /// `wait.parity(p)` is true iff the last completed phase has parity p (E26).
    pub(crate) fn passed_parity(&self, parity: u32) -> bool {
        self.phase.wrapping_sub(1) & 1 == parity & 1
    }

    /// Arrivals lower the pending count.
    pub(crate) fn arrive(&mut self, count: u32, drop: bool) -> Result<(), ArriveFault> {
        if count > self.pending {
            return Err(ArriveFault::TooMany);
        }
        self.pending -= count;
        self.arrived += count;
        if drop {
            self.expected = self.expected.saturating_sub(count);
        }
        Ok(())
    }

    /// `expect_tx` adds, `complete_tx` subtracts; in between the count may be negative.
    pub(crate) fn transact(&mut self, bytes: i64) -> Result<(), ArriveFault> {
        self.tx += bytes;
        if self.tx.unsigned_abs() > u64::from(MAX_COUNT) { Err(ArriveFault::Range) } else { Ok(()) }
    }

    /// Notes that some lanes of a warp pass on the running phase; true if one of them did so before.
    pub(crate) fn pass(&mut self, warp: u32, lanes: u32) -> bool {
        let phase = self.phase;
        let i = self.passed.iter().position(|(w, _)| *w == warp).unwrap_or_else(|| {
            self.passed.push((warp, [u32::MAX; 32]));
            self.passed.len() - 1
        });
        let mut again = false;
        if let Some((_, last)) = self.passed.get_mut(i) {
            for (_, p) in last.iter_mut().enumerate().filter(|(l, _)| lanes >> l & 1 == 1) {
                again |= *p == phase;
                *p = phase;
            }
        }
        again
    }

    /// Completes the phase if nothing is missing.
    pub(crate) fn settle(&mut self) -> bool {
        if self.pending != 0 || self.tx != 0 {
            return false;
        }
        self.phase = self.phase.wrapping_add(1);
        self.pending = self.expected;
        self.arrived = 0;
        // Arrivals are read-modify-writes, so later phases carry earlier ones too.
        self.done = Rc::new(self.current.clone());
        true
    }

    /// The state that `arrive` returns: enough to know the phase.
    pub(crate) fn state(&self) -> u64 {
        u64::from(self.phase) << 32 | u64::from(self.pending)
    }
}
