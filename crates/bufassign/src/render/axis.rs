//! Names of what is drawn, and the axis of time.

use crate::Assignment;
use crate::output::{MapEntry, MapKind};

/// Cells of a time axis.
pub(super) const WIDTH: u64 = 48;

/// Letter of the n-th class.
pub(super) fn letter(n: usize) -> char {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    char::from(LETTERS.get(n % LETTERS.len()).copied().unwrap_or(b'?'))
}

/// What a map entry holds, in words: the names of a class's values, `mbarriers`, or a reservation.
pub(super) fn caption(a: &Assignment, e: &MapEntry) -> String {
    match (e.kind, e.class) {
        (Some(MapKind::Mbarrier), _) => format!("mbarriers of pipes {:?}", e.pipes),
        (Some(MapKind::Reserved), _) => format!("reserved {}", e.name.as_deref().unwrap_or("")),
        (None, Some(class)) => {
            let members = a.merge.iter().find(|m| m.class == class);
            let names: Vec<String> = members
                .into_iter()
                .flat_map(|m| &m.members)
                .filter_map(|v| a.record(*v))
                .map(|r| if r.name.is_empty() { format!("%{}", r.value) } else { r.name.clone() })
                .collect();
            let depth = members.map_or(1, |m| m.depth);
            if depth > 1 { format!("{} x{depth}", names.join(" | ")) } else { names.join(" | ") }
        }
        (None, None) => String::new(),
    }
}

/// Busy cells of a row of `cells` that stands for `[0, horizon)`: `[start, start + len)`, wrapped
/// around `period` where there is one.
pub(super) fn busy(cells: u64, horizon: u64, start: u64, len: u64, period: Option<u64>) -> Vec<bool> {
    let mut row = vec![false; usize::try_from(cells).unwrap_or(0)];
    let mut mark = |from: u64, to: u64| {
        let scale = |t: u64| u128::from(t) * u128::from(cells) / u128::from(horizon.max(1));
        let (a, b) = (scale(from), scale(to).max(scale(from) + 1));
        for (k, cell) in row.iter_mut().enumerate() {
            *cell |= (a..b).contains(&(k as u128));
        }
    };
    match period {
        Some(p) if len >= p => mark(0, p),
        Some(p) => {
            let a = start % p.max(1);
            if a + len <= p {
                mark(a, a + len);
            } else {
                mark(a, p);
                mark(0, a + len - p);
            }
        }
        None => mark(start, start.saturating_add(len)),
    }
    row
}

/// Start, length and period of a value on its region's axis: the II of a loop follows from any
/// record whose times it splits.
pub(super) fn axis(a: &Assignment, region: u64) -> (Option<u64>, u64) {
    let here = || a.records.iter().filter(move |r| r.region == region);
    // length = (end - start) = (stage difference) * II + (cycle difference).
    let ii = here().find_map(|r| {
        let stages = r.end[0].checked_sub(r.start[0]).filter(|&s| s > 0)?;
        (r.length + r.start[1]).checked_sub(r.end[1])?.checked_div(stages)
    });
    match ii {
        Some(ii) => (Some(ii), ii),
        None => (None, here().map(|r| r.end[1]).max().unwrap_or(1).max(1)),
    }
}
