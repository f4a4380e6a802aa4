//! How deep the rings are, and what decided it (S51-S57, B65-B67, C6).

use warploom_bufassign::{ErrorKind, Problem, assign};
use warploom_chips::Target;
use warploom_ir::diag::Diagnostic;
use warploom_ir::{Module, OpId};
use warploom_sched::{Answer, schedule, validate};

use crate::buffers::depth::{DepthBound, DepthRound, Fitted, RingDepth, ScheduledLoop};
use crate::buffers::problem::{Source, payload_value, problem};
use crate::columns;
use crate::loops::{GraphOptions, PipelinedLoop, invalid_graph, loop_graph, no_schedule, replicas_refused};
use crate::options::CompileOptions;
use crate::select::Selection;
use crate::storage::Bindings;
use crate::tma::padded;

/// More slots than any shared memory holds.
const MOST_SLOTS: u64 = 1 << 16;

/// Slots that a ring has where they fit: the copy of one block then runs beside the use of the block before, however
/// far the partitions drift apart (S54).
const LEAST_WANTED: u64 = 2;

/// What a search for depths works on.
pub(crate) struct Search<'a> {
    pub module: &'a Module,
    pub selection: &'a Selection,
    /// What the author said of places.
    pub bindings: &'a Bindings,
    pub name: &'a str,
    pub target: &'a Target,
    pub options: &'a CompileOptions,
}

impl Search<'_> {
    /// The deepest rings that are wanted and fit: what the law asks for, capped by the author, then one slot less at a
    /// time of the ring that costs least II. Each cap goes to the scheduler as an edge (S55), so that II rises as far
    /// as it must and no further; nothing is cut behind the schedule's back.
    pub fn run(&self) -> Result<Fitted, Box<Diagnostic>> {
        let rings = self.selection.rings.len();
        let free = self.schedule(1, &vec![None; rings], false)?;
        let laws = self.laws(&free);
        let unlimited_ii = free.first().map_or(0, |s| s.answer.ii);
        let wanted = self.all_wanted(&laws);
        self.fit_from(wanted, &laws, unlimited_ii, |depths| {
            // With one slot a product cannot be pending while the next copy runs (C30).
            let pending = u64::from(!self.looped().any(|r| depths.get(r) == Some(&1)));
            let caps: Vec<Option<u64>> =
                depths.iter().zip(&laws).map(|(&d, &law)| (d < law || pending == 0).then_some(d)).collect();
            match caps.iter().any(Option::is_some) || self.bindings.any() {
                true => self.schedule(pending, &caps, true),
                false => Ok(free.clone()),
            }
        })
    }

    /// An assignment for schedules that are given: as many slots as are wanted and fit, but never fewer than they need.
    pub fn fit(&self, loops: Vec<ScheduledLoop>) -> Result<Fitted, Box<Diagnostic>> {
        let laws = self.laws(&loops);
        let ii = loops.first().map_or(0, |s| s.answer.ii);
        let wanted =
            self.all_wanted(&laws).into_iter().zip(&laws).map(|((want, by), &law)| (want.max(law), by));
        self.fit_from(wanted.collect(), &laws, ii, |_| Ok(loops.clone()))
    }

    /// Tries depths from `wanted` downward with the schedules that `scheduled` gives for them.
    fn fit_from(
        &self,
        wanted: Vec<(u64, DepthBound)>,
        laws: &[u64],
        unlimited_ii: i64,
        scheduled: impl Fn(&[u64]) -> Result<Vec<ScheduledLoop>, Box<Diagnostic>>,
    ) -> Result<Fitted, Box<Diagnostic>> {
        let (mut depths, mut bounds): (Vec<u64>, Vec<DepthBound>) = wanted.into_iter().unzip();
        let mut rounds = Vec::new();
        loop {
            let loops = scheduled(&depths)?;
            let slack = self.slacks(&loops, &depths);
            let problem = self.problem(&loops, &slack)?;
            let first = loops.first();
            let mut round = DepthRound {
                depth: depths.first().copied().unwrap_or(1),
                pending: first.map_or(1, |s| s.pipelined.pending),
                ii: first.map_or(0, |s| s.answer.ii),
                need: None,
            };
            match assign(&problem, &problem.options) {
                Ok(assignment) => {
                    columns::check(self.module, self.selection, &assignment, self.target)?;
                    rounds.push(round);
                    let depth = |ring: usize| {
                        let value = payload_value(self.selection, ring, 0);
                        let wanted = depths.get(ring).copied().unwrap_or(1);
                        RingDepth {
                            slots: assignment.record(value).map_or(wanted, |r| r.depth),
                            law: laws.get(ring).copied().unwrap_or(1),
                            slack: slack.get(ring).copied().unwrap_or(0),
                            bound: bounds.get(ring).copied().unwrap_or(DepthBound::Law),
                            unlimited_ii,
                            rounds: rounds.clone(),
                        }
                    };
                    let depths = (0..depths.len()).map(depth).collect();
                    return Ok(Fitted { loops, problem, assignment, depths });
                }
                Err(error) if error.kind == ErrorKind::Capacity => {
                    if let Some(refusal) = columns::refusal(self.module, self.selection, &error, self.target)
                    {
                        return Err(refusal);
                    }
                    round.need = Some(error.need.unwrap_or(0));
                    rounds.push(round);
                    let Some(ring) = self.dispensable(&depths, &bounds, &scheduled) else {
                        return Err(self.too_big(&depths, &error));
                    };
                    if let (Some(depth), Some(bound)) = (depths.get_mut(ring), bounds.get_mut(ring)) {
                        *depth -= 1;
                        *bound = DepthBound::Capacity;
                    }
                }
                Err(error) => return Err(Box::new(self.assign_error(&error))),
            }
        }
    }

    /// The ring to take a slot from: the one that then costs least II, and of those the one that takes most bytes (S57,
    /// S69); none that the caller asked for just so many of.
    fn dispensable(
        &self,
        depths: &[u64],
        bounds: &[DepthBound],
        scheduled: impl Fn(&[u64]) -> Result<Vec<ScheduledLoop>, Box<Diagnostic>>,
    ) -> Option<usize> {
        let shrinks = |&r: &usize| {
            depths.get(r).is_some_and(|&d| d > 1)
                && !matches!(bounds.get(r), Some(DepthBound::Asked | DepthBound::Author))
        };
        let rings: Vec<usize> = self.looped().filter(shrinks).collect();
        let bytes = |r: usize| self.slot_bytes(r).saturating_mul(depths.get(r).copied().unwrap_or(0));
        let ii = |r: usize| {
            let mut fewer = depths.to_vec();
            fewer.get_mut(r).map(|d| *d -= 1)?;
            Some(scheduled(&fewer).ok()?.iter().map(|s| s.answer.ii).fold(0, i64::saturating_add))
        };
        let price = |r: usize| if rings.len() > 1 { ii(r).unwrap_or(i64::MAX) } else { 0 };
        rings.iter().copied().min_by_key(|&r| (price(r), std::cmp::Reverse(bytes(r)), r))
    }

    /// The rings whose slots are written more than once.
    pub(super) fn looped(&self) -> impl Iterator<Item = usize> + '_ {
        self.selection.rings.iter().enumerate().filter(|(_, r)| r.looped).map(|(index, _)| index)
    }

    /// Bytes of one slot of a ring.
    pub(super) fn slot_bytes(&self, ring: usize) -> u64 {
        let loads = self.selection.rings.get(ring).map(|r| r.payloads()).unwrap_or_default();
        loads.iter().filter_map(|&l| self.selection.loads.get(l)).map(|l| padded(&l.plan)).sum()
    }

    /// Slots that the schedules need of each ring.
    pub fn laws(&self, loops: &[ScheduledLoop]) -> Vec<u64> {
        let rings = self.selection.rings.iter();
        rings
            .map(|ring| {
                let of = |scheduled: &ScheduledLoop| {
                    let filling = ring.used_in(scheduled.pipelined.scf_for)?;
                    let op = self.selection.loads.get(*filling.loads.first()?)?.op;
                    let value = scheduled.pipelined.copies.iter().position(|&c| c == Some(op))?;
                    scheduled.answer.values.get(value).map(|v| v.depth)
                };
                loops.iter().filter_map(of).max().unwrap_or(1)
            })
            .collect()
    }

    /// The most slots that caller or author allow.
    pub fn caps(&self) -> Vec<Option<u64>> {
        let common = self.options.depth.or(self.selection.num_stages);
        (0..self.selection.rings.len()).map(|ring| self.bindings.depth(ring).or(common)).collect()
    }

    /// What [`Self::wanted`] says for each ring; a slot that is written once is one.
    fn all_wanted(&self, laws: &[u64]) -> Vec<(u64, DepthBound)> {
        let rings = self.selection.rings.iter().zip(laws).enumerate();
        rings
            .map(|(index, (ring, &law))| match self.bindings.depth(index) {
                _ if !ring.looped => (1, DepthBound::Law),
                Some(slots) => (slots.clamp(1, MOST_SLOTS), DepthBound::Author),
                None => self.wanted(law),
            })
            .collect()
    }

    /// The slots that are wanted where the law asks for `law`, and who says so.
    fn wanted(&self, law: u64) -> (u64, DepthBound) {
        // More than this can not fit; the search need not start higher.
        let slot: u64 = self.looped().map(|r| self.slot_bytes(r)).min().unwrap_or(1);
        let most = (self.target.smem.per_cta / slot.max(1)).saturating_add(1).max(law);
        let with_slack = law.saturating_add(self.options.slack_slots).max(LEAST_WANTED);
        match (self.options.depth, self.selection.num_stages) {
            (Some(asked), _) => (asked.clamp(1, MOST_SLOTS), DepthBound::Asked),
            (None, Some(cap)) if cap < with_slack => (cap.min(most), DepthBound::NumStages),
            (None, _) => (with_slack.min(most), DepthBound::Law),
        }
    }

    /// Slots beyond what the schedules need, to come to `depths`: all that were asked for, or as many as slack was
    /// allowed.
    fn slacks(&self, loops: &[ScheduledLoop], depths: &[u64]) -> Vec<u64> {
        let pending = loops.iter().all(|s| s.pipelined.pending > 0);
        let laws = self.laws(loops);
        let allowed = |law: u64| self.options.slack_slots.max(LEAST_WANTED.saturating_sub(law));
        let slack = |(&depth, &law): (&u64, &u64)| match (pending, self.options.depth) {
            (false, _) => 0,
            (true, Some(_)) => depth.saturating_sub(law),
            (true, None) => depth.saturating_sub(law).min(allowed(law)),
        };
        let rings = self.selection.rings.iter().enumerate();
        rings
            .zip(depths.iter().zip(&laws))
            // The author's leaf has its buffers whatever the lifetimes ask for (B20).
            .map(|((ring, data), both)| match data.looped && self.bindings.depth(ring).is_none() {
                true => slack(both),
                false => 0,
            })
            .collect()
    }

    /// Schedules all loops with at most `caps` slots in each ring, and as the author's leaves ask for (A46) where
    /// `bound`.
    fn schedule(
        &self,
        pending: u64,
        caps: &[Option<u64>],
        bound: bool,
    ) -> Result<Vec<ScheduledLoop>, Box<Diagnostic>> {
        self.selection.loops.iter().map(|&scf_for| self.schedule_one(scf_for, pending, caps, bound)).collect()
    }

    fn schedule_one(
        &self,
        scf_for: OpId,
        pending: u64,
        caps: &[Option<u64>],
        bound: bool,
    ) -> Result<ScheduledLoop, Box<Diagnostic>> {
        let graph = |replicas: u64| {
            let mut pipelined = self.graph(scf_for, pending, caps, replicas)?;
            if bound {
                self.bindings.constrain(self.options.storage.as_ref(), &mut pipelined);
            }
            Ok::<_, Box<Diagnostic>>(pipelined)
        };
        let pipelined = graph(1)?;
        let answer = {
            let valid = validate(&pipelined.graph).map_err(|errors| invalid_graph(&errors))?;
            schedule(&valid, &self.options.schedule)
                .map_err(|error| no_schedule(self.module, scf_for, &error))?
        };
        let together = ScheduledLoop { pipelined, answer, together: None };
        let warpgroups = u64::from(self.selection.warpgroups());
        // Where tensor memory holds the products one lane issues them all, and they never wait for each other's rows.
        let issued = !self.selection.accumulators.is_empty();
        // Replicas start trips at least as far apart as the units let them.
        let useful = together.answer.ii > together.answer.res_mii;
        if issued || !useful || replicas_refused(self.module, scf_for, self.selection).is_some() {
            return Ok(together);
        }
        let turns = self.in_turns(scf_for, &graph(warpgroups)?, warpgroups, together.answer.ii)?;
        Ok(match turns {
            Some((pipelined, answer)) => {
                ScheduledLoop { pipelined, answer, together: Some(Box::new(together)) }
            }
            None => together,
        })
    }

    /// The loop with a replica for each warpgroup, where these take turns and that is faster (Q40, Q41). A defect is none
    /// of the answers: it is passed on.
    fn in_turns(
        &self,
        scf_for: OpId,
        one: &PipelinedLoop,
        replicas: u64,
        together: i64,
    ) -> Result<Option<(PipelinedLoop, Answer)>, Box<Diagnostic>> {
        let valid = validate(&one.graph).map_err(|errors| invalid_graph(&errors))?;
        match one.schedule_replicas(&valid, replicas, &self.options.schedule) {
            Ok((pipelined, answer)) => {
                let faster = answer.ii < together && pipelined.turns(self.module, &answer).is_some();
                Ok(faster.then_some((pipelined, answer)))
            }
            Err(error) if error.is_internal() => Err(no_schedule(self.module, scf_for, &error)),
            Err(_) => Ok(None),
        }
    }

    /// The loop graph of one of so many replicas with caps on slots.
    pub fn graph(
        &self,
        scf_for: OpId,
        pending: u64,
        caps: &[Option<u64>],
        replicas: u64,
    ) -> Result<PipelinedLoop, Box<Diagnostic>> {
        let options = GraphOptions { pending, replicas, ..GraphOptions::default() };
        let number = self.selection.loops.iter().position(|&l| l == scf_for).unwrap_or(0);
        let name = match self.selection.loops.len() {
            1 => self.name.to_owned(),
            _ => format!("{}/loop{number}", self.name),
        };
        let mut pipelined = loop_graph(self.module, scf_for, &name, self.target, options)
            .map_err(|error| Box::new(self.no_cost(&error)))?;
        for (value, copy) in pipelined.graph.values.iter_mut().zip(&pipelined.copies) {
            let ring = copy.and_then(|op| self.selection.ring_of(self.selection.load(op)?));
            if let Some((ring, _)) = ring {
                value.max_depth = caps.get(ring).copied().flatten();
            }
            if let Some(load) = copy.and_then(|op| self.selection.loads.get(self.selection.load(op)?)) {
                value.name.clone_from(&load.name);
                if let Some(node) = pipelined.graph.nodes.get_mut(value.def) {
                    node.name = format!("load {}", load.name);
                }
            }
        }
        Ok(pipelined)
    }

    /// The assignment problem of a schedule.
    pub fn problem(&self, loops: &[ScheduledLoop], slack: &[u64]) -> Result<Problem, Box<Diagnostic>> {
        let source = Source {
            module: self.module,
            selection: self.selection,
            name: self.name,
            loops,
            target: self.target,
            slack,
            bindings: self.bindings,
            limit: self.options.smem_limit,
        };
        problem(&source).map_err(|error| Box::new(self.no_cost(&error)))
    }
}
