//! The values of a loop in tensor memory: accumulators of products, and operands written for them (B5, B19, C24, C66).
//!
//! | value | written by | read by |
//! |---|---|---|
//! | plain accumulator | its product | the same product a trip later, in place |
//! | accumulator that each trip reads | its product | the computing partition, until the operands made from it are about to be written |
//! | scaled accumulator | its product | the computing partition, and the product a trip later, in place |
//! | operand | the computing partition | its product |
//!
//! A product that is read and the operand made from it never live at once, so that they may have the same columns: the
//! computing partition's rows are its own, and the issuing partition waits for the product that read the operand before
//! it starts another one there.

use warploom_bufassign::{AccessRole as Access, BufferValue, CallerEdge, Consumer, Producer, ScheduledOp};
use warploom_ir::OpId;

use super::{accumulator_value, operand_value};
use crate::buffers::depth::ScheduledLoop;
use crate::buffers::problem::build::{Builder, unsigned};
use crate::loops::Part;
use crate::select::{Accumulator, AccumulatorKind, Selection, TmemOperand};

impl Builder<'_> {
    /// The values of a loop in tensor memory; its operations start at number `first`.
    pub(super) fn tensor(&mut self, scheduled: &ScheduledLoop, first: u64) {
        let selection = self.source.selection;
        let scf_for = scheduled.pipelined.scf_for;
        let own = |s: &(usize, &Accumulator)| s.1.scf_for == scf_for && s.1.home == s.0;
        for (index, accumulator) in selection.accumulators.iter().enumerate().filter(own) {
            self.accumulator(scheduled, first, index, accumulator);
        }
        for (index, operand) in selection.operands.iter().enumerate() {
            if operand.scf_for == scf_for && operand.home == index {
                self.operand(scheduled, first, index);
            }
        }
    }

    /// An operation of its own for the end of a product's reads, and the tiles that it gives back.
    pub(super) fn give_back(&mut self, product: u64, late: u64) {
        let Some(op) = self.ops.iter().find(|op| op.id == product).cloned() else { return };
        let id = self.ops.len() as u64;
        let order = op.order.map(|o| o + 1);
        let name = format!("{} done", op.name);
        self.ops.push(ScheduledOp { id, name, order, latency: op.latency.saturating_add(late), ..op });
        let tiles = self.values.iter_mut().filter(|v| v.pipe.is_some());
        for consumer in tiles.flat_map(|v| &mut v.consumers).filter(|c| c.op == product) {
            consumer.op = id;
        }
    }

    fn accumulator(
        &mut self,
        scheduled: &ScheduledLoop,
        first: u64,
        index: usize,
        accumulator: &Accumulator,
    ) -> Option<()> {
        let selection = self.source.selection;
        let dot = selection.dots.get(accumulator.dot)?;
        let at = |op: OpId, part: Part| scheduled.pipelined.node(op, part).map(|n| first + n as u64);
        let op = at(dot.op, Part::Whole)?;
        let [m, n, _] = dot.extents;
        let plain = accumulator.kind == AccumulatorKind::Plain;
        let slots = if plain { accumulator.slots } else { 1 };
        let add = Consumer { op, role: Access::Tcgen05D, distance: 1, in_place: true };
        let read = |op| Consumer { op, role: Access::Tcgen05Ld, distance: 0, in_place: false };
        let mut consumers = Vec::new();
        if accumulator.kind != AccumulatorKind::Read {
            consumers.push(add);
        }
        if !plain {
            consumers.extend(at(dot.op, Part::TmemLoad).map(read));
        }
        if accumulator.kind == AccumulatorKind::Read {
            consumers.extend(
                self.last_readers(accumulator).into_iter().filter_map(|op| at(op, Part::Whole)).map(read),
            );
        }
        if let AccumulatorKind::Scaled { scaled, .. } = accumulator.kind
            && let Some(store) = self.source.module.def_op(scaled).and_then(|d| at(d, Part::TmemStore))
        {
            // What was scaled is handed to the product of the same trip.
            self.edges.push(CallerEdge { src: store, dst: op, distance: 0 });
        }
        let name = match accumulator.kind {
            AccumulatorKind::Read => {
                numbered("product", index, selection, |s| s.kind == AccumulatorKind::Read)
            }
            _ => numbered("acc", index, selection, |s| s.kind != AccumulatorKind::Read),
        };
        self.values.push(BufferValue {
            id: accumulator_value(selection, index),
            name,
            root: Some(accumulator_value(selection, index)),
            shape: match dot.scales.is_empty() {
                true => tile(slots, m, n),
                // Tables of scales behind it.
                false => tile(slots, LANES, accumulator.columns),
            },
            element: Some("f32".to_owned()),
            align: 1,
            init: accumulator.kind != AccumulatorKind::Read,
            warp_local: accumulator.kind == AccumulatorKind::Read,
            producer: Some(Producer { op, role: Access::Tcgen05D }),
            consumers,
            ..BufferValue::default()
        });
        Some(())
    }

    fn operand(&mut self, scheduled: &ScheduledLoop, first: u64, index: usize) -> Option<()> {
        let (selection, module) = (self.source.selection, self.source.module);
        let operand = selection.operands.get(index)?;
        let dot = selection.dots.get(operand.dot)?;
        let at = |op: OpId, part: Part| scheduled.pipelined.node(op, part).map(|n| first + n as u64);
        let write = at(module.def_op(operand.value)?, Part::TmemStore)?;
        let multiply = at(dot.op, Part::Whole)?;
        let [m, _, k] = dot.extents;
        let id = operand_value(selection, index);
        self.values.push(BufferValue {
            id,
            name: if index == 0 { "operand".to_owned() } else { format!("operand {index}") },
            root: Some(id),
            shape: tile(1, m, k),
            element: Some(module.ty(operand.value).elem().to_string()),
            align: 1,
            warp_local: true,
            alone: m > LANES,
            producer: Some(Producer { op: write, role: Access::Tcgen05St }),
            consumers: vec![Consumer { op: multiply, role: Access::Tcgen05A, distance: 0, in_place: false }],
            ..BufferValue::default()
        });
        // Where the operand lies over a product that is read, the issuing partition waits for the product that read the
        // operand before it starts another one there (E52: the tensor core itself does not order the two).
        for accumulator in selection.products_of(module, operand) {
            let Some(start) = selection.dots.get(accumulator.dot).and_then(|d| at(d.op, Part::Whole)) else {
                continue;
            };
            let place = |op: u64| scheduled.answer.nodes.get(usize::try_from(op - first).ok()?);
            let (Some(done), Some(next)) = (place(multiply), place(start)) else { continue };
            let latency = scheduled.pipelined.graph.nodes.get(done.id).map_or(0, |n| n.latency);
            let ii = scheduled.answer.ii.max(1);
            let apart = done.time.saturating_add(latency).saturating_sub(next.time);
            let distance = unsigned(apart).div_ceil(unsigned(ii)).max(1);
            self.edges.push(CallerEdge {
                src: multiply,
                dst: start,
                distance: i64::try_from(distance).ok()?,
            });
        }
        Some(())
    }

    /// The operations that make operands of the same loop from a product.
    fn last_readers(&self, accumulator: &Accumulator) -> Vec<OpId> {
        let (selection, module) = (self.source.selection, self.source.module);
        let made = |f: &&TmemOperand| selection.products_of(module, f).contains(&accumulator);
        selection.operands.iter().filter(made).filter_map(|f| module.def_op(f.value)).collect()
    }
}

/// Rows of a block. Beyond them, blocks stand side by side in the same lanes, and those of an operand, which are
/// narrower than those of a product, would lie over rows that another warp still reads.
const LANES: u64 = 128;

/// Slots and blocks of 128 rows stand side by side: as leading extents, they multiply the columns. 64 rows lie in every
/// quarter of the lanes (E44), so that nothing else has a place in their columns.
fn tile(slots: u64, rows: u64, columns: u64) -> Vec<u64> {
    match slots * rows.div_ceil(LANES) {
        1 => vec![LANES, columns],
        many => vec![many, LANES, columns],
    }
}

/// A name that tells accumulators of one kind apart.
fn numbered(name: &str, index: usize, selection: &Selection, alike: impl Fn(&Accumulator) -> bool) -> String {
    let before = selection.accumulators.iter().take(index).filter(|s| alike(s)).count();
    if before == 0 { name.to_owned() } else { format!("{name} {before}") }
}
