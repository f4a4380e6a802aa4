//! How long uses of some units take together, each with a time before which it cannot start and a time that must follow it.
//!
//! The schedule that always runs the use with the longest time to follow, and leaves it for a longer one, takes the least on
//! a single unit that may leave its work (Jackson 1955). Several units count as one that is as fast as all of them.

use std::collections::BinaryHeap;

/// Some units, and what runs on them.
#[derive(Default)]
pub(crate) struct Jackson {
    /// What follows each use that waits, and how long it still takes.
    queue: BinaryHeap<(i64, i64)>,
    now: i64,
    end: i64,
}

impl Jackson {
    /// The least time that uses take, given as their earliest start, what follows their end, and how long they take, by
    /// earliest start.
    pub fn least(&mut self, units: i64, uses: impl Iterator<Item = (i64, i64, i64)>) -> i64 {
        self.queue.clear();
        (self.now, self.end) = (0, 0);
        for (head, tail, held) in uses {
            self.run(head * units);
            self.queue.push((tail * units, held));
        }
        self.run(i64::MAX);
        (self.end + units - 1) / units.max(1)
    }

    fn run(&mut self, until: i64) {
        while let Some((tail, left)) = self.queue.pop() {
            if left > until - self.now {
                self.queue.push((tail, left - (until - self.now)));
                break;
            }
            self.now += left;
            self.end = self.end.max(self.now + tail);
        }
        self.now = until;
    }
}
