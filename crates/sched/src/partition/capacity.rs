//! The least II at which issue streams, partitions and warps suffice, whatever goes where (S63, S65).

use crate::exact::split::Split;

/// What is known of a class of places: how many there are, the warps of each, and the cycles that only they can issue.
struct Class {
    places: u64,
    warps: u64,
    load: u64,
    needed: bool,
}

/// Every smaller II leaves too few cycles in the issue streams; `None` when no II suffices.
pub(super) fn capacity_bound(split: &Split) -> Option<i64> {
    let mut load = vec![0u64; split.allowed.len()];
    for (&slice, &cycles) in split.slice_of.iter().zip(&split.issue) {
        load[slice as usize] = load[slice as usize].saturating_add(cycles.unsigned_abs());
    }
    let total: u64 = load.iter().copied().fold(0, u64::saturating_add);
    // A slice goes to one place, whole.
    let longest = load.iter().copied().max().unwrap_or(0).max(1);
    let classes = classes(split, &load);
    let suffices = |ii: u64| {
        let (mut places, mut warps) = (0u64, 0u64);
        for class in &classes {
            let need = class.load.div_ceil(ii).max(u64::from(class.needed));
            if need > class.places {
                return false;
            }
            places += need;
            warps = warps.saturating_add(need.saturating_mul(class.warps));
        }
        places <= split.most_places
            && warps <= split.most_warps
            && total <= ii.saturating_mul(split.most_places)
    };
    let (mut low, mut high) = (longest, longest.max(total));
    if !suffices(high) {
        return None;
    }
    // More cycles never ask for more places.
    while low < high {
        let middle = low + (high - low) / 2;
        (low, high) = if suffices(middle) { (low, middle) } else { (middle + 1, high) };
    }
    i64::try_from(low).ok()
}

fn classes(split: &Split, load: &[u64]) -> Vec<Class> {
    let count = split.places.iter().map(|p| p.class as usize + 1).max().unwrap_or(0);
    let of = |class: usize| {
        let mine = || split.places.iter().filter(move |p| p.class as usize == class);
        let only =
            |allowed: &Vec<u32>| allowed.iter().all(|&p| split.places[p as usize].class as usize == class);
        let held = || split.allowed.iter().zip(load).filter(|(allowed, _)| only(allowed));
        Class {
            places: mine().count() as u64,
            warps: mine().map(|p| p.warps).min().unwrap_or(1),
            load: held().map(|(_, l)| *l).fold(0, u64::saturating_add),
            needed: held().next().is_some(),
        }
    };
    (0..count).map(of).collect()
}
