//! Clusters that are resident together, and which of them runs (E5, E99).

use super::cluster::Machine;
use super::ending::Outcome;
use super::global::Store;
use super::heap::Heap;
use super::job::Job;
use super::launch::Policy;
use super::rng::Rng;
use super::sched::Slice;
use super::world::World;
use std::collections::BTreeMap;
use std::ops::Range;

/// Steps of a cluster before the next one has its turn.
const LONG: u64 = 4096;
/// Its logarithm, less one.
const SCALE: usize = 11;
/// Rounds without progress before anything is done about it.
const ROUNDS: u32 = 3;
/// Rounds of polling without any progress before a deadlock is declared.
const SPINS: u32 = 3;
/// Rounds for which whoever took a lock lets others go first. They may spin for it and yet make progress of their own:
/// lanes of a CTA hand the answer on through shared memory and barriers.
const NAP: u32 = 4;
/// Clusters that run together without need: under the random policies, and while one has paused.
const CROWD: usize = 4;

/// A cluster that is resident.
struct Resident<'a> {
    index: usize,
    machine: Machine<'a>,
    /// It polled in its last slice, and changed nothing.
    idle: bool,
    priority: u64,
}

/// What a round came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    Progress,
    Nothing,
    /// All residents are stuck.
    Stuck,
    Dead,
}

/// The clusters of a launch, or one of them.
pub(crate) struct Grid<'a> {
    job: &'a Job<'a>,
    store: &'a Store,
    /// Clusters that have not begun. They begin in the order of the grid.
    waiting: Range<usize>,
    residents: Vec<Resident<'a>>,
    world: World<'a>,
    ended: BTreeMap<usize, Outcome>,
    rng: Rng,
    /// Somebody changed something in the last round: then short slices are as likely as long ones, for a small kernel ends
    /// within a long one. Where all poll, a slice must be long enough to tell.
    changed: bool,
    /// Rounds without progress, and polls let go meanwhile.
    still: u32,
    spins: u32,
    /// Rounds with progress since somebody paused.
    napped: u32,
    /// Clusters that are kept resident: more once some of them waited for others.
    crowd: usize,
}

impl<'a> Grid<'a> {
    /// Some clusters of a launch.
    pub(crate) fn new(job: &'a Job<'a>, store: &'a Store, clusters: Range<usize>) -> Self {
        let seed = match job.opts.policy {
            Policy::Random(s) | Policy::Pct(s) => s,
            Policy::Eager | Policy::Lazy => 0,
        };
        Grid {
            job,
            store,
            waiting: clusters,
            residents: Vec::new(),
            world: World { heap: Heap::new(job.heap), ..World::new(store) },
            ended: BTreeMap::new(),
            rng: Rng::new(seed, u64::MAX),
            changed: true,
            still: 0,
            spins: 0,
            napped: 0,
            crowd: 1,
        }
    }

    /// Runs all of them; gives what each leaves behind, and the memory.
    pub(crate) fn run(mut self) -> (BTreeMap<usize, Outcome>, World<'a>) {
        let random = matches!(self.job.opts.policy, Policy::Random(_) | Policy::Pct(_));
        if random {
            self.crowd += self.rng.below(CROWD);
        }
        loop {
            while self.residents.len() < self.crowd && self.begin() {}
            if self.residents.is_empty() {
                break;
            }
            match self.round() {
                Round::Dead => break,
                Round::Progress => self.calm(),
                round => {
                    self.still += 1;
                    if (round == Round::Stuck || self.still >= ROUNDS) && !self.relieve() {
                        self.deadlock();
                        break;
                    }
                }
            }
        }
        for r in std::mem::take(&mut self.residents) {
            self.ended.insert(r.index, Outcome::of(r.machine));
        }
        (self.ended, self.world)
    }

    /// The next cluster becomes resident, if there is one and the chip has room.
    fn begin(&mut self) -> bool {
        if self.residents.len() >= self.job.most {
            return false;
        }
        let Some(index) = self.waiting.next() else { return false };
        let machine = self.job.machine(self.store, index);
        self.residents.push(Resident { index, machine, idle: false, priority: self.rng.next() });
        true
    }

    /// Every resident has its turn.
    fn round(&mut self) -> Round {
        let order = self.order();
        let (mut progress, mut stuck, mut some) = (false, true, false);
        let mut over = Vec::new();
        for index in order {
            let Some(r) = self.residents.iter_mut().find(|r| r.index == index) else { continue };
            let steps = match self.job.opts.policy {
                Policy::Random(_) => {
                    let scale = if self.changed { self.rng.below(SCALE + 1) } else { SCALE };
                    1 + self.rng.below(2 << scale) as u64
                }
                _ => LONG,
            };
            let (before, polls) = (r.machine.core.progress, r.machine.core.polls);
            std::mem::swap(&mut r.machine.core.world, &mut self.world);
            let slice = r.machine.slice(steps);
            std::mem::swap(&mut r.machine.core.world, &mut self.world);
            let changed = r.machine.core.progress != before;
            r.idle = !changed && r.machine.core.polls != polls;
            some |= changed;
            progress |= changed || slice == Slice::Running && !r.idle;
            stuck &= slice == Slice::Stuck;
            match slice {
                Slice::Ended => over.push(index),
                Slice::Dead => return Round::Dead,
                Slice::Running | Slice::Stuck => {}
            }
        }
        self.changed = some;
        for index in over {
            if let Some(at) = self.residents.iter().position(|r| r.index == index) {
                self.ended.insert(index, Outcome::of(self.residents.remove(at).machine));
                progress = true;
            }
        }
        match (progress, stuck) {
            (true, _) => Round::Progress,
            (false, true) => Round::Stuck,
            (false, false) => Round::Nothing,
        }
    }

    /// Who has a turn in this round.
    fn order(&mut self) -> Vec<usize> {
        let mut order: Vec<(u64, usize)> = self.residents.iter().map(|r| (r.priority, r.index)).collect();
        match self.job.opts.policy {
            Policy::Eager | Policy::Lazy => {}
            Policy::Random(_) => {
                let n = order.len().max(1);
                order.rotate_left(self.rng.below(n));
            }
            Policy::Pct(_) => {
                // Those of low priority run when those of high priority get nowhere.
                order.sort_unstable();
                let busy = self.residents.iter().filter(|r| !r.idle).count();
                // While somebody has paused, all others go on: they may want what it took.
                let paused = self.residents.iter().any(|r| r.machine.paused());
                if self.still == 0 && busy > 1 && !paused {
                    order.truncate(order.len().div_ceil(2));
                }
                if self.rng.below(8) == 0
                    && let Some((_, first)) = order.first()
                    && let Some(r) = self.residents.iter_mut().find(|r| r.index == *first)
                {
                    r.priority = self.rng.next();
                }
            }
        }
        order.into_iter().map(|(_, index)| index).collect()
    }

    /// There was progress.
    fn calm(&mut self) {
        (self.still, self.spins) = (0, 0);
        self.residents.iter_mut().for_each(|r| r.machine.suspect(false));
        // Who has paused waits for others to want what it took.
        if !self.residents.iter().any(|r| r.machine.paused()) {
            self.napped = 0;
            return;
        }
        if self.residents.len() < CROWD {
            self.begin();
        }
        self.napped += 1;
        if self.napped >= NAP {
            self.napped = 0;
            self.residents.iter_mut().for_each(|r| _ = r.machine.resume());
        }
    }

    /// Does something about a standstill; false if there is nothing to be done.
    fn relieve(&mut self) -> bool {
        let paused = self.residents.iter().any(|r| r.machine.paused());
        if paused && self.residents.len() < CROWD && self.begin() {
            return true;
        }
        if self.residents.iter_mut().map(|r| r.machine.resume()).filter(|resumed| *resumed).count() > 0 {
            return true;
        }
        // Operations are late, but not for ever.
        for r in &mut self.residents {
            std::mem::swap(&mut r.machine.core.world, &mut self.world);
            let moved = r.machine.any_operation();
            std::mem::swap(&mut r.machine.core.world, &mut self.world);
            if moved {
                return true;
            }
        }
        let more = (0..self.residents.len()).filter(|_| self.begin()).count();
        if more > 0 {
            self.still = 0;
            self.crowd = self.residents.len();
            return true;
        }
        // A failed try_wait may return to the program, which may then do something else (E11).
        if self.spins < SPINS {
            let released = self.residents.iter_mut().map(|r| r.machine.release_polls());
            if released.filter(|released| *released).count() > 0 {
                self.spins += 1;
                return true;
            }
        }
        let hopeless = self.residents.iter().all(|r| r.machine.hopeless());
        self.residents.iter_mut().for_each(|r| r.machine.suspect(true));
        !hopeless
    }

    fn deadlock(&mut self) {
        let waiting = self.waiting.len();
        let mut machines: Vec<&mut Machine<'a>> = self.residents.iter_mut().map(|r| &mut r.machine).collect();
        super::deadlock::report(&mut machines, waiting);
    }
}
