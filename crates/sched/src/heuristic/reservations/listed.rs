//! A row of long uses: what is held, in any order.

/// `len < II` cycles from residue `from` on, and `wraps` whole turns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    pub from: i64,
    pub len: i64,
    pub wraps: i64,
    pub node: u32,
}

/// How far a use of these cells of a single unit must move at least, towards earlier starts when `BACK`; `None` if it
/// fits.
pub(super) fn conflict_of_one<const BACK: bool>(held: &[Held], from: i64, len: i64, ii: i64) -> Option<i64> {
    let jumps = held.iter().filter(|h| h.len > 0).filter_map(|h| {
        let ahead = (h.from - from).rem_euclid(ii);
        let end = ahead + h.len;
        if ahead < len {
            Some(if BACK { len - ahead } else { end })
        } else {
            (end > ii).then_some(if BACK { len + ii - ahead } else { end - ii })
        }
    });
    jumps.max()
}

/// Those that hold one of these cells, or all.
pub(super) fn holders(held: &[Held], from: i64, len: i64, wraps: i64, ii: i64, found: &mut impl Extend<u32>) {
    let meets = |h: &&Held| {
        let ahead = (h.from - from).rem_euclid(ii);
        wraps > 0 || h.wraps > 0 || (h.len > 0 && (ahead < len || (len > 0 && ahead + h.len > ii)))
    };
    found.extend(held.iter().filter(meets).map(|h| h.node));
}

/// Offsets of the first and the last of `len` cells from `from` on that at least `free` units are held in.
pub(super) fn overload(held: &[Held], from: i64, len: i64, free: i64, ii: i64) -> Option<(i64, i64)> {
    if free <= 0 {
        return Some((0, len - 1));
    }
    let mut events: Vec<(i64, i64)> = Vec::new();
    for h in held.iter().filter(|h| h.len > 0) {
        let ahead = (h.from - from).rem_euclid(ii);
        let end = ahead + h.len;
        if ahead < len {
            events.push((ahead, 1));
            events.push((end.min(len), -1));
        }
        if end > ii {
            events.push((0, 1));
            events.push(((end - ii).min(len), -1));
        }
    }
    events.sort_unstable();
    let (mut load, mut found) = (0, None);
    for (i, &(at, step)) in events.iter().enumerate() {
        load += step;
        let until = events.get(i + 1).map_or(len, |e| e.0);
        if load >= free && until > at {
            found = Some((found.map_or(at, |(first, _)| first), until - 1));
        }
    }
    found
}
