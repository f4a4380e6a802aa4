//! What other commands write and a problem may leave open: times of a schedule, layouts of storage specs (B84).

use super::{AuthorLayout, LayoutLeaf, Problem, RegionKind, Space};
use crate::output::AssignError;
use serde::Deserialize;

/// Slots that a leaf may have.
const MOST_SLOTS: u64 = 1 << 16;

/// What `schedule --json` says of a loop; of a nest, of the loops inside too.
#[derive(Deserialize)]
struct LoopSchedule {
    name: String,
    ii: u64,
    stages: u64,
    nodes: Vec<Seat>,
    #[serde(default)]
    inner: Vec<Run>,
}

/// When an operation of the loop graph starts.
#[derive(Clone, Copy, Deserialize)]
struct Seat {
    id: u64,
    stage: u64,
    cycle: u64,
    order: u64,
    partition: Option<u64>,
}

/// A loop inside: the operation that it is, how many cycles it runs, and its schedule.
#[derive(Deserialize)]
struct Run {
    node: u64,
    run: u64,
    nest: LoopSchedule,
}

/// What `alias --emit json` says of the storage specs.
#[derive(Deserialize)]
struct Storages {
    storages: Vec<Storage>,
}

#[derive(Deserialize)]
struct Storage {
    name: String,
    space: Space,
    align: u64,
    size: u64,
    leaves: Vec<StorageLeaf>,
}

#[derive(Deserialize)]
struct StorageLeaf {
    name: String,
    base: u64,
    unit: u64,
    count: u64,
    radices: Vec<u64>,
    strides: Vec<u64>,
}

impl Problem {
    /// Takes II, stages, stage, cycle, order and, where the schedule finds them, partitions from what `schedule --json`
    /// writes: one line for each loop.
    ///
    /// Lines named as the problem, or as the problem and a `/` behind it, are the schedules of the loops at the top of the
    /// problem, in order; other lines are of other kernels, or of loops that a nest holds. The n-th operation of a loop
    /// graph is the n-th op of the region by id, but for operations that are loops, which are the regions inside.
    ///
    /// # Errors
    /// `InvalidInput`: a line that is no schedule, or one that speaks of other loops or ops.
    pub fn take_schedules(&mut self, text: &str) -> Result<(), AssignError> {
        let mut found = Vec::new();
        for (n, line) in text.lines().enumerate().filter(|l| !l.1.trim().is_empty()) {
            let bad = |e: &dyn std::fmt::Display| {
                AssignError::invalid("schedule", format!("line {} is no schedule: {e}", n + 1))
            };
            let line: serde_json::Value = serde_json::from_str(line).map_err(|e| bad(&e))?;
            if let Some(error) = line.get("error") {
                return Err(bad(&format!("the loop was refused: {error}")));
            }
            let own = |name: &str| {
                name.strip_prefix(&*self.name).is_some_and(|r| r.is_empty() || r.starts_with('/'))
            };
            let found_one: LoopSchedule = serde_json::from_value(line).map_err(|e| bad(&e))?;
            if own(&found_one.name) {
                found.push(found_one);
            }
        }
        let is_top = |r: &super::ScheduledRegion| r.kind == RegionKind::Loop && r.inside.is_none();
        let tops: Vec<usize> = (0..self.regions.len()).filter(|&k| is_top(&self.regions[k])).collect();
        if found.len() != tops.len() {
            let why = format!(
                "{} schedules named {} or {}/.. for {} loops at the top",
                found.len(),
                self.name,
                self.name,
                tops.len()
            );
            return Err(AssignError::invalid("regions", why));
        }
        tops.into_iter().zip(found).try_for_each(|(region, schedule)| self.take(region, &schedule))
    }

    /// The schedule of one region, and those of the loops inside.
    fn take(&mut self, region: usize, schedule: &LoopSchedule) -> Result<(), AssignError> {
        let id = self.regions[region].id;
        let odd = |what: &str, here: usize, there: usize| {
            let why = format!("it has {here} {what}, its schedule '{}' has {there}", schedule.name);
            Err(AssignError::invalid(format!("regions[id={id}]"), why))
        };
        let inside: Vec<usize> = (0..self.regions.len())
            .filter(|&k| self.regions[k].inside.is_some_and(|i| i.region == id))
            .collect();
        if inside.len() != schedule.inner.len() {
            return odd("loops inside", inside.len(), schedule.inner.len());
        }
        let (mut seats, mut runs) = (schedule.nodes.clone(), Vec::new());
        seats.sort_by_key(|s| s.id);
        for run in &schedule.inner {
            let Some(at) = seats.iter().position(|s| s.id == run.node) else {
                return odd("loops inside", inside.len(), runs.len());
            };
            runs.push((seats.remove(at), run));
        }
        let mut ops: Vec<usize> = (0..self.ops.len()).filter(|&k| self.ops[k].region == Some(id)).collect();
        ops.sort_by_key(|&k| self.ops[k].id);
        if ops.len() != seats.len() {
            return odd("ops", ops.len(), seats.len());
        }
        let r = &mut self.regions[region];
        (r.ii, r.stages) = (Some(schedule.ii), Some(schedule.stages));
        for (k, s) in ops.into_iter().zip(seats) {
            let op = &mut self.ops[k];
            (op.stage, op.cycle, op.order) = (s.stage, Some(s.cycle), Some(s.order));
            op.partition = s.partition.unwrap_or(op.partition);
        }
        for (k, (seat, run)) in inside.into_iter().zip(runs) {
            if let Some(i) = &mut self.regions[k].inside {
                (i.stage, i.cycle, i.order, i.latency) = (seat.stage, seat.cycle, seat.order, run.run);
            }
            self.take(k, &run.nest)?;
        }
        Ok(())
    }

    /// Takes the layouts of storage specs from what `alias --emit json` writes: the n-th storage is layout n, and values
    /// bind to its leaves in their order.
    ///
    /// # Errors
    /// `InvalidInput`: text that is none, ids that the problem has already, or a leaf that is no ring of slots.
    pub fn take_layouts(&mut self, text: &str) -> Result<(), AssignError> {
        let bad = |e: &dyn std::fmt::Display| AssignError::invalid("layouts", e);
        let all: Storages = serde_json::from_str(text).map_err(|e| bad(&e))?;
        if !self.layouts.is_empty() {
            return Err(bad(&"the problem has layouts of its own"));
        }
        for (id, s) in all.storages.into_iter().enumerate() {
            let mut leaves = Vec::new();
            for leaf in s.leaves {
                let (true, [stride]) = (leaf.radices.is_empty(), leaf.strides.as_slice()) else {
                    return Err(bad(&format!(
                        "'{}' of '{}' is no ring of slots at one distance",
                        leaf.name, s.name
                    )));
                };
                let slot = |k: u64| k.checked_mul(*stride).and_then(|x| x.checked_add(leaf.base));
                let slots: Option<Vec<u64>> = (0..leaf.count.min(MOST_SLOTS + 1)).map(slot).collect();
                let slots = slots.filter(|s| s.len() as u64 <= MOST_SLOTS);
                let slots =
                    slots.ok_or_else(|| bad(&format!("'{}' of '{}' is too large", leaf.name, s.name)))?;
                leaves.push(LayoutLeaf { bytes: leaf.unit, slots });
            }
            let (space, bytes, align) = (s.space, s.size, s.align);
            self.layouts.push(AuthorLayout { id: id as u64, space, bytes, align, leaves });
        }
        Ok(())
    }
}
