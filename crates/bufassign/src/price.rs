//! Which merges are made (B53, B80): among plans that fit, one that ties the fewest partitions together, then one with the
//! fewest waits, then one with the least memory.
//!
//! No wait adds to the II: classes share only where their lifetimes are apart in the schedule, so each wait agrees with its
//! times.

use crate::handshake::Shake;
use crate::input::{Repeat, Sharing};
use crate::lifetime::Lifetimes;
use crate::model::Model;
use crate::orders::Orders;
use crate::output::AssignNote;
use crate::packed::{Packed, overloaded};
use crate::place::Plot;
use crate::share::{join, pairs, sweep};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Classes up to which every merge is tried with every other.
const SMALL: usize = 24;
/// Plans that such a search looks at.
const TRIES: usize = 400;
/// Classes up to which the fewest merges with a wait are looked for in a sweep.
const FEWER: usize = 400;
/// A trial may search this part of the nodes of an answer.
const TRIAL: u64 = 256;

/// Classes, and what orders them.
#[derive(Clone)]
pub(crate) struct Shared {
    pub orders: Orders,
    pub plots: Vec<Plot>,
    pub notes: Vec<AssignNote>,
}

/// What a plan costs beside memory: waits that tie partitions, waits.
pub(crate) type Price = (u64, u64);

struct Search<'a> {
    model: &'a Model<'a>,
    life: &'a Lifetimes,
    shakes: &'a [Shake],
    /// Orders before anything was shared.
    base: &'a Orders,
}

/// The classes of a plan and their places, sharing as the options say.
pub(crate) fn shared(
    model: &Model<'_>,
    life: &Lifetimes,
    shakes: &[Shake],
    start: Shared,
) -> (Shared, Packed, Price) {
    let sharing = model.options.effective_sharing();
    let may_share = sharing != Sharing::Off && model.problem.repeat != Repeat::Overlapped;
    let base = start.orders.clone();
    let search = Search { model, life, shakes, base: &base };
    let nodes = model.options.node_budget;
    let always = sharing == Sharing::Always;
    let apart = start.clone();
    let mut plain = start;
    if may_share {
        search.sweep(&mut plain, if always { model.most_waits } else { 0 });
    }
    let packed = search.pack(&mut plain, (always && model.most_waits == usize::MAX, nodes));
    let content = packed.fits(model) || !may_share || sharing != Sharing::WhenNeeded || model.is_late();
    let (best, packed) = if content { (plain, packed) } else { search.with_waits(apart, plain, packed) };
    let price = search.price(&best);
    (best, packed, price)
}

impl Search<'_> {
    fn sweep(&self, s: &mut Shared, waits: usize) {
        sweep(self.model, self.life, &mut s.orders, self.shakes, &mut s.plots, waits, &mut s.notes);
    }

    fn pack(&self, s: &mut Shared, (insert, nodes): (bool, u64)) -> Packed {
        Packed::new(self.model, self.life, &mut s.orders, self.shakes, &s.plots, (insert, nodes))
    }

    fn price(&self, s: &Shared) -> Price {
        let (waits, couples) = s.orders.added(self.base);
        (couples, waits)
    }

    /// A plan that fits where the one with implied merges alone does not; that one, or what is smaller, where none does.
    fn with_waits(&self, mut apart: Shared, plain: Shared, packed: Packed) -> (Shared, Packed) {
        let nodes = self.model.options.node_budget;
        // What merges take away from the packer may be what it needs.
        let free = self.pack(&mut apart, (false, nodes));
        if free.fits(self.model) {
            return (apart, free);
        }
        let mut found: Vec<(Price, Shared, Packed)> = Vec::new();
        let small = plain.plots.len() <= SMALL && self.model.thorough;
        if small && let Some((s, p)) = self.cheapest(&[&plain, &apart]) {
            found.push((self.price(&s), s, p));
        }
        let (mut least, mut most) = (0, usize::MAX);
        let mut all = plain.clone();
        self.sweep(&mut all, most);
        let laid = self.pack(&mut all, (true, nodes));
        let fits = laid.fits(self.model);
        let total = laid.total();
        let merges = all.notes.len() - plain.notes.len().min(all.notes.len());
        found.push((self.price(&all), all, laid));
        // The fewest merges with a wait that do, if fewer merges are not worse.
        if fits && plain.plots.len() <= FEWER && self.model.thorough {
            most = most.min(merges);
            while least < most && !self.model.is_late() {
                let middle = least + (most - least) / 2;
                let mut some = plain.clone();
                self.sweep(&mut some, middle);
                let laid = self.pack(&mut some, (true, nodes));
                if laid.fits(self.model) {
                    found.push((self.price(&some), some, laid));
                    most = middle;
                } else {
                    least = middle + 1;
                }
            }
        }
        if !found.iter().any(|f| f.2.fits(self.model)) && total >= packed.total() {
            return (plain, packed);
        }
        let best = found.into_iter().min_by_key(|(price, _, p)| (!p.fits(self.model), *price, p.total()));
        best.map_or((plain, packed), |(_, s, p)| (s, p))
    }

    /// The plan of the least price that fits, by trying every merge that may need a wait on top of every other, the
    /// cheapest first; none where none was found in time.
    fn cheapest(&self, starts: &[&Shared]) -> Option<(Shared, Packed)> {
        let nodes = self.model.options.node_budget / TRIAL;
        let mut heap: BinaryHeap<Reverse<(Price, bool, usize)>> = BinaryHeap::new();
        let mut states: Vec<Option<(Shared, Option<Packed>)>> = Vec::new();
        let mut seen: BTreeSet<Vec<Vec<usize>>> = BTreeSet::new();
        let mut tries = 0;
        for start in starts {
            heap.push(Reverse(((0, 0), true, states.len())));
            states.push(Some(((*start).clone(), None)));
        }
        while let Some(Reverse((_, _, at))) = heap.pop() {
            let (state, packed) = states[at].take()?;
            if let Some(packed) = packed {
                return Some((state, packed));
            }
            let mut children = vec![(state.clone(), true)];
            for pair in pairs(self.model, self.life, &state.plots) {
                let mut s = state.clone();
                let Shared { orders, plots, notes } = &mut s;
                if join(self.model, self.life, orders, self.shakes, plots, pair, notes)
                    && seen.insert(partition(&s.plots))
                {
                    children.push((s, false));
                }
            }
            for (mut s, insert) in children {
                tries += 1;
                if tries > TRIES || self.model.is_late() {
                    break;
                }
                if !insert {
                    heap.push(Reverse((self.price(&s), true, states.len())));
                    states.push(Some((s.clone(), None)));
                }
                if overloaded(self.model, self.life, &s.orders, self.shakes, &s.plots) {
                    continue;
                }
                let packed = self.pack(&mut s, (insert, nodes));
                if packed.fits(self.model) {
                    heap.push(Reverse((self.price(&s), false, states.len())));
                    states.push(Some((s, Some(packed))));
                }
            }
        }
        None
    }
}

/// Which units are in one class.
fn partition(plots: &[Plot]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = plots
        .iter()
        .map(|p| {
            let mut units = p.ring.units.clone();
            units.sort_unstable();
            units
        })
        .collect();
    all.sort_unstable();
    all
}
