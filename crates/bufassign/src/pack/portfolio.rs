//! Several searches of one component in turn, on as many threads as there are (B60, B85).
//!
//! A search that decides well here goes astray there. So lanes that decide differently take turns, each with
//! its own restarts and what it learnt. In a round every lane runs once, and the answer is that of the first
//! lane that has one: so threads change the time and nothing else. A run below its node limit at the full capacity is a proof for all.

use super::PackOptions;
use super::bound::load;
use super::prepare::Prepared;
use super::restarts::Restarts;
use super::skyline::{Among, Choice, Skyline, Where};

/// The lanes, in their order.
const LANES: [Choice; 5] = [
    Choice { at: Where::Lowest, among: Among::Rank },
    FEWEST,
    Choice { at: Where::Fewest, among: Among::Fit },
    // Another seed: on planted problems this one finds most.
    FEWEST,
    Choice { at: Where::Weighted, among: Among::Fit },
];

const FEWEST: Choice = Choice { at: Where::Fewest, among: Among::Rank };

/// So many nodes go to the first lane before the others are made ready: it takes the least time a node.
const AHEAD: u64 = 16_384;

/// A search of its own.
struct Lane<'a> {
    sky: Skyline<'a>,
    restarts: Restarts,
    /// It looks for a plan below the capacity: that there is none says nothing.
    tight: bool,
    done: bool,
}

/// What a lane found in a round, and the nodes that took.
type Found = (Option<bool>, u64);

/// A plan of the blocks, as offsets; `Some(None)` where none exists, `None` where the budget is spent.
pub(super) fn portfolio(
    p: &Prepared,
    part: &[u32],
    capacity: u64,
    options: &PackOptions<'_>,
    budget: &mut u64,
) -> Option<Option<Vec<(usize, u64)>>> {
    let lane = |choice, goal, seed| Lane {
        sky: Skyline::new(p, part, goal, choice, *options),
        restarts: Restarts::seeded(seed),
        tight: goal < capacity,
        done: false,
    };
    let mut first = lane(LANES[0], capacity, 0);
    let mut ahead = AHEAD.min(*budget);
    *budget -= ahead;
    let answer = first.restarts.run(&mut first.sky, &mut ahead);
    *budget += ahead;
    if let Some(found) = answer {
        return Some(found.then(|| first.sky.offsets().collect()));
    }
    let mut lanes = vec![first];
    for (seed, choice) in LANES.into_iter().enumerate().skip(1) {
        lanes.push(lane(choice, capacity, seed as u64));
    }
    // With room to spare there is often a plan that uses none of it, and less to try on the way to it.
    let bound = load(p, part);
    if bound < capacity {
        lanes.push(lane(FEWEST, bound, LANES.len() as u64));
    }
    while *budget > 0 && !options.is_late() {
        let share = (*budget / lanes.len() as u64).max(1);
        for (k, (answer, nodes)) in round(&mut lanes, share, options.threads).into_iter().enumerate() {
            *budget = budget.saturating_sub(nodes);
            match answer {
                Some(true) => return Some(Some(lanes[k].sky.offsets().collect())),
                Some(false) if lanes[k].tight => lanes[k].done = true,
                Some(false) => return Some(None),
                None => {}
            }
        }
    }
    None
}

/// Every lane runs once.
fn round(lanes: &mut [Lane<'_>], share: u64, threads: usize) -> Vec<Found> {
    let step = |lane: &mut Lane<'_>| match lane.done {
        true => (None, 0),
        false => lane.restarts.step(&mut lane.sky, share),
    };
    if threads <= 1 {
        let mut found = Vec::new();
        for lane in lanes {
            found.push(step(lane));
            let last = found.last().and_then(|f: &Found| f.0);
            if last == Some(true) || last == Some(false) && !lane.tight {
                break;
            }
        }
        return found;
    }
    let each = lanes.len().div_ceil(threads);
    let mut found = Vec::new();
    std::thread::scope(|scope| {
        let parts: Vec<_> = lanes
            .chunks_mut(each)
            .map(|part| scope.spawn(|| part.iter_mut().map(step).collect::<Vec<Found>>()))
            .collect();
        for part in parts {
            match part.join() {
                Ok(mut some) => found.append(&mut some),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    found
}
