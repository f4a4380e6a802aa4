//! What follows from the problem alone, computed afresh: times, lifetimes, least depths
//! (B14..B22).

use super::chip::target;
use super::levels::{Levels, inner, one_nest};
use crate::input::{AssignOptions, BufferValue, Exit, Problem, RegionKind, Repeat, ScheduledOp, Sharing};
use std::collections::{BTreeMap, BTreeSet};
use warploom_chips::Target;

/// Where an op stands.
#[derive(Clone, Copy)]
pub(super) struct At {
    /// Position of its region in the program.
    pub region: usize,
    pub stage: i128,
    pub order: u64,
    pub t: i128,
    pub latency: i128,
}

/// A use of a lifetime.
#[derive(Clone, Copy)]
pub(super) struct Use {
    pub value: u64,
    pub op: u64,
    pub distance: i128,
    pub in_place: bool,
}

/// When storage is held in a region: all the time, or `[from, to)` of a loop's circle or a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Held {
    Always,
    During(i128, i128),
    /// It is live in another region of the nest (B79).
    Beside,
}

/// One lifetime: a value, or values that update each other in place.
pub(super) struct Life {
    /// Members, ascending.
    pub members: Vec<u64>,
    pub producer: Option<u64>,
    pub region: usize,
    pub start: i128,
    pub end: i128,
    /// All uses in its own region.
    pub uses: Vec<Use>,
    /// Uses in later regions: (region, op).
    pub far: Vec<(usize, u64)>,
    /// Law of B17, pipes (B21) and layouts (B20) considered.
    pub depth: i128,
    pub carried: bool,
    /// May not share inside its region.
    pub private: bool,
    pub live_out: bool,
    pub held: BTreeMap<usize, Held>,
    pub warp_local: bool,
    pub layout: Option<(u64, u64)>,
}

pub(super) struct Facts<'a> {
    pub problem: &'a Problem,
    pub options: &'a AssignOptions,
    pub target: Target,
    pub values: BTreeMap<u64, &'a BufferValue>,
    pub ops: BTreeMap<u64, &'a ScheduledOp>,
    pub at: BTreeMap<u64, At>,
    /// End of the last completion in each region, 1 at least.
    horizons: Vec<i128>,
    pub warps: BTreeMap<u64, u32>,
    /// Owner of each value and the offset in it.
    pub owner: BTreeMap<u64, (u64, u64)>,
    pub lives: Vec<Life>,
    /// Life of each owner.
    pub life_of: BTreeMap<u64, usize>,
    /// Owners with their views, and the owners in each pipe, ascending.
    pub families: BTreeMap<u64, BTreeSet<u64>>,
    pub pipes: BTreeMap<u64, Vec<u64>>,
    /// Ops of other levels that ops here stand for (B79).
    pub stands_for: BTreeMap<u64, u64>,
}

impl<'a> Facts<'a> {
    /// Gathers the facts of a problem, or of its levels.
    pub fn gather(
        problem: &'a Problem,
        levels: Option<&'a Levels>,
        options: &'a AssignOptions,
    ) -> Result<Facts<'a>, String> {
        let problem = levels.map_or(problem, |l| &l.problem);
        let mut f = Facts {
            problem,
            stands_for: levels.map(|l| l.stands_for.clone()).unwrap_or_default(),
            options,
            target: target(&problem.target)?,
            values: problem.values.iter().map(|v| (v.id, v)).collect(),
            ops: problem.ops.iter().map(|o| (o.id, o)).collect(),
            at: BTreeMap::new(),
            horizons: vec![1; problem.regions.len()],
            warps: problem.partitions.iter().map(|a| (a.id, a.warps)).collect(),
            owner: BTreeMap::new(),
            lives: Vec::new(),
            life_of: BTreeMap::new(),
            families: BTreeMap::new(),
            pipes: BTreeMap::new(),
        };
        f.place_ops();
        f.find_owners()?;
        f.find_lives()?;
        f.raise_depths()?;
        Ok(f)
    }

    /// II of a loop; `None` for a line.
    pub fn ii(&self, region: usize) -> Option<i128> {
        let r = self.problem.regions.get(region)?;
        if r.kind == RegionKind::Loop { r.ii.map(i128::from) } else { None }
    }

    pub fn region_id(&self, region: usize) -> u64 {
        self.problem.regions.get(region).map_or(0, |r| r.id)
    }

    /// The op of the problem that an op stands for.
    pub fn source(&self, op: u64) -> u64 {
        self.stands_for.get(&op).copied().unwrap_or(op)
    }

    fn place_ops(&mut self) {
        let regions: BTreeMap<u64, usize> =
            self.problem.regions.iter().enumerate().map(|(k, r)| (r.id, k)).collect();
        for op in &self.problem.ops {
            let (Some(region), Some(cycle), Some(order)) =
                (op.region.and_then(|r| regions.get(&r).copied()), op.cycle, op.order)
            else {
                continue;
            };
            let period = self.ii(region).unwrap_or(0);
            let stage = i128::from(op.stage);
            let t = stage * period + i128::from(cycle);
            let latency = i128::from(op.latency);
            self.horizons[region] = self.horizons[region].max(t + latency.max(1));
            self.at.insert(op.id, At { region, stage, order, t, latency });
        }
    }

    fn find_owners(&mut self) -> Result<(), String> {
        for v in &self.problem.values {
            let (mut at, mut offset) = (v, 0u64);
            let mut hops = 0;
            while let Some(next) = at.view_of {
                offset = offset.saturating_add(at.byte_offset);
                at = self.values.get(&next).copied().ok_or("a view of no value")?;
                hops += 1;
                if hops > self.problem.values.len() {
                    return Err("views loop".into());
                }
            }
            self.owner.insert(v.id, (at.id, offset));
            self.families.entry(at.id).or_default().insert(v.id);
        }
        Ok(())
    }

    /// Values that read their owner's storage: itself and its views, ascending.
    pub fn family(&self, owner: u64) -> impl Iterator<Item = &'a BufferValue> + '_ {
        self.families.get(&owner).into_iter().flatten().filter_map(|v| self.values.get(v).copied())
    }

    fn find_lives(&mut self) -> Result<(), String> {
        let owners: Vec<u64> = self.owner.iter().filter(|(v, o)| **v == o.0).map(|(v, _)| *v).collect();
        let mut family: BTreeMap<u64, Vec<&BufferValue>> = BTreeMap::new();
        for (v, (o, _)) in &self.owner {
            family.entry(*o).or_default().extend(self.values.get(v).copied());
        }
        let mut uses: BTreeMap<u64, Vec<Use>> = BTreeMap::new();
        let mut written: BTreeMap<(u64, Option<u64>), u64> = BTreeMap::new();
        for &o in &owners {
            let owner = self.values[&o];
            if let Some(p) = owner.producer {
                written.entry((p.op, owner.root)).or_insert(o);
            }
            let list = uses.entry(o).or_default();
            for v in family.get(&o).into_iter().flatten() {
                for c in &v.consumers {
                    let (value, op, distance) = (v.id, c.op, i128::from(c.distance));
                    list.push(Use { value, op, distance, in_place: c.in_place });
                }
                if v.id != o
                    && let Some(p) = v.producer
                    && owner.producer.map(|x| x.op) != Some(p.op)
                {
                    list.push(Use { value: v.id, op: p.op, distance: 0, in_place: false });
                }
            }
        }
        // Links of in-place updates within one iteration.
        let mut next: BTreeMap<u64, u64> = BTreeMap::new();
        for &o in &owners {
            for u in uses[&o].iter().filter(|u| u.in_place && u.distance == 0) {
                if let Some(&w) = written.get(&(u.op, self.values[&o].root)).filter(|&&w| w != o) {
                    next.insert(o, w);
                }
            }
        }
        let later: BTreeSet<u64> = next.values().copied().collect();
        for &o in owners.iter().filter(|o| !later.contains(o)) {
            let mut chain = vec![o];
            while let Some(&w) = next.get(&chain[chain.len() - 1]) {
                if chain.contains(&w) {
                    return Err("values update each other in a loop".into());
                }
                chain.push(w);
            }
            let life = self.life(&chain, &uses)?;
            for &v in &chain {
                self.life_of.insert(v, self.lives.len());
            }
            self.lives.push(life);
        }
        Ok(())
    }

    fn life(&self, chain: &[u64], uses: &BTreeMap<u64, Vec<Use>>) -> Result<Life, String> {
        let any = |f: fn(&BufferValue) -> bool| chain.iter().any(|v| f(self.values[v]));
        let producer = self.values[&chain[0]].producer.map(|p| p.op);
        let all: Vec<Use> = chain.iter().flat_map(|v| uses[v].iter().copied()).collect();
        let place = |op: u64| self.at.get(&op).copied().ok_or(format!("op {op} has no place"));
        let mut regions = Vec::new();
        for u in &all {
            regions.push(place(u.op)?.region);
        }
        let from = producer.map(place).transpose()?;
        let region = from.map(|a| a.region).or(regions.iter().min().copied()).unwrap_or(0);
        let ii = self.ii(region);
        let own: Vec<Use> =
            all.iter().zip(&regions).filter(|(_, r)| **r == region).map(|(u, _)| *u).collect();
        let far: Vec<(usize, u64)> =
            all.iter().zip(&regions).filter(|(_, r)| **r != region).map(|(u, r)| (*r, u.op)).collect();
        let carried = own.iter().any(|u| u.in_place && u.distance == 1);
        let period = ii.unwrap_or(0);
        let (start, mut end) = match from {
            Some(a) => (a.t, a.t + a.latency.max(1)),
            None => (0, ii.unwrap_or(1)),
        };
        let mut depth = 1i128;
        for u in &own {
            let a = place(u.op)?;
            let done = a.t + a.latency + u.distance * period;
            if from.is_some() {
                end = end.max(done);
            } else if ii.is_none() {
                end = end.max(a.t + a.latency.max(1));
            }
            if let (Some(p), Some(ii)) = (from, ii)
                && !(u.in_place && u.distance == 1)
            {
                depth = depth.max(ceil(done - p.t, ii));
                depth = depth.max(u.distance + a.stage - p.stage + i128::from(a.order > p.order));
                // Initial versions of one value are all there at the loop's entry, each in its slot.
                depth = depth.max(u.distance);
            }
        }
        if let (Some(ii), Some(_)) = (ii, from) {
            depth = if carried { 1 } else { depth.max(ceil(end - start, ii)) };
        }
        let live_in = any(|v| v.live_in);
        let live_out = any(|v| v.live_out) || !far.is_empty();
        let spec = &self.problem.regions[region.min(self.problem.regions.len().saturating_sub(1))];
        let early = ii.is_some()
            && spec.exit == Exit::Early
            && producer.is_some_and(|p| self.ops.get(&p).is_some_and(|o| o.is_async));
        let private =
            carried || live_in || live_out || any(|v| v.init) || early || inner(self.problem, region);
        let mut life = Life {
            members: {
                let mut m = chain.to_vec();
                m.sort_unstable();
                m
            },
            producer,
            region,
            start,
            end,
            uses: own,
            far,
            depth,
            carried,
            private,
            live_out,
            held: BTreeMap::new(),
            warp_local: chain.iter().all(|v| self.values[v].warp_local),
            layout: self.values[&chain[0]].layout.map(|l| (l.id, l.leaf)),
        };
        life.held = self.held(&life, live_in, any(|v| v.live_out));
        Ok(life)
    }

    /// End of the last completion in a line.
    pub fn horizon(&self, region: usize) -> i128 {
        self.horizons.get(region).copied().unwrap_or(1)
    }

    fn held(&self, life: &Life, live_in: bool, live_out: bool) -> BTreeMap<usize, Held> {
        let mut held = BTreeMap::new();
        let r = life.region;
        let here = match (self.ii(r), life.private) {
            _ if inner(self.problem, r) => Held::Always,
            (Some(_), true) => Held::Always,
            (None, true) => {
                let from = if live_in { 0 } else { life.start };
                let to = if live_out || !life.far.is_empty() { self.horizon(r) } else { life.end };
                Held::During(from, to)
            }
            (_, false) => Held::During(life.start, life.end),
        };
        held.insert(r, here);
        let last_use = life.far.iter().map(|f| f.0).max().unwrap_or(r);
        let last = if live_out { self.problem.regions.len().saturating_sub(1) } else { last_use };
        for k in r + 1..=last {
            let uses_end = life.far.iter().filter(|f| f.0 == k).filter_map(|f| self.at.get(&f.1));
            let end = uses_end.map(|a| a.t + a.latency.max(1)).max();
            let ends = k == last && !live_out && self.ii(k).is_none();
            held.insert(k, end.filter(|_| ends).map_or(Held::Always, |e| Held::During(0, e)));
        }
        if live_in {
            for k in 0..self.problem.regions.len() {
                if k < r || (k != r && self.problem.repeat != Repeat::None && life.producer.is_none()) {
                    held.insert(k, Held::Always);
                }
            }
        }
        for k in 0..self.problem.regions.len() {
            if !held.contains_key(&k) && held.keys().any(|&r| one_nest(self.problem, k, r)) {
                held.insert(k, Held::Beside);
            }
        }
        held
    }

    /// Layout slots and pipes (B20, B21).
    fn raise_depths(&mut self) -> Result<(), String> {
        for k in 0..self.lives.len() {
            if let Some((id, leaf)) = self.lives[k].layout {
                let layout = self.problem.layouts.iter().find(|l| l.id == id).ok_or("no such layout")?;
                let leaf = layout.leaves.get(leaf as usize).ok_or("no such leaf")?;
                let slots = leaf.slots.len() as i128;
                if slots < self.lives[k].depth {
                    return Err("a layout has fewer slots than a lifetime needs".into());
                }
                if self.ii(self.lives[k].region).is_some() && !self.lives[k].carried {
                    self.lives[k].depth = slots;
                }
            }
        }
        let mut pipes: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for &v in self.life_of.keys() {
            pipes.entry(self.pipe(v)).or_default().push(v);
        }
        for owners in pipes.values() {
            let lives: Vec<usize> = owners.iter().map(|v| self.life_of[v]).collect();
            let most = lives.iter().map(|&k| self.lives[k].depth).max().unwrap_or(1);
            for &k in &lives {
                if !self.lives[k].carried {
                    self.lives[k].depth = most;
                }
            }
        }
        self.pipes = pipes;
        Ok(())
    }

    /// Pipe of an owner.
    pub fn pipe(&self, owner: u64) -> u64 {
        self.values.get(&owner).and_then(|v| v.pipe).unwrap_or(owner)
    }

    /// Owners in a pipe, ascending.
    pub fn pipe_members(&self, pipe: u64) -> Vec<u64> {
        self.pipes.get(&pipe).cloned().unwrap_or_default()
    }

    pub fn preset(&self) -> bool {
        self.options.preset.is_some()
    }

    /// Nobody may overlay anybody inside a region.
    pub fn no_sharing(&self) -> bool {
        (self.options.sharing == Sharing::Off && !self.preset()) || self.problem.repeat == Repeat::Overlapped
    }
}

/// Least integer at or above a / b, b > 0.
pub(super) fn ceil(a: i128, b: i128) -> i128 {
    -((-a).div_euclid(b))
}
