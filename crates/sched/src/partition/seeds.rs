//! Assignments to begin with: a partition for each kind, then operations of a kind over several of them (S68).

use super::frame::Frame;
use petgraph::unionfind::UnionFind;
use std::collections::BTreeMap;

/// Assignments worth a schedule each, the plainest first: a partition for each kind, then one kind over several. They need
/// not keep all limits.
pub(super) fn seeds(frame: &Frame<'_>) -> Vec<Vec<u32>> {
    let mut all = vec![spread(frame, &|_| None)];
    let load = loads(frame);
    let mut classes: BTreeMap<u32, i64> = BTreeMap::new();
    for (slice, cycles) in load.iter().enumerate() {
        *classes.entry(class_of(frame, slice)).or_default() += cycles;
    }
    let mut classes: Vec<(u32, i64)> = classes.into_iter().collect();
    classes.sort_by_key(|&(class, cycles)| (std::cmp::Reverse(cycles), class));
    for (class, _) in classes {
        let places = frame.split.places.iter().filter(|p| p.class == class).count();
        for parts in 2..=places.min(frame.split.most_places as usize) {
            let (by_chain, by_time) = (chains(frame, &load, parts), stretches(frame, &load, parts));
            for part in [by_chain, by_time] {
                all.push(spread(frame, &|slice| (class_of(frame, slice) == class).then(|| part[slice])));
            }
        }
    }
    let mut distinct: Vec<Vec<u32>> = Vec::new();
    all.into_iter().for_each(|seed| {
        if !distinct.contains(&seed) {
            distinct.push(seed);
        }
    });
    distinct
}

/// The class of places that a slice goes to: the first it may take.
fn class_of(frame: &Frame<'_>, slice: usize) -> u32 {
    let first = frame.split.allowed[slice].first().copied().unwrap_or(0);
    frame.split.places[first as usize].class
}

/// The places of that class it may take.
fn choices(frame: &Frame<'_>, slice: usize) -> Vec<u32> {
    let class = class_of(frame, slice);
    let mine = frame.split.allowed[slice].iter().copied();
    mine.filter(|&p| frame.split.places[p as usize].class == class).collect()
}

/// Each slice at the place of its part, or of its replica; those without at the first.
fn spread(frame: &Frame<'_>, part: &dyn Fn(usize) -> Option<usize>) -> Vec<u32> {
    let replicas = replicas(frame);
    let shared =
        |class: u32| (0..replicas.len()).any(|s| replicas[s].is_none() && class_of(frame, s) == class);
    let any = replicas.iter().any(Option::is_some);
    (0..frame.split.allowed.len())
        .map(|slice| {
            let places = choices(frame, slice);
            let at = match replicas[slice] {
                Some(number) => number + usize::from(shared(class_of(frame, slice))),
                None if any => 0,
                None => part(slice).unwrap_or(0),
            };
            places.get(at).or(places.last()).copied().unwrap_or(0)
        })
        .collect()
}

fn replicas(frame: &Frame<'_>) -> Vec<Option<usize>> {
    let mut all = vec![None; frame.split.allowed.len()];
    for (v, &slice) in frame.graph.nodes.iter().zip(&frame.split.slice_of) {
        let slot = &mut all[slice as usize];
        *slot = slot.or(v.replica.map(|r| r.number));
    }
    all
}

fn loads(frame: &Frame<'_>) -> Vec<i64> {
    let mut load = vec![0i64; frame.split.allowed.len()];
    for (&slice, &cycles) in frame.split.slice_of.iter().zip(&frame.split.issue) {
        load[slice as usize] = load[slice as usize].saturating_add(cycles);
    }
    load
}

/// Parts of about equal load, of slices of one class that depend on each other all in one.
fn chains(frame: &Frame<'_>, load: &[i64], parts: usize) -> Vec<usize> {
    let n = frame.split.allowed.len();
    let mut sets: UnionFind<u32> = UnionFind::new(n);
    for e in &frame.graph.edges {
        let (a, b) = (frame.split.slice_of[e.src], frame.split.slice_of[e.dst]);
        if class_of(frame, a as usize) == class_of(frame, b as usize) {
            sets.union(a, b);
        }
    }
    let mut held = vec![0i64; n];
    (0..n).for_each(|s| held[sets.find(s as u32) as usize] += load[s]);
    let mut order: Vec<usize> = (0..n).filter(|&s| sets.find(s as u32) as usize == s).collect();
    order.sort_by_key(|&s| (std::cmp::Reverse(held[s]), s));
    let mut part = vec![0; n];
    let mut filled: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
    for s in order {
        let bins = filled.entry(class_of(frame, s)).or_insert_with(|| vec![0; parts]);
        let least = (0..parts).min_by_key(|&p| (bins[p], p)).unwrap_or(0);
        bins[least] += held[s];
        part[s] = least;
    }
    (0..n).map(|s| part[sets.find(s as u32) as usize]).collect()
}

/// Parts of about equal load, in the order of the program.
fn stretches(frame: &Frame<'_>, load: &[i64], parts: usize) -> Vec<usize> {
    let n = frame.split.allowed.len();
    (0..n)
        .map(|s| {
            let mine = |t: &usize| class_of(frame, *t) == class_of(frame, s);
            let total: i64 = (0..n).filter(mine).map(|t| load[t]).sum();
            let before: i64 = (0..s).filter(mine).map(|t| load[t]).sum();
            let at = i128::from(before) * parts as i128 / i128::from(total.max(1));
            usize::try_from(at).unwrap_or(0).min(parts - 1)
        })
        .collect()
}
