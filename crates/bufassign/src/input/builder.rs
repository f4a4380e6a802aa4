//! Problems built step by step.

use super::*;

impl Problem {
    /// Starts a problem for a built-in chip, such as `sm_90a`. The builder gives ids in the order of its calls, from 0,
    /// and ranks the ops of a region by cycle, then by call, loops of its body first; anything else is set on the finished problem's fields.
    ///
    /// ```
    /// use warploom_bufassign::{AccessRole, Problem, assign};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut b = Problem::builder("copy", "sm_90a");
    /// let (load, math) = (b.partition("load", 1), b.partition("math", 4));
    /// let body = b.add_loop(400, 2);
    /// let copy = b.op("load k", body, load).takes(500).asynchronous().id();
    /// let product = b.op("qk", body, math).at(1, 100).takes(200).asynchronous().id();
    /// b.value("k", &[64, 128], "f16").swizzle(128).written_by(copy, AccessRole::TmaLoad).read_by(product, AccessRole::WgmmaB);
    /// let problem = b.finish();
    ///
    /// let answer = assign(&problem, &problem.options)?;
    /// assert_eq!(answer.record(0).map(|k| k.depth), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder(name: &str, chip: &str) -> ProblemBuilder {
        Problem::start(name, TargetSpec::Named(chip.to_string()))
    }

    /// Starts a problem for a machine of the caller's own (B82).
    pub fn builder_on(name: &str, machine: MachineSpec) -> ProblemBuilder {
        Problem::start(name, TargetSpec::Machine(machine))
    }

    fn start(name: &str, target: TargetSpec) -> ProblemBuilder {
        ProblemBuilder(Problem {
            name: name.to_string(),
            target,
            repeat: Repeat::default(),
            options: AssignOptions::default(),
            partitions: Vec::new(),
            regions: Vec::new(),
            ops: Vec::new(),
            values: Vec::new(),
            layouts: Vec::new(),
            edges: Vec::new(),
            reserved: Vec::new(),
        })
    }
}

/// A problem on its way; see [`Problem::builder`].
#[derive(Clone, Debug)]
pub struct ProblemBuilder(Problem);

impl ProblemBuilder {
    /// Adds a group of warps with one program order; gives its id.
    pub fn partition(&mut self, name: &str, warps: u32) -> u64 {
        let id = self.0.partitions.len() as u64;
        self.0.partitions.push(WarpPartition { id, name: name.to_string(), warps });
        id
    }

    fn region(&mut self, kind: RegionKind, ii: Option<u64>, stages: Option<u64>) -> u64 {
        let id = self.0.regions.len() as u64;
        self.0.regions.push(ScheduledRegion { id, kind, ii, stages, exit: Exit::default(), inside: None });
        id
    }

    /// Adds a loop of an initiation interval in cycles and so many stages, behind what is there; gives its id.
    pub fn add_loop(&mut self, ii: u64, stages: u64) -> u64 {
        self.region(RegionKind::Loop, Some(ii), Some(stages))
    }

    /// Adds a loop to the body of another (B79), at a stage and cycle of its schedule and of so many cycles; gives its id.
    /// Regions come in the order of the program, a loop before what its body holds.
    pub fn add_inner_loop(
        &mut self,
        outer: u64,
        (stage, cycle, latency): (u64, u64, u64),
        ii: u64,
        stages: u64,
    ) -> u64 {
        let id = self.region(RegionKind::Loop, Some(ii), Some(stages));
        if let Some(r) = self.0.regions.last_mut() {
            r.inside = Some(Inside { region: outer, stage, cycle, order: 0, latency });
        }
        id
    }

    /// Adds straight-line code behind what is there; gives its id.
    pub fn add_line(&mut self) -> u64 {
        self.region(RegionKind::Line, None, None)
    }

    /// Adds an op of a region that a partition issues, at stage 0 and cycle 0, of 0 cycles.
    pub fn op(&mut self, name: &str, region: u64, partition: u64) -> OpBuilder<'_> {
        let op = ScheduledOp {
            id: self.0.ops.len() as u64,
            name: name.to_string(),
            region: Some(region),
            partition,
            stage: 0,
            cycle: Some(0),
            order: None,
            latency: 0,
            is_async: false,
        };
        self.0.ops.push(op);
        OpBuilder(&mut self.0)
    }

    /// Adds a tile with a root of its own, outermost dimension first. What it is made of and read by comes next.
    pub fn value(&mut self, name: &str, shape: &[u64], element: &str) -> ValueBuilder<'_> {
        let id = self.0.values.len() as u64;
        self.0.values.push(BufferValue {
            id,
            name: name.to_string(),
            root: Some(id),
            shape: shape.to_vec(),
            element: Some(element.to_string()),
            align: 1,
            ..BufferValue::default()
        });
        ValueBuilder(&mut self.0)
    }

    /// Adds a signal: an order between ops without a payload.
    pub fn signal(&mut self, name: &str) -> ValueBuilder<'_> {
        let id = self.0.values.len() as u64;
        let value =
            BufferValue { id, name: name.to_string(), root: Some(id), align: 1, ..BufferValue::default() };
        self.0.values.push(value);
        ValueBuilder(&mut self.0)
    }

    /// Says that the caller orders the completion of `src` before `dst`, `distance` iterations later.
    pub fn edge(&mut self, src: u64, dst: u64, distance: i64) -> &mut Self {
        self.0.edges.push(CallerEdge { src, dst, distance });
        self
    }

    /// Sets the choices that the problem carries.
    pub fn options(&mut self, options: AssignOptions) -> &mut Self {
        self.0.options = options;
        self
    }

    /// The problem. Whether it makes sense is for [`assign`](crate::assign) to say.
    pub fn finish(mut self) -> Problem {
        let Problem { ops, regions, .. } = &mut self.0;
        // Region, cycle, and which one it is: loops of the body, then ops.
        let bodies = regions.iter().enumerate().filter_map(|(k, r)| Some((r.inside?, k)));
        let mut at: Vec<(Option<u64>, Option<u64>, bool, usize)> =
            bodies.map(|(i, k)| (Some(i.region), Some(i.cycle), false, k)).collect();
        at.extend(ops.iter().enumerate().map(|(k, o)| (o.region, o.cycle, true, k)));
        at.sort_unstable();
        let mut ranks = std::collections::BTreeMap::<Option<u64>, u64>::new();
        for (region, _, is_op, k) in at {
            let rank = ranks.entry(region).or_default();
            if is_op {
                ops[k].order = Some(*rank);
            } else if let Some(inside) = &mut regions[k].inside {
                inside.order = *rank;
            }
            *rank += 1;
        }
        self.0
    }
}

/// The op added last.
#[derive(Debug)]
pub struct OpBuilder<'a>(&'a mut Problem);

impl OpBuilder<'_> {
    fn with(self, set: impl FnOnce(&mut ScheduledOp)) -> Self {
        if let Some(op) = self.0.ops.last_mut() {
            set(op);
        }
        self
    }

    /// Its stage, and the cycle within it; in a line stage 0 and the cycle from the line's start.
    pub fn at(self, stage: u64, cycle: u64) -> Self {
        self.with(|op| (op.stage, op.cycle) = (stage, Some(cycle)))
    }

    /// Cycles from issue to the last touch of storage.
    pub fn takes(self, latency: u64) -> Self {
        self.with(|op| op.latency = latency)
    }

    /// Its partition goes on before it has completed.
    pub fn asynchronous(self) -> Self {
        self.with(|op| op.is_async = true)
    }

    /// Its id.
    pub fn id(self) -> u64 {
        self.0.ops.last().map_or(0, |op| op.id)
    }
}

/// The value added last.
#[derive(Debug)]
pub struct ValueBuilder<'a>(&'a mut Problem);

impl ValueBuilder<'_> {
    fn with(self, set: impl FnOnce(&mut BufferValue)) -> Self {
        if let Some(value) = self.0.values.last_mut() {
            set(value);
        }
        self
    }

    /// The op that writes it, and how.
    pub fn written_by(self, op: u64, role: AccessRole) -> Self {
        self.with(|v| v.producer = Some(Producer { op, role }))
    }

    /// An op that reads it in the iteration that wrote it.
    pub fn read_by(self, op: u64, role: AccessRole) -> Self {
        self.with(|v| v.consumers.push(Consumer { op, role, distance: 0, in_place: false }))
    }

    /// An op that reads it `distance` iterations later; initial versions are there for the first ones.
    pub fn read_later(self, op: u64, role: AccessRole, distance: i64) -> Self {
        self.with(|v| {
            v.consumers.push(Consumer { op, role, distance, in_place: false });
            v.init |= distance > 0;
        })
    }

    /// An op that updates it in place, `distance` iterations later, as an accumulator's product does.
    pub fn updated_by(self, op: u64, role: AccessRole, distance: i64) -> Self {
        self.with(|v| {
            v.consumers.push(Consumer { op, role, distance, in_place: true });
            v.init |= distance > 0;
        })
    }

    /// It must live in a space.
    pub fn space(self, space: Space) -> Self {
        self.with(|v| v.space = Some(space))
    }

    /// Swizzle span in bytes: 0, 32, 64 or 128.
    pub fn swizzle(self, bytes: u64) -> Self {
        self.with(|v| v.swizzle = bytes)
    }

    /// Its storage is that of another value: they share a root.
    pub fn root(self, root: u64) -> Self {
        self.with(|v| v.root = Some(root))
    }

    /// It is read after its region.
    pub fn live_out(self) -> Self {
        self.with(|v| v.live_out = true)
    }

    /// It was written before its first region here.
    pub fn live_in(self) -> Self {
        self.with(|v| v.live_in = true)
    }

    /// It is acquired and released with the values of one pipe.
    pub fn pipe(self, pipe: u64) -> Self {
        self.with(|v| v.pipe = Some(pipe))
    }

    /// Its id.
    pub fn id(self) -> u64 {
        self.0.values.last().map_or(0, |v| v.id)
    }
}
