//! What an actor knows to have happened: a vector clock over threads, and for each channel of asynchronous
//! operations the numbers known to be complete (E60).

use super::channel::{Done, Kind, channel};
use super::told::Told;
use super::within::Within;
use std::rc::Rc;

/// What is known of one cluster. Clones share their parts until one of them changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// For each thread of the cluster, the time up to which its accesses happened before.
    threads: Rc<Vec<u32>>,
    /// For each channel, the operations known complete.
    done: Rc<Vec<Done>>,
}

impl Page {
    fn join(&mut self, other: &Page) {
        let newer = |(a, b): (&u32, &u32)| b > a;
        if !Rc::ptr_eq(&self.threads, &other.threads) && self.threads.iter().zip(&*other.threads).any(newer) {
            for (a, b) in Rc::make_mut(&mut self.threads).iter_mut().zip(&*other.threads) {
                *a = (*a).max(*b);
            }
        }
        if !Rc::ptr_eq(&self.done, &other.done) && self.done != other.done {
            for (a, b) in Rc::make_mut(&mut self.done).iter_mut().zip(&*other.done) {
                if a != b {
                    a.join(b);
                }
            }
        }
    }

    /// Whether it holds all that another one knows of threads.
    fn covers(&self, other: &Page) -> bool {
        other.threads.iter().zip(&*self.threads).all(|(o, m)| m >= o)
    }

    fn knows(&self, channel: u32, n: u32) -> bool {
        self.done.get(channel as usize).is_some_and(|d| d.contains(n))
    }

    fn thread(&self, t: usize) -> u32 {
        self.threads.get(t).copied().unwrap_or(0)
    }
}

/// Knowledge of threads and operations: those of the own cluster, and of others that were heard of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Know {
    home: u32,
    own: Page,
    /// By number of the cluster, in order.
    others: Vec<(u32, Page)>,
}

impl Know {
    fn new(home: u32, threads: usize, channels: usize) -> Self {
        let own = Page { threads: Rc::new(vec![0; threads]), done: Rc::new(vec![Done::default(); channels]) };
        Know { home, own, others: Vec::new() }
    }

    fn page(&self, cluster: u32) -> Option<&Page> {
        if cluster == self.home {
            return Some(&self.own);
        }
        let at = self.others.binary_search_by_key(&cluster, |(c, _)| *c).ok()?;
        self.others.get(at).map(|(_, page)| page)
    }

    fn learn(&mut self, cluster: u32, page: &Page) {
        if cluster == self.home {
            self.own.join(page);
            return;
        }
        match self.others.binary_search_by_key(&cluster, |(c, _)| *c) {
            Ok(at) => {
                if let Some((_, mine)) = self.others.get_mut(at) {
                    mine.join(page);
                }
            }
            Err(at) => self.others.insert(at, (cluster, page.clone())),
        }
    }

    fn join(&mut self, other: &Know) {
        self.learn(other.home, &other.own);
        for (cluster, page) in &other.others {
            self.learn(*cluster, page);
        }
    }

    /// Whether an operation of a cluster is known complete.
    pub(crate) fn knows(&self, cluster: u32, channel: u32, n: u32) -> bool {
        self.page(cluster).is_some_and(|p| p.knows(channel, n))
    }

    /// The time up to which a thread of the own cluster is known.
    pub(crate) fn thread(&self, t: usize) -> u32 {
        self.own.thread(t)
    }

    /// Those of a warp's lanes whose accesses up to `time` are not all known.
    pub(crate) fn behind(&self, cluster: u32, warp: u32, lanes: u32, time: u32) -> u32 {
        let Some(page) = self.page(cluster) else { return lanes };
        let first = warp as usize * 32;
        super::mask::lanes(lanes)
            .filter(|&l| page.thread(first + l as usize) < time)
            .fold(0, |late, l| late | 1 << l)
    }

    fn tick(&mut self, warp: u32, lanes: u32, time: u32) {
        let threads = Rc::make_mut(&mut self.own.threads);
        for l in super::mask::lanes(lanes) {
            if let Some(t) = threads.get_mut((warp * 32 + l) as usize) {
                *t = (*t).max(time);
            }
        }
    }

    fn finish(&mut self, channel: u32, change: impl Fn(&mut Done)) {
        if let Some(d) = Rc::make_mut(&mut self.own.done).get_mut(channel as usize) {
            change(d);
        }
    }
}

/// A clock: what happened before, and which part of it was followed by a proxy fence (R04).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    pub seen: Know,
    /// What was followed by a proxy fence for shared memory, and by one for global memory.
    pub fenced: [Know; 2],
    /// What lanes of the own warp know of each other; it is not passed on as it stands.
    pub within: Option<Rc<Within>>,
    /// What some lanes of the own warp were told; it is not passed on as it stands.
    pub told: Option<Rc<Told<Clock>>>,
    /// What `fence.sc` of each scope saw, here or before what was learnt. Fences of that kind are in one order, so a later
    /// strong write publishes it although another thread executed the fence.
    pub sequential: Option<Rc<ByScope>>,
}

/// One clock for each scope.
pub(crate) type ByScope = [Option<Clock>; 3];

/// Joins a clock to one that may not be there yet.
pub(super) fn join(slot: &mut Option<Clock>, clock: &Clock) {
    match slot {
        Some(c) => c.join(clock),
        None => *slot = Some(clock.clone()),
    }
}

/// Joins clocks scope by scope.
pub(crate) fn join_scopes(into: &mut ByScope, from: &ByScope) {
    for (slot, clock) in into.iter_mut().zip(from) {
        if let Some(clock) = clock {
            join(slot, clock);
        }
    }
}

impl Clock {
    /// A clock of a cluster that knows nothing; sized 0 when the analysis is off.
    pub(crate) fn new(home: u32, threads: usize, channels: usize) -> Self {
        let know = Know::new(home, threads, channels);
        Clock { seen: know.clone(), fenced: [know.clone(), know], ..Clock::default() }
    }

    /// The cluster whose clock it is.
    pub(crate) fn home(&self) -> u32 {
        self.seen.home
    }

    pub(crate) fn join(&mut self, other: &Clock) {
        self.seen.join(&other.seen);
        self.fenced.iter_mut().zip(&other.fenced).for_each(|(mine, theirs)| mine.join(theirs));
        if let Some(theirs) = &other.sequential {
            match &mut self.sequential {
                Some(mine) if Rc::ptr_eq(mine, theirs) => {}
                Some(mine) => join_scopes(Rc::make_mut(mine), theirs),
                none => *none = Some(theirs.clone()),
            }
        }
    }

    /// What it knows, without what lanes and fences know beyond it.
    pub(crate) fn plain(&self) -> Clock {
        Clock { seen: self.seen.clone(), fenced: self.fenced.clone(), ..Clock::default() }
    }

    /// A `fence.sc` that counts for so many scopes, the narrowest first, saw `clock`.
    pub(crate) fn fence_sequential(&mut self, scopes: usize, clock: &Clock) {
        let mut saw = ByScope::default();
        saw.iter_mut().take(scopes).for_each(|slot| *slot = Some(clock.plain()));
        join_scopes(Rc::make_mut(self.sequential.get_or_insert_default()), &saw);
    }

    /// Whether it knows all that another one of the same cluster knows of the cluster's threads.
    pub(crate) fn covers(&self, other: &Clock) -> bool {
        self.seen.own.covers(&other.seen.own)
    }

    /// An operation is known complete.
    pub(crate) fn complete(&mut self, channel: u32, n: u32) {
        self.seen.finish(channel, |d| d.insert(n));
    }

    /// These operations of a channel are known complete.
    pub(crate) fn complete_all(&mut self, channel: u32, numbers: &Done) {
        self.seen.finish(channel, |d| d.join(numbers));
    }

    /// All operations of a channel below `n` are known complete.
    pub(crate) fn complete_below(&mut self, channel: u32, n: u32) {
        self.seen.finish(channel, |d| d.insert_below(n));
    }

    /// Everything seen so far was followed by a proxy fence of a space: 0 for shared, 1 for global memory.
    pub(crate) fn fence(&mut self, space: usize) {
        let Clock { seen, fenced, .. } = self;
        fenced.iter_mut().skip(space).take(1).for_each(|f| f.join(seen));
    }

    /// The accesses of these lanes of a warp up to `time`, and its copies that are known complete, were followed by a
    /// proxy fence of a space; nothing else need be (`--strict`).
    pub(crate) fn fence_own(&mut self, space: usize, warp: u32, lanes: u32, time: u32) {
        let Clock { seen, fenced, told, .. } = self;
        let Some(fenced) = fenced.get_mut(space) else { return };
        fenced.tick(warp, lanes, time);
        let copies = channel(warp, Kind::CpAsync);
        if let Some(done) = seen.own.done.get(copies as usize) {
            fenced.finish(copies, |d| d.join(done));
        }
        if let Some(done) = told.as_ref().and_then(|t| t.own_copies()) {
            fenced.finish(copies, |d| d.join(done));
        }
    }

    /// Some lanes of a warp, of which `live` have not ended, tell each other what they did up to `time` (E100).
    pub(crate) fn meet(&mut self, warp: u32, lanes: u32, live: u32, time: u32) {
        self.tell(lanes, live);
        if lanes & live == live {
            self.seen.tick(warp, lanes, time);
            self.publish(warp, lanes);
            self.within = None;
        } else {
            Rc::make_mut(self.within.get_or_insert_default()).meet(lanes, time);
        }
    }

    /// What these lanes of the own warp know of others becomes known to whoever has this clock.
    pub(crate) fn publish(&mut self, warp: u32, lanes: u32) {
        let Some(within) = self.within.clone() else { return };
        for (lane, time) in (0..).zip(within.of(lanes)).filter(|(_, time)| *time > 0) {
            self.seen.tick(warp, 1 << lane, time);
        }
    }

    /// The lanes of a warp are known up to `time`.
    pub(crate) fn tick(&mut self, warp: u32, lanes: u32, time: u32) {
        self.seen.tick(warp, lanes, time);
    }
}
