//! An O(n^2) test of a packing that shares no code with the packer (B64).

use crate::failure::CheckFailure;

use super::{LiveSpan, PackOutcome, PackProblem, TimeSegment};

/// What is wrong with a packing, with the rule that owns it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackViolation {
    /// Rule.
    pub rule: &'static str,
    /// Items concerned (indices).
    pub items: Vec<usize>,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for PackViolation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (items {:?}) [{}]", self.message, self.items, self.rule)
    }
}

/// Whether two spans share a moment, and so which windows must not meet.
fn meet(p: &PackProblem, a: &LiveSpan, b: &LiveSpan) -> bool {
    if a.segment != b.segment {
        return false;
    }
    match p.segments[a.segment] {
        TimeSegment::Linear => a.start < b.start + b.len && b.start < a.start + a.len,
        TimeSegment::Circular(period) => {
            (b.start - a.start).rem_euclid(period) < a.len || (a.start - b.start).rem_euclid(period) < b.len
        }
    }
}

/// Tests fixed offsets, alignment, bounds, reserved ranges, separations, colocations and overlap,
/// and that peak, bound and `optimal` do not contradict each other.
///
/// # Errors
/// Every violation found. Outcomes without a plan have nothing to check but their bound.
pub fn check_pack(p: &PackProblem, outcome: &PackOutcome) -> Result<(), CheckFailure<PackViolation>> {
    let mut bad = Vec::new();
    let mut report = |rule, items: &[usize], message: String| {
        bad.push(PackViolation { rule, items: items.to_vec(), message });
    };
    match outcome {
        PackOutcome::Fits { offsets, peak, lower_bound, optimal } => {
            plan(p, offsets, Some(*peak), &mut report);
            if offsets.len() == p.items.len() {
                let load = load(p);
                if *lower_bound > *peak || load > *peak {
                    report(
                        "B58",
                        &[],
                        format!("a peak of {peak} is below the load {load} or the bound {lower_bound}"),
                    );
                }
                if *optimal && p.items.len() <= 8 && simple(p) && can_beat(p, *peak) == Some(true) {
                    report("B58", &[], format!("called optimal at {peak}, but less is possible"));
                }
                if p.capacity.is_some_and(|c| *peak > c) {
                    report("B40", &[], format!("the peak {peak} is past the capacity"));
                }
            }
        }
        PackOutcome::GaveUp { best: Some((offsets, peak)), .. } => {
            // The best plan found is past the capacity, or it would have been the answer.
            let unbounded = PackProblem { capacity: None, ..p.clone() };
            plan(&unbounded, offsets, Some(*peak), &mut report);
        }
        PackOutcome::ProvedInfeasible { core, .. } => {
            if core.iter().any(|&i| i >= p.items.len()) {
                report("B58", core, "the core names no item".into());
            }
            if let Some(c) = p.capacity
                && p.items.len() <= 8
                && simple(p)
                && can_beat(p, c.saturating_add(1)) == Some(true)
            {
                report("B58", core, "called infeasible, but a plan exists".into());
            }
        }
        PackOutcome::GaveUp { best: None, .. } | PackOutcome::Invalid(_) => {}
    }
    CheckFailure::unless_empty(bad)
}

type Report<'a> = dyn FnMut(&'static str, &[usize], String) + 'a;

fn plan(p: &PackProblem, offsets: &[u64], peak: Option<u64>, report: &mut Report<'_>) {
    let n = p.items.len();
    if offsets.len() != n {
        report("B58", &[], format!("{} offsets for {n} items", offsets.len()));
        return;
    }
    let mut top = 0;
    for (i, item) in p.items.iter().enumerate() {
        let o = offsets[i];
        let Some(end) = o.checked_add(item.size) else {
            report("B40", &[i], "its end overflows".into());
            return;
        };
        if item.size == 0 {
            if o != 0 {
                report("B56", &[i], "an item of no bytes sits at 0".into());
            }
            continue;
        }
        top = top.max(end);
        if !o.is_multiple_of(item.align) {
            report("B37", &[i], format!("offset {o} is not a multiple of {}", item.align));
        }
        if item.fixed.is_some_and(|f| f != o) {
            report("B56", &[i], format!("offset {o} is not the fixed one"));
        }
        if p.capacity.is_some_and(|c| end > c) {
            report("B40", &[i], format!("it ends at {end}, past the capacity"));
        }
        for r in &p.reserved {
            if o < r.0 + r.1 && r.0 < end {
                report("B56", &[i], format!("it lies in the reserved range at {}", r.0));
            }
        }
    }
    if peak.is_some_and(|k| k != top) {
        report("B58", &[], format!("the peak is {top}"));
    }
    for group in &p.colocations {
        for w in group.windows(2) {
            let both = p.items[w[0]].size > 0 && p.items[w[1]].size > 0;
            if both && offsets[w[0]] != offsets[w[1]] {
                report("B56", w, "colocated items are apart".into());
            }
        }
    }
    let hit = |a: (u64, u64), b: (u64, u64)| a.0 < b.1 && b.0 < a.1;
    for &(i, j) in &p.separations {
        let whole = |i: usize| (offsets[i], offsets[i] + p.items[i].size);
        if hit(whole(i), whole(j)) {
            report("B57", &[i, j], "separated items share a byte".into());
        }
    }
    for i in 0..n {
        for j in 0..i {
            let colocated = p.colocations.iter().any(|g| g.contains(&i) && g.contains(&j));
            if colocated && !apart_in_time(p, i, j) {
                continue;
            }
            for a in &p.items[i].live {
                for b in &p.items[j].live {
                    let part = |i: usize, s: &LiveSpan| {
                        let (lo, hi) = s.window.unwrap_or((0, p.items[i].size));
                        (offsets[i] + lo, offsets[i] + hi)
                    };
                    let (x, y) = (part(i, a), part(j, b));
                    if x.0 < x.1 && y.0 < y.1 && hit(x, y) && meet(p, a, b) {
                        report("B57", &[j, i], "two items that are live together share a byte".into());
                    }
                }
            }
        }
    }
}

fn apart_in_time(p: &PackProblem, i: usize, j: usize) -> bool {
    p.items[i].live.iter().all(|a| p.items[j].live.iter().all(|b| !meet(p, a, b)))
}

/// Most bytes live at the start of any span, a bound on every peak.
fn load(p: &PackProblem) -> u64 {
    if !p.colocations.is_empty() || p.items.len() > 5000 {
        return 0;
    }
    let mut most = 0;
    for s in p.items.iter().flat_map(|i| &i.live) {
        let instant = LiveSpan { len: 1, window: None, ..*s };
        let sum = p.items.iter().map(|i| {
            let here = i.live.iter().filter(|t| meet(p, &instant, t));
            here.map(|t| t.window.map_or(i.size, |w| w.1 - w.0)).max().unwrap_or(0)
        });
        most = most.max(sum.sum());
    }
    most
}

/// Free of what the exhaustive search below does not model.
fn simple(p: &PackProblem) -> bool {
    p.colocations.is_empty() && p.items.iter().flat_map(|i| &i.live).all(|s| s.window.is_none())
}

/// Whether some plan has a peak below `peak`; `None` if the search grew too long.
///
/// Items are placed by ascending offset, each at its lowest free place at or above the last one:
/// any plan can be pushed down into such a one (B76c).
pub(crate) fn can_beat(p: &PackProblem, peak: u64) -> Option<bool> {
    // Nothing lies below 0, not even where there is nothing to place.
    if peak == 0 {
        return Some(false);
    }
    let n = p.items.len();
    let meet = |i: usize, j: usize| {
        let separated = p.separations.contains(&(i, j)) || p.separations.contains(&(j, i));
        i != j && (separated || !apart_in_time(p, i, j))
    };
    let meets: Vec<Vec<bool>> = (0..n).map(|i| (0..n).map(|j| meet(i, j)).collect()).collect();
    let mut at = vec![None; n];
    let mut fuel = 300_000u64;
    lower(p, &meets, peak, (0, 0), &mut at, &mut fuel)
}

/// The lowest free aligned place of an item at or above `floor`; a fixed one may have none.
fn lowest_place(p: &PackProblem, meets: &[bool], i: usize, floor: u64, at: &[Option<u64>]) -> Option<u64> {
    let item = &p.items[i];
    let mut o = item.fixed.unwrap_or(floor).div_ceil(item.align) * item.align;
    loop {
        let placed = (0..p.items.len()).filter(|&j| meets[j]);
        let held = placed.filter_map(|j| at[j].map(|x| (x, x + p.items[j].size)));
        let reserved = p.reserved.iter().map(|r| (r.0, r.0 + r.1));
        let hit = held.chain(reserved).filter(|r| o < r.1 && r.0 < o + item.size).map(|r| r.1).max();
        match hit {
            Some(end) if item.fixed.is_none() => o = end.div_ceil(item.align) * item.align,
            Some(_) => return None,
            None => return Some(o),
        }
    }
}

fn lower(
    p: &PackProblem,
    meets: &[Vec<bool>],
    peak: u64,
    from: (u64, usize),
    at: &mut Vec<Option<u64>>,
    fuel: &mut u64,
) -> Option<bool> {
    *fuel = fuel.checked_sub(1)?;
    let (floor, last) = from;
    let mut places = Vec::with_capacity(p.items.len());
    let mut least_end = u64::MAX;
    for (i, item) in p.items.iter().enumerate().filter(|(i, item)| at[*i].is_none() && item.size > 0) {
        // Places only rise from here on, so an item without one under the peak has none later.
        let Some(o) = lowest_place(p, &meets[i], i, floor, at) else { return Some(false) };
        let end = o.saturating_add(item.size);
        if end >= peak || (item.fixed.is_some() && o < floor) {
            return Some(false);
        }
        if item.fixed.is_none() {
            least_end = least_end.min(end);
        }
        places.push((i, o));
    }
    for &(i, o) in &places {
        // At one offset the lower index goes first; and what fits below this item goes first, since
        // above it it could be moved down there.
        if (o == floor && i < last) || o >= least_end {
            continue;
        }
        at[i] = Some(o);
        let found = lower(p, meets, peak, (o, i), at, fuel);
        at[i] = None;
        if found != Some(false) {
            return found;
        }
    }
    Some(places.is_empty())
}
