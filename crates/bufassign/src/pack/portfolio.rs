//! Several searches of one component in turn, on as many threads as there are (B60, B85).
//!
//! A search that decides well here goes astray there. So lanes that decide differently take turns, each with
//! its own restarts and what it learnt. In a round every lane runs once, and the answer is that of the first
//! lane that has one: so threads change the time and nothing else. A run below its node limit at the full capacity is a proof for all.

use super::PackOptions;
use super::bound::load;
use super::learn::Learner;
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

/// After so many nodes a lane joins that learns from its dead ends: it takes time to be made ready, so easy problems do
/// without. From then on the first lane runs so many times a round, since its nodes are cheap where many blocks meet.
const LATER: u64 = 65_536;
const FIRST_RUNS: u64 = 2;

/// The lane that learns waits while it has had more than so many hundredths of what all others had: a run of it takes many
/// nodes, and where many blocks meet the others find more.
const LEARNS: u64 = 90;

/// How a lane searches.
enum Search<'a> {
    Skyline(Box<Skyline<'a>>, Restarts),
    Learner(Box<Learner<'a>>),
}

/// A search of its own.
struct Lane<'a> {
    search: Search<'a>,
    /// It looks for a plan below the capacity: that there is none says nothing.
    tight: bool,
    /// Runs in a round; 0 for a lane that waits or has nothing left to try.
    runs: u64,
}

impl Lane<'_> {
    /// The runs of a round, of at most so many nodes each.
    fn step(&mut self, most: u64) -> Found {
        let mut all = 0;
        for _ in 0..self.runs {
            let (answer, nodes) = match &mut self.search {
                Search::Skyline(sky, restarts) => restarts.step(sky, most),
                Search::Learner(learner) => learner.step(most),
            };
            all += nodes;
            if answer.is_some() {
                return (answer, all);
            }
        }
        (None, all)
    }

    fn learns(&self) -> bool {
        matches!(self.search, Search::Learner(_))
    }

    /// The plan that was found.
    fn offsets(&self) -> Vec<(usize, u64)> {
        match &self.search {
            Search::Skyline(sky, _) => sky.offsets().collect(),
            Search::Learner(learner) => learner.offsets().collect(),
        }
    }
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
        search: Search::Skyline(
            Box::new(Skyline::new(p, part, goal, choice, *options)),
            Restarts::seeded(seed),
        ),
        tight: goal < capacity,
        runs: 1,
    };
    let mut first = lane(LANES[0], capacity, 0);
    let mut ahead = AHEAD.min(*budget);
    *budget -= ahead;
    while ahead > 0 && !options.is_late() {
        let (answer, nodes) = first.step(ahead);
        ahead = ahead.saturating_sub(nodes);
        if let Some(found) = answer {
            *budget += ahead;
            return Some(found.then(|| first.offsets()));
        }
    }
    *budget += ahead;
    let mut lanes = vec![first];
    for (seed, choice) in LANES.into_iter().enumerate().skip(1) {
        lanes.push(lane(choice, capacity, seed as u64));
    }
    // With room to spare there is often a plan that uses none of it, and less to try on the way to it.
    let bound = load(p, part);
    if bound < capacity {
        lanes.push(lane(FEWEST, bound, LANES.len() as u64));
    }
    let (mut learns, mut learner, mut others) = (false, 0, 0);
    while *budget > 0 && !options.is_late() {
        if !learns && others > LATER {
            learns = true;
            lanes[0].runs = FIRST_RUNS;
            let search = Learner::new(p, part, capacity, *options).map(|l| Search::Learner(Box::new(l)));
            lanes.extend(search.map(|search| Lane { search, tight: false, runs: 1 }));
        }
        for lane in lanes.iter_mut().filter(|l| l.learns()) {
            lane.runs = u64::from(learner <= others / 100 * LEARNS);
        }
        let share = (*budget / lanes.len() as u64).max(1);
        for (k, (answer, nodes)) in round(&mut lanes, share, options.threads).into_iter().enumerate() {
            *budget = budget.saturating_sub(nodes);
            *(if lanes[k].learns() { &mut learner } else { &mut others }) += nodes;
            match answer {
                Some(true) => return Some(Some(lanes[k].offsets())),
                Some(false) if lanes[k].tight => lanes[k].runs = 0,
                Some(false) => return Some(None),
                None => {}
            }
        }
    }
    None
}

/// Every lane runs once.
fn round(lanes: &mut [Lane<'_>], share: u64, threads: usize) -> Vec<Found> {
    if threads <= 1 {
        let mut found = Vec::new();
        for lane in lanes {
            found.push(lane.step(share));
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
            .map(|part| scope.spawn(|| part.iter_mut().map(|lane| lane.step(share)).collect::<Vec<Found>>()))
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
