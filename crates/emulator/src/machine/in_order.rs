//! What several host threads make in any order, taken in one order, by whichever of them finds the next one there (E5).

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// So many pieces, for each host thread, may wait to be taken.
const AHEAD: usize = 4;

/// Pieces by number, and who takes them.
pub(super) struct InOrder<P, T> {
    line: Mutex<Line<P>>,
    /// Only who is `busy` asks for it.
    taken: Mutex<T>,
    /// The line has moved on, or will not any more.
    moved: Condvar,
    ahead: usize,
}

struct Line<P> {
    early: BTreeMap<usize, P>,
    next: usize,
    busy: bool,
    broken: bool,
}

impl<P> Line<P> {
    fn next_piece(&mut self) -> Option<P> {
        self.early.remove(&self.next)
    }
}

impl<P, T> InOrder<P, T> {
    /// Nothing is taken yet; what takes is `into`.
    pub(super) fn new(into: T, threads: usize) -> Self {
        let line = Line { early: BTreeMap::new(), next: 0, busy: false, broken: false };
        InOrder {
            line: Mutex::new(line),
            taken: Mutex::new(into),
            moved: Condvar::new(),
            ahead: AHEAD * threads,
        }
    }

    /// A piece is there. It is taken now if it is the next, and so are those that waited for it; else whoever takes the
    /// one before it takes it as well. Who is far ahead waits.
    pub(super) fn put(&self, number: usize, piece: P, take: impl Fn(&mut T, P)) {
        let mut line = self.line();
        line.early.insert(number, piece);
        if !line.busy {
            line.busy = true;
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            while let Some(piece) = line.next_piece() {
                drop(line);
                take(&mut taken, piece);
                line = self.line();
                line.next += 1;
                self.moved.notify_all();
            }
            line.busy = false;
        }
        while number >= line.next + self.ahead && !line.broken {
            line = self.moved.wait(line).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// All that was taken.
    pub(super) fn end(self) -> T {
        self.taken.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self) -> MutexGuard<'_, Line<P>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rings when the thread that holds it panics: nobody waits for what will never come.
pub(super) struct Bell<'a, P, T>(pub &'a InOrder<P, T>);

impl<P, T> Drop for Bell<'_, P, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.line().broken = true;
            self.0.moved.notify_all();
        }
    }
}
