//! Many loops on several threads, the answers in the order of the loops (S105).

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Works on all items, on so many threads, and gives each result to `take` as soon as those before it have been given. What
/// `work` makes of an item must depend on nothing else; then the results do not depend on the number of threads.
///
/// ```
/// use std::num::NonZeroUsize;
/// use warploom_sched::{LoopGraph, ScheduleOptions, in_order, schedule, validate};
///
/// let loops: Vec<LoopGraph> = (1..9)
///     .map(|held| {
///         let mut g = LoopGraph::new(format!("held {held}"));
///         g.add_resource("U", 1).add_node("x", 1, &[("U", 0, held)]);
///         g
///     })
///     .collect();
/// let mut found = Vec::new();
/// in_order(
///     &loops,
///     NonZeroUsize::MIN.saturating_add(1),
///     |g| validate(g).ok().and_then(|valid| schedule(&valid, &ScheduleOptions::default()).ok()),
///     |answer| found.extend(answer.map(|a| a.ii)),
/// );
/// assert_eq!(found, [1, 2, 3, 4, 5, 6, 7, 8]);
/// ```
pub fn in_order<T: Sync, R: Send>(
    items: &[T],
    threads: NonZeroUsize,
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(R),
) {
    if threads.get() == 1 || items.len() < 2 {
        return items.iter().for_each(|item| take(work(item)));
    }
    let (next, (sender, receiver)) = (AtomicUsize::new(0), mpsc::channel());
    std::thread::scope(|scope| {
        for _ in 0..threads.get().min(items.len()) {
            let (next, work, sender) = (&next, &work, sender.clone());
            scope.spawn(move || {
                while let Some((i, item)) = {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    items.get(i).map(|item| (i, item))
                } {
                    // Nobody listens any more: the other thread has come to grief.
                    if sender.send((i, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let (mut early, mut due) = (BTreeMap::new(), 0);
        for (i, result) in receiver {
            early.insert(i, result);
            while let Some(result) = early.remove(&due) {
                take(result);
                due += 1;
            }
        }
    });
}
