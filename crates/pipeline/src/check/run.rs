//! Running a program's handshakes: one operation of one warp at a time.

use warploom_ir::{Attr, OpId, Opcode, ValueId};

use super::machine::{CopyInFlight, Machine, PlaceId};
use super::model::Model;
use super::warp::{Frame, Product, Val, Warp};
use super::{Report, Rule};

/// What became of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// The warp went on.
    Went,
    /// It waits.
    Waits,
    /// Its region has ended.
    Done,
    /// A rule was broken; it is in the report.
    Broken,
}

/// A run under way.
pub(super) struct Run<'m, 'r> {
    pub model: &'m Model<'m>,
    pub machine: Machine,
    pub warps: Vec<Warp>,
    /// Trips of every loop.
    trips: u64,
    pub report: &'r mut Report,
}

impl<'m, 'r> Run<'m, 'r> {
    /// A run with all loops taking `trips` trips.
    pub fn new(model: &'m Model<'m>, trips: u64, report: &'r mut Report) -> Run<'m, 'r> {
        let mut warps = Vec::new();
        let constants = constants(model);
        for (index, agent) in model.agents.iter().enumerate() {
            for number in 0..agent.warps {
                let mut warp = Warp::new(index, number == 0, agent.body, model.rings.len());
                warp.values.extend(constants.iter().copied());
                warps.push(warp);
            }
        }
        Run { model, machine: Machine::new(model), warps, trips, report }
    }

    /// The operation a warp is at.
    fn current(&self, w: usize) -> Option<OpId> {
        let frame = self.warps.get(w)?.frames.last()?;
        self.model.module.blocks[frame.block].ops.get(frame.at).copied()
    }

    /// Where a warp is, for reports.
    pub fn place(&self, w: usize) -> String {
        match (self.current(w), self.warps.get(w)) {
            (Some(op), Some(warp)) => format!("warp {w} at {}", self.model.place(warp.agent, op)),
            _ => format!("warp {w} at its end"),
        }
    }

    fn broken(&mut self, w: usize, rule: Rule, message: impl Into<String>) -> Step {
        let at = self.place(w);
        self.report.add(rule, at, message);
        Step::Broken
    }

    /// Lets a warp take one step.
    pub fn step(&mut self, w: usize) -> Step {
        let Some(op) = self.current(w) else { return self.leave(w) };
        let step = self.execute(w, op);
        if step == Step::Went && self.current(w) == Some(op) {
            self.advance_pc(w);
        }
        step
    }

    fn advance_pc(&mut self, w: usize) {
        if let Some(frame) = self.warps.get_mut(w).and_then(|warp| warp.frames.last_mut()) {
            frame.at += 1;
        }
    }

    /// The end of a block without a terminator that does something.
    fn leave(&mut self, w: usize) -> Step {
        let Some(warp) = self.warps.get_mut(w) else { return Step::Done };
        warp.frames.pop();
        match warp.frames.last_mut() {
            Some(frame) => {
                frame.at += 1;
                Step::Went
            }
            None => Step::Done,
        }
    }

    fn execute(&mut self, w: usize, op: OpId) -> Step {
        match self.model.module.ops[op].opcode {
            Opcode::For => self.enter_loop(w, op),
            Opcode::Yield => self.next_trip(w, op),
            Opcode::Elect => self.elect(w, op),
            Opcode::If | Opcode::While => {
                self.broken(w, Rule::Form, "control flow that the checker cannot follow")
            }
            Opcode::ProducerAcquire => self.wait_for(w, op, false),
            Opcode::ConsumerWait => self.wait_for(w, op, true),
            Opcode::ProducerCommit => self.commit(w, op),
            Opcode::ConsumerRelease => self.release(w, op),
            Opcode::Advance => self.advance(w, op),
            Opcode::TmaLoad => self.load(w, op),
            Opcode::Slot => self.slot(w, op),
            Opcode::Dot => self.product(w, op),
            Opcode::MmaWait => self.retire(w, op),
            Opcode::TileStore => self.tile_store(w, op),
            Opcode::ProxyFence => self.fence(w),
            Opcode::BarrierSync => self.sync(w, op),
            Opcode::TmaStore => self.store(w, op),
            Opcode::StoreCommit => {
                if let Some(warp) = self.warps.get_mut(w) {
                    let group = std::mem::take(&mut warp.open_stores);
                    warp.stores.push_back(group);
                }
                Step::Went
            }
            Opcode::StoreWait => self.store_wait(w, op),
            _ => self.plain(w, op),
        }
    }

    // ---- values ----

    fn value(&self, w: usize, value: ValueId) -> Val {
        self.warps.get(w).map_or(Val::Other, |warp| warp.value(value))
    }

    fn set(&mut self, w: usize, value: ValueId, to: Val) {
        if let Some(warp) = self.warps.get_mut(w) {
            warp.values.insert(value, to);
        }
    }

    fn integer(&self, w: usize, op: OpId, index: usize) -> Option<u64> {
        match self.value(w, self.model.operand(op, index)?) {
            Val::Int(v) => u64::try_from(v).ok(),
            _ => None,
        }
    }

    /// Ring, slot and phase that an operation names.
    fn iterator(&mut self, w: usize, op: OpId) -> Option<(usize, u64, u64)> {
        let ring = self.model.ring(op)?;
        let depth = self.model.rings.get(ring)?.depth;
        let slot_operand = usize::from(self.model.module.ops[op].opcode == Opcode::TileStore);
        let slot = self.integer(w, op, slot_operand);
        let phase = self.integer(w, op, 1).unwrap_or(0);
        match slot.filter(|&s| s < depth) {
            Some(slot) => Some((ring, slot, phase)),
            None => {
                self.broken(w, Rule::Form, format!("slot {slot:?} of {depth}"));
                None
            }
        }
    }

    // ---- control ----

    fn enter_loop(&mut self, w: usize, op: OpId) -> Step {
        let module = self.model.module;
        let data = &module.ops[op];
        let initial: Vec<Val> = data.operands.iter().skip(3).map(|&v| self.value(w, v)).collect();
        let Some(body) = module.entry(op, 0).filter(|_| self.trips > 0) else {
            for (&result, val) in data.results.iter().zip(initial) {
                self.set(w, result, val);
            }
            return Step::Went;
        };
        for (&arg, val) in module.blocks[body].args.iter().skip(1).zip(initial) {
            self.set(w, arg, val);
        }
        if let Some(warp) = self.warps.get_mut(w) {
            warp.frames.push(Frame { block: body, at: 0, scf_for: Some((op, 0)) });
        }
        Step::Went
    }

    fn next_trip(&mut self, w: usize, op: OpId) -> Step {
        let module = self.model.module;
        let values: Vec<Val> = module.ops[op].operands.iter().map(|&v| self.value(w, v)).collect();
        let Some((scf_for, trip)) = self.warps.get(w).and_then(|x| x.frames.last()).and_then(|f| f.scf_for)
        else {
            return self.broken(w, Rule::Form, "a yield outside a loop");
        };
        let last = trip + 1 == self.trips;
        let targets: Vec<ValueId> = match (last, module.entry(scf_for, 0)) {
            (false, Some(body)) => module.blocks[body].args.iter().copied().skip(1).collect(),
            _ => module.ops[scf_for].results.to_vec(),
        };
        for (target, val) in targets.into_iter().zip(values) {
            self.set(w, target, val);
        }
        if let Some(warp) = self.warps.get_mut(w) {
            if last {
                warp.frames.pop();
                if let Some(frame) = warp.frames.last_mut() {
                    frame.at += 1;
                }
            } else if let Some(frame) = warp.frames.last_mut() {
                frame.at = 0;
                frame.scf_for = Some((scf_for, trip + 1));
            }
        }
        Step::Went
    }

    fn elect(&mut self, w: usize, op: OpId) -> Step {
        let body = self.model.module.entry(op, 0);
        if let (Some(warp), Some(block)) = (self.warps.get_mut(w), body) {
            if warp.first {
                warp.frames.push(Frame { block, at: 0, scf_for: None });
            }
        }
        Step::Went
    }

    // ---- mbarriers ----

    fn wait_for(&mut self, w: usize, op: OpId, full: bool) -> Step {
        let Some((ring, slot, phase)) = self.iterator(w, op) else { return Step::Broken };
        let barriers = if full { &self.machine.full } else { &self.machine.empty };
        let barrier = barriers.get(ring).and_then(|b| b.get(usize::try_from(slot).ok()?));
        match barrier.map(|b| b.passes(phase)) {
            Some(true) => {
                if let Some(count) =
                    self.warps.get_mut(w).filter(|_| full).and_then(|x| x.waits.get_mut(ring))
                {
                    *count += 1;
                }
                Step::Went
            }
            Some(false) => Step::Waits,
            None => self.broken(w, Rule::Form, "there is no such barrier"),
        }
    }

    /// What the warp waits for, for a deadlock report.
    pub fn missing(&mut self, w: usize) -> String {
        let Some(op) = self.current(w) else { return String::new() };
        let full = self.model.module.ops[op].opcode == Opcode::ConsumerWait;
        let Some((ring, slot, _)) = self.model.ring(op).and_then(|_| self.iterator(w, op)) else {
            return String::new();
        };
        let barriers = if full { &self.machine.full } else { &self.machine.empty };
        let barrier = barriers.get(ring).and_then(|b| b.get(usize::try_from(slot).ok()?));
        barrier.map_or(String::new(), |b| format!("slot {slot}: {}", b.missing()))
    }

    fn commit(&mut self, w: usize, op: OpId) -> Step {
        let Some((ring, slot, _)) = self.iterator(w, op) else { return Step::Broken };
        let bytes = self.model.number(op, "bytes").unwrap_or(0);
        let slot = usize::try_from(slot).unwrap_or(usize::MAX);
        match self.machine.full.get_mut(ring).and_then(|b| b.get_mut(slot)).map(|b| b.arrive(bytes)) {
            Some(true) => Step::Went,
            Some(false) => self.broken(w, Rule::Arrivals, "the phase has all its arrivals already"),
            None => self.broken(w, Rule::Form, "there is no full barrier"),
        }
    }

    fn release(&mut self, w: usize, op: OpId) -> Step {
        let lag = self.model.number(op, "lag").unwrap_or(0);
        let (Some((ring, slot, _)), Some(warp)) = (self.iterator(w, op), self.warps.get(w)) else {
            return Step::Broken;
        };
        if warp.trip().is_some_and(|trip| trip < lag) {
            return Step::Went;
        }
        let depth = self.model.rings.get(ring).map_or(1, |r| r.depth);
        let slot = (slot + depth - lag % depth) % depth;
        let reads = warp.products.iter().flat_map(|p| &p.reads);
        let mut places = reads.filter_map(|&p| self.machine.places.get(p));
        if places.any(|p| p.ring == ring && p.slot == slot) {
            return self.broken(
                w,
                Rule::Unfinished,
                format!("slot {slot} is given back while a product reads it"),
            );
        }
        if warp.read_unfenced.contains(&(ring, slot)) {
            let text = format!("slot {slot} was read from registers and is given back without a proxy fence");
            return self.broken(w, Rule::Fence, text);
        }
        let waited = warp.waits.get(ring).copied().unwrap_or(0);
        let released = self.warps.get_mut(w).and_then(|x| x.releases.get_mut(ring)).map_or(0, |n| {
            *n += 1;
            *n
        });
        if released > waited {
            return self.broken(
                w,
                Rule::Arrivals,
                format!("gives back {released} slots, {waited} were waited for"),
            );
        }
        let at = usize::try_from(slot).unwrap_or(usize::MAX);
        match self.machine.empty.get_mut(ring).and_then(|b| b.get_mut(at)).map(|b| b.arrive(0)) {
            Some(true) => Step::Went,
            Some(false) => self.broken(w, Rule::Arrivals, "the phase has all its arrivals already"),
            None => self.broken(w, Rule::Form, "there is no empty barrier"),
        }
    }

    fn advance(&mut self, w: usize, op: OpId) -> Step {
        let Some((ring, slot, phase)) = self.iterator(w, op) else { return Step::Broken };
        let depth = self.model.rings.get(ring).map_or(1, |r| r.depth);
        let wraps = slot + 1 == depth;
        let next = if wraps { 0 } else { slot + 1 };
        let phase = phase ^ u64::from(wraps);
        let results = self.model.module.ops[op].results.to_vec();
        for (result, value) in results.into_iter().zip([next, phase]) {
            self.set(w, result, Val::Int(i64::try_from(value).unwrap_or(0)));
        }
        Step::Went
    }

    // ---- tiles ----

    fn payload_place(&mut self, w: usize, op: OpId) -> Option<(usize, usize, PlaceId)> {
        let (ring, slot, _) = self.iterator(w, op)?;
        let payload = self.model.number(op, "payload").and_then(|p| usize::try_from(p).ok());
        let payload = payload.filter(|&p| self.model.rings.get(ring).is_some_and(|r| p < r.payloads.len()));
        let Some(payload) = payload else {
            self.broken(w, Rule::Form, "there is no such payload");
            return None;
        };
        Some((ring, payload, self.machine.place(ring, payload, slot)?))
    }

    /// Refuses a write to a place whose bytes somebody reads or writes asynchronously.
    fn writable(&mut self, w: usize, place: PlaceId) -> Option<Step> {
        let meets = |other: PlaceId| self.machine.meet(place, other);
        let reading =
            self.warps.iter().position(|x| x.products.iter().flat_map(|p| &p.reads).any(|&r| meets(r)));
        let storing = self.warps.iter().position(|x| x.storing().any(meets));
        let copying = self.machine.copies.iter().any(|c| meets(c.place));
        let message = match (reading, storing, copying) {
            (Some(other), ..) => format!("overwrites what a product of warp {other} still reads"),
            (_, Some(other), _) => format!("overwrites what a store of warp {other} still reads"),
            (.., true) => "writes where a copy is still arriving".to_owned(),
            _ => return None,
        };
        Some(self.broken(w, Rule::Overwrite, message))
    }

    fn load(&mut self, w: usize, op: OpId) -> Step {
        let Some((ring, payload, place)) = self.payload_place(w, op) else { return Step::Broken };
        if let Some(broken) = self.writable(w, place) {
            return broken;
        }
        // What the slot holds must have reached everybody who waits for it.
        let held = self.machine.places.get(place).and_then(|p| p.holds);
        let waiting = |x: &Warp| x.waits.get(ring).is_some_and(|&n| held.is_some_and(|v| n <= v));
        if let Some(late) = self.warps.iter().position(|x| self.waits_on(x.agent, ring) && waiting(x)) {
            let text = format!("overwrites copy {} before warp {late} read it", held.unwrap_or(0));
            return self.broken(w, Rule::Overwrite, text);
        }
        self.machine.spoil(place);
        let bytes = self.model.rings.get(ring).and_then(|r| r.payloads.get(payload)).map_or(0, |p| p.bytes);
        if let Some(issued) = self.machine.issued.get_mut(ring).and_then(|r| r.get_mut(payload)) {
            self.machine.copies.push(CopyInFlight { place, version: *issued, bytes });
            *issued += 1;
        }
        Step::Went
    }

    fn slot(&mut self, w: usize, op: OpId) -> Step {
        let Some((ring, _, place)) = self.payload_place(w, op) else { return Step::Broken };
        let passed = self.warps.get(w).and_then(|x| x.waits.get(ring)).copied().unwrap_or(0);
        let Some(version) = passed.checked_sub(1) else {
            return self.broken(w, Rule::Read, "a slot is read before any wait");
        };
        if let Some(result) = self.model.module.result(op) {
            self.set(w, result, Val::View { place, version });
        }
        Step::Went
    }

    /// Whether a view shows what it should.
    fn readable(&mut self, w: usize, place: PlaceId, version: u64) -> Option<Step> {
        let holds = self.machine.places.get(place).and_then(|p| p.holds);
        if holds == Some(version) {
            return None;
        }
        let found = holds.map_or("no finished copy".to_owned(), |v| format!("copy {v}"));
        Some(self.broken(w, Rule::Read, format!("reads copy {version} of the ring and finds {found}")))
    }

    fn product(&mut self, w: usize, op: OpId) -> Step {
        let mut reads = Vec::new();
        for index in 0..2 {
            let operand = self.model.operand(op, index).map_or(Val::Other, |v| self.value(w, v));
            if let Val::View { place, version } = operand {
                if let Some(broken) = self.readable(w, place, version) {
                    return broken;
                }
                reads.push(place);
            }
        }
        let result = self.model.module.result(op);
        let Some(warp) = self.warps.get_mut(w) else { return Step::Done };
        let number = warp.issued;
        warp.issued += 1;
        warp.products.push_back(Product { number, reads });
        if let Some(result) = result {
            self.set(w, result, Val::Product(number));
        }
        Step::Went
    }

    fn retire(&mut self, w: usize, op: OpId) -> Step {
        let pending = self.model.number(op, "pending").unwrap_or(u64::MAX);
        let data = &self.model.module.ops[op];
        let pairs: Vec<(ValueId, ValueId)> =
            data.operands.iter().copied().zip(data.results.iter().copied()).collect();
        if let Some(warp) = self.warps.get_mut(w) {
            while warp.products.len() as u64 > pending {
                warp.products.pop_front();
            }
        }
        for (from, to) in pairs {
            let value = self.value(w, from);
            self.set(w, to, value);
        }
        Step::Went
    }

    /// Any other operation: views pass through transposes; elsewhere tiles are read, and products must be finished.
    fn plain(&mut self, w: usize, op: OpId) -> Step {
        let data = &self.model.module.ops[op];
        let view_op = matches!(data.opcode, Opcode::Trans | Opcode::Reshape);
        for &operand in &data.operands {
            match self.value(w, operand) {
                view @ Val::View { .. } if view_op => {
                    if let Some(result) = self.model.module.result(op) {
                        self.set(w, result, view);
                    }
                }
                Val::View { place, version } => {
                    if let Some(broken) = self.readable(w, place, version) {
                        return broken;
                    }
                    let slot = self.machine.places.get(place).map(|p| (p.ring, p.slot));
                    if let (Some(warp), Some(slot)) = (self.warps.get_mut(w), slot) {
                        warp.read_unfenced.insert(slot);
                    }
                }
                Val::Product(number) if !self.warps.get(w).is_some_and(|x| x.finished(number)) => {
                    return self.broken(
                        w,
                        Rule::Unfinished,
                        "reads the result of a product that is under way",
                    );
                }
                _ => {}
            }
        }
        Step::Went
    }

    // ---- stores ----

    fn tile_store(&mut self, w: usize, op: OpId) -> Step {
        let Some((.., place)) = self.payload_place(w, op) else { return Step::Broken };
        let read = self.plain(w, op);
        if read != Step::Went {
            return read;
        }
        if let Some(broken) = self.writable(w, place) {
            return broken;
        }
        self.machine.spoil(place);
        self.machine.written.insert((place, w), false);
        Step::Went
    }

    fn fence(&mut self, w: usize) -> Step {
        if let Some(warp) = self.warps.get_mut(w) {
            warp.read_unfenced.clear();
        }
        for (_, fenced) in self.machine.written.iter_mut().filter(|((_, writer), _)| *writer == w) {
            *fenced = true;
        }
        Step::Went
    }

    fn sync(&mut self, w: usize, op: OpId) -> Step {
        let Some(index) = self.model.barrier(op) else {
            return self.broken(w, Rule::Form, "names no barrier");
        };
        let threads = self.model.barriers.get(index).map_or(0, |b| b.threads);
        let (Some(warp), Some(named)) = (self.warps.get_mut(w), self.machine.named.get_mut(index)) else {
            return Step::Done;
        };
        let generation = match warp.at_barrier {
            Some((_, generation)) => generation,
            None => {
                let generation = named.generation;
                named.arrived += 32;
                if named.arrived >= threads {
                    named.arrived -= threads;
                    named.generation += 1;
                }
                warp.at_barrier = Some((index, generation));
                generation
            }
        };
        if named.generation == generation {
            return Step::Waits;
        }
        warp.at_barrier = None;
        Step::Went
    }

    fn store(&mut self, w: usize, op: OpId) -> Step {
        let Some((ring, _, place)) = self.payload_place(w, op) else { return Step::Broken };
        let writers = self.writers(ring);
        if writers.is_empty() {
            return self.broken(w, Rule::Read, "stores a tile that nobody writes");
        }
        for writer in writers {
            match self.machine.written.get(&(place, writer)) {
                Some(true) => {}
                Some(false) => {
                    let text = format!("what warp {writer} wrote is not fenced for the copy engine");
                    return self.broken(w, Rule::Fence, text);
                }
                None => {
                    let text = format!("warp {writer} has not written its part of the tile");
                    return self.broken(w, Rule::Read, text);
                }
            }
        }
        if let Some(warp) = self.warps.get_mut(w) {
            warp.open_stores.push(place);
        }
        Step::Went
    }

    /// Warps whose agents write tiles into a ring.
    fn writers(&self, ring: usize) -> Vec<usize> {
        let writes = |agent: usize| {
            self.model.agents.get(agent).is_some_and(|a| {
                a.ops.iter().any(|p| {
                    self.model.module.ops[p.op].opcode == Opcode::TileStore
                        && self.model.ring(p.op) == Some(ring)
                })
            })
        };
        self.warps.iter().enumerate().filter(|(_, x)| writes(x.agent)).map(|(w, _)| w).collect()
    }

    fn store_wait(&mut self, w: usize, op: OpId) -> Step {
        let pending = self.model.number(op, "pending").unwrap_or(u64::MAX);
        let mut finished = Vec::new();
        if let Some(warp) = self.warps.get_mut(w) {
            while warp.stores.len() as u64 > pending {
                finished.extend(warp.stores.pop_front().into_iter().flatten());
            }
        }
        for place in finished {
            self.machine.written.retain(|(written, _), _| *written != place);
        }
        Step::Went
    }

    // ---- the end ----

    /// What must hold when every warp has ended.
    pub fn drained(&mut self) {
        let mut found = Vec::new();
        for (w, warp) in self.warps.iter().enumerate() {
            if !warp.products.is_empty() {
                found.push(format!("warp {w} has {} products under way", warp.products.len()));
            }
            if warp.storing().next().is_some() {
                found.push(format!("warp {w} has a store to global memory under way"));
            }
        }
        for (index, ring) in self.model.rings.iter().enumerate() {
            let Some(&copies) = self.machine.issued.get(index).and_then(|p| p.iter().max()) else { continue };
            let waits = self.warps.iter().filter(|x| self.waits_on(x.agent, index));
            if let Some(least) = waits.filter_map(|x| x.waits.get(index)).min().filter(|&&n| n < copies) {
                found.push(format!("@{}: {copies} copies, {least} waited for", ring.name));
            }
            if self.machine.full.get(index).is_some_and(|b| b.iter().any(|b| b.unbalanced())) {
                found.push(format!("@{}: announced bytes and copied bytes differ", ring.name));
            }
        }
        if !self.machine.copies.is_empty() {
            found.push(format!("{} copies in flight", self.machine.copies.len()));
        }
        for text in found {
            self.report.add(Rule::Drain, "end", text);
        }
    }

    fn waits_on(&self, agent: usize, ring: usize) -> bool {
        self.model.agents.get(agent).is_some_and(|a| {
            a.ops.iter().any(|p| {
                self.model.module.ops[p.op].opcode == Opcode::ConsumerWait
                    && self.model.ring(p.op) == Some(ring)
            })
        })
    }
}

/// The integer constants of the function.
fn constants(model: &Model<'_>) -> Vec<(ValueId, Val)> {
    let shared = model.module.blocks[model.body].ops.iter().copied();
    let inner = model.agents.iter().flat_map(|a| a.ops.iter().map(|p| p.op));
    shared
        .chain(inner)
        .filter(|&op| model.module.ops[op].opcode == Opcode::Constant)
        .filter_map(|op| {
            let value = model.module.attr(op, "value").and_then(Attr::as_i64)?;
            Some((model.module.result(op)?, Val::Int(value)))
        })
        .collect()
}
