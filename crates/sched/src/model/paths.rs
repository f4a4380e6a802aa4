//! Longest paths at a given II (S19).

use crate::model::problem::Problem;

/// Earliest starts of all operations when none starts before 0: the longest path from a common source.
/// `None` when a recurrence is positive, so that no schedule exists at this II.
pub(crate) fn heads(problem: &Problem, ii: i64) -> Option<Vec<i64>> {
    let g = &problem.dependences;
    let mut head = vec![0i64; problem.n];
    for members in g.components_in_order() {
        if let [v] = *members {
            let v = v as usize;
            let h = head[v];
            for a in g.out(v) {
                let reach = h.saturating_add(a.weight(ii));
                let slot = &mut head[a.dst as usize];
                if reach > *slot {
                    if a.dst as usize == v {
                        return None;
                    }
                    *slot = reach;
                }
            }
            continue;
        }
        settle(members, |v| {
            let h = head[v];
            let mut moved = false;
            for a in g.out(v) {
                let reach = h.saturating_add(a.weight(ii));
                let slot = &mut head[a.dst as usize];
                if reach > *slot {
                    *slot = reach;
                    moved |= g.comp[a.dst as usize] == g.comp[v];
                }
            }
            moved
        })?;
    }
    Some(head)
}

/// Longest path from every operation's start to the end of the schedule, its own latency included.
/// `None` when a recurrence is positive.
pub(crate) fn tails(problem: &Problem, ii: i64) -> Option<Vec<i64>> {
    let g = &problem.dependences;
    let mut tail = problem.latency.clone();
    for members in g.components_in_order().rev() {
        if let [v] = *members {
            let v = v as usize;
            let longest = g.out(v).iter().filter(|a| a.dst as usize != v);
            let longest = longest.map(|a| tail[a.dst as usize].saturating_add(a.weight(ii))).max();
            tail[v] = tail[v].max(longest.unwrap_or(i64::MIN));
            continue;
        }
        let reversed: Vec<u32> = members.iter().rev().copied().collect();
        settle(&reversed, |v| {
            let longest = g.out(v).iter().map(|a| tail[a.dst as usize].saturating_add(a.weight(ii))).max();
            let longest = longest.unwrap_or(i64::MIN);
            let moved = longest > tail[v];
            if moved {
                tail[v] = longest;
            }
            moved
        })?;
    }
    Some(tail)
}

/// Repeats `relax` over the members until nothing moves; `None` when that does not end: a positive recurrence.
fn settle(members: &[u32], mut relax: impl FnMut(usize) -> bool) -> Option<()> {
    for _ in 0..members.len() + 2 {
        let mut moved = false;
        for &v in members {
            moved |= relax(v as usize);
        }
        if !moved {
            return Some(());
        }
    }
    None
}
