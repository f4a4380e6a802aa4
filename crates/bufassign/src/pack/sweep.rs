//! A plan in linear-log time, for problems too large or too late for anything else (B85).
//!
//! One pass over the starts and ends in the order of time. What ends gives its bytes back, what starts takes
//! the lowest free range that holds it, or the tightest. The free ranges are kept by their sizes and by their
//! places, so that a million items take about a second. Lifetimes are taken from first to last moment,
//! segments of straight time one behind the other.

use super::prepare::align_up;
use super::{PackOptions, PackProblem, TimeSegment};
use std::collections::{BTreeMap, BTreeSet};

/// What one pass gives.
pub(super) struct Swept {
    /// Offset of every item.
    pub offsets: Vec<u64>,
    /// End of the highest byte in use.
    pub peak: u64,
    /// Bytes of the fullest moment; a bound, since lifetimes have no gaps here.
    pub load: u64,
    /// The items of the fullest moment.
    pub core: Vec<usize>,
}

/// Events after which the time is looked at.
const OFTEN: usize = 1024;
/// So many events take a moment: their first pass ends, whatever the time.
const FEW: usize = 1 << 18;

/// The best plan of a few passes, of the first where the time is up. `None` where the problem has more than lifetimes of
/// one span, sizes and alignments, or is so large that there was no time for one pass.
pub(super) fn sweep(p: &PackProblem, options: &PackOptions<'_>) -> Option<Swept> {
    let plain = p.reserved.is_empty()
        && p.separations.is_empty()
        && p.colocations.is_empty()
        && p.segments.iter().all(|s| *s == TimeSegment::Linear)
        && p.items.iter().all(|i| {
            let whole = |w: Option<(u64, u64)>| w.is_none_or(|w| w == (0, i.size));
            i.fixed.is_none() && i.live.len() <= 1 && i.live.iter().all(|s| whole(s.window))
        });
    if !plain {
        return None;
    }
    let events = events(p);
    if events.len() > FEW && options.is_late() {
        return None;
    }
    let (load, core) = fullest(p, &events);
    let mut best: Option<Swept> = None;
    for (backward, tight) in [(false, false), (false, true), (true, false), (true, true)] {
        let options = (best.is_some() || events.len() > FEW).then_some(options);
        let Some(offsets) = pass(p, &events, backward, tight, options) else { break };
        let peak = p.items.iter().zip(&offsets).map(|(i, o)| o + i.size).max().unwrap_or(0);
        if best.as_ref().is_none_or(|b| peak < b.peak) {
            best = Some(Swept { offsets, peak, load, core: core.clone() });
        }
        if peak == load {
            break;
        }
    }
    best
}

/// An end or a start: segment, moment, whether it is a start, the larger first, item.
type Event = (usize, i64, bool, std::cmp::Reverse<u64>, usize);

fn events(p: &PackProblem) -> Vec<Event> {
    let mut out = Vec::with_capacity(2 * p.items.len());
    for (k, item) in p.items.iter().enumerate().filter(|(_, i)| i.size > 0) {
        for s in &item.live {
            let size = std::cmp::Reverse(item.size);
            out.extend([(s.segment, s.start, true, size, k), (s.segment, s.start + s.len, false, size, k)]);
        }
    }
    out.sort_unstable();
    out
}

/// The bytes of the fullest moment, and what is live then.
fn fullest(p: &PackProblem, events: &[Event]) -> (u64, Vec<usize>) {
    let (mut live, mut most, mut at) = (0u64, 0u64, 0);
    for (n, &(_, _, starts, size, _)) in events.iter().enumerate() {
        if starts {
            live += size.0;
        } else {
            live -= size.0;
        }
        if live > most {
            (most, at) = (live, n);
        }
    }
    let Some(&(segment, moment, ..)) = events.get(at) else { return (0, Vec::new()) };
    let here = |k: &usize| {
        let item = &p.items[*k];
        item.size > 0
            && item.live.iter().any(|s| s.segment == segment && s.start <= moment && moment - s.start < s.len)
    };
    (most, (0..p.items.len()).filter(here).collect())
}

/// Free ranges by place and by size; all above the last is free, too.
#[derive(Default)]
struct Free {
    /// Start and end.
    by_place: BTreeMap<u64, u64>,
    /// Size and start.
    by_size: BTreeSet<(u64, u64)>,
    /// Everything from here on was never used.
    top: u64,
}

/// Free ranges looked at for one item, where the smallest that is large enough is badly aligned.
const LOOKS: usize = 16;

impl Free {
    fn give(&mut self, mut from: u64, mut to: u64) {
        if from == to {
            return;
        }
        if let Some((&low, &end)) = self.by_place.range(..from).next_back()
            && end == from
        {
            self.drop(low, end);
            from = low;
        }
        if let Some(&end) = self.by_place.get(&to) {
            self.drop(to, end);
            to = end;
        }
        self.by_place.insert(from, to);
        self.by_size.insert((to - from, from));
    }

    fn drop(&mut self, from: u64, to: u64) {
        self.by_place.remove(&from);
        self.by_size.remove(&(to - from, from));
    }

    /// Takes an aligned place, low (among those looked at) or tight.
    fn take(&mut self, size: u64, align: u64, tight: bool) -> u64 {
        let large = self.by_size.range((size, 0)..).take(LOOKS).map(|&(bytes, from)| (from, from + bytes));
        let mut holds = large.filter(|&(from, to)| align_up(from, align) + size <= to);
        let range = if tight { holds.next() } else { holds.min() };
        let Some((from, to)) = range else {
            // Above everything, and on the free range just below that.
            let low = self.by_place.last_key_value().filter(|r| *r.1 == self.top).map(|r| (*r.0, *r.1));
            let from = low.map_or(self.top, |r| r.0);
            if let Some((from, to)) = low {
                self.drop(from, to);
            }
            let at = align_up(from, align);
            self.top = at + size;
            self.give(from, at);
            return at;
        };
        self.drop(from, to);
        let at = align_up(from, align);
        self.give(from, at);
        self.give(at + size, to);
        at
    }
}

/// One pass, forward or backward in time.
fn pass(
    p: &PackProblem,
    events: &[Event],
    backward: bool,
    tight: bool,
    options: Option<&PackOptions<'_>>,
) -> Option<Vec<u64>> {
    let mut offsets = vec![0; p.items.len()];
    let mut free = Free::default();
    for n in 0..events.len() {
        if n.is_multiple_of(OFTEN) && options.is_some_and(PackOptions::is_late) {
            return None;
        }
        let (_, _, starts, size, k) = events[if backward { events.len() - 1 - n } else { n }];
        if starts != backward {
            offsets[k] = free.take(size.0, p.items[k].align, tight);
        } else {
            free.give(offsets[k], offsets[k] + size.0);
        }
    }
    Some(offsets)
}
